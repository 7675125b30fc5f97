"""Whether rows that break at the same places are a table, or only look like one.

A table has numbers in a column, lines across it, or short words in every place. What looks alike and is none: long
cells, tables of contents, lists with their marks, forms, formulas, code, names set side by side. The figures were
set by hand on some two hundred pages of public test files with and without tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from .text import Word, is_number, to_text

_LEAST_ROWS: Final = 3
# Shares: of the rows that break, of the places that are filled, and of those of a table of words alone.
_LEAST_BROKEN: Final = 0.5
_LEAST_FILLED: Final = 0.5
_FULL: Final = 0.8
# Words: of a long cell, on the average in first cells and in others; and the share of long ones.
_LONG: Final = 9
_MOST_FIRST: Final = 8
_MOST_WORDS: Final = 4.0
_MOST_LONG: Final = 0.15
# Of the numbers of a column, how many end (or begin) at one place, within so many sizes.
_ALIGNED: Final = 0.7
_NEAR: Final = 0.6

_DOTS: Final = re.compile(r"(?<![.·…_])(?<![.·…_] )(?:[.·…_] ?){4,}+$|^(?:[.·…] ?){4,}")
_DOTTED: Final = 40
_MARK: Final = re.compile(
    r"(?:[•◦▪▸‣●○■–—*§-]|\(?[0-9]{1,3}[.):]|\[[^\]\s]{1,8}\]|\(?[a-zA-Z][.)]|\(?[ivxIVX]{1,5}[.)]|[0-9]{1,3})"
)
_SECTION: Final = re.compile(r"[0-9A-Z]{1,2}(?:\.[0-9]{1,2})*\.?|[IVX]+\.?|")
_PAGE: Final = re.compile(r"([0-9]{1,4})[a-z]?")
_ROMAN: Final = re.compile(r"[ivxlc]+")
# A letter or a sign that stands alone, as in formulas and drawings.
_SIGN: Final = re.compile(r"[^\W\d]|[.,:;()\[\]{}=+*·…\s]+|[^\w\s\-−–—×✓✗✔●○$€£%]")
_FIELD: Final = re.compile(r".*:|_+|[☐☑☒□❏]")
_CODE: Final = re.compile(r"[{};]|=|\(\)|//|/\*|->|#")


def is_table(cells: Sequence[Sequence[Sequence[Word]]], *, is_ruled: bool, is_fixed: Callable[[int], bool]) -> bool:
    """Whether rows of cells that stand below each other are a table; `is_ruled`, that lines run across them.

    `is_fixed` tells whether the letter at an index is of a font for code.
    """
    rows = [row for row in cells if sum(map(bool, row)) > 1]
    if len(rows) < max(_LEAST_ROWS, _LEAST_BROKEN * len(cells)):
        return False
    width = len(cells[0])
    texts = [list(map(to_text, row)) for row in rows]
    filled = [text for row in texts for text in row if text]
    if len(filled) < _LEAST_FILLED * len(rows) * width or _is_wordy(texts):
        return False
    if _is_other(texts, filled, width) or _is_code(rows, texts, is_fixed):
        return False
    columns = list(zip(*rows, strict=True))
    names = list(zip(*texts, strict=True))
    numeric = [at for at in range(1, width) if _is_numeric(names[at])]
    if len(numeric) > 1 and len({names[at] for at in numeric}) == 1:  # as the lines of a form are numbered
        return False
    if any(_is_aligned(columns[at]) for at in numeric):
        return width > 2 or is_ruled or len(rows) > _LEAST_ROWS
    # Words alone: short ones in every place, each column set at one edge.
    is_full = len(filled) >= _FULL * len(rows) * width and sum(len(text.split()) for text in filled) <= 3 * len(filled)
    return is_ruled or (width > 2 and len(rows) > _LEAST_ROWS and is_full and all(map(_is_aligned, columns)))


def is_form(texts: Sequence[str], most: float) -> bool:
    """Whether more than this share of cells ask for something: `Name:`, a line to write on, a box to tick."""
    return sum(1 for text in texts if _FIELD.fullmatch(text)) > most * len(texts)


def _is_wordy(texts: Sequence[Sequence[str]]) -> bool:
    """Whether cells say too much; the first of a row may say more than others."""
    counts = [[len(text.split()) for text in row] for row in texts]
    filled = [count for row in counts for count in row if count]
    first = [row[0] for row in counts if row[0]]
    inner = [count for row in counts for count in row[1:] if count]
    return (
        sum(count >= _LONG for count in filled) > _MOST_LONG * len(filled)
        or sum(inner) > _MOST_WORDS * len(inner)
        or sum(first) > _MOST_FIRST * max(len(first), 1)
    )


def _is_numeric(texts: Sequence[str]) -> bool:
    """Whether most cells of a column that say something say a number."""
    filled = [text for text in texts if text]
    return len(filled) >= 2 and sum(map(is_number, filled)) >= 0.6 * len(filled)


def _is_aligned(cells: Sequence[Sequence[Word]]) -> bool:
    """Whether most cells of a column begin, end or have their middle near one place."""
    filled = [cell for cell in cells if cell]
    lefts = [cell[0].left for cell in filled]
    rights = [max(word.right for word in cell) for cell in filled]
    for places in (lefts, rights, [(one + two) / 2 for one, two in zip(lefts, rights, strict=True)]):
        middle = sorted(places)[len(places) // 2] if places else 0.0
        near = sum(1 for at in places if abs(at - middle) <= _NEAR * filled[0][0].size)
        if near >= _ALIGNED * len(places):
            return True
    return False


def _is_other(texts: Sequence[Sequence[str]], filled: Sequence[str], width: int) -> bool:
    """Whether rows are those of contents, a list with marks, a form, a formula, or names with addresses."""
    if width == 2 and sum(1 for row in texts if _MARK.fullmatch(row[0])) > 0.5 * len(texts):
        return True
    if _is_contents(texts, width):
        return True
    signs = sum(1 for text in filled if _SIGN.fullmatch(text))
    return is_form(filled, 0.3) or signs > 0.2 * len(filled) or any("@" in text for text in filled)


def _is_contents(texts: Sequence[Sequence[str]], width: int) -> bool:
    """Whether rows end with numbers of pages: those that never fall, or that dots lead to."""
    dotted = sum(1 for row in texts if any(_DOTS.search(text[-_DOTTED:]) for text in row))
    if width <= 3 and dotted > 0.3 * len(texts):
        return True
    if width > 3 or (width == 3 and sum(1 for row in texts if _SECTION.fullmatch(row[0])) < 0.6 * len(texts)):
        return False
    ends = [row[-1] for row in texts if row[-1]]
    pages = [int(match[1]) for text in ends if (match := _PAGE.fullmatch(text))]
    roman = sum(1 for text in ends if _ROMAN.fullmatch(text))
    return len(pages) + roman >= 0.7 * len(texts) and all(one <= two for one, two in pairwise(pages))


def _is_code(
    rows: Sequence[Sequence[Sequence[Word]]], texts: Sequence[Sequence[str]], is_fixed: Callable[[int], bool]
) -> bool:
    """Whether rows are set as code is, or have its signs."""
    signs = sum(1 for row in texts if any(_CODE.search(text) for text in row))
    if signs > 0.5 * len(texts):
        return True
    firsts = [next(cell[0].start for cell in row if cell) for row in rows]
    return sum(map(is_fixed, firsts)) > 0.5 * len(firsts) and signs > 0.2 * len(texts)
