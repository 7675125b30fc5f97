"""Who something is said of: whether a claim with an opposite word only speaks of the others, and so says the same."""

from __future__ import annotations

import re
from typing import Final

from specloom.domains.text import is_function_word, is_number
from specloom.domains.text.tokens import tokens

from .comparisons import SidedComparison
from .lexicon import NEVER, Lexicon, drop_turning
from .matter import Subject
from .weight import occurs

_FAR, _FEWEST = 40, 2
"""Characters and words behind a preposition in which it is said with what."""
_CLOSED: Final = re.compile(r"[.,;:()]")


def is_of_others(lexicon: Lexicon, claim: str, text: str) -> bool:
    """Whether a claim speaks of those without, or of what was before, and a text does not."""
    if any((words := lexicon.find(name, claim)) and words not in text for name in ("without", "once")):
        return True
    # "Drinks without a label" are the others of "drinks with a label".
    without = lexicon.lists.get("without", NEVER).search(text)
    if without is None or without[0] in claim:
        return False
    behind = tokens(_CLOSED.split(text[without.end() : without.end() + _FAR])[0])[:1]
    return any(occurs(token, tokens(claim)) for token in behind)


def is_of_other_arm(subject: Subject, lexicon: Lexicon, clause: str) -> bool:
    """Whether a claim is of those with one thing, and a clause of those with another: with placebo, with aspirin."""
    pattern, words = lexicon.lists.get("arm", NEVER), tokens(clause)
    stated = {match[0] for match in pattern.finditer(clause) if _find_behind(match, subject, lexicon)}
    for match in pattern.finditer(subject.folded):
        claimed = _find_behind(match, subject, lexicon) & subject.query.weights.keys()
        if any(is_number(token) for token in claimed):
            # A time, and no arm: "since 2003".
            continue
        if match[0] in stated and not all(occurs(token, words) for token in claimed):
            return True
    return False


def _find_behind(match: re.Match[str], subject: Subject, lexicon: Lexicon) -> frozenset[str]:
    """The first words behind another one that are no function words and turn nothing, up to the next mark."""
    part = drop_turning(lexicon, _CLOSED.split(match.string[match.end() : match.end() + _FAR])[0])
    words = [token for token in tokens(part) if not is_function_word(token, subject.language)]
    return frozenset(words[:_FEWEST])


def is_of_another_level(lexicon: Lexicon, claim: str, text: str, turned: str) -> bool:
    """Whether a claim is of those with a low or a high something, which a text does not say; `turned` has its own."""
    level = lexicon.find("level", claim)
    return bool(level) and level not in text and level not in turned


def is_of_right_side(subject: Subject, stated: SidedComparison | None) -> bool:
    """Whether a claim without a comparison speaks of those with whom a text compares what it speaks of."""
    if stated is None:
        return False
    own = subject.query.weights
    near, far = stated.near, stated.left - stated.near
    parted = not any(occurs(token, near) for token in own) or not any(occurs(token, far) for token in own)
    return parted and any(occurs(token, stated.right) for token in own)
