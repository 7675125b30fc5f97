"""Gets the document of a paper from the first place that gives it, and keeps what became of each place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault
from specloom.vault import Secret

from . import pacing
from .codes import Refusal, from_fault
from .fetching import download
from .journal import Journal
from .metadata import ARXIV_LICENSE, ENABLED, Found, Location, OpenAccess, Trace, locate, resolve
from .publishers import publisher_of
from .refs import Ref, parse_ref, preprint_of

if TYPE_CHECKING:
    from specloom.desk import Desk

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


async def acquire(desk: Desk, ref: Ref, found: Found, journal: Journal, trace: Trace) -> tuple[Leg, OpenAccess | None]:
    """The document from the first place that gives it, and what is known of open copies.

    Places that sources name go before a preprint of the paper, at arXiv or elsewhere, that before the copy of an index
    that is switched on, and all of them before the publisher's own under an agreement with it.
    """
    leg = Leg()
    if found.source == "arxiv":
        place = Location(_pdf_url(found.fields), ARXIV_LICENSE)
        await _take(desk, ref, journal, leg, "arxiv", place, "arxiv", trace)
        return leg, None
    access = found.access or await locate(desk, ref, journal, trace)
    for place in access.locations if access else ():
        if await _take(desk, ref, journal, leg, "oa-publisher", place, "unpaywall", trace):
            return leg, access
    if await _take_preprint(desk, ref, found, access, journal, leg, trace):
        return leg, access
    if await _take_posted(desk, ref, found, journal, leg, trace):
        return leg, access
    if not await _take_indexed(desk, ref, journal, leg, trace):
        await _take_licensed(desk, ref, journal, leg, trace)
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
    """Try one open place; a refusal is kept for the answer, and the first one counts."""
    try:
        body = await download(desk, place.url, hosts)
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
    desk: Desk,
    ref: Ref,
    found: Found,
    access: OpenAccess | None,
    journal: Journal,
    leg: Leg,
    trace: Trace,
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


async def _take_posted(desk: Desk, ref: Ref, found: Found, journal: Journal, leg: Leg, trace: Trace) -> bool:
    """The preprint of a DOI that has a DOI of its own, from where open copies of that one are said to be."""
    named = [str(one) for one in found.fields.get("preprints") or () if not str(one).startswith(_OF_ARXIV)]
    posted = _ref_of("doi", named[0]) if named else None
    if posted is None:
        return False
    blocked = leg.blocked
    access = await locate(desk, posted, journal, trace)
    for place in access.locations if access else ():
        if await _take(desk, ref, journal, leg, "oa-publisher", place, "unpaywall", trace):
            leg.status = {
                "status": "preprint_doi_fallback",
                "preprint_doi": posted.value,
                "platform": access.fields.get("venue") or access.fields.get("publisher") if access else None,
                "original_block": blocked,
                "found_by": "crossref",
            }
            return True
    return False


async def _take_indexed(desk: Desk, ref: Ref, journal: Journal, leg: Leg, trace: Trace) -> bool:
    """The copy that an index which the operator switched on knows of."""
    variable, provider = ENABLED["openalex"]
    if desk.config.get(variable) is None:
        if not any(step["source"] == "openalex" for step in trace.steps):
            trace.add("openalex", "not_consulted_disabled", env=(variable,))
        return False
    try:
        async with pacing.turn("openalex", live=desk.is_live):
            rows = (await desk.ask("work", {"doi": ref.value}, provider=provider)).rows
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
    return await _take(desk, ref, journal, leg, "oa-publisher", Location(str(url)), "openalex", trace)


async def _take_licensed(desk: Desk, ref: Ref, journal: Journal, leg: Leg, trace: Trace) -> None:
    """The publisher's own copy, where its operator has an agreement; a refusal there changes nothing of the answer."""
    publisher = publisher_of(ref.value)
    if publisher is None or not publisher.documents:
        return
    source, missing = publisher.source, publisher.missing(desk.config)
    if missing:
        if not any(step["source"] == source for step in trace.steps):
            trace.add(source, "not_consulted_disabled", env=missing)
        return
    token = Secret(f"Bearer {desk.config[publisher.key].reveal()}")
    try:
        body = await download(desk, publisher.url_of(ref.value), source, token=token)
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


def _ref_of(scheme: str, text: str) -> Ref | None:
    """The paper that a source names, or None where what it says is no such identifier."""
    try:
        return parse_ref(f"{scheme}:{text}")
    except Refusal:
        return None


def _arxiv_at(place: Location) -> Ref | None:
    found = _ARXIV_URL.match(place.url)
    return _ref_of("arxiv", found[1]) if found else None
