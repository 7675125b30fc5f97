"""Searches of the store: words of fields and texts, without case and accents; filters by year, tag and collection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, dataclass
from specloom.domains.text import PaperId, find_ref, to_doi
from specloom.domains.text.fold import fold

from .entries import authors_of, cite_key_of, own_of, texts_of

if TYPE_CHECKING:
    from .texts import TextHit

_FILTER = re.compile(r'(?P<sign>-?)(?:(?P<name>year|tag|in):)?(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))')
_YEARS = re.compile(r"(\d{4})?(?:(-|\.\.)(\d{4})?)?")
_OTHER_FILTERS = frozenset(
    ("author", "title", "venue", "journal", "publisher", "collection", "type", "key", "keyword", "abstract", "note")
)
"""What people write before a colon that is no filter here."""
_JOINERS = re.compile(r"['’ʼ`\-‐‑]")
_WEIGHTS = (6, 4, 2, 3, 1)
"""What a word counts in the title, the names, the venue, what its owner wrote, and the abstract."""
_BEGINNING = 2
"""How much more the beginning of a word counts than a part of one."""
_PRECEDENCE = 1_000
"""More than one word can count: who has a further word comes first."""
_IN_TEXT = 0.9
"""What the best passage of a text counts at most: less than a word in an abstract."""
_NEAR = 0.75
"""How like a word of the store one must be that is taken for a misspelt form of it (difflib's ratio)."""
_MOST_CORRECTED = 4
"""Words of a query that are held against all words of the store, at 16 ms each where it has 20,000."""


@dataclass(frozen=True, slots=True)
class SearchedEntry:
    """What a search knows of an entry: its words by field, without case and accents, and what filters ask for."""

    fields: tuple[str, ...]
    names: frozenset[str]
    """Its DOI, its arXiv identifier, with its version and without, and `@` with its cite key, in small letters."""
    year: int | None
    labels: Mapping[str, frozenset[str]]
    """Its tags and keywords (`tag`) and its collections (`in`)."""
    pdf: str = ""
    """The path of its PDF below the folder of the store; "" where it names none."""


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
    year, arxiv = entry.get("year"), str(entry.get("arxiv_id") or "")
    names = (str(entry.get("doi") or ""), arxiv, PaperId("arxiv", arxiv).base, f"@{cite_key_of(entry)}")
    return SearchedEntry(
        tuple(map(_squeeze, fields)),
        frozenset(name.lower() for name in names if name.strip("@")),
        year if isinstance(year, int) else None,
        # Tags leave for other programs as keywords and come back as such.
        {"tag": frozenset((*tags, *map(_squeeze, texts_of(entry.get("keywords"))))), "in": frozenset(collections)},
        str(entry.get("pdf_path") or ""),
    )


@dataclass(frozen=True, slots=True)
class StoreFilter:
    """What an entry has to be, or may not be: of a year in a span, or with a tag or a collection."""

    span: tuple[int, int] | None
    """The first year and the last one; None where a label is asked for."""
    kind: str = ""
    label: str = ""
    is_barred: bool = False

    def passes(self, entry: SearchedEntry) -> bool:
        """Whether an entry may be among the rows."""
        if self.span is not None:
            holds = entry.year is not None and self.span[0] <= entry.year <= self.span[1]
        else:
            holds = self.label in entry.labels[self.kind]
        return holds != self.is_barred


@dataclass(frozen=True, slots=True)
class StoreQuery:
    """A question to the store: words that an entry has or has not, and what it is filtered by."""

    words: tuple[str, ...]
    without: tuple[str, ...] = ()
    filters: tuple[StoreFilter, ...] = ()
    name: str = ""
    """The DOI or arXiv identifier that is looked for, in place of words."""

    def score(self, entry: SearchedEntry, text: TextHit | None = None, *, most: bool = False) -> float:
        """How well an entry fits; 0 for one that does not. With `most`, half of the words are enough.

        A word that only its text has counts less than one that any field of its record has.
        """
        if self.name:
            return int(self.name in entry.names)
        if not all(each.passes(entry) for each in self.filters):
            return 0
        if any(word in field for word in self.without for field in entry.fields):
            return 0
        scores = [_score(word, entry) for word in self.words]
        told = text.words if text is not None else frozenset()
        in_text = sum(not score and word in told for score, word in zip(scores, self.words, strict=True))
        there = len(scores) - scores.count(0) + in_text
        if there < len(scores) and not (most and 2 * there >= len(scores)):
            return 0
        relevance = text.relevance if text is not None else 0.0
        return 1 + _PRECEDENCE * there + sum(scores) + (_IN_TEXT * relevance if in_text else 0.0)

    def find_text_words(self, entry: SearchedEntry, text: TextHit | None) -> frozenset[str]:
        """The words that the text of an entry has, and its record has not."""
        told = text.words if text is not None else frozenset()
        return frozenset(word for word in self.words if word in told and not _score(word, entry))


def parse_query(text: str) -> StoreQuery:
    """A query as people write it: words, "a phrase", year:2015-2018, tag:river, in:thesis, each barred by a `-` before
    it; or a DOI or an arXiv identifier in any spelling, or `@` with a cite key.

    A `validation` fault for a filter that is none, and for a query without any word.
    """
    if re.fullmatch(r"@\S+", text.strip()):
        return StoreQuery((), name=text.strip().lower())
    arxiv = find_ref("arxiv", text.strip().lower().removeprefix("arxiv:"))
    if name := to_doi(text) or (arxiv.value if arxiv else ""):
        return StoreQuery((), name=name.lower())
    words: list[str] = []
    without: list[str] = []
    filters: list[StoreFilter] = []
    for found in _FILTER.finditer(text):
        kind, written = found["name"], found["phrase"] if found["phrase"] is not None else found["word"]
        said, is_barred = _squeeze(written).rstrip(":"), bool(found["sign"])
        _check_filter(found)
        span = _to_years(written) if kind == "year" else None
        if span or (kind in ("tag", "in") and said):
            filters.append(StoreFilter(span, kind, said, is_barred))
        elif said:
            (without if is_barred else words).append(said)
    if not (words or without or filters):
        raise _refuse(f"the query {text[:80]!r} has no word in it; give words, a DOI, or filters such as tag:river")
    return StoreQuery(tuple(words), tuple(without), tuple(filters))


def _check_filter(found: re.Match[str]) -> None:
    """A `validation` fault for a part of a query that looks like a filter and holds nothing back."""
    kind, written = found["name"], found["phrase"] if found["phrase"] is not None else found["word"]
    shown = found[0][:80]
    if kind == "year":
        span = _to_years(written)
        if span is None:
            raise _refuse(f"{shown!r} names no year; write year:2015, year:2015-2018, year:2015- or year:-2018")
        if span[0] > span[1]:
            raise _refuse(f"{shown!r} ends before it begins; write the earlier year first")
    elif (kind and not _squeeze(written)) or _is_empty_filter(found):
        advice = "write the value right behind the colon, as in tag:river, or words in quotes"
        raise _refuse(f"{shown!r} names nothing; {advice}")
    elif not kind and found["word"]:
        name, _, rest = found["word"].partition(":")
        if rest and name.lower() in _OTHER_FILTERS:
            raise _refuse(f"{name}: is no filter; there are year:, tag: and in:, and words without a filter find it")


def _is_empty_filter(found: re.Match[str]) -> bool:
    """Whether a part is a filter with a blank before its value, where words before it do not make it one of a title."""
    if found["word"] not in ("year:", "tag:", "in:"):
        return False
    before, behind = found.string[: found.start()].strip(), found.string[found.end() :].split(maxsplit=1)
    is_year = found["word"] == "year:" and bool(behind) and _to_years(behind[0]) is not None
    return not before or bool(found["sign"]) or found["word"] == "tag:" or is_year


def _refuse(message: str) -> Fault:
    return Fault("validation", message, action="fix_arguments", argument="query")


def correct(query: StoreQuery, entries: Iterable[SearchedEntry]) -> dict[str, str]:
    """For words of a query that no entry has, the nearest that one has; for a cite key the nearest one."""
    entries = list(entries)
    if query.name.startswith("@"):
        near = find_near_key(query.name, entries)
        return {query.name: near} if near else {}
    unknown = [word for word in query.words if not any(word in field for one in entries for field in one.fields)]
    if not 0 < len(unknown) <= _MOST_CORRECTED:
        return {}
    known = sorted({word for one in entries for field in one.fields[:4] for word in field.split()})
    nearest = {word: get_close_matches(word, known, 1, _NEAR) for word in unknown}
    return {word: near[0] for word, near in nearest.items() if near}


def find_near_key(name: str, entries: Iterable[SearchedEntry]) -> str:
    """The cite key with its `@` that is most like another one, in small letters; "" where none is like it."""
    keys = sorted(known for entry in entries for known in entry.names if known.startswith("@"))
    return next(iter(get_close_matches(name.lower(), keys, 1, _NEAR)), "")


def say_unknown_key(name: str, entries: Iterable[SearchedEntry]) -> str:
    """The sentence of a cite key that no stored work has, with the one that may be meant."""
    near = find_near_key(name, entries)
    advice = f"did you mean {near}?" if near else "doiget_search_local finds those that there are."
    return f"No stored work has the cite key {name.removeprefix('@')[:80]!r}; {advice}"


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
    query: StoreQuery,
    entries: Sequence[tuple[SearchedEntry, dict[str, Any]]],
    texts: Mapping[str, TextHit] | None = None,
    *,
    most: bool = False,
) -> list[tuple[SearchedEntry, dict[str, Any]]]:
    """The entries that fit with their rows, best first; of equal ones in the order in which they came.

    `texts` are what texts of PDFs have of the query, by the keys of entries.
    """
    hits = texts or {}
    scored = [(query.score(one[0], hits.get(one[1]["safekey"]), most=most), one) for one in entries]
    return [one for score, one in sorted(scored, key=lambda pair: -pair[0]) if score]
