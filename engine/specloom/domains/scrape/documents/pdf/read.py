"""A PDF file as Markdown, read by PDFium: the fastest and most forgiving of the readers that may be shipped here.

PDFium is not safe for threads, so one file is read at a time in a process, and it cannot be interrupted inside a page:
where the file may be hostile, read it through `apart`.
"""

from __future__ import annotations

import ctypes
import re
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

import pypdfium2 as pdfium
from pypdfium2 import raw

from specloom.core import Fault

from ...metadata.fields import to_iso, to_names, to_text
from ..document import PAGES_NOT_READ, PAGES_WITHOUT_TEXT, Document, Limits, refuse, to_title
from .expansion import Expansion, measure
from .hidden_text import PageView, find_unseen
from .layout import FEW_LETTERS, PdfPage, find_title, order_down, to_key, to_markdown
from .object_store import TooLargeError
from .tables import find_tables, place
from .text import Letters, clean, part_columns

_ONE_AT_A_TIME: Final = threading.Lock()
_MOST_OUTLINE: Final = 2000
# More objects than a book of a thousand pages has; the reader would build a table of all of them.
_MOST_OBJECTS: Final = 1_000_000
_PASSWORD_ERROR: Final = 4
_LONGEST_LANGUAGE: Final = 128
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,4}")
_DATE: Final = re.compile(
    r"D:([0-9]{4})([0-9]{2})?([0-9]{2})?([0-9]{2})?([0-9]{2})?([0-9]{2})?(Z|[+-][0-9]{2}'?[0-9]{2})?"
)


def read_pdf(body: bytes, limits: Limits) -> Document:
    """The text of a PDF file with a line `--- Page n ---` above each page, and a remark on one that is a picture.

    A page whose forms and glyphs draw each other more often than anybody can wait for is not opened, and says so.

    A text that is not shown, as character recognition lays under a scan, is read like any other. Fault
    `auth_required` when it needs a password, `content_empty` when it is broken or has no text but pictures of it,
    `too_large` when it has too many objects or no page can be opened.
    """
    if body.count(b" obj") > _MOST_OBJECTS:
        raise Fault("too_large", f"This PDF file is refused because it has more than {_MOST_OBJECTS} objects.")
    deadline = time.monotonic() + limits.seconds
    with _ONE_AT_A_TIME:
        document = _open(body)
        try:
            return _read(document, _measure(document, body, limits), limits, deadline)
        finally:
            document.close()


def _open(body: bytes) -> Any:
    try:
        document = pdfium.PdfDocument(body)
        count = len(document)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", 0) == _PASSWORD_ERROR or "password" in str(error).lower():
            raise Fault("auth_required", "This PDF file needs a password.", action="inform_user") from None
        reason = "it is damaged, or was cut while it was fetched"
        raise refuse(f"This PDF file cannot be read: {reason}.") from None
    if count == 0:
        document.close()
        raise refuse("This PDF file has no pages.")
    return document


def _measure(document: Any, body: bytes, limits: Limits) -> Expansion:
    """How much each page draws; the form of the document is opened, where it has one that can be."""
    try:
        expansion = measure(document, body, limits.pages)
    except TooLargeError:
        sentence = "This PDF file is refused because its objects are far more than its size tells."
        raise Fault("too_large", sentence) from None
    # Before any page is loaded; a form that cannot be opened is a file without one.
    if expansion.has_few_fields():
        with suppress(pdfium.PdfiumError):
            document.init_forms()
    return expansion


def _read(document: Any, expansion: Expansion, limits: Limits, deadline: float) -> Document:
    count = len(document)
    pages: list[PdfPage] = []
    size = letters = 0
    is_cut = count > limits.pages
    for number in range(min(count, limits.pages)):
        if pages and (time.monotonic() > deadline or size > limits.text):
            is_cut = True
            break
        page = _read_page(document, number, expansion)
        pages.append(page)
        size += sum(map(len, page.texts()))
        letters += page.count_letters()
    pictures = [number for number, page in enumerate(pages, start=1) if page.is_picture]
    unread = [number for number, page in enumerate(pages, start=1) if page.is_unread]
    hidden = sum(page.hidden for page in pages)
    is_scan = any(page.is_picture and not page.lines for page in pages) and letters < FEW_LETTERS * min(len(pages), 5)
    if letters == 0 and unread:
        raise Fault("too_large", f"This PDF file is refused because {_to_reason(len(unread), len(pages))}.")
    if letters == 0 or is_scan:
        raise refuse(_to_sentence(len(pictures), len(pages), count, is_hidden=hidden > 0))
    texts = to_markdown(pages, _read_outline(document))
    text = "\n\n".join(texts)
    properties = _read_properties(document)
    if pictures:
        properties[PAGES_WITHOUT_TEXT] = _to_ranges(pictures)
    if unread:
        properties[PAGES_NOT_READ] = _to_ranges(unread)
    return Document(
        "pdf",
        text[: limits.text],
        title=to_title(properties.get("Title", ""), find_title(pages[0])),
        authors=to_names([properties.get("Author", "")], split=True),
        published=_to_date(properties.get("CreationDate", "")),
        modified=_to_date(properties.get("ModDate", "")),
        language=_read_language(document),
        pages=count,
        pages_read=len(pages),
        metadata=properties,
        truncated=is_cut or bool(unread) or len(text) > limits.text,
        stripped={"hidden": hidden} if hidden else {},
    )


def _read_page(document: Any, number: int, expansion: Expansion) -> PdfPage:
    """The lines of a page, none for one that is broken, and whether it has a picture instead of text."""
    if not expansion.is_readable(number):
        return PdfPage((), 0.0, is_unread=True)
    try:
        page = document[number]
    except pdfium.PdfiumError:
        return PdfPage((), 0.0)
    try:
        height = float(page.get_height())
        text_page = page.get_textpage()
        try:
            letters = Letters(text_page)
            unseen = find_unseen(
                document, page, letters, PageView(expansion.hidden_layers, lambda: expansion.is_drawable(number))
            )
            letters.blank(unseen)
            placed = order_down(letters.lines())
            tables = find_tables(page, letters, placed)
            lines = part_columns(place(letters, placed, tables), letters)
        finally:
            text_page.close()
        content = PdfPage(tuple(lines), height, hidden=len(unseen))
        pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
        has_picture = content.count_letters() < FEW_LETTERS and any(True for _ in pictures)
        return replace(content, is_picture=has_picture, fields=tuple(read_fields(document, page)))
    except pdfium.PdfiumError:
        return PdfPage((), 0.0)
    finally:
        page.close()


def _to_reason(unread: int, read: int) -> str:
    """Why a file without text has none, when so many pages were not opened of so many."""
    pages = "its only page" if read == 1 else "its pages" if unread == read else f"{unread} of its {read} pages"
    return f"{pages} would draw the same things over and over, more often than anybody can wait for"


def _to_sentence(pictures: int, read: int, count: int, *, is_hidden: bool) -> str:
    """Why a file of so many pages has no text, when so many were read of which so many are pictures."""
    if not pictures:
        return "This PDF file has no text that anybody could see." if is_hidden else "This PDF file has no text."
    pages = f"{count} pages" if count > 1 else "only page"
    over = f"its {pages}" if pictures == read else f"{pictures} of its {pages}"
    return (
        f"This PDF file has only pictures, as scans have; run character recognition (OCR) over {over}, "
        "or look for a copy with text."
    )


def _to_ranges(numbers: Sequence[int]) -> str:
    """Rising numbers as `2, 5-7`."""
    runs = [list(run) for _, run in groupby(enumerate(numbers), lambda each: each[1] - each[0])]
    return ", ".join(f"{run[0][1]}-{run[-1][1]}" if len(run) > 1 else str(run[0][1]) for run in runs)


def _read_outline(document: Any) -> dict[int, dict[str, int]]:
    """The level of each heading in the outline by page and by its letters; levels begin at 2, below the title."""
    levels: dict[int, dict[str, int]] = {}
    try:
        for _, item in zip(range(_MOST_OUTLINE), document.get_toc(max_depth=6), strict=False):
            target = item.get_dest()
            page = target.get_index() if target is not None else None
            key = to_key(clean(item.get_title()))
            if page is not None and key:
                for title in {key, key.lstrip("0123456789")} - {""}:
                    levels.setdefault(page, {}).setdefault(title, min(item.level + 2, 6))
    except (pdfium.PdfiumError, ValueError, UnicodeError):
        return levels
    return levels


def _read_language(document: Any) -> str:
    """The language that the file says it is in, "" without one and for readers before 2025, which cannot say."""
    ask = getattr(raw, "FPDFCatalog_GetLanguage", None)
    language = _read_text(lambda *buffer: ask(document.raw, *buffer), _LONGEST_LANGUAGE) if ask else ""
    return language if _LANGUAGE.fullmatch(language) else ""


def _read_properties(document: Any) -> dict[str, str]:
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


# --- What is filled into the form of a page: the name of each field, for people where it has one, and its value -------


_MOST_ANNOTATIONS: Final = 2000
_LONGEST_NAME: Final = 200
_LONGEST_VALUE: Final = 5000
_LARGEST_TEXT: Final = 1_000_000
# Flags of annotations and of fields of text (ISO 32000-1, tables 165 and 228).
_UNSEEN: Final = 2 | 32
_PASSWORD: Final = 1 << 13
# Points.
_LEAST: Final = 2.0
# What boxes that say nothing of their own are called when they are set.
_SET: Final = frozenset({"", "on", "yes", "1"})


def read_fields(document: Any, page: Any) -> list[str]:
    """A line `name: value` for each field of an open page that is seen and filled; of boxes, for those that are set.

    Nothing for a document whose forms were not opened. No script of the form is run.
    """
    forms = document.formenv
    if not forms:
        return []
    lines: list[str] = []
    for number in range(min(raw.FPDFPage_GetAnnotCount(page.raw), _MOST_ANNOTATIONS)):
        field = raw.FPDFPage_GetAnnot(page.raw, number)
        if not field:
            continue
        try:
            if line := _read_field(forms.raw, field):
                lines.append(line)
        finally:
            raw.FPDFPage_CloseAnnot(field)
    return list(dict.fromkeys(lines))


def _read_field(forms: Any, field: Any) -> str:
    if raw.FPDFAnnot_GetSubtype(field) != raw.FPDF_ANNOT_WIDGET or raw.FPDFAnnot_GetFlags(field) & _UNSEEN:
        return ""
    box = raw.FS_RECTF()
    if not raw.FPDFAnnot_GetRect(field, ctypes.byref(box)):
        return ""
    if min(abs(box.right - box.left), abs(box.top - box.bottom)) < _LEAST:  # so small that nobody sees what is in it
        return ""
    kind = raw.FPDFAnnot_GetFormFieldType(forms, field)
    name = _read_fields(raw.FPDFAnnot_GetFormFieldAlternateName, forms, field, _LONGEST_NAME)
    name = name or _read_fields(raw.FPDFAnnot_GetFormFieldName, forms, field, _LONGEST_NAME)
    if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
        if not raw.FPDFAnnot_IsChecked(forms, field):
            return ""
        value = _read_fields(raw.FPDFAnnot_GetFormFieldExportValue, forms, field, _LONGEST_NAME)
        return f"{name}: {'yes' if value.casefold() in _SET else value}"
    if kind not in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        return ""
    if raw.FPDFAnnot_GetFormFieldFlags(forms, field) & _PASSWORD:
        return ""
    value = _read_fields(raw.FPDFAnnot_GetFormFieldValue, forms, field, _LONGEST_VALUE)
    return f"{name}: {value}" if any(map(str.isalnum, value)) else ""


def _read_fields(ask: Any, forms: Any, field: Any, most: int) -> str:
    """A text of a field, on one line; what is longer is cut."""
    text = _read_text(lambda *buffer: ask(forms, field, *buffer), ask(forms, field, None, 0))
    return clean(text.replace("\r", " "))[:most]


def _read_text(ask: Any, size: int) -> str:
    """What the reader writes into a buffer of so many bytes, "" for nothing or far too much."""
    if not 2 < size <= _LARGEST_TEXT:
        return ""
    written = ctypes.create_string_buffer(size)
    length = ask(ctypes.cast(written, ctypes.POINTER(ctypes.c_ushort)), size)
    return written.raw[: min(length, size)].decode("utf-16-le", "ignore").strip("\0 ")
