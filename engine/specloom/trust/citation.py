"""Verifies one citation: what it is, whether it exists, whether it is what it says, and whether it has the claim.

Everything here is evidence: each statement stands beside what it rests on, and whoever could not be asked is named in
`provenance` instead of being taken for an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specloom.faults import Fault
from specloom.trust.classify import classify
from specloom.trust.conflicts import find_conflict
from specloom.trust.dois import find_doi
from specloom.trust.existence import Standing, find_by_doi
from specloom.trust.grounds import Reading, judge_claim, read_first
from specloom.trust.identifiers import Detected, detect
from specloom.trust.identifiers_law import find_parties
from specloom.trust.liveness import Link, check_links, tell_link
from specloom.trust.matching import Match
from specloom.trust.registers import find_identified
from specloom.trust.searching import Found, find_by_words
from specloom.trust.words import terms
from specloom.trust.works import Work, compare_fields, compare_text, find_addresses, tell_match

if TYPE_CHECKING:
    from specloom.desk import Desk

NO_CLAIM = "no claim was given, so the source was not held against one"
BARE = (
    "Only the identifier was given, so it was not compared with a title: the work exists, but whether it is the one "
    "that was meant is not known."
)
_FEWEST_TERMS = 3


async def verify(desk: Desk, citation: str, claim: str = "") -> dict[str, Any]:
    """The record of one citation under the names of the tool contract; raises a `validation` fault for an empty one."""
    text = citation.strip()
    if not text:
        raise Fault("validation", "the citation is empty; give a DOI, an address or a reference")
    found = detect(text)
    told: dict[str, Any] = {"input": citation, "inputType": found.input_type, "provenance": []}
    identifier = found.identifier
    if identifier is not None:
        told["identifier"] = {"kind": identifier.kind, "value": identifier.value}
    desk.tell(0, 3, "looking for the source")
    standing = await find_identified(desk, identifier, text) if identifier is not None else None
    if standing is not None:
        addresses = await _tell_identified(desk, told, found, standing, live=found.input_type == "url")
        reading = None
    elif found.input_type == "url" and identifier is not None:
        addresses, reading = await _tell_address(desk, told, identifier.value, citation, wanted=bool(claim.strip()))
    else:
        addresses = await _tell_reference(desk, told, found.rest or text, _urls_of(found))
        reading = None
    desk.tell(2, 3, "looking at the claim")
    await _tell_claim(desk, told, claim, addresses, reading)
    desk.tell(3, 3, "done")
    return {name: value for name, value in told.items() if value is not None}


# --- what has an identifier ---


async def _tell_identified(
    desk: Desk, told: dict[str, Any], found: Detected, standing: Standing, *, live: bool
) -> list[str]:
    """Fills in what is known of a work by its identifier; gives the addresses at which it can be read."""
    _tell_standing(told, standing)
    work = standing.work
    match = _compare(found, work) if work is not None else None
    told["titleMatch"] = match.title.verdict if match is not None else "not_checked"
    if match is not None:
        told["comparison"] = tell_match(match)
        if match.title.verdict == "not_checked" and told["exists"]:
            told["authenticityCaveat"] = BARE if not found.rest else f"The title was not checked: {match.title.reason}."
    elif standing.near is not None:
        told["possibleMatch"] = standing.near.to_json()
        told["comparison"] = tell_match(_compare(found, standing.near))
    elif standing.state != "found" and len(terms(found.rest)) >= _FEWEST_TERMS:
        # A wrong identifier often stands beside the right title.
        other = await find_by_words(desk, found.rest)
        told["provenance"] += other.trail
        if other.work is not None and other.confidence == "high" and standing.state == "unknown" and not standing.doi:
            # What a catalogue does not list may be found by its words.
            told |= {"exists": True, "verificationStatus": "confirmed", "statusReason": None, "matchConfidence": "high"}
            told["matchedRecord"] = other.work.to_json()
            told["comparison"] = tell_match(other.match) if other.match is not None else []
            return find_addresses(other.work, other.work.doi)
        if other.work is not None and other.confidence in ("high", "medium"):
            told["possibleMatch"] = other.work.to_json()
            told["comparison"] = tell_match(other.match) if other.match is not None else []
    addresses = find_addresses(work, standing.doi) if standing.state == "found" else []
    if live and (urls := _urls_of(found)):
        link = (await check_links(desk, urls[:1]))[0]
        _tell_liveness(told, link)
        if link.live:
            told |= {"exists": True, "verificationStatus": "confirmed", "statusReason": None}
        addresses = [*_readable(link), *addresses]
    return addresses


def _compare(found: Detected, work: Work) -> Match:
    """The words around an identifier against a work; of a court's decision only the parties are its title."""
    parties = find_parties(found.rest) if found.identifier is not None and found.identifier.kind == "case" else ""
    return compare_fields(work, {"title": parties}) if parties else compare_text(found.rest, work)


def _urls_of(found: Detected) -> list[str]:
    return [each.value for each in found.identifiers if each.kind == "url"]


def _tell_standing(told: dict[str, Any], standing: Standing) -> None:
    told["exists"] = standing.state == "found"
    told["verificationStatus"] = {"found": "confirmed", "absent": "not_found", "unknown": "unchecked"}[standing.state]
    told["statusReason"] = standing.reason or None
    told["provenance"] += standing.trail
    told["retractionStatus"] = standing.notice
    if standing.work is not None:
        told["matchedRecord"] = standing.work.to_json()
        told["matchConfidence"] = "high"


# --- addresses ---


async def _tell_address(
    desk: Desk, told: dict[str, Any], url: str, citation: str, *, wanted: bool
) -> tuple[list[str], Reading | None]:
    """Fills in what is known of an address; the page is read once, for its own DOI and for the claim."""
    link = (await check_links(desk, [url]))[0]
    if link.live is None:
        raise Fault("validation", link.reason)
    told["exists"] = link.live
    told["verificationStatus"] = "confirmed" if link.live else "not_found"
    told["statusReason"] = None if link.live else link.reason or f"the server answers with status {link.status}"
    _tell_liveness(told, link)
    addresses = _readable(link)
    labels = classify(url)
    scholarly = labels.source_type == "peer_reviewed" or labels.domain_category == "academic"
    told["titleMatch"] = "not_checked"
    if not addresses or not (wanted or scholarly or (link.live and not link.blocked)):
        return addresses, None
    reading = await read_first(desk, addresses)
    if reading.page is None:
        told["provenance"].append(f"page: it could not be read ({reading.error})")
        return addresses, reading
    page = reading.page
    told["provenance"].append(f"page: {reading.url} was read by {page.get('extracted_by') or 'the reader'}")
    doi = str(page.get("detected_doi") or "") or (find_doi(url) if scholarly else "")
    if doi:
        await _tell_article(desk, told, doi, page, citation)
    return addresses, reading


async def _tell_article(desk: Desk, told: dict[str, Any], doi: str, page: Any, citation: str) -> None:
    """Fills in what the registries know of the DOI that a scholarly page declares as its own."""
    standing = await find_by_doi(desk, doi)
    told["detectedDoi"] = doi
    told["provenance"] += (f"doi: the page declares {doi} as its own", *standing.trail)
    told["retractionStatus"] = standing.notice
    metadata = page.get("metadata") or {}
    if standing.work is not None:
        match = compare_fields(standing.work, {"title": str(metadata.get("title") or "")})
        told["matchedRecord"] = standing.work.to_json()
        told["matchConfidence"] = "high"
        told["titleMatch"] = match.title.verdict
        told["comparison"] = tell_match(match)
    conflict = find_conflict(str(metadata.get("author") or ""), f"{metadata.get('title') or ''}. {citation}")
    told["conflictOfInterest"] = conflict.to_json() if conflict is not None else None


def _tell_liveness(told: dict[str, Any], link: Link) -> None:
    said = tell_link(link)
    told |= {name: said[name] for name in ("linkLive", "httpStatus", "archivedUrl", "archivedAt") if name in said}
    state = "was not looked at" if link.live is None else "answers" if link.live else "does not answer"
    reason = f" ({link.reason})" if link.reason else ""
    told["provenance"].append(f"link: {link.url} {state}, status {link.status}{reason}")
    if link.blocked:
        told["provenance"].append("link: the server is there and refuses programs, so the link is not dead")
    if link.live is False:
        copy = link.archived or "no archived copy was found"
        told["provenance"].append(f"archive: {copy}")


def _readable(link: Link) -> list[str]:
    """Where what an address stood for can be read: itself, or its archived copy."""
    if link.live:
        return [link.url]
    return [link.archived] if link.archived else []


# --- plain words ---


async def _tell_reference(desk: Desk, told: dict[str, Any], text: str, urls: list[str]) -> list[str]:
    """Fills in what the indexes have for a reference in plain words, and whether the address in it still answers."""
    found = await find_by_words(desk, text)
    told["provenance"] += found.trail
    told["matchConfidence"] = found.confidence
    told["exists"] = found.confidence == "high"
    told["titleMatch"] = found.match.title.verdict if found.match is not None else "not_checked"
    told["verificationStatus"], told["statusReason"] = _to_status(found)
    addresses = await _tell_found(desk, told, found) if found.work is not None else []
    if urls:
        link = (await check_links(desk, urls[:1]))[0]
        _tell_liveness(told, link)
        addresses = [*_readable(link), *addresses]
        if link.live:
            told |= {"exists": True, "verificationStatus": "confirmed", "statusReason": None}
    return addresses


async def _tell_found(desk: Desk, told: dict[str, Any], found: Found) -> list[str]:
    assert found.work is not None
    told["comparison"] = tell_match(found.match) if found.match is not None else []
    standing = None
    if found.work.doi:
        standing = await find_by_doi(desk, found.work.doi)
        told["provenance"] += standing.trail
        told["retractionStatus"] = standing.notice
    if found.confidence != "high":
        told["possibleMatch"] = found.work.to_json()
        return []
    exact = _prefer(standing.work if standing is not None else None, found.work)
    told["matchedRecord"] = exact.to_json()
    return find_addresses(exact, exact.doi)


def _prefer(exact: Work | None, found: Work) -> Work:
    """The registry's own record before that of a search."""
    return exact if exact is not None else found


def _to_status(found: Found) -> tuple[str, str | None]:
    """The status of a reference in plain words, and why it is not confirmed."""
    if found.confidence == "high":
        return "confirmed", None
    if found.confidence in ("medium", "low"):
        return "uncertain", f"the nearest record matches with confidence {found.confidence} only"
    if found.asked:
        return "not_found", "no index that was asked has a work like it"
    return "unchecked", "no index could be asked for it"


# --- the claim ---


async def _tell_claim(
    desk: Desk, told: dict[str, Any], claim: str, addresses: list[str], reading: Reading | None
) -> None:
    if not claim.strip():
        told["claimCheckSkipped"] = True
        told["claimCheckSkippedReason"] = NO_CLAIM
        return
    grounds = judge_claim(claim, reading if reading is not None else await read_first(desk, addresses))
    told |= grounds.told
    if grounds.label == "source_unavailable" and not addresses:
        told["provenance"].append("claim: no address is known at which the source can be read")
