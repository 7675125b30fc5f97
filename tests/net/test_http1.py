"""Answers are read as h11 reads them, or refused, however the bytes are cut; requests cannot be two."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.core.messages import Policy, Request
from specloom.net.connections import HIGH_WATER
from specloom.net.http1 import HEAD_BYTES, LONG_HEAD, NOT_HTTP, TWO_LENGTHS, BrokenAnswer, HttpConnection, write_request
from specloom.net.transport import Transport
from tests.support.http_referee import Verdict, is_as_strict, reader, referee
from tests.support.loopback import Call, Loopback, Raw, Reply
from tests.support.wire import CHUNKED, OK, chunk

LOCAL = Policy(allow_private=True, timeout=60)
FIVE = OK + b"Content-Length: 5\r\n\r\nhello"
END = b"0\r\n\r\n"

# --- Answers, judged by h11 -------------------------------------------------------------------------------------------

Kind = Literal["same", "refused", "stricter"]

# By name: the method, the bytes, and whether both read the same, both refuse, or only we do.
ANSWERS: dict[str, tuple[str, bytes, Kind]] = {
    "a length": ("GET", FIVE, "same"),
    "a length of nothing": ("GET", OK + b"Content-Length: 0\r\n\r\n", "same"),
    "a length with leading zeros": ("GET", OK + b"Content-Length: 005\r\n\r\nhello", "same"),
    "chunks": ("GET", CHUNKED + chunk(b"hello") + chunk(b"you") + END, "same"),
    "no chunk": ("GET", CHUNKED + END, "same"),
    "chunks in capitals": ("GET", OK + b"TRANSFER-ENCODING: Chunked\r\n\r\nA\r\n0123456789\r\n" + END, "same"),
    "a padded length of a chunk": ("GET", CHUNKED + b"5  \r\nhello\r\n" + END, "same"),
    "extensions of chunks": ("GET", CHUNKED + b'5;a=b;c="d e"\r\nhello\r\n0;last\r\n\r\n', "same"),
    "trailers": ("GET", CHUNKED + chunk(b"hello") + b"0\r\nX-Digest: abc\r\nX-More: d\r\n\r\n", "same"),
    "until the end": ("GET", OK + b"\r\nhello", "same"),
    "nothing until the end": ("GET", OK + b"\r\n", "same"),
    "HTTP/1.0": ("GET", b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello", "same"),
    "HTTP/1.0 with chunks": ("GET", b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + END, "same"),
    "a wish to close": ("GET", OK + b"Connection: Keep-Alive, CLOSE\r\nContent-Length: 5\r\n\r\nhello", "same"),
    "an offer to change the protocol": (
        "GET",
        OK + b"Upgrade: h2,h2c\r\nConnection: Upgrade, Keep-Alive\r\nContent-Length: 5\r\n\r\nhello",
        "same",
    ),
    "HEAD with a length": ("HEAD", OK + b"Content-Length: 5\r\n\r\n", "same"),
    "HEAD with chunks": ("HEAD", CHUNKED, "same"),
    "HEAD with nothing": ("HEAD", OK + b"\r\n", "same"),
    "HEAD with a body": ("HEAD", FIVE, "same"),
    "204": ("GET", b"HTTP/1.1 204 No Content\r\n\r\n", "same"),
    "204 with a body": ("GET", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", "same"),
    "304 with a length": ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "same"),
    "announcements": ("GET", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" + FIVE, "same"),
    "no reason": ("GET", b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "same"),
    "an empty reason": ("GET", b"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "same"),
    "a reason in Latin-1": ("GET", b"HTTP/1.1 404 Pas trouv\xe9\r\nContent-Length: 0\r\n\r\n", "same"),
    "a status beyond all": ("GET", b"HTTP/1.1 999 Request denied\r\nContent-Length: 0\r\n\r\n", "same"),
    "repeated headers": ("GET", OK + b"Set-Cookie: a=1\r\nset-cookie: b=2\r\nContent-Length: 0\r\n\r\n", "same"),
    "folded headers": ("GET", OK + b"A: b\r\n  c\r\n\td\r\nContent-Length:\r\n 5\r\n\r\nhello", "same"),
    "a folded line of nothing": ("GET", OK + b"A: b\r\n \r\nContent-Length: 0\r\n\r\n", "same"),
    "blanks around values": ("GET", OK + b"A:\t b c \t\r\nB:\r\nContent-Length:5 \r\n\r\nhello", "same"),
    "values in any bytes": ("GET", OK + b"A: \xc3\xbc\xff\r\nContent-Length: 0\r\n\r\n", "same"),
    "lines that end in LF": ("GET", b"HTTP/1.1 200 OK\nA: b\nContent-Length: 5\n\nhello", "same"),
    "a blank line that ends in LF": ("GET", OK + b"Content-Length: 5\r\n\nhello", "same"),
    "more than the length": ("GET", FIVE + b" and more", "same"),
    "a second answer behind a length": ("GET", FIVE + FIVE, "same"),
    "a second answer behind chunks": ("GET", CHUNKED + chunk(b"hello") + END + FIVE, "same"),
    "chunks behind chunks": ("GET", CHUNKED + chunk(b"hello") + END + chunk(b"evil") + END, "same"),
    "a blank line behind chunks": ("GET", CHUNKED + chunk(b"hello") + END + b"\r\n", "same"),
    "half a line behind chunks": ("GET", CHUNKED + chunk(b"hello") + END + b"\r", "same"),
    "another protocol behind chunks": (
        "GET",
        CHUNKED + END + b"HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "same",
    ),
    "nothing": ("GET", b"", "refused"),
    "a cut status line": ("GET", b"HTTP/1.1 2", "refused"),
    "a cut head": ("GET", OK + b"A: b\r\n", "refused"),
    "a cut length": ("GET", FIVE[:-1], "refused"),
    "a cut chunk": ("GET", CHUNKED + b"5\r\nhel", "refused"),
    "no last chunk": ("GET", CHUNKED + chunk(b"hello"), "refused"),
    "cut trailers": ("GET", CHUNKED + b"0\r\nA: b\r\n", "refused"),
    "announcements only": ("GET", b"HTTP/1.1 100 Continue\r\n\r\n", "refused"),
    "a change of the protocol": ("GET", b"HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "refused"),
    "a bare change of the protocol": ("GET", b"HTTP/1.1 101 S\r\n\r\n", "refused"),
    "blank lines first": ("GET", b"\r\n\r\n" + FIVE, "refused"),
    "a request": ("GET", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "refused"),
    "a name in small letters": ("GET", b"http/1.1 200 OK\r\n\r\n", "refused"),
    "HTTP/1": ("GET", b"HTTP/1 200 OK\r\n\r\n", "refused"),
    "two blanks before the status": ("GET", b"HTTP/1.1  200 OK\r\n\r\n", "refused"),
    "a tab before the status": ("GET", b"HTTP/1.1\t200 OK\r\n\r\n", "refused"),
    "a status of two digits": ("GET", b"HTTP/1.1 20 OK\r\n\r\n", "refused"),
    "a status of four digits": ("GET", b"HTTP/1.1 2000 OK\r\n\r\n", "refused"),
    "a status below 100": ("GET", b"HTTP/1.1 099 OK\r\n\r\n", "refused"),
    "NUL in the reason": ("GET", b"HTTP/1.1 200 O\0K\r\n\r\n", "refused"),
    "CR in the reason": ("GET", b"HTTP/1.1 200 O\rK\r\n\r\n", "refused"),
    "a folded status line": ("GET", b"HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "refused"),
    "a blank before the colon": ("GET", OK + b"Content-Length : 5\r\n\r\nhello", "refused"),
    "a blank in a name": ("GET", OK + b"Content Length: 5\r\n\r\nhello", "refused"),
    "no name": ("GET", OK + b": b\r\n\r\n", "refused"),
    "no colon": ("GET", OK + b"Content-Length\r\n\r\n", "refused"),
    "NUL in a value": ("GET", OK + b"A: b\0c\r\n\r\n", "refused"),
    "CR in a value": ("GET", OK + b"A: b\rTransfer-Encoding: chunked\r\n\r\n", "refused"),
    "a name in any bytes": ("GET", OK + b"\xc3\xbc: b\r\n\r\n", "refused"),
    "two lengths in numbers": ("GET", OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "refused"),
    "two lengths in a line": ("GET", OK + b"Content-Length: 5, 6\r\n\r\nhello!", "refused"),
    "a length with a sign": ("GET", OK + b"Content-Length: +5\r\n\r\nhello", "refused"),
    "a negative length": ("GET", OK + b"Content-Length: -5\r\n\r\nhello", "refused"),
    "a length in hexadecimal": ("GET", OK + b"Content-Length: 0x5\r\n\r\nhello", "refused"),
    "a length with an underline": ("GET", OK + b"Content-Length: 1_0\r\n\r\nhello", "refused"),
    "a length that is too long": ("GET", OK + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n", "refused"),
    "no length behind its name": ("GET", OK + b"Content-Length:\r\n\r\nhello", "refused"),
    "an unknown transfer": ("GET", OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + END, "refused"),
    "chunks and then another": ("GET", OK + b"Transfer-Encoding: chunked, identity\r\n\r\n" + END, "refused"),
    "almost chunked": ("GET", OK + b"Transfer-Encoding: xchunked\r\n\r\n" + END, "refused"),
    "no transfer behind its name": ("GET", OK + b"Transfer-Encoding:\r\n\r\n" + END, "refused"),
    "chunked twice": ("GET", OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + END, "refused"),
    "a tab of another kind": ("GET", OK + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + END, "refused"),
    "a length of a chunk that is none": ("GET", CHUNKED + b"zz\r\n", "refused"),
    "a length of a chunk with a sign": ("GET", CHUNKED + b"+5\r\nhello\r\n" + END, "refused"),
    "a length of a chunk with 0x": ("GET", CHUNKED + b"0x5\r\nhello\r\n" + END, "refused"),
    "a length of a chunk behind a blank": ("GET", CHUNKED + b" 5\r\nhello\r\n" + END, "refused"),
    "a length of a chunk that is too long": ("GET", CHUNKED + b"F" * 21 + b"\r\nhello\r\n", "refused"),
    "no length of a chunk": ("GET", CHUNKED + b"\r\nhello\r\n" + END, "refused"),
    "a chunk that is longer than it says": ("GET", CHUNKED + b"1\r\nhello\r\n" + END, "refused"),
    "a chunk that is shorter than it says": ("GET", CHUNKED + b"7\r\nhello\r\n" + END, "refused"),
    "LF behind the length of a chunk": ("GET", CHUNKED + b"5\nhello\r\n" + END, "refused"),
    "LF behind a chunk": ("GET", CHUNKED + b"5\r\nhello\n" + END, "refused"),
    "other bytes behind a chunk": ("GET", CHUNKED + b"5\r\nhelloXX" + END, "refused"),
    "a transfer in the trailers": ("GET", CHUNKED + b"0\r\nTransfer-Encoding: gzip\r\n\r\n", "refused"),
    "a broken trailer": ("GET", CHUNKED + b"0\r\nno colon\r\n\r\n", "refused"),
    # What h11 takes and a client should not, or what llhttp refuses besides.
    "a length and chunks": ("GET", OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + END, "stricter"),
    "chunks and a length": ("GET", OK + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + END, "stricter"),
    "the same length twice": ("GET", OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "stricter"),
    "a length in the trailers": ("GET", CHUNKED + b"0\r\nContent-Length: 5\r\n\r\n", "stricter"),
    "a control character in a value": ("GET", OK + b"A: b\x01\r\nContent-Length: 0\r\n\r\n", "stricter"),
    "a control character in the reason": ("GET", b"HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n", "stricter"),
    "a version that there is not": ("GET", b"HTTP/1.5 200 OK\r\nContent-Length: 0\r\n\r\n", "stricter"),
    "an extension without its quote": ("GET", CHUNKED + b'5;a="b\r\nhello\r\n' + END, "stricter"),
}


def cut_everywhere(data: bytes) -> list[list[bytes]]:
    """The bytes in two pieces, in all ways, and one by one."""
    halves = [[data[:at], data[at:]] for at in range(1, len(data))]
    return [*halves, [data[at : at + 1] for at in range(len(data))]]


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_read_as_h11_reads_it_or_refused(name: str) -> None:
    method, data, kind = ANSWERS[name]
    theirs = [referee(method, [data], ended=ended) for ended in (False, True)]

    ours = [reader(method, [data], ended=ended) for ended in (False, True)]

    assert (ours[1].kind, theirs[1].kind) == {
        "same": ("answer", "answer"), "refused": ("fault", "fault"), "stricter": ("fault", "answer")
    }[kind]  # fmt: skip
    assert all(map(is_as_strict, ours, theirs))
    if kind == "same":
        assert ours == theirs


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_the_same_however_its_bytes_are_cut(name: str) -> None:
    method, data, _ = ANSWERS[name]
    whole = {ended: reader(method, [data], ended=ended) for ended in (False, True)}

    for pieces in cut_everywhere(data):
        for ended, verdict in whole.items():
            assert reader(method, pieces, ended=ended) == verdict


def test_an_extension_behind_a_blank_is_read_though_h11_refuses_it() -> None:
    # RFC 9112, 7.1.1: a recipient takes blanks around the semicolon; the length of the chunk is no other for it.
    data = CHUNKED + b"5 ;a=b\r\nhello\r\n" + END

    assert referee("GET", [data], ended=False).kind == "fault"
    assert reader("GET", [data], ended=False).body == b"hello"


# --- Answers that are made up -----------------------------------------------------------------------------------------

NOISE = (b"", b"\r", b"\n", b"\r\n", b" ", b"\0", b":", b"5", b"Content-Length: 3\r\n", END)
NAMES = st.from_regex(r"[Xx]-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,8}", fullmatch=True).map(str.encode)
WORDS = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"], exclude_characters="\xa0\x85 "), min_size=1)
VALUES = st.lists(WORDS, max_size=3).map(lambda words: " ".join(words).encode("latin-1"))


@st.composite
def honest(draw: st.DrawFn) -> tuple[str, bytes]:
    """A method, and an answer to it that follows the rules."""
    method = draw(st.sampled_from(["GET", "POST", "HEAD"]))
    line_end = draw(st.sampled_from([b"\r\n", b"\r\n", b"\n"]))
    status = draw(st.sampled_from([200, 200, 201, 204, 302, 304, 404, 503, 999]))
    body = draw(st.binary(max_size=60))
    lines = [b"HTTP/1.%d %d %b" % (draw(st.sampled_from([1, 1, 0])), status, draw(VALUES))]
    for name, value in draw(st.lists(st.tuples(NAMES, VALUES), max_size=4)):
        lines.append(name + b":" + draw(st.sampled_from([b"", b" ", b"\t", line_end + b" "])) + value)
    framing = draw(st.sampled_from(["length", "chunks", "end"]))
    if framing == "length":
        lines.append(b"Content-Length: %d" % len(body))
    elif framing == "chunks":
        lines.append(b"Transfer-Encoding: chunked")
        size = draw(st.integers(1, 20))
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        mark = draw(st.sampled_from([b"", b";a=b", b" "]))
        body = b"".join(b"%x%b\r\n%b\r\n" % (len(piece), mark, piece) for piece in pieces) + b"0\r\n"
        body += draw(st.sampled_from([b"", b"X-Digest: abc\r\n"])) + b"\r\n"
    if draw(st.booleans()):
        lines.append(draw(st.sampled_from([b"Connection: close", b"Connection: keep-alive"])))
    if method == "HEAD" or status in (204, 304):
        body = b""
    head = line_end.join([*lines, b"", b""])
    return method, b"HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n" * draw(st.integers(0, 2)) + head + body


@st.composite
def cut(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The bytes in up to six pieces."""
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=5)))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


@given(st.data())
def test_an_honest_answer_is_what_h11_says_it_is(data: st.DataObject) -> None:
    method, answer = data.draw(honest())
    pieces, ended = data.draw(cut(answer)), data.draw(st.booleans())

    verdict = reader(method, pieces, ended=ended)

    assert verdict == referee(method, [answer], ended=ended)
    assert verdict.kind == "answer" or not ended


@given(st.data())
def test_a_damaged_answer_is_never_taken_where_h11_refuses_it(data: st.DataObject) -> None:
    method, answer = data.draw(honest())
    for _ in range(data.draw(st.integers(1, 3))):
        at, end = sorted([data.draw(st.integers(0, len(answer))), data.draw(st.integers(0, len(answer)))])
        noise = st.sampled_from([*NOISE, answer[at:end]])
        answer = answer[:at] + data.draw(noise) + answer[data.draw(st.sampled_from([at, at + 1, end])) :]
    assume(not re.search(rb"[0-9a-fA-F][ \t]+;", answer))  # which h11 refuses against the rules, as tested above
    ended = data.draw(st.booleans())

    verdict = reader(method, [answer], ended=ended)

    assert is_as_strict(verdict, referee(method, [answer], ended=ended))
    assert reader(method, data.draw(cut(answer)), ended=ended) == verdict


# --- Limits -----------------------------------------------------------------------------------------------------------


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 1000, HEAD_BYTES, 1 << 20])
def test_a_head_may_have_so_many_bytes_and_not_one_more(size: int) -> None:
    def head(length: int) -> bytes:
        start = OK + b"Content-Length: 0\r\nA: "
        return start + b"x" * (length - len(start) - 4) + b"\r\n\r\n"

    whole = reader("GET", pieces_of(head(HEAD_BYTES), size), ended=False)
    over = reader("GET", pieces_of(head(HEAD_BYTES + 1), size), ended=False)

    assert (whole.kind, over.kind, over.why) == ("answer", "fault", LONG_HEAD)


def test_each_announcement_has_a_head_of_its_own() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nA: " + b"x" * (HEAD_BYTES - 100) + b"\r\n\r\n"

    assert reader("GET", [early * 3 + FIVE], ended=False).body == b"hello"


@pytest.mark.parametrize("start", [b"0\r\n", b"5\r\nhello\r\n0\r\n"])
def test_trailers_end_at_the_limit_of_a_head(start: bytes) -> None:
    trailers = [b"A: " + b"x" * 996 + b"\r\n"] * (2 * HEAD_BYTES // 1000)

    assert reader("GET", [CHUNKED + start, *trailers[:20], b"\r\n"], ended=False).kind == "answer"
    assert reader("GET", [CHUNKED + start, *trailers], ended=False).why == LONG_HEAD


# --- Requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "target", "headers"),
    [
        ("GET /", "/", []),
        ("GET\r\n", "/", []),
        ("", "/", []),
        ("GET", "", []),
        ("GET", "/a b", []),
        ("GET", "/ HTTP/1.1\r\nX: y", []),
        ("GET", "/\xa0", []),
        ("GET", "/\x7f", []),
        ("GET", "/", [(b"A", b"b\r\nX: y")]),
        ("GET", "/", [(b"A", b"b\nX: y")]),
        ("GET", "/", [(b"A", b"b\rX: y")]),
        ("GET", "/", [(b"A", b"b\0")]),
        ("GET", "/", [(b"A: b\r\nX", b"y")]),
    ],
)
def test_a_request_that_could_be_read_as_two_is_not_written(
    method: str, target: str, headers: list[tuple[bytes, bytes]]
) -> None:
    with pytest.raises(ValueError, match=r"^(the request line|a header)$"):
        write_request(method, target, [(b"Host", b"example.org"), *headers])


def test_a_request_is_written_as_it_is_meant() -> None:
    head = write_request("GET", "/a?b=c", [(b"Host", b"example.org"), (b"X-A", "ü".encode())])

    assert head == b"GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nX-A: \xc3\xbc\r\n\r\n"


async def test_an_agent_that_would_add_a_header_sends_nothing() -> None:
    with Loopback(lambda call: (200, {}, b"")) as server:
        async with Transport(user_agent="a\r\nX-B: c") as transport:
            with pytest.raises(Fault, match="it is not valid HTTP") as caught:
                await transport.send(Request("GET", server.url, policy=LOCAL))

    assert caught.value.kind == "validation"
    assert server.calls == []


# --- Connections ------------------------------------------------------------------------------------------------------


class Pipe(asyncio.Transport):
    """What a connection writes to, and whether it reads; `unsent` bytes are still to go."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.unsent = 0
        self.closed = False
        self.reading = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def is_closing(self) -> bool:
        return self.closed

    def abort(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


async def asked(answer: bytes, method: str = "GET") -> tuple[HttpConnection, Pipe, asyncio.Task[Any]]:
    """A connection that was asked and has got these bytes, and the task that waits for the head."""
    connection, pipe = HttpConnection("example.org"), Pipe()
    connection.connection_made(pipe)
    asking = asyncio.create_task(connection.ask(method, b"request", soon()))
    await asyncio.sleep(0)
    assert pipe.written == b"request"
    if answer:
        connection.data_received(answer)
    return connection, pipe, asking


def soon() -> float:
    return asyncio.get_running_loop().time() + 60


async def test_a_connection_carries_a_second_request_after_a_whole_answer() -> None:
    connection, pipe, asking = await asked(FIVE)

    answer = await asking
    body = [await connection.read(soon()), await connection.read(soon())]

    assert (answer.status, body, connection.rest(1), pipe.closed) == (200, [[b"hello"], []], True, False)
    second = asyncio.create_task(connection.ask("GET", b"again", soon()))
    await asyncio.sleep(0)
    connection.data_received(CHUNKED + END)
    assert (await second).complete


@pytest.mark.parametrize("late", [b"\r\n", b"HTTP/1.1 408 Request Timeout\r\n\r\n", FIVE])
async def test_bytes_that_come_between_two_requests_end_the_connection(late: bytes) -> None:
    connection, pipe, asking = await asked(FIVE)
    await asking
    await connection.read(soon())
    assert connection.rest(1)

    connection.data_received(late)

    assert (connection.is_open, pipe.closed) == (False, True)


async def test_an_end_that_comes_between_two_requests_is_seen_at_once() -> None:
    connection, _, asking = await asked(FIVE)
    await asking
    await connection.read(soon())
    connection.rest(1)

    connection.eof_received()

    assert not connection.is_open
    with pytest.raises(BrokenAnswer, match="closed the connection"):
        await connection.ask("GET", b"again", soon())


async def test_an_answer_before_the_end_of_its_request_costs_the_connection() -> None:
    connection, pipe, asking = await asked(FIVE)
    await asking
    await connection.read(soon())
    pipe.unsent = 1

    assert (connection.rest(1), pipe.closed) == (False, True)


async def test_what_nobody_takes_is_not_read_on() -> None:
    connection, pipe, asking = await asked(OK + b"Content-Length: 1000000\r\n\r\n")
    await asking
    held = [pipe.reading]
    for _ in range(5):
        connection.data_received(bytes(HIGH_WATER // 4))
        held.append(pipe.reading)

    taken = await connection.read(soon())

    assert held == [True] * 5 + [False]
    assert sum(map(len, taken)) == 5 * HIGH_WATER // 4
    assert pipe.reading


async def test_what_came_before_a_break_is_read_before_the_break_is_told() -> None:
    connection, pipe, asking = await asked(CHUNKED + chunk(b"hello") + b"zz\r\n")

    await asking

    assert await connection.read(soon()) == [b"hello"]
    with pytest.raises(BrokenAnswer, match=NOT_HTTP):
        await connection.read(soon())
    assert pipe.closed


async def test_a_request_that_is_given_up_costs_the_connection() -> None:
    _, pipe, asking = await asked(b"")

    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert pipe.closed


async def test_an_answer_with_two_lengths_is_told_as_that() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Loopback(lambda call: Raw([head, chunk(b"hello"), END])) as server:
        async with Transport() as transport:
            with pytest.raises(Fault) as caught:
                await transport.send(Request("GET", server.url, policy=LOCAL))

    assert (caught.value.kind, caught.value.message) == ("network", f"127.0.0.1 {TWO_LENGTHS}.")


@pytest.mark.parametrize(
    ("first", "method"),
    [
        ((302, {"Location": "/there"}, b"moved"), "GET"),
        ((302, {"Location": "/there", "Content-Length": "70000"}, b""), "HEAD"),
        ((204, {}, b""), "GET"),
        ((304, {}, b""), "GET"),
    ],
)
async def test_a_connection_is_kept_after_an_answer_whose_end_is_known(first: Reply, method: str) -> None:
    def answer(call: Call) -> Reply:
        return first if call.path == "/" else (200, {}, b"")

    with Loopback(answer) as server:
        async with Transport() as transport:
            for path in ("/", "/there"):
                await transport.send(Request(method, server.url + path, policy=LOCAL))

    assert {call.connection for call in server.calls} == {1}


@pytest.mark.parametrize("part", ["the head", "the body"])
async def test_silence_is_told_apart_from_the_end_of_the_time(part: str) -> None:
    pieces = [OK] if part == "the head" else [OK + b"Content-Length: 9\r\n\r\n", b"part"]

    def stall(call: Call) -> Reply:
        def write() -> Any:
            yield from pieces
            server.stopped.wait(60)

        return Raw(write())

    with Loopback(stall) as server:
        async with Transport() as transport:
            told = []
            for policy in (
                Policy(allow_private=True, timeout=60, idle=0.05),
                Policy(allow_private=True, timeout=0.05, idle=60),
            ):
                with pytest.raises(Fault) as caught:
                    await transport.send(Request("GET", server.url, policy=policy))
                told.append(caught.value.message)

    assert told == [
        "127.0.0.1 gave no complete answer within its time: nothing came for 0.05 seconds.",
        "127.0.0.1 gave no complete answer within 0.05 seconds.",
    ]


def test_the_referee_can_disagree() -> None:
    theirs = Verdict("answer", 200, {}, b"a", reusable=False)

    assert is_as_strict(Verdict("fault"), theirs)
    assert not is_as_strict(Verdict("answer", 200, {}, b"b"), theirs)
    assert not is_as_strict(Verdict("answer", 200, {}, b"a", reusable=True), theirs)
    assert not is_as_strict(theirs, Verdict("fault"))
