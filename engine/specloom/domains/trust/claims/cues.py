"""What in a sentence may speak against a claim: a denial, another number or date, the opposite. Cues, no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from specloom.core import dataclass
from specloom.domains.text import is_function_word, is_number, terms
from specloom.domains.text.tokens import tokens

from .alignment import find_swapped, to_pieces
from .amounts import TextNumbers, find_numbers
from .conflicts import find_conflict, show_amount
from .denials import find_affirmation, find_denials, is_refuted, to_clauses, to_denying
from .lexicon import NEVER, UNSPACED, Lexicon, find_sides
from .matter import ClaimPassage, Subject
from .opposites import find_reversal, has_opposed
from .reversals import find_missing_item
from .weight import SentenceMatch, occurs, score

CUE_KINDS = ("negation", "refutation", "number", "direction", "opposite")
"""What may speak against a claim."""

# A denied clause has to hold this share of what its sentence has of the claim.
_REACHED = 0.5
# A sentence states what a claim denies only where it has nearly all of it.
_STATED = 0.9
# A sentence that leaves out what was spoken of before has this share of the claim by itself where it denies.
_ALONE = 0.35
_FEWEST_STATED = 2
# Words of a claim that a sentence has in its denied clause only, and what they are of all that it has.
_FEWEST_ONLY, _ONLY = 2, 0.45
# Sentences with most of the claim in which its numbers are looked for.
_MOST_NUMBERED = 8
# A sentence that counts what a claim says that there is none of has this share of it, right behind the number.
_COUNTED, _BEHIND = 0.6, 30
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
    if not subject.language.has_cues or not passages or any(passage.stated for passage in passages):
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
        if not passage.quoted and (
            conflict := find_conflict(subject, passage, claimed, [*stated, *near], numbers, present, denied=denied)
            or _find_swapped_number(subject, claimed, numbers, denied=denied)
        ):
            cues.append(Cue("number", passage.sentence, conflict[1], *conflict))
    return tuple(dict.fromkeys(cues))


def _find_swapped_number(
    subject: Subject, claimed: TextNumbers, numbers: TextNumbers, *, denied: bool
) -> tuple[str, str] | None:
    """A number of the claim that a passage has for another of its things, and the one that it has for that one."""
    amounts = [amount for amount in claimed.amounts if not amount.is_year]
    if denied or len(amounts) != 1 or not amounts[0].unit:
        return None
    pieces = to_pieces(numbers, amounts[0].unit, subject.lexicon, subject.language.code)
    things = subject.query.specific.union(map(str, claimed.years))
    other = find_swapped(amounts[0], things, frozenset(subject.query.weights), pieces)
    return (show_amount(amounts[0]), show_amount(other)) if other is not None else None


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
    affirming = _find_affirming(subject, passage, passages)
    if not privative and not affirming and (passage.carried or subject.covers(passage.match.hits)):
        if words := _find_denial(subject, passage):
            return Cue("negation", sentence, words)
        if word := is_refuted(sentence, language):
            return Cue("refutation", sentence, word)
    reversal = find_reversal(subject, passage, numbers)
    if reversal and not any(reversal.is_settled_by(lexicon, other) for other in affirming):
        return Cue(reversal.kind, sentence, reversal.stated, reversal.claimed, reversal.stated)
    return None


def _find_denial(subject: Subject, passage: ClaimPassage) -> str:
    """The words with which a passage denies the claim, "" where it denies nothing or another thing."""
    lexicon = subject.lexicon
    unchanged = lexicon is not None and bool(
        lexicon.find("same", subject.folded) or lexicon.find("still", subject.folded)
    )
    if unchanged:
        # A change or a difference that is denied is just what is claimed.
        return ""
    ongoing = lexicon is not None and bool(lexicon.find("yet", subject.folded))
    for words, clause in find_denials(passage.sentence, subject.language):
        if ongoing and lexicon is not None and lexicon.find("yet", clause):
            continue
        # A clause that holds too little of what the sentence shares with the claim denies another thing, and one that
        # denies the lack of something denies nothing.
        if lexicon is not None and lexicon.find("instead", clause):
            continue
        if lexicon is not None and lexicon.find("manner", passage.folded) and lexicon.find("unknown", clause):
            # Who does not know why or how something is so takes it to be so.
            continue
        if lexicon is not None and (lack := lexicon.find("lacking", clause)) and lack not in subject.folded:
            continue
        if lexicon is not None and _is_denied_comparison(subject, lexicon, words, clause):
            continue
        if _is_bounded(subject, clause):
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
        # "Instead of five days, they came for three": only what stands up to the mark is replaced.
        part, *after = to_clauses(rest, subject.language) or [""]
        replaced, kept = tokens(part), tokens(" ".join((before, *after)))
        if any(occurs(token, replaced) and not occurs(token, kept) for token in subject.query.specific):
            return words
    return ""


def _is_bounded(subject: Subject, clause: str) -> bool:
    """Whether a claim gives a bound that a clause denies to be passed: at most 30 metres, none is farther than 30."""
    code = subject.language.code
    stated = {amount.value for amount in find_numbers(clause, code).amounts}
    return any(amount.bound and amount.value in stated for amount in find_numbers(subject.claim, code).amounts)


def _is_said_only_there(subject: Subject, passage: ClaimPassage, clause: str) -> bool:
    """Whether a good part of what a sentence has of the claim stands in a denied clause and in no other."""
    own, rest = tokens(clause), tokens(passage.folded.replace(clause, " "))
    only = [token for token in passage.match.hits if occurs(token, own) and not occurs(token, rest)]
    weight = sum(subject.matter.get(token, 0.0) for token in only if token in subject.query.specific)
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


def _find_affirming(subject: Subject, passage: ClaimPassage, passages: Sequence[ClaimPassage]) -> list[ClaimPassage]:
    """The other passages that have what this one has of the claim and a word or number more, and deny nothing."""
    own = score(passage.match, subject.query)
    associative = subject.lexicon.lists.get("associative", NEVER) if subject.lexicon is not None else NEVER
    # That something goes with something else is said in many words.
    linking = frozenset(token for match in associative.finditer(subject.folded) for token in tokens(match[0]))
    return [
        other
        for other in passages
        if not other.denied
        and score(other.match, subject.query) >= own + _MORE
        and sum(subject.query.weights[token] for token in passage.match.hits - other.match.hits - linking) <= _LESS
    ]


def _find_counted(subject: Subject, passage: ClaimPassage) -> str:
    """How many of what a claim says that there are none a passage counts: no warnings, six warnings."""
    code = subject.language.code
    if code in UNSPACED or passage.denied or passage.matter < _COUNTED * subject.whole:
        return ""
    words = subject.folded.split()
    denied = {
        token
        for one, two in pairwise(words)
        if one in subject.language.negations
        for token in tokens(two)
        if token in subject.query.specific
    }
    numbers = find_numbers(passage.clause, code)
    for amount in numbers.amounts:
        behind = tokens(numbers.text[amount.end : amount.end + _BEHIND])[:2]
        if not amount.is_year and any(occurs(token, behind) for token in denied):
            return f"{amount.text} {behind[0]}"
    return ""


def _find_affirmed(subject: Subject, passage: ClaimPassage) -> Cue | None:
    """A sentence that states what the claim denies."""
    denying = to_denying(subject.language)
    whole = sum(weight for token, weight in subject.query.matter.items() if token not in denying)
    numbers = {token for token, kind in subject.query.kinds.items() if kind == "number"}
    hits = passage.match.hits
    stated = sum(weight for token, weight in subject.query.matter.items() if token in hits)
    if counted := _find_counted(subject, passage):
        return Cue("negation", passage.sentence, counted, "denied", counted)
    if stated < _STATED * whole or len(hits) < _FEWEST_STATED or not numbers <= hits:
        return None
    lexicon = subject.lexicon
    if lexicon is not None and any(lexicon.find(name, passage.folded) for name in ("lacking", "denying", "instead")):
        return None
    # A denied opposite says the same, and of a part that is not so the rest may be.
    if lexicon is not None and has_opposed(lexicon, subject.folded, passage.clause):
        return None
    if any(amount.unit == "percent" for amount in find_numbers(subject.claim, subject.language.code).amounts):
        return None
    words = find_affirmation(subject.claim, passage.sentence, subject.language)
    return Cue("negation", passage.sentence, words, "denied", "stated") if words else None
