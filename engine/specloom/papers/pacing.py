"""How fast upstreams are asked: at most five starts in a second, and a gap between two to one source, for all calls."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import MappingProxyType
from weakref import WeakKeyDictionary

from .codes import Refusal

PER_SECOND = 5.0
GAP = 0.2
AT_ONCE = 5
QUEUE = 100
"""Calls that may wait for their turn; one more is refused."""

GAPS: Mapping[str, float] = MappingProxyType({"arxiv": 3.0})
"""Sources that ask for more than the common gap, in seconds, and for one connection at a time."""


class Pacer:
    """Turns for requests. Clock and sleep are arguments, so that no test waits."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._starts: deque[float] = deque(maxlen=int(PER_SECOND))
        self._last: dict[str, float] = {}
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()
        self._waiting = 0

    @contextlib.asynccontextmanager
    async def turn(self, source: str) -> AsyncIterator[None]:
        """Wait until `source` may be asked; RATE_LIMITED when a hundred calls are waiting already."""
        if self._waiting >= QUEUE + AT_ONCE:
            raise Refusal(
                "RATE_LIMITED",
                f"{self._waiting} requests wait for their turn already, so {source} is not asked (cap {QUEUE}).",
                denial={"reason": "rate_limit_window", "source": source, "cap": QUEUE},
            )
        self._waiting += 1
        try:
            # Who waits for a source of one connection keeps no place from those who ask another.
            async with self._slot(source, 1) if source in GAPS else contextlib.nullcontext(), self._slot("", AT_ONCE):
                await self._wait(source)
                yield
        finally:
            self._waiting -= 1

    async def _wait(self, source: str) -> None:
        now = self._clock()
        start = max(now, self._last.get(source, float("-inf")) + GAPS.get(source, GAP))
        if len(self._starts) == self._starts.maxlen:
            start = max(start, self._starts[0] + 1.0)
        # The turn is taken before it is waited for, so that two calls never share one. A source that has to wait long
        # would push later starts behind it, so starts are kept in order.
        self._last[source] = start
        self._starts.append(start)
        ordered = sorted(self._starts)
        self._starts.clear()
        self._starts.extend(ordered)
        if start > now:
            await self._sleep(start - now)

    def _slot(self, source: str, most: int) -> asyncio.Semaphore:
        slots = self._slots.setdefault(asyncio.get_running_loop(), {})
        return slots.setdefault(source, asyncio.Semaphore(most))


SHARED = Pacer()
"""The turns of this process."""


def turn(source: str, *, live: bool = True) -> contextlib.AbstractAsyncContextManager[None]:
    """A turn of the pacer that all calls share; at once where nobody is really asked (`live` is false)."""
    return SHARED.turn(source) if live else contextlib.nullcontext()
