"""A breaker gives a failing upstream a rest and lets exactly one call find out whether it recovered."""

import asyncio

import pytest

from specloom.core.faults import KINDS, Fault
from specloom.runtime.circuit_breaker import LEASE, Breaker, Breakers


@pytest.fixture
def breaker(clock):
    return Breaker("demo", "web", clock=clock, chance=lambda: 0.5)


class Running:
    """A call under way, which ends when the test says so."""

    def __init__(self, breaker):
        self.call = breaker.call()
        self.call.__enter__()

    def succeed(self):
        self.call.__exit__(None, None, None)

    def fail(self, fault):
        assert not self.call.__exit__(Fault, fault, None)

    def release(self):
        assert not self.call.__exit__(asyncio.CancelledError, asyncio.CancelledError(), None)


def fail(breaker, times=1, kind="network", **more):
    for _ in range(times):
        Running(breaker).fail(Fault(kind, "it failed", **more))


def test_it_opens_at_the_fifth_failure_in_a_row(breaker):
    fail(breaker, 4)
    assert breaker.state == "closed"

    fail(breaker)

    assert breaker.state == "open"
    assert not breaker.ready()


def test_a_success_sets_the_count_to_zero(breaker):
    fail(breaker, 4)
    Running(breaker).succeed()
    fail(breaker, 4)

    assert breaker.state == "closed"


def test_a_refusal_says_when_to_come_back(breaker, clock):
    fail(breaker, 5)
    clock.now += 10

    with pytest.raises(Fault, match=r"demo failed repeatedly .* come back in 56 s") as caught:
        Running(breaker)

    assert caught.value.kind == "circuit_open"
    assert caught.value.retry_after == 56
    assert caught.value.provider == "demo"


def test_the_rest_is_a_minute_and_up_to_a_fifth_more(clock):
    for chance, rest in ((0.0, 60.0), (0.999, 71.988)):
        breaker = Breaker("demo", clock=clock, chance=lambda chance=chance: chance)
        fail(breaker, 5)
        start = clock.now

        clock.now = start + rest - 0.01
        assert not breaker.ready()
        clock.now = start + rest + 0.01
        assert breaker.ready()


def test_throttling_opens_at_once(breaker):
    fail(breaker, kind="rate_limited")

    assert breaker.state == "open"
    with pytest.raises(Fault, match="asked to slow down"):
        Running(breaker)


def test_a_longer_rest_is_granted_when_the_upstream_asks_for_it(breaker, clock):
    fail(breaker, kind="rate_limited", retry_after=600)
    clock.now += 599
    assert not breaker.ready()

    clock.now += 8
    assert breaker.ready()


def test_no_upstream_can_ask_for_more_than_an_hour(breaker, clock):
    fail(breaker, kind="rate_limited", retry_after=10**9)

    clock.now += 3607

    assert breaker.ready()


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.trip == "ignore"])
def test_kinds_that_say_nothing_about_health_do_not_count(breaker, kind):
    fail(breaker, 20, kind=kind)

    assert breaker.state == "closed"
    assert breaker.snapshot()["failures"] == 0


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.trip == "count"])
def test_kinds_that_count_open_it(breaker, kind):
    fail(breaker, 5, kind=kind)

    assert breaker.state == "open"


def test_half_open_gives_exactly_one_permit(breaker, clock):
    fail(breaker, 5)
    clock.now += 67
    assert breaker.state == "half_open"
    assert breaker.ready()

    trial = Running(breaker)

    assert not breaker.ready()
    with pytest.raises(Fault, match="another call is just trying"):
        Running(breaker)
    trial.succeed()
    assert breaker.state == "closed"
    assert breaker.snapshot()["failures"] == 0


def test_asking_whether_it_is_ready_changes_nothing(breaker, clock):
    fail(breaker, 5)
    clock.now += 67

    assert all(breaker.ready() for _ in range(5))
    assert breaker.state == "half_open"


def test_a_failed_trial_opens_it_again(breaker, clock):
    fail(breaker, 5)
    clock.now += 67

    fail(breaker)

    assert breaker.state == "open"
    clock.now += 65.9
    assert not breaker.ready()
    clock.now += 0.2
    assert breaker.ready()


@pytest.mark.parametrize("leave", [lambda p: p.release(), lambda p: p.fail(Fault("not_found", "no such thing"))])
def test_a_trial_that_learns_nothing_lets_another_one_through(breaker, clock, leave):
    fail(breaker, 5)
    clock.now += 67

    leave(Running(breaker))

    assert breaker.state == "half_open"
    assert breaker.ready()


def test_a_cancelled_caller_does_not_count_and_lets_another_one_through(breaker, clock):
    fail(breaker, 5)
    clock.now += 67

    with pytest.raises(asyncio.CancelledError), breaker.call():
        raise asyncio.CancelledError

    assert breaker.ready()


def test_the_outcome_of_a_call_is_read_from_its_exception(breaker):
    with pytest.raises(Fault), breaker.call():
        raise Fault("network", "it failed")
    assert breaker.snapshot()["failures"] == 1

    with breaker.call():
        pass
    assert breaker.snapshot()["failures"] == 0


def test_a_late_success_does_not_close_it(breaker, clock):
    late = Running(breaker)
    fail(breaker, 5)

    late.succeed()
    assert breaker.state == "open"

    clock.now += 67
    late_again = Running(breaker)
    late_again.succeed()
    assert breaker.state == "closed"


def test_a_late_failure_does_not_prolong_the_rest(breaker, clock):
    late = Running(breaker)
    fail(breaker, 5)
    clock.now += 60

    late.fail(Fault("network", "it failed"))
    clock.now += 7

    assert breaker.ready()


def test_late_throttling_prolongs_the_rest(breaker, clock):
    late = Running(breaker)
    fail(breaker, 5)

    late.fail(Fault("rate_limited", "slow down", retry_after=300))
    clock.now += 299
    assert not breaker.ready()

    clock.now += 2
    assert breaker.ready()


def test_a_trial_that_never_reports_back_does_not_keep_it_out_for_ever(breaker, clock):
    fail(breaker, 5)
    clock.now += 67
    lost = Running(breaker)

    clock.now += LEASE + 1
    found = Running(breaker)
    lost.fail(Fault("network", "much too late"))
    assert not breaker.ready()
    found.succeed()

    assert breaker.state == "closed"


def test_a_registry_keeps_families_apart_and_reports_in_order(clock):
    breakers = Breakers(clock=clock, chance=lambda: 0.0)
    fail(breakers.of("zulu", "web"), 5)
    breakers.of("alpha", "web")
    breakers.of("zulu", "academic")

    report = breakers.snapshot()

    assert breakers.of("zulu", "web") is breakers.of("zulu", "web")
    assert [(one["family"], one["provider"], one["state"]) for one in report] == [
        ("academic", "zulu", "closed"),
        ("web", "alpha", "closed"),
        ("web", "zulu", "open"),
    ]
    assert report[2] == {
        "provider": "zulu",
        "family": "web",
        "state": "open",
        "available": False,
        "failures": 5,
        "retry_after": 60,
    }
