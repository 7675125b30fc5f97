"""Brave Search as recorded on 2024-12-31."""

from __future__ import annotations

import json

from tests.support.recordings import recorded, replay

KEY = {"BRAVE_API_KEY": "k"}


def test_web_results_lose_their_tags_and_entities() -> None:
    rows, requests = replay("brave", "web", {"query": "hello world"}, recorded("brave/web.json"), config=KEY)

    assert [request["get"] for request in requests] == ["https://api.search.brave.com/res/v1/web/search"]
    assert len(rows) == 20
    assert rows[0] == {
        "title": '"Hello, World!" program - Wikipedia',
        "url": "https://en.wikipedia.org/wiki/%22Hello,_World!%22_program",
        "snippet": (
            'A "Hello, World!" program is usually a simple computer program that emits (or displays) to the screen '
            '(often the console) a message similar to "Hello, World!". A small piece of code in most general-purpose '
            "programming languages, this program is used to illustrate a language's basic syntax."
        ),
        "display_link": "en.wikipedia.org",
        "published_at": "2024-12-27T15:49:55Z",
    }
    assert rows[8]["title"].startswith("r/learnpython on Reddit: Why do all programming languages start with")
    assert not [row for row in rows if "<strong>" in row["snippet"] or "&#" in row["snippet"]]


def test_web_results_without_a_date_have_none() -> None:
    rows, _ = replay("brave", "web", {"query": "hello world"}, recorded("brave/web.json"), config=KEY)

    assert [at for at, row in enumerate(rows) if "published_at" not in row] == [4, 13, 15, 19]
    assert rows[1]["published_at"] == "2019-09-06T00:00:00Z"


def test_the_host_of_the_url_is_the_one_that_brave_names() -> None:
    body = recorded("brave/web.json")
    rows, _ = replay("brave", "web", {"query": "hello world"}, body, config=KEY)

    assert [row["display_link"] for row in rows] == [
        one["meta_url"]["hostname"] for one in json.loads(body)["web"]["results"]
    ]


def test_news_are_dated_by_the_page_and_not_by_the_relative_age() -> None:
    rows, _ = replay("brave", "news", {"query": "hello world"}, recorded("brave/news.json"), config=KEY)

    assert len(rows) == 20
    assert rows[0]["title"] == "World News and International Headlines : NPR"
    assert rows[0]["url"] == "https://www.npr.org/sections/world/"
    assert rows[0]["source"] == "www.npr.org"
    assert rows[0]["published_at"] == "2024-12-31T17:09:03Z"
    assert rows[2]["published_at"] == "2024-12-27T02:40:00Z"
    assert all("published_at" in row and "snippet" in row for row in rows)


def test_an_image_is_the_file_and_not_the_page() -> None:
    rows, _ = replay("brave", "images", {"query": "hello world"}, recorded("brave/images.json"), config=KEY)

    assert len(rows) == 20
    assert rows[1]["title"] == "Hello.world.anime5"
    assert rows[1]["link"].startswith("https://static0.gamerantimages.com/wordpress/wp-content/uploads/")
    assert rows[1]["context_link"] == "https://gamerant.com/hello-world-anime-ending-was-naomis-futures-self-killed/"
    assert rows[1]["display_link"] == "gamerant.com"
    assert rows[0]["display_link"] == "www.istockphoto.com"
    assert rows[0]["thumbnail_link"].startswith("https://imgs.search.brave.com/")
    assert not [row for row in rows if "width" in row], "these were recorded before Brave gave sizes"
