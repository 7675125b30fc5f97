"""The blocks of a page as arrays: where they stand, what they hold, and sums over what is inside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .class_names import Descent, descend
from .text_features import TEXT, PageClaims, Words, read_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .blocks import Block
    from .page import PageFacts


LONG: Final = 12
"""Words that make a block prose when few of them are links."""

LINKED: Final = 0.34
"""Share of linked characters from which no block is prose."""

SERIES: Final = 3
"""Blocks of a kind that make a series."""

KINDS: Final = {
    tag: at
    for at, tags in enumerate(
        (
            ("p",), ("li",), ("h1",), ("h2",), ("h3",), ("h4", "h5", "h6"), ("div", "section", "article", "main"),
            ("td", "th", "tr"), ("pre",), ("dt", "dd"), ("blockquote",), ("button", "label", "legend"), ("summary",),
            ("figcaption", "caption"), ("body", "html", "center"),
        )
    )
    for tag in tags
}  # fmt: skip
OTHER_KIND: Final = 15
LEVELS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}


@dataclass(frozen=True, slots=True)
class Frame:
    """Arrays over blocks (`parent` … `series`) and over units, the blocks with text (`at` … `prose`)."""

    blocks: Sequence[Block]
    parent: Any
    end: Any
    names: Descent
    words_in: Any
    """Words inside each block; likewise links, prose, units, headings."""
    links_in: Any
    prose_in: Any
    units_in: Any
    heads_in: Any
    alike: Any
    """How many blocks of the page have each sign."""
    alike_words: Any
    alike_links: Any
    siblings: Any
    """How many children of the same parent are alike."""
    repeated: Any
    """Whether a block is one of a series and holds more than a line."""
    item: Any
    """The nearest repeated block around each block, itself included; 0 for none."""
    at: Any
    """The block of each unit."""
    text: Any
    """The columns of `TEXT`, one a row."""
    counts: Any
    """Links, pictures, line breaks and emphases of each unit."""
    words: Any
    linked: Any
    """Share of each unit's characters that are inside links."""
    link_words: Any
    prose: Any
    """Words of each unit if it is prose, else 0."""
    depth: Any
    kind: Any
    level: Any
    """Level of a heading; 0 for what is none."""
    told: int

    def get(self, name: str) -> Any:
        """A column of `TEXT`."""
        return self.text[TEXT.index(name)]

    @property
    def page_words(self) -> float:
        return max(float(self.words.sum()), 1.0)

    @property
    def page_prose(self) -> float:
        return max(float(self.prose.sum()), 1.0)

    def over(self, values: Any) -> Any:
        """Sums over what is inside each block, of values of units: a subtree is a range of blocks."""
        return sum_inside(values, self.at, self.end)


def sum_inside(values: Any, at: Any, end: Any) -> Any:
    flat = np.zeros(len(end) + 1)
    flat[at + 1] = values
    run = flat.cumsum()
    return run[end] - run[:-1]


def to_frame(blocks: Sequence[Block], page: PageFacts, words: Words) -> Frame | None:
    """The arrays of a page; nothing if it has no text."""
    count = len(blocks)
    index = [at for at, block in enumerate(blocks) if block.text]
    if not index:
        return None
    told = PageClaims(page)
    picked = [blocks[at] for at in index]
    text = read_texts([block.text for block in picked], words, told)
    at = np.array(index)
    parent = np.array([block.parent for block in blocks])
    parent[0] = 0
    end = np.array([block.end for block in blocks])
    names = descend(blocks, words.names)
    rows = np.array(
        [(block.linked, block.links, block.images, block.breaks, block.strong, block.depth) for block in picked],
        np.float32,
    )
    sizes = text[0].astype(np.float64)
    linked = np.minimum(rows[:, 0] / np.maximum(text[1], 1), 1)
    prose = np.where((sizes >= LONG) & (linked < LINKED), sizes, 0)
    level = np.array([LEVELS.get(block.tag, 0) for block in picked])
    link_words = sizes * linked
    words_in, links_in, prose_in = (sum_inside(values, at, end) for values in (sizes, link_words, prose))
    units_in = sum_inside(np.ones(len(at)), at, end)
    alike = np.bincount(names.signs)
    repeated = (alike[names.signs] >= SERIES) & (units_in >= 2) & (words_in >= LONG / 2)
    _, inverse, same = np.unique(parent * (len(alike) + 1) + names.signs, return_inverse=True, return_counts=True)
    return Frame(
        blocks=blocks,
        parent=parent,
        end=end,
        names=names,
        words_in=words_in,
        links_in=links_in,
        prose_in=prose_in,
        units_in=units_in,
        heads_in=sum_inside(level > 0, at, end),
        alike=alike,
        alike_words=np.bincount(names.signs, weights=words_in),
        alike_links=np.bincount(names.signs, weights=links_in),
        siblings=same[inverse],
        repeated=repeated,
        item=find_items(repeated.tolist(), parent.tolist(), count),
        at=at,
        text=text,
        counts=rows[:, 1:5],
        words=sizes,
        linked=linked,
        link_words=link_words,
        prose=prose,
        depth=rows[:, 5],
        kind=np.array([KINDS.get(block.tag, OTHER_KIND) for block in picked]),
        level=level,
        told=len(told.said),
    )


def find_items(repeated: list[bool], parent: list[int], count: int) -> Any:
    items = [0] * count
    for at in range(1, count):
        items[at] = at if repeated[at] else items[parent[at]]
    return np.array(items)


def number_series(frame: Frame) -> Any:
    """A number for each unit from 1 on, the same for those that are alike in blocks that are alike."""
    signs, at = frame.names.signs, frame.at
    pairs = signs[at] * (int(signs.max()) + 1) + signs[frame.parent[at]]
    return np.unique(pairs, return_inverse=True)[1] + 1


def count_elements(frame: Frame, series: Any) -> Any:
    """In how many elements each series stands."""
    count = len(frame.blocks)
    pairs = np.unique(series * count + frame.parent[frame.at])
    return np.bincount(pairs // count)
