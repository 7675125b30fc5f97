"""Who wrote a page, what it is called, when it appeared: one reader for the HTML of every tier.

Where sources disagree, the one that is written for machines that cite wins: JSON-LD, Highwire `citation_*` (the tags
that scholarly indexes ask publishers for), Dublin Core, OpenGraph, other meta elements, microdata, visible markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit

from specloom.domains.text import find_doi, to_doi

from ..html.parse import Attributes
from . import jsonld as graphs
from .fields import VOCABULARY, find_in_path, to_iso, to_names, to_text
from .sources import Marks, Sources, find_authors, find_dates, find_marks, microdata, to_line

META: Final = VOCABULARY["meta"]
_LONGEST_DESCRIPTION: Final = 1000

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


def to_metadata(sources: Sources, *, url: str = "") -> Metadata:
    """The metadata of a page from what it says about itself. `url` tells its article from others that it mentions."""
    graph = graphs.to_graph(sources.blocks)
    titles = (sources.first(*META["title"]), sources.heading, sources.title)
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
        doi=find_declared_doi(sources),
    )


class _Markup:
    """The markup of a page, read when it is first asked for: most pages answer before.

    A home page has bylines and dates too, of the pages that it leads to; `visible` is false there.
    """

    def __init__(self, attributes: Attributes, *, visible: bool) -> None:
        self._attributes = attributes
        self.visible = visible

    @cached_property
    def marks(self) -> Marks:
        return find_marks(self._attributes)

    @cached_property
    def items(self) -> dict[str, list[str]]:
        return microdata(self.marks)

    def get(self, *names: str) -> list[str]:
        return next((values for name in names if (values := self.items.get(name))), [])


def _find_authors(
    sources: Sources, graph: graphs.Graph, main: graphs.Node | None, page: graphs.Node | None, items: _Markup
) -> tuple[str, ...]:
    def read() -> Iterator[tuple[Iterable[str], bool]]:
        for node in (main, page):
            if node is not None:
                yield graphs.names(graph, node.get("author") or node.get("creator")), True
        for name in META["author"]:
            # Several in one element are told apart by semicolons; commas part family and given names.
            yield (part for value in sources.meta.get(name, ()) for part in value.split(";")), False
        for name in META["author_lists"]:
            yield sources.meta.get(name, ()), True
        yield items.get("author", "creator"), True

    for values, split in read():
        if authors := to_names(values, split=split):
            return authors
    return find_authors(items.marks) if items.visible else ()


def _find_site(sources: Sources, graph: graphs.Graph, main: graphs.Node | None, url: str) -> str:
    def read() -> Iterator[str]:
        yield sources.first(*META["site"])
        yield graphs.find_site(graph)
        if main is not None:
            yield next(graphs.names(graph, main.get("publisher")), "")
        yield sources.first(*META["site_last"])
        yield "" if _is_home(url) else find_home(sources, url)

    return next((site for each in read() if (site := to_text(each, 200)) and "://" not in site), "")


def _find_dates(
    sources: Sources, main: graphs.Node | None, page: graphs.Node | None, items: _Markup, url: str
) -> tuple[str, str]:
    published = _first_date(
        *(graphs.text(node, "datePublished", "dateCreated", "uploadDate", "datePosted") for node in (main, page)),
        *(value for name in META["published"] for value in sources.meta.get(name, ())[:1]),
    )
    modified = _first_date(
        *(graphs.text(node, "dateModified") for node in (main, page)),
        *(value for name in META["modified"] for value in sources.meta.get(name, ())[:1]),
    )
    if not published:
        published = _first_date(*items.get("datePublished", "dateCreated")[:1])
        modified = modified or _first_date(*items.get("dateModified")[:1])
    if not published and items.visible:
        shown, changed = find_dates(items.marks, sources.times)
        published, modified = shown, modified or changed
    return published or find_in_path(_to_path(url or sources.canonical)), modified


def _first_date(*values: Any) -> str:
    return next((date for value in values if (date := to_iso(value))), "")


def _find_language(sources: Sources, main: graphs.Node | None) -> str:
    declared = (sources.first(name) for name in META["language"])
    for value in (sources.language, graphs.text(main, "inLanguage"), *declared):
        match = _TAG.fullmatch(value.strip())
        if match and match[1].lower() not in ("und", "mul", "zxx", "xx"):
            script, region = (match[2] or "").title(), (match[3] or "").upper()
            return "-".join(filter(None, (match[1].lower(), script, region)))
    return ""


def _find_description(sources: Sources, main: graphs.Node | None) -> str:
    for value in (*(sources.first(name) for name in META["description"]), graphs.text(main, "description", "abstract")):
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


_LONGEST_TITLE: Final = 500
_MOST_CUTS: Final = 8
"""Places where a title may end."""
_MOST_LINKS: Final = 20
"""Links to the home page that are read."""

_SEPARATOR: Final = re.compile(r"\s+[|–—»«·•:]+\s+|\s+-{1,2}\s+|(?<=\S)[|»]\s*|\s+::\s+|\s*_\s*(?=[^\W_]+$)")


def find_title(
    sources: Sources,
    main: graphs.Node | None,
    page: graphs.Node | None,
    *,
    site: str,
    marked: Callable[[], Iterable[str]],
) -> str:
    """What a page is called: `main` and `page` are the nodes of its work and of itself, `marked` gives the headline
    that its markup names, and is asked only where nothing before says a title."""
    declared = to_text(sources.first(*META["title"]), _LONGEST_TITLE)
    headline = _find_headline(main, (declared, sources.title, sources.heading))[:_LONGEST_TITLE]
    if headline.endswith(("...", "…")) and _begins(declared, headline.rstrip(".… ")):
        headline = declared

    def read() -> Iterator[str]:
        yield headline
        yield declared
        yield sources.title
        yield from marked()
        yield graphs.text(page, "headline", "name")
        yield sources.heading

    shown = (_without_site(to_text(title, _LONGEST_TITLE), site, sources.heading) for title in read())
    return next((title for each in shown if (title := each.strip(" |–—-·•»«:"))), "")


def _find_headline(main: graphs.Node | None, titles: tuple[str, ...]) -> str:
    """What a work says it is called: its headline, unless only its name is one of these titles or begins one. What an
    encyclopedia gives for a headline is a description."""
    headline, name = graphs.text(main, "headline"), graphs.text(main, "name")
    if not (headline and name):
        return headline or name
    said = tuple(map(graphs.to_key, titles))
    named, headed = graphs.to_key(name), graphs.to_key(headline)
    is_name = any(named and title.startswith(named) for title in said)
    return name if is_name and not any(headed and title.startswith(headed) for title in said) else headline


def _without_site(title: str, site: str, heading: str) -> str:
    """A title without what stands around the heading of the page in it, or without the site's name at either end."""
    cuts = list(_SEPARATOR.finditer(title))
    if not cuts:
        return title
    key, wanted = graphs.to_key(site), graphs.to_key(heading)
    if wanted and wanted != key:
        for start in (0, *(cut.end() for cut in cuts[:_MOST_CUTS])):
            for cut in cuts[:_MOST_CUTS]:
                # A heading at the end may be the name of a site that is not known.
                if cut.start() > start and graphs.to_key(part := title[start : cut.start()]) == wanted:
                    return part.strip()
    first, last = title[: cuts[0].start()], title[cuts[-1].end() :]
    if key and graphs.to_key(last) == key and len(first) > 1:
        return title[: cuts[-1].start()].rstrip()
    if key and graphs.to_key(first) == key and len(last) > 1:
        return title[cuts[0].end() :].lstrip()
    return title


def find_home(sources: Sources, url: str) -> str:
    """What a page calls its site, as plain pages do: at either end of its title, and in the link to the home page."""
    cuts = list(_SEPARATOR.finditer(sources.title))
    if not cuts:
        return ""
    ends = sources.title[cuts[-1].end() :].strip(), sources.title[: cuts[0].start()].strip()
    keys = {key: end for end in reversed(ends) if (key := graphs.to_key(end))}
    origin = "/".join(url.split("/", 3)[:3]) if "://" in url else ""
    homes = {"/", origin, origin + "/"} - {""}
    links = [link for link, address in sources.attributes.links if address in homes and link.tag == "a"]
    return next((end for link in links[:_MOST_LINKS] if (end := keys.get(graphs.to_key(to_line(link))))), "")


def _begins(text: str, start: str) -> bool:
    return bool(start) and text.casefold().startswith(start.casefold())


# --- Which DOI a page declares as its own: in its head, or in its front matter, never in its references ---------------


FRONT_MATTER: Final = 4000
"""Bytes of text in which a page introduces itself: title, authors, abstract (the tool contract's figure)."""

_REFERENCES: Final = re.compile(
    r"^[#*\t \d.]{0,12}(?:references?|bibliography|works cited|literature cited|literatur(?:verzeichnis)?|bibliographie"
    r"|referencias|referências|bibliografia|список литературы|литература|参考文献|參考文獻"
    r"|notes and references)[*:.# \t]{0,8}$",
    re.IGNORECASE | re.MULTILINE,
)


def find_declared_doi(sources: Sources) -> str:
    """The DOI in the page's own metadata: Highwire, Dublin Core, PRISM, or JSON-LD of a work; "" without one."""
    values: list[Any] = [value for name in META["doi"] for value in sources.meta.get(name, ())]
    for node in graphs.to_graph(sources.blocks).nodes[:20]:
        if not graphs.is_of("cited", node):
            continue
        for key in ("doi", "identifier", "@id", "sameAs", "url"):
            value = node.get(key)
            values += value if isinstance(value, list) else [value]
    for value in values:
        candidate = (
            (value.get("value") or value.get("@value") or value.get("@id")) if isinstance(value, dict) else value
        )
        if isinstance(candidate, str) and (doi := to_doi(candidate[:400])):
            return doi
    return ""


def find_front_doi(text: str) -> str:
    """The first DOI in the front matter of a text: the first 4000 bytes, and nothing below a heading of references."""
    front = text[:FRONT_MATTER].encode("utf-8", "replace")[:FRONT_MATTER].decode("utf-8", "ignore")
    if references := _REFERENCES.search(front):
        front = front[: references.start()]
    elif len(front) < len(text):
        # A name that the limit cut would be another name.
        front = front[: max(front.rfind(" "), front.rfind("\n")) + 1]
    return find_doi(front)
