"""What pages fill in, tick and press: labels, the boxes of tasks, examples to try, and buttons that fold text away."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from .markdown_blocks import HEADINGS, add_code
from .markdown_walk import Walk, ends, starts
from .tree import text_of

if TYPE_CHECKING:
    from lxml import etree

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
def add_field(walk: Walk, element: etree._Element) -> bool:
    """Nothing of what is typed into forms, but an example that can be changed where it stands is code."""
    if not walk.out.flat and "code" in (element.get("class") or "").lower():
        add_code(walk, element)
    return True


@starts("label")
def start_label(walk: Walk, _: etree._Element) -> None:
    """What a field is called; no word goes on in it."""
    walk.out.raw(" ")


@ends("label")
def end_label(walk: Walk, _: etree._Element) -> None:
    """Its end."""
    walk.out.raw(" ")


@starts("input")
def add_input(walk: Walk, element: etree._Element) -> bool:
    """The box of a task in a list; anything else is empty until somebody types."""
    if element.get("type") == "checkbox" and _is_task(element):
        walk.out.raw("[x] " if element.get("checked") is not None else "[ ] ")
    return True


def _is_task(element: etree._Element) -> bool:
    above = element.getparent()
    return above is not None and "li" in (above.tag, getattr(above.getparent(), "tag", ""))


@starts("button")
def start_button(walk: Walk, element: etree._Element) -> bool:
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
def end_button(walk: Walk, element: etree._Element) -> None:
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


def _opens(walk: Walk, button: etree._Element) -> bool:
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
