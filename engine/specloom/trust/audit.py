"""Audits a list of references in one bounded pass: existence, retraction, links, and claims where they are given.

Each flag stands for one thing and says why: a problem that was found is never mixed with a check that was not possible.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from specloom.trust.audit_items import Item, gather
from specloom.trust.audit_telling import sum_up, tell
from specloom.trust.bibliography.entry import to_iso
from specloom.trust.existence import find_by_dois
from specloom.trust.grounds import Grounds, check_claim
from specloom.trust.identifiers import Identifier
from specloom.trust.liveness import check_links
from specloom.trust.references import from_fields
from specloom.trust.registers import find_identified
from specloom.trust.searching import find_by_reference
from specloom.trust.works import find_addresses

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
NO_CLAIMS = "No entry had a claim, so no source was held against what it is cited for."
SWAPPED = (
    "In {count} of {total} entries the identifier is that of a work with another title, which has no flag of its own: "
    "see titleMatch."
)
ALTERED = (
    "In {count} of {total} entries the record has other authors or another year, which has no flag of its own: see "
    "comparison."
)


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
    source, items, problems = await gather(desk, bibliography, format, entries, session)
    skipped = max(0, len(items) - MOST_ENTRIES)
    items = items[:MOST_ENTRIES]
    progress = _Progress(desk, items)
    await asyncio.gather(_check_links(desk, items, progress), _check_existence(desk, items, progress))
    await _check_claims(desk, items, progress)
    told = [tell(at, item) for at, item in enumerate(items)]
    answer: dict[str, Any] = {
        "source": source,
        "entryCount": len(items),
        "summary": sum_up(items, told),
        "entries": told,
        "checkedAt": datetime.fromtimestamp(desk.now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    swapped = sum(one.get("titleMatch") == "mismatch" for one in told)
    altered = sum(one.get("titleMatch") != "mismatch" and _is_altered(one) for one in told)
    warnings = [SWAPPED.format(count=swapped, total=len(told))] if swapped else []
    warnings += [ALTERED.format(count=altered, total=len(told))] if altered else []
    if not any(item.claim for item in items):
        warnings.append(NO_CLAIMS)
    if warnings:
        answer["warning"] = " ".join(warnings)
    if problems:
        answer["unreadable"] = [
            {"index": one.index, "line": one.line, "message": one.message} for one in problems[:MOST_ENTRIES]
        ]
    if skipped:
        answer["skipped"] = skipped
        answer["skippedNote"] = f"only the first {MOST_ENTRIES} entries were checked; {skipped} more were left out"
    return answer


def _is_altered(told: Mapping[str, Any]) -> bool:
    """Whether the authors or the year of an entry are not those of its record."""
    return any(
        one["field"] in ("authors", "year") and one["verdict"] == "mismatch" for one in told.get("comparison", ())
    )


# --- the checks ---


class _Progress:
    """Counts the checks that are done and tells the caller."""

    def __init__(self, desk: Desk, items: Sequence[Item]) -> None:
        self._desk, self._done = desk, 0
        self._total = sum(1 + bool(item.url) + bool(item.claim) for item in items)
        self.began = desk.now()

    def add(self, what: str, count: int = 1) -> None:
        self._done += count
        self._desk.tell(self._done, self._total, f"{what}: {self._done} of {self._total} checks done")

    def is_late(self) -> bool:
        return self._desk.now() - self.began > PATIENCE


async def _check_links(desk: Desk, items: Sequence[Item], progress: _Progress) -> None:
    linked = [item for item in items if item.url and not item.problem]
    links = await check_links(desk, [item.url for item in linked], dates=[to_iso(item.entry.issued) for item in linked])
    for item, link in zip(linked, links, strict=True):
        item.link = link
    progress.add("links", len(linked))


async def _check_existence(desk: Desk, items: Sequence[Item], progress: _Progress) -> None:
    known = await find_by_dois(desk, [item.doi for item in items if item.doi])
    turns = asyncio.Semaphore(AT_ONCE)

    async def check(item: Item) -> None:
        if item.doi:
            item.standing = known[item.doi]
        elif item.number is not None and not progress.is_late():
            async with turns:
                item.standing = await find_identified(desk, item.number)
        # Where no registry could say the title may still be known, and a wrong DOI may stand beside the right title.
        if item.standing is None or item.standing.state != "found":
            async with turns:
                await _look_for_title(desk, item, progress)
                await _look_for_book(desk, item, progress)
        progress.add("existence")

    await asyncio.gather(*[check(item) for item in items])
    await _look_for_notices(desk, items)


async def _look_for_title(desk: Desk, item: Item, progress: _Progress) -> None:
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


async def _look_for_book(desk: Desk, item: Item, progress: _Progress) -> None:
    """A book that no index has by its title may be in a catalogue by its number."""
    if item.standing is None and item.isbn and item.work is None and not progress.is_late():
        item.standing = await find_identified(desk, Identifier("isbn", item.isbn, item.isbn, 0))


async def _look_for_notices(desk: Desk, items: Sequence[Item]) -> None:
    """What was found by its title may be retracted, which the record of its DOI says."""
    found = [item for item in items if item.standing is None and item.work is not None and item.work.doi]
    known = await find_by_dois(desk, [item.work.doi for item in found if item.work is not None])
    for item in found:
        standing = known[item.work.doi] if item.work is not None else None
        if standing is not None and standing.state == "found":
            item.standing = standing


async def _check_claims(desk: Desk, items: Sequence[Item], progress: _Progress) -> None:
    turns = asyncio.Semaphore(AT_ONCE)

    async def check(item: Item) -> None:
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


def _find_sources(item: Item) -> list[str]:
    """Where the source of an entry can be read: its address, the copy of it, or where its record leads."""
    link = item.link
    own = [] if link is None else [link.url] if link.live else [link.archived] if link.archived else []
    if link is not None and link.live is False:
        return own or find_addresses(item.work, item.doi if item.exists else "")
    return [*own, *find_addresses(item.work, item.doi if item.exists else "")]
