"""Notices of copyright at the foot of a page: who owns a page is no part of what it says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.groups import BITS
from specloom.scrape.content.naming import MASKS
from specloom.scrape.content.odds import times_odds

if TYPE_CHECKING:
    from specloom.scrape.content.frame import Frame

LESS: Final = 0.1
"""How many times the odds of such a text are those of another. On sites not seen the model leaves these out by itself,
and no figure changes; beside short content they look like more of it."""

MOST: Final = 40
"""Words up to which a text may be such a notice."""

_NOTICE: Final = re.compile(
    r"(?:©|\(c\)|\bcopyright\b)[^.]{0,60}?\b(?:19|20)\d\d"
    r"|\b(?:19|20)\d\d\s*(?:©|\(c\)|copyright\b)|^©|all rights reserved",
    re.IGNORECASE,
)


def without_colophon(frame: Frame, chances: Any) -> Any:
    """The chances, lower for notices of copyright in a footer, or in what is called so."""
    foot = (frame.names.masks[frame.at] & MASKS["footer"] > 0) | (frame.names.groups[frame.at] >> BITS["foot"] & 1 > 0)
    units = np.nonzero(foot & (frame.words <= MOST))[0].tolist()
    notices = [unit for unit in units if _NOTICE.search(frame.blocks[frame.at[unit]].text)]
    if not notices:
        return chances
    lower = chances.copy()
    lower[notices] = times_odds(chances[notices], LESS)
    return lower
