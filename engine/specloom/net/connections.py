"""Connections that go where the guard looked, dialed to checked addresses, and what any of them may not send."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import ssl
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, cast

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


def to_transport(transport: asyncio.BaseTransport) -> asyncio.Transport:
    """A transport as one that is read from and written to; those of uvloop are such without being of its class."""
    return cast("asyncio.Transport", transport)


class Stream(asyncio.Protocol):
    """One connection, to be read and written as bytes; deadlines are the caller's."""

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
        self._transport = to_transport(transport)

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

    # the caller's side

    async def read(self, max_bytes: int) -> bytes:
        """What came, when there is something; nothing at the end, and `ConnectionError` where it broke off."""
        while not self._received and not self._ended:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        if not self._received:
            if self._error is not None:
                raise ConnectionError("the connection was lost") from self._error
            return b""
        data = bytes(self._received[:max_bytes])
        del self._received[:max_bytes]
        if self._reading_paused and not self._received and self._transport is not None:
            self._transport.resume_reading()
            self._reading_paused = False
        return data

    async def write(self, buffer: bytes) -> None:
        """Send bytes, and wait where too many of them are not gone yet; `ConnectionError` after the end."""
        if self._transport is None or self._transport.is_closing():
            raise ConnectionError("the connection is closed")
        if buffer:
            self._transport.write(buffer)
        while self._writing_paused and not self._ended:
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer

    async def aclose(self) -> None:
        """End the connection at once."""
        # Only what is finished or broken is closed here, so nothing is left to flush and no peer is waited for.
        if self._transport is not None:
            self._transport.abort()

    async def start_tls(self, ssl_context: ssl.SSLContext, server_hostname: str) -> None:
        """Go on under TLS, once the peer has proved that name; a fault where it cannot."""
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

    def hand_over(self, protocol: asyncio.Protocol) -> None:
        """Give the connection to another protocol, with whatever came already; the stream is of no use any more."""
        assert self._transport is not None
        transport, self._transport = self._transport, None
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if self._received:
            protocol.data_received(bytes(self._received))
        if self._ended:
            protocol.eof_received()
            transport.abort()
        elif self._reading_paused:
            transport.resume_reading()

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
                late = Fault("network", message)
                late.unsent = True
                raise late from None
            if isinstance(error, Fault):
                error.unsent = True
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


# --- Bodies in crumbs -------------------------------------------------------------------------------------------------


PIECES = 20_000
"""Pieces of a body, chunks or segments, that may be of any size."""
PIECE_BYTES = 32
"""Mean size that the pieces of a body must have beyond that."""


def find_crumbs(host: str, pieces: int, size: int) -> Fault | None:
    """The fault for a body of so many bytes that comes in more pieces than any honest one; nothing for any other."""
    if pieces <= PIECES + size // PIECE_BYTES:
        return None
    return Fault("network", f"{host} sends its answer in tiny pieces: {size} bytes in {pieces} of them.")
