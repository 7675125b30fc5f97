"""Pages that citations lead to: whether they answer, whose articles they are, and whether they are what was cited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specloom.faults import KINDS, Fault
from specloom.trust.classify import classify
from specloom.trust.conflicts import find_conflict
from specloom.trust.dois import find_doi
from specloom.trust.existence import find_by_doi
from specloom.trust.grounds import Reading, read_first
from specloom.trust.liveness import Link, check_links, find_copy, find_parked, tell_link
from specloom.trust.matching_title import cut_title
from specloom.trust.references import Reference
from specloom.trust.titles import find_inside, find_sameness
from specloom.trust.works import compare_fields, tell_match

if TYPE_CHECKING:
    from specloom.desk import Desk


async def tell_address(
    desk: Desk, told: dict[str, Any], url: str, citation: str, *, wanted: bool
) -> tuple[list[str], Reading | None]:
    """Fills in what is known of an address; the page is read once, for its own DOI and for the claim."""
    link = (await check_links(desk, [url]))[0]
    if link.live is None:
        raise Fault("validation", link.reason)
    addresses = to_readable(link)
    labels = classify(url)
    scholarly = labels.source_type == "peer_reviewed" or labels.domain_category == "academic"
    told["titleMatch"] = "not_checked"
    looked = bool(addresses) and (wanted or scholarly or bool(link.live and not link.blocked))
    link, reading = await read_link(desk, link) if looked else (link, None)
    told["exists"] = bool(link.live)
    told["verificationStatus"], told["statusReason"] = _to_status(link)
    tell_liveness(told, link)
    addresses = to_readable(link)
    if reading is None:
        return addresses, None
    if reading.page is None:
        told["provenance"].append(f"page: it could not be read ({reading.error})")
        return addresses, reading
    page = reading.page
    told["provenance"].append(f"page: {reading.url} was read by {page.get('extracted_by') or 'the reader'}")
    doi = str(page.get("detected_doi") or "") or (find_doi(url) if scholarly else "")
    if doi:
        await _tell_article(desk, told, doi, page, citation)
    return addresses, reading


async def read_link(desk: Desk, link: Link) -> tuple[Link, Reading]:
    """The page of a link, and the link as it is when the page was read: many servers answer a missing page with 200.

    What says of itself that it is not there makes the link dead, and its archived copy is read in its place.
    """
    reading = await read_first(desk, to_readable(link))
    gone = _find_gone(reading) if link.live else ""
    if not gone:
        return link, reading
    link = await find_copy(desk, replace(link, live=False, reason=gone))
    return link, await read_first(desk, to_readable(link)) if link.archived else Reading(None, link.url, gone)


def _find_gone(reading: Reading) -> str:
    if reading.page is None:
        return (
            "when it is read, there is no such page" if reading.error.startswith(f"{KINDS['not_found'].wire}:") else ""
        )
    return find_parked(str(reading.page.get("content") or ""))


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


def tell_liveness(told: dict[str, Any], link: Link) -> None:
    said = tell_link(link)
    told |= {name: said[name] for name in ("linkLive", "httpStatus", "archivedUrl", "archivedAt") if name in said}
    state = "was not looked at" if link.live is None else "answers" if link.live else "is dead"
    reason = f" ({link.reason})" if link.reason else ""
    told["provenance"].append(f"link: {link.url} {state}, status {link.status}{reason}")
    if link.blocked:
        told["provenance"].append("link: the server is there and refuses programs, so the link is not dead")
    if link.live is False:
        copy = link.archived or "no archived copy was found"
        told["provenance"].append(f"archive: {copy}")


def to_readable(link: Link) -> list[str]:
    """Where what an address stood for can be read: itself, or its archived copy."""
    if link.live:
        return [link.url]
    return [link.archived] if link.archived else []


def _to_status(link: Link) -> tuple[str, str | None]:
    """The status of an address that is a citation by itself, and why it is not confirmed."""
    if link.live:
        return "confirmed", None
    # Without an answer nobody has said that the page is not there.
    status = "not_found" if link.status else "unchecked"
    copy = f"; it was there when it was archived: {link.archived}" if link.archived else ""
    return status, f"{link.reason or f'the server answers with status {link.status}'}{copy}"


def tell_page(told: dict[str, Any], reference: Reference, link: Link, reading: Reading | None) -> None:
    """Fills in whether the page at the address of a reference is what it names.

    That some page answers there says nothing of the work: its title has to be that of the reference. A page that could
    not be read leaves the reference uncertain, and one with another title does as well.
    """
    if not (link.live or link.archived):
        # Pages are in no index, so that only their servers can say that they are not there.
        if not link.status and told["verificationStatus"] == "not_found":
            told["verificationStatus"] = "unchecked"
            told["statusReason"] += f"; its address was not seen to answer ({link.reason})"
        return
    page = reading.page if reading is not None else None
    title = str((page.get("metadata") or {}).get("title") or "") if page is not None else ""
    where = "its address" if link.live else "the archived copy of its address"
    if title and _is_titled(reference, title):
        told["provenance"].append(f"page: {where} leads to {title[:200]!r}, which the reference names")
        told |= {"exists": True, "verificationStatus": "confirmed", "statusReason": None, "titleMatch": "match"}
        return
    said = f"{where} leads to {title[:200]!r}" if title else f"{where} leads to a page whose title could not be read"
    told["provenance"].append(f"page: {said}")
    if told["verificationStatus"] in ("not_found", "unchecked"):
        told["verificationStatus"] = "uncertain"
    told["statusReason"] = "; ".join(filter(None, (told.get("statusReason"), f"{said}, not certainly the work cited")))


def _is_titled(reference: Reference, title: str) -> bool:
    """Whether the title of a page is the one that a reference gives, with or without the name of its site."""
    titles = cut_title(title)
    if reference.title:
        return any(find_sameness(reference.title, each) for each in titles)
    return bool(find_inside(reference.text, titles, [name.family for name in reference.authors]))
