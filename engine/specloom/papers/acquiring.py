"""Fetches papers into the store: the record first, then the first open copy that may be had and is a PDF."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from specloom.faults import Fault

from . import pacing, replays
from .codes import Refusal, from_fault
from .entries import SCHEMA_VERSION, own_of, quality_of
from .fetching import download
from .journal import Journal, open_journal
from .metadata import ARXIV_LICENSE, ENABLED, Found, Location, OpenAccess, Trace, locate, resolve, to_entry
from .places import store_root
from .refs import Ref, key_of
from .store import Store

if TYPE_CHECKING:
    from specloom.desk import Desk

AT_ONCE = 5
"""Papers of a batch that are worked on at a time."""

_ARXIV_URL = re.compile(
    r"https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf)/([a-z.A-Z-]*/?[0-9.]+)(?:v[0-9]+)?(?:\.pdf)?/?$"
)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.IGNORECASE)

_OURS = frozenset({"LOG_ERROR", "LOCK_TIMEOUT", "STORE_ERROR", "SCHEMA_TOO_NEW", "INTERNAL_ERROR"})
"""Ends that say nothing about the paper, so the next call tries again."""

_BUSY: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()


@dataclass(slots=True)
class Leg:
    """How getting the document went: what is told under `pdf`, and the bytes with whom they came from."""

    status: dict[str, Any] = field(default_factory=lambda: {"status": "no_oa_url"})
    body: bytes | None = None
    source: str = ""
    license: str = "unknown"
    refusal: Refusal | None = None


async def fetch(desk: Desk, ref: Ref, *, force: bool, journal: Journal | None = None) -> dict[str, Any]:
    """The answer of a fetch without `ok` and `ref`; a journal that is given has its session rows written by others."""
    _refuse_pubmed(ref)
    store = Store(store_root(desk.config))
    key = key_of(ref)
    name = (str(store.root), ref.kind, ref.value.lower())
    lock = _BUSY.setdefault((id(asyncio.get_running_loop()), f"{store.root}\0{key}"), asyncio.Lock())
    async with lock:
        if not force:
            replays.SHARED.check(name, desk.now())
        own = journal is None
        journal = journal or open_journal(desk)
        if own:
            journal.start(ref)
        if force:
            journal.forced(ref)
        ended: Refusal | None = Refusal("INTERNAL_ERROR", f"The fetch of {ref.value} did not come to its end.")
        try:
            answer, ended = await _fetch(desk, ref, store, journal, force=force)
        except Refusal as refusal:
            ended = refusal
            raise
        finally:
            kept = journal.end(ref, ended.code if ended else None) if own else True
            if kept and not (ended is not None and ended.code in _OURS):
                replays.SHARED.note(name, ended, desk.now())
        return answer


async def fetch_all(desk: Desk, refs: list[tuple[str, Ref]], *, force: bool) -> list[dict[str, Any]]:
    """A row for each reference, in their order; what fails for one changes nothing for the others."""
    journal = open_journal(desk)
    journal.start()
    turns, done = asyncio.Semaphore(AT_ONCE), 0

    async def one(text: str, ref: Ref) -> dict[str, Any]:
        nonlocal done
        async with turns:
            try:
                said = await fetch(desk, ref, force=force, journal=journal)
                keys = (
                    "source",
                    "resolver_profile",
                    "license",
                    "path",
                    "size_bytes",
                    "schema_version",
                    "oa_status",
                    "pdf",
                )
                row = {"ref": text, "ok": True, **{key: said[key] for key in keys}}
            except Refusal as refusal:
                row = {"ref": text, "ok": False, "error": refusal.to_json(in_row=True)}
        done += 1
        desk.tell(done, len(refs), f"{text}: {'done' if row['ok'] else row['error']['code']}")
        return row

    try:
        return list(await asyncio.gather(*(one(text, ref) for text, ref in refs)))
    finally:
        journal.end(None, None)


async def _fetch(
    desk: Desk, ref: Ref, store: Store, journal: Journal, *, force: bool
) -> tuple[dict[str, Any], Refusal | None]:
    stored = store.find(ref)
    there = store.stored_pdf(stored) if stored is not None else None
    if stored is not None and there is not None and not force and there.is_file():
        return _describe(store, ref, stored, {"status": "fetched"}, None), None
    trace = Trace()
    found = await resolve(desk, ref, journal, trace)
    leg, access = await _acquire(desk, ref, found, journal, trace)
    pdf_source = leg.source if leg.body is not None else found.source
    own = {
        "source": pdf_source,
        "license": leg.license if leg.body is not None else ARXIV_LICENSE if ref.kind == "arxiv" else _license(access),
        "oa_status": "green" if ref.kind == "arxiv" else access.status if access else None,
        "size_bytes": len(leg.body) if leg.body is not None else None,
    }
    entry = to_entry(ref, found, own, desk.now())
    merged, _ = await store.commit(ref, entry, leg.body)
    path = f"{key_of(ref)}.pdf" if leg.body is not None else f".metadata/{key_of(ref)}.toml"
    journal.stored(ref, pdf_source, path, own, "oa" if leg.body is not None else "metadata")
    answer = _describe(store, ref, merged, leg.status, trace.steps)
    if leg.body is not None:
        return answer, None
    return answer, leg.refusal or Refusal(
        "NO_OA_AVAILABLE",
        f"{ref.value} has a record, and no free copy is known to the sources that were asked; "
        "attempts says which further ones can be switched on.",
    )


async def _acquire(desk: Desk, ref: Ref, found: Found, journal: Journal, trace: Trace) -> tuple[Leg, OpenAccess | None]:
    """The document from the first place that gives it: the places that sources name, then a preprint of the paper."""
    leg = Leg()
    if ref.kind == "arxiv":
        await _take(desk, ref, journal, leg, "arxiv", Location(_pdf_url(found.fields), ARXIV_LICENSE), "arxiv", trace)
        return leg, None
    access = found.access or await locate(desk, ref, journal, trace)
    for place in access.locations if access else ():
        if await _take(desk, ref, journal, leg, "oa-publisher", place, "unpaywall", trace):
            return leg, access
    if await _take_preprint(desk, ref, found, access, journal, leg, trace):
        return leg, access
    await _take_indexed(desk, ref, journal, leg, trace)
    return leg, access


async def _take(
    desk: Desk,
    ref: Ref,
    journal: Journal,
    leg: Leg,
    hosts: str,
    place: Location,
    source: str,
    trace: Trace,
) -> bool:
    """Try one place; a refusal is kept for the answer, and the first one counts."""
    try:
        body = await download(desk, place.url, hosts)
    except Refusal as refusal:
        journal.asked(ref, hosts, refusal=refusal, capability="oa")
        trace.add(hosts, "consulted_denied" if refusal.is_policy else "consulted_failed", refusal)
        if leg.refusal is None:
            leg.refusal = refusal
            leg.status = {"status": "blocked", **refusal.to_json()}
        return False
    license_ = place.license or "unknown"
    journal.asked(ref, hosts, capability="oa", size=len(body), license_=license_)
    trace.add(hosts, "consulted_resolved")
    leg.body, leg.source, leg.license, leg.status = body, source, license_, {"status": "fetched"}
    return True


async def _take_preprint(
    desk: Desk,
    ref: Ref,
    found: Found,
    access: OpenAccess | None,
    journal: Journal,
    leg: Leg,
    trace: Trace,
) -> bool:
    """The arXiv preprint of a DOI, as a source named it."""
    named = [(one, "unpaywall") for one in map(_arxiv_of, access.locations if access else ()) if one]
    relations = [_ARXIV_DOI.fullmatch(str(one)) for one in found.fields.get("preprints") or ()]
    named += [(one[1], "crossref") for one in relations if one]
    if not named:
        return False
    arxiv_id, finder = named[0]
    blocked = dict(leg.status) if leg.refusal is not None else None
    first, status = leg.refusal, leg.status
    preprint = Ref("arxiv", arxiv_id)
    try:
        record = await resolve(desk, preprint, journal, trace)
    except Refusal as refusal:
        if refusal.code in {"LOG_ERROR", "INTERNAL_ERROR"}:
            raise
        record = None
    if record is not None:
        place = Location(_pdf_url(record.fields), ARXIV_LICENSE)
        if await _take(desk, ref, journal, leg, "arxiv", place, "arxiv", trace):
            leg.status = {
                "status": "preprint_fallback",
                "arxiv_id": preprint.base,
                "original_block": blocked,
                "found_by": finder,
            }
            return True
    if first is not None:
        leg.refusal, leg.status = first, {**status, "suggested_arxiv_id": preprint.base}
    return False


async def _take_indexed(desk: Desk, ref: Ref, journal: Journal, leg: Leg, trace: Trace) -> None:
    """The copy that an index which the operator switched on knows of."""
    variable, provider = ENABLED["openalex"]
    if desk.config.get(variable) is None:
        if not any(step["source"] == "openalex" for step in trace.steps):
            trace.add("openalex", "not_consulted_disabled", env=(variable,))
        return
    try:
        async with pacing.turn("openalex"):
            rows = (await desk.ask("work", {"doi": ref.value}, provider=provider)).rows
    except Fault as fault:
        refusal = from_fault(fault)
        journal.asked(ref, "openalex", refusal=refusal)
        trace.add("openalex", "consulted_failed", refusal)
        return
    journal.asked(ref, "openalex")
    url = rows[0].get("pdf_url") if rows and rows[0].get("open_access") else None
    if not url:
        trace.add("openalex", "consulted_not_open_access" if rows else "consulted_no_record")
        return
    await _take(desk, ref, journal, leg, "oa-publisher", Location(str(url)), "openalex", trace)


def _describe(
    store: Store,
    ref: Ref,
    entry: Mapping[str, Any],
    pdf: Mapping[str, Any],
    attempts: list[dict[str, Any]] | None,
) -> dict[str, Any]:
    own = own_of(entry)
    there = store.stored_pdf(entry)
    path = there if there is not None else store.metadata_path(key_of(ref))
    return {
        "source": str(own.get("source") or "unknown"),
        "resolver_profile": str(own.get("source") or "unknown"),
        "path": str(path),
        "license": str(own.get("license") or "unknown"),
        "size_bytes": int(own.get("size_bytes") or 0),
        "schema_version": SCHEMA_VERSION,
        "oa_status": own.get("oa_status"),
        "pdf": dict(pdf),
        "attempts": attempts,
        "title": str(entry.get("title") or ""),
        "authors": list(entry.get("authors") or ()),
        "year": entry.get("year"),
        "metadata_quality": quality_of(entry),
        "repaired_fields": dict(own.get("repaired_fields") or {}),
    }


def _license(access: OpenAccess | None) -> str:
    return access.license if access else "unknown"


def _pdf_url(fields: Mapping[str, Any]) -> str:
    """The address of a preprint's PDF as its feed has it, asked over https."""
    return re.sub(r"^http://", "https://", str(fields.get("pdf_url") or ""))


def _arxiv_of(place: Location) -> str:
    found = _ARXIV_URL.match(place.url)
    return found[1] if found else ""


def _refuse_pubmed(ref: Ref) -> None:
    if ref.kind == "pubmed":
        raise Refusal("NOT_IMPLEMENTED", f"{ref.value} is a PubMed identifier, which is not resolved yet; use its DOI.")
