"""What is filled into the form of a PDF page: the name of each field, for people where it has one, and its value."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from specloom.scrape.documents.pdf_lines import clean

_MOST_ANNOTATIONS: Final = 2000
_LONGEST_NAME: Final = 200
_LONGEST_VALUE: Final = 5000
# Flags of annotations and of fields of text (ISO 32000-1, tables 165 and 228).
_UNSEEN: Final = 2 | 32
_PASSWORD: Final = 1 << 13
# Points.
_LEAST: Final = 2.0
# What boxes that say nothing of their own are called when they are set.
_SET: Final = frozenset({"", "on", "yes", "1"})


def read_fields(raw: Any, document: Any, page: Any) -> list[str]:
    """A line `name: value` for each field of an open page that is seen and filled; of boxes, for those that are set.

    Nothing for a document whose forms were not opened. No script of the form is run.
    """
    forms = document.formenv
    if not forms:
        return []
    found: list[str] = []
    for number in range(min(raw.FPDFPage_GetAnnotCount(page.raw), _MOST_ANNOTATIONS)):
        field = raw.FPDFPage_GetAnnot(page.raw, number)
        if not field:
            continue
        try:
            if line := _read_field(raw, forms.raw, field):
                found.append(line)
        finally:
            raw.FPDFPage_CloseAnnot(field)
    return list(dict.fromkeys(found))


def _read_field(raw: Any, forms: Any, field: Any) -> str:
    if raw.FPDFAnnot_GetSubtype(field) != raw.FPDF_ANNOT_WIDGET or raw.FPDFAnnot_GetFlags(field) & _UNSEEN:
        return ""
    if not _has_room(raw, field):
        return ""
    kind = raw.FPDFAnnot_GetFormFieldType(forms, field)
    name = _read(raw.FPDFAnnot_GetFormFieldAlternateName, forms, field, _LONGEST_NAME)
    name = name or _read(raw.FPDFAnnot_GetFormFieldName, forms, field, _LONGEST_NAME)
    if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
        if not raw.FPDFAnnot_IsChecked(forms, field):
            return ""
        value = _read(raw.FPDFAnnot_GetFormFieldExportValue, forms, field, _LONGEST_NAME)
        return f"{name}: {'yes' if value.casefold() in _SET else value}"
    if kind not in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        return ""
    if raw.FPDFAnnot_GetFormFieldFlags(forms, field) & _PASSWORD:
        return ""
    value = _read(raw.FPDFAnnot_GetFormFieldValue, forms, field, _LONGEST_VALUE)
    return f"{name}: {value}" if any(map(str.isalnum, value)) else ""


def _has_room(raw: Any, field: Any) -> bool:
    """Whether a field is large enough for anybody to see what is in it."""
    box = raw.FS_RECTF()
    if not raw.FPDFAnnot_GetRect(field, ctypes.byref(box)):
        return False
    return bool(min(abs(box.right - box.left), abs(box.top - box.bottom)) >= _LEAST)


def _read(ask: Any, forms: Any, field: Any, most: int) -> str:
    """A text of a field, on one line; what is longer is cut."""
    size = ask(forms, field, None, 0)
    if not 2 < size <= 1_000_000:
        return ""
    written = ctypes.create_string_buffer(size)
    ask(forms, field, ctypes.cast(written, ctypes.POINTER(ctypes.c_ushort)), size)
    return clean(written.raw.decode("utf-16-le", "ignore").strip("\0").replace("\r", " "))[:most]
