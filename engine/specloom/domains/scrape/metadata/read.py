"""Who wrote a page, what it is called, when it appeared: one reader for the HTML of every tier.

Where sources disagree, the one that is written for machines that cite wins: JSON-LD, Highwire `citation_*` (the tags
that scholarly indexes ask publishers for), Dublin Core, OpenGraph, other meta elements, microdata, visible markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from specloom.core import dataclass
from specloom.domains.text import find_doi, to_doi

from . import jsonld as graphs
from .fields import VOCABULARY, find_in_path, to_iso, to_names, to_text
from .sources import Marks, Sources, find_authors, find_dates, find_marks, is_of, microdata, to_line, to_path

META: Final = VOCABULARY["meta"]
_LONGEST_DESCRIPTION: Final = 1000
_LONGEST_TITLE: Final = 500
_MOST_CUTS: Final = 8
"""Places where a title may end."""
_MOST_LINKS: Final = 20
"""Links to the home page that are read."""

_SEPARATOR: Final = re.compile(
    r"(?<!\s)\s++(?:[|–—»«·•:]++|-{1,2}+)\s++|(?<=\S)[|»]\s*+|(?:(?<!\s)\s++)?_\s*+(?=[^\W_]++$)"
)

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
    reader = MetadataReader(sources, url)
    site = reader.find_site()
    authors = reader.find_authors()
    published, modified = reader.find_dates()
    return Metadata(
        title=reader.find_title(site),
        authors=authors,
        author="; ".join(authors),
        site=site,
        published=published,
        modified=modified,
        language=reader.find_language(),
        description=reader.find_description(),
        doi=find_declared_doi(sources),
    )


class MetadataReader:
    """One page's sources, asked in the order in which they are believed."""

    def __init__(self, sources: Sources, url: str) -> None:
        self.sources = sources
        self.url = url
        self.path = to_path(url or sources.canonical)
        # A home page has bylines and dates too, of the pages that it leads to.
        self.is_home = bool(url) and self.path.strip("/") == "" and "?" not in url
        titles = (sources.first(*META["title"]), sources.heading, sources.title)
        addresses = (url, sources.canonical, sources.first("og:url"))
        self.work = graphs.find_main(sources.graph, addresses=addresses, titles=titles)
        self.page = graphs.find_page(sources.graph)

    @cached_property
    def marks(self) -> Marks:
        """The marked elements, found when they are first asked for: most pages answer before."""
        return find_marks(self.sources.attributes)

    @cached_property
    def items(self) -> dict[str, list[str]]:
        """The microdata, likewise."""
        return microdata(self.marks)

    def _texts(self, *names: str) -> Iterator[str]:
        """What the work and the page say under the first of these names."""
        return (graphs.text(node, *names) for node in (self.work, self.page))

    def _first_date(self, texts: Iterable[str], kind: str) -> str:
        declared = (value for name in META[kind] for value in self.sources.meta.get(name, ())[:1])
        return next((day for text in (*texts, *declared) if (day := to_iso(text))), "")

    def _marked_date(self, *names: str) -> str:
        return next((to_iso(values[0]) for name in names if (values := self.items.get(name))), "")

    def find_authors(self) -> tuple[str, ...]:
        """Who wrote the page."""
        meta, graph = self.sources.meta, self.sources.graph

        def read() -> Iterator[tuple[Iterable[str], bool]]:
            for node in (self.work, self.page):
                if node is not None:
                    yield graphs.names(graph, node.get("author") or node.get("creator")), True
            for name in META["author"]:
                # Several in one element are told apart by semicolons; commas part family and given names.
                yield (part for value in meta.get(name, ()) for part in value.split(";")), False
            for name in META["author_lists"]:
                yield meta.get(name, ()), True
            yield self.items.get("author") or self.items.get("creator") or (), True
            yield () if self.is_home else find_authors(self.marks), False

        return next((authors for values, split in read() if (authors := to_names(values, split=split))), ())

    def find_site(self) -> str:
        """What the site is called."""
        sources = self.sources

        def read() -> Iterator[str]:
            yield sources.first(*META["site"])
            yield graphs.find_site(sources.graph)
            if self.work is not None:
                yield next(graphs.names(sources.graph, self.work.get("publisher")), "")
            yield sources.first(*META["site_last"])
            yield "" if self.is_home else find_home(sources, self.url)

        return next((site for each in read() if (site := to_text(each, 200)) and "://" not in site), "")

    def find_dates(self) -> tuple[str, str]:
        """When the page was published and changed."""
        published = self._first_date(
            self._texts("datePublished", "dateCreated", "uploadDate", "datePosted"), "published"
        )
        modified = self._first_date(self._texts("dateModified"), "modified")
        if not published:
            published = self._marked_date("datePublished", "dateCreated")
            modified = modified or self._marked_date("dateModified")
        if not published and not self.is_home:
            published, changed = find_dates(self.marks, self.sources.times)
            modified = modified or changed
        return published or find_in_path(self.path), modified

    def find_language(self) -> str:
        """The language as a tag of BCP 47."""
        declared = (self.sources.first(name) for name in META["language"])
        for value in (self.sources.language, graphs.text(self.work, "inLanguage"), *declared):
            match = _TAG.fullmatch(value.strip())
            if match and match[1].lower() not in ("und", "mul", "zxx", "xx"):
                script, region = (match[2] or "").title(), (match[3] or "").upper()
                return "-".join(filter(None, (match[1].lower(), script, region)))
        return ""

    def find_description(self) -> str:
        """What the page says that it is about."""
        declared = [self.sources.first(name) for name in META["description"]]
        texts = (*declared, graphs.text(self.work, "description", "abstract"))
        return next((text for each in texts if (text := to_text(each, _LONGEST_DESCRIPTION))), "")

    def find_title(self, site: str) -> str:
        """What the page is called, without the name of its site."""
        sources = self.sources
        declared = to_text(sources.first(*META["title"]), _LONGEST_TITLE)
        headline = _find_headline(self.work, (declared, sources.title, sources.heading))[:_LONGEST_TITLE]
        is_cut = headline.endswith(("...", "…")) and (start := headline.rstrip(".… ").casefold())
        if is_cut and declared.casefold().startswith(start):
            headline = declared

        def read() -> Iterator[str]:
            yield headline
            yield declared
            yield sources.title
            yield from self.items.get("headline", ())[:1]
            yield graphs.text(self.page, "headline", "name")
            yield sources.heading

        titles = (_without_site(to_text(title, _LONGEST_TITLE), site, sources.heading) for title in read())
        return next((title for each in titles if (title := each.strip(" |–—-·•»«:"))), "")


def _find_headline(main: graphs.Node | None, titles: tuple[str, ...]) -> str:
    """What a work says it is called: its headline, unless only its name is one of these titles or begins one. What an
    encyclopedia gives for a headline is a description."""
    headline, name = graphs.text(main, "headline"), graphs.text(main, "name")
    if not (headline and name):
        return headline or name
    keys = tuple(map(graphs.to_key, titles))
    named, headed = graphs.to_key(name), graphs.to_key(headline)
    is_name = any(named and title.startswith(named) for title in keys)
    return name if is_name and not any(headed and title.startswith(headed) for title in keys) else headline


def _without_site(title: str, site: str, heading: str) -> str:
    """A title without what stands around the heading of the page in it, or without the site's name at either end."""
    cuts = list(_SEPARATOR.finditer(title))
    if not cuts:
        return title
    key, heading_key = graphs.to_key(site), graphs.to_key(heading)
    if heading_key and heading_key != key:
        for start in (0, *(cut.end() for cut in cuts[:_MOST_CUTS])):
            for cut in cuts[:_MOST_CUTS]:
                # A heading at the end may be the name of a site that is not known.
                if cut.start() > start and graphs.to_key(part := title[start : cut.start()]) == heading_key:
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
    links = [link for link, address in sources.attributes.valued["href"] if address in homes and link.tag == "a"]
    return next((end for link in links[:_MOST_LINKS] if (end := keys.get(graphs.to_key(to_line(link))))), "")


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
    """The DOI that a page says of itself in metadata, JSON-LD of a work, or its canonical address; "" without one."""
    values: list[Any] = [value for name in META["doi"] for value in sources.meta.get(name, ())]
    for node in sources.graph.nodes[:20]:
        if not is_of("cited", node):
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
    # An address has the DOI behind a path of the publisher's; what is asked for in it may be another work.
    address = sources.canonical[:400].partition("?")[0]
    return find_doi(address) if "://" in address else ""


def find_front_doi(text: str) -> str:
    """The first DOI in the front matter of a text: the first 4000 bytes, and nothing below a heading of references."""
    front = text[:FRONT_MATTER].encode("utf-8", "replace")[:FRONT_MATTER].decode("utf-8", "ignore")
    if references := _REFERENCES.search(front):
        front = front[: references.start()]
    elif len(front) < len(text):
        # A name that the limit cut would be another name.
        front = front[: max(front.rfind(" "), front.rfind("\n")) + 1]
    return find_doi(front)
