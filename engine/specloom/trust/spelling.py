"""Which language a few words look like, where no function word tells: by the letters that follow each other in them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from specloom.trust.folding import fold
from specloom.trust.languages import Language, load_languages

_WORD = re.compile(r"[^\W\d_]{3,}")
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


def looks_foreign(text: str, language: Language) -> bool:
    """Whether the words of a short text are spelt as in another language than this one, names left out.

    False where that is not certain, and for a language of which too few words are known.
    """
    spellings = load_spellings()
    # A function word that several languages share tells that it is one of them.
    if language.code not in spellings or not language.stop.isdisjoint(fold(text).split()):
        return False
    words = _WORD.findall(fold(_NAME.sub(" ", text)))
    if not words:
        return False
    own = spellings[language.code].weigh(words)
    return max(spelling.weigh(words) for spelling in spellings.values()) - own > _MARGIN


@cache
def load_spellings() -> Mapping[str, Spelling]:
    """The spelling of every language of the bundled data set that has enough words, by its code."""
    known = ((code, language.stop | language.generic) for code, language in load_languages().items())
    return {code: _learn(words) for code, words in known if len(words) >= _ENOUGH and all(map(str.isascii, words))}


def _learn(words: Iterable[str]) -> Spelling:
    threes = Counter(three for word in words for three in _to_threes(word))
    twos: Counter[str] = Counter()
    for three, count in threes.items():
        twos[three[:2]] += count
    return Spelling(threes, twos)


def _to_threes(word: str) -> Iterable[str]:
    padded = f"^{word}$"
    return (padded[at : at + 3] for at in range(len(padded) - 2))
