"""What says the reverse of a claim without denying it: an opposite word, a turned comparison, another direction."""

from __future__ import annotations

from typing import Final

from specloom.core import dataclass
from specloom.domains.text.tokens import tokens

from .amounts import TextNumbers, drop_bounds
from .comparisons import (
    QUANTITY,
    SidedComparison,
    compare,
    find_compared,
    find_counted_comparison,
    find_direction,
    find_shift,
)
from .denials import find_denials
from .lexicon import Lexicon, find_shared, find_sides
from .matter import ClaimPassage, Subject
from .reversals import find_opposite, find_other_quantifier, find_turned_comparison
from .weight import occurs

_MOSTLY: Final = 0.6
"""What a sentence has to have of a claim, so that an opposite word counts wherever in it it stands."""
_NEXT: Final = 14
"""Characters before an opposite word that name what it is said of."""


@dataclass(frozen=True, slots=True)
class Reversal:
    """A reversal of a claim: `direction` or `opposite`, with the words of the claim and those of the passage."""

    kind: str
    claimed: str
    stated: str


def find_reversal(subject: Subject, passage: ClaimPassage, numbers: TextNumbers) -> Reversal | None:
    """How a passage says the reverse of a claim without denying it, None where it does not."""
    lexicon, claim = subject.lexicon, subject.claim
    english = subject.language.code == "en"
    denied = bool(find_denials(passage.clause, subject.language))
    if english and not denied and (pair := find_opposite(claim, passage.sentence)):
        return Reversal("direction", *pair)
    if lexicon is not None:
        compared = find_compared(subject.folded, lexicon, subject.language.code)
        if compared is not None and (verdict := _compare(compared, subject, lexicon, passage, numbers)):
            return verdict[0]
        if turned := _find_opposite_words(subject, lexicon, passage, numbers):
            return turned
    if english:
        pair = find_turned_comparison(claim, passage.sentence, subject.query.weights.keys())
        pair = pair or find_other_quantifier(claim, passage.sentence)
        return Reversal("direction", *pair) if pair else None
    return None


def _compare(
    compared: SidedComparison, subject: Subject, lexicon: Lexicon, passage: ClaimPassage, numbers: TextNumbers
) -> tuple[Reversal | None] | None:
    """What a passage says of the comparison of a claim, in words or in numbers; None where it compares nothing."""
    code = subject.language.code
    texts = dict.fromkeys((passage.clause, passage.numbered, passage.folded))
    stated = next((found for text in texts if (found := find_compared(text, lexicon, code))), None)
    if stated is not None and (verdict := compare(compared, stated)):
        return (Reversal("direction", compared.words, stated.words) if verdict < 0 else None,)
    if pair := find_counted_comparison(compared, numbers):
        left, right = pair
        more = left.value - right.value if compared.side == 0 else right.value - left.value
        return (Reversal("direction", compared.words, f"{left.text} : {right.text}") if more < 0 else None,)
    return None


def _find_opposite_words(
    subject: Subject, lexicon: Lexicon, passage: ClaimPassage, numbers: TextNumbers
) -> Reversal | None:
    """Opposite words of claim and passage, in the clause that has most of the claim or its number."""
    code = subject.language.code
    claim = drop_bounds(subject.folded, code)
    chosen = (passage.clause, passage.numbered)
    whole = (passage.folded,) if passage.matter >= _MOSTLY * subject.whole else ()
    for text in dict.fromkeys((*chosen, *passage.clauses, *whole)):
        if find_denials(text, subject.language):
            continue
        clause = drop_bounds(text, code)
        neutral = find_shared(lexicon, claim, clause)
        own, found = find_sides(lexicon, claim, neutral), find_sides(lexicon, clause, neutral)
        for name in own.keys() & found.keys():
            (one, other), (left, right) = own[name], found[name]
            if bool(one) != bool(other) and bool(left) != bool(right) and bool(left) != bool(one):
                mine, stated = one or other, left or right
                # The claim's own word elsewhere in the sentence may be said of what the claim is about.
                certain = (text in chosen or text in whole) and mine not in passage.folded
                if certain or _stand_alike(claim, mine, clause, stated, subject):
                    return Reversal("direction" if name == QUANTITY else "opposite", mine, stated)
    if find_denials(passage.clause, subject.language):
        return None
    more, words = find_direction(subject.folded, lexicon)
    if not more:
        return None
    if (still := lexicon.find("still", passage.clause)) and not find_direction(passage.clause, lexicon)[0]:
        return Reversal("opposite", words, still)
    if shift := find_shift(numbers, lexicon, subject.language.code):
        before, after = shift
        if (after.value - before.value) * more < 0:
            return Reversal("direction", words, f"{before.text} → {after.text}")
    return None


def _stand_alike(claim: str, mine: str, clause: str, stated: str, subject: Subject) -> bool:
    """Whether next to an opposite word of a clause stands what stands next to that of the claim."""
    near = []
    for text, words in ((claim, mine), (clause, stated)):
        at = text.find(words)
        near.append(tokens(text[max(0, at - _NEXT) : at]))
    return any(token in subject.query.specific and occurs(token, near[1]) for token in near[0])
