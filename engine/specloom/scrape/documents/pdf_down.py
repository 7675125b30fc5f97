"""The order of lines that run down a PDF page, of Chinese and Japanese or of a page lying on its side: from the right.

The reader of the file gives them from the left, as those of a text that runs up the page are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Final

from specloom.scrape.documents.pdf_lines import HYPHEN, Line

Placed = tuple[Line, int, int]
"""A line of a page with the indexes of its letters."""

# In sizes of letters: how far a line runs down at least, how far aside at most, and how far for each letter at least.
_DOWN: Final = 2.5
_ASIDE: Final = 2.0
_EACH: Final = 0.3


def order_down(lines: Sequence[Placed]) -> list[Placed]:
    """The lines of a page, those next to each other that run down it from the right, one band of them after another."""
    found: list[Placed] = []
    for is_down, group in groupby(lines, lambda each: _runs_down(each[0])):
        run = list(group)
        rising = sum(1 if two[0].left > one[0].left else -1 for one, two in pairwise(run))
        found += [line for band in _to_bands(run) for line in band] if is_down and rising > 0 else run
    return found


def _runs_down(line: Line) -> bool:
    length = line.top - line.bottom
    return (
        length > _DOWN * line.size
        and length > _EACH * line.size * len(line.text)
        and abs(line.right - line.left) < _ASIDE * line.size
        and HYPHEN not in line.text
    )


def _to_bands(lines: Sequence[Placed]) -> list[list[Placed]]:
    """Lines that stand beside each other, from the right; the bands from the top."""
    bands: list[list[Placed]] = []
    bottom = 0.0
    for each in sorted(lines, key=lambda each: -each[0].top):
        line = each[0]
        if bands and line.top - line.size > bottom:
            bands[-1].append(each)
            bottom = min(bottom, line.bottom)
        else:
            bands.append([each])
            bottom = line.bottom
    return [sorted(band, key=lambda each: -each[0].left) for band in bands]
