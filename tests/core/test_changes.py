"""A change is told once, when it is at rest."""

from __future__ import annotations

from specloom.core import ChangeDetector


def looks(*stamps: str) -> list[bool]:
    """What is said at each look after the first stamp."""
    coming = iter(stamps)
    detector = ChangeDetector(lambda: next(coming))
    return [detector.look() for _ in stamps[1:]]


def test_a_change_is_told_once_and_only_at_rest() -> None:
    assert looks("a", "a", "b", "b", "b") == [False, False, True, False]
    assert looks("a", "b", "c", "c") == [False, False, True]


def test_what_is_as_it_was_is_no_change() -> None:
    assert looks("a", "b", "a", "a", "b", "b", "a", "a") == [False, False, False, False, True, False, True]


def test_wait_returns_after_the_next_change() -> None:
    class At(ChangeDetector):
        INTERVAL = 0.0

    coming = iter("aabb")
    At(lambda: next(coming)).wait()
    assert next(coming, None) is None
