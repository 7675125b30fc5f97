"""Connections that would keep a server from its work: silent, slow, endless, many, and two requests in one."""

from __future__ import annotations

import contextlib
import json
import math
import socket
import time
from collections.abc import Iterator

import pytest

from specloom.http.guards import find_network
from tests.support.http_server import PATIENCE, HttpDemo, read_to_end
from tests.support.server_process import call, request
from tests.support.timing import soonest

QUICK = {
    "HTTP_READ_HEADER_TIMEOUT": "200ms",
    "HTTP_READ_TIMEOUT": "400ms",
    "HTTP_IDLE_TIMEOUT": "1s",
    "HTTP_MAX_HEADER_BYTES": "4KiB",
}


PATIENT = {**QUICK, "HTTP_READ_HEADER_TIMEOUT": "60s", "HTTP_READ_TIMEOUT": "60s"}


@pytest.fixture(scope="module")
def server() -> Iterator[HttpDemo]:
    """It waits for a request longer than a busy machine may hold it up."""
    with HttpDemo(PATIENT) as running:
        yield running


@pytest.fixture(scope="module")
def quick_server() -> Iterator[HttpDemo]:
    with HttpDemo(QUICK) as running:
        yield running


def head(server: HttpDemo, *lines: bytes, target: bytes = b"/mcp", end: bytes = b"\r\n") -> bytes:
    first = b"POST " + target + b" HTTP/1.1"
    usual = (b"Host: 127.0.0.1:%d" % server.port, b"Content-Type: application/json")
    return end.join((first, *usual, *lines, b"", b""))


def read_to_answer(connection: socket.socket) -> bytes:
    """One answer to a ping; "" where the server has closed meanwhile."""
    try:
        return read_answer(connection)
    except (AssertionError, ConnectionError):
        return b""


def read_answer(connection: socket.socket) -> bytes:
    """One answer to a ping."""
    said = b""
    while not said.endswith(b"}\n"):
        part = connection.recv(65536)
        assert part, said
        said += part
    return said


PING = json.dumps(request(1, "ping")).encode()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /mcp HT",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nX-A: ",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    ],
)
def test_a_connection_that_says_nothing_more_is_closed(quick_server: HttpDemo, sent: bytes) -> None:
    assert quick_server.raw(sent) == b""


def test_a_body_at_a_trickle_is_cut_off_however_often_a_byte_comes(quick_server: HttpDemo) -> None:
    with socket.create_connection(("127.0.0.1", quick_server.port), timeout=PATIENCE) as connection:
        connection.sendall(head(quick_server, b"Content-Length: 100000"))
        with contextlib.suppress(ConnectionError):
            while True:
                connection.sendall(b" ")
                connection.settimeout(0.05)
                with contextlib.suppress(TimeoutError):
                    if not connection.recv(1):
                        break


def test_an_idle_connection_lasts_longer_than_a_silent_one_and_not_for_ever(quick_server: HttpDemo) -> None:
    def idle() -> float:
        """Seconds until an idle connection is closed."""
        with socket.create_connection(("127.0.0.1", quick_server.port), timeout=PATIENCE) as connection:
            for _ in range(2):
                connection.sendall(head(quick_server, b"Content-Length: %d" % len(PING)) + PING)
                if not read_to_answer(connection).startswith(b"HTTP/1.1 200"):
                    return math.inf  # a machine that is held up before it asks is silent as well
            began = time.monotonic()
            assert read_to_end(connection).count(b"HTTP/1.1") == 0
            return time.monotonic() - began

    assert 0.4 < soonest(idle, PATIENCE) < PATIENCE


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ((b"X-Long: " + b"a" * 5000,), 431),
        (tuple(b"X-%d: a" % n for n in range(101)), 431),
        ((b"Host: 127.0.0.1",), 400),
        ((b"Content-Length: 3", b"Content-Length: 4"), 400),
        ((b"Content-Length: 3", b"Transfer-Encoding: chunked"), 400),
        ((b"Transfer-Encoding: xchunked",), 400),
        ((b"Transfer-Encoding: chunked, identity",), 400),
        ((b"Content-Length: -1",), 400),
        ((b"Content-Length: 3, 3",), 400),
        ((b"X-A : b",), 400),
        ((b"X-A: b\x00c",), 400),
        ((b"X-A: b", b" folded"), 400),
        ((b"X-A: b\nX-B: c",), 400),
    ],
)
def test_a_head_that_could_be_read_in_two_ways_is_refused_once(
    server: HttpDemo, lines: tuple[bytes, ...], status: int
) -> None:
    said = server.raw(head(server, *lines) + b"{}\r\n\r\n" + head(server, b"Content-Length: 0"))

    assert said.startswith(b"HTTP/1.1 %d " % status), said
    assert said.count(b"HTTP/1.1 ") == 1, said
    assert b"connection: close" in said


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        b"POST http://evil.example/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        b"POST /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"POST /mcp HTTP/1.1\nHost: 127.0.0.1\n\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_request_to_this_server_is_answered_once_and_closed(server: HttpDemo, sent: bytes) -> None:
    said = server.raw(sent)

    assert said.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 ", b"HTTP/1.1 421 ", b"HTTP/1.1 404 ")), said
    assert said.count(b"HTTP/1.1 ") == 1


def test_a_head_without_end_is_refused_before_it_is_kept(server: HttpDemo) -> None:
    endless = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: " + b"a" * 8192
    assert server.raw(endless).startswith(b"HTTP/1.1 431 ")


def test_two_requests_in_one_go_are_answered_in_their_order(server: HttpDemo) -> None:
    pings = [json.dumps(request(number, "ping")).encode() for number in (1, 2)]
    said = server.raw(b"".join(head(server, b"Content-Length: %d" % len(one)) + one for one in pings))

    assert said.index(b'"id":1') < said.index(b'"id":2')


def test_an_offer_of_http_2_is_let_pass_each_time(server: HttpDemo) -> None:
    offer = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        for _ in range(2):
            connection.sendall(head(server, *offer, b"Content-Length: %d" % len(PING)) + PING)
            assert read_answer(connection).startswith(b"HTTP/1.1 200")


def test_others_are_served_while_many_connections_say_nothing(server: HttpDemo) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
        assert server.post(call(1, "echo", {"text": "x"})).status == 200


def test_one_address_may_have_so_many_connections_and_the_server_so_many_in_all() -> None:
    with HttpDemo({"HTTP_MAX_CONNECTIONS": "32"}) as server, contextlib.ExitStack() as stack:
        kept = [stack.enter_context(server.client()) for _ in range(2)]
        assert [one.post(request(1, "ping")).status for one in kept] == [200, 200]
        assert server.raw(b"").startswith(b"HTTP/1.1 429 ")
        kept.pop().close()
        while server.post(request(1, "ping")).status == 429:
            pass
    with HttpDemo({"HTTP_MAX_CONNECTIONS": "1"}) as server, server.client() as first:
        assert first.post(request(1, "ping")).status == 200
        assert server.raw(b"").startswith(b"HTTP/1.1 503 ")


def test_a_proxy_that_is_trusted_may_have_all_connections() -> None:
    with HttpDemo({"HTTP_MAX_CONNECTIONS": "8", "TRUST_PROXY": "true"}) as server, contextlib.ExitStack() as stack:
        kept = [stack.enter_context(server.client()) for _ in range(4)]
        assert [one.post(request(1, "ping")).status for one in kept] == [200] * 4


def test_who_does_not_read_a_long_answer_is_let_go_and_holds_up_nobody() -> None:
    with HttpDemo(PATIENT) as server, socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect(("127.0.0.1", server.port))
        body = json.dumps(call(1, "flood")).encode()
        lazy.sendall(head(server, b"Content-Length: %d" % len(body)) + body)
        assert server.post(call(1, "echo", {"text": "x"})).status == 200


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_a_client_is_an_address_or_the_network_that_a_client_of_ipv6_has(address: str, network: str) -> None:
    assert find_network(address) == network
