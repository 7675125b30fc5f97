"""A session as a document: a report for people, or the whole session for programs. The same session gives the same."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from specloom.core import from_epoch, shipped_folder
from specloom.plugins import split_owner

from .session import CallOutcome, SessionSource
from .store import Trail, error_patterns, find, provider_stats
from .views import TRUST, show_gap, show_source, show_steps, summarise

if TYPE_CHECKING:
    from jinja2 import Template

    from specloom.plugins import Context


TEMPLATE = "research/report.md.j2"
# What begins something in Markdown wherever it stands, and what does so at the beginning of a line.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~!$&]")
_BEGINNING = re.compile(r"(\d*)([-+=:.)])")


@dataclass(frozen=True, slots=True)
class LinkState:
    """What a look at a source's address gave: its status, whether it answers, and an archived copy where it does not.

    `is_live` is None where it could not be told.
    """

    is_live: bool | None
    status: int = 0
    archived: str = ""
    checked: float = 0.0


NO_LINKS: Mapping[str, LinkState] = MappingProxyType({})


def export_answer(
    trail: Trail, form: str, *, now: float, tenant: str, links: Mapping[str, LinkState] = NO_LINKS
) -> dict[str, Any]:
    """The answer of an export, `form` being `markdown` or `json`; `links` says what is known of addresses."""
    session = trail.session
    return {
        "sessionId": session.id,
        "format": form,
        "researchGoal": session.goal,
        "stepCount": len(trail.steps),
        "sourceCount": len(session.sources),
        "startedAt": from_epoch(session.started) or "",
        "exportedAt": from_epoch(now) or "",
        "tenantId": tenant,
        "document": to_report(trail, now, tenant, links) if form == "markdown" else to_document(trail, links),
        "trust": TRUST,
    }


def to_document(trail: Trail, links: Mapping[str, LinkState] = NO_LINKS) -> dict[str, Any]:
    """The whole session as data."""
    session = trail.session
    document: dict[str, Any] = {
        "id": session.id,
        "researchGoal": session.goal,
        "totalStepsEstimate": session.estimate,
        "createdAt": from_epoch(session.started) or "",
        "completed": bool(session.completed),
        "summary": summarise(session, trail.steps),
        "steps": show_steps(trail.steps),
        "sources": [
            {**show_source(one), **_show_site(one), **_show_link(links.get(one.url))} for one in session.sources
        ],
        "gaps": [show_gap(gap) for gap in session.gaps],
    }
    if session.completed:
        document["completedAt"] = from_epoch(session.completed) or ""
    if session.more_sources:
        document["sourcesNotKept"] = session.more_sources
    if session.outcomes:
        document["outcomes"] = [_show_outcome(one) for one in session.outcomes]
        document["providerStats"] = provider_stats(session.outcomes)
        document["errorPatterns"] = error_patterns(session.outcomes)
    return document


def to_report(trail: Trail, now: float, tenant: str, links: Mapping[str, LinkState] = NO_LINKS) -> str:
    """The session as Markdown; whatever came from outside is text in it and never markup."""
    session = trail.session
    shown = show_steps(trail.steps)
    steps = [(_head(one), step, one["timestamp"]) for one, step in zip(shown, trail.steps, strict=True)]
    return _template().render(
        session=session,
        started=from_epoch(session.started) or "",
        exported=from_epoch(now) or "",
        tenant=tenant,
        steps=steps,
        open_gaps=[show_gap(gap) for gap in session.open_gaps],
        settled_gaps=[show_gap(gap) for gap in session.gaps if gap.settled_in],
        sources=[_describe(source, links.get(source.url)) for source in session.sources],
    )


def _head(step: Mapping[str, Any]) -> str:
    notes = []
    if step.get("isRevision") and step.get("revisesStep"):
        notes.append(f"revises step {step['revisesStep']}")
    if "supersededBy" in step:
        notes.append(f"superseded by step {step['supersededBy']}")
    if "branchId" in step or "branchFromStep" in step:
        name = _inline(step.get("branchId", ""))
        origin = f" from step {step['branchFromStep']}" if "branchFromStep" in step else ""
        notes.append(f"branch{' ' + name if name else ''}{origin}")
    return f"Step {step['stepNumber']}" + (f" ({', '.join(notes)})" if notes else "")


def _describe(source: SessionSource, link: LinkState | None) -> dict[str, Any]:
    return {
        "title": _inline(source.title or source.url),
        "url": to_target(source.url),
        "kind": _inline(source.kind),
        "author": _inline(source.author),
        "site": _inline(source.site),
        "date": _inline(source.date),
        "doi": _inline(source.doi),
        "step": source.found_in,
        "state": "" if link is None or link.is_live is None else "live" if link.is_live else "dead",
        "archived": to_target(link.archived) if link and link.archived else "",
    }


def _show_outcome(outcome: CallOutcome) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "provider": outcome.provider,
        "success": not outcome.error,
        "errorKind": outcome.error,
        "url": outcome.url,
        "stepNumber": outcome.step,
        "timestamp": from_epoch(outcome.at) or "",
    }
    return {name: value for name, value in shown.items() if value or name == "success"}


def _show_site(source: SessionSource) -> dict[str, Any]:
    return {"site": source.site} if source.site else {}


def _show_link(link: LinkState | None) -> dict[str, Any]:
    if link is None:
        return {}
    shown: dict[str, Any] = {"httpStatus": link.status, "verified": link.is_live, "archivedUrl": link.archived}
    shown["verifiedAt"] = from_epoch(link.checked) or ""
    return {name: value for name, value in shown.items() if value or value is False}


def escape(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    line = _inline(text)
    return _BEGINNING.sub(r"\1\\\2", line, count=1) if _BEGINNING.match(line) else line


def _inline(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def to_target(url: str) -> str:
    """An address that can stand between `<` and `>` in a link."""
    from urllib.parse import quote

    return quote(url, safe="!#$%&'()*+,/:;=?@[]~-._")


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(Path(shipped_folder(), "templates"))
    environment = Environment(  # noqa: S701 - Markdown, not HTML: what comes from outside is escaped by `escape`
        loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["text"] = escape
    return environment.get_template(TEMPLATE)


# --- A session handed out as a document, with its links looked at where that is asked for -----------------------------


SECONDS = 90.0
"""Time for all addresses, within that of the call; those that were not looked at by then are left open."""
TOGETHER = 16
"""Addresses after which it is told how far this has come."""


async def export(context: Context, session: str, form: str, verify_links: bool) -> dict[str, Any]:
    """The document of a session, with what it is a document of."""
    trail = await find(context.state("sessions"), session)
    links = await _look_at(context, trail.session.sources) if verify_links else NO_LINKS
    return export_answer(trail, form, now=context.now(), tenant=split_owner(context.owner)[0], links=links)


async def _look_at(context: Context, sources: tuple[SessionSource, ...]) -> Mapping[str, LinkState]:
    """What became of the addresses; what cannot be told of one is left open and fails nothing."""
    from specloom.domains.trust import check_links

    states: dict[str, LinkState] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            for at in range(0, len(sources), TOGETHER):
                context.tell(at, len(sources), f"{at} of {len(sources)} addresses looked at")
                some = sources[at : at + TOGETHER]
                looked = await check_links(context, [one.url for one in some], dates=[one.date for one in some])
                states |= {one.url: LinkState(one.live, one.status, one.archived, context.now()) for one in looked}
    context.tell(len(sources), len(sources), f"{len(states)} of {len(sources)} addresses looked at")
    return states
