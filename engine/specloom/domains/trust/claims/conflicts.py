"""Another number, unit or date where a claim has its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from specloom.domains.text import find_script
from specloom.domains.text.tokens import tokens

from .amounts import Amount, Date, TextNumbers, agree, are_alike, find_numbers, is_derived, to_kind
from .matter import ClaimPassage, Subject
from .reversals import find_other_count

_MOST_RIVALS: Final = 2
"""Numbers of one kind in a sentence, beyond which it cannot be told which of them is meant."""
_REACH: Final = 40
_MOST_COUNTED: Final = 3
"""Words behind a number, of which one is what it counts: "410 fast-food restaurants"."""
_MARK: Final = re.compile(r"[.,;:()]")


def find_conflict(
    subject: Subject,
    passage: ClaimPassage,
    claimed: TextNumbers,
    stated: Sequence[TextNumbers],
    numbers: TextNumbers,
    present: frozenset[str],
    *,
    denied: bool,
) -> tuple[str, str] | None:
    """Another number, unit or date where the claim has its own, as both are written.

    A number of the claim conflicts with none where the text has it, too, or where it is rounded, a bound or derived.
    """
    clause = find_numbers(passage.clause, subject.language.code) if passage.certain else numbers
    everywhere = [amount for each in stated for amount in each.amounts]
    dates = [date for each in stated for date in each.dates]
    years = frozenset(year for each in stated for year in each.years)
    if pair := find_other_unit(claimed.amounts, numbers.amounts):
        return pair
    counts = find_other_count(subject.claim, passage.clause, subject.query.specific)
    agreed = {
        f"{amount.value:.12g}"
        for amount in claimed.amounts
        if any(agree(amount, each) for each in everywhere) or is_derived(amount, everywhere, exact=True)
    }
    if counts and counts[0].split()[0] not in present | agreed:
        return counts
    if not denied:
        if pair := _find_other_date(claimed, numbers, dates):
            return pair
        earlier = subject.lexicon is not None and subject.lexicon.find("earlier", passage.folded)
        if passage.certain and not earlier and (pair := _find_other_year(claimed, clause, years, present)):
            return pair
    for amount in claimed.amounts:
        if amount.is_year or any(agree(amount, each) for each in everywhere) or _is_present(amount, present):
            continue
        # What is left of a number may be told far from it: "56 of the 61 went on", so five did not.
        if is_derived(amount, numbers.amounts) or is_derived(amount, everywhere, exact=not denied):
            continue
        rivals = _find_rivals(amount, claimed, clause) or _find_rivals(amount, claimed, numbers)
        if rivals:
            return show_amount(amount), show_amount(rivals[0])
    return None


def _is_present(amount: Amount, present: frozenset[str]) -> bool:
    """Whether the text has a number in the very form of the claim, wherever it stands."""
    return any(token == f"{amount.value:.12g}" for token in present)


def _find_rivals(amount: Amount, claimed: TextNumbers, stated: TextNumbers) -> list[Amount]:
    """The numbers of a text that stand where the claim has its own: of one unit, and of nothing else in the claim."""
    rivals = [each for each in stated.amounts if are_alike(amount, each) and not each.is_year]
    rivals = [each for each in rivals if not any(agree(own, each) for own in claimed.amounts)]
    alike = [each for each in claimed.amounts if are_alike(amount, each)]
    own = [each for each in alike if not any(agree(each, other) for other in stated.amounts)]
    if amount.unit == "" and find_script(stated.text) != "CJK":
        counted = _find_counted(amount, claimed)
        rivals = [
            each for each in rivals if not (counted and (other := _find_counted(each, stated))) or counted & other
        ]
    if amount.unit == "" and any(not _is_plain(each) for each in (amount, *rivals)):
        rivals = [each for each in rivals if _is_plain(each) == _is_plain(amount)]
    return rivals if len(own) == 1 and 0 < len(rivals) <= _MOST_RIVALS else []


def _find_counted(amount: Amount, numbers: TextNumbers) -> set[str]:
    """The words right behind a number, of which one may be what it counts."""
    return set(tokens(_MARK.split(numbers.text[amount.end : amount.end + _REACH])[0])[:_MOST_COUNTED])


def _is_plain(amount: Amount) -> bool:
    return amount.value == int(amount.value)


def find_other_unit(claimed: Iterable[Amount], stated: Sequence[Amount]) -> tuple[str, str] | None:
    """A number of a claim that a sentence has with another unit of the same kind: 12 metres for 12 kilometres."""
    for amount in claimed:
        same = [each for each in stated if each.value == amount.value]
        kind = to_kind(amount.unit)
        if kind and len(same) == 1 and to_kind(same[0].unit) == kind and same[0].unit != amount.unit:
            return show_amount(amount), show_amount(same[0])
    return None


def _find_other_date(claimed: TextNumbers, stated: TextNumbers, dates: Sequence[Date]) -> tuple[str, str] | None:
    """A date of a claim, and the only one of a sentence, where no date of the text agrees with the first."""
    for date in claimed.dates:
        if not date.month or any(not date.contradicts(other) for other in dates if other.month):
            continue
        others = [other for other in stated.dates if other.month]
        if len(others) == 1 and date.contradicts(others[0]):
            return date.text.strip(), others[0].text.strip()
    return None


def _find_other_year(
    claimed: TextNumbers, stated: TextNumbers, years: frozenset[int], present: frozenset[str]
) -> tuple[str, str] | None:
    """The year of a claim and another in a clause, where each has one and the text has that of the claim nowhere."""
    if len(claimed.years) != 1 or len(stated.years) != 1:
        return None
    own, other = next(iter(claimed.years)), next(iter(stated.years))
    return (str(own), str(other)) if own not in years and str(own) not in present and own != other else None


def show_amount(amount: Amount) -> str:
    """A number as it is told, in digits and with its unit."""
    return f"{amount.value:.12g} {amount.unit}".strip()
