"""What is inserted into pages of all kinds and is no part of them: reviews by buyers, notices about cookies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.groups import BITS, MAX_NAME
from specloom.scrape.content.odds import times_odds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specloom.scrape.content.frame import Frame

REVIEW: Final = re.compile(r"(?<!p)review", re.IGNORECASE)
NOTICE: Final = re.compile(
    r"consent|gdpr|cookies?[-_]?(?:banner|bar|box|law|layer|message|modal|notice|notif|overlay|popup|status|wall)",
    re.IGNORECASE,
)
"""What elements with reviews, and those with notices about cookies, are called: no preview, no section on cookies."""

MOST: Final = 0.5
"""Share of the page's words up to which an element is an insert: what holds more is called so for the page's subject.
From 0.3 to 0.7 the figures hardly differ."""

SHOP: Final = 0.4
"""Chance from which a page is taken to be a product or a collection. From 0.3 to 0.45 the figures hardly differ."""

LESS: Final = 0.3
"""How many times the odds of what looks like content are those of the same in an insert. With 0.4, products gain a
quarter less on sites not seen; with 0.15, those that were learned from lose 0.005."""


def without_inserts(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, lower for notices about cookies, and for reviews if the page is a product or a collection: a test is
    called a review too, and services put what customers say where others put their text. `likely` has the chance of
    each type."""
    found = find_called(frame, BITS["modal"], NOTICE)
    if likely["product"] + likely["collection"] >= SHOP:
        found |= find_called(frame, BITS["review"], REVIEW)
    return np.where(found, times_odds(chances, LESS), chances)


def find_called(frame: Frame, bit: int, pattern: re.Pattern[str]) -> Any:
    """Which units are in an element with such a name, or are one; `bit` is that of the group all such names are in."""
    at = np.nonzero((frame.names.groups >> bit & 1 > 0) & (frame.words_in <= MOST * frame.page_words))[0]
    _, first, number = np.unique(frame.names.signs[at], return_index=True, return_inverse=True)
    names = [frame.blocks[block].name[:MAX_NAME] for block in at[first].tolist()]
    at = at[np.array([pattern.search(name) is not None for name in names], bool)[number]]
    size = len(frame.blocks) + 1
    inside = np.cumsum(np.bincount(at, minlength=size) - np.bincount(frame.end[at], minlength=size))
    return inside[frame.at] > 0
