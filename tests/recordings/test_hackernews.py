"""Hacker News as recorded in October and November 2019, from the official API."""

from __future__ import annotations

from tests.support.recordings import recorded, replay


def test_a_story_has_its_link_its_votes_and_the_ids_of_its_answers() -> None:
    rows, requests = replay("hackernews_items", "post", {"id": "21299546"}, recorded("hacker-news/item-story-2.json"))

    assert [request["get"] for request in requests] == ["https://hacker-news.firebaseio.com/v0/item/21299546.json"]
    assert len(rows) == 1
    kind, title = rows[0].pop("kind"), rows[0].pop("title")
    assert (kind, title[-5:]) == ("story", "[pdf]")
    assert rows[0] == {
        "id": "21299546",
        "url": "https://news.ycombinator.com/item?id=21299546",
        "link": "https://opendocs.github.io/sicp/sicp.pdf",
        "author": "susam",
        "published_at": "2019-10-19T17:21:08Z",
        "points": 661,
        "answers": 142,
        "answer_ids": ["21300147", "21302020"],
    }


def test_a_question_has_a_text_and_no_link() -> None:
    rows, _ = replay("hackernews_items", "post", {"id": "21301382"}, recorded("hacker-news/item-ask-hn.json"))

    assert rows[0]["html"] == "Every winter"
    assert "link" not in rows[0]


def test_an_item_that_does_not_exist_is_nothing() -> None:
    assert replay("hackernews_items", "post", {"id": "1"}, recorded("hacker-news/item-missing-null.txt"))[0] == []


def test_the_front_page_is_five_hundred_ids() -> None:
    rows, _ = replay("hackernews_items", "listing", {}, recorded("hacker-news/topstories.json"))

    assert len(rows) > 400
    assert rows[:2] == [{"id": "21299546"}, {"id": "21278790"}]


def test_a_person_has_votes_and_a_day_of_joining() -> None:
    rows, _ = replay("hackernews_items", "profile", {"handle": "tomek"}, recorded("hacker-news/user.json"))

    assert rows == [{"handle": "tomek", "joined_at": "2007-07-31T02:58:17Z", "points": 6, "posts": 20}]
