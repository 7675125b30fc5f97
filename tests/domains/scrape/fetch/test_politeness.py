"""Turns are fair to tenants, gentle to hosts, and not held by hosts that hang; time here is made by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import pytest

from specloom.core.faults import Fault
from specloom.domains.scrape.fetch.politeness import Bounds, Politeness, is_own, read_retry_after


@dataclass
class Timer:
    at: float
    call: Callable[[], None]
    off: bool = False

    def cancel(self) -> None:
        self.off = True


@dataclass
class Time:
    """A clock that only moves when it is told to, and calls what is due."""

    now: float = 100.0
    timers: list[Timer] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def later(self, delay: float, call: Callable[[], None]) -> Timer:
        timer = Timer(self.now + delay, call)
        self.timers.append(timer)
        return timer

    async def pass_by(self, seconds: float) -> None:
        end = self.now + seconds
        while due := sorted((timer for timer in self.timers if not timer.off and timer.at <= end), key=lambda t: t.at):
            self.now = max(self.now, due[0].at)
            due[0].off = True
            due[0].call()
            await settle()
        self.now = end


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class Crowd:
    """Readers that take turns and hold them until they are told to end."""

    def __init__(self, politeness: Politeness) -> None:
        self.politeness = politeness
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def add(self, name: str, host: str, **turn: object) -> None:
        self._ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._hold(name, host, turn))
        await settle()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await settle()

    async def cancel(self, name: str) -> None:
        self.tasks[name].cancel()
        await settle()

    async def close(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)

    async def _hold(self, name: str, host: str, turn: dict) -> None:
        async with self.politeness.turn(host, **turn):
            self.begun.append(name)
            await self._ends[name].wait()


class Scene:
    def __init__(self, **bounds: float) -> None:
        self.time = Time()
        self.politeness = Politeness(
            Bounds(**({"spacing": 0.0} | bounds)), clock=self.time.clock, later=self.time.later
        )
        self.crowd = Crowd(self.politeness)

    async def __aenter__(self) -> Scene:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.crowd.close()


async def test_a_third_request_to_a_host_waits_and_another_host_does_not() -> None:
    async with Scene() as scene:
        for name in ("a1", "a2", "a3"):
            await scene.crowd.add(name, "a.example")
        await scene.crowd.add("b1", "b.example")
        before = list(scene.crowd.begun)
        await scene.crowd.end("a1")

    assert before == ["a1", "a2", "b1"]
    assert scene.crowd.begun == ["a1", "a2", "b1", "a3"]


async def test_starts_at_one_host_keep_their_distance() -> None:
    async with Scene(spacing=0.5, host=5) as scene:
        for name in ("1", "2", "3"):
            await scene.crowd.add(name, "a.example")
        at_once = list(scene.crowd.begun)
        await scene.time.pass_by(0.49)
        early = list(scene.crowd.begun)
        await scene.time.pass_by(0.02)
        second = list(scene.crowd.begun)
        await scene.time.pass_by(0.5)

    assert (at_once, early, second) == (["1"], ["1"], ["1", "2"])
    assert scene.crowd.begun == ["1", "2", "3"]


async def test_the_next_hop_on_the_same_host_keeps_no_distance_and_forgets_none() -> None:
    async with Scene(spacing=5.0, host=5) as scene:
        await scene.crowd.add("1", "a.example")
        await scene.crowd.add("hop", "a.example", follows=True, spacing=0.0)
        await scene.crowd.add("2", "a.example")
        before = list(scene.crowd.begun)
        await scene.time.pass_by(5.1)

    assert (before, scene.crowd.begun) == (["1", "hop"], ["1", "hop", "2"])


async def test_a_site_may_ask_for_a_longer_distance() -> None:
    async with Scene(host=5) as scene:
        await scene.crowd.add("1", "a.example", spacing=10.0)
        await scene.crowd.add("2", "a.example")
        await scene.time.pass_by(9.0)
        before = list(scene.crowd.begun)
        await scene.time.pass_by(1.1)

    assert (before, scene.crowd.begun) == (["1"], ["1", "2"])


async def test_the_own_machine_has_no_limit_of_its_own() -> None:
    async with Scene(spacing=9.0) as scene:
        for number in range(8):
            await scene.crowd.add(str(number), "127.0.0.1")

    assert len(scene.crowd.begun) == 8


async def test_hanging_hosts_give_their_places_back() -> None:
    async with Scene(fast=2) as scene:
        await scene.crowd.add("hang1", "a.example")
        await scene.crowd.add("hang2", "b.example")
        await scene.crowd.add("good", "c.example")
        before = list(scene.crowd.begun)
        await scene.time.pass_by(2.1)
        after = list(scene.crowd.begun)
        # Whoever stepped aside has no place left to give back.
        await scene.crowd.end("hang1")
        await scene.crowd.end("hang2")
        for number in range(4):
            await scene.crowd.add(f"late{number}", f"{number}.example")

    assert before == ["hang1", "hang2"]
    assert after == ["hang1", "hang2", "good"]
    assert scene.crowd.begun[3:] == ["late0"]


async def test_the_waiting_room_is_bounded() -> None:
    async with Scene(fast=1) as scene:
        for number in range(8):
            await scene.crowd.add(str(number), f"{number}.example")
            await scene.time.pass_by(2.1)

    assert len(scene.crowd.begun) == 5


async def test_a_browser_page_keeps_its_place_however_long_it_takes() -> None:
    async with Scene(browser=1) as scene:
        await scene.crowd.add("1", "a.example", lane="browser")
        await scene.crowd.add("2", "b.example", lane="browser")
        await scene.crowd.add("plain", "c.example")
        await scene.time.pass_by(60)

    assert scene.crowd.begun == ["1", "plain"]


async def test_tenants_come_in_turn_however_much_one_of_them_wants() -> None:
    async with Scene(fast=1) as scene:
        await scene.crowd.add("first", "0.example", owner="greedy")
        for number in range(4):
            await scene.crowd.add(f"greedy{number}", f"g{number}.example", owner="greedy")
        for number in range(2):
            await scene.crowd.add(f"modest{number}", f"m{number}.example", owner="modest")
        for _ in range(6):
            await scene.crowd.end(scene.crowd.begun[-1])

    assert scene.crowd.begun[1:5] == ["greedy0", "modest0", "greedy1", "modest1"]


async def test_a_tenant_has_no_more_places_than_it_may() -> None:
    async with Scene(fast=4, tenant=1) as scene:
        await scene.crowd.add("a1", "1.example", owner="a")
        await scene.crowd.add("a2", "2.example", owner="a")
        await scene.crowd.add("b1", "3.example", owner="b")

    assert scene.crowd.begun == ["a1", "b1"]


async def test_whoever_gives_up_waiting_leaves_no_hole() -> None:
    async with Scene(fast=1) as scene:
        for name in ("1", "2", "3"):
            await scene.crowd.add(name, f"{name}.example")
        await scene.crowd.cancel("2")
        await scene.crowd.end("1")
        middle = list(scene.crowd.begun)
        await scene.crowd.cancel("3")
        await scene.crowd.add("4", "4.example")

    assert middle == ["1", "3"]
    assert scene.crowd.begun == ["1", "3", "4"]


async def test_giving_up_in_the_very_moment_of_being_let_in_leaves_no_hole() -> None:
    async with Scene(fast=1) as scene:
        go = asyncio.Event()

        async def leave_and_cancel() -> None:
            async with scene.politeness.turn("1.example"):
                await go.wait()
            # The place has gone to the second one, which has not been told yet.
            scene.crowd.tasks["2"].cancel()

        first = asyncio.create_task(leave_and_cancel())
        await settle()
        await scene.crowd.add("2", "2.example")
        go.set()
        await first
        await settle()
        await scene.crowd.add("3", "3.example")

    assert scene.crowd.begun == ["3"]


async def test_a_host_that_asked_for_a_short_rest_is_waited_for() -> None:
    async with Scene() as scene:
        scene.politeness.note("a.example", 429, "2", now=0)
        await scene.crowd.add("1", "a.example")
        before = list(scene.crowd.begun)
        await scene.time.pass_by(2.01)

    assert (before, scene.crowd.begun) == ([], ["1"])


async def test_a_host_that_asked_for_a_long_rest_is_left_alone_and_the_caller_told() -> None:
    async with Scene() as scene:
        scene.politeness.note("a.example", 503, "90", now=0)
        async with AsyncExitStack() as stack:
            with pytest.raises(Fault) as caught:
                await stack.enter_async_context(scene.politeness.turn("a.example"))
        await scene.time.pass_by(91)
        await scene.crowd.add("1", "a.example")

    assert (caught.value.kind, caught.value.retry_after) == ("rate_limited", 90)
    assert scene.crowd.begun == ["1"]


@pytest.mark.parametrize(("status", "said"), [(200, "90"), (404, "90"), (429, ""), (429, "soon"), (429, "-3")])
async def test_nothing_is_remembered_without_a_reason(status: int, said: str) -> None:
    async with Scene() as scene:
        scene.politeness.note("a.example", status, said, now=0)

        assert scene.politeness.rest_of("a.example") == 0.0


async def test_what_is_remembered_is_bounded_in_time_and_number() -> None:
    async with Scene() as scene:
        for number in range(10_050):
            scene.politeness.note(f"{number}.example", 429, "999999999", now=0)

        assert scene.politeness.rest_of("10049.example") == 3600.0
        assert len(scene.politeness._rests) == 10_000


def test_retry_after_is_a_number_of_seconds_or_a_date() -> None:
    assert read_retry_after(" 7 ", 0) == 7.0
    assert read_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 20.0) == 40.0
    assert read_retry_after("Thu, 01 Jan 1970 00:00:00 GMT", 20.0) == 0.0
    assert read_retry_after("tomorrow", 0) is None
    assert read_retry_after("9" * 4000, 0) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "10.1.2.3", "localhost", "printer.local", "a.internal"])
def test_hosts_of_the_own_network_are_told_by_name_or_address(host: str) -> None:
    assert is_own(host)


@pytest.mark.parametrize("host", ["example.org", "93.184.215.14", "localhost.example", "2606:2800:21f::1"])
def test_other_hosts_are_not(host: str) -> None:
    assert not is_own(host)
