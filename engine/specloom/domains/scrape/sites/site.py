"""What reading a site through its API handles: a route into the site, and the page that comes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from specloom.core import Fault

if TYPE_CHECKING:
    from specloom.plugins import Context


Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Address:
    """An address taken apart: `parts` are its path's segments, decoded; of a repeated parameter the first counts."""

    url: str
    host: str
    parts: tuple[str, ...]
    query: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Route:
    """A page that a site tells through its API: which site, what kind of page, and what names it there."""

    site: str
    kind: str
    url: str
    names: Mapping[str, str]
    parts: tuple[str, ...] = ()
    fallback: str = ""
    """An address that can be read like any page where the API fails; empty where that would give nothing."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page as its site's API tells it: `content` is Markdown of at most as many UTF-8 bytes as were asked for."""

    content: str
    title: str
    content_type: str
    """The contract's word for the kind of page: `youtube`, `hn`, `github`, `bluesky`, `twitter`, `reddit`."""
    extracted_by: str
    """The contract's word for how it was read."""
    url: str = ""
    """The page's own address where it is another than the one asked for."""
    site: str = ""
    authors: tuple[str, ...] = ()
    published: str = ""
    """RFC 3339 in UTC; empty where it is not known."""
    truncated: bool = False
    """More comments, stories or text are there than `content` has."""
    forum_signals: Mapping[str, Any] | None = None
    repository_signals: Mapping[str, Any] | None = None
    highlights: tuple[Mapping[str, Any], ...] = ()
    is_markdown: bool = False
    """Whether the content was written in Markdown by its author, so that HTML in it is HTML."""
    stripped: Mapping[str, int] = field(default_factory=dict)
    """How much that nobody sees was taken out of the content, by kind."""


def parse_address(url: str) -> Address | None:
    """The parts of a plain web address; nothing for other schemes, ports, credentials or what is no address."""
    try:
        split = urlsplit(url.strip())
        port = split.port
    except ValueError:
        return None
    if split.scheme not in ("http", "https") or split.username is not None or port not in (None, 80, 443):
        return None
    parts = tuple(unquote(part) for part in split.path.split("/") if part)
    query: dict[str, str] = {}
    for name, value in parse_qsl(split.query, keep_blank_values=True, max_num_fields=None):
        query.setdefault(name, value)
    return Address(url.strip(), (split.hostname or "").removesuffix("."), parts, query)


async def find_one(context: Context, operation: str, arguments: Mapping[str, Any], *, provider: str) -> Row | None:
    """The first row of a provider's answer, or nothing."""
    answer = await context.ask(operation, arguments, provider=provider)
    return answer.rows[0] if answer.rows else None


async def or_none(found: Awaitable[Row | None]) -> Row | None:
    """A row, or nothing where it is not to be had: for what a page can do without."""
    try:
        return await found
    except Fault:
        return None


def missing(what: str) -> Fault:
    """The fault of a page that its site does not have."""
    return Fault("not_found", f"{what} does not exist, or may not be seen by everybody")


def to_markdown(html: str, *, base: str) -> str:
    """What a reader sees of a piece of HTML from an API, as Markdown; `base` is what its links are relative to."""
    from ..html.parse import parse
    from ..html.sanitise import sanitise
    from ..markdown.render import render

    root = parse(html)
    sanitise(root)
    body = root.find("body")
    return render([body], base=base).strip() if body is not None else ""


def to_fence(text: str, language: str = "") -> str:
    """A text as a fenced block that nothing in it can close."""
    longest = 0
    for line in text.splitlines():
        start = line.lstrip()
        longest = max(longest, len(start) - len(start.lstrip("`")))
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def to_count(number: int | None) -> str:
    """A number as people read it at a glance: 950, 1.2K, 3.4M; 0 for nothing."""
    value = number or 0
    for size, letter in ((1_000_000, "M"), (1_000, "K")):
        if value >= size:
            return f"{value / size:.1f}{letter}"
    return str(value)


def to_minute(timestamp: str | None) -> str:
    """An RFC 3339 instant as `2026-03-01 10:00 UTC`; empty for nothing."""
    return f"{timestamp[:10]} {timestamp[11:16]} UTC" if timestamp and len(timestamp) > 15 else ""


def joined(*parts: str | None, by: str = " · ") -> str:
    """The parts that are there, with a mark between them."""
    return by.join(part for part in parts if part)


def plural(count: int | None, word: str, words: str = "") -> str:
    """`1 point`, `2 points`; empty where there is no number."""
    return "" if count is None else f"{count:,} {word if count == 1 else words or word + 's'}"


def to_body(row: Row) -> str:
    """The text of a post with what is attached: pictures by their descriptions, a link, a quoted post."""
    blocks = [row.get("text") or ""]
    blocks += [f"Image: {text}" for text in row.get("images") or []]
    if row.get("link"):
        title = (row.get("link_title") or row["link"]).replace("[", "\\[").replace("]", "\\]")
        blocks.append(joined(f"[{title}](<{row['link']}>)", row.get("link_text"), by=": "))
    quoted = row.get("quoted") or {}
    if quoted.get("text"):
        said = joined(f"@{quoted['author']}" if quoted.get("author") else "", quoted["text"], by=": ")
        blocks.append("\n".join(f"> {line}".rstrip() for line in said.split("\n")))
    return "\n\n".join(filter(None, blocks))


def cut(text: str, limit: int) -> tuple[str, bool]:
    """At most `limit` UTF-8 bytes of a text, ended with a line where one ends late enough; and whether it was cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text, False
    short = data[: max(0, limit)].decode("utf-8", "ignore")
    at = short.rfind("\n")
    return (short[:at] if at > len(short) // 2 else short).rstrip(), True


def to_forum_signals(platform: str, row: Row, *, votes: str) -> dict[str, Any]:
    """How a discussion went, in the contract's words; `votes` is the field of the row that counts approval."""
    from ..metadata.signals import UNKNOWN, ForumSignals

    def count(name: str) -> int:
        number = row.get(name)
        return UNKNOWN if number is None else int(number)

    published, author = str(row.get("published_at") or ""), str(row.get("author") or "")
    return ForumSignals(platform, count(votes), count("answers"), published, author).to_json()
