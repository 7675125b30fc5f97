"""What stands around the content of what is no article: header, navigation, all outside `main` or before the title."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.articles import LIKELY
from specloom.scrape.content.cut import MIN_WORDS
from specloom.scrape.content.naming import MASKS
from specloom.scrape.content.odds import times_odds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specloom.scrape.content.frame import Frame

LESS: Final = 0.3
MORE: Final = 1.1
"""How many times the odds of what looks like content are those of the same around it, and of the same inside: without
the second, as many words are lost as are spared. From 0.1 to 0.3, and from 1.05 to 1.2, the figures hardly differ."""

MOST: Final = 0.5
"""Share of the words expected to be content up to which they may stand outside of `main`, or before the title: what
holds more is the content. From 0.5 to 0.7 the figures hardly differ; with 0.35, products gain a third of it."""

AROUND: Final = MASKS["nav"] | MASKS["header"]
ASTRAY: Final = AROUND | MASKS["footer"] | MASKS["aside"]
"""Elements around content, and those in which a heading of the first level is the name of the site or of a box."""


def without_landmarks(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, lower in navigation and headers, outside of `main` and before the title, and in a forum in what
    stands aside, and a little higher elsewhere; unchanged if the page is an article, whose headers may hold its lead. A
    heading of the first level is nowhere around: a title may stand in a header. `likely` has the chance of each type.

    What is announced there is written as content is, and on sites not seen it is likelier than short content.
    """
    if likely["article"] >= LIKELY:
        return chances
    inside = frame.names.masks[frame.at]
    around = inside & (AROUND | MASKS["aside"] if likely["forum"] >= LIKELY else AROUND) > 0
    expected = chances * np.maximum(frame.words, MIN_WORDS)
    for part in (inside & MASKS["main"] == 0, np.arange(len(chances)) < find_title(frame, inside)):
        if expected[part].sum() <= MOST * expected.sum():
            around |= part
    around &= frame.level != 1
    return np.where(around, times_odds(chances, LESS), times_odds(chances, MORE))


def find_title(frame: Frame, inside: Any) -> int:
    """The first heading of the first level that is not `ASTRAY`; if all are, the first; 0 if there is none."""
    first = frame.level == 1
    return int(np.argmax(first & (inside & ASTRAY == 0)) or np.argmax(first))
