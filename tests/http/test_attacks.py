"""Attacks over a real socket, whoever calls: smuggled requests, slow and huge ones, floods, odd words in logs."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import socket
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.http import guards
from specloom.http import service as service_room
from specloom.http.request_log import RequestLog
from tests.support.demo_server import Demo
from tests.support.http_server import PATIENCE, HttpDemo, read_to_end
from tests.support.operated import KEY, operated
from tests.support.server_process import call, request

SECRET = "Pl4ntedV4lue"
MEGABYTE = 1 << 20
ECHO = json.dumps(call(1, "echo", {"text": "smuggled"})).encode()


class Counting(Demo):
    """Remembers which texts it was asked to echo."""

    def __init__(self) -> None:
        super().__init__()
        self.echoed: list[str] = []

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Any) -> Any:
        self.echoed.append(arguments.get("text", ""))
        return await super().call_tool(name, arguments, call)


MANY = {"HTTP_MAX_CONNECTIONS": "20000"}


@pytest.fixture
def server() -> Iterator[HttpDemo]:
    """It waits longer than a busy machine may hold up a client."""
    with HttpDemo({**MANY, "HTTP_READ_HEADER_TIMEOUT": "60s", "HTTP_READ_TIMEOUT": "60s"}, demo=Counting()) as running:
        yield running


@pytest.fixture
def hasty_server() -> Iterator[HttpDemo]:
    with HttpDemo({**MANY, "HTTP_READ_HEADER_TIMEOUT": "300ms", "HTTP_READ_TIMEOUT": "1s"}, demo=Counting()) as running:
        yield running


def hidden(port: int) -> bytes:
    """A whole request, as it is hidden in the body of another."""
    return (
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
        % (port, len(ECHO), ECHO)
    )


def chunked(port: int, body: bytes, *lines: bytes, version: bytes = b"1.1") -> bytes:
    usual = (
        b"POST /mcp HTTP/" + version,
        b"Host: 127.0.0.1:%d" % port,
        b"Content-Type: application/json",
        *(lines or (b"Transfer-Encoding: chunked",)),
    )
    return b"\r\n".join((*usual, b"", b"")) + body


# --- Two requests in one (13) -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b"fffffffffffffffff\r\n", ()),
        (b"-1\r\n", ()),
        (b"0x2\r\n{}\r\n0\r\n\r\n", ()),
        (b"2 \n{}\r\n0\r\n\r\n", ()),
        (b"2\n{}\n0\n\n", ()),
        (b"1\r\n{}\r\n0\r\n\r\n", ()),
        (b"2\r\n{}0\r\n\r\n", ()),
        (b"\r\n2\r\n{}\r\n0\r\n\r\n", ()),
        (b"2\r\n{}\r\n0\r\n\r\n", (b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked")),
        (b"2\r\n{}\r\n0\r\n\r\n", (b"Transfer-Encoding: \x0bchunked",)),
        (b"2\r\n{}\r\n0\r\n\r\n", (b"Transfer-Encoding: chunked", b"Content-Length: 100")),
        (b"2\r\n{}\r\n0\r\n\r\n", (b"Content-Length: 100", b"Transfer-Encoding: chunked")),
        (b"2\r\n{}\r\n0\r\n\r\n", (b"Transfer-Encoding: identity, chunked",)),
        (b"2\r\n{}\r\n0\r\n\r\n", (b"Transfer-Encoding:chunked\r\n ,identity",)),
        (b"0\r\n\r\n", (b"Content-Length: 0x10",)),
        (b"0\r\n\r\n", (b"Content-Length: +5",)),
        (b"0\r\n\r\n", (b"Content-Length: 5\x00",)),
    ],
)
def test_a_body_that_could_end_in_two_places_never_hides_a_second_request(
    server: HttpDemo, body: bytes, lines: tuple[bytes, ...]
) -> None:
    said = server.raw(chunked(server.port, body + hidden(server.port), *lines))

    assert said.count(b"HTTP/1.1 ") <= 1, said
    assert b"smuggled" not in said
    assert not said or int(said[9:12]) in (400, 431), said
    assert server.engine.demo.echoed == []


def test_a_request_of_a_version_without_chunks_is_read_by_nobody_as_two(server: HttpDemo) -> None:
    said = server.raw(chunked(server.port, b"0\r\n\r\n" + hidden(server.port), version=b"1.0"))

    assert b"smuggled" not in said
    assert server.engine.demo.echoed == []


def test_what_stands_behind_the_last_chunk_changes_no_header(server: HttpDemo) -> None:
    body = json.dumps(request(7, "ping")).encode()
    trailer = b"Host: evil.example\r\nAuthorization: Bearer x\r\nContent-Length: 5\r\n"
    chunks = b"%x\r\n%b\r\n0\r\n%b\r\n" % (len(body), body, trailer)
    said = server.raw(chunked(server.port, chunks, b"Transfer-Encoding: chunked", b"Connection: close"))

    assert said.count(b"HTTP/1.1 ") == 1
    assert said.startswith((b"HTTP/1.1 200", b"HTTP/1.1 400")), said


# --- Slow and huge requests (14, 15) ----------------------------------------------------------------------------------


def test_a_head_that_comes_byte_by_byte_is_cut_off(hasty_server: HttpDemo) -> None:
    with socket.create_connection(("127.0.0.1", hasty_server.port), timeout=PATIENCE) as connection:
        connection.settimeout(0.02)
        sent = 0
        with contextlib.suppress(ConnectionError):
            for byte in itertools.islice(itertools.cycle(b"POST /mcp HTTP/1.1\r\nX-A: b\r\n"), 1000):
                connection.sendall(bytes([byte]))
                sent += 1
                with contextlib.suppress(TimeoutError):
                    if not connection.recv(1):
                        break
    assert sent < 1000


@pytest.mark.parametrize("line", [b"X-A: " + b"a" * MEGABYTE, b"\r\n".join(b"X-%d: a" % n for n in range(10_000))])
def test_headers_without_measure_are_refused_and_not_kept(server: HttpDemo, line: bytes) -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % server.port
    tracemalloc.start()
    try:
        with contextlib.suppress(ConnectionError):
            said = server.raw(head + line + b"\r\n\r\n")
            assert said == b"" or said.startswith(b"HTTP/1.1 431 "), said[:80]
        assert tracemalloc.get_traced_memory()[1] < 8 * MEGABYTE
    finally:
        tracemalloc.stop()
    assert server.post(request(1, "ping")).status == 200


def test_a_thousand_silent_connections_leave_others_served_and_are_gone_in_time() -> None:
    settings = {"HTTP_MAX_CONNECTIONS": "20000", "HTTP_READ_HEADER_TIMEOUT": "30s"}
    with HttpDemo(settings) as server, contextlib.ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            for _ in range(1000)
        ]
        for one in silent[::2]:
            one.sendall(b"POST /mcp HTTP/1.1\r\nX-A: ")
        with server.client() as client:
            for number in range(20):
                assert client.post(call(number, "echo", {"text": "x"})).status == 200
        guard = server.app.guard
        assert guard is not None
        assert len(guard.open) >= 1000


JSON = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":%b}}}'


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (JSON % (b'"' + b"a" * 5 * MEGABYTE + b'"'), {}, 413),
        (gzip.compress(b"0" * 20 * MEGABYTE), {"Content_Encoding": "gzip"}, 415),
        (JSON % (b"[" * 100_000 + b"]" * 100_000), {}, 400),
        (JSON % (b'{"a":' * 100_000 + b"1" + b"}" * 100_000), {}, 400),
        (JSON % (b"{" + b",".join(b'"%d":1' % n for n in range(300_000)) + b"}"), {}, 400),
        (JSON % (b"1" * MEGABYTE), {}, 400),
        (b'{"jsonrpc":"2.0","method":"ping","id":1e' + b"9" * MEGABYTE + b"}", {}, 400),
        (JSON % b'"\\ud800"', {}, None),
        (JSON % b'"\\u0000\\u001b[31m"', {}, None),
        (JSON % b'"x","text":"y"', {}, None),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', {}, None),
        (b"\xef\xbb\xbf" + JSON % b'"x"', {}, None),
        (b" " * (4 * MEGABYTE), {}, None),
        (b'"' + b"\\" * (3 * MEGABYTE) + b'"', {}, 400),
    ],
    ids=lambda one: "" if isinstance(one, bytes) else str(one),
)
def test_a_body_that_is_built_to_cost_costs_little(
    server: HttpDemo, body: bytes, headers: dict[str, str], status: int | None
) -> None:
    tracemalloc.start()
    try:
        answer = server.post(body, **headers)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert answer.status == status if status else answer.status in (200, 400), answer.status
    # The client's own copies of the body are in it as well.
    assert peak < 20 * MEGABYTE + 3 * len(body)
    assert server.reported == []
    json.loads(answer.body or b"null")


def test_a_body_in_chunks_of_one_byte_ends_with_its_bound(server: HttpDemo) -> None:
    chunks = chunked(server.port, b"1\r\na\r\n" * 200_000, b"Transfer-Encoding: chunked", b"Connection: close")
    with contextlib.suppress(ConnectionError):
        said = server.raw(chunks + b"0\r\n\r\n")
        assert said == b"" or said.startswith(b"HTTP/1.1 400 "), said[:80]
    assert server.post(request(1, "ping")).status == 200


# --- Streams that are many, or are not read (16) ----------------------------------------------------------------------


LISTEN = request("l", "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["demo://one"]}}, modern=True)


def test_a_worker_has_so_many_streams_whoever_opens_them(server: HttpDemo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_room, "MOST_STREAMS", 8)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.client()) for _ in range(10)]
        heads = [one.open(LISTEN, X_Test_Owner=f"owner{at}") for at, one in enumerate(clients)]
        assert [one.status for one in heads] == [200] * 8 + [429] * 2
        assert len(server.service._listening) == 8  # nothing is remembered of those who were refused
        clients[0].close()
        while server.service.streams == 8:
            assert server.post(request(1, "ping")).status == 200
        with server.client() as late:
            assert late.open(LISTEN, X_Test_Owner="late").status == 200


def test_a_listener_that_never_reads_is_let_go_and_the_others_hear_all(
    server: HttpDemo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guards, "WRITING_SECONDS", 0.5)
    body = json.dumps(LISTEN).encode()
    head = (
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
        b"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
        b"Mcp-Method: subscriptions/listen\r\n\r\n" % (server.port, len(body))
    )
    changes = 20_000
    heard: list[int] = []
    with socket.socket() as lazy, server.client() as keen:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect(("127.0.0.1", server.port))
        lazy.sendall(head + body)
        stream = keen.open(LISTEN)
        while server.service.streams < 2:
            server.post(request(1, "ping"))
        done = threading.Event()

        def listen() -> None:
            while len(heard) < changes and (line := stream.readline()):
                if line.startswith(b"data: ") and b"resources/updated" in line:
                    heard.append(json.loads(line[6:])["params"]["n"])
            done.set()

        threading.Thread(target=listen, daemon=True).start()
        for first in range(0, changes, 100):

            def tell(first: int = first) -> None:
                for number in range(first, first + 100):
                    changed = {"uri": "demo://one", "n": number, "filler": "x" * 500}
                    server.service.tell_change("", "notifications/resources/updated", changed)

            server.call_soon(tell)
            while len(heard) < first:  # who reads is not hurried
                assert server.post(request(1, "ping")).status == 200
        assert done.wait(PATIENCE)
        while server.service.streams > 1:
            assert server.post(request(1, "ping")).status == 200
    assert heard == list(range(changes))


# --- Words that are odd in logs (20), the key of operators (21, 22) ---------------------------------------------------


def test_whatever_a_client_calls_things_a_request_is_one_line_of_the_log(server: HttpDemo) -> None:
    lines: list[str] = []
    log = RequestLog(lines.append, b"k" * 32)
    server.app.log = log.add
    odd = ("a\x1b[31mred", "two\nlines", "x" * 5000, "\u2028", f'"{SECRET}"', "{}")
    for text in odd:
        server.post(request(1, f"tools/{text}"))
        server.post(call(1, text))
        server.post(call(text, "echo", {"text": SECRET}))
        server.post(call(1, "echo", {"text": "x"}), X_Test_Owner=json.dumps(text))
    for odd_id in ("a;b", "a b", "ä", SECRET + "!", "x" * 4000):
        server.post(request(1, "ping"), X_Request_Id=odd_id, traceparent=SECRET)
    server.raw(b"POST /" + SECRET.encode() + b"\x1b[31m HTTP/1.1\r\nHost: a\r\n\r\n")
    with server.client() as client:
        client.get(f"/{SECRET}%0a%1b")
    log.close()

    assert len(lines) >= 4 * len(odd) + 5
    for line in lines:
        assert line.count("\n") == 1
        assert line.isascii()
        assert line.rstrip("\n").isprintable()
        assert SECRET not in line
        assert json.loads(line)["status"] >= 200


def test_the_admin_key_counts_in_its_header_alone(tmp_path: Path) -> None:
    with operated(tmp_path) as desk:
        for path in (f"/admin/analytics?key={KEY.replace(' ', '%20')}", f"/dashboard/data?key={KEY.replace(' ', '+')}"):
            assert desk.ask(path, key="").status == 401
        assert desk.ask("/admin/analytics", key="", Authorization=f"Bearer {KEY}").status == 401
        assert desk.ask("/admin/analytics", key="", Cookie=f"X-Admin-Key={KEY}").status == 401
        page = desk.ask("/dashboard", key="")
        assert page.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert desk.ask("/admin/sessions", "DELETE").status == 400
        rows = json.dumps(desk.audit())
    assert KEY not in rows


def test_a_thousand_guesses_of_the_admin_key_are_ten_that_are_looked_at(tmp_path: Path) -> None:
    with operated(tmp_path) as desk:
        statuses = [desk.ask("/admin/analytics", key=f"guess {number} of the key").status for number in range(1000)]
        assert statuses == [401] * 10 + [429] * 990
        # Who has the key and shares the address waits as well; what was guessed is in no row.
        assert desk.ask("/admin/analytics").status == 429
        log = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.jsonl"))
    assert "guess" not in log


@pytest.mark.parametrize("state", ["", "forged", "e30.e30.", "\u0000", "x" * 100_000])
def test_a_state_that_this_server_never_gave_changes_nothing(server: HttpDemo, state: str) -> None:
    plain = call(1, "echo", {"text": "otters"}, modern=True)
    forged = json.loads(json.dumps(plain))
    forged["params"] |= {"requestState": state, "inputResponses": {"which": {"action": "accept", "content": {}}}}

    assert server.post(forged).json == server.post(plain).json
    refused = json.loads(json.dumps(plain))
    refused["params"]["requestState"] = {"owner": "another"}
    assert server.post(refused).json["error"]["code"] == -32602


def test_a_connection_that_is_cut_at_any_byte_of_a_call_harms_nobody(server: HttpDemo) -> None:
    whole = hidden(server.port)
    for end in range(0, len(whole), 7):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            connection.sendall(whole[:end])
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(whole)
        connection.shutdown(socket.SHUT_WR)
        assert read_to_end(connection).count(b"HTTP/1.1 200") <= 1
    assert server.post(request(1, "ping")).status == 200
    assert server.reported == []
