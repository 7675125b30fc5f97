"""Fetches papers into the store: the record first, then the first copy that may be had and is a PDF."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from specloom.domains.text import PaperId

from . import config
from .answers import answer_each
from .copies import acquire
from .entries import SCHEMA_VERSION, authors_of, own_of, quality_of
from .errors import PaperFault
from .limits import replays_of
from .metadata import PaperLookup, to_entry
from .provenance_log import Journal, LogSession, open_journal
from .store import METADATA, PaperStore, open_store

if TYPE_CHECKING:
    from specloom.plugins import Context

_OURS = frozenset({"LOG_ERROR", "LOCK_TIMEOUT", "STORE_ERROR", "SCHEMA_TOO_NEW", "INTERNAL_ERROR"})
"""Ends that say nothing about the paper, so the next call tries again."""

_IN_ROW = ("source", "resolver_profile", "license", "path", "size_bytes", "schema_version", "oa_status", "pdf")
"""What the row of a batch has of the answer about a paper."""

_BUSY: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()


async def fetch(context: Context, ref: PaperId, *, force: bool, journal: Journal | None = None) -> dict[str, Any]:
    """The answer of a fetch without `ok` and `ref`; a journal that is given has its session rows written by others."""
    rows = journal or open_journal(context)
    lookup = PaperLookup(context, rows)
    if ref.kind != "pubmed":
        return (await _fetch_in_turn(lookup, ref, force=force, apart=journal is None))[0]
    name, replays = _name(context, ref), replays_of(context)
    if not force:
        replays.check(name, context.now())
    with rows.session() if journal is None else contextlib.nullcontext(LogSession()) as session:
        try:
            doi = await lookup.to_doi(ref)
        except PaperFault as fault:
            if fault.code not in _OURS:
                replays.note(name, fault, context.now())
            raise
        answer, session.fault = await _fetch_in_turn(lookup, doi, force=force, apart=False)
    return answer


async def fetch_all(context: Context, refs: Sequence[tuple[str, PaperId]], *, force: bool) -> list[dict[str, Any]]:
    """A row for each reference, in their order; what fails for one changes nothing for the others."""
    journal = open_journal(context)

    async def fetch_one(named: tuple[str, PaperId]) -> dict[str, Any]:
        answer = await fetch(context, named[1], force=force, journal=journal)
        return {key: answer[key] for key in _IN_ROW}

    with journal.session():
        rows = await answer_each(context, refs, fetch_one, in_row=True)
    return [{"ref": text, "ok": "error" not in row, **row} for (text, _), row in zip(refs, rows, strict=True)]


async def _fetch_in_turn(
    lookup: PaperLookup, ref: PaperId, *, force: bool, apart: bool
) -> tuple[dict[str, Any], PaperFault | None]:
    """One paper, by one call at a time: the answer, and what the caller is told is missing although there is one."""
    context, store = lookup.context, open_store(lookup.context.config)
    lock = _BUSY.setdefault((id(asyncio.get_running_loop()), str(store.pdf_path(ref.key))), asyncio.Lock())
    replays, name = replays_of(context), _name(context, ref)
    async with lock:
        if not force:
            replays.check(name, context.now())
        session = LogSession(is_written=False)
        try:
            with lookup.journal.session(ref) if apart else contextlib.nullcontext(LogSession()) as session:
                if force:
                    lookup.journal.row("repeat_forced", ref)
                answer, session.fault = await _fetch(lookup, ref, store, force=force)
        except PaperFault as fault:
            if session.is_written and fault.code not in _OURS:
                replays.note(name, fault, context.now())
            raise
        if session.is_written:
            replays.note(name, session.fault, context.now())
        return answer, session.fault


async def _fetch(
    lookup: PaperLookup, ref: PaperId, store: PaperStore, *, force: bool
) -> tuple[dict[str, Any], PaperFault | None]:
    stored = store.find(ref)
    if stored is not None and not force and store.has_pdf(stored):
        return _describe(store, ref, stored) | {"pdf": {"status": "fetched"}}, None
    if lookup.context.is_live:
        store.check_writable()
    copy, record = await acquire(lookup, ref, await lookup.repair(ref, await lookup.resolve(ref)))
    is_there, size = copy.body is not None, len(copy.body) if copy.body is not None else None
    source = copy if is_there else record
    own = {"source": source.source, "license": source.license, "oa_status": record.oa_status, "size_bytes": size}
    merged, wrote = await store.commit(ref, to_entry(ref, record, own, lookup.context.now()), copy.body)
    path = f"{ref.key}.pdf" if wrote else f"{METADATA}/{ref.key}.toml"
    more: dict[str, Any] = {"capability": copy.capability, "size": size} if wrote else {}
    lookup.journal.stored(ref, source.source, path, license_=source.license, **more)
    answer = _describe(store, ref, merged) | {"pdf": dict(copy.status), "attempts": lookup.steps}
    return answer, None if is_there else copy.fault or _no_copy(ref, lookup)


def _no_copy(ref: PaperId, lookup: PaperLookup) -> PaperFault:
    """What is told when the paper is asked for again: its sources are not told again, so what could be set is."""
    further = dict.fromkeys(" and ".join(step["required_env"]) for step in lookup.steps if step.get("required_env"))
    more = f"set {', or '.join(further)} to ask more of them" if further else "there are no others to switch on"
    return PaperFault(
        "NO_OA_AVAILABLE",
        f"{ref.value} has a record, and no free copy is known to the sources that were asked; {more}.",
    )


def _name(context: Context, ref: PaperId) -> Hashable:
    """Under what the end of a fetch is known: what the operator changes in his settings may let a refused paper in."""
    return str(config.store_root(context.config)), ref.kind, ref.value.lower(), config.current().stamp


def _describe(store: PaperStore, ref: PaperId, entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the store has of a paper, where how its document was got is still to be told."""
    own = own_of(entry)
    size, year, repaired = own.get("size_bytes"), entry.get("year"), own.get("repaired_fields")
    source = str(own.get("source") or "unknown")
    return {
        "source": source,
        "resolver_profile": source,
        "path": str(store.stored_pdf(entry) or store.metadata_path(ref.key)),
        "license": str(own.get("license") or "unknown"),
        "size_bytes": size if isinstance(size, int) else 0,
        "schema_version": SCHEMA_VERSION,
        "oa_status": own.get("oa_status"),
        "pdf": {},
        "attempts": None,
        "title": str(entry.get("title") or ""),
        "authors": authors_of(entry),
        "year": year if isinstance(year, int) else None,
        "metadata_quality": quality_of(entry),
        "repaired_fields": dict(repaired) if isinstance(repaired, Mapping) else {},
    }
