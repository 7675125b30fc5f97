"""Connections that go where the guard looked: dialed to checked addresses, then pooled for the next request."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import httpcore

from specloom.core import Fault

from .guard import check_address

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""A host name and a port → the IP addresses of the name, as text; raises `OSError` for a name without any."""

MAX_ADDRESSES = 8
HIGH_WATER = 256 * 1024
PATIENCE = 2.0
"""Seconds for one address while others are left to try."""


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
    if not named and not context.cert_store_stats()["x509_ca"]:
        import certifi

        context.load_verify_locations(certifi.where())
    return context


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
            except OSError:
                why = "the connection failed"
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
        except OSError:
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


class Pool:
    """Lends HTTP/1.1 connections, and keeps at most `most` of them idle.

    httpcore's own pool is not used: it looks through all connections for every request, and loses a place for good when
    a request is given up while it waits for one.
    """

    def __init__(self, dialer: Dialer, most: int) -> None:
        self._dialer = dialer
        self._most = most
        # In the order in which they became idle.
        self._idle: dict[httpcore.AsyncHTTP11Connection, PoolKey] = {}
        self._places: dict[PoolKey, list[httpcore.AsyncHTTP11Connection]] = {}

    async def find_idle(self, place: PoolKey) -> httpcore.AsyncHTTP11Connection | None:
        """A connection that was used before, where one is left that still stands."""
        while kept := self._places.get(place):
            connection = kept[-1]
            self._forget(connection)
            if not connection.has_expired():
                return connection
            await connection.aclose()
        return None

    async def open(self, place: PoolKey) -> httpcore.AsyncHTTP11Connection:
        """A new connection."""
        for connection in [kept for kept in self._idle if kept.has_expired()]:
            self._forget(connection)
            await connection.aclose()
        scheme, host, port, private = place
        stream = await self._dialer.dial(host, port, secure=scheme == "https", allow_private=private)
        origin = httpcore.Origin(scheme.encode("ascii"), host.encode("ascii"), port)
        return httpcore.AsyncHTTP11Connection(origin, stream, keepalive_expiry=KEEP_ALIVE)

    async def give_back(self, place: PoolKey, connection: httpcore.AsyncHTTP11Connection) -> None:
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

    def _forget(self, connection: httpcore.AsyncHTTP11Connection) -> None:
        place = self._idle.pop(connection)
        kept = self._places[place]
        kept.remove(connection)
        if not kept:
            del self._places[place]
