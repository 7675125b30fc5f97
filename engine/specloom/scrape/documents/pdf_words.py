"""The words of a PDF page with their places, and the rows that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

# Words whose base lines differ by less than this many of their sizes stand in one row; a raised figure is among them.
_SAME_ROW: Final = 0.45
_NUMBER: Final = re.compile(
    r"[(<>≤≥~±+\-−–$€£¥]*\s?(?:[A-Z]{2,3}\s)?[$€£¥]?\d[\d.,:'’/ \u00a0\-–−±×+]*"
    r"(?:%|‰|[a-z]{1,2}\b)?(?:\s?\([\d.,%±\s–-]+\))?[)*†‡§]*"
    r"|[-−–—]+|\.{2,3}|n/?a\.?|[×✓✗✔●○]",
    re.IGNORECASE,
)
_LONGEST_NUMBER: Final = 60


@dataclass(frozen=True, slots=True)
class Word:
    """A word: its letters' indexes, the number of its line, its edges and base line in points, and its size."""

    text: str
    start: int
    end: int
    line: int
    left: float
    right: float
    base: float
    size: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its rows of as many cells each, and the words of every cell in the order of the file."""

    rows: tuple[tuple[tuple[Word, ...], ...], ...]

    @property
    def width(self) -> int:
        """How many columns it has."""
        return len(self.rows[0]) if self.rows else 0

    @property
    def words(self) -> list[Word]:
        return [word for row in self.rows for cell in row for word in cell]


def to_rows(words: Iterable[Word]) -> list[list[Word]]:
    """Words by the rows that they stand in, from the top; in each from the left."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda each: -each.base):
        if rows and rows[-1][0].base - word.base < _SAME_ROW * min(rows[-1][0].size, word.size):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [sorted(row, key=lambda each: (each.left, each.start)) for row in rows]


def to_text(words: Iterable[Word]) -> str:
    """What some words say."""
    return " ".join(word.text for word in words)


def is_number(text: str) -> bool:
    """Whether a cell says a number, or that there is none."""
    return len(text) <= _LONGEST_NUMBER and bool(_NUMBER.fullmatch(text))


def to_table(cells: Sequence[Sequence[Sequence[Word]]]) -> Table:
    """A table of the rows that have a word, and of the columns: two that no row has words in both of are one."""
    rows = [row for row in cells if any(row)]
    columns: list[list[list[Word]]] = []
    for at in range(max(map(len, rows), default=0)):
        column = [list(row[at]) if at < len(row) else [] for row in rows]
        if columns and not any(one and two for one, two in zip(columns[-1], column, strict=True)):
            columns[-1] = [one or two for one, two in zip(columns[-1], column, strict=True)]
        else:
            columns.append(column)
    return Table(
        tuple(
            tuple(tuple(sorted(cell, key=lambda each: each.start)) for cell in row)
            for row in zip(*columns, strict=True)
        )
    )
