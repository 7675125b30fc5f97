"""A script that leads the browser to a site which tells its pages itself: the site's own reader takes over, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.domains.scrape.browser.browser import Browser
from specloom.domains.scrape.fetch.http import Elsewhere
from specloom.domains.scrape.fetch.session import _SESSIONS, FetchSession, close_session
from specloom.domains.scrape.read import make_answer
from specloom.net.transport import Transport
from specloom.runtime.executor import Executor
from specloom.runtime.pages import PageIndex
from tests.domains.scrape.test_client_sites import FORMS, VIDEO, Sites
from tests.support.browser import needs_browser, page
from tests.support.loopback import Loopback
from tests.support.scrape_context import HTML, OPTIONS, Names
from tests.support.shipped import shipped_model

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="module")]
# Nothing but the loopback is ever asked, whatever the name.
NOWHERE = Names(["127.0.0.1"])
PAGES = PageIndex(shipped_model().pages)
OPEN = replace(OPTIONS, chrome="", browser_timeout=60.0, is_site=lambda url: PAGES.find(url) is not None)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    one = Browser(resolve=NOWHERE)
    yield one
    await one.aclose()


def leading(script: str) -> str:
    return page("<div id=root></div>", script)


class Mixed(Sites):
    """A way out that really goes to the loopback, and has an answer for the rest."""

    def __init__(self, answers: dict[str, object]) -> None:
        super().__init__(answers)
        self.transport = Transport(allow_private=True)

    async def send(self, request: Request) -> Response:
        if "//127.0.0.1" in request.url:
            return await self.transport.send(request)
        return await super().send(request)

    async def aclose(self) -> None:
        await self.transport.aclose()


@pytest.mark.parametrize(
    ("url", "how"),
    [
        (VIDEO, "location.href = '{}'"),
        ("https://news.ycombinator.com/item?id=901", "setTimeout(() => location.replace('{}#part'), 200)"),
        ("https://github.com/otter/db", "location.replace('{}')"),
        ("https://bsky.app/profile/ann.example.org/post/3k0", "onload = () => location.assign('{}')"),
        ("https://x.com/ann/status/18", "setTimeout(() => location.href = '{}', 100)"),
        ("https://old.reddit.com/r/otters/comments/1abcde/x/", "setTimeout(() => open('{}', '_self'), 50)"),
    ],
)
async def test_where_a_script_leads_is_told_before_that_page_is_rendered(browser: Browser, url: str, how: str) -> None:
    with Loopback(lambda call: (200, HTML, leading(how.format(url)))) as server, pytest.raises(Elsewhere) as caught:
        await browser.render(server.url, OPEN)

    assert caught.value.url == url


async def test_a_page_that_is_only_named_is_not_gone_to(browser: Browser) -> None:
    with Loopback(lambda call: (200, HTML, page(f"<p>See {VIDEO} and <a href='{VIDEO}'>this</a>.</p>"))) as server:
        fetched = await browser.render(server.url, OPEN)

    assert b"and <a" in fetched.body


async def test_nobody_who_does_not_ask_for_it_is_told(browser: Browser) -> None:
    with (
        Loopback(lambda call: (200, HTML, leading(f"location.href = '{VIDEO}'"))) as server,
        pytest.raises(Fault) as caught,
    ):
        await browser.render(server.url, replace(OPEN, is_site=None))

    assert (caught.value.kind, "www.youtube.com" in caught.value.message) == ("network", True)


async def read(url: str, sites: Mixed, **settings: str) -> dict[str, object]:
    _SESSIONS[asyncio.get_running_loop()] = FetchSession(OPEN, make_answer, resolve=NOWHERE)
    environ = {"CHROME_PATH": "", **settings}
    executor = Executor(shipped_model(), environ=environ, sender=sites, allow_private=True, validate=True, is_live=True)
    try:
        return (await executor.call("scrape_page", {"url": url})).answer
    finally:
        await executor.aclose()
        await close_session()


async def test_the_reader_of_the_site_reads_it() -> None:
    url, answers, (content_type, extracted_by), text = FORMS["Hacker News: a story"]
    sites = Mixed(answers)

    with Loopback(lambda call: (200, HTML, leading(f"location.href = '{url}'"))) as server:
        said = await read(server.url, sites)

    assert (said["contentType"], said["extractedBy"], said["url"]) == (content_type, extracted_by, url)
    assert text in str(said["content"])


async def test_what_may_not_be_read_is_refused_there_too() -> None:
    sites = Mixed(FORMS["Hacker News: a story"][1])

    with (
        Loopback(lambda call: (200, HTML, leading(f"location.href = '{VIDEO}'"))) as server,
        pytest.raises(Fault) as caught,
    ):
        await read(server.url, sites, ALLOWED_DOMAINS="127.0.0.1")

    assert caught.value.kind == "validation"
    assert not any("youtube" in sent for sent in sites.sent)
