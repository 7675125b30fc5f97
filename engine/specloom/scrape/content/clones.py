"""Elements that a page says again as a whole: a row for each width of a screen, a slide of a carousel once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.cut import MIN_WORDS
from specloom.scrape.content.frame import KINDS

if TYPE_CHECKING:
    from specloom.scrape.content.frame import Frame

LONG: Final = 8
"""Words from which an element is a clone. From 5 to 10 the figures hardly differ; with 15, a quarter of the gain is
lost."""

MANY: Final = 3
"""Texts from which an element is a clone though it is called as the first one. With 4, a tenth of the gain is lost;
with 2, documentation loses 0.0016."""

MORE: Final = 0.1
"""How much likelier the second must be to stay in the place of the first: 0.1 and 0.2 give the same."""


def merge_clones(frame: Frame, chances: Any) -> Any:
    """The chances, where two elements have the same texts in their order: nothing in one, and in the other the higher
    of both, which are two judgements of one text. The first stays, or the one that is likelier or has more headings:
    a title may be said before in a list of contents.

    Unlike `copies`, this is before the choice, which would otherwise count the words twice. Elements with listings of
    code are no clones, nor are those of few texts that are called the same.
    """
    start, stop = np.searchsorted(frame.at, (np.arange(len(frame.blocks)), frame.end))
    # Of elements around the same texts, the outermost.
    outer = (start != start[frame.parent]) | (stop != stop[frame.parent])
    codes = np.concatenate(([0], np.cumsum(frame.kind == KINDS["pre"])))
    able = np.nonzero(outer & (frame.words_in >= LONG) & (codes[stop] == codes[start]))[0]
    texts = np.array([hash(frame.blocks[at].text) for at in frame.at.tolist()])
    run = np.concatenate(([0], np.cumsum(texts)))
    sums, numbers, sizes = np.unique(run[stop[able]] - run[start[able]], return_inverse=True, return_counts=True)
    if len(sums) == len(able):
        return chances
    found = chances.copy()
    words = np.maximum(frame.words, MIN_WORDS)
    again = sizes[numbers] > 1
    stays: dict[int, int] = {}
    gone = 0
    for block, number in zip(able[again].tolist(), numbers[again].tolist(), strict=True):
        other = stays.setdefault(number, block)
        first, second = slice(start[other], stop[other]), slice(start[block], stop[block])
        named = frame.names.signs[other] != frame.names.signs[block]
        if block < gone or other == block or not (named or stop[block] - start[block] >= MANY):
            continue
        if not np.array_equal(texts[first], texts[second]):
            continue
        gone = int(frame.end[block])
        headings = int(frame.heads_in[block] - frame.heads_in[other])
        more = np.average(found[second] - found[first], weights=words[second])
        if headings > 0 or (headings == 0 and more > MORE):
            first, second, stays[number] = second, first, block
        found[first] = np.maximum(found[first], found[second])
        found[second] = 0
    return found
