"""The check of one citation as a report to hand in: what was checked, what was found and by whom, and what was not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from specloom import __version__

from ..records import Citation
from ..reports.document import (
    Line,
    ReportBlock,
    ReportDocument,
    ReportFacts,
    ReportPart,
    ReportTable,
    join,
    link,
    own,
    quote,
    quote_whole,
)
from .audit_report import (
    DIGESTED,
    LEAD,
    STATUS,
    RegisterOutcome,
    find_claim_facts,
    to_asked,
    to_compared_row,
    to_notice,
)

_TITLE: Final = {
    "match": "the title is that of the record",
    "mismatch": "the record has another title",
    "not_checked": "the title was not compared",
}
_Rows = Iterable[tuple[str, tuple[Line, ...]]]


def to_report(
    citation: Citation, asked: Mapping[tuple[str, str], RegisterOutcome], digest: str, checked_at: str
) -> ReportDocument:
    """The report of one citation; `digest` is the SHA-256 of what was handed in, `checked_at` a day with its time."""
    mark = "grave" if _is_grave(citation) else "fine" if citation.exists and not citation.not_checked else "doubt"
    parts = [
        ReportPart("What was checked", (ReportFacts(tuple(_find_input(citation, digest, checked_at))),)),
        ReportPart(
            "Finding", (ReportFacts(tuple(_find_finding(citation))), *_to_comparison(citation.comparison)), 3, mark
        ),
        *_to_records(citation),
        ReportPart("Claim", _to_claim(citation)),
        ReportPart("What was not checked", _to_unchecked(citation)),
        ReportPart("Who was asked", to_asked(asked, ())),
        ReportPart(
            "What this rests on", tuple((quote(line),) for line in citation.provenance) or ((own("Nothing."),),)
        ),
    ]
    lead: tuple[Line, ...] = ((own(f"{LEAD[0]} "), quote(LEAD[1]), own(LEAD[2])),)
    return ReportDocument("Check of a citation", lead, tuple(parts), f"specloom {__version__}, {checked_at}")


def _is_grave(citation: Citation) -> bool:
    notice, check = citation.retraction_status, citation.claim_check
    is_retracted = notice is not None and notice.retracted
    is_missed = check is not None and check.claim_support == "not_addressed"
    is_other = citation.title_match == "mismatch"
    return is_retracted or is_missed or is_other or citation.verification_status == "not_found"


def _find_input(citation: Citation, digest: str, checked_at: str) -> _Rows:
    yield "Citation", quote_whole(citation.input)
    if citation.identifier is not None:
        yield "Read as", ((own(f"{citation.identifier.kind} "), quote(citation.identifier.value)),)
    yield "SHA-256 of the input", ((own(digest),), (own(DIGESTED),))
    yield "Checked", ((own(f"{checked_at} (UTC)"),),)
    yield "Checked by", ((own(f"specloom {__version__}"),),)


def _find_finding(citation: Citation) -> _Rows:
    yield "Existence", ((own(STATUS[citation.verification_status]),),)
    if citation.status_reason:
        yield "Why", ((quote(citation.status_reason),),)
    if citation.title_match is not None:
        yield "Title", ((own(_TITLE[citation.title_match]),),)
    if citation.retraction_status is not None:
        yield "Notice", to_notice(citation.retraction_status)
    if citation.authenticity_caveat:
        yield "To be minded", ((quote(citation.authenticity_caveat),),)
    if citation.detected_doi:
        yield "DOI that the page declares", ((link(f"https://doi.org/{citation.detected_doi}"),),)
    status = citation.link
    if status is not None and status.link_live is not None:
        code = own(f"status {status.http_status}" if status.http_status else "")
        yield "Link", (join([own("it answers" if status.link_live else "dead"), code]),)
        if status.archived_url:
            yield "Archived copy", (join([link(status.archived_url), quote(status.archived_at)]),)
    conflict = citation.conflict_of_interest
    if conflict is not None:
        told = [quote(conflict.author_affiliation), own("speaks of"), quote(conflict.cited_entity_name)]
        yield "An author may have a stake in it", (join(told, " "), (quote(conflict.evidence),))


def _to_comparison(comparison: Iterable[Mapping[str, Any]] | None) -> tuple[ReportTable, ...]:
    rows = tuple(to_compared_row(one) for one in comparison or ())
    head = ("Field", "Verdict", "Given", "Recorded", "Why")
    return (ReportTable("The citation against its record", head, rows),) if rows else ()


def _to_records(citation: Citation) -> Iterable[ReportPart]:
    for title, work in (("Record", citation.matched_record), ("Perhaps meant", citation.possible_match)):
        if work:
            compared = _to_comparison(work.get("comparison")) if title != "Record" else ()
            yield ReportPart(title, (ReportFacts(tuple(_find_work(work))), *compared))


def _find_work(work: Mapping[str, Any]) -> _Rows:
    for label, name in (
        ("Title", "title"),
        ("Year", "year"),
        ("Journal or site", "journal"),
        ("Publisher", "publisher"),
    ):
        if work.get(name):
            yield label, ((quote(work[name]),),)
    if work.get("authors"):
        yield "Authors", ((quote("; ".join(map(str, work["authors"]))),),)
    numbers = [(own(name), quote(work[name])) for name in ("volume", "issue", "pages") if work.get(name)]
    if numbers:
        yield "Numbers", (join([span for pair in numbers for span in pair], " "),)
    if work.get("doi"):
        yield "DOI", ((link(f"https://doi.org/{work['doi']}"),),)
    if work.get("url"):
        yield "Address", ((link(work["url"]),),)
    notice = work.get("retractionStatus")
    if isinstance(notice, Mapping):
        yield "Notice about it", (join([quote(notice.get("kind")), quote(notice.get("date"))]),)
    yield "Register", ((own(work.get("source", "")),),)


def _to_claim(citation: Citation) -> tuple[ReportBlock, ...]:
    rows = tuple(find_claim_facts(citation.claim_check))
    if rows:
        note = ((quote(citation.sparsity_note),),) if citation.sparsity_note else ()
        return (ReportFacts(rows), *note)
    return ((own(f"{(citation.claim_check_skipped_reason or 'none').capitalize()}."),),)


def _to_unchecked(citation: Citation) -> tuple[ReportBlock, ...]:
    rows = [((own(gap["what"]),), (quote(gap["reason"]),)) for gap in citation.not_checked or ()]
    check = citation.claim_check
    if check is not None and check.claim_support == "source_unavailable":
        rows.append(((own("claim"),), (quote(check.claim_fetch_error or check.claim_reason),)))
    if not rows:
        return ((own("Everything that could be checked of it was."),),)
    return (ReportTable("By kind", ("What", "Why"), tuple(rows)),)
