"""Verifies one citation: what it is, whether it exists, whether it is what it says, and whether it has the claim.

Everything here is evidence: each statement stands beside what it rests on, and whoever could not be asked is named in
`provenance` instead of being taken for an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from specloom.core import KINDS, Fault, dataclass
from specloom.domains.text import Detected, detect, find_doi, find_parties, strip_unseen, terms
from specloom.plugins import Context

from ..claims.coverage import SourceReading, judge_claim, read_first
from ..records import Citation, CitedIdentifier, Liveness, Status
from ..sources.classify import classify
from ..sources.conflicts import find_conflict
from ..sources.links import LinkCheck, check_links, find_copy, find_parked
from .existence import RegistrySearch, Standing, find_by_doi, find_by_reference, find_identified
from .match import Match, cut_title, match_fields, match_text
from .reference import Reference, parse_reference
from .titles import find_inside, find_sameness, is_called_retracted
from .work import Work, find_addresses, tell_match

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
_CONFIRMED: Mapping[str, Any] = {"exists": True, "verification_status": "confirmed", "status_reason": None}


@dataclass(slots=True)
class _Verification:
    """One citation on its way through the checks: what is known of it, and where its source can be read or was."""

    context: Context
    citation: Citation
    addresses: list[str] = field(default_factory=list)
    reading: SourceReading | None = None

    def tell(self, **fields: Any) -> None:
        """Take over what is known of some fields of the record."""
        self.citation = replace(self.citation, **fields)

    def note(self, *lines: str) -> None:
        """Add lines to what the record rests on."""
        self.tell(provenance=(*self.citation.provenance, *lines))

    def warn(self, caveat: str) -> None:
        """Add a sentence to what is not certain of the record."""
        self.tell(authenticity_caveat=" ".join(filter(None, (self.citation.authenticity_caveat, caveat))))


async def verify(context: Context, citation: str, claim: str = "") -> Citation:
    """The record of one citation; raises a `validation` fault for an empty one."""
    text = strip_unseen(citation).strip()
    if not text:
        raise Fault("validation", "the citation is empty; give a DOI, an address or a reference", argument="citation")
    detected = detect(text)
    empty = Citation(
        input=citation, input_type=detected.input_type, exists=False, verification_status="unchecked", provenance=()
    )
    check = _Verification(context, empty)
    identifier = detected.identifier
    if identifier is not None:
        check.tell(identifier=CitedIdentifier(kind=identifier.kind, value=identifier.value))
        others = [each.value for each in detected.identifiers if each.kind == "doi" and each.value != identifier.value]
        if identifier.kind == "doi" and others:
            check.note(f"identifier: only the first DOI was looked up, and not {', '.join(others[:5])}")
    context.tell(0, 3, "looking for the source")
    standing = await find_identified(context, identifier, text) if identifier is not None else None
    if standing is not None:
        await _check_identified(check, detected, standing)
    elif detected.input_type == "url" and identifier is not None:
        await _check_address(check, identifier.value, wanted=bool(claim.strip()))
    else:
        await _check_reference(check, detected.rest or text, _urls_of(detected))
    context.tell(2, 3, "looking at the claim")
    if claim.strip():
        evidence = judge_claim(claim, check.reading or await read_first(context, check.addresses))
        check.tell(claim_check=evidence.check, content_words=evidence.words, sparsity_note=evidence.note)
        if evidence.check.claim_support == "source_unavailable" and not check.addresses:
            check.note("claim: no address is known at which the source can be read")
    else:
        check.tell(claim_check_skipped=True, claim_check_skipped_reason=NO_CLAIM)
    context.tell(3, 3, "done")
    return check.citation


# --- what has an identifier ---


async def _check_identified(check: _Verification, detected: Detected, standing: Standing) -> None:
    """Fills in what is known of a work by its identifier."""
    _tell_standing(check, standing)
    work = standing.work
    match = _compare(detected, work) if work is not None else None
    check.tell(title_match=match.title.verdict if match is not None else "not_checked")
    if match is not None:
        check.tell(comparison=tell_match(match))
        if match.title.verdict == "not_checked" and check.citation.exists:
            check.warn(BARE if not detected.rest else f"The title was not checked: {match.title.reason}.")
        if differing := [one.field for one in match.judgements if one.verdict == "mismatch"]:
            check.warn(DIFFERS.format(fields=" and ".join(differing)))
    elif standing.near is not None:
        check.tell(possible_match=standing.near.to_json(), comparison=tell_match(_compare(detected, standing.near)))
    elif standing.state == "found":
        check.warn(UNREAD)
    elif len(terms(detected.rest)) >= _FEWEST_TERMS:
        # A wrong identifier often stands beside the right title.
        other = await find_by_reference(check.context, parse_reference(detected.rest))
        check.note(*other.trail)
        if other.match is not None and other.confidence == "high" and standing.state == "unknown" and not standing.doi:
            # What a catalogue does not list may be found by its words.
            check.tell(**_CONFIRMED, match_confidence="high", title_match=other.match.title.verdict)
            await _check_found(check, other)
            return
        if other.work is not None and other.match is not None and other.confidence in ("high", "medium"):
            check.tell(possible_match=other.work.to_json(), comparison=tell_match(other.match))
    check.addresses = find_addresses(work, standing.doi) if standing.state == "found" else []
    if detected.input_type == "url" and (urls := _urls_of(detected)):
        link = (await check_links(check.context, urls[:1]))[0]
        _tell_liveness(check, link)
        # An address stands for the identifier in it, and for no other that somebody put beside it.
        if link.live and detected.identifier is not None and detected.identifier.start < len(urls[0]):
            check.tell(**_CONFIRMED)
        check.addresses = [*link.readable, *check.addresses]


def _compare(detected: Detected, work: Work) -> Match:
    """The words around an identifier against a work; of a court's decision only the parties are its title."""
    parties = (
        find_parties(detected.rest) if detected.identifier is not None and detected.identifier.kind == "case" else ""
    )
    return match_fields(work.record, title=parties) if parties else match_text(detected.rest, work.record)


def _urls_of(detected: Detected) -> list[str]:
    return [each.value for each in detected.identifiers if each.kind == "url"]


def _tell_standing(check: _Verification, standing: Standing) -> None:
    states: Mapping[str, Status] = {"found": "confirmed", "absent": "not_found", "unknown": "unchecked"}
    check.tell(
        exists=standing.state == "found",
        verification_status=states[standing.state],
        status_reason=standing.reason or None,
        retraction_status=standing.notice,
    )
    check.note(*standing.trail)
    if standing.work is not None:
        check.tell(matched_record=standing.work.to_json(), match_confidence="high")
        if standing.notice is None and is_called_retracted(standing.work.title):
            check.warn(CALLED_RETRACTED)


# --- plain words ---


async def _check_reference(check: _Verification, text: str, urls: list[str]) -> None:
    """Fills in what the indexes have for a reference in plain words, and whether it is what its address leads to."""
    reference = parse_reference(text)
    search = await find_by_reference(check.context, reference)
    check.note(*search.trail)
    status, reason = _judge_search(search)
    check.tell(
        match_confidence=search.confidence,
        exists=search.confidence == "high",
        title_match=search.match.title.verdict if search.match is not None else "not_checked",
        verification_status=status,
        status_reason=reason,
    )
    await _check_found(check, search)
    if not urls:
        return
    link = (await check_links(check.context, urls[:1]))[0]
    reading = None
    if not check.citation.exists and link.readable:
        link, reading = await _read_link(check.context, link)
    _tell_liveness(check, link)
    if not check.citation.exists:
        _tell_page(check, reference, link, reading)
    check.addresses = [*link.readable, *check.addresses]
    check.reading = reading if reading is not None and reading.page is not None else None


async def _check_found(check: _Verification, search: RegistrySearch) -> None:
    """Fills in what the registries know of the work that a search found."""
    if search.work is None:
        return
    exact = search.work
    check.tell(comparison=tell_match(search.match) if search.match is not None else [])
    if search.work.doi:
        standing = await find_by_doi(check.context, search.work.doi)
        check.note(*standing.trail)
        check.tell(retraction_status=standing.notice)
        # The registry's own record comes before that of a search.
        exact = standing.work or exact
    if search.confidence != "high":
        check.tell(possible_match=search.work.to_json())
        return
    check.tell(matched_record=exact.to_json())
    if check.citation.retraction_status is None and is_called_retracted(exact.title):
        check.warn(CALLED_RETRACTED)
    check.addresses = find_addresses(exact, exact.doi)


def _judge_search(search: RegistrySearch) -> tuple[Status, str | None]:
    """The status of a reference in plain words, and why it is not confirmed."""
    if search.confidence == "high":
        return "confirmed", None
    if search.confidence in ("medium", "low"):
        others = [one.field for one in search.match.judgements if one.verdict == "mismatch"] if search.match else []
        differing = f": it differs in {' and '.join(others)}, see comparison" if others else ""
        return "uncertain", f"the nearest record matches with confidence {search.confidence} only{differing}"
    if search.obstacle:
        return "unchecked", search.obstacle
    silent = f"; {' and '.join(search.failed)} could not be asked" if search.failed else ""
    # What a few have not does not tell what most would have had.
    if len(search.failed) > len(search.answered):
        return "unchecked", f"nothing like it is in {' and '.join(search.answered)}{silent}"
    return "not_found", f"no index that was asked has a work like it{silent}"


# --- pages: whether they answer, whose articles they are, and whether they are what was cited ---


async def _check_address(check: _Verification, url: str, *, wanted: bool) -> None:
    """Fills in what is known of an address; the page is read once, for its own DOI and for the claim."""
    link = (await check_links(check.context, [url]))[0]
    if link.live is None:
        raise Fault("validation", link.reason)
    labels = classify(url)
    scholarly = labels.source_type == "peer_reviewed" or labels.domain_category == "academic"
    if link.readable and (wanted or scholarly or bool(link.live and not link.blocked)):
        link, check.reading = await _read_link(check.context, link)
    status, reason = _judge_link(link)
    check.tell(title_match="not_checked", exists=bool(link.live), verification_status=status, status_reason=reason)
    _tell_liveness(check, link)
    check.addresses = link.readable
    if check.reading is None:
        return
    page = check.reading.page
    if page is None:
        check.note(f"page: it could not be read ({check.reading.error})")
        return
    check.note(f"page: {check.reading.url} was read by {page.get('extractedBy') or 'the reader'}")
    if doi := str(page.get("detectedDoi") or "") or (find_doi(url) if scholarly else ""):
        await _check_article(check, doi, page.get("metadata") or {})


async def _read_link(context: Context, link: LinkCheck) -> tuple[LinkCheck, SourceReading]:
    """The page of a link, and the link as it is when the page was read: many servers answer a missing page with 200.

    What says of itself that it is not there makes the link dead, and its archived copy is read in its place.
    """
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


async def _check_article(check: _Verification, doi: str, metadata: Mapping[str, Any]) -> None:
    """Fills in what the registries know of the DOI that a scholarly page declares as its own."""
    standing = await find_by_doi(check.context, doi)
    title = str(metadata.get("title") or "")
    check.note(f"doi: the page declares {doi} as its own", *standing.trail)
    check.tell(
        detected_doi=doi,
        retraction_status=standing.notice,
        conflict_of_interest=find_conflict(str(metadata.get("author") or ""), f"{title}. {check.citation.input}"),
    )
    if standing.work is not None:
        match = match_fields(standing.work.record, title=title)
        check.tell(
            matched_record=standing.work.to_json(),
            match_confidence="high",
            title_match=match.title.verdict,
            comparison=tell_match(match),
        )


def _tell_liveness(check: _Verification, link: LinkCheck) -> None:
    status = link.to_status()
    check.tell(
        link=Liveness(
            link_live=status.link_live,
            http_status=status.http_status,
            archived_url=status.archived_url,
            archived_at=status.archived_at,
        )
    )
    state = "was not looked at" if link.live is None else "answers" if link.live else "is dead"
    reason = f" ({link.reason})" if link.reason else ""
    check.note(f"link: {link.url} {state}, status {link.status}{reason}")
    if link.blocked:
        check.note("link: the server is there and refuses programs, so the link is not dead")
    if link.live is False:
        check.note(f"archive: {link.archived or 'no archived copy was found'}")


def _judge_link(link: LinkCheck) -> tuple[Status, str | None]:
    """The status of an address that is a citation by itself, and why it is not confirmed."""
    if link.live:
        return "confirmed", None
    copy = f"; it was there when it was archived: {link.archived}" if link.archived else ""
    # Without an answer nobody has said that the page is not there.
    status: Status = "not_found" if link.status else "unchecked"
    return status, f"{link.reason or f'the server answers with status {link.status}'}{copy}"


def _tell_page(check: _Verification, reference: Reference, link: LinkCheck, reading: SourceReading | None) -> None:
    """Fills in whether the page at the address of a reference is what it names.

    That some page answers there says nothing of the work: its title has to be that of the reference. A page that could
    not be read leaves the reference uncertain, and one with another title does as well.
    """
    status, why = check.citation.verification_status, check.citation.status_reason
    if not link.readable:
        # Pages are in no index, so that only their servers can say that they are not there.
        if not link.status and status == "not_found":
            why = f"{why}; its address was not seen to answer ({link.reason})"
            check.tell(verification_status="unchecked", status_reason=why)
        return
    page = reading.page if reading is not None else None
    title = str((page.get("metadata") or {}).get("title") or "") if page is not None else ""
    where = "its address" if link.live else "the archived copy of its address"
    # A page has the name of its site beside its title.
    titles = cut_title(title)
    if reference.title:
        is_titled = any(find_sameness(reference.title, each) for each in titles)
    else:
        is_titled = bool(find_inside(reference.text, titles, [name.family for name in reference.authors]))
    if title and is_titled:
        check.note(f"page: {where} leads to {title[:200]!r}, which the reference names")
        check.tell(**_CONFIRMED, title_match="match")
        return
    seen = f"{where} leads to {title[:200]!r}" if title else f"{where} leads to a page whose title could not be read"
    check.note(f"page: {seen}")
    check.tell(
        verification_status="uncertain" if status in ("not_found", "unchecked") else status,
        status_reason="; ".join(filter(None, (why, f"{seen}, not certainly the work cited"))),
    )
