"""Who a paper is: its record from the registries, without ever asking for the paper itself.

Nothing here can fetch a document: this module asks declared operations and does not know the one that downloads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from specloom.core import dataclass
from specloom.domains.text import PaperId, find_ref, mends, preprint_of, pubmed_number
from specloom.plugins import Context

from .config import INDEXES, SOURCES, PaperSource
from .entries import RECORD, make_entry, quality_of, to_plain, turned
from .errors import PaperFault
from .provenance_log import Journal, to_timestamp

ARXIV_LICENSE = "arxiv-default"
MOST_PLACES = 30
"""Places of open copies that are tried for one paper, so that a long list cannot keep a call busy."""
LONGEST_LICENSE = 100
"""Characters of a licence that are kept."""
REPAIRED = ("title", "authors", "venue", "publisher", "abstract")
"""Fields that sources tell alike, so that one can stand in for the other."""


@dataclass(frozen=True, slots=True)
class OpenLocation:
    """A place where an open copy is said to be; `license` is empty where the source does not know."""

    url: str
    license: str = ""


@dataclass(frozen=True, slots=True)
class OpenAccess:
    """What is known of open copies: the colour, the licence, the places in order, and what the source sent."""

    status: str | None
    license: str
    locations: tuple[OpenLocation, ...]
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PaperRecord:
    """The record of a paper: from whom, its fields, and what the source sent."""

    source: str
    fields: Mapping[str, Any]
    payload: Mapping[str, Any]
    access: OpenAccess | None = None
    """What was learned of open copies on the way."""
    repaired: Mapping[str, str] = field(default_factory=dict)
    """Fields that another source told anew, with that source."""

    @property
    def license(self) -> str:
        """The licence of the paper as far as it is known."""
        return (ARXIV_LICENSE if self.source == "arxiv" else self.access.license if self.access else "") or "unknown"

    @property
    def oa_status(self) -> str | None:
        """The colour of its open access."""
        return "green" if self.source == "arxiv" else self.access.status if self.access else None

    @property
    def oa_url(self) -> str | None:
        """The first place where an open copy is said to be."""
        places = self.access.locations if self.access and self.source != "arxiv" else ()
        return next((place.url for place in places), None)


@dataclass(slots=True)
class PaperLookup:
    """One call's way through the sources: its log, and every source that was asked or left out, as callers are told."""

    context: Context
    journal: Journal
    steps: list[dict[str, Any]] = field(default_factory=list)

    def note(
        self, source: str, outcome: str, fault: PaperFault | None = None, *, env: Iterable[str] = (), detail: str = ""
    ) -> None:
        """Note what became of a source; `env` are the variables that would switch it on."""
        step: dict[str, Any] = {"source": source, "outcome": outcome, "consulted": outcome.startswith("consulted_")}
        env = list(env)
        step |= {"required_env": env} if env else {}
        detail = detail or (fault.message if fault else "") or " + ".join(env)
        step |= {"detail": detail} if detail or fault else {}
        step |= {"denial_context": fault.denial} if fault and fault.denial is not None else {}
        step |= {"remediation": fault.remediation} if fault and fault.remediation else {}
        self.steps.append(step)

    def note_disabled(self, source: PaperSource) -> None:
        """Note once which variables would switch a source on."""
        if not any(step["source"] == source.name for step in self.steps):
            self.note(source.name, "not_consulted_disabled", env=source.missing(self.context.config))

    def note_failed(self, source: str, fault: PaperFault) -> None:
        """Note that a source gave no record."""
        outcomes = {"NOT_FOUND": "consulted_no_record", "CAPABILITY_DENIED": "consulted_denied"}
        self.note(source, outcomes.get(fault.code, "consulted_failed"), fault)

    async def ask(
        self, ref: PaperId, source: str, operation: str, arguments: Mapping[str, Any], provider: str = "", **more: Any
    ) -> dict[str, Any]:
        """The one row of a source, written down and noted; NOT_FOUND where it has none."""
        more = {"absent": f"{source} has no record of {ref.value}.", **more, "provider": provider}
        capability = source if source.startswith("tdm-") else "metadata"
        try:
            answer = await self.journal.ask(ref, source, operation, arguments, capability=capability, **more)
        except PaperFault as fault:
            self.note_failed(source, fault)
            raise
        self.note(source, "consulted_resolved")
        return dict(answer.rows[0])

    async def attempt(
        self, ref: PaperId, source: str, operation: str, provider: str = "", failed: list[PaperFault] | None = None
    ) -> dict[str, Any] | None:
        """The row of a source that is asked by DOI, or None, and why it gave none at the end of `failed`."""
        try:
            return await self.ask(ref, source, operation, {"doi": ref.value}, provider)
        except PaperFault as fault:
            if fault.code in {"LOG_ERROR", "INTERNAL_ERROR"}:
                raise
            if failed is not None:
                failed.append(fault)
            return None

    async def to_doi(self, ref: PaperId) -> PaperId:
        """What a PubMed identifier stands for, the DOI that NCBI lists for it; any other reference as it is.

        NOT_FOUND where NCBI has no such article, NOT_IMPLEMENTED where it lists no DOI for it, or one with other signs.
        """
        if ref.kind != "pubmed":
            return ref
        kind, number = pubmed_number(ref)

        def to_ref(row: Mapping[str, Any]) -> PaperId:
            doi = str(row.get("doi") or "")
            if found := find_ref("doi", doi):
                return found
            none = f"no DOI for {ref.value}, and papers are resolved by theirs"
            why = f"{doi[:80]!r} for {ref.value}, a DOI with signs that are not taken here" if doi else none
            raise PaperFault("NOT_IMPLEMENTED", f"ncbi lists {why}.")

        absent = f"ncbi has no article {ref.value}."
        row = await self.ask(ref, "ncbi", "article_identifiers", {kind: number}, "pubmed", absent=absent, about=to_ref)
        return to_ref(row)

    async def resolve(self, ref: PaperId) -> PaperRecord:
        """The record from the first source that has it; a later one is asked only when the earlier had none."""
        if ref.kind == "arxiv":
            return await self._resolve_preprint(ref)
        failed: list[PaperFault] = []
        for source in SOURCES:
            missing = source.missing(self.context.config)
            if not source.has(ref.value):
                if not missing:
                    detail = f"{ref.value.partition('/')[0]} is of another publisher"
                    self.note(source.name, "not_consulted_wrong_publisher", detail=detail)
            elif missing:
                self.note_disabled(source)
            elif row := await self.attempt(ref, source.name, source.operation, source.provider, failed):
                if source.operation == "publication":
                    return PaperRecord(source.name, row, row.get("record") or {})
                return PaperRecord(source.name, {**row, "authors": turned(row.get("authors"))}, _bare(row))
        access = await self.locate(ref)
        if access is not None and access.fields.get("title"):
            return PaperRecord("unpaywall", access.fields, access.fields.get("record") or {}, access)
        preprint = preprint_of(ref.value)
        if preprint is not None:
            return await self._resolve_preprint(preprint)
        nobody = PaperFault("NOT_FOUND", f"Nobody has a record of {ref.value}.")
        # That it is absent counts more than that somebody could not be asked.
        raise next((fault for fault in failed if fault.code == "NOT_FOUND"), failed[0] if failed else nobody)

    async def _resolve_preprint(self, preprint: PaperId) -> PaperRecord:
        row = await self.ask(preprint, "arxiv", "preprint", {"arxiv_id": preprint.value})
        return PaperRecord("arxiv", {**row, "type": "", "arxiv_id": preprint.value}, _bare(row))

    async def locate(self, ref: PaperId) -> OpenAccess | None:
        """Where open copies of a DOI are said to be; None when nobody could be asked or nobody knows the DOI.

        That it is not known there is no statement about the DOI: only those of one agency are.
        """
        if "unpaywall" not in self.context.offering("oa_locations"):
            self.note("unpaywall", "not_consulted_disabled", env=("UNPAYWALL_EMAIL",))
            return None
        row = await self.attempt(ref, "unpaywall", "oa_locations")
        if row is None:
            return None
        places: dict[str, OpenLocation] = {}
        for one in row.get("locations") or ():
            for key in ("url_for_pdf", "url"):
                url = one.get(key) if isinstance(one, dict) else None
                if isinstance(url, str) and url:
                    places.setdefault(url, OpenLocation(url, to_license(one.get("license"))))
        license_ = to_license(row.get("license")) or "unknown"
        return OpenAccess(row.get("oa_status"), license_, tuple(places.values())[:MOST_PLACES], row)

    async def repair(self, ref: PaperId, record: PaperRecord) -> PaperRecord:
        """The record with fields that an encoding went wrong for told anew by an index that says the same but for that.

        Nobody is asked where none is broken.
        """
        fields, repaired = dict(record.fields), dict[str, str]()
        for index in INDEXES if ref.kind == "doi" else ():
            broken = [name for name in REPAIRED if quality_of({name: fields.get(name)})]
            if not broken:
                break
            if index.name == record.source or index.missing(self.context.config):
                continue
            row = await self.attempt(ref, index.name, index.operation, index.provider) or {}
            row["authors"] = turned(row.get("authors"))
            for name in broken:
                if mends(_plain(fields[name]), _plain(row.get(name))):
                    fields[name], repaired[name] = row[name], index.name
        return replace(record, fields=fields, repaired=repaired)


def to_license(value: Any) -> str:
    """A licence as one short line, whatever a source calls it: it is written into a row of the log."""
    return " ".join(str(value or "").encode(errors="replace").decode().split())[:LONGEST_LICENSE]


def to_entry(ref: PaperId, record: PaperRecord, own: Mapping[str, Any], now: float) -> dict[str, Any]:
    """What the store keeps of a record, with the tool's own keys."""
    identity = {"doi": ref.value} if ref.kind == "doi" else {"arxiv_id": ref.value}
    fields = {**record.fields, **identity}
    if fields.get("arxiv_id") and fields.get("categories"):
        fields["arxiv_categories"] = fields["categories"]
    own = {"repaired_fields": dict(record.repaired) or None, **own}
    short = to_plain(str(record.fields.get("short_venue") or "")) or None
    entry = make_entry(fields, {"fetched_at": to_timestamp(int(now)), "short_venue": short, **own})
    return entry | _more_of(record)


def _more_of(record: PaperRecord) -> dict[str, Any]:
    """What a registry with the fields of CSL says beyond the shared keys: names in their parts, the day, the kind."""
    if record.source != "crossref" or not record.payload:
        return {}
    from specloom.domains.trust.bibliography.csl import parse_item

    from .record import to_stored

    work = parse_item({name: record.payload.get(name) for name in _PARTED})
    if isinstance(work, str):
        return {}
    table = to_stored(work)[RECORD]
    if "authors" in record.repaired:
        table.pop("names", None)
    return {RECORD: table} if "names" in table or "issued" in table else {}


_PARTED = ("type", "author", "editor", "translator", "issued")


def _bare(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [to_plain(str(one)) for one in value]
    return to_plain(value) if isinstance(value, str) else None
