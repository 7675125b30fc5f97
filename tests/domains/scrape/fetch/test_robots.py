"""Where robots.txt is to be obeyed it holds for every tier and every hop; where it is not, nobody asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from specloom.core.messages import Answer
from specloom.domains.scrape.fetch import fallback
from specloom.domains.scrape.fetch.robots import LONGEST_DELAY
from specloom.domains.scrape.options import to_options
from specloom.net.guard import check_url
from tests.support.loopback import RESET, Call, Loopback, Reply
from tests.support.scrape_context import ARTICLE, HTML, OPTIONS, fail, open_desk, read, take_text

pytest.importorskip("protego", reason="the extra `robots` is not installed")

TEXT = {"Content-Type": "text/plain"}


def site(rules: Reply | str) -> Callable[[Call], Reply]:
    def reply(call: Call) -> Reply:
        if call.path == "/robots.txt":
            return (200, TEXT, rules) if isinstance(rules, str) else rules
        if call.path == "/other.txt":
            return 200, TEXT, "User-agent: *\nDisallow: /closed"
        if call.path == "/leads":
            return 302, {"Location": "/closed"}, ""
        return 200, HTML, ARTICLE

    return reply


def paths(server: Loopback) -> list[str]:
    return [call.path for call in server.calls]


async def test_nobody_asks_for_it_unless_it_is_to_be_obeyed() -> None:
    with Loopback(site("User-agent: *\nDisallow: /")) as server:
        await read(server.url + "/page")

    assert paths(server) == ["/page"]
    assert to_options({}).robots is False


@pytest.mark.parametrize(
    ("rules", "path", "closed"),
    [
        ("User-agent: *\nDisallow: /closed", "/open", False),
        ("User-agent: *\nDisallow: /closed", "/closed", True),
        ("User-agent: *\nDisallow: /closed", "/leads", True),
        ("User-agent: specloom\nDisallow: /\n\nUser-agent: *\nAllow: /", "/open", True),
        ("User-agent: other\nDisallow: /", "/open", False),
        ("User-agent: *\nDisallow: /*.html$", "/a.html", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b", False),
        ("", "/open", False),
        ("<html>not rules at all</html>", "/open", False),
        ((404, HTML, ""), "/open", False),
        ((403, HTML, ""), "/open", False),
        ((304, HTML, ""), "/open", False),
        ((500, HTML, ""), "/open", True),
        ((429, HTML, ""), "/open", True),
        (RESET, "/open", True),
        # Where it leads somebody else's rules count, unless it leads nowhere (RFC 9309, 2.3.1.2).
        ((302, {"Location": "/other.txt"}, ""), "/closed", True),
        ((302, {"Location": "/other.txt"}, ""), "/open", False),
        ((302, {"Location": "/robots.txt"}, ""), "/open", False),
        ((302, {}, ""), "/open", False),
        ((302, {"Location": "http://169.254.169.254/robots.txt"}, ""), "/open", True),
        ((302, {"Location": "http://[/"}, ""), "/open", True),
        ((302, {"Location": "ftp://127.0.0.1/"}, ""), "/open", True),
        # Of a file that is too large the beginning counts, and not nothing.
        ("User-agent: *\nDisallow: /closed\n" + "# " + "x" * 600_000, "/closed", True),
        ("User-agent: *\nDisallow: /closed\n" + "# " + "x" * 600_000, "/open", False),
        ((200, TEXT, b"\xef\xbb\xbfUser-agent: *\nDisallow: /closed"), "/closed", True),
        ((200, TEXT, "User-agent: *\nDisallow: /closed".encode("utf-16")), "/closed", True),
        ((200, TEXT, b"\xff\0\nUser-agent: *\nDisallow: /closed\n\xfe"), "/closed", True),
        ((200, {**TEXT, "Content-Encoding": "gzip"}, b"no gzip"), "/open", True),
    ],
)
async def test_rules_are_kept(rules: Reply | str, path: str, closed: bool) -> None:
    with Loopback(site(rules)) as server:
        if closed:
            fault = await fail(server.url + path, robots=True)

            assert fault.kind == "blocked"
            assert "robots.txt" in fault.message
            assert not {"/closed", "/open", "/a.html"} & set(paths(server))
        else:
            assert (await read(server.url + path, robots=True)).quality == "complete"


async def test_a_file_that_leads_inside_is_not_told_as_a_page_that_may_not_be_asked_for() -> None:
    with Loopback(site((302, {"Location": "http://169.254.169.254/robots.txt"}, ""))) as server:
        fault = await fail(server.url + "/open", robots=True)

    assert fault.kind == "blocked"
    assert fault.message == (
        f"Blocked: {server.url}/open is not read, because the robots.txt of 127.0.0.1 leads where nobody may ask, "
        "so its pages are left alone. Try an alternative source."
    )


@pytest.mark.parametrize("delay", ["nan", "-5", "inf", "1e400"])
async def test_a_delay_that_is_none_keeps_no_page_waiting(delay: str) -> None:
    with Loopback(site(f"User-agent: *\nCrawl-delay: {delay}")) as server:
        async with open_desk() as (context, session):
            allow = session.robots_for(context, to_options({"SCRAPE_ROBOTS": True}, allow_private=True))
            assert allow is not None
            seconds = await allow(check_url(server.url + "/a", allow_private=True))

    assert seconds in {None, LONGEST_DELAY}


async def test_a_closed_page_is_not_read_by_others_either() -> None:
    asked: list = []
    services = {"reader": lambda arguments: Answer(), "contents": lambda arguments: Answer()}
    with Loopback(site("User-agent: *\nDisallow: /")) as server:
        await fail(server.url + "/page", robots=True, reader=True, services=services, asked=asked)

    assert (paths(server), asked) == (["/robots.txt"], [])


async def test_it_is_asked_for_once_however_many_pages_are_read() -> None:
    options = to_options({"SCRAPE_ROBOTS": True, "CHROME_PATH": "disabled"}, allow_private=True)
    with Loopback(site("User-agent: *\nDisallow: /closed")) as server:
        async with open_desk(options=options) as (context, session):

            async def one(number: int) -> None:
                url = f"{server.url}/{number}"
                await fallback.read(url, context=context, options=options, extract=take_text, session=session)

            await asyncio.gather(*(one(number) for number in range(5)))

    assert paths(server).count("/robots.txt") == 1
    assert server.calls[0].headers["user-agent"].count("specloom") >= 1


async def test_a_delay_is_the_distance_between_two_pages() -> None:
    with Loopback(site("User-agent: *\nCrawl-delay: 7")) as server:
        async with open_desk() as (context, session):
            allow = session.robots_for(context, to_options({"SCRAPE_ROBOTS": True}, allow_private=True))
            assert allow is not None
            seconds = await allow(check_url(server.url + "/a", allow_private=True))

    assert seconds == 7.0
    assert OPTIONS.robots is False
