"""Fetches papers into the store: the record first, then the first copy that may be had and is a PDF."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from . import configfile, replays
from .codes import Refusal, to_refusal
from .entries import SCHEMA_VERSION, authors_of, own_of, quality_of
from .journal import Journal, Session, open_journal
from .legs import acquire
from .metadata import ARXIV_LICENSE, OpenAccess, Trace, resolve, to_entry
from .places import store_root
from .pubmed import to_doi
from .refs import Ref, key_of
from .repairing import repair
from .store import METADATA, Store

if TYPE_CHECKING:
    from specloom.desk import Desk

AT_ONCE = 5
"""Papers of a batch that are worked on at a time."""

_OURS = frozenset({"LOG_ERROR", "LOCK_TIMEOUT", "STORE_ERROR", "SCHEMA_TOO_NEW", "INTERNAL_ERROR"})
"""Ends that say nothing about the paper, so the next call tries again."""

_IN_ROW = ("source", "resolver_profile", "license", "path", "size_bytes", "schema_version", "oa_status", "pdf")
"""What the row of a batch has of the answer about a paper."""

_BUSY: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()


async def fetch(desk: Desk, ref: Ref, *, force: bool, journal: Journal | None = None) -> dict[str, Any]:
    """The answer of a fetch without `ok` and `ref`; a journal that is given has its session rows written by others."""
    trace = Trace()
    if ref.kind != "pubmed":
        return (await _fetch_in_turn(desk, ref, trace, force=force, journal=journal))[0]
    known, name = replays.known_to(desk), _name(desk, ref)
    if not force:
        known.check(name, desk.now())
    rows = journal or open_journal(desk)
    with rows.session() if journal is None else contextlib.nullcontext(Session()) as session:
        try:
            doi = await to_doi(desk, ref, rows, trace)
        except Refusal as refusal:
            if refusal.code not in _OURS:
                known.note(name, refusal, desk.now())
            raise
        answer, session.refusal = await _fetch_in_turn(desk, doi, trace, force=force, journal=rows)
    return answer


async def fetch_all(desk: Desk, refs: list[tuple[str, Ref]], *, force: bool) -> list[dict[str, Any]]:
    """A row for each reference, in their order; what fails for one changes nothing for the others."""
    journal = open_journal(desk)
    turns, done = asyncio.Semaphore(AT_ONCE), 0

    async def one(text: str, ref: Ref) -> dict[str, Any]:
        nonlocal done
        async with turns:
            try:
                said = await fetch(desk, ref, force=force, journal=journal)
                row = {"ref": text, "ok": True, **{key: said[key] for key in _IN_ROW}}
            except Exception as error:  # noqa: BLE001 - a defect that one paper brings to light is no reason to lose the others
                row = {"ref": text, "ok": False, "error": to_refusal(error).to_json(in_row=True)}
        done += 1
        desk.tell(done, len(refs), f"{text}: {'done' if row['ok'] else row['error']['code']}")
        return row

    with journal.session():
        return list(await asyncio.gather(*(one(text, ref) for text, ref in refs)))


async def _fetch_in_turn(
    desk: Desk, ref: Ref, trace: Trace, *, force: bool, journal: Journal | None
) -> tuple[dict[str, Any], Refusal | None]:
    """One paper, by one call at a time: the answer, and what the caller is told is missing although there is one."""
    store = Store(store_root(desk.config))
    key = key_of(ref)
    lock = _BUSY.setdefault((id(asyncio.get_running_loop()), f"{store.root}\0{key}"), asyncio.Lock())
    known, name = replays.known_to(desk), _name(desk, ref)
    async with lock:
        if not force:
            known.check(name, desk.now())
        rows, session = journal or open_journal(desk), Session(is_written=False)
        try:
            with rows.session(ref) if journal is None else contextlib.nullcontext(Session()) as session:
                if force:
                    rows.forced(ref)
                answer, session.refusal = await _fetch(desk, ref, store, rows, trace, force=force)
        except Refusal as refusal:
            if session.is_written and refusal.code not in _OURS:
                known.note(name, refusal, desk.now())
            raise
        if session.is_written:
            known.note(name, session.refusal, desk.now())
        return answer, session.refusal


async def _fetch(
    desk: Desk, ref: Ref, store: Store, journal: Journal, trace: Trace, *, force: bool
) -> tuple[dict[str, Any], Refusal | None]:
    stored = store.find(ref)
    if stored is not None and not force and store.has_pdf(stored):
        return _describe(store, ref, stored, {"status": "fetched"}, None), None
    if desk.is_live:
        store.check_writable()
    found = await resolve(desk, ref, journal, trace)
    found, repaired = await repair(desk, ref, found, journal, trace)
    leg, access = await acquire(desk, ref, found, journal, trace)
    source = leg.source if leg.body is not None else found.source
    is_preprint = found.source == "arxiv"
    own = {
        "source": source,
        "license": leg.license if leg.body is not None else ARXIV_LICENSE if is_preprint else _license(access),
        "oa_status": "green" if is_preprint else access.status if access else None,
        "size_bytes": len(leg.body) if leg.body is not None else None,
        "repaired_fields": repaired or None,
    }
    entry = to_entry(ref, found, own, desk.now())
    merged, wrote = await store.commit(ref, entry, leg.body)
    if wrote:
        journal.stored(ref, source, f"{key_of(ref)}.pdf", own, leg.capability)
    else:
        journal.stored(ref, source, f"{METADATA}/{key_of(ref)}.toml", {**own, "size_bytes": None}, "metadata")
    answer = _describe(store, ref, merged, leg.status, trace.steps)
    if leg.body is not None:
        return answer, None
    return answer, leg.refusal or _no_copy(ref, trace)


def _no_copy(ref: Ref, trace: Trace) -> Refusal:
    """What is told when the paper is asked for again: its sources are not told again, so what could be set is."""
    further = dict.fromkeys(" and ".join(step["required_env"]) for step in trace.steps if step.get("required_env"))
    more = f"set {', or '.join(further)} to ask more of them" if further else "there are no others to switch on"
    return Refusal(
        "NO_OA_AVAILABLE",
        f"{ref.value} has a record, and no free copy is known to the sources that were asked; {more}.",
    )


def _name(desk: Desk, ref: Ref) -> tuple[Any, ...]:
    """Under what the end of a fetch is known: what the operator changes in his settings may let a refused paper in."""
    return str(store_root(desk.config)), ref.kind, ref.value.lower(), configfile.current().stamp


def _describe(
    store: Store,
    ref: Ref,
    entry: Mapping[str, Any],
    pdf: Mapping[str, Any],
    attempts: list[dict[str, Any]] | None,
) -> dict[str, Any]:
    own = own_of(entry)
    there, year, repaired = store.stored_pdf(entry), entry.get("year"), own.get("repaired_fields")
    path = there if there is not None else store.metadata_path(key_of(ref))
    return {
        "source": str(own.get("source") or "unknown"),
        "resolver_profile": str(own.get("source") or "unknown"),
        "path": str(path),
        "license": str(own.get("license") or "unknown"),
        "size_bytes": own["size_bytes"] if isinstance(own.get("size_bytes"), int) else 0,
        "schema_version": SCHEMA_VERSION,
        "oa_status": own.get("oa_status"),
        "pdf": dict(pdf),
        "attempts": attempts,
        "title": str(entry.get("title") or ""),
        "authors": authors_of(entry),
        "year": year if isinstance(year, int) else None,
        "metadata_quality": quality_of(entry),
        "repaired_fields": dict(repaired) if isinstance(repaired, Mapping) else {},
    }


def _license(access: OpenAccess | None) -> str:
    return access.license if access else "unknown"
