"""A research session as data: its goal, steps, open questions and sources; and what a step does to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from specloom.core import from_epoch
from specloom.plugins.records import key, record

T = TypeVar("T")

MOST_GAPS = 100
"""Open and settled questions that one session holds."""
GOAL_CHARACTERS = 200
"""Characters of the first step that stand for a goal that was not given."""
_ALIKE = 0.6
"""Share of the words of an open question that the wording of its settlement must have to be taken for it."""
_WORDS = re.compile(r"\w+")


@record
class OpenGap:
    """A question, and the step that found it open."""

    description: str
    found_in: int | None = key("foundInStep", default=None)


@record
class Gap(OpenGap):
    """A question with the step that settled it; None where none has."""

    settled_in: int | None = key("resolvedInStep", default=None)


@record
class SessionSource:
    """Something that was found: its address, what is known of it, the step that found it, and later ones that did."""

    url: str
    title: str = ""
    kind: str | None = key("relevance", default=None)
    """What kind of source it is, such as `web` or `paper`."""
    author: str | None = None
    date: str | None = None
    doi: str | None = None
    found_in: int | None = key("foundInStep", default=None)
    found_again_in: Sequence[int] | None = key("foundAgainInSteps", default=None)


@record
class SitedSource(SessionSource):
    """A source with the journal or site that published it."""

    site: str | None = None


@record
class CallOutcome:
    """How one call of the session ended: whom it asked, what went wrong, and where."""

    provider: str | None = None
    success: bool = True
    error: str | None = key("errorKind", default=None)
    url: str | None = None
    step: int | None = key("stepNumber", default=None)
    timestamp: str | None = None


@record
class SessionStep:
    """One step as it was told, and the number of the one that supersedes it."""

    number: int = key("stepNumber")
    description: str
    reasoning: str | None = None
    confidence: str | None = None
    branch: str | None = key("branchId", default=None)
    timestamp: str = ""
    rejected: Sequence[str] | None = key("rejectedApproaches", default=None)
    is_revision: bool | None = None
    revises: int | None = key("revisesStep", default=None)
    branches_from: int | None = key("branchFromStep", default=None)
    superseded_by: int | None = None


@record
class ResearchSession:
    """One research. Whoever changes it makes a new one."""

    id: str
    goal: str
    started: float = 0.0
    tenant: str = ""
    estimate: int = 0
    completed: float = 0.0
    """When it was said to be complete; 0 while it is not."""
    summary: str = ""
    """What the caller said in short; empty where the caller said nothing."""
    gaps: Sequence[Gap] = ()
    sources: Sequence[SitedSource] = ()
    more_sources: int = 0
    """Sources that were found when there was no more room."""
    outcomes: Sequence[CallOutcome] = ()
    steps: int = 0
    """Steps that were told, for lists of sessions."""
    updated: float = 0.0
    """When the last of them was told."""
    last_step: int = 0
    """Its number: the step to which belongs what calls find until the next one."""

    @property
    def open_gaps(self) -> list[Gap]:
        """The questions that no step has settled."""
        return [gap for gap in self.gaps if not gap.settled_in]


@record
class StepReport:
    """What a caller tells with one step."""

    search_step: str
    step_number: int
    next_step_needed: bool
    session_id: str | None = None
    research_goal: str | None = None
    reasoning: str | None = None
    confidence: str | None = None
    rejected_approaches: list[str] | None = None
    session_summary: str | None = None
    response_mode: str | None = None
    total_steps_estimate: int | None = None
    is_revision: bool | None = None
    revises_step: int | None = None
    branch_from_step: int | None = None
    branch_id: str | None = None
    knowledge_gap: str | None = None
    resolved_gaps: list[str] | None = None
    depth: str | None = None
    elsewhere: str | None = None
    """Where the steps and sources are told of which the answer has the newest only, as a clause."""

    def to_step(self, now: float) -> SessionStep:
        """The step as it is kept."""
        return SessionStep(
            number=self.step_number,
            description=self.search_step,
            timestamp=from_epoch(now) or "",
            reasoning=self.reasoning or None,
            confidence=self.confidence or None,
            rejected=self.rejected_approaches or None,
            is_revision=self.is_revision or None,
            revises=self.revises_step or None,
            branch=self.branch_id or None,
            branches_from=self.branch_from_step or None,
        )


# --- as it is kept ----------------------------------------------------------------------------------------------------


def dump(value: Any) -> Any:
    """A record as it is kept: its fields under their own names, without texts and lists that say nothing."""
    if hasattr(type(value), "__dataclass_fields__"):
        contents = ((one.name, dump(getattr(value, one.name))) for one in fields(value))
        return {name: content for name, content in contents if content or content == 0}
    return [dump(item) for item in value] if isinstance(value, list | tuple) else value


def narrow(class_: type[T], wider: Any) -> T:
    """A record of fewer fields, from one that has more."""
    return class_(**{one.name: getattr(wider, one.name) for one in fields(class_)})  # type: ignore[arg-type]


def load(class_: type[T], value: Mapping[str, Any]) -> T:
    """A record as it was kept; a later version may have written more, and earlier ones wrote seconds for a time."""
    value = {"timestamp": from_epoch(value["at"]) or "", **value} if "at" in value else value
    names = {one.name for one in fields(class_)}  # type: ignore[arg-type]
    return class_(**{name: content for name, content in value.items() if name in names})


def load_session(value: Mapping[str, Any]) -> ResearchSession:
    """A session as it was kept."""
    ended = [{"success": not one.get("error"), **one} for one in value.get("outcomes", ())]
    lists = {
        "gaps": [load(Gap, one) for one in value.get("gaps", ())],
        "sources": [load(SitedSource, one) for one in value.get("sources", ())],
        "outcomes": [load(CallOutcome, one) for one in ended],
    }
    return load(ResearchSession, {**value, **lists})


# --- what a step does -------------------------------------------------------------------------------------------------


def take_step(session: ResearchSession, told: StepReport, now: float) -> ResearchSession:
    """The session after a step. Nothing that was told before is changed."""
    question = told.knowledge_gap or ""
    gaps = settle(session.gaps, told.resolved_gaps or (), told.step_number)
    if question and not any(_fold(gap.description) == _fold(question) and not gap.settled_in for gap in gaps):
        gaps.append(Gap(description=question, found_in=told.step_number))
    # Settled questions make room first, the oldest before the others.
    for gap in [gap for gap in gaps if gap.settled_in][: max(0, len(gaps) - MOST_GAPS)]:
        gaps.remove(gap)
    return replace(
        session,
        goal=told.research_goal or session.goal,
        summary=told.session_summary or session.summary,
        estimate=told.total_steps_estimate or session.estimate,
        completed=0.0 if told.next_step_needed else now,
        gaps=gaps[:MOST_GAPS],
        steps=session.steps + 1,
        updated=now,
        last_step=told.step_number,
    )


def find_oddities(session: ResearchSession, steps: Sequence[SessionStep], told: StepReport) -> list[str]:
    """One sentence for each thing about a step that is likely a mistake; nothing of it is refused."""
    number, revises, origin = told.step_number, told.revises_step, told.branch_from_step
    question, numbers = told.knowledge_gap, {step.number for step in steps}
    expected = max(numbers, default=0) + 1
    odd = {
        f"Step {number} was told before; both are kept, and the later one is shown for its number.": (
            number in numbers and not told.is_revision
        ),
        f"Step {number} follows step {expected - 1}: {expected} was expected.": number > expected,
        "A revision was told without revisesStep, so no step is marked as superseded.": (
            told.is_revision and not revises
        ),
        "revisesStep was given without isRevision, so no step is marked as superseded.": (
            revises and not told.is_revision
        ),
        f"revisesStep names step {revises}, which was never told.": revises and revises not in numbers,
        f"branchFromStep names step {origin}, which was never told.": origin and origin not in numbers,
        f"{MOST_GAPS} questions are open already, so this one was not kept: settle some by resolvedGaps.": (
            question and all(_fold(gap.description) != _fold(question) for gap in take_step(session, told, 0.0).gaps)
        ),
    }
    unsettled = find_unsettled(session, told.resolved_gaps or ())
    return [*(sentence for sentence, holds in odd.items() if holds), *unsettled]


def settle(gaps: Sequence[Gap], wordings: Sequence[str], step: int) -> list[Gap]:
    """The questions, of which those open that one of these wordings fits are settled by this step.

    A wording that is that of a question settles no other one, however near.
    """
    exact = {_fold(gap.description) for gap in gaps if not gap.settled_in}
    near = [words for words in wordings if _fold(words) not in exact]
    same = {_fold(words) for words in wordings}

    def is_settled(gap: Gap) -> bool:
        return _fold(gap.description) in same or any(_is_settled_by(gap, words) for words in near)

    return [replace(gap, settled_in=step) if not gap.settled_in and is_settled(gap) else gap for gap in gaps]


def find_unsettled(session: ResearchSession, wordings: Sequence[str]) -> list[str]:
    """One sentence for each wording that fits no open question."""
    return [
        f"No open question is worded like {words[:80]!r}, so none was settled by it."
        for words in wordings
        if not any(_is_settled_by(gap, words) for gap in session.open_gaps)
    ]


def mark_superseded(steps: Sequence[SessionStep]) -> list[SessionStep]:
    """The steps, each with the number of the latest of those told after it that revise it."""
    latest: dict[int, int] = {}
    marked = []
    for step in reversed(steps):
        number = latest.get(step.number)
        marked.append(replace(step, superseded_by=number) if number else step)
        if step.is_revision and step.revises:
            latest.setdefault(step.revises, step.number)
    return marked[::-1]


def _is_settled_by(gap: Gap, words: str) -> bool:
    if _fold(gap.description) == _fold(words):
        return True
    question, settlement = set(_WORDS.findall(gap.description.casefold())), set(_WORDS.findall(words.casefold()))
    return bool(question) and len(question & settlement) / len(question) >= _ALIKE


def _fold(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))
