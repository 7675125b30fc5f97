"""Connections that go where the guard looked: dialed to checked addresses, then pooled for the next request."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import ssl
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import h11
import httpcore

from specloom.core import Fault

from .guard import check_address

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""A host name and a port → the IP addresses of the name, as text; raises `OSError` for a name without any."""

MAX_ADDRESSES = 8
HIGH_WATER = 256 * 1024
PATIENCE = 2.0
"""Seconds for one address while others are left to try."""
NO_DESCRIPTOR = "this server has no file descriptor left; give it more (ulimit -n)"
_FEWEST_CONNECTIONS = 4
_SHARE = 10
"""Connections in use may take this part of the descriptors, and idle ones as much."""


async def resolve_name(host: str, port: int) -> Sequence[str]:
    """The addresses that the system's resolver gives for a name.

    Each look-up has a daemon thread of its own: it cannot be cancelled, and neither a pool that it fills up nor the end
    of the process should wait for a name server that is silent.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(settled: Callable[[], None]) -> None:
        if not answer.done():
            settled()

    def look_up() -> None:
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            settled = partial(answer.set_result, list(dict.fromkeys(str(entry[4][0]) for entry in entries)))
        except OSError as problem:
            settled = partial(answer.set_exception, problem)
        except UnicodeError:
            settled = partial(answer.set_exception, OSError("the name cannot be encoded"))
        # The loop may be closed while the name server is silent; nobody waits any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, settled)

    threading.Thread(target=look_up, name="resolve", daemon=True).start()
    return await answer


def build_tls_context() -> ssl.SSLContext:
    """A context that verifies certificates: against `SSL_CERT_FILE`, else the system's store, else certifi's list."""
    named = bool(os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"))
    if not named and sys.platform in ("darwin", "win32"):
        try:
            import truststore
        except ImportError:
            pass
        else:
            return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = ssl.create_default_context()
    folder, file = os.environ.get("SSL_CERT_DIR"), os.environ.get("SSL_CERT_FILE")
    if context.cert_store_stats()["x509_ca"] or (folder and not file):
        return context
    # A list that cannot be read is passed over in silence up to here, and then no certificate would be valid.
    file = file or _find_packaged_list()
    try:
        context.load_verify_locations(file)
    except OSError as error:
        if folder and not is_out_of_descriptors(error):
            return context
        why = NO_DESCRIPTOR if is_out_of_descriptors(error) else str(error.strerror).lower()
        raise Fault("network", f"no certificate can be checked, for their list {file} cannot be read: {why}.") from None
    return context


def _find_packaged_list() -> str:
    import certifi

    return certifi.where()


def is_out_of_descriptors(error: OSError) -> bool:
    """Whether an operation failed because this process, or the system, may open nothing more."""
    return error.errno in (errno.EMFILE, errno.ENFILE)


def count_room(most: int) -> int:
    """How many connections, of `most`, this process has descriptors for; its stores and processes want some too."""
    try:
        import resource
    except ImportError:  # Windows, where they do not end
        return most
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return most if limit == resource.RLIM_INFINITY else min(most, max(_FEWEST_CONNECTIONS, limit // _SHARE))


class Stream(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """One connection as httpcore reads and writes it; deadlines are the caller's, so `timeout` is not looked at."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._ended = False
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._reading_paused = False
        self._writing_paused = False

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > HIGH_WATER and not self._reading_paused and self._transport is not None:
            self._transport.pause_reading()
            self._reading_paused = True
        _wake(self._reader)

    def eof_received(self) -> bool:
        self._ended = True
        _wake(self._reader)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._error = exc
        _wake(self._reader)
        _wake(self._writer)

    def pause_writing(self) -> None:
        self._writing_paused = True

    def resume_writing(self) -> None:
        self._writing_paused = False
        _wake(self._writer)

    # httpcore's side

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002, ASYNC109
        while not self._received and not self._ended:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        if not self._received:
            if self._error is not None:
                raise httpcore.ReadError(self._error)
            return b""
        data = bytes(self._received[:max_bytes])
        del self._received[:max_bytes]
        if self._reading_paused and not self._received and self._transport is not None:
            self._transport.resume_reading()
            self._reading_paused = False
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002, ASYNC109
        if self._transport is None or self._transport.is_closing():
            raise httpcore.WriteError("the connection is closed")
        if buffer:
            self._transport.write(buffer)
        while self._writing_paused and not self._ended:
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer

    async def aclose(self) -> None:
        # Only what is finished or broken is closed here, so nothing is left to flush and no peer is waited for.
        if self._transport is not None:
            self._transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002, ASYNC109
    ) -> Stream:
        assert self._transport is not None
        loop = asyncio.get_running_loop()
        try:
            secure = await loop.start_tls(self._transport, self, ssl_context, server_hostname=server_hostname)
        except ssl.SSLCertVerificationError as error:
            message = f"{self._host} could not be reached: its certificate is not valid ({error.verify_message})."
            raise Fault("network", message) from None
        except OSError:
            secure = None
        if secure is None:
            raise Fault("network", f"{self._host} could not be reached: the TLS handshake failed.")
        self._transport = secure
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return bool(self._received) or self._ended
        return None


class Dialer:
    """Opens connections to addresses that passed the guard, and to no other."""

    def __init__(self, resolve: Resolver, connect_timeout: float) -> None:
        self._resolve = resolve
        self._connect_timeout = connect_timeout
        self._tls: ssl.SSLContext | None = None

    async def dial(self, host: str, port: int, *, secure: bool, allow_private: bool) -> Stream:
        """A connection to a checked address of the host; with `secure` the host has proved its name."""
        stream: Stream | None = None
        try:
            async with asyncio.timeout(self._connect_timeout):
                addresses = await find_addresses(self._resolve, host, port, allow_private=allow_private)
                stream = await self._connect(host, port, addresses)
                if secure:
                    if self._tls is None:
                        self._tls = build_tls_context()
                        self._tls.set_alpn_protocols(["http/1.1"])
                    await stream.start_tls(self._tls, host)
                return stream
        except BaseException as error:
            if stream is not None:
                await stream.aclose()
            if isinstance(error, TimeoutError):
                message = f"{host} could not be reached: no connection within {self._connect_timeout:g} seconds."
                raise Fault("network", message) from None
            raise

    async def _connect(self, host: str, port: int, addresses: Sequence[str]) -> Stream:
        loop = asyncio.get_running_loop()
        why = "the connection failed"
        for at, address in enumerate(addresses, start=1):
            stream = Stream(host)
            try:
                async with asyncio.timeout(PATIENCE if at < len(addresses) else None):
                    await loop.create_connection(lambda made=stream: made, address, port)  # type: ignore[misc]
            except ConnectionRefusedError:
                why = "the connection was refused"
            except TimeoutError:
                why = "the connection timed out"
            except OSError as error:
                why = NO_DESCRIPTOR if is_out_of_descriptors(error) else "the connection failed"
            else:
                return stream
        raise Fault("network", f"{host} could not be reached: {why}.")


async def find_addresses(resolve: Resolver, host: str, port: int, *, allow_private: bool) -> list[str]:
    """The addresses of a host, all checked by the guard, in the order to try them; else a fault."""
    if ":" in host or host.rpartition(".")[2].isdigit():
        addresses: Sequence[str] = (host,)
    else:
        try:
            addresses = await resolve(host, port)
        except TimeoutError:
            raise
        except OSError as error:
            if is_out_of_descriptors(error):
                raise Fault("network", f"{host} could not be reached: {NO_DESCRIPTOR}.") from None
            addresses = ()
    if not addresses:
        raise Fault("network", f"{host} could not be reached: the name does not resolve.")
    # One bad address refuses the name: an attacker's mix must not become a matter of luck.
    for address in addresses:
        check_address(address, host=host, allow_private=allow_private)
    return _alternate(addresses)[:MAX_ADDRESSES]


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


def _alternate(addresses: Sequence[str]) -> list[str]:
    """The addresses in their order, with the second one of the other family, so that one dead family costs one try."""
    first = ":" in addresses[0]
    other = next((address for address in addresses if (":" in address) != first), None)
    if other is None:
        return list(addresses)
    return [addresses[0], other, *(address for address in addresses[1:] if address != other)]


# --- The pool of idle connections -------------------------------------------------------------------------------------


KEEP_ALIVE = 15.0
"""Seconds for which an idle connection is kept."""


class PoolKey(NamedTuple):
    """What a connection is good for. One that was allowed to reach a private address serves no request that is not."""

    scheme: str
    host: str
    port: int
    private: bool


HEAD_BYTES = 32 * 1024
"""Bytes of a head or of trailers; Node takes 16 KiB."""
HEAD_READ, BODY_READ = 8 * 1024, 16 * 1024
"""Bytes that are parsed at once: lines of a head cost most."""
INTERIM_HEADS = 8
"""Heads such as 103 Early Hints before an answer; Go takes 5."""
PIECES = 20_000
"""Pieces of a body, chunks or segments, that may be of any size."""
PIECE_BYTES = 32
"""Mean size that the pieces of a body must have beyond that."""
TIME_SLICE = 0.005
"""Seconds of parsing after which others get a turn of the loop."""


def find_crumbs(host: str, pieces: int, size: int) -> Fault | None:
    """The fault for a body of so many bytes that comes in more pieces than any honest one; nothing for any other."""
    if pieces <= PIECES + size // PIECE_BYTES:
        return None
    return Fault("network", f"{host} sends its answer in tiny pieces: {size} bytes in {pieces} of them.")


class _ChunkReader:
    """h11's reader of chunks, which hands over all that is there at once: an event each costs ten times the parsing."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._end: Any = None
        self.pieces = 0

    def __call__(self, buffer: Any) -> Any:
        if self._end is not None:
            return self._end
        data = bytearray()
        while isinstance(event := self._reader(buffer), h11.Data):
            data += event.data
            self.pieces += 1
        if not data:
            return event
        self._end = event
        return h11.Data(data=bytes(data))

    def read_eof(self) -> Any:
        return self._reader.read_eof()


class Http11Connection(httpcore.AsyncHTTP11Connection):
    """An HTTP/1.1 connection whose peer cannot hold the loop, however much it sends that is quickly parsed.

    Parsing waits for nothing while bytes are there, so no deadline could end it: here it pauses by the clock, and what
    costs much and says little (interim heads, a body in tiny pieces) is counted and given up with a `network` fault.
    """

    MAX_INCOMPLETE_EVENT_SIZE = HEAD_BYTES

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        self._interim_heads = self._pieces = self._size = 0
        self._chunks: _ChunkReader | None = None
        self._resumed = time.monotonic()
        self.READ_NUM_BYTES = HEAD_READ
        return await super().handle_async_request(request)

    async def _receive_event(self, timeout: float | None = None) -> h11.Event | type[h11.PAUSED]:  # noqa: ASYNC109
        try:
            event = await super()._receive_event(timeout)
        except httpcore.RemoteProtocolError as error:
            raise httpcore.RemoteProtocolError(self._describe(error)) from None
        if isinstance(event, h11.Data):
            self._pieces += 1
            self._size += len(event.data)
            pieces = self._chunks.pieces if self._chunks is not None else self._pieces
            if fault := find_crumbs(self._origin.host.decode("ascii"), pieces, self._size):
                raise fault
        elif isinstance(event, h11.Response):
            self.READ_NUM_BYTES = BODY_READ
            reader = self._h11_state._reader  # noqa: SLF001
            if type(reader).__name__ == "ChunkedReader":
                self._chunks = self._h11_state._reader = _ChunkReader(reader)  # noqa: SLF001
        elif isinstance(event, h11.InformationalResponse):
            self._interim_heads += 1
            if self._interim_heads > INTERIM_HEADS:
                host = self._origin.host.decode("ascii")
                raise Fault("network", f"{host} announced an answer more than {INTERIM_HEADS} times and sent none.")
        if time.monotonic() - self._resumed > TIME_SLICE:
            await asyncio.sleep(0)
            self._resumed = time.monotonic()
        return event

    def _describe(self, error: httpcore.RemoteProtocolError) -> str:
        """What the peer did wrong, in the words that follow its name."""
        cause = error.__cause__
        if cause is None:
            return "closed the connection without an answer"
        if getattr(cause, "error_status_hint", 0) == 431:
            return f"sent a head of more than {HEAD_BYTES} bytes"
        closed = self._h11_state.trailing_data[1]
        return "closed the connection before its answer was complete" if closed else "sent something that is not HTTP"


class Pool:
    """Lends HTTP/1.1 connections, and keeps at most `most` of them idle.

    httpcore's own pool is not used: it looks through all connections for every request, and loses a place for good when
    a request is given up while it waits for one.
    """

    def __init__(self, dialer: Dialer, most: int) -> None:
        self._dialer = dialer
        self._most = most
        # In the order in which they became idle.
        self._idle: dict[Http11Connection, PoolKey] = {}
        self._places: dict[PoolKey, list[Http11Connection]] = {}

    async def find_idle(self, place: PoolKey) -> Http11Connection | None:
        """A connection that was used before, where one is left that still stands."""
        while kept := self._places.get(place):
            connection = kept[-1]
            self._forget(connection)
            if not connection.has_expired():
                return connection
            await connection.aclose()
        return None

    async def open(self, place: PoolKey) -> Http11Connection:
        """A new connection."""
        for connection in [kept for kept in self._idle if kept.has_expired()]:
            self._forget(connection)
            await connection.aclose()
        scheme, host, port, private = place
        stream = await self._dialer.dial(host, port, secure=scheme == "https", allow_private=private)
        origin = httpcore.Origin(scheme.encode("ascii"), host.encode("ascii"), port)
        return Http11Connection(origin, stream, keepalive_expiry=KEEP_ALIVE)

    async def give_back(self, place: PoolKey, connection: Http11Connection) -> None:
        """Keeps a connection whose answer was read to its end, and closes any other."""
        # Bytes after the end of an answer would be taken for the answer to the next request.
        if not connection.is_idle() or connection._h11_state.trailing_data[0]:  # noqa: SLF001
            await connection.aclose()
            return
        self._idle[connection] = place
        self._places.setdefault(place, []).append(connection)
        if len(self._idle) > self._most:
            oldest = next(iter(self._idle))
            self._forget(oldest)
            await oldest.aclose()

    async def aclose(self) -> None:
        """Closes every idle connection; lent ones are closed when they come back with an unfinished answer."""
        for connection in list(self._idle):
            self._forget(connection)
            await connection.aclose()

    def _forget(self, connection: Http11Connection) -> None:
        place = self._idle.pop(connection)
        kept = self._places[place]
        kept.remove(connection)
        if not kept:
            del self._places[place]
