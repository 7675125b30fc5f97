"""What a paper came to a short while ago, so that asking again at once asks nobody."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from .codes import DISPOSITIONS, Refusal

if TYPE_CHECKING:
    from specloom.desk import Desk

LASTING = 600.0
"""Seconds for which an answer that trying again cannot change is given again."""
PASSING = 30.0
"""Seconds for which a failure that may pass is not tried again."""
MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Told:
    refusal: Refusal
    at: float


class Replays:
    """The failures of one process, by paper."""

    def __init__(self) -> None:
        self._told: dict[Hashable, _Told] = {}

    def check(self, key: Hashable, now: float) -> None:
        """Raise what was told lately about a paper; nothing when it may be asked."""
        told = self._told.get(key)
        if told is None:
            return
        refusal, age = told.refusal, now - told.at
        if not 0 <= age < _window(refusal):
            del self._told[key]
            return
        if DISPOSITIONS[refusal.code] == "retry_after":
            left = round((PASSING - age) * 1000)
            message = f"It was asked {age:.0f} seconds ago ({refusal.message}) Wait {left} ms, or use force."
            raise Refusal("RATE_LIMITED", message, retry_after_ms=left, replayed=True)
        raise Refusal(
            refusal.code, refusal.message, denial=refusal.denial, remediation=refusal.remediation, replayed=True
        )

    def note(self, key: Hashable, refusal: Refusal | None, now: float) -> None:
        """Remember how a call ended; a clean end forgets, and the same end keeps its first time."""
        if refusal is None:
            self._told.pop(key, None)
            return
        before = self._told.get(key)
        if before is not None and before.refusal.code == refusal.code and 0 <= now - before.at < _window(refusal):
            return
        if len(self._told) >= MOST:
            self._told.pop(next(iter(self._told)))
        self._told[key] = _Told(refusal, now)


def _window(refusal: Refusal) -> float:
    """Seconds for which a refusal is told again."""
    return PASSING if DISPOSITIONS[refusal.code] == "retry_after" else LASTING


SHARED = Replays()
"""The failures that this process knows."""

_APART: WeakKeyDictionary[Desk, Replays] = WeakKeyDictionary()
"""Per call where nobody is really asked: what one example came to is nothing to the next."""


def known_to(desk: Desk) -> Replays:
    """The failures that a call knows of: those of the process, or in an example those of the call alone."""
    return SHARED if desk.is_live else _APART.setdefault(desk, Replays())
