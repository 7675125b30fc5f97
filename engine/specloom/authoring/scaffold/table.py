"""A sample of lines of cells (CSV, TSV): how the engine reads it, and the same table with fewer rows and columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from specloom.core import Fault, Response, dataclass, field
from specloom.language import decode

NO_VALUES = frozenset({"na", "n/a", "nan", "null", "none", "-", "--", "."})
"""What a cell has, in any case, where a table knows nothing."""
_DELIMITERS = (",", "\t", ";", "|")
_VALUE = re.compile(r"-?\d[\d.,]*%?|\d{4}-\d{2}-\d{2}\S*|https?://\S+")
_PADDING = 12
"""Columns that an example shows at most beside those that its map reads."""


@dataclass(frozen=True, slots=True)
class CellTable:
    """The rows of a table by the names of their columns, and the decoder with the options that reads them."""

    decoder: str
    columns: Sequence[str]
    rows: Sequence[Mapping[str, str | None]]
    options: Mapping[str, Any] = field(default_factory=dict)

    def write(self, rows: Iterable[Mapping[str, Any]], needed: Iterable[str]) -> str:
        """The table with these rows, and with the columns that are needed and the first of the others."""
        columns = list(self.columns)
        if self.options.get("header", True):
            named = set(needed)
            spare = [name for name in columns if name not in named][:_PADDING]
            columns = [name for name in columns if name in named or name in spare]
        lines = [[row.get(name) or "" for name in columns] for row in rows]
        if self.options.get("header", True):
            lines.insert(0, columns)
        if self.decoder == "tsv":
            return "".join("\t".join(cells) + "\n" for cells in lines)
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.options.get("delimiter", ","), lineterminator="\n")
        writer.writerows(lines)
        return text.getvalue()


def parse_table(data: bytes) -> CellTable:
    """The table in a sample; a ValueError says why there is none."""
    try:
        text = str(decode("text", Response(200, {}, data, ""), {})["text"]).strip("\r\n")
    except Fault as fault:
        raise ValueError(str(fault)) from None
    best, fit, why = "", (0, 0), "its first line has no cells, parted by commas, tabs, semicolons or bars"
    for delimiter in _DELIMITERS:
        lines = _split(text, delimiter)
        width = len(lines[0]) if lines else 0
        if width < 2:
            continue
        same = sum(len(line) == width for line in lines[1:])
        if len(lines) < 2:
            why = "it is a single line; a table has the names of its columns in the first line, and rows below"
        elif len(lines[1]) != width or 2 * same < len(lines) - 1:
            why = (
                f"its first line has {width} cells and its second {len(lines[1])}; lines before the names of the "
                "columns are not read by `csv` and `tsv`, only by `text`"
            )
        elif (same, width) > fit:
            best, fit = delimiter, (same, width)
    if not best:
        raise ValueError(why)
    options: dict[str, Any] = {}
    if any(not cell or _VALUE.fullmatch(cell) for cell in _split(text, best)[0][:-1]):
        options["header"] = False  # names are words; a blank one is common at the end alone
    tabs = options if best == "\t" else None
    if tabs is not None and _decode("tsv", text, tabs) == _decode("csv", text, {**tabs, "delimiter": "\t"}):
        decoder = "tsv"
    else:
        decoder, options = "csv", {**options, **({} if best == "," else {"delimiter": best})}
    rows = _decode(decoder, text, options)
    return CellTable(decoder, list(rows[0]), rows, options)


def _split(text: str, delimiter: str) -> list[list[str]]:
    """The cells of each line that is not empty; none where quotes make no sense of it."""
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return []
    return [[cell.strip() for cell in line] for line in lines if any(cell.strip() for cell in line)]


def _decode(decoder: str, text: str, options: Mapping[str, Any]) -> list[dict[str, str | None]]:
    try:
        rows: list[dict[str, str | None]] = decode(decoder, Response(200, {}, text.encode(), ""), options)
    except Fault as fault:
        raise ValueError(str(fault)) from None
    return rows
