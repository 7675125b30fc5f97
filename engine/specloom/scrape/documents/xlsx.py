"""A spreadsheet as Markdown: each sheet under its name, its rows as pipe tables with what its cells show.

Read from the parts of ECMA-376 (SpreadsheetML). Formulas are told by the values that the file keeps of them; hidden
sheets, rows and columns are left out and counted.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from lxml import etree

from specloom.faults import Fault
from specloom.scrape.documents.archive import (
    Archive,
    attribute,
    child,
    children,
    get_relation,
    properties,
    to_authors,
)
from specloom.scrape.documents.docx_styles import to_int
from specloom.scrape.documents.model import Document, Limits
from specloom.scrape.documents.pipes import to_table
from specloom.scrape.documents.titles import to_title
from specloom.scrape.documents.xlsx_values import Formats, read_formats
from specloom.scrape.metadata_dates import to_iso

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
