"""A list of entries as one text in a named style, the same bytes for the same list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specloom.faults import Fault
from specloom.trust.bibliography.bibtex import to_bibtex
from specloom.trust.bibliography.csl import to_csl
from specloom.trust.bibliography.documents import unique_by_address
from specloom.trust.bibliography.entry import Entry, parse_issued
from specloom.trust.bibliography.keys import assign_keys
from specloom.trust.bibliography.ris import to_ris
from specloom.trust.bibliography.styles import to_apa, to_mla
from specloom.trust.folding import to_latin

STYLES = ("apa", "mla", "bibtex", "ris", "csl-json")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A bibliography: the style, how many entries it has, and the text."""

    style: str
    count: int
    text: str


def render(entries: Sequence[Entry], style: str = "apa", *, accessed: str = "") -> Rendered:
    """The entries in a style of STYLES; those without an address are left out, and of equal addresses the later ones.

    APA and MLA are sorted by how they read, the other formats by key. `accessed` (YYYY-MM-DD) is shown by APA for
    undated pages and by MLA; the interchange formats leave it out, so that they stay the same from day to day. Raises a
    `validation` fault for another style.
    """
    unique = unique_by_address(entries)
    day = parse_issued(accessed)
    seen = day if len(day) == 3 else ()
    match style:
        case "apa":
            text = _join(to_apa(entry, seen) for entry in unique)
        case "mla":
            text = _join(to_mla(entry, seen) for entry in unique)
        case "bibtex":
            text = to_bibtex(assign_keys(unique))
        case "ris":
            text = to_ris(assign_keys(unique))
        case "csl-json":
            text = to_csl(assign_keys(unique))
        case _:
            raise Fault("validation", f"unknown style {style!r}; use one of {', '.join(STYLES)}")
    return Rendered(style, len(unique), text)


def _join(lines: Iterable[str]) -> str:
    return "\n\n".join(sorted(lines, key=lambda line: (to_latin(line).lstrip("\"'\\ "), line)))
