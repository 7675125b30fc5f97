"""The objects of a PDF page as they are drawn: which there are, where they are moved to, and in which colour."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

from pypdfium2 import raw

from .text import Box, is_finite

Matrix = tuple[float, float, float, float, float, float]
"""The six numbers of a transformation (ISO 32000-1, 8.3.3)."""
IDENTITY: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)

# A page of more is a map or a drawing.
_MOST_OBJECTS: Final = 20_000
_DEEPEST: Final = 3


class DrawnObject(NamedTuple):
    """Something drawn on a page: its kind and handle, its matrix, and within what its form is drawn.

    None for one without bounds. `is_off` is what is on a layer that is off.
    """

    kind: int
    handle: Any
    matrix: Matrix
    clip: Box | None
    is_off: bool = False


def walk_objects(page: Any, hidden_layers: Collection[str] = ()) -> Iterator[DrawnObject]:
    """What is drawn on an open page, in that order; what is in a form stands in the form's place.

    `OverflowError` when there are too many.
    """
    return _walk(page.raw, DrawnObject(0, None, IDENTITY, None), hidden_layers, [_MOST_OBJECTS], 0)


def _walk(
    holder: Any, around: DrawnObject, hidden: Collection[str], budget: list[int], depth: int
) -> Iterator[DrawnObject]:
    is_form = depth > 0
    count = raw.FPDFFormObj_CountObjects(holder) if is_form else raw.FPDFPage_CountObjects(holder)
    budget[0] -= count
    if budget[0] < 0:
        raise OverflowError
    for number in range(count):
        each = raw.FPDFFormObj_GetObject(holder, number) if is_form else raw.FPDFPage_GetObject(holder, number)
        kind = raw.FPDFPageObj_GetType(each)
        is_off = around.is_off or (bool(hidden) and _is_on_layer(each, hidden))
        placed = DrawnObject(kind, each, around.matrix, around.clip, is_off)
        if kind != raw.FPDF_PAGEOBJ_FORM:
            yield placed
        elif depth < _DEEPEST and (own := read_matrix(each)):
            inner = DrawnObject(kind, each, multiplied(own, around.matrix), find_clip(placed), is_off)
            yield from _walk(each, inner, hidden, budget, depth + 1)


def find_clip(placed: DrawnObject) -> Box | None:
    """Within which box of the page something is drawn; None for one that has no bounds."""
    own = read_clip(placed.handle)
    if own is None or not is_finite(*own[0]):
        return placed.clip
    box = moved(own[0], placed.matrix)
    return box if placed.clip is None else cut(box, placed.clip)


_MOST_MARKS: Final = 16
_LONGEST_NAME: Final = 512


def _is_on_layer(each: Any, names: Collection[str]) -> bool:
    """Whether an object is marked as of a layer of one of these names."""
    for number in range(min(max(raw.FPDFPageObj_CountMarks(each), 0), _MOST_MARKS)):
        mark = raw.FPDFPageObj_GetMark(each, number)
        if _read_mark(raw.FPDFPageObjMark_GetName, mark) == "OC":
            name = _read_mark(raw.FPDFPageObjMark_GetParamStringValue, mark, b"Name")
            if name in names:
                return True
    return False


def _read_mark(ask: Any, mark: Any, *key: bytes) -> str:
    written, length = ctypes.create_string_buffer(_LONGEST_NAME), ctypes.c_ulong()
    buffer = ctypes.cast(written, ctypes.POINTER(ctypes.c_ushort))
    if not ask(mark, *key, buffer, _LONGEST_NAME, length) or length.value > _LONGEST_NAME:
        return ""
    return written.raw[: length.value].decode("utf-16-le", "ignore").rstrip("\0")


def find_colour(each: Any) -> tuple[int, int, int, int] | None:
    """Red, green, blue and opacity in which an object is filled, of 255; None where the reader does not know."""
    parts = [ctypes.c_uint() for _ in range(4)]
    if not raw.FPDFPageObj_GetFillColor(each, *parts):
        return None
    red, green, blue, opacity = (part.value for part in parts)
    return red, green, blue, opacity


def read_bounds(each: Any) -> Box | None:
    """The edges of an object in its own space; None where they are not known."""
    edges = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(each, *edges):
        return None
    left, bottom, right, top = (edge.value for edge in edges)
    return (left, bottom, right, top) if is_finite(left, bottom, right, top) else None


def read_matrix(each: Any) -> Matrix | None:
    """The matrix of an object; None where it has none that can be used."""
    written = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(each, ctypes.byref(written)):
        return None
    matrix = (written.a, written.b, written.c, written.d, written.e, written.f)
    return matrix if is_finite(*matrix) else None


def multiplied(one: Matrix, two: Matrix) -> Matrix:
    """The matrix that does the first and then the second (ISO 32000-1, 8.3.4)."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = two
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def to_point(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    """Where a matrix moves a point."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def moved(box: Box, matrix: Matrix) -> Box:
    """The box around what a matrix makes of a box."""
    return bound([to_point(box[0], box[1], matrix), to_point(box[2], box[3], matrix)])


# --- Where the objects of a PDF page are: what they are clipped to, whether they are rectangles, and on what they stand


_MOST_SEGMENTS: Final = 12
# Points by which a letter may stand out over what it stands on; and the share of a length that is none.
_SLACK: Final = 1.0
_LITTLE: Final = 0.01
# Of a page that is drawn to look at it: points of its edges at most, and of the part; and of 255, what is white.
_LARGEST: Final = 5000
_PART: Final = 300
_WHITE: Final = 250


def read_clip(each: Any) -> tuple[Box, bool] | None:
    """Within what an object is drawn, and whether that is a rectangle; None for one that is drawn without bounds."""
    clip = raw.FPDFPageObj_GetClipPath(each)
    count = raw.FPDFClipPath_CountPaths(clip) if clip else 0
    if count <= 0:
        return None
    box: Box = (-math.inf, -math.inf, math.inf, math.inf)
    is_rectangle = True
    for path in range(count):
        size = raw.FPDFClipPath_CountPathSegments(clip, path)
        if size > _MOST_SEGMENTS:
            is_rectangle = False
            continue
        points = list(_read_points(raw.FPDFClipPath_GetPathSegment(clip, path, at) for at in range(size)))
        is_rectangle = is_rectangle and _are_corners(points)
        if points:
            box = cut(box, bound(points))
    return box, is_rectangle


def is_rectangle(path: Any) -> bool:
    """Whether a path is one rectangle that lies along the edges of the page."""
    size = raw.FPDFPath_CountSegments(path)
    if not 4 <= size <= _MOST_SEGMENTS:
        return False
    matrix = read_matrix(path)
    points = list(_read_points(raw.FPDFPath_GetPathSegment(path, at) for at in range(size)))
    return matrix is not None and is_upright(matrix) and _are_corners(points)


def _read_points(segments: Iterator[Any]) -> Iterator[tuple[float, float]]:
    x, y = ctypes.c_float(), ctypes.c_float()
    for segment in segments:
        if raw.FPDFPathSegment_GetPoint(segment, x, y) and is_finite(x.value, y.value):
            yield x.value, y.value


def _are_corners(points: Sequence[tuple[float, float]]) -> bool:
    """Whether points are the corners of one upright rectangle, in whatever order and number."""
    if len(points) < 4:
        return False
    left, bottom, right, top = bound(points)
    slack = max(min(right - left, top - bottom) * _LITTLE, 1e-6)
    met = set()
    for x, y in points:
        sides = x - left < slack, right - x < slack, y - bottom < slack, top - y < slack
        if not ((sides[0] or sides[1]) and (sides[2] or sides[3])):
            return False
        met.add((sides[0], sides[2]))
    return len(met) == 4


def bound(points: Sequence[tuple[float, float]]) -> Box:
    """The box around points."""
    across, up = [x for x, _ in points], [y for _, y in points]
    return min(across), min(up), max(across), max(up)


def is_upright(matrix: Matrix) -> bool:
    """Whether a matrix leaves what is upright so, or turns it by quarters."""
    a, b, c, d, _, _ = matrix
    return (abs(b) < _LITTLE and abs(c) < _LITTLE) or (abs(a) < _LITTLE and abs(d) < _LITTLE)


def meets(one: Box, two: Box) -> bool:
    """Whether two boxes have something in common."""
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def holds(outer: Box, inner: Box) -> bool:
    """Whether a box is within another, but for a little."""
    is_above = outer[0] <= inner[0] + _SLACK and outer[1] <= inner[1] + _SLACK
    return is_above and outer[2] >= inner[2] - _SLACK and outer[3] >= inner[3] - _SLACK


def cut(one: Box, two: Box) -> Box:
    """What two boxes have in common."""
    return max(one[0], two[0]), max(one[1], two[1]), min(one[2], two[2]), min(one[3], two[3])


def area(box: Box) -> float:
    """How large a box is, in square points."""
    return (box[2] - box[0]) * (box[3] - box[1])


def is_pale(page: Any, box: Box) -> bool:
    """Whether most of a part of an open page is white when it is drawn."""
    width, height = (min(max(int(size), 1), _LARGEST) for size in (page.get_width(), page.get_height()))
    x, y = ctypes.c_int(), ctypes.c_int()
    corners: list[tuple[int, int]] = []
    for corner in (box[:2], box[2:]):
        if not raw.FPDF_PageToDevice(page.raw, 0, 0, width, height, 0, *corner, x, y):
            return True
        corners.append((x.value, y.value))
    left, top, right, bottom = map(int, bound(corners))
    across, down = min(max(right - left, 1), _PART), min(max(bottom - top, 1), _PART)
    bitmap = raw.FPDFBitmap_Create(across, down, 0)
    if not bitmap:
        return True
    try:
        raw.FPDFBitmap_FillRect(bitmap, 0, 0, across, down, 0xFFFFFFFF)
        raw.FPDF_RenderPageBitmap(bitmap, page.raw, -left, -top, width, height, 0, 0)
        row = raw.FPDFBitmap_GetStride(bitmap)
        data = ctypes.string_at(raw.FPDFBitmap_GetBuffer(bitmap), row * down)
    finally:
        raw.FPDFBitmap_Destroy(bitmap)
    pixels = [data[at : at + 3] for start in range(0, row * down, row) for at in range(start, start + 4 * across, 4)]
    return sum(min(pixel) >= _WHITE for pixel in pixels) * 2 > len(pixels)
