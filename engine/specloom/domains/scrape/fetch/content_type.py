"""What a body is: decided by its first bytes, then by its declared type, then by its address."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from specloom.core import Fault

from ..documents.read import detect, is_compound
from ..html.feeds import is_feed

if TYPE_CHECKING:
    from ..result import Fetched, Kind


# --- What cannot be read, told by its first bytes and its declared type: what it is, and what to do instead -----------


# The first bytes of formats (https://mimesniff.spec.whatwg.org and the formats' own descriptions), each with its kind.
_MAGIC: Final = (
    (0, b"\x89PNG\r\n\x1a\n", "picture"), (0, b"\xff\xd8\xff", "picture"), (0, b"GIF8", "picture"),
    (0, b"II*\x00", "picture"), (0, b"MM\x00*", "picture"), (0, b"8BPS", "picture"), (8, b"WEBP", "picture"),
    (0, b"AT&TFORM", "picture"), (4, b"ftypavif", "picture"), (4, b"ftyphei", "picture"),
    (0, b"ID3", "sound"), (0, b"fLaC", "sound"), (8, b"WAVE", "sound"), (4, b"ftypM4A", "sound"),
    (0, b"OggS", "sound"), (0, b"\x1aE\xdf\xa3", "film"), (4, b"ftyp", "film"), (8, b"AVI ", "film"),
    (0, b"PK\x03\x04", "archive"), (0, b"PK\x05\x06", "archive"), (0, b"\x1f\x8b", "archive"), (0, b"BZh", "archive"),
    (0, b"\xfd7zXZ\x00", "archive"), (0, b"7z\xbc\xaf\x27\x1c", "archive"), (0, b"Rar!\x1a\x07", "archive"),
    (0, b"\x28\xb5\x2f\xfd", "archive"), (257, b"ustar", "archive"),
    (0, b"wOFF", "font"), (0, b"wOF2", "font"), (0, b"OTTO", "font"), (0, b"\x00\x01\x00\x00\x00", "font"),
    (0, b"MZ", "program"), (0, b"\x7fELF", "program"), (0, b"\x00asm", "program"), (0, b"\xca\xfe\xba\xbe", "program"),
    (0, b"SQLite format 3\x00", "database"), (0, b"PAR1", "database"),
)  # fmt: skip
_FAMILIES: Final = {"image": "picture", "audio": "sound", "video": "film", "font": "font"}
_ADVICE: Final = {
    "picture": ("a picture", "look for a page that describes it"),
    "sound": ("a sound recording", "look for a transcript"),
    "film": ("a film", "look for a transcript or a page about it"),
    "archive": ("an archive", "give the address of a single file of it"),
    "font": ("a font", "give the address of a page"),
    "program": ("a program", "give the address of a page about it"),
    "database": ("a database file", "look for a page or a CSV file with its data"),
}


def find_magic(body: bytes) -> str:
    """The kind of file that some bytes begin like: `picture`, `sound`, `archive` and so on; "" for none of these."""
    return next((kind for at, sign, kind in _MAGIC if body[at : at + len(sign)] == sign), "")


def tell_unread(body: bytes, content_type: str) -> str:
    """A sentence that tells what a body is which is neither a page nor a text nor a document, and what to do."""
    declared = content_type.partition(";")[0].strip().lower()[:60]
    kind = find_magic(body) or _FAMILIES.get(declared.partition("/")[0], "")
    what, advice = _ADVICE.get(kind, ("binary data", "give the address of a page, a text, or a PDF or office file"))
    return f"{declared or 'what came'} is not a page or document that can be read: it is {what}; {advice}."


_SUFFIX = re.compile(r"\.(?:pdf|do[ct][xm]|p[po][ts][xm]|xls[xm]|odt|epub)$", re.IGNORECASE)
_DOCUMENT_TYPE = re.compile(
    r"application/(?:x-)?pdf|application/epub\+zip|application/msword"
    r"|application/vnd\.(?:openxmlformats-officedocument|ms-(?:powerpoint|excel|word)|oasis\.opendocument)"
)
_TEXT_TYPE = re.compile(
    r"text/|application/(?:[\w.+-]+\+)?(?:json|xml|yaml|toml|sql|x-sh|javascript|ecmascript|x-ndjson|rtf|x-tex|x-latex)\b"
)
_HTML_TYPE = re.compile(r"text/html|application/xhtml\+xml")
_HTML_HEAD = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
# Elements that a page without its own head and body begins with; other tags are XML, or no tags at all.
_HTML_PIECE = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|base|frameset|div|p|span|a|h[1-6]|table|ul|ol|dl"
    rb"|br|hr|b|i|em|strong|font|center|article|section|main|header|nav|form|img|pre|blockquote)(?=[\s/>])",
    re.I,
)
_XML_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml\s")
# Types whose bytes are no text, whatever they look like.
_BINARY_TYPE = re.compile(r"(?:image|audio|video|font|model)/")
# The ending of a file of source: any but those of Markdown and of plain text.
_SOURCE = re.compile(r"\.(?!(?:md|markdown|mdown|mkd|mdx|txt|text)$)[a-z][a-z0-9+]{0,9}$", re.IGNORECASE)
_MARKDOWN_SIGNS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^# ",
        r"^##+ ",
        r"^(?:```|~~~)",
        r"^[ \t]*+(?:[-*+]|\d{1,9}\.) \S",
        # What stands before the end of a link's text is not looked at, and its address has no brackets: however many
        # brackets a text has, each of its characters is looked at a few times.
        r"[^\s\[\]]\]\([^()\s]+\)",
    )
)
_HEAD = 512


def is_document_url(url: str) -> bool:
    """Whether an address says that a document is behind it: by its suffix, or as an arXiv PDF."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if _SUFFIX.search(parts.path):
        return True
    host = (parts.hostname or "").removeprefix("www.").removeprefix("export.")
    return host == "arxiv.org" and parts.path.startswith("/pdf/")


def is_document_type(content_type: str) -> bool:
    """Whether a Content-Type names a PDF or an office document."""
    return bool(_DOCUMENT_TYPE.match(content_type.strip().lower()))


def find_kind(body: bytes, content_type: str, url: str = "") -> Kind:
    """What a body is. Bytes win over the declared type where they are unmistakable: a PDF in disguise is a document."""
    head = body[:_HEAD]
    declared = content_type.partition(";")[0].strip().lower()
    if b"%PDF-" in head[:256]:
        return "document"
    # Office documents are archives: zip ones have a directory that says so whatever they are called; old ones, and new
    # ones under a password, have not.
    if head.startswith(b"PK\x03\x04") or is_compound(head):
        named = is_document_type(declared) or _SUFFIX.search(urlsplit(url).path)
        return "document" if named or detect(body) else "other"
    if _is_binary(head) and find_magic(head):
        return "other"
    if _HTML_HEAD.match(head):
        return "html"
    if is_document_type(declared):
        # Spreadsheets as text are announced like those that are none: https://www.iana.org/assignments/media-types
        is_text = declared == "application/vnd.ms-excel" and body and not _is_binary(head)
        return "text" if is_text else "document"
    if is_feed(body, declared):
        return "text"
    if _HTML_TYPE.match(declared):
        return "html"
    if declared in ("text/markdown", "text/x-markdown"):
        return "markdown"
    if _TEXT_TYPE.match(declared):
        return "text"
    if _BINARY_TYPE.match(declared) or _is_binary(head):
        return "other"
    # A type that says nothing, or that nobody here knows: of BibTeX, of subtitles, of a file to be saved.
    is_unsaid = declared in ("", "application/octet-stream", "binary/octet-stream", "application/x-unknown")
    return "html" if is_unsaid and _HTML_PIECE.search(head) and not _XML_HEAD.match(head) else "text"


LOOKED_AT = 65_536
"""Bytes of a text in which signs of Markdown are looked for: who writes Markdown does so from the start."""


def is_markdown(body: bytes) -> bool:
    """Whether a text is written in Markdown: 50 bytes or more, and two different signs of it near its beginning."""
    if len(body) < 50:
        return False
    text = body[:LOOKED_AT].decode("utf-8", "replace")
    signs = sum(1 for sign in _MARKDOWN_SIGNS if sign.search(text))
    # A second-level heading counts for two: nothing but Markdown (and a few comments) starts a line with it.
    return signs >= 2 or bool(_MARKDOWN_SIGNS[1].search(text))


def is_source_url(url: str) -> bool:
    """Whether an address ends like that of a file of source, whose comments may look like Markdown."""
    try:
        return bool(_SOURCE.search(urlsplit(url).path))
    except ValueError:
        return False


def _is_binary(head: bytes) -> bool:
    return b"\x00" in head or sum(byte < 9 or 13 < byte < 32 for byte in head) > len(head) // 10


# --- A body that is a file packed with gzip (RFC 1952), as `sitemap.xml.gz`, becomes what is in it, within the
# caps -----------------------------------------------------------------------------------------------------------------


_GZIP: Final = b"\x1f\x8b\x08"
# What is left is copied for each of them.
_MOST_MEMBERS: Final = 64
_PACKED: Final = re.compile(r"\.gz(?=$|[?#])", re.IGNORECASE)


def unpack(fetched: Fetched, *, most: int) -> Fetched:
    """What was fetched, unpacked where its body is one file packed with gzip; its type is told by what is in it.

    Fault `too_large` for more than `most` bytes, `content_empty` for a file that is damaged or was cut.
    """
    if fetched.kind != "other" or not fetched.body.startswith(_GZIP):
        return fetched
    body, rest = b"", fetched.body
    # Files are packed one after another into one, too.
    for number in count():
        if not rest.startswith(_GZIP):
            break
        if number >= _MOST_MEMBERS:
            raise _refuse("too_large", f"is made of more than {_MOST_MEMBERS} others")
        packed = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            body += packed.decompress(rest, most + 1 - len(body))
        except zlib.error:
            raise _refuse("content_empty", "cannot be unpacked: it is damaged") from None
        if len(body) > most:
            raise _refuse("too_large", f"unpacks to more than {most} bytes")
        if not packed.eof:
            raise _refuse("content_empty", "cannot be unpacked: its end is missing")
        rest = packed.unused_data
    kind = find_kind(body, "", _PACKED.sub("", fetched.url))
    # The header told of the file that is packed, and nothing of what is in it.
    headers = {name: value for name, value in fetched.headers.items() if name != "content-type"}
    return fetched if kind == "other" else replace(fetched, body=body, kind=kind, headers=headers)


def _refuse(kind: str, why: str) -> Fault:
    return Fault(kind, f"This gzip file {why}.", action="inform_user")
