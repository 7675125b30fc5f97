"""Which sentences of the evidence may speak against a claim, and by what."""

from __future__ import annotations

from collections.abc import Sequence

from specloom.trust.concepts import unify
from specloom.trust.cues import Cue, find_denials, find_number_conflict, find_opposite, is_refuted, to_clauses
from specloom.trust.languages import Language
from specloom.trust.weighing import Said, Wanted, is_said
from specloom.trust.words import tokens

# A sentence may speak against a claim when it has as much of its matter as the best one, but for this share, and this
# share of the claim in all; its denied clause has to hold so much of that.
_CLOSE = 0.75
_ON_THE_MATTER = 0.45
_REACHED = 0.5


def find_cues(claim: str, evidence: Sequence[Said], wanted: Wanted, language: Language) -> tuple[Cue, ...]:
    """What may speak against the claim in the sentences that speak of its matter, next to which others do not count."""
    if not language.has_cues or not evidence:
        return ()
    denied = bool(find_denials(claim, language)) or bool(is_refuted(claim, language))
    best = max(_matter(said, wanted) for said in evidence)
    whole = sum(wanted.matter.values())
    cues: list[Cue] = []
    for said in evidence:
        if _matter(said, wanted) < max(best * _CLOSE, whole * _ON_THE_MATTER):
            continue
        if not denied and (cue := _find_opposition(claim, said, wanted, language)):
            cues.append(cue)
        if conflict := _find_conflict(claim, said, wanted, language):
            cues.append(conflict)
    return tuple(cues)


def _find_opposition(claim: str, said: Said, wanted: Wanted, language: Language) -> Cue | None:
    sentence = said.sentence
    for words, clause in find_denials(sentence, language):
        if _reaches(clause, said, wanted, language):
            return Cue("negation", sentence, words)
    if word := is_refuted(sentence, language):
        return Cue("refutation", sentence, word)
    if language.code == "en" and (pair := find_opposite(claim, sentence)):
        return Cue("direction", sentence, pair[1], *pair)
    return None


def _matter(said: Said, wanted: Wanted) -> float:
    """What a sentence has of the claim besides its numbers."""
    return sum(weight for token, weight in wanted.matter.items() if token in said.hits)


def _inside(clause: str, wanted: Wanted, language: Language) -> float:
    """What a clause has of the claim besides its numbers."""
    words = frozenset(unify(tokens(clause), {}, language))
    return sum(weight for token, weight in wanted.matter.items() if is_said(token, words))


def _reaches(clause: str, said: Said, wanted: Wanted, language: Language) -> bool:
    """Whether a denied clause holds enough of what the sentence shares with the claim; else another thing is denied."""
    return _inside(clause, wanted, language) >= _REACHED * _matter(said, wanted)


def _find_conflict(claim: str, said: Said, wanted: Wanted, language: Language) -> Cue | None:
    """Another number where the claim has its own: in the clause that has most of the claim, if it has enough of it."""
    clauses = to_clauses(said.sentence, language)
    clause = max(clauses, key=lambda each: _inside(each, wanted, language), default="")
    if _inside(clause, wanted, language) < _CLOSE * _matter(said, wanted):
        clause = said.sentence
    conflict = find_number_conflict(claim, clause)
    if conflict is None:
        return None
    claimed, found = (f"{each.value} {each.unit}" for each in conflict)
    return Cue("number", said.sentence, found, claimed, found)
