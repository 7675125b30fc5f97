"""HTTP/1.1 on one connection: a request goes out as bytes, its answer is read by llhttp, the connection is lent again.

llhttp (in httptools) parses heads and chunks. What it leaves to who uses it is here: where a head ends, lines that are
folded, which length holds, limits, and bytes that nobody asked for.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, NamedTuple

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from specloom.core import Fault

from .connections import HIGH_WATER, PIECES, find_crumbs, to_transport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .connections import Dialer


# --- Requests as bytes ------------------------------------------------------------------------------------------------


_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET = re.compile(r"[!-~]+")


def write_request(method: str, target: str, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """The head of a request as bytes, or a `ValueError` where it could be read as another one or as two."""
    if not _METHOD.fullmatch(method) or not _TARGET.fullmatch(target):
        raise ValueError("the request line")
    fields = b"".join([b"%b: %b\r\n" % header for header in headers])
    head = b"%b %b HTTP/1.1\r\n%b\r\n" % (method.encode("ascii"), target.encode("ascii"), fields)
    # Who wrote the headers has checked each; no second request gets past the number of lines, whatever they hold.
    if not head.count(b"\n") == head.count(b"\r") == len(headers) + 2 or b"\0" in head:
        raise ValueError("a header")
    return head


# --- Answers from bytes -----------------------------------------------------------------------------------------------


HEAD_BYTES = 32 * 1024
"""Bytes of a head, of trailers, or between two pieces of a body; Node takes 16 KiB of a head."""
INTERIM_HEADS = 8
"""Heads such as 103 Early Hints before an answer; Go takes 5."""
CHUNKS_AT_ONCE = 16 * 1024
"""Bytes of chunks after which it is looked whether they held anything."""

_VERSION = b"HTTP/1."
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [\t -~\x80-\xff]*)?\r?\n(?![ \t])")
_END_OF_HEAD = re.compile(rb"\n\r?\n")
_FOLD = re.compile(rb"\r?\n[ \t]+")

NOT_HTTP = "sent something that is not HTTP"
LONG_HEAD = f"sent a head of more than {HEAD_BYTES} bytes"
TWO_LENGTHS = "gave its answer two lengths, Content-Length and Transfer-Encoding"
NO_ANSWER = "closed the connection without an answer"
CUT_OFF = "closed the connection before its answer was complete"


class BrokenAnswer(Exception):  # noqa: N818 - told as a fault by who knows the request
    """No answer, or not the whole of it; the text goes on after the name of the host."""


class ResponseReader:
    """Reads the answer to one request from the bytes of a connection, however they are cut; it waits for nothing.

    `status` is 0 until the head is whole. `parts` are the pieces of the body that nobody took yet. `complete` says that
    the end of the answer was seen. `clean` says that the connection can carry another request after it: the server did
    not want to close, and nothing came behind the end. The body of an answer with two lengths is not read.
    """

    __slots__ = (
        "_ended", "_head", "_heads", "_host", "_interims", "_left", "_messages", "_method", "_parser", "_pieces",
        "_silent", "_size", "_storing", "_tail", "clean", "complete", "headers", "held", "parts", "status",
        "two_lengths",
    )  # fmt: skip

    def __init__(self, method: str, host: str) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.parts: list[bytes] = []
        self.held = 0
        self.complete = False
        self.clean = True
        self.two_lengths = False
        self._method = method
        self._host = host
        self._head = self._tail = b""
        self._storing = self._ended = False
        self._messages = self._heads = self._interims = self._pieces = self._size = self._silent = 0
        self._left: int | None = None
        self._parser: HttpResponseParser | None = None

    def feed(self, data: bytes) -> None:
        """Read what came next; `BrokenAnswer` or a fault for what can be no answer."""
        if not self.status and not self.complete:
            data = self._read_heads(data)
        if not data:
            return
        if self.complete:
            self.clean = False
        elif self._parser is not None:
            self._read_chunks(data)
        elif not self.two_lengths:
            self._read_plain(data)

    def feed_end(self) -> None:
        """Know that nothing more comes, which is the end of some bodies; `BrokenAnswer` for the others."""
        if self.complete:
            self.clean = False
            return
        if not self.status:
            raise BrokenAnswer(NO_ANSWER)
        if self._left is not None or self._parser is not None or self.two_lengths:
            raise BrokenAnswer(CUT_OFF)
        self.complete = True

    def take(self) -> list[bytes]:
        """The pieces of the body that nobody took yet."""
        parts, self.parts, self.held = self.parts, [], 0
        return parts

    def _read_heads(self, data: bytes) -> bytes:
        """What is left of the bytes after the head of the answer; nothing as long as the head is not whole."""
        searched = max(0, len(self._head) - 2)
        if self._head:
            data, self._head = self._head + data, b""
        while data:
            found = _END_OF_HEAD.search(data, searched)
            end = found.end() if found is not None else len(data)
            if data[: len(_VERSION)] != _VERSION[: len(data)]:
                raise BrokenAnswer(NOT_HTTP)
            if end > HEAD_BYTES:
                raise BrokenAnswer(LONG_HEAD)
            if found is None:
                self._head = data
                return b""
            self._read_head(data[:end])
            data, searched = data[end:], 0
            if self.status:
                break
        return data

    def _read_head(self, head: bytes) -> None:
        line = _STATUS_LINE.match(head)
        status = int(line[2]) if line is not None else 0
        # Nothing that changes the protocol was ever asked for.
        if line is None or status == 101:
            raise BrokenAnswer(NOT_HTTP)
        if b"\n " in head or b"\n\t" in head:
            head = _FOLD.sub(b" ", head)
        interim = status < 200
        parser = HttpResponseParser(self)
        # The end of a line may be a bare LF (RFC 9112, 2.2), as before the end of a head; two lengths are told below.
        parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True, lenient_chunked_length=True)
        self._storing, self._messages, self._heads = not interim, 0, 0
        try:
            parser.feed_data(head)
        except (HttpParserError, HttpParserUpgrade):
            raise BrokenAnswer(NOT_HTTP) from None
        if not self._messages == self._heads == 1 or self.parts:
            raise BrokenAnswer(NOT_HTTP)
        self._storing = self._ended = False
        if not interim:
            self._choose_framing(status, line[1], parser)
            return
        self._interims += 1
        if self._interims > INTERIM_HEADS:
            raise Fault("network", f"{self._host} announced an answer more than {INTERIM_HEADS} times and sent none.")

    def _choose_framing(self, status: int, minor: bytes, parser: HttpResponseParser) -> None:
        headers = self.headers
        encoding, length = headers.get("transfer-encoding"), headers.get("content-length")
        if (encoding is not None and encoding.lower() != "chunked") or not (length or "0").isdecimal():
            raise BrokenAnswer(NOT_HTTP)
        self.clean = minor == b"1" and "close" not in headers.get("connection", "").lower()
        if self._method == "HEAD" or status in (204, 304):
            self.complete = True
        elif encoding is not None and length is not None:
            self.two_lengths, self.clean = True, False
        elif encoding is not None:
            # Some servers pad the length of a chunk; nothing else of a body is read in two ways.
            parser.set_dangerous_leniencies(
                lenient_optional_cr_before_lf=False,
                lenient_chunked_length=False,
                lenient_spaces_after_chunk_size=True,
            )
            self._parser = parser
        elif length is not None:
            self._left = int(length)
            self.complete = not self._left
        else:
            self.clean = False
        self.status = status

    def _read_plain(self, data: bytes) -> None:
        if self._left is not None:
            if len(data) > self._left:
                data, self.clean = data[: self._left], False
            self._left -= len(data)
            self.complete = not self._left
        self.on_body(data)
        self._count_crumbs()

    def _read_chunks(self, data: bytes) -> None:
        assert self._parser is not None
        for at in range(0, len(data), CHUNKS_AT_ONCE):
            piece = data[at : at + CHUNKS_AT_ONCE]
            before, self._tail = self._pieces, (self._tail + piece[-5:])[-5:]
            try:
                self._parser.feed_data(piece)
            except (HttpParserError, HttpParserUpgrade):
                if not self._ended:
                    raise BrokenAnswer(NOT_HTTP) from None
                self.clean = False
            self._count_crumbs()
            if self._ended:
                # llhttp begins to read what follows, and passes over blank lines: the end has to be the end.
                last = at + CHUNKS_AT_ONCE >= len(data)
                end = self._tail.endswith(b"\r\n\r\n") and not self._tail.startswith(b"\n")
                self.clean = self.clean and last and end and self._messages == 1
                self.complete, self._parser = True, None
                return
            self._silent = self._silent + len(piece) if self._pieces == before else 0
            if self._silent > HEAD_BYTES:
                raise BrokenAnswer(LONG_HEAD)

    def _count_crumbs(self) -> None:
        if self._pieces > PIECES and (fault := find_crumbs(self._host, self._pieces, self._size)):
            raise fault

    # llhttp's side

    def on_message_begin(self) -> None:
        self._messages += 1

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._storing:
            # Of a head that only announces, of trailers, or of what came behind the end.
            if self._parser is not None and not self._ended and name.lower() == b"transfer-encoding":
                raise BrokenAnswer(NOT_HTTP)
            return
        key, text = name.decode("latin-1").lower(), value.strip(b" \t").decode("latin-1")
        headers = self.headers
        headers[key] = f"{headers[key]}, {text}" if key in headers else text

    def on_headers_complete(self) -> None:
        self._heads += 1

    def on_body(self, data: bytes) -> None:
        if not self._ended:
            self._pieces += 1
            self._size += len(data)
            self.held += len(data)
            self.parts.append(data)

    def on_message_complete(self) -> None:
        self._ended = True


# --- Connections, which carry one request at a time -------------------------------------------------------------------


class HttpConnection(asyncio.Protocol):
    """One HTTP/1.1 connection. What it reads waits for who asked, and it reads no more where too much of it waits."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._paused = self._ended = False
        self.expires = 0.0
        """When an idle connection is too old to be used, by the clock of the loop."""

    @property
    def is_open(self) -> bool:
        """Whether nothing was seen yet that ends the connection."""
        return self._transport is not None and not self._ended and not self._transport.is_closing()

    async def ask(self, method: str, request: bytes, until: float) -> ResponseReader:
        """The answer to a request, of which the head is whole; `TimeoutError` at `until` by the clock of the loop.

        A connection that could not give it is closed.
        """
        if self._transport is None or not self.is_open:
            raise BrokenAnswer(CUT_OFF)
        try:
            self._error = None
            reader = self._reader = ResponseReader(method, self._host)
            self._transport.write(request)
            while not reader.status:
                await self._wait(until)
        except BaseException:
            self.close()
            raise
        return reader

    async def read(self, until: float) -> list[bytes]:
        """What came of the body since the last time, in pieces, when there is something; nothing at its end."""
        reader = self._reader
        assert reader is not None
        if reader.two_lengths:
            raise BrokenAnswer(TWO_LENGTHS)
        while not reader.parts:
            if reader.complete:
                return []
            await self._wait(until)
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return reader.take()

    def rest(self, seconds: float) -> bool:
        """Wait so long for another request, where there may be one; a connection that cannot carry it is closed."""
        reader, transport = self._reader, self._transport
        self._reader = None
        self.expires = self._loop.time() + seconds
        # An answer that came before the whole request was sent leaves the rest of the request in the way.
        if (
            reader is not None
            and reader.complete
            and reader.clean
            and not reader.parts
            and self.is_open
            and transport is not None
            and not transport.get_write_buffer_size()
        ):
            return True
        self.close()
        return False

    def close(self) -> None:
        """End the connection at once: what is finished or broken has nothing left to send."""
        self._reader = None
        if self._transport is not None:
            self._transport.abort()

    async def _wait(self, until: float) -> None:
        """Until something came; what is wrong with the connection is raised."""
        if self._error is not None:
            raise self._error
        # A peer whose bytes are always there already would otherwise be read past the end of the time.
        if self._loop.time() >= until:
            raise TimeoutError
        self._waiter = self._loop.create_future()
        timer = self._loop.call_at(until, _expire, self._waiter)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = to_transport(transport)

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            # Nobody asked, and it would be taken for the answer to the next request.
            self.close()
            return
        try:
            reader.feed(data)
        except (BrokenAnswer, Fault) as error:
            self._fail(error)
        if reader.held > HIGH_WATER and not self._paused and self._transport is not None:
            self._transport.pause_reading()
            self._paused = True
        if reader.status:
            self._wake()

    def eof_received(self) -> bool:
        self._ended = True
        if self._reader is not None:
            try:
                self._reader.feed_end()
            except BrokenAnswer as error:
                self._fail(error)
            self._wake()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        # uvloop tells no end of a peer that closes TLS without a word; what was reset has an exception on every loop.
        if exc is None and not self._ended:
            self.eof_received()
        self._ended = True
        if self._reader is not None and not self._reader.complete and self._error is None:
            self._fail(BrokenAnswer(CUT_OFF))

    def _fail(self, error: Exception) -> None:
        self._error = self._error or error
        if self._transport is not None:
            self._transport.abort()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _expire(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_exception(TimeoutError())


# --- The pool of idle connections -------------------------------------------------------------------------------------


KEEP_ALIVE = 15.0
"""Seconds for which an idle connection is kept."""


class PoolKey(NamedTuple):
    """What a connection is good for. One that was allowed to reach a private address serves no request that is not."""

    scheme: str
    host: str
    port: int
    private: bool


class Pool:
    """Lends connections, and keeps at most `most` of them idle."""

    def __init__(self, dialer: Dialer, most: int) -> None:
        self._dialer = dialer
        self._most = most
        # In the order in which they became idle.
        self._idle: dict[HttpConnection, PoolKey] = {}
        self._places: dict[PoolKey, list[HttpConnection]] = {}

    def find_idle(self, place: PoolKey) -> HttpConnection | None:
        """A connection that was used before, where one is left that still stands."""
        now = asyncio.get_running_loop().time()
        while kept := self._places.get(place):
            connection = kept[-1]
            self._forget(connection)
            if connection.is_open and connection.expires > now:
                return connection
            connection.close()
        return None

    async def open(self, place: PoolKey) -> HttpConnection:
        """A new connection."""
        now = asyncio.get_running_loop().time()
        for idle in [kept for kept in self._idle if not kept.is_open or kept.expires <= now]:
            self._forget(idle)
            idle.close()
        scheme, host, port, private = place
        stream = await self._dialer.dial(host, port, secure=scheme == "https", allow_private=private)
        connection = HttpConnection(host)
        stream.hand_over(connection)
        return connection

    def give_back(self, place: PoolKey, connection: HttpConnection) -> None:
        """Keeps a connection whose answer was read to its end, and closes any other."""
        if not connection.rest(KEEP_ALIVE):
            return
        self._idle[connection] = place
        self._places.setdefault(place, []).append(connection)
        if len(self._idle) > self._most:
            oldest = next(iter(self._idle))
            self._forget(oldest)
            oldest.close()

    def close(self) -> None:
        """Closes every idle connection; lent ones are closed when they come back with an unfinished answer."""
        for connection in list(self._idle):
            self._forget(connection)
            connection.close()

    def _forget(self, connection: HttpConnection) -> None:
        place = self._idle.pop(connection)
        kept = self._places[place]
        kept.remove(connection)
        if not kept:
            del self._places[place]
