"""Gets the document of a paper from the first place that gives it, and keeps what became of each place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from specloom.core import Secret
from specloom.domains.text import PaperId, arxiv_at, find_ref, preprint_of

from .download import download
from .errors import PaperFault
from .metadata import ARXIV_LICENSE, OpenAccess, OpenLocation, PaperLookup, PaperRecord
from .sources import OPENALEX, publisher_of

_OF_ARXIV = "10.48550/"
"""How the DOIs begin that arXiv registers."""


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

    async def take(self, hosts: str, place: OpenLocation, source: str, **status: Any) -> bool:
        """Try one open place, told as `status` where it gives the document; the first refusal is kept."""
        blocked = dict(self.status) if self.fault is not None else None
        try:
            body = await download(self.lookup.context, place.url, hosts)
        except PaperFault as fault:
            self.lookup.journal.asked(self.ref, hosts, fault=fault, capability="oa")
            self.lookup.note(hosts, "consulted_denied" if fault.is_policy else "consulted_failed", fault)
            if self.fault is None:
                self.fault, self.status = fault, {"status": "blocked", **fault.to_error()}
            return False
        self.body, self.source, self.license = body, source, place.license or "unknown"
        self.lookup.journal.asked(self.ref, hosts, capability="oa", size_bytes=len(body), license=self.license)
        self.lookup.note(hosts, "consulted_resolved")
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
            more = {"status": "preprint_fallback", "arxiv_id": preprint.base, "found_by": finder}
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
        more = {"status": "preprint_doi_fallback", "preprint_doi": posted.value, "platform": platform}
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
        if OPENALEX.missing(lookup.context.config):
            lookup.note_disabled(OPENALEX)
            return False
        try:
            answer = await lookup.journal.ask(self.ref, "openalex", "work", {"doi": self.ref.value})
        except PaperFault as fault:
            if fault.code == "LOG_ERROR":
                raise
            lookup.note("openalex", "consulted_failed", fault)
            return False
        rows = answer.rows
        url = rows[0].get("pdf_url") if rows and rows[0].get("open_access") else None
        if not url:
            lookup.note("openalex", "consulted_not_open_access" if rows else "consulted_no_record")
            return False
        return await self.take("oa-publisher", OpenLocation(str(url)), "openalex")

    async def take_licensed(self) -> None:
        """The publisher's own copy, under an agreement with it; a refusal there changes nothing of the answer."""
        publisher, lookup = publisher_of(self.ref.value), self.lookup
        if publisher is None or not publisher.documents:
            return
        if publisher.missing(lookup.context.config):
            lookup.note_disabled(publisher)
            return
        name, token = publisher.name, Secret(f"Bearer {lookup.context.config[publisher.key].reveal()}")
        try:
            body = await download(lookup.context, publisher.url_of(self.ref.value), name, token=token)
        except PaperFault as fault:
            lookup.journal.asked(self.ref, name, fault=fault, capability=name)
            lookup.note_failed(name, fault)
            return
        lookup.journal.asked(self.ref, name, capability=name, size_bytes=len(body), license="unknown")
        lookup.note(name, "consulted_resolved")
        blocked = dict(self.status) if self.fault is not None else None
        self.status = {"status": "tdm_fetched", "source": name, "original_block": blocked}
        self.body, self.source, self.license, self.capability = body, name, "unknown", name


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
