"""PDF, Word, PowerPoint and Excel files become Markdown with their metadata, within limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final
from urllib.parse import urlsplit

from specloom.core import Fault, clean, run_apart

from .document import Document, Limits, refuse

# --- Which kind of document some bytes are: by what they begin with, then by what the server and the address say ------


PDF, DOCX, PPTX, XLSX = "pdf", "docx", "pptx", "xlsx"

# Readers accept rubbish before the header of a PDF, up to here (ISO 32000-1, implementation note 13).
_HEADER_WITHIN: Final = 1024
_ZIP: Final = b"PK\x03\x04"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PACKAGE: Final = "EncryptedPackage".encode("utf-16-le")
_PARTS: Final = {b"word/document": DOCX, b"ppt/presentation": PPTX, b"xl/workbook.xml": XLSX}

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_TYPES: Final = {
    "application/pdf": PDF,
    "application/x-pdf": PDF,
    f"{_OFFICE}wordprocessingml.document": DOCX,
    "application/vnd.ms-word.document.macroenabled.12": DOCX,
    f"{_OFFICE}presentationml.presentation": PPTX,
    f"{_OFFICE}presentationml.slideshow": PPTX,
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": PPTX,
    f"{_OFFICE}spreadsheetml.sheet": XLSX,
    "application/vnd.ms-excel.sheet.macroenabled.12": XLSX,
}
_SUFFIXES: Final = {
    ".pdf": PDF, ".docx": DOCX, ".docm": DOCX, ".dotx": DOCX, ".pptx": PPTX, ".pptm": PPTX, ".ppsx": PPTX,
    ".xlsx": XLSX, ".xlsm": XLSX,
}  # fmt: skip
# What else is announced as a document: what it is called, how its types begin, its suffix, and what to do.
_OPEN: Final = "application/vnd.oasis.opendocument."
_OTHERS: Final = (
    ("an OpenDocument text (ODT)", f"{_OPEN}text", ".odt", "save it as .docx or look for a PDF of it"),
    ("an OpenDocument spreadsheet (ODS)", f"{_OPEN}spreadsheet", ".ods", "look for its data as CSV"),
    ("an OpenDocument presentation (ODP)", f"{_OPEN}presentation", ".odp", "save it as .pptx or look for a PDF of it"),
    ("an electronic book (EPUB)", "application/epub", ".epub", "look for its text as a page or a PDF"),
)  # fmt: skip


def detect(body: bytes, content_type: str = "", url: str = "") -> str:
    """`pdf`, `docx`, `pptx`, `xlsx`, or "" for bytes that are none of them, whatever type or address say."""
    if b"%PDF-" in body[:_HEADER_WITHIN]:
        return PDF
    if not body.startswith(_ZIP):
        return ""
    # The names of entries stand uncompressed in the archive's directory, which is at its end.
    directory = body[-1024 * 1024 :]
    if kind := next((kind for part, kind in _PARTS.items() if part in directory), ""):
        return kind
    kind = announced(content_type, url)
    return kind if kind != PDF else ""


def announced(content_type: str, url: str) -> str:
    """The kind that a server or, if it says nothing known, an address announces; "" for none."""
    return _TYPES.get(content_type.partition(";")[0].strip().lower()) or _find_suffix(url, _SUFFIXES)


def _find_suffix(url: str, suffixes: Mapping[str, str]) -> str:
    """What a suffix of an address stands for, "" for none of them."""
    try:
        path = urlsplit(url).path.lower()
    except ValueError:
        return ""
    return next((meaning for suffix, meaning in suffixes.items() if path.endswith(suffix)), "")


def is_compound(body: bytes) -> bool:
    """Whether the bytes are an OLE file: the formats of old office programs, and new ones under a password."""
    return body.startswith(_OLE)


def _to_refusal(body: bytes, content_type: str, url: str) -> Fault:
    """The fault for bytes that are no document of a kind that is read: what they are, and what to do."""
    type_ = content_type.partition(";")[0].strip()[:100]
    if not body.strip():
        return refuse(f"This file is empty: what came has {len(body)} bytes.")
    if is_compound(body) and _PACKAGE in body:  # a password makes it a stream of an OLE file ([MS-OFFCRYPTO])
        return Fault("auth_required", "This office document needs a password.", action="inform_user")
    if is_compound(body):
        return refuse("This is an old office format (.doc, .ppt, .xls); save it anew as .docx, .pptx or .xlsx.")
    for name, types, suffix, advice in _OTHERS:
        is_text = type_.startswith("text/")
        if type_.lower().startswith(types) or (not is_text and _find_suffix(url, {suffix: name})):
            return refuse(f"This is {name}, which is not read; {advice}.")
    announced_as = f" (announced as {type_})" if type_ else ""
    return refuse(f"This is no PDF, DOCX, PPTX or XLSX file, which are what can be read{announced_as}.")


# --- Reading a document -----------------------------------------------------------------------------------------------


MISSING: Final = "PDF files need an extra of specloom that is not installed: pip install 'specloom[documents]'"


def read(body: bytes, content_type: str, url: str, *, limits: Limits = Limits()) -> Document:  # noqa: B008 - frozen
    """The document in some bytes, of a kind told by what they begin with; type and address break ties.

    Works in this thread and takes up to `limits.seconds`; `read_apart` does the same in a process of its own,
    where a hostile file can be ended. Fault `content_empty` for what is broken or has no text,
    `auth_required` for what needs a password, `too_large` beyond a limit, `config` when a library is missing.
    """
    kind = detect(body, content_type, url)
    if not kind:
        raise _to_refusal(body, content_type, url)
    try:
        document = _find_reader(kind)(body, limits)
        # Without characters that show nothing.
        text, controls = clean(document.text)
        return replace(
            document,
            text=text,
            title=clean(document.title)[0],
            authors=tuple(clean(name)[0] for name in document.authors),
            metadata={name: clean(value)[0] for name, value in document.metadata.items()},
            stripped={**document.stripped, **({"controls": controls} if controls else {})},
        )
    except (RecursionError, MemoryError) as error:
        raise Fault(
            "too_large", f"This {kind.upper()} file is nested too deeply or too large to read ({type(error).__name__})."
        ) from None


# Starting up counts too, and so does a page that is being read when the time is over.
_GRACE: Final = 10.0


async def read_apart(body: bytes, content_type: str, url: str, *, limits: Limits = Limits()) -> Document:  # noqa: B008 - frozen
    """What `read` gives, and the same faults, from a process that is ended when it is late.

    Fault `too_large` when the process ran out of time or memory or was brought down.
    """
    arguments = content_type, url, asdict(limits)
    seconds, memory = limits.seconds, limits.memory
    answer = await run_apart(read_json, body, *arguments, what="document", seconds=seconds, grace=_GRACE, memory=memory)
    return Document(**{**answer, "authors": tuple(answer["authors"])})


def read_json(body: bytes, content_type: str, url: str, limits: dict[str, Any]) -> dict[str, Any]:
    """The same as JSON data."""
    return asdict(read(body, content_type, url, limits=Limits(**limits)))


def _find_reader(kind: str) -> Callable[[bytes, Limits], Document]:
    """What reads a kind; the libraries that it needs are loaded here."""
    if kind == PDF:
        try:
            import pypdfium2  # noqa: F401 - an extra, without which the reader cannot be loaded
        except ImportError:
            raise Fault("config", MISSING, action="inform_user") from None
        from .pdf.read import read_pdf as reader
    elif kind == DOCX:
        from .docx import read_docx as reader
    elif kind == PPTX:
        from .pptx import read_pptx as reader
    else:
        from .xlsx import read_xlsx as reader
    return reader
