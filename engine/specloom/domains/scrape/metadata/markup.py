"""What the visible markup says about a page: microdata, `<time>`, links to the author, bylines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from .authors import to_names
from .dates import to_iso
from .sources import to_line, to_words

if TYPE_CHECKING:
    from lxml import etree

    from ..html.parse import Attributes


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
_AUTHOR_WORDS: Final = frozenset({"author", "authors", "authorname", "byline", "bylines"})
_DATE_WORDS: Final = to_words("date time timestamp datetime published publish posted pubdate pubtime dateline")
# Parts of a card about the author.
_NOT_A_NAME: Final = to_words(
    "avatar image img photo picture bio about box card comment comments reply related description social follow more"
    " date time job share desc info icon pic thumb location widget"
)
_ELSEWHERE: Final = re.compile(
    r"comment|related|recommend|sidebar|teaser|promo|footer|most-?read|trending|widget|popular|reply|carousel|infobox|\bnav",
    re.I,
)
_JOINING: Final = re.compile(r"\s*(?:[,;&/、]|,?\s*(?:and|und|et|y|e|och|en|и)\b)\s*", re.IGNORECASE)
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
    kinds = {name: _to_kind(name) for name in {name for _, attribute, name in attributes.named if attribute == "class"}}
    kinds = {name: kind for name, kind in kinds.items() if kind}
    if kinds:
        for element, attribute, name in attributes.named:
            if name in kinds and attribute == "class" and element.tag in _BYLINE_TAGS:
                (bylines if kinds[name] == "byline" else dated).append(element)
    items = (each for each in attributes.properties if each[0] is not attributes.root)
    properties = [element for element, name in items if name in _NAMED]
    links = [element for element, name in attributes.relations if "author" in name and "author" in name.split()]
    return Marks(*(tuple(found[:_MOST]) for found in (properties, links, bylines, dated)))


@lru_cache(maxsize=8192)
def _to_kind(name: str) -> str:
    """What a `class` marks: a `byline`, a `date`, or nothing of interest."""
    low = name[:200].lower()
    if not ("author" in low or "byline" in low or "date" in low or "time" in low or "publish" in low or "post" in low):
        return ""  # nearly all, without a look at their words
    words = {word.lower() for word in _WORDS.findall(name[:200])}
    if not words.isdisjoint(_AUTHOR_WORDS) and words.isdisjoint(_NOT_A_NAME):
        return "byline"
    return "" if words.isdisjoint(_DATE_WORDS) else "date"


def microdata(marks: Marks) -> dict[str, list[str]]:
    """The properties of the first work among the microdata items: `headline`, `author`, `datePublished` and the like.

    Items inside it (comments, answers, crumbs) speak for themselves and are left out, but a person or organisation
    gives its name to the property that it is the value of.
    """
    found: dict[str, list[str]] = {}
    main: etree._Element | None = None
    for element in marks.properties:
        owner = _find_owner(element)
        if owner is None:
            continue
        name, kind = element.get("itemprop") or "", owner.get("itemtype") or ""
        if name == "name" and _PARTY.search(kind):
            name, owner = owner.get("itemprop") or "", _find_owner(owner)
        elif not _WORK.search(kind):
            continue
        elif name == "name":
            name = "headline"
        if owner is None or (main is None and not _WORK.search(owner.get("itemtype") or "")):
            continue
        main = owner if main is None else main
        # A person's name is read where it stands, not from the whole item around it.
        if owner is main and element.get("itemscope") is None and (value := _to_value(element)):
            found.setdefault(name, []).append(value)
    return found


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
    found: list[str] = []
    at = 0
    for link in links:
        if not found and not to_names([link], split=False):
            continue
        start = byline.find(link, at)
        if start < 0 or (found and not _JOINING.fullmatch(byline[at:start])):
            break
        found.append(link)
        at = start + len(link)
    return found


def _find_owner(element: etree._Element) -> etree._Element | None:
    """The nearest item around an element."""
    return next((above for above in islice(element.iterancestors(), _FARTHEST) if above.get("itemtype")), None)


def _to_value(element: etree._Element) -> str:
    for attribute in ("content", "datetime", "title") if element.tag == "abbr" else ("content", "datetime"):
        if value := (element.get(attribute) or "").strip():
            return value[:1000]
    return to_line(element)


def _is_of_page(element: etree._Element) -> bool:
    """Whether nothing around the element says that it belongs to a comment, another page or the frame of the site."""
    for above in _ancestors(element):
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


def _ancestors(element: etree._Element) -> Iterator[etree._Element]:
    yield element
    yield from islice(element.iterancestors(), _FARTHEST)


def _cut_date(byline: str) -> str:
    """A byline without the date, time and address behind its names."""
    return re.split(
        r"\s[|•·–—-]\s|\bon\b|\bposted\b|\bpublished\b|\bupdated\b|[,(]?\s*\d|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep"
        r"|Oct|Nov|Dec)[a-z]*\.?\s\d",
        byline,
        maxsplit=1,
        flags=re.IGNORECASE,
    )[0]
