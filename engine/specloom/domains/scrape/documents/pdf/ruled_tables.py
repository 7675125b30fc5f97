"""Tables whose cells are ruled: lines that cross make a grid, and words stand in its cells.

A grid is a table where it has at least two rows and two columns of words, and most of its cells are whole: a form has
boxes of every width, so that its grid has many more places than boxes.
"""

from __future__ import annotations

import ctypes
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from pypdfium2 import raw

from specloom.core import dataclass

from .objects import IDENTITY, bound, find_colour, moved, read_bounds, read_matrix, to_point, walk_objects
from .table_checks import is_form
from .text import Box, TextTable, Word, is_finite, is_number, to_rows, to_table, to_text, turned

# --- The straight lines drawn on a PDF page: rules, and the edges of rectangles ---------------------------------------


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
class RuledLine:
    """A straight line along an axis: `at` is its height (or its distance from the left, for one that runs up)."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Rules:
    """The lines of a page that run across, and those that run up it."""

    across: tuple[RuledLine, ...] = ()
    upright: tuple[RuledLine, ...] = ()


def read_rules(page: Any, turn: int) -> Rules:
    """The rules of an open page of the reader after turning it, none of a page that is a drawing."""
    across: list[RuledLine] = []
    upright: list[RuledLine] = []
    try:
        for edge in _read_edges(page):
            box = turned(edge, turn)
            width, height = box[2] - box[0], box[3] - box[1]
            if height <= _THIN and width >= _SHORTEST and width > 2 * height:
                across.append(RuledLine((box[1] + box[3]) / 2, box[0], box[2]))
            elif width <= _THIN and height >= _SHORTEST and height > 2 * width:
                upright.append(RuledLine((box[0] + box[2]) / 2, box[1], box[3]))
    except OverflowError:
        return Rules()
    return Rules(_joined(across), _joined(upright))


def _joined(rules: Sequence[RuledLine]) -> tuple[RuledLine, ...]:
    """Pieces of one line as one."""
    groups: list[list[RuledLine]] = []
    for rule in sorted(rules, key=lambda each: each.at):
        if groups and rule.at - groups[-1][0].at <= _SAME:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    joined: list[RuledLine] = []
    for group in groups:
        at = sum(each.at for each in group) / len(group)
        spans: list[tuple[float, float]] = []
        for start, end in sorted((each.start, each.end) for each in group):
            if spans and start <= spans[-1][1] + _APART:
                spans[-1] = spans[-1][0], max(spans[-1][1], end)
            else:
                spans.append((start, end))
        joined += [RuledLine(at, *span) for span in spans]
    return tuple(joined)


def _read_edges(page: Any) -> Iterator[Box]:
    """The straight lines and the edges of rectangles; `OverflowError` when there are too many."""
    budget = [_MOST_SEGMENTS]
    for kind, each, matrix, *_ in walk_objects(page):
        if kind == raw.FPDF_PAGEOBJ_PATH and _is_seen(each):
            for box in _read_path(each, budget):
                yield box if matrix is IDENTITY else moved(box, matrix)


def _is_seen(path: Any) -> bool:
    """Whether a path is drawn, in another colour than that of paper."""
    fill, is_stroked = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(path, fill, is_stroked):
        return False
    if is_stroked.value or not fill.value:
        return bool(is_stroked.value)
    colour = find_colour(path)
    return colour is None or (min(colour[:3]) < _PALE and colour[3] > 0)


def _read_path(path: Any, budget: list[int]) -> Iterator[Box]:
    bounds = read_bounds(path)
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
    own = read_matrix(path)
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
    if is_finite(*one, *two) and (abs(one[0] - two[0]) < 0.5 or abs(one[1] - two[1]) < 0.5):
        yield bound([one, two])


# --- Grids of lines that cross, and the words in their cells ----------------------------------------------------------


# Points between the end of a line and another that it meets.
_MEETS: Final = 3.0
# Points by which a line that stands out of a grid at its open side is longer than by chance.
_OPEN: Final = 8.0
_MOST_CROSSINGS: Final = 200_000
_MOST_PLACES: Final = 20_000
_MOST_STEPS: Final = 1_000_000
_MOST_GRIDS: Final = 50
# Of the places of the grid how many are cells of their own, and of the cells how many have words.
_LEAST_WHOLE: Final = 0.45
_LEAST_FILLED: Final = 0.3
_LEAST_FILLED_OF_FEW: Final = 0.5
_FEW: Final = 16
_MOST_FIELDS: Final = 0.6
# Words of a cell beyond which its box holds prose.
_MOST_WORDS: Final = 150


@dataclass(frozen=True, slots=True)
class _Grid:
    columns: tuple[float, ...]
    rows: tuple[float, ...]
    """From the top."""
    rules: Rules


def find_grids(words: Sequence[Word], rules: Rules) -> list[TextTable]:
    """The ruled tables of a page, the largest first; no word is in two of them."""
    taken: set[int] = set()
    tables = []
    grids = [each for each in map(_to_grid, _connected(rules)) if len(each.columns) > 2 and len(each.rows) > 2]
    grids.sort(key=lambda each: (each.columns[0] - each.columns[-1]) * (each.rows[0] - each.rows[-1]))
    for grid in grids[:_MOST_GRIDS]:
        inside = [word for word in words if word.start not in taken and _is_inside(word, grid)]
        if inside and (table := _read(grid, inside)) is not None:
            taken.update(word.start for word in inside)
            tables.append(table)
    return tables


def _connected(rules: Rules) -> list[Rules]:
    """The lines by which others they cross."""
    upright = sorted(rules.upright, key=lambda each: each.at)
    places = [each.at for each in upright]
    lines = [*rules.across, *upright]
    roots = list(range(len(lines)))
    looked = 0
    for number, line in enumerate(rules.across):
        first, last = bisect_left(places, line.start - _MEETS), bisect_right(places, line.end + _MEETS)
        looked += last - first
        if looked > _MOST_CROSSINGS:
            return []
        for other in range(first, last):
            if upright[other].start - _MEETS <= line.at <= upright[other].end + _MEETS:
                _join(roots, number, len(rules.across) + other)
    groups: dict[int, tuple[list[RuledLine], list[RuledLine]]] = {}
    for number, line in enumerate(lines):
        groups.setdefault(_find_root(roots, number), ([], []))[number >= len(rules.across)].append(line)
    return [Rules(tuple(across), tuple(up)) for across, up in groups.values() if across and up]


def _find_root(roots: list[int], at: int) -> int:
    """The first of those that are joined with a number (union-find)."""
    while roots[at] != at:
        roots[at] = roots[roots[at]]
        at = roots[at]
    return at


def _join(roots: list[int], one: int, two: int) -> None:
    first, last = sorted((_find_root(roots, one), _find_root(roots, two)))
    roots[last] = first


def _to_grid(rules: Rules) -> _Grid:
    columns, rows = _places(rules.upright, rules.across), _places(rules.across, rules.upright)
    return _Grid(columns, tuple(reversed(rows)), rules)


def _places(lines: Sequence[RuledLine], others: Sequence[RuledLine]) -> tuple[float, ...]:
    """Where lines are, those near each other as one; the ends of the others too, where no line closes a side."""
    places: list[float] = []
    for at in sorted(each.at for each in lines):
        if not places or at - places[-1] > _MEETS:
            places.append(at)
    first, last = min(each.start for each in others), max(each.end for each in others)
    before, behind = [first] * (first < places[0] - _OPEN), [last] * (last > places[-1] + _OPEN)
    return (*before, *places, *behind)


def _is_inside(word: Word, grid: _Grid) -> bool:
    middle = word.base + 0.3 * word.size
    return grid.columns[0] - 1 <= word.middle <= grid.columns[-1] + 1 and grid.rows[-1] <= middle <= grid.rows[0]


def _read(grid: _Grid, words: Sequence[Word]) -> TextTable | None:
    """The table in a grid, None where it is none."""
    width, height = len(grid.columns) - 1, len(grid.rows) - 1
    steps = len(grid.rules.upright) * height + len(grid.rules.across) * width
    if width * height > _MOST_PLACES or steps > _MOST_STEPS:
        return None
    roots = _join_places(grid)
    cells: dict[int, list[Word]] = {}
    for word in words:
        row, column = _place(word, grid)
        cells.setdefault(roots[row * width + column], []).append(word)
    wholes = len(set(roots))
    if (
        len({number // width for number in cells}) < 2
        or len({number % width for number in cells}) < 2
        or len(cells) < max(4, (_LEAST_FILLED if wholes > _FEW else _LEAST_FILLED_OF_FEW) * wholes)
        or wholes < _LEAST_WHOLE * width * height
        or max(map(len, cells.values())) > _MOST_WORDS
        or is_form(list(map(to_text, cells.values())), _MOST_FIELDS)
    ):
        return None
    rows: list[list[list[Word]]] = []
    for row in range(height):
        rows += _split_rows([cells.get(row * width + column, []) for column in range(width)])
    table = to_table(rows)
    return table if table.width > 1 else None


def _place(word: Word, grid: _Grid) -> tuple[int, int]:
    """The row and the column of the place in which the middle of a word is."""
    middle = word.base + 0.3 * word.size
    column = bisect_right(grid.columns, word.middle) - 1
    row = bisect_right(grid.rows, -middle, key=lambda at: -at) - 1
    return min(max(row, 0), len(grid.rows) - 2), min(max(column, 0), len(grid.columns) - 2)


def _join_places(grid: _Grid) -> list[int]:
    """For each place of the grid the first of those that no line parts it from."""
    width, height = len(grid.columns) - 1, len(grid.rows) - 1
    middles = [(one + two) / 2 for one, two in pairwise(grid.columns)]
    heights = [(one + two) / 2 for one, two in pairwise(grid.rows)]
    falling = [-at for at in grid.rows]
    beside: set[tuple[int, int]] = set()
    for line in grid.rules.upright:
        number = _nearest(grid.columns, line.at)
        beside.update((row, number) for row, at in enumerate(heights) if line.start <= at <= line.end)
    below: set[tuple[int, int]] = set()
    for line in grid.rules.across:
        number = _nearest(falling, -line.at)
        below.update((number, column) for column, at in enumerate(middles) if line.start <= at <= line.end)
    roots = list(range(width * height))
    for row in range(height):
        for column in range(width):
            number = row * width + column
            if column and (row, column) not in beside:
                _join(roots, number - 1, number)
            if row and (row, column) not in below:
                _join(roots, number - width, number)
    return [_find_root(roots, number) for number in range(width * height)]


def _nearest(places: Sequence[float], at: float) -> int:
    number = bisect_left(places, at)
    if number and (number == len(places) or at - places[number - 1] < places[number] - at):
        return number - 1
    return number


def _split_rows(cells: list[list[Word]]) -> list[list[list[Word]]]:
    """The rows in a ruled row: as many as its lines where a column has a number on each of them, else one."""
    lines = to_rows(word for cell in cells for word in cell)
    used = [column for column, cell in enumerate(cells) if cell]
    if len(lines) < 2 or len(used) < 2 or len(lines) > len(cells[used[0]]):
        return [cells]
    numbers = {word.start: number for number, line in enumerate(lines) for word in line}
    parted: list[list[list[Word]]] = [[[] for _ in cells] for _ in lines]
    for column in used:
        for word in cells[column]:
            parted[numbers[word.start]][column].append(word)
    if not all(row[used[0]] for row in parted):
        return [cells]
    for column in used:
        texts = [to_text(row[column]) for row in parted if row[column]]
        if len(texts) >= max(2, 0.4 * len(lines)) and all(map(is_number, texts)):
            return parted
    return [cells]
