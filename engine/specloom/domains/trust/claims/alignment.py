"""Which number of a sentence is of which of its things: 35.6 percent of pupils, 71.1 percent of students.

A sentence is parted into pieces of one number each. A thing of the claim that stands in one piece only owns its number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from itertools import pairwise
from typing import Final

from specloom.core import dataclass
from specloom.domains.text import find_script
from specloom.domains.text.tokens import tokens

from .amounts import Amount, TextNumbers, agree, is_derived
from .comparisons import SidedComparison
from .lexicon import NEVER, UNSPACED, Lexicon
from .weight import occurs

_MARKS: Final = re.compile(r"(?<![0-9])[,;:，、；：]|[,;:，、；：](?![0-9])|。")
_WORD: Final = re.compile(r"[^\W\d_]+")
_YEAR: Final = re.compile(r"(?<![0-9.,])(?:1[5-9]|20)[0-9]{2}(?![0-9%]|[.,][0-9])")
_LEAD, _FAR = 18, 40
"""Characters before and behind the first number of a sentence beyond which a word is said of all its numbers."""
_UNIT_WORDS: Final = 1
_FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class NumberedPiece:
    """A part of a sentence with one number of a unit, and the tokens of the words that go with it."""

    amount: Amount
    words: frozenset[str]


def to_pieces(numbers: TextNumbers, unit: str, lexicon: Lexicon | None, code: str) -> tuple[NumberedPiece, ...]:
    """A sentence in pieces of one number of a unit each, () where it cannot be told which words go with which.

    What stands far before the first number is said of all of them.
    """
    text = numbers.text
    counting = [amount for amount in numbers.amounts if amount.unit == unit and not amount.is_year]
    cuts = {match.start() for match in _MARKS.finditer(text)}
    if lexicon is not None:
        # What joins two numbers parts them, and so does what sets one against the other.
        for name in ("and", "versus"):
            pattern = lexicon.lists.get(name, NEVER)
            cuts.update(match.start() for match in pattern.finditer(text) if code not in UNSPACED or name == "versus")
    pieces: list[NumberedPiece] = []
    begin = 0
    for start, end in pairwise(sorted({0, *cuts, len(text)})):
        inside = [amount for amount in counting if start <= amount.start < end]
        if len(inside) > 1:
            return ()
        if inside:
            amount = inside[0]
            behind = text[amount.end : min(end, amount.end + _FAR)]
            # What the first number is of stands behind it, or else right before it.
            lead = amount.start if len(_WORD.findall(behind)) > _UNIT_WORDS else max(0, amount.start - _LEAD)
            part = text[lead : amount.end] + behind if not pieces else text[begin:end]
            pieces.append(NumberedPiece(amount, _to_words(part)))
            begin = end
    if pieces and begin < len(text):
        last = pieces.pop()
        pieces.append(NumberedPiece(last.amount, last.words | _to_words(text[begin:])))
    return tuple(pieces)


def _to_words(text: str) -> frozenset[str]:
    return frozenset((*tokens(" ".join(_WORD.findall(text))), *_YEAR.findall(text)))


def find_owned(pieces: Sequence[NumberedPiece], things: Set[str]) -> NumberedPiece | None:
    """The piece that alone has what some words name, None where they stand in several or in none.

    In a language that leaves out what was named once, the first piece names what all are about.
    """
    owners: set[int] = set()
    for thing in things:
        at = [place for place, piece in enumerate(pieces) if occurs(thing, piece.words)]
        if len(at) == 1:
            owners.add(at[0])
    if len(owners) > 1 and any(find_script(thing) == "CJK" for thing in things):
        owners.discard(0)
    return pieces[owners.pop()] if len(owners) == 1 else None


def find_swapped(claimed: Amount, things: Set[str], words: Set[str], pieces: Sequence[NumberedPiece]) -> Amount | None:
    """The number that a claim's things have in a sentence where the claim gives them that of another thing.

    `words` are all the words of the claim, which the piece with the claim's own number has to go beyond.
    """
    if len(pieces) < _FEWEST:
        return None
    own = find_owned(pieces, things)
    if own is None or agree(claimed, own.amount):
        return None
    given = [piece for piece in pieces if piece is not own and agree(claimed, piece.amount)]
    if not given or is_derived(claimed, [piece.amount for piece in pieces], exact=True):
        return None
    beyond = all(any(not occurs(word, words) for word in piece.words - own.words) for piece in given)
    return own.amount if beyond else None


def find_listed_comparison(
    claim: SidedComparison, numbers: TextNumbers, lexicon: Lexicon, code: str
) -> tuple[Amount, Amount] | None:
    """The numbers of the two sides of a claim's comparison, left and right, each in the piece that names it."""
    for unit in dict.fromkeys(amount.unit for amount in numbers.amounts if not amount.is_year):
        pieces = to_pieces(numbers, unit, lexicon, code)
        left, right = find_owned(pieces, claim.near or claim.left), find_owned(pieces, claim.right)
        if left is not None and right is not None and left is not right:
            return left.amount, right.amount
    return None
