"""Elements of a page become Markdown: headings, lists, links, code, quotes and tables, in document order.

The walk is iterative and each text is copied a bounded number of times, so time is linear in the size of the page.
Choices that a reader of the output may want to know:

- a line break in a paragraph is a line end, and a second one in a row ends the paragraph;
- a link around several blocks stands at the first that has words;
- images are kept if they are described;
- `<sup>` puts a caret before a number (`10^6`), and `<sub>` nothing (`H2O`);
- the text of a page is escaped where it would read as structure, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Final

from lxml import etree

from ..html.parse import VOCABULARY, text_of
from . import code, inline, tables  # noqa: F401 - they register what begins and ends within a line
from .walk import Links, MarkdownWalk, MarkdownWriter, Numbers, ends, starts


def render(nodes: Sequence[etree._Element], *, base: str = "", drop: Collection[etree._Element] = ()) -> str:
    """Markdown of the elements in the order given, each once; those in `drop` are left out with what is in them.

    `base` is the address that links are resolved against; without it relative links keep their text alone.
    """
    chosen = set(nodes)
    outermost = [node for node in nodes if not any(above in chosen for above in node.iterancestors())]
    walk = MarkdownWalk(MarkdownWriter(), Links(base), frozenset(drop), find_plain(outermost))
    for node in outermost:
        walk.run(node)
        walk.out.end_heading()
        walk.out.flush()
        walk.lists.clear()
    return "\n".join(walk.out.lines)


HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_LISTS: Final = ("ul", "ol", "menu", "dir")
_BLOCKS: Final = ("pre", "table", "ul", "ol", "dl", "blockquote")
_BULLETS: Final = "•◦‣▪●○■"
_PLAIN: Final = VOCABULARY["tags"]["boxes"].split()


@starts(*_PLAIN)
@ends(*_PLAIN, "p", "table", "summary")
def part_block(walk: MarkdownWalk, _: etree._Element) -> None:
    """A box of the page, and whatever follows one, is not in the line before; in a heading it only parts words."""
    if walk.out.pieces:
        walk.out.block()


@starts("summary")
def start_summary(walk: MarkdownWalk, element: etree._Element) -> bool:
    """A box like others; the handle of documentation that is open already says nothing of it."""
    part_block(walk, element)
    return "hideme" in (element.get("class") or "")


@starts("p", "dt")
def start_paragraph(walk: MarkdownWalk, _: etree._Element) -> None:
    """A paragraph, or the term of a definition on a line of its own."""
    walk.enter_block()


@starts(*HEADINGS)
def start_heading(walk: MarkdownWalk, element: etree._Element) -> None:
    """A heading of its level; in a table cell its words alone."""
    if walk.out.flat:
        walk.out.block()
        return
    walk.enter_block()
    walk.out.heading = int(element.tag[1])


@ends(*HEADINGS)
def end_heading(walk: MarkdownWalk, _: etree._Element) -> None:
    """The heading is written."""
    if walk.out.flat:
        walk.out.block()
    else:
        walk.out.end_heading()


@starts("hr")
def add_rule(walk: MarkdownWalk, _: etree._Element) -> None:
    """A rule between two blocks; a second in a row adds nothing."""
    out = walk.out
    walk.enter_block()
    if out.lines and not out.flat and not out.heading and not out.lines[-1].endswith("---"):
        out.put(["---"])


@starts("blockquote")
def start_quote(walk: MarkdownWalk, _: etree._Element) -> None:
    """A quote: `>` before each line."""
    walk.enter_block()
    walk.out.push("> ", "> ")


@ends("blockquote")
def end_quote(walk: MarkdownWalk, _: etree._Element) -> None:
    """Out of the quote."""
    walk.out.block()
    walk.out.pop()


@starts(*_LISTS)
def start_list(walk: MarkdownWalk, element: etree._Element) -> None:
    """A list; numbers begin and run as the page says."""
    walk.enter_block()
    if walk.lists and element.getparent() not in walk.plain:
        walk.out.tight()
    first: int | None = None
    step = 1
    if element.tag == "ol":
        step = -1 if element.get("reversed") is not None else 1
        first = _to_number(element.get("start"), len(element) if step < 0 else 1)
    walk.lists.append(Numbers(first, step))


@ends(*_LISTS)
def end_list(walk: MarkdownWalk, _: etree._Element) -> None:
    """Out of the list."""
    walk.out.block()
    walk.lists.pop()


@starts("li")
def start_item(walk: MarkdownWalk, element: etree._Element) -> None:
    """An item behind its bullet or number, the blocks in it indented; a card is laid out plainly."""
    walk.enter_block()
    if element in walk.plain:
        return
    numbers = walk.lists[-1] if walk.lists else Numbers(None, 1)
    before = element.getprevious()
    if numbers.items or (not walk.lists and before is not None and before.tag == "li"):
        walk.out.tight()
    numbers.items += 1
    marker = "- "
    if numbers.next is not None:
        number = _to_number(element.get("value"), numbers.next)
        marker = f"{number}. "
        numbers.next = number + numbers.step
    _drop_marker(element, marker)
    walk.out.push(marker, " " * len(marker))


def _drop_marker(item: etree._Element, marker: str) -> None:
    """Takes a bullet or a number that a page sets as text out of an item, which has its own: the first signs of the
    item, or all of the first element in it where there are others."""
    if text := (item.text or "").lstrip():
        if text[0] in _BULLETS:
            item.text = text[1:].lstrip()
    elif len(item) > 1 and not len(item[0]) and isinstance(item[0].tag, str):
        text = (item[0].text or "").strip()
        if text and (text in _BULLETS or text.rstrip(".)") == marker.rstrip(". ")):
            item[0].text = None


@ends("li", "dd")
def end_item(walk: MarkdownWalk, element: etree._Element) -> None:
    """Out of the item or the definition."""
    walk.out.block()
    if element not in walk.plain:
        walk.out.pop()


def _to_number(value: str | None, default: int) -> int:
    """A number that Markdown can count from; it knows no negative ones."""
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 9 else max(0, default)


@starts("dl")
@ends("dl")
def part_definitions(walk: MarkdownWalk, element: etree._Element) -> None:
    """A list of definitions, as yet without a term; or its end."""
    part_block(walk, element)
    walk.term = False


@ends("dt")
def end_term(walk: MarkdownWalk, _: etree._Element) -> None:
    """The line of the term ends."""
    walk.term = True
    walk.out.block()


@starts("dd")
def start_definition(walk: MarkdownWalk, element: etree._Element) -> None:
    """A definition: `: ` on the line below its term; plain blocks if it holds more than words or has no term."""
    walk.enter_block()
    if element in walk.plain:
        return
    if walk.term:
        walk.out.tight()
        walk.out.push(": ", "  ")
    else:
        walk.out.push("", "")


@starts("table")
def add_table(walk: MarkdownWalk, element: etree._Element) -> bool:
    """A pipe table if it is one of data; the cells of any other become blocks."""
    out = walk.out
    walk.enter_block()
    if out.flat or out.heading:
        return False
    rows = tables.find_rows(element)
    if not tables.is_data(element, rows):
        return False
    lines = tables.render(rows, lambda cell: _to_text(walk, cell), walk.room)
    if not lines:
        return False
    caption = element.find("caption")
    if caption is not None:
        walk.run(caption)
        out.flush()
    out.put(lines)
    return True


def _to_text(walk: MarkdownWalk, cell: etree._Element) -> str:
    """The inline Markdown of one cell."""
    inner = MarkdownWalk(MarkdownWriter(flat=True), walk.links, walk.drop)
    inner.run(cell)
    return "".join(inner.out.pieces)


def find_plain(nodes: list[etree._Element]) -> frozenset[etree._Element]:
    """List items with headings and definitions with blocks in them: a page lays these out, and no bullet makes a list.

    Found once for all of them, and nothing is climbed past twice, so that nesting costs nothing.
    """
    plain: set[etree._Element] = set()
    for node in nodes:
        for tag, inner in (("li", HEADINGS), ("dd", (*_BLOCKS, *HEADINGS))):
            if next(node.iter(tag), None) is not None:
                plain |= _find_holders(node, tag, inner)
    return frozenset(plain)


def _find_holders(node: etree._Element, tag: str, inner: Collection[str]) -> set[etree._Element]:
    """The elements with a tag, in a node or itself, that hold one with another tag."""
    climbed: set[etree._Element] = set()
    for part in node.iter(*inner):
        above = part
        while above is not node:
            parent = above.getparent()
            if parent is None or parent in climbed:
                break
            climbed.add(parent)
            above = parent
    return {element for element in climbed if element.tag == tag}


# --- What pages fill in, tick and press: labels, the boxes of tasks, examples to try, and buttons that fold text
# away -----------------------------------------------------------------------------------------------------------------


_COPY: Final = re.compile(r"\b(?:copy|clipboard)", re.IGNORECASE)
_FOLDING: Final = re.compile(r"accordion|faq|collapsible|expand", re.IGNORECASE)
_OPENED: Final = frozenset(("div", "p", "section", "dd", "td"))
_MOST_BOXES: Final = 3
"""Boxes in each other in which such a button may stand last, before what it opens."""
_MOST_TEXTS: Final = 50
"""Texts behind such a button in which a word is looked for."""
_NEAR: Final = 12
"""Elements around a button in which another, or navigation, is looked for."""
_BUTTON_LENGTH: Final = 200
"""Characters of the longest label of a button; what is longer was never closed."""


@starts("textarea")
def add_field(walk: MarkdownWalk, element: etree._Element) -> bool:
    """Nothing of what is typed into forms, but an example that can be changed where it stands is code."""
    if not walk.out.flat and "code" in (element.get("class") or "").lower():
        code.add_code(walk, element)
    return True


@starts("input")
def add_input(walk: MarkdownWalk, element: etree._Element) -> bool:
    """The box of a task in a list; anything else is empty until somebody types."""
    above = element.getparent()
    is_task = above is not None and "li" in (above.tag, getattr(above.getparent(), "tag", ""))
    if is_task and element.get("type") == "checkbox":
        walk.out.raw("[x] " if element.get("checked") is not None else "[ ] ")
    return True


@starts("button")
def start_button(walk: MarkdownWalk, element: etree._Element) -> bool:
    """Left out, but for those that are what the text behind them is called, and those that hold a part of the page."""
    if walk.out.heading and _COPY.search(f"{element.get('class')} {element.get('id')} {element.get('title')}"):
        return True
    if walk.out.heading or _is_in(element, "button"):
        return False
    if next(element.iterdescendants(*HEADINGS), None) is not None or len(text_of(element)) > _BUTTON_LENGTH:
        return False
    if _opens(walk, element):
        walk.enter_block()
        return False
    walk.out.raw(" ")
    return True


@ends("button")
def end_button(walk: MarkdownWalk, element: etree._Element) -> None:
    """What a button opens is not in its line."""
    if _opens(walk, element):
        walk.out.block()


def _is_in(element: etree._Element, tag: str) -> bool:
    """Whether one of the nearest elements around this one has the tag."""
    above = element.getparent()
    for _ in range(_NEAR):
        if above is None or above.tag == tag:
            break
        above = above.getparent()
    return above is not None and above.tag == tag


def _opens(walk: MarkdownWalk, button: etree._Element) -> bool:
    """Whether a button folds what stands behind it, and is therefore what that is called: the question of an answer."""
    if button.get("aria-expanded") is None and not _FOLDING.search(button.get("class") or ""):
        return False
    if _is_in(button, "nav"):
        return False
    at: etree._Element | None = button
    for _ in range(_MOST_BOXES):
        following = at.getnext() if at is not None else None
        if following is not None:
            if following.tag not in _OPENED or following in walk.drop or len(text_of(button).split()) < 2:
                return False
            return any(not text.isspace() for text in islice(following.itertext(), _MOST_TEXTS))
        at = at.getparent() if at is not None else None
    return False
