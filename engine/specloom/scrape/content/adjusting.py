"""What is known of pages beside what was learned: rules over the chances that the model gives, in their order.

Each makes some chances higher or lower, by what the page is or by where something stands in it, and leaves the choice
to the cut. `likely` has the chance of each type of page by its name, in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specloom.scrape.content.articles import without_comments
from specloom.scrape.content.asides import without_asides
from specloom.scrape.content.body import without_outskirts
from specloom.scrape.content.cards import with_cards
from specloom.scrape.content.colophon import without_colophon
from specloom.scrape.content.inserts import without_inserts
from specloom.scrape.content.landmarks import without_landmarks
from specloom.scrape.content.posts import without_other_posts
from specloom.scrape.content.titles import with_title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specloom.scrape.content.frame import Frame
    from specloom.scrape.content.page import Page


def adjust(frame: Frame, page: Page, likely: Mapping[str, float], chances: Any) -> Any:
    """The chances of the units after all rules."""
    chances = without_comments(frame, page, likely, chances)
    chances = without_asides(frame, likely, chances)
    chances = with_cards(frame, likely, chances)
    chances = without_inserts(frame, likely, chances)
    chances = without_landmarks(frame, likely, chances)
    chances = without_other_posts(frame, chances)
    chances = without_colophon(frame, chances)
    chances = without_outskirts(frame, likely, chances)
    return with_title(frame, likely, chances)
