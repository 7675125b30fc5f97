"""EndNote XML, read: the export of EndNote and of programs that write it for it.

No maintained library reads it; the tree is parsed by lxml without entities or network, element by element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from specloom.domains.text import Name

from .dates import find_season, with_season
from .entry import BibliographyEntry, normalize, parse_issued, read_names
from .tagged import parse_inverted

ENDNOTE_START = re.compile(
    r"(?<!\s)\s*+(?:<\?xml[^>]{0,200}\?>\s*+)?(?:<!DOCTYPE[^>]{0,300}>\s*+)?<(?:xml|records|record)\b"
)
_KINDS = read_names("endnote", ",")[1]


def split_endnote(text: str) -> Iterator[tuple[int, Any, str]]:
    """The records of a document: line, element, and "" or why what follows cannot be read."""
    from lxml import etree

    parser = etree.XMLPullParser(
        events=("end",), tag="record", resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False
    )
    try:
        parser.feed(re.sub(r"^\s*<\?xml[^>]{0,200}\?>", "", text.lstrip("\ufeff")))
        parser.close()
    except etree.XMLSyntaxError as error:
        yield from _to_records(parser)
        reason = " ".join(str(error.msg or error).split())
        yield error.lineno or 1, None, f"the XML is broken here, and what follows is lost: {reason}"
        return
    yield from _to_records(parser)


def _to_records(parser: Any) -> Iterator[tuple[int, Any, str]]:
    """The records that a parser has come to the end of."""
    for _, record in parser.read_events():
        yield record.sourceline or 1, record, ""


def parse_endnote(record: Any) -> BibliographyEntry:
    """The entry of one record; unknown elements are left out."""

    def text(path: str) -> str:
        return next((found for each in record.iterfind(path) if (found := _to_text(each))), "")

    def people(path: str) -> tuple[Name, ...]:
        return tuple(name for each in record.iterfind(path) if (name := parse_inverted(_to_text(each))))

    kind_element = record.find("ref-type")
    named = kind_element.get("name", "") if kind_element is not None else ""
    kind = _KINDS.get(named.lower(), "document" if named else "article-journal")
    container = text("titles/secondary-title") or text("periodical/full-title")
    dated = text("dates/pub-dates/date")
    year = text("dates/year")
    issued = parse_issued(f"{dated} {year}") if dated and year not in dated else parse_issued(dated or year)
    number = text("isbn")
    is_isbn = sum(map(str.isdigit, number.partition("\r")[0])) >= 9
    is_book = kind == "book"
    return normalize(
        BibliographyEntry(
            title=text("titles/title"),
            short_title=text("titles/short-title"),
            authors=people("contributors/authors/author"),
            editors=people("contributors/secondary-authors/author"),
            translators=people("contributors/subsidiary-authors/author"),
            container="" if is_book else container,
            short_container=text("titles/alt-title") or text("periodical/abbr-1"),
            series=container if is_book else text("titles/tertiary-title"),
            issued=issued or parse_issued(year),
            dated=with_season(issued or parse_issued(year), find_season(dated)),
            doi=text("electronic-resource-num"),
            url=text("urls/related-urls/url"),
            kind=kind,
            genre=text("work-type"),
            publisher=text("publisher"),
            place=text("pub-location"),
            edition=text("edition"),
            volume=text("volume"),
            issue=text("number"),
            number=text("report-number") or text("custom7"),
            pages=text("pages"),
            isbn=number.split()[0] if is_isbn and number else "",
            issn="" if is_isbn or not number else number.split()[0],
            language=text("language"),
            abstract=text("abstract"),
            note=text("notes"),
            annote=text("research-notes"),
            keywords=tuple(_to_text(each) for each in record.iterfind("keywords/keyword")),
            files=tuple(_to_text(each) for each in record.iterfind("urls/pdf-urls/url")),
            key=text("label"),
        )
    )


def _to_text(element: Any) -> str:
    """The text of an element, the pieces of which may stand in styles."""
    return "".join(element.itertext()).strip()
