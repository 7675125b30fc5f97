"""Answers that machines share: a second level under the memory, sealed, which may be away without harm."""

from __future__ import annotations

import asyncio
import struct
from typing import TYPE_CHECKING

from specloom.core import BackplaneError, seal, unseal

from .disk import CacheEntry

if TYPE_CHECKING:
    from collections.abc import Callable

    from specloom.core import SharedCache


SHARED_ANSWERS = "answers:"
"""What the keys of answers begin with in a shared cache, and so what is forgotten together."""
LARGEST_SHARED = 1024 * 1024
"""Bytes of the largest value that is shared."""
MOST_ON_THEIR_WAY = 64
"""Values that are on their way there; one more is not shared, and nobody waits for it."""

_HEAD = struct.Struct(">dd")


class SharedAnswers:
    """Entries by key in a shared cache. Used on one event loop; whatever goes wrong there is a miss.

    When an entry was stored, and for how long it may be served, is sealed with it, so it is as old here as where it
    came from.
    """

    def __init__(self, cache: SharedCache, key: bytes, *, on_forgotten: Callable[[], None]) -> None:
        """`on_forgotten` is called once somebody has erased what is shared, or may have."""
        self._cache, self._key, self._on_forgotten = cache, key, on_forgotten
        self._loop: asyncio.AbstractEventLoop | None = None
        self._must_forget = False
        self._forgetting: asyncio.Task[None] | None = None
        self._puts: set[asyncio.Task[None]] = set()

    async def get(self, key: str, now: float) -> CacheEntry | None:
        """The entry if there is one that opens and is alive."""
        self._begin()
        if self._must_forget:
            return None
        try:
            sealed = await self._cache.get(SHARED_ANSWERS + key)
        except BackplaneError:
            return None
        plain = unseal(self._key, sealed, _context(key)) if sealed is not None else None
        if plain is None or len(plain) < _HEAD.size:
            return None
        entry = CacheEntry(plain[_HEAD.size :], *_HEAD.unpack_from(plain))
        return entry if entry.is_alive(now) else None

    def put_soon(self, key: str, entry: CacheEntry, now: float) -> None:
        """Begin to share an entry, on the running loop."""
        self._begin()
        left = entry.stored_at + entry.ttl - now
        if self._must_forget or len(entry.value) > LARGEST_SHARED or len(self._puts) >= MOST_ON_THEIR_WAY or left <= 0:
            return
        task = asyncio.get_running_loop().create_task(self._put(key, entry, left))
        self._puts.add(task)
        task.add_done_callback(self._puts.discard)

    def forget_soon(self) -> None:
        """Have what is shared forgotten everywhere; from any thread. Until that is done nothing is shared here."""
        self._must_forget = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._begin)

    async def flush(self) -> None:
        """Wait for what is on its way."""
        await asyncio.gather(*self._puts, *([self._forgetting] if self._forgetting else []))

    async def _put(self, key: str, entry: CacheEntry, left: float) -> None:
        plain = _HEAD.pack(entry.stored_at, entry.ttl) + entry.value
        try:
            await self._cache.put(SHARED_ANSWERS + key, seal(self._key, plain, _context(key)), left)
        except BackplaneError:
            return

    def _begin(self) -> None:
        """Watch, and forget what is to be forgotten; on the loop. What did not succeed is tried by the next call."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._cache.watch(SHARED_ANSWERS, self._on_forgotten)
        if self._must_forget and self._forgetting is None:
            self._forgetting = self._loop.create_task(self._forget())

    async def _forget(self) -> None:
        try:
            await self._cache.clear(SHARED_ANSWERS)
        except BackplaneError:
            return
        else:
            self._must_forget = False
        finally:
            self._forgetting = None


def _context(key: str) -> bytes:
    # Another than that on disk, so that a value fits in one place alone.
    return b"shared:" + key.encode("utf-8", "surrogatepass")
