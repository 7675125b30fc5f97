"""Bluesky as recorded on 2025-05-19, from another host of the same service."""

from __future__ import annotations

import json

from tests.support.recordings import recorded, replay


def test_a_post_is_its_own_title_and_has_an_address_that_people_can_open() -> None:
    rows, requests = replay("bluesky", "web", {"query": "redistricting"}, recorded("bluesky/search-posts.json"))

    assert [request["get"] for request in requests] == ["https://api.bsky.app/xrpc/app.bsky.feed.searchPosts"]
    assert len(rows) == 25
    assert rows[0]["title"].startswith(
        "Ends Versus Means: Public Opinion on Congressional Redistricting https://osf.io/"
    )
    assert rows[0]["title"].endswith("…")
    assert rows[0]["snippet"].endswith("political discussion #sociology")
    assert rows[0]["url"] == "https://bsky.app/profile/did:plc:kkergqgbhb56ptpwj2wenkje/post/3lpk2u6qo222m"
    assert rows[0]["display_link"] == "bsky.app"
    assert rows[0]["extra_snippets"] == ["by Sociology papers (journals + SocArXiv) (@socpaperbot.bsky.social)"]
    assert rows[0]["published_at"] == "2025-05-19T17:10:09Z"
    assert rows[1]["engagement"] == {"likeCount": 4, "repostCount": 3, "replyCount": 0}


def test_every_post_says_how_many_liked_it_even_if_nobody_did() -> None:
    rows, _ = replay("bluesky", "web", {"query": "redistricting"}, recorded("bluesky/search-posts.json"))

    liked = [row["engagement"]["likeCount"] for row in rows]

    assert liked == [0, 4, 2, 13, 3, 0, 1, 1, 1, 0, 20, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 58]


def test_a_thread_begins_with_its_post() -> None:
    rows, requests = replay(
        "bluesky",
        "post",
        {"id": "3k7qmjev5lr2s", "author": "soubhikbarari.bsky.social"},
        recorded("bluesky/post-thread.json"),
    )

    assert requests[0]["query"]["uri"] == "at://soubhikbarari.bsky.social/app.bsky.feed.post/3k7qmjev5lr2s"
    assert len(rows) == 1
    text = rows[0].pop("text")
    assert text.startswith("Excited to be a speaker")
    assert rows[0] == {
        "id": "3k7qmjev5lr2s",
        "url": "https://bsky.app/profile/did:plc:ic6zqvuw5ulmfpjiwnhsr2ns/post/3k7qmjev5lr2s",
        "author": "soubhikbarari.bsky.social",
        "author_name": "Soubhik Barari",
        "published_at": "2023-09-19T11:32:54Z",
        "likes": 4,
        "reposts": 0,
        "quotes": 0,
        "answers": 0,
        "depth": 0,
    }


def test_a_profile_is_counted() -> None:
    profile = json.loads(recorded("bluesky/get-profiles.json"))["profiles"][0]

    rows, _ = replay("bluesky", "profile", {"handle": "chriskenny.bsky.social"}, profile)

    assert rows[0].pop("bio").count("\n") == 1
    assert rows == [
        {
            "handle": "chriskenny.bsky.social",
            "name": "Chris Kenny",
            "joined_at": "2023-09-19T15:47:01Z",
            "followers": 554,
            "following": 296,
            "posts": 65,
        }
    ]
