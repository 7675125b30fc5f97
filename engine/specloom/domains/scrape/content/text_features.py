"""What can be said of a text alone: how long, how much a sentence, how often its words stand in content."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from functools import cache, lru_cache
from itertools import accumulate, chain, repeat
from operator import itemgetter
from typing import Any, Final

import numpy as np

from specloom.core import dataclass

from .blocks import VOCABULARY, NameOdds
from .page import PageFacts

# --- Characters of many texts counted at once, by what they are: with one look-up a character, whatever is asked ------


COUNTED: Final = {
    "stops": ".!?。！？…",
    "commas": ",;:，、；：",
    "digits": "0123456789",
    "signs": "|#@/&+©®™»›•·→",
}
CJK_RANGES: Final = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xAC00, 0xD7AF))
"""Kana, ideographs and syllables of Hangul: scripts in which a character is about as much as a word."""

WORD: Final = re.compile(r"[^\W\d_]+")
"""A run of letters, of any script."""

MOST: Final = 1023
"""Characters of a text that are counted at most."""

_FIELD: Final = 10
"""Bits of a count: those of a text are added up as one number."""
_CJK_FIELD: Final = len(COUNTED) * _FIELD
_SPACE, _UPPER, _LETTER = 1, 2, 4
_LAST: Final = 0xFFFF
"""The last character that is told apart; it is none. Beyond are emoji and rare signs, of which none is counted."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Counts for each text."""

    stops: Any
    commas: Any
    digits: Any
    signs: Any
    cjk: Any
    words: Any
    """Between blanks."""
    capitalised: Any
    """Words that begin with a capital letter."""


def count_glyphs(texts: Sequence[str]) -> Glyphs:
    """The counts for texts that are not empty and have no more than `MOST` characters each."""
    codes, starts = _encode(texts)
    fields, kinds = _tables()
    counts = np.add.reduceat(fields.take(codes), starts)
    of_code = kinds.take(codes)
    # A word begins where none goes on: at what is no blank, behind one or at the beginning.
    begins = ~of_code & _SPACE
    begins[1:] &= of_code[:-1]
    words = np.add.reduceat(begins, starts, dtype=np.int32)
    capitals = np.add.reduceat(begins & (of_code >> 1), starts, dtype=np.int32)
    stops, commas, digits, signs, cjk = (counts >> at * _FIELD & MOST for at in range(len(COUNTED) + 1))
    return Glyphs(stops, commas, digits, signs, cjk, words, capitals)


def split_letters(texts: Sequence[str]) -> tuple[list[str], Any]:
    """The runs of letters of all texts in one list, and how many each text has."""
    codes, starts = _encode(texts)
    letter = _tables()[1].take(codes) & _LETTER
    begins = letter.copy()
    begins[1:] &= ~letter[:-1]
    counts = np.add.reduceat(begins > 0, starts, dtype=np.int32)
    plain = np.where(letter, codes, 32)
    raw = plain.astype(np.uint8 if codes.dtype == np.uint8 else np.uint32).tobytes()
    return raw.decode("latin-1" if codes.dtype == np.uint8 else "utf-32-le").split(), counts


def _encode(texts: Sequence[str]) -> tuple[Any, Any]:
    """The texts as numbers of characters, with a line end behind each, and where each begins."""
    text = "\n".join(texts)
    sizes = np.fromiter(map(len, texts), np.intp, len(texts)) + 1
    starts = np.concatenate(([0], sizes.cumsum()[:-1]))
    if text.isascii():
        return np.frombuffer(text.encode("latin-1"), np.uint8), starts
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.minimum(codes, _LAST), starts


@cache
def _tables() -> tuple[Any, Any]:
    """For each character, one in the field of what it counts as; and its kinds as bits."""
    fields = np.zeros(_LAST + 1, np.int64)
    for at, characters in enumerate(COUNTED.values()):
        fields[[ord(character) for character in characters]] = 1 << at * _FIELD
    for first, last in CJK_RANGES:
        fields[first : last + 1] = 1 << _CJK_FIELD
    everything = [chr(code) for code in range(_LAST)]
    kinds = np.zeros(_LAST + 1, np.uint8)
    for bit, is_one in ((_SPACE, str.isspace), (_UPPER, str.isupper)):
        kinds[:_LAST] |= np.fromiter(map(is_one, everything), bool, _LAST) * np.uint8(bit)
    for letters in WORD.finditer("".join(everything)):
        kinds[letters.start() : letters.end()] |= _LETTER
    return fields, kinds


CJK: Final = re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in CJK_RANGES)}]")

PHRASE: Final = 40
"""Characters up to which a block's whole text is looked up."""

SEEN: Final = 400
"""Characters of a text that are looked at closely: what a block is shows at its beginning."""

KNOWN: Final = 1024
"""Characters that are remembered as the first or the last of a text."""

FIRST: Final = 12
"""Words of a text that are looked up."""

SOME: Final = 40
"""Words of a text whose first letters are looked at."""

TEXT: Final = (
    "words", "nchars", "stops", "commas", "digits", "signs", "capitals", "function", "ends", "starts", "said_mean",
    "said_low", "said_high", "phrase", "money", "date", "cjk", "titled", "told", "quoted",
)  # fmt: skip
"""Columns of `read_texts`."""

# Patterns that begin with one of few characters are searched for fast, what joins them by "or" is not.
_PRICE: Final = re.compile(r"[$€£¥₹]\s?\d")
_AMOUNT: Final = re.compile(r"\d\s?(?:[€£₹]|USD|EUR|zł|kr)\b")
_CLOCK: Final = re.compile(r"\d:\d\d")
_AGO: Final = re.compile(r"\bago\b")
_NUMERIC: Final = re.compile(r"\d[-/.]\d{1,2}[-/.]\d\d")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d[-/.年]\d")
_BEFORE_NUMBER: Final = re.compile(r" \d")
_MARK: Final = re.compile(r"[-/.:年](?=\d)")
_MONTHS: Final = frozenset(VOCABULARY["words"]["months"].split())
_MONTH: Final = re.compile(rf"\b(?:{'|'.join(sorted(_MONTHS))})[a-z]*\.?\Z")
_ENDS: Final = frozenset("abcdefghijklmnopqrstuvwxyz.")
"""Characters that the name of a month ends with before a number."""
_MONEY: Final = ("$", "€", "£", "¥", "₹", "USD", "EUR", "zł", "kr")
_FIRST: Final = itemgetter(0)
_FUNCTION_WORDS: Final = frozenset(VOCABULARY["words"]["function"].split())
_FUNCTION_BITS: Final = dict.fromkeys(_FUNCTION_WORDS, 1)


@dataclass(frozen=True, slots=True)
class Words:
    """How much more likely what is called or says so is content than not: log odds of words, learned from pages."""

    names: Mapping[str, float]
    """Of words in classes and ids."""
    words: Mapping[str, float]
    """Of the first words of blocks."""
    phrases: Mapping[str, float]
    """Of whole short blocks, in lower case."""
    named: NameOdds = field(init=False, repr=False, compare=False)
    """What classes and ids say by `names`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", NameOdds(self.names))


class PageClaims:
    """What a page says of itself, as words."""

    __slots__ = ("text", "title", "words")

    def __init__(self, page: PageFacts) -> None:
        self.title = frozenset(WORD.findall(page.title.lower()))
        self.text = " ".join(" ".join(text.split()) for text in (page.description, *page.bodies)).lower()
        self.words = frozenset(WORD.findall(self.text))


def read_texts(texts: Sequence[str], words: Words, claims: PageClaims) -> Any:
    """The columns of `TEXT` as rows of an array, for texts that are not empty and have no runs of blanks."""
    places = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    table = np.empty((len(TEXT), len(places)), np.float32)
    for at, column in enumerate(_read(list(places), words, claims)):
        table[at] = column
    return table if len(places) == len(texts) else table[:, [places[text] for text in texts]]


def _read(texts: Sequence[str], words: Words, claims: PageClaims) -> tuple[Any, ...]:
    heads = [text[:SEEN] for text in texts]
    lows = [head.lower() for head in heads]
    lengths = np.fromiter(map(len, texts), float, len(texts))
    read = np.minimum(lengths, SEEN)
    glyphs = count_glyphs(heads)
    count, cjk, capitals = glyphs.words.astype(float), glyphs.cjk, glyphs.capitalised / np.minimum(glyphs.words, SOME)
    for at in np.nonzero(glyphs.words > SOME)[0].tolist():
        capitals[at] = sum(map(str.isupper, map(_FIRST, heads[at].split(None, SOME)[:SOME]))) / SOME
    for at in np.nonzero(lengths > SEEN)[0].tolist():
        count[at] = len(texts[at].split())
        cjk[at] = len(CJK.findall(texts[at]))
    count += cjk
    plain, sizes = split_letters(lows)
    *odds, titled = _look_up(plain, sizes, cjk, words.words, claims.title)
    function, told = _share_words(plain, sizes, claims.words)
    digits = glyphs.digits
    return (
        count,
        lengths,
        glyphs.stops * (10 / read),
        glyphs.commas * (10 / read),
        digits / read,
        glyphs.signs * (10 / read),
        capitals,
        function,
        [_rate_end(text[-1]) for text in texts],
        [_rate_start(text[0]) for text in texts],
        *odds,
        [words.phrases.get(low, 0.0) if len(text) <= PHRASE else 0.0 for low, text in zip(lows, texts, strict=True)],
        _find_prices(heads, digits.tolist()),
        find_dates(lows),
        cjk / count,
        titled,
        told,
        [1.0 if len(text) > 25 and low[:80] in claims.text else 0.0 for low, text in zip(lows, texts, strict=True)]
        if claims.words
        else 0.0,
    )


def _look_up(
    plain: Sequence[str], sizes: Any, cjk: Any, known: Mapping[str, float], title: Collection[str]
) -> tuple[Any, Any, Any, Any]:
    """Of the first words of each text: the mean, lowest and highest odds of those known, and the share in the title."""
    begins = sizes.cumsum() - sizes
    ends = begins + np.minimum(sizes, FIRST)
    firsts = [plain[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    for at in np.nonzero(cjk)[0].tolist():
        firsts[at] = split_text(plain[begins[at] : begins[at] + sizes[at]], int(cjk[at]))
    first = list(chain.from_iterable(firsts))
    counts = np.fromiter(map(len, firsts), np.intp, len(firsts))
    odds = np.fromiter(map(known.get, first, repeat(np.nan)), float, len(first))
    is_known = odds == odds  # noqa: PLR0124 - what is not a number is not itself
    several = np.maximum(_sums(is_known, counts), 1)
    mean = _sums(np.where(is_known, odds, 0.0), counts) / several
    lowest, highest = np.zeros(len(counts)), np.zeros(len(counts))
    has = counts > 0
    if first:
        starts = (counts.cumsum() - counts)[has]
        lowest[has] = np.minimum.reduceat(np.where(is_known, odds, np.inf), starts)
        highest[has] = np.maximum.reduceat(np.where(is_known, odds, -np.inf), starts)
    return (
        mean,
        np.where(lowest < np.inf, lowest, 0.0),
        np.where(highest > -np.inf, highest, 0.0),
        _share(first, counts, title),
    )


def _share(words: Sequence[str], sizes: Any, known: Collection[str]) -> Any:
    """The share of each text's words that is known."""
    if not known:
        return np.zeros(len(sizes))
    return _sums(np.fromiter(map(known.__contains__, words), bool, len(words)), sizes) / np.maximum(sizes, 1)


def _share_words(words: Sequence[str], sizes: Any, claimed: frozenset[str]) -> tuple[Any, Any]:
    """The shares of each text's words that are function words, and that the page says of itself; in one go."""
    if not claimed:
        return _share(words, sizes, _FUNCTION_WORDS), np.zeros(len(sizes))
    bits = {**_FUNCTION_BITS, **dict.fromkeys(claimed, 2), **dict.fromkeys(_FUNCTION_WORDS & claimed, 3)}
    found = np.fromiter(map(bits.get, words, repeat(0)), np.uint8, len(words))
    several = np.maximum(sizes, 1)
    return _sums((found & 1).view(bool), sizes) / several, _sums((found >> 1).view(bool), sizes) / several


def _sums(values: Any, sizes: Any) -> Any:
    """Sums of runs of values, of so many each."""
    run = np.concatenate(([0], values.cumsum()))
    ends = sizes.cumsum()
    return run[ends] - run[ends - sizes]


def _find_prices(heads: Sequence[str], digits: Sequence[int]) -> list[float]:
    """1 for each text that tells an amount of money; most pages have no sign of any."""
    whole = "\n".join(heads)
    if not any(sign in whole for sign in _MONEY):
        return [0.0] * len(heads)
    return [
        1.0 if has and (_PRICE.search(head) or _AMOUNT.search(head)) else 0.0
        for has, head in zip(digits, heads, strict=True)
    ]


def find_dates(lows: Sequence[str]) -> list[float]:
    """1 for each text in lower case that tells a date, a time or an age ("two days ago"), else 0."""
    dates = [0.0] * len(lows)
    whole = "\n".join(lows)
    begins = list(accumulate([len(low) + 1 for low in lows], initial=0))
    # All texts are searched at once for what is seen fast, and looked at one by one where it is.
    for at in {bisect_right(begins, mark.start()) - 1 for mark in _MARK.finditer(whole)}:
        low = lows[at]
        if _CLOCK.search(low) or _NUMERIC.search(low) or _YEAR.search(low):
            dates[at] = 1.0
    if "ago" in whole:
        for at, low in enumerate(lows):
            if "ago" in low and _AGO.search(low):
                dates[at] = 1.0
    for number in _BEFORE_NUMBER.finditer(whole):
        end = number.start()
        word = whole[whole.rfind(" ", 0, end) + 1 : end]
        if word[-1:] in _ENDS and (word[:3] in _MONTHS if word.isalpha() and word.isascii() else _MONTH.search(word)):
            dates[bisect_right(begins, end) - 1] = 1.0
    return dates


def split_text(words: Sequence[str], cjk: int) -> list[str]:
    """The first words of a text; where scripts without spaces are written, pairs of characters."""
    if not cjk:
        return list(words[:FIRST])
    run = "".join(words)[:16]
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


@lru_cache(maxsize=KNOWN)
def _rate_start(first: str) -> float:
    return 1.0 if first.isupper() else 2.0 if first.islower() else 3.0 if first.isdigit() else 0.0


@lru_cache(maxsize=KNOWN)
def _rate_end(last: str) -> float:
    if last in ".!?。！？…\"”'’»)":
        return 1.0
    if last in ":：":
        return 2.0
    return 3.0 if last.isdigit() else 0.0
