"""How much each tenant has called today, and how often that was refused because there was too much of it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

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
