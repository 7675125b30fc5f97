"""Tables of data become rows of equal length with their spans resolved; tables that arrange a page are refused."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from lxml import etree

from specloom.core import dataclass

from .walk import TableBudget

MAX_SPAN: Final = 1000
"""What the HTML standard caps a colspan at."""
MAX_CELLS: Final = 100_000
"""Cells of a table after spans are resolved."""
MAX_TEXT: Final = 1_000_000
"""Characters of all cells of a table."""
MAX_CELL_TEXT: Final = 1000
"""Characters of a cell. A longer one is a passage that stands in a table for its layout."""
_BLOCKS: Final = ("pre", "h1", "h2", "h3", "h4", "h5", "h6", "form", "article", "section", "blockquote", "iframe")


@dataclass(frozen=True, slots=True)
class TableRow:
    """One `<tr>`: its cells in order and where it stands."""

    cells: tuple[etree._Element, ...]
    in_head: bool


def find_rows(table: etree._Element) -> list[TableRow]:
    """The rows of the table itself, those of tables inside it left out; a `tfoot` comes last."""
    rows: list[TableRow] = []
    feet: list[TableRow] = []
    for part in table:
        if part.tag == "tr":
            rows.append(TableRow(_cells(part), in_head=False))
        elif part.tag in ("thead", "tbody", "tfoot"):
            target = feet if part.tag == "tfoot" else rows
            target.extend(TableRow(_cells(tr), in_head=part.tag == "thead") for tr in part if tr.tag == "tr")
    return [row for row in rows + feet if row.cells]


def _cells(tr: etree._Element) -> tuple[etree._Element, ...]:
    return tuple(cell for cell in tr if cell.tag in ("td", "th"))


def is_data(table: etree._Element, rows: list[TableRow]) -> bool:
    """Whether rows and columns mean something: not a single column or row, nothing nested, no passages in cells."""
    if table.get("role") in ("presentation", "none") or len(rows) < 2:
        return False
    if max(len(row.cells) for row in rows) < 2:
        return False
    return next(table.iterdescendants("table", *_BLOCKS), None) is None


def render(rows: list[TableRow], to_text: Callable[[etree._Element], str], room: TableBudget) -> list[str]:
    """The lines of a pipe table, or none if it has fewer than two columns, no text, a passage for a cell or no room."""
    grid, heads = _expand(rows, to_text, room)
    if grid is None:
        return []
    filled = [index for index, row in enumerate(grid) if any(row)]
    grid, heads = [grid[index] for index in filled], [heads[index] for index in filled]
    width = max(map(len, grid), default=0)
    if not room.take(sum(width - len(row) for row in grid)):
        return []
    for row in grid:
        row.extend([""] * (width - len(row)))
    columns = [index for index in range(width) if any(row[index] for row in grid)]
    if len(columns) < 2 or not grid:
        return []
    if any(len(cell) > MAX_CELL_TEXT for row in grid for cell in row):
        return []
    body = [[row[index] for index in columns] for row in grid]
    if heads[0]:
        head, body = body[0], body[1:]
    else:
        head = [""] * len(columns)
    return [_line(head), "|" + " --- |" * len(columns), *map(_line, body)]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _expand(
    rows: list[TableRow], to_text: Callable[[etree._Element], str], room: TableBudget
) -> tuple[list[list[str]] | None, list[bool]]:
    """Each row's texts, a spanned cell in every place that it covers; and which rows are headers."""
    grid: list[list[str]] = []
    heads: list[bool] = []
    below: dict[int, tuple[int, str]] = {}
    count = size = 0
    for row in rows:
        line: list[str] = []
        following: dict[int, tuple[int, str]] = {}
        cells = iter(row.cells)
        # Where spans from above stand; the dictionary was filled from left to right.
        ahead = deque(below)
        while True:
            at = len(line)
            if at in below:
                left, text = below.pop(at)
                width = copies = 1
            else:
                cell = next(cells, None)
                if cell is None:
                    if not below:
                        break
                    # A span from above stands further right than this row's own cells reach.
                    while ahead[0] not in below:
                        ahead.popleft()
                    gap = ahead[0] - at
                    if not room.take(gap):
                        return None, []
                    line.extend([""] * gap)
                    continue
                text = escape_cell(to_text(cell))
                left, width = _span(cell, "rowspan", len(rows)), _span(cell, "colspan", MAX_SPAN)
                copies = width - 1
            count += width
            size += width * len(text)
            if count > MAX_CELLS or size > MAX_TEXT or not room.take(copies, text):
                return None, []
            for _ in range(width):
                below.pop(len(line), None)
                if left > 1:
                    following[len(line)] = (left - 1, text)
                line.append(text)
        below = following
        grid.append(line)
        heads.append(row.in_head or all(cell.tag == "th" for cell in row.cells))
    return grid, heads


def _span(cell: etree._Element, name: str, most: int) -> int:
    value = (cell.get(name) or "").strip()
    if not (value.isascii() and value.isdigit()):
        return 1
    number = int(value[:6])
    if number == 0 and name == "rowspan":
        return most
    return max(1, min(number, most))


def escape_cell(text: str) -> str:
    """The text of a cell on one line; pipes in it do not end the cell."""
    return " ".join(text.replace("|", "\\|").split())
