"""Votes and comments are read as pages state them, and a small count comes with a caution."""

from __future__ import annotations

import json

import pytest

from specloom.domains.scrape.html import parse as tree
from specloom.domains.scrape.metadata.signals import ForumSignals, find_forum_signals, to_platform
from specloom.domains.scrape.metadata.sources import gather

URL = "https://www.reddit.com/r/bridges/comments/abc/why/"


def read(html: str, url: str = URL) -> ForumSignals | None:
    return find_forum_signals(gather(tree.parse(html)), url=url)


def ld(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def counter(action: object, count: object) -> dict[str, object]:
    return {"@type": "InteractionCounter", "interactionType": action, "userInteractionCount": count}


def test_a_posting_gives_its_counters() -> None:
    found = read(
        ld(
            {
                "@graph": [
                    {
                        "@type": "DiscussionForumPosting",
                        "author": {"@type": "Person", "name": "ann_l"},
                        "datePublished": "2024-05-07T08:00:00Z",
                        "interactionStatistic": [
                            counter("https://schema.org/ViewAction", 9000),
                            counter({"@type": "https://schema.org/LikeAction"}, "1,250"),
                            counter("http://schema.org/CommentAction", 42),
                        ],
                    }
                ]
            }
        )
    )

    assert found is not None
    assert found.to_json() == {
        "platform": "reddit",
        "upvotes": 1250,
        "comments": 42,
        "datePublished": "2024-05-07T08:00:00Z",
        "authorName": "ann_l",
    }


def test_a_question_inside_its_page_is_the_post() -> None:
    question = {"@type": "Question", "upvoteCount": "0", "answerCount": "3", "author": {"name": "bo"}}

    found = read(ld({"@type": "QAPage", "mainEntity": question}), "https://forum.example/t/1")

    assert found is not None
    assert (found.platform, found.upvotes, found.comments, found.author_name) == ("forum.example", 0, 3, "bo")
    assert "0 votes" in found.credibility_note


@pytest.mark.parametrize(("votes", "has_note"), [(-1, False), (0, True), (19, True), (20, False)])
def test_the_caution_is_for_known_small_counts(votes: int, has_note: bool) -> None:
    signals = ForumSignals("reddit", votes, 5)

    assert bool(signals.credibility_note) is has_note
    assert ("credibilityNote" in signals.to_json()) is has_note


def test_counts_that_are_not_stated_are_unknown() -> None:
    found = read(ld({"@type": "DiscussionForumPosting", "author": "ann_l"}))

    assert found is not None
    assert (found.upvotes, found.comments) == (-1, -1)


def test_microdata_of_the_question_counts_and_that_of_answers_does_not() -> None:
    found = read(
        """
        <div itemscope itemtype="https://schema.org/QAPage"><div itemprop="mainEntity" itemscope
            itemtype="https://schema.org/Question">
          <span itemprop="upvoteCount">7</span><meta itemprop="answerCount" content="2">
          <span itemprop="author" itemscope itemtype="https://schema.org/Person"><b itemprop="name">ann_l</b></span>
          <time itemprop="dateCreated" datetime="2024-05-07"></time>
          <div itemprop="suggestedAnswer" itemscope itemtype="https://schema.org/Answer">
            <span itemprop="upvoteCount">99</span></div>
        </div></div>""",
        "https://qa.example/1",
    )

    assert found == ForumSignals("qa.example", 7, 2, "2024-05-07", "ann_l")


@pytest.mark.parametrize(
    "html",
    [
        '<shreddit-post score="12" comment-count="3" author="ann_l" created-timestamp="2024-05-07T08:00:00.000Z">',
        '<div class="thing" data-score="12" data-comments-count="3" data-author="ann_l"'
        ' data-timestamp="1715068800000">',
    ],
)
def test_counts_in_attributes_are_read_in_both_layouts(html: str) -> None:
    assert read(html) == ForumSignals("reddit", 12, 3, "2024-05-07T08:00:00Z", "ann_l")
    assert read(html, "https://elsewhere.example/") is None


def test_a_page_without_a_post_has_no_signals() -> None:
    assert read(ld({"@type": "Article", "author": "Ann"})) is None


def test_a_platform_is_named_by_its_host() -> None:
    assert to_platform("https://old.reddit.com/r/x") == "reddit"
    assert to_platform("https://notreddit.com/r/x") == "notreddit.com"
    assert to_platform("https://www.forum.example/") == "forum.example"
