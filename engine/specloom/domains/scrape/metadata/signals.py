"""How a community received the post that a page is: votes and comments as the page states them, and a caution.

Read from JSON-LD (`DiscussionForumPosting`, `Question`, `SocialMediaPosting`), from microdata of the same types, and
from the attributes in which one large platform keeps its counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from specloom.core import dataclass
from specloom.domains.text import to_host

from ..excerpt import FEW_WORDS, count_words
from ..html.css_selectors import StyleRule, parse_rule
from ..html.parse import Attributes, text_of
from .fields import to_iso, to_names
from .jsonld import find_main, find_page, names, text
from .sources import Graph, Node, Sources, find_owner, is_of, to_line

if TYPE_CHECKING:
    from lxml import etree


UNKNOWN: Final = -1
FEW_VOTES: Final = 20
"""Fewer votes than these are easily cast by a few accounts (the tool contract's figure)."""

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


Facts = tuple[int, int, str, str]
"""Votes, comments, date and author of a post; -1 or "" for what is not said."""

_NOTHING: Final[Facts] = (UNKNOWN, UNKNOWN, "", "")


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
        counts: dict[str, Any] = {"platform": self.platform, "upvotes": self.upvotes, "comments": self.comments}
        texts = {
            "datePublished": self.date_published,
            "authorName": self.author_name,
            "credibilityNote": self.credibility_note,
        }
        return counts | {name: value for name, value in texts.items() if value}


def find_forum_signals(sources: Sources, *, url: str) -> ForumSignals | None:
    """The signals of the first post that a page describes; None when it describes none."""
    platform = to_platform(url)
    post = next((node for node in sources.graph.nodes if is_of("posts", node)), None)
    facts = _NOTHING if post is None else _read_node(sources.graph, post)
    if platform == "reddit":
        facts = _merge(facts, _read_attributes(sources.root))
    if UNKNOWN in facts:
        facts = _merge(facts, _read_items(sources.attributes))
    return None if facts == _NOTHING else ForumSignals(platform, *facts)


def to_platform(url: str) -> str:
    """The name of the platform at an address: its usual name where it has one, else the host without `www.`."""
    host = to_host(url).removeprefix("www.")
    labels = host.split(".")
    named = (_PLATFORMS.get(".".join(labels[start:])) for start in range(len(labels)))
    return next(filter(None, named), host)


def _merge(first: Facts, second: Facts) -> Facts:
    """What the first knows, and what only the second does."""
    votes, comments, day, author = first
    return (
        second[0] if votes == UNKNOWN else votes,
        second[1] if comments == UNKNOWN else comments,
        day or second[2],
        author or second[3],
    )


def _read_node(graph: Graph, post: Node) -> Facts:
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
    day = to_iso(text(post, "datePublished", "dateCreated"))
    return votes, comments, day, next(iter(to_names(names(graph, post.get("author")), split=False)), "")


def _read_attributes(root: etree._Element) -> Facts:
    """Counts in the attributes of the post's own element, new and old layout."""
    post = next(root.iter("shreddit-post"), None)
    keys = ("score", "comment-count", "created-timestamp", "author")
    if post is None:
        keys = ("data-score", "data-comments-count", "data-timestamp", "data-author")
        boxes = islice(root.iter("div"), _MOST_ELEMENTS)
        post = next((box for box in boxes if box.get(keys[0]) and box.get(keys[1])), None)
    if post is None:
        return _NOTHING
    votes, comments, day, author = map(post.get, keys)
    return _to_count(votes), _to_count(comments), to_iso(day), (author or "")[:100]


def _read_items(attributes: Attributes) -> Facts:
    items = ((each, kind) for each, kind in attributes.valued["itemtype"] if each is not attributes.root)
    item = next((each for each, kind in items if _POST_ITEM.search(kind)), None)
    if item is None:
        return _NOTHING
    properties: dict[str, str] = {}
    for element in islice(item.iter("*"), _MOST_ELEMENTS):
        name = element.get("itemprop")
        if not name or element.get("itemscope") is not None:
            continue
        owner = find_owner(element)
        value = element.get("content") or element.get("datetime") or to_line(element)
        if owner is item:
            properties.setdefault(name, value)
        elif owner is not None and find_owner(owner) is item:
            properties.setdefault(f"{owner.get('itemprop')}.{name}", value)
    counts = (_to_count(properties.get(key)) for key in ("commentCount", "answerCount"))
    return (
        _to_count(properties.get("upvoteCount")),
        next((count for count in counts if count >= 0), UNKNOWN),
        to_iso(properties.get("datePublished") or properties.get("dateCreated")),
        next(iter(to_names([properties.get("author.name") or properties.get("author") or ""], split=False)), ""),
    )


def _to_count(value: object) -> int:
    """A count, -1 for what is none. A score that was voted below zero is zero: nobody is known to be for it."""
    if isinstance(value, bool):
        return UNKNOWN
    if isinstance(value, int | float):
        return max(0, int(value))
    if isinstance(value, str) and (match := _COUNT.fullmatch(value.replace(",", "").strip())):
        return max(0, int(match[0]))
    return UNKNOWN


# --- Whether a page says that it is not free to read and gave less than its whole text: then an extract is
# partial --------------------------------------------------------------------------------------------------------------
# Publishers mark such pages, and the parts of them that only subscribers see, for search engines, in schema.org's
# `isAccessibleForFree`, `hasPart` and `cssSelector`:
# https://developers.google.com/search/docs/appearance/structured-data/paywalled-content. A page that is marked and
# carries its whole text all the same is like any other.


KEY: Final = "isAccessibleForFree"
_NO: Final = frozenset({"false", "no", "0"})
_MOST_PARTS: Final = 16
_STUB: Final = 30
"""Words below which a part that is marked is not there: an offer to subscribe stands in its place."""


def find_lack(
    graph: Graph, root: etree._Element, words: int, *, addresses: Iterable[str], titles: Iterable[str]
) -> str:
    """What a page that is not free to read did not give, in a sentence; "" where it is free or gave everything.

    `root` is its tree without what is hidden, and `words` were read of it; `addresses` and `titles` of the page tell
    its own node. Where the page says how many words it has, that decides; else a text below 150 words, the tool
    contract's figure for a thin one, is taken for a beginning, and so is one without a part that is marked.
    """
    node = find_main(graph, addresses=addresses, titles=titles) or find_page(graph)
    if node is None:
        return ""
    parts = [part for part in graph.all(node.get("hasPart")) if isinstance(part, dict) and _is_closed(part)]
    if not parts and not _is_closed(node):
        return ""
    if whole := _to_number(node.get("wordCount")):
        gave = f"it has {whole} words, of which it gave {words}"
        return f"This page says that it is not free to read: {gave}." if words * 2 < whole else ""
    if words < FEW_WORDS:
        return f"This page says that it is not free to read, and gave {words} words: they may be only its beginning."
    rules = [rule for part in parts[:_MOST_PARTS] for rule in _to_rules(part)]
    if rules and not _has_words(root, rules[:_MOST_PARTS]):
        return "This page says that a part of it is not free to read, and gave nothing of that part."
    return ""


def _is_closed(node: Node) -> bool:
    value: Any = node.get(KEY)
    return value is False or (isinstance(value, str) and value.rpartition("/")[2].strip().lower() in _NO)


def _to_number(value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0


def _to_rules(part: Node) -> list[StyleRule]:
    """The selectors of a part that can be judged; where one cannot, nothing is known of the part."""
    value = part.get("cssSelector")
    written = [each for one in (value if isinstance(value, list) else [value]) for each in str(one or "").split(",")]
    rules = [parse_rule(each, {}, frozenset(), 0, strict=True) for each in written[:_MOST_PARTS]]
    return [rule for rule in rules if rule is not None] if all(rules) else []


def _has_words(root: etree._Element, rules: list[StyleRule]) -> bool:
    """Whether what is marked has text in the tree. What stands in a marked element is not looked at again."""
    from lxml.etree import iterwalk

    classes_of: dict[etree._Element, frozenset[str]] = {}
    words = 0
    walker = iterwalk(root, events=("start",))
    for _, element in walker:
        if any(rule.matches(element, classes_of) for rule in rules):
            words += count_words(text_of(element))
            if words >= _STUB:
                return True
            walker.skip_subtree()
    return False
