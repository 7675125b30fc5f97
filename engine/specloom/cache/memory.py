"""Answers in memory: bounded, and what was used least lately goes first."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

OVERHEAD = 256
"""Bytes an entry takes in memory beside its key and value, measured on a 64-bit CPython."""


class AnswerMemory:
    """Entries by key in at most so many bytes. Not safe from several threads by itself: its owner holds a lock."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        """Bytes that are taken, the overhead of each entry included."""
        self.evicted = 0
        """Entries that had to go for others since the start."""
        self._entries: OrderedDict[str, CacheEntry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str, now: float) -> CacheEntry | None:
        """The entry if it is there and alive; one that is not alive is dropped."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if not entry.is_alive(now):
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return entry

    def put(self, key: str, entry: CacheEntry) -> None:
        """Hold the entry in place of what stands under its key; one larger than the whole is not held."""
        self._drop(key)
        size = _size_of(key, entry)
        if size > self.limit:
            return
        self._entries[key] = entry
        self.used += size
        while self.used > self.limit:
            self._drop(next(iter(self._entries)))
            self.evicted += 1

    def clear(self) -> None:
        """Hold nothing."""
        self._entries.clear()
        self.used = 0

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.used -= _size_of(key, entry)


def _size_of(key: str, entry: CacheEntry) -> int:
    return len(key) + len(entry.value) + OVERHEAD


# --- One remembered answer: what it is, since when, and for how long --------------------------------------------------


Freshness = Literal["fresh", "aging", "expiring"]

SLACK = 5.0
"""Seconds a clock may step back before what was stored under the later time is refused."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A remembered value, when it was stored (seconds since the epoch) and for how many seconds it may be served."""

    value: bytes
    stored_at: float
    ttl: float

    def age(self, now: float) -> float:
        """Seconds since it was stored, never below zero."""
        return max(0.0, now - self.stored_at)

    def freshness(self, now: float) -> Freshness:
        """Which part of its life it is in: `fresh` in the first half, `aging` up to four fifths, then `expiring`."""
        used = self.age(now) / self.ttl
        return "fresh" if used < 0.5 else "aging" if used < 0.8 else "expiring"

    def is_alive(self, now: float) -> bool:
        """Whether it may be served. One from the future is refused, or a clock set back would serve it for ever."""
        return -SLACK <= now - self.stored_at < self.ttl
