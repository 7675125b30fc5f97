"""Which sentences of the evidence may speak against a claim, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from specloom.domains.text import LanguageProfile, is_number
from specloom.domains.text.tokens import tokens

from .cues import (
    Cue,
    find_affirmation,
    find_denials,
    find_missing_item,
    find_number_conflict,
    find_opposite,
    find_other_count,
    find_other_quantifier,
    find_other_unit,
    find_other_year,
    find_turned_comparison,
    is_refuted,
    to_clauses,
)
from .weight import ClaimTokens, Said, is_said, unify

# A sentence may speak against a claim when it has as much of its matter as the best one, but for this share, and this
# share of the claim in all; its denied clause has to hold so much of that.
_CLOSE = 0.75
_ON_THE_MATTER = 0.45
_REACHED = 0.5
# A sentence states what a claim denies only where it has all of it but for a word.
_STATED = 0.9
_FEWEST_STATED = 2


def find_cues(claim: str, evidence: Sequence[Said], wanted: ClaimTokens, language: LanguageProfile) -> tuple[Cue, ...]:
    """What may speak against the claim in the sentences that speak of its matter, next to which others do not count."""
    if not language.has_cues or not evidence:
        return ()
    denied = bool(find_denials(claim, language)) or bool(is_refuted(claim, language))
    best = max(_matter(said, wanted) for said in evidence)
    whole = sum(wanted.matter.values())
    told = frozenset(token for said in evidence for token in said.hits if is_number(token))
    cues: list[Cue] = []
    for said in evidence:
        if _matter(said, wanted) < max(best * _CLOSE, whole * _ON_THE_MATTER):
            continue
        opposed = _find_opposition if not denied else _find_affirmed
        if cue := opposed(claim, said, wanted, language):
            cues.append(cue)
        if conflict := _find_conflict(claim, said, wanted, language, told, denied=denied):
            cues.append(conflict)
    return tuple(cues)


def _find_opposition(claim: str, said: Said, wanted: ClaimTokens, language: LanguageProfile) -> Cue | None:
    sentence = said.sentence
    for words, clause in find_denials(sentence, language):
        if _reaches(clause, said, wanted, language) or find_missing_item(claim, clause, wanted.specific):
            return Cue("negation", sentence, words)
    if word := is_refuted(sentence, language):
        return Cue("refutation", sentence, word)
    if language.code == "en" and (pair := find_opposite(claim, sentence)):
        return Cue("direction", sentence, pair[1], *pair)
    if language.code == "en":
        return find_turned_comparison(claim, sentence, wanted.weights.keys()) or find_other_quantifier(claim, sentence)
    return None


def _find_affirmed(claim: str, said: Said, wanted: ClaimTokens, language: LanguageProfile) -> Cue | None:
    """A sentence that states what the claim denies."""
    whole = sum(weight for token, weight in wanted.matter.items() if token not in to_denying(language))
    numbers = {token for token, kind in wanted.kinds.items() if kind == "number"}
    if _matter(said, wanted) < _STATED * whole or len(said.hits) < _FEWEST_STATED or not numbers <= said.hits:
        return None
    words = find_affirmation(claim, said.sentence, language)
    return Cue("negation", said.sentence, words, "denied", "stated") if words else None


@cache
def to_denying(language: LanguageProfile) -> frozenset[str]:
    """The words that deny in a language, as tokens."""
    return frozenset(token for word in language.negations for token in tokens(word))


def _matter(said: Said, wanted: ClaimTokens) -> float:
    """What a sentence has of the claim besides its numbers."""
    return sum(weight for token, weight in wanted.matter.items() if token in said.hits)


def _inside(clause: str, wanted: ClaimTokens, language: LanguageProfile) -> float:
    """What a clause has of the claim besides its numbers."""
    words = frozenset(unify(tokens(clause), {}, language))
    return sum(weight for token, weight in wanted.matter.items() if is_said(token, words))


def _reaches(clause: str, said: Said, wanted: ClaimTokens, language: LanguageProfile) -> bool:
    """Whether a denied clause holds enough of what the sentence shares with the claim; else another thing is denied."""
    return _inside(clause, wanted, language) >= _REACHED * _matter(said, wanted)


def _find_conflict(
    claim: str, said: Said, wanted: ClaimTokens, language: LanguageProfile, told: frozenset[str], *, denied: bool
) -> Cue | None:
    """Another number where the claim has its own: in the clause that has most of the claim, if it has enough of it.

    A year stands against another only within that clause, where the claim denies nothing of it, and where the year of
    the claim is in none of the numbers that are `told`.
    """
    clauses = to_clauses(said.sentence, language)
    clause = max(clauses, key=lambda each: _inside(each, wanted, language), default="")
    certain = _inside(clause, wanted, language) >= _CLOSE * _matter(said, wanted)
    clause = clause if certain else said.sentence
    conflict: tuple[str, str] | None = None
    if units := find_number_conflict(claim, clause) or find_other_unit(claim, clause):
        conflict = (f"{units[0].value} {units[0].unit}", f"{units[1].value} {units[1].unit}")
    elif certain and not denied and (years := find_other_year(claim, clause)) and years[0] not in told:
        conflict = years
    else:
        conflict = find_other_count(claim, clause, wanted.specific)
    return Cue("number", said.sentence, conflict[1], *conflict) if conflict is not None else None
