"""What elements are called: the words of classes and ids, and what they say about everything inside."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specloom.scrape.content.blocks import Block

NAME: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

MASKS: Final = {
    tag: 1 << at
    for at, tag in enumerate(
        (
            "nav", "header", "footer", "aside", "main", "article", "form", "table", "ul", "section", "figure", "dialog",
            "dl", "blockquote", "button", "details", "a", "noscript", "td",
        )
    )
}  # fmt: skip
"""A bit for each element that says what is inside it."""

ALIASES: Final = {"ol": "ul", "menu": "ul", "th": "td", "dt": "dl", "dd": "dl"}
ROLES: Final = {
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "main": "main",
    "article": "article",
    "dialog": "dialog",
    "alertdialog": "dialog",
    "search": "form",
}
"""What a role makes of an element, by the names of WAI-ARIA's landmarks."""

_LITERAL: Final = re.compile(r"[a-z-]+")


def split_pattern(pattern: str) -> tuple[tuple[str, ...], re.Pattern[str] | None]:
    """The plain words of a pattern, which are found faster one by one, and the rest of it."""
    parts = pattern.split("|")
    rest = [part for part in parts if not _LITERAL.fullmatch(part)]
    return tuple(part for part in parts if _LITERAL.fullmatch(part)), re.compile("|".join(rest)) if rest else None


GROUPS: Final = tuple(
    (name, *split_pattern(pattern))
    for name, pattern in (
        ("comment", "comment|disqus|respond|reply|replies|discussion|feedback|pinglun|huifu"),
        (
            "related",
            r"relat|recommend|\bmore|also|popular|trending|latest|recent|teaser|suggest|upsell|cross-sell|similar|tuijian|hot",
        ),
        ("share", "share|social|follow|bookmark"),
        ("nav", r"nav|menu|breadcrumb|crumb|paginat|pager|\btoc|\btabs?\b|index"),
        ("side", "side|widget|rail|aside|right|left"),
        ("foot", "foot|copyright|legal|bottom|disclaim"),
        ("head", "head|masthead|topbar|hero|banner|logo"),
        ("ad", r"\bads?\b|advert|sponsor|promo|affiliate|dfp|\bgg\b"),
        ("meta", r"meta|byline|author|date|time|\btags?\b|categor|profile|avatar|signature|\bbio\b|stats|info"),
        ("user", "user|member|login|register|account|sign-i|sign-u|signi|signu"),
        ("modal", "modal|popup|cookie|consent|gdpr|newsletter|subscri|overlay|toast|drawer|cart|offcanvas|dialog"),
        ("content", "content|article|story|entry|body|main|text|prose|markdown|rich"),
        ("post", "post|message|msg|thread|topic|answer|question"),
        ("product", "product|price|sku|spec|descri|detail|feature"),
        ("review", "review|rating|testimonial|star"),
        ("item", r"item|card|list|grid|tile|result|row|\bcol"),
        ("caption", "caption|credit|figure|image|gallery|slide|carousel|swiper|video|photo"),
        ("unseen", "hidden|sr-only|visually|screen-reader|collapse|tooltip|noprint|print"),
        ("form", "form|input|search|filter|sort|facet|select|option"),
        ("fold", "accordion|faq|toggle|panel|expand"),
    )
)
"""What classes and ids are about, whatever a learned word says."""

MAX_NAME: Final = 80
"""Characters of one class or id that are read."""

FADING: Final = 0.8
"""How much of what a name says is left one block further in."""


@dataclass(frozen=True, slots=True)
class Descent:
    """What the names from the root down to each block say; one value a block."""

    own: Any
    lowest: Any
    highest: Any
    faded: Any
    """Sums in which nearer names count more."""
    nearest: Any
    """The score of the nearest block with a known name."""
    masks: Any
    groups: Any
    """A bit for each of `GROUPS` that any name on the way is about."""
    near_groups: Any
    """The same for the nearest name that is about any."""
    signs: Any
    """A number for each different pair of tag and name."""


@lru_cache(maxsize=1 << 15)
def read_name(name: str) -> tuple[tuple[str, ...], int]:
    """The words of one class or id, in lower case, and the bits of the groups that it is about.

    `postBody`, `post-body` and `post_body` are post and body.
    """
    words = tuple(word.lower() for word in NAME.findall(name[:MAX_NAME]) if len(word) > 1)
    low = name[:MAX_NAME].lower()
    bits = 0
    for at, (_, literals, rest) in enumerate(GROUPS):
        for literal in literals:
            if literal in low:
                bits |= 1 << at
                break
        else:
            if rest is not None and rest.search(low):
                bits |= 1 << at
    return words, bits


def split_name(name: str) -> set[str]:
    """The words of the classes and the id of one element."""
    return {word for part in name.split() for word in read_name(part)[0]}


def descend(blocks: Sequence[Block], names: Mapping[str, float]) -> Descent:
    """One walk from the root down; `names` are log odds of words in names."""
    count = len(blocks)
    own, lowest, highest, faded, nearest = ([0.0] * count for _ in range(5))
    masks, groups, near_groups, signs = ([0] * count for _ in range(4))
    seen: dict[str, tuple[float, bool, int, int]] = {}
    numbers: dict[tuple[str, str], int] = {}
    for at, block in enumerate(blocks):
        name, tag, up = block.name, block.tag, block.parent
        signs[at] = numbers.setdefault((tag, name), len(numbers))
        mask = MASKS.get(ALIASES.get(tag, tag), 0)
        # The classes of the whole page say what the page is, not which part of it matters.
        if tag in {"body", "html"} or up < 0:
            masks[at] = mask
            continue
        found = seen.get(name)
        if found is None:
            about = 0
            for part in name.split():
                about |= read_name(part)[1]
            scores = [names[word] for word in split_name(name) if word in names]
            score = max(-4.0, min(4.0, sum(scores)))
            found = seen[name] = (score, bool(scores), about, MASKS.get(ROLES.get(name.rpartition(" ")[2], ""), 0))
        score, known, about, role = found
        masks[at] = masks[up] | mask | role
        own[at] = score
        low, high = lowest[up], highest[up]
        lowest[at] = score if score < low else low
        highest[at] = score if score > high else high
        faded[at] = faded[up] * FADING + score
        nearest[at] = score if known else nearest[up]
        groups[at] = groups[up] | about
        near_groups[at] = about or near_groups[up]
    marks = (np.array(values, np.float32) for values in (own, lowest, highest, faded, nearest))
    bits = (np.array(values, np.int64) for values in (masks, groups, near_groups, signs))
    return Descent(*marks, *bits)
