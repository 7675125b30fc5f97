"""Who wrote a page, what it is called, when it appeared: one reader for the HTML of every tier.

Where sources disagree, the one that is written for machines that cite wins: JSON-LD, Highwire `citation_*` (the tags
that scholarly indexes ask publishers for), Dublin Core, OpenGraph, other meta elements, microdata, visible markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from . import jsonld as graphs
from . import markup
from .authors import to_names, to_text
from .dates import find_in_path, to_iso
from .doi import find_declared
from .sources import Sources, gather
from .titles import TITLE, find_home, find_title

if TYPE_CHECKING:
    from lxml import etree

    from ..html.parse import Attributes


_LONGEST_DESCRIPTION: Final = 1000

_AUTHOR: Final = (
    "citation_author",
    "citation_authors",
    "bepress_citation_author",
    "dc.creator",
    "dcterms.creator",
    "dc.contributor",
)
_AUTHOR_LISTS: Final = (
    "article:author",
    "og:article:author",
    "author",
    "parsely-author",
    "sailthru.author",
    "byl",
    "byline",
)
_SITE: Final = ("citation_journal_title", "citation_conference_title", "prism.publicationname", "og:site_name")
_SITE_LAST: Final = ("dc.publisher", "application-name", "apple-mobile-web-app-title", "twitter:app:name:iphone")
_PUBLISHED: Final = (
    "citation_publication_date", "citation_date", "citation_cover_date", "citation_online_date", "citation_year",
    "prism.publicationdate", "dc.date.issued", "dcterms.issued", "dcterms.date", "dc.date", "dc.date.created",
    "dcterms.created", "article:published_time", "og:article:published_time", "article:published", "og:published_time",
    "parsely-pub-date", "sailthru.date", "cxenseparse:recs:publishtime", "publishdate", "publish-date", "publish_date",
    "publication_date", "published_time", "pubdate", "published", "pdate", "ptime", "displaydate", "datepublished",
    "date", "created", "dcsext.article_date",
)  # fmt: skip
_MODIFIED: Final = (
    "article:modified_time", "og:article:modified_time", "og:modified_time", "og:updated_time", "dcterms.modified",
    "dc.date.modified", "article:modified", "lastmod", "last-modified", "datemodified", "modified", "revised",
)  # fmt: skip
_LANGUAGE: Final = ("citation_language", "dc.language", "dcterms.language", "content-language", "language", "og:locale")
_DESCRIPTION: Final = (
    "og:description", "description", "twitter:description", "dc.description", "dcterms.abstract", "citation_abstract",
)  # fmt: skip
_TAG: Final = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|[0-9]{3}))?(?:[-_.;,].*)?")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says about itself; "" or () for what it does not say.

    Dates are ISO 8601 as precise as written (`2024`, `2024-05-07`, RFC 3339 with the publisher's offset), the language
    is a BCP 47 tag, `authors` are names as written (`Lee, Ann` stays inverted), `author` joins them with "; ", and
    `doi` is in lower case without a prefix.
    """

    title: str = ""
    authors: tuple[str, ...] = ()
    author: str = ""
    site: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    description: str = ""
    doi: str = ""


def parse_metadata(root: etree._Element, *, url: str = "") -> Metadata:
    """The metadata of a parsed page whose scripts are still in the tree."""
    return to_metadata(gather(root), url=url)


def to_metadata(sources: Sources, *, url: str = "") -> Metadata:
    """The metadata of a page from what it says about itself. `url` tells its article from others that it mentions."""
    graph = graphs.to_graph(sources.blocks)
    titles = (sources.first(*TITLE), sources.heading, sources.title)
    main = graphs.find_main(graph, addresses=(url, sources.canonical, sources.first("og:url")), titles=titles)
    page = graphs.find_page(graph)
    items = _Markup(sources.attributes, visible=not _is_home(url))
    site = _find_site(sources, graph, main, url)
    authors = _find_authors(sources, graph, main, page, items)
    published, modified = _find_dates(sources, main, page, items, url)
    return Metadata(
        title=find_title(sources, main, page, site=site, marked=lambda: items.get("headline")[:1]),
        authors=authors,
        author="; ".join(authors),
        site=site,
        published=published,
        modified=modified,
        language=_find_language(sources, main),
        description=_find_description(sources, main),
        doi=find_declared(sources),
    )


class _Markup:
    """The markup of a page, read when it is first asked for: most pages answer before.

    A home page has bylines and dates too, of the pages that it leads to; `visible` is false there.
    """

    def __init__(self, attributes: Attributes, *, visible: bool) -> None:
        self._attributes = attributes
        self.visible = visible

    @cached_property
    def marks(self) -> markup.Marks:
        return markup.find_marks(self._attributes)

    @cached_property
    def items(self) -> dict[str, list[str]]:
        return markup.microdata(self.marks)

    def get(self, *names: str) -> list[str]:
        return next((values for name in names if (values := self.items.get(name))), [])


def _find_authors(
    sources: Sources, graph: graphs.Graph, main: graphs.Node | None, page: graphs.Node | None, items: _Markup
) -> tuple[str, ...]:
    def read() -> Iterator[tuple[Iterable[str], bool]]:
        for node in (main, page):
            if node is not None:
                yield graphs.names(graph, node.get("author") or node.get("creator")), True
        for name in _AUTHOR:
            # Several in one element are told apart by semicolons; commas part family and given names.
            yield (part for value in sources.meta.get(name, ()) for part in value.split(";")), False
        for name in _AUTHOR_LISTS:
            yield sources.meta.get(name, ()), True
        yield items.get("author", "creator"), True

    for values, split in read():
        if authors := to_names(values, split=split):
            return authors
    return markup.find_authors(items.marks) if items.visible else ()


def _find_site(sources: Sources, graph: graphs.Graph, main: graphs.Node | None, url: str) -> str:
    def read() -> Iterator[str]:
        yield sources.first(*_SITE)
        yield graphs.find_site(graph)
        if main is not None:
            yield next(graphs.names(graph, main.get("publisher")), "")
        yield sources.first(*_SITE_LAST)
        yield "" if _is_home(url) else find_home(sources, url)

    return next((site for each in read() if (site := to_text(each, 200)) and "://" not in site), "")


def _find_dates(
    sources: Sources, main: graphs.Node | None, page: graphs.Node | None, items: _Markup, url: str
) -> tuple[str, str]:
    published = _first_date(
        *(graphs.text(node, "datePublished", "dateCreated", "uploadDate", "datePosted") for node in (main, page)),
        *(value for name in _PUBLISHED for value in sources.meta.get(name, ())[:1]),
    )
    modified = _first_date(
        *(graphs.text(node, "dateModified") for node in (main, page)),
        *(value for name in _MODIFIED for value in sources.meta.get(name, ())[:1]),
    )
    if not published:
        published = _first_date(*items.get("datePublished", "dateCreated")[:1])
        modified = modified or _first_date(*items.get("dateModified")[:1])
    if not published and items.visible:
        shown, changed = markup.find_dates(items.marks, sources.times)
        published, modified = shown, modified or changed
    return published or find_in_path(_to_path(url or sources.canonical)), modified


def _first_date(*values: Any) -> str:
    return next((date for value in values if (date := to_iso(value))), "")


def _find_language(sources: Sources, main: graphs.Node | None) -> str:
    for value in (sources.language, graphs.text(main, "inLanguage"), *(sources.first(name) for name in _LANGUAGE)):
        match = _TAG.fullmatch(value.strip())
        if match and match[1].lower() not in ("und", "mul", "zxx", "xx"):
            script, region = (match[2] or "").title(), (match[3] or "").upper()
            return "-".join(filter(None, (match[1].lower(), script, region)))
    return ""


def _find_description(sources: Sources, main: graphs.Node | None) -> str:
    for value in (*(sources.first(name) for name in _DESCRIPTION), graphs.text(main, "description", "abstract")):
        if text := to_text(value, _LONGEST_DESCRIPTION):
            return text
    return ""


def _is_home(url: str) -> bool:
    """Whether an address names a site and nothing on it."""
    return bool(url) and _to_path(url).strip("/") == "" and "?" not in url


def _to_path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""
