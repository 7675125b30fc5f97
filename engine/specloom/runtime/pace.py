"""The pace of a provider where several processes keep it together: what each may start is asked of shared counters."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from specloom.core import MOST_STARTS, BackplaneError, Counters, Limiter, Rate, refuse_start
from specloom.core.lazy import LateModule

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LateModule("asyncio")

SPACED = 0.1
"""Seconds between two starts up to which they are spread over time, and within which some may still come together.

What is let through at once arrives spread by what the network and busy processes add, and one burst then runs into the
next: four processes that each take their part of 20 a second at its beginning are seen as 35 in some second. What is
slower than that is counted instead: who may ask ten times a minute does not wait six seconds for the second time.
"""
GONE, LONGEST_GONE = 0.1, 5.0
"""Seconds for which counters that could not be reached are left alone, and the process keeps the pace by itself: at
first, and at most. They double from one failure to the next. A busy machine answers late for a moment; were a process
on its own for seconds then, four of them would send four times what the provider allows.
"""
SLACK = 0.002
"""Seconds by which a wait is longer than told, so that clocks that differ a little make nobody ask twice."""


class SharedPace:
    """A limiter whose rate holds over all who share the counters; places at once are each process's own."""

    def __init__(
        self,
        limiter: Limiter,
        counters: Counters,
        rate: Rate | None,
        *,
        key: str,
        name: str,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        """`limiter` has the same rate: it keeps the order, and the pace where the counters cannot be reached."""
        self._limiter, self._counters, self._key, self._name = limiter, counters, key, name
        self._adopt(rate)
        self._clock, self._sleep = clock, sleep or _sleep
        self._turn: asyncio.Lock | None = None
        self._alone_until = -math.inf
        self._alone_for = GONE

    def set_rate(self, rate: Rate | None) -> None:
        """Go at this rate from now on; places and the order of who waits stay as they are."""
        self._adopt(rate)
        self._limiter.set_rate(rate)

    def _adopt(self, rate: Rate | None) -> None:
        self._interval = rate.per / rate.count if rate else 0.0
        self._count = min(max(1, math.floor(rate.count)), MOST_STARTS) if rate else 0
        self._window = self._interval * self._count

    def pause(self, seconds: float) -> None:
        """Let nobody of this process start for so many seconds."""
        self._limiter.pause(seconds)

    @asynccontextmanager
    async def slot(self, max_wait: float) -> AsyncIterator[None]:
        """A place and a start within `max_wait` seconds, or a `rate_limited` fault, as `Limiter.slot` gives it."""
        deadline = self._clock() + max_wait
        async with self._limiter.slot(max_wait):
            await self._start(deadline)
            yield

    async def _start(self, deadline: float) -> None:
        if self._turn is None:
            self._turn = asyncio.Lock()
        # One of this process asks at a time, so that those behind it stay in their order.
        async with self._turn:
            while (wait := await self._ask()) > 0.0:
                if self._clock() + wait > deadline:
                    raise refuse_start(self._name, wait)
                await self._sleep(wait + SLACK)

    async def _ask(self) -> float:
        if not self._count or self._clock() < self._alone_until:
            return 0.0
        try:
            if self._interval <= SPACED:
                together = math.floor(SPACED / self._interval)
                wait = await self._counters.take(self._key, per=self._interval, burst=together)
            else:
                wait = await self._counters.start(self._key, count=self._count, per=self._window)
        except BackplaneError:
            self._alone_until = self._clock() + self._alone_for
            self._alone_for = min(2 * self._alone_for, LONGEST_GONE)
            return 0.0
        self._alone_for = GONE
        return wait


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)
