"""How often something was called, and how that went."""

from __future__ import annotations

import heapq
import itertools
from bisect import bisect_left
from collections import OrderedDict, deque
from collections.abc import Sequence
from functools import partial

from specloom.core import Fault, dataclass, field
from specloom.plugins import split_owner

RECENT = 1000
"""Calls whose length is remembered; mean and 95th percentile are theirs (the tool contract's figure)."""


LATENCY_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Seconds at which the buckets of a histogram end, but for the last."""


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
    buckets: list[int] = field(default_factory=list, repr=False)
    """Calls by `LATENCY_BOUNDS`, where they are counted."""

    def add(self, seconds: float, fault: Fault | None = None, *, at: float = 0.0) -> None:
        """One more call; `at` is when it ended, in seconds since the epoch."""
        self.calls += 1
        self.seconds += seconds
        self.lengths.append(seconds)
        if self.buckets:
            self.buckets[bisect_left(LATENCY_BOUNDS, seconds)] += 1
        self.last = at or self.last
        if fault is not None:
            self.faults += 1
            self.kinds[fault.kind] = self.kinds.get(fault.kind, 0) + 1

    def merge(self, other: Count) -> None:
        """Add what another has counted."""
        self.calls += other.calls
        self.faults += other.faults
        self.hits += other.hits
        self.seconds += other.seconds
        self.last = max(self.last, other.last)
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        self.lengths.extend(other.lengths)
        if other.buckets:
            self.buckets = [
                one + more for one, more in zip(self.buckets or new_histogram(), other.buckets, strict=True)
            ]

    @property
    def mean(self) -> float:
        """Seconds of a call, of the newest; 0 before the first."""
        return sum(self.lengths) / len(self.lengths) if self.lengths else 0.0

    @property
    def slow(self) -> float:
        """Seconds within which 95 of 100 of the newest calls ended (nearest rank); 0 before the first."""
        ranked = sorted(self.lengths)
        return ranked[-(-95 * len(ranked) // 100) - 1] if ranked else 0.0


def new_histogram() -> list[int]:
    """Buckets in which nothing is yet."""
    return [0] * (len(LATENCY_BOUNDS) + 1)


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


@dataclass(frozen=True, slots=True)
class CallerLimits:
    """How much this server lets its callers ask for, as resources tell it; 0 is without a limit."""

    per_minute: int = 0
    """Calls of a tenant."""
    per_day: int = 0
    """Calls of a tenant for which somebody was asked."""
    server_per_second: int = 0
    """Requests of all."""


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


MOST_COUNTS = 10_000
"""Tools of tenants that are counted; beyond them the one that was called longest ago is forgotten."""
TENANT_RECENT = 100
"""Calls of one tenant and tool whose length is remembered."""


class TenantCounts:
    """How the calls of each tenant went, tool by tool."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[str, str], Count] = OrderedDict()

    def add(
        self, owner: str, tool: str, seconds: float, fault: Fault | None = None, *, at: float, hits: int = 0
    ) -> None:
        """One more call of an owner, as in `Count.add`; `hits` is 1 where the answer had been kept."""
        key = (split_owner(owner)[0], tool)
        count = self._counts.get(key)
        if count is None:
            count = self._counts[key] = Count(lengths=deque(maxlen=TENANT_RECENT), buckets=new_histogram())
            if len(self._counts) > MOST_COUNTS:
                self._counts.popitem(last=False)
        else:
            self._counts.move_to_end(key)
        count.add(seconds, fault, at=at)
        count.hits += hits

    def sum(self) -> dict[str, Count]:
        """All calls of each tenant, with the lengths of the newest of each tool."""
        sums: dict[str, Count] = {}
        for (tenant, _), count in tuple(self._counts.items()):
            sums.setdefault(tenant, Count()).merge(count)
        return sums

    def of(self, tenant: str, tool: str) -> Count:
        """What was counted; nothing yet for whoever is not there."""
        return self._counts.get((tenant, tool)) or Count()


# --- Calls that failed, a short row a tenant, so that one with many failures pushes out nobody else's -----------------


MOST_FAILED = 50
"""Failed calls of a tenant that are remembered (the tool contract's figure)."""
FAILING_TENANTS = 500
"""Tenants of which they are; beyond them those of the one that failed longest ago are forgotten."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that failed: when, whose, of which tool, and how.

    `kind` is the word that clients know and `reason` the finer kind of the fault; `message` may quote what was asked.
    """

    at: float
    owner: str
    tool: str
    kind: str
    reason: str
    provider: str
    message: str


class Failures:
    """The newest failed calls of each tenant."""

    def __init__(self) -> None:
        self._rows: OrderedDict[str, deque[Failed]] = OrderedDict()

    def add(self, failed: Failed) -> None:
        """One more."""
        tenant = split_owner(failed.owner)[0]
        row = self._rows.pop(tenant, None)
        self._rows[tenant] = row = deque(maxlen=MOST_FAILED) if row is None else row
        row.appendleft(failed)
        if len(self._rows) > FAILING_TENANTS:
            self._rows.popitem(last=False)

    def clear(self) -> None:
        """Forget all of them."""
        self._rows = OrderedDict()

    def of(self, tenant: str) -> Sequence[Failed]:
        """Those of one tenant, the newest first."""
        return tuple(self._rows.get(tenant, ()))

    def newest(self) -> Sequence[Failed]:
        """Those of all tenants together, the newest first, as many as of one."""
        merged = heapq.merge(*self._rows.values(), key=lambda failed: -failed.at)
        return tuple(itertools.islice(merged, MOST_FAILED))


def next_midnight(now: float) -> float:
    """When the day of UTC ends, in seconds since the epoch."""
    return (now // DAY + 1) * DAY
