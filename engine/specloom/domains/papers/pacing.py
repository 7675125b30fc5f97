"""How fast upstreams are asked: at most five starts in a second, and a gap between two to one source, for all calls."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from .errors import DISPOSITIONS, Refusal

if TYPE_CHECKING:
    from specloom.plugins import Context


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


# --- What a paper came to a short while ago, so that asking again at once asks nobody ---------------------------------


LASTING = 600.0
"""Seconds for which an answer that trying again cannot change is given again."""
PASSING = 30.0
"""Seconds for which a failure that may pass is not tried again."""
MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Told:
    refusal: Refusal
    at: float


class Replays:
    """The failures of one process, by paper."""

    def __init__(self) -> None:
        self._told: dict[Hashable, _Told] = {}

    def check(self, key: Hashable, now: float) -> None:
        """Raise what was told lately about a paper; nothing when it may be asked."""
        told = self._told.get(key)
        if told is None:
            return
        refusal, age = told.refusal, now - told.at
        if not 0 <= age < _window(refusal):
            del self._told[key]
            return
        if DISPOSITIONS[refusal.code] == "retry_after":
            left = round((PASSING - age) * 1000)
            message = f"It was asked {age:.0f} seconds ago ({refusal.message}) Wait {left} ms, or use force."
            raise Refusal("RATE_LIMITED", message, retry_after_ms=left, replayed=True)
        raise Refusal(
            refusal.code, refusal.message, denial=refusal.denial, remediation=refusal.remediation, replayed=True
        )

    def note(self, key: Hashable, refusal: Refusal | None, now: float) -> None:
        """Remember how a call ended; a clean end forgets, and the same end keeps its first time."""
        if refusal is None:
            self._told.pop(key, None)
            return
        before = self._told.get(key)
        if before is not None and before.refusal.code == refusal.code and 0 <= now - before.at < _window(refusal):
            return
        if len(self._told) >= MOST:
            self._told.pop(next(iter(self._told)))
        self._told[key] = _Told(refusal, now)


def _window(refusal: Refusal) -> float:
    """Seconds for which a refusal is told again."""
    return PASSING if DISPOSITIONS[refusal.code] == "retry_after" else LASTING


REPLAYS_SHARED = Replays()
"""The failures that this process knows."""

_APART: WeakKeyDictionary[Context, Replays] = WeakKeyDictionary()
"""Per call where nobody is really asked: what one example came to is nothing to the next."""


def known_to(context: Context) -> Replays:
    """The failures that a call knows of: those of the process, or in an example those of the call alone."""
    return REPLAYS_SHARED if context.is_live else _APART.setdefault(context, Replays())
