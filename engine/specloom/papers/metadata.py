"""Who a paper is: its record from the registries, without ever asking for the paper itself.

Nothing here can fetch a document: this module asks declared operations and does not know the one that downloads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault

from . import pacing
from .codes import Refusal, from_fault
from .entries import make_entry
from .journal import Journal
from .log import to_timestamp
from .refs import Ref

if TYPE_CHECKING:
    from specloom.desk import Desk

ASKS = ("publication", "oa_locations", "preprint", "work")
"""The capabilities that records come from; none of them gives a document."""

ENABLED: Mapping[str, tuple[str, str]] = {
    "datacite": ("DOIGET_ENABLE_DATACITE", "datacite"),
    "openalex": ("DOIGET_ENABLE_OPENALEX", "openalex"),
}
"""Sources that are asked only when a variable is set: the variable, and the provider behind the source."""

ARXIV_LICENSE = "arxiv-default"


@dataclass(frozen=True, slots=True)
class Found:
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
class Trace:
    """Every source that was asked or left out, in order, as callers are told."""

    steps: list[dict[str, Any]] = field(default_factory=list)

    def add(self, source: str, outcome: str, refusal: Refusal | None = None, *, env: tuple[str, ...] = ()) -> None:
        """Note what became of a source."""
        said: dict[str, Any] = {"source": source, "outcome": outcome, "consulted": outcome.startswith("consulted_")}
        if env:
            said |= {"required_env": list(env), "detail": " + ".join(env)}
        if refusal is not None:
            said["detail"] = refusal.message
            if refusal.denial is not None:
                said["denial_context"] = refusal.denial
            if refusal.remediation:
                said["remediation"] = refusal.remediation
        self.steps.append(said)


async def resolve(desk: Desk, ref: Ref, journal: Journal, trace: Trace) -> Found:
    """The record of a paper from the first source that has it; a later one is asked only when the earlier had none."""
    if ref.kind == "arxiv":
        row = await _ask(desk, ref, journal, trace, "arxiv", "preprint", {"arxiv_id": ref.value})
        return Found("arxiv", {**row, "type": "", "arxiv_id": ref.value}, _bare(row))
    failed: list[Refusal] = []
    known = await _try(desk, ref, journal, trace, failed, "crossref", "publication")
    if known is not None:
        return Found("crossref", known, known.get("record") or {})
    for source, (variable, provider) in ENABLED.items():
        if desk.config.get(variable) is None:
            trace.add(source, "not_consulted_disabled", env=(variable,))
            continue
        known = await _try(desk, ref, journal, trace, failed, source, "work", provider)
        if known is not None:
            return Found(source, {**known, "authors": _turned(known.get("authors"))}, _bare(known))
    found = await locate(desk, ref, journal, trace, failed)
    if found is not None and found.fields.get("title"):
        return Found("unpaywall", found.fields, found.payload, found)
    raise _worst(ref, failed)


async def locate(
    desk: Desk, ref: Ref, journal: Journal, trace: Trace, failed: list[Refusal] | None = None
) -> OpenAccess | None:
    """Where open copies of a DOI are said to be; None when nobody could be asked or nobody knows the DOI."""
    if not desk.offering("oa_locations"):
        trace.add("unpaywall", "not_consulted_disabled", env=("UNPAYWALL_EMAIL",))
        return None
    row = await _try(desk, ref, journal, trace, [] if failed is None else failed, "unpaywall", "oa_locations")
    if row is None:
        return None
    places: dict[str, Location] = {}
    for one in row.get("locations") or ():
        for key in ("url_for_pdf", "url"):
            url = one.get(key) if isinstance(one, dict) else None
            if isinstance(url, str) and url:
                places.setdefault(url, Location(url, str(one.get("license") or "")))
    license_ = str(row.get("license") or "") or "unknown"
    return OpenAccess(row.get("oa_status"), license_, tuple(places.values()), row, row.get("record") or {})


def describe(found: Found, access: OpenAccess | None) -> dict[str, Any]:
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


def to_entry(ref: Ref, found: Found, own: Mapping[str, Any], now: float) -> dict[str, Any]:
    """What the store keeps of a record, with the tool's own keys."""
    identity = {"doi": ref.value} if ref.kind == "doi" else {"arxiv_id": ref.value}
    fields = {**found.fields, **identity}
    if ref.kind == "arxiv" and fields.get("categories"):
        fields["arxiv_categories"] = fields["categories"]
    short = str(found.fields.get("short_venue") or "") or None
    return make_entry(fields, {"fetched_at": to_timestamp(int(now)), "short_venue": short, **own})


async def _try(
    desk: Desk,
    ref: Ref,
    journal: Journal,
    trace: Trace,
    failed: list[Refusal],
    source: str,
    operation: str,
    provider: str = "",
) -> dict[str, Any] | None:
    try:
        return await _ask(desk, ref, journal, trace, source, operation, {"doi": ref.value}, provider)
    except Refusal as refusal:
        if refusal.code in {"LOG_ERROR", "INTERNAL_ERROR"}:
            raise
        failed.append(refusal)
        return None


async def _ask(
    desk: Desk,
    ref: Ref,
    journal: Journal,
    trace: Trace,
    source: str,
    operation: str,
    arguments: Mapping[str, Any],
    provider: str = "",
) -> dict[str, Any]:
    """The one row of a source, written down and traced; NOT_FOUND where it has none."""
    try:
        async with pacing.turn(source):
            rows = (await desk.ask(operation, arguments, provider=provider or source)).rows
        refusal = None if rows else Refusal("NOT_FOUND", f"{source} has no record of {ref.value}.")
    except Fault as fault:
        rows, refusal = [], from_fault(fault)
        if refusal.code == "INVALID_REF":  # the identifier is well formed, so it is the upstream that is particular
            refusal = Refusal("NOT_FOUND", fault.message)
    except Refusal as busy:
        rows, refusal = [], busy
    if refusal is not None:
        _note_failure(ref, journal, trace, source, refusal)
        raise refusal
    journal.asked(ref, source)
    trace.add(source, "consulted_resolved")
    return dict(rows[0])


def _note_failure(ref: Ref, journal: Journal, trace: Trace, source: str, refusal: Refusal) -> None:
    journal.asked(ref, source, refusal=refusal)
    outcome = {"NOT_FOUND": "consulted_no_record", "CAPABILITY_DENIED": "consulted_denied"}
    trace.add(source, outcome.get(refusal.code, "consulted_failed"), refusal)


def _worst(ref: Ref, failed: list[Refusal]) -> Refusal:
    """What a caller is told when nobody had a record: absent if one said so, else the first failure."""
    absent = next((one for one in failed if one.code == "NOT_FOUND"), None)
    return absent or (failed[0] if failed else Refusal("NOT_FOUND", f"Nobody has a record of {ref.value}."))


def _turned(authors: Any) -> list[str]:
    """Names as Given Family."""
    names = [str(one) for one in authors or ()]
    return [
        " ".join(reversed([part.strip() for part in name.split(",", 1)])) if "," in name else name for name in names
    ]


def _bare(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}
