"""Links to a heading that stand in it or beside it, as sites of documentation have them: no words of the page."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from .tree import text_of

if TYPE_CHECKING:
    from lxml import etree

    from .markdown_links import Links

_MARKS: Final = frozenset(("", "#", "¶", "§", "🔗"))
_SIGNS: Final = frozenset("#¶§🔗⚓⛓🖇")
_BACK: Final = frozenset("↩↑⤴⬆⏎↵^")
"""What leads from a note back to where it is referred to."""
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_BOXES: Final = frozenset(("div", "span", "p", "header", "small", "sup"))
_MOST_BOXES: Final = 3
"""Boxes in each other that may stand around such a link alone."""
_LONGEST: Final = 300
_MOST_PARTS: Final = 50
"""Elements of a heading in which words beside those of a link are looked for."""
_WORDS: Final = re.compile(
    r"(?:(?:copy|direct|permanent|section|heading|anchor|self) ?)?(?:link|anchor|url)(?: (?:to|for) .*)?"
    r"|perma-?link(?: (?:to|for) .*)?|section titled .*",
    re.IGNORECASE,
)
_ICON: Final = re.compile(r"\b(?:arrow|button|caret|chevron|close|icon|menu|toggle)\b", re.IGNORECASE)
_FORM: Final = re.compile("[\u200b-\u200d\u2060\ufe0e\ufe0f\ufeff]")


def is_anchor(link: etree._Element, links: Links, *, in_heading: bool) -> bool:
    """Whether a link stands for a place on its page alone, by a mark, nothing, or words such as "Permalink".

    Words count in or beside a heading that has others. A sign alone, such as a chain, says nothing there wherever it
    leads.
    """
    href = link.get("href")
    if not href:
        return False
    heading = next(link.iterancestors(*_HEADINGS), None) if in_heading else find_beside(link)
    if not in_heading and _is_picture(link):
        return False
    if not in_heading and heading is None:
        return href.startswith("#") and is_mark(text_of(link))
    text = " ".join(_FORM.sub("", text_of(link)[:_LONGEST]).split())
    if text and _SIGNS.issuperset(text):
        return True
    if not links.stays(href):
        return False
    if not any(map(str.isalnum, text)):
        return True
    if not _WORDS.fullmatch(text) and text != href[href.find("#") :]:
        return False
    return heading is not None and _count(heading) > (sum(map(str.isalnum, text)) if in_heading else 0)


def is_mark(text: str) -> bool:
    """Whether the text of a link is no more than a mark for a place, or a sign that leads back to one."""
    text = _FORM.sub("", text[:_LONGEST]).strip()
    return text in _MARKS or _BACK.issuperset(text)


def find_beside(link: etree._Element) -> etree._Element | None:
    """The heading next to which a link stands alone, or a box that holds nothing else; None where there is none."""
    node = link
    for _ in range(_MOST_BOXES):
        before, after = node.getprevious(), node.getnext()
        if before is not None and not (before.tail or "").strip() and (heading := _to_heading(before)) is not None:
            return heading
        alone = not (node.tail or "").strip()
        if alone and after is not None and (heading := _to_heading(after)) is not None:
            return heading
        box = node.getparent()
        if not alone or box is None or box.tag not in _BOXES or len(box) > 1 or (box.text or "").strip():
            return None
        node = box
    return None


def _is_picture(link: etree._Element) -> bool:
    """Whether there is a picture in a link that is described by other words than those of such links."""
    said = (" ".join((image.get("alt") or "").split()) for image in islice(link.iter("img"), _MOST_PARTS))
    return any(
        any(map(str.isalnum, alt)) and not (_WORDS.fullmatch(alt[:_LONGEST]) or _ICON.search(alt)) for alt in said
    )


def _to_heading(element: etree._Element) -> etree._Element | None:
    """The element, or what is alone in it, if that is a heading."""
    if element.tag in _HEADINGS:
        return element
    if element.tag not in _BOXES or len(element) != 1 or (element.text or "").strip():
        return None
    inner = element[0]
    return inner if inner.tag in _HEADINGS and not (inner.tail or "").strip() else None


def _count(element: etree._Element) -> int:
    """The letters and digits of an element."""
    inside = islice(element.iterdescendants("*"), _MOST_PARTS)
    said = (element.text or "") + "".join(f"{part.text or ''}{part.tail or ''}" for part in inside)
    return sum(map(str.isalnum, said))
