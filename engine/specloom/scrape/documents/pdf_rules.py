"""The straight lines drawn on a PDF page: rules, and the edges of rectangles."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from specloom.scrape.documents.pdf_lines import Box

# A page of more is a map or a drawing.
_MOST_OBJECTS: Final = 20_000
_MOST_SEGMENTS: Final = 20_000
_DEEPEST: Final = 3
# Points: what is thinner is a line, and what is shorter none.
_THIN: Final = 3.0
_SHORTEST: Final = 4.0
# Points by which the ends of two pieces of a line may be apart, and by which lines at one place may differ.
_APART: Final = 3.0
_SAME: Final = 1.5

Matrix = tuple[float, float, float, float, float, float]
"""The six numbers of a transformation (ISO 32000-1, 8.3.3)."""
IDENTITY: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


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
    budget = [_MOST_OBJECTS, _MOST_SEGMENTS]
    try:
        for left, bottom, right, top in _read_edges(raw, page.raw, IDENTITY, budget, 0):
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


def _read_edges(raw: Any, holder: Any, matrix: Matrix, budget: list[int], depth: int) -> Iterator[Box]:
    """The straight lines and the edges of rectangles; `OverflowError` when there are too many."""
    is_form = depth > 0
    count = raw.FPDFFormObj_CountObjects(holder) if is_form else raw.FPDFPage_CountObjects(holder)
    budget[0] -= count
    if budget[0] < 0:
        raise OverflowError
    for number in range(count):
        each = raw.FPDFFormObj_GetObject(holder, number) if is_form else raw.FPDFPage_GetObject(holder, number)
        kind = raw.FPDFPageObj_GetType(each)
        if kind == raw.FPDF_PAGEOBJ_PATH and _is_seen(raw, each):
            for box in _read_path(raw, each, budget):
                yield moved(box, matrix) if is_form else box
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEEPEST and (own := read_matrix(raw, each)):
            yield from _read_edges(raw, each, multiplied(own, matrix), budget, depth + 1)


def _is_seen(raw: Any, path: Any) -> bool:
    """Whether a path is drawn, in another colour than that of paper."""
    fill, is_stroked = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(path, fill, is_stroked):
        return False
    if is_stroked.value:
        return True
    if not fill.value:
        return False
    colour = [ctypes.c_uint() for _ in range(4)]
    if not raw.FPDFPageObj_GetFillColor(path, *colour):
        return True
    return min(each.value for each in colour[:3]) < 250 and colour[3].value > 0


def _read_path(raw: Any, path: Any, budget: list[int]) -> Iterator[Box]:
    edges = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(path, *edges):
        return
    left, bottom, right, top = (edge.value for edge in edges)
    if not all(map(math.isfinite, (left, bottom, right, top))):
        return
    if right - left <= _THIN or top - bottom <= _THIN:
        yield left, bottom, right, top
        return
    count = raw.FPDFPath_CountSegments(path)
    budget[1] -= count
    if budget[1] < 0:
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
        now = _to_point(x.value, y.value, own)
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


def read_matrix(raw: Any, each: Any) -> Matrix | None:
    """The matrix of an object; None where it has none that can be used."""
    found = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(each, ctypes.byref(found)):
        return None
    matrix = (found.a, found.b, found.c, found.d, found.e, found.f)
    return matrix if all(map(math.isfinite, matrix)) else None


def multiplied(one: Matrix, two: Matrix) -> Matrix:
    """The matrix that does the first and then the second (ISO 32000-1, 8.3.4)."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = two
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def _to_point(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def moved(box: Box, matrix: Matrix) -> Box:
    """The box around what a matrix makes of a box."""
    one, two = _to_point(box[0], box[1], matrix), _to_point(box[2], box[3], matrix)
    return min(one[0], two[0]), min(one[1], two[1]), max(one[0], two[0]), max(one[1], two[1])
