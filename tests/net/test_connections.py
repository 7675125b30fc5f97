"""What a peer sends without end, or broken, holds neither the loop nor the call: a fault in one sentence, in time."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Policy, Request
from specloom.net.connections import PIECE_BYTES, PIECES, find_crumbs
from specloom.net.http1 import HttpConnection
from specloom.net.transport import Transport
from tests.support.loopback import RESET, Call, Loopback, Raw, Reply, Reset
from tests.support.wire import CHUNKED, FLOODS, OK, chunk, endless

STALL = 1.0
"""Seconds of work for which nobody else has a turn: some 0.02 are measured."""
LATE = 60.0
"""Seconds after which what has no end would still go on; a busy machine holds nobody up for so long."""


@asynccontextmanager
async def others_answered() -> AsyncIterator[None]:
    """Fails where the loop worked for longer than `STALL` in one go; what others work meanwhile is no matter."""
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.005)
            longest = max(longest, time.thread_time() - before)

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()
    assert longest < STALL


async def fail(url: str, timeout: float = 60.0, redirects: int = 5) -> Fault:  # noqa: ASYNC109
    policy = Policy(allow_private=True, timeout=timeout, redirects=redirects, any_host=True)
    async with Transport(allow_private=True) as transport:
        with pytest.raises(Fault) as caught:
            await transport.send(Request("GET", url, policy=policy))
    message = caught.value.message
    assert message.endswith(".")
    assert message.count(". ") == 0
    return caught.value


@pytest.mark.parametrize("name", FLOODS)
async def test_a_flood_is_given_up_and_others_are_answered_meanwhile(name: str) -> None:
    start, block, words = FLOODS[name]
    with Loopback(lambda call: Raw(endless(start, block))) as server:
        async with others_answered():
            fault = await fail(server.url)

    assert fault.kind in {"network", "upstream_unavailable", "too_large"}
    assert words in fault.message


@pytest.mark.parametrize("block", [chunk(b"w" * 40) * 1000, chunk(b"w" * 2000) * 20], ids=["small", "large"])
async def test_the_deadline_ends_a_body_that_is_there_to_be_read_without_end(block: bytes) -> None:
    with Loopback(lambda call: Raw(endless(CHUNKED, block))) as server:
        policy = Policy(allow_private=True, timeout=0.3, max_bytes=1 << 40)
        async with Transport() as transport, others_answered():
            began = time.monotonic()
            with pytest.raises(Fault, match=r"no complete answer within 0\.3 seconds"):
                await transport.send(Request("GET", server.url, policy=policy))

    assert time.monotonic() - began < LATE


class Ready(asyncio.Transport):
    """A peer whose bytes are always there already, whenever the loop looks."""

    def __init__(self, connection: HttpConnection, start: bytes, block: bytes) -> None:
        super().__init__()
        self._connection = connection
        self._pieces = endless(start, block)
        self._closed = False
        self.longest = 0.0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._give()

    def is_closing(self) -> bool:
        return self._closed

    def abort(self) -> None:
        self._closed = True

    def _give(self) -> None:
        if not self._closed:
            began = time.thread_time()
            self._connection.data_received(next(self._pieces))
            self.longest = max(self.longest, time.thread_time() - began)
            asyncio.get_running_loop().call_soon(self._give)


async def test_bytes_that_are_always_there_leave_turns_to_others_and_end_in_time() -> None:
    connection = HttpConnection("host")
    peer = Ready(connection, CHUNKED, chunk(b"w" * 40) * 100)
    connection.connection_made(peer)
    until = asyncio.get_running_loop().time() + 0.2

    async def read_all() -> None:
        await connection.ask("GET", b"GET / HTTP/1.1\r\n\r\n", until)
        while await connection.read(until):
            pass

    async with others_answered():
        with pytest.raises(TimeoutError):
            await read_all()

    connection.close()
    assert peer.longest < STALL


async def test_a_redirect_whose_body_has_no_end_is_followed_at_once() -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"

    def answer(call: Call) -> Reply:
        return Raw(endless(head, chunk(b"w" * 1000))) if call.path == "/" else (200, {}, b"there")

    with Loopback(answer) as server:
        async with Transport() as transport:
            policy = Policy(allow_private=True, timeout=60)
            assert (await transport.send(Request("GET", server.url, policy=policy))).body == b"there"


async def test_a_body_in_one_byte_a_segment_ends_at_the_deadline() -> None:
    with Loopback(lambda call: Raw(endless(OK + b"\r\n", b"w"))) as server:
        async with others_answered():
            fault = await fail(server.url, timeout=0.3)

    assert fault.message == "127.0.0.1 gave no complete answer within 0.3 seconds."


def test_pieces_of_honest_servers_are_not_too_small() -> None:
    assert find_crumbs("host", PIECES, PIECES) is None
    assert find_crumbs("host", 10 * PIECES, 10 * PIECES * PIECE_BYTES) is None
    assert find_crumbs("host", PIECES + 1, 1) is not None


async def test_a_few_interim_heads_and_trailers_are_passed_over() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" * 3
    reply = Raw([early, CHUNKED, chunk(b"hello"), b"0\r\nX-Digest: abc\r\n\r\n"])
    with Loopback(lambda call: reply) as server:
        async with Transport() as transport:
            response = await transport.send(Request("GET", server.url, policy=Policy(allow_private=True)))

    assert response.body == b"hello"


async def test_many_members_of_gzip_are_read_where_they_say_something() -> None:
    parts = [bytes([at % 251]) * 50 + zlib.crc32(b"%d" % at).to_bytes(4, "big") * 80 for at in range(900)]
    body = b"".join(map(gzip.compress, parts))
    with Loopback(lambda call: (200, {"Content-Encoding": "gzip"}, body)) as server:
        async with Transport() as transport:
            response = await transport.send(Request("GET", server.url, policy=Policy(allow_private=True)))

    assert response.body == b"".join(parts)


SHORT = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"

# What a broken upstream sends, and the sentence that tells of it after the name of its host.
BROKEN: dict[str, tuple[Reply, str]] = {
    "a reset before the answer": (RESET, "closed the connection before its answer was complete."),
    "a reset in the head": (
        Reset([b"HTTP/1.1 200 OK\r\nCon"]),
        "closed the connection before its answer was complete.",
    ),
    "a reset in the body": (Reset([SHORT + b"part"]), "closed the connection before its answer was complete."),
    "an end before the answer": (Raw([]), "closed the connection without an answer."),
    "an end in the status line": (Raw([b"HTTP/1.1 200"]), "closed the connection without an answer."),
    "an end in the body": (Raw([SHORT + b"part"]), "closed the connection before its answer was complete."),
    "an end in a chunk": (Raw([CHUNKED + b"5\r\nhel"]), "closed the connection before its answer was complete."),
    "an end before the last chunk": (
        Raw([CHUNKED + chunk(b"hello")]),
        "closed the connection before its answer was complete.",
    ),
    "HTTP/0.9": (Raw([b"<html>hello</html>\r\n\r\n"]), "sent something that is not HTTP."),
    "HTTP/2 in plain": (Raw([b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" * 20]), "sent something that is not HTTP."),
    "another protocol": (Raw([b"220 mail.example.org ESMTP\r\n\r\n"]), "sent something that is not HTTP."),
    "TLS where none was asked for": (Raw([b"\x15\x03\x01\x00\x02\x02\x46"]), "sent something that is not HTTP."),
    "NUL": (Raw([bytes(1000)]), "sent something that is not HTTP."),
    "NUL in a header": (Raw([OK + b"X-A: a\0b\r\n\r\n"]), "sent something that is not HTTP."),
    "NUL in the name of a header": (Raw([OK + b"X\0A: ab\r\n\r\n"]), "sent something that is not HTTP."),
    "a header without a colon": (Raw([OK + b"nonsense\r\n\r\n"]), "sent something that is not HTTP."),
    "a protocol that nobody asked for": (
        Raw([b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"]),
        "sent something that is not HTTP.",
    ),
    "a length that is none": (Raw([OK + b"Content-Length: -5\r\n\r\nhello"]), "sent something that is not HTTP."),
    "a length of 5000 digits": (
        Raw([OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n"]),
        "sent something that is not HTTP.",
    ),
    "two lengths": (
        Raw([OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"]),
        "sent something that is not HTTP.",
    ),
    "a length of a chunk that is none": (Raw([CHUNKED + b"zz\r\n"]), "sent something that is not HTTP."),
    "a chunk that is longer than it says": (Raw([CHUNKED + b"1\r\nhello\r\n"]), "sent something that is not HTTP."),
    "an unknown transfer": (
        Raw([OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunk(b"x")]),
        "sent something that is not HTTP.",
    ),
    "10 MB of headers": (
        Raw([OK, *[b"X-A: " + b"x" * 995 + b"\r\n"] * 10_000]),
        "sent a head of more than 32768 bytes.",
    ),
    "gzip that is none": (
        (200, {"Content-Encoding": "gzip"}, b"not gzip at all"),
        "sent a body that cannot be decompressed.",
    ),
    "gzip that is cut": (
        (200, {"Content-Encoding": "gzip"}, gzip.compress(b"x" * 99)[:-9]),
        "sent a compressed body that ends too early.",
    ),
    "gzip in gzip": (
        (200, {"Content-Encoding": "gzip, gzip"}, gzip.compress(gzip.compress(b"x"))),
        "answered in an encoding that was not asked for (gzip, gzip).",
    ),
    "deflate that says it is gzip": (
        (200, {"Content-Encoding": "gzip"}, zlib.compress(b"x" * 99)),
        "sent a body that cannot be decompressed.",
    ),
    "a redirect to itself": ((302, {"Location": "/"}, b""), "redirects in a circle."),
    "a redirect to no URL": (
        (302, {"Location": "http://[/"}, b""),
        "redirects to something that is not a URL.",
    ),
    "redirects without end": ((302, {"Location": "deeper/"}, b""), "redirects more than 5 times."),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_upstream_is_told_in_one_sentence(name: str) -> None:
    reply, sentence = BROKEN[name]

    def answer(call: Call) -> Reply:
        if isinstance(reply, tuple) and reply[0] == 302 and "deeper" in str(reply[1]):
            return 302, {"Location": call.path + "deeper/"}, b""
        return reply

    with Loopback(answer) as server:
        fault = await fail(server.url + "/")

    assert fault.message == f"127.0.0.1 {sentence}"
    assert fault.kind in {"network", "upstream_unavailable", "validation"}


async def test_redirects_to_ever_new_hosts_end() -> None:
    names: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        names.append(host)
        return ["127.0.0.1"]

    with Loopback(lambda call: (302, {"Location": f"http://h{len(names)}.example.org:{server.port}/"}, b"")) as server:
        policy = Policy(allow_private=True, any_host=True, timeout=60)
        async with Transport(allow_private=True, resolve=resolve) as transport:
            with pytest.raises(Fault, match="redirects more than 5 times"):
                await transport.send(Request("GET", f"http://h.example.org:{server.port}/", policy=policy))

    assert len(names) == 6


async def test_bytes_after_the_length_are_not_part_of_the_body() -> None:
    with Loopback(lambda call: Raw([OK + b"Content-Length: 5\r\n\r\nhello and more"])) as server:
        async with Transport() as transport:
            response = await transport.send(Request("GET", server.url, policy=Policy(allow_private=True)))

    assert response.body == b"hello"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        bytes(2000),
        b"\x16\x03\x03\xff\xff" + b"\xff" * 5000,
        b"\x15\x03\x03\0\2\2\50",
        b"",
    ],
    ids=["plain", "NUL", "garbage", "an alert", "an end"],
)
async def test_garbage_in_a_handshake_is_told_as_that(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        fault = await fail(f"https://127.0.0.1:{listener.getsockname()[1]}/")
        serving.join(5)

    assert (fault.kind, fault.message) == ("network", "127.0.0.1 could not be reached: the TLS handshake failed.")


async def test_records_of_one_byte_hold_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(lambda call: Raw([OK, b"\r\n", *[b"w"] * 3000]), tls=True) as server:
        monkeypatch.setenv("SSL_CERT_FILE", server.certificate)
        async with Transport() as transport, others_answered():
            response = await transport.send(Request("GET", server.url, policy=Policy(allow_private=True)))

    assert len(response.body) == 3000
