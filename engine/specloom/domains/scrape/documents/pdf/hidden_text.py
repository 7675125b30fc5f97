"""The letters of a PDF page that nobody sees who looks at it: unpainted, transparent, tiny, off the page or covered.

Letters of the colour of what is below them are among these. Where a picture, a pattern or a shape that is no rectangle
plays a part, nobody can say what is seen without drawing the page, and letters count as seen. Letters without paint are
a text under a scan, and stay, where a picture fills half of the page or nothing else is written on it.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from itertools import groupby
from typing import Any, Final

from pypdfium2 import raw

from specloom.core import dataclass

from .objects import (
    Matrix,
    area,
    bound,
    cut,
    find_clip,
    find_colour,
    holds,
    is_pale,
    is_rectangle,
    is_upright,
    meets,
    moved,
    read_bounds,
    read_clip,
    walk_objects,
)
from .text import Box, Letters

# --- What stands below and above the letters: rectangles of one colour, and what nobody can tell apart ----------------


Ground = tuple[int, int, int]
"""Red, green and blue of 255."""

PAPER: Final[Ground] = (255, 255, 255)
# Points: what is smaller covers no letter.
_LEAST: Final = 2.0
# Points of a row of the page, by which things are looked up, and how many rows there are up and down.
_ROW: Final = 24.0
_MOST_ROWS: Final = 150
# Of 255: what is less opaque lets something through.
_OPAQUE: Final = 250
# Of 255, in each colour: what differs by less looks the same.
_SAME: Final = 10
_MOST_DRAWN: Final = 8
_MOST_WORK: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Something drawn: its place in the order, where it is, and its colour; None for what is not of one colour."""

    order: int
    box: Box
    colour: Ground | None
    handle: Any


@dataclass(frozen=True, slots=True)
class PageView:
    """How a page is looked at: which layers of the file are off, by their names, and whether it may be drawn."""

    hidden_layers: Collection[str] = ()
    may_draw: Callable[[], bool] = lambda: True
    """Asked when a part of the page is to be drawn, which may take too long; if not, patterns count as one colour."""


@dataclass(slots=True)
class PageDrawing:
    """What is drawn on a page, by the rows where it stands; and in which place of the order each text object is."""

    document: Any
    page: Any
    rows: dict[int, list[_Drawn]] = field(default_factory=dict)
    orders: dict[int, int] = field(default_factory=dict)
    pictured: float = 0.0
    """Square points of the largest picture."""
    work: int = _MOST_WORK
    """How many more things may be looked at."""
    is_known: bool = True
    """Whether everything was looked at; a drawing of very many things is not."""
    may_draw: Callable[[], bool] = lambda: True
    """Whether parts of the page can be drawn in a bearable time to look at them; asked when that is wanted."""
    clips: dict[int, Box] = field(default_factory=dict)
    """Within what the text objects are drawn that have bounds."""
    off: set[int] = field(default_factory=set)
    """The text objects on layers that are off."""
    tiled: dict[int, bool] = field(default_factory=dict)
    white: dict[int, bool] = field(default_factory=dict)

    def is_near(self, box: Box) -> bool:
        """Whether something may be drawn where a box is."""
        return not self.is_known or _to_middle_row(box) in self.rows

    def is_covered(self, text: int, box: Box) -> bool:
        """Whether something of one opaque colour was drawn over some letters of a text object."""
        order = self.orders.get(text)
        if order is None:
            return False
        return any(
            each.order > order and each.colour and holds(each.box, box) and not self.are_tiles(each.handle)
            for each in self._near(box)
        )

    def is_lost(self, text: int, box: Box, colour: Ground) -> bool:
        """Whether letters of a text object have the colour of what they stand on, as far as anybody can say."""
        order = self.orders.get(text)
        ground: Ground | None = PAPER
        below: _Drawn | None = None
        for each in self._near(box):
            if not meets(each.box, box):
                continue
            if order is None:
                return False
            if each.order < order:
                ground, below = (each.colour if holds(each.box, box) else None), each
        if (
            not self.is_known
            or ground is None
            or any(abs(one - two) > _SAME for one, two in zip(colour, ground, strict=True))
        ):
            return False
        if below is None:
            return True
        return not self.are_tiles(below.handle) and (ground != PAPER or self.is_white(below.handle, box))

    def are_tiles(self, handle: Any) -> bool:
        """Whether an object is filled with tiles, between which one may see through; older readers cannot say."""
        address = ctypes.addressof(handle.contents)
        if address not in self.tiled:
            ask = getattr(raw, "FPDFPageObj_GetRenderedFillPattern", None)
            bitmap = ask(self.document.raw, handle) if ask is not None and self.may_draw() else None
            if bitmap:
                raw.FPDFBitmap_Destroy(bitmap)
            self.tiled[address] = bool(bitmap)
        return self.tiled[address]

    def is_white(self, handle: Any, box: Box) -> bool:
        """Whether an object that the reader calls white is: the reader says so of all that runs from colour to colour.

        A part of the page is drawn to know it, once for an object, and for a few objects of a page.
        """
        address = ctypes.addressof(handle.contents)
        if address not in self.white:
            is_known = len(self.white) < _MOST_DRAWN and self.may_draw()
            self.white[address] = not is_known or is_pale(self.page, box)
        return self.white[address]

    def _near(self, box: Box) -> Sequence[_Drawn]:
        """What is drawn in the row of a box, in its order; nothing where that is too much to look through."""
        drawn = self.rows.get(_to_middle_row(box), ())
        self.work -= len(drawn)
        self.is_known = self.is_known and self.work >= 0
        return drawn if self.is_known else ()


def read_grounds(
    document: Any,
    page: Any,
    texts: Collection[int],
    view: PageView,
) -> PageDrawing:
    """What is drawn on an open page of the reader; `texts` are the addresses of the text objects that are asked for."""
    drawing = PageDrawing(document, page, may_draw=view.may_draw)
    written: list[tuple[int, Any]] = []
    try:
        for order, placed in enumerate(walk_objects(page, view.hidden_layers)):
            kind, each, matrix, *_ = placed
            if kind == raw.FPDF_PAGEOBJ_TEXT:
                written.append((order, each))
                if placed.is_off:
                    drawing.off.add(ctypes.addressof(each.contents))
                elif (clip := find_clip(placed)) is not None:
                    drawing.clips[ctypes.addressof(each.contents)] = clip
            elif not placed.is_off and (drawn := _to_drawn(kind, each, matrix, order)) is not None:
                # By every row in which the middle of a letter on it may be.
                for row in range(_to_row(drawn.box[1]), _to_row(drawn.box[3]) + 1):
                    drawing.rows.setdefault(row, []).append(drawn)
                if kind == raw.FPDF_PAGEOBJ_IMAGE:
                    drawing.pictured = max(drawing.pictured, area(drawn.box))
    except OverflowError:
        drawing.is_known = False
    if drawing.rows:
        addresses = ((ctypes.addressof(each.contents), order) for order, each in written)
        drawing.orders = {address: order for address, order in addresses if address in texts}
    return drawing


def _to_drawn(kind: int, each: Any, matrix: Matrix, order: int) -> _Drawn | None:
    """What an object that is no text puts on the page, None for nothing that matters."""
    colour: tuple[int, int, int, int] | None = None
    if kind == raw.FPDF_PAGEOBJ_PATH:
        fill, is_stroked = ctypes.c_int(), ctypes.c_int()
        if not raw.FPDFPath_GetDrawMode(each, fill, is_stroked) or not fill.value:
            return None
    bounds = read_bounds(each)
    if bounds is None or _is_small(box := moved(bounds, matrix)):
        return None
    clip = read_clip(each)
    if clip is not None and _is_small(box := cut(box, moved(clip[0], matrix))):
        return None
    if kind == raw.FPDF_PAGEOBJ_PATH:
        colour = find_colour(each)
        if colour is not None and colour[3] == 0:
            return None
    is_plain = (
        colour is not None
        and colour[3] >= _OPAQUE
        and (clip is None or clip[1])
        and is_upright(matrix)
        and is_rectangle(each)
        and not raw.FPDFPageObj_HasTransparency(each)
    )
    return _Drawn(order, box, colour[:3] if is_plain and colour is not None else None, each)


def _to_row(height: float) -> int:
    """The row of the page in which a height is."""
    return min(max(int(height // _ROW), -_MOST_ROWS), _MOST_ROWS)


def _to_middle_row(box: Box) -> int:
    return _to_row((box[1] + box[3]) / 2)


def _is_small(box: Box) -> bool:
    return box[2] - box[0] < _LEAST or box[3] - box[1] < _LEAST


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
# Of the area of letters: what is not cut away.
_LEAST_SHOWN: Final = 0.02


@dataclass(slots=True)
class _Paint:
    """How a text object is painted: its mode, its colour with its opacity (None for none known), and its size."""

    handle: Any
    mode: int
    colour: tuple[int, int, int, int] | None
    size: float


def find_unseen(document: Any, page: Any, letters: Letters, view: PageView = PageView()) -> list[Span]:  # noqa: B008 - frozen
    """The stretches of letters of an open page that are not seen, in the order of the file.

    What stands between two of them is seen.
    """
    looks: dict[int, _Paint] = {}
    spans = list(_spans(letters, looks))
    if not spans:
        return []
    edges = _read_box(page)
    grounds = read_grounds(document, page, looks, view)
    keeps_unpainted = _is_scan(spans, looks, grounds, edges)

    def is_unseen(each: tuple[Span, int]) -> bool:
        span, at = each
        if at in grounds.off:
            return True
        if looks[at].mode == _UNPAINTED:
            return not keeps_unpainted
        return _is_unseen(letters, span, at, looks[at], edges, grounds)

    stretches = [list(each) for is_lost, each in groupby(spans, is_unseen) if is_lost]
    return [(each[0][0][0], each[-1][0][1]) for each in stretches]


def _spans(letters: Letters, looks: dict[int, _Paint]) -> Iterator[tuple[Span, int]]:
    """The words of a page, parted where a text object ends, each with the address of its object."""

    def find(at: int) -> int:
        """The address of the object that drew a letter, 0 for none; how it is painted is noted."""
        handle = letters.drawn_by(at)
        if not handle:
            return 0
        address = ctypes.addressof(handle.contents)
        if address not in looks:
            mode = raw.FPDFTextObj_GetTextRenderMode(handle)
            looks[address] = _Paint(handle, mode, find_colour(handle), letters.size(at))
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


def _is_scan(spans: Sequence[tuple[Span, int]], looks: dict[int, _Paint], grounds: PageDrawing, edges: Box) -> bool:
    """Whether the letters without paint are what was recognised in a picture."""
    counts = [0, 0]
    for (start, end), at in spans:
        counts[looks[at].mode == _UNPAINTED] += end - start
    return counts[0] < _FEW or (counts[1] >= counts[0] and grounds.pictured >= _SCAN * area(edges))


def _is_unseen(letters: Letters, span: Span, at: int, look: _Paint, edges: Box, grounds: PageDrawing) -> bool:
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
    if (clip := grounds.clips.get(at)) is not None and _is_cut_away(letters, span, first, clip):
        return True
    if not grounds.is_near(first) and (colour is None or min(colour[:3]) < _PALE):
        return False
    last = letters.box(span[1] - 1) or first
    box = bound([first[:2], first[2:], last[:2], last[2:]])
    if grounds.is_covered(at, box):
        return True
    return colour is not None and grounds.is_lost(at, box, colour[:3]) and not grounds.are_tiles(look.handle)


def _is_cut_away(letters: Letters, span: Span, first: Box, clip: Box) -> bool:
    """Whether next to nothing of some letters is within the box in which they are drawn."""
    if holds(clip, first):
        return False
    last = letters.box(span[1] - 1) or first
    box = bound([first[:2], first[2:], last[:2], last[2:]])
    shown = cut(box, clip)
    return shown[2] <= shown[0] or shown[3] <= shown[1] or area(shown) < _LEAST_SHOWN * area(box)


def _read_box(page: Any) -> Box:
    """The edges of the page as it is shown."""
    box = raw.FS_RECTF()
    if not raw.FPDF_GetPageBoundingBox(page.raw, ctypes.byref(box)):
        return (-math.inf, -math.inf, math.inf, math.inf)
    return (box.left, box.bottom, box.right, box.top)
