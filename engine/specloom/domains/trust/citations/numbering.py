"""Volume, issue and pages: read out of a reference, brought into one form, and held against a record.

`mismatch` accuses, so it is only said of plain numbers that are counted in one way: volumes in one series, pages in one
volume. What may be counted otherwise (years as volumes, article numbers, pages of an offprint) is `not_checked`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

Verdict = Literal["match", "mismatch", "not_checked"]

# --- what a reference has behind its venue ---

_PAGE = r"[A-Za-z]{0,3}[0-9]{1,7}[A-Za-z]?"
_ROMAN = r"[ivxlcdm]{1,8}"
_DASH = r"\s?[-‐-―]{1,3}\s?"
_PAGES = rf"(?:{_PAGE}(?:{_DASH}{_PAGE})?|{_ROMAN}{_DASH}{_ROMAN})(?![\w(])"
_NUMBER = r"(?:[0-9]{1,4}|[IVXLCDM]{1,8})(?![\w])"
_ISSUE = r"[0-9]{1,5}(?:\s?[-–/]\s?[0-9]{1,5})?(?![\w])"
_LABELLED_VOLUME = re.compile(
    rf"(?<![^\W_])(?:vol(?:ume)?\.?\s?|bd\.?\s|band\s|[vt]\.\s?|jg\.\s?)({_NUMBER})", re.IGNORECASE
)
_LABELLED_ISSUE = re.compile(
    rf"(?<![^\W_])(?:nos?\.?\s?|nr\.?\s?|n\.\s?|n[úu]m\.\s?|iss(?:ue|\.)?\s?|heft\s|h\.\s?)({_ISSUE})", re.IGNORECASE
)
_LABELLED_PAGES = re.compile(
    rf"(?<![^\W_])(?:pp?\.?\s?|pages?\s|ss?\.\s|seiten?\s|p[áa]gs?\.\s?|с\.\s?)({_PAGES})", re.IGNORECASE
)
# "12(3), 45–50", "12, 45–50", "12:e45", "95, no. 5: 690–94": what follows the first number tells that it is a volume.
_POSITIONAL = re.compile(
    rf"""({_NUMBER})\s?
    (?:\((?P<issue>[^()]{{1,20}})\)\s?(?:[,:;]\s?)?
      |,\s(?:no|nr|iss)\.?\s(?P<number>{_ISSUE})\s?[,:]?\s?
      |[,:]\s?)
    (?:pp?\.\s?|S\.\s)?(?P<pages>{_PAGES})?""",
    re.VERBOSE,
)
_ENDS = re.compile(
    r"\b(?:doi|https?:|www\.|available|accessed|retrieved|verfügbar|abgerufen|consulté|pmid|pmcid|issn|arxiv)\b",
    re.IGNORECASE,
)
_MONTH = r"[^\W\d_]{3,9}\.?"
_LONGEST = 400
"""Characters behind a title in which its volume and pages are looked for."""


class VolumeNumbers(NamedTuple):
    """Volume, issue and pages as they are written; "" for what is not there or not certain."""

    volume: str = ""
    issue: str = ""
    pages: str = ""


def find_numbering(rest: str, years: Collection[int]) -> VolumeNumbers:
    """Volume, issue and pages in what follows the title of a reference; `years` are those of the work."""
    rest = rest[:_LONGEST]
    rest = rest[: end.start()] if (end := _ENDS.search(rest)) else rest
    for year in {str(year) for year in years}:
        # "2020 Mar 1;11:18" and "65 (2019), H. 4": what is left shows where volume and pages are.
        rest = re.sub(
            rf"\(\s?(?:{_MONTH}\s)?{year}[a-z]?\s?\)|(?<![\w:–-]){year}[a-z]?(?:\s{_MONTH}(?:\s[0-9]{{1,2}})?)?(?![\w–-])",
            " ",
            rest,
        )
    rest = re.sub(r" (?=[,:;.])", "", " ".join(rest.split()))
    volume, issue, pages = (_first(pattern, rest) for pattern in (_LABELLED_VOLUME, _LABELLED_ISSUE, _LABELLED_PAGES))
    if volume:
        return VolumeNumbers(volume, issue, pages or _find_loose_pages(rest, _LABELLED_VOLUME))
    digit = re.search(r"(?<![\w./(])(?:[0-9]|[IVXLCDM]{2,8}(?=[\s(,:;]))", rest)
    place = _POSITIONAL.match(rest, digit.start()) if digit else None
    if place is None or not (place["issue"] or place["number"] or place["pages"] or pages or issue):
        return VolumeNumbers(pages=pages) if pages and "-" in _plain_dash(pages) else VolumeNumbers()
    return VolumeNumbers(place[1], place["issue"] or place["number"] or issue, place["pages"] or pages)


def _find_loose_pages(rest: str, volume: re.Pattern[str]) -> str:
    """Pages without a label behind a volume that has one: a range, or the number of an article behind a colon."""
    place = volume.search(rest)
    after = rest[place.end() :] if place else ""
    match = re.search(rf"[,:]\s?({_PAGE}{_DASH}{_PAGE})(?![\w(])", after) or re.search(
        rf":\s?({_PAGE})(?![\w(])", after
    )
    return match[1] if match else ""


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""


# --- what two of them say of each other ---

_YEARS = range(1500, 2200)
_MOST_ISSUES = 100
"""Numbers of issues from which on they are hardly counted within a volume."""
_ARTICLE_DIGITS = 5
"""Digits of a number alone that is hardly that of a page."""


def compare_volumes(supplied: str, recorded: str, recorded_issue: str = "") -> tuple[Verdict, str]:
    """Whether two volumes are one, and why: whole numbers, Arabic or Roman, of which either may name several."""
    left, right = _to_numbers(supplied), _to_numbers(recorded)
    if not left or not right:
        return "not_checked", "the volume is no number"
    if left & right:
        return "match", "the volume is the same"
    if any(number in _YEARS for number in left | right):
        return "not_checked", "one side may count its volumes by years"
    if left & _to_numbers(recorded_issue):
        return "not_checked", "the number may be that of the issue"
    if len(left) > 1 or len(right) > 1 or not (_is_plain(supplied) and _is_plain(recorded)):
        return "not_checked", "the volumes may be of different series"
    return "mismatch", "the volumes are different"


def compare_issues(supplied: str, recorded: str) -> tuple[Verdict, str]:
    """Whether two issues are one, and why; a combined one (3–4) is each of those in it."""
    left, right = _to_numbers(supplied, combined=True), _to_numbers(recorded, combined=True)
    if not left or not right:
        return "not_checked", "the issue is no number"
    if left & right:
        return "match", "the issue is the same"
    if max(left | right) >= _MOST_ISSUES:
        return "not_checked", "one side may count its issues through all volumes"
    if not (_is_plain(supplied, combined=True) and _is_plain(recorded, combined=True)):
        return "not_checked", "one side may be a part or a supplement"
    return "mismatch", "the issues are different"


def compare_pages(supplied: str, recorded: str, article: str = "") -> tuple[Verdict, str]:
    """Whether two ranges of pages, or numbers of articles, are those of one work, and why.

    `article` is the number that a record gives beside its pages.
    """
    left, right = _to_range(supplied), _to_range(recorded)
    if left is None or (right is None and not article):
        return "not_checked", "the pages are no numbers"
    if (number := _to_range(article)) is not None:
        if left.first == number.first:
            return "match", "the number of the article is the same"
        if right is None or right.is_single:
            right = number
    assert right is not None
    if left.prefix != right.prefix and "s" in (left.prefix, right.prefix):
        return "not_checked", "one side may be a supplement"
    if left.first == right.first:
        if left.last == right.last or left.is_single or right.is_single:
            return "match", "the pages are the same" if left == right else "the first page is the same"
        return "not_checked", f"the first page is the same, and the last one of the record is {right.last}"
    if left.prefix == right.prefix and (_holds(right, left) or _holds(left, right)):
        return "match", "the pages are some of those of the other side"
    if left.is_single or right.is_single:
        both = left.is_article and right.is_article
        if both and left.prefix == right.prefix:
            return "mismatch", "the numbers of the articles are different"
        return "not_checked", "one side may be the number of an article, and the other a page"
    if left.prefix != right.prefix:
        return "not_checked", "the pages are counted in different ways"
    if left.first == 1 or right.first == 1:
        return "not_checked", "one side may count the pages of the article by itself"
    return "mismatch", "the pages are different"


def _to_numbers(text: str, *, combined: bool = False) -> frozenset[int]:
    """The numbers that a volume or an issue names; of a combined one all between its ends."""
    numbers = [int(number) for number in re.findall(r"(?<![0-9])[0-9]{1,6}(?![0-9])", text)]
    if not numbers and (roman := re.fullmatch(r"[\s.]*([IVXLCDM]{1,12}|[ivxlcdm]{1,12})[\s.]*", text)):
        numbers = [_from_roman(roman[1])]
    if (
        combined
        and len(numbers) == 2
        and 0 < numbers[1] - numbers[0] < _MOST_ISSUES
        and re.search(r"[0-9]\s?[-‐-―]", text)
    ):
        numbers = [*range(numbers[0], numbers[1] + 1)]
    return frozenset(numbers)


def _is_plain(text: str, *, combined: bool = False) -> bool:
    """Whether a volume or an issue is nothing but its number."""
    number = r"(?:[0-9]{1,6}|[IVXLCDM]{1,12})"
    more = rf"(?:\s?[-‐-―/]\s?{number})?" if combined else ""
    return bool(re.fullmatch(rf"(?:vol(?:ume)?\.?|no\.?|issue)?\s?{number}{more}", text.strip(), re.IGNORECASE))


class _Range(NamedTuple):
    """The first and the last page as numbers, the letters before them, and whether only one number was given."""

    first: int
    last: int
    prefix: str = ""
    is_single: bool = False

    @property
    def is_article(self) -> bool:
        """Whether a number alone is rather that of an article than of a page."""
        return self.is_single and (bool(self.prefix) or len(str(self.first)) >= _ARTICLE_DIGITS)


def _to_range(text: str) -> _Range | None:
    """The pages that a text names: `1204–11`, `S12-S20`, `iv–xii`, `e33693`, `100-105, 112`; None for anything else."""
    text = _plain_dash(text).strip().rstrip(".+").strip()
    text = re.sub(r"^(?:pp?\.?|pages?|article|art\.?|id)\s", "", text.split(",")[0], flags=re.IGNORECASE).strip()
    if roman := re.fullmatch(r"([ivxlcdm]{1,12})-([ivxlcdm]{1,12})", text, re.IGNORECASE):
        return _Range(_from_roman(roman[1]), _from_roman(roman[2]), "roman")
    match = re.fullmatch(r"([A-Za-z]{0,8}?)([0-9]{1,9})[A-Za-z]?(?:\s?-\s?([A-Za-z]{0,8})([0-9]{1,9})[A-Za-z]?)?", text)
    if match is None:
        return None
    prefix, first = match[1].casefold(), match[2]
    if match[4] is None:
        return _Range(int(first), int(first), prefix, is_single=True)
    last = match[4]
    # "1204–11" is short for 1204–1211.
    if len(last) < len(first):
        last = first[: len(first) - len(last)] + last
    if int(last) < int(first):
        return _Range(int(first), int(first), prefix)
    return _Range(int(first), int(last), prefix)


def _holds(whole: _Range, part: _Range) -> bool:
    return whole.first <= part.first and part.last <= whole.last and not whole.is_single


def _plain_dash(text: str) -> str:
    return re.sub(r"[-‐-―]+", "-", text)


_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


def _from_roman(text: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in text.casefold()]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))
