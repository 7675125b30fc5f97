"""Figures as they are measured, and how they look: a ratio with its quartiles over rounds, beside its budget."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Spread(NamedTuple):
    """The median of some rounds between the quartiles."""

    q1: float
    median: float
    q3: float
    rounds: int


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
    beside: str = ""
    """What the other side is; "" where there is none."""
    absolute: bool = False
    """The budget is of ours in its unit, as for memory, though another side stands beside it."""
    passing: bool = False
    """A detail for who looks closer: no row of the history."""

    @property
    def judged(self) -> Spread | None:
        """What a budget is held against: the ratio, or ours where there is no other side; None of nothing."""
        return to_spread(self.ours if self.absolute or not self.theirs else self.ratios())

    @property
    def within(self) -> bool | None:
        """Whether the median keeps the budget; None without one."""
        judged = self.judged
        if self.budget is None or judged is None:
            return None
        return judged.median >= self.budget if self.at_least else judged.median <= self.budget

    @property
    def is_ratio(self) -> bool:
        """Whether what is judged is a ratio to the other side."""
        return bool(self.theirs) and not self.absolute

    def to_json(self) -> dict[str, Any]:
        """The figure as data."""
        said: dict[str, Any] = {"group": self.group, "name": self.name, "unit": self.unit, "ours": _said(self.ours)}
        if self.theirs:
            said |= {"beside": self.beside, "theirs": _said(self.theirs), "ratio": _said(self.ratios())}
        if self.budget is not None:
            said |= {"budget": self.budget, "atLeast": self.at_least, "within": self.within}
        return {**said, "note": self.note} if self.note else said

    def ratios(self) -> tuple[float, ...]:
        """Ours by theirs, round by round."""
        return tuple(mine / other for mine, other in zip(self.ours, self.theirs, strict=False) if other)


class Taken(NamedTuple):
    """What something took, in milliseconds; processor time, 0 where it cannot be told."""

    wall: float
    processor: float = 0.0


def to_figures(
    group: str, name: str, ours: Sequence[Taken], theirs: Sequence[Taken], beside: str, budget: float | None = None
) -> list[Figure]:
    """The time of both sides beside its budget, and their processor time, which a busy machine changes little."""
    walls = tuple(one.wall for one in ours), tuple(one.wall for one in theirs)
    worked = tuple(one.processor for one in ours), tuple(one.processor for one in theirs)
    found = [Figure(group, name, "ms", *walls, budget=budget, beside=beside)]
    if all(worked[0]) and all(worked[1]):
        found.append(Figure(group, f"{name}, processor time", "ms", *worked, beside=beside))
    return found


def to_spread(values: tuple[float, ...]) -> Spread | None:
    """The quartiles of some rounds, between the values that were measured; None of nothing."""
    if not values:
        return None
    if len(values) == 1:
        return Spread(values[0], values[0], values[0], 1)
    q1, median, q3 = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(q1, median, q3, len(values))


def _said(values: tuple[float, ...]) -> dict[str, float] | None:
    spread = to_spread(values)
    return None if spread is None else spread._asdict()


def to_text(value: float) -> str:
    """A figure with as many digits as it is worth."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def tell_spread(spread: Spread | None) -> str:
    """The median with the quartiles in brackets; without them where there was one round."""
    if spread is None:
        return "—"
    if spread.rounds == 1:
        return to_text(spread.median)
    return f"{to_text(spread.median)} ({to_text(spread.q1)}-{to_text(spread.q3)})"


def tell_budget(budget: float | None, *, at_least: bool, within: bool | None) -> str:
    """The budget and whether it is missed: `≤ 6`, `≤ 6  OVER`, `≥ 0.4  UNDER`; "" without one."""
    if budget is None:
        return ""
    sign, missed = ("≥", "UNDER") if at_least else ("≤", "OVER")
    return f"{sign} {budget:,g}" + (f"  {missed}" if within is False else "")


def lines(figures: list[Figure]) -> list[str]:
    """The figures as a table: what, the ratio with its quartiles, the budget, and the medians that it is of."""
    said: list[str] = []
    group = ""
    for one in figures:
        if one.group != group:
            group = one.group
            said += ["", group]
        judged = tell_spread(one.judged)
        value = f"× {judged}" if one.is_ratio else f"{judged} {one.unit}"
        budget = tell_budget(one.budget, at_least=one.at_least, within=one.within)
        medians = ""
        ours, theirs = to_spread(one.ours), to_spread(one.theirs)
        if ours is not None and theirs is not None:
            medians = f"{to_text(ours.median)} : {to_text(theirs.median)} {one.unit}"
            medians += f" ({one.beside})" if one.beside else ""
        said.append(f"  {one.name:58}{value:>24}  {budget:14}  {medians}".rstrip())
        if one.note:
            said.append(f"    {one.note}")
    return said
