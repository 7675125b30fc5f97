"""Fetches papers into the store: the record first, then the first copy that may be had and is a PDF."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from specloom.core import Fault, Secret

from . import config as configfile
from . import pacing
from .config import store_root
from .download import download, publisher_of
from .entries import SCHEMA_VERSION, authors_of, own_of, quality_of
from .errors import Refusal, from_fault, to_refusal
from .identifiers import PaperId, key_of, parse_ref, preprint_of
from .metadata import (
    ARXIV_LICENSE,
    ENABLED,
    Location,
    LookupTrace,
    OpenAccess,
    PaperRecord,
    locate,
    repair,
    resolve,
    to_doi,
    to_entry,
)
from .provenance_log import Journal, LogSession, open_journal
from .store import METADATA, PaperStore

if TYPE_CHECKING:
    from specloom.plugins import Context


# --- Gets the document of a paper from the first place that gives it, and keeps what became of each place -------------


_ARXIV_URL = re.compile(
    r"https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf)/([a-z.A-Z-]*/?[0-9.]+)(?:v[0-9]+)?(?:\.pdf)?/?$"
)
_OF_ARXIV = "10.48550/"
"""How the DOIs begin that arXiv registers."""


@dataclass(slots=True)
class Leg:
    """How getting the document went: what is told under `pdf`, and the bytes with whom they came from."""

    status: dict[str, Any] = field(default_factory=lambda: {"status": "no_oa_url"})
    body: bytes | None = None
    source: str = ""
    license: str = "unknown"
    capability: str = "oa"
    """Under which right it was asked for, as the log has it."""
    refusal: Refusal | None = None

    @property
    def blocked(self) -> dict[str, Any] | None:
        """What refused the first copy that was found, as an answer tells it; None where none was refused."""
        return dict(self.status) if self.refusal is not None else None


async def acquire(
    context: Context, ref: PaperId, found: PaperRecord, journal: Journal, trace: LookupTrace
) -> tuple[Leg, OpenAccess | None]:
    """The document from the first place that gives it, and what is known of open copies.

    Places that sources name go before a preprint of the paper, at arXiv or elsewhere, that before the copy of an index
    that is switched on, and all of them before the publisher's own under an agreement with it.
    """
    leg = Leg()
    if found.source == "arxiv":
        place = Location(_pdf_url(found.fields), ARXIV_LICENSE)
        await _take(context, ref, journal, leg, "arxiv", place, "arxiv", trace)
        return leg, None
    access = found.access or await locate(context, ref, journal, trace)
    for place in access.locations if access else ():
        if await _take(context, ref, journal, leg, "oa-publisher", place, "unpaywall", trace):
            return leg, access
    if await _take_preprint(context, ref, found, access, journal, leg, trace):
        return leg, access
    if await _take_posted(context, ref, found, journal, leg, trace):
        return leg, access
    if not await _take_indexed(context, ref, journal, leg, trace):
        await _take_licensed(context, ref, journal, leg, trace)
    return leg, access


async def _take(
    context: Context,
    ref: PaperId,
    journal: Journal,
    leg: Leg,
    hosts: str,
    place: Location,
    source: str,
    trace: LookupTrace,
) -> bool:
    """Try one open place; a refusal is kept for the answer, and the first one counts."""
    try:
        body = await download(context, place.url, hosts)
    except Refusal as refusal:
        journal.asked(ref, hosts, refusal=refusal, capability=leg.capability)
        trace.add(hosts, "consulted_denied" if refusal.is_policy else "consulted_failed", refusal)
        if leg.refusal is None:
            leg.refusal = refusal
            leg.status = {"status": "blocked", **refusal.to_json()}
        return False
    license_ = place.license or "unknown"
    journal.asked(ref, hosts, capability=leg.capability, size=len(body), license_=license_)
    trace.add(hosts, "consulted_resolved")
    leg.body, leg.source, leg.license, leg.status = body, source, license_, {"status": "fetched"}
    return True


async def _take_preprint(
    context: Context,
    ref: PaperId,
    found: PaperRecord,
    access: OpenAccess | None,
    journal: Journal,
    leg: Leg,
    trace: LookupTrace,
) -> bool:
    """The arXiv preprint of a DOI, as the DOI itself or a source names it."""
    named = [(preprint_of(ref.value), found.source)]
    named += [(_arxiv_at(place), "unpaywall") for place in (access.locations if access else ())]
    named += [(preprint_of(str(one)), "crossref") for one in found.fields.get("preprints") or ()]
    preprint, finder = next(((one, by) for one, by in named if one is not None), (None, ""))
    if preprint is None:
        return False
    blocked = leg.blocked
    first, status = leg.refusal, leg.status
    try:
        record = await resolve(context, preprint, journal, trace)
    except Refusal as refusal:
        if refusal.code in {"LOG_ERROR", "INTERNAL_ERROR"}:
            raise
        record = None
    if record is not None:
        place = Location(_pdf_url(record.fields), ARXIV_LICENSE)
        if await _take(context, ref, journal, leg, "arxiv", place, "arxiv", trace):
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


async def _take_posted(
    context: Context, ref: PaperId, found: PaperRecord, journal: Journal, leg: Leg, trace: LookupTrace
) -> bool:
    """The preprint of a DOI that has a DOI of its own, from where open copies of that one are said to be."""
    named = [str(one) for one in found.fields.get("preprints") or () if not str(one).startswith(_OF_ARXIV)]
    posted = _ref_of("doi", named[0]) if named else None
    if posted is None:
        return False
    blocked = leg.blocked
    access = await locate(context, posted, journal, trace)
    for place in access.locations if access else ():
        if await _take(context, ref, journal, leg, "oa-publisher", place, "unpaywall", trace):
            leg.status = {
                "status": "preprint_doi_fallback",
                "preprint_doi": posted.value,
                "platform": access.fields.get("venue") or access.fields.get("publisher") if access else None,
                "original_block": blocked,
                "found_by": "crossref",
            }
            return True
    return False


async def _take_indexed(context: Context, ref: PaperId, journal: Journal, leg: Leg, trace: LookupTrace) -> bool:
    """The copy that an index which the operator switched on knows of."""
    variable, provider = ENABLED["openalex"]
    if context.config.get(variable) is None:
        if not any(step["source"] == "openalex" for step in trace.steps):
            trace.add("openalex", "not_consulted_disabled", env=(variable,))
        return False
    try:
        async with pacing.turn("openalex", live=context.is_live):
            rows = (await context.ask("work", {"doi": ref.value}, provider=provider)).rows
    except Fault as fault:
        refusal = from_fault(fault)
        journal.asked(ref, "openalex", refusal=refusal)
        trace.add("openalex", "consulted_failed", refusal)
        return False
    journal.asked(ref, "openalex")
    url = rows[0].get("pdf_url") if rows and rows[0].get("open_access") else None
    if not url:
        trace.add("openalex", "consulted_not_open_access" if rows else "consulted_no_record")
        return False
    return await _take(context, ref, journal, leg, "oa-publisher", Location(str(url)), "openalex", trace)


async def _take_licensed(context: Context, ref: PaperId, journal: Journal, leg: Leg, trace: LookupTrace) -> None:
    """The publisher's own copy, where its operator has an agreement; a refusal there changes nothing of the answer."""
    publisher = publisher_of(ref.value)
    if publisher is None or not publisher.documents:
        return
    source, missing = publisher.source, publisher.missing(context.config)
    if missing:
        if not any(step["source"] == source for step in trace.steps):
            trace.add(source, "not_consulted_disabled", env=missing)
        return
    token = Secret(f"Bearer {context.config[publisher.key].reveal()}")
    try:
        body = await download(context, publisher.url_of(ref.value), source, token=token)
    except Refusal as refusal:
        journal.asked(ref, source, refusal=refusal, capability=source)
        trace.fail(source, refusal)
        return
    journal.asked(ref, source, capability=source, size=len(body), license_="unknown")
    trace.add(source, "consulted_resolved")
    leg.status = {"status": "tdm_fetched", "source": source, "original_block": leg.blocked}
    leg.body, leg.source, leg.license, leg.capability = body, source, "unknown", source


def _pdf_url(fields: Mapping[str, Any]) -> str:
    """The address of a preprint's PDF as its feed has it, asked over https, else where arXiv documents it to be.

    https://info.arxiv.org/help/arxiv_identifier_for_services.html
    """
    said = str(fields.get("pdf_url") or "")
    return re.sub(r"^http://", "https://", said) or f"https://arxiv.org/pdf/{fields['arxiv_id']}"


def _ref_of(scheme: str, text: str) -> PaperId | None:
    """The paper that a source names, or None where what it says is no such identifier."""
    try:
        return parse_ref(f"{scheme}:{text}")
    except Refusal:
        return None


def _arxiv_at(place: Location) -> PaperId | None:
    found = _ARXIV_URL.match(place.url)
    return _ref_of("arxiv", found[1]) if found else None


AT_ONCE = 5
"""Papers of a batch that are worked on at a time."""

_OURS = frozenset({"LOG_ERROR", "LOCK_TIMEOUT", "STORE_ERROR", "SCHEMA_TOO_NEW", "INTERNAL_ERROR"})
"""Ends that say nothing about the paper, so the next call tries again."""

_IN_ROW = ("source", "resolver_profile", "license", "path", "size_bytes", "schema_version", "oa_status", "pdf")
"""What the row of a batch has of the answer about a paper."""

_BUSY: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()


async def fetch(context: Context, ref: PaperId, *, force: bool, journal: Journal | None = None) -> dict[str, Any]:
    """The answer of a fetch without `ok` and `ref`; a journal that is given has its session rows written by others."""
    trace = LookupTrace()
    if ref.kind != "pubmed":
        return (await _fetch_in_turn(context, ref, trace, force=force, journal=journal))[0]
    known, name = pacing.known_to(context), _name(context, ref)
    if not force:
        known.check(name, context.now())
    rows = journal or open_journal(context)
    with rows.session() if journal is None else contextlib.nullcontext(LogSession()) as session:
        try:
            doi = await to_doi(context, ref, rows, trace)
        except Refusal as refusal:
            if refusal.code not in _OURS:
                known.note(name, refusal, context.now())
            raise
        answer, session.refusal = await _fetch_in_turn(context, doi, trace, force=force, journal=rows)
    return answer


async def fetch_all(context: Context, refs: list[tuple[str, PaperId]], *, force: bool) -> list[dict[str, Any]]:
    """A row for each reference, in their order; what fails for one changes nothing for the others."""
    journal = open_journal(context)
    turns, done = asyncio.Semaphore(AT_ONCE), 0

    async def one(text: str, ref: PaperId) -> dict[str, Any]:
        nonlocal done
        async with turns:
            try:
                said = await fetch(context, ref, force=force, journal=journal)
                row = {"ref": text, "ok": True, **{key: said[key] for key in _IN_ROW}}
            except Exception as error:  # noqa: BLE001 - a defect that one paper brings to light is no reason to lose the others
                row = {"ref": text, "ok": False, "error": to_refusal(error).to_json(in_row=True)}
        done += 1
        context.tell(done, len(refs), f"{text}: {'done' if row['ok'] else row['error']['code']}")
        return row

    with journal.session():
        return list(await asyncio.gather(*(one(text, ref) for text, ref in refs)))


async def _fetch_in_turn(
    context: Context, ref: PaperId, trace: LookupTrace, *, force: bool, journal: Journal | None
) -> tuple[dict[str, Any], Refusal | None]:
    """One paper, by one call at a time: the answer, and what the caller is told is missing although there is one."""
    store = PaperStore(store_root(context.config))
    key = key_of(ref)
    lock = _BUSY.setdefault((id(asyncio.get_running_loop()), f"{store.root}\0{key}"), asyncio.Lock())
    known, name = pacing.known_to(context), _name(context, ref)
    async with lock:
        if not force:
            known.check(name, context.now())
        rows, session = journal or open_journal(context), LogSession(is_written=False)
        try:
            with rows.session(ref) if journal is None else contextlib.nullcontext(LogSession()) as session:
                if force:
                    rows.forced(ref)
                answer, session.refusal = await _fetch(context, ref, store, rows, trace, force=force)
        except Refusal as refusal:
            if session.is_written and refusal.code not in _OURS:
                known.note(name, refusal, context.now())
            raise
        if session.is_written:
            known.note(name, session.refusal, context.now())
        return answer, session.refusal


async def _fetch(
    context: Context, ref: PaperId, store: PaperStore, journal: Journal, trace: LookupTrace, *, force: bool
) -> tuple[dict[str, Any], Refusal | None]:
    stored = store.find(ref)
    if stored is not None and not force and store.has_pdf(stored):
        return _describe(store, ref, stored, {"status": "fetched"}, None), None
    if context.is_live:
        store.check_writable()
    found = await resolve(context, ref, journal, trace)
    found, repaired = await repair(context, ref, found, journal, trace)
    leg, access = await acquire(context, ref, found, journal, trace)
    source = leg.source if leg.body is not None else found.source
    is_preprint = found.source == "arxiv"
    own = {
        "source": source,
        "license": leg.license if leg.body is not None else ARXIV_LICENSE if is_preprint else _license(access),
        "oa_status": "green" if is_preprint else access.status if access else None,
        "size_bytes": len(leg.body) if leg.body is not None else None,
        "repaired_fields": repaired or None,
    }
    entry = to_entry(ref, found, own, context.now())
    merged, wrote = await store.commit(ref, entry, leg.body)
    if wrote:
        journal.stored(ref, source, f"{key_of(ref)}.pdf", own, leg.capability)
    else:
        journal.stored(ref, source, f"{METADATA}/{key_of(ref)}.toml", {**own, "size_bytes": None}, "metadata")
    answer = _describe(store, ref, merged, leg.status, trace.steps)
    if leg.body is not None:
        return answer, None
    return answer, leg.refusal or _no_copy(ref, trace)


def _no_copy(ref: PaperId, trace: LookupTrace) -> Refusal:
    """What is told when the paper is asked for again: its sources are not told again, so what could be set is."""
    further = dict.fromkeys(" and ".join(step["required_env"]) for step in trace.steps if step.get("required_env"))
    more = f"set {', or '.join(further)} to ask more of them" if further else "there are no others to switch on"
    return Refusal(
        "NO_OA_AVAILABLE",
        f"{ref.value} has a record, and no free copy is known to the sources that were asked; {more}.",
    )


def _name(context: Context, ref: PaperId) -> tuple[Any, ...]:
    """Under what the end of a fetch is known: what the operator changes in his settings may let a refused paper in."""
    return str(store_root(context.config)), ref.kind, ref.value.lower(), configfile.current().stamp


def _describe(
    store: PaperStore,
    ref: PaperId,
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
