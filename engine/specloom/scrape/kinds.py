"""What a body is: decided by its first bytes, then by its declared type, then by its address."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .documents.kinds import detect, is_compound
from .feeds import is_feed
from .unread import find_magic

if TYPE_CHECKING:
    from .reading import Kind

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
    for pattern in (r"^# ", r"^##+ ", r"^(?:```|~~~)", r"^\s*(?:[-*+]|\d+\.) \S", r"\[[^\]\n]+\]\([^)\s]+\)")
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


def is_markdown(text: str) -> bool:
    """Whether a text is written in Markdown: 50 bytes or more, and two different signs of it."""
    if len(text.encode("utf-8", "replace")) < 50:
        return False
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
