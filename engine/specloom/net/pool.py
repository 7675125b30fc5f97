"""Connections that are kept for the next request to the same place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import httpcore

if TYPE_CHECKING:
    from .dialer import Dialer


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
