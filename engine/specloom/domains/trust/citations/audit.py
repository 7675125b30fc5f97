"""Audits a list of references in one bounded pass: existence, retraction, links, and claims where they are given.

Each flag stands for one thing and says why: a problem that was found is never mixed with a check that was not possible.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import get_args

from specloom.core import Fault, dataclass
from specloom.domains.text import Identifier, find_doi, find_flaw, find_identifiers, to_doi, to_isbn13
from specloom.plugins import Context

from ..bibliography.documents import read_document
from ..bibliography.entry import BibliographyEntry, clean, to_iso
from ..bibliography.formatting import find_sources
from ..bibliography.plain import read_source
from ..claims.coverage import ClaimEvidence, judge_claim, read_first, to_unread
from ..records import AuditEntry, AuditFlag, AuditSummary, ClaimCheck, ReferenceAudit, Retraction, Unreadable
from ..sources.links import NO_LINK, LinkCheck, check_links
from .aside import run_aside
from .existence import RegistrySearch, Standing, find_by_dois, find_by_reference, find_identified
from .match import Match, match_fields
from .reference import from_fields, parse_reference
from .titles import is_called_retracted
from .work import Work, find_addresses, is_heavy, tell_match

# --- The entries of an audit: what was handed in, each on its way through the checks with what is known of it so
# far ------------------------------------------------------------------------------------------------------------------


MOST_ENTRIES = 200
"""Entries of one call; what is beyond is counted and left out (the tool contract's figure)."""
_NUMBERS = ("arxiv", "pmid", "pmcid", "rfc", "nct")
"""Kinds of identifiers in addresses whose registers list everything of the kind."""
_DIGITS = re.compile(r"[0-9]{9}[0-9X]|[0-9]{12}[0-9X]")


_UNASKED, _UNSOUGHT, _UNREAD = Standing("unknown"), RegistrySearch(None, None), ClaimEvidence(ClaimCheck())


@dataclass(slots=True)
class AuditItem:
    """One entry on its way through the audit; `number` is what its address is of, where it gives no DOI."""

    entry: BibliographyEntry
    claim: str = ""
    doi: str = ""
    url: str = ""
    problem: str = ""
    index: int = 0
    line: int | None = None
    link: LinkCheck = NO_LINK
    standing: Standing = _UNASKED
    search: RegistrySearch = _UNSOUGHT
    evidence: ClaimEvidence = _UNREAD
    late: str = ""
    number: Identifier | None = None
    reasons: list[str] = field(default_factory=list)

    @property
    def exists(self) -> bool:
        """Whether a registry has it, or its title is certainly that of a recorded work.

        A record that is probably the work is enough beside an address that answers: two weak signs of one thing. What a
        registry denies does not exist under that name, whatever else has its title.
        """
        if self.standing.state != "unknown":
            return self.standing.state == "found"
        return self.search.confidence in (("high", "medium") if self.link.live else ("high",))

    @property
    def work(self) -> Work | None:
        """The record of it, where it is certain that it is one of it."""
        return self.standing.work if self.standing.state == "absent" else self.standing.work or self.search.certain

    @property
    def notice(self) -> Retraction | None:
        """The most severe notice about it."""
        return self.standing.notice or (self.work.notice if self.work is not None else None)

    @property
    def isbn(self) -> str:
        """Its ISBN-13, "" without one."""
        return to_isbn13(self.entry.isbn)

    @property
    def flaw(self) -> str:
        """Why the ISBN that it gives can be no book's, "" where it can or none is given."""
        bare = re.sub(r"[\s-]", "", self.entry.isbn).upper()
        return find_flaw(bare) if _DIGITS.fullmatch(bare) else ""


async def gather(
    context: Context, document: str, format_: str, entries: Sequence[Mapping[str, str]] | None, session: str
) -> tuple[str, list[AuditItem], tuple[Unreadable, ...], int]:
    """Where the entries came from, the first 200, what of a document could not be read, and how many entries there are.

    Of several inputs entries come first, then the document. Raises a `validation` fault where there is nothing, and
    `session_not_found` for a session that is not the caller's.
    """
    if entries:
        return "entries", await _to_items(entries), (), len(entries)
    if document.strip():
        parsed = await read_document(context, document, format_, most=MOST_ENTRIES)
        items = [_from_entry(entry) for entry in parsed.entries]
        for item, (index, line) in zip(items, parsed.places, strict=True):
            item.index, item.line = index, line
        if parsed.problem_count > len(parsed.problems):
            first = len(parsed.problems)
            context.notice(f"{parsed.problem_count:,} entries cannot be read; the first {first} are under unreadable.")
        return f"bibliography:{parsed.format}", items, parsed.problems, parsed.count
    if session:
        sources = await find_sources(context, session)
        return "session", await _to_items(sources, claims=False), (), len(sources)
    raise Fault("validation", "nothing to audit: give entries, a bibliography or a sessionId", action="fix_arguments")


async def _to_items(sources: Sequence[Mapping[str, str]], *, claims: bool = True) -> list[AuditItem]:
    """The first entries; other calls go on between two of them, since one may take some milliseconds."""
    items: list[AuditItem] = []
    for index, source in enumerate(sources[:MOST_ENTRIES]):
        items.append(_to_item(source, claims=claims))
        items[-1].index = index
        await asyncio.sleep(0)
    return items


def _to_item(source: Mapping[str, str], *, claims: bool = True) -> AuditItem:
    fields = {name: str(value) for name, value in source.items()}
    item = _from_entry(read_source(fields))
    url = fields.get("url", "").strip()
    if url and not item.entry.url:
        item.url, item.problem = url, "the address is not one of a web page"
    doi = clean(fields.get("doi", ""))
    if doi and not item.entry.doi:
        item.reasons.append(f"{doi[:80]!r} is no DOI: those begin with 10. and have a stroke")
    item.claim = fields.get("claim", "").strip() if claims else ""
    return item


def _from_entry(entry: BibliographyEntry) -> AuditItem:
    derived = bool(entry.doi) and entry.url == f"https://doi.org/{entry.doi}"
    doi = to_doi(entry.doi) or find_doi(entry.url)
    number = next((each for each in find_identifiers(entry.url) if each.kind in _NUMBERS), None) if not doi else None
    return AuditItem(entry, doi=doi, url="" if derived else entry.url, number=number)


# --- What an audit says of its entries: flags with their reasons, the evidence beside them, and the sums --------------


UNREAD = "the DOI is registered, but nobody who was asked has its record: title, authors and notices were not checked"


def tell(item: AuditItem) -> AuditEntry:
    """The record of one entry; what is not known is left out."""
    is_sought = item.search is not _UNSOUGHT and item.standing.state != "absent"
    match = _compare(item)
    work = item.work or (item.search.work if item.exists else None)
    return AuditEntry(
        # Flagging comes first, since it adds to the reasons.
        flags=_flag(item, match),
        index=item.index,
        line=item.line,
        cite_key=item.entry.key or None,
        title=item.entry.title or item.entry.text,
        doi=item.doi or None,
        url=item.url or item.entry.url or None,
        reason="; ".join(item.reasons) or None,
        matched_title=(work.title if work is not None else "") or None,
        exists=item.exists,
        retraction_status=item.notice,
        title_match=match.title.verdict if match is not None else None,
        match_confidence="high" if item.work is not None else item.search.confidence if is_sought else None,
        comparison=(tell_match(match) if match is not None else []) or None,
        link=item.link.to_status(),
        claim_check=replace(item.evidence.check, claim_evidence=item.evidence.check.claim_evidence or None),
        claim_content_words=item.evidence.words,
        claim_sparsity_note=item.evidence.note,
        provenance=(*item.standing.trail, *item.search.trail) or None,
    )


def _compare(item: AuditItem) -> Match | None:
    """The entry's own fields against the record of its DOI, or of what its title was found to be."""
    if item.work is None:
        return item.search.match if item.exists else None
    entry = item.entry
    year = entry.issued[0] if entry.issued else None
    venue = entry.container if entry.kind == "article-journal" and item.standing.work is not None else ""
    return match_fields(item.work.record, title=entry.title, authors=entry.authors, year=year, venue=venue)


def _flag(item: AuditItem, match: Match | None) -> list[AuditFlag]:
    """The flags of an entry in the contract's order; each puts its reason beside it."""
    flags: list[AuditFlag] = []
    notice = item.notice
    when = f" on {notice.date}" if notice is not None and notice.date else ""
    if notice is not None and notice.retracted:
        flags.append("retracted")
        item.reasons.append(f"the work was retracted{when}")
    elif notice is not None and notice.kind == "expression_of_concern":
        item.reasons.append(f"doubts about the work were published{when}, which is no retraction")
    elif notice is None and item.work is not None and is_called_retracted(item.work.title):
        item.reasons.append("no notice is listed, but the recorded title says that the work was retracted")
    link = item.link
    if link.live is False:
        flags.append("dead_link")
        copy = "; an archived copy exists" if link.archived else ""
        item.reasons.append(f"the link is dead: {link.reason.rstrip('.') or f'status {link.status}'}{copy}")
    if item.evidence.check.claim_support == "not_addressed":
        flags.append("mischaracterized")
        item.reasons.append(f"the source does not speak of the claim: {item.evidence.check.claim_reason}")
    for field_ in ("title", "authors", "year") if match is not None else ():
        judgement = getattr(match, field_)
        if judgement.verdict == "mismatch":
            item.reasons.append(f"the record has another {field_.rstrip('s')}: {judgement.recorded[:120]!r}")
    if item.flaw:
        item.reasons.append(item.flaw)
    if item.exists and item.doi and item.work is None:
        item.reasons.append(UNREAD)
    absent = item.standing.reason if item.standing.state == "absent" else ""
    if item.exists:
        return flags
    # That a link answers does not make up for a DOI that nobody gave out; the number in an address it does, since the
    # newest are registered hours later.
    if (absent and (item.doi or not link.live)) or (item.flaw and not link.live):
        flags.append("not_found")
        item.reasons.extend([absent] if absent else [])
        if absent and (other := item.search.certain):
            item.reasons.append(f"a work of this title has the DOI {other.doi or '(none)'}")
    elif not link.live:
        flags.append("unchecked")
        item.reasons.append(_why_unchecked(item))
    return flags


def _why_unchecked(item: AuditItem) -> str:
    link, search = item.link.reason if item.link.live is None else "", item.search
    title = ""
    if search is _UNSOUGHT:
        title = "" if item.entry.title else "it has no title to look for"
    elif search.obstacle:
        title = search.obstacle
    else:
        # What the indexes that were asked have, and which could not be asked.
        near = f"; the nearest record is {search.work.title!r}" if search.work is not None else ""
        silent = f", and {' and '.join(search.failed)} could not be asked" if search.failed else ""
        title = f"no index that was asked has a work of this title{silent}{near}"
    reasons = "; ".join(filter(None, (item.problem, item.late, link, item.standing.reason, title)))
    return f"nothing confirms it, which is no sign against it: {reasons}"


def sum_up(items: Sequence[AuditItem], entries: Sequence[AuditEntry]) -> AuditSummary:
    """How many entries have each flag, and how many none; `entries` are what `tell` gave for the items."""
    return AuditSummary(
        **{flag: sum(flag in entry.flags for entry in entries) for flag in get_args(AuditFlag)},
        total=len(entries),
        ok=sum(not entry.flags for entry in entries),
        claim_check_skipped_count=sum(not item.claim for item in items),
        thin_content_count=sum(item.evidence.words is not None for item in items),
    )


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
    context: Context, document: str, format_: str, entries: Sequence[Mapping[str, str]] | None, session: str
) -> ReferenceAudit:
    """The record of an audit; of several inputs entries come first, then the document.

    Raises a `validation` fault where there is nothing to audit or the document has no format that is known, and
    `session_not_found` for a session that is not the caller's.
    """
    source, items, problems, count = await gather(context, document, format_, entries, session)
    skipped = count - len(items)
    progress = _Progress(context, items)
    await asyncio.gather(_check_links(context, items, progress), _check_existence(context, items, progress))
    await _check_claims(context, items, progress)
    audited = []
    for item in items:
        is_light = item.work is None or not is_heavy(item.work.row, item.entry.title)
        audited.append(tell(item) if is_light else await run_aside(context, tell, item))
    swapped = sum(entry.title_match == "mismatch" for entry in audited)
    # Whether the authors or the year of an entry are not those of its record.
    altered = sum(
        entry.title_match != "mismatch"
        and any(one["field"] in ("authors", "year") and one["verdict"] == "mismatch" for one in entry.comparison or ())
        for entry in audited
    )
    warnings = [SWAPPED.format(count=swapped, total=len(audited))] if swapped else []
    warnings += [ALTERED.format(count=altered, total=len(audited))] if altered else []
    warnings += [] if any(item.claim for item in items) else [NO_CLAIMS]
    left_out = f"only the first {MOST_ENTRIES} entries were checked; {skipped} more were left out"
    return ReferenceAudit(
        source=source,
        entry_count=len(items),
        summary=sum_up(items, audited),
        entries=audited,
        unreadable=problems or None,
        warning=" ".join(warnings) or None,
        checked_at=datetime.fromtimestamp(context.now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        skipped=skipped or None,
        skipped_note=left_out if skipped else None,
    )


# --- the checks ---


class _Progress:
    """Counts the checks that are done and tells the caller."""

    def __init__(self, context: Context, items: Sequence[AuditItem]) -> None:
        self._context, self._done = context, 0
        self._total = sum(1 + bool(item.url) + bool(item.claim) for item in items)
        self.began = context.now()

    def add(self, what: str, count: int = 1) -> None:
        self._done += count
        self._context.tell(self._done, self._total, f"{what}: {self._done} of {self._total} checks done")

    def is_late(self) -> bool:
        return self._context.now() - self.began > PATIENCE


async def _check_links(context: Context, items: Sequence[AuditItem], progress: _Progress) -> None:
    linked = [item for item in items if item.url and not item.problem]
    links = await check_links(
        context, [item.url for item in linked], dates=[to_iso(item.entry.issued) for item in linked]
    )
    for item, link in zip(linked, links, strict=True):
        item.link = link
    progress.add("links", len(linked))


async def _check_existence(context: Context, items: Sequence[AuditItem], progress: _Progress) -> None:
    by_doi = await find_by_dois(context, [item.doi for item in items if item.doi])
    turns = asyncio.Semaphore(AT_ONCE)

    async def check(item: AuditItem) -> None:
        if item.doi:
            item.standing = by_doi[item.doi]
        elif item.number is not None and not progress.is_late():
            async with turns:
                item.standing = await find_identified(context, item.number) or _UNASKED
        # Where no registry could say the title may still be known, and a wrong DOI may stand beside the right title.
        if item.standing.state != "found":
            async with turns:
                await _look_for_title(context, item, progress)
                # A book that no index has by its title may be in a catalogue by its number.
                if item.standing is _UNASKED and item.isbn and item.work is None and not progress.is_late():
                    isbn = Identifier("isbn", item.isbn, item.isbn, 0)
                    item.standing = await find_identified(context, isbn) or _UNASKED
        progress.add("existence")

    await asyncio.gather(*[check(item) for item in items])
    # What was found by its title may be retracted, which the record of its DOI says.
    by_title = [(item, item.work.doi) for item in items if item.standing is _UNASKED and item.work and item.work.doi]
    standings = await find_by_dois(context, [doi for _, doi in by_title])
    for item, doi in by_title:
        if standings[doi].state == "found":
            item.standing = standings[doi]


async def _look_for_title(context: Context, item: AuditItem, progress: _Progress) -> None:
    if not (item.entry.title or item.entry.text):
        return
    if progress.is_late():
        item.late = "the call had no time left to look for its title"
        return
    entry = item.entry
    reference = from_fields(
        title=entry.title, authors=entry.authors, year=entry.issued[0] if entry.issued else None, venue=""
    )
    if entry.text:
        reference = parse_reference(entry.text)
    item.search = await find_by_reference(context, reference, most=SEARCHES)


async def _check_claims(context: Context, items: Sequence[AuditItem], progress: _Progress) -> None:
    turns = asyncio.Semaphore(AT_ONCE)

    async def check(item: AuditItem) -> None:
        async with turns:
            if progress.is_late():
                item.evidence = to_unread(item.claim, "the call had no time left to read the source")
            else:
                # Its address, the copy of it, or where its record leads.
                own, recorded = item.link.readable, find_addresses(item.work, item.doi if item.exists else "")
                sources = own if own and item.link.live is False else [*own, *recorded]
                item.evidence = judge_claim(item.claim, await read_first(context, sources))
        progress.add("claims")

    await asyncio.gather(*[check(item) for item in items if item.claim])
