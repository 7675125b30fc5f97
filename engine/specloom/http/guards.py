"""Bounds on connections that no ASGI server has: silent and slow ones, long heads, and how many an address may open.

uvicorn closes an idle connection and nothing else, and llhttp takes heads of any length; so its protocol class is
given the rest. The deadlines are looked at twice a second for all connections at once, which costs a request nothing
but an assignment.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .headers import is_proxy

if TYPE_CHECKING:
    from .settings import HttpSettings

SWEEP_EVERY = 0.5
"""Seconds between two looks at the deadlines."""
LEAST_RATE = 1024
"""Bytes a second that a body has to come at, on the whole."""
MOST_HEADERS = 100
LONGEST_TARGET = 8192
MOST_DISCARDED = 8 << 20
"""Bytes of a body nobody reads that a connection may still send."""
WRITING_SECONDS = 30.0
"""Seconds that a client may take nothing of what is sent to it."""
IPV6_BITS = 64
"""Addresses of one IPv6 network of this size count as one: a single client has all of them."""
OFFERING = frozenset({b"connection", b"upgrade", b"http2-settings"})
"""Headers with which a client offers another protocol."""
LAST_SECONDS = 1.0
"""Seconds that who has just connected to a server that leaves may take to ask."""
NEVER = float("inf")
_REASONS = {
    400: "Bad Request",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    503: "Unavailable",
}


class ConnectionGuard:
    """What all connections of a worker share: the bounds, their number by address, and who looks at the deadlines."""

    def __init__(self, settings: HttpSettings) -> None:
        self.settings = settings
        self.is_leaving = False
        """Whether each connection is heard for one more request at most."""
        self.open: set[GuardedProtocol] = set()
        self._addresses: Counter[str] = Counter()
        self._sweeping: asyncio.TimerHandle | None = None

    def admit(self, protocol: GuardedProtocol, address: str) -> int:
        """Count a connection: 0, or the status that turns it away."""
        if len(self.open) >= self.settings.connections:
            return 503
        if self._addresses[address] >= self.settings.connections_an_address and not is_proxy(
            address, self.settings.proxies
        ):
            return 429
        self._addresses[address] += 1
        self.open.add(protocol)
        if self._sweeping is None:
            self._sweeping = protocol.loop.call_later(SWEEP_EVERY, self._sweep, protocol.loop)
        return 0

    def leave(self, protocol: GuardedProtocol, address: str) -> None:
        """Forget a connection that was admitted."""
        if protocol in self.open:
            self.open.discard(protocol)
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for protocol in [one for one in self.open if one.deadline < now]:
            protocol.transport.abort()
        self._sweeping = loop.call_later(SWEEP_EVERY, self._sweep, loop) if self.open else None


class CorkedTransport:
    """A transport that sends what is written in one turn of the loop at once: uvicorn writes head and body apart."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []
        self.abort = transport.abort
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading
        self.get_extra_info = transport.get_extra_info

    def write(self, data: bytes) -> None:
        """Send it with what else is written in this turn."""
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)

    def flush(self) -> None:
        """Send it now."""
        if self._parts:
            data = b"".join(self._parts)
            self._parts.clear()
            self._transport.write(data)

    def close(self) -> None:
        """Send what waits, and close."""
        self.flush()
        self._transport.close()


class GuardedProtocol(HttpToolsProtocol):
    """uvicorn's connection with a deadline for what it waits for, and bounds on its heads."""

    guard: ConnectionGuard
    _corked: CorkedTransport

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.deadline = NEVER
        self._address = ""
        self._in_head = True
        self._head_bytes = 0
        self._body_bytes = 0
        self._body_began = 0.0
        self._refusal = 400
        self._is_turned_away = False
        self._is_offered = False
        self._has_asked = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._corked = CorkedTransport(transport, self.loop)
        self.transport = cast("asyncio.Transport", self._corked)
        self._address = find_network(self.client[0] if self.client else "")
        status = self.guard.admit(self, self._address)
        if status:
            self._is_turned_away = True
            self._turn_away(status)
            return
        self.deadline = self.loop.time() + self.guard.settings.header_seconds
        if self.guard.is_leaving:
            self.shutdown()

    def shutdown(self) -> None:
        """Take no more requests. Who has just connected is heard once: it could not know that the server leaves."""
        if self._has_asked or self._is_turned_away:
            super().shutdown()
            return
        self.deadline = min(self.deadline, self.loop.time() + LAST_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self.deadline = NEVER
        self.guard.leave(self, self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_turned_away:
            return
        if self._in_head:
            if not self._head_bytes:
                self.deadline = self.loop.time() + self.guard.settings.header_seconds
            self._head_bytes += len(data)
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            self._decline(data[offer.args[0] :])
        except httptools.HttpParserError:
            self._turn_away(self._refusal)
        if self._in_head and self._head_bytes > self.guard.settings.header_bytes and not self.transport.is_closing():
            self._turn_away(431)

    def _decline(self, rest: bytes) -> None:
        """Read a request that offers another protocol as if it did not, as RFC 9110 (7.8) lets a server do.

        llhttp ends such a request behind its head and takes its body for the other protocol, so the head is read anew.
        """
        self._is_offered = False
        head = [self.parser.get_method() + b" " + self.url + b" HTTP/1.1"]
        head += [name + b": " + value for name, value in self.headers if name not in OFFERING]
        self.parser = httptools.HttpRequestParser(self)
        self.data_received(b"\r\n".join([*head, b"", b""]) + rest)

    def _turn_away(self, status: int) -> None:
        """Say no and close. What still comes is not read."""
        retry = b"retry-after: 1\r\n" if status in (429, 503) else b""
        line = f"HTTP/1.1 {status} {_REASONS[status]}\r\n".encode()
        self.transport.write(line + retry + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()

    # What the parser tells.

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > LONGEST_TARGET:
            self._refuse(431)

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= MOST_HEADERS:
            self._refuse(431)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":
                self._refuse(400)
            self._is_offered = True
            return
        self._in_head, self._head_bytes, self._body_bytes = False, 0, 0
        if sum(len(name) + len(value) + 4 for name, value in self.headers) > self.guard.settings.header_bytes:
            self._refuse(431)
        if not self.url.startswith(b"/") or sum(name == b"host" for name, _ in self.headers) != 1:
            # An absolute target names a host of its own; a server that believed one of two would be led astray.
            self._refuse(400)
        codings = [value.strip().lower() for name, value in self.headers if name == b"transfer-encoding"]
        if codings not in ([], [b"chunked"]):
            self._refuse(400)  # what another reader on the way might take for another end of the body
        self._body_began = self.loop.time()
        self.deadline = self._body_began + self.guard.settings.body_seconds
        self._has_asked = True
        super().on_headers_complete()
        if self.guard.is_leaving:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if self.cycle.response_complete:
            # It was refused before it had come. To close now would lose the answer; to read on for ever, us.
            if self._body_bytes > MOST_DISCARDED:
                self.transport.abort()
            return
        # A body has its time as a whole, and less where it comes at a trickle.
        due = self._body_began + self.guard.settings.header_seconds + self._body_bytes / LEAST_RATE
        self.deadline = min(due, self._body_began + self.guard.settings.body_seconds)
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._is_offered:
            return
        self.deadline = NEVER
        self._in_head = True
        super().on_message_complete()
        if self.cycle.response_complete:
            self._rest()

    def on_response_complete(self) -> None:
        self._corked.flush()
        super().on_response_complete()
        if self.cycle.more_body:
            self.deadline = self.loop.time() + self.guard.settings.header_seconds
        elif self._in_head and not self._head_bytes:
            self._rest()

    def _rest(self) -> None:
        """Nothing is asked: the connection may stay for its idle time."""
        self.deadline = self.loop.time() + self.guard.settings.idle_seconds

    def pause_writing(self) -> None:
        self.deadline = self.loop.time() + WRITING_SECONDS
        super().pause_writing()

    def resume_writing(self) -> None:
        self.deadline = NEVER
        super().resume_writing()

    def _refuse(self, status: int) -> None:
        self._refusal = status
        raise httptools.HttpParserError


def make_protocol(settings: HttpSettings) -> type[GuardedProtocol]:
    """The protocol class of one worker."""
    shared = {"guard": ConnectionGuard(settings)}
    return cast("type[GuardedProtocol]", type("WorkerProtocol", (GuardedProtocol,), shared))


def find_network(address: str) -> str:
    """What counts as one client: an IPv4 address, or the /64 of an IPv6 one."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 6:
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, IPV6_BITS), strict=False))
    return address
