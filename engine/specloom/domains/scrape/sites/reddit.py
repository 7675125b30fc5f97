"""Reddit: a post with its best comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from .site import Address, Route, Row, SitePage, cut, joined, missing, plural, to_forum_signals, to_markdown, to_minute

if TYPE_CHECKING:
    from specloom.plugins import Context


_FRONTS: Final = "www old new np m i amp sh ssl pay en us uk de fr es pt it nl sv"
HOSTS: Final = frozenset({"reddit.com", "redd.it", *(f"{front}.reddit.com" for front in _FRONTS.split())})
PROVIDER: Final = "reddit"

_BASE: Final = "https://www.reddit.com/"
_ID: Final = re.compile(r"[a-z0-9]{4,10}")
_MOST_COMMENTS: Final = 10
# The contract's numbers for comments among the signals.
_MOST_TOLD: Final = 5
_MOST_CHARACTERS: Final = 500


def match(address: Address) -> Route | None:
    """Posts and single comments, however they are named; communities and people are read like any page."""
    parts = address.parts
    comment = ""
    if address.host == "redd.it":
        said = parts[0] if len(parts) == 1 else ""
    else:
        rest = parts[2:] if parts[:1] in (("r",), ("u",), ("user",)) and len(parts) > 2 else parts
        said = rest[1] if len(rest) in (2, 3, 4) and rest[0] in ("comments", "gallery") else ""
        # Behind the title stands a comment, where there is one.
        comment = rest[3].lower() if len(rest) == 4 else ""
    if not _ID.fullmatch(said.lower()) or (comment and not _ID.fullmatch(comment)):
        return None
    names = {"id": said.lower()} | ({"comment": comment} if comment else {})
    return Route("reddit", "post", address.url, names, fallback=address.url)


async def read(route: Route, context: Context, *, max_length: int) -> SitePage:
    """The post and its best comments; votes are known only where Reddit answers with data and not with a feed."""
    # As many answers again, because some were deleted and some answer each other.
    arguments = {**route.names, "num_answers": 2 * _MOST_COMMENTS}
    rows = (await context.ask("post", arguments, provider=PROVIDER)).rows
    if not rows:
        raise missing(f"The post {route.names['id']} on Reddit")
    row, *answers = rows
    comments = [one for one in answers if is_shown(one)]
    linked = "comment" in route.names
    # One that is linked to may itself answer another, which then is not there.
    top = [one for one in comments if linked or one.get("depth", 1) == 1][:_MOST_COMMENTS]
    last = comments.index(top[-1]) if top else -1
    shown = comments[: last + 1]
    title = row.get("title") or "Post on Reddit"
    counts = joined(
        plural(row.get("points"), "point"),
        plural(row.get("answers"), "comment"),
        row.get("author") and f"by u/{row['author']}",
        row.get("community") and f"r/{row['community']}",
        to_minute(row.get("published_at")),
    )
    link = row.get("link", "")
    blocks = [f"# {title}", counts, f"Link: <{link}>" if link and link != row.get("url") else "", to_said(row)]
    if shown:
        blocks.append("## The comment that is linked to, and answers" if linked else "## Top comments")
    for one in shown:
        heading = joined(one.get("author"), plural(one.get("points"), "point"), to_minute(one.get("published_at")))
        blocks += ["#" * (2 + min(int(one.get("depth", 1)), 4)) + f" {heading}", to_said(one)]
    content, shortened = cut("\n\n".join(filter(None, blocks)), max_length)
    signals = to_forum_signals("reddit", row, votes="points")
    if top:
        signals["topComments"] = [_to_told(one) for one in top[:_MOST_TOLD]]
    return SitePage(
        content,
        title,
        "reddit",
        "reddit:api",
        url=row.get("url", ""),
        site="Reddit",
        authors=(row["author"],) if row.get("author") else (),
        published=row.get("published_at", ""),
        truncated=shortened or (row.get("answers") or 0) > len(shown),
        forum_signals=signals,
    )


def is_shown(row: Row) -> bool:
    """Whether the author and the moderators left the comment where it is."""
    said = row.get("text") or row.get("html")
    return bool(said) and said not in ("[deleted]", "[removed]")


def to_said(row: Row) -> str:
    """The text, which is Markdown where Reddit answers with data and HTML in a feed."""
    return row["text"].strip() if row.get("text") else to_markdown(row.get("html") or "", base=_BASE)


def _to_told(row: Row) -> dict[str, Any]:
    said: dict[str, Any] = {"author": row.get("author", ""), "body": to_said(row)[:_MOST_CHARACTERS]}
    if row.get("points") is not None:
        said["score"] = row["points"]
    return said
