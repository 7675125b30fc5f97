"""The own text of elements around what is taken: a name before an answer, a price beside a card, a button's label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from lxml import etree

    from specloom.scrape.content.frame import Frame

LEAST: Final = 0.12
"""The chance from which such a text stays. From 0.05 to 0.15 no type loses more than 0.0005; from 0.18 on, collections
lose 0.0015 by two pages."""


def take_around(frame: Frame, chances: Any, taken: Any) -> Any:
    """The choice, with those own texts of elements around what is taken that are not unlikely: the cards of collections
    say their names there."""
    return taken | (find_around(frame, taken) & (chances >= LEAST))


def find_around(frame: Frame, taken: Any) -> Any:
    """Which units are not taken, and stand in an element that holds something taken; none that stands around all of
    it, which is not shown."""
    held = frame.over(taken)
    narrowest = np.nonzero(held == held[0])[0][-1]
    return (held[frame.at] > 0) & ~taken & (frame.at >= narrowest)


def silence(frame: Frame, taken: Any) -> None:
    """Takes their own text out of the elements that are kept for what they hold; linear in the page.

    Pictures in it stay, as they do between two blocks that stay.
    """
    units = np.nonzero(find_around(frame, taken))[0].tolist()
    if units:
        blocks = {block.element for block in frame.blocks}
        for unit in units:
            empty(frame.blocks[frame.at[unit]].element, blocks)


def empty(element: etree._Element, blocks: Collection[etree._Element]) -> None:
    """Empties an element of its text, and of that of the elements in it that are no blocks."""
    element.text = None
    inner = [element]
    while inner:
        for part in inner.pop():
            part.tail = None
            if part not in blocks:
                part.text = None
                inner.append(part)
