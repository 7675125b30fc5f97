"""What is compared when a citation is held against a record, and what each comparison says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from specloom.trust.bibliography.names import Name

Verdict = Literal["match", "mismatch", "not_checked"]
Confidence = Literal["high", "medium", "low", "none"]


@dataclass(frozen=True, slots=True)
class Record:
    """A work as a registry describes it. `titles` holds every title it has: main, with subtitle, original, translated.

    `years` are all years that it was issued in (online, print), `venues` every name of its journal or series.
    """

    titles: tuple[str, ...] = ()
    authors: tuple[Name, ...] = ()
    years: tuple[int, ...] = ()
    venues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """One comparison: `field`, the verdict, what was supplied and recorded, and in words why.

    `partial` says that a match rests on a part of what was supplied or recorded, which another field has to bear out.
    """

    field: str
    verdict: Verdict
    supplied: str
    recorded: str
    reason: str
    partial: bool = False
