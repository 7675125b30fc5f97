"""What a step does to a session: gaps found and settled, completion, and what is odd about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .trail import MOST_GAPS, Gap, Session, Step

LIMIT_REACHED = "session_limit_reached"
"""The warning of a session that has all the steps it may have; the contract's word."""
_ALIKE = 0.6
"""Share of the words of an open question that the wording of its settlement must have to be taken for it."""
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Told:
    """What a caller tells with one step."""

    step: Step
    more: bool
    """Further steps are to follow."""
    goal: str = ""
    summary: str = ""
    estimate: int = 0
    gap: str = ""
    settled: tuple[str, ...] = ()
    """Open questions that this step has settled, in their words or nearly so."""


def take_step(session: Session, told: Told) -> Session:
    """The session after a step. Nothing that was told before is changed."""
    step = told.step
    gaps = [_settle(gap, told.settled, step.number) for gap in session.gaps]
    if told.gap and not any(_fold(gap.description) == _fold(told.gap) and not gap.settled_in for gap in gaps):
        gaps.append(Gap(told.gap, step.number))
    # Settled questions make room first, the oldest before the others.
    for gap in [one for one in gaps if one.settled_in][: max(0, len(gaps) - MOST_GAPS)]:
        gaps.remove(gap)
    return replace(
        session,
        goal=told.goal or session.goal,
        summary=told.summary or session.summary,
        estimate=told.estimate or session.estimate,
        completed=0.0 if told.more else step.at,
        gaps=tuple(gaps[:MOST_GAPS]),
    )


def find_oddities(session: Session, steps: Sequence[Step], told: Told) -> list[str]:
    """One sentence for each thing about a step that is likely a mistake; nothing of it is refused."""
    step, numbers = told.step, {one.number for one in steps}
    found = []
    if step.number in numbers and not step.is_revision:
        found.append(f"Step {step.number} was told before; both are kept, and the later one is shown for its number.")
    expected = max(numbers, default=0) + 1
    if step.number > expected:
        found.append(f"Step {step.number} follows step {expected - 1}: {expected} was expected.")
    if step.is_revision and not step.revises:
        found.append("A revision was told without revisesStep, so no step is marked as superseded.")
    if step.revises and not step.is_revision:
        found.append("revisesStep was given without isRevision, so no step is marked as superseded.")
    if step.revises and step.revises not in numbers:
        found.append(f"revisesStep names step {step.revises}, which was never told.")
    if step.branches_from and step.branches_from not in numbers:
        found.append(f"branchFromStep names step {step.branches_from}, which was never told.")
    if told.gap and all(_fold(gap.description) != _fold(told.gap) for gap in take_step(session, told).gaps):
        found.append(f"{MOST_GAPS} questions are open already, so this one was not kept: settle some by resolvedGaps.")
    found += [
        f"No open question is worded like {words[:80]!r}, so none was settled by it."
        for words in told.settled
        if not any(_is_settled_by(gap, words) for gap in session.open_gaps)
    ]
    return found


def superseded_by(steps: Sequence[Step]) -> list[int]:
    """For each step the number of the latest of those told after it that revise it, 0 where none does."""
    latest: dict[int, int] = {}
    found = []
    for step in reversed(steps):
        found.append(latest.get(step.number, 0))
        if step.is_revision and step.revises:
            latest.setdefault(step.revises, step.number)
    return found[::-1]


def _settle(gap: Gap, settled: Sequence[str], number: int) -> Gap:
    if gap.settled_in or not any(_is_settled_by(gap, words) for words in settled):
        return gap
    return replace(gap, settled_in=number)


def _is_settled_by(gap: Gap, words: str) -> bool:
    if _fold(gap.description) == _fold(words):
        return True
    asked, said = set(_WORDS.findall(gap.description.casefold())), set(_WORDS.findall(words.casefold()))
    return bool(asked) and len(asked & said) / len(asked) >= _ALIKE


def _fold(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))
