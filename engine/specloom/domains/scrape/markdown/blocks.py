"""Elements that stand on lines of their own: paragraphs, headings, lists, quotes, code and tables."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from ..html import tables
from ..html.parse import text_of
from . import code
from .walk import MarkdownWalk, Numbers, ends, starts
from .writer import MarkdownWriter

if TYPE_CHECKING:
    from lxml import etree


HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_LISTS: Final = ("ul", "ol", "menu", "dir")
_BLOCKS: Final = ("pre", "table", "ul", "ol", "dl", "blockquote")
_BULLETS: Final = "•◦‣▪●○■"
_PLAIN: Final = (
    "address", "article", "aside", "body", "center", "details", "div", "fieldset", "figcaption", "figure", "footer",
    "form", "frameset", "header", "hgroup", "html", "legend", "main", "nav", "noframes", "optgroup", "search",
    "section", "tr", "caption", "thead", "tbody", "tfoot",
)  # fmt: skip


@starts(*_PLAIN)
def start_block(walk: MarkdownWalk, _: etree._Element) -> None:
    """A box of the page; in a heading it only parts words."""
    if walk.out.pieces:
        walk.out.block()


@ends(*_PLAIN, "p", "table", "summary")
def end_block(walk: MarkdownWalk, _: etree._Element) -> None:
    """Whatever follows a block is not in its line."""
    if walk.out.pieces:
        walk.out.block()


@starts("summary")
def start_summary(walk: MarkdownWalk, element: etree._Element) -> bool:
    """A box like others; the handle of documentation that is open already says nothing of it."""
    start_block(walk, element)
    return "hideme" in (element.get("class") or "")


@starts("p")
def start_paragraph(walk: MarkdownWalk, _: etree._Element) -> None:
    """A paragraph."""
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


@starts("pre", "listing", "xmp", "plaintext")
def add_code(walk: MarkdownWalk, element: etree._Element) -> bool:
    """A fenced block; in a heading or a table cell a span."""
    out = walk.out
    walk.enter_block()
    lines = code.to_lines(element)
    if out.flat or out.heading:
        out.raw(" " + code.render_span(" ".join(lines)) + " ")
    elif lines:
        out.put(code.render_block(lines, code.find_language(element)))
    return True


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
    if numbers.items or (not walk.lists and _follows_item(element)):
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


@ends("li")
def end_item(walk: MarkdownWalk, element: etree._Element) -> None:
    """Out of the item."""
    walk.out.block()
    if element not in walk.plain:
        walk.out.pop()


def _follows_item(element: etree._Element) -> bool:
    before = element.getprevious()
    return before is not None and before.tag == "li"


def _to_number(value: str | None, default: int) -> int:
    """A number that Markdown can count from; it knows no negative ones."""
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 9 else max(0, default)


@starts("dl")
def start_definitions(walk: MarkdownWalk, element: etree._Element) -> None:
    """A list of definitions, as yet without a term."""
    start_block(walk, element)
    walk.term = False


@ends("dl")
def end_definitions(walk: MarkdownWalk, element: etree._Element) -> None:
    """Out of the list."""
    end_block(walk, element)
    walk.term = False


@starts("dt")
def start_term(walk: MarkdownWalk, _: etree._Element) -> None:
    """The term of a definition, on a line of its own."""
    walk.enter_block()


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


@ends("dd")
def end_definition(walk: MarkdownWalk, element: etree._Element) -> None:
    """Out of the definition."""
    walk.out.block()
    if element not in walk.plain:
        walk.out.pop()


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


@starts("td", "th")
def start_cell(walk: MarkdownWalk, _: etree._Element) -> None:
    """A cell of a table that arranges the page is parted from its neighbour by a blank."""
    walk.out.raw(" ")


@ends("td", "th")
def end_cell(walk: MarkdownWalk, _: etree._Element) -> None:
    """The same at its end."""
    walk.out.raw(" ")


def find_plain(nodes: list[etree._Element]) -> frozenset[etree._Element]:
    """List items with headings and definitions with blocks in them: a page lays these out, and no bullet makes a list.

    Found once for all of them, in one pass, so that nesting costs nothing.
    """
    from lxml.etree import iterwalk

    found: set[etree._Element] = set()
    for node in nodes:
        # Those that are open and not yet known to be plain, the innermost last.
        items: list[etree._Element] = []
        definitions: list[etree._Element] = []
        for event, element in iterwalk(node, events=("start", "end"), tag=("li", "dd", *_BLOCKS, *HEADINGS)):
            tag = element.tag
            if tag in ("li", "dd"):
                opened = items if tag == "li" else definitions
                if event == "start":
                    opened.append(element)
                elif opened and opened[-1] is element:
                    opened.pop()
            elif event == "start":
                found.update(definitions)
                definitions.clear()
                if tag in HEADINGS:
                    found.update(items)
                    items.clear()
    return frozenset(found)


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
        add_code(walk, element)
    return True


@starts("label")
def start_label(walk: MarkdownWalk, _: etree._Element) -> None:
    """What a field is called; no word goes on in it."""
    walk.out.raw(" ")


@ends("label")
def end_label(walk: MarkdownWalk, _: etree._Element) -> None:
    """Its end."""
    walk.out.raw(" ")


@starts("input")
def add_input(walk: MarkdownWalk, element: etree._Element) -> bool:
    """The box of a task in a list; anything else is empty until somebody types."""
    if element.get("type") == "checkbox" and _is_task(element):
        walk.out.raw("[x] " if element.get("checked") is not None else "[ ] ")
    return True


def _is_task(element: etree._Element) -> bool:
    above = element.getparent()
    return above is not None and "li" in (above.tag, getattr(above.getparent(), "tag", ""))


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
