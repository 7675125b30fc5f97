"""What in a sentence may speak against a claim: a denial, another number, the opposite direction. Cues, no verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from specloom.trust.folding import fold
from specloom.trust.languages import Language
from specloom.trust.quantities import Quantity, find_quantities
from specloom.trust.words import stem

# Clause marks; a hyphen or a full stop inside a number is none, and neither is the comma before the year of a day.
_CLAUSE = re.compile(r",(?!\s?(?:1[5-9]|20)[0-9]{2}\b)(?![0-9])|[;:()\[\]–—](?![0-9])|\s-\s|[。，、；：（）]")
_CONTRACTED = re.compile(r"\b(can|do|does|did|is|are|was|were|has|have|had|wo|would|could|should|must)n['’]?t\b")
_WORD = re.compile(r"[^\W_]+")
_UNDOING = 3

CUE_KINDS = ("negation", "refutation", "number", "direction")
"""What may speak against a claim."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One thing to look at: its kind (CUE_KINDS), the sentence, and the words that did it.

    `claimed` and `found` are the two sides of a number or a direction, "denied" and "stated" of what only the claim
    denies, "" elsewhere.
    """

    kind: str
    sentence: str
    words: str
    claimed: str = ""
    found: str = ""


def to_clauses(text: str, language: Language) -> list[str]:
    """A sentence in clauses: parted at marks, and before words that open a clause of their own; folded."""
    return _to_clauses(fold(text), language)


def find_denials(text: str, language: Language) -> tuple[tuple[str, str], ...]:
    """The denials of a sentence: each with the words that deny, and the part of the sentence that it reaches.

    A negation reaches to the next clause mark, or to a word that opens a clause of its own; "not only" and its like
    reach nothing, and neither do two negations side by side, which are left to the reader.
    """
    folded = _CONTRACTED.sub(r"\1 not", fold(text))
    for phrase in language.not_denying:
        folded = folded.replace(phrase, " ")
    found: list[tuple[str, str]] = []
    for clause in _to_clauses(folded, language):
        hits = _find_negations(clause, language)
        if hits:
            found.append((hits[0], clause))
    return tuple(found)


def _to_clauses(folded: str, language: Language) -> list[str]:
    clauses: list[str] = []
    for part in _CLAUSE.split(folded):
        current: list[str] = []
        for word in part.split():
            if word in language.breaks and current:
                clauses.append(" ".join(current))
                current = []
            current.append(word)
        clauses.append(" ".join(current))
    return [clause for clause in clauses if clause]


def _find_negations(clause: str, language: Language) -> list[str]:
    if language.code in ("ja", "zh"):
        hits = [cue for cue in sorted(language.negations, key=len, reverse=True) if cue in clause]
        return hits[:1]
    words: list[str] = _WORD.findall(clause)
    at = [place for place, word in enumerate(words) if word in language.negations]
    # French denies with two words, and Romance and Slavic languages may deny twice to deny once. In English two that
    # stand together undo each other ("not without"); further apart they deny two things.
    if language.code == "en" and any(two - one <= _UNDOING for one, two in pairwise(at)):
        return []
    return [" … ".join(dict.fromkeys(words[place] for place in at))] if at else []


def is_refuted(text: str, language: Language) -> str:
    """The word of a sentence that calls something wrong, "" when none does or when it is itself denied."""
    folded = fold(text)
    if language.code in ("ja", "zh"):
        return next((cue for cue in language.refuting if cue in folded), "")
    words: list[str] = _WORD.findall(folded)
    for word in words:
        if any(word.startswith(root) for root in language.refuting) and not any(
            word in clause for _, clause in find_denials(text, language)
        ):
            return word
    return ""


# Opposites as people report change and comparison; a line is one pair, its sides parted by a stroke. Comparatives are
# taken as they are written, since "high" says nothing about a direction; verbs in any form.
_AS_WRITTEN = frozenset(("higher", "lower", "better", "worse", "faster", "slower"))
_OPPOSITES = tuple(
    tuple(frozenset(word if word in _AS_WRITTEN else stem(word) for word in side.split()) for side in line.split("|"))
    for line in (
        "increase rise grow raise elevate higher gain upward surge climb"
        "|decrease decline fall reduce lower lowers lowered drop shrink downward diminish lessen",
        "improve better benefit enhance|worsen worse harm impair deteriorate",
        "protect protective prevent|cause trigger induce provoke",
        "faster accelerate|slower decelerate",
        "safe|unsafe dangerous toxic",
        "effective efficacious|ineffective",
    )
)


def find_opposite(claim: str, sentence: str) -> tuple[str, str] | None:
    """A word of direction in a claim and its opposite in a sentence that has no word of the claim's own direction.

    The words are English; a sentence in another language has none.
    """
    claimed, said = _to_directed(claim), _to_directed(sentence)
    for pair in _OPPOSITES:
        for side, other in (pair, pair[::-1]):
            own, opposed = _first(claimed, side), _first(said, other)
            if own and opposed and not _first(claimed, other) and not _first(said, side):
                return own, opposed
    return None


def _to_directed(text: str) -> list[tuple[str, str]]:
    """The words of a text, each as it is written and as it is compared."""
    words: list[str] = _WORD.findall(fold(text))
    return [(word, word if word in _AS_WRITTEN else stem(word)) for word in words if word not in ("high", "low")]


def _first(words: Sequence[tuple[str, str]], wanted: Set[str]) -> str:
    return next((word for word, compared in words if compared in wanted), "")


def find_number_conflict(claim: str, sentence: str) -> tuple[Quantity, Quantity] | None:
    """A number of a claim and another of the same unit in a sentence that does not have the claimed one.

    Only numbers with a unit are compared, and only where each side has one of that unit: with several it cannot be
    told which belongs to what. A number that both sides have conflicts with none, even where one leaves its unit out.
    """
    claimed, found = find_quantities(claim), find_quantities(sentence)
    shared = {each.value for each in claimed} & {each.value for each in found}
    for quantity in claimed:
        same = [each for each in found if each.unit == quantity.unit]
        own = [each for each in claimed if each.unit == quantity.unit]
        if quantity.unit and len(same) == len(own) == 1 and shared.isdisjoint((quantity.value, same[0].value)):
            return quantity, same[0]
    return None


def find_other_unit(claim: str, sentence: str) -> tuple[Quantity, Quantity] | None:
    """A number of a claim that a sentence has with another unit of the same kind: 12 metres for 12 kilometres."""
    found = find_quantities(sentence)
    for quantity in find_quantities(claim):
        same = [each for each in found if each.value == quantity.value]
        if quantity.kind and len(same) == 1 and same[0].kind == quantity.kind and same[0].unit != quantity.unit:
            return quantity, same[0]
    return None


def find_other_year(claim: str, sentence: str) -> tuple[str, str] | None:
    """The year of a claim and another in a sentence, where each has exactly one."""
    claimed, found = ({each.value for each in find_quantities(text) if each.is_year} for text in (claim, sentence))
    return (claimed.pop(), found.pop()) if len(claimed) == len(found) == 1 and claimed != found else None
