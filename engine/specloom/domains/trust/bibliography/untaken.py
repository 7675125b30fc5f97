"""What an entry says that was not taken: fields without a place, and values that do not read as what they should be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .bibtex import READ
from .entry import BibliographyEntry, to_month

_LONGEST = 80
_DATES = {
    "bibtex": ("date", "year", "month", "day"),
    "ris": ("DA", "PY", "Y1"),
    "csl-json": ("issued",),
    "nbib": ("DP",),
    "zotero-json": ("date",),
}
_NAMES = {
    "bibtex": {"doi": "doi", "url": "url"},
    "ris": {"DO": "doi", "UR": "url"},
    "csl-json": {"DOI": "doi", "URL": "url"},
    "zotero-json": {"DOI": "doi", "url": "url"},
}
_TIME = re.compile(r"[T ][0-9]{1,2}:.{0,40}")
_ABOUT = frozenset(
    {"ca", "c", "circa", "about", "spring", "summer", "autumn", "fall", "winter", "st", "nd", "rd", "th"}
)


def find_untaken(format_: str, raw: Any, entry: BibliographyEntry) -> tuple[str, ...]:
    """The values of a record that its entry has nothing of, or not all, as `year 'in press'`; of EndNote XML none."""
    if format_ == "zotero-json" and isinstance(raw, Mapping) and isinstance(raw.get("data"), Mapping):
        raw = raw["data"]
    fields = dict(raw) if isinstance(raw, Mapping) else dict(reversed(raw)) if isinstance(raw, list) else {}
    return tuple(_find(format_, fields, entry))


def _find(format_: str, fields: Mapping[str, Any], entry: BibliographyEntry) -> Iterator[str]:
    for name in _DATES.get(format_, ()):
        value = _to_text(fields.get(name))
        if value and not entry.date:
            yield _tell(name, value)
        elif value and is_partly_lost(value, entry.date):
            yield f"{_tell(name, value)} beyond {entry.date}"
    for name, place in _NAMES.get(format_, {}).items():
        value = _to_text(fields.get(name))
        if value and not getattr(entry, place):
            yield _tell(name, value)
    if format_ == "bibtex":
        yield from _find_in_bibtex(fields)


_FORMULA = re.compile(r"(?<!\\)\$")
_STYLED = re.compile(
    r"\\(?:emph|text(?:it|bf|sc|tt|sl|sf|up|rm|superscript|subscript)|(?:it|bf|sc|em|tt|sl)(?![A-Za-z]))"
)
_VERBATIM = frozenset({"url", "doi", "eprint", "file", "pmid", "pmcid", "howpublished", *_DATES["bibtex"]})


def _find_in_bibtex(fields: Mapping[str, Any]) -> Iterator[str]:
    """Fields that have no place, and values of which the words were taken without formulas' signs or emphasis."""
    for name, raw in fields.items():
        value = _to_text(raw)
        if value and name not in READ:
            yield _tell(name, value)
        elif name not in _VERBATIM and (_FORMULA.search(value) or _STYLED.search(value)):
            yield f"{_tell(name, value)} beyond its words"


def _tell(name: str, value: str) -> str:
    short = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    return f"{name} {short!r}"


def _to_text(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value.get("raw") or value.get("literal") or ""
    return " ".join(str(value).split()) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def is_partly_lost(value: str, date: str) -> bool:
    """Whether a text of a date has a word or a number that the date does not say."""
    numbers = {int(number) for number in re.findall(r"[0-9]+", date)}
    for word in re.findall(r"[0-9]+|[^\W\d_]+", re.sub(r"\\.|[{}]", " ", _TIME.sub("", value))):
        number = int(word[:9]) if word.isdecimal() else to_month(word)
        if number not in numbers and word.lower() not in _ABOUT:
            return True
    return False
