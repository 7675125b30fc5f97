"""What passes through the proxy of the browser: a tunnel, or one request and its answer, counted and timed."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault
from specloom.guard import ParsedUrl
from specloom.network import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

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
    """Seconds that a host may say nothing before its connection is broken off."""
    faults: dict[str, Fault] = field(default_factory=dict)
    loaded: int = 0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)


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
    kept = [
        pair
        for pair in fields
        if (name := pair.partition(b":")[0].strip().lower()) not in _HOP_BY_HOP
        and not name.startswith(b"proxy-")
        and name != b"host"
    ]
    lines = [f"{method} {url.target} HTTP/1.1".encode("latin-1"), b"Host: " + url.authority.encode("ascii")]
    await upstream.write(b"\r\n".join([*lines, *kept, b"Connection: close", b"", b""]))
    said = b"\r\n".join(fields)
    if _CHUNKED.search(said):
        raise Refused(411, "a request has to say how long it is")
    length = _LENGTH.search(said)
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
    while True:
        head, end, rest = data.partition(b"\r\n\r\n")
        if end and not head.startswith((b"HTTP/1.1 10", b"HTTP/1.0 10")):
            return head, rest
        if end:
            data = rest
            continue
        more = await _read(upstream, ticket)
        if not more or len(data) > MOST_HEAD:
            raise Refused(502, "the host sent something that is not HTTP")
        data += more


def _close_after(head: bytes) -> bytes:
    lines = [
        line
        for line in head.split(b"\r\n")
        if line.partition(b":")[0].strip().lower() not in (b"connection", b"keep-alive", b"proxy-connection")
    ]
    return b"\r\n".join([*lines, b"Connection: close"])


async def _read(upstream: Stream, ticket: Ticket) -> bytes:
    import httpcore

    try:
        async with asyncio.timeout(ticket.patience):
            return await upstream.read(PIECE)
    except httpcore.NetworkError as error:
        raise OSError("the connection was lost") from error
