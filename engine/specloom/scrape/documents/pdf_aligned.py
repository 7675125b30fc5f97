"""Tables without a grid: rows that break at the same places; `pdf_judging` says whether they are a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from specloom.scrape.documents.pdf_bands import join_bands
from specloom.scrape.documents.pdf_judging import is_table
from specloom.scrape.documents.pdf_rules import Rules
from specloom.scrape.documents.pdf_words import Table, Word, to_rows, to_table

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
_RULED: Final = 2
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
) -> list[Table]:
    """The tables of a page that have no grid; `words` in the order of the file, without those of other tables.

    `is_fixed` tells whether the letter at an index is of a font for code; `is_whole`, that the words are not those of
    several columns of a page.
    """
    found: list[Table] = []
    for flow in [words] if is_whole else _flows(words):
        rows = [_Row(row, _pieces(row)) for row in to_rows(flow)]
        for block in _blocks(rows):
            found += _read(block, rules, is_fixed, 0)
    return found


def has_gaps(table: Table) -> bool:
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


def _read(block: Sequence[_Row], rules: Rules, is_fixed: Callable[[int], bool], depth: int) -> list[Table]:
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
        joined = join_bands(cells, [row.base for row in block], across)
        cells = joined or cells
        if is_table(cells, is_ruled=len(across) >= _RULED, is_parted=bool(joined), is_fixed=is_fixed):
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


def _trimmed(block: Sequence[_Row]) -> list[_Row]:
    kept = list(block)
    while kept and len(kept[0].pieces) < 2:
        kept.pop(0)
    while kept and len(kept[-1].pieces) < 2:
        kept.pop()
    return kept


def _rooms(rows: Sequence[_Row]) -> list[tuple[float, float]]:
    """The stretches across the rows that next to none of their pieces runs over."""
    events: list[tuple[float, int]] = []
    for row in rows:
        for piece in row.pieces:
            events += [(piece[0].left, 1), (max(word.right for word in piece), -1)]
    size = sorted(row.size for row in rows)[len(rows) // 2]
    most = int(_RUN_OVER * len(rows))
    found: list[tuple[float, float]] = []
    depth, start = 0, None
    for at, change in sorted(events):
        depth += change
        if depth <= most and start is None:
            start = at
        elif depth > most and start is not None:
            if at - start >= _LEAST_ROOM * size:
                found.append((start, at))
            start = None
    if len(found) > 2 * _MOST_COLUMNS:
        return []
    # Before the first and behind the last column there is no room between two.
    return [room for room in found if _stand_beside(rows, room)]


def _stand_beside(rows: Sequence[_Row], room: tuple[float, float]) -> bool:
    """Whether words stand on both sides of a room in two rows at least."""
    both = 0
    for row in rows:
        is_left = any(word.right <= room[0] + 0.1 for word in row.words)
        both += is_left and any(word.left >= room[1] - 0.1 for word in row.words)
    return both >= 2


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
