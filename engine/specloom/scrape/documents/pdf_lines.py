"""The lines of a PDF page: their text, where they stand and how large they are set; columns told apart."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

Box = tuple[float, float, float, float]
"""Left, bottom, right and top in points; the origin is the lower left corner of the page."""

# The reader's mark for a hyphen at the end of a line, which it joins to the next.
HYPHEN: Final = "\ufffe"
_LIGATURES: Final = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
)
_UNPRINTED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\u00ad\u200b\ufeff\uffff\ue000-\uf8ff]")
# A hyphen stays before a capital or a digit, and behind a digit or a word with one of its own: MUC-6, Anglo-American.
_KEPT: Final = re.compile(rf"(?:(?<=[0-9A-Z]){HYPHEN}|(?<=-\w){HYPHEN}|{HYPHEN}(?=[0-9A-ZÀ-ÞА-Я]))")

# A gutter is wider than any gap between the words of a justified line, in units of the letters' size.
_GUTTER: Final = 1.1
_LEAST_ROWS: Final = 10
_MOST_GUTTERS: Final = 20
_MOST_TRIED: Final = 400
_LEAST_WORDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page, or a table that stands where a line could: then it has `cells`, by row, and no text.

    `bottom` is that of its last part: the reader joins lines at a hyphen. `is_bold` is said of short lines only.
    """

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float
    cells: tuple[tuple[str, ...], ...] = ()
    is_bold: bool = False


def clean(text: str) -> str:
    """Text as it is meant: hyphens at line ends gone or kept, ligatures as letters, nothing unprintable."""
    if HYPHEN in text:
        text = _KEPT.sub("-", text).replace(HYPHEN, "")
    return " ".join(_UNPRINTED.sub("", text.translate(_LIGATURES)).split())


@dataclass(frozen=True, slots=True)
class Characters:
    """The characters of a page by index: their text, where each stands, how large it is, and the parts of a stretch."""

    text: str
    box: Callable[[int], Box | None]
    size: Callable[[int], float]
    parts: Callable[[int, int], list[Box]]


def part_columns(raw: Sequence[tuple[Line, int, int]], characters: Characters) -> list[Line]:
    """The lines of a page in reading order, when each runs over several columns; as they are otherwise.

    `raw` has every line with the indexes of its characters. A page has columns where most of its long lines break at
    the same places, and what stands between the breaks is prose: a table has short cells.
    """
    long = [(line, start, end) for line, start, end in raw if end - start >= 40]
    if len(long) < _LEAST_ROWS:
        return [line for line, _, _ in raw]
    gaps: list[list[tuple[float, float]]] = []
    for line, start, end in long:
        parts = sorted(characters.parts(start, end))
        breaks = ((one[2], two[0]) for one, two in pairwise(parts))
        gaps.append([(left, right) for left, right in breaks if right - left > _GUTTER * line.size])
    gutters = _find_gutters(gaps)
    if not gutters:
        return [line for line, _, _ in raw]
    rows = [_split(line, start, end, gutters, characters) for line, start, end in raw]
    cells = [part for row in rows if len(row) > 1 for part in row.values()]
    if not cells or sum(len(part.text.split()) for part in cells) / len(cells) < _LEAST_WORDS:
        return [line for line, _, _ in raw]
    return _arrange(rows, len(gutters))


def _find_gutters(gaps: Sequence[Sequence[tuple[float, float]]]) -> list[float]:
    """The places where at least half of the lines have a gap, from the left."""
    open_gaps = [gap for row in gaps for gap in row]
    starts, ends = sorted(start for start, _ in open_gaps), sorted(end for _, end in open_gaps)
    found: list[float] = []
    while open_gaps and len(found) < _MOST_GUTTERS:
        middles = [(start + end) / 2 for start, end in open_gaps[:_MOST_TRIED]]
        # The gaps of one line do not overlap, so as many lines as gaps are open there.
        holders = [bisect_right(starts, middle) - bisect_left(ends, middle) for middle in middles]
        most = max(holders)
        if most < max(_LEAST_ROWS, len(gaps) * 0.5):
            break
        best = middles[holders.index(most)]
        found.append(best)
        open_gaps = [gap for gap in open_gaps if not gap[0] <= best <= gap[1]]
    return sorted(found)


def _split(line: Line, start: int, end: int, gutters: Sequence[float], characters: Characters) -> dict[int, Line]:
    """The parts of a line by column; the whole line under -1 when it runs over a gutter without a break."""
    if line.cells:
        from_, to = (sum(1 for gutter in gutters if edge > gutter) for edge in (line.left, line.right))
        return {to if from_ == to else -1: line}
    columns: dict[int, list[str]] = {}
    edges: dict[int, list[Box]] = {}
    firsts: dict[int, int] = {}
    column, last = -1, None
    is_inside = False
    for index in range(start, end):
        character = characters.text[index]
        if not character.isspace() and (box := characters.box(index)) is not None and box[2] > box[0]:
            middle = (box[0] + box[2]) / 2
            now = sum(1 for gutter in gutters if middle > gutter)
            if last is not None and now != column and (is_inside or 0 <= box[0] - last[2] < 0.7 * line.size):
                return {-1: line}
            column, last = now, box
            firsts.setdefault(now, index)
            edges.setdefault(now, []).append(box)
        is_inside = not character.isspace()
        if column >= 0:
            columns.setdefault(column, []).append(character)
    parts = {}
    for number, written in columns.items():
        left, right = edges[number][0][0], max(box[2] for box in edges[number])
        size = characters.size(firsts[number])
        parts[number] = replace(line, text="".join(written).strip(), left=left, right=right, size=size)
    return parts or {-1: line}


def _arrange(rows: Sequence[dict[int, Line]], gutters: int) -> list[Line]:
    """Column after column, each stretch between lines over the whole width on its own."""
    arranged: list[Line] = []
    columns: list[list[Line]] = [[] for _ in range(gutters + 1)]

    def close() -> None:
        for column in columns:
            arranged.extend(column)
            column.clear()

    for row in rows:
        if -1 in row:
            close()
            arranged.append(row[-1])
        else:
            for number, line in row.items():
                columns[number].append(line)
    close()
    return arranged
