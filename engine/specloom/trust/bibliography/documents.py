"""A bibliography as a document: told which format it has, read entry by entry, and what could not be read reported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specloom.faults import Fault
from specloom.trust.bibliography.bibtex import parse_fields
from specloom.trust.bibliography.bibtex_blocks import ENTRY_START, split_bibtex
from specloom.trust.bibliography.csl import parse_item, split_csl
from specloom.trust.bibliography.entry import Entry
from specloom.trust.bibliography.ris import parse_record, split_ris

FORMATS = ("csl-json", "ris", "bibtex")
LONGEST_DOCUMENT = 1_000_000
# The parser of BibTeX takes time that grows with the square of what is broken; whole bibliographies have fewer entries.
MOST_BIBTEX_ENTRIES = 5000
_RIS_START = re.compile(r"^\s*TY\s{0,4}-", re.MULTILINE)
_RIS_LINE = re.compile(r"\s*[A-Z][A-Z0-9]\s{1,4}-\s")
_BIBTEX_START = re.compile(r"^\s*@\s*[A-Za-z]+\s*[{(]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Problem:
    """One entry that could not be read: its place in the document (from 1), its line, and why.

    In CSL-JSON that is whole, the line is that of the item in the list.
    """

    index: int
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a document holds: its format (one of FORMATS), its entries in order, and what is wrong with the others."""

    format: str
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]


def parse_bibliography(text: str, format: str = "auto") -> Parsed:  # noqa: A002  the name of the tool's argument
    """The entries of a document in CSL-JSON, RIS or BibTeX.

    One bad entry is a problem of its own and never loses the others. An entry needs a title, an address, a DOI or an
    author; one with a DOI and no address gets the address of the DOI. Raises a `validation` fault for a document whose
    format cannot be told, that is too long, or that holds no entry of the named format.
    """
    found = find_format(text, format)
    entries: list[Entry] = []
    problems: list[Problem] = []
    for index, (line, entry) in enumerate(_read(text, found), 1):
        if isinstance(entry, str):
            problems.append(Problem(index, line, entry))
        elif not (entry.title or entry.url or entry.doi or entry.authors):
            problems.append(Problem(index, line, "the entry has no title, address, DOI or author"))
        else:
            entries.append(replace(entry, url=entry.url or (f"https://doi.org/{entry.doi}" if entry.doi else "")))
    if not entries and not problems:
        raise Fault("validation", f"the bibliography holds no entry in the format {found}")
    return Parsed(found, tuple(entries), tuple(problems))


def find_format(text: str, format: str = "auto") -> str:  # noqa: A002  the name of the tool's argument
    """The format in which a document is read, one of FORMATS; a `validation` fault where it is not to be read."""
    if len(text) > LONGEST_DOCUMENT:
        raise Fault("validation", f"the bibliography is longer than {LONGEST_DOCUMENT} characters; split it")
    found = detect_format(text) if format in ("auto", "") else format
    if found not in FORMATS:
        known = ", ".join(FORMATS)
        if format in ("auto", ""):
            raise Fault("validation", f"the bibliography is none of {known}; name its format or pass entries instead")
        raise Fault("validation", f"unknown bibliography format {format!r}; use auto, {known}")
    if found == "bibtex" and len(ENTRY_START.findall(text)) > MOST_BIBTEX_ENTRIES:
        raise Fault("validation", f"the bibliography has more than {MOST_BIBTEX_ENTRIES} entries; split it")
    return found


def split_records(text: str, format: str = "auto") -> Iterator[tuple[int, Any, str]]:  # noqa: A002
    """The records of a document as they stand there: line, value, and "" or what is wrong with the record.

    A value is an item of CSL-JSON, or the raw fields of BibTeX by name, all texts, with `type` and `key`.
    """
    found = find_format(text, format)
    if found == "ris":
        raise Fault("validation", "records of RIS have no fields by name; give the bibliography as CSL-JSON or BibTeX")
    yield from split_csl(text) if found == "csl-json" else split_bibtex(text)


def detect_format(text: str) -> str:
    """The format of a document by how it begins and what stands in it, "" when none fits."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("[", "{")):
        return "csl-json"
    if start.startswith("@"):
        return "bibtex"
    if _RIS_START.search(text) or _RIS_LINE.match(start):
        return "ris"
    return "bibtex" if _BIBTEX_START.search(text) else ""


def _read(text: str, format_: str) -> Iterator[tuple[int, Entry | str]]:
    if format_ == "csl-json":
        for line, item, problem in split_csl(text):
            yield line, problem or parse_item(item)
    elif format_ == "ris":
        for line, tags, problem in split_ris(text):
            # A record that nothing ends is still a record.
            yield line, parse_record(tags) if tags else problem or "the record is empty"
    else:
        for line, fields, problem in split_bibtex(text):
            yield line, problem or parse_fields(fields)


def unique_by_address(entries: Sequence[Entry]) -> list[Entry]:
    """The entries that have an address, the first of those that share one."""
    return list({entry.url: entry for entry in reversed(entries) if entry.url}.values())[::-1]
