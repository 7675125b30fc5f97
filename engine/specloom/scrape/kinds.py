"""What a body is: decided by its first bytes, then by its declared type, then by its address."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .documents.kinds import detect, is_compound
from .feeds import is_feed

if TYPE_CHECKING:
    from .reading import Kind

_SUFFIX = re.compile(r"\.(?:pdf|docx|pptx|xlsx|odt|epub)$", re.IGNORECASE)
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
    if _HTML_HEAD.match(head):
        return "html"
    if is_document_type(declared):
        return "document"
    if is_feed(body, declared):
        return "text"
    if _HTML_TYPE.match(declared):
        return "html"
    if declared in ("text/markdown", "text/x-markdown"):
        return "markdown"
    if _TEXT_TYPE.match(declared):
        return "text"
    if declared in ("", "application/octet-stream", "binary/octet-stream", "application/x-unknown"):
        return "other" if _is_binary(head) else ("html" if b"<" in head and b">" in head else "text")
    return "other"


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
