"""The browser's only way out: a ticket is needed, every connection is looked at, and none is endless."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from specloom.domains.scrape.browser.proxy import Proxy, Ticket
from specloom.net.connections import Resolver, resolve_name
from tests.support.loopback import Call, Loopback, Raw, Reply
from tests.support.scrape_context import Names
from tests.support.wire import FLOODS, endless


class Client:
    """One connection to a proxy."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ticket: Ticket | None) -> None:
        self.reader = reader
        self.writer = writer
        word = base64.b64encode(f"{ticket.name}:{ticket.password}".encode()).decode() if ticket else ""
        self.credentials = f"Proxy-Authorization: Basic {word}\r\n" if ticket else ""

    async def ask(self, line: str, *headers: str, body: bytes = b"") -> bytes:
        said = "".join(f"{header}\r\n" for header in headers)
        self.writer.write(f"{line} HTTP/1.1\r\n{self.credentials}{said}\r\n".encode("latin-1") + body)
        async with asyncio.timeout(60):
            return await self.reader.read() if not line.startswith("CONNECT") else await self.reader.read(4096)


@asynccontextmanager
async def open_proxy(resolve: Resolver = resolve_name, most: int = 256) -> AsyncIterator[Proxy]:
    proxy = Proxy(resolve, most=most)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.aclose()


@asynccontextmanager
async def connect(proxy: Proxy, ticket: Ticket | None) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    try:
        yield Client(reader, writer, ticket)
    finally:
        writer.close()


async def through(
    line: str,
    *headers: str,
    body: bytes = b"",
    private: bool = True,
    resolve: Resolver = resolve_name,
    most: int = 10**6,
) -> tuple[bytes, Ticket]:
    async with open_proxy(resolve) as proxy:
        ticket = proxy.open_ticket(allow_private=private, most=most)
        async with connect(proxy, ticket) as client:
            return await client.ask(line, *headers, body=body), ticket


def reply(call: Call) -> Reply:
    return 200, {"Content-Type": "text/plain"}, f"{call.method} {call.target} {call.body.decode()}"


async def test_a_plain_request_is_passed_on_without_what_was_for_the_proxy() -> None:
    with Loopback(reply) as server:
        answer, _ = await through(
            f"GET {server.url}/a?b=1", "Host: evil.example", "Proxy-Connection: keep-alive", "X: y"
        )

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Connection: close" in answer
    assert answer.endswith(b"GET /a?b=1 ")
    assert server.last.headers == {"host": f"127.0.0.1:{server.port}", "x": "y", "connection": "close"}


def open_silent_host() -> Loopback:
    """A host that takes requests, and says nothing until it is stopped."""
    server = Loopback(lambda call: (200, {}, ""))

    def hang(call: Call) -> Reply:
        server.stopped.wait(30)
        return 200, {}, ""

    server.handler = hang
    return server


async def test_a_host_that_says_nothing_is_an_answer_once_the_page_is_there() -> None:
    with open_silent_host() as server:
        async with open_proxy() as proxy:
            ticket = proxy.open_ticket(allow_private=True)
            ticket.patience = 0.1
            async with connect(proxy, ticket) as client:
                answer = await client.ask(f"GET {server.url}/")

    # A connection that only ends is asked for anew by browsers.
    assert answer.startswith(b"HTTP/1.1 504 ")


async def test_a_host_that_is_waited_for_already_is_waited_for_no_longer_than_others() -> None:
    with open_silent_host() as server:
        async with open_proxy() as proxy:
            ticket = proxy.open_ticket(allow_private=True)
            async with connect(proxy, ticket) as client:
                asked = asyncio.create_task(client.ask(f"GET {server.url}/"))
                while not ticket.waits:  # noqa: ASYNC110 - nothing tells of the moment in which a read begins
                    await asyncio.sleep(0)
                ticket.shorten_patience(0.1)
                answer = await asked

    assert answer.startswith(b"HTTP/1.1 504 ")
    assert not ticket.waits


async def test_a_body_is_passed_on() -> None:
    with Loopback(reply) as server:
        answer, _ = await through(f"POST {server.url}/", "Content-Length: 5", body=b"hello and a second request")

    assert answer.endswith(b"POST / hello")
    assert len(server.calls) == 1


async def test_a_second_request_on_the_same_connection_goes_nowhere() -> None:
    with Loopback(reply) as server:
        second = f"GET {server.url}/second HTTP/1.1\r\n\r\n".encode()
        answer, _ = await through(f"GET {server.url}/first", body=second)

    assert [call.target for call in server.calls] == ["/first"]
    assert answer.count(b"HTTP/1.1") == 1


async def test_a_tunnel_carries_bytes_both_ways() -> None:
    with Loopback(reply) as server:
        async with open_proxy() as proxy:
            ticket = proxy.open_ticket(allow_private=True)
            async with connect(proxy, ticket) as client:
                established = await client.ask(f"CONNECT 127.0.0.1:{server.port}")
                client.writer.write(b"GET /inside HTTP/1.1\r\nHost: x\r\n\r\n")
                answer = await client.reader.readuntil(b"/inside ")

    assert established.startswith(b"HTTP/1.1 200 ")
    assert b"200 OK" in answer


@pytest.mark.parametrize("ticket", [None, Ticket("no", "body", False, 1)])
async def test_whoever_has_no_ticket_gets_nothing(ticket: Ticket | None) -> None:
    with Loopback(reply) as server:
        async with open_proxy() as proxy, connect(proxy, ticket) as client:
            answer = await client.ask(f"GET {server.url}/")

        assert server.calls == []
    assert answer.startswith(b"HTTP/1.1 407 ")
    assert b"Proxy-Authenticate: Basic" in answer


async def test_the_name_of_a_ticket_is_not_enough() -> None:
    async with open_proxy() as proxy:
        ticket = proxy.open_ticket(allow_private=True)
        async with connect(proxy, Ticket(ticket.name, "guessed", True, 1)) as client:
            answer = await client.ask("GET http://example.org/")

    assert answer.startswith(b"HTTP/1.1 407 ")


async def test_a_closed_ticket_is_no_ticket_and_ends_what_it_let_through() -> None:
    with Loopback(reply) as server:
        async with open_proxy() as proxy:
            ticket = proxy.open_ticket(allow_private=True)
            async with connect(proxy, ticket) as client, connect(proxy, ticket) as late:
                await client.ask(f"CONNECT 127.0.0.1:{server.port}")
                proxy.close_ticket(ticket)
                async with asyncio.timeout(60):
                    rest = await read_to_end(client.reader)
                answer = await late.ask(f"GET {server.url}/")

    assert rest == b""
    assert answer.startswith(b"HTTP/1.1 407 ")


async def read_to_end(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize(
    "line",
    [
        "CONNECT 127.0.0.1:80",
        "CONNECT 10.0.0.1:443",
        "CONNECT [::1]:443",
        "CONNECT 0x7f.1:443",
        "CONNECT localhost:443",
        "CONNECT example.org:25",
        "CONNECT user@example.org:443",
        "GET http://127.0.0.1/",
        "GET http://[::ffff:10.0.0.1]/",
        "GET http://169.254.169.254/latest/meta-data/",
        "GET http://2130706433/",
        "GET ftp://example.org/",
        "GET file:///etc/passwd",
        "GET /etc/passwd",
        "GET http://user:word@example.org/",
    ],
)
async def test_private_and_strange_targets_are_refused(line: str) -> None:
    names = Names(["10.0.0.1"])
    answer, ticket = await through(line, private=False, resolve=names)

    assert answer.startswith(b"HTTP/1.1 403 ")
    assert [fault.kind for fault in ticket.faults.values()] == ["validation"]
    assert names.asked == []


@pytest.mark.parametrize(
    "addresses", [["10.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["::ffff:7f00:1"], ["64:ff9b::a00:1"]]
)
async def test_a_name_with_a_private_address_is_refused(addresses: Sequence[str]) -> None:
    answer, ticket = await through("CONNECT pages.example:443", private=False, resolve=Names(addresses))

    assert answer.startswith(b"HTTP/1.1 403 ")
    assert ticket.faults["pages.example"].kind == "validation"


async def test_a_name_is_looked_up_for_every_connection_and_its_answer_used() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    with Loopback(reply) as server:
        async with open_proxy(names) as proxy:
            ticket = proxy.open_ticket(allow_private=True)
            answers = []
            for _ in range(2):
                async with connect(proxy, ticket) as client:
                    answers.append(await client.ask(f"GET http://pages.example:{server.port}/"))

    assert [answer[9:12] for answer in answers] == [b"200", b"403"]
    assert names.asked == ["pages.example", "pages.example"]


async def test_a_host_that_is_not_there_is_told() -> None:
    with Loopback(reply) as server:
        url = server.url
    answer, ticket = await through(f"GET {url}/")

    assert answer.startswith(b"HTTP/1.1 502 ")
    assert ticket.faults["127.0.0.1"].kind == "network"


async def test_a_page_loads_no_more_than_it_may() -> None:
    with Loopback(lambda call: (200, {}, b"x" * 500_000)) as server:
        answer, ticket = await through(f"GET {server.url}/", most=100_000)

    assert len(answer) < 200_000
    assert ticket.loaded < 300_000


async def test_interim_answers_come_before_the_one_that_counts() -> None:
    pieces = [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]
    with Loopback(lambda call: Raw(pieces)) as server:
        answer, _ = await through(f"GET {server.url}/")

    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"ok")


@pytest.mark.parametrize("pieces", [[b"not HTTP"], [b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000], []])
async def test_what_is_not_http_is_not_passed_on(pieces: list[bytes]) -> None:
    with Loopback(lambda call: Raw(pieces)) as server:
        answer, _ = await through(f"GET {server.url}/")

    assert answer.startswith(b"HTTP/1.1 502 ")


@pytest.mark.parametrize(
    "line", ["nonsense", "GET", "GET http://example.org/ more", "CONNECT example.org:443/@10.0.0.1"]
)
async def test_nonsense_is_refused(line: str) -> None:
    answer, _ = await through(line, private=False, resolve=Names([]))

    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 403 "))


async def test_the_number_of_connections_is_bounded() -> None:
    async with open_proxy(most=1) as proxy:
        ticket = proxy.open_ticket(allow_private=True)
        async with connect(proxy, ticket) as first:
            first.writer.write(b"GET ")
            async with connect(proxy, ticket) as second:
                answer = await second.ask("GET http://example.org/")

    assert answer.startswith(b"HTTP/1.1 503 ")


async def test_head_lines_without_end_are_not_collected() -> None:
    async with open_proxy() as proxy, connect(proxy, None) as client:
        client.writer.write(b"GET http://example.org/ HTTP/1.1\r\n" + b"X: y\r\n" * 100_000)
        async with asyncio.timeout(60):
            assert await read_to_end(client.reader) == b""


@pytest.mark.parametrize("name", ["100 Continue", "103 Early Hints", "lines of a head", "blank lines"])
async def test_a_head_that_does_not_come_to_an_end_is_given_up(name: str) -> None:
    start, block, _ = FLOODS[name]
    with Loopback(lambda call: Raw(endless(start, block))) as server:
        answer, _ = await through(f"GET {server.url}/")

    assert answer.startswith(b"HTTP/1.1 502 ")
