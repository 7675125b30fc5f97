"""A session as a document: a report for people, or the whole session for programs. The same session gives the same."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from specloom.core import from_epoch, template_renderer
from specloom.plugins import Context, WholeText, procedure, split_owner
from specloom.plugins.records import record

from .document import NO_LINKS, LinkState, name_steps, to_document
from .session import SitedSource, load_session
from .store import SESSIONS, Trail, find
from .tree import find_sources_of_steps, has_turns, walk
from .views import TRUST

SECONDS = 90.0
"""Time for all addresses, within that of the call; those that were not looked at by then are left open."""
TOGETHER = 16
"""Addresses after which it is told how far this has come."""
# What begins something in Markdown wherever it stands, and what does so at the beginning of a line.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~!$&]")
_BEGINNING = re.compile(r"^(\d*)([-+=:.)])")


@record
class ExportedSession:
    """A session as a document: a report as text, or the whole of it as data."""

    session_id: str
    format: str
    research_goal: str
    step_count: int
    source_count: int
    started_at: str
    exported_at: str
    tenant_id: str
    document: Any = None
    document_resource: str | None = None
    """Where a page or a file is kept."""
    trust: str = TRUST


ADDRESS, LISTING = "research://session/", "research://sessions"
"""With what the address of a session begins, and the address of their list."""


@procedure("export_session", asks=("snapshots",), keeps=(SESSIONS,))
async def export(
    context: Context,
    session_id: str,
    format: str = "markdown",  # noqa: A002  the name of the tool's argument
    verify_links: bool = False,
) -> ExportedSession:
    """Makes a session of the caller into a document; the session stays as it is.

    With `verify_links` every source is looked at, and the archived copy of a dead one is named in the document. A page
    (html) and a file for word processors (docx) are kept beside the answer, which has their address; a page that cannot
    be kept is in the answer.
    """
    if format == "docx":
        from specloom.domains.trust import expect_library

        expect_library()
    trail = await find(context.state("sessions"), session_id)
    links = await _look_at(context, trail.session.sources) if verify_links else NO_LINKS
    tenant = split_owner(context.owner)[0]
    exported = export_session(trail, format, now=context.now(), tenant=tenant, links=links)
    return await _keep(context, exported) if format in _FILES else exported


_FILES = ("html", "docx")
"""The forms that are kept beside the answer."""


async def _keep(context: Context, exported: ExportedSession) -> ExportedSession:
    """The answer with where its document is kept."""
    from specloom.domains.trust import keep_report, write_report

    from .report import to_report

    def write() -> str | bytes:
        return write_report(to_report(exported.document, exported_at=exported.exported_at), exported.format)

    written = await asyncio.to_thread(write) if context.is_live else write()
    address = await keep_report(context, written, exported.format, "research session")
    page = written if isinstance(written, str) and not address else None
    return replace(exported, document=page, document_resource=address or None)


@procedure("session_text", keeps=(SESSIONS,), reads=(ADDRESS,))
async def read_session(context: Context, address: str) -> WholeText:
    """The whole of a session of the caller as Markdown, by its address."""
    from urllib.parse import unquote

    trail = await find(context.state("sessions"), unquote(address[len(ADDRESS) :]))
    document = export_session(trail, "markdown", now=context.now(), tenant=split_owner(context.owner)[0]).document
    return WholeText(text=str(document), title=trail.session.goal, kind="session")


@procedure("sessions_text", keeps=(SESSIONS,), reads=(LISTING,))
async def read_sessions(context: Context, address: str) -> WholeText:  # noqa: ARG001 - there is one list
    """The sessions of the caller, the last used first, for whoever has lost an identifier."""
    collection = context.state("sessions")
    sessions = [load_session(item.value) for item in await collection.items(limit=collection.spec.max_items)]
    lines = [
        f"- {inline_text(one.goal)} · {'complete' if one.completed else 'open'} · last used"
        f" {from_epoch(one.updated or one.started)} · sessionId {one.id}"
        for one in sorted(sessions, key=lambda one: -(one.updated or one.started))
    ]
    return WholeText(text="\n".join(lines) or "There are no sessions.", title="Research sessions", kind="sessions")


async def _look_at(context: Context, sources: Sequence[SitedSource]) -> Mapping[str, LinkState]:
    """What became of the addresses; what cannot be told of one is left open and fails nothing."""
    from specloom.domains.trust import check_links

    states: dict[str, LinkState] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            for at in range(0, len(sources), TOGETHER):
                context.tell(at, len(sources), f"{at} of {len(sources)} addresses looked at")
                some = sources[at : at + TOGETHER]
                dates = [one.date or "" for one in some]
                for link in await check_links(context, [one.url for one in some], dates=dates):
                    states[link.url] = LinkState(
                        http_status=link.status or None,
                        verified=link.live,
                        archived_url=link.archived or None,
                        verified_at=from_epoch(context.now()),
                    )
    context.tell(len(sources), len(sources), f"{len(states)} of {len(sources)} addresses looked at")
    return states


def export_session(
    trail: Trail, form: str, *, now: float, tenant: str, links: Mapping[str, LinkState] = NO_LINKS
) -> ExportedSession:
    """The answer of an export, `form` being `markdown` or `json`; `links` says what is known of addresses."""
    session, document = trail.session, to_document(trail, links)
    answer = ExportedSession(
        session_id=session.id,
        format=form,
        research_goal=session.goal,
        step_count=len(trail.steps),
        source_count=len(session.sources),
        started_at=document.created_at,
        exported_at=from_epoch(now) or "",
        tenant_id=tenant,
        document=document,
    )
    if form != "markdown":
        return answer
    facts = {
        "answer": answer,
        "document": document,
        "session": session,
        "found": find_sources_of_steps(session.sources),
        "tree": list(walk(document.tree)) if has_turns(trail.steps) else [],
        "lines": {step.number: step.description for step in trail.steps},
    }
    filters: dict[str, Callable[..., object]] = {
        "text": escape,
        "inline": inline_text,
        "target": to_target,
        "steps": name_steps,
    }
    render = template_renderer("research", filters)
    return replace(answer, document=render("report.md.j2", facts))


def escape(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return _BEGINNING.sub(r"\1\\\2", inline_text(text))


def inline_text(text: str) -> str:
    """A text that Markdown shows as it is behind other text."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def to_target(url: str) -> str:
    """An address that can stand between `<` and `>` in a link."""
    from urllib.parse import quote

    return quote(url, safe="!#$%&'()*+,/:;=?@[]~-._")
