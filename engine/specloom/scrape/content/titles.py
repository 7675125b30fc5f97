"""The title of what is no article: the heading of the first level that says what the page says it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.structure import TITLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specloom.scrape.content.frame import Frame

UNLIKELY: Final = 0.25
"""Chance of an article below which a page is none. From 0.1 to 0.35 the figures hardly differ; with 0.5, small pages
that are like no type lose 0.001."""

LEAST: Final = 0.01
"""The chance from which the heading is the title. From 0.005 to 0.03 headings kept rise by 0.007 to 0.009, and no set
differs by more than 0.0004 in words."""

TITLED: Final = 0.8
"""Share of its words that are in the title that the page gives itself. From 0.6 to 0.9 the figures hardly differ;
without it, forums of magic lose 0.001."""


def with_title(frame: Frame, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, high enough for the title to be taken with what stands under it, unless the page may be an article:
    what is learned from articles, where metadata say their titles, is hard on those of threads and services.
    `likely` has the chance of each type."""
    if likely["article"] >= UNLIKELY:
        return chances
    found = (frame.level == 1) & (frame.get("titled") >= TITLED) & (frame.words > 1)
    return np.where(found & (chances >= LEAST), np.maximum(chances, TITLE), chances)
