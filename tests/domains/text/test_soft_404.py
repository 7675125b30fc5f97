"""Pages that say that they are not there while their status says otherwise: not found, and never an article on them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.core.messages import Response
from specloom.domains.scrape.extract import extract
from specloom.domains.scrape.fetch.block_pages import judge
from specloom.domains.text.soft_404 import is_missing
from tests.domains.scrape.test_tools import Web, make_executor, to_html
from tests.domains.scrape.test_tools import read as read_tool
from tests.support.browser import needs_browser
from tests.support.browser import page as scripted
from tests.support.loopback import Call, Loopback, Reply
from tests.support.scrape_client import ask, connected, refused
from tests.support.scrape_context import HTML

URL = "https://otters.example/dens"
LINKS = "".join(f'<li><a href="/{at}">What otters do on day {at} of their long winter</a></li>' for at in range(30))


def tell(title: str, body: str, *, head: str = "") -> str:
    """The verdict on a page, by the way that a page takes."""
    html = f"<html><head><title>{title}</title>{head}</head><body><main>{body}</main></body></html>"
    found = extract(html, url=URL)
    return judge(found.markdown, title=found.metadata.title, html=html.encode(), whole=found.quality == "complete")


MISSING = {
    "by a blog": (
        "Page not found - Otter Blog",
        "<h1>Oops! That page can’t be found.</h1><p>It looks like nothing was found at this location. Maybe try one of "
        "the links below or a search?</p>",
    ),
    "by a server": ("404 Not Found", "<h1>Not Found</h1><p>The requested URL was not found on this server.</p>"),
    "under the name of the site": (
        "Otters",
        "<h1>Sorry, this page isn't available</h1><p>The link you followed may be broken, or the page may have been "
        "removed. <a href='/'>Go back</a>.</p>",
    ),
    "by its title alone": ("Error 404 - Otters", "<h1>Whoops!</h1><p>The page you requested was not found.</p>"),
    "in two headings": ("404: This page could not be found", "<h1>404</h1><h2>This page could not be found.</h2>"),
    "without a heading": ("Otters", "<p>We couldn't find the page you are looking for.</p><a href='/'>Home</a>"),
    "by its names, beside other words": ("Page not found", "<h1>Page not found</h1><p>Let us take you home.</p>"),
    "above all else that the site has": (
        "Page not found | Otters",
        f"<h1>We can’t find the page you’re looking for</h1><p>Sorry about that.</p><ul>{LINKS}</ul>",
    ),
    "by a shop": ("Otter shop", "<h1>Product not found</h1><p>This product is no longer available. See others.</p>"),
    "in German": (
        "Seite nicht gefunden | Amt",
        "<h1>Seite nicht gefunden</h1><p>Die von Ihnen gesuchte Seite konnte leider nicht gefunden werden.</p>",
    ),
    "in French": (
        "Page introuvable", "<h1>Page introuvable</h1><p>La page que vous recherchez n’existe pas ou plus.</p>",
    ),
    "in Spanish": ("Página no encontrada", "<h1>Error 404</h1><p>La página que busca no se ha encontrado.</p>"),
    "in Polish": ("Nie znaleziono strony", "<h1>Błąd 404</h1><p>Strona, której szukasz, nie istnieje.</p>"),
    "in Russian": ("Страница не найдена", "<h1>404</h1><p>Запрашиваемая страница не существует.</p>"),
    "in Japanese": (
        "ページが見つかりません", "<h1>404</h1><p>お探しのページは見つかりませんでした。</p>",
    ),
    "in Chinese": ("页面不存在", "<h1>404</h1><p>抱歉，您访问的页面不存在。</p>"),
    "in Korean": ("오류", "<h1>404</h1><p>요청하신 페이지를 찾을 수 없습니다.</p>"),
}  # fmt: skip
PAGES = {
    "a search without a hit": (
        "Search - Otters", "<h1>Nothing Found</h1><p>Sorry, but nothing matched your search. Try other words.</p>",
    ),
    "what is closed to a country": (
        "Watch", "<h1>Video unavailable</h1><p>This video is not available in your country.</p>",
    ),
    "instructions": (
        "How to fix the 404 Page Not Found error",
        "<h1>How to fix the 404 Page Not Found error</h1><p>If the page could not be found, its owner moved it.</p>",
    ),
    "an explanation": (
        "404 Not Found - HTTP",
        "<h1>404 Not Found</h1><p>The HTTP 404 Not Found client error response status code indicates that the page was "
        "not found on this server. Links that lead to such a page are called dead.</p>",
    ),
    "a novel of that name": (
        "404 Not Found",
        "<h1>404 Not Found</h1><p>A novel by Ann Otter about a librarian who loses a book in the river, and what she "
        "does to find it.</p>",
    ),
    "a house of that number": ("404", "<h1>404</h1><p>Wine bar by the river. Open daily.</p>"),
    "a question": (
        "Page not found after login - Forum",
        '<h1>Page not found after login</h1><p>When I log in it says "the page you requested was not found". Why?</p>',
    ),
    "a paragraph of a story": (
        "Lost and found", "<h1>Lost and found</h1><p>Your umbrella was not found. Please ask at the station.</p>",
    ),
    "a table of errors": (
        "Errors", "<h1>Errors</h1><table><tr><td>404</td><td>The resource was not found</td></tr></table>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSING)
def test_a_page_that_says_that_it_is_missing_is_missing(name: str) -> None:
    assert tell(*MISSING[name]) == "missing"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_about_something_else_is_there(name: str) -> None:
    assert tell(*PAGES[name]) == "good"


def test_an_article_that_is_as_short_has_a_date() -> None:
    head = '<meta property="article:published_time" content="2026-01-02">'

    assert tell(*MISSING["by a server"], head=head) == "good"


def test_a_page_that_says_more_is_there() -> None:
    more = "<p>Otters sleep on their backs and hold hands so that they do not drift apart in the night.</p>" * 8

    assert (
        tell("Page not found", f"<h1>Page not found</h1><p>The page you requested was not found.</p>{more}") == "good"
    )


@pytest.mark.parametrize(
    "name",
    [
        "Sidan hittades inte",
        "Siden finnes ikke",
        "Pagina niet gevonden",
        "Pagina non trovata",
        "Página não encontrada",
        "Stránka nenalezena",
        "Sivua ei löytynyt",
        "Az oldal nem található",
        "Pagina nu a fost găsită",
        "Sayfa bulunamadı",
        "Η σελίδα δεν βρέθηκε",
        "Сторінку не знайдено",
        "Страницата не е намерена",
        "الصفحة غير موجودة",
        "העמוד לא נמצא",
        "صفحه یافت نشد",
        "पृष्ठ नहीं मिला",
        "Không tìm thấy trang",
        "Halaman tidak ditemukan",
        "ไม่พบหน้านี้",
        "404",
        "HTTP Error 404",
        "404 - Page not found",
    ],
)
def test_a_heading_and_no_words_is_enough(name: str) -> None:
    assert is_missing(f"# {name}\n\n[Home](https://otters.example/)")
    assert not is_missing(
        f"# {name}\n\nOtters sleep on their backs and hold hands in the night, and so do their young."
    )


@given(st.text(max_size=400), st.text(max_size=60))
def test_anything_is_judged(text: str, title: str) -> None:
    assert is_missing(text, titles=[title]) in {True, False}


@pytest.mark.parametrize("piece", ["[[", "page ", "cannot find ", "# page a b c ", "page not ", "404 ", "# p\n"])
def test_hostile_text_is_judged_in_linear_time(piece: str) -> None:
    text = (piece * 8000)[:8000]

    assert is_missing(text, titles=[text[:300]]) in {True, False}


# Through the tools

HEAD = to_html("Page not found", "The page you are looking for does not exist. Go back to our home page.")


async def test_it_is_asked_for_once_more_and_then_told_as_not_found() -> None:
    web = Web()
    web.page(URL, HEAD)

    with pytest.raises(Fault) as caught:
        await read_tool(web, URL)

    assert caught.value.kind == "not_found"
    assert caught.value.message == (
        f"Not found: {URL} — it came with status 200, but says that there is no such page. Check the URL."
    )
    assert caught.value.detail == "html: a page that says that it is missing; stealth: the same answer as before"
    assert web.sent == [URL, URL]


async def test_what_another_identity_is_given_is_read() -> None:
    web = Web()
    answers = [HEAD, to_html("Dens", *["Otters dig dens at the shore, where roots of trees hold the earth."] * 8)]
    web.pages[URL] = lambda _: Response(200, {"content-type": "text/html"}, answers.pop(0).encode(), URL)

    assert (await read_tool(web, URL))["metadata"]["title"] == "Dens"


async def test_raw_gives_what_was_sent() -> None:
    web = Web()
    web.page(URL, HEAD)

    assert (await read_tool(web, URL, mode="raw"))["content"] == HEAD


async def test_a_source_that_is_missing_is_a_failure_of_its_own() -> None:
    web = Web()
    web.page(URL, HEAD)
    web.found({"title": "Dens", "link": URL, "snippet": "s"})
    executor = make_executor(web)
    try:
        said = (await executor.call("search_and_scrape", {"query": "dens"})).answer
    finally:
        await executor.aclose()

    assert (said["status"], said["sources"]) == ("failed", [])
    assert [(one["kind"], one["retryable"]) for one in said["scrapeFailures"]] == [("not_found", False)]


APP = scripted("<div id=root><h1>Page not found</h1><p>The page you requested does not exist.</p></div>")
FILLED = APP.replace(
    "</script>",
    "root.innerHTML = '<h1>Dens</h1>' + '<p>Otters dig dens at the shore, under roots.</p>'.repeat(8)</script>",
)


@needs_browser
async def test_an_app_may_come_to_say_something_else() -> None:
    def reply(call: Call) -> Reply:
        return 200, HTML, {"/app": APP, "/filled": FILLED}.get(call.path, "")

    with Loopback(reply) as server:
        async with connected(CHROME_PATH="") as client:
            filled = await ask(client, "scrape_page", url=server.url + "/filled")
            _, block = await refused(client, "scrape_page", url=server.url + "/app")

    assert filled["content"].startswith("# Dens")
    assert filled["extractedBy"] == "browser"
    assert block["kind"] == "not_found"
    assert "browser: a page that says that it is missing" in block["detail"]
