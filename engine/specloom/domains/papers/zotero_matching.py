"""Whether items of Zotero are one work: by DOI, by cite key with a like title, or by title, year and first author."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_YEAR = re.compile(r"(?<![0-9])[12][0-9]{3}(?![0-9])")
_CITE_KEY = re.compile(r"^(?:citation key|bibtex): {0,3}(\S{1,200})", re.IGNORECASE | re.MULTILINE)
_EXTRA_DOI = re.compile(r"^DOI: {0,3}(\S{1,300})", re.IGNORECASE | re.MULTILINE)
_TITLES = ("title", "caseName", "nameOfAct", "subject")
_PARTS = {
    "bookSection": ("bookTitle",),
    "conferencePaper": ("proceedingsTitle", "conferenceName"),
    "dictionaryEntry": ("dictionaryTitle",),
    "encyclopediaArticle": ("encyclopediaTitle",),
}
"""Kinds that are parts of a work, and where the title of that stands: their own are often alike (Introduction)."""
_DATES = ("date", "dateDecided", "dateEnacted", "issueDate")


def names_of(item: Mapping[str, Any]) -> Iterator[str]:
    """By what an item is known, the strongest first."""
    if doi := _doi_of(item):
        yield f"doi:{doi}"
    key = str(item.get("citationKey") or "") or _first(_CITE_KEY, item.get("extra"))
    if key:
        yield f"citekey:{key.lower()}"
    if title := _fold(title_of(item)):
        yield f"title:{title}|{_year_of(item)}"


def title_of(item: Mapping[str, Any]) -> str:
    """The title of an item, under whatever name its type has it; "" where it has none."""
    return next((str(item[name]) for name in _TITLES if item.get(name)), "")


def _doi_of(item: Mapping[str, Any]) -> str:
    from specloom.domains.text import to_doi

    return (to_doi(str(item.get("DOI") or _first(_EXTRA_DOI, item.get("extra")))) or "").lower()


def is_one(item: Mapping[str, Any], other: Mapping[str, Any], *, by_key: bool) -> bool:
    """Whether items of one name may be one work: not where each has a DOI of its own, or another first author.

    A cite key (`by_key`) is a name that others give, too (smith2020), and needs a like title beside it.
    """
    first, second = _doi_of(item), _doi_of(other)
    if first and second:
        return first == second
    people = [_fold(_family_of(each)) for each in (item, other)]
    if all(people) and people[0] != people[1]:
        return False
    wholes = [_whole_of(each) for each in (item, other)]
    if all(wholes) and wholes[0] != wholes[1]:
        return False
    if not by_key:
        return True
    titles = [title_of(each) for each in (item, other)]
    if all(titles):
        return _are_alike(*titles)
    years = [_year_of(each) for each in (item, other)]
    return all(people) and all(years) and years[0] == years[1]


def _are_alike(title: str, other: str) -> bool:
    """Whether titles are one, also where one of them lacks its part behind the colon."""
    first, second = ({_fold(text), _fold(text.partition(":")[0])} - {""} for text in (title, other))
    return _fold(title) in second or _fold(other) in first


def _whole_of(item: Mapping[str, Any]) -> str:
    """The title of the work that an item is a part of; empty for what is none."""
    return next((_fold(str(item[name])) for name in _PARTS.get(str(item.get("itemType")), ()) if item.get(name)), "")


def _family_of(item: Mapping[str, Any]) -> str:
    creators = [each for each in item.get("creators") or [] if isinstance(each, Mapping)]
    return str(creators[0].get("lastName") or creators[0].get("name") or "") if creators else ""


def _year_of(item: Mapping[str, Any]) -> str:
    date = next((str(item[name]) for name in _DATES if item.get(name)), "")
    return match[0] if (match := _YEAR.search(date)) else ""


def _first(pattern: re.Pattern[str], text: Any) -> str:
    match = pattern.search(str(text or ""))
    return match[1] if match else ""


def _fold(text: str) -> str:
    from specloom.domains.text.fold import fold

    return re.sub(r"[\W_]+", " ", fold(text)).strip()
