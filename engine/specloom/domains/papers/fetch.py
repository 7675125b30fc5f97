"""Fetches papers into the store: the record first, then the first copy that may be had and is a PDF."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any
from weakref import WeakValueDictionary

from specloom.core import Secret, dataclass
from specloom.domains.text import PaperId, arxiv_at, find_ref, preprint_of
from specloom.plugins import Context

from . import config
from .answers import answer_each
from .config import DISCOVERY, publisher_of
from .download import download
from .entries import SCHEMA_VERSION, authors_of, own_of, quality_of
from .errors import PaperFault
from .limits import replays_of
from .metadata import ARXIV_LICENSE, OpenAccess, OpenLocation, PaperLookup, PaperRecord, to_entry
from .provenance_log import Journal, LogSession, open_journal
from .store import METADATA, PaperStore, open_store

_OF_ARXIV = "10.48550/"
"""How the DOIs begin that arXiv registers."""
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
    ref = store.spelled(ref)
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
        return _describe(lookup.context, store, ref, stored) | {"pdf": {"status": "fetched"}}, None
    if lookup.context.is_live:
        store.check_writable()
    copy, record = await acquire(lookup, ref, await lookup.repair(ref, await lookup.resolve(ref)))
    is_there, size = copy.body is not None, len(copy.body) if copy.body is not None else None
    source = copy if is_there else record
    own = {"source": source.source, "license": source.license, "oa_status": record.oa_status, "size_bytes": size}
    merged, wrote = await store.commit(ref, to_entry(ref, record, own, lookup.context.now()), copy.body)
    row: dict[str, Any] = {"capability": "metadata", "store_path": f"{METADATA}/{store.key(ref)}.toml"}
    if wrote:
        row = {"capability": copy.capability, "store_path": merged["pdf_path"], "size_bytes": size}
    lookup.journal.row("store_write", ref, source.source, license=source.license, **row)
    answer = _describe(lookup.context, store, ref, merged) | {"pdf": dict(copy.status), "attempts": lookup.steps}
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


def _describe(context: Context, store: PaperStore, ref: PaperId, entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the store has of a paper, where how its document was got is still to be told."""
    own = own_of(entry)
    size, year, repaired = own.get("size_bytes"), entry.get("year"), own.get("repaired_fields")
    source = str(own.get("source") or "unknown")
    return {
        "source": source,
        "resolver_profile": source,
        "path": store.tell(context, store.stored_pdf(entry) or store.metadata_path(store.key(ref))),
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


# --- the document -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class PaperCopy:
    """How getting the document went: what is told under `pdf`, and the bytes with whom they came from."""

    ref: PaperId
    lookup: PaperLookup
    status: dict[str, Any] = field(default_factory=lambda: {"status": "no_oa_url"})
    body: bytes | None = None
    source: str = ""
    license: str = "unknown"
    capability: str = "oa"
    """Under which right it was asked for, as the log has it."""
    fault: PaperFault | None = None
    """What refused the first place that was tried."""

    async def take(
        self, hosts: str, place: OpenLocation, giver: str, *, token: Secret | None = None, **status: Any
    ) -> bool:
        """Try one place, told as `status` where it gives the document; the first refusal of an open one is kept.

        A `token` is that of an agreement with the giver, whose refusal changes nothing of the answer.
        """
        lookup, license_, capability = self.lookup, place.license or "unknown", "oa" if token is None else giver
        blocked = dict(self.status) if self.fault is not None else None
        try:
            body = await download(lookup.context, place.url, hosts, token=token)
        except PaperFault as fault:
            lookup.journal.asked(self.ref, hosts, fault=fault, capability=capability)
            if token is not None:
                lookup.note_failed(hosts, fault)
                return False
            lookup.note(hosts, "consulted_denied" if fault.is_policy else "consulted_failed", fault)
            if self.fault is None:
                self.fault, self.status = fault, {"status": "blocked", **fault.to_error()}
            return False
        lookup.journal.asked(self.ref, hosts, capability=capability, size_bytes=len(body), license=license_)
        lookup.note(hosts, "consulted_resolved")
        self.body, self.source, self.license, self.capability = body, giver, license_, capability
        self.status = {**status, "original_block": blocked} if status else {"status": "fetched"}
        return True

    async def take_preprint(self, record: PaperRecord, access: OpenAccess | None) -> bool:
        """The arXiv preprint of a DOI, as the DOI itself or a source names it."""
        places = access.locations if access else ()
        named = [
            (preprint_of(self.ref.value), record.source),
            *((find_ref("arxiv", arxiv_at(place.url)), "unpaywall") for place in places),
            *((preprint_of(str(doi)), "crossref") for doi in record.fields.get("preprints") or ()),
        ]
        preprint, finder = next(((ref, by) for ref, by in named if ref is not None), (None, ""))
        if preprint is None:
            return False
        first, status = self.fault, self.status
        preprint = PaperId("arxiv", preprint.base) if finder == "unpaywall" else preprint
        try:
            place = pdf_of(await self.lookup.resolve(preprint))
            more: dict[str, Any] = {"status": "preprint_fallback", "arxiv_id": preprint.base, "found_by": finder}
            if await self.take("arxiv", place, "arxiv", **more):
                return True
        except PaperFault as fault:
            if fault.code in {"LOG_ERROR", "INTERNAL_ERROR"}:
                raise
        if first is not None:
            self.fault, self.status = first, {**status, "suggested_arxiv_id": preprint.base}
        return False

    async def take_posted(self, record: PaperRecord) -> bool:
        """The preprint of a DOI that has a DOI of its own, from where open copies of that one are said to be."""
        named = [str(doi) for doi in record.fields.get("preprints") or () if not str(doi).startswith(_OF_ARXIV)]
        posted = find_ref("doi", named[0]) if named else None
        access = await self.lookup.locate(posted) if posted else None
        if posted is None or access is None:
            return False
        platform = access.fields.get("venue") or access.fields.get("publisher")
        more: dict[str, Any] = {"status": "preprint_doi_fallback", "preprint_doi": posted.value, "platform": platform}
        return await self.take_any(access, **more, found_by="crossref")

    async def take_any(self, access: OpenAccess | None, **status: Any) -> bool:
        """The first of the places where open copies are said to be."""
        for place in access.locations if access else ():
            if await self.take("oa-publisher", place, "unpaywall", **status):
                return True
        return False

    async def take_indexed(self) -> bool:
        """The copy that an index which the operator switched on knows of."""
        lookup = self.lookup
        if DISCOVERY.missing(lookup.context.config):
            lookup.note_disabled(DISCOVERY)
            return False
        try:
            answer = await lookup.journal.ask(self.ref, DISCOVERY.name, "work", {"doi": self.ref.value})
        except PaperFault as fault:
            if fault.code == "LOG_ERROR":
                raise
            lookup.note(DISCOVERY.name, "consulted_failed", fault)
            return False
        rows = answer.rows
        url = rows[0].get("pdf_url") if rows and rows[0].get("open_access") else None
        if not url:
            lookup.note(DISCOVERY.name, "consulted_not_open_access" if rows else "consulted_no_record")
            return False
        return await self.take("oa-publisher", OpenLocation(str(url)), DISCOVERY.name)

    async def take_licensed(self) -> None:
        """The publisher's own copy, under an agreement with it; a refusal there changes nothing of the answer."""
        publisher, lookup = publisher_of(self.ref.value), self.lookup
        if publisher is None or not publisher.documents:
            return
        if publisher.missing(lookup.context.config):
            lookup.note_disabled(publisher)
            return
        name, token = publisher.name, Secret(f"Bearer {lookup.context.config[publisher.key].reveal()}")
        place = OpenLocation(publisher.url_of(self.ref.value))
        await self.take(name, place, name, token=token, status="tdm_fetched", source=name)


async def acquire(lookup: PaperLookup, ref: PaperId, record: PaperRecord) -> tuple[PaperCopy, PaperRecord]:
    """The document from the first place that gives it, and the record with what is known of open copies.

    Places that sources name go before a preprint of the paper, at arXiv or elsewhere, that before the copy of an index
    that is switched on, and all of them before the publisher's own under an agreement with it.
    """
    copy = PaperCopy(ref, lookup)
    if record.source == "arxiv":
        await copy.take("arxiv", pdf_of(record), "arxiv")
        return copy, record
    access = record.access or await lookup.locate(ref)
    if not (
        await copy.take_any(access)
        or await copy.take_preprint(record, access)
        or await copy.take_posted(record)
        or await copy.take_indexed()
    ):
        await copy.take_licensed()
    return copy, replace(record, access=access)


def pdf_of(record: PaperRecord) -> OpenLocation:
    """Where a preprint's PDF is: as its feed has it, asked over https, else where arXiv documents it to be.

    https://info.arxiv.org/help/arxiv_identifier_for_services.html
    """
    url = re.sub(r"^http://", "https://", str(record.fields.get("pdf_url") or ""))
    return OpenLocation(url or f"https://arxiv.org/pdf/{record.fields['arxiv_id']}", ARXIV_LICENSE)
