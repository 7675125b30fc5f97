"""Verifies one citation: what it is, whether it exists, whether it is what it says, and whether it has the claim.

Everything here is evidence: each statement stands beside what it rests on, and whoever could not be asked is named in
`provenance` instead of being taken for an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specloom.core import Fault
from specloom.domains.text import Detected, detect, find_parties, strip_unseen, terms

from ..claims.coverage import SourceReading, judge_claim, read_first
from ..sources.links import check_links, read_link, tell_address, tell_liveness, tell_page, to_readable
from .existence import Standing, find_by_doi, find_identified
from .match import Match
from .reference import parse_reference
from .search import RegistrySearch, find_by_reference, find_by_words
from .titles import is_called_retracted
from .work import Work, compare_fields, compare_text, find_addresses, tell_match

if TYPE_CHECKING:
    from specloom.plugins import Context


NO_CLAIM = "no claim was given, so the source was not held against one"
BARE = (
    "Only the identifier was given, so it was not compared with a title: the work exists, but whether it is the one "
    "that was meant is not known."
)
UNREAD = (
    "It is registered, but nobody who was asked has its record: whether it is the work that was meant, and whether it "
    "was retracted, is not known."
)
CALLED_RETRACTED = "No notice is listed, but the recorded title says that the work was retracted or withdrawn."
DIFFERS = "The work exists, but the citation and its record differ in {fields}: see comparison."
_FEWEST_TERMS = 3


async def verify(context: Context, citation: str, claim: str = "") -> dict[str, Any]:
    """The record of one citation under the names of the tool contract; raises a `validation` fault for an empty one."""
    text = strip_unseen(citation).strip()
    if not text:
        raise Fault("validation", "the citation is empty; give a DOI, an address or a reference")
    found = detect(text)
    told: dict[str, Any] = {"input": citation, "inputType": found.input_type, "provenance": []}
    identifier = found.identifier
    if identifier is not None:
        told["identifier"] = {"kind": identifier.kind, "value": identifier.value}
        others = [each.value for each in found.identifiers if each.kind == "doi" and each.value != identifier.value]
        if identifier.kind == "doi" and others:
            told["provenance"].append(f"identifier: only the first DOI was looked up, and not {', '.join(others[:5])}")
    context.tell(0, 3, "looking for the source")
    standing = await find_identified(context, identifier, text) if identifier is not None else None
    if standing is not None:
        addresses = await _tell_identified(context, told, found, standing, live=found.input_type == "url")
        reading = None
    elif found.input_type == "url" and identifier is not None:
        addresses, reading = await tell_address(context, told, identifier.value, citation, wanted=bool(claim.strip()))
    else:
        addresses, reading = await _tell_reference(context, told, found.rest or text, _urls_of(found))
    context.tell(2, 3, "looking at the claim")
    await _tell_claim(context, told, claim, addresses, reading)
    context.tell(3, 3, "done")
    return {name: value for name, value in told.items() if value is not None}


# --- what has an identifier ---


async def _tell_identified(
    context: Context, told: dict[str, Any], found: Detected, standing: Standing, *, live: bool
) -> list[str]:
    """Fills in what is known of a work by its identifier; gives the addresses at which it can be read."""
    _tell_standing(told, standing)
    work = standing.work
    match = _compare(found, work) if work is not None else None
    told["titleMatch"] = match.title.verdict if match is not None else "not_checked"
    if match is not None:
        told["comparison"] = tell_match(match)
        if match.title.verdict == "not_checked" and told["exists"]:
            _add_caveat(told, BARE if not found.rest else f"The title was not checked: {match.title.reason}.")
        if differing := [one.field for one in match.judgements if one.verdict == "mismatch"]:
            _add_caveat(told, DIFFERS.format(fields=" and ".join(differing)))
    elif standing.near is not None:
        told["possibleMatch"] = standing.near.to_json()
        told["comparison"] = tell_match(_compare(found, standing.near))
    elif standing.state == "found":
        _add_caveat(told, UNREAD)
    elif len(terms(found.rest)) >= _FEWEST_TERMS:
        # A wrong identifier often stands beside the right title.
        other = await find_by_words(context, found.rest)
        told["provenance"] += other.trail
        if other.work is not None and other.confidence == "high" and standing.state == "unknown" and not standing.doi:
            # What a catalogue does not list may be found by its words.
            told |= {"exists": True, "verificationStatus": "confirmed", "statusReason": None, "matchConfidence": "high"}
            told["titleMatch"] = other.match.title.verdict if other.match is not None else "not_checked"
            return await _tell_found(context, told, other)
        if other.work is not None and other.confidence in ("high", "medium"):
            told["possibleMatch"] = other.work.to_json()
            told["comparison"] = tell_match(other.match) if other.match is not None else []
    addresses = find_addresses(work, standing.doi) if standing.state == "found" else []
    if live and (urls := _urls_of(found)):
        link = (await check_links(context, urls[:1]))[0]
        tell_liveness(told, link)
        # An address stands for the identifier in it, and for no other that somebody put beside it.
        if link.live and found.identifier is not None and found.identifier.start < len(urls[0]):
            told |= {"exists": True, "verificationStatus": "confirmed", "statusReason": None}
        addresses = [*to_readable(link), *addresses]
    return addresses


def _add_caveat(told: dict[str, Any], said: str) -> None:
    told["authenticityCaveat"] = " ".join(filter(None, (told.get("authenticityCaveat"), said)))


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
        if standing.notice is None and is_called_retracted(standing.work.title):
            _add_caveat(told, CALLED_RETRACTED)


# --- plain words ---


async def _tell_reference(
    context: Context, told: dict[str, Any], text: str, urls: list[str]
) -> tuple[list[str], SourceReading | None]:
    """Fills in what the indexes have for a reference in plain words, and whether it is what its address leads to."""
    reference = parse_reference(text)
    found = await find_by_reference(context, reference)
    told["provenance"] += found.trail
    told["matchConfidence"] = found.confidence
    told["exists"] = found.confidence == "high"
    told["titleMatch"] = found.match.title.verdict if found.match is not None else "not_checked"
    told["verificationStatus"], told["statusReason"] = _to_status(found)
    addresses = await _tell_found(context, told, found) if found.work is not None else []
    if not urls:
        return addresses, None
    link = (await check_links(context, urls[:1]))[0]
    reading = None
    if not told["exists"] and to_readable(link):
        link, reading = await read_link(context, link)
    tell_liveness(told, link)
    if not told["exists"]:
        tell_page(told, reference, link, reading)
    known = reading is not None and reading.page is not None
    return [*to_readable(link), *addresses], reading if known else None


async def _tell_found(context: Context, told: dict[str, Any], found: RegistrySearch) -> list[str]:
    assert found.work is not None
    told["comparison"] = tell_match(found.match) if found.match is not None else []
    standing = None
    if found.work.doi:
        standing = await find_by_doi(context, found.work.doi)
        told["provenance"] += standing.trail
        told["retractionStatus"] = standing.notice
    if found.confidence != "high":
        told["possibleMatch"] = found.work.to_json()
        return []
    exact = _prefer(standing.work if standing is not None else None, found.work)
    told["matchedRecord"] = exact.to_json()
    if told.get("retractionStatus") is None and is_called_retracted(exact.title):
        _add_caveat(told, CALLED_RETRACTED)
    return find_addresses(exact, exact.doi)


def _prefer(exact: Work | None, found: Work) -> Work:
    """The registry's own record before that of a search."""
    return exact if exact is not None else found


def _to_status(found: RegistrySearch) -> tuple[str, str | None]:
    """The status of a reference in plain words, and why it is not confirmed."""
    if found.confidence == "high":
        return "confirmed", None
    if found.confidence in ("medium", "low"):
        others = [one.field for one in found.match.judgements if one.verdict == "mismatch"] if found.match else []
        differing = f": it differs in {' and '.join(others)}, see comparison" if others else ""
        return "uncertain", f"the nearest record matches with confidence {found.confidence} only{differing}"
    if found.obstacle:
        return "unchecked", found.obstacle
    silent = f"; {' and '.join(found.failed)} could not be asked" if found.failed else ""
    # What a few have not does not tell what most would have had.
    if len(found.failed) > len(found.answered):
        return "unchecked", f"nothing like it is in {' and '.join(found.answered)}{silent}"
    return "not_found", f"no index that was asked has a work like it{silent}"


# --- the claim ---


async def _tell_claim(
    context: Context, told: dict[str, Any], claim: str, addresses: list[str], reading: SourceReading | None
) -> None:
    if not claim.strip():
        told["claimCheckSkipped"] = True
        told["claimCheckSkippedReason"] = NO_CLAIM
        return
    grounds = judge_claim(claim, reading if reading is not None else await read_first(context, addresses))
    told |= grounds.told
    if grounds.label == "source_unavailable" and not addresses:
        told["provenance"].append("claim: no address is known at which the source can be read")
