"""Rows of cells become a pipe table, or plain lines where a table would say nothing."""

from __future__ import annotations

from collections.abc import Sequence


def to_table(rows: Sequence[Sequence[str]]) -> str:
    """A GitHub-flavoured table whose first row is the header; lines of text for a single column; "" if all is empty."""
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    width = max(map(len, filled), default=0)
    if width == 0:
        return ""
    if width == 1:
        return "\n\n".join(row[0].strip() for row in filled)
    lines = [_to_line(row, width) for row in filled]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _to_line(row: Sequence[str], width: int) -> str:
    cells = [" ".join(cell.split()).replace("\\", "\\\\").replace("|", "\\|") for cell in row]
    return "| " + " | ".join([*cells, *[""] * (width - len(cells))]) + " |"
