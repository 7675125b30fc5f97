"""Answers that are text already become pages: Markdown and source as they are, and feeds as their entries."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any, Final

from specloom.core import clean

from ..excerpt import blocks, count_bytes
from ..markdown.render import render
from ..markdown.walk import Links, escape_inline, escape_line
from ..result import Page
from .charset import decode
from .feeds import Feed, FeedEntry, is_feed, read_feed
from .markdown_source import part_front_matter, strip
from .parse import parse
from .sanitise import sanitise

LONGEST_FEED: Final = 1_000_000
"""Bytes of Markdown after which no further entry of a feed is read."""
_BRACKETS: Final = str.maketrans({"[": "\\[", "]": "\\]"})


def from_text(body: bytes, url: str, content_type: str, kind: str, facts: dict[str, Any]) -> Page:
    """The page in an answer that is text already: Markdown, a reader service's answer, JSON, source; a feed is read.

    `facts` are what a service says of the page. The fault of a feed that may not be read is that of `read_feed`.
    """
    text = decode(body, content_type).text
    if kind == "text" and is_feed(body, content_type) and (feed := read_feed(text, url)) is not None:
        return from_feed(feed, url)
    kind = "markdown" if kind == "markdown" else "text"
    text, stripped = strip(text, markdown=kind == "markdown")
    said, text = part_front_matter(text) if kind == "markdown" else ({}, text)
    get = {**said, **{name: str(value) for name, value in facts.items() if value}}.get
    author = get("author", "")
    return Page(
        url=url,
        content=text,
        content_type=kind,
        title=get("title") or (_heading(text) if kind == "markdown" else ""),
        author=author,
        authors=tuple(author.split("; ")) if author else (),
        site=get("site", ""),
        published=get("published", ""),
        modified=get("modified", ""),
        language=get("language", ""),
        description=get("description", ""),
        stripped=stripped,
    )


def _heading(text: str) -> str:
    for line in text.split("\n", 40)[:40]:
        if line.startswith("# "):
            return line[2:].strip()
    return ""


def from_feed(feed: Feed, url: str) -> Page:
    """The page of a feed: its title and what it says it is, then each entry under its title, linked and dated."""
    counts: Counter[str] = Counter()
    title, about = (_clean(text, counts) for text in (feed.title, feed.description))
    written = [f"# {escape_inline(title)}"] * bool(title) + [escape_line(escape_inline(about))] * bool(about)
    size = entries = 0
    for entry in feed.entries:
        if size > LONGEST_FEED:
            break
        written.append(_tell_entry(entry, url, counts))
        size += count_bytes(written[-1])
        entries += 1
    return Page(
        url=url,
        content="\n\n".join(written),
        content_type="markdown",
        quality="complete",
        title=title,
        author="; ".join(feed.authors),
        authors=feed.authors,
        modified=feed.modified,
        language=feed.language,
        description=about,
        truncated=feed.is_cut or entries < len(feed.entries),
        stripped={name: count for name, count in counts.items() if count},
    )


def _tell_entry(entry: FeedEntry, url: str, counts: Counter[str]) -> str:
    day = entry.published[:10]
    title = escape_inline(_clean(entry.title, counts)) or day or "Without a title"
    link = Links(entry.base or url).resolve(entry.link)
    names = ", ".join(escape_inline(_clean(name, counts)) for name in entry.authors[:10])
    parts = [
        f"## [{title.translate(_BRACKETS)}]({link})" if link else f"## {title}",
        escape_line(" · ".join(filter(None, (day, names)))),
        _render(entry.html, entry.base or url, counts),
    ]
    return "\n\n".join(filter(None, parts))


def _render(html: str, base: str, counts: Counter[str]) -> str:
    """The Markdown of an entry, read like a page; its headings stand below that of the entry."""
    if not html.strip():
        return ""
    root = parse(html)
    counts.update(asdict(sanitise(root)))
    return "\n\n".join(
        f"{'#' * min(6, 2 + len(block) - len(block.lstrip('#')))} {block.lstrip('# ')}"
        if not is_code and block.startswith(("# ", "## ", "### ", "#### ", "##### "))
        else block
        for block, is_code in blocks(render([root], base=base).strip())
    )


def _clean(text: str, counts: Counter[str]) -> str:
    """A text without invisible characters, which are counted."""
    text, controls = clean(text)
    counts["controls"] += controls
    return text.strip()
