"""What a selector found as a clean value: text with single blanks as a reader sees it, a number or a boolean."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Value: TypeAlias = str | int | float | bool


def to_value(raw: Any) -> Value | None:
    """The clean value of what a selector found: text with single blanks, a number or a boolean; None when empty."""
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, int | float):
        if not isfinite(raw):
            return None
        return int(raw) if raw == int(raw) and abs(raw) < 2**53 else raw
    if isinstance(raw, str):
        return " ".join(raw.split()) or None
    return " ".join(_text(raw).split()) or None if hasattr(raw, "itertext") else None


_UNSEEN: Final = frozenset({"script", "style"})
_BLOCKS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "footer",
        "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "option", "p", "pre",
        "section", "table", "td", "th", "tr", "ul",
    }
)  # fmt: skip


def _text(node: Any) -> str:
    """The text of an element and all below it, without comments and processing instructions."""
    if not len(node):
        return node.text or ""
    # Only elements of the HTML parser have `text_content`; elsewhere a <style> or a <p> can mean anything.
    if hasattr(node, "text_content"):
        return "".join(_html_text(node))
    return "".join(node.xpath("descendant::text()", smart_strings=False))


def _html_text(node: Any) -> Iterator[str]:
    """Pieces of text as a reader sees them: no scripts, and a blank where a block begins or ends."""
    from lxml import etree

    for event, part in etree.iterwalk(node, events=("start", "end", "comment", "pi")):
        tag = part.tag
        if event == "start":
            if tag in _BLOCKS:
                yield " "
            if part.text and (tag not in _UNSEEN or part is node):
                yield part.text
            continue
        if event == "end" and tag in _BLOCKS:
            yield " "
        if part.tail and part is not node:
            yield part.tail
