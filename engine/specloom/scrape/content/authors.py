"""Who wrote what: the names of a series of posts, answers or reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.frame import SERIES
from specloom.scrape.content.groups import split_name
from specloom.scrape.content.series import find_ends

if TYPE_CHECKING:
    from specloom.scrape.content.frame import Frame

MAX_NAME: Final = 4
"""Words of a name, with what is written beside it. From 3 to 6 the figures hardly differ."""

SHORT: Final = 0.8
"""Share of a series that is as short as names are; beside the others stands that they began the thread."""

INITIALS: Final = 2
"""Characters up to which texts are initials in the place of a picture."""

PERSON: Final = frozenset(
    {"author", "commenter", "creator", "member", "nick", "nickname", "poster", "reviewer", "user", "username"}
)
NAME: Final = frozenset({"name", "nicename"})
"""Words by which elements with a name are called; the second kind says it surer, if no word of the third is there."""

ELSE: Final = frozenset(
    {
        "avatar", "badge", "banner", "brand", "category", "credits", "date", "extras", "file", "forum", "group", "item",
        "joined", "location", "mention", "photo", "picture", "posts", "product", "quote", "rank", "registered", "role",
        "stats", "statistics", "status", "tag", "time", "title", "topic", "totalposts",
    }
)  # fmt: skip
"""Words by which elements are called that tell something else of a person, or have the name of something else."""


def take_authors(frame: Frame, numbers: Any, taken: Any) -> Any:
    """The choice, with the name of who wrote it before each post, where the page has a series of names between what is
    taken; of several such series, the one that is called a name, or of which more is taken already. `numbers` are those
    of `number_series`."""
    short = frame.words <= MAX_NAME
    run = np.concatenate(([0], np.cumsum(taken & ~short)))
    first, last = find_ends(numbers, np.arange(len(numbers)))
    size = np.bincount(numbers)
    brief = (size >= SERIES) & (np.bincount(numbers, short) >= SHORT * size)
    likely = np.nonzero(brief & (2 * (run[last] - run[first] + 1) >= size))[0]
    best = (0, 0.0)
    found = taken
    for number in likely.tolist():
        sure = judge_name(frame.blocks[frame.at[first[number]]].name)
        if not sure:
            continue
        units = np.nonzero(numbers == number)[0]
        heads = run[np.append(units[1:], len(taken))] > run[units]
        texts = [frame.blocks[at].text for at in frame.at[units].tolist()]
        long = sum(len(text) > INITIALS for text in texts)
        mark = (sure, float(taken[units].mean()))
        if 2 * heads.sum() >= len(units) and 2 * long > len(units) and len(set(texts)) > 1 and mark > best:
            best = mark
            found = taken.copy()
            found[units[heads & short[units]]] = True
    return found


def judge_name(name: str) -> int:
    """How sure an element that is called so holds the name of a person: 0 to 2."""
    words = split_name(name)
    if words & ELSE:
        return 0
    return 2 if words & NAME else 1 if words & PERSON else 0
