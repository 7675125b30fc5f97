"""How old those were in whom something was found, and whether a group that a claim names can be among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from specloom.domains.text.fold import fold

from .lexicon import UNSPACED

GROUP_AGES: Final = {
    "children": (0, 17),
    "adolescents": (10, 20),
    "pupils": (5, 20),
    "students": (5, 40),
    "young": (10, 40),
    "adults": (16, 120),
    "elderly": (55, 120),
}
"""The ages that a group of people may have in years, as widely as it may be meant."""
_OLDEST: Final = 120
# A range so high is one of ages wherever it stands; a lower one may be a time.
_SURELY: Final = 45
_YEARS: Final = r"(?:years?|yrs?|jahren?|jahrige\w{0,2}|ans|anos|anni|лет|岁|歳)"
_RANGE: Final = re.compile(
    r"(?<![0-9.,])([0-9]{1,3})(?: ?(?:岁|歳|years|jahre|ans|anos|anni|лет))?"
    r" ?(?:-|–|~|to|and|bis|und|a|et|y|e|до|至|到|から) ?"
    rf"([0-9]{{1,3}})[ -]?{_YEARS}(?!\w*[0-9])"
)
_FROM: Final = re.compile(
    r"(?<![0-9.,])([0-9]{2})(?:[ -]?(?:years?|jahren?|ans|anos|anni|лет))?(?: old| of age| de edad)?"
    r" (?:or|and|oder|und|et|ou|y|o|e|и) (?:older|over|above|alter|plus|mas|piu|oltre|старше)(?!\w)"
    r"|(?<![0-9.,])([0-9]{2})(?:岁|歳)(?:以上|及以上|或以上)"
)
_SINCE: Final = re.compile(
    r"(?<!\w)(?:at least|older than|over the age of|ab|alter als|mindestens|mayores de|oltre i|sopra i|plus de|старше)"
    rf" ([0-9]{{2}})[ -]?(?:years? old|years? of age|{_YEARS})(?!\w)"
)
_AGED: Final = re.compile(
    r"(?<!\w)(?:age|ages|aged|old|year-olds|alter|alt|jahrige\w{0,2}|kinder\w{0,2}|jugendliche\w?|erwachsene\w?"
    r"|agee?s?|adultes|enfants|edad|adultos|personas|ninos|eta|persone|adulti|bambini|возраст\w{0,3})(?!\w)"
)

# Their ages are not of those in whom something was found.
_KIN: Final = re.compile(
    r"(?<!\w)(?:mothers?|fathers?|parents?|teachers?|mutter|mutter[ns]|vater[ns]?|eltern|meres?|peres?|madres?|padres?"
    r"|madri|padri|genitori|матер\w{1,3}|отц\w{1,3}|родител\w{1,3})(?!\w)|母亲|父亲|父母|母親|父親|両親"
)


def find_ages(sentences: list[str], code: str) -> tuple[int, int] | None:
    """The lowest and the highest age that a text gives to those whom it is about, None where it gives no range."""
    found = [ages for sentence in sentences for ages in _find_in(fold(sentence), code)]
    return (min(low for low, _ in found), max(high for _, high in found)) if found else None


def _find_in(folded: str, code: str) -> Iterator[tuple[int, int]]:
    if _KIN.search(folded):
        return
    for match in _RANGE.finditer(folded):
        low, high = int(match[1]), int(match[2])
        sure = code in UNSPACED or high >= _SURELY or bool(_AGED.search(folded))
        if low < high <= _OLDEST and sure:
            yield low, high
    for match in (*_FROM.finditer(folded), *_SINCE.finditer(folded)):
        low = int(next(group for group in match.groups() if group))
        if low >= 10:
            yield low, _OLDEST


def is_apart(group: str, ages: tuple[int, int]) -> bool:
    """Whether nobody of a group can be of some ages."""
    youngest, oldest = GROUP_AGES.get(group, (0, _OLDEST))
    return oldest < ages[0] or youngest > ages[1]
