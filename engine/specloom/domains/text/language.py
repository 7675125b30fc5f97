"""The language of a text, told by its function words, and what each language denies with."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from specloom.core import dataclass, load_table

from .fold import find_script, fold
from .tables import to_word_set
from .tokens import STOP_WORDS, is_stop_word, stem

# Words that are looked at: enough to tell a language, few enough to cost nothing.
_SAMPLE = 400
_WORD = re.compile(r"[^\W\d_]+")
_KANA = re.compile("[\u3041-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")
# Letters that one of two languages has, which share most of their function words.
_BY_LETTER = {"ru": re.compile("[ыэъё]"), "uk": re.compile("[іїєґ]")}
_BY_SCRIPT = {"GREEK": "el", "ARABIC": "ar", "DEVANAGARI": "hi"}


@dataclass(frozen=True, slots=True)
class LanguageProfile:
    """What is known of one language: its code (ISO 639-1), function words, words of every report, and cues of denial.

    `has_cues` is whether denials can be found in it. Words are folded: small letters without accents.
    """

    code: str
    stop: frozenset[str]
    generic: frozenset[str]
    negations: frozenset[str]
    not_denying: tuple[str, ...]
    refuting: tuple[str, ...]
    breaks: frozenset[str]

    @property
    def has_cues(self) -> bool:
        """Whether there is a list of cues for the language."""
        return bool(self.negations)


UNKNOWN = LanguageProfile("", frozenset(), frozenset(), frozenset(), (), (), frozenset())


def find_language(text: str) -> LanguageProfile:
    """The language of a text, UNKNOWN when neither its script nor its function words tell.

    A short text may hold no function word, and related languages share many: what two languages explain equally well
    is unknown.
    """
    script = find_script(text)
    languages = load_languages()
    if script == "CJK":
        code = "ja" if _KANA.search(text) else "ko" if _HANGUL.search(text) else "zh"
        return languages[code]
    if script in _BY_SCRIPT:
        return languages[_BY_SCRIPT[script]]
    words = _WORD.findall(fold(text[: _SAMPLE * 12]))[:_SAMPLE]
    counts = {code: sum(word in language.stop for word in words) for code, language in languages.items()}
    best = max(counts.values(), default=0)
    leaders = [code for code, count in counts.items() if count == best]
    if script == "CYRILLIC" and len(leaders) > 1:
        leaders = [code for code in leaders if code in _BY_LETTER and _BY_LETTER[code].search(text.lower())]
    if not best or len(leaders) != 1:
        return UNKNOWN
    profile = languages[leaders[0]]
    # One word of two letters is an abbreviation as often as an article ("AI", "MI").
    return profile if best > 1 or any(len(word) > 2 and word in profile.stop for word in words) else UNKNOWN


def is_function_word(token: str, language: LanguageProfile) -> bool:
    """Whether a token says nothing by itself in a language; English ones count as such everywhere."""
    return is_stop_word(token) or token in language.stop


@cache
def load_languages() -> Mapping[str, LanguageProfile]:
    """Every language of the bundled data set by its code."""
    table = load_table(__file__, "languages.yaml")
    return {code: _to_language(code, entry) for code, entry in table["languages"].items()}


def _to_language(code: str, entry: Mapping[str, object]) -> LanguageProfile:
    phrases = entry.get("not_denying", ())
    stop = to_word_set(str(entry.get("stop", "")))
    return LanguageProfile(
        code=code,
        # As words and as tokens: the stemmer takes an ending off any word in plain letters.
        stop=(stop | STOP_WORDS if code == "en" else stop) | {stem(word) for word in stop},
        generic=to_word_set(str(entry.get("generic", ""))),
        negations=to_word_set(str(entry.get("negations", ""))),
        not_denying=tuple(str(phrase) for phrase in phrases) if isinstance(phrases, list) else (),
        refuting=tuple(str(entry.get("refuting", "")).split()),
        breaks=to_word_set(str(entry.get("breaks", ""))),
    )


# --- Which language a few words look like, where no function word tells: by the letters that follow each other in
# them -----------------------------------------------------------------------------------------------------------------


_SPELLING_WORD = re.compile(r"[^\W\d_]{3,}")
_NAME = re.compile(r"(?<=[^\s.!?:])\s+[^\W\d_a-z][\w’'-]*")
# Languages with enough words in the data set to know their spelling by.
_ENOUGH = 90
# Logarithm of how much likelier another language has to be, for each three letters: what a handful of words can tell.
_MARGIN = 0.25


@dataclass(frozen=True, slots=True)
class Spelling:
    """How often three letters follow each other in the words of a language, and how often two do."""

    threes: Mapping[str, int]
    twos: Mapping[str, int]

    def weigh(self, words: Iterable[str]) -> float:
        """The mean logarithm of how likely each letter of some words is behind the two before it."""
        weights = [
            math.log((self.threes.get(three, 0) + 0.1) / (self.twos.get(three[:2], 0) + 2.6))
            for word in words
            for three in _to_threes(word)
        ]
        return sum(weights) / len(weights) if weights else 0.0


def looks_foreign(text: str, language: LanguageProfile) -> bool:
    """Whether the words of a short text are spelt as in another language than this one, names left out.

    False where that is not certain, and for a language of which too few words are known.
    """
    spellings = load_spellings()
    # A function word that several languages share tells that it is one of them.
    if language.code not in spellings or not language.stop.isdisjoint(fold(text).split()):
        return False
    words = _SPELLING_WORD.findall(fold(_NAME.sub(" ", text)))
    if not words:
        return False
    own = spellings[language.code].weigh(words)
    return max(spelling.weigh(words) for spelling in spellings.values()) - own > _MARGIN


@cache
def load_spellings() -> Mapping[str, Spelling]:
    """The spelling of every language of the bundled data set that has enough words, by its code."""
    words_by_code = ((code, language.stop | language.generic) for code, language in load_languages().items())
    return {
        code: _learn(words) for code, words in words_by_code if len(words) >= _ENOUGH and all(map(str.isascii, words))
    }


def _learn(words: Iterable[str]) -> Spelling:
    threes = Counter(three for word in words for three in _to_threes(word))
    twos: Counter[str] = Counter()
    for three, count in threes.items():
        twos[three[:2]] += count
    return Spelling(threes, twos)


def _to_threes(word: str) -> Iterable[str]:
    padded = f"^{word}$"
    return (padded[at : at + 3] for at in range(len(padded) - 2))
