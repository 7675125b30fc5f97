"""Reddit's feed of 2016, which was RSS; today's is Atom, and nobody recorded one of a search."""

from __future__ import annotations

import pytest

from specloom.faults import Fault

from .support import recorded, replay


@pytest.mark.parametrize("operation", ["web", "news"])
def test_a_feed_in_another_format_is_a_changed_layout_and_not_an_empty_answer(operation: str) -> None:
    with pytest.raises(Fault) as fault:
        replay("reddit", operation, {"query": "space"}, recorded("reddit/atom-subreddit.xml"))

    assert fault.value.kind == "layout_changed"
    assert fault.value.provider in {"", "reddit"}


def test_so_is_a_listing_in_json() -> None:
    with pytest.raises(Fault) as fault:
        replay("reddit", "web", {"query": "praw"}, recorded("reddit/search-listing.json"))

    assert fault.value.kind == "layout_changed"
