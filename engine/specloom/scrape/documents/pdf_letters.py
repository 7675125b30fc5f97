"""The letters of a PDF page as the reader gives them: their text, where they stand, and the words that they make."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from specloom.scrape.documents.pdf_lines import HYPHEN, Box, Characters, Line
from specloom.scrape.documents.pdf_words import Word

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

    def __init__(self, raw: Any, text_page: Any) -> None:
        self._raw, self._page, self._handle = raw, text_page, text_page.raw
        total = min(text_page.count_chars(), _MOST_CHARACTERS)
        self.text: str = text_page.get_text_range(0, total) if total > 0 else ""
        # Characters outside the first plane and those without a code shift the two counts against each other.
        self._is_direct = len(self.text) == total
        self._edges = [ctypes.c_double() for _ in range(4)]
        self._places = [ctypes.byref(edge) for edge in self._edges]

    def to_characters(self) -> Characters:
        """The same as what `part_columns` needs."""
        return Characters(self.text, self.box, self.size, self.parts)

    def lines(self) -> list[tuple[Line, int, int]]:
        """The lines of the page in the order of the file, each with the indexes of its letters."""
        return [(self.line(start, end), start, end) for start, end in _find_lines(self.text)]

    def line(self, start: int, end: int) -> Line:
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
        return Line(self.text[start:end], first[0], last[2], first[3], last[1], size, is_bold=is_bold)

    def size(self, at: int) -> float:
        """The size of a letter in points; many programs set all letters in one size and scale them."""
        matrix = self._raw.FS_MATRIX()
        index = self._index(at)
        size = float(self._raw.FPDFText_GetFontSize(self._handle, index))
        if self._raw.FPDFText_GetMatrix(self._handle, index, ctypes.byref(matrix)):
            size *= math.hypot(matrix.c, matrix.d)
        return min(max(size, 0.5), 2000.0) if math.isfinite(size) else 1.0

    def box(self, at: int) -> Box | None:
        """Where the ink of a letter is, None when nobody can say."""
        if not self._raw.FPDFText_GetCharBox(self._handle, self._index(at), *self._places):
            return None
        left, right, bottom, top = (edge.value for edge in self._edges)
        # A damaged matrix puts letters nowhere.
        return (left, bottom, right, top) if all(map(math.isfinite, (left, bottom, right, top))) else None

    def parts(self, start: int, end: int) -> list[Box]:
        """The boxes of the stretches that some letters were drawn in."""
        found = []
        for number in range(self._raw.FPDFText_CountRects(self._handle, self._index(start), end - start)):
            if self._raw.FPDFText_GetRect(self._handle, number, *self._places):
                left, top, right, bottom = (edge.value for edge in self._edges)
                if all(map(math.isfinite, (left, bottom, right, top))):
                    found.append((left, bottom, right, top))
        return found

    def drawn_by(self, at: int) -> Any:
        """The text object of the reader that a letter is from, false for a letter that the reader made up."""
        return self._raw.FPDFText_GetTextObject(self._handle, self._index(at))

    def blank(self, spans: Sequence[tuple[int, int]]) -> None:
        """Put blanks in the place of some letters, so that no line and no word has them; lines end where they did."""
        if spans:
            text = list(self.text)
            for start, end in spans:
                text[start:end] = _WORD.sub(lambda word: " " * len(word[0]), self.text[start:end])
            self.text = "".join(text)

    def find_turn(self) -> int:
        """By how many quarters (against the clock) the page is turned to read most of it."""
        asked = range(0, len(self.text), max(1, len(self.text) // _ASKED))
        angles = Counter(self._quarter(at) for at in asked if not self.text[at].isspace())
        return angles.most_common(1)[0][0] if angles else 0

    def words(self, lines: Sequence[tuple[Line, int, int]], turn: int) -> list[Word]:
        """The words of some lines, with their places on the page after it was turned by so many quarters."""
        words = []
        for number, (line, first, last) in enumerate(lines):
            for found in _WORD.finditer(self.text, first, last):
                start, end = found.span()
                text = found[0]
                hyphen = text.find(HYPHEN)
                place = self._place(start, start + hyphen if hyphen > 0 else end, turn)
                if place is not None:
                    left, right, base = place
                    words.append(Word(text, start, end, number, left, right, base, line.size))
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
        if not self._raw.FPDFText_GetFontInfo(self._handle, self._index(at), name, 64, ctypes.byref(flags)):
            return b"", 0
        return name.value.lower(), flags.value

    def _place(self, start: int, end: int, turn: int) -> tuple[float, float, float] | None:
        """Where letters begin and end along their line, and their base line."""
        one, two, three, four = self._edges
        if not self._raw.FPDFText_GetCharOrigin(self._handle, self._index(start), *self._places[:2]):
            return None
        x, y = one.value, two.value
        if not self._raw.FPDFText_GetCharBox(self._handle, self._index(end - 1), *self._places):
            return None
        left, right, bottom, top = one.value, two.value, three.value, four.value
        if not math.isfinite(x + y + left + right + bottom + top):
            return None
        if turn == 0:
            return x, max(right, x), y
        if turn == 1:
            return y, max(top, y), -x
        if turn == 2:
            return -x, max(-left, -x), -y
        return -y, max(-bottom, -y), x

    def _quarter(self, at: int) -> int:
        """0 for a letter that stands upright, 1 where its line runs up the page and 3 where it runs down."""
        angle = float(self._raw.FPDFText_GetCharAngle(self._handle, self._index(at)))
        # The reader counts with the clock, and says -1 where it does not know.
        return -round(angle / (math.pi / 2)) % 4 if math.isfinite(angle) and angle >= 0 else 0

    def _index(self, at: int) -> int:
        return at if self._is_direct else int(self._raw.FPDFText_GetCharIndexFromTextIndex(self._handle, at))


def _find_lines(text: str) -> Iterator[tuple[int, int]]:
    """Where each line that is not blank begins and ends, blanks at both ends left out."""
    at = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            start = at + line.index(stripped[0])
            yield start, start + len(stripped)
        at += len(line) + 1
