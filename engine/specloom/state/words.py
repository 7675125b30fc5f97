"""A text as the words it is about, each reduced to one form, with how often it has them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

MOST_TERMS = 400
"""Distinct words of one item that are kept, the most frequent first; the longest notes have more."""

# Scripts that do not part words with blanks are compared by pairs of characters, as search engines do.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# Vowels of Indic scripts and Tibetan are marks on the letter before them, and as much of the word as that.
_MARKED = range(0x0900, 0x1000)
_MARKS = "".join(chr(code) for code in _MARKED if unicodedata.category(chr(code)).startswith("M"))
_NUKTA = 7
"""The combining class of a dot that many leave out."""
_SHORT_I = ("и\u0306", "й")
"""The one letter of Russian that is not the one without its mark."""
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}])"
_WORD = re.compile(rf"[{_UNSPACED}]+|\b[^\W\d_{_UNSPACED}](?:\+\+|\#)(?!\w)|{_LETTER}+(?:['’.]{_LETTER}+)*")
_STEMMERS: Mapping[str, str] = MappingProxyType(
    {
        r"[a-z]+": "english",
        r"[\u0370-\u03ff]+": "greek",
        r"[\u0400-\u04ff]+": "russian",
        r"[\u0530-\u058f]+": "armenian",
        r"[\u0600-\u06ff]+": "arabic",
        r"[\u0900-\u097f]+": "hindi",
        r"[\u0b80-\u0bff]+": "tamil",
    }
)
"""By its letters, whose endings a word is stripped of; where languages share letters, those of the commonest one."""
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
    flat = unicodedata.normalize("NFC", "".join(char for char in flat.replace(*_SHORT_I) if not _is_dropped(char)))
    for match in _WORD.finditer(flat):
        word = match[0]
        if _IS_UNSPACED.match(word):
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in _STOP_WORDS:
            yield stem(word)


def _is_dropped(char: str) -> bool:
    """Whether a mark changes how a letter is written and not which one it is."""
    kind = unicodedata.combining(char)
    return kind != 0 and (ord(char) not in _MARKED or kind == _NUKTA)


def is_single(term: str) -> bool:
    """Whether this is one character of a script without blanks, which other items have in pairs."""
    return len(term) == 1 and _IS_UNSPACED.match(term) is not None


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """The word without its ending (by the snowballstemmer library), where its letters tell a language."""
    word = word.replace("’", "'").removesuffix("'s")
    language = next((language for letters, language in _STEMMERS.items() if re.fullmatch(letters, word)), "")
    if len(word) < 4 or not language:
        return word
    import snowballstemmer

    stemmed: str = snowballstemmer.stemmer(language).stemWord(word)
    return stemmed or word
