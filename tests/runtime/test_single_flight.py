"""Identical calls in flight share one, and nobody's leaving disturbs the others."""

import asyncio
import gc

import pytest

from specloom.core.faults import Fault
from specloom.runtime.single_flight import Flights


class Upstream:
    """A call that is answered when the test says so."""

    def __init__(self):
        self.calls = 0
        self.cancelled = 0
        self.answer = asyncio.get_running_loop().create_future()

    async def __call__(self, tell):
        self.tell = tell
        self.calls += 1
        try:
            return await asyncio.shield(self.answer)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


async def settle():
    for _ in range(10):
        await asyncio.sleep(0)


async def test_identical_calls_share_one():
    flights, upstream = Flights(), Upstream()
    callers = [asyncio.create_task(flights.run("k", upstream)) for _ in range(5)]
    await settle()

    upstream.answer.set_result("rows")

    assert await asyncio.gather(*callers) == ["rows"] * 5
    assert upstream.calls == 1
    await settle()
    assert len(flights) == 0


async def test_different_keys_do_not_share():
    flights = Flights()

    async def one(_):
        return 1

    async def two(_):
        return 2

    assert await asyncio.gather(flights.run("a", one), flights.run("b", two)) == [1, 2]


async def test_a_later_call_starts_anew():
    flights, upstream = Flights(), Upstream()
    upstream.answer.set_result("rows")

    await flights.run("k", upstream)
    await flights.run("k", upstream)

    assert upstream.calls == 2


async def test_the_first_caller_may_leave_without_harm():
    flights, upstream = Flights(), Upstream()
    first, second = (asyncio.create_task(flights.run("k", upstream)) for _ in range(2))
    await settle()

    first.cancel()
    await settle()
    upstream.answer.set_result("rows")

    assert await second == "rows"
    assert first.cancelled()
    assert upstream.cancelled == 0


async def test_the_call_ends_when_the_last_caller_has_gone():
    flights, upstream = Flights(), Upstream()
    callers = [asyncio.create_task(flights.run("k", upstream)) for _ in range(2)]
    await settle()

    for caller in callers:
        caller.cancel()
    await settle()

    assert upstream.cancelled == 1
    assert len(flights) == 0


async def test_a_newcomer_does_not_join_a_call_that_is_being_cancelled():
    flights, upstream = Flights(), Upstream()
    first = asyncio.create_task(flights.run("k", upstream))
    await settle()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first

    second = asyncio.create_task(flights.run("k", upstream))
    await settle()
    upstream.answer.set_result("rows")

    assert await second == "rows"
    assert upstream.calls == 2


async def test_a_failure_reaches_every_caller():
    flights, upstream = Flights(), Upstream()
    callers = [asyncio.create_task(flights.run("k", upstream)) for _ in range(3)]
    await settle()

    upstream.answer.set_exception(Fault("network", "no answer"))
    got = await asyncio.gather(*callers, return_exceptions=True)

    assert [error.kind for error in got] == ["network"] * 3


async def test_a_failure_that_nobody_waits_for_is_not_reported_as_forgotten():
    reports = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context))
    flights = Flights()

    async def fails_when_cancelled(_):
        try:
            await asyncio.Event().wait()
        finally:
            raise Fault("network", "broken while being closed")

    caller = asyncio.create_task(flights.run("k", fails_when_cancelled))
    await settle()
    caller.cancel()
    await settle()
    gc.collect()

    assert reports == []
    assert len(flights) == 0


async def test_a_shared_call_that_is_broken_off_is_a_fault_and_not_a_cancellation():
    flights = Flights()

    async def broken_off(_):
        raise asyncio.CancelledError

    with pytest.raises(Fault, match="broken off"):
        await flights.run("k", broken_off)


async def test_a_start_that_fails_before_it_awaits_is_delivered():
    def start(_):
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"):
        await Flights().run("k", start)


async def test_everyone_who_waits_is_told_how_far_a_call_is_and_who_comes_later_begins_with_the_last():
    flights, upstream = Flights(), Upstream()
    heard = {"first": [], "late": [], "left": []}

    def wait(name):
        return asyncio.create_task(flights.run("k", upstream, lambda *said: heard[name].append(said)))

    callers = {name: wait(name) for name in ("first", "left")}
    await settle()
    upstream.tell(1, 3, "one")
    callers["left"].cancel()
    await settle()
    callers["late"] = wait("late")
    await settle()
    upstream.tell(2, 3, "two")
    upstream.answer.set_result("rows")
    await asyncio.gather(callers["first"], callers["late"])

    assert heard == {
        "first": [(1, 3, "one"), (2, 3, "two")],
        "late": [(1, 3, "one"), (2, 3, "two")],
        "left": [(1, 3, "one")],
    }


async def test_who_cannot_be_told_takes_the_answer_from_nobody():
    flights, upstream, heard = Flights(), Upstream(), []

    def fails(*said):
        heard.append("failed")
        raise ConnectionError("the client is gone")

    callers = [
        asyncio.create_task(flights.run("k", upstream, one)) for one in (fails, lambda *said: heard.append(said))
    ]
    await settle()
    upstream.tell(1, None, "one")
    upstream.tell(2, None, "two")
    upstream.answer.set_result("rows")

    assert await asyncio.gather(*callers) == ["rows"] * 2
    assert heard == ["failed", (1, None, "one"), (2, None, "two")]
