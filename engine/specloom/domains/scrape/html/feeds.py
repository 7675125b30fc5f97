"""A feed (RSS 0.9 to 2.0, Atom, JSON Feed) as its entries: what it says of itself, and each entry's facts and HTML.

The few elements that are wanted are looked up by hand: the library for it (feedparser) is slow, parses markup in Python
and would bring a second sanitiser. RFC 4287, https://www.rssboard.org/rss-specification and
https://www.jsonfeed.org/version/1.1/ have the formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape, unescape
from typing import TYPE_CHECKING, Any, Final

from specloom.core import Fault, dataclass

from ..metadata.fields import to_iso, to_names, to_text
from ..metadata.sources import parse_strictly

if TYPE_CHECKING:
    from lxml import etree


MOST_ENTRIES: Final = 200
"""Entries that are read of a feed; most have ten to fifty."""
LONGEST: Final = 200_000
"""Characters of HTML that are read of one entry."""

_TYPE: Final = re.compile(r"application/(?:(?:rss|atom|rdf)\+xml|feed\+json)\b", re.IGNORECASE)
_START: Final = "(?:\ufeff)?" + r"\s*+"
_ASIDE: Final = r"(?:<\?(?:(?!\?>).)*+\?>\s*+|<!--(?:(?!-->).)*+-->\s*+)*+"
_ROOT: Final = re.compile(
    (
        rf"{_START}{_ASIDE}(?:<!DOCTYPE\s[^<>\[]*+(?:\[[^\]]*+\]\s*+)?>\s*+)?{_ASIDE}"
        r"<(?:rss|feed|(?:\w{1,20}:)?RDF)[\s>]"
    ).encode(),
    re.DOTALL,
)
_JSON: Final = re.compile(
    (_START + r"\{.{0,2000}?\"https?:\\?/\\?/(?:www\.)?jsonfeed\.org\\?/version\\?/").encode(), re.DOTALL
)
_HEAD: Final = 4096


@dataclass(frozen=True, slots=True)
class FeedEntry:
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
    entries: tuple[FeedEntry, ...]
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

    return read_xml(text, url)


def to_paragraphs(text: str) -> str:
    """The HTML of a plain text, whose paragraphs blank lines part."""
    return "".join(f"<p>{escape(unescape(part))}</p>" for part in text.split("\n\n") if part.strip())


def _read_json(text: str, url: str) -> Feed | None:
    try:
        feed = parse_strictly(text)
    except (ValueError, RecursionError):
        return None
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list) or "jsonfeed.org/version" not in str(feed.get("version")):
        return None
    entry_items = [item for item in items[:MOST_ENTRIES] if isinstance(item, dict)]
    entries = tuple(
        FeedEntry(
            to_text(item.get("title"), 500),
            next((value.strip() for key in ("url", "external_url") if isinstance(value := item.get(key), str)), ""),
            to_iso(item.get("date_published") or item.get("date_modified")),
            _to_writers(item),
            _to_content(item),
            url,
        )
        for item in entry_items
    )
    title, about = to_text(feed.get("title"), 500), to_text(feed.get("description"), 1000)
    language = to_text(feed.get("language"), 64)
    return Feed(title, about, "", language, _to_writers(feed), entries, len(items) > MOST_ENTRIES)


def _to_writers(node: dict[str, Any]) -> tuple[str, ...]:
    value = node.get("authors") or node.get("author")
    authors = value if isinstance(value, list) else [value]
    return to_names([to_text(author.get("name"), 200) for author in authors if isinstance(author, dict)], split=False)


def _to_content(item: dict[str, Any]) -> str:
    if isinstance(html := item.get("content_html"), str) and html.strip():
        return html[:LONGEST]
    text = item.get("content_text") or item.get("summary")
    return to_paragraphs(text[:LONGEST]) if isinstance(text, str) else ""


# --- Feeds in XML: RSS 0.9 to 2.0 and Atom, however they mix their vocabularies, without entities and without
# network --------------------------------------------------------------------------------------------------------------


_DECLARATION: Final = re.compile(r"\s*(?:<\?xml\b[^>]{0,200}>)?")
_REFERENCE: Final = re.compile(r"&([A-Za-z]\w{1,30});")
_INLINE: Final = re.compile(
    r"</?(?:a|abbr|b|br|cite|code|del|em|i|img|p|q|s|small|span|strong|sub|sup|u)\b(?:\s[^<>]{0,500})?/?>",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"[^\s@]{1,200}@[^\s@]{1,200}\s*\(([^()]{1,200})\)")
_CONTENT: Final = ("content:encoded", "content", "summary", "description")
_SPACES: Final = {
    "http://purl.org/rss/1.0/modules/content/": "content:",
    "http://purl.org/dc/elements/1.1/": "dc:",
}
_FEEDS: Final = frozenset(
    ("", "http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#", "http://purl.org/rss/1.0/",
     "http://my.netscape.com/rdf/simple/0.9/", "http://backend.userland.com/rss2")
)  # fmt: skip


def read_xml(text: str, url: str) -> Feed | None:
    """The feed in an XML document; see `read_feed` for what is none and what is refused."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, remove_pis=True,
        encoding="utf-8",
    )  # fmt: skip
    declaration = _DECLARATION.match(text)
    lean = _REFERENCE.sub(_write_out, text[declaration.end() if declaration else 0 :].replace("\0", ""))
    try:
        root: etree._Element | None = etree.fromstring(lean.encode("utf-8", "replace"), parser, base_url=url)
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root is None:
        return None
    declared: Any = root.getroottree().docinfo.internalDTD
    if declared is not None and next(iter(declared.iterentities()), None) is not None:
        raise Fault("content_empty", "This feed is not read: it declares entities.", action="inform_user")
    return _read_xml(root)


def _write_out(match: re.Match[str]) -> str:
    """The character that a name of HTML stands for, which XML does not know, unless it would be markup."""
    character = unescape(match[0])
    return match[0] if character in ("<", ">", "&", '"', "'") else character


def _read_xml(root: etree._Element) -> Feed | None:
    name = _name(root).lower()
    about = root if name == "feed" else next(_children(root, "channel"), None)
    if about is None or name not in ("rss", "feed", "rdf"):
        return None
    # In RSS 1.0 the entries stand beside the channel.
    items = [*_children(about, "item", "entry"), *(_children(root, "item") if about is not root else ())]
    return Feed(
        _to_title(about),
        _first_line(about, "subtitle", "tagline", "description"),
        to_iso(_first_line(about, "updated", "modified", "lastBuildDate", "pubDate", "dc:date")),
        _first_line(about, "language", "dc:language") or about.get("{http://www.w3.org/XML/1998/namespace}lang", ""),
        _to_authors(about),
        tuple(_to_entry(item) for item in items[:MOST_ENTRIES]),
        len(items) > MOST_ENTRIES,
    )


def _to_entry(item: etree._Element) -> FeedEntry:
    html, base = "", item.base or ""
    for name in _CONTENT:
        node = next(_children(item, name), None)
        if node is not None and (html := _to_html(node)):
            base = node.base or base
            break
    dates = ("published", "issued", "pubDate", "dc:date", "created", "updated", "modified")
    return FeedEntry(_to_title(item), _to_link(item), to_iso(_first_line(item, *dates)), _to_authors(item), html, base)


def _to_html(node: etree._Element) -> str:
    """The HTML that an element holds: escaped, as elements, or as plain text."""
    from lxml import etree

    if len(node):
        # XHTML, whose names are those of HTML without their namespace.
        for element in node.iter("*"):
            element.tag = re.split(r"[}:]", str(element.tag))[-1] or "div"
        inner = [str(etree.tostring(child, method="html", encoding="unicode")) for child in node]
        return (escape(node.text or "") + "".join(inner))[:LONGEST]
    text = (node.text or "").strip()[:LONGEST]
    # In Atom plain is what is not said to be HTML; that of RSS may be either.
    is_plain = _name(node) == "summary" and node.get("type") in (None, "text")
    return to_paragraphs(text) if is_plain or "<" not in text else text


def _to_title(node: etree._Element) -> str:
    return _first_line(node, "title")[:500]


def _to_line(text: str) -> str:
    return " ".join(unescape(_INLINE.sub("", text)).split())[:1000]


def _to_link(node: etree._Element) -> str:
    """The address of an entry: its page, else what is enclosed, else the name that is an address too."""
    links = list(_children(node, "link"))
    own = [each for each in links if (each.get("rel") or "alternate") == "alternate"]
    addresses = [each.get("href") or (each.text or "").strip() for each in own]
    addresses += [each.get("url") or "" for each in _children(node, "enclosure")]
    addresses += [(each.text or "").strip() for each in _children(node, "guid") if each.get("isPermaLink") != "false"]
    return next((each for each in addresses if each), "")


def _to_authors(node: etree._Element) -> tuple[str, ...]:
    """The names of who wrote, without their addresses."""
    names = []
    for each in _children(node, "author", "dc:creator"):
        text = _first_line(each, "name") or _to_line(each.text or "")
        named = _NAMED.fullmatch(text)
        names.append(named[1] if named else "" if "@" in text else text)
    return to_names(names, split=False)


def _name(element: etree._Element) -> str:
    """The name of an element as feeds write it, with `content:` and `dc:` before those of these vocabularies."""
    space, _, name = str(element.tag).rpartition("}")
    prefix = _SPACES.get(space[1:], "" if space[1:] in _FEEDS else "?:")
    return name if name.lower() == "rdf" else prefix + name


def _children(node: etree._Element, *names: str) -> Iterator[etree._Element]:
    return (child for child in node.iterchildren("*") if _name(child) in names)


def _first_line(node: etree._Element, *names: str) -> str:
    """The first text of the first of these that has one, on one line."""
    children = (child for name in names for child in _children(node, name))
    return next((line for child in children if (line := _to_line("".join(map(str, child.itertext()))[:4000]))), "")
