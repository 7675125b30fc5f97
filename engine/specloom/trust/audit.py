"""Audits a list of references in one bounded pass: existence, retraction, links, and claims where they are given.

Each flag stands for one thing and says why: a problem that was found is never mixed with a check that was not possible.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault
from specloom.trust.bibliography.documents import Problem, parse_bibliography
from specloom.trust.bibliography.entry import Entry, from_source, to_iso
from specloom.trust.dois import find_doi
from specloom.trust.existence import Standing, find_by_dois
from specloom.trust.grounds import Grounds, check_claim
from specloom.trust.liveness import Link, check_links, tell_link
from specloom.trust.matching import Match, match_reference
from specloom.trust.references import from_fields
from specloom.trust.searching import Found, find_by_reference
from specloom.trust.works import Work, compare_fields, find_addresses, tell_match

if TYPE_CHECKING:
    from specloom.desk import Desk

MOST_ENTRIES = 200
"""Entries of one call; what is beyond is counted and left out (the tool contract's figure)."""
AT_ONCE = 8
"""Titles that are looked for, and sources that are read, side by side (the tool contract's figure)."""
SEARCHES = 3
"""Indexes in which an entry without a DOI is looked for."""
PATIENCE = 90.0
"""Seconds after which no further title is looked for and no further source read; what is left says so."""
LONG_DOCUMENT = 100_000
"""Characters from which a document is parsed beside the event loop."""
FLAGS = ("retracted", "dead_link", "mischaracterized", "not_found", "unchecked")
NO_CLAIMS = "No entry had a claim, so no source was held against what it is cited for."


@dataclass(slots=True)
class _Item:
    """One entry on its way through the audit."""

    entry: Entry
    claim: str = ""
    doi: str = ""
    url: str = ""
    problem: str = ""
    link: Link | None = None
    standing: Standing | None = None
    found: Found | None = None
    grounds: Grounds | None = None
    late: str = ""
    reasons: list[str] = field(default_factory=list)

    @property
    def exists(self) -> bool:
        """Whether a registry has it, or its title is certainly that of a recorded work."""
        if self.standing is not None and self.standing.state == "found":
            return True
        return self.found is not None and self.found.confidence == "high"

    @property
    def work(self) -> Work | None:
        """The record of it, where there is one."""
        if self.standing is not None and self.standing.work is not None:
            return self.standing.work
        return self.found.work if self.found is not None and self.found.confidence == "high" else None


async def audit(
    desk: Desk,
    *,
    bibliography: str = "",
    format: str = "auto",  # noqa: A002  the name of the tool's argument
    entries: Sequence[Mapping[str, str]] | None = None,
    session: str = "",
) -> dict[str, Any]:
    """The audit under the names of the tool contract; of several inputs entries come first, then the document.

    Raises a `validation` fault where there is nothing to audit or the document has no format that is known, and
    `session_not_found` for a session that is not the caller's.
    """
    source, items, problems = await _gather(desk, bibliography, format, entries, session)
    skipped = max(0, len(items) - MOST_ENTRIES)
    items = items[:MOST_ENTRIES]
    progress = _Progress(desk, items)
    await asyncio.gather(_check_links(desk, items, progress), _check_existence(desk, items, progress))
    await _check_claims(desk, items, progress)
    told = [_tell(at, item) for at, item in enumerate(items)]
    answer: dict[str, Any] = {
        "source": source,
        "entryCount": len(items),
        "summary": _sum_up(items, told),
        "entries": told,
        "checkedAt": datetime.fromtimestamp(desk.now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if not any(item.claim for item in items):
        answer["warning"] = NO_CLAIMS
    if problems:
        answer["unreadable"] = [
            {"index": one.index, "line": one.line, "message": one.message} for one in problems[:MOST_ENTRIES]
        ]
    if skipped:
        answer["skipped"] = skipped
        answer["skippedNote"] = f"only the first {MOST_ENTRIES} entries were checked; {skipped} more were left out"
    return answer


async def _gather(
    desk: Desk, document: str, format_: str, entries: Sequence[Mapping[str, str]] | None, session: str
) -> tuple[str, list[_Item], tuple[Problem, ...]]:
    if entries:
        return "entries", [_to_item(entry) for entry in entries], ()
    if document.strip():
        # A long document takes seconds to parse, in which other calls are answered.
        parsed = (
            await asyncio.to_thread(parse_bibliography, document, format_)
            if len(document) > LONG_DOCUMENT
            else parse_bibliography(document, format_)
        )
        return f"bibliography:{parsed.format}", [_from_entry(entry) for entry in parsed.entries], parsed.problems
    if session:
        from specloom.trust.sessions import find_sources

        return "session", [_to_item(source, claims=False) for source in await find_sources(desk, session)], ()
    raise Fault("validation", "nothing to audit: give entries, a bibliography or a sessionId")


def _to_item(source: Mapping[str, str], *, claims: bool = True) -> _Item:
    given = {name: str(value) for name, value in source.items()}
    item = _from_entry(from_source(given))
    url = given.get("url", "").strip()
    if url and not item.entry.url:
        item.url, item.problem = url, "the address is not one of a web page"
    item.claim = given.get("claim", "").strip() if claims else ""
    return item


def _from_entry(entry: Entry) -> _Item:
    derived = bool(entry.doi) and entry.url == f"https://doi.org/{entry.doi}"
    return _Item(entry, doi=entry.doi or find_doi(entry.url), url="" if derived else entry.url)


# --- the checks ---


class _Progress:
    """Counts the checks that are done and tells the caller."""

    def __init__(self, desk: Desk, items: Sequence[_Item]) -> None:
        self._desk, self._done = desk, 0
        self._total = sum(1 + bool(item.url) + bool(item.claim) for item in items)
        self.began = desk.now()

    def add(self, what: str, count: int = 1) -> None:
        self._done += count
        self._desk.tell(self._done, self._total, f"{what}: {self._done} of {self._total} checks done")

    def is_late(self) -> bool:
        return self._desk.now() - self.began > PATIENCE


async def _check_links(desk: Desk, items: Sequence[_Item], progress: _Progress) -> None:
    linked = [item for item in items if item.url and not item.problem]
    links = await check_links(desk, [item.url for item in linked], dates=[to_iso(item.entry.issued) for item in linked])
    for item, link in zip(linked, links, strict=True):
        item.link = link
    progress.add("links", len(linked))


async def _check_existence(desk: Desk, items: Sequence[_Item], progress: _Progress) -> None:
    known = await find_by_dois(desk, [item.doi for item in items if item.doi])
    turns = asyncio.Semaphore(AT_ONCE)

    async def check(item: _Item) -> None:
        if item.doi:
            item.standing = known[item.doi]
        # Where no registry could say, the title may still be known.
        if item.standing is None or item.standing.state == "unknown":
            async with turns:
                await _look_for_title(desk, item, progress)
        progress.add("existence")

    await asyncio.gather(*[check(item) for item in items])


async def _look_for_title(desk: Desk, item: _Item, progress: _Progress) -> None:
    if not item.entry.title:
        return
    if progress.is_late():
        item.late = "the call had no time left to look for its title"
        return
    entry = item.entry
    reference = from_fields(
        title=entry.title, authors=entry.authors, year=entry.issued[0] if entry.issued else None, venue=""
    )
    item.found = await find_by_reference(desk, reference, most=SEARCHES)


async def _check_claims(desk: Desk, items: Sequence[_Item], progress: _Progress) -> None:
    turns = asyncio.Semaphore(AT_ONCE)

    async def check(item: _Item) -> None:
        async with turns:
            if progress.is_late():
                item.grounds = Grounds(
                    "source_unavailable",
                    {
                        "claim": item.claim,
                        "claimSupport": "source_unavailable",
                        "claimFetchError": "the call had no time left to read the source",
                    },
                )
            else:
                item.grounds = await check_claim(desk, item.claim, _find_sources(item))
        progress.add("claims")

    await asyncio.gather(*[check(item) for item in items if item.claim])


def _find_sources(item: _Item) -> list[str]:
    """Where the source of an entry can be read: its address, the copy of it, or where its record leads."""
    link = item.link
    own = [] if link is None else [link.url] if link.live else [link.archived] if link.archived else []
    if link is not None and link.live is False:
        return own or find_addresses(item.work, item.doi if item.exists else "")
    return [*own, *find_addresses(item.work, item.doi if item.exists else "")]


# --- telling ---


def _tell(index: int, item: _Item) -> dict[str, Any]:
    standing, found = item.standing, item.found
    match = _compare(item)
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
        "matchedTitle": item.work.title if item.work is not None else None,
        "titleMatch": match.title.verdict if match is not None else None,
        "comparison": tell_match(match) if match is not None else None,
        "matchConfidence": found.confidence if found is not None else "high" if item.work is not None else None,
        "provenance": [*(standing.trail if standing is not None else ()), *(found.trail if found is not None else ())],
    }
    if item.link is not None:
        told |= tell_link(item.link)
    if item.grounds is not None:
        named = {"contentWords": "claimContentWords", "sparsityNote": "claimSparsityNote"}
        told |= {named.get(name, name): value for name, value in item.grounds.told.items()}
    return {name: value for name, value in told.items() if value not in (None, "", []) or name in {"flags", "title"}}


def _notice(item: _Item) -> dict[str, Any] | None:
    if item.standing is not None:
        return item.standing.notice
    return dict(item.work.notice) if item.work is not None and item.work.notice is not None else None


def _compare(item: _Item) -> Match | None:
    """The entry's own fields against the record of its DOI, or of what its title was found to be."""
    if item.work is None:
        return None
    entry = item.entry
    year = entry.issued[0] if entry.issued else None
    venue = entry.container if entry.kind == "article-journal" else ""
    if item.standing is not None and item.standing.work is not None:
        return compare_fields(item.work, {"title": entry.title, "authors": entry.authors, "year": year, "venue": venue})
    return match_reference(from_fields(title=entry.title, authors=entry.authors, year=year), item.work.record)


def _flag(item: _Item, match: Match | None) -> list[str]:
    """The flags of an entry in the contract's order; each puts its reason beside it."""
    flags: list[str] = []
    notice = _notice(item)
    if notice is not None and notice.get("retracted"):
        flags.append("retracted")
        when = f" on {notice['date']}" if notice.get("date") else ""
        item.reasons.append(f"the work was retracted{when}")
    link = item.link
    if link is not None and link.live is False:
        flags.append("dead_link")
        copy = "; an archived copy exists" if link.archived else ""
        item.reasons.append(f"the link is dead: {link.reason or f'status {link.status}'}{copy}")
    if item.grounds is not None and item.grounds.label == "not_addressed":
        flags.append("mischaracterized")
        item.reasons.append(f"the source does not speak of the claim: {item.grounds.told['claimReason']}")
    for field_ in ("title", "authors") if match is not None else ():
        judgement = getattr(match, field_)
        if judgement.verdict == "mismatch":
            item.reasons.append(f"the record has another {field_.rstrip('s')}: {judgement.recorded[:120]!r}")
    if item.exists:
        return flags
    if link is not None and link.live:
        if item.standing is not None and item.standing.state == "absent":
            item.reasons.append(f"the link answers, but {item.doi} is not registered with any agency")
        return flags
    if item.standing is not None and item.standing.state == "absent":
        flags.append("not_found")
        item.reasons.append(f"{item.doi} is not registered with any agency")
    else:
        flags.append("unchecked")
        item.reasons.append(_why_unchecked(item))
    return flags


def _why_unchecked(item: _Item) -> str:
    said = [item.problem, item.late, item.link.reason if item.link is not None and item.link.live is None else ""]
    if item.standing is not None:
        said.append(f"nobody could say whether {item.doi} is registered")
    if item.found is not None:
        near = f"; the nearest record is {item.found.work.title!r}" if item.found.work is not None else ""
        said.append(
            f"no index has a work of this title{near}" if item.found.asked else "no index could be asked for the title"
        )
    elif not item.entry.title:
        said.append("it has no title to look for")
    told = "; ".join(part for part in said if part)
    return f"nothing confirms it, which is no sign against it: {told}"


def _sum_up(items: Sequence[_Item], told: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    counts = {flag: sum(flag in one["flags"] for one in told) for flag in FLAGS}
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
