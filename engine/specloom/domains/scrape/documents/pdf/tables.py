"""The tables of a PDF page: which words are in one, and the lines of the page with the tables in their places.

A table is told by the lines drawn around its cells (`ruled_tables`) or by rows that break at the same places; what is
not told with confidence stays the text that it is. No word is lost, doubled or changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise
from typing import Any, Final

from specloom.core import dataclass

from .ruled_tables import Rules, find_grids, read_rules
from .table_checks import is_table
from .text import Letters, Placed, TextLine, TextTable, Word, clean, is_number, to_rows, to_table, to_text

# --- Rows of a table that lines part from each other, and whose cells go on in the lines of text below them -----------
# Lines across a table part single rows, or groups of them. They part rows where a cell that stands on one line is
# beside one that goes on, and no column has two numbers between two lines.


Cells = Sequence[Sequence[Word]]

_LEAST_BANDS: Final = 3
_MOST_LINES: Final = 8
"""Lines of text of the highest row."""
_CLEAR: Final = 0.6
"""Of the bands of several lines, how many have to show that they are one row."""


def join_bands(rows: Sequence[Cells], bases: Sequence[float], lines: Sequence[float]) -> list[list[list[Word]]] | None:
    """The rows with those joined that no line parts; None where lines part groups of rows, or every line of text.

    `bases` are the base lines of the rows, and `lines` the places of lines across them, both in points from below.
    """
    bands: list[list[Cells]] = []
    last = -1
    for row, base in zip(rows, bases, strict=True):
        above = sum(at > base for at in lines)
        if above != last:
            bands.append([])
        last = above
        bands[-1].append(row)
    long = [band for band in bands if len(band) > 1]
    if len(bands) < _LEAST_BANDS or not long or max(map(len, long)) > _MOST_LINES:
        return None
    # What stands between the first two lines is the head, whose words may be set in any way.
    body = [band for band in bands[1:] if len(band) > 1]
    if any(map(_has_numbers, body)) or sum(map(_is_clear, long)) < _CLEAR * len(long):
        return None
    return [[[word for row in band for word in row[at]] for at in range(len(band[0]))] for band in bands]


def _has_numbers(band: Sequence[Cells]) -> bool:
    """Whether a column has a number on two lines: then each is a row."""
    return any(sum(is_number(to_text(cell)) for cell in column if cell) > 1 for column in zip(*band, strict=True))


def _is_clear(band: Sequence[Cells]) -> bool:
    """Whether one column has a single line, and another goes on."""
    counts = [sum(map(bool, column)) for column in zip(*band, strict=True)]
    return 1 in counts and max(counts) > 1


# --- Tables without a grid: rows that break at the same places; `pdf_judging` says whether they are a table -----------


# In sizes of the letters: a gap between cells, the least room between columns, how far words may stand in it, the
# most between rows of a table.
_GAP: Final = 0.85
_LEAST_ROOM: Final = 0.5
_SLACK: Final = 0.2
_MOST_LEADING: Final = 3.2
# A line that begins so much above the one before it is in another column of the page.
_NEXT_COLUMN: Final = 6.0
# Lines of one piece that may stand between rows of a table: headings of groups, cells that go on.
_MOST_BETWEEN: Final = 2
_PROSE: Final = 12
# Of the rows that break, how many may run over the room between two columns: heads over several columns.
_RUN_OVER: Final = 0.12
_MOST_COLUMNS: Final = 40
# So many lines across a block make a table likelier: one below its head and one that ends it.
_ALIGNED_RULED: Final = 2
# Of the cells that lines part, how many may be several by their gaps.
_UNPARTED: Final = 0.15
_MOST_ROWS: Final = 500
_DEEPEST: Final = 4
# Rows that break of a stretch that is looked at in parts.
_LEAST_PARTED: Final = 4


@dataclass(slots=True)
class _Row:
    """A row of words, and the pieces of it that wide gaps leave."""

    words: list[Word]
    pieces: list[list[Word]]

    @property
    def base(self) -> float:
        return self.words[0].base

    @property
    def size(self) -> float:
        return max(word.size for word in self.words)


def find_aligned(
    words: Sequence[Word], rules: Rules, is_fixed: Callable[[int], bool], *, is_whole: bool = False
) -> list[TextTable]:
    """The tables of a page that have no grid; `words` in the order of the file, without those of other tables.

    `is_fixed` tells whether the letter at an index is of a font for code; `is_whole`, that the words are not those of
    several columns of a page.
    """
    flows = [words] if is_whole else _flows(words)
    blocks = [block for flow in flows for block in _blocks([_Row(row, _pieces(row)) for row in to_rows(flow)])]
    return [table for block in blocks for table in _read(block, rules, is_fixed, 0)]


def has_gaps(table: TextTable) -> bool:
    """Whether many cells of a ruled table are several cells by the gaps in them."""
    filled = [cell for row in table.rows for cell in row if cell]
    gaps = sum(1 for cell in filled if any(len(_pieces(row)) > 1 for row in to_rows(cell)))
    return gaps > _UNPARTED * len(filled)


def _flows(words: Sequence[Word]) -> list[list[Word]]:
    """Words by the columns of the page: a new one begins where the file goes back up the page."""
    flows: list[list[Word]] = []
    lowest = 0.0
    before = -1
    for word in words:
        if word.line != before and (not flows or word.base > lowest + _NEXT_COLUMN * word.size):
            flows.append([])
            lowest = word.base
        before = word.line
        lowest = min(lowest, word.base)
        flows[-1].append(word)
    return flows


def _pieces(row: Sequence[Word]) -> list[list[Word]]:
    pieces: list[list[Word]] = []
    right = 0.0
    for word in row:
        if pieces and word.left - right < _GAP * word.size:
            pieces[-1].append(word)
        else:
            pieces.append([word])
        right = max(right, word.right) if len(pieces[-1]) > 1 else word.right
    return pieces


def _blocks(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Stretches of rows that follow each other closely, from one that breaks to another that does."""
    blocks: list[list[_Row]] = []
    now: list[_Row] = []
    whole: list[_Row] = []

    def close() -> None:
        if len(now) >= 2:
            blocks.append(now.copy())
        now.clear()
        whole.clear()

    for row in rows:
        before = whole[-1] if whole else now[-1] if now else None
        if before is not None and before.base - row.base > _MOST_LEADING * max(before.size, row.size):
            close()
        if len(row.pieces) > 1:
            now += whole
            whole.clear()
            now.append(row)
        elif now:
            whole.append(row)
            if len(whole) > _MOST_BETWEEN or len(row.words) >= _PROSE:
                close()
    close()
    return blocks


def _read(block: Sequence[_Row], rules: Rules, is_fixed: Callable[[int], bool], depth: int) -> list[TextTable]:
    """The tables in a stretch of rows; where the whole is none, those in its parts."""
    broken = [row for row in block if len(row.pieces) > 1]
    if len(broken) < 2 or len(block) > _MOST_ROWS:
        return []
    usual = sorted(len(row.pieces) for row in broken)[len(broken) // 2]
    # Heads over several columns have fewer pieces than the rows below them.
    rooms = _rooms([row for row in broken if len(row.pieces) >= usual])
    if rooms and len(rooms) < _MOST_COLUMNS:
        cells = [_cells(row, rooms) for row in block]
        across = _find_across(block, rules)
        cells = join_bands(cells, [row.base for row in block], across) or cells
        if is_table(cells, is_ruled=len(across) >= _ALIGNED_RULED, is_fixed=is_fixed):
            table = to_table(cells)
            return [table] if table.width > 1 else []
    if depth >= _DEEPEST or len(broken) < _LEAST_PARTED:
        return []
    at = max(range(1, len(block)), key=lambda number: _break(block, number))
    return [table for part in (block[:at], block[at:]) for table in _read(_trimmed(part), rules, is_fixed, depth + 1)]


def _break(block: Sequence[_Row], number: int) -> float:
    """How much parts a row from the one above it: the distance, and that either does not break."""
    one, two = block[number - 1], block[number]
    gap = (one.base - two.base) / max(one.size, two.size)
    return gap + (1.0 if len(one.pieces) != len(two.pieces) else 0.0)


def _trimmed(block: Sequence[_Row]) -> Sequence[_Row]:
    """The rows from the first that breaks to the last."""
    broken = [at for at, row in enumerate(block) if len(row.pieces) > 1]
    return block[broken[0] : broken[-1] + 1] if broken else ()


def _rooms(rows: Sequence[_Row]) -> list[tuple[float, float]]:
    """The stretches across the rows that next to none of their pieces runs over."""
    events: list[tuple[float, int]] = []
    for row in rows:
        for piece in row.pieces:
            events += [(piece[0].left, 1), (max(word.right for word in piece), -1)]
    size = sorted(row.size for row in rows)[len(rows) // 2]
    most = int(_RUN_OVER * len(rows))
    rooms: list[tuple[float, float]] = []
    depth, start = 0, None
    for at, change in sorted(events):
        depth += change
        if depth <= most and start is None:
            start = at
        elif depth > most and start is not None:
            if at - start >= _LEAST_ROOM * size:
                rooms.append((start, at))
            start = None
    return rooms


def _cells(row: _Row, rooms: Sequence[tuple[float, float]]) -> list[list[Word]]:
    """The words of a row by column; what runs over a room without a break stays whole, where it begins."""
    cells: list[list[Word]] = [[] for _ in range(len(rooms) + 1)]
    for piece in row.pieces:
        column = _column(piece[0], rooms)
        cells[column].append(piece[0])
        for one, word in pairwise(piece):
            now = _column(word, rooms)
            slack = _SLACK * word.size
            if any(one.right <= room[0] + slack and word.left >= room[1] - slack for room in rooms[column:now]):
                column = now
            cells[column].append(word)
    return cells


def _column(word: Word, rooms: Sequence[tuple[float, float]]) -> int:
    middle = word.left + min(word.right - word.left, word.size) / 2
    return sum(1 for room in rooms if middle > (room[0] + room[1]) / 2)


def _find_across(block: Sequence[_Row], rules: Rules) -> list[float]:
    """Where lines run across a block, just above and below it included."""
    left = min(word.left for row in block for word in row.words)
    right = max(word.right for row in block for word in row.words)
    size = block[0].size
    top, bottom = block[0].base + 2.5 * size, block[-1].base - 1.5 * size
    return [
        rule.at
        for rule in rules.across
        if bottom <= rule.at <= top and min(rule.end, right) - max(rule.start, left) > 0.6 * (right - left)
    ]


# --- The tables of a page, and the lines with each table in its place -------------------------------------------------


# A page of more is no page to read tables from.
_MOST_WORDS: Final = 20_000
# Of the words of a grid how many a reading by gaps has to take, to be preferred.
_MOST_OF: Final = 0.8
_WORD: Final = re.compile(r"\S+")


def find_tables(page: Any, letters: Letters, lines: Sequence[Placed]) -> list[TextTable]:
    """The tables of an open page of the reader, ruled ones first."""
    turn = letters.find_turn()
    rules = read_rules(page, turn)
    words = letters.words(lines, turn)
    if len(words) > _MOST_WORDS:
        return []
    tables: list[TextTable] = []
    for grid in find_grids(words, rules):
        inside = sorted(grid.words, key=lambda each: each.start)
        # Lines may part only some of the rows or columns.
        aligned = find_aligned(inside, rules, letters.is_fixed, is_whole=True) if has_gaps(grid) else []
        whole = max(aligned, key=lambda each: len(each.words), default=grid)
        is_better = len(whole.words) > _MOST_OF * len(inside) and whole.width >= grid.width
        tables.append(whole if is_better else grid)
    taken = {word.start for table in tables for word in table.words}
    rest = [word for word in words if word.start not in taken]
    return [*tables, *find_aligned(rest, rules, letters.is_fixed)]


def place(letters: Letters, lines: Sequence[Placed], tables: Sequence[TextTable]) -> list[Placed]:
    """The lines with each table in the place of the first line that has a word of it; the other words stay."""
    owners = {word.start: number for number, table in enumerate(tables) for word in table.words}
    if not owners:
        return list(lines)
    placed: list[Placed] = []
    put: set[int] = set()
    for line, start, end in lines:
        matches = _WORD.finditer(letters.text, start, end)
        for number, words in groupby(matches, key=lambda word: owners.get(word.start())):
            if number is None:
                spans = [word.span() for word in words]
                span = spans[0][0], spans[-1][1]
                placed.append((line if span == (start, end) else letters.line(*span), *span))
            elif number not in put:
                put.add(number)
                placed.append((_to_line(tables[number]), 0, 0))
    return placed


def _to_line(table: TextTable) -> TextLine:
    """A table as a line without text, whose cells it has."""
    words = table.words
    rows = tuple(tuple(clean(to_text(cell)) for cell in row) for row in table.rows)
    return TextLine(
        "",
        min(word.left for word in words),
        max(word.right for word in words),
        max(word.base + 0.7 * word.size for word in words),
        min(word.base - 0.2 * word.size for word in words),
        words[0].size,
        rows,
    )
