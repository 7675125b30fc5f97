"""A text as the words it is about, each reduced to one form, with how often it has them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

MOST_TERMS = 400
"""Distinct words of one item that are kept, the most frequent first; the longest notes have more."""

# Scripts that do not part words with blanks are compared by pairs of characters, as search engines do.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['’.][^\W_{_UNSPACED}]+)*")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_STOP_WORDS: frozenset[str] = frozenset(
    re.findall(
        r"\w+",
        """a about after all also am an and any are as at be been before being but by can could did
        do does during for from had has have he her his how i if in into is it its may might more
        most must my no not of on or our she should so some such than that the their them then there
        these they this those to too under up us was we were what when where which while who why
        will with would you your""",
    )
)


def count_terms(texts: Iterable[str]) -> dict[str, int]:
    """How often each word occurs in the texts, by its stem; words that say nothing are left out."""
    counted: Counter[str] = Counter()
    for text in texts:
        counted.update(_terms(text))
    return dict(counted.most_common(MOST_TERMS))


def read_texts(value: Any, fields: Iterable[str]) -> list[str]:
    """The texts in these fields of a value, lists of texts opened."""
    if not isinstance(value, dict):
        return []
    found = []
    for field in fields:
        one = value.get(field)
        found += [one] if isinstance(one, str) else [text for text in one or [] if isinstance(text, str)]
    return found


def _terms(text: str) -> Iterable[str]:
    flat = unicodedata.normalize("NFKD", text).casefold()
    flat = unicodedata.normalize("NFC", "".join(char for char in flat if not unicodedata.combining(char)))
    for match in _WORD.finditer(flat):
        word = match[0]
        if _IS_UNSPACED.match(word):
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in _STOP_WORDS:
            yield stem(word)


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """The word without its English ending (Porter 2, by the snowballstemmer library); others stay as they are."""
    word = word.replace("’", "'").removesuffix("'s")
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    import snowballstemmer

    stemmed: str = snowballstemmer.stemmer("english").stemWord(word)
    return stemmed
