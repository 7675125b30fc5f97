"""What stands in or beside an article and is no part of it: pointers to other articles, their boxes, far-off groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.articles import LEFT, LIKELY
from specloom.scrape.content.cut import MIN_WORDS, best_cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specloom.scrape.content.frame import Frame

LINKED: Final = 0.6
"""Share of a pointer's characters that are its link. From 0.5 to 0.8 the figures hardly differ."""

MAX_WORDS: Final = 40
"""Words of a pointer: what is longer says something itself."""

COLONS: Final = (":", "：")
"""What ends the label of a pointer; the second is the wide one of Chinese and Japanese."""

EMPTY: Final = 0.2
"""The chance from which a heading is taken though its box holds nothing that is. From 0.15 to 0.3 articles gain the
same; without it, headings that people keep are lost."""

APART: Final = 5
"""Units that are left between groups of what is taken. From 4 to 7 the figures hardly differ."""

SURE: Final = 0.6
"""The chance that one of a group has if it is content: from 0.55 to 0.65 the figures hardly differ."""


def without_asides(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, lower for what stands beside the text if the page is an article; unchanged on other pages, where
    what is apart from the rest may well be content. `likely` has the chance of each type."""
    if likely["article"] < LIKELY:
        return chances
    chances = np.where(find_pointers(frame), LEFT * chances, chances)
    taken, _, _ = best_cut(chances, np.maximum(frame.words, MIN_WORDS))
    beside = find_apart(frame, chances, taken) | find_boxed(frame, chances, taken)
    return np.where(beside, LEFT * chances, chances)


def find_pointers(frame: Frame) -> Any:
    """Which units are a label with a colon and then a link, beside prose in the same element: "Read more: Kilns"."""
    found = np.zeros(len(frame.at), bool)
    up = frame.parent[frame.at]
    for unit in np.nonzero((frame.linked >= LINKED) & (frame.words <= MAX_WORDS) & (frame.level == 0))[0].tolist():
        block = frame.blocks[frame.at[unit]]
        label = block.text[: max(len(block.text) - block.linked, 0)]
        if any(colon in label for colon in COLONS):
            near = slice(max(0, unit - 1), unit + 2)
            found[unit] = ((up[near] == up[unit]) & (frame.prose[near] > 0)).any()
    return found


def find_apart(frame: Frame, chances: Any, taken: Any) -> Any:
    """Which units that are taken are in a group far from the others, less than they, and none of them is likely."""
    found = np.zeros(len(taken), bool)
    units = np.nonzero(taken)[0]
    words = frame.words[units].sum()
    for group in np.split(units, np.nonzero(np.diff(units) > APART)[0] + 1):
        found[group] = chances[group].max(initial=0) < SURE and 2 * frame.words[group].sum() < words
    return found


def find_boxed(frame: Frame, chances: Any, taken: Any) -> Any:
    """Which units are headings behind the first prose that is taken, in a box that holds nothing taken: "Related
    articles" over a list."""
    found = np.zeros(len(taken), bool)
    behind = np.cumsum(taken & (frame.prose > 0)) > 0
    units = np.nonzero(behind & (frame.level > 0) & (chances < EMPTY))[0].tolist()
    if units:
        held = frame.over(taken & (frame.level == 0))
        boxes: dict[int, int] = {}
        for unit in units:
            found[unit] = not held[find_box(frame, int(frame.at[unit]), boxes)]
    return found


def find_box(frame: Frame, at: int, boxes: dict[int, int]) -> int:
    """The narrowest block around a heading with something besides headings, the root if there is none; `boxes` holds
    those that were found before, so that a page of nested headings takes no longer than others."""
    inside = []
    while at not in boxes and at > 0 and frame.units_in[at] <= frame.heads_in[at]:
        inside.append(at)
        at = int(frame.parent[at])
    box = boxes.get(at, at)
    boxes.update(dict.fromkeys(inside, box))
    return box
