"""How often something was called, and how that went."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from .faults import Fault

RECENT = 1000
"""Calls whose length is remembered; mean and 95th percentile are theirs (the tool contract's figure)."""


def _recent() -> deque[float]:
    return deque(maxlen=RECENT)


@dataclass(slots=True)
class Count:
    """How often something was called and how that went; `seconds` is the sum, `last` when it ended last."""

    calls: int = 0
    faults: int = 0
    hits: int = 0
    seconds: float = 0.0
    last: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)
    lengths: deque[float] = field(default_factory=_recent, repr=False)

    def add(self, seconds: float, fault: Fault | None = None, *, at: float = 0.0) -> None:
        """One more call; `at` is when it ended, in seconds since the epoch."""
        self.calls += 1
        self.seconds += seconds
        self.lengths.append(seconds)
        self.last = at or self.last
        if fault is not None:
            self.faults += 1
            self.kinds[fault.kind] = self.kinds.get(fault.kind, 0) + 1

    @property
    def mean(self) -> float:
        """Seconds of a call, of the newest; 0 before the first."""
        return sum(self.lengths) / len(self.lengths) if self.lengths else 0.0

    @property
    def slow(self) -> float:
        """Seconds within which 95 of 100 of the newest calls ended (nearest rank); 0 before the first."""
        ranked = sorted(self.lengths)
        return ranked[-(-95 * len(ranked) // 100) - 1] if ranked else 0.0
