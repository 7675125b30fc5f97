"""The letters of a PDF page that nobody sees who looks at it: unpainted, transparent, tiny, off the page or covered.

Letters of the colour of what is below them are among these. Where a picture, a pattern or a shape that is no rectangle
plays a part, nobody can say what is seen without drawing the page, and letters count as seen. Letters without paint are
a text under a scan, and stay, where a picture fills half of the page or nothing else is written on it.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from specloom.scrape.documents.pdf_grounds import Grounds, read_grounds
from specloom.scrape.documents.pdf_letters import Letters
from specloom.scrape.documents.pdf_lines import Box
from specloom.scrape.documents.pdf_objects import find_colour

Span = tuple[int, int]
"""Where some letters begin and end, as indexes into the text of the page."""

_WORD: Final = re.compile(r"\S+")
# Rendering modes (ISO 32000-1, table 106): 3 paints nothing, and these paint edges only, whose colour is another.
_UNPAINTED: Final = 3
_STROKED: Final = frozenset({1, 5, 7})
# Points: smaller letters are read by nobody.
_TINY: Final = 1.0
# Of 255: less is as good as transparent.
_FAINT: Final = 8
# Of 255, in each colour: what is less is not as pale as paper.
_PALE: Final = 240
# Of the letters of a page, and of its area: below, a picture is no scan and letters on it are no text.
_FEW: Final = 8
_SCAN: Final = 0.5


@dataclass(slots=True)
class _Look:
    """How a text object is painted: its mode, its colour with its opacity (None for none known), and its size."""

    handle: Any
    mode: int
    colour: tuple[int, int, int, int] | None
    size: float


def find_unseen(raw: Any, document: Any, page: Any, letters: Letters) -> list[Span]:
    """The stretches of letters of an open page that are not seen, in the order of the file.

    What stands between two of them is seen.
    """
    looks: dict[int, _Look] = {}
    spans = list(_spans(raw, letters, looks))
    if not spans:
        return []
    edges = _read_box(raw, page)
    grounds = read_grounds(raw, document, page, looks)
    keeps_unpainted = _is_scan(spans, looks, grounds, edges)

    def is_unseen(each: tuple[Span, int]) -> bool:
        span, at = each
        if looks[at].mode == _UNPAINTED:
            return not keeps_unpainted
        return _is_unseen(letters, span, at, looks[at], edges, grounds)

    stretches = [list(each) for is_lost, each in groupby(spans, is_unseen) if is_lost]
    return [(each[0][0][0], each[-1][0][1]) for each in stretches]


def _spans(raw: Any, letters: Letters, looks: dict[int, _Look]) -> Iterator[tuple[Span, int]]:
    """The words of a page, parted where a text object ends, each with the address of its object."""

    def find(at: int) -> int:
        """The address of the object that drew a letter, 0 for none; how it is painted is noted."""
        handle = letters.drawn_by(at)
        if not handle:
            return 0
        address = ctypes.addressof(handle.contents)
        if address not in looks:
            mode = raw.FPDFTextObj_GetTextRenderMode(handle)
            looks[address] = _Look(handle, mode, find_colour(raw, handle), letters.size(at))
        return address

    words = [word.span() for word in _WORD.finditer(letters.text)]
    owners = [find(start) for start, _ in words]
    for (start, end), owner, following in zip(words, owners, [*owners[1:], 0][: len(words)], strict=True):
        # The letters of an object stand together.
        if owner and (owner == following or end - start == 1 or find(end - 1) == owner):
            yield (start, end), owner
            continue
        for own, stretch in groupby(range(start, end), find):
            if own:
                at = list(stretch)
                yield (at[0], at[-1] + 1), own


def _is_scan(spans: Sequence[tuple[Span, int]], looks: dict[int, _Look], grounds: Grounds, edges: Box) -> bool:
    """Whether the letters without paint are what was recognised in a picture."""
    counts = [0, 0]
    for (start, end), at in spans:
        counts[looks[at].mode == _UNPAINTED] += end - start
    area = (edges[2] - edges[0]) * (edges[3] - edges[1])
    return counts[0] < _FEW or (counts[1] >= counts[0] and grounds.pictured >= _SCAN * area)


def _is_unseen(letters: Letters, span: Span, at: int, look: _Look, edges: Box, grounds: Grounds) -> bool:
    first = letters.box(span[0])
    if first is None:
        return False
    if first[2] < edges[0] or first[0] > edges[2] or first[3] < edges[1] or first[1] > edges[3]:
        return True
    # Both, for the size alone lies where a form is scaled as a whole, and a full stop has next to no height.
    if look.size < _TINY and first[3] - first[1] < _TINY:
        return True
    colour = None if look.mode in _STROKED else look.colour
    if colour is not None and colour[3] < _FAINT:
        return True
    if not grounds.is_near(first) and (colour is None or min(colour[:3]) < _PALE):
        return False
    last = letters.box(span[1] - 1) or first
    box = min(first[0], last[0]), min(first[1], last[1]), max(first[2], last[2]), max(first[3], last[3])
    if grounds.is_covered(at, box):
        return True
    return colour is not None and grounds.is_lost(at, box, colour[:3]) and not grounds.patterns.are_tiles(look.handle)


def _read_box(raw: Any, page: Any) -> Box:
    """The edges of the page as it is shown."""
    box = raw.FS_RECTF()
    if not raw.FPDF_GetPageBoundingBox(page.raw, ctypes.byref(box)):
        return (-math.inf, -math.inf, math.inf, math.inf)
    return (box.left, box.bottom, box.right, box.top)
