"""The cards of a page that lists: each says little, and all together they are what the page is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.articles import LIKELY
from specloom.scrape.content.cut import MIN_WORDS, best_cut
from specloom.scrape.content.odds import times_odds
from specloom.scrape.content.series import EACH, count_elements, number_series

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specloom.scrape.content.frame import Frame

MANY: Final = 5
"""Elements that make a series one of cards. From 4 to 8 the figures hardly differ; with 3, half the gain is left."""

UNSURE: Final = 2.0
"""How much the odds of a card rise with the F1 that is not expected: twofold where half of it is. From 2 to 3 the
figures hardly differ on sites not seen; with 2.5, listings that were learned from lose 0.003."""


def with_cards(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, higher for what is one of a series if the page is a listing or a collection; unchanged on other
    pages. `likely` has the chance of each type.

    Beside an introduction in prose, each title, price and date looks unlikely where the model does not know the site,
    and the best cut leaves all of them.
    """
    if likely["listing"] + likely["collection"] < LIKELY:
        return chances
    series = number_series(frame)
    elements = count_elements(frame, series)
    cards = (elements >= MANY) & (np.bincount(series) <= EACH * elements)
    _, expected, _ = best_cut(chances, np.maximum(frame.words, MIN_WORDS))
    return np.where(cards[series], times_odds(chances, 1 + UNSURE * (1 - expected)), chances)
