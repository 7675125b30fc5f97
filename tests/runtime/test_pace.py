"""A pace that processes keep together: in order, in time or refused at once, and kept alone where nothing is shared."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import ClassVar

import pytest

from specloom.core import BackplaneError, Fault, Limiter, Rate
from specloom.runtime.pace import GONE, LONGEST_GONE, SharedPace
from specloom.storage.backplane_local import LocalCounters
from tests.support.clock import Clock


def make_sleep(clock: Clock) -> Callable[[float], Awaitable[None]]:
    """Sleeping that moves the clock of all."""

    async def sleep(seconds: float) -> None:
        clock.now += seconds
        await asyncio.sleep(0)

    return sleep


def make(clock: Clock, counters: object, rate: Rate, concurrency: int | None = None) -> SharedPace:
    """One of the processes, whose sleeping moves the clock of all."""

    sleep = make_sleep(clock)
    limiter = Limiter(rate, concurrency, name="Demo", clock=clock, sleep=sleep)
    return SharedPace(limiter, counters, rate, key="demo", name="Demo", clock=clock, sleep=sleep)  # type: ignore[arg-type]


async def enter(pace: SharedPace, clock: Clock, started: list[float], max_wait: float = 60.0) -> None:
    async with pace.slot(max_wait):
        started.append(clock.now)


async def test_two_processes_start_no_more_together_than_one_may(clock: Clock) -> None:
    counters, began, started = LocalCounters(clock), clock.now, list[float]()
    paces = [make(clock, counters, Rate(2, 1.0)) for _ in range(2)]

    for _ in range(3):
        for pace in paces:
            await enter(pace, clock, started)

    assert [round(at - began, 1) for at in started] == [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]


async def test_who_could_not_start_in_time_is_refused_at_once_with_when_to_come_back(clock: Clock) -> None:
    counters, began = LocalCounters(clock), clock.now
    one, other = (make(clock, counters, Rate(1, 30.0)) for _ in range(2))
    await enter(one, clock, [])

    with pytest.raises(Fault) as caught:
        await enter(other, clock, [], max_wait=10.0)

    assert (caught.value.kind, caught.value.retry_after, caught.value.ours) == ("rate_limited", 30, True)
    assert clock.now == began
    assert "Demo" in caught.value.message


async def test_a_place_is_given_back_by_who_was_refused(clock: Clock) -> None:
    counters = LocalCounters(clock)
    one, other = make(clock, counters, Rate(1, 30.0)), make(clock, counters, Rate(1, 30.0), concurrency=1)
    await enter(one, clock, [])
    for _ in range(2):
        with pytest.raises(Fault):
            await enter(other, clock, [], max_wait=1.0)
    clock.now += 31

    started: list[float] = []
    await enter(other, clock, started)
    assert len(started) == 1


async def test_a_large_count_is_the_same_rate_over_a_shorter_time(clock: Clock) -> None:
    counters, began, started = LocalCounters(clock), clock.now, list[float]()
    pace = make(clock, counters, Rate(1280, 1280.0))
    for _ in range(129):
        await enter(pace, clock, started, max_wait=200.0)

    assert started[127] == began
    assert started[128] - began == pytest.approx(128.0, abs=0.01)


async def test_a_fast_pace_is_spread_over_time(clock: Clock) -> None:
    counters, began, started = LocalCounters(clock), clock.now, list[float]()
    paces = [make(clock, counters, Rate(20, 1.0)) for _ in range(4)]
    for at in range(42):
        await enter(paces[at % 4], clock, started)

    assert started[1] == began
    assert started[2] - began == pytest.approx(0.05, abs=0.005)
    assert all(after - before > 0.99 for before, after in zip(started, started[22:], strict=False))
    assert started[41] - began < 2.2


async def test_where_the_counters_are_gone_a_process_keeps_the_pace_by_itself_and_tries_again(clock: Clock) -> None:
    class Gone(LocalCounters):
        asked: ClassVar[list[float]] = []

        async def start(self, key: str, *, count: int, per: float) -> float:
            self.asked.append(clock.now)
            raise BackplaneError("gone")

    counters, began, started = Gone(clock), clock.now, list[float]()
    pace = make(clock, counters, Rate(1, 1.0))
    for _ in range(60):
        await enter(pace, clock, started)

    assert [round(at - began, 1) for at in started] == [float(second) for second in range(60)]
    between = [round(after - before, 1) for before, after in pairwise(counters.asked)]
    assert between[:6] == [1.0, 1.0, 1.0, 1.0, 2.0, 4.0]
    assert set(between[6:]) == {LONGEST_GONE}


async def test_counters_that_were_late_once_are_asked_again_at_once(clock: Clock) -> None:
    class Late(LocalCounters):
        is_late = True
        asked = 0

        async def take(self, key: str, *, per: float, burst: int, cost: int = 1) -> float:
            self.asked += 1
            if self.is_late:
                raise BackplaneError("late")
            return await super().take(key, per=per, burst=burst, cost=cost)

    counters, started = Late(clock), list[float]()
    pace = make(clock, counters, Rate(20, 1.0))
    for _ in range(6):
        await enter(pace, clock, started)
    assert counters.asked == 1
    counters.is_late = False
    clock.now += GONE
    for is_late in (False, True, False):
        counters.is_late, asked = is_late, counters.asked
        await enter(pace, clock, started)
        assert counters.asked == asked + 1
        clock.now += GONE


async def test_a_pace_that_is_learned_holds_for_all_without_giving_up_a_place(clock: Clock) -> None:
    counters, began, started = LocalCounters(clock), clock.now, list[float]()
    learning, other = make(clock, counters, Rate(1, 10.0), concurrency=1), make(clock, counters, Rate(1, 10.0))
    async with learning.slot(60.0):
        learning.set_rate(Rate(1, 2.0))
        other.set_rate(Rate(1, 2.0))
        with pytest.raises(Fault):
            await enter(learning, clock, [], max_wait=0.0)

    await enter(learning, clock, started)
    await enter(other, clock, started)

    assert [round(at - began, 1) for at in started] == [2.0, 4.0]


async def test_a_pace_may_be_learned_where_there_was_none(clock: Clock) -> None:
    counters, began, started = LocalCounters(clock), clock.now, list[float]()
    limiter = Limiter(None, 1, name="Demo", clock=clock, sleep=make_sleep(clock))
    pace = SharedPace(limiter, counters, None, key="demo", name="Demo", clock=clock, sleep=make_sleep(clock))
    for _ in range(3):
        await enter(pace, clock, started)
    assert started == [began] * 3

    pace.set_rate(Rate(1, 2.0))
    for _ in range(2):
        await enter(pace, clock, started)

    assert round(started[-1] - began, 1) == 2.0
