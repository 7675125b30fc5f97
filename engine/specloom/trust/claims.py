"""What a text says about a claim: the sentences that share its terms, ranked. Evidence, never a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from specloom.hooks import Row, hook
from specloom.trust.sentences import sentences
from specloom.trust.words import is_number, is_stop_word, stem, terms, to_word_set, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LONGEST_CLAIM = 2000

# A number of the claim found in its company counts more than a word; alone it is a coincidence.
_NUMBER_BONUS = 1.5
# Less than a term each, so that a single cue or pair only decides between sentences that share equally many.
_CUE_BONUS = 0.4
_PAIR_BONUS = 0.25
_CUES = frozenset(
    map(
        stem,
        to_word_set(
            """associate cause compare conclude confirm contradict debunk decrease demonstrate deny dispute
            estimate evidence fail find increase indicate interval likely measure neither never no not odds
            prove randomize ratio reduce refute reject report reveal show significant suggest support trial
            without"""
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as comparable terms, and which of them stand side by side in it."""

    terms: frozenset[str]
    pairs: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence with at least one term of the claim, and how much it has to do with it."""

    sentence: str
    score: float


def to_claim(text: str) -> Claim:
    """The claim in comparable form; text beyond the first 2000 characters is not looked at."""
    ordered = terms(text[:LONGEST_CLAIM])
    return Claim(frozenset(ordered), frozenset(pairwise(ordered)))


def score(sentence: str, claim: Claim) -> float:
    """How much a sentence has to do with a claim: 0 when they share no term, else 1 and more."""
    said = tokens(sentence)
    matched = claim.terms.intersection(said)
    if not matched:
        return 0.0
    numbers = sum(map(is_number, matched))
    points = float(len(matched))
    if numbers and numbers < len(matched):
        points += _NUMBER_BONUS
    # Function words between two terms do not part them: "rise of prices" has the pair that "rise prices" has.
    kept = [token for token in said if token in claim.terms or not is_stop_word(token)]
    points += _PAIR_BONUS * len(claim.pairs.intersection(pairwise(kept)))
    return points + _CUE_BONUS if not _CUES.isdisjoint(said) else points


def find_evidence(texts: Iterable[str], claim: Claim) -> list[Evidence]:
    """The sentences of some texts that share a term with the claim, in reading order."""
    if not claim.terms:
        return []
    scored = (Evidence(sentence, score(sentence, claim)) for text in texts for sentence in sentences(text))
    return [evidence for evidence in scored if evidence.score > 0]


def best_sentence(texts: Iterable[str], claim: Claim) -> str:
    """The sentence that has most to do with the claim (the first of equals), or "" when none shares a term."""
    best = max(find_evidence(texts, claim), key=lambda evidence: evidence.score, default=None)
    return best.sentence if best else ""


@hook(
    "claim_signal",
    parameters={"claim": {"type": "string"}},
    adds={"claim_signal": {"type": "string"}},
    reads=("title", "snippet", "extra_snippets"),
)
def claim_signal(rows: list[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """Give every row the sentence of its own text that has most to do with the claim, or "" when none has.

    Without a claim the rows stay as they are. Words are matched, not meaning: an empty signal says that no words are
    shared, which in another language says nothing.
    """
    text = arguments.get("claim")
    if not isinstance(text, str) or not text.strip():
        return rows
    claim = to_claim(text)
    return [{**row, "claim_signal": best_sentence(_texts(row), claim)} for row in rows]


def _texts(row: Row) -> Iterable[str]:
    # The title comes last: where it ties with a sentence of the page, the sentence says more.
    extra = row.get("extra_snippets")
    candidates = [row.get("snippet"), *(extra if isinstance(extra, list | tuple) else ()), row.get("title")]
    return (text for text in candidates if isinstance(text, str))
