"""Verifies one citation: what it is, whether it exists, whether it is what it says, and whether it has the claim.

Everything here is evidence: each statement stands beside what it rests on, and whoever could not be asked is named in
`provenance` instead of being taken for an answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from specloom.core import Fault, dataclass, from_epoch
from specloom.domains.text import (
    Detected,
    Identifier,
    detect,
    find_decided,
    find_parties,
    is_cite_key,
    strip_unseen,
    terms,
)
from specloom.plugins import Context

from ..claims.coverage import SourceReading, read_first
from ..claims.substitutes import WorkInHand, weigh_claim
from ..records import Citation, CitedIdentifier, Liveness
from ..reports.files import keep_report, write_report
from ..reports.word import expect_library
from ..sources.classify import find_own_doi, is_scholarly
from ..sources.conflicts import find_conflict
from ..sources.links import NO_LINK, LinkCheck, check_links
from .aside import run_aside
from .audit_report import RegisterLog
from .citation_report import to_report
from .examination import (
    UNREAD,
    CitationExamination,
    CitationFinding,
    find_record_doi,
    find_standing,
    find_words,
    judge,
    needs_page,
    needs_search,
    read_link,
    read_titles,
    settle_mention,
    to_possible,
    to_provenance,
)
from .existence import find_by_doi
from .match import match_fields
from .reference import parse_reference
from .titles import is_called_retracted
from .work import Work, find_addresses, tell_match

NO_CLAIM = "no claim was given, so the source was not held against one"
BARE = (
    "Only the identifier was given, so it was not compared with a title: the work exists, but whether it is the one "
    "that was meant is not known."
)
CALLED_RETRACTED = "No notice is listed, but the recorded title says that the work was retracted or withdrawn."
KEYED = (
    "'{key}' is a cite key, which no register knows; give its DOI, its address or the reference in words; "
    "library_export writes that of a stored work"
)
DIFFERS = "The work exists, but the citation and its record differ in {fields}: see comparison."
NOTICES = "Notices about it were not checked: {reason}."
INDEXES = 9
"""Indexes in which a citation is looked for by its words."""
IN_DOUBT = "its identifier may be that of another work, which was not read for the claim"
MENTION = (
    "identifier: {kind} {value} stands in the address of a page that may only speak of it, so the work was not "
    "checked; give it by itself to have that done"
)
MENTIONED = ("doi", "arxiv", "pmid", "pmcid")
"""Kinds of identifiers that stand in addresses of pages which speak of a work, too."""
_FEWEST_TERMS = 3
_NO_WORKS = ("url", "orcid")
"""Kinds of identifiers that name no work."""


@dataclass(slots=True)
class _Verification:
    """One citation on its way through the checks: what is known of it, and where its source can be read or was."""

    context: Context
    citation: Citation
    addresses: list[str] = field(default_factory=list)
    reading: SourceReading | None = None
    work: WorkInHand = field(default_factory=WorkInHand)
    is_mention: bool = False
    mentioned: str = ""
    obstacle: str = ""

    def tell(self, **fields: Any) -> None:
        """Take over what is known of some fields of the record."""
        self.citation = replace(self.citation, **fields)

    def note(self, *lines: str) -> None:
        """Add lines to what the record rests on."""
        self.tell(provenance=(*self.citation.provenance, *lines))

    def warn(self, caveat: str) -> None:
        """Add a sentence to what is not certain of the record."""
        self.tell(authenticity_caveat=" ".join(filter(None, (self.citation.authenticity_caveat, caveat))))


async def verify(context: Context, citation: str, claim: str = "", report: str = "") -> Citation:
    """The record of one citation; with a `report` (html, markdown, docx) it is kept as a document, too.

    Raises a `validation` fault for an empty citation.
    """
    if not report:
        return await _verify(context, citation, claim)
    if report == "docx":
        expect_library()
    log = RegisterLog(context)
    checked = await _verify(log.context, citation, claim)
    digest = hashlib.sha256(citation.strip().encode("utf-8", "surrogatepass")).hexdigest()
    written = await run_aside(
        context, write_report, to_report(checked, log.outcomes, digest, from_epoch(context.now()) or ""), report
    )
    resource = await keep_report(context, written, report, "citation check")
    return replace(checked, report_resource=resource or None, input_digest=digest)


async def _verify(context: Context, citation: str, claim: str) -> Citation:
    text = strip_unseen(citation).strip()
    if not text:
        raise Fault("validation", "the citation is empty; give a DOI, an address or a reference", argument="citation")
    if is_cite_key(text):
        raise Fault("validation", KEYED.format(key=text[:80]), argument="citation")
    detected = detect(text)
    is_mention = _is_mention(detected)
    mentioned = detected.identifier if is_mention and len(text.split()) == 1 else None
    if mentioned is not None:
        # A page that may only speak of a work was cited, and not surely the work.
        detected, is_mention = _to_address(detected), False
    empty = Citation(
        input=citation, input_type=detected.input_type, exists=False, verification_status="unchecked", provenance=()
    )
    check = _Verification(context, empty, is_mention=is_mention)
    if mentioned is not None:
        check.mentioned = mentioned.value if mentioned.kind == "doi" else ""
        check.note(MENTION.format(kind=mentioned.kind, value=mentioned.value))
    identifier = detected.identifier
    if identifier is not None:
        check.tell(identifier=CitedIdentifier(kind=identifier.kind, value=identifier.value))
        others = [each.value for each in detected.identifiers if each.kind == "doi" and each.value != identifier.value]
        if identifier.kind == "doi" and others:
            check.note(f"identifier: only the first DOI was looked up, and not {', '.join(others[:5])}")
    context.tell(0, 3, "looking for the source")
    examination = to_examination(detected, text)
    if _is_bare_address(detected):
        await _check_address(check, examination, wanted=bool(claim.strip()))
    else:
        await _check_work(check, examination)
    context.tell(2, 3, "looking at the claim")
    if claim.strip():
        reading = check.reading or await read_first(context, check.addresses)
        if check.obstacle and not check.addresses:
            reading = SourceReading(None, "", check.obstacle)
        evidence = await weigh_claim(context, claim, reading, check.work)
        check.tell(claim_check=evidence.check, content_words=evidence.words, sparsity_note=evidence.note)
        if evidence.check.claim_support == "source_unavailable" and not check.addresses:
            check.note("claim: no address is known at which the source can be read")
    else:
        check.tell(claim_check_skipped=True, claim_check_skipped_reason=NO_CLAIM)
    context.tell(3, 3, "done")
    return check.citation


def to_examination(detected: Detected, text: str) -> CitationExamination:
    """What a citation in words says of its work, to be examined."""
    identifier = detected.identifier
    mentioned = ""
    if identifier is not None and identifier.kind == "doi" and _is_mention(detected):
        mentioned, identifier = identifier.value, None
    if identifier is not None and identifier.kind in _NO_WORKS:
        identifier = None
    urls = [each.value for each in detected.identifiers if each.kind == "url"]
    is_url = detected.input_type == "url" and bool(urls)
    is_case = identifier is not None and identifier.kind == "case"
    return CitationExamination(
        reference=parse_reference(detected.rest or ("" if identifier is not None or urls else text)),
        text=text,
        identifier=identifier,
        url=urls[0] if urls else "",
        # An address stands for the identifier in it, and for no other that somebody put beside it.
        in_address=is_url and identifier is not None and identifier.start < len(urls[0]),
        parties=find_parties(detected.rest) if is_case else "",
        decided=find_decided(text, identifier) if identifier is not None and is_case else None,
        mentioned=mentioned,
    )


def to_work_in_hand(work: Work | None, doi: str, identifier: Identifier | None) -> WorkInHand:
    """By what a work is found in the store, and the abstract of its record."""
    arxiv = identifier.value if identifier is not None and identifier.kind == "arxiv" else ""
    if work is None:
        return WorkInHand(doi, arxiv)
    return WorkInHand(doi or work.doi, arxiv, work.abstract, work.provider)


def _is_mention(detected: Detected) -> bool:
    """Whether its identifier stands in the address of a page that may only speak of the work."""
    identifier = detected.identifier
    if identifier is None or identifier.kind not in MENTIONED:
        return False
    at = identifier.start
    around = [one.value for one in detected.identifiers if one.kind == "url" and 0 <= at - one.start < len(one.text)]
    if not around:
        return False
    return find_own_doi(around[0]) != identifier.value if identifier.kind == "doi" else not is_scholarly(around[0])


def _to_address(detected: Detected) -> Detected:
    """What was detected, with nothing in it but addresses."""
    urls = tuple(each for each in detected.identifiers if each.kind == "url")
    return replace(detected, identifier=urls[0], identifiers=urls)


def _is_bare_address(detected: Detected) -> bool:
    """Whether an address alone was given, which is then what was cited."""
    kind = detected.identifier.kind if detected.identifier is not None else ""
    return kind == "url" and detected.input_type == "url" and len(terms(detected.rest)) < _FEWEST_TERMS


# --- works ---


async def _check_work(check: _Verification, examination: CitationExamination) -> None:
    """Fills in what is known of a work by its identifier, by its words, and by the page at its address."""
    context = check.context
    await find_standing(context, examination)
    if examination.mentioned:
        settle_mention(examination, await find_by_doi(context, examination.mentioned))
        is_same = (
            "its record has the title"
            if examination.standing is examination.mention
            else "told as possibleMatch at most"
        )
        check.note(f"doi: {examination.mentioned} stands in an address that may only speak of its work; {is_same}")
    if needs_search(examination):
        await find_words(context, examination, most=INDEXES)
        if doi := find_record_doi(examination):
            examination.record = await find_by_doi(context, doi)
    check.note(*to_provenance(examination))
    named = examination.identifier is not None and check.citation.input_type != "url"
    if examination.url and not named:
        examination.link = (await check_links(context, [examination.url]))[0]
        if needs_page(examination):
            await read_titles(context, examination)
        _tell_liveness(check, examination.link)
        if examination.titles:
            where = "its address" if examination.link.live else "the archived copy of its address"
            named_too = ", which the reference names" if examination.is_titled else ""
            check.note(f"page: {where} leads to {examination.titles[0][:200]!r}{named_too}")
    finding = judge(examination)
    _tell(check, examination, finding)
    standing = examination.standing
    work = finding.work
    doi = work.doi if work is not None else standing.doi if standing.state == "found" else ""
    check.addresses = list(examination.link.readable)
    if finding.is_in_doubt or (check.is_mention and finding.title != "match"):
        check.addresses = [each for each in check.addresses if not doi or find_own_doi(each) != doi]
        check.obstacle = IN_DOUBT
    else:
        check.addresses += find_addresses(work, doi)
        check.work = to_work_in_hand(work, doi, examination.identifier)
    reading = examination.reading
    check.reading = reading if reading is not None and reading.page is not None else None


def _tell(check: _Verification, examination: CitationExamination, finding: CitationFinding) -> None:
    """Fills in what follows from an examination; only of the record that is surely meant anything is said."""
    work, match = finding.work, finding.match
    check.tell(
        exists=finding.status == "confirmed",
        verification_status=finding.status,
        status_reason=finding.reason or None,
        matched_record=work.to_json() if work is not None else None,
        match_confidence=finding.confidence,
        possible_match=finding.possible.to_json() if finding.possible is not None else None,
        title_match=finding.title,
        comparison=(tell_match(match) if match is not None else []) or None,
        retraction_status=finding.notice,
        not_checked=[gap.to_json() for gap in finding.gaps] or None,
    )
    if work is None:
        if finding.status == "confirmed" and examination.standing.state == "found":
            check.warn(UNREAD)
        return
    if finding.notice is None and is_called_retracted(work.title):
        check.warn(CALLED_RETRACTED)
    if match is not None and examination.standing.state == "found":
        if finding.title == "not_checked":
            is_bare = not terms(examination.reference.text)
            check.warn(BARE if is_bare else f"The title was not checked: {match.title.reason}.")
        if differing := [one.field for one in match.judgements if one.verdict == "mismatch"]:
            check.warn(DIFFERS.format(fields=" and ".join(differing)))
    for gap in finding.lacks:
        if gap.what == "retraction":
            check.warn(NOTICES.format(reason=gap.reason))


# --- pages: whether they answer, and whose articles they are ---


async def _check_address(check: _Verification, examination: CitationExamination, *, wanted: bool) -> None:
    """Fills in what is known of an address; the page is read once, for its own DOI and for the claim."""
    url = examination.url
    link = (await check_links(check.context, [url]))[0]
    if link.live is None and not link.unsought:
        raise Fault("validation", link.reason)
    scholarly = is_scholarly(url)
    if link.readable and (wanted or scholarly or bool(link.live and not link.blocked)):
        link, check.reading = await read_link(check.context, link)
    examination.link = link
    _tell_liveness(check, link)
    finding = judge(examination)
    _tell(check, examination, finding)
    check.addresses = link.readable
    check.work = WorkInHand(doi=find_own_doi(url))
    page = check.reading.page if check.reading is not None else None
    if page is None and check.mentioned:
        await _tell_mentioned(check, examination)
    if check.reading is None:
        return
    if page is None:
        check.note(f"page: it could not be read ({check.reading.error})")
        return
    check.note(f"page: {check.reading.url} was read by {page.get('extractedBy') or 'the reader'}")
    if doi := str(page.get("detectedDoi") or "") or find_own_doi(url):
        await _check_article(check, doi, page.get("metadata") or {})


async def _tell_mentioned(check: _Verification, examination: CitationExamination) -> None:
    """The work of the DOI in an address whose page is closed, as one that may be meant: nothing follows from it."""
    mention = await find_by_doi(check.context, check.mentioned)
    check.note(f"doi: the page is closed, so {check.mentioned} of its address was looked up", *mention.trail)
    if (possible := to_possible(examination, mention)) is not None:
        check.tell(possible_match=possible.to_json())


async def _check_article(check: _Verification, doi: str, metadata: Mapping[str, Any]) -> None:
    """Fills in what the registries know of the DOI that a scholarly page declares as its own."""
    title = str(metadata.get("title") or "")
    standing = await find_by_doi(check.context, doi)
    check.work = to_work_in_hand(standing.work, doi, None)
    check.note(f"doi: the page declares {doi} as its own", *standing.trail)
    check.tell(
        detected_doi=doi,
        conflict_of_interest=find_conflict(str(metadata.get("author") or ""), f"{title}. {check.citation.input}"),
    )
    if (work := standing.work) is not None:
        match = match_fields(work.record, title=title)
        if match.title.verdict == "mismatch":
            check.work = WorkInHand()
        check.tell(
            matched_record=work.to_json(),
            match_confidence="high",
            title_match=match.title.verdict,
            comparison=tell_match(match),
            retraction_status=standing.notice,
        )


def _tell_liveness(check: _Verification, link: LinkCheck) -> None:
    if link is NO_LINK:
        return
    status = link.to_status()
    check.tell(
        link=Liveness(
            link_live=status.link_live,
            http_status=status.http_status,
            archived_url=status.archived_url,
            archived_at=status.archived_at,
        )
    )
    silent = "gave no answer" if link.unsought else "was not looked at"
    state = silent if link.live is None else "answers" if link.live else "is dead"
    reason = f" ({link.reason})" if link.reason else ""
    check.note(f"link: {link.url} {state}, status {link.status}{reason}")
    if link.blocked:
        check.note("link: the server is there and refuses programs, so the link is not dead")
    if link.live is False or link.unsought:
        lack = f"could not be asked ({link.unsought[:200]})" if link.unsought else "no archived copy was found"
        check.note(f"archive: {link.archived or lack}")
