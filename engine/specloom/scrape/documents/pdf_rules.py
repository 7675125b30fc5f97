"""The straight lines drawn on a PDF page: rules, and the edges of rectangles."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from specloom.scrape.documents.pdf_lines import Box
from specloom.scrape.documents.pdf_objects import (
    IDENTITY,
    find_colour,
    moved,
    read_bounds,
    read_matrix,
    to_point,
    walk_objects,
)

# A page of more is a map or a drawing.
_MOST_SEGMENTS: Final = 20_000
# Of 255, in each colour: what is more is the colour of paper.
_PALE: Final = 250
# Points: what is thinner is a line, and what is shorter none.
_THIN: Final = 3.0
_SHORTEST: Final = 4.0
# Points by which the ends of two pieces of a line may be apart, and by which lines at one place may differ.
_APART: Final = 3.0
_SAME: Final = 1.5


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line along an axis: `at` is its height (or its distance from the left, for one that runs up)."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Rules:
    """The lines of a page that run across, and those that run up it."""

    across: tuple[Rule, ...] = ()
    upright: tuple[Rule, ...] = ()


def read_rules(raw: Any, page: Any, turn: int) -> Rules:
    """The rules of an open page of the reader after turning it, none of a page that is a drawing."""
    across: list[Rule] = []
    upright: list[Rule] = []
    try:
        for left, bottom, right, top in _read_edges(raw, page):
            box = _turned((left, bottom, right, top), turn)
            width, height = box[2] - box[0], box[3] - box[1]
            if height <= _THIN and width >= _SHORTEST and width > 2 * height:
                across.append(Rule((box[1] + box[3]) / 2, box[0], box[2]))
            elif width <= _THIN and height >= _SHORTEST and height > 2 * width:
                upright.append(Rule((box[0] + box[2]) / 2, box[1], box[3]))
    except OverflowError:
        return Rules()
    return Rules(_joined(across), _joined(upright))


def _turned(box: Box, turn: int) -> Box:
    left, bottom, right, top = box
    if turn == 1:
        return bottom, -right, top, -left
    if turn == 2:
        return -right, -top, -left, -bottom
    if turn == 3:
        return -top, left, -bottom, right
    return box


def _joined(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Pieces of one line as one."""
    groups: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda each: each.at):
        if groups and rule.at - groups[-1][0].at <= _SAME:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    found: list[Rule] = []
    for group in groups:
        at = sum(each.at for each in group) / len(group)
        start = end = math.nan
        for each in sorted(group, key=lambda each: each.start):
            if math.isnan(start):
                start, end = each.start, each.end
            elif each.start <= end + _APART:
                end = max(end, each.end)
            else:
                found.append(Rule(at, start, end))
                start, end = each.start, each.end
        found.append(Rule(at, start, end))
    return tuple(found)


def _read_edges(raw: Any, page: Any) -> Iterator[Box]:
    """The straight lines and the edges of rectangles; `OverflowError` when there are too many."""
    budget = [_MOST_SEGMENTS]
    for kind, each, matrix in walk_objects(raw, page):
        if kind == raw.FPDF_PAGEOBJ_PATH and _is_seen(raw, each):
            for box in _read_path(raw, each, budget):
                yield box if matrix is IDENTITY else moved(box, matrix)


def _is_seen(raw: Any, path: Any) -> bool:
    """Whether a path is drawn, in another colour than that of paper."""
    fill, is_stroked = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(path, fill, is_stroked):
        return False
    if is_stroked.value:
        return True
    if not fill.value:
        return False
    colour = find_colour(raw, path)
    return colour is None or (min(colour[:3]) < _PALE and colour[3] > 0)


def _read_path(raw: Any, path: Any, budget: list[int]) -> Iterator[Box]:
    bounds = read_bounds(raw, path)
    if bounds is None:
        return
    left, bottom, right, top = bounds
    if right - left <= _THIN or top - bottom <= _THIN:
        yield left, bottom, right, top
        return
    count = raw.FPDFPath_CountSegments(path)
    budget[0] -= count
    if budget[0] < 0:
        raise OverflowError
    own = read_matrix(raw, path)
    if own is None:
        return
    x, y = ctypes.c_float(), ctypes.c_float()
    before = first = (math.nan, math.nan)
    for number in range(count):
        segment = raw.FPDFPath_GetPathSegment(path, number)
        if not raw.FPDFPathSegment_GetPoint(segment, x, y):
            return
        now = to_point(x.value, y.value, own)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            first = now
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield from _to_edge(before, now)
        if raw.FPDFPathSegment_GetClose(segment):
            yield from _to_edge(now, first)
            now = first
        before = now


def _to_edge(one: tuple[float, float], two: tuple[float, float]) -> Iterator[Box]:
    """The line from one point to another, if it runs along an axis."""
    if not all(map(math.isfinite, (*one, *two))):
        return
    if abs(one[0] - two[0]) < 0.5 or abs(one[1] - two[1]) < 0.5:
        yield min(one[0], two[0]), min(one[1], two[1]), max(one[0], two[0]), max(one[1], two[1])
