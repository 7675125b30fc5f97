"""The tables of a PDF page: which words are in one, and the lines of the page with the tables in their places.

A table is told by the lines drawn around its cells (`pdf_grid`) or by rows that break at the same places
(`pdf_aligned`); what is not told with confidence stays the text that it is. No word is lost, doubled or changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from specloom.scrape.documents.pdf_aligned import find_aligned, has_gaps
from specloom.scrape.documents.pdf_grid import find_grids
from specloom.scrape.documents.pdf_letters import Letters
from specloom.scrape.documents.pdf_lines import HYPHEN, Line, clean
from specloom.scrape.documents.pdf_rules import read_rules
from specloom.scrape.documents.pdf_words import Table, to_text

Placed = tuple[Line, int, int]
"""A line of a page with the indexes of its letters."""

# A page of more is no page to read tables from.
_MOST_WORDS: Final = 20_000
# What makes it worth to look at the words of a page: lines for a grid or for the head of a table, or rows like its.
_GRID: Final = 2
_RULED: Final = 2
_LEAST_SIGNS: Final = 3
_WIDE: Final = 0.7
_HIGH: Final = 2.0
_BESIDE: Final = 0.5
# Of the words of a grid how many a reading by gaps has to take, to be preferred.
_MOST_OF: Final = 0.8
_NUMBER: Final = re.compile(r"^\S{0,3}[0-9]|[0-9]\S{0,9}$|\s[-–—]$")
_WORD: Final = re.compile(r"\S+")


def find_tables(raw: Any, page: Any, letters: Letters, lines: Sequence[Placed]) -> list[Table]:
    """The tables of an open page of the reader, ruled ones first."""
    turn = letters.find_turn()
    rules = read_rules(raw, page, turn)
    has_rules = min(len(rules.across), len(rules.upright)) >= _GRID or len(rules.across) >= _RULED
    if not has_rules and not turn and not _has_signs(lines):
        return []
    words = letters.words(lines, turn)
    if len(words) > _MOST_WORDS:
        return []
    found: list[Table] = []
    for grid in find_grids(words, rules):
        inside = sorted(grid.words, key=lambda each: each.start)
        # Lines may part only some of the rows or columns.
        aligned = find_aligned(inside, rules, letters.is_fixed, is_whole=True) if has_gaps(grid) else []
        whole = max(aligned, key=lambda each: len(each.words), default=None)
        if whole is not None and len(whole.words) > _MOST_OF * len(inside) and whole.width >= grid.width:
            found.append(whole)
        else:
            found.append(grid)
    taken = {word.start for table in found for word in table.words}
    rest = [word for word in words if word.start not in taken]
    return [*found, *find_aligned(rest, rules, letters.is_fixed)]


def _has_signs(lines: Sequence[Placed]) -> bool:
    """Whether some lines may be rows: with a number at an end, set wide, beside another; or one is several rows."""
    signs = 0
    before: Line | None = None
    for line, start, end in lines:
        if line.top - line.bottom > _HIGH * line.size and HYPHEN not in line.text:
            return True
        is_beside = before is not None and abs(line.bottom - before.bottom) < _BESIDE * line.size
        is_wide = abs(line.right - line.left) > _WIDE * line.size * (end - start)
        signs += is_beside or is_wide or bool(_NUMBER.search(line.text))
        if signs >= _LEAST_SIGNS:
            return True
        before = line
    return False


def place(letters: Letters, lines: Sequence[Placed], tables: Sequence[Table]) -> list[Placed]:
    """The lines with each table in the place of the first line that has a word of it; the other words stay."""
    owners = {word.start: number for number, table in enumerate(tables) for word in table.words}
    if not owners:
        return list(lines)
    placed: list[Placed] = []
    told: set[int] = set()
    for line, start, end in lines:
        found = _WORD.finditer(letters.text, start, end)
        for number, words in groupby(found, key=lambda word: owners.get(word.start())):
            if number is None:
                spans = [word.span() for word in words]
                span = spans[0][0], spans[-1][1]
                placed.append((line if span == (start, end) else letters.line(*span), *span))
            elif number not in told:
                told.add(number)
                placed.append((_to_line(tables[number]), 0, 0))
    return placed


def _to_line(table: Table) -> Line:
    """A table as a line without text, whose cells it has."""
    words = table.words
    rows = tuple(tuple(clean(to_text(cell)) for cell in row) for row in table.rows)
    return Line(
        "",
        min(word.left for word in words),
        max(word.right for word in words),
        max(word.base + 0.7 * word.size for word in words),
        min(word.base - 0.2 * word.size for word in words),
        words[0].size,
        rows,
    )
