"""Titles laid word beside word: how many slips of the pen part them, and which differences are none."""

from __future__ import annotations

import re

from specloom.trust.folding import fold, is_near, strip_markup
from specloom.trust.words import stem, to_word_set, tokens

# Words that people leave out or change when they copy a title, and that no two works differ in.
_SMALL = to_word_set("a an and are as at by for from in is its of on or the to with")
_MOST_SLIPS = 2
# A capital A in the middle of a title is no article: influenza A, hepatitis A.
_ARTICLE = re.compile(r"(?:^|[^\w\s]\s*)A\s")
_DIGRAPH = re.compile(r"(?<=[aou])e")
# Words one slip apart that are two words; those that differ in the first two letters (absorption, adsorption) or in the
# vowel of the ending (nitrate, nitrite) are never taken for one.
_PAIRS = frozenset(
    frozenset(map(stem, pair.split("|")))
    for pair in (
        "casual|causal", "martial|marital", "morality|mortality", "prostate|prostrate", "insulin|inulin",
        "cysteine|cystine", "conservation|conversation", "complement|compliment", "discreet|discrete",
        "stationary|stationery", "principal|principle", "thymine|thiamine", "interment|internment",
    )
)  # fmt: skip


def count_slips(one: str, two: str) -> int | None:
    """In how many words of weight two titles differ by no more than a slip; None when they differ in more.

    A word may stand in the other title as two.
    """
    left, right = to_words(one), to_words(two)
    slips = at = to = 0
    while at < len(left) and to < len(right):
        if left[at] == right[to]:
            at, to = at + 1, to + 1
        elif _join(left, at) == right[to]:
            at, to = at + 2, to + 1
        elif _join(right, to) == left[at]:
            at, to = at + 1, to + 2
        elif _is_slip(left[at], right[to]):
            at, to, slips = at + 1, to + 1, slips + 1
        else:
            return None
    ended = at == len(left) and to == len(right) and len(left) > 1
    return slips if ended and slips <= _MOST_SLIPS else None


def to_words(title: str) -> list[str]:
    """The words of a title that tell works apart, in order; letters that stand alone (vitamin D) are among them."""
    title = fold(title) if "\\" in title or "$" in title else _ARTICLE.sub(" ", strip_markup(title))
    return [word if word == "A" else word.casefold() for word in tokens(title) if word not in _SMALL]


def _join(words: list[str], at: int) -> str:
    return "".join(words[at : at + 2])


def _is_slip(one: str, two: str) -> bool:
    if len(one) >= 4 and len(two) >= 4 and _DIGRAPH.sub("", one) == _DIGRAPH.sub("", two):
        return True
    if not is_near(one, two) or one[:2] != two[:2] or frozenset((one, two)) in _PAIRS:
        return False
    changed = [(first, second) for first, second in zip(one[-3:], two[-3:], strict=True) if first != second]
    # One vowel for another near the end.
    return len(one) != len(two) or len(changed) != 1 or not all(letter in "aeiouy" for letter in changed[0])
