"""What says the reverse of a claim without denying it: an opposite word, a turned comparison, another direction."""

from __future__ import annotations

import re
from typing import Final

from specloom.core import dataclass
from specloom.domains.text.tokens import tokens

from .alignment import find_listed_comparison
from .amounts import TextNumbers, drop_bounds, find_numbers, to_kind
from .bearers import is_of_another_level, is_of_other_arm, is_of_others, is_of_right_side
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
from .lexicon import NEVER, Lexicon, find_shared, find_sides
from .matter import ClaimPassage, Subject
from .reversals import find_opposite, find_other_quantifier, find_turned_comparison
from .weight import REVERSING, occurs

_MOSTLY: Final = 0.6
"""What a sentence has to have of a claim, so that an opposite word counts wherever in it it stands."""
_NEARLY: Final = 0.8
"""What a sentence has to have of a claim, so that numbers of a list in it are of what the claim compares."""
_SHORTEST_REVERSED, _LONGEST_ENDING = 5, 3
"""Letters of a word that another one may reverse by its beginning, and those of its ending that may differ."""
_SPEED: Final = "speed"
_BEHIND, _TIED = 28, 2
"""Characters and words behind an opposite word in which that stands which it is tied to."""
_CLOSED: Final = re.compile(r"[.,;:()]")
_NEXT: Final = 14
"""Characters before an opposite word that name what it is said of."""


@dataclass(frozen=True, slots=True)
class Reversal:
    """A reversal of a claim: `direction` or `opposite`, with the words of the claim and those of the passage."""

    kind: str
    claimed: str
    stated: str
    axis: str = ""

    def is_settled_by(self, lexicon: Lexicon | None, passage: ClaimPassage) -> bool:
        """Whether a passage has the words of the claim, or others of their side."""
        if self.claimed in passage.folded:
            return True
        if lexicon is None or not self.axis:
            return False
        own, stated = find_sides(lexicon, self.claimed), find_sides(lexicon, passage.folded)
        sides = zip(own.get(self.axis, ("", "")), stated.get(self.axis, ("", "")), strict=True)
        return any(one and other for one, other in sides)


def find_reversal(subject: Subject, passage: ClaimPassage, numbers: TextNumbers) -> Reversal | None:
    """How a passage says the reverse of a claim without denying it, None where it does not or has the very words."""
    lexicon, claim = subject.lexicon, subject.claim
    if passage.quoted or (lexicon is not None and is_of_others(lexicon, subject.folded, passage.clause)):
        return None
    code, english = subject.language.code, subject.language.code == "en"
    denied = bool(find_denials(passage.clause, subject.language))
    if english and not denied and (pair := find_opposite(claim, passage.sentence)):
        return _unless_of_others(Reversal("direction", *pair, QUANTITY), subject, passage)
    if lexicon is not None:
        compared = find_compared(subject.folded, lexicon, code)
        if compared is None and is_of_right_side(
            subject, find_compared(passage.folded, lexicon, subject.language.code)
        ):
            return None
        verdict = _compare(compared, subject, lexicon, passage, numbers) if compared is not None else None
        if verdict is not None and verdict[0]:
            return verdict[0]
        # What a comparison agrees on is not turned round by another word of its axis.
        settled = "" if compared is None or verdict is None else compared.axis
        if not denied and (pair := _find_reversed_word(subject, passage)):
            return Reversal("opposite", *pair)
        if not denied and (pair := _find_tied_words(subject, lexicon, passage)):
            return Reversal("opposite", *pair)
        if turned := _find_opposite_words(subject, lexicon, passage, numbers, settled):
            return _unless_of_others(turned, subject, passage)
        if settled:
            return None
    if english:
        pair = find_turned_comparison(claim, passage.sentence, subject.query.weights.keys())
        pair = pair or find_other_quantifier(claim, passage.sentence)
        return Reversal("direction", *pair) if pair else None
    return None


def _unless_of_others(turned: Reversal, subject: Subject, passage: ClaimPassage) -> Reversal | None:
    """A reversal by single words, None where claim and passage are of different ones, who may differ in it."""
    lexicon = subject.lexicon
    if lexicon is None:
        return turned
    elsewhere = is_of_other_arm(subject, lexicon, passage.clause)
    elsewhere = elsewhere or is_of_another_level(lexicon, subject.folded, passage.folded, turned.claimed)
    return None if elsewhere else turned


def _compare(
    compared: SidedComparison, subject: Subject, lexicon: Lexicon, passage: ClaimPassage, numbers: TextNumbers
) -> tuple[Reversal | None] | None:
    """What a passage says of the comparison of a claim, in words or in numbers; None where it compares nothing."""
    code = subject.language.code
    texts = dict.fromkeys((passage.clause, passage.numbered, passage.folded))
    for text in texts:
        stated = find_compared(text, lexicon, code)
        if stated is not None and (verdict := compare(compared, stated)):
            return (Reversal("direction", compared.words, stated.words, compared.axis) if verdict < 0 else None,)
    pair = find_counted_comparison(compared, numbers, code)
    if pair is None and passage.matter >= _NEARLY * subject.whole:
        # Numbers of a list may be of another measure where the passage lacks something of the claim.
        pair = find_listed_comparison(compared, numbers, lexicon, code)
    if pair:
        left, right = pair
        more = left.value - right.value if compared.side == 0 else right.value - left.value
        if compared.axis == _SPEED and to_kind(left.unit or right.unit) == "time":
            more = -more
        return (Reversal("direction", compared.words, f"{left.text} : {right.text}") if more < 0 else None,)
    return None


def has_opposed(lexicon: Lexicon, claim: str, text: str) -> bool:
    """Whether a claim has words of one side of an axis, and a text only those of the other."""
    own, found = find_sides(lexicon, claim), find_sides(lexicon, text)
    return any(_to_opposed(own[name], found[name])[0] for name in own.keys() & found.keys())


def _find_reversed_word(subject: Subject, passage: ClaimPassage) -> tuple[str, str] | None:
    """A word of a claim that a clause has with a beginning that reverses it, or the other way round: legal, illegal."""
    words = tokens(passage.clause)
    for token in subject.query.specific - passage.match.hits:
        for word in words:
            shorter, longer = sorted((token, word), key=len)
            rest = shorter[: -1 if len(shorter) > _SHORTEST_REVERSED else None]
            prefix, found, ending = longer.partition(rest)
            if found and len(rest) >= _SHORTEST_REVERSED - 1 and len(ending) <= _LONGEST_ENDING and prefix in REVERSING:
                return token, word
    return None


def _find_tied_words(subject: Subject, lexicon: Lexicon, passage: ClaimPassage) -> tuple[str, str] | None:
    """Opposite words that stand before the same word: a month before the date, a month after the date."""
    if passage.matter < _MOSTLY * subject.whole:
        return None
    for axis in lexicon.tied:
        for own, other in (axis.sides, axis.sides[::-1]):
            claimed, stated = _find_tied(own, subject.folded), _find_tied(other, passage.folded)
            kept = _find_tied(own, passage.folded)
            for token in subject.query.specific:
                mine = next((claimed[word] for word in claimed if occurs(token, [word])), "")
                opposed = next((stated[word] for word in stated if occurs(token, [word])), "")
                if mine and opposed and not any(occurs(token, [word]) for word in kept):
                    return mine, opposed
    return None


def _find_tied(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    """The words right behind those of a pattern, each with the words of the pattern."""
    found: dict[str, str] = {}
    for match in pattern.finditer(text):
        for word in tokens(_CLOSED.split(text[match.end() : match.end() + _BEHIND])[0])[:_TIED]:
            found.setdefault(word, match[0].strip())
    return found


def _find_opposite_words(
    subject: Subject, lexicon: Lexicon, passage: ClaimPassage, numbers: TextNumbers, settled: str
) -> Reversal | None:
    """Opposite words of claim and passage, in the clause that has most of the claim or its number.

    `settled` is an axis on which the two are known to agree.
    """
    code = subject.language.code
    unasked = {settled, QUANTITY} if settled else set()
    if len(find_numbers(subject.claim, code).years) > 1:
        # Of two years, which was more depends on which comes first.
        unasked.add(QUANTITY)
    claim = drop_bounds(subject.folded, code)
    chosen = (passage.clause, passage.numbered)
    whole = (passage.folded,) if passage.matter >= _MOSTLY * subject.whole else ()
    for text in dict.fromkeys((*chosen, *passage.clauses, *whole)):
        if find_denials(text, subject.language):
            continue
        clause = drop_bounds(lexicon.lists.get("earlier", NEVER).sub(" ", text), code)
        neutral = find_shared(lexicon, claim, clause)
        own, found = find_sides(lexicon, claim, neutral), find_sides(lexicon, clause, neutral)
        turned = [(name, *_to_opposed(own[name], found[name])) for name in own.keys() & found.keys() - unasked]
        turned = [each for each in turned if each[1]]
        # Turned round in both halves ("in the north more", "in the south less"), it says the same.
        if len(turned) != 1:
            continue
        [(name, mine, stated)] = turned
        if text in whole and _has_both_halves(lexicon, claim, clause, name):
            continue
        # The claim's own word elsewhere in the sentence may be said of what the claim is about.
        certain = (text in chosen or text in whole) and mine not in passage.folded
        certain = certain or (text in chosen and _is_only_there(subject, passage, text, mine))
        if certain or _stand_alike(claim, mine, clause, stated, subject):
            return Reversal("direction" if name == QUANTITY else "opposite", mine, stated, name)
    more, words = find_direction(claim, lexicon)
    if not more or settled or lexicon.find("still", claim):
        return None
    for clause in passage.clauses:
        still = lexicon.find("still", clause)
        if (
            still
            and not is_of_other_arm(subject, lexicon, passage.clause)
            and not find_direction(clause.replace(still, " "), lexicon)[0]
            and _is_nearest(subject, passage, clause)
        ):
            return Reversal("opposite", words, still, QUANTITY)
    if find_denials(passage.clause, subject.language):
        return None
    if shift := find_shift(numbers, lexicon, subject.language.code):
        before, after = shift
        if (after.value - before.value) * more < 0:
            return Reversal("direction", words, f"{before.text} → {after.text}", QUANTITY)
    return None


def _to_opposed(own: tuple[str, str], found: tuple[str, str]) -> tuple[str, str]:
    """The words of one side of an axis and those of the other, "" where either text has both sides or none."""
    (one, other), (left, right) = own, found
    opposed = bool(one) != bool(other) and bool(left) != bool(right) and bool(left) != bool(one)
    return (one or other, left or right) if opposed else ("", "")


def _has_both_halves(lexicon: Lexicon, claim: str, text: str, turned: str) -> bool:
    """Whether a text has both sides of an axis other than the turned one, where a claim has one of them.

    What is said in it of either cannot be told then.
    """
    own, found = find_sides(lexicon, claim), find_sides(lexicon, text)
    return any(all(found.get(name, ("", ""))) for name, sides in own.items() if name != turned and not all(sides))


def _is_only_there(subject: Subject, passage: ClaimPassage, clause: str, mine: str) -> bool:
    """Whether all that tells a claim from others stands in a clause, and not in the ones with the claim's own word."""
    own = frozenset(tokens(clause))
    others = frozenset(token for each in passage.clauses if mine in each for token in tokens(each))
    telling = subject.query.specific.difference(tokens(mine))
    return all(occurs(token, own) for token in telling) and not all(occurs(token, others) for token in telling)


def _is_nearest(subject: Subject, passage: ClaimPassage, clause: str) -> bool:
    """Whether a clause has something of a claim that no other of its sentence has, or most of it."""
    if clause == passage.clause:
        return True
    own = frozenset(tokens(clause))
    others = frozenset(token for each in passage.clauses if each != clause for token in tokens(each))
    return any(
        occurs(token, own) and not occurs(token, others) for token in subject.matter if token in subject.query.specific
    )


def _stand_alike(claim: str, mine: str, clause: str, stated: str, subject: Subject) -> bool:
    """Whether next to an opposite word of a clause stands what stands next to that of the claim."""
    near = []
    for text, words in ((claim, mine), (clause, stated)):
        at = text.find(words)
        near.append(tokens(text[max(0, at - _NEXT) : at]))
    return any(token in subject.query.specific and occurs(token, near[1]) for token in near[0])
