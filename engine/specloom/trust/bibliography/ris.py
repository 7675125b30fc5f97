"""RIS, the tagged format of reference managers: https://en.wikipedia.org/wiki/RIS_(file_format).

Read by hand: the format is one tag a line, and files are seldom as strict as a library would have them (one blank
before the bar, none behind it, wrapped lines, a record that nothing ends).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from specloom.trust.bibliography.entry import Entry, Issued, clean, normalize, parse_issued
from specloom.trust.bibliography.names import Name, parse_name

_TYPES = {
    "article-journal": "JOUR", "paper-conference": "CONF", "chapter": "CHAP", "book": "BOOK", "thesis": "THES",
    "report": "RPRT", "dataset": "DATA", "patent": "PAT", "webpage": "ELEC", "document": "GEN",
}  # fmt: skip
_KINDS = {tag: kind for kind, tag in _TYPES.items()} | {
    "CPAPER": "paper-conference", "MGZN": "article-journal", "NEWS": "article-journal", "JFULL": "article-journal",
    "EJOUR": "article-journal", "EBOOK": "book", "EDBOOK": "book", "ECHAP": "chapter", "BLOG": "webpage",
}  # fmt: skip
_LINE = re.compile(r"^\s*([A-Z][A-Z0-9])\s{0,4}-(?:\s(.*))?$")

Fields = list[tuple[str, str]]


def to_ris(entries: Iterable[Entry]) -> str:
    """Entries with keys as RIS records, parted by blank lines; no value can hold a line break, so none makes a tag."""
    return "\n\n".join("\n".join(f"{tag}  - {value}".rstrip() for tag, value in _to_lines(entry)) for entry in entries)


def _to_lines(entry: Entry) -> Fields:
    first, _, last = entry.pages.partition("-")
    lines = [("TY", _TYPES[entry.kind]), ("ID", entry.key), ("TI", entry.title)]
    lines += [("AU", _to_author(name)) for name in entry.authors]
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


def _to_author(name: Name) -> str:
    # A comma at the end says that the name is not to be turned round.
    return ", ".join(filter(None, (name.family, name.given, name.suffix))) if name.given else f"{name.family},"


def _to_date(issued: Issued) -> str:
    year, month, day = (*issued, 0, 0)[:3]
    return f"{year:04}/{month:02}/{f'{day:02}' if day else ''}/"


def split_ris(text: str) -> Iterator[tuple[int, Fields, str]]:
    """The records of a document: line, tags in order, and "" or what is wrong with the record."""
    fields: Fields = []
    start, problem = 1, ""
    for number, line in enumerate(text.splitlines(), 1):
        found = _LINE.match(line.lstrip("\ufeff"))
        if found is None:
            if line.strip() and fields:
                # A long value goes on in the next line.
                tag, value = fields[-1]
                fields[-1] = (tag, f"{value} {line.strip()}")
            elif line.strip():
                problem = problem or "text before the first tag"
                start = number
            continue
        tag, value = found[1], (found[2] or "").strip()
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


def parse_record(fields: Fields) -> Entry:
    """The entry of the tags of one record; unknown tags are left out."""
    first: dict[str, str] = {}
    for tag, value in fields:
        if value:
            first.setdefault(tag, value)
    pages = "-".join(filter(None, (first.get("SP", ""), first.get("EP", ""))))
    return normalize(
        Entry(
            title=_pick(first, "TI", "T1", "CT", "BT"),
            authors=tuple(name for tag, value in fields if tag in ("AU", "A1") and (name := _parse_author(value))),
            container=_pick(first, "T2", "JO", "JF", "JA", "J2"),
            issued=parse_issued(_pick(first, "DA", "PY", "Y1").rstrip("/ ")) or parse_issued(_pick(first, "PY", "Y1")),
            doi=_pick(first, "DO"),
            url=_pick(first, "UR", "L1", "L2"),
            kind=_KINDS.get(first.get("TY", "").upper(), "document"),
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
