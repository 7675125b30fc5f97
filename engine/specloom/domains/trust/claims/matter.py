"""The passages that are on the matter of a claim: which sentences count for or against it, and which clause of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specloom.core import dataclass
from specloom.domains.text import LanguageProfile, is_number
from specloom.domains.text.fold import compact, fold
from specloom.domains.text.tokens import tokens

from .amounts import find_numbers
from .denials import find_denials, is_refuted, to_clauses
from .lexicon import Lexicon, drop_turning, to_lexicon
from .weight import ClaimTokens, SentenceMatch, occurs, unify

# A sentence is on the matter when it has as much of it as the best one, but for this share, and this share of the
# claim in all.
CLOSE = 0.75
_ON_THE_MATTER = 0.45
# A sentence that leaves out what the ones before it spoke of has the rest of the claim, and has this share by itself.
_CARRIED, _OWN, _TOGETHER = 0.6, 0.3, 0.5
_BEFORE = 2
_FEWEST_LEFT = 2
# What parts a clause from others, and lists of words with which the rest of a sentence may take it back.
_MARKS = " .,;:!?()。，、；：！？"
_DOUBTING = ("hedge", "caution", "unknown", "denying", "attributed")
"""Terms that tell a claim from others, of which so many are left when the words that turn it are taken away."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A claim as it is held against a text: its words, what they weigh, and the words of its language."""

    claim: str
    folded: str
    query: ClaimTokens
    language: LanguageProfile
    lexicon: Lexicon | None
    matter: Mapping[str, float]

    @property
    def whole(self) -> float:
        """What the claim has of matter, numbers left out."""
        return sum(self.matter.values())

    def covers(self, hits: frozenset[str]) -> bool:
        """Whether some terms are enough of the claim as a whole."""
        matter = self.query.matter
        return sum(weight for token, weight in matter.items() if token in hits) >= _ON_THE_MATTER * sum(matter.values())

    def weigh(self, hits: frozenset[str]) -> float:
        """What some terms are of the claim's matter."""
        return sum(weight for token, weight in self.matter.items() if token in hits)

    def weigh_clause(self, clause: str) -> float:
        """What a clause has of the claim's matter."""
        words = frozenset(unify(tokens(clause), {}, self.language))
        return sum(weight for token, weight in self.matter.items() if occurs(token, words))


@dataclass(frozen=True, slots=True)
class ClaimPassage:
    """A sentence on the matter of a claim, as it is written and folded, and what it has of the claim.

    `quoted` is whether it has the claim in the very words, `stated` whether it has it so as a part of its own, and
    nothing around it denies or doubts.
    `clause` has most of it, or is the whole sentence where that is not `certain`; `numbered` is the clause that has the
    claim's numbers. `denied` is whether anything is denied in the sentence, `carried` whether the sentences before have
    what it leaves out.
    """

    sentence: str
    folded: str
    match: SentenceMatch
    matter: float
    clause: str
    certain: bool
    numbered: str
    clauses: tuple[str, ...]
    denied: bool
    carried: bool
    quoted: bool
    stated: bool


def to_subject(claim: str, query: ClaimTokens, language: LanguageProfile, hits: frozenset[str]) -> Subject:
    """A claim as it is held against a text in a language; `hits` are the terms that the text has somewhere."""
    lexicon, folded = to_lexicon(language), fold(claim)
    return Subject(claim, folded, query, language, lexicon, _to_matter(folded, query, language, lexicon, hits))


def _to_matter(
    folded: str, query: ClaimTokens, language: LanguageProfile, lexicon: Lexicon | None, hits: frozenset[str]
) -> Mapping[str, float]:
    """What a claim is about: its terms without those that only say how much, which way, or whose doing it is.

    A source that says the contrary says just these in other words, so they are left out where the text has them
    nowhere. Where little else is left, all terms count.
    """
    if lexicon is None:
        return query.matter
    # Whom a claim is about, too, may be what it has changed.
    turned = drop_turning(lexicon, folded)
    for pattern in lexicon.groups.values():
        turned = pattern.sub(" ", turned)
    # A number that is written out is no word.
    digits = frozenset(tokens(find_numbers(folded, language.code).text))
    written = frozenset(token for token in query.matter if token not in query.specific and token not in digits)
    kept = hits.union(unify(tokens(turned), {}, language))
    matter = {
        token: weight
        for token, weight in query.matter.items()
        if token not in written and (token in kept or token not in query.specific)
    }
    specific = [token for token in matter if token in query.specific]
    return matter if len(specific) >= _FEWEST_LEFT else query.matter


def find_passages(
    subject: Subject, evidence: Sequence[SentenceMatch], spoken: Sequence[SentenceMatch]
) -> list[ClaimPassage]:
    """The sentences of the evidence, and those right behind them, that are on the matter of a claim."""
    if not evidence:
        return []
    chosen = {id(match) for match in evidence}
    at = [place for place, match in enumerate(spoken) if id(match) in chosen]
    best = max(subject.weigh(match.hits) for match in evidence)
    passages = []
    for place in sorted({*at, *(after for each in at for after in (each + 1, each + 2))}):
        if place >= len(spoken) or not spoken[place].hits:
            continue
        match = spoken[place]
        own = subject.weigh(match.hits)
        before = frozenset().union(*(each.hits for each in spoken[max(0, place - _BEFORE) : place]))
        together = own + _CARRIED * subject.weigh(before - match.hits)
        straight = id(match) in chosen and own >= max(best * CLOSE, subject.whole * _ON_THE_MATTER)
        carried = own >= _OWN * subject.whole and together >= max(best * CLOSE, subject.whole * _TOGETHER)
        if straight or carried:
            passages.append(_to_passage(subject, match, own, carried=not straight))
    # Where the claim stands in the text as it is, no other sentence can say that it does not.
    return [passage for passage in passages if passage.quoted] or passages


def _to_passage(subject: Subject, match: SentenceMatch, own: float, *, carried: bool) -> ClaimPassage:
    folded = fold(match.sentence)
    clauses = to_clauses(folded, subject.language) or [folded]
    clause = max(clauses, key=subject.weigh_clause)
    certain = subject.weigh_clause(clause) >= CLOSE * own
    numbered = max(clauses, key=lambda each: (_count(each, subject), subject.weigh_clause(each)))
    return ClaimPassage(
        sentence=match.sentence,
        folded=folded,
        match=match,
        matter=own,
        clause=clause if certain else folded,
        certain=certain,
        numbered=numbered,
        clauses=tuple(clauses),
        denied=bool(find_denials(match.sentence, subject.language)),
        carried=carried,
        quoted=compact(subject.claim) in compact(match.sentence),
        stated=_is_stated(subject, folded),
    )


def _is_stated(subject: Subject, folded: str) -> bool:
    """Whether a folded sentence has a claim word for word between marks, and denies, doubts or asks nothing else."""
    own = subject.folded.strip(_MARKS)
    before, found, after = folded.partition(own)
    before, after = before.rstrip(), after.lstrip()
    if not own or not found or (before and before[-1] not in _MARKS) or (after and after[0] not in _MARKS):
        return False
    rest = f"{before} {after}"
    doubted = subject.lexicon is not None and any(subject.lexicon.find(name, rest) for name in _DOUBTING)
    denied = find_denials(rest, subject.language) or is_refuted(rest, subject.language)
    return not (doubted or denied or "?" in rest or "？" in rest)


def _count(clause: str, subject: Subject) -> int:
    """How many of the claim's numbers a clause has."""
    return sum(is_number(token) and token in subject.query.weights for token in tokens(clause))
