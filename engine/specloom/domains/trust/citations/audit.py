"""Audits a list of references in one bounded pass: existence, retraction, links, and claims where they are given.

Each flag stands for one thing and says why: a problem that was found is never mixed with a check that was not possible.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import get_args

from specloom.core import Fault, dataclass
from specloom.domains.text import Identifier, detect, find_doi, find_flaw, find_identifiers, to_doi, to_isbn13
from specloom.plugins import Context

from ..bibliography.annotation import annotate
from ..bibliography.bibtex import SourceBlock, find_blocks, find_strings
from ..bibliography.documents import read_document
from ..bibliography.entry import BibliographyEntry, clean, to_iso
from ..bibliography.formatting import find_sources, render
from ..bibliography.plain import read_source
from ..claims.coverage import ClaimEvidence, read_first, to_unread
from ..claims.substitutes import WorkInHand, weigh_claim
from ..records import AuditEntry, AuditFlag, AuditSummary, ClaimCheck, ReferenceAudit, Unreadable
from ..reports.files import keep_report, write_report
from ..reports.word import expect_library
from ..sources.classify import find_own_doi, is_scholarly
from ..sources.links import NO_LINK, LinkCheck, check_links
from .aside import run_aside
from .audit_report import AuditInput, RegisterLog, to_report
from .corrected_parts import CorrectedPart, join_parts
from .correction import LostEntry, correct, to_corrected_bibtex
from .examination import (
    CitationExamination,
    CitationFinding,
    find_record_doi,
    find_standing,
    find_words,
    judge,
    needs_page,
    needs_search,
    read_titles,
    settle_mention,
    to_provenance,
)
from .existence import find_by_dois
from .match import Match
from .notices import REINSTATEMENT, to_words
from .numbering import VolumeNumbers
from .reference import NO_NUMBERING, Reference, from_fields
from .titles import is_called_retracted
from .verify import IN_DOUBT, MENTIONED, to_examination, to_work_in_hand
from .work import find_addresses, is_heavy, tell_match

# --- The entries of an audit: what was handed in, each on its way through the checks with what is known of it so
# far ------------------------------------------------------------------------------------------------------------------


MOST_ENTRIES = 200
"""Entries of one call; what is beyond is counted and left out (the tool contract's figure)."""
_NUMBERS = ("arxiv", "pmid", "pmcid", "rfc", "nct", "patent")
"""Kinds of identifiers in addresses by which a work is looked up."""
_ARTICLES = ("pmid", "pmcid")
_DIGITS = re.compile(r"[0-9]{9}[0-9X]|[0-9]{12}[0-9X]")
_PARTS = ("chapter", "paper-conference", "entry-encyclopedia")
"""Kinds of works that stand in a book whose ISBN they are given with."""

_UNREAD = ClaimEvidence(ClaimCheck())


@dataclass(slots=True)
class AuditItem:
    """One entry on its way through the audit: what was handed in, and its examination."""

    entry: BibliographyEntry
    examination: CitationExamination
    claim: str = ""
    doi: str = ""
    url: str = ""
    problem: str = ""
    index: int = 0
    line: int | None = None
    evidence: ClaimEvidence = _UNREAD
    reasons: list[str] = field(default_factory=list)
    finding: CitationFinding = field(default_factory=lambda: CitationFinding("unchecked"))

    @property
    def link(self) -> LinkCheck:
        """What became of its address."""
        return self.examination.link


@dataclass(frozen=True, slots=True)
class GatheredEntries:
    """Where the entries came from, the first 200 from an index on, what of a document could not be read, and the rest.

    `text` is what was handed in: the document, or its entries as JSON. `count` and `lost` say how many entries and
    problems there are from that index on, and `following` at which the next part begins, None where there is none.
    """

    source: str
    items: list[AuditItem]
    count: int
    text: str
    problems: tuple[Unreadable, ...] = ()
    lost: int = 0
    following: int | None = None


async def gather(
    context: Context,
    document: str,
    format_: str,
    entries: Sequence[Mapping[str, str]] | None,
    session: str,
    begin: int = 0,
    *,
    may_be_empty: bool = False,
) -> GatheredEntries:
    """The entries of a call, from an index on.

    Of several inputs entries come first, then the document, in which `may_be_empty` lets there be none. Raises a
    `validation` fault where there is nothing, and
    `session_not_found` for a session that is not the caller's.
    """
    if entries:
        return await _gather_fields("entries", entries, begin)
    if document.strip():
        parsed = await read_document(
            context, document, format_, most=MOST_ENTRIES, begin=begin, may_be_empty=may_be_empty
        )
        items = [_from_entry(entry) for entry in parsed.entries]
        for item, (index, line) in zip(items, parsed.places, strict=True):
            item.index, item.line = index, line
        return GatheredEntries(
            f"bibliography:{parsed.format}",
            items,
            parsed.count,
            document,
            parsed.problems,
            parsed.problem_count,
            parsed.following,
        )
    if session:
        sources = await find_sources(context, session)
        return await _gather_fields("session", sources, begin, claims=False)
    raise Fault("validation", "nothing to audit: give entries, a bibliography or a sessionId", action="fix_arguments")


async def _gather_fields(
    source: str, entries: Sequence[Mapping[str, str]], begin: int, *, claims: bool = True
) -> GatheredEntries:
    left = entries[begin:]
    items = await _to_items(left, claims=claims)
    for item in items:
        item.index += begin
    following = begin + MOST_ENTRIES if len(left) > MOST_ENTRIES else None
    return GatheredEntries(source, items, len(left), _to_text(entries), following=following)


def _to_text(sources: Sequence[Mapping[str, str]]) -> str:
    """Entries as JSON in one spelling, so that the same entries have the same digest."""
    return json.dumps(list(sources), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


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
    url = "" if derived else entry.url
    doi = to_doi(entry.doi) or find_own_doi(entry.url)
    examination = _to_examination(entry, doi, url)
    if examination.identifier is None and not examination.mentioned:
        # A DOI in the address of a comment, a post or a search is not that of the entry.
        examination.mentioned = find_doi(entry.url)
    return AuditItem(entry, examination, doi=doi, url=url)


def _to_examination(entry: BibliographyEntry, doi: str, url: str) -> CitationExamination:
    """What an entry says of its work, to be examined as a citation in words is."""
    identifier = _to_identifier(entry, doi)
    year = entry.issued[0] if entry.issued else None
    # What is in PubMed appeared in a journal, whatever else its entry says.
    is_article = entry.kind == "article-journal" or (identifier is not None and identifier.kind in _ARTICLES)
    reference = from_fields(
        title=entry.title,
        authors=entry.authors,
        year=year,
        venue=entry.container if is_article else "",
        numbering=VolumeNumbers(entry.volume, entry.issue, entry.pages) if is_article else NO_NUMBERING,
    )
    text = " ".join(filter(None, (entry.title, entry.container, entry.publisher)))
    words = entry.text or entry.title
    detected = detect(words)
    if entry.text or (identifier is None and detected.identifier is not None):
        # What came in plain words, and a title in which a work is named, is a citation in words.
        worded = to_examination(detected, words)
        if entry.text or worded.identifier is not None:
            reference = _with_fields(worded.reference, reference, is_parsed=bool(entry.text))
            return replace(
                worded,
                identifier=worded.identifier or identifier,
                reference=reference,
                url=url or worded.url,
                decided=worded.decided or year,
            )
    return CitationExamination(
        reference,
        text=text,
        identifier=identifier,
        url=url,
        venue="" if url else entry.container,
        in_address=identifier is not None and not entry.doi and identifier.kind != "isbn",
        is_chapter=entry.kind in _PARTS,
    )


def _with_fields(worded: Reference, given: Reference, *, is_parsed: bool) -> Reference:
    """A reference in words with what the other fields of its entry give; fields that were parsed add nothing."""
    reference = replace(worded, authors=worded.authors or given.authors, years=worded.years or given.years)
    if is_parsed:
        return reference
    if given.is_venue and not worded.is_venue:
        reference = replace(reference, venue=given.venue, is_venue=True)
    return replace(reference, numbering=given.numbering) if not any(worded.numbering) else reference


def _to_identifier(entry: BibliographyEntry, doi: str) -> Identifier | None:
    """What names the work of an entry: its DOI, the number in its address, or its ISBN."""
    if doi:
        return Identifier("doi", doi, doi, 0)
    number = next((each for each in find_identifiers(entry.url) if each.kind in _NUMBERS), None)
    if number is not None or not entry.isbn:
        return number
    bare = re.sub(r"[\s-]", "", entry.isbn).upper()
    isbn = to_isbn13(entry.isbn)
    flaw = find_flaw(bare) if _DIGITS.fullmatch(bare) else ""
    return Identifier("isbn", isbn or bare, entry.isbn, 0, flaw) if isbn or flaw else None


# --- What an audit says of its entries: flags with their reasons, the evidence beside them, and the sums --------------


UNREAD = "the DOI is registered, but nobody who was asked has its record: title, authors and notices were not checked"


def tell(item: AuditItem) -> AuditEntry:
    """The record of one entry; what is not known is left out."""
    finding = item.finding = judge(item.examination)
    match = finding.match
    return AuditEntry(
        # Flagging comes first, since it adds to the reasons.
        flags=_flag(item, match),
        index=item.index,
        line=item.line,
        cite_key=item.entry.key or None,
        title=item.entry.title or item.entry.text,
        doi=item.doi or None,
        url=item.url or item.entry.url or None,
        reason="; ".join(dict.fromkeys(item.reasons)) or None,
        matched_title=(finding.work.title if finding.work is not None else "") or None,
        exists=finding.status == "confirmed",
        verification_status=finding.status,
        not_checked=[gap.to_json() for gap in finding.gaps] or None,
        retraction_status=finding.notice,
        title_match=finding.title if match is not None or finding.title == "match" else None,
        match_confidence=finding.confidence,
        comparison=(tell_match(match) if match is not None else []) or None,
        possible_match=finding.possible.to_json() if finding.possible is not None else None,
        link=item.link.to_status(),
        claim_check=replace(item.evidence.check, claim_evidence=item.evidence.check.claim_evidence or None),
        claim_content_words=item.evidence.words,
        claim_sparsity_note=item.evidence.note,
        provenance=to_provenance(item.examination) or None,
    )


def _flag(item: AuditItem, match: Match | None) -> list[AuditFlag]:
    """The flags of an entry in their order; each puts its reason beside it."""
    flags: list[AuditFlag] = []
    finding, link = item.finding, item.link
    notice = finding.notice
    when = f" on {notice.date}" if notice is not None and notice.date else ""
    if notice is not None and notice.retracted:
        flags.append("retracted")
        item.reasons.append(f"the work was retracted{when}")
        if notice.nature is not None:
            item.reasons.append(f"the notice is a {to_words(notice)}")
        if notice.replaced_by:
            item.reasons.append(f"it was replaced by {notice.replaced_by}")
    elif notice is not None and notice.kind == "expression_of_concern":
        item.reasons.append(f"doubts about the work were published{when}, which is no retraction")
    elif notice is not None and notice.nature == REINSTATEMENT:
        item.reasons.append(f"the work had been retracted and was reinstated{when}")
    elif notice is None and finding.work is not None and is_called_retracted(finding.work.title):
        item.reasons.append("no notice is listed, but the recorded title says that the work was retracted")
    if notice is not None and notice.disagreement:
        item.reasons.append(notice.disagreement)
    if link.live is False:
        flags.append("dead_link")
        copy = "; an archived copy exists" if link.archived else ""
        item.reasons.append(f"the link is dead: {link.reason.rstrip('.') or f'status {link.status}'}{copy}")
    if item.evidence.check.claim_support == "not_addressed":
        flags.append("mischaracterized")
        item.reasons.append(f"the source does not speak of the claim: {item.evidence.check.claim_reason}")
    for judgement in match.judgements if match is not None else ():
        if judgement.verdict == "mismatch":
            other = "other pages" if judgement.field == "pages" else f"another {judgement.field.rstrip('s')}"
            item.reasons.append(f"the record has {other}: {judgement.recorded[:120]!r}")
    if finding.status == "confirmed":
        if finding.reason:
            item.reasons.append(finding.reason)
        if item.doi and finding.work is None and item.examination.standing.state == "found":
            item.reasons.append(UNREAD)
        elif finding.lacks:
            item.reasons += [f"{_UNCHECKED[gap.what]} not checked: {gap.reason}" for gap in finding.lacks]
        flags += ["unchecked"] if finding.lacks else []
    elif finding.denied or (finding.status == "not_found" and item.link.live is not False):
        flags.append("not_found")
        item.reasons.append(finding.reason)
    else:
        flags.append("unchecked")
        reasons = "; ".join(filter(None, (item.problem, finding.reason, _tell_near(finding))))
        item.reasons.append(f"nothing confirms it, which is no sign against it: {reasons}")
    return [*flags, "title_mismatch"] if finding.title == "mismatch" else flags


_UNCHECKED = {"title": "its title was", "retraction": "notices about it were"}


def _tell_near(finding: CitationFinding) -> str:
    return f"the nearest record is {finding.possible.work.title!r}" if finding.possible is not None else ""


def sum_up(items: Sequence[AuditItem], entries: Sequence[AuditEntry]) -> AuditSummary:
    """How many entries have each flag, and how many none; `entries` are what `tell` gave for the items."""
    return AuditSummary(
        **{flag: sum(flag in entry.flags for entry in entries) for flag in get_args(AuditFlag)},
        total=len(entries),
        retraction_unchecked=sum(
            any(gap["what"] == "retraction" for gap in entry.not_checked or ()) for entry in entries
        ),
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
UNREAD_CLAIMS = "In {count} of {total} entries without a finding the source of the claim could not be read."
SWAPPED = "In {count} of {total} entries the identifier is that of a work with another title."
ALTERED = (
    "In {count} of {total} entries the record has other authors or another year, journal, volume, issue or pages, "
    "which have no flag of their own: see comparison."
)


async def audit(
    context: Context,
    document: str,
    format_: str,
    entries: Sequence[Mapping[str, str]] | None,
    session: str,
    *,
    notes: bool = False,
    report: str = "",
    address: str = "",
    begin: int = 0,
    may_be_empty: bool = False,
) -> ReferenceAudit:
    """The record of an audit; of several inputs entries come first, then the document, which lies under `address`.

    At most 200 entries are audited, from the index `begin` on; the record says where to go on.

    With `notes` the document is given again with what was found of its entries. With a `report` (html, markdown, docx)
    the whole audit is kept as a document of its own.

    Raises a `validation` fault where there is nothing to audit, unless the document `may_be_empty`, or it has no format
    that is known, and `session_not_found` for a session that is not the caller's.
    """
    if report == "docx":
        expect_library()
    log = RegisterLog(context)
    context = log.context
    gathered = await gather(context, document, format_, entries, session, begin, may_be_empty=may_be_empty)
    items, source = gathered.items, gathered.source
    skipped = gathered.count - len(items)
    progress = _Progress(context, items)
    await asyncio.gather(_check_links(context, items, progress), _check_existence(context, items, progress))
    await _check_pages(context, items, progress)
    await _check_claims(context, items, progress)
    audited = []
    for item in items:
        work = item.examination.standing.work or item.examination.search.work
        is_light = work is None or not is_heavy(work.row, item.entry.title)
        audited.append(tell(item) if is_light else await run_aside(context, tell, item))
    swapped = sum(entry.title_match == "mismatch" for entry in audited)
    # Whether anything else of an entry is not what its record has.
    altered = sum(
        entry.title_match != "mismatch" and any(one["verdict"] == "mismatch" for one in entry.comparison or ())
        for entry in audited
    )
    warnings = [SWAPPED.format(count=swapped, total=len(audited))] if swapped else []
    warnings += [ALTERED.format(count=altered, total=len(audited))] if altered else []
    unread = sum(
        not entry.flags and entry.claim_check is not None and entry.claim_check.claim_support == "source_unavailable"
        for entry in audited
    )
    warnings += [UNREAD_CLAIMS.format(count=unread, total=sum(not entry.flags for entry in audited))] if unread else []
    warnings += [NO_CLAIMS] if items and not any(item.claim for item in items) else []
    annotated = _annotate(context, document, source, items, audited) if notes else None
    resource = ""
    if annotated:
        resource = await context.keep_artifact(annotated, name="bibliography with notes", mime_type="text/plain")
        annotated = annotated if len(annotated) <= SHORT_DOCUMENT or not resource else None
    left_out = _tell_rest(gathered) if gathered.following is not None else None
    result = ReferenceAudit(
        source=source,
        entry_count=len(items),
        summary=sum_up(items, audited),
        entries=audited,
        unreadable=gathered.problems or None,
        warning=" ".join(warnings) or None,
        annotated=annotated,
        annotated_resource=resource or None,
        checked_at=datetime.fromtimestamp(context.now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        skipped=skipped or None,
        skipped_note=left_out,
        next_offset=gathered.following,
    )
    return await _report(context, result, gathered, log, report, address, begin) if report else result


def _tell_rest(gathered: GatheredEntries) -> str:
    """What of a long list was not looked at, and how to go on."""
    lost = gathered.lost - len(gathered.problems)
    broken = f" and {lost:,} that cannot be read" if lost else ""
    rest = gathered.count - len(gathered.items)
    return (
        f"{len(gathered.items)} entries were checked; {rest:,} more{broken} were not looked at: call again with offset "
        f"{gathered.following}"
    )


async def _report(
    context: Context,
    audited: ReferenceAudit,
    gathered: GatheredEntries,
    log: RegisterLog,
    form: str,
    address: str,
    begin: int,
) -> ReferenceAudit:
    """The record with where its report and the corrected bibliography are kept, and the digest of what was handed in.

    The corrected bibliography is that of all parts up to this one, where those were reported on, too.
    """
    digest = hashlib.sha256(gathered.text.encode("utf-8", "surrogatepass")).hexdigest()
    items = gathered.items
    works = {item.index: work for item in items if (work := item.finding.work) is not None}
    links = [item.link for item in items if item.link is not NO_LINK]
    named = f"{'a reference section' if address else 'what was handed in'} ({audited.source.replace(':', ' as ')})"

    def write() -> tuple[str | bytes, str]:
        blocks, strings = _find_blocks(gathered)
        corrected = {
            item.index: replace(correct(item.entry, item.finding), source=blocks.get(item.index)) for item in items
        }
        report = to_report(audited, works, links, log.outcomes, AuditInput(named, digest, address), corrected)
        numbered = [(index + 1, corrected[index]) for index in sorted(corrected)]
        lost = [LostEntry(one.index + 1, one.message, blocks.get(one.index)) for one in gathered.problems]
        return write_report(report, form), to_corrected_bibtex(numbered, lost, strings)

    written, own = await run_aside(context, write)
    resource = await keep_report(context, written, form, "bibliography audit")
    numbers = [item.index + 1 for item in items]
    part = CorrectedPart(own, min(numbers, default=0), max(numbers, default=0), gathered.following)
    whole = await join_parts(context, digest, begin, part)
    corrected = await context.keep_artifact(whole, name="corrected bibliography", mime_type="text/plain") if own else ""
    return replace(audited, report_resource=resource or None, corrected_resource=corrected or None, input_digest=digest)


def _find_blocks(gathered: GatheredEntries) -> tuple[dict[int, SourceBlock], list[str]]:
    """The entries as they stand in a document in BibTeX, and its definitions of short names; none of another."""
    if gathered.source != "bibliography:bibtex":
        return {}, []
    lines = {item.index: item.line for item in gathered.items if item.line is not None}
    lines |= {one.index: one.line for one in gathered.problems}
    return find_blocks(gathered.text, lines), find_strings(gathered.text)


SHORT_DOCUMENT = 10_000
"""Characters of a document with notes that are told in the answer; a longer one is kept beside it."""


def _annotate(
    context: Context, document: str, source: str, items: Sequence[AuditItem], audited: Sequence[AuditEntry]
) -> str | None:
    """The document with what was found of its entries as notes; entries that came one by one as BibTeX."""
    day = datetime.fromtimestamp(context.now(), UTC).strftime("%Y-%m-%d")
    notes = {}
    for entry in audited:
        found = "; ".join(filter(None, (", ".join(entry.flags).replace("_", " "), entry.reason)))
        if found:
            notes[entry.index] = f"audit of {day}: {found}"
    if not source.startswith("bibliography:"):
        noted = [replace(item.entry, annote=notes.get(item.index, "")) for item in items]
        return render(noted, "bibtex")[0]
    lines = {item.index: item.line for item in items if item.line is not None}
    return annotate(document, source.partition(":")[2], notes, lines)


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
        item.examination.link = link
    progress.add("links", len(linked))


async def _check_existence(context: Context, items: Sequence[AuditItem], progress: _Progress) -> None:
    asked = [doi for item in items if (doi := item.examination.doi or item.examination.mentioned)]
    by_doi = await find_by_dois(context, asked)
    turns = asyncio.Semaphore(AT_ONCE)

    async def check(item: AuditItem) -> None:
        examination = item.examination
        if examination.doi:
            examination.standing = by_doi[examination.doi]
        elif examination.mentioned:
            settle_mention(examination, by_doi[examination.mentioned])
            item.doi = examination.mentioned if examination.standing is examination.mention else ""
        async with turns:
            if examination.identifier is not None and not examination.doi and not progress.is_late():
                await find_standing(context, examination)
            # Where no registry could say the title may be known, and a wrong DOI may stand beside the right title.
            if needs_search(examination):
                if progress.is_late():
                    examination.late = "the call had no time left to look for its title"
                else:
                    await find_words(context, examination, most=SEARCHES)
        progress.add("existence")

    await asyncio.gather(*[check(item) for item in items])
    # What was found by its title may be retracted, which the record of its DOI says.
    by_title = [(item, doi) for item in items if (doi := find_record_doi(item.examination))]
    records = await find_by_dois(context, [doi for _, doi in by_title])
    for item, doi in by_title:
        item.examination.record = records[doi]


async def _check_pages(context: Context, items: Sequence[AuditItem], progress: _Progress) -> None:
    """The titles of the pages of entries that nothing else confirms; most of them the link check has seen already."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def check(item: AuditItem) -> None:
        async with turns:
            if not progress.is_late():
                await read_titles(context, item.examination)

    await asyncio.gather(*[check(item) for item in items if needs_page(item.examination)])


def _is_sure(item: AuditItem, finding: CitationFinding) -> bool:
    """Whether the work that was found is the one whose text a claim is to be held against.

    A DOI that only stands in the address of a page, which may speak of the work, needs its title beside it.
    """
    if finding.is_in_doubt or finding.title == "match":
        return not finding.is_in_doubt
    entry, identifier = item.entry, item.examination.identifier
    if identifier is None or identifier.kind not in MENTIONED:
        return True
    if identifier.kind != "doi":
        return not item.examination.in_address or is_scholarly(item.url)
    if find_own_doi(entry.url) == item.doi:
        return True
    return bool(find_doi(entry.text.replace(entry.url, " ")) if entry.text and entry.url else entry.doi)


async def _check_claims(context: Context, items: Sequence[AuditItem], progress: _Progress) -> None:
    turns = asyncio.Semaphore(AT_ONCE)

    async def check(item: AuditItem) -> None:
        async with turns:
            if progress.is_late():
                item.evidence = to_unread(item.claim, "the call had no time left to read the source")
            else:
                # Its address, the copy of it, or where its record leads.
                finding = judge(item.examination)
                doi = item.doi if finding.status == "confirmed" else ""
                own, recorded = item.link.readable, find_addresses(finding.work, doi)
                identifier = item.examination.identifier if finding.status == "confirmed" else None
                work = to_work_in_hand(finding.work, doi, identifier)
                if not _is_sure(item, finding):
                    # What another work says, or does not say, is no matter of this claim.
                    own = [address for address in own if not doi or find_own_doi(address) != doi]
                    recorded, work = [], WorkInHand()
                if not own and not recorded and finding.is_in_doubt:
                    item.evidence = to_unread(item.claim, IN_DOUBT)
                else:
                    sources = own if own and item.link.live is False else [*own, *recorded]
                    item.evidence = await weigh_claim(context, item.claim, await read_first(context, sources), work)
        progress.add("claims")

    await asyncio.gather(*[check(item) for item in items if item.claim])
