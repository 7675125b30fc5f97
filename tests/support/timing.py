"""Bounds of time on a machine that others use too: it can hold up an attempt, and a fault of ours holds up each."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable

TRIES = 6


def soonest(attempt: Callable[[], float], within: float) -> float:
    """The seconds of the first attempt that took less than `within`, or the fewest that one of all took.

    Whatever else is a matter of time can stand for the seconds.
    """
    best = math.inf
    for _ in range(TRIES):
        best = min(best, attempt())
        if best < within:
            break
    return best


async def soonest_of(attempt: Callable[[], Awaitable[float]], within: float) -> float:
    """The same of attempts that are awaited."""
    best = math.inf
    for _ in range(TRIES):
        best = min(best, await attempt())
        if best < within:
            break
    return best
