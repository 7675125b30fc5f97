"""Which kind of document some bytes are: by what they begin with, then by what the server and the address say."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

PDF, DOCX, PPTX = "pdf", "docx", "pptx"

# Readers accept rubbish before the header of a PDF, up to here (ISO 32000-1, implementation note 13).
_HEADER_WITHIN: Final = 1024
_ZIP: Final = b"PK\x03\x04"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PACKAGE: Final = "EncryptedPackage".encode("utf-16-le")

_TYPES: Final = {
    "application/pdf": PDF,
    "application/x-pdf": PDF,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": DOCX,
    "application/vnd.ms-word.document.macroenabled.12": DOCX,
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": PPTX,
    "application/vnd.openxmlformats-officedocument.presentationml.slideshow": PPTX,
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": PPTX,
}
_SUFFIXES: Final = {
    ".pdf": PDF, ".docx": DOCX, ".docm": DOCX, ".dotx": DOCX, ".pptx": PPTX, ".pptm": PPTX, ".ppsx": PPTX,
}  # fmt: skip


def detect(body: bytes, content_type: str = "", url: str = "") -> str:
    """`pdf`, `docx`, `pptx`, or "" for bytes that are none of them, whatever type or address say."""
    if b"%PDF-" in body[:_HEADER_WITHIN]:
        return PDF
    if not body.startswith(_ZIP):
        return ""
    # The names of entries stand uncompressed in the archive's directory, which is at its end.
    directory = body[-1024 * 1024 :]
    if b"word/document" in directory:
        return DOCX
    if b"ppt/presentation" in directory:
        return PPTX
    named = announced(content_type, url)
    return named if named != PDF else ""


def announced(content_type: str, url: str) -> str:
    """The kind that a server or, if it says nothing known, an address announces; "" for none."""
    if kind := _TYPES.get(content_type.partition(";")[0].strip().lower()):
        return kind
    try:
        path = urlsplit(url).path.lower()
    except ValueError:
        return ""
    return next((kind for suffix, kind in _SUFFIXES.items() if path.endswith(suffix)), "")


def is_compound(body: bytes) -> bool:
    """Whether the bytes are an OLE file: the formats of old office programs, and new ones under a password."""
    return body.startswith(_OLE)


def is_encrypted(body: bytes) -> bool:
    """Whether the bytes are an office document under a password, which is a stream of an OLE file ([MS-OFFCRYPTO])."""
    return body.startswith(_OLE) and _PACKAGE in body
