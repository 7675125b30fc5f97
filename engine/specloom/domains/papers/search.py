"""Searches of the store: words of any field, without case and accents, and filters by year, tag and collection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from specloom.core import dataclass
from specloom.domains.text import to_doi
from specloom.domains.text.fold import fold

from .entries import authors_of, own_of, texts_of

_FILTER = re.compile(r'(?P<sign>-?)(?:(?P<name>year|tag|in):)?(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))')
_YEARS = re.compile(r"(\d{4})?(?:(-|\.\.)(\d{4})?)?")
_JOINERS = re.compile(r"['’ʼ`\-‐‑]")
_WEIGHTS = (6, 4, 2, 3, 1)
"""What a word counts in the title, the names, the venue, what its owner wrote, and the abstract."""
_BEGINNING = 2
"""How much more the beginning of a word counts than a part of one."""
_PRECEDENCE = 1_000
"""More than one word can count: who has a further word comes first."""
_NEAR = 0.75
"""How like a word of the store one must be that is taken for a misspelt form of it (difflib's ratio)."""


@dataclass(frozen=True, slots=True)
class SearchedEntry:
    """What a search knows of an entry: its words by field, without case and accents, and what filters ask for."""

    fields: tuple[str, ...]
    names: frozenset[str]
    """Its DOI and its arXiv identifier, in small letters."""
    year: int | None
    tags: frozenset[str]
    collections: frozenset[str]


def to_searched(entry: Mapping[str, Any]) -> SearchedEntry:
    """An entry of the store as a search looks at it."""
    own = own_of(entry)
    tags, collections = ([*map(_squeeze, texts_of(own.get(name)))] for name in ("tags", "collections"))
    own_words = " ".join([str(own.get("annotation") or ""), *texts_of(entry.get("keywords"))])
    fields = (
        str(entry.get("title") or ""),
        " ".join(authors_of(entry)),
        f"{entry.get('venue') or ''} {entry.get('publisher') or ''} {entry.get('year') or ''}",
        f"{own_words} {' '.join((*tags, *collections))}",
        str(entry.get("abstract") or ""),
    )
    year = entry.get("year")
    return SearchedEntry(
        tuple(map(_squeeze, fields)),
        frozenset(str(entry[name]).lower() for name in ("doi", "arxiv_id") if entry.get(name)),
        year if isinstance(year, int) else None,
        frozenset(tags),
        frozenset(collections),
    )


@dataclass(frozen=True, slots=True)
class StoreQuery:
    """A question to the store: words that an entry has or has not, and what it is filtered by."""

    words: tuple[str, ...]
    without: tuple[str, ...] = ()
    doi: str = ""
    years: tuple[int, int] | None = None
    tags: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()

    def score(self, entry: SearchedEntry, *, most: bool = False) -> int:
        """How well an entry fits; 0 for one that does not. With `most`, half of the words are enough."""
        if self.doi:
            return int(self.doi in entry.names)
        if self.years and not (entry.year is not None and self.years[0] <= entry.year <= self.years[1]):
            return 0
        if not (set(self.tags) <= entry.tags and set(self.collections) <= entry.collections):
            return 0
        if any(word in field for word in self.without for field in entry.fields):
            return 0
        scores = [_score(word, entry) for word in self.words]
        there = len(scores) - scores.count(0)
        if there < len(scores) and not (most and 2 * there >= len(scores)):
            return 0
        return 1 + _PRECEDENCE * there + sum(scores)


def parse_query(text: str) -> StoreQuery:
    """A query as people write it: words, "a phrase", -word, year:2015-2018, tag:river, in:thesis, or a DOI anyhow."""
    if doi := to_doi(text):
        return StoreQuery((), doi=doi.lower())
    words: list[str] = []
    without: list[str] = []
    filters: dict[str, list[str]] = {"tag": [], "in": []}
    years = None
    for found in _FILTER.finditer(text):
        name, written = found["name"], found["phrase"] if found["phrase"] is not None else found["word"]
        said = _squeeze(written)
        if name == "year" and (span := _to_years(written)):
            years = span
        elif name in filters and said:
            filters[name].append(said)
        elif said:
            (without if found["sign"] else words).append(said)
    return StoreQuery(tuple(words), tuple(without), "", years, tuple(filters["tag"]), tuple(filters["in"]))


def correct(query: StoreQuery, entries: Iterable[SearchedEntry]) -> dict[str, str]:
    """For words of a query that no entry has, the nearest that one has."""
    entries = list(entries)
    unknown = [word for word in query.words if not any(word in field for one in entries for field in one.fields)]
    if not unknown:
        return {}
    known = sorted({word for one in entries for field in one.fields[:4] for word in field.split()})
    nearest = {word: get_close_matches(word, known, 1, _NEAR) for word in unknown}
    return {word: near[0] for word, near in nearest.items() if near}


def _score(word: str, entry: SearchedEntry) -> int:
    return sum(
        weight * (_BEGINNING if _begins_word(field, word) else 1)
        for weight, field in zip(_WEIGHTS, entry.fields, strict=True)
        if word in field
    )


def _begins_word(field: str, word: str) -> bool:
    return f" {word}" in f" {field}"


def _squeeze(text: str) -> str:
    """A text without case, accents and what joins words, its words apart by one blank."""
    return " ".join(re.findall(r"[\w@#+./:]+", _JOINERS.sub("", fold(text))))


def _to_years(text: str) -> tuple[int, int] | None:
    found = _YEARS.fullmatch(text)
    if not found or not (found[1] or found[3]):
        return None
    first = int(found[1] or 0)
    return first, int(found[3]) if found[3] else (9999 if found[2] else first)


def rank(
    query: StoreQuery, entries: Sequence[tuple[SearchedEntry, dict[str, Any]]], *, most: bool = False
) -> list[dict[str, Any]]:
    """The rows of the entries that fit, best first; of equal ones in the order in which they came."""
    scored = [(query.score(entry, most=most), row) for entry, row in entries]
    return [row for score, row in sorted(scored, key=lambda pair: -pair[0]) if score]
