"""How a community received the post that a page is: votes and comments as the page states them, and a caution.

Read from JSON-LD (`DiscussionForumPosting`, `Question`, `SocialMediaPosting`), from microdata of the same types, and
from the attributes in which one large platform keeps its counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from specloom.scrape.metadata_dates import to_iso
from specloom.scrape.metadata_graph import Graph, Node, names, text, to_graph, types
from specloom.scrape.metadata_names import to_names
from specloom.scrape.metadata_sources import Sources, to_line, to_words
from specloom.trust.hosts import to_host

if TYPE_CHECKING:
    from lxml import etree

    from specloom.scrape.attributes import Attributes

UNKNOWN: Final = -1
FEW_VOTES: Final = 20
"""Fewer votes than these are easily cast by a few accounts (the tool contract's figure)."""

_POSTS: Final = to_words("DiscussionForumPosting Question SocialMediaPosting")
_POST_ITEM: Final = re.compile(r"schema\.org/(?:DiscussionForumPosting|Question|SocialMediaPosting)/?$")
_VOTING: Final = re.compile(r"(?:Like|Vote|Upvote|Agree|Endorse)Action$")
_COMMENTING: Final = re.compile(r"(?:Comment|Reply|Discuss)Action$")
_COUNT: Final = re.compile(r"[+-]?[0-9]{1,12}")
_MOST_ELEMENTS: Final = 5000

_PLATFORMS: Final = {
    "reddit.com": "reddit", "stackoverflow.com": "stackoverflow", "stackexchange.com": "stackexchange",
    "news.ycombinator.com": "hackernews", "quora.com": "quora", "bsky.app": "bluesky", "facebook.com": "facebook",
    "lemmy.world": "lemmy", "superuser.com": "stackexchange", "serverfault.com": "stackexchange",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ForumSignals:
    """What a page says about the reception of its post; -1 for a count that it does not say, "" for a text."""

    platform: str
    upvotes: int = UNKNOWN
    comments: int = UNKNOWN
    date_published: str = ""
    author_name: str = ""

    @property
    def credibility_note(self) -> str:
        """A caution for 0 to 19 votes; "" for more, and where the votes are not known."""
        if not 0 <= self.upvotes < FEW_VOTES:
            return ""
        votes = "1 vote" if self.upvotes == 1 else f"{self.upvotes} votes"
        return f"With {votes} this post was judged by few readers; a handful of accounts could have made the count."

    def to_json(self) -> dict[str, Any]:
        """The contract's `forumSignals`; a text that is unknown is left out."""
        found: dict[str, Any] = {"platform": self.platform, "upvotes": self.upvotes, "comments": self.comments}
        texts = {
            "datePublished": self.date_published,
            "authorName": self.author_name,
            "credibilityNote": self.credibility_note,
        }
        return found | {name: value for name, value in texts.items() if value}


def find_forum_signals(sources: Sources, *, url: str) -> ForumSignals | None:
    """The signals of the first post that a page describes; None when it describes none."""
    platform = to_platform(url)
    graph = to_graph(sources.blocks)
    found = ForumSignals(platform)
    post = next((node for node in graph.nodes if not _POSTS.isdisjoint(types(node))), None)
    if post is not None:
        found = _merge(found, _read_node(graph, post, platform))
    if platform == "reddit":
        found = _merge(found, _read_attributes(sources.root, platform))
    if UNKNOWN in (found.upvotes, found.comments):
        found = _merge(found, _read_items(sources.attributes, platform))
    return None if found == ForumSignals(platform) else found


def to_platform(url: str) -> str:
    """The name of the platform at an address: its usual name where it has one, else the host without `www.`."""
    host = to_host(url).removeprefix("www.")
    labels = host.split(".")
    named = (_PLATFORMS.get(".".join(labels[start:])) for start in range(len(labels)))
    return next(filter(None, named), host)


def _merge(first: ForumSignals, second: ForumSignals) -> ForumSignals:
    """What the first knows, and what only the second does."""
    return ForumSignals(
        platform=first.platform,
        upvotes=second.upvotes if first.upvotes == UNKNOWN else first.upvotes,
        comments=second.comments if first.comments == UNKNOWN else first.comments,
        date_published=first.date_published or second.date_published,
        author_name=first.author_name or second.author_name,
    )


def _read_node(graph: Graph, post: Node, platform: str) -> ForumSignals:
    votes, comments = _to_count(post.get("upvoteCount")), UNKNOWN
    for counter in graph.all(post.get("interactionStatistic")):
        if not isinstance(counter, dict):
            continue
        kind = counter.get("interactionType")
        if isinstance(kind, dict):
            kind = kind.get("@type") or kind.get("@id")
        count = _to_count(counter.get("userInteractionCount"))
        if not isinstance(kind, str):
            continue
        if _VOTING.search(kind) and votes == UNKNOWN:
            votes = count
        elif _COMMENTING.search(kind) and comments == UNKNOWN:
            comments = count
    for key in ("commentCount", "answerCount"):
        if comments == UNKNOWN:
            comments = _to_count(post.get(key))
    return ForumSignals(
        platform,
        votes,
        comments,
        to_iso(text(post, "datePublished", "dateCreated")),
        next(iter(to_names(names(graph, post.get("author")), split=False)), ""),
    )


def _read_attributes(root: etree._Element, platform: str) -> ForumSignals:
    """Counts in the attributes of the post's own element, new and old layout."""
    post = next(root.iter("shreddit-post"), None)
    if post is not None:
        return ForumSignals(
            platform,
            _to_count(post.get("score")),
            _to_count(post.get("comment-count")),
            to_iso(post.get("created-timestamp")),
            (post.get("author") or "")[:100],
        )
    for thing in islice(root.iter("div"), _MOST_ELEMENTS):
        if thing.get("data-score") and thing.get("data-comments-count"):
            return ForumSignals(
                platform,
                _to_count(thing.get("data-score")),
                _to_count(thing.get("data-comments-count")),
                to_iso(thing.get("data-timestamp")),
                (thing.get("data-author") or "")[:100],
            )
    return ForumSignals(platform)


def _read_items(attributes: Attributes, platform: str) -> ForumSignals:
    items = ((each, kind) for each, kind in attributes.types if each is not attributes.root)
    item = next((each for each, kind in items if _POST_ITEM.search(kind)), None)
    if item is None:
        return ForumSignals(platform)
    found: dict[str, str] = {}
    for element in islice(item.iter("*"), _MOST_ELEMENTS):
        name = element.get("itemprop")
        if not name or element.get("itemscope") is not None:
            continue
        owner = next((above for above in islice(element.iterancestors(), 50) if above.get("itemtype")), None)
        value = element.get("content") or element.get("datetime") or to_line(element)
        if owner is item:
            found.setdefault(name, value)
        elif owner is not None and owner.getparent() is not None and _is_part_of(owner, item):
            found.setdefault(f"{owner.get('itemprop')}.{name}", value)
    return ForumSignals(
        platform,
        _to_count(found.get("upvoteCount")),
        next((count for key in ("commentCount", "answerCount") if (count := _to_count(found.get(key))) >= 0), UNKNOWN),
        to_iso(found.get("datePublished") or found.get("dateCreated")),
        next(iter(to_names([found.get("author.name") or found.get("author") or ""], split=False)), ""),
    )


def _is_part_of(inner: etree._Element, item: etree._Element) -> bool:
    return next((above for above in islice(inner.iterancestors(), 50) if above.get("itemtype")), None) is item


def _to_count(value: object) -> int:
    """A count, -1 for what is none. A score that was voted below zero is zero: nobody is known to be for it."""
    if isinstance(value, bool):
        return UNKNOWN
    if isinstance(value, int | float):
        return max(0, int(value))
    if isinstance(value, str) and (match := _COUNT.fullmatch(value.replace(",", "").strip())):
        return max(0, int(match[0]))
    return UNKNOWN
