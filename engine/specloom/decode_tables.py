"""Tables of text, separated by tabs or commas, become one mapping a line, from column name to cell."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from .decode_body import is_blank, require_data, to_text, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .wire import Response

Row = dict[str, str | None]


def parse_tsv(response: Response, options: Mapping[str, Any]) -> list[Row]:
    """The rows. A tab always parts cells and a line end always ends a row; quotes only wrap a cell."""
    text = _read(response, options, "TSV")
    delimiter = options.get("delimiter", "\t")
    lines = (line.split(delimiter) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return _rows(response, options, "TSV", ([_unquote(cell) for cell in line] for line in lines))


def parse_csv(response: Response, options: Mapping[str, Any]) -> list[Row]:
    """The rows. A quoted cell may hold delimiters, line ends and doubled quotes (RFC 4180)."""
    text = _read(response, options, "CSV")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=options.get("delimiter", ","), skipinitialspace=True)
    try:
        return _rows(response, options, "CSV", ([cell.strip() for cell in line] for line in reader))
    except csv.Error as error:
        raise unreadable(response, "CSV", str(error)) from error


def _read(response: Response, options: Mapping[str, Any], form: str) -> str:
    if options.get("blank_ok") and is_blank(response):
        return ""
    require_data(response, form)
    return to_text(response)


def _rows(response: Response, options: Mapping[str, Any], form: str, lines: Iterable[list[str]]) -> list[Row]:
    filled = [line for line in lines if any(line)]
    names: list[str] = list(options.get("columns") or ())
    if options.get("header", True):
        if not filled:
            return []
        header = filled.pop(0)
        if len(header) == 1 and len(names) != 1:
            raise unreadable(response, form, "its first line is no row of column names")
        names = names or _name(header)
    names = names or [f"c{number}" for number in range(1, max(map(len, filled), default=0) + 1)]
    return [{name: (line[at] or None) if at < len(line) else None for at, name in enumerate(names)} for line in filled]


def _name(header: list[str]) -> list[str]:
    """A name for every column: a blank one is `c` and its number, a repeated one gets its number behind it."""
    names: list[str] = []
    for number, name in enumerate(header, 1):
        unique = name or f"c{number}"
        while unique in names:
            unique = f"{unique}_{number}"
        names.append(unique)
    return names


def _unquote(cell: str) -> str:
    cell = cell.strip()
    if len(cell) >= 2 and cell[0] == cell[-1] == '"':
        cell = cell[1:-1].replace('""', '"').strip()
    return cell
