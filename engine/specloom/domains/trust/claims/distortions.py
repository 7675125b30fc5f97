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

from .ages import GROUP_AGES, find_ages, is_apart
from .cues import Cue
from .denials import find_denials, to_clauses
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
_NEAR_BEST, _MOSTLY, _PART = 0.7, 0.5, 0.34
_OLDEST: Final = 120
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
    stated = any(passage.stated for passage in passages)
    if lexicon is not None and passages and subject.language.has_cues and not stated:
        best = max(passage.matter for passage in passages)
        for passage in passages:
            if passage.matter >= max(_NEAR_BEST * best, _MOSTLY * subject.whole):
                cues.extend(_find_changes(subject, lexicon, passage))
        if not any(cue.kind == "certainty" for cue in cues):
            cues.extend(_find_assured(subject, lexicon, passages))
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
    if hedge and lexicon.find("manner", passage.folded) and lexicon.find("unknown", hedge):
        # Who does not know why or how something is so takes it to be so.
        hedge = ""
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
    return any(lexicon.find(name, claim) for name in ("hedge", "caution", "attributed"))


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


def _find_assured(subject: Subject, lexicon: Lexicon, passages: Sequence[ClaimPassage]) -> Iterator[Cue]:
    """A word of doubt in the passage nearest to a claim that calls something proved, where nothing else calls it so."""
    assured = lexicon.find("booster", subject.folded)
    if not assured or _is_hedged(lexicon.lists["booster"].sub(" ", subject.folded), lexicon):
        return
    if find_denials(subject.claim, subject.language) or any(lexicon.find("booster", each.folded) for each in passages):
        return
    best = max(passages, key=lambda passage: passage.matter)
    if doubt := _find_near("hedge", subject, lexicon, best):
        yield Cue("certainty", best.sentence, doubt, assured, doubt)


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
    ages = find_ages(sentences(text), subject.language.code) if groups else None
    if ages is not None:
        named = groups.keys()
        for group, words in groups.items():
            same = [other for other in named if groups[other] == words]
            if group in GROUP_AGES and group not in stated and all(is_apart(other, ages) for other in same):
                low, high = ages
                yield _to_cue(passages, lexicon, group, words, f"{low}–{high}" if high < _OLDEST else f"{low}+")
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
    including = [passage for passage in passages if not lexicon.find("excluded", passage.folded)]
    stated = frozenset(token for passage in including for token in passage.match.hits)
    excluding = [passage.sentence for passage in passages if passage not in including] if including else []
    for sentence in dict.fromkeys((*excluding, *following[:_MOST_FOLLOWING])):
        folded = fold(sentence)
        if not (words := lexicon.find("excluded", folded)):
            continue
        # What a sentence on the matter leaves out stands in the clause that says so.
        clauses = to_clauses(folded, subject.language) if sentence in excluding else [folded]
        own = tokens(next((clause for clause in clauses if words in clause), folded))
        for token in subject.query.specific:
            if token not in stated and occurs(token, own):
                yield Cue("population", sentence, words, token, words)
                return
