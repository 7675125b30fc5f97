"""Links that a heading carries to itself, as sites of documentation have them: no words of it."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from .tree import text_of

if TYPE_CHECKING:
    from lxml import etree

    from .markdown_links import Links

_MARKS: Final = frozenset(("", "#", "¶", "§", "🔗", "link", "permalink"))
_SIGNS: Final = frozenset("#¶§🔗⚓⛓🖇")
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_LONGEST: Final = 300
_MOST_PARTS: Final = 50
"""Elements of a heading in which words beside those of a link are looked for."""
_WORDS: Final = re.compile(
    r"(?:(?:copy|direct|permanent|section|heading|anchor|self) ?)?(?:link|anchor|url)(?: (?:to|for) .*)?"
    r"|perma-?link(?: (?:to|for) .*)?|section titled .*",
    re.IGNORECASE,
)
_FORM: Final = re.compile("[\u200b-\u200d\u2060\ufe0e\ufe0f\ufeff]")


def is_anchor(link: etree._Element, links: Links, *, in_heading: bool) -> bool:
    """Whether a link stands for a place on its page alone, by a mark, nothing, or words such as "Permalink".

    Words count in a heading that has others. A sign alone, such as a chain, says nothing there wherever it leads.
    """
    href = link.get("href")
    if not href:
        return False
    if not in_heading:
        return href.startswith("#") and text_of(link).strip().lower() in _MARKS
    text = " ".join(_FORM.sub("", text_of(link)[:_LONGEST]).split())
    if text and _SIGNS.issuperset(text):
        return True
    if not links.stays(href):
        return False
    if not any(map(str.isalnum, text)):
        return True
    if not _WORDS.fullmatch(text) and text != href[href.find("#") :]:
        return False
    heading = next(link.iterancestors(*_HEADINGS), None)
    if heading is None:
        return False
    inside = islice(heading.iterdescendants("*"), _MOST_PARTS)
    said = (heading.text or "") + "".join(f"{part.text or ''}{part.tail or ''}" for part in inside)
    return sum(map(str.isalnum, said)) > sum(map(str.isalnum, text))
