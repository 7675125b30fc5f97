"""What a claim is held against where the page of its source is closed: the stored PDF, else an abstract.

An abstract leaves out most of a work, so that what it lacks says nothing: from one, no claim counts as not addressed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from specloom.core import Fault, dataclass
from specloom.domains.text import to_plain
from specloom.domains.text.outline import find_pages
from specloom.plugins import Context

from ..citations.aside import run_aside
from ..records import ClaimBasis, ClaimCheck
from .coverage import FEW_WORDS, LONGEST_CLAIM, ClaimEvidence, SourceReading, assess, judge_claim, to_check

LEAST_WORDS: Final = 12
"""A text of fewer words is no abstract."""


@dataclass(frozen=True, slots=True)
class WorkInHand:
    """By what a work is found in the store, and the abstract of its record with who gave it."""

    doi: str = ""
    arxiv: str = ""
    abstract: str = ""
    provider: str = ""


async def weigh_claim(context: Context, claim: str, reading: SourceReading, work: WorkInHand) -> ClaimEvidence:
    """What a source has of a claim: its page, and where that is closed or thin what is in hand of the work."""
    evidence = judge_claim(claim, reading)
    is_closed = evidence.check.claim_support == "source_unavailable"
    if not is_closed and (evidence.words is None or evidence.words >= FEW_WORDS):
        return evidence
    stored = await _find_stored(context, work)
    claim = claim.strip()[:LONGEST_CLAIM]
    if stored.get("kind") == "stored_pdf":
        address = str(stored["address"])
        told = await run_aside(context, _judge_pages, claim, str(stored["text"]), address)
        return _with_error(told, evidence)
    abstracts: tuple[tuple[ClaimBasis, str, str], ...] = (
        ("stored_abstract", str(stored.get("abstract") or ""), str(stored.get("address") or "")),
        ("record_abstract", work.abstract, f"https://doi.org/{work.doi}" if work.doi else ""),
    )
    for basis, abstract, address in abstracts:
        if is_closed and len(abstract.split()) >= LEAST_WORDS:
            return _with_error(_judge_abstract(claim, abstract, basis, address, work.provider), evidence)
    return evidence


async def _find_stored(context: Context, work: WorkInHand) -> Mapping[str, Any]:
    if not work.doi and not work.arxiv:
        return {}
    try:
        return await context.run("stored_text", {"doi": work.doi, "arxiv": work.arxiv})
    except Fault as fault:
        context.notice(f"The paper store was not looked at for this claim: {fault.message}")
        return {}


def _judge_pages(claim: str, text: str, address: str) -> ClaimEvidence:
    """What the text of a PDF has of a claim, and on which page the sentence stands that has most of it."""
    pages = [(page.number, _without_mark(text[page.start : page.end])) for page in find_pages(text)] or [(0, text)]
    coverage = assess(claim, "\n\n".join(page for _, page in pages))
    signal = " ".join(coverage.signal.split())
    page = next((number for number, told in pages if signal and signal in " ".join(told.split())), 0)
    check = to_check(claim, coverage, address)
    return ClaimEvidence(replace(check, claim_basis="stored_pdf", claim_page=page or None))


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
