"""How often and how many at once: a limiter that keeps calls to an upstream as polite as its spec says."""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections import deque
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from .dataclasses import dataclass
from .faults import Fault
from .lazy import LateModule

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LateModule("asyncio")

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from contextlib import AbstractAsyncContextManager


_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {
    "B": 1, "kB": 1000, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3,
}  # fmt: skip
_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,9})?"
_RATE = re.compile(rf"({_NUMBER})\s*+/\s*+(?:({_NUMBER})\s*+)?([a-z]+)")
_QUANTITY = re.compile(rf"({_NUMBER})\s*([A-Za-z]+)")

_TICK = 1e-6
"""Seconds below which a wait is over: clocks and sums of floats are no finer."""

_MOST_REMEMBERED = 10_000
"""Starts that are remembered at most; a larger count is kept as the same rate over a shorter time."""


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `count` starts in any `per` seconds."""

    count: float
    per: float

    def __post_init__(self) -> None:
        if not (0 < self.count < math.inf and 0 < self.per < math.inf):
            raise ValueError(f"a rate needs a count and a time above zero, got {self.count:g} in {self.per:g} s")


def parse_rate(text: str) -> Rate:
    """The rate that `3/s`, `10/min`, `1/2s` or `100/d` means."""
    found = _RATE.fullmatch(text.strip())
    if found is None or found[3] not in _SECONDS:
        raise ValueError(
            f"{text!r} is not a rate: write a count, a slash and a time, such as 3/s, 10/min, 1/2s or 100/d"
        )
    count, per = float(found[1]), float(found[2] or 1) * _SECONDS[found[3]]
    if count == 0 or per == 0:
        raise ValueError(f"the rate {text!r} would never let a call through: both numbers must be above zero")
    return Rate(count, per)


def parse_duration(text: str) -> float:
    """The seconds that `250ms`, `90s`, `15m`, `1h` or `1d` means."""
    found = _QUANTITY.fullmatch(text.strip())
    if found is None or found[2] not in _SECONDS:
        raise ValueError(f"{text!r} is not a duration: write a number and a unit, such as 250ms, 90s, 15m, 1h or 1d")
    return float(found[1]) * _SECONDS[found[2]]


def parse_size(text: str) -> int:
    """The bytes that `512KiB`, `2MB` or `5MiB` means."""
    found = _QUANTITY.fullmatch(text.strip())
    if found is None or found[2] not in _BYTES:
        raise ValueError(f"{text!r} is not a size: write a number and a unit, such as 512KiB, 2MB or 5MiB")
    return int(float(found[1]) * _BYTES[found[2]])


class Limiter:
    """Lets callers through in the order they came, within a rate and a number at once."""

    def __init__(
        self,
        rate: Rate | None,
        concurrency: int | None,
        *,
        name: str = "",
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        if concurrency is not None and concurrency < 1:
            raise ValueError(f"a limit of {concurrency} calls at once would never let a call through: give 1 or more")
        self._name = name
        self._clock = clock
        self._sleep = sleep or _sleep
        self._starts: deque[float] = deque()
        self._changed: asyncio.Future[None] | None = None
        """Resolved where the rate changes while the first of the queue waits for it."""
        self.set_rate(rate)
        self._places = concurrency
        self._queue: deque[asyncio.Future[None]] = deque()
        """One future a waiter; the first is resolved and is the only one that looks at places and times."""
        self._vacancy: asyncio.Future[None] | None = None
        self._paused_until = -math.inf

    def set_rate(self, rate: Rate | None) -> None:
        """Go at this rate from now on: places stay taken, earlier starts count, and who waits is told when it comes."""
        # Starts are remembered, no bucket is refilled: a bucket lets twice the count through in its first window.
        whole = min(max(1, math.floor(rate.count)), _MOST_REMEMBERED) if rate else 0
        self._window = rate.per * whole / rate.count if rate else 0.0
        self._starts = deque(self._starts, whole)
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)

    def slot(self, max_wait: float) -> AbstractAsyncContextManager[None]:
        """A place and a start within `max_wait` seconds, or a `rate_limited` fault, at once where it is foreseeable."""
        return _Slot(self, max_wait)

    async def enter(self, max_wait: float) -> None:
        """Take a place and a start, as `slot` does; `leave` gives the place back."""
        now = self._clock()
        wait = self._wait_of(len(self._queue), now)
        if wait > max_wait + _TICK:
            raise self._refusal(wait)
        if not self._queue and wait <= _TICK and self._places != 0:
            self._take()
            return
        deadline = now + max_wait
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._call_first()
        try:
            await self._until(turn, deadline)
            while self._places == 0:
                self._vacancy = asyncio.get_running_loop().create_future()
                await self._until(self._vacancy, deadline)
            while (wait := self._wait_of(0, self._clock())) > _TICK:
                if self._clock() + wait > deadline + _TICK:
                    raise self._refusal(wait)
                self._changed = asyncio.get_running_loop().create_future()
                await self._first_of(self._changed, wait)
            # Nothing is taken before this line, so whoever is cancelled above has nothing to give back.
            self._take()
        finally:
            self._queue.remove(turn)
            self._call_first()

    def _take(self) -> None:
        if self._starts.maxlen:
            self._starts.append(self._clock())
        if self._places is not None:
            self._places -= 1

    def pause(self, seconds: float) -> None:
        """Let nobody start for so many seconds; a longer pause stays as it is."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def leave(self) -> None:
        """Give a place back."""
        if self._places is not None:
            self._places += 1
        if self._vacancy is not None and not self._vacancy.done():
            self._vacancy.set_result(None)

    def _call_first(self) -> None:
        if self._queue and not self._queue[0].done():
            self._queue[0].set_result(None)

    def _wait_of(self, ahead: int, now: float) -> float:
        """Seconds until the rate lets a caller start who has `ahead` others before it."""
        size = self._starts.maxlen
        pause = max(0.0, self._paused_until - now)
        if not size:
            return pause
        rounds, position = divmod(ahead, size)
        index = len(self._starts) - size + position
        wait = max(0.0, self._starts[index] + self._window - now) if index >= 0 else 0.0
        return max(wait, pause) + rounds * self._window

    async def _until(self, event: asyncio.Future[None], deadline: float) -> None:
        """Return once the event has come, or raise the fault when the deadline is first."""
        if event.done():
            return
        left = deadline - self._clock()
        if left <= 0:
            raise self._refusal(self._wait_of(len(self._queue), self._clock()))
        await self._first_of(event, left)
        if not event.done() or event.cancelled():
            raise self._refusal(self._wait_of(len(self._queue), self._clock()))

    async def _first_of(self, event: asyncio.Future[None], seconds: float) -> None:
        """Return once the event has come, or so many seconds are over."""
        if self._sleep is _sleep:
            # The loop's own timer: a task for it costs more than all else here. Nobody else waits for this event.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event
        else:
            timer = asyncio.ensure_future(self._sleep(seconds))
            try:
                await asyncio.wait((event, timer), return_when=asyncio.FIRST_COMPLETED)
            finally:
                timer.cancel()

    def _refusal(self, wait: float) -> Fault:
        return refuse_start(self._name, wait)


def refuse_start(name: str, wait: float) -> Fault:
    """The fault of a call to an upstream of that name that could start in so many seconds only."""
    seconds = max(1, math.ceil(wait - _TICK))
    who = f"calls to {name}" if name else "calls to this upstream"
    return Fault(
        "rate_limited",
        f"The limit for {who} is reached; try again in {seconds} s.",
        provider=name,
        retry_after=seconds,
        ours=True,
    )


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


class _Slot:
    """A place for as long as a block lasts."""

    __slots__ = ("_limiter", "_max_wait")

    def __init__(self, limiter: Limiter, max_wait: float) -> None:
        self._limiter = limiter
        self._max_wait = max_wait

    async def __aenter__(self) -> None:
        await self._limiter.enter(self._max_wait)

    async def __aexit__(self, *_: object) -> None:
        self._limiter.leave()


class Pacer:
    """Turns for requests under two limits that hold for one start: a rate over all, and a gap between two of a kind.

    A kind in `gaps` wants more than the common gap, and one request at a time.
    """

    def __init__(
        self,
        per_second: int,
        at_once: int,
        gap: float,
        gaps: Mapping[str, float],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        self._at_once, self._gap, self._gaps = at_once, gap, gaps
        self._clock, self._sleep = clock, sleep or _sleep
        self._starts: deque[float] = deque(maxlen=per_second)
        self._last: dict[str, float] = {}
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()
        self.waiting = 0
        """Those who have a turn or wait for one."""

    @asynccontextmanager
    async def turn(self, kind: str) -> AsyncIterator[None]:
        """Wait until a request of a kind may start."""
        self.waiting += 1
        try:
            # Who waits for a kind of one at a time keeps no place from those of another.
            async with self._slot(kind, 1) if kind in self._gaps else nullcontext(), self._slot("", self._at_once):
                await self._wait(kind)
                yield
        finally:
            self.waiting -= 1

    async def _wait(self, kind: str) -> None:
        now = self._clock()
        start = max(now, self._last.get(kind, -math.inf) + self._gaps.get(kind, self._gap))
        if len(self._starts) == self._starts.maxlen:
            start = max(start, self._starts[0] + 1.0)
        # The turn is taken before it is waited for, so that two calls never share one. A kind that has to wait long
        # would push later starts behind it, so starts are kept in order.
        self._last[kind] = start
        self._starts.append(start)
        self._starts = deque(sorted(self._starts), self._starts.maxlen)
        if start > now:
            await self._sleep(start - now)

    def _slot(self, kind: str, most: int) -> asyncio.Semaphore:
        slots = self._slots.setdefault(asyncio.get_running_loop(), {})
        return slots.setdefault(kind, asyncio.Semaphore(most))
