"""What a claim may have changed of its source without denying it: quoted words, cause, certainty, scope, population.

Each is a cue with both sides, and no verdict: whoever reads decides whether the difference matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from specloom.domains.text import sentences
from specloom.domains.text.fold import fold
from specloom.domains.text.tokens import tokens

from .cues import Cue
from .denials import find_denials
from .lexicon import EXCLUSIVE, NEVER, Lexicon, find_part
from .matter import ClaimPassage, Subject
from .quotations import Quotation
from .weight import occurs

DISTORTION_KINDS = ("quotation", "causation", "certainty", "scope", "population")
"""What a claim may have changed of its source."""

_HUMANS: Final = (
    "children",
    "adolescents",
    "adults",
    "elderly",
    "pupils",
    "students",
    "women",
    "men",
    "patients",
    "healthy",
)
# Sentences behind the best passage in which a doubt about it stands.
_DOUBTED: Final = 2
# Sentences behind it in which it is denied that anything is known of causes.
_DISCLAIMED: Final = 6
# A passage counts with these shares of the best one and of the claim, a word where its part of the passage has this.
_NEAR_BEST, _MOSTLY, _PART = 0.7, 0.55, 0.34
_MAY: Final = re.compile(r"(?<=[\w,] )May\b")
# Sentences behind it in which may stand who was left out.
_MOST_FOLLOWING: Final = 40


def find_distortions(
    subject: Subject,
    passages: Sequence[ClaimPassage],
    text: str,
    quotations: Sequence[Quotation],
    following: Sequence[str],
) -> tuple[Cue, ...]:
    """What a claim may have changed of the passages on its matter; `following` are the sentences behind those."""
    cues = [_to_altered(each, passages) for each in quotations if not each.found]
    lexicon = subject.lexicon
    if lexicon is not None and passages and subject.language.has_cues:
        best = max(passage.matter for passage in passages)
        for passage in passages:
            if passage.matter >= max(_NEAR_BEST * best, _MOSTLY * subject.whole):
                cues.extend(_find_changes(subject, lexicon, passage))
        cues.extend(_find_doubts(subject, lexicon, following))
        cues.extend(_find_population(subject, lexicon, passages, text))
        cues.extend(_find_excluded(subject, lexicon, passages, following))
    firsts = {(cue.kind, cue.claimed): cue for cue in reversed(cues)}
    return tuple(cue for cue in cues if firsts[cue.kind, cue.claimed] is cue)


def _to_altered(quotation: Quotation, passages: Sequence[ClaimPassage]) -> Cue:
    """A quotation that the text does not have, beside the passage that is nearly it, or else has most in common."""
    if (altered := quotation.altered) is not None:
        return Cue("quotation", altered.sentence, altered.differing, quotation.text, altered.passage)
    near = max(passages, key=lambda passage: _likeness(quotation.text, passage.sentence), default=None)
    return Cue("quotation", near.sentence if near is not None else "", quotation.text, quotation.text, "")


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, fold(one)[:500], fold(other)[:500], autojunk=False).quick_ratio()


# --- cause, certainty and scope: a word of the claim against one of the passage ---


def _find_changes(subject: Subject, lexicon: Lexicon, passage: ClaimPassage) -> Iterator[Cue]:
    claim, sentence = lexicon.lists.get("idioms", NEVER).sub(" ", subject.folded), passage.sentence
    associated = lexicon.find("associative", passage.folded)
    causal = lexicon.find("causal", claim)
    weakened = lexicon.find("associative", claim) or lexicon.find("hedge", claim)
    if causal and associated and not weakened and not _is_causal(passage.clause, lexicon):
        yield Cue("causation", sentence, associated, causal, associated)
    denied = bool(find_denials(subject.claim, subject.language))
    hedge = _find_near("hedge", subject, lexicon, passage)
    if hedge and not denied and not _is_hedged(claim, lexicon):
        yield Cue("certainty", sentence, hedge, "", hedge)
    universal = lexicon.find("universal", claim)
    if universal in subject.language.negations or not denied:
        partial = _find_near("partial", subject, lexicon, passage)
        if (
            universal
            and partial
            and not lexicon.find("universal", passage.clause)
            and not lexicon.find("partial", claim)
        ):
            yield Cue("scope", sentence, partial, universal, partial)


def _find_near(name: str, subject: Subject, lexicon: Lexicon, passage: ClaimPassage) -> str:
    """The words of a list in the part of a passage that speaks of the claim; the month of May is no word of doubt."""
    clause = fold(_MAY.sub(" ", passage.sentence)) if "may" in passage.clause.split() else passage.clause
    opening = passage.clauses[0]
    if name == "hedge" and lexicon.find(name, opening) == opening.strip() and passage.clause in passage.clauses[1:2]:
        # A word of doubt that stands before the rest ("perhaps, …") is of all of it.
        return opening.strip()
    words = lexicon.find(name, clause) if clause != passage.folded else lexicon.find(name, passage.clause)
    if not words or words not in passage.clause:
        return ""
    part = find_part(lexicon, passage.clause, words)
    return words if subject.weigh_clause(part) >= _PART * passage.matter else ""


def _is_causal(clause: str, lexicon: Lexicon) -> bool:
    """Whether a clause itself says that one thing brings the other about."""
    return bool(lexicon.find("causal", lexicon.lists["associative"].sub(" ", clause)))


def _is_hedged(claim: str, lexicon: Lexicon) -> bool:
    return bool(lexicon.find("hedge", claim) or lexicon.find("caution", claim))


def _find_doubts(subject: Subject, lexicon: Lexicon, following: Sequence[str]) -> Iterator[Cue]:
    """A sentence of doubt behind the passages, where the claim has a cause and no doubt."""
    causal = lexicon.find("causal", subject.folded)
    if not causal or _is_hedged(subject.folded, lexicon) or lexicon.find("associative", subject.folded):
        return
    if find_denials(subject.claim, subject.language):
        return
    for at, sentence in enumerate(following[:_DISCLAIMED]):
        folded = fold(sentence)
        if (
            at < _DOUBTED
            and (doubt := lexicon.find("caution", folded))
            and (lexicon.find("associative", folded) or lexicon.find("causal", folded))
        ):
            yield Cue("causation", sentence, doubt, causal, doubt)
        elif (disclaimer := lexicon.find("disclaimer", folded)) and find_denials(sentence, subject.language):
            yield Cue("causation", sentence, disclaimer, causal, disclaimer)


# --- population ---


def _find_population(subject: Subject, lexicon: Lexicon, passages: Sequence[ClaimPassage], text: str) -> Iterator[Cue]:
    """A group of the claim that the text does not speak of, where it speaks of one that excludes it."""
    if lexicon.find("excluded", subject.folded) or any(passage.quoted for passage in passages):
        return
    groups = lexicon.find_groups(subject.folded)
    stated = _find_stated(subject, lexicon, text) if groups or _may_be_animal(lexicon, passages) else {}
    for group, words in groups.items():
        kin = _HUMANS if group == "human" else (group,)
        if any(each in stated for each in kin):
            continue
        for other in _find_excluding(group):
            if other in stated and other not in groups and not _is_wider(group, stated):
                yield _to_cue(passages, lexicon, other, words, stated[other])
                return
    animal = next((found for passage in passages if (found := lexicon.find_groups(passage.folded).get("animal"))), "")
    if animal and not groups and "human" not in stated and stated.keys().isdisjoint(_HUMANS):
        yield _to_cue(passages, lexicon, "animal", "", animal)


def _may_be_animal(lexicon: Lexicon, passages: Sequence[ClaimPassage]) -> bool:
    return any("animal" in lexicon.find_groups(passage.folded) for passage in passages)


def _find_stated(subject: Subject, lexicon: Lexicon, text: str) -> dict[str, str]:
    """The groups that a text speaks of, but for those left out of it, and for people of whom something is denied."""
    stated: dict[str, str] = {}
    for sentence in sentences(text):
        folded = fold(sentence)
        groups = lexicon.find_groups(folded)
        if not groups or lexicon.find("excluded", folded):
            continue
        if "human" in groups and find_denials(sentence, subject.language):
            groups.pop("human")
        stated = {**groups, **stated}
    return stated


def _find_excluding(group: str) -> list[str]:
    pairs = [(one, other) for pair in EXCLUSIVE for one, other in (pair, pair[::-1])]
    own = [other for one, other in pairs if one == group]
    return [*own, "animal"] if group in _HUMANS and "animal" not in own else own


def _is_wider(group: str, stated: dict[str, str]) -> bool:
    """Whether a text speaks of a group that has the claimed one in it."""
    return group in ("elderly", "women", "men", "students") and "adults" in stated and group != "children"


def _to_cue(passages: Sequence[ClaimPassage], lexicon: Lexicon, group: str, claimed: str, found: str) -> Cue:
    naming = next((each for each in passages if group in lexicon.find_groups(each.folded)), passages[0])
    return Cue("population", naming.sentence, found, claimed, found)


def _find_excluded(
    subject: Subject, lexicon: Lexicon, passages: Sequence[ClaimPassage], following: Sequence[str]
) -> Iterator[Cue]:
    """Whom a claim is about, where the text speaks of them only to say that they were not part of it."""
    if find_denials(subject.claim, subject.language):
        return
    stated = frozenset(token for passage in passages for token in passage.match.hits)
    for sentence in following[:_MOST_FOLLOWING]:
        folded = fold(sentence)
        if not (words := lexicon.find("excluded", folded)):
            continue
        own = tokens(folded)
        for token in subject.query.specific:
            if token not in stated and occurs(token, own):
                yield Cue("population", sentence, words, token, words)
                return
