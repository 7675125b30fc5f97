"""Numbers as they are meant, in digits or written out: with unit and bound, and dates apart from amounts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Any, Final

from specloom.core import dataclass, load_table
from specloom.domains.text.fold import fold

from .lexicon import NEVER, UNSPACED

_TABLE: Final = load_table(__file__, "amounts.yaml")
_COMMAS: Final = frozenset(_TABLE["commas"].split())
_KINDS: Final = {unit: kind for kind, units in _TABLE["measures"].items() for unit in units.split()}
_NEAR, _ABOUT, _WIDEST = 0.06, 0.15, 3.0
"""How far two numbers may be apart and mean the same: as they are, with a word like "about", and beyond a bound."""
_MOST = 40
_LARGEST_RATIO = 20
_PARTS_AT_MOST, _EXACT = 4, 0.001
_DIGITS: Final = "〇零一二两三四五六七八九"
_VALUES: Final = {**{sign: value for value, sign in enumerate("〇一二三四五六七八九")}, "零": 0, "两": 2}
_PLACES: Final = {"十": 10, "百": 100, "千": 1000}
_MYRIADS: Final = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_HAN: Final = re.compile(r"[0-9.,〇零一二两三四五六七八九十百千万萬亿億]{1,30}")
# A single sign is a number only before what is counted: 一部 is a part, 三次 three times.
_COUNTERS: Final = frozenset("年月日人名时時小分秒次回倍件成割杯个個岁歳度只頭匹所位项隻元円周天省か条里公米克")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number: its value, its unit ("" for none that is known, "year" for what can only be meant as one), how it was
    written, where it ends, and whether it is a bound (-1 under, 1 over) or no more than near it.
    """

    value: float
    unit: str
    text: str
    start: int
    end: int
    bound: int = 0
    near: bool = False

    @property
    def is_year(self) -> bool:
        """Whether the number can only be meant as a year."""
        return self.unit == "in"


@dataclass(frozen=True, slots=True)
class Date:
    """A date as far as it is given: 0 for what is not."""

    year: int
    month: int
    day: int
    text: str

    def contradicts(self, other: Date) -> bool:
        """Whether two dates cannot be of one event: they differ in the month, the day, or the year."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return any(one and two and one != two for one, two in pairs)


@dataclass(frozen=True, slots=True)
class TextNumbers:
    """The amounts and the dates of a text, in order; `text` is the folded text that their places are of."""

    text: str
    amounts: tuple[Amount, ...]
    dates: tuple[Date, ...]

    @property
    def years(self) -> frozenset[int]:
        """Every year, alone or in a date."""
        alone = (int(amount.value) for amount in self.amounts if amount.is_year)
        return frozenset((*alone, *(date.year for date in self.dates if date.year)))


@dataclass(frozen=True, slots=True)
class _Words:
    """What numbers are written with in a language."""

    numbers: Mapping[str, float]
    scales: Mapping[str, float]
    shares: Sequence[tuple[str, float]]
    share: re.Pattern[str]
    number: re.Pattern[str]
    scaled: re.Pattern[str]
    bare: re.Pattern[str]
    months: Sequence[re.Pattern[str]]
    month: re.Pattern[str]
    bounds: Mapping[int, re.Pattern[str]]
    about: re.Pattern[str]
    bound: re.Pattern[str]


def find_numbers(text: str, code: str) -> TextNumbers:
    """The numbers of a text in a language (ISO 639-1); beyond the first forty none is looked at."""
    folded = _PERCENT.sub("%", fold(_DOLLARS.sub("usd ", text)))
    words = _load_words(code)
    folded = _to_digits(folded, code, words)
    dates, rest = _take_dates(folded, code, words)
    amounts: list[Amount] = []
    for match in _NUMBER.finditer(rest):
        if len(amounts) == _MOST:
            break
        for value, start, end in _to_values(match, code):
            amounts.append(_to_amount(rest, value, start, end, code, words))
    return TextNumbers(rest, tuple(amounts), tuple(dates))


def drop_bounds(folded: str, code: str) -> str:
    """A folded text without the words that only make a number a bound: more than 20 is no more."""
    words = _load_words(code)
    return words.bound.sub(" ", _to_digits(_PERCENT.sub("%", folded), code, words))


# --- comparing ---


def agree(claimed: Amount, stated: Amount) -> bool:
    """Whether a number that is claimed may be the one that is stated: equal, rounded, or within its bound."""
    one, two = claimed.value, stated.value
    if one == two:
        return True
    if claimed.unit and stated.unit and claimed.unit != stated.unit:
        return False
    if not one or not two:
        return False
    ratio = two / one
    near = _ABOUT if claimed.near or stated.near else _NEAR
    if abs(ratio - 1) <= near and not _are_exact(claimed, stated):
        return True
    if claimed.bound > 0 or stated.bound < 0:
        return 1 - _NEAR <= ratio <= _WIDEST
    if claimed.bound < 0 or stated.bound > 0:
        return 1 / _WIDEST <= ratio <= 1 + _NEAR
    return False


def _are_exact(one: Amount, two: Amount) -> bool:
    """Whether both are small counts, of which the next one is another."""
    return all(each.value < 20 and each.value == int(each.value) and each.unit != "percent" for each in (one, two))


def are_alike(one: Amount, two: Amount) -> bool:
    """Whether two numbers measure the same: in one unit, or both in none that is known."""
    return one.unit == two.unit


def is_derived(claimed: Amount, stated: Sequence[Amount], *, exact: bool = False) -> bool:
    """Whether a number is the sum, the difference, a part or the change of two that are stated.

    `exact` admits equal parts only, as of numbers that stand in sentences far from each other.
    """
    slack = _EXACT * claimed.value if exact else _to_step(claimed)
    if claimed.unit == "percent" and any(
        each.unit == "percent" and abs(100 - each.value - claimed.value) <= _NEAR * min(claimed.value, each.value)
        for each in stated
    ):
        # What is left of the whole: 82 percent had it, 18 percent had not.
        return True
    for one, two in combinations(stated[:12], 2):
        unit = _to_shared(claimed, one, two)
        low, high = sorted((one.value, two.value))
        if (
            claimed.unit != "percent"
            and 2 <= low <= _PARTS_AT_MOST
            and low == int(low)
            and abs(high / low - claimed.value) <= slack
        ):
            # Forty in two groups are twenty in each.
            return True
        if exact or unit is None:
            continue
        made = [high - low, high + low] if claimed.unit in (unit, "point") else []
        if low and claimed.unit == "percent":
            made += [100 * (high - low) / low, 100 * (high - low) / high, 100 * low / high]
        elif low and not claimed.unit and claimed.value < _LARGEST_RATIO:
            made.append(high / low)
        if any(abs(each - claimed.value) <= slack for each in made if each):
            return True
    return False


def _to_shared(claimed: Amount, one: Amount, two: Amount) -> str | None:
    """The unit of two numbers that may be reckoned with, None where they have not the same."""
    if one.unit == two.unit:
        return one.unit
    if {one.unit, two.unit} == {"percent", "point"} and claimed.unit == "percent":
        return "percent"
    # "seven minutes, and by car ten": a unit that goes without saying.
    bare = not (one.unit and two.unit) and "percent" not in (one.unit, two.unit)
    return one.unit or two.unit if bare else None


def _to_step(amount: Amount) -> float:
    """How far a number may be from an exact one by the rounding of its last digit, and more with "about" before it."""
    digits = f"{amount.value:.6g}"
    if "e" in digits:
        return _NEAR * amount.value
    whole, _, part = digits.partition(".")
    step = 10.0 ** -len(part) if part else 10.0 ** (len(whole) - len(whole.rstrip("0")))
    return max(step, _ABOUT * amount.value) if amount.near else min(step, _NEAR * amount.value)


def to_kind(unit: str) -> str:
    """What a unit measures, "" where that is not known."""
    return str(_KINDS.get(unit, ""))


# --- reading ---

_DOLLARS: Final = re.compile(r"\$(?=\s?[0-9])")
_PERCENT: Final = re.compile(r"(?<!\w)(?:pour cent|por ciento|per cento|por cento)(?!\w)")
_NUMBER: Final = re.compile(
    r"(?<![\w.])[0-9]{1,2}:[0-9]{2}(?![0-9])|[0-9]{1,12}(?:[.,'’][0-9]{1,12}|[ \u00a0\u202f][0-9]{3}(?![0-9])){0,5}"
)
_DOTTED: Final = re.compile(r"[0-9]{1,3}(?:[.'’ \u00a0\u202f][0-9]{3})+(?:,[0-9]+)?")
_COMMAED: Final = re.compile(r"[0-9]{1,3}(?:[,'’ \u00a0\u202f][0-9]{3})+(?:\.[0-9]+)?")
_POINT: Final = re.compile(r"[0-9]+\.[0-9]+")
_COMMA: Final = re.compile(r"[0-9]+,[0-9]+")
_PARTS: Final = re.compile(r"[0-9]+")


def _to_values(match: re.Match[str], code: str) -> list[tuple[float, int, int]]:
    raw, start = match[0], match.start()
    if ":" in raw:
        return []
    commas = code in _COMMAS
    if commas and _DOTTED.fullmatch(raw):
        whole, _, part = raw.partition(",")
        return [(float(re.sub(r"\D", "", whole) + (f".{part}" if part else "")), start, match.end())]
    if not commas and _COMMAED.fullmatch(raw):
        whole, _, part = raw.partition(".")
        return [(float(re.sub(r"\D", "", whole) + (f".{part}" if part else "")), start, match.end())]
    if _POINT.fullmatch(raw) or (commas and _COMMA.fullmatch(raw)) or _PARTS.fullmatch(raw):
        return [(float(raw.replace(",", ".")), start, match.end())]
    return [(float(part[0]), start + part.start(), start + part.end()) for part in _PARTS.finditer(raw)]


_BEHIND: Final = re.compile(r"[\s\u00a0-]{0,2}([^\W\d_°µμ%]{1,20}|%|°c|[µμ]g)?(?:[\s-]([^\W\d_]{1,20}))?")
# "600メートルを超える": the bound stands behind its number.
_OVER: Final = re.compile("[^、。，0-9]{0,5}(?:以上|を超え|を上回)")
_CURRENCY: Final = {"usd": "dollar", "€": "euro", "£": "pound"}
_REACH: Final = 28


def _to_amount(text: str, value: float, start: int, end: int, code: str, words: _Words) -> Amount:
    before = text[max(0, start - _REACH) : start]
    unit = (
        _CURRENCY.get(before[-4:].strip()[-3:], "")
        or _CURRENCY.get(before.rstrip()[-1:], "")
        or _find_unit(text, end, code)
    )
    bound = next((bound for bound, pattern in words.bounds.items() if pattern.search(before)), 0)
    near = bool(words.about.search(before)) or "~" in text[end : end + 3]
    if code in UNSPACED and _OVER.match(text, end):
        bound = 1
    is_year = not unit and value == int(value) and 1500 <= value <= 2099 and end - start == 4
    if unit == "year" and 1500 <= value <= 2099:
        is_year = True
    return Amount(value, "in" if is_year else unit, text[start:end].strip(), start, end, bound, near)


def _find_unit(text: str, end: int, code: str) -> str:
    units, patterns = _load_units()
    if code in UNSPACED:
        behind = text[end : end + 10].lstrip(" ~")
        return next((unit for form, unit in patterns if behind.startswith(form)), "")
    match = _BEHIND.match(text, end)
    for word in match.groups() if match else ():
        if word is None:
            continue
        if word in units:
            return units[word]
        for form, unit in patterns:
            if form.endswith("*") and word.startswith(form[:-1]):
                return unit
    return ""


@cache
def _load_units() -> tuple[Mapping[str, str], Sequence[tuple[str, str]]]:
    forms = [(form, unit) for unit, words in _TABLE["units"].items() for form in fold(words).replace("_", " ").split()]
    longest = sorted(forms, key=lambda each: -len(each[0]))
    return {form: unit for form, unit in forms if not form.endswith("*")}, longest


# --- written-out numbers ---


def _to_digits(folded: str, code: str, words: _Words) -> str:
    """A folded text with its written numbers in digits; a share is put as percent, with a mark that it is no more."""
    if code in UNSPACED:
        folded = _PERCENT_OF.sub(lambda match: f"{_han(match[1]):g}%", folded)
        folded = _PART_OF.sub(lambda match: f"{100 * _han(match[2]) / max(_han(match[1]), 1):.1f}%~", folded)
        folded = _TENTHS.sub(_to_tenths, folded)
        for phrase, value in words.shares:
            folded = folded.replace(phrase, f"{value:g}%~")
        return _HAN.sub(_to_han, folded)
    folded = words.share.sub(lambda match: f"{dict(words.shares)[match[0]]:g} %~", folded)
    folded = words.number.sub(lambda match: f"{words.numbers[match[0]]:.12g}", folded)
    folded = _COMPOUND.sub(lambda match: str(int(match[1]) + (1 if match[2] == "one" else int(match[2]))), folded)
    folded = words.scaled.sub(lambda match: _to_scaled(match, code, words), folded)
    return words.bare.sub(lambda match: f"{words.numbers[match[0]]:.12g}", folded)


def _to_scaled(match: re.Match[str], code: str, words: _Words) -> str:
    number = _NUMBER.fullmatch(match[1])
    values = _to_values(number, code) if number else []
    return f"{values[0][0] * words.scales[match[2]]:.12g}" if len(values) == 1 else match[0]


# "thirty-six", by what its halves have become.
_COMPOUND: Final = re.compile(r"(?<![\w.,])([2-9]0)-([1-9]|one\b)(?![\w.,]?[0-9])")
_PERCENT_OF: Final = re.compile(r"百分之([〇零一二两三四五六七八九十百]{1,6})")
_PART_OF: Final = re.compile(r"([二三四五六七八九十])分(?:之|の)([一二三四五六七八九])")
_TENTHS: Final = re.compile(
    r"(?<![〇零一二两三四五六七八九十百千万0-9])([一二两三四五六七八九1-9])(?:成|割)(?!果|功|人|立|为|本|员|绩|熟|り)"
)


def _to_tenths(match: re.Match[str]) -> str:
    return f"{10 * _han(match[1]):g}%~"


def _to_han(match: re.Match[str]) -> str:
    raw = match[0]
    trimmed = raw.strip(".,")
    if not trimmed or all(sign in "0123456789.," for sign in trimmed):
        return raw
    lead, tail = raw[: raw.index(trimmed)], raw[raw.index(trimmed) + len(trimmed) :]
    following = match.string[match.end() : match.end() + 1]
    if len(trimmed) == 1 and (following not in _COUNTERS or tail):
        return raw
    return f"{lead}{_han(trimmed):.12g}{tail}"


def _han(text: str) -> float:
    """The value of a number in Chinese signs, in digits, or in both ("29万9048")."""
    if all(sign in _DIGITS for sign in text):
        return float("".join(str(_VALUES[sign]) for sign in text))
    total, section, digits = 0.0, 0.0, ""
    for sign in text.replace(",", ""):
        if sign in "0123456789.":
            digits += sign
        elif sign in _VALUES:
            digits = digits + str(_VALUES[sign]) if digits and digits != "0" else str(_VALUES[sign])
        elif sign in _PLACES:
            section += _number(digits, 1.0) * _PLACES[sign]
            digits = ""
        else:
            total += (section + _number(digits, 0.0 if section else 1.0)) * _MYRIADS[sign]
            section, digits = 0.0, ""
    return total + section + _number(digits, 0.0)


def _number(digits: str, empty: float) -> float:
    try:
        return float(digits) if digits else empty
    except ValueError:
        return empty


# --- dates ---

_CJK_DATE: Final = re.compile(r"(?:([0-9]{4})年)?([0-9]{1,2})月([0-9]{1,2})[日号]|([0-9]{4})年([0-9]{1,2})月")
_CJK_YEAR: Final = re.compile(r"([0-9]{4})年(?!間|间|度比)")


def _take_dates(folded: str, code: str, words: _Words) -> tuple[list[Date], str]:
    """The dates of a text, and the text with blanks in their places."""
    dates: list[Date] = []

    def take(match: re.Match[str], read: Callable[[re.Match[str]], Date]) -> str:
        dates.append(read(match))
        return " " * len(match[0])

    if code in UNSPACED:
        rest = _CJK_DATE.sub(lambda match: take(match, _read_cjk), folded)
        return dates, _CJK_YEAR.sub(lambda match: take(match, lambda each: Date(int(each[1]), 0, 0, each[0])), rest)
    rest = words.month.sub(lambda match: take(match, lambda each: _read_month(each, words)), folded)
    return [date for date in dates if date.month], rest


def _read_cjk(match: re.Match[str]) -> Date:
    return Date(int(match[1] or match[4] or 0), int(match[2] or match[5]), int(match[3] or 0), match[0])


def _read_month(match: re.Match[str], words: _Words) -> Date:
    name = match["month"]
    month = next((at for at, pattern in enumerate(words.months, 1) if pattern.fullmatch(name)), 0)
    day = match["before"] or match["after"]
    return Date(int(match["year"] or 0), month, int(day or 0), match[0].strip())


# --- tables ---


def _pattern(words: Sequence[str], *, spaced: bool = True) -> re.Pattern[str]:
    if not words:
        return NEVER
    body = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{body})(?!\w)" if spaced else f"(?:{body})")


def _to_bounds(words: str, *, spaced: bool) -> re.Pattern[str]:
    body = "|".join(sorted((re.escape(word.replace("_", " ")) for word in fold(words).split()), key=len, reverse=True))
    return (
        re.compile(rf"(?<!\w)(?:{body})(?: \w{{1,4}})? ?(?=[0-9])" if spaced else rf"(?:{body})(?=[0-9])")
        if body
        else NEVER
    )


@cache
def _load_words(code: str) -> _Words:
    entry: Mapping[str, Any] = _TABLE["languages"].get(code) or _TABLE["languages"]["en"]
    spaced = code not in UNSPACED

    def to_table(name: str) -> dict[str, float]:
        return {fold(str(word)).replace("_", " "): float(value) for word, value in entry.get(name, {}).items()}

    def to_numbers() -> dict[str, float]:
        words, compound = to_table("numbers"), str(entry.get("compound", ""))
        tens = [(word, value) for word, value in words.items() if 20 <= value < 100 and value % 10 == 0]
        ones = [*((word, value) for word, value in words.items() if value < 10), (str(entry.get("unit", "")), 1.0)]
        made = {compound.format(ten=ten, one=one): high + low for ten, high in tens for one, low in ones}
        return {**words, **made} if compound else words

    def to_bound(name: str) -> re.Pattern[str]:
        words = [word.replace("_", " ") for word in fold(str(entry.get(name, ""))).split()]
        if not words:
            return NEVER
        body = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        # At most one short word stands between the bound and its number.
        return re.compile(rf"(?<!\w)(?:{body})(?: \w{{1,4}})? ?[$€£]?\Z" if spaced else rf"(?:{body})\Z")

    numbers, scales, shares = to_numbers(), to_table("scales"), to_table("shares")
    months = [
        "/".join(fold(part).replace("*", r"\w{0,4}") for part in str(m).split("/")) for m in entry.get("months", ())
    ]
    names = "|".join(part for month in months for part in sorted(month.split("/"), key=len, reverse=True)) or "(?!)"
    month = (
        rf"(?<!\w)(?:(?P<before>[0-9]{{1,2}})(?:\.|er|º|st|nd|rd|th)?(?: de| of)? )?(?P<month>{names})(?!\w)"
        r"\.?(?: (?P<after>[0-9]{1,2})(?:st|nd|rd|th)?(?![0-9]))?"
        r"(?:,? (?:de |del |of )?(?P<year>1[5-9][0-9]{2}|20[0-9]{2})(?![0-9]))?"
    )
    scale = "|".join(sorted(scales, key=len, reverse=True)) or "(?!)"
    return _Words(
        numbers=numbers,
        scales=scales,
        shares=tuple(sorted(shares.items(), key=lambda each: -len(each[0]))),
        share=_pattern(list(shares), spaced=spaced),
        number=_pattern([word for word in numbers if word not in scales]),
        bare=_pattern([word for word in numbers if word in scales]),
        scaled=re.compile(rf"(?<![\w.,])([0-9]{{1,9}}(?:[.,][0-9]{{1,6}})?) ({scale})(?!\w)\.?"),
        months=tuple(re.compile("|".join(month.split("/"))) for month in months),
        month=re.compile(month),
        bounds={1: to_bound("over"), -1: to_bound("under")},
        about=to_bound("about"),
        bound=_to_bounds(f"{entry.get('over', '')} {entry.get('under', '')}", spaced=spaced),
    )
