"""The content of a page: blocks, what is measured of them, what the model makes of that, and the best choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content import Content
from specloom.scrape.content.articles import without_comments
from specloom.scrape.content.blocks import to_blocks
from specloom.scrape.content.cut import MIN_WORDS, best_cut
from specloom.scrape.content.features import Units, measure
from specloom.scrape.content.forest import to_chances, to_shares
from specloom.scrape.content.model import Model, load_model

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from specloom.scrape.content.frame import Frame
    from specloom.scrape.content.page import Page


HEADING: Final = 0.05
TITLE: Final = 0.08
"""Chances from which a heading, and one of the first level, is taken with what stands under it. Measured: lower ones
keep more headings, and cost F1 where the truth is without the title."""

TABLE: Final = 0.2
AMID: Final = 3
"""The chance from which a table is taken with what is taken within so many blocks before and after it."""

UNDER: Final = 6
"""Blocks that may be left out between a heading and what is taken."""

PARTS: Final = frozenset(
    {"caption", "dd", "dt", "figcaption", "li", "summary", "tbody", "td", "tfoot", "th", "thead", "tr"}
)
"""Elements that mean nothing without the one around them."""


def find_content(root: HtmlElement, page: Page) -> Content:
    """See `content.find`."""
    blocks = to_blocks(root)
    model = load_model()
    units = measure(blocks, page, model.words)
    if units is None:
        return Content((), (), "", 0.0, 0)
    kinds, chances = judge(units, model)
    chances = without_comments(units.frame, page, kinds, model.types, chances)
    taken, expected = choose(units.frame, chances)
    nodes, drop = to_nodes(units.frame, taken)
    confidence = float(np.interp(expected, model.expected, model.reached))
    return Content(nodes, drop, model.types[int(np.argmax(kinds))], confidence, int(units.frame.words[taken].sum()))


def judge(units: Units, model: Model) -> tuple[Any, Any]:
    """The chances of each type of page, and those of each unit to be content."""
    kinds = to_shares(model.page.evaluate(units.overall[:, None])[0])
    return kinds, to_chances(model.blocks.evaluate(with_kinds(units, kinds))[:, 0])


def with_kinds(units: Units, kinds: Any) -> Any:
    """The columns of the units, with the chances of each type of page behind."""
    columns = units.columns
    spread = np.broadcast_to(kinds.astype(np.float32)[:, None], (len(kinds), columns.shape[1]))
    return np.concatenate((columns, spread))


def choose(frame: Frame, chances: Any) -> tuple[Any, float]:
    """Which units are taken, and the F1 that is expected of it."""
    words = np.maximum(frame.words, MIN_WORDS)
    tables = find_tables(frame)
    smoothed = chances.copy()
    for rows in tables:
        # Half a table is worth little.
        smoothed[rows] = np.average(chances[rows], weights=words[rows])
    taken, expected, _ = best_cut(smoothed, words)
    return take_headings(frame, smoothed, take_tables(tables, smoothed, taken)), expected


def find_tables(frame: Frame) -> list[list[int]]:
    """The units of each table of two or more plain rows."""
    tables: dict[int, list[int]] = {}
    for unit, at in enumerate(frame.at.tolist()):
        if frame.blocks[at].tag == "tr":
            up = frame.blocks[at].parent
            if frame.blocks[up].tag != "table":
                up = frame.blocks[up].parent
            tables.setdefault(up, []).append(unit)
    return [units for units in tables.values() if len(units) > 1]


def take_tables(tables: list[list[int]], chances: Any, taken: Any) -> Any:
    """The choice, with the tables that stand amid what is taken: they are no prose, and yet rarely beside the point."""
    found = taken.copy()
    for rows in tables:
        first, last = rows[0], rows[-1]
        amid = taken[max(0, first - AMID) : first].any() and taken[last + 1 : last + 1 + AMID].any()
        if amid and chances[first] >= TABLE:
            found[rows] = True
    return found


def take_headings(frame: Frame, chances: Any, taken: Any) -> Any:
    """The choice, with the headings of what is taken: the best cut sees few words in them, but readers see more."""
    found = taken.copy()
    levels, count = frame.level.tolist(), len(taken)
    for at in np.nonzero((frame.level > 0) & ~taken)[0][::-1].tolist():
        if chances[at] < (TITLE if levels[at] == 1 else HEADING):
            continue
        below = at + 1
        while below < min(count, at + 1 + UNDER) and not found[below] and not levels[below]:
            below += 1
        if below < count and found[below] and (not levels[below] or levels[below] >= levels[at]):
            found[at] = True
    return found


def to_nodes(frame: Frame, taken: Any) -> tuple[list[HtmlElement], set[HtmlElement]]:
    """The elements to render: the narrowest one around all that is taken, and the widest ones in it that are not.

    A block without text, such as a picture, goes with its neighbours: it stays between two that stay.
    """
    blocks, at, end = frame.blocks, frame.at, frame.end
    count = len(blocks)
    order = np.arange(count)

    def over(flags: Any) -> Any:
        run = np.concatenate(([0], np.cumsum(flags)))
        return run[end] - run[order]

    with_text, with_taken = np.zeros(count, np.int32), np.zeros(count, np.int32)
    with_text[at] = 1
    with_taken[at[taken]] = 1
    texts, held = over(with_text), over(with_taken)
    if not held[0]:
        return [], set()
    before = np.concatenate(([-1], np.maximum.accumulate(np.where(with_text, order, -1))))[order]
    after = np.append(np.minimum.accumulate(np.where(with_text, order, count)[::-1])[::-1], count)[end]
    padded = np.append(with_taken, 0)  # both "none before" (-1) and "none after" (count) find the zero
    stays = (held > 0) | ((texts == 0) & (padded[before] > 0) & (padded[after] > 0))
    kept = stays.tolist()
    top = int(np.nonzero(held == held[0])[0][-1])
    while blocks[top].tag in PARTS:
        top = blocks[top].parent
    drop: set[HtmlElement] = set()
    gone = top
    for index in range(top + 1, blocks[top].end):
        if index < gone:
            continue
        block = blocks[index]
        if not kept[index]:
            drop.add(block.element)
            gone = block.end
        elif block.tag == "tr" and block.text:
            gone = block.end  # cells belong to their row
    return [blocks[top].element], drop
