"""A spreadsheet as Markdown: each sheet under its name, its rows as pipe tables with what its cells show.

Read from the parts of ECMA-376 (SpreadsheetML). Formulas are told by the values that the file keeps of them; hidden
sheets, rows and columns are left out and counted, and so are cells that show nothing by their format, or in letters as
white as the cell or of one point.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Final

from .document import Document, Limits, refuse, to_table
from .office import (
    FIRST_DAY,
    Archive,
    Element,
    attribute,
    child,
    children,
    get_relation,
    is_on,
    show_number,
    to_int,
)

_PLACE: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
# A sheet has 16,384 columns; nobody reads a table of more than this.
_WIDEST: Final = 256
_SHOWN: Final = frozenset({"", "visible"})
# The calendar of old Macintoshes began later (18.17.4.1).
_FIRST_DAY_1904: Final = datetime(1904, 1, 1)  # noqa: DTZ001 - a sheet knows no time zones


def read_xlsx(body: bytes, limits: Limits) -> Document:
    """The spreadsheets in an XLSX file. Fault `content_empty` when it is broken or has nothing in it."""
    archive = Archive(body, limits)
    part = archive.related("", "officeDocument", "xl/workbook.xml")
    root = archive.xml(part)
    links = archive.relations(part)
    sheets = list(children(child(root, "sheets"), "sheet"))
    if not sheets:
        raise refuse("This XLSX file has no sheets in it.")
    reader = _SheetReader(archive, part, root)
    read: set[str] = set()
    parts: list[str] = []
    for sheet in sheets:
        target = links.get(get_relation(sheet), "")
        if attribute(sheet, "state") not in _SHOWN:
            archive.hidden += 1
        elif archive.is_late:
            reader.is_cut = True
        # No sheet is there twice, except in a file that was made to keep its reader busy.
        elif target not in read and not reader.is_cut:
            read.add(target)
            if tables := reader.read_tables(target):
                parts += [f"## {' '.join(attribute(sheet, 'name').split())}", *tables]
    if not parts:
        raise refuse("The sheets of this XLSX file have nothing in them.")
    return archive.to_document("xlsx", "\n\n".join(parts)[: limits.text], is_cut=reader.is_cut)


class _SheetReader:
    """Reads sheets of a workbook: its formats and texts, and how much may still be read."""

    def __init__(self, archive: Archive, part: str, workbook: Element | None) -> None:
        self.is_cut = False
        self._archive = archive
        self._room = archive.limits.text
        styles = archive.optional(archive.related(part, "styles"))
        self._kinds = _read_kinds(styles)
        looks = _read_unseen(styles)
        self._unseen = looks if any(looks) else []
        self._may_be_coloured = False
        strings = archive.xml(archive.related(part, "sharedStrings"))
        self._strings = [_to_text(each) for each in children(strings, "si")]
        is_1904 = is_on(attribute(child(workbook, "workbookPr"), "date1904"))
        self._first_day = _FIRST_DAY_1904 if is_1904 else FIRST_DAY

    def read_tables(self, part: str) -> list[str]:
        """The rows of a sheet in tables that empty rows part."""
        root = self._archive.xml(part) if part else None
        tables: list[str] = []
        for is_filled, group in groupby(self._read_rows(root), lambda row: any(row.values())):
            if is_filled:
                block = list(group)
                columns = [at for row in block for at, text in row.items() if text]
                used = range(min(columns), max(columns) + 1)
                tables.append(to_table([[row.get(at, "") for at in used] for row in block]))
        return tables

    def _read_rows(self, root: Element | None) -> Iterator[Mapping[int, str]]:
        """The rows of a sheet by column, an empty one where the sheet skips some, until a limit is reached."""
        before = 0
        hidden, left_out = _find_hidden_columns(root), set[int]()
        # Nobody can say what is below a cell where a table's style, a rule or a picture colours the sheet.
        self._may_be_coloured = any(True for _ in children(root, "tableParts", "conditionalFormatting", "picture"))
        for row in children(child(root, "sheetData"), "row"):
            number = to_int(attribute(row, "r"), before + 1)
            if is_on(attribute(row, "hidden")):
                self._archive.hidden += len(row) > 0
                continue
            if number > before + 1:
                yield {}
            before = number
            if self._archive.cells < 0 or self._room < 0 or self._archive.is_late:
                self.is_cut = True
                break
            cells: dict[int, str] = {}
            at = -1
            for cell in children(row, "c"):
                at = _to_column(attribute(cell, "r"), at + 1)
                if at >= _WIDEST:
                    self.is_cut = True
                    break
                text = self._read_cell(cell)
                if text and self._unseen and at not in hidden and self._is_unseen(cell):
                    self._archive.hidden += 1
                    text = ""
                if at in hidden:
                    left_out |= {at} if text else set()
                    continue
                self._archive.cells -= 1
                self._room -= len(text)
                cells[at] = text
            yield cells
        self._archive.hidden += len(left_out)

    def _is_unseen(self, cell: Element) -> bool:
        """Whether a cell that has a text shows none."""
        number = to_int(attribute(cell, "s"))
        look = self._unseen[number] if number < len(self._unseen) else ""
        is_text = attribute(cell, "t") in ("s", "str", "inlineStr")
        return look in ("all", *(["numbers"] if not is_text else []), *(["white"] if not self._may_be_coloured else []))

    def _read_cell(self, cell: Element) -> str:
        """What a cell shows."""
        kind = attribute(cell, "t")
        if kind == "inlineStr":
            return _to_text(child(cell, "is"))
        value = child(cell, "v")
        text = (value.text or "").strip() if value is not None else ""
        if kind == "s":
            number = to_int(text, -1)
            return self._strings[number] if 0 <= number < len(self._strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        if kind in ("str", "e", "d"):
            return " ".join(text.split())
        number = to_int(attribute(cell, "s"))
        return show_number(text, self._kinds[number] if number < len(self._kinds) else "", self._first_day)


def _find_hidden_columns(root: Element | None) -> frozenset[int]:
    hidden: set[int] = set()
    for column in children(child(root, "cols"), "col"):
        if is_on(attribute(column, "hidden")):
            first, last = to_int(attribute(column, "min")), to_int(attribute(column, "max"))
            hidden.update(range(first - 1, min(last, _WIDEST)))
    return frozenset(hidden)


def _to_column(place: str, following: int) -> int:
    """The column of a cell from 0: that of its place (`AB12`), else the one that follows."""
    match = _PLACE.fullmatch(place)
    if not match:
        return following
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1


def _to_text(element: Element | None) -> str:
    """A text and its runs, without the readings above them."""
    parts = [*children(element, "t"), *(each for run in children(element, "r") for each in children(run, "t"))]
    return " ".join("".join(part.text or "" for part in parts).split())


# --- What the numbers of a spreadsheet show by their formats: see `office.show_number` --------------------------------


# Formats that a file does not spell out (ECMA-376 part 1, 18.8.30): of days, of times, and of shares with decimals.
_USUAL: Final = {
    **dict.fromkeys((14, 15, 16, 17, *range(27, 32), *range(34, 37), *range(50, 59)), "day"),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 45, 47), "time"),
    9: "%0",
    10: "%2",
    22: "both",
    46: "hours",
}
# What stands in quotes, brackets or behind a backslash in a format is no sign of it.
_LITERAL: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\[\]]*\]', re.IGNORECASE)


def _read_kinds(styles: Element | None) -> list[str]:
    """What kind of number each format in the styles of a workbook shows, by the number that cells name."""
    own = {
        to_int(attribute(each, "numFmtId")): _to_kind(attribute(each, "formatCode"))
        for each in children(child(styles, "numFmts"), "numFmt")
    }
    numbers = (to_int(attribute(each, "numFmtId")) for each in children(child(styles, "cellXfs"), "xf"))
    return [own.get(number, _USUAL.get(number, "")) for number in numbers]


def _to_kind(code: str) -> str:
    code = _LITERAL.sub("", code).lower().partition(";")[0]
    if "%" in code:
        return f"%{min(len(code.partition('.')[2].partition('%')[0]), 9)}"
    if "[h" in code:
        return "hours"
    has_time = any(each in code for each in "hs")
    # `m` alone is a month, and minutes beside hours or seconds.
    has_day = any(each in code for each in "yd") or ("m" in code and not has_time)
    return "both" if has_day and has_time else "day" if has_day else "time" if has_time else ""


# --- What the formats of a spreadsheet leave unseen -------------------------------------------------------------------


# Points: one and less is read by nobody.
_TINY: Final = 1.0
# Of 255, in each colour: what is less is not as white as paper.
_PALE: Final = 245
_COLOUR: Final = re.compile(r"(?:[0-9a-fA-F]{2})?([0-9a-fA-F]{6})")
# A format each of whose parts shows nothing (18.8.31): for numbers, and for texts in the fourth.
_NOTHING: Final = re.compile(r'(?:[; ]|""|\[[A-Za-z]+\])*')


def _read_unseen(styles: Element | None) -> list[str]:
    """What each format in the styles of a workbook leaves unseen, by the number that cells name.

    `all`; `numbers`, which show nothing by their format; `white`, all of it where nothing else colours the cell.
    """
    own = {
        to_int(attribute(each, "numFmtId")): attribute(each, "formatCode")
        for each in children(child(styles, "numFmts"), "numFmt")
    }
    fonts = [_to_font(each) for each in children(child(styles, "fonts"), "font")]
    fills = [_is_filled(each) for each in children(child(styles, "fills"), "fill")]
    looks = []
    for each in children(child(styles, "cellXfs"), "xf"):
        font, fill = to_int(attribute(each, "fontId")), to_int(attribute(each, "fillId"))
        parts = _count_empty(own.get(to_int(attribute(each, "numFmtId")), ""))
        look = fonts[font] if font < len(fonts) else ""
        if look == "white" and fill < len(fills) and fills[fill]:
            look = ""
        looks.append("all" if parts > 3 or look == "all" else "numbers" if parts > 1 else look)
    return looks


def _count_empty(code: str) -> int:
    """How many parts a format has each of which shows nothing; 0 when one of them does show something."""
    return code.count(";") + 1 if ";" in code and _NOTHING.fullmatch(code) else 0


def _to_font(font: Element) -> str:
    try:
        is_tiny = float(attribute(child(font, "sz"), "val") or 11) <= _TINY
    except ValueError:
        is_tiny = False
    colour = child(font, "color")
    # The first colour of a theme is that of the paper.
    is_paper = attribute(colour, "theme") == "0" and not attribute(colour, "tint")
    return "all" if is_tiny else "white" if is_paper or _is_pale(attribute(colour, "rgb")) else ""


def _is_filled(fill: Element) -> bool:
    """Whether a fill may be another colour than white."""
    pattern = child(fill, "patternFill")
    if pattern is None:
        return len(fill) > 0
    kind, colour = attribute(pattern, "patternType"), child(pattern, "fgColor")
    is_paper = _is_pale(attribute(colour, "rgb")) or (
        attribute(colour, "theme") == "0" and not attribute(colour, "tint")
    )
    return kind not in ("", "none") and not (kind == "solid" and is_paper)


def _is_pale(colour: str) -> bool:
    match = _COLOUR.fullmatch(colour)
    return match is not None and min(bytes.fromhex(match[1])) >= _PALE
