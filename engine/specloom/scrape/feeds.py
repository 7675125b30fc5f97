"""A feed (RSS 0.9 to 2.0, Atom, JSON Feed) as its entries: what it says of itself, and each entry's facts and HTML.

The few elements that are wanted are looked up by hand: the library for it (feedparser) is slow, parses markup in Python
and would bring a second sanitiser. RFC 4287, https://www.rssboard.org/rss-specification and
https://www.jsonfeed.org/version/1.1/ have the formats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape, unescape
from typing import Any, Final

from .metadata_dates import to_iso
from .metadata_names import to_names, to_text
from .metadata_sources import parse_strictly

MOST_ENTRIES: Final = 200
"""Entries that are read of a feed; most have ten to fifty."""
LONGEST: Final = 200_000
"""Characters of HTML that are read of one entry."""

_TYPE: Final = re.compile(r"application/(?:(?:rss|atom|rdf)\+xml|feed\+json)\b", re.IGNORECASE)
_START: Final = "(?:\ufeff)?" + r"\s*"
_ASIDE: Final = r"(?:<\?(?:(?!\?>).)*\?>\s*|<!--(?:(?!-->).)*-->\s*)*"
_ROOT: Final = re.compile(
    (
        rf"{_START}{_ASIDE}(?:<!DOCTYPE\s[^<>\[]*(?:\[[^\]]*\]\s*)?>\s*)?{_ASIDE}"
        r"<(?:rss|feed|(?:\w{1,20}:)?RDF)[\s>]"
    ).encode(),
    re.DOTALL,
)
_JSON: Final = re.compile(
    (_START + r"\{.{0,2000}?\"https?:\\?/\\?/(?:www\.)?jsonfeed\.org\\?/version\\?/").encode(), re.DOTALL
)
_HEAD: Final = 4096


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; "" for what it does not say. `html` is its content or summary, and links in it lead from `base`."""

    title: str
    link: str
    published: str
    authors: tuple[str, ...]
    html: str
    base: str


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed with its first 200 entries in their order; dates are ISO 8601. `is_cut` says that it has more of them."""

    title: str
    description: str
    modified: str
    language: str
    authors: tuple[str, ...]
    entries: tuple[Entry, ...]
    is_cut: bool


def is_feed(body: bytes, content_type: str) -> bool:
    """Whether bytes are said to be a feed, or begin like one."""
    head = body[:_HEAD]
    return bool(_TYPE.match(content_type.strip()) or _ROOT.match(head) or _JSON.match(head))


def read_feed(text: str, url: str) -> Feed | None:
    """The feed that a text is; None where it is none, or one too broken to be read. Nothing is loaded.

    Fault `content_empty` where it declares entities, which no feed needs and bombs are made of.
    """
    if text.lstrip().startswith("{"):
        return _read_json(text, url)
    from .feeds_xml import read_xml

    return read_xml(text, url)


def to_paragraphs(text: str) -> str:
    """The HTML of a plain text, whose paragraphs blank lines part."""
    return "".join(f"<p>{escape(unescape(part))}</p>" for part in text.split("\n\n") if part.strip())


def _read_json(text: str, url: str) -> Feed | None:
    try:
        said = parse_strictly(text)
    except (ValueError, RecursionError):
        return None
    items = said.get("items") if isinstance(said, dict) else None
    if not isinstance(items, list) or "jsonfeed.org/version" not in str(said.get("version")):
        return None
    found = [item for item in items[:MOST_ENTRIES] if isinstance(item, dict)]
    entries = tuple(
        Entry(
            to_text(item.get("title"), 500),
            next((value.strip() for key in ("url", "external_url") if isinstance(value := item.get(key), str)), ""),
            to_iso(item.get("date_published") or item.get("date_modified")),
            _to_writers(item),
            _to_content(item),
            url,
        )
        for item in found
    )
    title, about = to_text(said.get("title"), 500), to_text(said.get("description"), 1000)
    return Feed(
        title, about, "", to_text(said.get("language"), 64), _to_writers(said), entries, len(items) > MOST_ENTRIES
    )


def _to_writers(node: dict[str, Any]) -> tuple[str, ...]:
    value = node.get("authors") or node.get("author")
    each = value if isinstance(value, list) else [value]
    return to_names([to_text(one.get("name"), 200) for one in each if isinstance(one, dict)], split=False)


def _to_content(item: dict[str, Any]) -> str:
    if isinstance(html := item.get("content_html"), str) and html.strip():
        return html[:LONGEST]
    text = item.get("content_text") or item.get("summary")
    return to_paragraphs(text[:LONGEST]) if isinstance(text, str) else ""
