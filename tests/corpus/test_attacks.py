"""Whatever leads to a forbidden place is refused by every tier, and whatever is endless ends within its caps."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Answer, Policy, Request, Response
from specloom.domains.scrape.browser.proxy import Proxy, Ticket
from specloom.domains.scrape.fetch import fallback
from specloom.domains.scrape.fetch.http import Way, fetch
from specloom.domains.scrape.fetch.politeness import Politeness
from specloom.domains.scrape.fetch.stealth import Stealth, is_installed
from tests.support.loopback import Call, Loopback, Raw, Reply
from tests.support.scrape_context import ARTICLE, HTML, OPTIONS, Names, fail, open_desk, take_text

TARGETS: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "attacks" / "targets.json").read_text(encoding="utf-8")
)
EVERY = [pytest.param(url, id=f"{group}: {url!r}") for group, urls in TARGETS.items() for url in urls]
STRICT = replace(OPTIONS, allow_private=False, reader=True)
PUBLIC = "93.184.215.14"
with_stealth = pytest.mark.skipif(not is_installed(), reason="the extra `stealth` is not installed")


class Untouched:
    """A way out that must not be taken."""

    def __init__(self, *locations: str) -> None:
        self.locations = list(locations)
        self.sent: list[str] = []

    async def send(self, request: Request) -> Response:
        self.sent.append(request.url)
        if self.locations:
            return Response(302, {"location": self.locations.pop(0)})
        return Response(200, {"content-type": "text/html"}, ARTICLE.encode())


def is_relative(url: str) -> bool:
    """Whether a Location of this kind stays on the host that sent it: nothing to refuse."""
    return url in ("", "//127.0.0.1/") or url.startswith(("http:1", "http:/1", "http:///"))


@pytest.mark.parametrize("url", EVERY)
async def test_the_ladder_refuses_it_before_anything_is_sent_or_asked(url: str) -> None:
    # A name without addresses: what is let through by mistake fails here and goes nowhere.
    names = Names([])
    services = {"reader": lambda arguments: Answer(), "contents": lambda arguments: Answer()}
    async with open_desk(resolve=names, options=STRICT, services=services) as (context, session):
        with pytest.raises(Fault) as caught:
            await fallback.read(url, context=context, options=STRICT, extract=take_text, session=session)

    assert caught.value.kind == "validation"
    assert caught.value.message.startswith("URL rejected for ")
    assert (context.sent, context.asked, names.asked) == ([], [], [])


@pytest.mark.parametrize("url", EVERY)
async def test_a_redirect_to_it_is_refused(url: str) -> None:
    if is_relative(url):
        pytest.skip("as a Location this is an address on the host that sent it")
    out = Untouched(url.encode("utf-8").decode("latin-1"))
    way = Way("html", (), out.send, 5.0)

    with pytest.raises(Fault) as caught:
        await fetch("https://example.org/", way, options=STRICT, politeness=Politeness(), owner="", now=lambda: 0.0)

    assert caught.value.kind == "validation"
    assert out.sent == ["https://example.org/"]


@with_stealth
@pytest.mark.parametrize("url", [url for group, urls in TARGETS.items() if "ports" not in group for url in urls])
async def test_the_client_that_looks_like_a_browser_refuses_it_by_itself(url: str) -> None:
    names = Names([])

    with pytest.raises(Fault) as caught:
        await Stealth(names).send(Request("GET", url, policy=Policy(timeout=60)))

    assert caught.value.kind == "validation"
    assert names.asked == []


@pytest.mark.parametrize("group", TARGETS)
async def test_the_proxy_of_the_browser_refuses_it_as_a_page_and_as_a_tunnel(group: str) -> None:
    names = Names([])
    proxy = Proxy(names)
    await proxy.start()
    try:
        ticket = proxy.open_ticket(allow_private=False)
        answers = {}
        for url in TARGETS[group]:
            answers["GET " + url] = await ask_proxy(proxy, ticket, f"GET {url}")
            authority = url.partition("://")[2].partition("/")[0]
            if authority and url.startswith("http") and not is_spelled_for_tls(authority):
                tunnel = authority if ":" in authority.rpartition("]")[2] else f"{authority}:443"
                answers["CONNECT " + tunnel] = await ask_proxy(proxy, ticket, f"CONNECT {tunnel}")
    finally:
        await proxy.aclose()

    assert {line: answer for line, answer in answers.items() if answer not in ("400", "403")} == {}
    assert names.asked == []


def is_spelled_for_tls(authority: str) -> bool:
    """Whether only the path or the scheme of the target is at fault, so that a tunnel to its host is in order."""
    return authority == "example.org" or not authority.strip(".")


async def ask_proxy(proxy: Proxy, ticket: Ticket, line: str) -> str:
    """The status of the proxy's answer to a request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    word = base64.b64encode(f"{ticket.name}:{ticket.password}".encode()).decode()
    try:
        writer.write(f"{line} HTTP/1.1\r\nProxy-Authorization: Basic {word}\r\n\r\n".encode())
        async with asyncio.timeout(60):
            return (await reader.read(4096))[9:12].decode()
    finally:
        writer.close()


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], [PUBLIC, "10.0.0.1"], ["::1"], ["::ffff:10.0.0.1"], ["64:ff9b::a9fe:a9fe"], ["2002:7f00:1::"]],
)
@pytest.mark.parametrize("stealth", [False, pytest.param(True, marks=with_stealth)])
async def test_a_name_that_leads_there_is_refused_in_every_tier(addresses: Sequence[str], stealth: bool) -> None:
    fault = await fail("https://pages.example/", resolve=Names(addresses), options=STRICT, stealth=stealth)

    assert fault.kind == "validation"


@with_stealth
async def test_the_client_that_looks_like_a_browser_connects_where_the_guard_looked() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    policy = Policy(timeout=60, allow_private=True)
    with Loopback(lambda call: (200, HTML, call.headers["host"])) as server:
        url = f"http://pages.example:{server.port}/a?b=1"
        response = await Stealth(names).send(Request("GET", url, policy=policy))
        with pytest.raises(Fault) as caught:
            await Stealth(names).send(Request("GET", url, policy=policy))

    assert (response.status, response.body) == (200, f"pages.example:{server.port}".encode())
    assert caught.value.kind == "validation"
    assert names.asked == ["pages.example", "pages.example"]


async def test_a_name_that_changes_its_address_between_tiers_is_caught() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    with Loopback(lambda call: (403, {"Content-Type": "text/html", "Connection": "close"}, "")) as server:
        fault = await fail(f"http://pages.example:{server.port}/", resolve=names)

    assert fault.kind == "validation"
    assert len(server.calls) == 1


async def test_a_host_outside_the_allow_list_is_refused_first_and_after_a_redirect() -> None:
    options = replace(STRICT, allowed_domains=("example.org",))
    out = Untouched("https://sub.example.org/", "https://example.org.evil.example/")
    way = Way("html", (), out.send, 5.0)

    with pytest.raises(Fault) as after:
        await fetch("https://example.org/", way, options=options, politeness=Politeness(), owner="", now=lambda: 0.0)
    first = await fail("https://notexample.org/", options=options)

    assert out.sent == ["https://example.org/", "https://sub.example.org/"]
    assert [after.value.kind, first.kind] == ["validation", "validation"]


# What is endless


def endless(piece: bytes) -> Iterator[bytes]:
    while True:
        yield piece


def bomb(coding: str) -> Callable[[Call], Reply]:
    body = {
        "gzip": gzip.compress(b"\0" * 5_000_000),
        "deflate": zlib.compress(b"\0" * 5_000_000),
        # Five million zeros.
        "br": base64.b64decode("nz9LTPgnAOKxQCBfiAk="),
    }[coding]
    return lambda call: (200, {"Content-Type": "text/html", "Content-Encoding": coding}, body)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
async def test_a_bomb_ends_at_the_cap(coding: str) -> None:
    with Loopback(bomb(coding)) as server:
        fault = await fail(server.url, max_html_bytes=50_000, max_document_bytes=50_000)

    assert fault.kind == ("too_large" if coding != "br" else "network")
    assert len(server.calls) <= 2


@with_stealth
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
async def test_a_bomb_ends_at_the_cap_in_the_client_that_unpacks_by_itself(coding: str) -> None:
    policy = Policy(timeout=60, max_bytes=50_000, allow_private=True)
    with Loopback(bomb(coding)) as server, pytest.raises(Fault) as caught:
        await Stealth(Names([])).send(Request("GET", server.url, policy=policy))

    assert caught.value.kind == "too_large"


@pytest.mark.parametrize("stealth", [False, pytest.param(True, marks=with_stealth)])
async def test_a_body_without_end_ends_at_the_cap(stealth: bool) -> None:
    def reply(call: Call) -> Reply:
        # Only the tier under test gets the endless body; the other one is refused.
        if ("sec-fetch-mode" in call.headers) is stealth:
            return 200, HTML, endless(b"<p>more</p>" * 1000)
        return 403, HTML, ""

    with Loopback(reply) as server:
        fault = await fail(server.url, stealth=stealth, max_html_bytes=100_000, max_document_bytes=100_000)

    assert "sent more than the 100000 bytes" in fault.detail


@pytest.mark.parametrize("stealth", [False, pytest.param(True, marks=with_stealth)])
async def test_a_slow_drip_ends_with_the_time_of_its_tier(stealth: bool) -> None:
    server = Loopback(lambda call: (200, HTML, ""))

    def drip() -> Iterator[bytes]:
        while not server.stopped.wait(0.02):
            yield b"x"

    server.handler = lambda call: (200, HTML, drip())
    with server:
        fault = await fail(server.url, stealth=stealth, plain_timeout=0.2, stealth_timeout=0.2)

    assert fault.kind == "network"
    assert fault.detail.count("no complete answer within 0.2 seconds") == 2


@pytest.mark.parametrize("stealth", [False, pytest.param(True, marks=with_stealth)])
async def test_header_lines_without_end_are_not_collected(stealth: bool) -> None:
    lines = [b"HTTP/1.1 200 OK\r\n", *(b"X-%d: %s\r\n" % (number, b"y" * 4000) for number in range(500))]
    with Loopback(lambda call: Raw(lines)) as server:
        fault = await fail(server.url, stealth=stealth)

    assert fault.kind == "network"


@with_stealth
@pytest.mark.parametrize("status", [200, 301, 404])
async def test_the_client_that_looks_like_a_browser_gives_the_answer_as_it_is(status: int) -> None:
    headers = [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Location", "/next"), ("Content-Type", "text/html")]
    policy = Policy(timeout=60, allow_private=True)
    with Loopback(lambda call: (status, headers, b"body")) as server:
        response = await Stealth(Names([])).send(
            Request("GET", server.url + "/a", headers=(("Cookie", "c=3"),), policy=policy)
        )

    assert (response.status, response.body) == (status, b"body")
    assert response.headers["set-cookie"] == "a=1, b=2"
    assert server.last.headers["cookie"] == "c=3"
    assert "Chrome/" in server.last.headers["user-agent"]
    assert server.last.headers["sec-fetch-mode"] == "navigate"
    assert not {"upgrade", "http2-settings", "connection"} & server.last.headers.keys()
    assert len(server.calls) == 1


@with_stealth
async def test_a_certificate_that_nobody_signed_is_refused_and_a_closed_port_told() -> None:
    policy = Policy(timeout=60, allow_private=True)
    with Loopback(lambda call: (200, HTML, ""), tls=True) as server:
        with pytest.raises(Fault) as unsigned:
            await Stealth(Names([])).send(Request("GET", server.url, policy=policy))
        url = server.url.replace("https", "http")
    with pytest.raises(Fault) as closed:
        await Stealth(Names([])).send(Request("GET", url, policy=policy))

    assert unsigned.value.message.endswith("its certificate is not valid.")
    assert closed.value.message.endswith("the connection was refused.")


@with_stealth
async def test_the_ladder_takes_the_client_that_looks_like_a_browser_where_it_is_installed() -> None:
    def reply(call: Call) -> Reply:
        return (200, HTML, ARTICLE) if "sec-fetch-mode" in call.headers else (403, HTML, "")

    with Loopback(reply) as server:
        async with open_desk(stealth=True) as (context, session):
            reading = await fallback.read(
                server.url, context=context, options=OPTIONS, extract=take_text, session=session
            )

    assert (reading.tier, len(context.sent), len(server.calls)) == ("stealth", 1, 2)
