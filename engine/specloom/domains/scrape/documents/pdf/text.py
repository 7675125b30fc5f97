"""The letters of a PDF page as the reader gives them: their text, where they stand, and the words that they make."""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any, Final

from pypdfium2 import raw

from specloom.core import dataclass

Box = tuple[float, float, float, float]
"""Left, bottom, right and top in points; the origin is the lower left corner of the page."""

# --- The words of a PDF page with their places, and the rows that they stand in ---------------------------------------


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
class TextTable:
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


def to_table(cells: Sequence[Sequence[Sequence[Word]]]) -> TextTable:
    """A table of the rows that have a word, and of the columns: two that no row has words in both of are one."""
    rows = [row for row in cells if any(row)]
    columns: list[list[list[Word]]] = []
    for at in range(max(map(len, rows), default=0)):
        column = [list(row[at]) if at < len(row) else [] for row in rows]
        if columns and not any(one and two for one, two in zip(columns[-1], column, strict=True)):
            columns[-1] = [one or two for one, two in zip(columns[-1], column, strict=True)]
        else:
            columns.append(column)
    return TextTable(
        tuple(
            tuple(tuple(sorted(cell, key=lambda each: each.start)) for cell in row)
            for row in zip(*columns, strict=True)
        )
    )


# --- The lines of a PDF page: their text, where they stand and how large they are set; columns told apart -------------


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
_LONG: Final = 40
_LEAST_ROWS: Final = 10
_MOST_GUTTERS: Final = 20
_MOST_TRIED: Final = 400
_LEAST_WORDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class TextLine:
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


Placed = tuple[TextLine, int, int]
"""A line of a page with the indexes of its letters."""


def clean(text: str) -> str:
    """Text as it is meant: hyphens at line ends gone or kept, ligatures as letters, nothing unprintable."""
    if HYPHEN in text:
        text = _KEPT.sub("-", text).replace(HYPHEN, "")
    return " ".join(_UNPRINTED.sub("", text.translate(_LIGATURES)).split())


def is_finite(*numbers: float) -> bool:
    """Whether numbers can be used: a damaged matrix puts things nowhere."""
    return all(map(math.isfinite, numbers))


def turned(box: Box, turn: int) -> Box:
    """A box of a page that is turned by so many quarters against the clock."""
    left, bottom, right, top = box
    if turn == 1:
        return bottom, -right, top, -left
    if turn == 2:
        return -right, -top, -left, -bottom
    return (-top, left, -bottom, right) if turn == 3 else box


def part_columns(lines: Sequence[Placed], letters: Letters) -> list[TextLine]:
    """The lines of a page in reading order, when each runs over several columns; as they are otherwise.

    A page has columns where most of its long lines break at the same places, and what stands between the breaks is
    prose: a table has short cells.
    """
    whole = [line for line, _, _ in lines]
    long = [(line, start, end) for line, start, end in lines if end - start >= _LONG]
    if len(long) < _LEAST_ROWS:
        return whole
    gaps: list[list[tuple[float, float]]] = []
    for line, start, end in long:
        parts = sorted(letters.parts(start, end))
        breaks = ((one[2], two[0]) for one, two in pairwise(parts))
        gaps.append([(left, right) for left, right in breaks if right - left > _GUTTER * line.size])
    gutters = _find_gutters(gaps)
    rows = [_split(line, start, end, gutters, letters) for line, start, end in lines] if gutters else []
    cells = [part for row in rows if len(row) > 1 for part in row.values()]
    if not cells or sum(len(part.text.split()) for part in cells) / len(cells) < _LEAST_WORDS:
        return whole
    return _arrange(rows, len(gutters))


def _find_gutters(gaps: Sequence[Sequence[tuple[float, float]]]) -> list[float]:
    """The places where at least half of the lines have a gap, from the left."""
    open_gaps = [gap for row in gaps for gap in row]
    starts, ends = sorted(start for start, _ in open_gaps), sorted(end for _, end in open_gaps)
    gutters: list[float] = []
    while open_gaps and len(gutters) < _MOST_GUTTERS:
        middles = [(start + end) / 2 for start, end in open_gaps[:_MOST_TRIED]]
        # The gaps of one line do not overlap, so as many lines as gaps are open there.
        holders = [bisect_right(starts, middle) - bisect_left(ends, middle) for middle in middles]
        most = max(holders)
        if most < max(_LEAST_ROWS, len(gaps) * 0.5):
            break
        best = middles[holders.index(most)]
        gutters.append(best)
        open_gaps = [gap for gap in open_gaps if not gap[0] <= best <= gap[1]]
    return sorted(gutters)


def _split(line: TextLine, start: int, end: int, gutters: Sequence[float], letters: Letters) -> dict[int, TextLine]:
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
        character = letters.text[index]
        if not character.isspace() and (box := letters.box(index)) is not None and box[2] > box[0]:
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
        size = letters.size(firsts[number])
        parts[number] = replace(line, text="".join(written).strip(), left=left, right=right, size=size)
    return parts or {-1: line}


def _arrange(rows: Sequence[dict[int, TextLine]], gutters: int) -> list[TextLine]:
    """Column after column, each stretch between lines over the whole width on its own."""
    arranged: list[TextLine] = []
    for is_whole, group in groupby(rows, lambda row: -1 in row):
        stretch = list(group)
        for number in (-1,) if is_whole else range(gutters + 1):
            arranged += [row[number] for row in stretch if number in row]
    return arranged


# --- The letters of a PDF page as the reader gives them ---------------------------------------------------------------


_MOST_CHARACTERS: Final = 200_000
_WORD: Final = re.compile(r"\S+")
# Of so many letters the direction is looked at, which says how the page is to be turned.
_ASKED: Final = 48
# In sizes: how high letters are, and how high none is.
_USUAL_HEIGHT: Final = 0.7
_MUCH: Final = 1.5
# Of the flags in a font's descriptor (ISO 32000-1, table 123).
_FIXED_PITCH: Final = 1
_FORCE_BOLD: Final = 1 << 18
LONGEST_BOLD: Final = 90
"""Letters of a line of which it is asked whether it is bold; a longer one is no heading."""


class Letters:
    """The letters of an open text page of the reader, by their index in `text`."""

    def __init__(self, text_page: Any) -> None:
        self._handle = text_page.raw
        total = min(text_page.count_chars(), _MOST_CHARACTERS)
        self.text: str = text_page.get_text_range(0, total) if total > 0 else ""
        # Characters outside the first plane and those without a code shift the two counts against each other.
        self._is_direct = len(self.text) == total
        self._edges = [ctypes.c_double() for _ in range(4)]
        self._places = [ctypes.byref(edge) for edge in self._edges]

    def lines(self) -> list[Placed]:
        """The lines of the page in the order of the file, each with the indexes of its letters."""
        return [(self.line(start, end), start, end) for start, end in _find_lines(self.text)]

    def line(self, start: int, end: int) -> TextLine:
        """The line that some letters make."""
        first, last = self.box(start), self.box(end - 1)
        if first is None or last is None:
            first = last = first or last or (0.0, 0.0, 0.0, 0.0)
        size = self.size((start + end) // 2)
        # Where a form is scaled as a whole the reader does not know it.
        height = min(first[3] - first[1], last[3] - last[1])
        if height > _MUCH * size:
            size = height / _USUAL_HEIGHT
        is_bold = end - start <= LONGEST_BOLD and self._is_bold(start) and self._is_bold(end - 1)
        return TextLine(self.text[start:end], first[0], last[2], first[3], last[1], size, is_bold=is_bold)

    def size(self, at: int) -> float:
        """The size of a letter in points; many programs set all letters in one size and scale them."""
        matrix = raw.FS_MATRIX()
        index = self._index(at)
        size = float(raw.FPDFText_GetFontSize(self._handle, index))
        if raw.FPDFText_GetMatrix(self._handle, index, ctypes.byref(matrix)):
            size *= math.hypot(matrix.c, matrix.d)
        return min(max(size, 0.5), 2000.0) if math.isfinite(size) else 1.0

    def box(self, at: int) -> Box | None:
        """Where the ink of a letter is, None when nobody can say."""
        if not raw.FPDFText_GetCharBox(self._handle, self._index(at), *self._places):
            return None
        left, right, bottom, top = (edge.value for edge in self._edges)
        return (left, bottom, right, top) if is_finite(left, bottom, right, top) else None

    def parts(self, start: int, end: int) -> list[Box]:
        """The boxes of the stretches that some letters were drawn in."""
        boxes = []
        for number in range(raw.FPDFText_CountRects(self._handle, self._index(start), end - start)):
            if raw.FPDFText_GetRect(self._handle, number, *self._places):
                left, top, right, bottom = (edge.value for edge in self._edges)
                if is_finite(left, bottom, right, top):
                    boxes.append((left, bottom, right, top))
        return boxes

    def drawn_by(self, at: int) -> Any:
        """The text object of the reader that a letter is from, false for a letter that the reader made up."""
        return raw.FPDFText_GetTextObject(self._handle, self._index(at))

    def blank(self, spans: Sequence[tuple[int, int]]) -> None:
        """Put blanks in the place of some letters, so that no line and no word has them; lines end where they did."""
        if spans:
            text = list(self.text)
            for start, end in spans:
                text[start:end] = _WORD.sub(lambda word: " " * len(word[0]), self.text[start:end])
            self.text = "".join(text)

    def find_turn(self) -> int:
        """By how many quarters (against the clock) the page is turned to read most of it."""
        sample = range(0, len(self.text), max(1, len(self.text) // _ASKED))
        angles = Counter(self._quarter(at) for at in sample if not self.text[at].isspace())
        return angles.most_common(1)[0][0] if angles else 0

    def words(self, lines: Sequence[Placed], turn: int) -> list[Word]:
        """The words of some lines, with their places on the page after it was turned by so many quarters."""
        words = []
        for number, (line, first, last) in enumerate(lines):
            for match in _WORD.finditer(self.text, first, last):
                start, end = match.span()
                text = match[0]
                hyphen = text.find(HYPHEN)
                place = self._place(start, start + hyphen if hyphen > 0 else end, turn)
                if place is not None:
                    words.append(Word(text, start, end, number, *place, line.size))
        return words

    def is_fixed(self, at: int) -> bool:
        """Whether a letter's font gives all letters the same room, as those for code do."""
        name, flags = self._font(at)
        return bool(flags & _FIXED_PITCH) or any(each in name for each in (b"mono", b"courier", b"cmtt"))

    def _is_bold(self, at: int) -> bool:
        name, flags = self._font(at)
        return bool(flags & _FORCE_BOLD) or any(each in name for each in (b"bold", b"black", b"heavy"))

    def _font(self, at: int) -> tuple[bytes, int]:
        """The name of a letter's font in small letters, and what its descriptor says of it."""
        flags = ctypes.c_int()
        name = ctypes.create_string_buffer(64)
        if not raw.FPDFText_GetFontInfo(self._handle, self._index(at), name, 64, ctypes.byref(flags)):
            return b"", 0
        return name.value.lower(), flags.value

    def _place(self, start: int, end: int, turn: int) -> tuple[float, float, float] | None:
        """Where letters begin and end along their line, and their base line."""
        across, up = self._edges[:2]
        if not raw.FPDFText_GetCharOrigin(self._handle, self._index(start), *self._places[:2]):
            return None
        x, y = across.value, up.value
        last = self.box(end - 1)
        if last is None or not is_finite(x, y):
            return None
        left, base, _, _ = turned((x, y, x, y), turn)
        return left, max(turned(last, turn)[2], left), base

    def _quarter(self, at: int) -> int:
        """0 for a letter that stands upright, 1 where its line runs up the page and 3 where it runs down."""
        angle = float(raw.FPDFText_GetCharAngle(self._handle, self._index(at)))
        # The reader counts with the clock, and says -1 where it does not know.
        return -round(angle / (math.pi / 2)) % 4 if math.isfinite(angle) and angle >= 0 else 0

    def _index(self, at: int) -> int:
        return at if self._is_direct else int(raw.FPDFText_GetCharIndexFromTextIndex(self._handle, at))


def _find_lines(text: str) -> Iterator[tuple[int, int]]:
    """Where each line that is not blank begins and ends, blanks at both ends left out."""
    at = 0
    for line in text.split("\n"):
        if stripped := line.strip():
            start = at + line.index(stripped[0])
            yield start, start + len(stripped)
        at += len(line) + 1
