"""What a PubMed identifier stands for: the DOI that NCBI lists for it, by which the paper is resolved and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specloom.faults import Fault

from . import pacing
from .codes import Refusal, from_fault
from .refs import Ref, parse_ref, pubmed_number

if TYPE_CHECKING:
    from specloom.desk import Desk

    from .journal import Journal
    from .metadata import Trace

SOURCE, PROVIDER = "ncbi", "pubmed"


async def to_doi(desk: Desk, ref: Ref, journal: Journal, trace: Trace) -> Ref:
    """The DOI of an article; NOT_FOUND where NCBI has no such article, NOT_IMPLEMENTED where it lists no DOI for it."""
    kind, number = pubmed_number(ref)
    found: Ref | None = None
    refusal: Refusal | None = None
    try:
        async with pacing.turn(SOURCE, live=desk.is_live):
            rows = (await desk.ask("article_identifiers", {kind: number}, provider=PROVIDER)).rows
        found = _parse(ref, rows)
    except Fault as fault:
        refusal = from_fault(fault, absent=_absent(ref))
    except Refusal as refused:
        refusal = refused
    journal.asked(found or ref, SOURCE, refusal=refusal)
    if found is None or refusal is not None:
        assert refusal is not None
        trace.fail(SOURCE, refusal)
        raise refusal
    trace.add(SOURCE, "consulted_resolved")
    return found


def _absent(ref: Ref) -> str:
    return f"{SOURCE} has no article {ref.value}."


def _parse(ref: Ref, rows: list[dict[str, Any]]) -> Ref:
    if not rows:
        raise Refusal("NOT_FOUND", _absent(ref))
    doi = str(rows[0].get("doi") or "")
    if not doi:
        raise Refusal("NOT_IMPLEMENTED", f"{SOURCE} lists no DOI for {ref.value}, and papers are resolved by theirs.")
    try:
        return parse_ref(f"doi:{doi}")
    except Refusal:
        raise Refusal(
            "NOT_IMPLEMENTED", f"{SOURCE} lists {doi[:80]!r} for {ref.value}, a DOI with signs that are not taken here."
        ) from None
