"""What processes share keeps its promises, whatever is behind it: one suite, run over every implementation there is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core import MOST_PAYLOAD, Backplane, BackplaneError
from specloom.storage import backplane as shared
from specloom.storage.backplane import SharedCounters, SharedLeases, Slots, open_backplane
from specloom.storage.backplane_local import advance, begin, local_backplane
from specloom.storage.backplane_redis import RedisBus, redis_backplane
from tests.support.clock import Clock
from tests.support.redis_server import RedisServer

Make = Callable[[], Backplane]
SOON = 60.0
"""Seconds that others of this machine may hold up what comes at once."""
IMPLEMENTATIONS = ("in a process", "on a machine", "between machines")


class RedisClock(Clock):
    """A clock by which a Redis server goes too: keys come to their end when the test says that time has passed.

    They come to it by the server's own clock as well, so that tests take times that are long beside a busy moment.
    """

    def __init__(self, server: RedisServer) -> None:
        self._server, self._now = server, 0.0
        super().__init__()

    @property
    def now(self) -> float:
        return self._now

    @now.setter
    def now(self, now: float) -> None:
        if self._now:
            self._server.pass_time(now - self._now)
        self._now = now


@pytest.fixture(params=IMPLEMENTATIONS)
def implementation(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> Clock:
    if "implementation" in request.fixturenames and request.getfixturevalue("implementation") == IMPLEMENTATIONS[2]:
        server: RedisServer = request.getfixturevalue("redis_server")
        server.client.flushall()
        return RedisClock(server)
    return Clock()


@pytest.fixture
async def make(
    implementation: str, request: pytest.FixtureRequest, tmp_path: Path, clock: Clock
) -> AsyncIterator[Make]:
    """Opens one more backplane over the same place; in a process there is one alone."""
    opened: list[Backplane] = []
    waiting: list[Backplane] = []
    if implementation == "between machines":
        server: RedisServer = request.getfixturevalue("redis_server")
        # As many as a test opens at most, since what is told arrives once they are connected.
        waiting = [redis_backplane(server.settings(), pytest.fail, clock=clock) for _ in range(2)]
        for plane in waiting:
            assert isinstance(plane.bus, RedisBus)
            await plane.bus.ready()

    def make() -> Backplane:
        if implementation == "in a process":
            opened[:] = opened or [local_backplane(clock)]
        elif implementation == "on a machine":
            opened.append(open_backplane(tmp_path / "run", pytest.fail, clock=clock))
        else:
            opened.append(waiting.pop())
        return opened[-1]

    yield make
    for plane in [*opened, *waiting]:
        await plane.aclose()


@pytest.fixture
def plane(make: Make) -> Backplane:
    return make()


# --- Limits -----------------------------------------------------------------------------------------------------------


async def test_a_burst_is_taken_at_once_and_then_one_comes_back_at_a_time(plane: Backplane, clock: Clock) -> None:
    taken = [await plane.counters.take("k", per=50.0, burst=3) for _ in range(4)]
    clock.now += 25
    early = await plane.counters.take("k", per=50.0, burst=3)
    clock.now += 25
    later = [await plane.counters.take("k", per=50.0, burst=3) for _ in range(2)]

    assert taken == pytest.approx([0.0, 0.0, 0.0, 50.0], abs=1e-5)
    assert early == pytest.approx(25.0, abs=1e-5)
    assert later == pytest.approx([0.0, 50.0], abs=1e-5)


async def test_a_cost_is_taken_whole_or_not_at_all(plane: Backplane, clock: Clock) -> None:
    assert await plane.counters.take("k", per=60.0, burst=10, cost=8) == 0.0
    assert await plane.counters.take("k", per=60.0, burst=10, cost=5) == pytest.approx(180.0, abs=1e-5)
    assert await plane.counters.take("k", per=60.0, burst=10, cost=2) == 0.0
    with pytest.raises(ValueError, match="can never be taken"):
        await plane.counters.take("k", per=60.0, burst=10, cost=11)


async def test_keys_and_kinds_of_counters_know_nothing_of_each_other(plane: Backplane, clock: Clock) -> None:
    assert await plane.counters.take("k", per=90.0, burst=1) == 0.0
    assert await plane.counters.take("l", per=90.0, burst=1) == 0.0
    assert await plane.counters.start("k", count=1, per=90.0) == 0.0
    assert await plane.counters.add("k", 5, until=clock.now + 90) == 5
    assert await plane.counters.take("k", per=90.0, burst=1) == pytest.approx(90.0, abs=1e-5)


async def test_a_clock_that_is_set_back_stops_nobody_for_longer_than_the_limit_could(
    plane: Backplane, clock: Clock
) -> None:
    for _ in range(2):
        await plane.counters.take("k", per=60.0, burst=2)
        await plane.counters.start("k", count=2, per=120.0)
    clock.now -= 86_400

    assert 0.0 < await plane.counters.take("k", per=60.0, burst=2) <= 60.0
    assert 0.0 < await plane.counters.start("k", count=2, per=120.0) <= 120.0


@given(steps=st.lists(st.tuples(st.floats(0, 3), st.integers(1, 4)), max_size=60), burst=st.integers(4, 8))
def test_no_span_of_time_has_more_than_its_share_and_the_burst(steps: list[tuple[float, int]], burst: int) -> None:
    now, arrival, taken = 1000.0, 0.0, list[tuple[float, int]]()
    for pause, cost in steps:
        now += pause
        arrival, wait = advance(arrival, now, per=0.5, burst=burst, cost=cost)
        if wait == 0.0:
            taken.append((now, cost))
        else:
            # After just that time it is there, and not before.
            assert advance(arrival, now + wait + 1e-5, per=0.5, burst=burst, cost=cost)[1] == 0.0
            assert advance(arrival, now + wait * 0.9 - 1e-5, per=0.5, burst=burst, cost=cost)[1] > 0.0

    for at, (first, _) in enumerate(taken):
        total = 0
        for moment, cost in taken[at:]:
            total += cost
            assert total <= burst + (moment - first) / 0.5 + 1e-6


# --- Paces ------------------------------------------------------------------------------------------------------------


async def test_no_window_has_more_starts_than_its_count(plane: Backplane, clock: Clock) -> None:
    first = [await plane.counters.start("k", count=3, per=100.0) for _ in range(4)]
    clock.now += 40
    second = await plane.counters.start("k", count=3, per=100.0)
    clock.now += 60
    third = [await plane.counters.start("k", count=3, per=100.0) for _ in range(4)]

    assert first == pytest.approx([0.0, 0.0, 0.0, 100.0], abs=1e-5)
    assert second == pytest.approx(60.0, abs=1e-5)
    assert third == pytest.approx([0.0, 0.0, 0.0, 100.0], abs=1e-5)


async def test_a_pace_of_no_starts_or_too_many_is_refused(plane: Backplane) -> None:
    for count in (0, 129):
        with pytest.raises(ValueError, match="cannot be counted"):
            await plane.counters.start("k", count=count, per=1.0)


@given(pauses=st.lists(st.floats(0, 1), max_size=80), count=st.integers(1, 9))
def test_every_window_of_a_pace_holds(pauses: list[float], count: int) -> None:
    now, starts, started = 1000.0, list[float](), list[float]()
    for pause in pauses:
        now += pause
        starts, wait = begin(starts, now, count=count, per=2.0)
        if wait == 0.0:
            started.append(now)

    assert all(after - before >= 2.0 - 1e-5 for before, after in zip(started, started[count:], strict=False))


# --- Sums -------------------------------------------------------------------------------------------------------------


async def test_a_sum_begins_anew_when_its_time_is_over(plane: Backplane, clock: Clock) -> None:
    day = clock.now + 60
    first = [await plane.counters.add("calls", amount, until=day) for amount in (1, 2, -1)]
    clock.now += 61
    again = await plane.counters.add("calls", 1, until=clock.now + 60)

    assert first == [1, 3, 2]
    assert again == 1


async def test_many_at_once_lose_no_count(plane: Backplane, clock: Clock) -> None:
    await asyncio.gather(*(plane.counters.add(f"k{at % 3}", 1, until=clock.now + 60) for at in range(300)))

    assert [await plane.counters.add(f"k{at}", 0, until=clock.now + 60) for at in range(3)] == [100, 100, 100]


async def test_what_is_counted_is_there_for_whoever_comes_later(make: Make, clock: Clock) -> None:
    one, other = make(), make()
    await one.counters.add("k", 2, until=clock.now + 60)
    await one.counters.take("k", per=60.0, burst=1)
    await one.counters.start("k", count=1, per=60.0)

    assert await other.counters.add("k", 1, until=clock.now + 60) == 3
    assert await other.counters.take("k", per=60.0, burst=1) > 0
    assert await other.counters.start("k", count=1, per=60.0) > 0


# --- Leases -----------------------------------------------------------------------------------------------------------


async def test_one_has_a_lease_until_it_is_given_back_or_over(make: Make, clock: Clock) -> None:
    one, other = make(), make()
    held = await one.leases.acquire("flight", 100)
    assert held is not None
    assert await other.leases.acquire("flight", 100) is None
    assert await one.leases.acquire("flight", 100) is None
    elsewhere = await other.leases.acquire("other flight", 100)
    assert elsewhere is not None

    await held.release()
    second = await other.leases.acquire("flight", 100)
    assert second is not None
    clock.now += 101
    third = await one.leases.acquire("flight", 100)

    assert third is not None
    assert held.number < elsewhere.number < second.number < third.number
    assert not await second.renew(100)
    assert await third.renew(100)
    await second.release()
    assert await other.leases.acquire("flight", 100) is None, "a late holder gives nothing back that is another's"


async def test_a_lease_that_is_renewed_lasts(plane: Backplane, clock: Clock) -> None:
    held = await plane.leases.acquire("flight", 100)
    assert held is not None
    clock.now += 60
    assert await held.renew(100)
    clock.now += 60

    assert await plane.leases.acquire("flight", 100) is None
    clock.now += 50
    assert not await held.renew(100)


async def test_one_of_many_at_once_gets_a_lease(plane: Backplane) -> None:
    got = await asyncio.gather(*(plane.leases.acquire("flight", 100) for _ in range(20)))

    assert len([one for one in got if one is not None]) == 1


# --- The bus ----------------------------------------------------------------------------------------------------------


async def test_all_who_listen_are_told_in_order_and_others_nothing(make: Make) -> None:
    one, other = make(), make()
    heard = [one.bus.listen("erased"), other.bus.listen("erased")]
    elsewhere = other.bus.listen("tripped")

    for message in (b"a", b"b"):
        await one.bus.tell("erased", message)
    await one.bus.tell("tripped", b"c")

    async with asyncio.timeout(SOON):
        assert [[await anext(each), await anext(each)] for each in heard] == [[b"a", b"b"]] * 2
        assert await anext(elsewhere) == b"c"
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.01):
            raise AssertionError(await anext(elsewhere))


async def test_a_message_is_as_large_as_the_bound_and_no_larger(make: Make) -> None:
    one, other = make(), make()
    heard = other.bus.listen("t")

    await one.bus.tell("t", bytes(MOST_PAYLOAD))

    async with asyncio.timeout(SOON):
        assert len(await anext(heard)) == MOST_PAYLOAD
    with pytest.raises(ValueError, match="too large"):
        await one.bus.tell("t", bytes(MOST_PAYLOAD + 1))


async def test_who_listens_comes_to_an_end_when_the_bus_is_closed(make: Make) -> None:
    plane = make()
    heard = plane.bus.listen("t")
    waiting = asyncio.ensure_future(anext(heard, None))
    await asyncio.sleep(0)

    await plane.aclose()

    async with asyncio.timeout(SOON):
        assert await waiting is None


async def test_who_reads_too_slowly_misses_the_oldest_and_holds_nobody(plane: Backplane) -> None:
    heard = plane.bus.listen("t")
    for number in range(1000):
        await plane.bus.tell("t", b"%d" % number)

    async with asyncio.timeout(SOON):
        first = int(await anext(heard))
    assert first > 700


# --- The cache --------------------------------------------------------------------------------------------------------


async def test_a_value_is_there_until_it_ends_or_what_begins_so_is_forgotten(make: Make, clock: Clock) -> None:
    one, other = make().cache, make().cache
    if one is None or other is None:
        pytest.skip("processes of a machine share the answers' own directory")
    for key in ("zoo:a", "zoo:b", "park:a"):
        await one.put(key, key.encode(), 100)
    await one.put("short", b"", 1)
    clock.now += 2

    assert [await other.get(key) for key in ("zoo:a", "park:a", "short", "none")] == [b"zoo:a", b"park:a", None, None]
    await other.clear("zoo:")
    assert [await one.get(key) for key in ("zoo:a", "zoo:b", "park:a")] == [None, None, b"park:a"]


async def test_who_watches_is_told_that_something_was_forgotten(make: Make) -> None:
    one, other = make().cache, make().cache
    if one is None or other is None:
        pytest.skip("processes of a machine share the answers' own directory")
    told = asyncio.Event()
    one.watch("zoo:", told.set)
    await one.put("zoo:a", b"a", 100)
    await other.put("zoo:b", b"b", 100)
    await other.clear("park:")
    assert not told.is_set()

    await other.clear("zoo:")

    async with asyncio.timeout(SOON):
        await told.wait()


# --- What is only so on a machine -------------------------------------------------------------------------------------


async def test_a_file_that_was_cut_short_is_said_and_harms_nobody(tmp_path: Path, clock: Clock) -> None:
    counters = SharedCounters(tmp_path, clock)
    (tmp_path / "numbers.1").write_bytes(b"")

    with pytest.raises(BackplaneError, match="cut short"):
        await counters.take("k", per=1.0, burst=1)
    counters.close()


async def test_more_keys_than_there_is_room_for_push_out_what_ends_first(tmp_path: Path, clock: Clock) -> None:
    slots = Slots(tmp_path / "slots", shared.Layout(1, 4, 64))

    async def touch(key: str, ends: float) -> bool:
        found = False

        def work(record: bytes, _: int) -> tuple[bytes, float]:
            nonlocal found
            found = bool(record)
            return b"x", ends

        await slots.change(key, clock.now, work)
        return found

    for at in range(5):
        await touch(f"k{at}", clock.now + 10 + at)

    assert [await touch(f"k{at}", clock.now + 99) for at in (1, 2, 3, 4)] == [True] * 4
    assert not await touch("k0", clock.now + 5)
    slots.close()


async def test_the_number_of_leases_that_ended_does_not_come_again(tmp_path: Path, clock: Clock) -> None:
    first = SharedLeases(tmp_path, clock)
    one = await first.acquire("flight", 1)
    first.close()
    second = SharedLeases(tmp_path, clock)
    other = await second.acquire("flight", 1)
    second.close()

    assert one is not None
    assert other is not None, "who closed what it had has no leases any more"
    assert other.number > one.number


async def test_a_folder_with_a_long_path_has_a_bus_too(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / ("long" * 40) / "run"
    told: list[str] = []
    one, other = (open_backplane(folder, told.append, clock=clock) for _ in range(2))
    heard = other.bus.listen("t")
    await one.bus.tell("t", b"a")

    if not told:
        async with asyncio.timeout(SOON):
            assert await anext(heard) == b"a"
    for plane in (one, other):
        await plane.aclose()
        await plane.aclose()


async def test_where_nothing_can_be_shared_each_process_counts_by_itself(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "run").write_text("no folder", encoding="utf-8")
    told: list[str] = []
    plane = open_backplane(tmp_path / "run", told.append, clock=clock)

    assert await plane.counters.take("k", per=1.0, burst=1) == 0.0
    assert await plane.counters.take("k", per=1.0, burst=1) > 0.0
    assert len(told) == 1
    assert "each process by itself" in told[0]
