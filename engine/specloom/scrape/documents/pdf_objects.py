"""The objects of a PDF page as they are drawn: which there are, where they are moved to, and in which colour."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from typing import Any, Final

from specloom.scrape.documents.pdf_lines import Box

Matrix = tuple[float, float, float, float, float, float]
"""The six numbers of a transformation (ISO 32000-1, 8.3.3)."""
IDENTITY: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)

# A page of more is a map or a drawing.
_MOST_OBJECTS: Final = 20_000
_DEEPEST: Final = 3


def walk_objects(raw: Any, page: Any) -> Iterator[tuple[int, Any, Matrix]]:
    """The kind, the handle and the matrix of what is drawn on an open page, in that order.

    What is in a form stands in the form's place. `OverflowError` when there are too many.
    """
    return _walk(raw, page.raw, IDENTITY, [_MOST_OBJECTS], 0)


def _walk(raw: Any, holder: Any, matrix: Matrix, budget: list[int], depth: int) -> Iterator[tuple[int, Any, Matrix]]:
    is_form = depth > 0
    count = raw.FPDFFormObj_CountObjects(holder) if is_form else raw.FPDFPage_CountObjects(holder)
    budget[0] -= count
    if budget[0] < 0:
        raise OverflowError
    for number in range(count):
        each = raw.FPDFFormObj_GetObject(holder, number) if is_form else raw.FPDFPage_GetObject(holder, number)
        kind = raw.FPDFPageObj_GetType(each)
        if kind != raw.FPDF_PAGEOBJ_FORM:
            yield kind, each, matrix
        elif depth < _DEEPEST and (own := read_matrix(raw, each)):
            yield from _walk(raw, each, multiplied(own, matrix), budget, depth + 1)


def find_colour(raw: Any, each: Any) -> tuple[int, int, int, int] | None:
    """Red, green, blue and opacity in which an object is filled, of 255; None where the reader does not know."""
    parts = [ctypes.c_uint() for _ in range(4)]
    if not raw.FPDFPageObj_GetFillColor(each, *parts):
        return None
    red, green, blue, opacity = (part.value for part in parts)
    return red, green, blue, opacity


def read_bounds(raw: Any, each: Any) -> Box | None:
    """The edges of an object in its own space; None where they are not known."""
    edges = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(each, *edges):
        return None
    left, bottom, right, top = (edge.value for edge in edges)
    return (left, bottom, right, top) if all(map(math.isfinite, (left, bottom, right, top))) else None


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


def to_point(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    """Where a matrix moves a point."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def moved(box: Box, matrix: Matrix) -> Box:
    """The box around what a matrix makes of a box."""
    one, two = to_point(box[0], box[1], matrix), to_point(box[2], box[3], matrix)
    return min(one[0], two[0]), min(one[1], two[1]), max(one[0], two[0]), max(one[1], two[1])
