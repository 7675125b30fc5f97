"""Comparisons and directions: which side has more, in words or in numbers, and whether two texts agree on it."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import pairwise
from typing import Final

from specloom.core import dataclass
from specloom.domains.text import load_languages
from specloom.domains.text.tokens import tokens

from .amounts import Amount, TextNumbers, drop_bounds
from .lexicon import NEVER, UNSPACED, Lexicon, find_sides
from .weight import occurs

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|%")
_REACH: Final = 12
"""Words that may stand between a comparative and its "than"."""
_FARTHEST: Final = 9
"""Words that may stand between what was and what is."""
_SEGMENTS: Final = re.compile(r"[はがをもの、，,]")
_THAN_ZH: Final = re.compile("(?<![相对])比(?![例较率重如赛])")
_COMPARATIVE: Final = {"de": re.compile(r"\w{4,20}er"), "ru": re.compile(r"\w{2,20}(?:ее|еи|ше)")}
_PREDICATE: Final = re.compile("([\u4e00-\u9fff]{1,3})(?:い|く|かっ)")
# A single sign says more or less only behind the "than", before what tells how much, or at the end.
_DEGREE_ZH: Final = re.compile(r"(?:(?P<more>[多高大长好快重])|(?P<less>[少低小短差慢轻]))(?=[0-9约得了些出]|$)")
_WITHIN: Final = re.compile(r"(高于|低于|多于|少于|大于|小于|优于|差于|好于|早于|晚于)")
_ONE: Final = frozenset(
    ["one", "half", "un", "une", "uno", "una", "um", "uma", "ein", "eine", "einem", "einer", "один", "одна"]
)
# What was before is said with its time.
_DATED: Final = re.compile(r"[^.;,0-9]{0,14}(?:1[5-9]|20)[0-9]{2}")
_DATED_REACH: Final = 40
_AGED: Final = re.compile("([0-9]{1,3})(?=歳|岁|才)")
QUANTITY: Final = "quantity"
"""The axis of change and comparison."""


@dataclass(frozen=True, slots=True)
class SidedComparison:
    """A comparison: on which axis, which side of it is said of the left, and the tokens of either side.

    `near` are those of the left that stand between the comparative and its "than".
    """

    axis: str
    side: int
    words: str
    left: frozenset[str]
    right: frozenset[str]
    near: frozenset[str] = frozenset()


def find_compared(folded: str, lexicon: Lexicon, code: str) -> SidedComparison | None:
    """The comparison of a folded clause, None without one; more than a number is none."""
    folded = drop_bounds(folded, code)
    if code in UNSPACED:
        return _find_unspaced(folded, lexicon, code)
    words, stop = _WORD.findall(folded), load_languages()[code].stop
    for at, word in enumerate(words):
        if word not in lexicon.than or not at or at + 1 == len(words) or _is_counted(words[at + 1]):
            continue
        window = words[max(0, at - _REACH) : at]
        spoken = " ".join(window)
        axis, side, said = _find_axis(spoken, lexicon)
        if "comparing" in lexicon.lists and not any(
            lexicon.find(name, spoken) for name in ("comparing", "more", "less")
        ):
            continue
        if not axis and (compared := _COMPARATIVE.get(code, NEVER).fullmatch(window[-1])):
            # An adjective that stands on no axis still says which of the two has more of it.
            axis, side, said = compared[0], 0, compared[0]
        if not axis:
            continue
        opened = at - len(window) + _index(window, said)
        left, right = (
            frozenset(tokens(" ".join(part))) - stop
            for part in ([*words[:opened], *words[opened + 1 : at]], words[at + 1 :])
        )
        near = left.intersection(tokens(" ".join(words[opened + 1 : at]))) - right
        return SidedComparison(axis, side, " ".join((said, *words[at : at + 3])), left - right, right - left, near)
    return None


def _is_counted(word: str) -> bool:
    return word[0].isdigit() or word in _ONE or word.endswith("fold")


def _index(window: Sequence[str], said: str) -> int:
    first = said.split(maxsplit=1)[0]
    return window.index(first) if first in window else len(window)


def _find_axis(window: str, lexicon: Lexicon) -> tuple[str, int, str]:
    """The axis, its side and its words, of words before a "than": more and less first, since they turn what follows."""
    degrees = [
        (match.end(), side, match[0].strip())
        for side, name in enumerate(("more", "less"))
        for match in lexicon.lists.get(name, NEVER).finditer(window)
    ]
    if degrees:
        # What stands between the two is what there is more or less of: "più bassi di".
        end, side, said = max(degrees)
        axis, of, word = _find_sided(window[end:], lexicon)
        return (axis, of ^ side, f"{said} {word}") if axis else (QUANTITY, side, said)
    return _find_sided(window, lexicon)


def _find_sided(window: str, lexicon: Lexicon) -> tuple[str, int, str]:
    """The axis of which a text has words of one side only, its side and its words; more and less first."""
    sides = find_sides(lexicon, window)
    names = [QUANTITY, *reversed(sides)] if QUANTITY in sides else list(reversed(sides))
    for name in names:
        one, other = sides[name]
        if bool(one) != bool(other):
            return name, int(bool(other)), one or other
    return "", 0, ""


def _find_unspaced(folded: str, lexicon: Lexicon, code: str) -> SidedComparison | None:
    if code == "zh" and (within := _WITHIN.search(folded)):
        axis, side, said = _find_axis(within[0], lexicon)
        return _to_sides(axis, side, said, folded[: within.start()], folded[within.end() :]) if axis else None
    for than in lexicon.than:
        place = _THAN_ZH.search(folded) if code == "zh" else None
        at = place.start() if place is not None else folded.find(than) if code == "ja" else -1
        if at < 0:
            continue
        before, after = folded[:at], folded[at + len(than) :]
        axis, side, said = _find_axis(after, lexicon)
        if not axis and code == "zh" and (degree := list(_DEGREE_ZH.finditer(after.rstrip("。")))):
            axis, side, said = QUANTITY, int(bool(degree[-1]["less"])), degree[-1][0]
        if not axis and code == "ja" and (predicate := _PREDICATE.match(after)):
            axis, side, said = predicate[1], 0, predicate[0]
        if not axis:
            continue
        if code == "ja":
            segments = [segment for segment in _SEGMENTS.split(before) if segment]
            if segments:
                return _to_sides(axis, side, said, "、".join(segments[:-1]), segments[-1])
        else:
            return _to_sides(axis, side, said, before, after.partition(said)[0])
    return None


def _to_sides(axis: str, side: int, said: str, left: str, right: str) -> SidedComparison:
    one, other = frozenset(tokens(left)), frozenset(tokens(right))
    return SidedComparison(axis, side, said, one - other, other - one)


def compare(claim: SidedComparison, stated: SidedComparison) -> int:
    """Whether two comparisons agree: 1 where they do, -1 where one says the contrary, 0 where nobody knows."""
    if claim.axis != stated.axis:
        return 0
    crossed = _meet(claim.left, stated.right) and _meet(claim.right, stated.left)
    straight = _meet(claim.left, stated.left) or _meet(claim.right, stated.right)
    if crossed:
        return 1 if claim.side != stated.side else -1
    if straight:
        return 1 if claim.side == stated.side else -1
    return 0


def _meet(one: Set[str], other: Set[str]) -> bool:
    return any(occurs(token, other) for token in one)


# --- directions that only numbers tell ---


def find_shift(numbers: TextNumbers, lexicon: Lexicon, code: str) -> tuple[Amount, Amount] | None:
    """What a number was before and what it became, where a text says from what to what."""
    # From which age to which is a range, and no change.
    aged = _AGED.findall(numbers.text) if code in UNSPACED else ()
    plain = [amount for amount in numbers.amounts if not amount.is_year and amount.text not in aged]
    for one, two in pairwise(plain):
        if one.unit != two.unit and one.unit and two.unit:
            continue
        between = numbers.text[one.end : two.start]
        before = numbers.text[max(0, one.start - 24) : one.start]
        opens, closes = lexicon.shift
        if code in UNSPACED:
            opened = any(word in before[-12:] for word in opens) or any(word in between[:6] for word in opens)
            if opened and len(between) <= 14 and not any(sign in between for sign in "、，。"):
                return one, two
            continue
        words = [word for word in _WORD.findall(between) if not word.isdigit() and word != "%"]
        last = _WORD.findall(before)[-1:]
        if last and last[0] in opens and closes & set(words) and len(words) <= _FARTHEST:
            return one, two
        dated = _DATED.match(numbers.text, two.end) or lexicon.find("earlier", numbers.text[two.end :][:_DATED_REACH])
        if lexicon.find("formerly", between) and len(words) <= _FARTHEST and dated:
            return two, one
    return None


def find_counted_comparison(claim: SidedComparison, numbers: TextNumbers, code: str) -> tuple[Amount, Amount] | None:
    """The numbers of the two sides of a claim's comparison, left and right, where a text has one for each in order."""
    units: dict[str, list[Amount]] = {}
    for amount in numbers.amounts:
        if not amount.is_year:
            units.setdefault(amount.unit, []).append(amount)
    if (
        code not in UNSPACED
        and len(units) == 2
        and all(len(units[unit]) == 1 for unit in units)
        and units.keys() & {""}
    ):
        # "seven minutes, and by car ten": the second unit goes without saying.
        units = {"": sorted((each for pair in units.values() for each in pair), key=lambda each: each.start)}
    for unit in ("percent", *units):
        pair = units.get(unit, [])
        if len(pair) != 2:
            continue
        near = _first_place(claim.near, numbers.text)
        left = near if near >= 0 else _first_place(claim.left, numbers.text)
        places = [left, _first_place(claim.right, numbers.text)]
        if min(places) < 0 or places[0] == places[1]:
            return None
        return (pair[0], pair[1]) if places[0] < places[1] else (pair[1], pair[0])
    return None


def _first_place(side: Set[str], text: str) -> int:
    """Where a text first names one side of a comparison, -1 where it does not."""
    if not side:
        return -1
    for match in _WORD.finditer(text):
        for token in tokens(match[0]):
            if occurs(token, side) and not token[0].isdigit():
                return match.start() + (match[0].find(token) if len(token) == 2 and not token.isascii() else 0)
    return -1


def find_direction(folded: str, lexicon: Lexicon) -> tuple[int, str]:
    """Whether a folded text speaks of more (1) or less (-1), with its words; 0 for neither and for both."""
    up, down = find_sides(lexicon, folded).get(QUANTITY, ("", ""))
    if bool(up) == bool(down):
        return 0, ""
    return (1, up) if up else (-1, down)
