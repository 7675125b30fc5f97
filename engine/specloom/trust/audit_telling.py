"""What an audit says of its entries: flags with their reasons, the evidence beside them, and the sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specloom.trust.answers import AUDIT_FLAGS
from specloom.trust.audit_items import Item
from specloom.trust.liveness import tell_link
from specloom.trust.matching import Match, match_reference
from specloom.trust.references import from_fields
from specloom.trust.searching import Found
from specloom.trust.titles import is_called_retracted
from specloom.trust.works import compare_fields, tell_match

UNREAD = "the DOI is registered, but nobody who was asked has its record: title, authors and notices were not checked"


def tell(index: int, item: Item) -> dict[str, Any]:
    """One entry under the names of the tool contract; what is not known is left out."""
    standing, found = item.standing, item.found
    match = _compare(item)
    near = found.work if found is not None and item.exists else None
    work = item.work or near
    flags = _flag(item, match)
    told: dict[str, Any] = {
        "index": index,
        "title": item.entry.title,
        "doi": item.doi,
        "url": item.url or item.entry.url,
        "exists": item.exists,
        "flags": flags,
        "reason": "; ".join(item.reasons),
        "retractionStatus": _notice(item),
        "matchedTitle": work.title if work is not None else None,
        "titleMatch": match.title.verdict if match is not None else None,
        "comparison": tell_match(match) if match is not None else None,
        "matchConfidence": _to_confidence(item),
        "provenance": [*(standing.trail if standing is not None else ()), *(found.trail if found is not None else ())],
    }
    if item.link is not None:
        told |= tell_link(item.link)
    if item.grounds is not None:
        named = {"contentWords": "claimContentWords", "sparsityNote": "claimSparsityNote"}
        told |= {named.get(name, name): value for name, value in item.grounds.told.items()}
    return {name: value for name, value in told.items() if value not in (None, "", []) or name in {"flags", "title"}}


def _to_confidence(item: Item) -> str | None:
    """How sure it is that a record is the work; None where a registry denies it, or nothing was looked for."""
    if item.work is not None:
        return "high"
    absent = item.standing is not None and item.standing.state == "absent"
    return item.found.confidence if item.found is not None and not absent else None


def _notice(item: Item) -> dict[str, Any] | None:
    if item.standing is not None and item.standing.notice is not None:
        return item.standing.notice
    return dict(item.work.notice) if item.work is not None and item.work.notice is not None else None


def _compare(item: Item) -> Match | None:
    """The entry's own fields against the record of its DOI, or of what its title was found to be."""
    if item.work is None:
        return item.found.match if item.found is not None and item.exists else None
    entry = item.entry
    year = entry.issued[0] if entry.issued else None
    venue = entry.container if entry.kind == "article-journal" else ""
    if item.standing is not None and item.standing.work is not None:
        return compare_fields(item.work, {"title": entry.title, "authors": entry.authors, "year": year, "venue": venue})
    return match_reference(from_fields(title=entry.title, authors=entry.authors, year=year), item.work.record)


def _flag(item: Item, match: Match | None) -> list[str]:
    """The flags of an entry in the contract's order; each puts its reason beside it."""
    flags: list[str] = []
    notice = _notice(item)
    when = f" on {notice['date']}" if notice is not None and notice.get("date") else ""
    if notice is not None and notice.get("retracted"):
        flags.append("retracted")
        item.reasons.append(f"the work was retracted{when}")
    elif notice is not None and notice.get("kind") == "expression_of_concern":
        item.reasons.append(f"doubts about the work were published{when}, which is no retraction")
    elif notice is None and item.work is not None and is_called_retracted(item.work.title):
        item.reasons.append("no notice is listed, but the recorded title says that the work was retracted")
    link = item.link
    if link is not None and link.live is False:
        flags.append("dead_link")
        copy = "; an archived copy exists" if link.archived else ""
        item.reasons.append(f"the link is dead: {link.reason.rstrip('.') or f'status {link.status}'}{copy}")
    if item.grounds is not None and item.grounds.label == "not_addressed":
        flags.append("mischaracterized")
        item.reasons.append(f"the source does not speak of the claim: {item.grounds.told['claimReason']}")
    for field_ in ("title", "authors", "year") if match is not None else ():
        judgement = getattr(match, field_)
        if judgement.verdict == "mismatch":
            item.reasons.append(f"the record has another {field_.rstrip('s')}: {judgement.recorded[:120]!r}")
    if item.flaw:
        item.reasons.append(item.flaw)
    if item.exists and item.doi and item.work is None:
        item.reasons.append(UNREAD)
    absent = item.standing.reason if item.standing is not None and item.standing.state == "absent" else ""
    if item.exists:
        return flags
    live = link is not None and link.live
    # That a link answers does not make up for a DOI that nobody gave out; the number in an address it does, since the
    # newest are registered hours later.
    if (absent and (item.doi or not live)) or (item.flaw and not live):
        flags.append("not_found")
        item.reasons.extend([absent] if absent else [])
        if item.other is not None:
            item.reasons.append(f"a work of this title has the DOI {item.other.doi or '(none)'}")
    elif not live:
        flags.append("unchecked")
        item.reasons.append(_why_unchecked(item))
    return flags


def _why_unchecked(item: Item) -> str:
    said = [item.problem, item.late, item.link.reason if item.link is not None and item.link.live is None else ""]
    if item.standing is not None:
        said.append(item.standing.reason)
    if item.found is not None:
        said.append(_why_unfound(item.found))
    elif not item.entry.title:
        said.append("it has no title to look for")
    told = "; ".join(part for part in said if part)
    return f"nothing confirms it, which is no sign against it: {told}"


def _why_unfound(found: Found) -> str:
    """Why a title confirms nothing: what the indexes that were asked have, and which could not be asked."""
    if found.obstacle:
        return found.obstacle
    near = f"; the nearest record is {found.work.title!r}" if found.work is not None else ""
    silent = f", and {' and '.join(found.failed)} could not be asked" if found.failed else ""
    return f"no index that was asked has a work of this title{silent}{near}"


def sum_up(items: Sequence[Item], told: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many entries have each flag, and how many none; `told` is what `tell` gave for each."""
    counts = {flag: sum(flag in one["flags"] for one in told) for flag in AUDIT_FLAGS}
    return {
        "total": len(told),
        "retracted": counts["retracted"],
        "deadLink": counts["dead_link"],
        "notFound": counts["not_found"],
        "unchecked": counts["unchecked"],
        "mischaracterized": counts["mischaracterized"],
        "ok": sum(not one["flags"] for one in told),
        "claimCheckSkippedCount": sum(not item.claim for item in items),
        "thinContentCount": sum(item.grounds is not None and item.grounds.thin for item in items),
    }
