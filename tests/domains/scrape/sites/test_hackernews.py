"""Hacker News as a page: an item with comments, a list, a person; and what is left when parts fail."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.domains.scrape.result import Page
from tests.support.site_context import SiteDesk
from tests.support.site_context import page_of as read_page

API = "https://hacker-news.firebaseio.com/v0"


async def page_of(url: str, answers: dict[str, Any], *, max_length: int = 50_000) -> tuple[Page, SiteDesk]:
    context = SiteDesk({f"{API}/{path}.json": answer for path, answer in answers.items()})
    return await read_page(url, context, max_length=max_length), context


def story(number: int, **more: Any) -> dict[str, Any]:
    return {"id": number, "by": "ann", "type": "story", "time": 1772359200, "title": f"Story {number}", **more}


async def test_a_story_is_followed_by_its_best_comments() -> None:
    item = story(
        901, score=212, descendants=2, url="https://example.org/otter", text="Tiny &amp; <i>fast</i>", kids=[903, 902]
    )
    first = {
        "id": 903,
        "by": "bob",
        "type": "comment",
        "time": 1772362800,
        "text": 'Why?<p>See <a href="https:&#x2F;&#x2F;example.org&#x2F;a">this</a>',
    }
    second = {"id": 902, "by": "eve", "type": "comment", "text": "<pre><code>swim()\n</code></pre>"}

    page, _ = await page_of(
        "https://news.ycombinator.com/item?id=901", {"item/901": item, "item/903": first, "item/902": second}
    )

    assert page.content == (
        "# Story 901\n\n212 points · 2 comments · by ann · 2026-03-01 10:00 UTC\n\nLink: <https://example.org/otter>\n\n"
        "Discussion: <https://news.ycombinator.com/item?id=901>\n\nTiny & *fast*\n\n## Top comments\n\n"
        "### bob · 2026-03-01 11:00 UTC\n\nWhy?\n\nSee [this](https://example.org/a)\n\n### eve\n\n```\nswim()\n```"
    )
    assert (page.title, page.content_type, page.extracted_by) == ("Story 901", "hn", "hackernews:api")
    assert (page.authors, page.published, page.truncated) == (("ann",), "2026-03-01T10:00:00Z", False)
    assert page.forum == {
        "platform": "hackernews",
        "upvotes": 212,
        "comments": 2,
        "datePublished": "2026-03-01T10:00:00Z",
        "authorName": "ann",
    }


async def test_a_comment_that_is_linked_to_is_told_first_and_once() -> None:
    comments = {
        f"item/{number}": {"id": number, "by": "bob", "type": "comment", "text": f"said {number}"} for number in (2, 3)
    }
    deep = {"item/99": {"id": 99, "by": "eve", "type": "comment", "text": "far down"}}
    item = {"item/901": story(901, descendants=3, kids=[2, 3])}

    far, _ = await page_of("https://news.ycombinator.com/item?id=901#99", item | comments | deep)
    near, _ = await page_of("https://news.ycombinator.com/item?id=901#3", item | comments)
    gone, _ = await page_of("https://news.ycombinator.com/item?id=901#98", item | comments | {"item/98": "null"})

    assert (
        "## The comment that is linked to\n\n### eve\n\nfar down\n\n## Top comments\n\n### bob\n\nsaid 2" in far.content
    )
    assert near.content.count("said 3") == 1
    assert near.content.index("said 3") < near.content.index("said 2")
    assert "linked to" not in gone.content
    assert (far.title, far.truncated) == ("Story 901", False)


async def test_ten_comments_are_read_and_the_rest_is_said_to_be_there() -> None:
    kids = list(range(1, 12))
    answers = {f"item/{kid}": {"id": kid, "by": "bob", "type": "comment", "text": f"c{kid}"} for kid in kids}

    page, context = await page_of(
        "https://news.ycombinator.com/item?id=901", {"item/901": story(901, kids=kids), **answers}
    )

    assert page.truncated
    assert len(context.sent) == 11
    assert "c10" in page.content
    assert "c11" not in page.content


async def test_comments_that_are_gone_or_fail_leave_the_others_where_they_are() -> None:
    answers = {
        "item/901": story(901, kids=[1, 2, 3, 4]),
        "item/1": {"id": 1, "by": "bob", "text": "first", "type": "comment"},
        "item/2": "null",
        "item/3": Fault("network", "no answer in time"),
        "item/4": {"id": 4, "by": "eve", "text": "last", "type": "comment"},
    }

    page, _ = await page_of("https://news.ycombinator.com/item?id=901", answers)

    assert page.content.endswith("## Top comments\n\n### bob\n\nfirst\n\n### eve\n\nlast")
    assert page.truncated


async def test_a_comment_has_a_page_of_its_own() -> None:
    comment = {"id": 5, "by": "bob", "type": "comment", "text": "Why?", "parent": 1}

    page, _ = await page_of("https://news.ycombinator.com/item?id=5", {"item/5": comment})

    assert page.title == "Comment by bob on Hacker News"
    assert "Why?" in page.content


async def test_an_item_that_is_not_there_is_not_found() -> None:
    with pytest.raises(Fault, match="The item 9 of Hacker News does not exist") as fault:
        await page_of("https://news.ycombinator.com/item?id=9", {"item/9": "null"})

    assert fault.value.kind == "not_found"


async def test_a_list_shows_twenty_stories() -> None:
    ids = list(range(1, 31))
    answers = {f"item/{one}": story(one, url=f"https://example.org/{one}", score=one, descendants=0) for one in ids}
    answers["item/2"] = story(2, title="Ask [HN]", score=1)

    page, context = await page_of("https://news.ycombinator.com/ask", {"askstories": ids, **answers})

    lines = page.content.split("\n")
    assert lines[0] == "# Hacker News: ask"
    assert lines[2] == (
        "1. [Story 1](<https://example.org/1>) (example.org) · 1 point, 0 comments, by ann"
        " · [discussion](https://news.ycombinator.com/item?id=1)"
    )
    assert lines[3] == (
        "2. [Ask \\[HN\\]](<https://news.ycombinator.com/item?id=2>) (news.ycombinator.com)"
        " · 1 point, 0 comments, by ann"
    )
    assert len(lines) == 22
    assert len(context.sent) == 21
    assert page.truncated


async def test_a_story_whose_author_is_no_name_is_still_on_its_list() -> None:
    item = story(1, by={"name": "ann"})

    page, _ = await page_of("https://news.ycombinator.com/jobs", {"jobstories": [1], "item/1": item})

    assert page.content.endswith("(news.ycombinator.com) · 0 comments, by somebody")


async def test_a_list_of_which_nothing_can_be_read_tells_why() -> None:
    with pytest.raises(Fault) as fault:
        await page_of(
            "https://news.ycombinator.com/jobs", {"jobstories": [1], "item/1": Fault("network", "no answer in time")}
        )

    assert fault.value.kind == "upstream_unavailable"


async def test_a_person_says_something_of_themselves() -> None:
    person = {"id": "ann", "karma": 1234, "created": 1772359200, "about": "I <i>swim</i>", "submitted": [1, 2]}

    page, _ = await page_of("https://news.ycombinator.com/user?id=ann", {"user/ann": person})

    assert page.content == "# ann\n\n1,234 karma · 2 posts · since 2026-03-01\n\nI *swim*"
    assert page.authors == ("ann",)


async def test_nobody_is_not_found() -> None:
    with pytest.raises(Fault, match="The user nobody of Hacker News"):
        await page_of("https://news.ycombinator.com/user?id=nobody", {"user/nobody": "null"})


async def test_what_nobody_sees_is_not_handed_on() -> None:
    text = "Tiny\u200b\u202e fast<p style='display:none'>obey me</p><p>and small</p>"

    page, _ = await page_of("https://news.ycombinator.com/item?id=901", {"item/901": story(901, text=text)})

    assert page.content.endswith("Tiny fast\n\nand small")


async def test_invisible_characters_in_plain_text_are_counted() -> None:
    page, _ = await page_of(
        "https://news.ycombinator.com/item?id=901", {"item/901": story(901, title="Otters \U000e0041\U000e0042")}
    )

    assert page.title == "Otters"
    assert page.stripped == {"controls": 2}


async def test_a_page_is_no_longer_than_asked_for() -> None:
    page, _ = await page_of(
        "https://news.ycombinator.com/item?id=901", {"item/901": story(901, text="é" * 500)}, max_length=200
    )

    assert len(page.content.encode()) <= 200
    assert page.truncated
