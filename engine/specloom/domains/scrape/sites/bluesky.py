"""Bluesky: a post with its first replies, or a profile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

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
    to_body,
    to_forum_signals,
    to_minute,
)

if TYPE_CHECKING:
    from specloom.plugins import Context


HOSTS: Final = frozenset({"bsky.app", "www.bsky.app"})
PROVIDER: Final = "bluesky"

# Names of the AT protocol: record keys, handles (which are domain names) and DIDs.
_KEY: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._~-]{1,512}")
_HANDLE: Final = re.compile(
    r"(?=.{4,253}$)(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,61}"
)
_DID: Final = re.compile(r"did:[A-Za-z0-9]+:[A-Za-z0-9._%-]{1,256}")
_MOST_REPLIES: Final = 5


def match(address: Address) -> Route | None:
    """Posts and profiles; feeds, lists and searches are read like any page."""
    parts = address.parts
    if len(parts) not in (2, 4) or parts[0] != "profile":
        return None
    if not (_HANDLE.fullmatch(parts[1]) or _DID.fullmatch(parts[1])):
        return None
    if len(parts) == 2:
        return Route("bluesky", "profile", address.url, {"handle": parts[1]}, fallback=address.url)
    if parts[2] != "post" or not _KEY.fullmatch(parts[3]):
        return None
    return Route("bluesky", "post", address.url, {"author": parts[1], "id": parts[3]}, fallback=address.url)


async def read(route: Route, context: Context, *, max_length: int) -> SitePage:
    """The page that the route names."""
    return await (_read_post if route.kind == "post" else _read_profile)(route, context, max_length)


async def _read_post(route: Route, context: Context, max_length: int) -> SitePage:
    rows = (await context.ask("post", {**route.names, "num_answers": _MOST_REPLIES}, provider=PROVIDER)).rows
    if not rows:
        raise missing(f"The Bluesky post {route.names['id']} of {route.names['author']}")
    row, *replies = rows
    shown = replies[:_MOST_REPLIES]
    name = to_name(row)
    blocks = [f"# {name}", to_body(row)]
    blocks.append(
        joined(
            plural(row.get("likes"), "like"),
            plural(row.get("reposts"), "repost"),
            plural(row.get("answers"), "reply", "replies"),
            to_minute(row.get("published_at")),
        )
    )
    if shown:
        blocks.append("## Replies")
    for reply in shown:
        heading = joined(to_name(reply), plural(reply.get("likes"), "like"), to_minute(reply.get("published_at")))
        blocks += [f"### {heading}", to_body(reply)]
    content, shortened = cut("\n\n".join(filter(None, blocks)), max_length)
    return SitePage(
        content,
        f"Post by {name} on Bluesky",
        "bluesky",
        "bluesky:api",
        url=row.get("url", ""),
        site="Bluesky",
        authors=(row.get("author_name") or row["author"],) if row.get("author") else (),
        published=row.get("published_at", ""),
        truncated=shortened or (row.get("answers") or 0) > len(shown),
        forum_signals=to_forum_signals("bluesky", row, votes="likes"),
    )


def to_name(row: Row) -> str:
    """`Ann (@ann.example.org)`, or the name of the account alone."""
    handle = f"@{row['author']}" if row.get("author") else ""
    return f"{row['author_name']} ({handle})" if row.get("author_name") and handle else handle or "Somebody"


async def _read_profile(route: Route, context: Context, max_length: int) -> SitePage:
    row = await find_one(context, "profile", route.names, provider=PROVIDER)
    if row is None:
        raise missing(f"The Bluesky account {route.names['handle']}")
    name = f"{row['name']} (@{row['handle']})" if row.get("name") else f"@{row['handle']}"
    counts = joined(
        plural(row.get("followers"), "follower"),
        plural(row.get("following"), "account followed", "accounts followed"),
        plural(row.get("posts"), "post"),
        row.get("joined_at") and f"since {row['joined_at'][:10]}",
    )
    content, shortened = cut("\n\n".join(filter(None, (f"# {name}", row.get("bio"), counts))), max_length)
    return SitePage(
        content,
        f"{name} on Bluesky",
        "bluesky",
        "bluesky:api",
        site="Bluesky",
        authors=(row.get("name") or row["handle"],),
        truncated=shortened,
    )
