"""What belongs together whatever the chance of its parts: a table of data, a list, a section with its heading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specloom.scrape.content.blocks import Block
    from specloom.scrape.content.frame import Frame

HEADING: Final = 0.05
TITLE: Final = 0.07
"""Chances from which a heading, and one of the first level, is taken with what stands under it. Measured: lower ones
keep more headings, and cost F1 where the truth is without the title."""

TABLE: Final = 0.1
AMID: Final = 3
"""The chance from which a table is taken with what is taken within so many blocks before and after it."""

LISTS: Final = frozenset({"dl", "ol", "ul"})
LIST: Final = 0.1
BETWEEN: Final = 1
LINKED: Final = 0.3
"""The same for a list, and the share of its words up to which they may be links: more make a menu."""

LAST: Final = 0.25
"""The chance from which a table or a list is taken right behind what is taken beside it, as short pages end. Lower ones
bring in lists of references; from 0.35 on short tables are lost. On sites not seen it costs nothing."""

WHOLE: Final = 2 / 3
EACH: Final = 0.2
"""The share of a list's words from which it is taken as a whole, and the chance that each of its items has: from a half
of the words on, and from 0.2 to 0.3, no figure changes by more than 0.001; without the second, forums lose 0.005."""

MAX_CELL: Final = 100
MAX_MEAN: Final = 20
"""Words of a cell, and of all cells of a table in the mean, up to which a table holds data: longer ones are passages
that stand in a table for its layout, such as the posts of a forum."""

ARRANGING: Final = frozenset(
    {"article", "blockquote", "form", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "section", "table"}
)
"""Elements that no table of data has in it."""


def find_tables(frame: Frame) -> list[Any]:
    """The units of each table of data; half a table is worth little, so they are taken or left together."""
    found = []
    for at, block in enumerate(frame.blocks):
        if block.tag == "table":
            first, last = np.searchsorted(frame.at, (at + 1, block.end)).tolist()
            if last - first > 1 and is_data(frame.blocks, at, frame.at[first:last], frame.words[first:last]):
                found.append(np.arange(first, last))
    return found


def is_data(blocks: Sequence[Block], table: int, units: Any, words: Any) -> bool:
    """Whether a table has two rows with text, two columns and no passages; `words` are those of its `units`."""
    cells: dict[int, float] = {}
    rows: dict[int, int] = {}
    for at in range(table + 1, blocks[table].end):
        block = blocks[at]
        if block.tag in ARRANGING:
            return False
        if block.tag in {"td", "th"}:
            cells[at] = 0.0
            rows[block.parent] = rows.get(block.parent, 0) + 1
    filled = set()
    longest = 0.0
    for unit, size in zip(units.tolist(), words.tolist(), strict=True):
        if unit in rows:  # a plain row is one unit with all its cells
            longest = max(longest, size / rows[unit])
            filled.add(unit)
            continue
        at = unit
        while at not in cells and at > table:
            at = blocks[at].parent
        if at > table:
            cells[at] += size
            filled.add(blocks[at].parent)
    if len(filled) < 2 or max(rows.values()) < 2:
        return False
    return max(longest, *cells.values()) <= MAX_CELL and words.sum() <= MAX_MEAN * len(cells)


def find_lists(frame: Frame) -> list[Any]:
    """The units of each list of few links, of lists in one another those of the outermost."""
    begins, ends = [], []
    until = 0
    for at, block in enumerate(frame.blocks):
        if at >= until and block.tag in LISTS:
            until = block.end
            begins.append(at)
            ends.append(until)
    first, last = np.searchsorted(frame.at, begins), np.searchsorted(frame.at, ends)
    words, links = (np.concatenate(([0.0], values.cumsum())) for values in (frame.words, frame.link_words))
    few = (links[last] - links[first] <= LINKED * (words[last] - words[first])) & (last > first)
    return [np.arange(begin, end) for begin, end in zip(first[few].tolist(), last[few].tolist(), strict=True)]


def take_amid(groups: Sequence[Any], chances: Any, taken: Any, *, least: float, amid: int) -> Any:
    """The choice, with the groups that stand amid what is taken, before and behind within so many units, and whose mean
    chance is at least this: tables and lists are no prose, and yet rarely beside the point there."""
    found = taken.copy()
    for units in groups:
        first, last = int(units[0]), int(units[-1])
        around = taken[max(0, first - amid) : first].any() and taken[last + 1 : last + 1 + amid].any()
        if around and chances[units].mean() >= least:
            found[units] = True
    return found


def take_whole(groups: Sequence[Any], words: Any, chances: Any, taken: Any) -> Any:
    """The choice, with all of each group of which most is taken, where no part is unlikely: half a list misleads."""
    found = taken.copy()
    for units in groups:
        if np.average(taken[units], weights=words[units]) >= WHOLE and chances[units].min() >= EACH:
            found[units] = True
    return found


def take_behind(frame: Frame, groups: Sequence[Any], chances: Any, taken: Any) -> Any:
    """The choice, with the groups right behind what is taken beside them in one element, where they are not unlikely:
    texts end with tables and lists, and then there is nothing behind these."""
    found = taken.copy()
    for units in groups:
        first = int(units[0])
        if first and found[first - 1] and chances[units].mean() >= LAST and _stands_behind(frame, first):
            found[units] = True
    return found


def _stands_behind(frame: Frame, first: int) -> bool:
    """Whether the table or list that begins with a unit is beside the unit before it, in one element."""
    blocks = frame.blocks
    before = blocks[frame.at[first - 1]].parent
    at = int(frame.at[first])
    while at > before and blocks[at].parent != before:
        at = blocks[at].parent
    return at > before and (blocks[at].tag == "table" or blocks[at].tag in LISTS)


def take_headings(frame: Frame, chances: Any, taken: Any) -> Any:
    """The choice, with the headings of the sections that hold what is taken: the best cut sees few words in a heading,
    but readers see more. A section ends with the next heading that is not below its own; one of the same level that is
    taken makes that before it worth taking too, as of parallel headings with little between them."""
    found = taken.copy()
    levels = frame.level.tolist()
    # Whether something is taken between here and the next heading that ends a section of each level.
    holds = [False] * 7
    for at in range(len(levels) - 1, -1, -1):
        level = levels[at]
        if not level:
            if taken[at]:
                holds = [True] * 7
            continue
        if not found[at] and holds[level] and chances[at] >= (TITLE if level == 1 else HEADING):
            found[at] = True
        if found[at]:
            holds = [upper <= level for upper in range(7)]
        else:
            holds[level:] = [False] * (7 - level)
    return found
