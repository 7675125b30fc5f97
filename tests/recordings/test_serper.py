"""Serper as recorded in May 2023."""

from __future__ import annotations

from tests.support.recordings import recorded, replay

KEY = {"SERPER_API_KEY": "k"}
NOW = "2023-05-04T12:00:00Z"


def test_web_results_are_the_organic_ones() -> None:
    rows, requests = replay("serper", "web", {"query": "Apple Inc."}, recorded("serper/search.json"), config=KEY)

    assert requests[0]["post"] == "https://google.serper.dev/search"
    assert requests[0]["json"] == {"q": "Apple Inc."}
    assert len(rows) == 6
    assert rows[1] == {
        "title": "Apple Inc. - Wikipedia",
        "url": "https://en.wikipedia.org/wiki/Apple_Inc.",
        "snippet": (
            "Apple Inc. is an American multinational technology company headquartered in Cupertino, California. "
            "Apple is the world's largest technology company by revenue, ..."
        ),
        "display_link": "en.wikipedia.org",
    }
    assert rows[3]["url"] == "https://www.bloomberg.com/quote/AAPL:US"


def test_news_are_dated_back_from_now() -> None:
    rows, _ = replay("serper", "news", {"query": "Tesla Inc."}, recorded("serper/news.json"), config=KEY, now=NOW)

    assert len(rows) == 9
    assert rows[0]["title"] == "ISS recommends Tesla investors vote against re-election of Robyn Denholm"
    assert rows[0]["source"] == "Reuters"
    assert [row["published_at"] for row in rows[:4]] == [
        "2023-05-04T11:55:00Z",  # 5 mins ago
        "2023-05-03T12:00:00Z",  # 1 day ago
        "2023-05-04T06:00:00Z",
        "2023-05-04T08:00:00Z",
    ]
    assert all("published_at" in row for row in rows)


def test_images_have_the_size_of_the_file_and_a_thumbnail_that_can_be_opened() -> None:
    rows, _ = replay("serper", "images", {"query": "Lion"}, recorded("serper/images.json"), config=KEY)

    assert len(rows) == 10
    assert rows[0] == {
        "title": "Lion - Wikipedia",
        "link": (
            "https://upload.wikimedia.org/wikipedia/commons/thumb/7/73/Lion_waiting_in_Namibia.jpg/"
            "1200px-Lion_waiting_in_Namibia.jpg"
        ),
        "thumbnail_link": (
            "https://encrypted-tbn0.gstatic.com/images?q=tbn:ANd9GcRye79ROKwjfb6017jr0iu8Bz2E1KKuHg-A4qINJaspyxkZrkw&s"
        ),
        "display_link": "en.wikipedia.org",
        "context_link": "https://en.wikipedia.org/wiki/Lion",
        "width": 1200,
        "height": 900,
    }
    assert not [row for row in rows if "&amp;" in row["thumbnail_link"]]
