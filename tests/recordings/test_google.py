"""The Custom Search API as recorded on 2016-01-09."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

KEYS = {"GOOGLE_CUSTOM_SEARCH_API_KEY": "k", "GOOGLE_CUSTOM_SEARCH_ID": "cx"}


def test_web_results_lie_in_items_and_their_line_breaks_go() -> None:
    rows, requests = replay("google", "web", {"query": "poker"}, recorded("google-cse/search-page1.json"), config=KEYS)

    assert requests[0]["query"] == {"key": "k", "cx": "cx", "q": "poker"}
    assert len(rows) == 10
    assert rows[0] == {
        "title": "Poker - Wikipedia, the free encyclopedia",
        "url": "https://en.wikipedia.org/wiki/Poker",
        "snippet": (
            "Poker is a family of gambling card games. All poker variants involve betting as an intrinsic part of "
            "play, and determine the winner of each hand according to the ..."
        ),
        "display_link": "en.wikipedia.org",
    }
    assert rows[3]["url"] == "https://en.wikipedia.org/wiki/Texas_hold_'em"
    assert rows[9]["title"] == "Poker Superstars Invitational Tournament - Wikipedia, the free ..."
    assert not [row for row in rows if "\n" in row["snippet"] or "\xa0" in row["snippet"]]


def test_the_same_answer_serves_as_news() -> None:
    rows, _ = replay("google", "news", {"query": "poker"}, recorded("google-cse/search-page1.json"), config=KEYS)

    assert len(rows) == 10
    assert {row["source"] for row in rows} == {"en.wikipedia.org"}
    assert not [row for row in rows if "published_at" in row]


@pytest.mark.parametrize("operation", ["web", "images", "news"])
def test_nothing_found_is_an_answer_without_items(operation: str) -> None:
    body = recorded("google-cse/search-no-results.json")

    rows, requests = replay("google", operation, {"query": "asdfowefwoejfowsaa"}, body, config=KEYS)

    assert rows == []
    assert len(requests) == 1


def test_a_refused_argument_is_not_taken_for_a_wrong_key() -> None:
    body = recorded("google-cse/error-400-start-over-limit.json")

    with pytest.raises(Fault) as caught:
        replay("google", "web", {"query": "poker"}, body, config=KEYS, status=400)

    assert caught.value.kind == "bad_request"
