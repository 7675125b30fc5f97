"""X, once Twitter: a post, a long article or a profile, through a public mirror of its API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .site import Address, Route, Row, SitePage, cut, find_one, joined, missing, to_body, to_count, to_minute

if TYPE_CHECKING:
    from specloom.plugins import Context


_FRONTS: Final = """
xcancel.com nitter.net nitter.poast.org nitter.privacydev.net fxtwitter.com vxtwitter.com fixupx.com fixvx.com
"""
"""Sites that show the posts of X under the same paths."""
HOSTS: Final = frozenset(
    f"{front}{host}" for host in ("x.com", "twitter.com", *_FRONTS.split()) for front in ("", "www.", "mobile.", "m.")
)
PROVIDER: Final = "fxtwitter"

_MIRROR: Final = "https://xcancel.com"
"""Where the same path is a plain page."""
_HANDLE: Final = re.compile(r"[A-Za-z0-9_]{1,15}")
_ID: Final = re.compile(r"[0-9]{1,19}")
_OTHER_PAGES: Final = """
search explore home notifications messages i settings compose login signup intent share hashtag tos privacy about jobs
download pic video
"""
_RESERVED: Final = frozenset(_OTHER_PAGES.split())


def match(address: Address) -> Route | None:
    """Posts and profiles; searches, lists and tabs of a profile are read like any page."""
    parts = address.parts
    if parts[:1] == ("i",):
        said = parts[2] if len(parts) > 2 and parts[1] == "status" else ""
        said = parts[3] if len(parts) > 3 and parts[1:3] == ("web", "status") else said
        names = {"author": "i", "id": said}
    elif not parts or not _HANDLE.fullmatch(parts[0]) or parts[0].lower() in _RESERVED:
        return None
    elif len(parts) == 1:
        names = {"handle": parts[0]}
        return Route("twitter", "profile", address.url, names, fallback=f"{_MIRROR}/{parts[0]}")
    else:
        said = parts[2] if len(parts) > 2 and parts[1] in ("status", "statuses", "article") else ""
        names = {"author": parts[0], "id": said}
    if not _ID.fullmatch(said):
        return None
    return Route("twitter", "post", address.url, names, fallback=f"{_MIRROR}/{names['author']}/status/{said}")


async def read(route: Route, context: Context, *, max_length: int) -> SitePage:
    """The page that the route names."""
    return await (_read_post if route.kind == "post" else _read_profile)(route, context, max_length)


async def _read_post(route: Route, context: Context, max_length: int) -> SitePage:
    row = await find_one(context, "post", route.names, provider=PROVIDER)
    if row is None:
        raise missing(f"The post {route.names['id']} on X")
    handle = row.get("author") or route.names["author"]
    name = f"@{handle} ({row['author_name']})" if row.get("author_name") else f"@{handle}"
    counts = f"{to_count(row.get('likes'))} likes · {to_count(row.get('reposts'))} reposts"
    counts += f" · {to_count(row.get('answers'))} replies · {to_count(row.get('quotes'))} quotes"
    counts += f" · {to_count(row['views'])} views" if row.get("views") else ""
    posted = to_minute(row.get("published_at"))
    blocks = [
        name,
        f"# {row['title']}" if row.get("title") else "",
        to_body(row),
        counts,
        posted and f"Posted: {posted}",
    ]
    content, shortened = cut("\n\n".join(filter(None, blocks)), max_length)
    return SitePage(
        content,
        row.get("title") or f"Post by @{handle} on X",
        "twitter",
        "twitter",
        url=row.get("url", ""),
        site="X",
        authors=(row.get("author_name") or handle,),
        published=row.get("published_at", ""),
        truncated=shortened,
    )


async def _read_profile(route: Route, context: Context, max_length: int) -> SitePage:
    row = await find_one(context, "profile", route.names, provider=PROVIDER)
    if row is None:
        raise missing(f"The account {route.names['handle']} on X")
    name = f"{row['name']} (@{row['handle']})" if row.get("name") else f"@{row['handle']}"
    blocks = [f"# {name}", row.get("bio") or "", _to_facts(row), _to_place(row)]
    content, shortened = cut("\n\n".join(filter(None, blocks)), max_length)
    return SitePage(
        content,
        f"{name} on X",
        "twitter",
        "twitter",
        site="X",
        authors=(row.get("name") or row["handle"],),
        truncated=shortened,
    )


def _to_facts(row: Row) -> str:
    counts = f"{to_count(row.get('followers'))} followers · {to_count(row.get('following'))} following"
    return f"{counts} · {to_count(row.get('posts'))} posts"


def _to_place(row: Row) -> str:
    since = f"Joined {row['joined_at'][:10]}" if row.get("joined_at") else ""
    return joined(row.get("location"), f"<{row['website']}>" if row.get("website") else "", since)
