"""Who a paper is: its record from the registries, without ever asking for the paper itself.

Nothing here can fetch a document: this module asks declared operations and does not know the one that downloads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from specloom.core import Fault

from . import pacing
from .download import PUBLISHERS
from .entries import make_entry, mends, quality_of, to_plain
from .errors import Refusal, from_fault
from .identifiers import PaperId, parse_ref, preprint_of, pubmed_number
from .provenance_log import Journal, to_timestamp

if TYPE_CHECKING:
    from specloom.plugins import Context


ENABLED: Mapping[str, tuple[str, str]] = {
    "datacite": ("DOIGET_ENABLE_DATACITE", "datacite"),
    "openalex": ("DOIGET_ENABLE_OPENALEX", "openalex"),
    "s2": ("DOIGET_ENABLE_S2", "semanticscholar"),
    "doaj": ("DOIGET_ENABLE_DOAJ", "doaj"),
}
"""Sources that are asked only when a variable is set: the variable, and the provider behind the source."""

ARXIV_LICENSE = "arxiv-default"
MOST_PLACES = 30
"""Places of open copies that are tried for one paper, so that a long list cannot keep a call busy."""
LONGEST_LICENSE = 100
"""Characters of a licence that are kept."""


@dataclass(frozen=True, slots=True)
class PaperRecord:
    """The record of a paper: from whom, its fields, and what the source sent."""

    source: str
    fields: Mapping[str, Any]
    payload: Mapping[str, Any]
    access: OpenAccess | None = None
    """What was learned of open copies on the way."""


@dataclass(frozen=True, slots=True)
class Location:
    """A place where an open copy is said to be; `license` is empty where the source does not know."""

    url: str
    license: str = ""


@dataclass(frozen=True, slots=True)
class OpenAccess:
    """What is known of open copies: the colour, the places in order, and what the source sent."""

    status: str | None
    license: str
    locations: tuple[Location, ...]
    fields: Mapping[str, Any]
    payload: Mapping[str, Any]

    @property
    def url(self) -> str | None:
        """The first place, where there is one."""
        return self.locations[0].url if self.locations else None


@dataclass(slots=True)
class LookupTrace:
    """Every source that was asked or left out, in order, as callers are told."""

    steps: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self, source: str, outcome: str, refusal: Refusal | None = None, *, env: tuple[str, ...] = (), detail: str = ""
    ) -> None:
        """Note what became of a source; `env` are the variables that would switch it on."""
        said: dict[str, Any] = {"source": source, "outcome": outcome, "consulted": outcome.startswith("consulted_")}
        if env:
            said |= {"required_env": list(env), "detail": " + ".join(env)}
        if detail:
            said["detail"] = detail
        if refusal is not None:
            said["detail"] = refusal.message
            if refusal.denial is not None:
                said["denial_context"] = refusal.denial
            if refusal.remediation:
                said["remediation"] = refusal.remediation
        self.steps.append(said)

    def fail(self, source: str, refusal: Refusal) -> None:
        """Note that a source gave no record."""
        outcome = {"NOT_FOUND": "consulted_no_record", "CAPABILITY_DENIED": "consulted_denied"}
        self.add(source, outcome.get(refusal.code, "consulted_failed"), refusal)


async def resolve(context: Context, ref: PaperId, journal: Journal, trace: LookupTrace) -> PaperRecord:
    """The record of a paper from the first source that has it; a later one is asked only when the earlier had none."""
    if ref.kind == "arxiv":
        return await _resolve_preprint(context, ref, journal, trace)
    failed: list[Refusal] = []
    known = await attempt(context, ref, journal, trace, failed, "crossref", "publication")
    if known is not None:
        return PaperRecord("crossref", known, known.get("record") or {})
    found = await _try_publishers(context, ref, journal, trace, failed)
    if found is not None:
        return found
    for source, (variable, provider) in ENABLED.items():
        if context.config.get(variable) is None:
            trace.add(source, "not_consulted_disabled", env=(variable,))
            continue
        known = await attempt(context, ref, journal, trace, failed, source, "work", provider)
        if known is not None:
            return PaperRecord(source, {**known, "authors": turned(known.get("authors"))}, _bare(known))
    access = await locate(context, ref, journal, trace)
    if access is not None and access.fields.get("title"):
        return PaperRecord("unpaywall", access.fields, access.payload, access)
    preprint = preprint_of(ref.value)
    if preprint is not None:
        return await _resolve_preprint(context, preprint, journal, trace)
    raise _worst(ref, failed)


async def _resolve_preprint(context: Context, preprint: PaperId, journal: Journal, trace: LookupTrace) -> PaperRecord:
    row = await _ask(context, preprint, journal, trace, "arxiv", "preprint", {"arxiv_id": preprint.value})
    return PaperRecord("arxiv", {**row, "type": "", "arxiv_id": preprint.value}, _bare(row))


async def _try_publishers(
    context: Context, ref: PaperId, journal: Journal, trace: LookupTrace, failed: list[Refusal]
) -> PaperRecord | None:
    """The record at the publisher of a DOI, where its operator has an agreement with that one."""
    prefix = ref.value.partition("/")[0]
    known = None
    for one in PUBLISHERS:
        missing = one.missing(context.config)
        if not one.has(ref.value):
            if not missing:
                trace.add(one.source, "not_consulted_wrong_publisher", detail=f"{prefix} is of another publisher")
        elif missing:
            trace.add(one.source, "not_consulted_disabled", env=missing)
        else:
            row = await attempt(context, ref, journal, trace, failed, one.source, "publisher_record", one.provider)
            if row is not None:
                known = PaperRecord(one.source, {**row, "authors": turned(row.get("authors"))}, _bare(row))
    return known


async def locate(context: Context, ref: PaperId, journal: Journal, trace: LookupTrace) -> OpenAccess | None:
    """Where open copies of a DOI are said to be; None when nobody could be asked or nobody knows the DOI.

    That it is not known there is no statement about the DOI: only those of one agency are.
    """
    if not context.offering("oa_locations"):
        trace.add("unpaywall", "not_consulted_disabled", env=("UNPAYWALL_EMAIL",))
        return None
    row = await attempt(context, ref, journal, trace, [], "unpaywall", "oa_locations")
    if row is None:
        return None
    places: dict[str, Location] = {}
    for one in row.get("locations") or ():
        for key in ("url_for_pdf", "url"):
            url = one.get(key) if isinstance(one, dict) else None
            if isinstance(url, str) and url:
                places.setdefault(url, Location(url, to_license(one.get("license"))))
    license_ = to_license(row.get("license")) or "unknown"
    return OpenAccess(
        row.get("oa_status"), license_, tuple(places.values())[:MOST_PLACES], row, row.get("record") or {}
    )


def to_license(said: Any) -> str:
    """A licence as one short line, whatever a source calls it: it is written into a row of the log."""
    return " ".join(str(said or "").encode(errors="replace").decode().split())[:LONGEST_LICENSE]


def describe(found: PaperRecord, access: OpenAccess | None) -> dict[str, Any]:
    """The answer of the tools that tell metadata, without `ok` and `ref`."""
    arxiv = found.source == "arxiv"
    return {
        "source": found.source,
        "resolver_profile": found.source,
        "license": ARXIV_LICENSE if arxiv else access.license if access else "unknown",
        "oa_url": None if arxiv or access is None else access.url,
        "oa_status": "green" if arxiv else access.status if access else None,
        "metadata": dict(found.payload),
    }


def to_entry(ref: PaperId, found: PaperRecord, own: Mapping[str, Any], now: float) -> dict[str, Any]:
    """What the store keeps of a record, with the tool's own keys."""
    identity = {"doi": ref.value} if ref.kind == "doi" else {"arxiv_id": ref.value}
    fields = {**found.fields, **identity}
    if fields.get("arxiv_id") and fields.get("categories"):
        fields["arxiv_categories"] = fields["categories"]
    short = to_plain(str(found.fields.get("short_venue") or "")) or None
    return make_entry(fields, {"fetched_at": to_timestamp(int(now)), "short_venue": short, **own})


async def attempt(
    context: Context,
    ref: PaperId,
    journal: Journal,
    trace: LookupTrace,
    failed: list[Refusal],
    source: str,
    operation: str,
    provider: str = "",
) -> dict[str, Any] | None:
    """The row of a source that is asked by DOI, or None, and why it gave none at the end of `failed`."""
    try:
        return await _ask(context, ref, journal, trace, source, operation, {"doi": ref.value}, provider)
    except Refusal as refusal:
        if refusal.code in {"LOG_ERROR", "INTERNAL_ERROR"}:
            raise
        failed.append(refusal)
        return None


async def _ask(
    context: Context,
    ref: PaperId,
    journal: Journal,
    trace: LookupTrace,
    source: str,
    operation: str,
    arguments: Mapping[str, Any],
    provider: str = "",
) -> dict[str, Any]:
    """The one row of a source, written down and traced; NOT_FOUND where it has none."""
    absent = f"{source} has no record of {ref.value}."
    try:
        async with pacing.turn(source, live=context.is_live):
            rows = (await context.ask(operation, arguments, provider=provider or source)).rows
        refusal = None if rows else Refusal("NOT_FOUND", absent)
    except Fault as fault:
        rows, refusal = [], from_fault(fault, absent=absent)
        if refusal.code == "INVALID_REF":
            # The identifier is well formed: arXiv refuses one that cannot exist, of others it is no statement about it.
            refusal = Refusal("NETWORK_ERROR", fault.message)
            if source == "arxiv":
                refusal = Refusal("NOT_FOUND", absent)
    except Refusal as busy:
        rows, refusal = [], busy
    journal.asked(ref, source, refusal=refusal, capability=source if source.startswith("tdm-") else "metadata")
    if refusal is not None:
        trace.fail(source, refusal)
        raise refusal
    trace.add(source, "consulted_resolved")
    return dict(rows[0])


def _worst(ref: PaperId, failed: list[Refusal]) -> Refusal:
    """What a caller is told when nobody had a record: absent if one said so, else the first failure."""
    absent = next((one for one in failed if one.code == "NOT_FOUND"), None)
    return absent or (failed[0] if failed else Refusal("NOT_FOUND", f"Nobody has a record of {ref.value}."))


def turned(authors: Any) -> list[str]:
    """Names as Given Family."""
    names = [str(one) for one in authors or ()]
    return [
        " ".join(reversed([part.strip() for part in name.split(",", 1)])) if "," in name else name for name in names
    ]


def _bare(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


# --- Fields that an encoding went wrong for, told anew by a source that is switched on and says the same but for
# that -----------------------------------------------------------------------------------------------------------------


FIELDS = ("title", "authors", "venue", "publisher", "abstract")
"""What sources tell alike, so that one can stand in for the other."""


async def repair(
    context: Context, ref: PaperId, found: PaperRecord, journal: Journal, trace: LookupTrace
) -> tuple[PaperRecord, dict[str, str]]:
    """The record with its broken fields told anew, and by whom each was; nobody is asked where none is broken."""
    fields, repaired = dict(found.fields), dict[str, str]()
    for source, (variable, provider) in ENABLED.items() if ref.kind == "doi" else ():
        broken = [name for name in FIELDS if _is_broken(name, fields)]
        if not broken:
            break
        if source == found.source or context.config.get(variable) is None:
            continue
        row = await attempt(context, ref, journal, trace, [], source, "work", provider)
        said = {**row, "authors": turned(row.get("authors"))} if row is not None else {}
        for name in broken:
            if mends(_plain(fields[name]), _plain(said.get(name))):
                fields[name], repaired[name] = said[name], source
    return (replace(found, fields=fields), repaired) if repaired else (found, {})


def _is_broken(name: str, fields: Mapping[str, Any]) -> bool:
    return bool(quality_of({name: fields.get(name)}))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [to_plain(str(one)) for one in value]
    return to_plain(value) if isinstance(value, str) else None


# --- What a PubMed identifier stands for: the DOI that NCBI lists for it, by which the paper is resolved and kept -----


SOURCE, PROVIDER = "ncbi", "pubmed"


async def to_doi(context: Context, ref: PaperId, journal: Journal, trace: LookupTrace) -> PaperId:
    """The DOI of an article; NOT_FOUND where NCBI has no such article, NOT_IMPLEMENTED where it lists no DOI for it."""
    kind, number = pubmed_number(ref)
    found: PaperId | None = None
    refusal: Refusal | None = None
    try:
        async with pacing.turn(SOURCE, live=context.is_live):
            rows = (await context.ask("article_identifiers", {kind: number}, provider=PROVIDER)).rows
        found = _parse(ref, rows)
    except Fault as fault:
        refusal = from_fault(fault, absent=_absent(ref))
    except Refusal as refused:
        refusal = refused
    journal.asked(found or ref, SOURCE, refusal=refusal)
    if found is None or refusal is not None:
        assert refusal is not None
        trace.fail(SOURCE, refusal)
        raise refusal
    trace.add(SOURCE, "consulted_resolved")
    return found


def _absent(ref: PaperId) -> str:
    return f"{SOURCE} has no article {ref.value}."


def _parse(ref: PaperId, rows: list[dict[str, Any]]) -> PaperId:
    if not rows:
        raise Refusal("NOT_FOUND", _absent(ref))
    doi = str(rows[0].get("doi") or "")
    if not doi:
        raise Refusal("NOT_IMPLEMENTED", f"{SOURCE} lists no DOI for {ref.value}, and papers are resolved by theirs.")
    try:
        return parse_ref(f"doi:{doi}")
    except Refusal:
        raise Refusal(
            "NOT_IMPLEMENTED", f"{SOURCE} lists {doi[:80]!r} for {ref.value}, a DOI with signs that are not taken here."
        ) from None
