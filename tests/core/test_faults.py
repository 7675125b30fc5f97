"""A fault keeps what is known of it, in whoever's words it is told."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault, all_failed


@pytest.mark.parametrize(("said", "delay"), [(None, 60), (60, 60), (0, 0), (7, 7)])
def test_a_delay_that_was_named_is_told_apart_from_the_usual_one_by_whoever_tells_the_fault(
    said: int | None, delay: int
) -> None:
    fault = Fault("rate_limited", "slow down", retry_after=said)

    for one in (fault, fault.told_as(message="m"), all_failed([fault, Fault("upstream_unavailable", "down")])):
        assert (one.said_after, one.retry_after) == (said, delay)


def test_a_fault_in_other_words_keeps_the_rest() -> None:
    fault = Fault(
        "too_large", "large", provider="a", alternatives=["b"], detail="d", action="inform_user", size=9, ours=True
    )

    told = fault.told_as(message="very large", provider="c", detail="e")

    assert (told.kind, told.message, told.provider, told.detail) == ("too_large", "very large", "c", "e")
    assert (told.alternatives, told.action, told.size, told.ours) == (("b",), "inform_user", 9, True)


def test_a_fault_of_another_kind_has_the_delay_and_the_action_of_that_kind() -> None:
    told = Fault("rate_limited", "slow down", retry_after=7, action="inform_user").told_as(kind="network")

    assert (told.retry_after, told.said_after, told.action) == (5, None, "retry_after_delay")
