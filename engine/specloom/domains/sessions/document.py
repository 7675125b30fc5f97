"""A session as data to hand on: its steps by number and as a tree, its questions, and sources with their links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from specloom.core import from_epoch
from specloom.plugins.records import inline, record

from .session import CallOutcome, Gap, SessionStep, SitedSource, mark_superseded
from .store import Trail
from .tree import StepNode, to_tree
from .views import ErrorPattern, error_patterns, provider_stats, summarise


@record
class LinkState:
    """What a look at a source's address gave: its status, whether it answers, and an archived copy where it does not.

    `verified` is None where it could not be told.
    """

    http_status: int | None = None
    verified: bool | None = None
    archived_url: str | None = None
    verified_at: str | None = None


NO_LINKS: Mapping[str, LinkState] = {}


@record
class CheckedSource(SitedSource):
    """A source, and what became of its address."""

    link: LinkState | None = inline(default=None)


@record
class SessionDocument:
    """The whole session as data."""

    id: str
    research_goal: str
    total_steps_estimate: int
    created_at: str
    completed: bool
    summary: str
    steps: Sequence[SessionStep]
    sources: Sequence[CheckedSource]
    gaps: Sequence[Gap]
    tree: Sequence[StepNode]
    """The steps by number, branches below the step that they leave and revisions below what they revise."""
    completed_at: str | None = None
    sources_not_kept: int | None = None
    outcomes: Sequence[CallOutcome] | None = None
    provider_stats: Mapping[str, Mapping[str, int]] | None = None
    error_patterns: Sequence[ErrorPattern] | None = None


def to_document(trail: Trail, links: Mapping[str, LinkState] = NO_LINKS) -> SessionDocument:
    """The whole session as data."""
    session = trail.session
    outcomes = session.outcomes
    return SessionDocument(
        id=session.id,
        research_goal=session.goal,
        total_steps_estimate=session.estimate,
        created_at=from_epoch(session.started) or "",
        completed=bool(session.completed),
        summary=summarise(session, trail.steps),
        steps=mark_superseded(trail.steps),
        sources=[
            CheckedSource(**{part.name: getattr(one, part.name) for part in fields(one)}, link=links.get(one.url))
            for one in session.sources
        ],
        gaps=session.gaps,
        tree=to_tree(trail.steps, session.sources),
        completed_at=(from_epoch(session.completed) or "") if session.completed else None,
        sources_not_kept=session.more_sources or None,
        outcomes=outcomes or None,
        provider_stats=provider_stats(outcomes) if outcomes else None,
        error_patterns=error_patterns(outcomes) if outcomes else None,
    )


def name_steps(source: SitedSource) -> str:
    """The steps in which a source was found, such as `step 1` or `steps 1, 4`."""
    numbers = [source.found_in, *(source.found_again_in or ())]
    return f"step{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
