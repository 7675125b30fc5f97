"""What a reader does not see is taken out of a tree, and counted.

Scripts, comments, templates and invisible characters go, and elements that are hidden: by the `hidden` attribute, by
`display: none`, `visibility: hidden`, zero size, clipping, a place off the screen, a font of no size, no opacity or the
colour of their ground, in a style of their own or in the page's style sheets. What stays although it is hidden was
chosen by measuring which hidden words readers marked as content:

- what a reader can open (`unfolding`);
- `opacity: 0` beside a transform, transition or animation: it fades in;
- `aria-hidden`: it is shown, and only not read aloud (12 % of it was content, most of the rest stood there twice);
- the body itself, and an element or `noscript` with most of the page's words: the page waits for a script to show it.

What is meant for another reader than a person, such as a hidden instruction to a program, has none of these marks.
Text of one colour or size inside which another is set loses only its own words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from . import invisible
from .attributes import Attributes, gather_attributes
from .styles import Sheet, read_sheets
from .tree import query
from .unfolding import find_controlled, is_openable

if TYPE_CHECKING:
    from lxml.html import HtmlElement


@dataclass(frozen=True, slots=True)
class Stripped:
    """What was taken out: hidden elements with words in them, scripts and sheets, comments, invisible characters."""

    hidden: int = 0
    scripts: int = 0
    comments: int = 0
    controls: int = 0


MOST: Final = 0.5
"""The share of a page's characters with which a hidden element is the page."""
LEAST: Final = 1000
"""Characters that such an element has at least: nobody has to hide an instruction behind so little page."""

MAX_JUDGED: Final = 2000
"""Hidden elements that are looked at closely; on a page with more the others are taken out."""
MAX_PAGES: Final = 20
"""Elements in one another that may be the page."""

_UNSHOWN: Final = ("script", "style", "template", "noembed", "noframes")
_ROOTS: Final = frozenset(("html", "head", "body", "frameset", "main"))
_OPENED: Final = frozenset(("attribute", "display", "visibility", "opacity", "size"))
_REVEALED: Final = frozenset(("attribute", "display", "visibility", "opacity"))
_SETTINGS: Final = frozenset(("mjx-math", "svg"))
_RESTYLED: Final = {
    "colour": ("color", "background", "background-color"),
    "font-size": ("font-size", "font"),
    "visibility": ("visibility",),
}


def sanitise(root: HtmlElement, attributes: Attributes | None = None) -> Stripped:
    """Take what is not shown out of the tree, in place, and say how much that was.

    `attributes` are those of the tree, where they are already known.
    """
    from lxml import etree

    attributes = attributes or gather_attributes(root)
    sheet = read_sheets(root, attributes)
    comments = int(query("count(descendant::comment()|descendant::processing-instruction())")(root))
    if comments:
        etree.strip_elements(root, etree.Comment, etree.PI, with_tail=False)
    _keep_formulas(root)
    has_frames = root.find("frameset") is not None
    unshown = _UNSHOWN[:-1] if has_frames else _UNSHOWN
    scripts = sum(1 for _ in root.iter(*unshown))
    if scripts:
        etree.strip_elements(root, *unshown, with_tail=False)
    # Before anything moves: lxml does not take back the controls that references put into a tree.
    controls = 0 if invisible.is_clean(query("string()")(root)) else _clean_texts(root)
    scripts += _drop_fallbacks(root)
    hidden = _drop_hidden(root, sheet, attributes)
    return Stripped(hidden=hidden, scripts=scripts, comments=comments, controls=controls)


def _keep_formulas(root: HtmlElement) -> None:
    """A formula whose source stands in a script, for a library to set, becomes an element that is read as a formula."""
    for script in query("descendant::script[starts-with(@type, 'math/tex')]")(root):
        script.tag = "span"
        script.set("class", "math-tex display" if "display" in script.get("type") else "math-tex")


def _drop_fallbacks(root: HtmlElement) -> int:
    """Take out what is shown without scripts, unless it is the page."""
    count = 0
    size_of_page = cache(lambda: _count_characters(root))
    for element in list(root.iter("noscript")):
        if _is_page(element, size_of_page):
            element.tag = "div"
            continue
        count += _drop(element)
    return count


def _drop_hidden(root: HtmlElement, sheet: Sheet, attributes: Attributes) -> int:
    found: dict[HtmlElement, str] = {}
    for element in sheet.find_suspects(attributes):
        if element not in found and element.tag not in _ROOTS:
            reason = sheet.find_reason(element)
            if reason:
                found[element] = reason
    if not found:
        return 0
    controlled = cache(lambda: find_controlled(attributes))
    size_of_page = cache(lambda: _count_characters(root))
    gone: set[HtmlElement] = set()
    count = judged = pages = 0
    for element, reason in found.items():
        if element in gone:
            continue
        judged += 1
        if judged <= MAX_JUDGED:
            if reason in _OPENED and is_openable(element, controlled):
                continue
            if reason in _REVEALED and pages < MAX_PAGES and _is_page(element, size_of_page):
                pages += 1
                continue
            if _is_formula(element):
                continue
        if not query("boolean(normalize-space())")(element):
            if not len(element):
                _drop(element)
            continue
        count += 1
        if reason in _RESTYLED and sheet.restyles_below(element, _RESTYLED[reason]):
            _blank(element)
        else:
            gone.update(element.iterdescendants())
            _drop(element)
    return count


def _is_formula(element: HtmlElement) -> bool:
    """Whether the element is the readable twin of a formula that its neighbour shows to the eye."""
    if next(element.iter("math"), None) is None:
        return False
    for other in (element.getnext(), element.getprevious()):
        if other is None:
            continue
        if (
            other.tag in _SETTINGS
            or "katex-html" in (other.get("class") or "")
            or "mwe-math" in (other.get("class") or "")
        ):
            return True
    return False


def _is_page(element: HtmlElement, size_of_page: Callable[[], float]) -> bool:
    size = _count_characters(element)
    return size >= LEAST and size >= MOST * size_of_page()


def _count_characters(element: HtmlElement) -> float:
    """Characters of its text, with runs of white space as one."""
    return float(query("string-length(normalize-space())")(element))


def _drop(element: HtmlElement) -> int:
    """Take the element out and leave its tail."""
    parent = element.getparent()
    if parent is None:
        return 0
    tail = element.tail
    if tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + tail
        else:
            before.tail = (before.tail or "") + tail
    parent.remove(element)
    return 1


def _blank(element: HtmlElement) -> None:
    """Take out the element's own words and leave the elements in it."""
    element.text = None
    for child in element:
        child.tail = " "


def _clean_texts(root: HtmlElement) -> int:
    count = 0
    for element in root.iter():
        text = element.text
        if text and not invisible.is_clean(text):
            element.text, found = invisible.clean(text)
            count += found
        tail = element.tail
        if tail and not invisible.is_clean(tail):
            element.tail, found = invisible.clean(tail)
            count += found
    return count
