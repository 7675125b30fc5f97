"""The body of an article: the narrowest element around nearly all that is surely content, up to the last of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.cut import MIN_WORDS, best_cut
from specloom.scrape.content.odds import times_odds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specloom.scrape.content.frame import Frame

LIKELY: Final = 0.4
"""Chance of an article from which a page has a body. With 0.5 articles gain half as much; with 0.3 services lose
0.0005, with 0.15 documentation 0.0014."""

SURE: Final = 0.8
HELD: Final = 0.9
OUTSIDE: Final = 0.2
"""The chance from which a unit is surely content, the share of the words of all such units that the body holds, and how
many times the odds of what looks like content are those of the same outside. Chances of 0.7 and 0.8, shares of 0.9 and
0.95, and factors from 0.1 to 0.3 give the same."""

LAST: Final = 0.95
BEHIND: Final = 0.5
"""The chance that the last unit of a body has, and how many times the odds are those of the same behind it. Chances
from 0.93 to 0.97, and factors of 0.4 and 0.5, give the same; with 0.3 and 0.7 articles gain a little less."""

MOST: Final = 0.15
"""Share of the words of the best cut that may become less likely: where it is more, what is sure is a part of the text
and no body. With 0.1 and 0.2 articles gain the same within 0.001; with 0.2 a table is lost."""


def without_outskirts(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, lower outside and behind its body if the page is an article; unchanged on other pages. Outside of
    it, headings keep theirs: a title stands before the body. `likely` has the chance of each type.

    On sites not seen, of what stands there with a chance of one half, little is content: calls to subscribe, pointers,
    what the author is and who else reported.
    """
    sure = np.where(chances >= SURE, frame.words, 0)
    if likely["article"] < LIKELY or not sure.any():
        return chances
    body = int(np.nonzero(frame.over(sure) >= HELD * sure.sum())[0][-1])
    outside = ((frame.at < body) | (frame.at >= frame.end[body])) & (frame.level == 0)
    chances = lower(frame, chances, outside, OUTSIDE)
    last = np.nonzero((chances >= LAST) & (frame.level == 0))[0]
    return lower(frame, chances, np.arange(len(chances)) > last[-1], BEHIND) if last.size else chances


def lower(frame: Frame, chances: Any, units: Any, factor: float) -> Any:
    """The chances, with so many times the odds for these units, unless they are much of the best cut."""
    taken, _, _ = best_cut(chances, np.maximum(frame.words, MIN_WORDS))
    much = frame.words[taken & units].sum() > MOST * frame.words[taken].sum()
    return chances if much else np.where(units, times_odds(chances, factor), chances)
