"""Calls are counted by tenant and day, and the tenant that called longest ago is forgotten first."""

from __future__ import annotations

import pytest

from specloom.runtime import metrics
from specloom.runtime.metrics import DAY, Tallies, Tally, next_midnight

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
