"""The one way out: every request is checked, bounded in time and size, and followed hop by hop.

HTTP itself is httpcore, the engine of httpx. Proxies named in the environment are not used: behind a proxy the address
that was checked would not be the one that is connected to.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Self

import httpcore

from specloom import __version__
from specloom.core import Fault, Policy, Request, Response, redact

from .decompress import ACCEPTED, find_inflater
from .dialer import Dialer, Resolver, resolve_name
from .hops import REDIRECTS, Border, Header, Hop, first_hop, next_hop
from .pool import Pool, PoolKey

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from types import TracebackType


__all__ = ["Resolver", "Transport", "redact"]

USER_AGENT = f"specloom/{__version__}"
SMALL = 16 * 1024
"""A redirect's body of at most this size is read to keep the connection; a larger one costs the connection."""

SAFE = (b"GET", b"HEAD", b"OPTIONS")
_BODY_METHODS = ("POST", "PUT", "PATCH")


class Transport:
    """Sends requests to public hosts only, over connections that are kept open and reused.

    `allow_private` (for everything) and a request's own `policy.allow_private` (for its own host) admit private and
    loopback addresses and relax nothing else. `max_connections` bounds the requests in flight.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        allowed_domains: Sequence[str] = (),
        resolve: Resolver | None = None,
        user_agent: str = USER_AGENT,
        connect_timeout: float = 10.0,
        max_connections: int = 64,
    ) -> None:
        self._border = Border(allow_private, tuple(allowed_domains))
        self._defaults = (
            Header(b"User-Agent", user_agent.encode("latin-1")),
            Header(b"Accept", b"*/*"),
            Header(b"Accept-Encoding", ", ".join(ACCEPTED).encode("ascii")),
        )
        self._turns = asyncio.Semaphore(max_connections)
        self._pool = Pool(Dialer(resolve or resolve_name, connect_timeout), max_connections)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def send(self, request: Request) -> Response:
        """The answer to a request, whatever its status; a fault where there is none or it may not be had.

        `policy.timeout` covers everything from the wait for a turn to the last byte, `policy.idle` each wait for more.
        `policy.redirects` of 0 means that a redirect is itself the answer.
        """
        policy = request.policy
        host = "The host"
        try:
            hop = first_hop(request, self._border, self._defaults)
            host = hop.url.host
            async with asyncio.timeout(policy.timeout), self._turns:
                return await self._follow(hop, request)
        except TimeoutError:
            message = f"{host} gave no complete answer within {policy.timeout:g} seconds."
            raise Fault("network", message, provider=request.provider) from None
        except _Silence:
            message = f"{host} gave no complete answer within its time: nothing came for {policy.idle:g} seconds."
            raise Fault("network", message, provider=request.provider) from None
        except Fault as fault:
            fault.provider = fault.provider or request.provider
            raise

    async def aclose(self) -> None:
        """Closes every connection."""
        await self._pool.aclose()
        # One turn of the loop, in which the sockets are really closed.
        await asyncio.sleep(0)

    async def _follow(self, hop: Hop, request: Request) -> Response:
        seen: set[tuple[str, str]] = set()
        for _ in range(request.policy.redirects + 1):
            response, location = await self._exchange(hop, request)
            if location is None:
                return response
            host = hop.url.host
            seen.add((hop.method, str(hop.url)))
            try:
                hop = next_hop(hop, response.status, location, request, self._border)
            except Fault as fault:
                # Where a reader asks for any page, it is the page's address that is wrong; else the upstream is.
                raise fault if request.policy.any_host else fault.told_as(kind="upstream_unavailable") from None
            if (hop.method, str(hop.url)) in seen:
                raise Fault("upstream_unavailable", f"{host} redirects in a circle.")
        raise Fault("upstream_unavailable", f"{host} redirects more than {request.policy.redirects} times.")

    async def _exchange(self, hop: Hop, request: Request) -> tuple[Response, str | None]:
        host = hop.url.host
        place = PoolKey(hop.url.scheme, host, hop.url.port, hop.private)
        wire = _to_wire(hop)
        try:
            async with _patience(request.policy.idle):
                connection, answer = await self._ask(place, wire)
            try:
                headers = _join(answer.headers)
                location = headers.get("location") if answer.status in REDIRECTS else None
                if location is None or request.policy.redirects == 0:
                    location = None
                    body = await _read(answer, headers, hop, request.policy)
                    url = f"{hop.url.scheme}://{hop.url.authority}{hop.shown}"
                    response = Response(answer.status, headers, body, url)
                else:
                    response = Response(answer.status)
                    if headers.get("content-length", "").isdecimal() and int(headers["content-length"]) <= SMALL:
                        async for _ in answer.aiter_stream():
                            pass
                await answer.aclose()
            except BaseException:
                await connection.aclose()
                raise
            await self._pool.give_back(place, connection)
        except httpcore.RemoteProtocolError:
            raise Fault("network", f"{host} broke off or sent something that is not HTTP.") from None
        except httpcore.NetworkError:
            raise Fault("network", f"{host} closed the connection before its answer was complete.") from None
        except httpcore.LocalProtocolError:
            raise Fault("validation", f"The request to {host} is refused: it is not valid HTTP.") from None
        return response, location

    async def _ask(
        self, place: PoolKey, wire: httpcore.Request
    ) -> tuple[httpcore.AsyncHTTP11Connection, httpcore.Response]:
        used = await self._pool.find_idle(place)
        if used is not None:
            try:
                return used, await used.handle_async_request(wire)
            except (httpcore.RemoteProtocolError, httpcore.NetworkError):
                # A server may close a kept connection just as it is used again; what changes nothing is asked anew.
                if wire.method not in SAFE:
                    raise
        connection = await self._pool.open(place)
        return connection, await connection.handle_async_request(wire)


def _to_wire(hop: Hop) -> httpcore.Request:
    url = hop.url
    headers = [(b"Host", url.authority.encode("ascii"))]
    headers += [(header.name, header.value) for header in hop.headers]
    if hop.body is not None or hop.method in _BODY_METHODS:
        headers.append((b"Content-Length", b"%d" % len(hop.body or b"")))
    return httpcore.Request(
        hop.method,
        httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=hop.target),
        headers=headers,
        content=hop.body,
    )


def _join(raw: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        key = name.decode("latin-1").lower()
        text = value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


class _Silence(Exception):  # noqa: N818 - it is a state of the connection, told as a fault
    """Nothing came for as long as that may be."""


@contextlib.asynccontextmanager
async def _patience(seconds: float | None) -> AsyncIterator[None]:
    """Wait so long for what comes next; whoever waits for the whole has a time of his own."""
    waiting = asyncio.timeout(seconds)
    try:
        async with waiting:
            yield
    except TimeoutError:
        if waiting.expired():
            raise _Silence from None
        raise


async def _read(answer: httpcore.Response, headers: Mapping[str, str], hop: Hop, policy: Policy) -> bytes:
    host, max_bytes = hop.url.host, policy.max_bytes
    if hop.method == "HEAD" or answer.status in (204, 304):
        return b""
    inflater = find_inflater(headers.get("content-encoding", ""), host)
    # Compression may add a little to what cannot be compressed, and nothing more.
    most = max_bytes if inflater is None else max_bytes + max_bytes // 64 + 1024
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise _too_large(host, max_bytes, int(length))
    parts: list[bytes] = []
    received = size = 0
    chunks = aiter(answer.aiter_stream())
    while True:
        async with _patience(policy.idle):
            chunk = await anext(chunks, None)
        if chunk is None:
            break
        received += len(chunk)
        part = chunk if inflater is None else inflater.feed(chunk, max_bytes - size)
        size += len(part)
        if size > max_bytes or received > most:
            raise _too_large(host, max_bytes, max(size, received))
        parts.append(part)
    if inflater is not None and received:
        inflater.finish()
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_large(host: str, max_bytes: int, size: int) -> Fault:
    return Fault("too_large", f"{host} sent more than the {max_bytes} bytes that are allowed.", size=size)
