"""CSL-JSON, the format of citation processors: https://docs.citationstyles.org/en/stable/specification.html."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from specloom.domains.text import Name, parse_name, parse_names

from .entry import KINDS, BibliographyEntry, Issued, clean, normalize, parse_issued, read_names, to_issued

_KINDS = read_names("csl")[1]


def to_csl(entries: Iterable[BibliographyEntry]) -> str:
    """Entries with keys as a JSON array."""
    return json.dumps([_to_item(entry) for entry in entries], ensure_ascii=False, indent=2)


def _to_item(entry: BibliographyEntry) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": entry.key,
        "type": entry.kind,
        "title": entry.title,
        "author": [_to_author(name) for name in entry.authors],
        "issued": {"date-parts": [list(entry.issued)]} if entry.issued else None,
        "container-title": entry.container,
        "publisher": entry.publisher,
        "volume": entry.volume,
        "issue": entry.issue,
        "page": entry.pages,
        "DOI": entry.doi,
        "ISBN": entry.isbn,
        "URL": entry.url,
    }
    return {name: value for name, value in fields.items() if value}


def _to_author(name: Name) -> dict[str, str]:
    if not name.given:
        return {"literal": name.family}
    return {"family": name.family, "given": name.given} | ({"suffix": name.suffix} if name.suffix else {})


def split_csl(text: str) -> Iterator[tuple[int, Any, str]]:
    """The items of a document: line, value, and "" or why it is no JSON.

    A document that is broken in one place is read object by object, so that the others are not lost.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        yield from _salvage(text)
        return
    if isinstance(document, Mapping):
        inner = document.get("items", document.get("references"))
        document = inner if isinstance(inner, list) else [document]
    for at, item in enumerate(document if isinstance(document, list) else [document]):
        yield at + 1, item, ""


_NEXT_ITEM = re.compile(r"\}\s*,\s*(\{)|\n\s{0,2}(\{)")


def _salvage(text: str) -> Iterator[tuple[int, Any, str]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        line = text.count("\n", 0, at) + 1
        try:
            item, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield line, None, getattr(error, "msg", "too deeply nested")
            # The next object that begins a line or follows another is the next item; what lies inside is lost.
            following = _NEXT_ITEM.search(text, at + 1)
            if following is None:
                return
            at = following.start(following.lastindex or 0)
            continue
        yield line, item, ""
        at = text.find("{", end)


def parse_item(item: object) -> BibliographyEntry | str:
    """The entry of one item, or a sentence that says why it has none."""
    if not isinstance(item, Mapping):
        return f"an item has to be an object, and this is {type(item).__name__}"
    kind = _to_text(item.get("type"))
    kind = _KINDS.get(kind, kind)
    return normalize(
        BibliographyEntry(
            title=_to_text(item.get("title")),
            authors=tuple(_parse_authors(item.get("author"))),
            container=_to_text(item.get("container-title")),
            issued=_parse_date(item.get("issued")),
            doi=_to_text(item.get("DOI")),
            url=_to_text(item.get("URL")),
            kind=kind if kind in KINDS else "document",
            publisher=_to_text(item.get("publisher")),
            volume=_to_text(item.get("volume")),
            issue=_to_text(item.get("issue")),
            pages=_to_text(item.get("page")),
            isbn=_to_text(item.get("ISBN")),
            key=_to_text(item.get("id")),
        )
    )


def _to_text(value: object) -> str:
    """A field as text; registries give lists where processors give the first of them."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ""
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and value:
        return _to_text(value[0])
    return ""


def _parse_authors(value: object) -> Iterator[Name]:
    if isinstance(value, str):
        yield from parse_names(value)
        return
    for author in value if isinstance(value, list) else [value]:
        if isinstance(author, str):
            name = parse_name(author)
            if name is not None:
                yield name
        elif isinstance(author, Mapping):
            family, given = _to_text(author.get("family")), _to_text(author.get("given"))
            # A dropping particle stands behind the given names of an inverted name, the other belongs to the family.
            family = f"{_to_text(author.get('non-dropping-particle'))} {family}".strip()
            given = f"{given} {_to_text(author.get('dropping-particle'))}".strip()
            literal = _to_text(author.get("literal")) or _to_text(author.get("name"))
            if family and given:
                yield Name(family, given, _to_text(author.get("suffix")))
            elif family or given or literal:
                yield Name(literal or family or given)


def _parse_date(value: object) -> Issued:
    if isinstance(value, str | int):
        return parse_issued(str(value))
    if not isinstance(value, Mapping):
        return ()
    parts = value.get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts else None
    if isinstance(first, Sequence) and not isinstance(first, str):
        texts = map(_to_text, first[:3])
        numbers = [int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0 for text in texts]
        return to_issued(*(*numbers, 0, 0, 0)[:3])
    return parse_issued(_to_text(value.get("raw")) or _to_text(value.get("literal")))


# --- RIS, the tagged format of reference managers: https://en.wikipedia.org/wiki/RIS_(file_format) --------------------
# Read by hand: the format is one tag a line, and files are seldom as strict as a library would have them (one blank
# before the bar, none behind it, wrapped lines, a record that nothing ends).


_RIS_TYPES, _RIS_KINDS = read_names("ris")
_LINE = re.compile(r"^\s*([A-Z][A-Z0-9])\s{0,4}-(?:\s(.*))?$")

Fields = list[tuple[str, str]]


def to_ris(entries: Iterable[BibliographyEntry]) -> str:
    """Entries with keys as RIS records, parted by blank lines; no value can hold a line break, so none makes a tag."""
    return "\n\n".join("\n".join(f"{tag}  - {value}".rstrip() for tag, value in _to_lines(entry)) for entry in entries)


def _to_lines(entry: BibliographyEntry) -> Fields:
    first, _, last = entry.pages.partition("-")
    lines = [("TY", _RIS_TYPES[entry.kind]), ("ID", entry.key), ("TI", entry.title)]
    # A comma at the end says that the name is not to be turned round.
    lines += [
        ("AU", ", ".join(filter(None, (name.family, name.given, name.suffix))) if name.given else f"{name.family},")
        for name in entry.authors
    ]
    lines += [
        ("PY", str(entry.issued[0]) if entry.issued else ""),
        ("DA", _to_date(entry.issued) if len(entry.issued) > 1 else ""),
        ("T2", entry.container),
        ("PB", entry.publisher),
        ("VL", entry.volume),
        ("IS", entry.issue),
        ("SP", first),
        ("EP", last),
        ("SN", entry.isbn),
        ("DO", entry.doi),
        ("UR", entry.url),
    ]
    return [*((tag, " ".join(value.split())) for tag, value in lines if value), ("ER", "")]


def _to_date(issued: Issued) -> str:
    year, month, day = (*issued, 0, 0)[:3]
    return f"{year:04}/{month:02}/{f'{day:02}' if day else ''}/"


def split_ris(text: str) -> Iterator[tuple[int, Fields, str]]:
    """The records of a document: line, tags in order, and "" or what is wrong with the record."""
    fields: Fields = []
    start, problem = 1, ""
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line.lstrip("\ufeff"))
        if match is None:
            if line.strip() and fields:
                # A long value goes on in the next line.
                tag, value = fields[-1]
                fields[-1] = (tag, f"{value} {line.strip()}")
            elif line.strip():
                problem = problem or "text before the first tag"
                start = number
            continue
        tag, value = match[1], (match[2] or "").strip()
        if tag == "TY" and fields:
            yield start, fields, problem or "the record has no ER line"
            fields, problem = [], ""
        if not fields:
            start = number
        if tag == "ER":
            yield start, fields, problem
            fields, problem = [], ""
        else:
            fields.append((tag, value))
    if fields or problem:
        yield start, fields, problem or "the last record has no ER line"


def parse_record(fields: Fields) -> BibliographyEntry:
    """The entry of the tags of one record; unknown tags are left out."""
    first: dict[str, str] = {}
    for tag, value in fields:
        if value:
            first.setdefault(tag, value)
    pages = "-".join(filter(None, (first.get("SP", ""), first.get("EP", ""))))
    return normalize(
        BibliographyEntry(
            title=_pick(first, "TI", "T1", "CT", "BT"),
            authors=tuple(name for tag, value in fields if tag in ("AU", "A1") and (name := _parse_author(value))),
            container=_pick(first, "T2", "JO", "JF", "JA", "J2"),
            issued=parse_issued(_pick(first, "DA", "PY", "Y1").rstrip("/ ")) or parse_issued(_pick(first, "PY", "Y1")),
            doi=_pick(first, "DO"),
            url=_pick(first, "UR", "L1", "L2"),
            kind=_RIS_KINDS.get(first.get("TY", "").upper(), "document"),
            publisher=_pick(first, "PB"),
            volume=_pick(first, "VL"),
            issue=_pick(first, "IS"),
            pages=pages,
            isbn=_pick(first, "SN"),
            key=_pick(first, "ID"),
        )
    )


def _pick(first: dict[str, str], *tags: str) -> str:
    return next((first[tag] for tag in tags if tag in first), "")


def _parse_author(value: str) -> Name | None:
    value = clean(value)
    if value.endswith(","):
        return Name(value[:-1].strip())
    parts = [part.strip() for part in value.split(",")]
    if len(parts) in (2, 3) and all(parts):
        return Name(parts[0], parts[1], parts[2] if len(parts) == 3 else "")
    return parse_name(value)
