"""A session as it is shown: in full while it is short, in sum when it is long, and for whoever has lost the thread."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from specloom.core import count_tokens, from_epoch
from specloom.plugins.records import inline, record, to_json

from .session import (
    CallOutcome,
    Gap,
    OpenGap,
    ResearchSession,
    SessionSource,
    SessionStep,
    SitedSource,
    mark_superseded,
    narrow,
)
from .sources import SourceCoverage

TRUST = "untrusted-external-content"
FULL_UP_TO = 8
"""Steps that are shown in full without being asked for; the contract's number."""
LAST_STEPS = 3
"""Newest steps that are always shown whole."""
NEWEST = 50
"""Sources, and lines of the index in sum, that the answer to a step shows; whoever takes a session up is told all."""
NEWEST_NOTE = "Of {all} {things} only the newest {shown} are shown here{elsewhere}."
ANSWER_TOKENS = 2_400
"""Tokens of an answer about a session, as compact JSON; a host that writes it with blanks is below 3,000 so."""
HEAD_SHARE, PAGE_SHARE = 0.3, 0.8
"""Shares of them that sources may have beside all else that the next step needs, and on a page of their own."""
PAGE_NOTE = "Of {all} sources {shown} are shown, those that were found last{behind}. Those before them: offset {next}."
_LINE, _SNIPPET, _SNIPPETS = 120, 80, 5
"""Characters of a step in the index, of a step in a generated summary, and steps in that."""
PATTERN_FROM = 3
"""Times that a kind of error must have been met before it is called a pattern."""
MOST_ADDRESSES = 5
"""Addresses that a pattern names."""

ADVICE: Mapping[str, str] = {
    "auth_required": "These sources ask for a login: look for open-access copies or preprints of the same work.",
    "blocked": "These sites turn automated readers away: use other sources, or archived copies of these.",
    "rate_limited": "The providers ask to slow down: name another provider, or leave more time between calls.",
    "browser_unavailable": "These pages need a browser: install Chromium, or prefer pages that work without.",
    "network": "Connections keep failing: try again later, and check the addresses.",
    "content_empty": "Nothing readable was found there: try the PDF, or another source for the same content.",
    "upstream_unavailable": "The providers keep failing: name another one, or come back later.",
}
"""What to do about a kind of error that keeps coming back, by the contract's word for it."""


@record
class StepLine:
    """One step in a line."""

    step_number: int
    one_liner: str
    branch_id: str
    confidence: str
    superseded_by: int | None = None


@record
class SessionView:
    """A session as it is shown; what does not apply is left out."""

    session_id: str
    response_mode: str
    research_goal: str
    step_count: int | None = None
    step: SessionStep | None = None
    total_steps_estimate: int | None = None
    is_complete: bool | None = None
    started_at: str | None = None
    trust: str = TRUST
    summary: str | None = None
    step_index: Sequence[StepLine] | None = None
    last_steps: Sequence[SessionStep] | None = None
    gaps: Sequence[OpenGap] | None = None
    sources: Sequence[SessionSource] | None = None
    completed_at: str | None = None


@record
class FoundPage:
    """A page that a suggested question found."""

    title: str
    url: str
    snippet: str


@record
class Refinement:
    """What a suggested question found, or why it found nothing."""

    query: str
    error: str | None = None
    result_count: int | None = None
    results: Sequence[FoundPage] | None = None


@record
class DeeperLook:
    """How widely a session has looked, and what asking further gave."""

    depth: str
    refinement_note: str | None = None
    refinement_warning: str | None = None
    coverage: SourceCoverage
    refinement_queries: Sequence[str]
    refinement_results: Sequence[Refinement] | None = None


@record
class SessionProgress(SessionView):
    """What a step is answered with."""

    started_at: str
    total_steps_estimate: int
    is_complete: bool
    current_step: int
    warning: str | None = None
    steps: Sequence[StepLine] | None = None
    deeper: DeeperLook | None = inline(default=None)


@record
class ErrorPattern:
    """A kind of error that keeps coming back."""

    count: int
    kind: str
    suggestion: str
    last_seen: str
    affected_urls: Sequence[str]


@record
class SessionRecovery(SessionView):
    """A session as it is taken up again, or one of its steps."""

    step_count: int
    resolved_gaps: Sequence[Gap] | None = None
    source_count: int | None = None
    next_offset: int | None = None
    note: str | None = None
    sources_not_kept: int | None = None
    error_patterns: Sequence[ErrorPattern] | None = None
    provider_stats: Mapping[str, Mapping[str, int]] | None = None


def show_progress(
    session: ResearchSession,
    steps: Sequence[SessionStep],
    *,
    number: int,
    mode: str = "",
    warnings: Sequence[str] = (),
    elsewhere: str = "",
) -> SessionProgress:
    """What a step is answered with; `mode` is `full`, `summary` or empty for what fits the length.

    `elsewhere` is a clause that says where the steps and sources are told that are left out here.
    """
    more = f"; {elsewhere}" if elsewhere else ""
    mode = mode or ("full" if len(steps) <= FULL_UP_TO else "summary")
    lengths = {"steps": 0 if mode == "full" else len(steps), "sources": len(session.sources)}
    notes = [
        NEWEST_NOTE.format(all=length, things=name, shown=NEWEST, elsewhere=more)
        for name, length in lengths.items()
        if length > NEWEST
    ]
    return SessionProgress(
        **_show(session, steps, mode, NEWEST),
        steps=show_index(steps) if mode == "full" else None,
        current_step=number,
        warning=" ".join((*warnings, *notes)) or None,
    )


def show_recovery(
    session: ResearchSession, steps: Sequence[SessionStep], offset: int = 0, limit: int = NEWEST, tokens: int = 0
) -> SessionRecovery:
    """Everything that is needed to take up a session again, and what its calls met so far; a page of its sources.

    The page has at most `limit` sources, the newest but for `offset` of them; with an offset it is all that is told.
    Sources that the answer has no room for in so many `tokens` (0: ANSWER_TOKENS) are on the next page.
    """
    room = int((tokens or ANSWER_TOKENS) * (PAGE_SHARE if offset else HEAD_SHARE))
    sources, following = page_sources(session.sources, offset, limit, room)
    behind = f" before the newest {offset}" if offset else ""
    note = PAGE_NOTE.format(all=len(session.sources), shown=len(sources), behind=behind, next=following)
    page: dict[str, Any] = {
        "step_count": len(steps),
        "source_count": len(session.sources),
        "next_offset": following,
        "note": note if following is not None else None,
    }
    if offset:
        head: dict[str, Any] = {"session_id": session.id, "response_mode": "sources", "research_goal": session.goal}
        return SessionRecovery(**head, **page, sources=sources)
    return SessionRecovery(
        **{**_show(session, steps, "summary"), "sources": sources},
        **page,
        resolved_gaps=[gap for gap in session.gaps if gap.settled_in] or None,
        sources_not_kept=session.more_sources or None,
        error_patterns=error_patterns(session.outcomes) or None,
        provider_stats=provider_stats(session.outcomes) or None,
    )


def page_sources(
    sources: Sequence[SitedSource], offset: int, limit: int, room: int
) -> tuple[list[SessionSource], int | None]:
    """At most `limit` sources and `room` tokens before the newest `offset`, as they were found; and the next offset.

    That is None where no source is left. One source is told however long it is.
    """
    end = max(0, len(sources) - offset)
    page: list[SessionSource] = []
    for source in reversed(sources[max(0, end - limit) : end]):
        shown = narrow(SessionSource, source)
        room -= count_tokens(json.dumps(to_json(shown), ensure_ascii=False)) + 1
        if page and room < 0:
            break
        page.append(shown)
    following = offset + len(page)
    return page[::-1], following if page and following < len(sources) else None


def show_one_step(session: ResearchSession, steps: Sequence[SessionStep], number: int) -> SessionRecovery | None:
    """One step of a session whole, the latest that was told under its number; None when there is none."""
    step = next((step for step in reversed(mark_superseded(steps)) if step.number == number), None)
    head: dict[str, Any] = {"session_id": session.id, "response_mode": "step", "research_goal": session.goal}
    return SessionRecovery(**head, step_count=len(steps), step=step) if step else None


def _show(session: ResearchSession, steps: Sequence[SessionStep], mode: str, most: int = 0) -> dict[str, Any]:
    """What all views tell of a session, with at most so many sources and lines of the index (0 is all)."""
    is_long = mode == "summary"
    return {
        "session_id": session.id,
        "response_mode": mode,
        "research_goal": session.goal,
        "started_at": from_epoch(session.started) or "",
        "completed_at": (from_epoch(session.completed) or "") if session.completed else None,
        "total_steps_estimate": session.estimate,
        "is_complete": bool(session.completed),
        "summary": summarise(session, steps) if is_long else None,
        "step_index": show_index(steps)[-most:] if is_long else None,
        "last_steps": mark_superseded(steps)[-LAST_STEPS:],
        "gaps": [narrow(OpenGap, gap) for gap in session.open_gaps],
        "sources": [narrow(SessionSource, source) for source in session.sources[-most:]],
    }


def show_index(steps: Sequence[SessionStep]) -> list[StepLine]:
    """One line for each step."""
    return [
        StepLine(
            step_number=step.number,
            one_liner=cut(step.description, _LINE),
            branch_id=step.branch or "",
            confidence=step.confidence or "",
            superseded_by=step.superseded_by,
        )
        for step in mark_superseded(steps)
    ]


def summarise(session: ResearchSession, steps: Sequence[SessionStep]) -> str:
    """What the caller said in short, else the goal and the beginnings of the newest steps."""
    if session.summary:
        return session.summary
    lines = [f"Step {step.number}: {cut(step.description, _SNIPPET)}" for step in steps[-_SNIPPETS:]]
    return "\n".join([f"Goal: {session.goal}", *lines])


def cut(text: str, characters: int) -> str:
    """A text on one line, and no longer than this; never half a character."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


# --- what the calls of a session met ----------------------------------------------------------------------------------


def error_patterns(outcomes: Iterable[CallOutcome]) -> list[ErrorPattern]:
    """The kinds of error that were met three times or more, the most frequent first."""
    failures: dict[str, list[CallOutcome]] = {}
    for outcome in outcomes:
        if outcome.error:
            failures.setdefault(outcome.error, []).append(outcome)
    patterns = [
        ErrorPattern(
            kind=kind,
            count=len(some),
            affected_urls=list(dict.fromkeys(one.url for one in reversed(some) if one.url))[:MOST_ADDRESSES],
            suggestion=ADVICE.get(kind, "Try another way to the same content."),
            last_seen=max(one.timestamp or "" for one in some),
        )
        for kind, some in failures.items()
        if len(some) >= PATTERN_FROM
    ]
    return sorted(patterns, key=lambda pattern: (-pattern.count, pattern.kind))


def provider_stats(outcomes: Sequence[CallOutcome]) -> dict[str, dict[str, int]]:
    """How often each provider was asked, and how often it answered."""
    attempts = Counter(one.provider for one in outcomes if one.provider)
    successes = Counter(one.provider for one in outcomes if not one.error)
    return {name: {"attempts": attempts[name], "successes": successes[name]} for name in sorted(attempts)}
