"""Reddit's feed of 2016, which was RSS; today's is Atom, and nobody recorded one of a search."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay


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


def test_a_thread_is_a_post_a_comment_and_its_answer() -> None:
    rows, requests = replay("reddit", "post", {"id": "2gmzqe"}, recorded("reddit/comments-thread.json"))

    assert [request["get"] for request in requests] == ["https://www.reddit.com/comments/2gmzqe.json"]
    assert [(row["id"], row["author"], row["depth"]) for row in rows] == [
        ("2gmzqe", "bboe", 0),
        ("cklfmye", "paneer_burrito", 1),
        ("cklhv0f", "bboe", 2),
    ]
    assert (rows[0]["points"], rows[0]["answers"], rows[0]["community"]) == (11, 2, "redditdev")
    assert rows[0]["published_at"] == "2014-09-17T06:34:31Z"
    assert rows[1]["text"].startswith("Quick question")


def test_a_post_that_does_not_exist_is_nothing() -> None:
    rows, requests = replay("reddit", "post", {"id": "1zzzzz"}, recorded("reddit/error-404.json"), status=404)

    assert rows == []
    assert len(requests) == 1
