"""Entries written as a bibliography: in a style that people read, or in a format that reference managers read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from specloom.core import Fault
from specloom.plugins import PROCEDURES, Context, JsonObject, to_json

from ..records import Bibliography, Unreadable
from .bibtex import to_biblatex, to_bibtex
from .csl import to_csl
from .csl_processor import write_in_csl
from .documents import entry_from_json, parse_bibliography, read_stored_references, run_reading
from .endnote import to_endnote
from .entry import BibliographyEntry, Name, assign_keys, from_source, parse_issued
from .losses import find_losses
from .styles import STYLES as READ
from .styles import defuse, write_list
from .tagged import to_nbib, to_ris
from .zotero import to_zotero

# --- A list of entries as one text in a named style, the same bytes for the same list ---------------------------------


_WRITTEN = {
    "bibtex": to_bibtex,
    "ris": to_ris,
    "csl-json": to_csl,
    "biblatex": to_biblatex,
    "nbib": to_nbib,
    "endnote-xml": to_endnote,
    "zotero-json": to_zotero,
}
STYLES = (*READ, *_WRITTEN)
INTERCHANGE = frozenset(_WRITTEN)
"""The styles in which no entry depends on the others of its list."""


def unify(entries: Sequence[BibliographyEntry]) -> list[BibliographyEntry]:
    """The entries that name a work, each once: by its address, and by what it says of itself where it has none."""
    unique: dict[object, BibliographyEntry] = {}
    for entry in entries:
        if is_named(entry):
            at = entry.url or entry.doi.lower() or (entry.title.casefold(), entry.authors, entry.date, entry.container)
            unique.setdefault(at, entry)
    return list(unique.values())


def is_named(entry: BibliographyEntry) -> bool:
    """Whether an entry says which work it is of."""
    return bool(entry.url or entry.doi or entry.title or entry.authors)


def render(entries: Sequence[BibliographyEntry], style: str = "apa", *, accessed: str = "") -> tuple[str, int]:
    """The entries in a style of STYLES, and how many: those that name no work are left out, as are later equals.

    APA and MLA are sorted by how they read, the other formats by key. `accessed` (YYYY-MM-DD) is shown by APA for
    undated pages and by MLA where an entry has no day of access of its own; the interchange formats leave it out, so
    that they stay the same from day to day. Raises a `validation` fault for another style.
    """
    unique = unify(entries)
    day = parse_issued(accessed)
    seen = day if len(day) == 3 else ()
    if style in READ:
        text = "\n\n".join(write_list(unique, style, seen))
    elif style in _WRITTEN:
        text = _WRITTEN[style](assign_keys(unique))
    else:
        raise Fault("validation", f"unknown style {style!r}; use one of {', '.join(STYLES)}")
    return text, len(unique)


def write_entries(entries: Sequence[BibliographyEntry], style: str) -> str:
    """Entries that have keys in a style of STYLES: all of them in the order of the style or, in a format, in this one.

    Raises a `validation` fault for another style.
    """
    if style in _WRITTEN:
        return _WRITTEN[style](entries)
    if style not in READ:
        raise Fault("validation", f"unknown style {style!r}; use one of {', '.join(STYLES)}")
    return "\n\n".join(write_list(entries, style))


def format_entries(body: bytes, style: str) -> tuple[str, dict[str, int]]:
    """What `write_entries` makes of entries, data in JSON as `asdict` has them, and what the format did not keep."""
    entries = [entry_from_json(data) for data in json.loads(body)]
    text = write_entries(entries, style)
    return text, find_losses(entries, text, style) if style in _WRITTEN else {}


def serialise_entries(entries: Sequence[BibliographyEntry]) -> bytes:
    """Entries in JSON as `asdict` has them, which is slow with many people: it copies every part of each."""
    return json.dumps(entries, default=_list_fields).encode()


def _list_fields(part: BibliographyEntry | Name) -> dict[str, Any]:
    return {name: getattr(part, name) for name in _FIELDS[type(part)]}


_FIELDS = {kind: tuple(one.name for one in fields(kind)) for kind in (BibliographyEntry, Name)}


async def export_entries(
    context: Context, entries: Sequence[BibliographyEntry], style: str
) -> tuple[str, dict[str, int]]:
    """Entries that have keys in a style of STYLES or one of CSL, and how many entries lost a field in it, by its name.

    The faults are those of `write_entries` and `write_in_csl`.
    """
    told = style if style in STYLES else "csl-json"
    body = serialise_entries(entries)
    here = len(body) <= SHORT_SOURCES
    text, losses = await run_reading(context, format_entries, body, told, here=here)
    if style in STYLES:
        return text, losses
    lines = await write_in_csl(text if context.is_live else "[]", style, ", ".join(STYLES), is_alone=context.is_alone)
    return "\n\n".join(map(_defuse_numbered, lines)), {}


# --- Formats sources as a bibliography: those that a caller names, or those that a session has recorded ---------------


_MOST_PLACES = 20


SHORT_SOURCES = 10_000
"""Characters of sources that are formatted on the event loop: the slowest texts that are known take it 0.1 seconds."""
MOST_FORMATTED = 2000
"""Entries of one call, from wherever they come."""


async def format_sources(
    context: Context,
    style: str,
    sources: Sequence[JsonObject] | None,
    session: str,
    document: str = "",
    format: str = "auto",  # noqa: A002  the name of the tool's argument
    source: str = "",
) -> Bibliography:
    """The bibliography; named sources come before a document, that before a stored paper's `source`, and a session.

    Pages in a style that people read show their day of access where the manuals ask for one: the one that they say,
    and today for named sources and a session. The interchange formats stay the same from day to day. A style of
    another name is one of CSL.
    """
    if source and not sources and not document.strip():
        document, format = await read_stored_references(context, source)  # noqa: A001
    if not sources and not document.strip() and not session:
        message = "nothing to format: give sources, a bibliography, a source or a sessionId"
        raise Fault("validation", message, action="fix_arguments")
    today = datetime.fromtimestamp(context.now(), UTC).date().isoformat()
    is_known = style in STYLES
    told = style if is_known else "csl-json"
    # Who names a page or has read it in a session looks at it today; of what stands in a document nobody knows when.
    accessed = today if told in READ else ""
    problems: tuple[Unreadable, ...] = ()
    if document.strip() and not sources:
        body = document.encode("utf-8", "replace")
        text, count, skipped, unreadable = await run_reading(context, format_document, body, format, told)
        problems = tuple(Unreadable(**problem) for problem in unreadable)
    else:
        rows = sources or await find_sources(context, session)
        body = json.dumps(list(rows)).encode()
        here = len(body) <= SHORT_SOURCES
        text, count, skipped = await run_reading(context, format_rows, body, told, accessed, here=here)
    if not is_known:
        lines = await write_in_csl(
            text if context.is_live else "[]", style, ", ".join(STYLES), is_alone=context.is_alone
        )
        text = "\n\n".join(map(_defuse_numbered, lines))
    return Bibliography(
        style=style,
        entry_count=count,
        bibliography=text,
        session_id=session if session and not sources and not document.strip() else None,
        skipped=len(skipped) or None,
        skipped_note=_to_note(skipped) if skipped else None,
        unreadable=problems or None,
    )


_NUMBERED = re.compile(r"(?:\[[0-9]{1,4}\]|[0-9]{1,4}\.)\s")


def _defuse_numbered(line: str) -> str:
    """A line of a list as plain text, its number as it is."""
    number = _NUMBERED.match(line)
    return f"{number[0]}{defuse(line[number.end() :])}" if number else defuse(line)


def _to_note(skipped: Sequence[str]) -> str:
    places = ", ".join(skipped[:_MOST_PLACES]) + (" …" if len(skipped) > _MOST_PLACES else "")
    lack, left = ("source {} has", "was") if len(skipped) == 1 else ("sources {} have", "were")
    return f"{lack.format(places)} neither an address, a DOI, a title nor an author and {left} left out"


def format_rows(body: bytes, style: str, accessed: str) -> tuple[str, int, list[str]]:
    """What `render` makes of sources, objects in JSON, and the places (from 1) of those that it leaves out."""
    entries = [from_source({name: str(value) for name, value in source.items()}) for source in json.loads(body)]
    unnamed = [str(at) for at, entry in enumerate(entries, 1) if not is_named(entry)]
    return *render(entries, style, accessed=accessed), unnamed


def format_document(
    body: bytes,
    format: str,  # noqa: A002  the name of the tool's argument
    style: str,
) -> tuple[str, int, list[str], list[dict[str, object]]]:
    """The same of a document, a text in UTF-8, and its entries that cannot be read."""
    parsed = parse_bibliography(body.decode(), format)
    if parsed.count > MOST_FORMATTED:
        message = (
            f"the bibliography has {parsed.count:,} entries, and {MOST_FORMATTED:,} are formatted at most; split it"
        )
        raise Fault("validation", message, action="fix_arguments")
    problems = [to_json(problem) for problem in parsed.problems[:_MOST_PROBLEMS]]
    return *render(parsed.entries, style), [], problems


_MOST_PROBLEMS = 200


# --- The sources of a research session, where sessions are kept: the one seam between the trust tools and the
# store ----------------------------------------------------------------------------------------------------------------


PROCEDURE = "session_sources"
"""A procedure of that name takes `sessionId` and gives `sources`: rows with url, title, author, date, site and doi."""


async def find_sources(context: Context, session: str) -> list[dict[str, str]]:
    """What a session of the caller has recorded; a `session_not_found` fault where there is no such session."""
    if PROCEDURE not in PROCEDURES:
        raise Fault("session_not_found", f"there is no session {session!r}: this server keeps none")
    sources = (await context.run(PROCEDURE, {"sessionId": session})).get("sources", [])
    return [{name: str(value) for name, value in source.items() if value is not None} for source in sources]
