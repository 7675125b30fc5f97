"""Figures as they are measured, and how they look: spread over rounds, ratio to the other side, budget."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing measured over several rounds: `ours`, the other side in the same rounds, and what is allowed."""

    group: str
    name: str
    unit: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...] = ()
    budget: float | None = None
    at_least: bool = False
    """The budget is a floor and not a ceiling."""
    note: str = ""

    @property
    def within(self) -> bool | None:
        """Whether the median keeps the budget; None without one."""
        if self.budget is None or not self.ours:
            return None
        median = statistics.median(self.ours)
        return median >= self.budget if self.at_least else median <= self.budget

    def to_json(self) -> dict[str, Any]:
        """The figure as data."""
        said: dict[str, Any] = {"group": self.group, "name": self.name, "unit": self.unit, "ours": spread(self.ours)}
        if self.theirs:
            said |= {"theirs": spread(self.theirs), "ratio": spread(self.ratios())}
        if self.budget is not None:
            said |= {"budget": self.budget, "atLeast": self.at_least, "within": self.within}
        return {**said, "note": self.note} if self.note else said

    def ratios(self) -> tuple[float, ...]:
        """Ours by theirs, round by round."""
        return tuple(mine / other for mine, other in zip(self.ours, self.theirs, strict=False) if other)


def spread(values: tuple[float, ...]) -> dict[str, float] | None:
    """Minimum, median and maximum; None of nothing."""
    if not values:
        return None
    return {"min": min(values), "median": statistics.median(values), "max": max(values), "rounds": len(values)}


def _number(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def _spread(values: tuple[float, ...]) -> str:
    found = spread(values)
    if found is None:
        return "—"
    if found["rounds"] == 1:
        return _number(found["median"])
    return f"{_number(found['median'])} ({_number(found['min'])}-{_number(found['max'])})"


def lines(figures: list[Figure]) -> list[str]:
    """The figures as a table: median and (minimum-maximum) of ours and theirs, the ratio, the budget."""
    said: list[str] = []
    group = ""
    for one in figures:
        if one.group != group:
            group = one.group
            said += ["", group, f"  {'':52}{'specloom':>25}{'the other side':>25}{'ratio':>21}  budget"]
        budget = ""
        if one.budget is not None:
            sign, missed = ("≥", "  UNDER") if one.at_least else ("≤", "  OVER")
            budget = f"{sign} {_number(one.budget)}{'' if one.within else missed}"
        ratio = f"× {_spread(one.ratios())}" if one.theirs else ""
        theirs = _spread(one.theirs) if one.theirs else ""
        name = f"{one.name}, {one.unit}"
        said.append(f"  {name:52}{_spread(one.ours):>25}{theirs:>25}{ratio:>21}  {budget}".rstrip())
        if one.note:
            said.append(f"    {one.note}")
    return said
