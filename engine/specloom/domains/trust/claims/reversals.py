"""What turns an English claim round without denying it: direction, comparison, quantity, count, an item left out.

Everything here asks for the same words on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from specloom.core import dataclass, load_table
from specloom.domains.text import is_number, stem, to_word_set
from specloom.domains.text.fold import fold
from specloom.domains.text.tokens import tokens

_TABLE = load_table(__file__, "cues.yaml")
_WORD = re.compile(r"[^\W_]+")
_AS_WRITTEN = to_word_set(_TABLE["as_written"])
_OPPOSITES = tuple(
    tuple(frozenset(word if word in _AS_WRITTEN else stem(word) for word in side.split()) for side in pair)
    for pair in _TABLE["opposites"]
)


def find_opposite(claim: str, sentence: str) -> tuple[str, str] | None:
    """A word of direction in a claim and its opposite in a sentence that has no word of the claim's own direction.

    The words are English; a sentence in another language has none.
    """
    claimed, directed = _to_directed(claim), _to_directed(sentence)
    for pair in _OPPOSITES:
        for side, other in (pair, pair[::-1]):
            own, opposed = _first(claimed, side), _first(directed, other)
            if own and opposed and not _first(claimed, other) and not _first(directed, side):
                return own, opposed
    return None


def _to_directed(text: str) -> list[tuple[str, str]]:
    """The words of a text, each as it is written and as it is compared."""
    words: list[str] = _WORD.findall(fold(text))
    return [(word, word if word in _AS_WRITTEN else stem(word)) for word in words if word not in ("high", "low")]


def _first(words: Sequence[tuple[str, str]], side: Set[str]) -> str:
    return next((word for word, compared in words if compared in side), "")


_MUCH, _LITTLE = frozenset(("more",)), frozenset(("less", "fewer"))
# Between a comparative and its "than": "emit less carbon dioxide than".
_WITHIN = 4
_SHORTEST_COMPARATIVE = 5
_MANY, _FEW = to_word_set(_TABLE["many"]), to_word_set(_TABLE["few"])
# Only a plural is counted: "100 psychology studies" are studies.
_PLURAL = r"([^\W\d_]{3,}(?<![su])s|people|children|women|men)\b"
_COUNTED = re.compile(rf"(?<![\w.,-])([0-9][0-9,.]*|[a-z]{{3,9}}) (?:{_PLURAL}|[a-z-]{{3,}} {_PLURAL})")
_LIST = re.compile(r"\b([^\W\d_]+)(?:,(?: and| or)?| and| or) (?=([^\W\d_]+))")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison as it is said, its word (a stem), whether it says less of it, and the tokens on either side."""

    said: str
    word: str
    less: bool
    left: frozenset[str]
    right: frozenset[str]


def find_comparison(text: str, terms: Set[str]) -> Comparison | None:
    """The comparison with "than" in a text, by those of the terms that stand on one side of it only."""
    words: list[str] = _WORD.findall(fold(text))
    if words.count("than") != 1:
        return None
    than = words.index("than")
    for at in range(than - 1, max(-1, than - 2 - _WITHIN), -1):
        word = words[at]
        if word in _MUCH or word in _LITTLE:
            between = " ".join(words[at + 1 : than]) or words[at - 1 if at else 0]
            compared, less = stem(between), word in _LITTLE
        elif len(word) >= _SHORTEST_COMPARATIVE and word.endswith("er") and word not in ("other", "rather"):
            compared, less = word, False
        else:
            continue
        left, right = (frozenset(tokens(" ".join(part))) & terms for part in (words[:at], words[than + 1 :]))
        return Comparison(" ".join(words[at : than + 3]), compared, less, left - right, right - left)
    return None


def find_turned_comparison(claim: str, sentence: str, terms: Set[str]) -> tuple[str, str] | None:
    """The comparison of a claim where a sentence has it the other way: less for more, or its sides exchanged."""
    own, other = find_comparison(claim, terms), find_comparison(sentence, terms)
    if own is None or other is None or not (own.left or own.right) or own.word != other.word:
        return None
    straight = (own.left & other.left or own.right & other.right) and not (
        own.left & other.right or own.right & other.left
    )
    crossed = own.left & other.right and own.right & other.left and not (own.left & other.left)
    if (straight and own.less != other.less) or (crossed and own.less == other.less):
        return own.said, other.said
    return None


def find_other_quantifier(claim: str, sentence: str) -> tuple[str, str] | None:
    """Few where the claim has most, or most where it has few, of the same thing."""
    own, other = _quantified(claim), _quantified(sentence)
    for noun, (word, many) in own.items():
        if noun in other and other[noun][1] is not many:
            return word, other[noun][0]
    return None


def _quantified(text: str) -> dict[str, tuple[str, bool]]:
    """The things of which a text says how many, each with that word and whether it means many."""
    words = [word for word in _WORD.findall(fold(text)) if word not in ("of", "the", "these", "those")]
    quantified: dict[str, tuple[str, bool]] = {}
    for at, word in enumerate(words[:-1]):
        alone = at == 0 or words[at - 1] not in ("a", "quite", "not", "at", "very")
        if alone and (word in _MANY or word in _FEW):
            quantified.setdefault(stem(words[at + 1]), (word, word in _MANY))
    return quantified


def find_missing_item(claim: str, denied: str, specific: Set[str]) -> str:
    """The item of a claim's list that a denied clause is about and nothing else of the claim, "" without one."""
    words = frozenset(tokens(denied)) & specific
    if len(words) != 1:
        return ""
    items = {token for pair in _LIST.finditer(claim) for word in pair.groups() for token in tokens(word)}
    return next((token for token in words if token in items), "") if len(items & specific) > 1 else ""


def find_other_count(claim: str, sentence: str, nouns: Set[str]) -> tuple[str, str] | None:
    """How many of something a claim has and a sentence has, where they differ and neither counts anything else."""
    own, other = _count(claim, nouns), _count(sentence, nouns)
    if len(own) != 1 or len(other) != 1 or own[0][1] != other[0][1] or own == other:
        return None
    return " ".join(own[0]), " ".join(other[0])


def _count(text: str, nouns: Set[str]) -> list[tuple[str, str]]:
    """The numbers of a text that count one of these nouns, each with it: "12 whales", "12 grey whales"."""
    counted = []
    for match in _COUNTED.finditer(fold(text)):
        words = tokens(match[0])
        if len(words) > 1 and is_number(words[0]) and words[-1] in nouns:
            counted.append((words[0], words[-1]))
    return counted
