"""What in a sentence may speak against a claim: a denial, another number or date, the opposite. Cues, no verdict."""

from __future__ import annotations

from collections.abc import Sequence

from specloom.core import dataclass
from specloom.domains.text import is_function_word, is_number, terms
from specloom.domains.text.tokens import tokens

from .amounts import TextNumbers, find_numbers
from .conflicts import find_conflict
from .denials import find_affirmation, find_denials, is_refuted, to_denying
from .lexicon import UNSPACED, Lexicon, find_sides
from .matter import ClaimPassage, Subject
from .opposites import find_reversal
from .reversals import find_missing_item
from .weight import SentenceMatch, occurs, score

CUE_KINDS = ("negation", "refutation", "number", "direction", "opposite")
"""What may speak against a claim."""

# A denied clause has to hold this share of what its sentence has of the claim.
_REACHED = 0.5
# A sentence states what a claim denies only where it has nearly all of it.
_STATED = 0.9
# A sentence that leaves out what was spoken of before has this share of the claim by itself where it denies.
_ALONE = 0.4
_FEWEST_STATED = 2
# Words of a claim that a sentence has in its denied clause only, and what they are of all that it has.
_FEWEST_ONLY, _ONLY = 2, 0.45
# Sentences with most of the claim in which its numbers are looked for.
_MOST_NUMBERED = 8
# What another passage has to have more of the claim, so that this one speaks of something else.
_MORE, _LESS = 1.0, 0.4


@dataclass(frozen=True, slots=True)
class Cue:
    """One thing to look at: its kind, the sentence, and the words that did it.

    `claimed` and `found` are the two sides of it where there are two, "denied" and "stated" of what only the claim
    denies, "" elsewhere.
    """

    kind: str
    sentence: str
    words: str
    claimed: str = ""
    found: str = ""


def find_cues(subject: Subject, passages: Sequence[ClaimPassage], spoken: Sequence[SentenceMatch]) -> tuple[Cue, ...]:
    """What may speak against a claim in the passages on its matter; nothing where its language has no cues."""
    if not subject.language.has_cues or not passages:
        return ()
    denied = is_denying(subject)
    claimed = find_numbers(subject.claim, subject.language.code)
    stated = [find_numbers(passage.sentence, subject.language.code) for passage in passages]
    matches = sorted((match for match in spoken if match.hits), key=lambda match: -score(match, subject.query))
    near = [find_numbers(match.sentence, subject.language.code) for match in matches[:_MOST_NUMBERED]]
    present = frozenset(token for match in spoken for token in match.hits if is_number(token))
    cues: list[Cue] = []
    for passage, numbers in zip(passages, stated, strict=True):
        cue = _find_affirmed(subject, passage) if denied else _find_opposition(subject, passage, passages, numbers)
        if cue is not None:
            cues.append(cue)
        if conflict := find_conflict(subject, passage, claimed, [*stated, *near], numbers, present, denied=denied):
            cues.append(Cue("number", passage.sentence, conflict[1], *conflict))
    return tuple(dict.fromkeys(cues))


def is_denying(subject: Subject) -> bool:
    """Whether a claim denies or refutes something itself."""
    far = subject.lexicon is not None and (
        subject.lexicon.find("denying", subject.folded) or subject.lexicon.find("instead", subject.folded)
    )
    return bool(far or find_denials(subject.claim, subject.language) or is_refuted(subject.claim, subject.language))


# --- denials ---


def _find_opposition(
    subject: Subject, passage: ClaimPassage, passages: Sequence[ClaimPassage], numbers: TextNumbers
) -> Cue | None:
    lexicon, language, sentence = subject.lexicon, subject.language, passage.sentence
    privative = lexicon is not None and (lack := lexicon.find("lacking", subject.folded)) and lack not in passage.folded
    if _is_affirmed_elsewhere(subject, passage, passages):
        return None
    if not privative:
        if words := _find_denial(subject, passage):
            return Cue("negation", sentence, words)
        if word := is_refuted(sentence, language):
            return Cue("refutation", sentence, word)
    if reversal := find_reversal(subject, passage, numbers):
        return Cue(reversal.kind, sentence, reversal.stated, reversal.claimed, reversal.stated)
    return None


def _find_denial(subject: Subject, passage: ClaimPassage) -> str:
    """The words with which a passage denies the claim, "" where it denies nothing or another thing."""
    lexicon = subject.lexicon
    for words, clause in find_denials(passage.sentence, subject.language):
        # A clause that holds too little of what the sentence shares with the claim denies another thing, and one that
        # denies the lack of something denies nothing.
        if lexicon is not None and lexicon.find("instead", clause):
            continue
        if lexicon is not None and (lack := lexicon.find("lacking", clause)) and lack not in subject.folded:
            continue
        if lexicon is not None and _is_denied_comparison(subject, lexicon, words, clause):
            continue
        if passage.carried and not _goes_on(subject, passage, clause):
            continue
        reaches = subject.weigh_clause(clause) >= _REACHED * passage.matter
        if (
            reaches
            or _is_said_only_there(subject, passage, clause)
            or find_missing_item(subject.claim, clause, subject.query.specific)
        ):
            return words
    if lexicon is None:
        return ""
    if words := lexicon.find("denying", passage.folded):
        _, _, rest = passage.folded.partition(words)
        # What is denied to be denied ("do not rule out") is left open.
        twice = any(
            words in clause and said not in words for said, clause in find_denials(passage.sentence, subject.language)
        )
        if not twice and subject.weigh_clause(rest) >= _REACHED * passage.matter:
            return words
    if words := lexicon.find("instead", passage.folded):
        before, _, rest = passage.folded.partition(words)
        replaced, kept = tokens(rest), tokens(before)
        if any(occurs(token, replaced) and not occurs(token, kept) for token in subject.query.specific):
            return words
    return ""


def _is_said_only_there(subject: Subject, passage: ClaimPassage, clause: str) -> bool:
    """Whether a good part of what a sentence has of the claim stands in a denied clause and in no other."""
    own, rest = tokens(clause), tokens(passage.folded.replace(clause, " "))
    only = [token for token in passage.match.hits if occurs(token, own) and not occurs(token, rest)]
    weight = sum(subject.query.matter.get(token, 0.0) for token in only if token in subject.query.specific)
    return len(only) >= _FEWEST_ONLY and weight >= _ONLY * passage.matter


def _goes_on(subject: Subject, passage: ClaimPassage, clause: str) -> bool:
    """Whether a denied clause still speaks of what was spoken of before: it opens with it and leaves out nothing."""
    if len(passage.match.hits) < _FEWEST_STATED or passage.matter < _ALONE * subject.whole:
        return False
    if subject.weigh_clause(clause) < _STATED * passage.matter:
        return False
    opening = [token for token in terms(clause) if not is_function_word(token, subject.language)]
    opening = [token for token in opening if token not in to_denying(subject.language)]
    return bool(opening) and any(occurs(term, opening[:1]) for term in subject.query.weights)


def _is_denied_comparison(subject: Subject, lexicon: Lexicon, words: str, clause: str) -> bool:
    """Whether a clause only denies a difference ("not lower than") that the claim does not speak of."""
    _, _, rest = clause.partition(words.rsplit(" … ", maxsplit=1)[-1])
    near = " ".join(rest.split()[:2]) if subject.language.code not in UNSPACED else rest[:3]
    denied = find_sides(lexicon, near)
    return bool(denied) and denied.keys().isdisjoint(find_sides(lexicon, subject.folded))


def _is_affirmed_elsewhere(subject: Subject, passage: ClaimPassage, passages: Sequence[ClaimPassage]) -> bool:
    """Whether another passage has what this one has of the claim and a word or number more, and denies nothing."""
    own = score(passage.match, subject.query)
    return any(
        score(other.match, subject.query) >= own + _MORE
        and sum(subject.query.weights[token] for token in passage.match.hits - other.match.hits) <= _LESS
        for other in passages
        if not other.denied
    )


def _find_affirmed(subject: Subject, passage: ClaimPassage) -> Cue | None:
    """A sentence that states what the claim denies."""
    denying = to_denying(subject.language)
    whole = sum(weight for token, weight in subject.query.matter.items() if token not in denying)
    numbers = {token for token, kind in subject.query.kinds.items() if kind == "number"}
    hits = passage.match.hits
    if passage.matter < _STATED * whole or len(hits) < _FEWEST_STATED or not numbers <= hits:
        return None
    if subject.lexicon is not None and subject.lexicon.find("lacking", passage.folded):
        return None
    words = find_affirmation(subject.claim, passage.sentence, subject.language)
    return Cue("negation", passage.sentence, words, "denied", "stated") if words else None
