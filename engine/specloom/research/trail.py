"""A research session as data: its goal, steps, open questions and sources, and what the calls of it met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
class Source:
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
class Outcome:
    """How one call of the session ended: whom it asked, what went wrong (empty: nothing), and where."""

    provider: str
    error: str = ""
    url: str = ""
    step: int = 0
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
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
class Session:
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
    sources: tuple[Source, ...] = ()
    more_sources: int = 0
    """Sources that were found when there was no more room."""
    outcomes: tuple[Outcome, ...] = field(default=())

    @property
    def open_gaps(self) -> tuple[Gap, ...]:
        """The questions that no step has settled."""
        return tuple(gap for gap in self.gaps if not gap.settled_in)


def to_json(session: Session) -> dict[str, Any]:
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


def from_json(value: Mapping[str, Any]) -> Session:
    """A session as it was kept."""
    return Session(
        value["id"],
        value["goal"],
        value["started"],
        value["tenant"],
        value["estimate"],
        value["completed"],
        value["summary"],
        tuple(Gap(**_known(Gap, one)) for one in value["gaps"]),
        tuple(Source(**_known(Source, one)) for one in value["sources"]),
        value["more_sources"],
        tuple(Outcome(**_known(Outcome, one)) for one in value["outcomes"]),
    )


def step_to_json(step: Step) -> dict[str, Any]:
    """A step as it is kept."""
    return _dump(step)


def step_from_json(value: Mapping[str, Any]) -> Step:
    """A step as it was kept."""
    known = _known(Step, value)
    return Step(**{**known, "rejected": tuple(known.get("rejected", ()))})


def _dump(one: Gap | Source | Outcome | Step) -> dict[str, Any]:
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
