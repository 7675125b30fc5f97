"""Comments under an article: many times its length at times, and no part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specloom.scrape.content.groups import BITS
from specloom.scrape.content.page import SIGNALS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specloom.scrape.content.frame import Frame
    from specloom.scrape.content.page import Page

AHEAD: Final = 60
"""Words of prose before the first comment from which they are the article. Posts of a forum have next to none."""

LEFT: Final = 0.1
"""What is left of a comment's chance. Not nothing: where a page has little else, comments may still be taken."""

LIKELY: Final = 0.5
"""Chance of a type from which a page is taken to be of it."""


def without_comments(frame: Frame, page: Page, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances, lower for the comments if the page is an article; unchanged on other pages.

    `likely` has the chance of each type. One page in fifty is an article with more comments than text: too few for the
    model to learn it, and each is lost as a whole.
    """
    if not is_article(page, likely):
        return chances
    return np.where(find_comments(frame), LEFT * chances, chances)


def is_article(page: Page, likely: Mapping[str, float]) -> bool:
    """Whether a page says that it is an article, or looks like one, and does not say that it is a forum."""
    said = dict(zip(SIGNALS, page.signals, strict=True))
    if said["data:forum"] or said["made:forum"] or said["body:forum"]:
        return False
    if said["data:newsarticle"] or likely["article"] >= LIKELY:
        return True
    return bool(said["og:article"] and (said["body:article"] or likely["forum"] < LIKELY))


def find_comments(frame: Frame) -> Any:
    """Which units are called comments and stand behind the article; none if it is too short for one, or if they are
    less than it: then the model's judgement does little harm, and knows of threads that begin with a long post."""
    called = frame.names.groups[frame.at] >> BITS["comment"] & 1 > 0
    first = int(np.argmax(called & (frame.prose > 0)))
    behind = called & (np.arange(len(called)) >= first)
    ahead = frame.prose[:first].sum()
    if ahead < AHEAD or frame.prose[behind].sum() < ahead or 2 * called[:first].sum() > first:
        return np.zeros(len(called), bool)
    return behind
