"""One entry of a bibliography in a form that every format can carry, and how loose text is brought into it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, count
from string import ascii_lowercase
from typing import Any

from specloom.core import dataclass, load_table, to_timestamp
from specloom.domains.text import (
    Name,
    invert,
    parse_names,
    strip_markup,
    to_doi,
    to_isbn13,
    to_latin,
)

KIND_TABLE: Mapping[str, Mapping[str, Any]] = load_table(__file__, "kinds.yaml")["kinds"]
KINDS = tuple(KIND_TABLE)
"""The kinds of an entry, named as CSL names them; `document` is what no other fits."""


def read_names(format_: str) -> tuple[dict[str, str], dict[str, str]]:
    """What each kind is called in a format (`bibtex`, `ris`), and the kind of every name that is read there."""
    names = {kind: row[format_] for kind, row in KIND_TABLE.items() if format_ in row}
    return {kind: name.split()[0] for kind, name in names.items()}, invert(names)


_LONGEST_VALUE = 2000
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_ISO = re.compile(r"([12][0-9]{3})(?:[-/]([0-9]{1,2})(?:[-/]([0-9]{1,2}))?)?(?![0-9])(?:[T ].*|/*)?")
_MONTH_YEAR = re.compile(r"([A-Za-z]{3,9})\.?,? ([12][0-9]{3})|([12][0-9]{3}),? ([A-Za-z]{3,9})\.?")
_YEAR = re.compile(r"(?<![0-9])([12][0-9]{3})(?![0-9])")

Issued = tuple[int, ...]
"""() when nothing is known, else (year,), (year, month) or (year, month, day)."""


@dataclass(frozen=True, slots=True)
class BibliographyEntry:
    """What is known about one work; "" and () mean that it is not.

    `container` is the journal, book or site that it appeared in, `doi` the bare name ("10.1000/x"), `key` the cite
    key, which `assign_keys` makes for entries without one.
    """

    title: str = ""
    authors: tuple[Name, ...] = ()
    container: str = ""
    issued: Issued = ()
    doi: str = ""
    url: str = ""
    kind: str = "document"
    publisher: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    isbn: str = ""
    key: str = ""


def clean(text: str) -> str:
    """A value as one line of at most 2000 characters: no tags, entities, controls or marks that change direction."""
    return strip_markup(text[: _LONGEST_VALUE * 5])[:_LONGEST_VALUE].strip()


def parse_issued(text: str) -> Issued:
    """The date in a text as exactly as it says, () when it names no year between 1000 and 2999."""
    text = " ".join(text.split())
    if match := _ISO.fullmatch(text):
        year, month, day = (int(part) if part else 0 for part in match.groups())
        return to_issued(year, month, day)
    # Two instants: a relative date ("2 days ago") would follow the clock, and there is none here.
    first, second = to_timestamp(text, 0.0), to_timestamp(text, 1e9)
    if first and first == second:
        return to_issued(int(first[:4]), int(first[5:7]), int(first[8:10]))
    if match := _MONTH_YEAR.fullmatch(text):
        word, year_text = (match[1], match[2]) if match[1] else (match[4], match[3])
        month = to_month(word)
        return to_issued(int(year_text), month, 0)
    match = _YEAR.search(text)
    return (int(match[1]),) if match else ()


def to_issued(year: int, month: int, day: int) -> Issued:
    """Year, month and day as far as they make sense; 0 stands for unknown."""
    if not 1000 <= year <= 2999:
        return ()
    if not 1 <= month <= 12:
        return (year,)
    return (year, month, day) if 1 <= day <= 31 else (year, month)


def to_month(word: str) -> int:
    """The number of an English month, whole or shortened to three letters or more; 0 for anything else."""
    word = word.capitalize().rstrip(".")
    return next((at for at, month in enumerate(MONTHS, 1) if len(word) >= 3 and month.startswith(word)), 0)


def to_iso(issued: Issued) -> str:
    """`2020`, `2020-03` or `2020-03-09`, "" for ()."""
    return "-".join(f"{part:04}" if at == 0 else f"{part:02}" for at, part in enumerate(issued))


def normalize(entry: BibliographyEntry) -> BibliographyEntry:
    """An entry whose values are the ones that every format gives back: one line each, DOI and ISBN in normal form."""
    doi = to_doi(entry.doi)
    isbn = clean(entry.isbn)
    return BibliographyEntry(
        title=clean(entry.title),
        authors=tuple(name for name in map(_normalize_name, entry.authors) if name.family),
        container=clean(entry.container),
        issued=to_issued(*(*entry.issued, 0, 0, 0)[:3]),
        doi=doi,
        url=to_url(entry.url),
        kind=entry.kind if entry.kind in KINDS else "document",
        publisher=clean(entry.publisher),
        volume=clean(entry.volume),
        issue=clean(entry.issue),
        pages=re.sub(r"(?:(?<!\s)\s++)?[-‐-―]++\s*+", "-", clean(entry.pages)).strip("- "),
        isbn=to_isbn13(isbn) or isbn,
        key=re.sub(r"[^A-Za-z0-9:._/+-]", "", entry.key)[:100],
    )


def _normalize_name(name: Name) -> Name:
    family, given, suffix = (clean(part).strip(" ,") for part in (name.family, name.given, name.suffix))
    if not family or not given:
        # Without a given name it is one string, which may have commas ("Acme, Inc.").
        return Name(family or given)
    return Name(*(" ".join(part.replace(",", " ").split()) for part in (family, given, suffix)))


def to_url(text: str) -> str:
    """A web address without blanks and controls, "" for anything else."""
    address = re.sub(r"[\s\x00-\x1f\x7f]", "", text)[:_LONGEST_VALUE]
    return address if re.match(r"https?://[^/?#]", address, re.IGNORECASE) else ""


def from_source(source: Mapping[str, str]) -> BibliographyEntry:
    """The entry of a source that a session or a caller names: url, title, author, site, date and doi, any of them "".

    What has a DOI is taken for a journal article and the rest for a web page, since nothing else is known.
    """
    doi = to_doi(source.get("doi", ""))
    return normalize(
        BibliographyEntry(
            title=source.get("title", ""),
            authors=parse_names(clean(source.get("author", ""))),
            container=source.get("site", ""),
            issued=parse_issued(clean(source.get("date", ""))),
            doi=doi,
            url=to_url(source.get("url", "")) or (f"https://doi.org/{doi}" if doi else ""),
            kind="article-journal" if doi else "webpage",
        )
    )


# --- Cite keys: who, when and the first word, the same for the same list in any order ---------------------------------


def assign_keys(entries: Iterable[BibliographyEntry]) -> list[BibliographyEntry]:
    """The entries with a key each, no two alike, sorted by it.

    An entry keeps its own key; others get family name, year and first word of the title in small Latin letters
    (`vaswani2017attention`), "anon" without an author. Of equal ones the first keeps it bare and the next ones get a,
    b … z, z2, z3 …, in the order of what they are and not of how they came.
    """
    ordered = sorted(entries, key=lambda entry: (entry.key or make_key(entry), *_identity(entry)))
    taken: set[str] = set()
    keyed: list[BibliographyEntry] = []
    for entry in ordered:
        key = _free_key(entry.key or make_key(entry), taken)
        taken.add(key)
        keyed.append(replace(entry, key=key))
    return sorted(keyed, key=lambda entry: (entry.key, *_identity(entry)))


def make_key(entry: BibliographyEntry) -> str:
    """Family name, year and first word of the title, as far as there are any."""
    family = to_latin(entry.authors[0].family) if entry.authors else ""
    # A family name is one word in a key, an organisation gives its first.
    name = re.sub(r"[^a-z0-9]", "", family) if entry.authors and entry.authors[0].given else _first_word(family)
    year = str(entry.issued[0]) if entry.issued else ""
    return f"{name or 'anon'}{year}{_first_word(to_latin(entry.title))}"[:60]


def _first_word(text: str) -> str:
    match = re.search(r"[a-z0-9]+", text)
    return match[0] if match else ""


def _free_key(key: str, taken: set[str]) -> str:
    suffixes = chain(("",), ascii_lowercase, (f"z{number}" for number in count(2)))
    return next(free for suffix in suffixes if (free := key + suffix) not in taken)


def _identity(entry: BibliographyEntry) -> tuple[str, ...]:
    return (entry.url, entry.doi, entry.title, repr(entry))
