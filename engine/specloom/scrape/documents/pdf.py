"""A PDF file as Markdown, read by PDFium: the fastest and most forgiving of the readers that may be shipped here.

PDFium is not safe for threads, so one file is read at a time in a process, and it cannot be interrupted inside a page:
where the file may be hostile, read it through `apart`.
"""

from __future__ import annotations

import ctypes
import math
import re
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

from specloom.faults import Fault
from specloom.scrape.documents.model import Document, Limits
from specloom.scrape.documents.pdf_layout import Page, find_title, to_key, to_markdown
from specloom.scrape.documents.pdf_lines import Box, Characters, Line, clean, part_columns
from specloom.scrape.documents.titles import to_title
from specloom.scrape.metadata_dates import to_iso
from specloom.scrape.metadata_names import to_names, to_text

MISSING: Final = "PDF files need an extra of specloom that is not installed: pip install 'specloom[documents]'"

_ONE_AT_A_TIME: Final = threading.Lock()
_MOST_OUTLINE: Final = 2000
_MOST_CHARACTERS: Final = 200_000
# More objects than a book of a thousand pages has; the reader would build a table of all of them.
_MOST_OBJECTS: Final = 1_000_000
# Letters a page below which nothing was written on it: a stamp or a page number.
_FEW_LETTERS: Final = 8

_PASSWORD_ERROR: Final = 4
_DATE: Final = re.compile(
    r"D:([0-9]{4})([0-9]{2})?([0-9]{2})?([0-9]{2})?([0-9]{2})?([0-9]{2})?(Z|[+-][0-9]{2}'?[0-9]{2})?"
)


def read_pdf(body: bytes, limits: Limits) -> Document:
    """The text of a PDF file with a line `--- Page n ---` above each page.

    Fault `auth_required` when it needs a password, `content_empty` when it is broken or has no text but pictures of
    it, `config` when the reader is not installed.
    """
    pdfium = _load()
    if body.count(b" obj") > _MOST_OBJECTS:
        raise Fault("too_large", f"This PDF file is refused because it has more than {_MOST_OBJECTS} objects.")
    deadline = time.monotonic() + limits.seconds
    with _ONE_AT_A_TIME:
        document = _open(pdfium, body)
        try:
            return _read(pdfium, document, limits, deadline)
        finally:
            document.close()


def _load() -> Any:
    try:
        return import_module("pypdfium2")
    except ImportError:
        raise Fault("config", MISSING, action="inform_user") from None


def _open(pdfium: Any, body: bytes) -> Any:
    try:
        document = pdfium.PdfDocument(body)
        count = len(document)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", 0) == _PASSWORD_ERROR or "password" in str(error).lower():
            raise Fault("auth_required", "This PDF file needs a password.", action="inform_user") from None
        reason = "it is damaged, or was cut while it was fetched"
        raise Fault("content_empty", f"This PDF file cannot be read: {reason}.", action="inform_user") from None
    if count == 0:
        document.close()
        raise Fault("content_empty", "This PDF file has no pages.", action="inform_user")
    return document


def _read(pdfium: Any, document: Any, limits: Limits, deadline: float) -> Document:
    count = len(document)
    pages: list[Page] = []
    size = letters = pictures = 0
    is_cut = count > limits.pages
    for number in range(min(count, limits.pages)):
        if pages and (time.monotonic() > deadline or size > limits.text):
            is_cut = True
            break
        page, has_picture = _read_page(pdfium, document, number)
        pages.append(page)
        pictures += has_picture
        size += sum(len(line.text) for line in page.lines)
        letters += sum(sum(map(str.isalnum, line.text)) for line in page.lines)
    if letters == 0 or (pictures and letters < _FEW_LETTERS * min(len(pages), 5)):
        what = "only pictures, as scans have; its text would need character recognition" if pictures else "no text"
        raise Fault("content_empty", f"This PDF file has {what}.", action="inform_user")
    texts = to_markdown(pages, _read_outline(pdfium, document))
    text = "\n\n".join(texts)
    found = _read_properties(pdfium, document)
    return Document(
        "pdf",
        text[: limits.text],
        title=to_title(found.get("Title", ""), find_title(pages[0])),
        authors=to_names([found.get("Author", "")], split=True),
        published=_to_date(found.get("CreationDate", "")),
        modified=_to_date(found.get("ModDate", "")),
        pages=count,
        metadata=found,
        truncated=is_cut or len(text) > limits.text,
    )


def _read_page(pdfium: Any, document: Any, number: int) -> tuple[Page, bool]:
    """The lines of a page, none for one that is broken, and whether it has a picture instead of text."""
    try:
        page = document[number]
    except pdfium.PdfiumError:
        return Page((), 0.0), False
    try:
        height = float(page.get_height())
        text_page = page.get_textpage()
        try:
            lines = _read_lines(pdfium.raw, text_page)
        finally:
            text_page.close()
        has_picture = not lines and any(
            True for _ in page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
        )
        return Page(tuple(lines), height), has_picture
    except pdfium.PdfiumError:
        return Page((), 0.0), False
    finally:
        page.close()


def _read_lines(raw: Any, text_page: Any) -> list[Line]:
    total = min(text_page.count_chars(), _MOST_CHARACTERS)
    if total <= 0:
        return []
    text = text_page.get_text_range(0, total)
    handle = text_page.raw
    is_direct = len(text) == total

    def index_of(at: int) -> int:
        # Characters outside the first plane and those without a code shift the two counts against each other.
        return at if is_direct else int(raw.FPDFText_GetCharIndexFromTextIndex(handle, at))

    def size_of(at: int) -> float:
        # Many programs set all letters in one size and scale them.
        matrix = raw.FS_MATRIX()
        index = index_of(at)
        size = float(raw.FPDFText_GetFontSize(handle, index))
        if raw.FPDFText_GetMatrix(handle, index, ctypes.byref(matrix)):
            size *= math.hypot(matrix.c, matrix.d)
        return min(max(size, 0.5), 2000.0) if math.isfinite(size) else 1.0

    def box_of(at: int) -> Box | None:
        edges = [ctypes.c_double() for _ in range(4)]
        if not raw.FPDFText_GetCharBox(handle, index_of(at), *map(ctypes.byref, edges)):
            return None
        left, right, bottom, top = (edge.value for edge in edges)
        # A damaged matrix puts letters nowhere.
        return (left, bottom, right, top) if all(map(math.isfinite, (left, bottom, right, top))) else None

    def parts(start: int, end: int) -> list[Box]:
        found = []
        for number in range(raw.FPDFText_CountRects(handle, index_of(start), end - start)):
            edges = [ctypes.c_double() for _ in range(4)]
            if raw.FPDFText_GetRect(handle, number, *map(ctypes.byref, edges)):
                left, top, right, bottom = (edge.value for edge in edges)
                if all(map(math.isfinite, (left, bottom, right, top))):
                    found.append((left, bottom, right, top))
        return found

    lines = []
    for start, end in _find_lines(text):
        first, last = box_of(start), box_of(end - 1)
        if first is None or last is None:
            first = last = first or last or (0.0, 0.0, 0.0, 0.0)
        size = size_of((start + end) // 2)
        lines.append((Line(text[start:end], first[0], last[2], first[3], last[1], size), start, end))
    return part_columns(lines, Characters(text, box_of, size_of, parts))


def _find_lines(text: str) -> Iterator[tuple[int, int]]:
    """Where each line that is not blank begins and ends, blanks at both ends left out."""
    at = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            start = at + line.index(stripped[0])
            yield start, start + len(stripped)
        at += len(line) + 1


def _read_outline(pdfium: Any, document: Any) -> dict[int, dict[str, int]]:
    """The level of each heading in the outline by page and by its letters; levels begin at 2, below the title."""
    found: dict[int, dict[str, int]] = {}
    try:
        for _, item in zip(range(_MOST_OUTLINE), document.get_toc(max_depth=6), strict=False):
            target = item.get_dest()
            page = target.get_index() if target is not None else None
            key = to_key(clean(item.get_title()))
            if page is not None and key:
                for title in {key, key.lstrip("0123456789")} - {""}:
                    found.setdefault(page, {}).setdefault(title, min(item.level + 2, 6))
    except (pdfium.PdfiumError, ValueError, UnicodeError):
        return found
    return found


def _read_properties(pdfium: Any, document: Any) -> dict[str, str]:
    try:
        properties = document.get_metadata_dict(skip_empty=True)
    except (pdfium.PdfiumError, ValueError, UnicodeError):
        return {}
    return {name: text for name, value in properties.items() if (text := to_text(value, 1000))}


def _to_date(written: str) -> str:
    """A date as ISO 32000-1, 7.9.4 has it (`D:20240507103000+02'00'`) in ISO 8601, others as they can be read."""
    match = _DATE.match(written)
    if not match:
        return to_iso(written)
    year, month, day, hour, minute, second, zone = match.groups()
    days = "-".join(filter(None, (year, month, day)))
    if hour is None:
        return to_iso(days)
    zone = (zone or "").replace("'", "")
    return to_iso(f"{days}T{hour}:{minute or '00'}:{second or '00'}{zone}")
