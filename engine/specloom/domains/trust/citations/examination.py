"""One citation on its way through the checks, and the one judgement that both citation tools tell.

A citation comes as words with identifiers in them, or as the fields of an entry; from here on they are the same. What
is known is gathered in stages (registries, indexes, its page), and `judge` says what follows: confirmed, not found,
uncertain or unchecked, what is said of the record that is surely meant, what of one that only may be, and what nobody
could look at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from specloom.core import KINDS, dataclass
from specloom.domains.text import Identifier, terms
from specloom.plugins import Context

from ..claims.coverage import SourceReading, read_first
from ..records import Retraction, Status, TitleMatch
from ..sources.classify import classify
from ..sources.links import NO_LINK, LinkCheck, find_copy, find_parked
from .existence import RegistrySearch, Standing, find_by_reference, find_identified
from .kinds import find_uncovered, is_covered
from .match import Confidence, Match, match_reference
from .reference import PARTIES, Reference, from_fields
from .titles import cut_page_title, find_inside, find_sameness
from .work import Work, tell_match

UNASKED = Standing("unknown")
UNSOUGHT = RegistrySearch(None, None)
UNREAD = (
    "It is registered, but nobody who was asked has its record: whether it is the work that was meant, and whether it "
    "was retracted, is not known."
)
NO_TITLE = "no title was given, so whether it is the work that was meant is not known"
_CHAPTER = re.compile(r"\bIn:?\s+(?=[^\W\d_a-z])")
# With fewer words around an identifier nothing can be looked for.
_FEWEST_TERMS = 3
_WITH_NOTICES = frozenset(("doi", "pmid", "pmcid", "arxiv"))


@dataclass(frozen=True, slots=True)
class CheckGap:
    """Something that was not checked and why; `is_lack` where somebody could have said and did not."""

    what: str
    reason: str
    is_lack: bool = True

    def to_json(self) -> dict[str, str]:
        """The gap as the tools tell it."""
        return {"what": self.what, "reason": self.reason}


@dataclass(slots=True)
class CitationExamination:
    """What a citation says of its work, and what was found of it so far.

    `identifier` names the work, None where only words do, and is `in_address` where it was read from there; `parties`
    are those of a court's case. `venue` is where it appeared, where that is not compared. `is_chapter` says that an
    ISBN is that of the book around the work. `record` is the standing of the work that a search found. `mentioned` is
    a DOI in an address that may only speak of its work (a comment, a search), and `mention` the standing of that.
    """

    reference: Reference
    text: str = ""
    identifier: Identifier | None = None
    url: str = ""
    in_address: bool = False
    venue: str = ""
    parties: str = ""
    decided: int | None = None
    is_chapter: bool = False
    standing: Standing = UNASKED
    search: RegistrySearch = UNSOUGHT
    record: Standing = UNASKED
    link: LinkCheck = NO_LINK
    titles: tuple[str, ...] = ()
    reading: SourceReading | None = None
    late: str = ""
    mentioned: str = ""
    mention: Standing = UNASKED

    @property
    def doi(self) -> str:
        """The DOI that it gives, "" without one."""
        return self.identifier.value if self.identifier is not None and self.identifier.kind == "doi" else ""

    @property
    def certain(self) -> Work | None:
        """The work that a search found and that is surely the one meant.

        Beside an identifier that nobody could check, that is only the work which has it.
        """
        work = self.search.certain
        if work is None:
            return None
        flawed = self.identifier is not None and bool(self.identifier.flaw)
        if self.standing.state == "absent" and not flawed:
            return work if self.standing.doi and work.doi == self.standing.doi else None
        return work if not self.standing.doi or work.doi == self.standing.doi else None

    @property
    def is_titled(self) -> bool:
        """Whether the page at its address is called what the citation names."""
        host = urlsplit(self.link.url or self.url).hostname or ""
        titles = [each for title in self.titles for each in cut_page_title(title, host)]
        # Title and site may read as author and title ("Composition API. Vuex").
        if any(same.whole for title in self.titles if (same := find_sameness(self.reference.text, title))):
            return True
        title, text = self.reference.title, self.reference.text
        if any(find_sameness(title or text, each) for each in titles):
            return True
        # What came as a title may be a whole reference, with its site and its date.
        names = [name.family for name in self.reference.authors]
        loose = self.reference.title_sign in ("", "field")
        return loose and bool(find_inside(text, titles, names))

    def compare(self, work: Work) -> Match:
        """What it says of its work against a record; of a court's decision only the parties are its title."""
        if self.identifier is not None and self.identifier.kind == "case":
            years = (self.decided,) if self.decided else ()
            named = replace(from_fields(title=self.parties), title_sign=PARTIES) if self.parties else self.reference
            return match_reference(replace(named, years=years), work.record)
        if self.identifier is not None and self.identifier.kind == "isbn" and self._is_part():
            return match_reference(replace(self.reference, title="", title_sign="", authors=()), work.record)
        return match_reference(self.reference, work.record)

    def _is_part(self) -> bool:
        """Whether its title is that of a part of the book that an ISBN names."""
        return self.is_chapter or bool(_CHAPTER.search(self.reference.text))


@dataclass(frozen=True, slots=True)
class PossibleMatch:
    """A record that is like a citation and not surely the one meant, with all that is said of it."""

    work: Work
    match: Match | None = None
    notice: Retraction | None = None

    def to_json(self) -> dict[str, Any]:
        """The record with its comparison and its notice inside, so that neither is taken for the citation's."""
        told = self.work.to_json()
        if self.match is not None and (comparison := tell_match(self.match)):
            told["comparison"] = comparison
        if self.notice is not None:
            told["retractionStatus"] = {
                name: value
                for name, value in (
                    ("retracted", self.notice.retracted),
                    ("kind", self.notice.kind),
                    ("date", self.notice.date),
                )
                if value is not None
            }
        return told


@dataclass(frozen=True, slots=True)
class CitationFinding:
    """What follows from an examination; `work`, `match` and `notice` are of the record that is surely the one meant.

    `denied` says that a register which lists everything of the kind has no such thing.
    """

    status: Status
    reason: str = ""
    work: Work | None = None
    match: Match | None = None
    notice: Retraction | None = None
    possible: PossibleMatch | None = None
    confidence: Confidence | None = None
    title: TitleMatch = "not_checked"
    gaps: tuple[CheckGap, ...] = ()
    denied: bool = False

    @property
    def is_in_doubt(self) -> bool:
        """Whether its record may be of another work: by its title, or by something else beside an unsure title."""
        if self.title != "not_checked" or self.match is None:
            return self.title == "mismatch"
        return any(one.verdict == "mismatch" for one in self.match.judgements)

    @property
    def lacks(self) -> tuple[CheckGap, ...]:
        """What somebody could have said and did not."""
        return tuple(gap for gap in self.gaps if gap.is_lack)


# --- the stages ---


async def find_standing(context: Context, examination: CitationExamination) -> None:
    """Ask for the work of an identifier; `standing` stays as it is for what names no work."""
    if examination.identifier is not None:
        standing = await find_identified(context, examination.identifier, examination.text)
        examination.standing = standing or UNASKED


def needs_search(examination: CitationExamination) -> bool:
    """Whether the work is to be looked for by its words: no register has it, and there are words enough."""
    if examination.standing.state == "found" or examination.standing.near is not None:
        return False
    if examination.reference.title_sign == "field":
        return bool(examination.reference.title)
    return examination.identifier is None or len(terms(examination.reference.text)) >= _FEWEST_TERMS


async def find_words(context: Context, examination: CitationExamination, *, most: int) -> None:
    """Look for the work by its words in the first `most` indexes."""
    examination.search = await find_by_reference(context, examination.reference, most=most)


def settle_mention(examination: CitationExamination, mention: Standing) -> None:
    """Take in who knows the DOI in an address that may only speak of its work.

    It is the work that was cited where its record has the title; else nothing is said of the citation by it.
    """
    examination.mention = mention
    if examination.standing is not UNASKED or mention.state != "found" or mention.work is None:
        return
    if examination.compare(mention.work).title.verdict == "match":
        examination.standing = mention


def find_record_doi(examination: CitationExamination) -> str:
    """The DOI of the work that a search found, whose notices are still to be asked for; "" where there is none."""
    work = examination.search.work
    return work.doi if work is not None and examination.search.confidence in ("high", "medium") else ""


def needs_page(examination: CitationExamination) -> bool:
    """Whether only the page at its address can still say whether it is what was cited."""
    link = examination.link
    if not link.readable or examination.standing.state == "found" or examination.certain is not None:
        return False
    # A DOI that nobody gave out is not made good by a page.
    return examination.standing.state != "absent" or (examination.in_address and bool(examination.standing.doi))


async def read_titles(context: Context, examination: CitationExamination) -> None:
    """What the page at its address is called: as its link check saw it, else as it reads.

    What says of itself that it is not there makes the link dead, and its archived copy is read in its place.
    """
    link = examination.link
    if link.live and link.titles:
        examination.titles = link.titles
        return
    examination.link, examination.reading = await read_link(context, link)
    page = examination.reading.page
    title = str((page.get("metadata") or {}).get("title") or "") if page is not None else ""
    examination.titles = (title,) if title else ()


async def read_link(context: Context, link: LinkCheck) -> tuple[LinkCheck, SourceReading]:
    """The page of a link, and the link as it is when the page was read: many servers answer a missing page with 200."""
    reading = await read_first(context, link.readable)
    gone = ""
    if link.live and reading.page is not None:
        gone = find_parked(str(reading.page.get("content") or ""))
    elif link.live and reading.error.startswith(f"{KINDS['not_found'].wire}:"):
        gone = "when it is read, there is no such page"
    if not gone:
        return link, reading
    link = await find_copy(context, replace(link, live=False, reason=gone))
    return link, await read_first(context, link.readable) if link.archived else SourceReading(None, link.url, gone)


# --- the judgement ---


def judge(examination: CitationExamination) -> CitationFinding:
    """What is to be said of a citation, by everything that was found of it."""
    standing, search = examination.standing, examination.search
    if standing.state == "found":
        return _judge_found(examination, standing, standing.work)
    if (certain := examination.certain) is not None:
        record = examination.record
        work = record.work if record.state == "found" and record.work is not None else certain
        finding = _judge_found(examination, record, work, found=search.match)
        flaw = examination.identifier.flaw if examination.identifier is not None else ""
        return replace(finding, reason=flaw)
    possible = _find_possible(examination)
    confidence = search.confidence if search is not UNSOUGHT and not standing.doi else None
    if examination.titles and examination.is_titled:
        return CitationFinding("confirmed", confidence=confidence, title="match", gaps=_find_page_gaps(examination))
    if _is_only_address(examination):
        return _judge_address(examination)
    status, reason = _judge_missing(examination, possible)
    denied = status == "not_found" and standing.state == "absent"
    gaps = (CheckGap("existence", reason),) if status in ("uncertain", "unchecked") else ()
    return CitationFinding(status, reason, possible=possible, confidence=confidence, gaps=gaps, denied=denied)


def _judge_found(
    examination: CitationExamination, standing: Standing, work: Work | None, *, found: Match | None = None
) -> CitationFinding:
    """The finding of a work that somebody has; `standing` says who knows of its notices."""
    if work is None:
        unread = tuple(CheckGap(what, "nobody who was asked has its record") for what in ("title", "retraction"))
        return CitationFinding("confirmed", gaps=unread)
    match = examination.compare(work)
    if found is not None:
        # The record of its DOI has volume and pages, which the results of searches lack.
        match = replace(found, volume=match.volume, issue=match.issue, pages=match.pages)
    gaps: list[CheckGap] = []
    if match.title.verdict == "not_checked":
        is_given = bool(examination.reference.title or terms(examination.reference.text))
        gaps.append(CheckGap("title", match.title.reason) if is_given else CheckGap("title", NO_TITLE, is_lack=False))
    notice = standing.notice or work.notice
    if (gap := _find_notice_gap(examination, standing, work)) is not None and notice is None:
        gaps.append(gap)
    return CitationFinding(
        "confirmed",
        work=work,
        match=match,
        notice=notice,
        confidence="high",
        title=match.title.verdict,
        gaps=tuple(gaps),
    )


def _find_notice_gap(examination: CitationExamination, standing: Standing, work: Work) -> CheckGap | None:
    """Why nothing is known of notices about a work; None where somebody who lists them was asked and said."""
    kind = examination.identifier.kind if examination.identifier is not None else ""
    if not work.doi and kind not in _WITH_NOTICES and examination.standing.state == "found":
        # Nobody lists notices about patents, trials, decisions and books by their number.
        return None
    own = work.listed if standing.work is None else standing.work.listed
    if own is not None:
        return None
    if standing.silent:
        others = [f"{source.source} lists no notice" for source in standing.sources]
        silent = " and ".join(dict.fromkeys(standing.silent))
        return CheckGap("retraction", "; ".join((f"{silent} could not be asked for notices", *others)))
    if standing.sources:
        return None
    if not work.doi:
        return CheckGap("retraction", f"the record of {work.provider} has no DOI to ask for notices by", is_lack=False)
    return CheckGap("retraction", f"{work.provider} does not list notices, and nobody else who was asked has it", False)


def _find_page_gaps(examination: CitationExamination) -> tuple[CheckGap, ...]:
    """What a page under the title that was cited leaves open: where articles are published, their notices."""
    labels = classify(examination.url)
    if labels.source_type != "peer_reviewed" and labels.domain_category != "academic":
        return ()
    return (CheckGap("retraction", "its page is that of an article, and no record of it was found that lists notices"),)


def _find_possible(examination: CitationExamination) -> PossibleMatch | None:
    search, near = examination.search, examination.standing.near
    if search.work is not None:
        if examination.identifier is not None and search.confidence not in ("high", "medium"):
            return None
        work = examination.record.work or search.work
        return PossibleMatch(work, search.match, examination.record.notice or work.notice)
    if near is not None:
        return PossibleMatch(near, examination.compare(near), near.notice)
    return to_possible(examination, examination.mention)


def to_possible(examination: CitationExamination, mention: Standing) -> PossibleMatch | None:
    """The work of a DOI that an address has, as one that may be meant."""
    work = mention.work
    return PossibleMatch(work, examination.compare(work), mention.notice or work.notice) if work is not None else None


def _is_only_address(examination: CitationExamination) -> bool:
    """Whether nothing but an address was given, or it is that of the work which its identifier names."""
    if not examination.url or examination.link is NO_LINK:
        return False
    bare = examination.identifier is None and not terms(examination.reference.text)
    untitled = not terms(examination.reference.title or examination.reference.text)
    return bare or (examination.in_address and untitled and bool(examination.link.live))


def _judge_address(examination: CitationExamination) -> CitationFinding:
    """The finding of an address by itself."""
    link = examination.link
    if link.live:
        gaps = [CheckGap("title", NO_TITLE, is_lack=False)]
        if examination.identifier is not None:
            gaps = [CheckGap(what, "only its address answers") for what in ("title", "retraction")]
        return CitationFinding("confirmed", gaps=tuple(gaps))
    copy = f"; it was there when it was archived: {link.archived}" if link.archived else ""
    reason = f"{link.reason or f'the server answers with status {link.status}'}{copy}"
    # Without an answer nobody has said that the page is not there.
    if link.status:
        return CitationFinding("not_found", reason)
    return CitationFinding("unchecked", reason, gaps=(CheckGap("existence", reason),))


def _judge_missing(examination: CitationExamination, possible: PossibleMatch | None) -> tuple[Status, str]:
    """The status of what no register has and no index surely, and why."""
    standing, search, link = examination.standing, examination.search, examination.link
    # The newest of arXiv and the RFC Editor answer at their addresses hours before their DOIs are registered.
    if standing.state == "absent" and not (link.live and examination.in_address and standing.doi):
        other = search.certain
        also = f"; a work of this title has the DOI {other.doi or '(none)'}" if other is not None else ""
        return "not_found", f"{standing.reason}{also}"
    status, reason = _judge_search(examination)
    if standing is not UNASKED:
        # What names the work could not be looked up, so whatever is like it leaves that open.
        near = f"; {reason}" if possible is not None and search.work is not None else ""
        status, reason = "unchecked", f"{standing.reason or standing.state}{near}"
    seen = _tell_page(examination)
    if seen:
        return ("uncertain" if link.readable else "unchecked"), "; ".join(filter(None, (reason, seen)))
    return status, reason


def _judge_search(examination: CitationExamination) -> tuple[Status, str]:
    """The status of a reference in plain words, and why it is not confirmed."""
    search = examination.search
    if examination.late:
        return "unchecked", examination.late
    if search is UNSOUGHT:
        return "unchecked", "it has no title to look for"
    if search.confidence in ("medium", "low", "high"):
        others = [one.field for one in search.match.judgements if one.verdict == "mismatch"] if search.match else []
        differing = f": it differs in {' and '.join(others)}, see possibleMatch" if others else ""
        return "uncertain", f"the nearest record matches with confidence {search.confidence} only{differing}"
    if search.obstacle:
        return "unchecked", search.obstacle
    silent = f"; {' and '.join(search.failed)} could not be asked" if search.failed else ""
    lack = f"no index that was asked has a work like it{silent}"
    # What a few have not does not tell what most would have had.
    if len(search.failed) > len(search.answered):
        return "unchecked", f"nothing like it is in {' and '.join(search.answered)}{silent}"
    if why := find_uncovered(examination.text or examination.reference.text, examination.reference.years):
        return "unchecked", f"{lack}; {why}"
    if not is_covered(examination.reference, examination.venue):
        return "unchecked", f"{lack}, and they do not list every kind of work"
    return "not_found", lack


def _tell_page(examination: CitationExamination) -> str:
    """What the page at its address is called, where that is not what was cited; "" where there is nothing to tell."""
    link = examination.link
    if link is NO_LINK or (examination.standing.state == "absent" and not link.live):
        return ""
    if not link.readable:
        if link.live is None:
            return link.reason
        # Pages are in no index, so that only their servers can say that they are not there.
        return f"its address was not seen to answer ({link.reason})" if not link.status else ""
    where = "its address" if link.live else "the archived copy of its address"
    if not examination.titles:
        return f"{where} leads to a page whose title could not be read, not certainly the work cited"
    return f"{where} leads to {examination.titles[0][:200]!r}, not certainly the work cited"


def to_provenance(examination: CitationExamination) -> tuple[str, ...]:
    """What an examination rests on, line by line."""
    return (*examination.standing.trail, *examination.search.trail, *examination.record.trail)


UNCHECKED: Mapping[str, str] = {"existence": "its existence", "title": "its title", "retraction": "notices about it"}
"""What can be left unchecked, in words."""
