"""What a page says about itself, gathered in one walk: meta elements, JSON-LD blocks, title, headings, times, links.

Metadata, structured data, forum signals and DOI detection all read from here, so it has to run before scripts are
stripped from the tree. The caps keep a hostile page from costing more than a large honest one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from specloom.core import dataclass

from ..html.parse import Attributes, gather_attributes
from .fields import VOCABULARY, to_iso, to_names

if TYPE_CHECKING:
    from lxml import etree


MOST_META: Final = 2000
MOST_BLOCKS: Final = 64
_LONGEST_BLOCK: Final = 512 * 1024
_LONGEST_VALUE: Final = 8192
# Deeper than any vocabulary nests; also below what the JSON writer of the answer can take.
_DEEPEST: Final = 64

_BEFORE: Final = ("//", "/*", "<![CDATA[", "<!--", "*/")
_AFTER: Final = ("*/", "]]>", "-->", "//", "/*")
_TRAILING_COMMA: Final = re.compile(r",(\s*[}\]])")
_LONGEST_LINE: Final = 4000
_OPENING: Final = re.compile(r"[\[{]")


@dataclass(frozen=True, slots=True)
class JsonLdBlock:
    """A JSON-LD script: its text as written, and its value read strictly, or leniently when `valid` is false."""

    text: str
    value: Any
    valid: bool


Node = Mapping[str, Any]

_MOST_NODES: Final = 500
_TYPES: Final = {name: frozenset(types) for name, types in VOCABULARY["types"].items()}


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes at the top of a page's JSON-LD (`@graph` and `mainEntity` opened), and every node with an `@id`."""

    nodes: tuple[Node, ...]
    by_id: Mapping[str, Node]

    def follow(self, value: Any) -> Any:
        """The node that a bare reference (`{"@id": …}`) means, else the value itself."""
        if isinstance(value, dict) and len(value) <= 2 and isinstance(at := value.get("@id"), str):
            return self.by_id.get(at, value)
        return value

    def all(self, value: Any) -> Iterator[Any]:
        """One value or the members of a list, references followed."""
        for each in value if isinstance(value, list) else (value,):
            if each is not None:
                yield self.follow(each)


def to_graph(blocks: Iterable[JsonLdBlock]) -> Graph:
    """The nodes of some JSON-LD blocks, at most 500."""
    nodes: list[Node] = []
    by_id: dict[str, Node] = {}
    open_values: list[Any] = [block.value for block in blocks][::-1]
    while open_values and len(nodes) < _MOST_NODES:
        value = open_values.pop()
        if isinstance(value, list):
            open_values.extend(value[:_MOST_NODES][::-1])
        elif isinstance(value, dict):
            if isinstance(at := value.get("@id"), str) and len(value) > len(by_id.get(at, ())):
                by_id[at] = value
            if "@type" in value:
                nodes.append(value)
            # What is inside comes after what it is inside of.
            for key in ("mainEntityOfPage", "mainEntity", "@graph"):
                inner = value.get(key)
                # The questions of an FAQ are its sections.
                if isinstance(inner, list | dict) and not (key == "mainEntity" and "FAQPage" in types(value)):
                    open_values.append(inner)
    return Graph(tuple(nodes), by_id)


def types(node: Node) -> tuple[str, ...]:
    """The types of a node without their vocabulary: `schema:NewsArticle` is `NewsArticle`."""
    value = node.get("@type")
    values = value if isinstance(value, list) else [value]
    return tuple(re.split(r"[/#:]", each)[-1] for each in values if isinstance(each, str))


def is_of(kinds: str, node: Node) -> bool:
    """Whether a node is of one of these types of the vocabulary: `works`, `things`, `pages`, `cited` or `posts`."""
    return not _TYPES[kinds].isdisjoint(types(node))


@dataclass(frozen=True, slots=True)
class Sources:
    """What a page says about itself. Names in `meta` are lower case, values in document order and not empty."""

    meta: Mapping[str, tuple[str, ...]]
    blocks: tuple[JsonLdBlock, ...]
    graph: Graph
    """The nodes of the blocks."""
    title: str
    heading: str
    language: str
    canonical: str
    times: tuple[etree._Element, ...]
    root: etree._Element
    attributes: Attributes

    def first(self, *names: str) -> str:
        """The first value of the first of these meta names that has one, or ""."""
        for name in names:
            if values := self.meta.get(name):
                return values[0]
        return ""


def gather(root: etree._Element) -> Sources:
    """The sources of a parsed page (an lxml HTML tree, scripts still in it). Never raises for odd markup."""
    meta: dict[str, list[str]] = {}
    blocks: list[JsonLdBlock] = []
    attributes = gather_attributes(root)
    tagged = attributes.tagged
    for element in tagged["meta"][:MOST_META]:
        _add_meta(element, meta)
    size = 0
    for element in tagged["script"]:
        if "ld+json" in (element.get("type") or "").lower() and len(blocks) < MOST_BLOCKS:
            text = element.text or ""
            size += len(text)
            if size <= _LONGEST_BLOCK and (block := _to_block(text)):
                blocks.append(block)
    # An icon drawn in the page has a title too, below <svg>.
    titles = (each for each in tagged["title"] if (above := each.getparent()) is not None and above.tag != "svg")
    title = next(filter(None, map(to_line, titles)), "")
    heading = next(filter(None, map(to_line, tagged["h1"])), "")
    links = (each for each in tagged["link"] if "canonical" in (each.get("rel") or "").lower().split())
    hrefs = ((each.get("href") or "").strip()[:_LONGEST_VALUE] for each in links)
    canonical = next(filter(None, hrefs), "")
    language = root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or root.get("xml:lang") or ""
    return Sources(
        {name: tuple(values) for name, values in meta.items()}, tuple(blocks), to_graph(blocks), title, heading,
        language.strip()[:64], canonical, tuple(tagged["time"][:MOST_BLOCKS]), root, attributes,
    )  # fmt: skip


def _add_meta(element: etree._Element, meta: dict[str, list[str]]) -> None:
    content = element.get("content")
    if not content or not (content := content.strip()):
        return
    content = content[:_LONGEST_VALUE]
    for attribute in ("property", "name", "http-equiv"):
        for name in (element.get(attribute) or "").lower().split()[:4]:
            values = meta.setdefault(name, [])
            if content not in values[-1:]:
                values.append(content)


def to_path(url: str) -> str:
    """The path of an address; "" for none."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def to_line(element: etree._Element) -> str:
    """The text of an element and all below it (comments are none) on one line, cut after 1000 characters.

    No more than that is read, so that a thousand elements around one long text cost no more than the text.
    """
    if not len(element):
        return " ".join((element.text or "")[:_LONGEST_LINE].split())[:1000]
    parts, size = [], 0
    for part in element.itertext():
        parts.append(part)
        size += len(part)
        if size > _LONGEST_LINE:
            break
    return " ".join("".join(map(str, parts))[:_LONGEST_LINE].split())[:1000]


def _to_block(text: str) -> JsonLdBlock | None:
    text = text.strip()
    try:
        return JsonLdBlock(text, parse_strictly(text), valid=True)
    except (ValueError, RecursionError):
        pass
    try:
        return JsonLdBlock(text, _parse_leniently(text), valid=False)
    except (ValueError, RecursionError):
        return None


def parse_strictly(text: str) -> Any:
    """The value of a JSON text that is valid, of finite numbers, whole characters and at most 64 levels.

    ValueError or RecursionError for anything else.
    """
    return _check(json.loads(text, parse_constant=_refuse, parse_float=_to_finite), text)


def _parse_leniently(text: str) -> Any:
    """As a browser's tools read it: comment wrappings, raw line breaks in texts and trailing commas do no harm."""
    bare = _unwrap(text).rstrip("; \n")
    try:
        value = json.loads(bare, strict=False, parse_constant=_refuse, parse_float=_to_finite)
    except ValueError:
        bare = _TRAILING_COMMA.sub(r"\1", bare)
        value = json.loads(bare, strict=False, parse_constant=_refuse, parse_float=_to_finite)
    return _check(value, bare)


def _unwrap(text: str) -> str:
    """The text without the marks of a CDATA section or a comment around it, themselves commented out or not."""
    for mark in _BEFORE:
        text = text.removeprefix(mark).lstrip()
    for mark in _AFTER:
        text = text.removesuffix(mark).rstrip()
    return text


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _to_finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large")
    return number


def _check(value: Any, text: str) -> Any:
    if "\\ud" in text or "\\uD" in text:
        # Half of an escaped pair is JSON by its grammar and no text by any encoding.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    if len(_OPENING.findall(text)) > _DEEPEST and _is_deeper(value, _DEEPEST):
        raise ValueError("nested too deeply")
    return value


def _is_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


_MOST: Final = 100
_FARTHEST: Final = 100
_LONGEST_BYLINE: Final = 160
# Shown with no more than a month, a date is that of an event or of somebody's joining.
_DAY: Final = len("2024-05-07")

_BYLINE_TAGS: Final = frozenset((
    "a", "span", "div", "p", "li", "address", "time", "em", "small", "h2", "h3", "h4", "h5", "h6", "section", "abbr",
    "figcaption", "header", "td", "cite", "b", "strong", "dd", "ul",
))  # fmt: skip
_NAMED: Final = frozenset(
    {"headline", "name", "author", "creator", "datePublished", "dateCreated", "dateModified", "publisher"}
)
_WORK: Final = re.compile(
    r"schema\.org/(?:\w*Article|\w*Posting|APIReference|Report|Review|HowTo|Recipe|QAPage|Question|CreativeWork|WebPage"
    r"|VideoObject|Book|Dataset|Thesis|Product|Event|Blog)$"
)
_PARTY: Final = re.compile(r"schema\.org/(?:Person|Organization|\w*Organization|Corporation|Brand)$")
_WORDS: Final = re.compile(r"[a-z]+|[A-Z][a-z]*")
_NAMES: Final = {kind: frozenset(words) for kind, words in VOCABULARY["names"].items()}
"""Words of the names of elements with authors and dates, and of parts of a card about the author, which are none."""
_ELSEWHERE: Final = re.compile(
    r"comment|related|recommend|sidebar|teaser|promo|footer|most-?read|trending|widget|popular|reply|carousel|infobox|\bnav",
    re.I,
)
_JOINING: Final = re.compile(r"\s*+(?:(?:,\s*+)?(?:and|und|et|y|e|och|en|и)\b|[,;&/、])\s*+", re.IGNORECASE)
_CHANGED: Final = re.compile(r"updat|modif|edited|chang|aktualisiert|обновл|更新|수정", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Marks:
    """The elements of a page that may name its author or date, by how they are marked, in document order."""

    properties: tuple[etree._Element, ...]
    author_links: tuple[etree._Element, ...]
    bylines: tuple[etree._Element, ...]
    dated: tuple[etree._Element, ...]


def find_marks(attributes: Attributes) -> Marks:
    """The marked elements of a page, at most 100 of each kind."""
    bylines: list[etree._Element] = []
    dated: list[etree._Element] = []
    kinds = {name: kind for name in attributes.classes if (kind := _to_kind(name))}
    if kinds:
        for element, attribute, name in attributes.named:
            if name in kinds and attribute == "class" and element.tag in _BYLINE_TAGS:
                (bylines if kinds[name] == "byline" else dated).append(element)
    items = (each for each in attributes.valued["itemprop"] if each[0] is not attributes.root)
    properties = [element for element, name in items if name in _NAMED]
    links = [element for element, name in attributes.valued["rel"] if "author" in name and "author" in name.split()]
    return Marks(*(tuple(elements[:_MOST]) for elements in (properties, links, bylines, dated)))


@lru_cache(maxsize=8192)
def _to_kind(name: str) -> str:
    """What a `class` marks: a `byline`, a `date`, or nothing of interest."""
    low = name[:200].lower()
    if not ("author" in low or "byline" in low or "date" in low or "time" in low or "publish" in low or "post" in low):
        return ""  # nearly all, without a look at their words
    words = {word.lower() for word in _WORDS.findall(name[:200])}
    if not words.isdisjoint(_NAMES["author"]) and words.isdisjoint(_NAMES["not_author"]):
        return "byline"
    return "" if words.isdisjoint(_NAMES["date"]) else "date"


def microdata(marks: Marks) -> dict[str, list[str]]:
    """The properties of the first work among the microdata items: `headline`, `author`, `datePublished` and the like.

    Items inside it (comments, answers, crumbs) speak for themselves and are left out, but a person or organisation
    gives its name to the property that it is the value of.
    """
    properties: dict[str, list[str]] = {}
    main: etree._Element | None = None
    for element in marks.properties:
        owner = find_owner(element)
        if owner is None:
            continue
        name, kind = element.get("itemprop") or "", owner.get("itemtype") or ""
        if name == "name" and _PARTY.search(kind):
            name, owner = owner.get("itemprop") or "", find_owner(owner)
        elif not _WORK.search(kind):
            continue
        elif name == "name":
            name = "headline"
        if owner is None or (main is None and not _WORK.search(owner.get("itemtype") or "")):
            continue
        main = owner if main is None else main
        # A person's name is read where it stands, not from the whole item around it.
        if owner is main and element.get("itemscope") is None and (value := _to_value(element)):
            properties.setdefault(name, []).append(value)
    return properties


def find_authors(marks: Marks) -> tuple[str, ...]:
    """The names in links to the author, else in the first byline outside comments and lists of other pages."""
    linked = [to_line(each) for each in marks.author_links if _is_of_page(each)]
    if names := to_names([text for text in linked if len(text) <= _LONGEST_BYLINE][:6], split=True):
        return names
    for element in marks.bylines:
        text = to_line(element)
        if not 0 < len(text) <= _LONGEST_BYLINE or not _is_of_page(element):
            continue
        # What is linked in a byline is the name; around it stand roles, dates and counts of posts.
        links = _leading_names(text, [line for link in element.iter("a") if (line := to_line(link))])
        if names := to_names(links or [_cut_date(text)], split=True):
            return names
    return ()


def find_dates(marks: Marks, times: Iterable[etree._Element]) -> tuple[str, str]:
    """When the page was published and changed, by its first `<time>` elements or dated lines; "" for each unknown."""
    published = modified = ""
    for element in times:
        if not _is_of_page(element):
            continue
        day = to_iso(element.get("datetime")) or to_iso(to_line(element))
        if len(day) < _DAY:
            continue
        above = element.getparent()
        hint = " ".join(
            f"{each.get('class') or ''} {each.get('itemprop') or ''} {each.text or ''}"
            for each in (element, above)
            if each is not None
        )
        if _CHANGED.search(hint):
            modified = modified or day
        elif not published:
            published = day
    if published:
        return published, modified
    for element in marks.dated:
        text = to_line(element)
        if element.tag == "abbr":
            # What is shown is the hour alone, or "yesterday".
            text = element.get("title") or text
        if 6 <= len(text) <= 60 and len(day := to_iso(text)) >= _DAY and _is_of_page(element):
            return ("", day) if _CHANGED.search(text) else (day, modified)
    return published, modified


def _leading_names(byline: str, links: Iterable[str]) -> list[str]:
    """The links of a byline as far as they are a list: the first, and each that a comma or "and" joins to it."""
    names: list[str] = []
    at = 0
    for link in links:
        if not names and not to_names([link], split=False):
            continue
        start = byline.find(link, at)
        if start < 0 or (names and not _JOINING.fullmatch(byline[at:start])):
            break
        names.append(link)
        at = start + len(link)
    return names


def find_owner(element: etree._Element) -> etree._Element | None:
    """The nearest item around an element."""
    return next((above for above in islice(element.iterancestors(), _FARTHEST) if above.get("itemtype")), None)


def _to_value(element: etree._Element) -> str:
    for attribute in ("content", "datetime", "title") if element.tag == "abbr" else ("content", "datetime"):
        if value := (element.get(attribute) or "").strip():
            return value[:1000]
    return to_line(element)


def _is_of_page(element: etree._Element) -> bool:
    """Whether nothing around the element says that it belongs to a comment, another page or the frame of the site."""
    for above in (element, *islice(element.iterancestors(), _FARTHEST)):
        if above.tag in ("aside", "footer", "nav"):
            return False
        if above.tag in ("body", "html", "main"):
            return True
        if _names_elsewhere(above.get("class") or "") or _names_elsewhere(above.get("id") or ""):
            return False
    return True


@lru_cache(maxsize=8192)
def _names_elsewhere(name: str) -> bool:
    return _ELSEWHERE.search(name[:200]) is not None


def _cut_date(byline: str) -> str:
    """A byline without the date, time and address behind its names."""
    return re.split(
        r"\s[|•·–—-]\s|\bon\b|\bposted\b|\bpublished\b|\bupdated\b|(?:[,(]|(?<![\s,(]))\s*+\d|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep"
        r"|Oct|Nov|Dec)[a-z]*\.?\s\d",
        byline,
        maxsplit=1,
        flags=re.IGNORECASE,
    )[0]
