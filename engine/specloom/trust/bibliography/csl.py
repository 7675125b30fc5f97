"""CSL-JSON, the format of citation processors: https://docs.citationstyles.org/en/stable/specification.html."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from specloom.trust.bibliography.entry import KINDS, Entry, Issued, normalize, parse_issued, to_issued
from specloom.trust.bibliography.names import Name, parse_name, parse_names

# Types of CSL, and of registries that use its fields, that are no kinds of an entry themselves.
_KINDS = {
    "article": "document",
    "article-magazine": "article-journal",
    "article-newspaper": "article-journal",
    "journal-article": "article-journal",
    "proceedings-article": "paper-conference",
    "book-chapter": "chapter",
    "monograph": "book",
    "edited-book": "book",
    "dissertation": "thesis",
    "posted-content": "document",
    "post": "webpage",
    "post-weblog": "webpage",
}
Item = tuple[int, Any]


def to_csl(entries: Iterable[Entry]) -> str:
    """Entries with keys as a JSON array."""
    return json.dumps([_to_item(entry) for entry in entries], ensure_ascii=False, indent=2)


def _to_item(entry: Entry) -> dict[str, Any]:
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
            end = _find_next(text, at + 1)
            if end < 0:
                return
            at = end
            continue
        yield line, item, ""
        at = text.find("{", end)


def _find_next(text: str, start: int) -> int:
    import re

    found = re.compile(r"\}\s*,\s*(\{)|\n\s{0,2}(\{)").search(text, start)
    return -1 if found is None else found.start(1) if found[1] else found.start(2)


def parse_item(item: object) -> Entry | str:
    """The entry of one item, or a sentence that says why it has none."""
    if not isinstance(item, Mapping):
        return f"an item has to be an object, and this is {type(item).__name__}"
    kind = _to_text(item.get("type"))
    kind = _KINDS.get(kind, kind)
    return normalize(
        Entry(
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
        numbers = [_to_number(part) for part in first[:3]]
        return to_issued(*(*numbers, 0, 0, 0)[:3])
    return parse_issued(_to_text(value.get("raw")) or _to_text(value.get("literal")))


def _to_number(value: object) -> int:
    text = _to_text(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0
