"""The content of a page: blocks, what is measured of them, what the model makes of that, and the best choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from . import Content
from .blocks import to_blocks
from .features import Units, measure
from .model import ROOM, ContentModel, load_model, to_chances, to_shares
from .reweight import reweight
from .select import choose

if TYPE_CHECKING:
    from collections.abc import Collection

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
    chances = reweight(units.frame, page, likely, chances)
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
    _silence(frame, taken)
    return [blocks[top].element], drop


def _find_around(frame: Frame, taken: Any) -> Any:
    """Which units are not taken, and stand in an element that holds something taken; none that stands around all of
    it, which is not shown."""
    held = frame.over(taken)
    narrowest = np.nonzero(held == held[0])[0][-1]
    return (held[frame.at] > 0) & ~taken & (frame.at >= narrowest)


def _silence(frame: Frame, taken: Any) -> None:
    """Takes their own text out of the elements that are kept for what they hold; linear in the page.

    Pictures in it stay, as they do between two blocks that stay.
    """
    units = np.nonzero(_find_around(frame, taken))[0].tolist()
    if units:
        blocks = {block.element for block in frame.blocks}
        for unit in units:
            _empty(frame.blocks[frame.at[unit]].element, blocks)


def _empty(element: etree._Element, blocks: Collection[etree._Element]) -> None:
    """Empties an element of its text, and of that of the elements in it that are no blocks."""
    element.text = None
    inner = [element]
    while inner:
        for part in inner.pop():
            part.tail = None
            if part not in blocks:
                part.text = None
                inner.append(part)
