"""A session as it is shown: in full while it is short, in sum when it is long, and for whoever has lost the thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specloom.core import from_epoch

from .session import Gap, ResearchSession, SessionSource, SessionStep, superseded_by
from .store import error_patterns, provider_stats

TRUST = "untrusted-external-content"
FULL_UP_TO = 8
"""Steps that are shown in full without being asked for; the contract's number."""
LAST_STEPS = 3
"""Newest steps that are always shown whole."""
NEWEST = 50
"""Sources, and lines of the index in sum, that the answer to a step shows; whoever takes a session up is told all."""
NEWEST_NOTE = "Of {all} {things} only the newest {shown} are shown here; get_research_session tells all."
_LINE, _SNIPPET, _SNIPPETS = 120, 80, 5
"""Characters of a step in the index, of a step in a generated summary, and steps in that."""


def show_steps(steps: Sequence[SessionStep]) -> list[dict[str, Any]]:
    """Every step whole, with the number of the one that supersedes it."""
    return [_show_step(step, superseded) for step, superseded in zip(steps, superseded_by(steps), strict=True)]


def _show_step(step: SessionStep, superseded: int) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "stepNumber": step.number,
        "description": step.description,
        "reasoning": step.reasoning,
        "confidence": step.confidence,
        "rejectedApproaches": list(step.rejected),
        "isRevision": step.is_revision,
        "revisesStep": step.revises,
        "branchId": step.branch,
        "branchFromStep": step.branches_from,
        "timestamp": from_epoch(step.at) or "",
        "supersededBy": superseded,
    }
    always = ("stepNumber", "description", "timestamp")
    return {name: value for name, value in shown.items() if value or name in always}


def show_index(steps: Sequence[SessionStep]) -> list[dict[str, Any]]:
    """One line for each step."""
    entries = []
    for step, superseded in zip(steps, superseded_by(steps), strict=True):
        entry: dict[str, Any] = {
            "stepNumber": step.number,
            "oneLiner": cut(step.description, _LINE),
            "branchId": step.branch,
            "confidence": step.confidence,
        }
        entries.append({**entry, "supersededBy": superseded} if superseded else entry)
    return entries


def show_gap(gap: Gap) -> dict[str, Any]:
    """A question, with the steps that found and settled it."""
    shown: dict[str, Any] = {"description": gap.description}
    if gap.found_in:
        shown["foundInStep"] = gap.found_in
    if gap.settled_in:
        shown["resolvedInStep"] = gap.settled_in
    return shown


def show_source(source: SessionSource) -> dict[str, Any]:
    """A source with what is known of it."""
    shown: dict[str, Any] = {
        "url": source.url,
        "title": source.title,
        "relevance": source.kind,
        "author": source.author,
        "date": source.date,
        "doi": source.doi,
        "foundInStep": source.found_in,
    }
    return {name: value for name, value in shown.items() if value or name in ("url", "title")}


def summarise(session: ResearchSession, steps: Sequence[SessionStep]) -> str:
    """What the caller said in short, else the goal and the beginnings of the newest steps."""
    if session.summary:
        return session.summary
    lines = [f"Step {step.number}: {cut(step.description, _SNIPPET)}" for step in steps[-_SNIPPETS:]]
    return "\n".join([f"Goal: {session.goal}", *lines])


def show_progress(
    session: ResearchSession, steps: Sequence[SessionStep], *, number: int, mode: str = "", warnings: Sequence[str] = ()
) -> dict[str, Any]:
    """What a step is answered with; `mode` is `full`, `summary` or empty for what fits the length."""
    mode = mode or ("full" if len(steps) <= FULL_UP_TO else "summary")
    shown: dict[str, Any] = {
        "sessionId": session.id,
        "responseMode": mode,
        "researchGoal": session.goal,
        "currentStep": number,
        "totalStepsEstimate": session.estimate,
        "isComplete": bool(session.completed),
        "startedAt": from_epoch(session.started) or "",
        "trust": TRUST,
    }
    if session.completed:
        shown["completedAt"] = from_epoch(session.completed) or ""
    around = _show_around(session, steps)
    if mode == "full":
        shown["steps"] = show_index(steps)
    else:
        shown["summary"] = summarise(session, steps)
        shown["stepIndex"] = show_index(steps)
    bounded = {"steps": shown.get("stepIndex", []), "sources": around["sources"]}
    notes = [
        NEWEST_NOTE.format(all=len(some), things=name, shown=NEWEST)
        for name, some in bounded.items()
        if len(some) > NEWEST
    ]
    for some in bounded.values():
        del some[:-NEWEST]
    if said := " ".join((*warnings, *notes)):
        shown["warning"] = said
    return {**shown, **around}


def show_recovery(session: ResearchSession, steps: Sequence[SessionStep]) -> dict[str, Any]:
    """Everything that is needed to take up a session again, and what its calls met so far."""
    shown: dict[str, Any] = {
        "sessionId": session.id,
        "responseMode": "summary",
        "researchGoal": session.goal,
        "stepCount": len(steps),
        "totalStepsEstimate": session.estimate,
        "isComplete": bool(session.completed),
        "startedAt": from_epoch(session.started) or "",
        "trust": TRUST,
        "summary": summarise(session, steps),
        "stepIndex": show_index(steps),
        **_show_around(session, steps),
    }
    if session.completed:
        shown["completedAt"] = from_epoch(session.completed) or ""
    if settled := [show_gap(gap) for gap in session.gaps if gap.settled_in]:
        shown["resolvedGaps"] = settled
    if session.more_sources:
        shown["sourcesNotKept"] = session.more_sources
    if patterns := error_patterns(session.outcomes):
        shown["errorPatterns"] = patterns
    if stats := provider_stats(session.outcomes):
        shown["providerStats"] = stats
    return shown


def show_one_step(session: ResearchSession, steps: Sequence[SessionStep], number: int) -> dict[str, Any] | None:
    """One step of a session whole, the latest that was told under its number; None when there is none."""
    found = next((step for step in reversed(show_steps(steps)) if step["stepNumber"] == number), None)
    if found is None:
        return None
    return {
        "sessionId": session.id,
        "responseMode": "step",
        "researchGoal": session.goal,
        "stepCount": len(steps),
        "step": found,
        "trust": TRUST,
    }


def _show_around(session: ResearchSession, steps: Sequence[SessionStep]) -> dict[str, Any]:
    return {
        "lastSteps": show_steps(steps)[-LAST_STEPS:],
        "gaps": [show_gap(gap) for gap in session.open_gaps],
        "sources": [show_source(source) for source in session.sources],
    }


def cut(text: str, characters: int) -> str:
    """A text on one line, and no longer than this; never half a character."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"
