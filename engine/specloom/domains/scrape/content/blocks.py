"""A page as blocks of text: what is judged, one for each element that breaks a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Sequence


BLOCKS: Final = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details", "dialog",
        "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
        "header", "hgroup", "html", "label", "legend", "li", "main", "menu", "nav", "noscript", "ol", "p", "pre",
        "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    )
)  # fmt: skip
"""Elements that start a block: HTML's block-level ones, and the controls that pages use as headings and tabs."""

SKIPPED: Final = frozenset(
    (
        "applet", "area", "audio", "base", "canvas", "datalist", "embed", "head", "iframe", "input", "link", "map",
        "meta", "noembed", "noframes", "object", "option", "param", "picture", "progress", "script", "select",
        "source", "style", "svg", "template", "textarea", "title", "track", "video",
    )
)  # fmt: skip
"""Elements whose text is no part of the page as it is read."""

INLINE: Final = frozenset({"a", "b", "br", "em", "i", "img", "strong"})
"""Elements that are counted in the block around them."""

WHOLE: Final = (
    frozenset({"pre"}),
    frozenset({"pre", "table", "ul", "ol", "dl", "p"}),
)
"""Elements that are one block with all they hold: half a listing is no listing. A page of very many blocks is judged
more coarsely, by whole lists and tables."""

MAX_BLOCKS: Final = 20_000
"""Blocks that are told apart; a page has some hundreds. What follows is judged with the block around it."""


@dataclass(slots=True)
class Block:
    """One element that breaks the line, with the text that is its own and not that of a block inside it."""

    element: etree._Element
    tag: str
    parent: int
    depth: int
    name: str
    """Class, id and role as written."""
    parts: list[str]
    linked: int = 0
    """Characters inside links."""
    links: int = 0
    images: int = 0
    breaks: int = 0
    strong: int = 0
    end: int = 0
    """One past the last block inside this one: blocks are in document order, so a subtree is a range."""
    text: str = ""


def to_blocks(root: etree._Element) -> list[Block]:
    """All blocks of a tree in document order, the root first, with their own texts; linear in the page."""
    for whole in WHOLE:
        blocks = gather_blocks(root, whole)
        if len(blocks) < MAX_BLOCKS:
            break
    settle(blocks)
    return blocks


def gather_blocks(root: etree._Element, whole: frozenset[str]) -> list[Block]:
    """The blocks, without their texts and ends."""
    blocks = [Block(root, "html", -1, 0, "", [])]
    # Where the text inside an element goes: index of the block, doubled, plus one inside a link; -1 for nowhere.
    home: dict[etree._Element | None, int] = {root: 0}
    for element in root.iterdescendants(etree.Element):
        above = home[element.getparent()]
        if above < 0:
            home[element] = -1
            continue
        tag = element.tag
        block = upper = blocks[above >> 1]
        at = above
        if tag in BLOCKS or "-" in tag:
            if upper.tag in whole or len(blocks) >= MAX_BLOCKS:
                upper.parts.append("\n")
            else:
                get = element.get
                at = (len(blocks) << 1) | (above & 1)
                name = f"{get('class') or ''} {get('id') or ''} {get('role') or ''}"
                block = Block(element, tag, above >> 1, upper.depth + 1, name, [])
                blocks.append(block)
        elif tag in INLINE:
            if tag == "a":
                at = above | 1
                upper.links += 1
            elif tag == "br":
                upper.breaks += 1
                upper.parts.append("\n")
            elif tag == "img":
                upper.images += 1
            else:
                upper.strong += 1
        elif tag in SKIPPED:
            at = -1
            upper.images += tag == "picture"
        home[element] = at
        if at >= 0 and (text := element.text):
            block.parts.append(text)
            if at & 1:
                block.linked += len(text)
        if tail := element.tail:
            upper.parts.append(tail)
            if above & 1:
                upper.linked += len(tail)
    return blocks


def settle(blocks: Sequence[Block]) -> None:
    """Fills in texts and ends, and takes the plain rows of tables as one block each."""
    count = len(blocks)
    inner = [0] * count  # blocks inside that are more than a cell
    for at in range(count - 1, -1, -1):
        block = blocks[at]
        if block.parts:
            text = "".join(block.parts)
            block.text = text.strip() if block.tag == "pre" else " ".join(text.split())
        block.end = max(block.end, at + 1)
        if block.parent >= 0:
            above = blocks[block.parent]
            above.end = max(above.end, block.end)
            if inner[at] or block.tag not in {"td", "th"}:
                inner[block.parent] += 1
        if block.tag == "tr" and not inner[at] and block.end > at + 1:
            merge_row(block, blocks[at + 1 : block.end])


def merge_row(row: Block, cells: Sequence[Block]) -> None:
    row.text = " ".join(filter(None, (row.text, *(cell.text for cell in cells))))
    for cell in cells:
        cell.text = ""
        row.linked += cell.linked
        row.links += cell.links
        row.images += cell.images
        row.strong += cell.strong
