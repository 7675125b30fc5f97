"""A spreadsheet as Markdown: each sheet under its name, its rows as pipe tables with what its cells show.

Read from the parts of ECMA-376 (SpreadsheetML). Formulas are told by the values that the file keeps of them; hidden
sheets, rows and columns are left out and counted.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from lxml import etree

from specloom.core import Fault

from ..metadata.dates import to_iso
from .document import Document, Limits, to_table, to_title
from .docx_styles import to_int
from .office import Archive, attribute, child, children, get_relation, properties, to_authors

# --- What the numbers of a spreadsheet show by their formats: dates, shares in per cent, and plain numbers ------------


# Formats that a file does not spell out (ECMA-376 part 1, 18.8.30): of days, of times, and of shares with decimals.
_DAYS: Final = frozenset({14, 15, 16, 17, 22, *range(27, 32), *range(34, 37), *range(50, 59)})
_TIMES: Final = frozenset({18, 19, 20, 21, 32, 33, 45, 47})
_SHARES: Final = {9: 0, 10: 2}
# What stands in quotes, brackets or behind a backslash in a format is no sign of it.
_LITERAL: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
# Days are counted from here on; the calendar of old Macintoshes began later (18.17.4.1).
_FIRST_DAY: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - a sheet knows no time zones
_FIRST_DAY_1904: Final = datetime(1904, 1, 1)  # noqa: DTZ001
_MOST_DAYS: Final = 2_958_466
_LONGEST_NUMBER: Final = 30


@dataclass(frozen=True, slots=True)
class Formats:
    """The formats of a workbook by the number that cells name, and the day from which it counts."""

    kinds: tuple[str, ...]
    """`day`, `time` or `both` for dates, `hours` for lengths of time, `%2` for shares with so many decimals."""
    first_day: datetime

    def show(self, said: str, number: int) -> str:
        """What a cell with a number shows; what is no number as it stands."""
        kind = self.kinds[number] if 0 <= number < len(self.kinds) else ""
        try:
            value = float(said)
        except ValueError:
            return " ".join(said.split())
        if not math.isfinite(value) or len(said) > _LONGEST_NUMBER:
            return said[:_LONGEST_NUMBER]
        if kind.startswith("%"):
            return f"{value * 100:.{kind[1:]}f}%"
        if kind == "hours" and abs(value) < _MOST_DAYS:
            hours, minutes = divmod(round(abs(value) * 1440), 60)
            return f"{'-' * (value < 0)}{hours}:{minutes:02}"
        if kind and 0 <= value < _MOST_DAYS:
            return self._show_date(value, kind)
        # Without the digits that only binary arithmetic made.
        return f"{value:.15g}" if abs(value) < 1e15 else said

    def _show_date(self, value: float, kind: str) -> str:
        moment = self.first_day + timedelta(seconds=round(value * 86_400))
        day, clock = moment.date().isoformat(), moment.time().isoformat("seconds").removesuffix(":00")
        if kind == "time" or (kind == "both" and value < 1):
            return clock
        return day if kind == "day" or value == int(value) else f"{day} {clock}"


def read_formats(styles: etree._Element | None, workbook: etree._Element | None) -> Formats:
    """The formats in the styles of a workbook."""
    own = {
        to_int(attribute(each, "numFmtId")): attribute(each, "formatCode")
        for each in children(child(styles, "numFmts"), "numFmt")
    }
    numbers = (to_int(attribute(each, "numFmtId")) for each in children(child(styles, "cellXfs"), "xf"))
    is_1904 = attribute(child(workbook, "workbookPr"), "date1904") in ("1", "true")
    return Formats(tuple(_to_kind(number, own) for number in numbers), _FIRST_DAY_1904 if is_1904 else _FIRST_DAY)


def _to_kind(number: int, own: dict[int, str]) -> str:
    if number in own:
        code = _LITERAL.sub("", own[number]).lower().partition(";")[0]
        if "%" in code:
            return f"%{min(len(code.partition('.')[2].partition('%')[0]), 9)}"
        if "[h" in code:
            return "hours"
        has_day, has_time = any(each in code for each in "yd"), any(each in code for each in "hs")
        # `m` alone is a month, and minutes beside hours or seconds.
        has_day = has_day or ("m" in code and not has_time)
        return "both" if has_day and has_time else "day" if has_day else "time" if has_time else ""
    if number in _SHARES:
        return f"%{_SHARES[number]}"
    if number == 46:
        return "hours"
    return "both" if number == 22 else "day" if number in _DAYS else "time" if number in _TIMES else ""


_PLACE: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
# A sheet has 16,384 columns; nobody reads a table of more than this.
_WIDEST: Final = 256
_SHOWN: Final = frozenset({"", "visible"})
_ON: Final = frozenset({"1", "true"})


@dataclass(slots=True)
class _Book:
    archive: Archive
    formats: Formats
    strings: list[str]
    cells: int
    deadline: float
    text: int
    hidden: int = 0
    is_cut: bool = False
    parts: list[str] = field(default_factory=list)


def read_xlsx(body: bytes, limits: Limits) -> Document:
    """The spreadsheets in an XLSX file. Fault `content_empty` when it is broken or has nothing in it."""
    deadline = time.monotonic() + limits.seconds
    archive = Archive(body, limits)
    part = archive.related("", "officeDocument") or "xl/workbook.xml"
    root = archive.xml(part)
    links = archive.relations(part)
    sheets = list(children(child(root, "sheets"), "sheet"))
    if not sheets:
        raise Fault("content_empty", "This XLSX file has no sheets in it.", action="inform_user")
    book = _Book(
        archive,
        read_formats(archive.optional(archive.related(part, "styles")), root),
        _read_strings(archive.xml(archive.related(part, "sharedStrings"))),
        limits.cells,
        deadline,
        limits.text,
    )
    told: set[str] = set()
    for sheet in sheets:
        target = links.get(get_relation(sheet), "")
        if attribute(sheet, "state") not in _SHOWN:
            book.hidden += 1
        elif time.monotonic() > deadline:
            book.is_cut = True
        # No sheet is there twice, except in a file that was made to keep its reader busy.
        elif target not in told and not book.is_cut:
            told.add(target)
            _add_sheet(book, attribute(sheet, "name"), target)
    if not book.parts:
        raise Fault("content_empty", "The sheets of this XLSX file have nothing in them.", action="inform_user")
    found = properties(archive)
    return Document(
        "xlsx",
        "\n\n".join(book.parts)[: limits.text],
        title=to_title(found.get("title", ""), ""),
        authors=to_authors(found),
        published=to_iso(found.get("created", "")),
        modified=to_iso(found.get("modified", "")),
        language=found.get("language", ""),
        metadata=found,
        truncated=book.is_cut,
        stripped={"hidden": book.hidden} if book.hidden else {},
    )


def _add_sheet(book: _Book, name: str, part: str) -> None:
    """A sheet that has something in it, its rows in tables that empty rows part."""
    root = book.archive.xml(part) if part else None
    hidden = _find_hidden_columns(root)
    rows = _read_rows(root, hidden, book)
    tables: list[str] = []
    for is_filled, group in groupby(rows, lambda row: any(row.values())):
        block = list(group)
        if is_filled:
            left = min(at for row in block for at, text in row.items() if text)
            width = max(at for row in block for at, text in row.items() if text) + 1
            tables.append(to_table([[row.get(at, "") for at in range(left, width)] for row in block]))
    if tables:
        book.parts += [f"## {' '.join(name.split())}", *tables]


def _find_hidden_columns(root: etree._Element | None) -> frozenset[int]:
    hidden: set[int] = set()
    for column in children(child(root, "cols"), "col"):
        if attribute(column, "hidden") in _ON:
            first, last = to_int(attribute(column, "min")), to_int(attribute(column, "max"))
            hidden.update(range(first - 1, min(last, _WIDEST)))
    return frozenset(hidden)


def _read_rows(root: etree._Element | None, hidden: frozenset[int], book: _Book) -> Iterator[Mapping[int, str]]:
    """The rows of a sheet by column, an empty one where the sheet skips some, until a limit is reached."""
    before = 0
    left_out: set[int] = set()
    for row in children(child(root, "sheetData"), "row"):
        number = to_int(attribute(row, "r"), before + 1)
        if attribute(row, "hidden") in _ON:
            book.hidden += len(row) > 0
            continue
        if number > before + 1:
            yield {}
        before = number
        if book.cells < 0 or book.text < 0 or time.monotonic() > book.deadline:
            book.is_cut = True
            break
        cells: dict[int, str] = {}
        at = -1
        for cell in children(row, "c"):
            at = _to_column(attribute(cell, "r"), at + 1)
            if at >= _WIDEST:
                book.is_cut = True
                break
            text = _read_cell(cell, book)
            if at in hidden:
                left_out |= {at} if text else set()
                continue
            book.cells -= 1
            book.text -= len(text)
            cells[at] = text
        yield cells
    book.hidden += len(left_out)


def _to_column(place: str, following: int) -> int:
    """The column of a cell from 0: that of its place (`AB12`), else the one that follows."""
    match = _PLACE.fullmatch(place)
    if not match:
        return following
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1


def _read_cell(cell: etree._Element, book: _Book) -> str:
    """What a cell shows."""
    kind = attribute(cell, "t")
    if kind == "inlineStr":
        return _to_text(child(cell, "is"))
    value = child(cell, "v")
    said = (value.text or "").strip() if value is not None else ""
    if kind == "s":
        number = to_int(said, -1)
        return book.strings[number] if 0 <= number < len(book.strings) else ""
    if kind == "b":
        return {"1": "TRUE", "0": "FALSE"}.get(said, said)
    if kind in ("str", "e", "d"):
        return " ".join(said.split())
    return book.formats.show(said, to_int(attribute(cell, "s")))


def _read_strings(root: etree._Element | None) -> list[str]:
    return [_to_text(each) for each in children(root, "si")]


def _to_text(element: etree._Element | None) -> str:
    """A text and its runs, without the readings above them."""
    parts = [each.text or "" for each in children(element, "t")]
    parts += [each.text or "" for run in children(element, "r") for each in children(run, "t")]
    return " ".join("".join(parts).split())
