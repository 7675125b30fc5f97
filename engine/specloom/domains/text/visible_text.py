"""A page as a tree and as plain text with one line a block; scripts, styles and templates are no text."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from .fold import strip_unseen
from .hosts import to_host
from .tables import to_word_set

if TYPE_CHECKING:
    from lxml.html import HtmlElement


_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{2,40})", re.IGNORECASE)
_DECLARED = re.compile(rb"<meta[^>]{0,200}charset|<\?xml[^>]{0,100}encoding", re.IGNORECASE)
# The parser takes a page without tags for its body into its head, so that only the title is left out there.
_NO_TEXT = "descendant::*[self::script or self::style or self::noscript or self::template or self::svg or self::title]"
_BLOCKS = to_word_set(
    """address article aside blockquote br dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav
    ol p pre section table td th tr ul"""
)
_MARKS = {"li": "- ", **{f"h{level}": f"{'#' * level} " for level in range(1, 7)}}
_MOST_NODES = 50_000
_MOST_LINKS = 2000


def parse(body: bytes, content_type: str = "") -> HtmlElement:
    """The root of a page; an empty one where there is nothing to parse. UTF-8 where nothing says another charset."""
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    charset = _CHARSET.search(content_type)
    if charset:
        # Python knows more names of charsets than the parser does.
        try:
            body = body.decode(charset[1], "replace").encode("utf-8", "replace")
        except (LookupError, UnicodeError):
            charset = None
    encoding = None if not charset and _DECLARED.search(body[:4096]) else "utf-8"
    try:
        return document_fromstring(body.replace(b"\0", b""), parser=HTMLParser(encoding=encoding, no_network=True))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return document_fromstring("<html><body></body></html>")


def to_text(root: HtmlElement, *, without: Container[str] = ()) -> str:
    """What a reader sees, a line for each block, with single blanks; headings and items are marked as in Markdown.

    Elements of the names in `without` are left out.
    """
    from lxml.etree import iterwalk

    unseen = set(root.xpath(_NO_TEXT))
    parts: list[str] = []
    skipping: object = None
    for count, (event, node) in enumerate(iterwalk(root, events=("start", "end"))):
        if count > _MOST_NODES:
            break
        tag = node.tag if isinstance(node.tag, str) else ""
        if event == "start":
            if skipping is None and (node in unseen or not tag or tag in without):
                skipping = node
            if skipping is None:
                parts.append(f"\n{_MARKS.get(tag, '')}" if tag in _BLOCKS else "")
                parts.append(" ".join((node.text or "").split("\n")))
            continue
        if skipping is node:
            skipping = None
        if skipping is None:
            parts.append("\n" if tag in _BLOCKS else "")
            parts.append(" ".join((node.tail or "").split("\n")))
    lines = (" ".join(line.split()) for line in strip_unseen("".join(parts)).split("\n"))
    return "\n".join(line for line in lines if line.strip("#- "))


def to_title(root: HtmlElement) -> str:
    """The page's title, "" where it has none."""
    return " ".join(strip_unseen(str(root.xpath("string(//title[1])"))).split())


def find_links(root: HtmlElement, base: str, path: str = "//a[@href]") -> list[tuple[str, str]]:
    """Web address and text of each link, in the order of the page."""
    links = []
    for link in root.xpath(path)[:_MOST_LINKS]:
        url = join(base, str(link.get("href")))
        if url:
            links.append((url, " ".join(str(link.text_content()).split())))
    return links


def join(base: str, address: str) -> str:
    """Where an address on a page leads, "" where that is no web page."""
    try:
        url = urljoin(base, address.strip()).partition("#")[0]
    except ValueError:
        return ""
    return url if to_host(url) else ""
