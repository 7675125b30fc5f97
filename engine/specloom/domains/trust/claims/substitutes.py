"""What a claim is held against where the page of its source is closed or silent: the stored PDF, else an abstract.

An abstract leaves out most of a work, so that what it lacks says nothing: from one, no claim counts as not addressed.
Nor does one from a PDF of which only a part was read, or that has so few words as a cover sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from specloom.core import Fault, dataclass
from specloom.domains.text import to_plain
from specloom.domains.text.outline import find_pages
from specloom.plugins import Context

from ..citations.aside import run_aside
from ..records import ClaimBasis, ClaimCheck
from .coverage import (
    FEW_WORDS,
    LABELS,
    LONGEST_CLAIM,
    LONGEST_TEXT,
    ClaimEvidence,
    Coverage,
    SourceReading,
    assess,
    judge_claim,
    to_check,
    to_evidence,
    without_references,
)

LEAST_WORDS: Final = 12
"""A text of fewer words is no abstract."""
MOST_WINDOWS: Final = 12
"""Windows of the pages of a PDF that are compared with a claim; each may take a second."""


@dataclass(frozen=True, slots=True)
class WorkInHand:
    """By what a work is found in the store, and the abstract of its record with who gave it."""

    doi: str = ""
    arxiv: str = ""
    abstract: str = ""
    provider: str = ""


async def weigh_claim(context: Context, claim: str, reading: SourceReading, work: WorkInHand) -> ClaimEvidence:
    """What a source has of a claim: its page, and where that is closed, thin or silent what is in hand of the work."""
    evidence = judge_claim(claim, reading)
    is_closed = evidence.check.claim_support == "source_unavailable"
    if not is_closed and (evidence.words is None or evidence.words >= FEW_WORDS):
        if evidence.check.claim_support == "not_addressed" and len(work.abstract.split()) >= LEAST_WORDS:
            # The page of a work need not have its abstract, and what that says is not "not addressed".
            claim = claim.strip()[:LONGEST_CLAIM]
            told = _judge_abstract(claim, work.abstract, "record_abstract", _record_address(work), work.provider)
            return told if told.check.claim_support != "source_unavailable" else evidence
        return evidence
    stored = await _find_stored(context, work)
    claim = claim.strip()[:LONGEST_CLAIM]
    if stored.get("kind") == "stored_pdf":
        address = str(stored["address"])
        told = await run_aside(
            context, _judge_pages, claim, str(stored["text"]), address, is_cut=bool(stored.get("isCut"))
        )
        # A page that speaks of the claim says more than a cover sheet that does not.
        is_less = told.check.claim_support == "source_unavailable"
        if is_less and evidence.check.claim_support in ("addressed", "partially_addressed"):
            return evidence
        return _with_error(told, evidence)
    abstracts: tuple[tuple[ClaimBasis, str, str], ...] = (
        ("stored_abstract", str(stored.get("abstract") or ""), str(stored.get("address") or "")),
        ("record_abstract", work.abstract, _record_address(work)),
    )
    for basis, abstract, address in abstracts:
        if is_closed and len(abstract.split()) >= LEAST_WORDS:
            return _with_error(_judge_abstract(claim, abstract, basis, address, work.provider), evidence)
    return evidence


def _record_address(work: WorkInHand) -> str:
    return f"https://doi.org/{work.doi}" if work.doi else ""


async def _find_stored(context: Context, work: WorkInHand) -> Mapping[str, Any]:
    if not work.doi and not work.arxiv:
        return {}
    try:
        return await context.run("stored_text", {"doi": work.doi, "arxiv": work.arxiv})
    except Fault as fault:
        context.notice(f"The paper store was not looked at for this claim: {fault.message}")
        return {}


def _judge_pages(claim: str, text: str, address: str, *, is_cut: bool) -> ClaimEvidence:
    """What the text of a PDF has of a claim, and on which page the sentence stands that has most of it."""
    pages = [(page.number, _without_mark(text[page.start : page.end])) for page in find_pages(text)] or [(0, text)]
    windows = _to_windows(_without_references([page for _, page in pages]))
    compared = [assess(claim, window, is_part=True) for window in islice(windows, MOST_WINDOWS)]
    is_cut = is_cut or next(windows, None) is not None
    coverage, words = _find_best(compared), max(each.words for each in compared)
    if coverage.label == "not_addressed" and (is_cut or words < FEW_WORDS):
        what = "was read in part only" if is_cut else f"has only {words} words"
        lacking = f"the stored PDF {what} and does not speak of it there, which the whole text may: {coverage.reason}"
        check = ClaimCheck(claim=claim, claim_support="source_unavailable", claim_reason=lacking)
        return to_evidence(replace(check, claim_basis="stored_pdf", claim_source_url=address), words)
    signal = " ".join(coverage.signal.split())
    page = next((number for number, told in pages if signal and signal in " ".join(told.split())), 0)
    check = to_check(claim, coverage, address)
    return to_evidence(replace(check, claim_basis="stored_pdf", claim_page=page or None), words)


def _find_best(compared: Sequence[Coverage]) -> Coverage:
    """The window that has most of a claim, with the quotations that any of them has."""

    def rank(coverage: Coverage) -> tuple[bool, int, int, float]:
        quoted = sum(quotation.found for quotation in coverage.quotations)
        return coverage.label != LABELS[-1], quoted, -LABELS.index(coverage.label), coverage.coverage

    best = max(compared, key=rank)
    # Each window tells of the same quotations in the same order.
    same = zip(*(coverage.quotations for coverage in compared), strict=True)
    quotations = tuple(next((each for each in several if each.found), several[0]) for several in same)
    return replace(best, quotations=quotations)


def _to_windows(pages: Sequence[str]) -> Iterator[str]:
    """Pages in a row that are compared at once; a window begins with the last page of the one before."""
    most = LONGEST_TEXT // 4
    parts = [page[at : at + most] for page in pages for at in range(0, max(len(page), 1), most)]
    window: list[str] = []
    size = 0
    for part in parts:
        if size + len(part) > LONGEST_TEXT:
            yield "\n\n".join(window)
            window = window[-1:]
            size = sum(map(len, window)) + 2
        window.append(part)
        size += len(part) + 2
    yield "\n\n".join(window)


def _without_references(pages: Sequence[str]) -> list[str]:
    left = len(without_references("\n\n".join(pages)))
    kept = []
    for page in pages:
        if left <= 0:
            break
        kept.append(page[:left])
        left -= len(page) + 2
    return kept


def _without_mark(page: str) -> str:
    return to_plain(page.partition("\n")[2])


def _judge_abstract(claim: str, abstract: str, basis: ClaimBasis, address: str, provider: str) -> ClaimEvidence:
    coverage = assess(claim, abstract)
    check = to_check(claim, coverage, address)
    whose = "stored abstract" if basis == "stored_abstract" else f"abstract that {provider or 'the record'} has"
    if coverage.label == "not_addressed":
        lacking = f"the {whose} does not speak of it, which the whole text may: {coverage.reason}"
        check = ClaimCheck(claim=claim, claim_support="source_unavailable", claim_reason=lacking)
    else:
        check = replace(check, claim_reason=f"{coverage.reason}; only the {whose} was read")
    return ClaimEvidence(replace(check, claim_basis=basis, claim_source_url=address or None))


def _with_error(told: ClaimEvidence, page: ClaimEvidence) -> ClaimEvidence:
    """The evidence of what is in hand, with what stood in the way of the page."""
    return replace(told, check=replace(told.check, claim_fetch_error=page.check.claim_fetch_error))
