"""Rows of a table that lines part from each other, and whose cells go on in the lines of text below them.

Lines across a table part single rows, or groups of them. They part rows where a cell that stands on one line is beside
one that goes on, and no column has two numbers between two lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specloom.scrape.documents.pdf_words import Word, is_number, to_text

Cells = Sequence[Sequence[Word]]

_LEAST_BANDS: Final = 3
_MOST_LINES: Final = 8
"""Lines of text of the highest row."""
_CLEAR: Final = 0.6
"""Of the bands of several lines, how many have to show that they are one row."""


def join_bands(rows: Sequence[Cells], bases: Sequence[float], lines: Sequence[float]) -> list[list[list[Word]]] | None:
    """The rows with those joined that no line parts; None where lines part groups of rows, or every line of text.

    `bases` are the base lines of the rows, and `lines` the places of lines across them, both in points from below.
    """
    bands: list[list[Cells]] = []
    last = -1
    for row, base in zip(rows, bases, strict=True):
        above = sum(at > base for at in lines)
        if above != last:
            bands.append([])
        last = above
        bands[-1].append(row)
    long = [band for band in bands if len(band) > 1]
    if len(bands) < _LEAST_BANDS or not long or max(map(len, long)) > _MOST_LINES:
        return None
    # What stands between the first two lines is the head, whose words may be set in any way.
    body = [band for band in bands[1:] if len(band) > 1]
    if any(map(_has_numbers, body)) or sum(map(_is_clear, long)) < _CLEAR * len(long):
        return None
    return [[[word for row in band for word in row[at]] for at in range(len(band[0]))] for band in bands]


def _has_numbers(band: Sequence[Cells]) -> bool:
    """Whether a column has a number on two lines: then each is a row."""
    return any(sum(is_number(to_text(cell)) for cell in column if cell) > 1 for column in zip(*band, strict=True))


def _is_clear(band: Sequence[Cells]) -> bool:
    """Whether one column has a single line, and another goes on."""
    counts = [sum(map(bool, column)) for column in zip(*band, strict=True)]
    return 1 in counts and max(counts) > 1
