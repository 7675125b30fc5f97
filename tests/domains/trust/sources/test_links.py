"""Links: what answers, what is gone, what refuses programs, and what only looks like an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.core.messages import Answer, Request, Response
from specloom.domains.text.soft_404 import find_missing
from specloom.domains.trust.sources.links import LinkCheck, check_link, check_links, find_soft_failure
from specloom.plugins.context import Kept

URL = "https://otters.example/papers/swimming-in-winter"
DENIED = "the server answers with status 404"
GONE = "<title>Otters</title><h1>Page not found</h1><p>Sorry, the page you are looking for does not exist.</p>"
SAYS_SO = "the page says that it is gone: 'Otters'"
RESET = Fault("network", "reset")
Reply = Response | Fault | Callable[[Request], Response | Fault]


class Desk:
    """A context whose web is a table, and whose archive has a copy of everything that is in `copies`."""

    def __init__(self, pages: Mapping[str, Reply], copies: Mapping[str, str] | None = None) -> None:
        self.pages, self.copies = pages, copies or {}
        self.sent: list[tuple[str, str]] = []
        self.asked: list[Mapping[str, Any]] = []
        self.allow_private = False

    async def send(self, request: Request) -> Response:
        self.sent.append((request.method, request.url))
        reply = self.pages.get(request.url, Fault("network", "the name does not resolve"))
        reply = reply(request) if callable(reply) else reply
        if isinstance(reply, Fault):
            raise reply
        return reply

    def notice(self, sentence: str) -> None:
        """Nobody reads it."""

    def lack(self, operation: str, fault: Fault, *, instead: str = "") -> None:
        """Nobody reads it."""

    async def ask(self, operation: str, arguments: Mapping[str, Any], *, provider: str = "") -> Answer:
        self.asked.append(arguments)
        if "archive down" in self.copies:
            raise Fault("upstream_unavailable", "the archive is down")
        if "nobody there" in self.copies:
            fault = Fault("upstream_unavailable", "the archive cannot be reached")
            fault.unsent = True
            raise fault
        copy = self.copies.get(arguments["url"])
        return Answer([{"snapshot_url": copy}] if copy else [])


class Remembering(Desk):
    """A context that keeps what it is given."""

    def __init__(self, pages: Mapping[str, Reply]) -> None:
        super().__init__(pages)
        self.kept: dict[str, Kept] = {}
        self.ttls: set[float] = set()

    async def recall(self, key: str) -> Kept | None:
        return self.kept.get(key)

    async def keep(self, key: str, value: Any, ttl: float) -> None:
        self.kept[key] = Kept(value)
        self.ttls.add(ttl)


def page(text: str = "", status: int = 200, url: str = URL) -> Response:
    return Response(status, {"content-type": "text/html"}, text.encode(), url)


def by_method(**replies: Response | Fault) -> Callable[[Request], Response | Fault]:
    return lambda request: replies[request.method.lower()]


@pytest.mark.parametrize(
    ("reply", "link", "methods"),
    [
        (page("ok"), LinkCheck(URL, True, 200), ["GET"]),
        (Response(200, {"content-type": "application/pdf"}, b"", URL), LinkCheck(URL, True, 200), ["GET"]),
        (Fault("too_large", "big"), LinkCheck(URL, True, 200), ["GET"]),
        (page(GONE), LinkCheck(URL, False, 200, reason=SAYS_SO), ["GET"]),
        (page(status=403), LinkCheck(URL, True, 403, blocked=True), ["GET"]),
        (page(status=429), LinkCheck(URL, True, 429, blocked=True), ["GET"]),
        (page(status=503), LinkCheck(URL, True, 503, blocked=True), ["GET"]),
        (page(status=404), LinkCheck(URL, False, 404, reason=DENIED), ["GET"]),
        (page(status=500), LinkCheck(URL, False, 500, reason="the server answers with status 500"), ["GET"]),
        (by_method(get=Fault("network", "reset"), head=page()), LinkCheck(URL, True, 200), ["GET", "HEAD"]),
        (by_method(get=RESET, head=page(status=403)), LinkCheck(URL, True, 403, blocked=True), ["GET", "HEAD"]),
        (by_method(get=RESET, head=page(status=429)), LinkCheck(URL, True, 429, blocked=True), ["GET", "HEAD"]),
        (
            by_method(get=RESET, head=page(status=405)),
            LinkCheck(URL, False, reason="no answer: reset"),
            ["GET", "HEAD"],
        ),
        (
            by_method(get=RESET, head=page(status=404)),
            LinkCheck(URL, False, reason="no answer: reset"),
            ["GET", "HEAD"],
        ),
        (Fault("network", "no route"), LinkCheck(URL, False, 0, reason="no answer: no route"), ["GET", "HEAD"]),
        (Fault("validation", "it is private"), LinkCheck(URL, None, reason="it is private"), ["GET"]),
    ],
)
async def test_a_link_is_what_its_server_answers(reply: Reply, link: LinkCheck, methods: list[str]) -> None:
    context = Desk({URL: reply})

    assert await check_link(context, URL) == link  # type: ignore[arg-type]
    assert [method for method, _ in context.sent] == methods


@pytest.mark.parametrize(
    "url", ["", "ftp://otters.example/a", "http://127.0.0.1/", "http://[::1]/a", "https://", "otters"]
)
async def test_what_may_not_be_asked_is_not_asked_and_not_dead(url: str) -> None:
    context = Desk({})

    link = await check_link(context, url)  # type: ignore[arg-type]

    assert (link.live, link.status, context.sent) == (None, 0, [])
    assert link.reason


async def test_links_come_in_their_order_each_asked_once_and_dead_ones_with_the_copy_nearest_to_their_date() -> None:
    gone = "https://gone.example/a"
    context = Desk({URL: page(), gone: page(status=410, url=gone)}, {gone: "https://web.archive.org/web/2019/a"})

    links = await check_links(context, [gone, URL, gone, URL], dates=["2019-05"])  # type: ignore[arg-type]

    assert [link.url for link in links] == [gone, URL, gone, URL]
    assert [link.archived for link in links] == ["https://web.archive.org/web/2019/a", "", links[0].archived, ""]
    assert context.asked == [{"url": gone, "date": "2019-05"}, {"url": gone, "date": None}]


async def test_an_archive_that_fails_leaves_the_link_as_it_was() -> None:
    context = Desk({URL: page(status=404)}, {"archive down": ""})

    [link] = await check_links(context, [URL])  # type: ignore[arg-type]

    assert (link.live, link.archived) == (False, "")


async def test_where_nobody_at_all_answers_no_link_is_called_dead() -> None:
    others = [f"https://{name}.example/a" for name in ("badgers", "stoats")]
    context = Desk({}, {"nobody there": ""})

    links = await check_links(context, [URL, *others])  # type: ignore[arg-type]

    assert [(link.live, link.status) for link in links] == [(None, 0)] * 3
    assert links[0].reason == (
        "no answer: the name does not resolve; nobody else was reached either, so it may be this machine's own network"
    )


@pytest.mark.parametrize(
    ("pages", "copies"),
    [({"https://stoats.example/a": page("ok")}, {"nobody there": ""}), ({}, {"archive down": ""}), ({}, {})],
)
async def test_an_address_that_does_not_answer_is_dead_where_anybody_does(
    pages: dict[str, Reply], copies: dict[str, str]
) -> None:
    context = Desk(pages, copies)

    links = await check_links(context, [URL, "https://stoats.example/a"])  # type: ignore[arg-type]

    assert (links[0].live, links[0].status) == (False, 0)


@pytest.mark.parametrize(
    "text",
    [
        "<title>404 Not Found</title>",
        "<title>404</title>",
        "<title>Error 404 | Otter News</title>",
        "<title>404 - Otter News</title>",
        "<title>404: Page missing</title>",
        "<title>410 Gone</title>",
        "<title>Page not found | Otter News</title>",
        "<TITLE>\n Sorry, this page could not be found. </TITLE>",
        "<title>Otter News</title><h1>The page you requested was not found</h1>",
        "<h1 class='x'>Oops! This page is no longer available</h1>",
        "<title>Seite nicht gefunden - Otter</title>",
        "<title>ページが見つかりません</title>",
        "<title>otters.example</title><p>This domain is for sale!</p>",
    ],
)
def test_a_page_that_says_it_is_gone_is_gone(text: str) -> None:
    assert find_soft_failure(URL, page(text))


@pytest.mark.parametrize(
    "text",
    [
        "<title>How otters swim</title>",
        "<title>Why a page is not found: HTTP explained</title>",
        "<title>The Page Not Found Gallery of Otters</title>",
        "<title>Lost and found</title><p>Of every page not found in the river, otters keep one for the winter.</p>" * 9,
        "<title>404 Not Found</title><h1>404 Not Found</h1><p>A novel by Ann Otter on a librarian who loses a book in "
        "the river, and what she does to find it.</p>",
        "<title>404 Media</title>",
        "<title>404: The story of an error</title>",
        "",
    ],
)
def test_a_page_about_missing_pages_is_not_missing(text: str) -> None:
    assert find_soft_failure(URL, page(text)) == ""


@pytest.mark.parametrize(
    ("url", "end", "gone"),
    [
        (URL, "https://otters.example/", True),
        ("https://otters.org/a/swimming", "https://www.otters.org/index.html", True),
        (URL, "https://otters.example/?lost=1", False),
        (URL, "https://otters.example/papers/swimming", False),
        ("https://otters.example/en", "https://otters.example/", False),
        ("https://otters.example/news/en", "https://otters.example/", False),
        (URL, "https://weirs.example/", False),
    ],
)
def test_a_deep_address_that_leads_to_the_front_page_of_its_site_is_gone(url: str, end: str, gone: bool) -> None:
    assert bool(find_soft_failure(url, page("<title>Otters</title>", url=end))) is gone


async def test_a_redirect_to_another_page_is_looked_at() -> None:
    moved = page("<title>Page not found</title>", url="https://otters.example/papers/")
    context = Desk({URL: moved})

    link = await check_link(context, URL)  # type: ignore[arg-type]

    assert (link.live, link.status) == (False, 200)
    assert "says that it is gone" in link.reason


async def test_what_a_server_answered_is_remembered_where_that_is_asked_for_and_silence_is_not() -> None:
    silent = "https://silent.example/"
    context = Remembering({URL: page()})

    for _ in range(2):
        await check_links(context, [URL, silent], keep_for=60.0)  # type: ignore[arg-type]

    assert [url for _, url in context.sent].count(URL) == 1
    assert [url for _, url in context.sent].count(silent) == 4
    assert context.ttls == {60.0}


async def test_a_missing_page_that_answers_with_success_is_dead_with_its_menus_and_in_any_language() -> None:
    menu = "".join(f"<li><a href=/{at}>How otters fare on day {at} of a winter</a></li>" for at in range(40))
    text = (
        f"<title>Otter-Amt</title><header>{'Das Amt hilft gern weiter. ' * 40}</header><nav><ul>{menu}</ul></nav>"
        "<main><h1>Seite nicht gefunden</h1><p>Die gesuchte Seite konnte leider nicht gefunden werden.</p></main>"
        f"<footer>{'Ein Hinweis zum Datenschutz steht hier. ' * 30}</footer><script>{'x = 1;' * 9000}</script>"
    )
    context = Desk({URL: page(text)}, {URL: "https://web.archive.org/web/2019/a"})

    [link] = await check_links(context, [URL])  # type: ignore[arg-type]

    assert (link.live, link.status, link.archived) == (False, 200, "https://web.archive.org/web/2019/a")
    assert link.reason == "the page says that it is gone: 'Otter-Amt'"


async def test_a_host_that_asks_to_slow_down_is_asked_for_no_other_page() -> None:
    urls = [f"https://otters.example/{at}" for at in range(20)]
    context = Desk({url: page(status=429, url=url) if at == 0 else page("ok", url=url) for at, url in enumerate(urls)})

    links = await check_links(context, urls)  # type: ignore[arg-type]

    assert [link.blocked for link in links] == [True] + [False] * 19
    assert all(link.live for link in links)
    assert [method for method, _ in context.sent] == ["GET", *["HEAD"] * 19]


async def test_a_host_that_asked_to_slow_down_and_answers_head_wrongly_is_not_dead() -> None:
    urls = [f"https://otters.example/{at}" for at in range(2)]
    reply = by_method(head=page(status=404, url=urls[1]), get=page("ok", url=urls[1]))
    context = Desk({urls[0]: page(status=429, url=urls[0]), urls[1]: reply})
    busy: set[str] = set()

    links = [await check_link(context, url, busy) for url in urls]  # type: ignore[arg-type]

    assert [link.live for link in links] == [True, True]
    assert [method for method, _ in context.sent] == ["GET", "HEAD", "GET"]


async def test_of_one_host_four_pages_are_looked_at_side_by_side() -> None:
    now: dict[str, int] = {}
    most: dict[str, int] = {}

    class Slow(Desk):
        async def send(self, request: Request) -> Response:
            host = request.url.split("/")[2]
            now[host] = now.get(host, 0) + 1
            most[host] = max(most.get(host, 0), now[host])
            most["all"] = max(most.get("all", 0), sum(now.values()))
            await asyncio.sleep(0)
            now[host] -= 1
            return page("ok", url=request.url)

    urls = [f"https://{host}.example/{at}" for host in ("otters", "weirs", "dens") for at in range(12)]
    await check_links(Slow({}), urls)  # type: ignore[arg-type]

    assert most == {"otters.example": 4, "weirs.example": 4, "dens.example": 4, "all": 8}


@given(
    st.binary(max_size=400), st.sampled_from(["", "text/html", "text/html; charset=shift_jis", "text/html; charset=x"])
)
def test_whatever_a_server_sends_is_looked_at(body: bytes, kind: str) -> None:
    assert isinstance(find_missing(body, kind), str)


def test_a_missing_page_in_another_charset_is_told() -> None:
    text = "<title>ページが見つかりません</title><body><h1>404</h1><p>お探しのページは見つかりませんでした。</p>"

    assert find_missing(text.encode("shift_jis"), "text/html; charset=Shift_JIS") == "ページが見つかりません"
