"""One remembered answer: what it is, since when, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Freshness = Literal["fresh", "aging", "expiring"]

SLACK = 5.0
"""Seconds a clock may step back before what was stored under the later time is refused."""


@dataclass(frozen=True, slots=True)
class Entry:
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
