"""The content of a page: blocks, what is measured of them, what the model makes of that, and the best choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import Content
from .blocks import to_blocks
from .features import Units, measure
from .model import ROOM, ContentModel, load_model, to_chances, to_shares
from .reweight import adjust
from .select import (
    AMID,
    BETWEEN,
    LIST,
    TABLE,
    find_lists,
    find_tables,
    leave_copies,
    merge_clones,
    number_series,
    silence,
    take_amid,
    take_around,
    take_authors,
    take_behind,
    take_headings,
    take_rest,
    take_series,
    take_whole,
)
from .threshold import MIN_WORDS, best_cut, expect

if TYPE_CHECKING:
    from lxml import etree

    from .frame import Frame
    from .page import PageFacts


PARTS: Final = frozenset(
    {"caption", "dd", "dt", "figcaption", "li", "summary", "tbody", "td", "tfoot", "th", "thead", "tr"}
)
"""Elements that mean nothing without the one around them."""


def find_content(root: etree._Element, page: PageFacts) -> Content:
    """See `content.find`."""
    blocks = to_blocks(root)
    model = load_model()
    units = measure(blocks, page, model.words)
    if units is None:
        return Content((), (), "", 0.0, 0)
    kinds, chances = judge(units, model)
    likely = dict(zip(model.types, kinds.tolist(), strict=True))
    chances = adjust(units.frame, page, likely, chances)
    taken, expected = choose(units.frame, chances)
    nodes, drop = to_nodes(units.frame, taken)
    confidence = float(np.interp(expected, model.expected, model.reached))
    return Content(nodes, drop, max(likely, key=likely.__getitem__), confidence, int(units.frame.words[taken].sum()))


def judge(units: Units, model: ContentModel) -> tuple[Any, Any]:
    """The chances of each type of page, and those of each unit to be content."""
    kinds = to_shares(model.page.evaluate(units.overall[:, None])[0])
    rows, count = units.columns.shape
    room = ROOM.of("columns", (rows + len(kinds), count), np.float32)
    return kinds, to_chances(model.blocks.evaluate(with_kinds(units, kinds, room))[:, 0])


def with_kinds(units: Units, kinds: Any, room: Any = None) -> Any:
    """The columns of the units, with the chances of each type of page behind; in `room`, if it is given."""
    columns = units.columns
    spread = np.broadcast_to(kinds.astype(np.float32)[:, None], (len(kinds), columns.shape[1]))
    return np.concatenate((columns, spread), out=room)


def choose(frame: Frame, chances: Any) -> tuple[Any, float]:
    """Which units are taken, and the F1 that is expected of it."""
    words = np.maximum(frame.words, MIN_WORDS)
    tables = find_tables(frame)
    chances = merge_clones(frame, chances)
    smoothed = chances.copy()
    for rows in tables:
        # Half a table is worth little.
        smoothed[rows] = np.average(chances[rows], weights=words[rows])
    taken, _, _ = best_cut(smoothed, words)
    lists = find_lists(frame)
    taken = take_amid(tables, smoothed, taken, least=TABLE, amid=AMID)
    taken = take_amid(lists, smoothed, taken, least=LIST, amid=BETWEEN)
    taken = take_behind(frame, [*tables, *lists], smoothed, take_whole(lists, words, smoothed, taken))
    taken = take_rest(frame, smoothed, taken)
    series = number_series(frame)
    taken = leave_copies(frame, take_series(frame, series, smoothed, taken))
    taken = take_authors(frame, series, take_headings(frame, smoothed, taken))
    taken = take_around(frame, smoothed, taken)
    return taken, expect(chances, words, taken)


def to_nodes(frame: Frame, taken: Any) -> tuple[list[etree._Element], set[etree._Element]]:
    """The elements to render: the narrowest one around all that is taken, and the widest ones in it that are not.

    A block without text, such as a picture, goes with its neighbours: it stays between two that stay. What is not taken
    and stands in an element around what is, as its own text, is taken out of the tree.
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
    drop: set[etree._Element] = set()
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
    silence(frame, taken)
    return [blocks[top].element], drop
