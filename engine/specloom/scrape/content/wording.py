"""What can be said of a text alone: how long, how much a sentence, how often its words stand in content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from specloom.scrape.content.page import Page

WORD: Final = re.compile(r"[^\W\d_]+")
CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")

PHRASE: Final = 40
"""Characters up to which a block's whole text is looked up."""

SEEN: Final = 400
"""Characters of a text that are looked at closely: what a block is shows at its beginning."""

FIRST: Final = 12
"""Words of a text that are looked up."""

REMEMBERED: Final = 200
"""Characters up to which equal texts of a page are judged once."""

TEXT: Final = (
    "words",
    "nchars",
    "stops",
    "commas",
    "digits",
    "signs",
    "capitals",
    "function",
    "ends",
    "starts",
    "said_mean",
    "said_low",
    "said_high",
    "phrase",
    "money",
    "date",
    "cjk",
    "titled",
    "told",
    "quoted",
)
"""Columns of `Reader.read`."""

# Patterns that begin with one of few characters are searched for fast, what joins them by "or" is not.
_PRICE: Final = re.compile(r"[$€£¥₹]\s?\d")
_AMOUNT: Final = re.compile(r"\d\s?(?:[€£₹]|USD|EUR|zł|kr)\b")
_CLOCK: Final = re.compile(r"\d:\d\d")
_AGO: Final = re.compile(r"\bago\b")
_NUMERIC: Final = re.compile(r"\d[-/.]\d{1,2}[-/.]\d\d")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d[-/.年]\d")
_BEFORE_NUMBER: Final = re.compile(r" \d")
_MONTH: Final = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d")
_FIRST: Final = itemgetter(0)
_WIDE_STOPS: Final = "。！？…"
_WIDE_COMMAS: Final = "，、；："
_WIDE_SIGNS: Final = "©®™»›•·→"
_ASCII_LETTERS: Final = "".join(chr(at) if chr(at).isalpha() else " " for at in range(128))
_DIGITS: Final = b"0123456789"
_SIGNS: Final = b"|#@/&+"
_FUNCTION_WORDS: Final = frozenset(
    (
        "the", "of", "and", "to", "a", "in", "is", "it", "that", "for", "on", "was", "with", "as", "be", "by", "at",
        "from", "this", "have", "are", "or", "had", "not", "but", "what", "all", "were", "when", "we", "there", "can",
        "an", "your", "which", "their", "said", "if", "will", "each", "about", "how", "up", "out", "them", "then",
        "she", "he", "they", "his", "her", "i", "you", "my", "our", "its", "than", "so",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Words:
    """How much more likely what is called or says so is content than not: log odds of words, learned from pages."""

    names: Mapping[str, float]
    """Of words in classes and ids."""
    words: Mapping[str, float]
    """Of the first words of blocks."""
    phrases: Mapping[str, float]
    """Of whole short blocks, in lower case."""


class Reader:
    """Reads the texts of one page, equal ones once."""

    __slots__ = ("_phrases", "_said", "_seen", "_title", "_told", "_words")

    def __init__(self, words: Words, page: Page) -> None:
        self._words = words.words
        self._phrases = words.phrases
        self._title = frozenset(WORD.findall(page.title.lower()))
        self._told = " ".join(" ".join(text.split()) for text in (page.description, *page.bodies)).lower()
        self._said = frozenset(WORD.findall(self._told))
        self._seen: dict[str, tuple[float, ...]] = {}

    @property
    def told(self) -> int:
        """How many different words the page's data has."""
        return len(self._said)

    def read(self, text: str) -> tuple[float, ...]:
        """The columns of `TEXT` for a text that is not empty and has no runs of blanks."""
        row = self._seen.get(text)
        if row is None:
            row = self._read(text)
            if len(text) < REMEMBERED:
                self._seen[text] = row
        return row

    def _read(self, text: str) -> tuple[float, ...]:
        head = text[:SEEN]
        ascii_ = text.isascii()
        cjk = 0 if ascii_ else len(CJK.findall(text))
        count = len(text.split()) + cjk
        low = head.lower()
        # The same words, found twice as fast where there are no others than those of ASCII.
        plain = low.translate(_ASCII_LETTERS).split() if ascii_ else WORD.findall(low)
        first = split_text(plain, cjk)
        known, title, said = self._words, self._title, self._said
        scores = [known[word] for word in first if word in known]
        some = head.split(None, 40)[:40]
        last, start = text[-1], text[0]
        stops = head.count(".") + head.count("!") + head.count("?")
        commas = head.count(",") + head.count(";") + head.count(":")
        raw = head.encode("latin-1", "replace")
        bare = raw.translate(None, _DIGITS)
        digits = len(raw) - len(bare)
        signs = len(raw) - len(raw.translate(None, _SIGNS))
        if not ascii_:
            stops += sum(map(head.count, _WIDE_STOPS))
            commas += sum(map(head.count, _WIDE_COMMAS))
            signs += sum(map(head.count, _WIDE_SIGNS))
        per_char = 10 / len(head)
        return (
            count,
            len(text),
            stops * per_char,
            commas * per_char,
            digits / len(head),
            signs * per_char,
            0.0 if ascii_ and low == head else sum(map(str.isupper, map(_FIRST, some))) / len(some),
            sum(map(_FUNCTION_WORDS.__contains__, plain)) / max(len(plain), 1),
            _rate_end(last),
            1.0 if start.isupper() else 2.0 if start.islower() else 3.0 if start.isdigit() else 0.0,
            sum(scores) / len(scores) if scores else 0.0,
            min(scores, default=0.0),
            max(scores, default=0.0),
            self._phrases.get(low, 0.0) if len(text) <= PHRASE else 0.0,
            1.0 if digits and (_PRICE.search(head) or _AMOUNT.search(head)) else 0.0,
            1.0 if (digits or "ago" in low) and has_date(low) else 0.0,
            cjk / count,
            sum(map(title.__contains__, first)) / len(first) if first and title else 0.0,
            sum(map(said.__contains__, plain)) / len(plain) if plain and said else 0.0,
            1.0 if said and len(text) > 25 and low[:80] in self._told else 0.0,
        )


def has_date(low: str) -> bool:
    """Whether a date, a time or an age ("two days ago") is told in a text in lower case."""
    return bool(
        (":" in low and _CLOCK.search(low))
        or _NUMERIC.search(low)
        or (("19" in low or "20" in low) and _YEAR.search(low))
        or ("ago" in low and _AGO.search(low))
        or (_BEFORE_NUMBER.search(low) and _MONTH.search(low))
    )


def split_text(words: list[str], cjk: int) -> list[str]:
    """The first words of a text; where scripts without spaces are written, pairs of characters."""
    if not cjk:
        return words[:FIRST]
    run = "".join(words)[:16]
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _rate_end(last: str) -> float:
    if last in ".!?。！？…\"”'’»)":
        return 1.0
    if last in ":：":
        return 2.0
    return 3.0 if last.isdigit() else 0.0
