"""Hacker News: an item with its best answers, a list of stories, a person."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from specloom.core import Fault

from .site import (
    Address,
    Route,
    Row,
    SitePage,
    cut,
    find_one,
    joined,
    missing,
    plural,
    to_forum_signals,
    to_markdown,
    to_minute,
)

if TYPE_CHECKING:
    from specloom.plugins import Context


HOSTS: Final = frozenset({"news.ycombinator.com", "www.news.ycombinator.com"})
PROVIDER: Final = "hackernews_items"

_BASE: Final = "https://news.ycombinator.com/"
_LISTS: Final = MappingProxyType(
    {"news": "top", "newest": "newest", "best": "best", "ask": "ask", "show": "show", "jobs": "jobs"}
)
_ID: Final = re.compile(r"[1-9][0-9]{0,10}")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,25}")

# The contract's numbers.
_MOST_COMMENTS: Final = 10
_MOST_STORIES: Final = 20
_AT_ONCE: Final = 5


def match(address: Address) -> Route | None:
    """Items, people and the first page of a list; further pages of a list are read like any page."""
    page = address.parts[0] if len(address.parts) == 1 else "" if not address.parts else None
    said = address.query.get("id", "")
    if page == "item" and _ID.fullmatch(said):
        # What stands behind `#` is the comment that somebody linked to.
        linked = address.url.partition("#")[2]
        parts = (linked,) if _ID.fullmatch(linked) and linked != said else ()
        return Route("hackernews", "item", address.url, {"id": said}, parts, fallback=address.url)
    if page == "user" and _NAME.fullmatch(said):
        return Route("hackernews", "user", address.url, {"handle": said}, fallback=address.url)
    name = _LISTS.get(page or "news") if page is not None else None
    if name and not address.query.keys() & {"p", "next", "n"}:
        return Route("hackernews", "list", address.url, {"list": name}, fallback=address.url)
    return None


async def read(route: Route, context: Context, *, max_length: int) -> SitePage:
    """The page that the route names."""
    if route.kind == "item":
        return await _read_item(route, context, max_length)
    return await (_read_user if route.kind == "user" else _read_list)(route, context, max_length)


async def _read_item(route: Route, context: Context, max_length: int) -> SitePage:
    row = await find_one(context, "post", route.names, provider=PROVIDER)
    if row is None:
        raise missing(f"The item {route.names['id']} of Hacker News")
    ids = row.get("answer_ids") or []
    linked, *found = await _find_all(context, [*(route.parts or ("",)), *ids[:_MOST_COMMENTS]])
    comments = [one for one in found if isinstance(one, dict)]
    row = {"author": "somebody", "url": route.url, **row}
    title = row.get("title") or f"Comment by {row['author']} on Hacker News"
    counts = joined(
        plural(row.get("points"), "point"),
        plural(row.get("answers"), "comment"),
        f"by {row['author']}",
        to_minute(row.get("published_at")),
    )
    blocks = [f"# {title}", counts]
    if row.get("link"):
        blocks.append(f"Link: <{row['link']}>")
    blocks.append(f"Discussion: <{row['url']}>")
    if row.get("html"):
        blocks.append(to_markdown(row["html"], base=_BASE))
    if isinstance(linked, dict):
        blocks.append("## The comment that is linked to")
        blocks += _to_comment(linked)
    if comments:
        blocks.append("## Top comments")
    for comment in comments:
        if not (isinstance(linked, dict) and comment.get("id") == linked.get("id")):
            blocks += _to_comment(comment)
    content, shortened = cut("\n\n".join(filter(None, blocks)), max_length)
    return SitePage(
        content,
        title,
        "hn",
        "hackernews:api",
        url=row["url"],
        site="Hacker News",
        authors=(row["author"],),
        published=row.get("published_at", ""),
        truncated=shortened or len(ids) > len(comments),
        forum_signals=to_forum_signals("hackernews", row, votes="points"),
    )


def _to_comment(comment: Row) -> list[str]:
    heading = "### " + joined(comment.get("author") or "somebody", to_minute(comment.get("published_at")))
    return [heading, to_markdown(comment.get("html") or "", base=_BASE)]


async def _read_list(route: Route, context: Context, max_length: int) -> SitePage:
    # One more than is shown tells whether there are more.
    arguments = {"list": route.names["list"], "num_results": _MOST_STORIES + 1}
    ids = [row["id"] for row in (await context.ask("listing", arguments, provider=PROVIDER)).rows]
    found = await _find_all(context, ids[:_MOST_STORIES])
    stories = [one for one in found if isinstance(one, dict)]
    if not stories:
        raise next((one for one in found if isinstance(one, Fault)), missing("A story on this list of Hacker News"))
    title = f"Hacker News: {route.names['list']}"
    lines = [f"{number}. {_to_line(story)}" for number, story in enumerate(stories, 1)]
    content, shortened = cut(f"# {title}\n\n" + "\n".join(lines), max_length)
    more = shortened or len(ids) > len(stories)
    return SitePage(content, title, "hn", "hackernews:api", site="Hacker News", truncated=more)


def _to_line(story: Row) -> str:
    story = {"url": f"{_BASE}/item?id={story['id']}", "author": "somebody", **story}
    link = story.get("link") or story["url"]
    host = urlsplit(link).hostname or ""
    facts = joined(
        plural(story.get("points"), "point"), plural(story.get("answers"), "comment"), f"by {story['author']}", by=", "
    )
    label = (story.get("title") or "Untitled").replace("[", "\\[").replace("]", "\\]")
    talk = f" · [discussion]({story['url']})" if link != story["url"] else ""
    return f"[{label}](<{link}>) ({host}) · {facts}{talk}"


async def _read_user(route: Route, context: Context, max_length: int) -> SitePage:
    row = await find_one(context, "profile", route.names, provider=PROVIDER)
    if row is None:
        raise missing(f"The user {route.names['handle']} of Hacker News")
    name = row["handle"]
    joined_at = to_minute(row.get("joined_at"))
    facts = joined(
        plural(row.get("points"), "point") and f"{row['points']:,} karma",
        plural(row.get("posts"), "post"),
        joined_at and f"since {joined_at[:10]}",
    )
    blocks = [f"# {name}", facts, to_markdown(row.get("html") or "", base=_BASE)]
    content, shortened = cut("\n\n".join(filter(None, blocks)), max_length)
    title = f"{name} on Hacker News"
    return SitePage(content, title, "hn", "hackernews:api", site="Hacker News", authors=(name,), truncated=shortened)


async def _find_all(context: Context, ids: Sequence[str]) -> list[Row | Fault | None]:
    """Each item, nothing where it is gone, or the fault that came instead; a few at once, in their order."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def find(number: str) -> Row | Fault | None:
        if not number:
            return None
        async with turns:
            try:
                return await find_one(context, "post", {"id": number}, provider=PROVIDER)
            except Fault as fault:
                return fault

    return await asyncio.gather(*(find(number) for number in ids))
