"""Journals and conferences under the names that references give them: whole, abbreviated or as initials."""

from __future__ import annotations

import re
from functools import lru_cache

from specloom.core import load_table
from specloom.domains.text import to_word_set
from specloom.domains.text.fold import fold

_TABLE = load_table(__file__, "venues.yaml")
_SMALL, _COMMON, _KEEPERS = (to_word_set(_TABLE[name]) for name in ("small", "common", "keepers"))
_ALIASES = tuple(map(frozenset, _TABLE["aliases"]))
_EDITION = re.compile(
    r"""\b(?:1[89]|20)[0-9]{2}\b|\b[0-9]+(?:st|nd|rd|th)\b
    |^proceedings\s+of\s+the(?=\s+(?:ieee|acm|annual|international|conference|[0-9]))""",
    re.VERBOSE,
)


@lru_cache(maxsize=256)
def normalize_venue(text: str) -> str:
    """A venue as its words: small letters, no accents, punctuation or leading article, without year and edition."""
    text = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", fold(text))
    text = _EDITION.sub(" ", text)
    words = re.findall(r"[^\W_]+", text)
    return " ".join(words[1:] if words[:1] == ["the"] else words)


def same_venue(first: str, second: str) -> bool:
    """Whether two names may be names of one venue."""
    one, two = normalize_venue(first), normalize_venue(second)
    if not one or not two:
        return False
    if one == two or any(one in aliases and two in aliases for aliases in _ALIASES):
        return True
    left, right = _significant(one), _significant(two)
    if not left or not right:
        return False
    return _abbreviates(left, right) or _abbreviates(right, left) or _initials(one, right) or _initials(two, left)


def is_part(word: str, venue: str) -> bool:
    """Whether a word may stand for a venue or for a word of it, shortened or as initials."""
    word, name = normalize_venue(word), normalize_venue(venue)
    if not word or not name:
        return False
    return same_venue(word, venue) or any(_shortens(word, whole) for whole in name.split())


def is_keeper(text: str) -> bool:
    """Whether a name is that of an archive, index or publishing house rather than of a journal."""
    return any(word in _KEEPERS for word in normalize_venue(text).split())


def is_shorthand(text: str) -> bool:
    """Whether a name is made of initials (ApJ, A&A, T-PAMI), which may be short for anything."""
    bare = re.sub(r"[\W_]", "", text)
    words = re.findall(r"[^\W_]+", text)
    capitals = sum(character.isupper() for character in bare)
    is_one = len(bare) <= _LONGEST_SHORTHAND and len(words) <= 2 and capitals >= 2
    return bool(words) and (is_one or all(len(word) <= 2 for word in words))


_LONGEST_SHORTHAND = 7


def shares_words(first: str, second: str) -> bool:
    """Whether two names have a word in common, whole or shortened, that is more than "journal" or "proceedings"."""
    left = [word for word in _significant(normalize_venue(first)) if word not in _COMMON]
    right = [word for word in _significant(normalize_venue(second)) if word not in _COMMON]
    return any(_shortens(one, two) or _shortens(two, one) for one in left for two in right)


def _significant(name: str) -> list[str]:
    return [word for word in name.split() if word not in _SMALL]


def _abbreviates(short: list[str], whole: list[str]) -> bool:
    """Whether every word of one name shortens the word of the other at the same place."""
    # One word alone is a name and not short for another: Cell is not Cellulose.
    return len(short) == len(whole) > 1 and all(map(_shortens, short, whole))


def _shortens(short: str, whole: str) -> bool:
    if short == whole:
        return True
    if len(short) >= len(whole) or short[0] != whole[0]:
        return False
    if whole.startswith(short):
        return True
    # "natl" for national, "engl" is a beginning, "wkly" for weekly: letters in order, the last one included.
    letters = iter(whole)
    return len(short) >= 3 and all(letter in letters for letter in short) and short[-1] in whole[-3:]


def _initials(short: str, whole: list[str]) -> bool:
    compact = short.replace(" ", "")
    return 3 <= len(compact) <= 8 and compact == "".join(word[0] for word in whole)
