"""A research session as data: its goal, steps, open questions and sources, and what the calls of it met."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

MOST_SOURCES = 500
"""Sources that one session holds; what is found beyond that is counted."""
MOST_OUTCOMES = 200
"""Outcomes of calls that a session remembers, the newest."""
MOST_GAPS = 100
"""Open and settled questions that one session holds."""
GOAL_CHARACTERS = 200
"""Characters of the first step that stand for a goal that was not given."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A question that was found open in a step (0: in none), and the step that settled it (0: none has)."""

    description: str
    found_in: int = 0
    settled_in: int = 0


@dataclass(frozen=True, slots=True)
class SessionSource:
    """Something that was found: its address, what is known of it, and the step that found it (0: none)."""

    url: str
    title: str = ""
    kind: str = ""
    """What kind of source it is, such as `web` or `paper`."""
    author: str = ""
    date: str = ""
    doi: str = ""
    found_in: int = 0
    seen: int = 1
    """How often it was found."""
    site: str = ""
    """The journal or site that published it."""


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How one call of the session ended: whom it asked, what went wrong (empty: nothing), and where."""

    provider: str
    error: str = ""
    url: str = ""
    step: int = 0
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionStep:
    """One step as it was told."""

    number: int
    description: str
    at: float
    reasoning: str = ""
    confidence: str = ""
    rejected: tuple[str, ...] = ()
    revises: int = 0
    """The step that this one revises, 0 for none."""
    is_revision: bool = False
    branch: str = ""
    branches_from: int = 0


@dataclass(frozen=True, slots=True)
class ResearchSession:
    """A session without its steps, which lie on a stream of their own."""

    id: str
    goal: str
    started: float
    tenant: str = ""
    estimate: int = 0
    completed: float = 0.0
    """When it was said to be complete; 0 while it is not."""
    summary: str = ""
    """What the caller said in short; empty where the caller said nothing."""
    gaps: tuple[Gap, ...] = ()
    sources: tuple[SessionSource, ...] = ()
    more_sources: int = 0
    """Sources that were found when there was no more room."""
    outcomes: tuple[CallOutcome, ...] = field(default=())

    @property
    def open_gaps(self) -> tuple[Gap, ...]:
        """The questions that no step has settled."""
        return tuple(gap for gap in self.gaps if not gap.settled_in)


def to_json(session: ResearchSession) -> dict[str, Any]:
    """A session as it is kept."""
    return {
        "id": session.id,
        "goal": session.goal,
        "started": session.started,
        "tenant": session.tenant,
        "estimate": session.estimate,
        "completed": session.completed,
        "summary": session.summary,
        "gaps": [_dump(one) for one in session.gaps],
        "sources": [_dump(one) for one in session.sources],
        "more_sources": session.more_sources,
        "outcomes": [_dump(one) for one in session.outcomes],
    }


def from_json(value: Mapping[str, Any]) -> ResearchSession:
    """A session as it was kept."""
    return ResearchSession(
        value["id"],
        value["goal"],
        value["started"],
        value["tenant"],
        value["estimate"],
        value["completed"],
        value["summary"],
        tuple(Gap(**_known(Gap, one)) for one in value["gaps"]),
        tuple(SessionSource(**_known(SessionSource, one)) for one in value["sources"]),
        value["more_sources"],
        tuple(CallOutcome(**_known(CallOutcome, one)) for one in value["outcomes"]),
    )


def step_to_json(step: SessionStep) -> dict[str, Any]:
    """A step as it is kept."""
    return _dump(step)


def step_from_json(value: Mapping[str, Any]) -> SessionStep:
    """A step as it was kept."""
    known = _known(SessionStep, value)
    return SessionStep(**{**known, "rejected": tuple(known.get("rejected", ()))})


def _dump(one: Gap | SessionSource | CallOutcome | SessionStep) -> dict[str, Any]:
    """Its fields, without those that say nothing."""
    values = {name: getattr(one, name) for name in type(one).__slots__}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value}


def _known(kind: type[Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that this version knows; a later one may have written more."""
    defaults = {"number": 0, "description": "", "at": 0.0, "url": "", "provider": ""}
    names = kind.__slots__
    return {
        **{name: defaults[name] for name in names if name in defaults},
        **{name: value[name] for name in names if name in value},
    }


# --- What a step does to a session: gaps found and settled, completion, and what is odd about it ----------------------


LIMIT_REACHED = "session_limit_reached"
"""The warning of a session that has all the steps it may have; the contract's word."""
_ALIKE = 0.6
"""Share of the words of an open question that the wording of its settlement must have to be taken for it."""
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class StepReport:
    """What a caller tells with one step."""

    step: SessionStep
    more: bool
    """Further steps are to follow."""
    goal: str = ""
    summary: str = ""
    estimate: int = 0
    gap: str = ""
    settled: tuple[str, ...] = ()
    """Open questions that this step has settled, in their words or nearly so."""


def take_step(session: ResearchSession, told: StepReport) -> ResearchSession:
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


def find_oddities(session: ResearchSession, steps: Sequence[SessionStep], told: StepReport) -> list[str]:
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


def superseded_by(steps: Sequence[SessionStep]) -> list[int]:
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
