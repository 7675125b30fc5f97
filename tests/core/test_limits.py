"""A limiter keeps to its rate and its number at once, in order, whoever leaves in between."""

import asyncio
import heapq
import itertools

import pytest

from specloom.core.faults import Fault
from specloom.core.limits import Limiter, Rate, parse_duration, parse_rate, parse_size


class Time:
    """A clock that stands still until the test moves it, and the sleep that belongs to it."""

    def __init__(self):
        self.now = 5000.0
        self._sleepers = []
        self._order = itertools.count()

    def clock(self):
        return self.now

    async def sleep(self, seconds):
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._order), woken))
        await woken

    async def pass_by(self, seconds):
        end = self.now + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            self.now, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)
            await settle()
        self.now = end
        await settle()


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def time():
    return Time()


def make(time, rate=None, concurrency=None):
    return Limiter(parse_rate(rate) if rate else None, concurrency, name="demo", clock=time.clock, sleep=time.sleep)


class Callers:
    """Tasks that enter a limiter, stay until told to leave, and note when they came in."""

    def __init__(self, limiter, time):
        self.limiter, self.time = limiter, time
        self.entered = []
        self.doors = {}
        self.tasks = {}

    async def _call(self, name, max_wait):
        async with self.limiter.slot(max_wait):
            self.entered.append((name, self.time.now - 5000.0))
            await self.doors[name].wait()

    def start(self, *names, max_wait=1000.0, stay=False):
        for name in names:
            self.doors[name] = asyncio.Event()
            if not stay:
                self.doors[name].set()
            self.tasks[name] = asyncio.create_task(self._call(name, max_wait))

    async def fault_of(self, name):
        with pytest.raises(Fault) as caught:
            await self.tasks[name]
        return caught.value


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("3/s", Rate(3, 1)),
        ("10/min", Rate(10, 60)),
        ("10/m", Rate(10, 60)),
        ("1/2s", Rate(1, 2)),
        ("100/d", Rate(100, 86400)),
        ("0.5/s", Rate(0.5, 1)),
        (" 5 / 1h ", Rate(5, 3600)),
        ("1/500ms", Rate(1, 0.5)),
    ],
)
def test_a_rate_is_a_count_and_a_time(text, rate):
    assert parse_rate(text) == rate


@pytest.mark.parametrize(
    "text", ["", "3", "3/", "/s", "3/week", "-1/s", "3 per s", "0/s", "1/0s", "nan/s", "1e9/s", "٣/s"]
)
def test_a_bad_rate_is_shown_with_what_would_do(text):
    with pytest.raises(ValueError, match=r"such as 3/s|above zero") as caught:
        parse_rate(text)

    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("15m", 900), ("1h", 3600), ("1d", 86400), ("250ms", 0.25)])
def test_a_duration_is_a_number_and_a_unit(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"), [("5MiB", 5 * 2**20), ("2MB", 2_000_000), ("512KiB", 2**19), ("1.5KiB", 1536), ("7B", 7)]
)
def test_a_size_is_a_number_and_a_unit(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "5", "s", "5 parsecs", "-5s", "5mib", "1h30m"])
def test_bad_durations_and_sizes_are_shown(text):
    for parse in (parse_duration, parse_size):
        with pytest.raises(ValueError, match="such as") as caught:
            parse(text)
        assert repr(text) in str(caught.value)


@pytest.mark.parametrize(("count", "per"), [(0, 1), (1, 0), (-1, 1), (float("inf"), 1), (float("nan"), 1)])
def test_a_rate_is_above_zero(count, per):
    with pytest.raises(ValueError, match="above zero"):
        Rate(count, per)


def test_a_limiter_for_no_call_at_all_is_refused():
    with pytest.raises(ValueError, match="never let a call through"):
        Limiter(None, 0)


async def test_without_limits_everybody_passes(time):
    callers = Callers(make(time), time)

    callers.start(*"abc", max_wait=0)
    await settle()

    assert callers.entered == [("a", 0), ("b", 0), ("c", 0)]


async def test_calls_start_in_order_and_never_more_than_the_rate_in_any_window(time):
    callers = Callers(make(time, "3/s"), time)

    callers.start(*"abcdefgh")
    await time.pass_by(10)

    assert [name for name, _ in callers.entered] == list("abcdefgh")
    assert [at for _, at in callers.entered] == pytest.approx([0, 0, 0, 1, 1, 1, 2, 2])


async def test_the_window_slides(time):
    callers = Callers(make(time, "2/s"), time)
    callers.start("a")
    await time.pass_by(0.75)

    callers.start("b", "c", "d")
    await time.pass_by(5)

    assert [at for _, at in callers.entered] == pytest.approx([0, 0.75, 1, 1.75])


async def test_a_rate_below_one_spaces_calls(time):
    callers = Callers(make(time, "1/2s"), time)
    slower = Callers(make(time, "0.5/s"), time)

    callers.start(*"abc")
    slower.start(*"abc")
    await time.pass_by(10)

    assert [at for _, at in callers.entered] == pytest.approx([0, 2, 4])
    assert [at for _, at in slower.entered] == pytest.approx([0, 2, 4])


async def test_a_wait_that_would_be_too_long_is_refused_at_once(time):
    callers = Callers(make(time, "1/10s"), time)
    callers.start("a", "b")
    await settle()

    callers.start("c", max_wait=19.9)
    fault = await callers.fault_of("c")

    assert fault.kind == "rate_limited"
    assert fault.retry_after == 20
    assert fault.provider == "demo"
    assert "demo" in fault.message
    assert time.now == 5000.0


async def test_a_wait_that_just_fits_is_waited_for(time):
    callers = Callers(make(time, "1/10s"), time)

    callers.start(*"abc", max_wait=20)
    await time.pass_by(30)

    assert [at for _, at in callers.entered] == pytest.approx([0, 10, 20])


async def test_the_forecast_is_right_over_several_rounds(time):
    callers = Callers(make(time, "2/10s"), time)
    callers.start(*"abcdef")
    await time.pass_by(3)

    callers.start("g", max_wait=0)

    assert (await callers.fault_of("g")).retry_after == 27


async def test_only_so_many_are_inside_at_once(time):
    callers = Callers(make(time, concurrency=2), time)
    callers.start(*"abcd", stay=True)
    await settle()
    assert [name for name, _ in callers.entered] == ["a", "b"]

    callers.doors["b"].set()
    await settle()
    assert [name for name, _ in callers.entered] == ["a", "b", "c"]

    callers.doors["a"].set()
    callers.doors["c"].set()
    await settle()
    assert [name for name, _ in callers.entered] == ["a", "b", "c", "d"]


async def test_a_place_that_does_not_come_free_in_time_is_a_fault(time):
    callers = Callers(make(time, concurrency=1), time)
    callers.start("a", stay=True)
    await settle()
    callers.start("first", max_wait=5)
    callers.start("second", max_wait=3)

    await time.pass_by(4)
    assert (await callers.fault_of("second")).kind == "rate_limited"
    assert not callers.tasks["first"].done()

    await time.pass_by(2)
    assert (await callers.fault_of("first")).retry_after >= 1


async def test_without_patience_a_full_house_is_refused_at_once(time):
    callers = Callers(make(time, concurrency=1), time)
    callers.start("a", stay=True)
    await settle()

    callers.start("b", max_wait=0)

    assert (await callers.fault_of("b")).kind == "rate_limited"


async def test_a_failing_call_gives_its_place_back(time):
    limiter = make(time, concurrency=1)

    for _ in range(3):
        with pytest.raises(RuntimeError):
            async with limiter.slot(0):
                raise RuntimeError


@pytest.mark.parametrize("gone", ["b", "c", "d"])
async def test_a_cancelled_waiter_for_the_rate_takes_nothing_and_blocks_nobody(time, gone):
    callers = Callers(make(time, "1/10s"), time)
    callers.start(*"abcd")
    await time.pass_by(4)

    callers.tasks[gone].cancel()
    await time.pass_by(60)

    assert [name for name, _ in callers.entered] == [name for name in "abcd" if name != gone]
    assert [at for _, at in callers.entered] == pytest.approx([0, 10, 20])


@pytest.mark.parametrize("gone", ["b", "c"])
async def test_a_cancelled_waiter_for_a_place_blocks_nobody(time, gone):
    callers = Callers(make(time, concurrency=1), time)
    callers.start(*"abc", stay=True)
    await settle()

    callers.tasks[gone].cancel()
    callers.doors["a"].set()
    await settle()

    assert [name for name, _ in callers.entered] == ["a", "c" if gone == "b" else "b"]


async def test_a_waiter_that_is_cancelled_just_as_a_place_comes_free_passes_it_on(time):
    callers = Callers(make(time, concurrency=1), time)
    callers.start("a", "b", "c", stay=True)
    await settle()

    callers.doors["a"].set()
    callers.tasks["a"].add_done_callback(lambda _: callers.tasks["b"].cancel())
    await settle()

    assert callers.entered[-1][0] in {"b", "c"}
    callers.doors["b"].set()
    await settle()
    assert callers.entered[-1][0] == "c"


async def test_rate_and_places_hold_together(time):
    callers = Callers(make(time, "1/s", 1), time)
    callers.start(*"abc", stay=True)
    await time.pass_by(5)
    assert callers.entered == [("a", 0)]

    callers.doors["a"].set()
    callers.doors["b"].set()
    await time.pass_by(5)

    assert [at for _, at in callers.entered] == pytest.approx([0, 5, 6])


async def test_a_rate_that_changes_leaves_places_taken_and_earlier_starts_counted(time):
    limiter = make(time, rate="4/s", concurrency=2)
    callers = Callers(limiter, time)
    callers.start("a", "b", stay=True)
    await settle()

    limiter.set_rate(parse_rate("2/s"))
    callers.start("c")
    await time.pass_by(5.0)
    assert [name for name, _ in callers.entered] == ["a", "b"]

    callers.doors["a"].set()
    await time.pass_by(0.0)
    callers.start("d")
    await time.pass_by(2.0)
    assert callers.entered[2:] == [("c", 5.0), ("d", 5.0)]


async def test_who_waits_for_a_slow_rate_starts_when_a_faster_one_is_told(time):
    limiter = make(time, rate="1/h")
    callers = Callers(limiter, time)
    callers.start("a", "b", "c", max_wait=10_000.0)
    await time.pass_by(10.0)

    limiter.set_rate(parse_rate("1/s"))
    await time.pass_by(5.0)

    assert callers.entered == [("a", 0.0), ("b", 10.0), ("c", 11.0)]


async def test_who_waits_goes_on_at_a_slower_rate_or_at_none(time):
    limiter = make(time, rate="1/s")
    callers = Callers(limiter, time)
    callers.start("a", "b", "c")
    await settle()

    limiter.set_rate(parse_rate("1/30s"))
    await time.pass_by(40.0)
    limiter.set_rate(None)
    await time.pass_by(0.0)

    assert callers.entered == [("a", 0.0), ("b", 30.0), ("c", 40.0)]


def test_a_limiter_is_made_without_a_loop_and_serves_several():
    limiter = Limiter(None, 1)

    async def use():
        async def once():
            async with limiter.slot(5):
                await asyncio.sleep(0)

        await asyncio.gather(once(), once(), once())

    asyncio.run(use())
    asyncio.run(use())


async def test_by_the_clock_of_the_loop_nobody_waits_longer_than_they_would():
    limiter = Limiter(None, 1, name="demo")

    async with limiter.slot(5.0):
        with pytest.raises(Fault, match="The limit for calls to demo is reached"):
            async with limiter.slot(0.01):
                pass

    async with limiter.slot(0.01):
        pass


async def test_by_the_clock_of_the_loop_places_pass_on_in_order_although_some_leave_the_queue():
    limiter = Limiter(None, 1, name="demo")
    entered = []

    async def call(name):
        async with limiter.slot(60.0):
            entered.append(name)
            await settle()

    calls = [asyncio.create_task(call(name)) for name in "abcde"]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    calls[1].cancel()  # who is next
    calls[3].cancel()  # who is behind the next
    done = await asyncio.gather(*calls, return_exceptions=True)

    assert entered == ["a", "c", "e"]
    assert [isinstance(one, asyncio.CancelledError) for one in done] == [False, True, False, True, False]
