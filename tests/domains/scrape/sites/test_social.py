"""Bluesky, X and Reddit as pages: a post with its answers, an article, a profile."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Response
from specloom.domains.scrape.result import Page
from tests.support.site_context import GONE, SiteDesk
from tests.support.site_context import page_of as read_page

BLUESKY = "https://public.api.bsky.app/xrpc"
MIRROR = "https://api.fxtwitter.com"
REDDIT = "https://www.reddit.com/comments/1abcde"
REFUSED = Response(403, {}, b"<html>Blocked</html>")


async def page_of(url: str, answers: dict[str, Any], *, max_length: int = 50_000) -> tuple[Page, SiteDesk]:
    context = SiteDesk(answers, otherwise=GONE)
    return await read_page(url, context, max_length=max_length), context


# --- Bluesky ----------------------------------------------------------------------------------------------------------


def post(key: str, text: str, **more: Any) -> dict[str, Any]:
    author = {"handle": "ann.example.org", "displayName": "Ann"}
    record = {"text": text, "createdAt": "2026-03-01T10:00:00Z"}
    return {"uri": f"at://did:plc:otter/app.bsky.feed.post/{key}", "author": author, "record": record, **more}


async def test_a_bluesky_post_is_followed_by_five_replies() -> None:
    embed = {
        "images": [{"alt": "An otter"}],
        "external": {"uri": "https://example.org/river", "title": "The [river]", "description": "It flows"},
        "record": {"author": {"handle": "bob.example.org"}, "value": {"text": "Where?\nHere?"}},
    }
    thread = {
        "post": post("3k0", "Otters!", likeCount=19, repostCount=1, replyCount=6, embed=embed),
        "replies": [{"post": post(f"3k{at}", f"reply {at}", likeCount=at)} for at in range(1, 7)],
    }

    page, _ = await page_of(
        "https://bsky.app/profile/ann.example.org/post/3k0",
        {f"{BLUESKY}/app.bsky.feed.getPostThread": {"thread": thread}},
    )

    assert page.content.startswith(
        "# Ann (@ann.example.org)\n\nOtters!\n\nImage: An otter\n\n"
        "[The \\[river\\]](<https://example.org/river>): It flows\n\n> @bob.example.org: Where?\n> Here?\n\n"
        "19 likes · 1 repost · 6 replies · 2026-03-01 10:00 UTC\n\n## Replies\n\n"
        "### Ann (@ann.example.org) · 1 like · 2026-03-01 10:00 UTC\n\nreply 1\n\n"
    )
    assert page.content.endswith("reply 5")
    assert page.truncated
    assert (page.content_type, page.authors, page.published) == ("bluesky", ("Ann",), "2026-03-01T10:00:00Z")
    assert page.forum is not None
    assert page.forum["platform"] == "bluesky"
    assert (page.forum["upvotes"], page.forum["comments"]) == (19, 6)
    assert "credibilityNote" in page.forum


async def test_a_bluesky_profile_says_who_it_is() -> None:
    profile = {
        "handle": "ann.example.org",
        "displayName": "Ann",
        "description": "I swim.",
        "followersCount": 1,
        "followsCount": 2,
        "postsCount": 1234,
        "createdAt": "2023-09-19T15:47:01Z",
    }

    page, _ = await page_of(
        "https://bsky.app/profile/ann.example.org", {f"{BLUESKY}/app.bsky.actor.getProfile": profile}
    )

    assert page.content == (
        "# Ann (@ann.example.org)\n\nI swim.\n\n1 follower · 2 accounts followed · 1,234 posts · since 2023-09-19"
    )


@pytest.mark.parametrize("path", ["ann.example.org/post/3k0", "ann.example.org"])
async def test_what_bluesky_does_not_have_is_not_found(path: str) -> None:
    with pytest.raises(Fault) as fault:
        await page_of(f"https://bsky.app/profile/{path}", {})

    assert fault.value.kind == "not_found"


# --- X ----------------------------------------------------------------------------------------------------------------


async def test_a_post_on_x_has_its_numbers_at_a_glance() -> None:
    tweet = {
        "id": "18",
        "url": "https://x.com/ann/status/18",
        "text": "Otters!",
        "created_timestamp": 1767607200,
        "likes": 1200,
        "retweets": 34,
        "replies": 5,
        "quotes": 2,
        "views": 3400000,
        "author": {"screen_name": "ann", "name": "Ann"},
    }

    page, _ = await page_of(
        "https://twitter.com/ann/status/18", {f"{MIRROR}/ann/status/18": {"code": 200, "tweet": tweet}}
    )

    assert page.content == (
        "@ann (Ann)\n\nOtters!\n\n1.2K likes · 34 reposts · 5 replies · 2 quotes · 3.4M views\n\n"
        "Posted: 2026-01-05 10:00 UTC"
    )
    assert (page.title, page.authors, page.content_type) == ("Post by @ann on X", ("Ann",), "twitter")
    assert page.url == "https://x.com/ann/status/18"


async def test_an_article_on_x_is_a_text_with_headings() -> None:
    blocks = [{"type": "header-two", "text": "Food"}, {"type": "unordered-list-item", "text": "trout"}]
    tweet = {"id": "18", "text": "", "article": {"title": "On otters", "content": {"blocks": blocks}}, "likes": 1}

    page, _ = await page_of("https://x.com/i/status/18", {f"{MIRROR}/i/status/18": {"code": 200, "tweet": tweet}})

    assert page.content == "@i\n\n# On otters\n\n## Food\n\n- trout\n\n1 likes · 0 reposts · 0 replies · 0 quotes"
    assert page.title == "On otters"


async def test_a_profile_on_x_says_where_it_is() -> None:
    user = {
        "screen_name": "ann",
        "name": "Ann",
        "description": "I swim.",
        "followers": 1200,
        "following": 3,
        "tweets": 4,
        "joined": "Mon Jan 05 10:00:00 +0000 2015",
        "location": "The river",
        "website": {"url": "https://example.org/ann"},
    }

    page, _ = await page_of("https://x.com/ann", {f"{MIRROR}/ann": {"code": 200, "user": user}})

    assert page.content == (
        "# Ann (@ann)\n\nI swim.\n\n1.2K followers · 3 following · 4 posts\n\n"
        "The river · <https://example.org/ann> · Joined 2015-01-05"
    )


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"code": 404, "message": "NOT_FOUND"}, "not_found"),
        ({"code": 401, "message": "PRIVATE_TWEET"}, "auth_required"),
        ({"code": 503, "message": "UPSTREAM_UNAVAILABLE"}, "upstream_unavailable"),
    ],
)
async def test_what_the_mirror_does_not_tell_has_a_reason(answer: dict[str, Any], kind: str) -> None:
    with pytest.raises(Fault) as fault:
        await page_of("https://x.com/ann/status/18", {f"{MIRROR}/ann/status/18": answer})

    assert fault.value.kind == kind


# --- Reddit -----------------------------------------------------------------------------------------------------------


def comment(number: int, text: str, *answers: dict[str, Any], **more: Any) -> dict[str, Any]:
    replies: Any = {"data": {"children": list(answers)}} if answers else ""
    data = {"id": f"k{number}", "body": text, "author": f"u{number}", "score": 50 - number, "replies": replies, **more}
    return {"kind": "t1", "data": data}


def listing(*comments: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    data = {
        "id": "1abcde",
        "title": "Otters return",
        "permalink": "/r/otters/comments/1abcde/otters_return/",
        "url": "https://example.org/otters",
        "selftext": "They *return*.",
        "author": "ann",
        "subreddit": "otters",
        "created_utc": 1772359200,
        "score": 212,
        "num_comments": 3,
        **more,
    }
    return [{"data": {"children": [{"kind": "t3", "data": data}]}}, {"data": {"children": list(comments)}}]


async def test_a_post_on_reddit_is_followed_by_its_comments() -> None:
    answer = comment(2, "Here", parent_id="t1_k1")
    gone = comment(4, "[removed]")

    page, context = await page_of(
        "https://old.reddit.com/r/otters/comments/1abcde/x/",
        {f"{REDDIT}.json": listing(comment(1, "Where?", answer), gone, comment(3, "There"))},
    )

    assert page.content == (
        "# Otters return\n\n212 points · 3 comments · by u/ann · r/otters · 2026-03-01 10:00 UTC\n\n"
        "Link: <https://example.org/otters>\n\nThey *return*.\n\n## Top comments\n\n"
        "### u1 · 49 points\n\nWhere?\n\n#### u2 · 48 points\n\nHere\n\n### u3 · 47 points\n\nThere"
    )
    assert (page.content_type, page.authors, page.truncated) == ("reddit", ("ann",), False)
    assert page.forum == {
        "platform": "reddit",
        "upvotes": 212,
        "comments": 3,
        "datePublished": "2026-03-01T10:00:00Z",
        "authorName": "ann",
        "topComments": [
            {"author": "u1", "body": "Where?", "score": 49},
            {"author": "u3", "body": "There", "score": 47},
        ],
    }
    assert len(context.sent) == 1


async def test_a_comment_on_reddit_that_is_linked_to_is_read_with_its_answers() -> None:
    linked = comment(2, "Here", comment(3, "Thanks", parent_id="t1_k2"), parent_id="t1_k1")

    page, context = await page_of(
        "https://www.reddit.com/r/otters/comments/1abcde/comment/k00002/", {f"{REDDIT}.json": listing(linked)}
    )

    assert page.content.endswith(
        "## The comment that is linked to, and answers\n\n#### u2 · 48 points\n\nHere\n\n#### u3 · 47 points\n\nThanks"
    )
    assert page.content.startswith("# Otters return\n")
    assert page.truncated
    assert "comment=k00002" in context.sent[0]


async def test_ten_comments_on_reddit_are_shown_and_five_are_signals() -> None:
    comments = [comment(at, "x" * 600) for at in range(1, 13)]

    page, _ = await page_of("https://redd.it/1abcde", {f"{REDDIT}.json": listing(*comments, score=3, num_comments=12)})

    assert page.content.count("### u") == 10
    assert page.truncated
    assert page.forum is not None
    assert [len(one["body"]) for one in page.forum["topComments"]] == [500] * 5
    assert "credibilityNote" in page.forum


async def test_where_reddit_refuses_data_its_feed_is_read() -> None:
    feed = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>t3_1abcde</id><title>Otters return</title>'
        "<author><name>/u/ann</name></author>"
        "<content>&lt;p&gt;They &lt;b&gt;return&lt;/b&gt;.&lt;/p&gt;</content></entry>"
        "<entry><id>t1_k1</id><author><name>/u/bob</name></author><content>&lt;p&gt;Where?&lt;/p&gt;</content></entry>"
        "</feed>"
    )

    page, _ = await page_of(
        "https://www.reddit.com/comments/1abcde", {f"{REDDIT}.json": REFUSED, f"{REDDIT}/.rss": feed}
    )

    assert page.content == "# Otters return\n\nby u/ann\n\nThey **return**.\n\n## Top comments\n\n### bob\n\nWhere?"
    assert page.forum is not None
    assert (page.forum["upvotes"], page.forum["comments"]) == (-1, -1)
    assert "credibilityNote" not in page.forum
    assert page.forum["topComments"] == [{"author": "bob", "body": "Where?"}]


async def test_who_is_shut_out_of_reddit_is_told_so() -> None:
    with pytest.raises(Fault) as fault:
        await page_of("https://redd.it/1abcde", {f"{REDDIT}.json": REFUSED, f"{REDDIT}/.rss": REFUSED})

    assert fault.value.kind == "blocked"


async def test_a_post_that_reddit_does_not_have_is_not_found() -> None:
    with pytest.raises(Fault) as fault:
        await page_of("https://redd.it/1abcde", {})

    assert fault.value.kind == "not_found"
