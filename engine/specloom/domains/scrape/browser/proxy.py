"""The only way out of the browser: a proxy on the loopback interface that looks where every connection goes.

The browser resolves no names. Each connection it wants is checked by the guard, resolved once, and made to an address
that passed; whoever has no ticket gets nothing, so that no other process on the machine can use it.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import re
import secrets
from dataclasses import field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from specloom.core import Fault, dataclass
from specloom.net import Dialer, ParsedUrl, Resolver, Stream, check_url

from ..fetch.http import check_port

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


# --- What passes through the proxy of the browser: a tunnel, or one request and its answer, counted and timed ---------


MOST_HEAD = 64 * 1024
PATIENCE = 20.0
"""Seconds in which a request has to be said, and in which something has to come once it was."""
PIECE = 64 * 1024

_HOP_BY_HOP = frozenset({b"connection", b"keep-alive", b"te", b"trailer", b"upgrade"})
_LENGTH = re.compile(rb"^content-length:\s*(\d{1,12})\s*$", re.IGNORECASE | re.MULTILINE)
_CHUNKED = re.compile(rb"^transfer-encoding:", re.IGNORECASE | re.MULTILINE)


@dataclass(slots=True, eq=False)
class Ticket:
    """What one page may load: its credentials, what it may reach, and what was refused or failed, by host."""

    name: str
    password: str
    allow_private: bool
    most: int
    patience: float = PATIENCE
    """Seconds that a host may say nothing before its connection is broken off; `shorten_patience` changes it."""
    faults: dict[str, Fault] = field(default_factory=dict)
    loaded: int = 0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    waits: dict[asyncio.Timeout, float] = field(default_factory=dict)
    """The reads that wait for a host now, and when each began on the clock of the event loop."""

    def shorten_patience(self, patience: float) -> None:
        """Give hosts that say nothing so many seconds from now on, those included that are waited for already."""
        self.patience = patience
        for timeout, began in self.waits.items():
            timeout.reschedule(began + patience)


class Refused(Exception):  # noqa: N818 - an answer to the browser, not an error of ours
    """What the browser is told instead of being let through."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status
        self.words = words


def _count(ticket: Ticket, data: bytes) -> None:
    ticket.loaded += len(data)
    if ticket.loaded > ticket.most:
        raise OSError("the page loads more than is allowed")


async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: Stream, ticket: Ticket) -> None:
    """Bytes both ways until one side ends, says nothing for too long, or has sent more than the page may load."""

    async def out() -> None:
        while data := await reader.read(PIECE):
            await upstream.write(data)

    async def back() -> None:
        while data := await _read(upstream, ticket):
            _count(ticket, data)
            writer.write(data)
            await writer.drain()

    await _until_first(out, back)


async def _until_first(*ways: Callable[[], Coroutine[Any, Any, None]]) -> None:
    tasks = [asyncio.create_task(way()) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def forward(
    method: str,
    url: ParsedUrl,
    fields: list[bytes],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    upstream: Stream,
    ticket: Ticket,
) -> None:
    """One request and its answer; the connection ends with it, so no second one can go where the first one was let."""
    passed_on = [
        pair
        for pair in fields
        if (name := pair.partition(b":")[0].strip().lower()) not in _HOP_BY_HOP
        and not name.startswith(b"proxy-")
        and name != b"host"
    ]
    lines = [f"{method} {url.target} HTTP/1.1".encode("latin-1"), b"Host: " + url.authority.encode("ascii")]
    await upstream.write(b"\r\n".join([*lines, *passed_on, b"Connection: close", b"", b""]))
    head_lines = b"\r\n".join(fields)
    if _CHUNKED.search(head_lines):
        raise Refused(411, "a request has to say how long it is")
    length = _LENGTH.search(head_lines)
    left = int(length[1]) if length else 0
    while left > 0 and (data := await reader.read(min(left, PIECE))):
        left -= len(data)
        await upstream.write(data)
    try:
        head, rest = await _read_head(upstream, ticket)
    except TimeoutError:
        if ticket.patience >= PATIENCE:
            raise
        # A connection that only ends would make a browser ask again, and wait once more.
        raise Refused(504, "the host says nothing") from None
    length = _LENGTH.search(head)
    bare = method == "HEAD" or head[9:12] in (b"204", b"304")
    left = 0 if bare else (int(length[1]) if length and not _CHUNKED.search(head) else -1)
    writer.write(_close_after(head) + b"\r\n\r\n")
    while True:
        piece = rest if left < 0 else rest[:left]
        _count(ticket, piece)
        writer.write(piece)
        await writer.drain()
        left = left - len(piece) if left >= 0 else left
        if left == 0:
            break
        rest = await _read(upstream, ticket)
        if not rest:
            break
    writer.write_eof()


async def _read_head(upstream: Stream, ticket: Ticket) -> tuple[bytes, bytes]:
    data = b""
    received = 0
    while True:
        head, end, rest = data.partition(b"\r\n\r\n")
        if end and head.startswith(b"HTTP/1.") and head[9:11] != b"10":
            return head, rest
        if end and head.startswith(b"HTTP/1."):
            data = rest
            continue
        more = b"" if end else await _read(upstream, ticket)
        # What announces an answer counts as well, so that it does not go on without end.
        if not more or received > MOST_HEAD:
            raise Refused(502, "the host sent something that is not HTTP")
        received += len(more)
        data += more


def _close_after(head: bytes) -> bytes:
    lines = [
        line
        for line in head.split(b"\r\n")
        if line.partition(b":")[0].strip().lower() not in (b"connection", b"keep-alive", b"proxy-connection")
    ]
    return b"\r\n".join([*lines, b"Connection: close"])


async def _read(upstream: Stream, ticket: Ticket) -> bytes:
    async with asyncio.timeout(ticket.patience) as timeout:
        ticket.waits[timeout] = asyncio.get_running_loop().time()
        try:
            return await upstream.read(PIECE)
        finally:
            del ticket.waits[timeout]


MOST_CONNECTIONS = 256
"""Connections at once; a browser keeps some 30 for a page."""
MOST_BYTES = 100 * 1024 * 1024
"""Bytes that one page may load with all that belongs to it."""


class Proxy:
    """Listens on 127.0.0.1 from `start` to `aclose`; `url` is where. Pages get through with a ticket each."""

    def __init__(self, resolve: Resolver, *, connect_timeout: float = 10.0, most: int = MOST_CONNECTIONS) -> None:
        self._dialer = Dialer(resolve, connect_timeout)
        self._most = most
        self._server: asyncio.Server | None = None
        self._tickets: dict[str, Ticket] = {}
        self._connections: set[asyncio.Task[None]] = set()
        self.url = ""

    async def start(self) -> None:
        """Begin to listen, on a port that the system chooses."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MOST_HEAD)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def aclose(self) -> None:
        """Stop listening and break off whatever is under way."""
        if self._server is not None:
            self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self._tickets.clear()

    def open_ticket(self, *, allow_private: bool, most: int = MOST_BYTES) -> Ticket:
        """A new ticket; it is good until `close_ticket`."""
        ticket = Ticket(secrets.token_hex(8), secrets.token_urlsafe(24), allow_private, most)
        self._tickets[ticket.name] = ticket
        return ticket

    def close_ticket(self, ticket: Ticket) -> None:
        """Let nothing more through on a ticket, and break off what still is."""
        self._tickets.pop(ticket.name, None)
        for task in list(ticket.tasks):
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            self._bound()
            async with asyncio.timeout(PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
            await self._answer(head, reader, writer, task)
        except Refused as refused:
            await _say(writer, refused.status, refused.words)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # The browser went away, or says nothing that could be answered.
        except asyncio.CancelledError:
            # Only `aclose` and `close_ticket` cancel; the connection simply ends.
            pass
        finally:
            self._connections.discard(task)
            for ticket in self._tickets.values():
                ticket.tasks.discard(task)
            writer.transport.abort()

    def _bound(self) -> None:
        if len(self._connections) > self._most:
            raise Refused(503, "too many connections")

    async def _answer(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, task: asyncio.Task[None]
    ) -> None:
        line, _, rest = head.partition(b"\r\n")
        words = line.decode("latin-1").split(" ")
        # A browser encodes what it asks for; raw bytes could be read in two ways.
        if len(words) != 3 or not words[2].startswith("HTTP/1.") or not line.isascii():
            raise Refused(400, "not a request to a proxy")
        fields = [pair for pair in rest.split(b"\r\n") if pair]
        ticket = self._find_ticket(fields)
        ticket.tasks.add(task)
        method, target, _ = words
        connect = method == "CONNECT"
        if connect and set("/?#") & set(target):
            raise Refused(400, "a tunnel leads to a host and a port")
        url = self._check(f"https://{target}/" if connect else target, ticket)
        upstream = await self._dial(url, ticket)
        try:
            if connect:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await tunnel(reader, writer, upstream, ticket)
            else:
                await forward(method, url, fields, reader, writer, upstream, ticket)
        finally:
            await upstream.aclose()

    def _find_ticket(self, fields: list[bytes]) -> Ticket:
        for pair in fields:
            name, _, value = pair.partition(b":")
            if name.strip().lower() == b"proxy-authorization":
                credentials = value.strip().removeprefix(b"Basic ")
                with contextlib.suppress(ValueError):
                    user, _, password = base64.b64decode(credentials).decode("latin-1").partition(":")
                    ticket = self._tickets.get(user)
                    if ticket is not None and hmac.compare_digest(ticket.password, password):
                        return ticket
        raise Refused(407, "a ticket is needed")

    def _check(self, target: str, ticket: Ticket) -> ParsedUrl:
        try:
            url = check_url(target, allow_private=ticket.allow_private)
            check_port(url)
        except Fault as fault:
            _note(ticket, target, fault)
            raise Refused(403, fault.message) from None
        return url

    async def _dial(self, url: ParsedUrl, ticket: Ticket) -> Stream:
        try:
            return await self._dialer.dial(url.host, url.port, secure=False, allow_private=ticket.allow_private)
        except Fault as fault:
            _note(ticket, str(url), fault)
            raise Refused(403 if fault.kind == "validation" else 502, fault.message) from None


def _note(ticket: Ticket, target: str, fault: Fault) -> None:
    try:
        host = (urlsplit(target).hostname or "").rstrip(".")
    except ValueError:
        host = ""
    if len(ticket.faults) < 1000:
        ticket.faults.setdefault(host, fault)


async def _say(writer: asyncio.StreamWriter, status: int, words: str) -> None:
    body = words.encode("utf-8", "replace")
    challenge = 'Proxy-Authenticate: Basic realm="pages"\r\n' if status == 407 else ""
    head = (
        f"HTTP/1.1 {status} Refused\r\n{challenge}Content-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with contextlib.suppress(OSError, TimeoutError):
        writer.write(head.encode("latin-1") + body)
        async with asyncio.timeout(PATIENCE):
            await writer.drain()
            # Closing with unread bytes would reset the connection before the answer was read.
            writer.write_eof()
