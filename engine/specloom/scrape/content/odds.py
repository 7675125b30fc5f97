"""Chances that become likelier or less likely; unlike a share of a chance, what is nearly sure stays likely."""

from __future__ import annotations

from typing import Any


def times_odds(chances: Any, factor: float) -> Any:
    """The chances whose odds are so many times those of `chances`: 0 and 1 stay what they are."""
    return factor * chances / (1 + (factor - 1) * chances)
