"""Calls and failures are kept by tenant, and the tenant that called longest ago is forgotten first."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from specloom.runtime import metrics
from specloom.runtime.metrics import DAY, Failed, Failures, Tallies, Tally, TenantCounts, next_midnight

NOON = 20_000 * DAY + DAY / 2


def test_calls_and_refusals_are_counted_by_tenant_and_day() -> None:
    counted = Tallies()
    for error in ("", "rate_limited", "network"):
        counted.count("north", error, NOON)
    counted.count("south", "", NOON)

    assert counted.of("north", NOON) == Tally(20_000, 3, 1)
    assert counted.of("south", NOON) == Tally(20_000, 1, 0)
    assert counted.of("nobody", NOON) == Tally(20_000)


def test_a_day_ends_at_midnight_and_the_next_begins_with_nothing() -> None:
    counted = Tallies()
    counted.count("north", "rate_limited", NOON)

    assert next_midnight(NOON) == 20_001 * DAY
    assert counted.of("north", next_midnight(NOON) - 1).refused == 1
    assert counted.of("north", next_midnight(NOON)) == Tally(20_001)
    counted.count("north", "", next_midnight(NOON))
    assert counted.of("north", next_midnight(NOON)) == Tally(20_001, 1)


def test_the_tenant_that_called_longest_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MOST_TENANTS", 2)
    counted = Tallies()
    for name in ("a", "b", "a", "c"):
        counted.count(name, "", NOON)

    assert [counted.of(name, NOON).calls for name in ("a", "b", "c")] == [2, 0, 1]


def test_a_tenant_with_many_failures_pushes_out_nobody_elses() -> None:
    failures = Failures()
    failures.add(Failed(1.0, "quiet:ann", "find", "network", "network", "", "mine"))
    for at in range(2, 1000):
        failures.add(Failed(float(at), "noisy:bob", "find", "network", "network", "", str(at)))

    assert [one.message for one in failures.of("quiet")] == ["mine"]
    assert [one.message for one in failures.of("noisy")] == [str(at) for at in range(999, 949, -1)]
    assert len(failures.newest()) == 50


def test_the_failures_of_all_are_told_the_newest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "FAILING_TENANTS", 2)
    failures = Failures()
    for at, owner in enumerate(("a:x", "b:x", "a:y", "c:x")):
        failures.add(Failed(float(at), owner, "find", "network", "network", "", ""))

    assert [one.owner for one in failures.newest()] == ["c:x", "a:y", "a:x"]
    assert failures.of("b") == ()


def test_the_calls_of_each_tenant_are_counted_by_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MOST_COUNTS", 2)
    counts = TenantCounts()
    counts.add("a:x", "find", 1.0, at=NOON)
    counts.add("a:y", "find", 3.0, Fault("network", "no answer"), at=NOON)
    counts.add("b:x", "find", 1.0, at=NOON)
    counts.add("a:x", "find", 2.0, at=NOON, hits=1)
    counts.add("c:x", "find", 1.0, at=NOON)

    own = counts.of("a", "find")
    assert (own.calls, own.faults, own.hits, own.mean, own.kinds) == (3, 1, 1, 2.0, {"network": 1})
    assert counts.of("b", "find").calls == 0
    assert counts.of("a", "read").calls == 0
