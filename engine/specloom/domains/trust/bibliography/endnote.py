"""EndNote XML, written and read: what EndNote exports and imports, and programs that write it for it.

No maintained library reads it; the tree is parsed by lxml without entities or network, element by element.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from specloom.domains.text import Name

from .dates import find_season, read_date, season_of, with_season
from .entry import KIND_TABLE, MONTHS, VERSIONED, BibliographyEntry, find_path, normalize, parse_issued, read_names
from .tagged import parse_inverted, to_inverted

ENDNOTE_START = re.compile(
    r"(?<!\s)\s*+(?:<\?xml[^>]{0,200}\?>\s*+)?(?:<!DOCTYPE[^>]{0,300}>\s*+)?<(?:xml|records|record)\b"
)
_NAMES, _KINDS = read_names("endnote", ",")


def to_endnote(entries: Iterable[BibliographyEntry]) -> str:
    """Entries with keys as an XML document."""
    from lxml import etree

    root = etree.Element("xml")
    records = etree.SubElement(root, "records")
    for entry in entries:
        row = KIND_TABLE[entry.kind]
        row = {**KIND_TABLE.get(row.get("like", ""), {}), **row}
        name = " ".join(word[:1].upper() + word[1:] for word in _NAMES[entry.kind].split())
        record = etree.SubElement(records, "record")
        etree.SubElement(record, "ref-type", {"name": name}).text = str(row["endnote_number"])
        _add(record, _to_tree(entry))
    return etree.tostring(root, encoding="unicode", pretty_print=True).rstrip()


def _to_tree(entry: BibliographyEntry) -> dict[str, Any]:
    """The elements of a record: texts, lists of texts, and elements in them by their names."""
    year, month, day = (*entry.issued, 0, 0, 0)[:3]
    is_book = entry.kind == "book"
    date = f"{MONTHS[month - 1]}{f' {day}' if day else ''}" if month else season_of(entry.date)
    return {
        "contributors": {
            "authors": {"author": [*map(to_inverted, entry.authors)]},
            "secondary-authors": {"author": [*map(to_inverted, entry.editors)]},
            "subsidiary-authors": {"author": [*map(to_inverted, entry.translators)]},
        },
        "titles": {
            "title": entry.title,
            "secondary-title": entry.series if is_book else entry.container,
            "tertiary-title": "" if is_book else entry.series,
            "short-title": entry.short_title,
            "alt-title": entry.short_container,
        },
        "pages": entry.pages,
        "volume": entry.volume,
        "number": entry.issue,
        "report-number": entry.number,
        "edition": entry.edition or entry.version,
        "keywords": {"keyword": list(entry.keywords)},
        "dates": {"year": str(year) if year else "", "pub-dates": {"date": date}},
        "pub-location": entry.place,
        "publisher": entry.publisher,
        "isbn": [number for number in (entry.isbn, entry.issn) if number],
        "accession-num": entry.pmid or entry.pmcid or (entry.arxiv and f"arXiv:{entry.arxiv}"),
        "electronic-resource-num": entry.doi,
        "abstract": entry.abstract,
        "notes": entry.note,
        # EndNote ends lines so.
        "research-notes": entry.annote.replace("\n", "\r"),
        "work-type": entry.genre,
        "urls": {"related-urls": {"url": entry.url}, "pdf-urls": {"url": [*map(find_path, entry.files)]}},
        "access-date": entry.accessed,
        "label": entry.key,
        "language": entry.language,
    }


def _add(parent: Any, tree: Mapping[str, Any]) -> None:
    from lxml import etree

    for name, value in tree.items():
        if isinstance(value, Mapping):
            if any(map(_holds_text, value.values())):
                _add(etree.SubElement(parent, name), value)
            continue
        for text in [value] if isinstance(value, str) else value:
            if text:
                etree.SubElement(parent, name).text = text


def _holds_text(value: Any) -> bool:
    return any(map(_holds_text, value.values())) if isinstance(value, Mapping) else bool(value)


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
    # Programs put both numbers into one element, a line each.
    numbers = [number for each in record.iterfind("isbn") for number in _to_text(each).splitlines() if number.strip()]
    isbn = next((number for number in numbers if _count_digits(number) >= 9), "")
    issn = next((number for number in numbers if _count_digits(number) < 9), "")
    is_book, is_versioned = kind == "book", kind in VERSIONED
    accession = text("accession-num")
    accessed, accessed_dated = read_date(text("access-date"))
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
            edition="" if is_versioned else text("edition"),
            version=text("edition") if is_versioned else "",
            accessed=BibliographyEntry(issued=accessed, dated=accessed_dated).date,
            volume=text("volume"),
            issue=text("number"),
            number=text("report-number") or text("custom7"),
            pages=text("pages"),
            isbn=isbn.split()[0] if isbn else "",
            issn=issn.split()[0] if issn else "",
            arxiv=accession[6:] if accession[:6].lower() == "arxiv:" else "",
            pmid=accession if accession.isdecimal() and len(accession) <= 9 else "",
            pmcid=accession if accession[:3].upper() == "PMC" else "",
            language=text("language"),
            abstract=text("abstract"),
            note=text("notes"),
            annote=text("research-notes"),
            keywords=tuple(_to_text(each) for each in record.iterfind("keywords/keyword")),
            files=tuple(_to_text(each) for each in record.iterfind("urls/pdf-urls/url")),
            key=text("label"),
        )
    )


def _count_digits(number: str) -> int:
    return sum(map(str.isdigit, number))


def _to_text(element: Any) -> str:
    """The text of an element, the pieces of which may stand in styles."""
    return "".join(element.itertext()).strip()
