"""Journals and conferences under the names that references give them: whole, abbreviated or as initials."""

from __future__ import annotations

import re

from specloom.domains.text import to_word_set
from specloom.domains.text.fold import fold

# Words that abbreviations leave out (ISO 4 drops articles, conjunctions and prepositions).
_SMALL = to_word_set(
    """a an and as at by de del der des die das du el et for fur für i in l la las le les los of on part section series
    ser the und van von y zur"""
)
# Initials that are not those of the name, or under which a name is better known. Each line is one venue.
_ALIASES = tuple(
    frozenset(line.split("|"))
    for line in (
        "pnas|proceedings of the national academy of sciences|proceedings of the national academy of sciences of the "
        "united states of america|proc natl acad sci u s a|proc natl acad sci usa",
        "nejm|new england journal of medicine|n engl j med",
        "jama|journal of the american medical association|jama the journal of the american medical association",
        "bmj|british medical journal|bmj british medical journal",
        "neurips|nips|advances in neural information processing systems|neural information processing systems"
        "|conference on neural information processing systems",
        "icml|international conference on machine learning",
        "iclr|international conference on learning representations",
        "cvpr|conference on computer vision and pattern recognition"
        "|ieee conference on computer vision and pattern recognition"
        "|ieee cvf conference on computer vision and pattern recognition",
        "acl|annual meeting of the association for computational linguistics",
        "emnlp|conference on empirical methods in natural language processing",
        "naacl|conference of the north american chapter of the association for computational linguistics",
        "jacs|journal of the american chemical society|j am chem soc",
        "prl|physical review letters|phys rev lett",
        "lancet|the lancet",
        "science|science new york n y|science new york ny",
        "nature|nature london",
        "cacm|communications of the acm|commun acm",
        "angew chem int ed|angewandte chemie international edition|angew chem int ed engl",
        "z phys|zeitschrift fur physik",
        "jmlr|journal of machine learning research",
        "mmwr|morbidity and mortality weekly report|mmwr morb mortal wkly rep",
    )
)
# Where a work is kept or by whom it was printed, which says nothing about the journal.
_KEEPERS = to_word_set(
    """arxiv biorxiv medrxiv ssrn pubmed pmc elsevier springer wiley online jstor researchgate zenodo sciencedirect
    preprint"""
)


_EDITION = re.compile(
    r"""\b(?:1[89]|20)[0-9]{2}\b|\b[0-9]+(?:st|nd|rd|th)\b
    |^proceedings\s+of\s+the(?=\s+(?:ieee|acm|annual|international|conference|[0-9]))""",
    re.VERBOSE,
)


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


def shares_words(first: str, second: str) -> bool:
    """Whether two names have a word in common, whole or shortened, that is more than "journal" or "proceedings"."""
    left = [word for word in _significant(normalize_venue(first)) if word not in _COMMON]
    right = [word for word in _significant(normalize_venue(second)) if word not in _COMMON]
    return any(_shortens(one, two) or _shortens(two, one) for one in left for two in right)


_COMMON = to_word_set(
    """journal j j. proceedings proc international int conference conf annals ann transactions trans letters lett review
    rev reviews research res science sci sciences"""
)


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
