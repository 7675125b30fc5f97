"""The rest of a short page: what stands in its body beside what is sure, and is no part of what pages put around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.groups import BITS
from specloom.scrape.content.naming import MASKS

if TYPE_CHECKING:
    from specloom.scrape.content.frame import Frame

SHORT: Final = 120
"""Words of the choice up to which a page is short. From 150 on magic loses 0.0007, from 220 on zyte 0.0006."""

SURE: Final = 0.5
LEAST: Final = 0.12
"""The chance from which a unit is sure, and that from which it is the rest. The model learned from long pages; the last
line, a term or a note of a short one it gives some 0.15 to 0.4, and what stands around it less than 0.1. From 0.12 to
0.2 the figures hardly differ; from 0.3 on nothing is gained."""

LINKED: Final = 0.3
"""Share of its characters from which a unit leads to other pages; with 0.5 the figures are the same."""

MOST: Final = 0.5
"""Words of the rest, by those of the choice, up to which it is one: a body with more is not of this text alone,
and listings that were learned from lose 0.003."""

AROUND: Final = MASKS["nav"] | MASKS["footer"] | MASKS["aside"] | MASKS["dialog"] | MASKS["form"]
BESIDE: Final = sum(
    1 << BITS[name]
    for name in (
        "comment", "related", "share", "nav", "side", "foot", "ad", "meta", "user", "modal", "review", "unseen",
    )
)  # fmt: skip
"""Elements, and what elements are called, that stand in a body and hold none of its text."""


def take_rest(frame: Frame, chances: Any, taken: Any) -> Any:
    """The choice, on a short page with the rest of its body: the narrowest element around all that is sure.

    On sites not seen collections gain 0.0035, listings 0.0038 and no figure falls.
    """
    sure = taken & (chances >= SURE)
    words = frame.words[taken].sum()
    if words > SHORT or not sure.any():
        return taken
    held = frame.over(sure)
    body = int(np.nonzero(held == held[0])[0][-1])
    if frame.end[body] == body + 1:  # one paragraph is no body
        body = int(frame.parent[body])
    names = frame.names
    beside = names.groups[frame.at] & ~int(names.groups[body]) & BESIDE
    beside |= names.masks[frame.at] & ~int(names.masks[body]) & AROUND
    rest = ~taken & (beside == 0) & (chances >= LEAST) & (frame.linked <= LINKED)
    rest &= (frame.at >= body) & (frame.at < frame.end[body])
    return taken | rest if frame.words[rest].sum() <= MOST * words else taken
