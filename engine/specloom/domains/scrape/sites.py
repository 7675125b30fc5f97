"""What a provider tells of a page of its site as a page like any other: bounded, and without what nobody sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from specloom.core import clean, text_filter

from .result import Page

if TYPE_CHECKING:
    from specloom.plugins import SitePage

_MOST_HIGHLIGHTS: Final = 5
_LEAST_LINES: Final = 5
# The contract's numbers for comments among the signals.
_MOST_COMMENTS: Final = 5
_MOST_CHARACTERS: Final = 500


@text_filter("markdown")
def to_markdown(html: str | None, base: str, *without: str) -> str:
    """What a reader sees of a piece of HTML from an API, as Markdown; `base` is what its links are relative to.

    Elements of the classes that are named after it are left out.
    """
    from .html.parse import parse
    from .html.sanitise import sanitise
    from .markdown.render import render

    root = parse(html or "")
    for element in root.iter("*"):
        if not {*without}.isdisjoint((element.get("class") or "").split()):
            element.set("hidden", "")
    sanitise(root)
    body = root.find("body")
    return render([body], base=base).strip() if body is not None else ""


def to_page(site: SitePage, url: str, most: int) -> Page:
    """The page that was asked for at this address, with content of at most so many bytes."""
    from .html.markdown_source import strip

    content, is_cut = cut(site.content, most)
    content, stripped = strip(content, markdown=site.is_markdown)
    return Page(
        url=site.url or url,
        content=content,
        content_type=site.content_type,
        extracted_by=site.extracted_by,
        quality="complete",
        title=clean(site.title)[0].strip(),
        author="; ".join(site.authors),
        authors=site.authors,
        site=site.site,
        published=site.published,
        truncated=site.truncated or is_cut,
        extent=site.extent,
        forum=to_forum_signals(site.forum, url) if site.forum else None,
        repository=dict(site.repository) if site.repository else None,
        highlights=find_highlights(site.transcript),
        stripped=stripped,
    )


def cut(text: str, limit: int) -> tuple[str, bool]:
    """At most `limit` UTF-8 bytes of a text, ended with a line where one ends late enough; and whether it was cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text, False
    short = data[: max(0, limit)].decode("utf-8", "ignore")
    at = short.rfind("\n")
    return (short[:at] if at > len(short) // 2 else short).rstrip(), True


def to_forum_signals(forum: Mapping[str, Any], url: str) -> dict[str, Any]:
    """How a discussion went, in the contract's words."""
    from .metadata.signals import UNKNOWN, ForumSignals

    votes, answers = (int(forum.get(name, UNKNOWN)) for name in ("votes", "answers"))
    published, author = str(forum.get("published") or ""), str(forum.get("author") or "")
    signals = ForumSignals(str(forum["platform"]), votes, answers, published, author).to_json()
    comments = [_to_comment(comment, url) for comment in (forum.get("comments") or [])[:_MOST_COMMENTS]]
    return signals | ({"topComments": comments} if comments else {})


def _to_comment(comment: Mapping[str, Any], url: str) -> dict[str, Any]:
    body = (comment.get("text") or to_markdown(comment.get("html"), url)).strip()
    score = {} if comment.get("votes") is None else {"score": comment["votes"]}
    return {"author": comment.get("author") or "", "body": body[:_MOST_CHARACTERS], **score}


def find_highlights(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The five most telling lines, best first, with a score from 0 to 1; none of fewer than five lines.

    A word with a digit counts 2, one in capitals (of two letters or more) 1, a question 1: the contract's weights.
    """
    if len(lines) < _LEAST_LINES:
        return []
    scored = sorted(((_score(line["text"]), line) for line in lines), key=lambda pair: -pair[0])[:_MOST_HIGHLIGHTS]
    best = scored[0][0] or 1
    return [
        {"text": line["text"], "score": round(score / best, 2), "startTime": line["clock"]} for score, line in scored
    ]


def _score(text: str) -> int:
    words = text.split()
    digits = sum(any(character.isdigit() for character in word) for word in words)
    capitals = sum(word.isupper() and sum(map(str.isalpha, word)) > 1 for word in words)
    return 2 * digits + capitals + text.endswith("?")
