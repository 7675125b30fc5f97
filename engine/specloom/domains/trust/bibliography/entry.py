"""One entry of a bibliography in a form that every format can carry, and how loose text is brought into it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from itertools import chain, count
from operator import itemgetter
from string import ascii_lowercase
from typing import Any

from specloom.core import dataclass, load_table, to_timestamp
from specloom.domains.text import (
    Name,
    parse_names,
    strip_markup,
    to_isbn13,
    to_latin,
    to_spelled_doi,
)

KIND_TABLE: Mapping[str, Mapping[str, Any]] = load_table(__file__, "kinds.yaml")["kinds"]
KINDS = tuple(KIND_TABLE)
"""The kinds of an entry, named as CSL names them; `document` is what no other fits."""


def read_names(format_: str, part: str | None = None) -> tuple[dict[str, str], dict[str, str]]:
    """What each kind is called in a format (`bibtex`, `ris`), and the kind of every name that is read there.

    Several names are parted by blanks, or by `part`.
    """
    rows = {kind: str(row[format_]) for kind, row in KIND_TABLE.items() if format_ in row}
    names = {kind: [name.strip() for name in row.split(part)] for kind, row in rows.items()}
    written = {kind: names.get(kind) or names.get(row.get("like", ""), []) for kind, row in KIND_TABLE.items()}
    kinds = {name: kind for kind, each in names.items() for name in each}
    return {kind: each[0] for kind, each in written.items() if each}, kinds


_LONGEST_VALUE = 2000
_LONGEST_TEXT = 20_000
"""Characters of an abstract or a note."""
_MOST_KEYWORDS = 100
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

    It follows CSL-JSON: `kind` is its type, `container` the journal, book or site that it appeared in, `series` what
    that is a part of, `number` the one of a report, patent or standard. `doi` is the bare name ("10.1000/x") in the
    capitals that it came in, `key` the cite key, which `assign_keys` makes for entries without one. `issued` is the day
    as far as it is one of the years 1000 to 2999; `dated` says the date in EDTF where that does not say it all (a
    range, a season, "circa", antiquity). `note` is printed by styles, `annote` is the reader's own. `roles` holds other
    contributors and `more` other variables, both by their names in CSL. `unnamed` are the roles (of NAMED)
    whose people are not all named: "and others". `text` is a reference that came in plain words.
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
    dated: str = ""
    accessed: str = ""
    editors: tuple[Name, ...] = ()
    translators: tuple[Name, ...] = ()
    roles: tuple[tuple[str, tuple[Name, ...]], ...] = ()
    short_title: str = ""
    short_container: str = ""
    series: str = ""
    series_number: str = ""
    number: str = ""
    edition: str = ""
    version: str = ""
    genre: str = ""
    place: str = ""
    event: str = ""
    issn: str = ""
    pmid: str = ""
    pmcid: str = ""
    arxiv: str = ""
    language: str = ""
    abstract: str = ""
    note: str = ""
    annote: str = ""
    keywords: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    more: tuple[tuple[str, str], ...] = ()
    unnamed: tuple[str, ...] = ()
    text: str = ""

    @property
    def date(self) -> str:
        """Its date in EDTF, "" when nothing is known."""
        return self.dated or to_iso(self.issued)


NAMED: Mapping[str, str] = {"author": "authors", "editor": "editors", "translator": "translators"}
"""The roles that have a field of their own, by their names in CSL."""
_ONE_LINE = (
    "title", "container", "publisher", "volume", "issue", "short_title", "short_container", "series", "series_number",
    "number", "edition", "version", "genre", "place", "event", "issn", "pmid", "pmcid", "arxiv", "language",
)  # fmt: skip
_PAGES = re.compile(r"(?:(?<!\s)\s++)?[-‐-―−﹘﹣－][-‐-―−﹘﹣－\s]*+")


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
    """An entry whose values are the ones that every format gives back: one line each, DOI and ISBN in normal form.

    The reader's own note alone keeps its lines.
    """
    isbn = clean(entry.isbn)
    issued = to_issued(*(*entry.issued, 0, 0, 0)[:3])
    dated = clean(entry.dated)
    lines = {name: clean(getattr(entry, name)) for name in _ONE_LINE}
    # What others call the edition of a program or of data is its version, and RIS has one tag for both.
    if entry.kind in VERSIONED:
        lines["version"], lines["edition"] = lines["version"] or lines["edition"], ""
    return BibliographyEntry(
        **lines,
        **{name: clean_text(getattr(entry, name)) for name in ("abstract", "note")},
        annote=clean_lines(entry.annote),
        authors=_normalize_names(entry.authors),
        editors=_normalize_names(entry.editors),
        translators=_normalize_names(entry.translators),
        roles=tuple(
            (role, people)
            for role, names in sorted(entry.roles, key=itemgetter(0))
            if (people := _normalize_names(names))
        ),
        issued=issued,
        dated="" if dated == to_iso(issued) else dated,
        accessed=clean(entry.accessed),
        doi=to_spelled_doi(entry.doi),
        url=to_url(entry.url),
        kind=entry.kind if entry.kind in KINDS else "document",
        pages=_PAGES.sub("-", clean(entry.pages)).strip("- "),
        isbn=to_isbn13(isbn) or isbn,
        key=_NO_KEY.sub("", entry.key)[:_LONGEST_KEY],
        keywords=tuple(dict.fromkeys(filter(None, map(clean, entry.keywords))))[:_MOST_KEYWORDS],
        files=tuple(dict.fromkeys(filter(None, map(clean, entry.files))))[:_MOST_KEYWORDS],
        collections=tuple(dict.fromkeys(filter(None, map(clean, entry.collections))))[:_MOST_KEYWORDS],
        unnamed=tuple(role for role, names in NAMED.items() if role in entry.unnamed and getattr(entry, names)),
        text=clean_text(entry.text),
        more=tuple(
            (name, text) for name, value in sorted(entry.more, key=itemgetter(0)) if (text := clean_text(value))
        ),
    )


VERSIONED = ("software", "dataset")
# What ends a key or a line in one of the formats; all else is as its owner wrote it.
_NO_KEY = re.compile(r"[\s\x00-\x1f\x7f-\x9f{}(),=#%\"~\\\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_LONGEST_KEY = 100


def clean_text(text: str) -> str:
    """A long value as `clean` makes a short one."""
    return strip_markup(text[: _LONGEST_TEXT * 2])[:_LONGEST_TEXT].strip()


def clean_lines(text: str) -> str:
    """The same with its lines as they are, and no more than one empty line between two."""
    lines: list[str] = []
    for line in map(strip_markup, text[: _LONGEST_TEXT * 2].splitlines()):
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines)[:_LONGEST_TEXT].strip()


def _normalize_names(names: Iterable[Name]) -> tuple[Name, ...]:
    return tuple(name for name in map(_normalize_name, names) if name.family)


def _normalize_name(name: Name) -> Name:
    parts = (clean(part).strip(" ,") for part in (name.family, name.given, name.suffix, name.particle, name.dropped))
    family, given, suffix, particle, dropped = parts
    if not family or not given:
        # Without a given name it is one string, which may have commas ("Acme, Inc.").
        return Name(family or given)
    family, given, suffix = (" ".join(part.replace(",", " ").split()) for part in (family, given, suffix))
    # A particle is one only where the name is really parted by it.
    is_parted = bool(particle) and family.startswith(f"{particle} ")
    is_dropped = bool(dropped) and given.endswith(f" {dropped}")
    return Name(family, given, suffix, particle if is_parted else "", dropped if is_dropped else "")


def to_url(text: str) -> str:
    """A web address without blanks and controls, "" for anything else."""
    address = re.sub(r"[\s\x00-\x1f\x7f]", "", text)[:_LONGEST_VALUE]
    return address if re.match(r"https?://[^/?#]", address, re.IGNORECASE) else ""


def split_file(file: str) -> list[str]:
    """Name, path and type of a file as reference managers have it (`name:path:type`), or its path alone."""
    parts = _FILE_PARTS.split(file)
    return [re.sub(r"\\(.)", r"\1", part) for part in parts] if len(parts) == 3 else [file]


def find_path(file: str) -> str:
    """The path of a file, without the name and the type that it may stand between."""
    parts = split_file(file)
    return parts[1] if len(parts) == 3 else parts[0]


_FILE_PARTS = re.compile(r"(?<!\\):")
_SOURCE_FIELDS = (
    "volume", "issue", "pages", "publisher", "place", "edition", "series", "number", "version", "genre", "isbn", "issn"
)  # fmt: skip
"""What a source may say of itself under the names of an entry, beside what every source has."""


def from_source(source: Mapping[str, str]) -> BibliographyEntry:
    """The entry of a source that a session or a caller names: url, title, author, site, date and doi, any of them "".

    A source may say more: its type, editors and what _SOURCE_FIELDS lists. Where its type is not known, what has a DOI
    or stands in a volume is taken for a journal article and the rest for a web page. The DOI may be that of its
    address.
    """
    url = to_url(source.get("url", ""))
    doi = to_spelled_doi(source.get("doi", "")) or (to_spelled_doi(url) if _DOI_ADDRESS.match(url) else "")
    kind = find_kind(source.get("type", ""))
    texts: dict[str, Any] = {name: source.get(name, "") for name in _SOURCE_FIELDS}
    is_article = bool(doi) or bool(source.get("volume"))
    return normalize(
        BibliographyEntry(
            title=source.get("title", ""),
            authors=parse_names(clean(source.get("author", ""))),
            editors=parse_names(clean(source.get("editor", ""))),
            container=source.get("site", ""),
            issued=parse_issued(clean(source.get("date", ""))),
            doi=doi,
            url=url or (f"https://doi.org/{doi}" if doi else ""),
            kind=kind or ("article-journal" if is_article else "webpage"),
            **texts,
        )
    )


_DOI_ADDRESS = re.compile(r"https?://(?:dx\.|www\.)?doi\.org/", re.IGNORECASE)
_KIND_NAMES = read_names("csl")[1] | read_names("registry")[1] | read_names("bibtex")[1]


def find_kind(name: str) -> str:
    """The kind that a type is called by CSL, by registries or by BibTeX, "" for any other."""
    name = name.strip().lower()
    return name if name in KINDS else _KIND_NAMES.get(name, "")


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
        key = find_free_key(entry.key or make_key(entry), taken)
        taken.add(key.lower())
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


def find_free_key(key: str, taken: Container[str]) -> str:
    """The key, or where it is taken (keys in small letters) the first one with a suffix that is not."""
    suffixes = chain(("",), ascii_lowercase, (f"z{number}" for number in count(2)))
    return next(free for suffix in suffixes if (free := key + suffix).lower() not in taken)


def _identity(entry: BibliographyEntry) -> tuple[str, ...]:
    return (entry.url, entry.doi, entry.title, repr(entry))
