"""How often something was called, and how that went."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import field
from functools import partial

from specloom.core import Fault, dataclass

RECENT = 1000
"""Calls whose length is remembered; mean and 95th percentile are theirs (the tool contract's figure)."""


@dataclass(slots=True)
class Count:
    """How often something was called and how that went; `seconds` is the sum, `last` when it ended last."""

    calls: int = 0
    faults: int = 0
    hits: int = 0
    seconds: float = 0.0
    last: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)
    lengths: deque[float] = field(default_factory=partial(deque, maxlen=RECENT), repr=False)

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


@dataclass(slots=True)
class Stalls:
    """How often the event loop stood still for over a second; `last` is when that ended, `where` is in the source."""

    count: int = 0
    longest: float = 0.0
    last: float = 0.0
    where: str = ""

    def add(self, seconds: float, where: str, *, at: float) -> None:
        """One more; `at` is when it ended, in seconds since the epoch."""
        self.count += 1
        self.longest = max(self.longest, seconds)
        self.last, self.where = at, where


# --- How much each tenant has called today, and how often that was refused because there was too much of it -----------


DAY = 86_400.0
MOST_TENANTS = 10_000
"""Tenants that are counted; beyond them the one that called longest ago is forgotten (the tool contract's figure)."""
REFUSED = "rate_limited"
"""The word for a refusal that clients know."""


@dataclass(slots=True)
class Tally:
    """The calls of one tenant on one day of UTC, counted from when this process began."""

    day: int
    calls: int = 0
    refused: int = 0
    """Calls that ended as rate limited, by an upstream or by the pace that it asks for."""


class Tallies:
    """A tally for each tenant that has called lately."""

    def __init__(self) -> None:
        self._tallies: OrderedDict[str, Tally] = OrderedDict()

    def count(self, tenant: str, error: str, now: float) -> None:
        """One more call, with the kind of its fault as clients know it or nothing; `now` is seconds since the epoch."""
        tally = self._tallies.pop(tenant, None)
        if tally is None or tally.day != int(now // DAY):
            tally = Tally(int(now // DAY))
        tally.calls += 1
        tally.refused += error == REFUSED
        self._tallies[tenant] = tally
        while len(self._tallies) > MOST_TENANTS:
            self._tallies.popitem(last=False)

    def of(self, tenant: str, now: float) -> Tally:
        """What was counted today."""
        tally = self._tallies.get(tenant)
        return tally if tally is not None and tally.day == int(now // DAY) else Tally(int(now // DAY))


def next_midnight(now: float) -> float:
    """When the day of UTC ends, in seconds since the epoch."""
    return (now // DAY + 1) * DAY
