"""Whether the source that a claim is cited from speaks of it: the source is read, and what it says is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specloom.faults import KINDS, Fault
from specloom.trust.coverage import LONGEST_CLAIM, assess
from specloom.trust.plain import to_plain

if TYPE_CHECKING:
    from specloom.desk import Desk

LONGEST_PAGE = 50_000
"""Bytes of a source that are read for a claim (the tool contract's figure)."""
FEW_WORDS = 150
"""Below so many words a source is thin (the tool contract's figure)."""
_MOST_CUES = 5
_LONGEST_ERROR = 200
_NOTE = (
    "The source has only {words} words, which may be a notice or an abstract: what it lacks, the whole text may have."
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A source as it was read: the record of the page, None where no address could be, and what stood in the way."""

    page: Mapping[str, Any] | None
    url: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Grounds:
    """What a source has of a claim: the contract's label, and everything that it rests on."""

    label: str
    told: dict[str, Any] = field(default_factory=dict)
    thin: bool = False


async def read_first(desk: Desk, urls: Sequence[str]) -> Reading:
    """The first of some addresses that can be read."""
    error, tried = "", ""
    for url in urls:
        tried = url
        try:
            page = await desk.run("read_page", {"url": url, "mode": "full", "max_length": LONGEST_PAGE})
        except Fault as fault:
            error = error or f"{KINDS[fault.kind].wire}: {fault.message}"[:_LONGEST_ERROR]
            continue
        if str(page.get("content") or "").strip():
            return Reading(page, url)
        error = error or "content_empty: the page has no text"
    return Reading(None, tried, error)


async def check_claim(desk: Desk, claim: str, urls: Sequence[str]) -> Grounds:
    """What the first readable of some addresses has of a claim."""
    return judge_claim(claim, await read_first(desk, urls))


def judge_claim(claim: str, reading: Reading) -> Grounds:
    """What a source that was read has of a claim; `source_unavailable` where none was.

    The page is Markdown: its marks and the addresses of its links are no words of it.
    """
    claim = claim.strip()[:LONGEST_CLAIM]
    if reading.page is None:
        told: dict[str, Any] = {"claim": claim, "claimSupport": "source_unavailable"}
        if reading.error:
            told["claimFetchError"] = reading.error
        return Grounds("source_unavailable", told)
    found = assess(claim, to_plain(str(reading.page["content"])))
    thin = found.words < FEW_WORDS
    told = {
        "claim": claim,
        "claimSupport": found.label,
        "claimCoverage": found.coverage,
        "claimReason": found.reason,
        "claimEvidence": list(found.evidence),
        "claimSourceUrl": str(reading.page.get("url") or reading.url),
        "contrastSignal": True if found.contrast else None,
        "contrastCues": [
            {
                name: value
                for name, value in (
                    ("kind", cue.kind),
                    ("words", cue.words),
                    ("claimed", cue.claimed),
                    ("found", cue.found),
                    ("sentence", cue.sentence),
                )
                if value
            }
            for cue in found.cues[:_MOST_CUES]
        ]
        or None,
        "contrastNote": found.cue_note or None,
        "contentWords": found.words if thin else None,
        "sparsityNote": _NOTE.format(words=found.words) if thin else None,
    }
    return Grounds(found.label, {name: value for name, value in told.items() if value is not None}, thin)
