"""What is one of a series: a post among posts, a card among cards, an entry among entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.frame import SERIES

if TYPE_CHECKING:
    from specloom.scrape.content.frame import Frame

EACH: Final = 4
"""Units that one element of a series has of it in the mean, at most: more are the paragraphs of one text, which are
judged one by one. From 2 to 4 the figures hardly differ; with 6, forums lose 0.001."""

LEAST: Final = 0.1
"""The chance from which one of a series is taken with it; what `articles` and `asides` made unlikely is below."""


def number_series(frame: Frame) -> Any:
    """A number for each unit from 1 on, the same for those that are alike in blocks that are alike."""
    signs, at = frame.names.signs, frame.at
    pairs = signs[at] * (int(signs.max()) + 1) + signs[frame.parent[at]]
    return np.unique(pairs, return_inverse=True)[1] + 1


def take_series(frame: Frame, numbers: Any, chances: Any, taken: Any) -> Any:
    """The choice, with the rest of each series of which more than half is taken, in number and in words: half a thread
    is worth less than all of it or nothing, and short answers look like little. Nothing is added before the first one
    that is taken, nor behind the last; headings are no series, their sections decide. `numbers` are those of
    `number_series`."""
    series = np.where(frame.level > 0, 0, numbers)
    size, held = np.bincount(series), np.bincount(series, taken)
    words, read = np.bincount(series, frame.words), np.bincount(series, frame.words * taken)
    most = (2 * held > size) & (held < size) & (2 * read > words)
    most[0] = False
    if not most.any():
        return taken
    elements = count_elements(frame, series)
    most &= (elements >= SERIES) & (size <= EACH * elements)
    first, last = find_ends(series, np.nonzero(taken)[0])
    order = np.arange(len(series))
    amid = (order > first[series]) & (order < last[series])
    return taken | (most[series] & amid & (chances >= LEAST))


def find_ends(series: Any, units: Any) -> tuple[Any, Any]:
    """The first and the last of these units of each series; the last is 0 where there is none."""
    first, last = np.zeros((2, int(series.max()) + 1), np.intp)
    first[series[units[::-1]]] = units[::-1]
    last[series[units]] = units
    return first, last


def count_elements(frame: Frame, series: Any) -> Any:
    """In how many elements each series stands."""
    count = len(frame.blocks)
    pairs = np.unique(series * count + frame.parent[frame.at])
    return np.bincount(pairs // count)
