"""What in a sentence may speak against a claim: a denial, another number, the opposite direction. Cues, no verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import cache
from itertools import pairwise

from specloom.core import dataclass, load_table
from specloom.domains.text import LanguageProfile, is_number, stem, to_word_set
from specloom.domains.text.fold import fold
from specloom.domains.text.tokens import tokens

from .weight import ClaimTokens, Quantity, SentenceMatch, find_quantities, occurs, unify

_TABLE = load_table(__file__, "cues.yaml")
# Clause marks; a hyphen or a full stop inside a number is none, and neither is the comma before the year of a day.
_CLAUSE = re.compile(r",(?!\s?(?:1[5-9]|20)[0-9]{2}\b)(?![0-9])|[;:()\[\]–—](?![0-9])|\s-\s|[。，、；：（）]")
_CONTRACTED = re.compile(r"\b(can|do|does|did|is|are|was|were|has|have|had|wo|would|could|should|must)n['’]?t\b")
_WORD = re.compile(r"[^\W_]+")
_UNDOING = 3

CUE_KINDS = ("negation", "refutation", "number", "direction")
"""What may speak against a claim."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One thing to look at: its kind (CUE_KINDS), the sentence, and the words that did it.

    `claimed` and `found` are the two sides of a number or a direction, "denied" and "stated" of what only the claim
    denies, "" elsewhere.
    """

    kind: str
    sentence: str
    words: str
    claimed: str = ""
    found: str = ""


def find_denials(text: str, language: LanguageProfile) -> tuple[tuple[str, str], ...]:
    """The denials of a sentence: each with the words that deny, and the part of the sentence that it reaches.

    A negation reaches to the next clause mark, or to a word that opens a clause of its own; "not only" and its like
    reach nothing, and neither do two negations side by side, which are left to the reader.
    """
    folded = _CONTRACTED.sub(r"\1 not", fold(text))
    for phrase in language.not_denying:
        folded = folded.replace(phrase, " ")
    denials: list[tuple[str, str]] = []
    for clause in to_clauses(folded, language):
        hits = _find_negations(clause, language)
        if hits:
            denials.append((hits[0], clause))
    return tuple(denials)


def to_clauses(folded: str, language: LanguageProfile) -> list[str]:
    """A folded sentence in clauses: parted at marks, and before words that open a clause of their own."""
    clauses: list[str] = []
    for part in _CLAUSE.split(folded):
        current: list[str] = []
        for word in part.split():
            if word in language.breaks and current:
                clauses.append(" ".join(current))
                current = []
            current.append(word)
        clauses.append(" ".join(current))
    return [clause for clause in clauses if clause]


def _find_negations(clause: str, language: LanguageProfile) -> list[str]:
    if language.code in ("ja", "zh"):
        hits = [cue for cue in sorted(language.negations, key=len, reverse=True) if cue in clause]
        return hits[:1]
    words: list[str] = _WORD.findall(clause)
    at = [place for place, word in enumerate(words) if word in language.negations]
    # French denies with two words, and Romance and Slavic languages may deny twice to deny once. In English two that
    # stand together undo each other ("not without"); further apart they deny two things.
    if language.code == "en" and any(two - one <= _UNDOING for one, two in pairwise(at)):
        return []
    return [" … ".join(dict.fromkeys(words[place] for place in at))] if at else []


def is_refuted(text: str, language: LanguageProfile) -> str:
    """The word of a sentence that calls something wrong, "" when none does or when it is itself denied."""
    folded = fold(text)
    if language.code in ("ja", "zh"):
        return next((cue for cue in language.refuting if cue in folded), "")
    words: list[str] = _WORD.findall(folded)
    for word in words:
        if any(word.startswith(root) for root in language.refuting) and not any(
            word in clause for _, clause in find_denials(text, language)
        ):
            return word
    return ""


_AS_WRITTEN = to_word_set(_TABLE["as_written"])
_OPPOSITES = tuple(
    tuple(frozenset(word if word in _AS_WRITTEN else stem(word) for word in side.split()) for side in pair)
    for pair in _TABLE["opposites"]
)


def find_opposite(claim: str, sentence: str) -> tuple[str, str] | None:
    """A word of direction in a claim and its opposite in a sentence that has no word of the claim's own direction.

    The words are English; a sentence in another language has none.
    """
    claimed, directed = _to_directed(claim), _to_directed(sentence)
    for pair in _OPPOSITES:
        for side, other in (pair, pair[::-1]):
            own, opposed = _first(claimed, side), _first(directed, other)
            if own and opposed and not _first(claimed, other) and not _first(directed, side):
                return own, opposed
    return None


def _to_directed(text: str) -> list[tuple[str, str]]:
    """The words of a text, each as it is written and as it is compared."""
    words: list[str] = _WORD.findall(fold(text))
    return [(word, word if word in _AS_WRITTEN else stem(word)) for word in words if word not in ("high", "low")]


def _first(words: Sequence[tuple[str, str]], side: Set[str]) -> str:
    return next((word for word, compared in words if compared in side), "")


def find_number_conflict(claim: str, sentence: str) -> tuple[Quantity, Quantity] | None:
    """A number of a claim and another of the same unit in a sentence that does not have the claimed one.

    Only numbers with a unit are compared, and only where each side has one of that unit: with several it cannot be
    told which belongs to what. A number that both sides have conflicts with none, even where one leaves its unit out.
    """
    claimed, quantities = find_quantities(claim), find_quantities(sentence)
    shared = {each.value for each in claimed} & {each.value for each in quantities}
    for quantity in claimed:
        same = [each for each in quantities if each.unit == quantity.unit]
        own = [each for each in claimed if each.unit == quantity.unit]
        if quantity.unit and len(same) == len(own) == 1 and shared.isdisjoint((quantity.value, same[0].value)):
            return quantity, same[0]
    return None


def find_other_unit(claim: str, sentence: str) -> tuple[Quantity, Quantity] | None:
    """A number of a claim that a sentence has with another unit of the same kind: 12 metres for 12 kilometres."""
    quantities = find_quantities(sentence)
    for quantity in find_quantities(claim):
        same = [each for each in quantities if each.value == quantity.value]
        if quantity.kind and len(same) == 1 and same[0].kind == quantity.kind and same[0].unit != quantity.unit:
            return quantity, same[0]
    return None


def find_other_year(claim: str, sentence: str) -> tuple[str, str] | None:
    """The year of a claim and another in a sentence, where each has exactly one."""
    claimed, years = ({each.value for each in find_quantities(text) if each.is_year} for text in (claim, sentence))
    return (claimed.pop(), years.pop()) if len(claimed) == len(years) == 1 and claimed != years else None


# --- What turns a claim round without denying it: the sides of a comparison, how many it is said of, an item left
# out ------------------------------------------------------------------------------------------------------------------
# The words are English, and so is what is found. Everything here asks for the same words on both sides, so that only a
# sentence that says the claim but for one turn is told.


_REVERSALS_WORD = re.compile(r"[^\W_]+")
_MUCH, _LITTLE = frozenset(("more",)), frozenset(("less", "fewer"))
# Between a comparative and its "than": "emit less carbon dioxide than".
_WITHIN = 4
_SHORTEST_COMPARATIVE = 5
_MANY, _FEW = to_word_set(_TABLE["many"]), to_word_set(_TABLE["few"])
# Words that are no claim of their own: questions, doubts, and what others are said to think.
_OPEN = frozenset(map(stem, _TABLE["open"].split()))
# Only a plural is counted: "100 psychology studies" are studies.
_PLURAL = r"([^\W\d_]{3,}(?<![su])s|people|children|women|men)\b"
_COUNTED = re.compile(rf"(?<![\w.,])([0-9][0-9,.]*|[a-z]{{3,9}}) (?:{_PLURAL}|[a-z-]{{3,}} {_PLURAL})")
# A claim that denies a part, or for a time or a case, is not turned round by who states the rest.
_PARTLY = re.compile(
    r"\b(?:not|n't|nicht|pas|no|non|nao|niet) (?:all|every\w*|always|necessarily|entirely|fully|completely|yet|both"
    r"|alle?|immer|tous|toutes|toujours|todos|todas|siempre|sempre|tutti|tutte|altijd)\b|\b(?:before|until|unless|except|only"
    r"|without|than|if|bevor|bis|avant|sauf|antes|hasta|salvo|prima|finche|ate|voor|tot)\b"
)
_LIST = re.compile(r"\b([^\W\d_]+)(?:,(?: and| or)?| and| or) (?=([^\W\d_]+))")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison as it is said, its word (a stem), whether it says less of it, and the tokens on either side."""

    said: str
    word: str
    less: bool
    left: frozenset[str]
    right: frozenset[str]


def find_comparison(text: str, terms: Set[str]) -> Comparison | None:
    """The comparison with "than" in a text, by those of the terms that stand on one side of it only."""
    words: list[str] = _REVERSALS_WORD.findall(fold(text))
    if words.count("than") != 1:
        return None
    than = words.index("than")
    for at in range(than - 1, max(-1, than - 2 - _WITHIN), -1):
        word = words[at]
        if word in _MUCH or word in _LITTLE:
            between = " ".join(words[at + 1 : than]) or words[at - 1 if at else 0]
            compared, less = stem(between), word in _LITTLE
        elif len(word) >= _SHORTEST_COMPARATIVE and word.endswith("er") and word not in ("other", "rather"):
            compared, less = word, False
        else:
            continue
        left, right = (frozenset(tokens(" ".join(part))) & terms for part in (words[:at], words[than + 1 :]))
        return Comparison(" ".join(words[at : than + 3]), compared, less, left - right, right - left)
    return None


def find_turned_comparison(claim: str, sentence: str, terms: Set[str]) -> Cue | None:
    """The comparison of a claim where a sentence has it the other way: less for more, or its sides exchanged."""
    own, other = find_comparison(claim, terms), find_comparison(sentence, terms)
    if own is None or other is None or not (own.left or own.right) or own.word != other.word:
        return None
    straight = (own.left & other.left or own.right & other.right) and not (
        own.left & other.right or own.right & other.left
    )
    crossed = own.left & other.right and own.right & other.left and not (own.left & other.left)
    if (straight and own.less != other.less) or (crossed and own.less == other.less):
        return Cue("direction", sentence, other.said, own.said, other.said)
    return None


def find_other_quantifier(claim: str, sentence: str) -> Cue | None:
    """Few where the claim has most, or most where it has few, of the same thing."""
    own, other = _quantified(claim), _quantified(sentence)
    for noun, (word, many) in own.items():
        if noun in other and other[noun][1] is not many:
            return Cue("direction", sentence, other[noun][0], word, other[noun][0])
    return None


def _quantified(text: str) -> dict[str, tuple[str, bool]]:
    """The things of which a text says how many, each with that word and whether it means many."""
    words = [word for word in _REVERSALS_WORD.findall(fold(text)) if word not in ("of", "the", "these", "those")]
    quantified: dict[str, tuple[str, bool]] = {}
    for at, word in enumerate(words[:-1]):
        alone = at == 0 or words[at - 1] not in ("a", "quite", "not", "at", "very")
        if alone and (word in _MANY or word in _FEW):
            quantified.setdefault(stem(words[at + 1]), (word, word in _MANY))
    return quantified


def find_missing_item(claim: str, denied: str, specific: Set[str]) -> str:
    """The item of a claim's list that a denied clause is about and nothing else of the claim, "" without one."""
    words = frozenset(tokens(denied)) & specific
    if len(words) != 1:
        return ""
    items = {token for pair in _LIST.finditer(claim) for word in pair.groups() for token in tokens(word)}
    return next((token for token in words if token in items), "") if len(items & specific) > 1 else ""


def find_affirmation(claim: str, sentence: str, language: LanguageProfile) -> str:
    """The words with which a claim denies what a sentence simply states; "" where it does not, or is not certain to.

    Nothing is certain that is asked, doubted, said of others or denied in any part of the sentence.
    """
    denials = find_denials(claim, language)
    if (
        not denials
        or _PARTLY.search(fold(claim))
        or "?" in sentence
        or "？" in sentence
        or find_denials(sentence, language)
    ):
        return ""
    if is_refuted(sentence, language) or (language.code == "en" and find_opposite(claim, sentence)):
        return ""
    if language.code == "en" and not _OPEN.isdisjoint(map(stem, _REVERSALS_WORD.findall(fold(sentence)))):
        return ""
    return denials[0][0]


def find_other_count(claim: str, sentence: str, nouns: Set[str]) -> tuple[str, str] | None:
    """How many of something a claim has and a sentence has, where they differ and neither counts anything else."""
    own, other = _count(claim, nouns), _count(sentence, nouns)
    if len(own) != 1 or len(other) != 1 or own[0][1] != other[0][1] or own == other:
        return None
    return " ".join(own[0]), " ".join(other[0])


def _count(text: str, nouns: Set[str]) -> list[tuple[str, str]]:
    """The numbers of a text that count one of these nouns, each with it: "12 whales", "12 grey whales"."""
    counted = []
    for match in _COUNTED.finditer(fold(text)):
        words = tokens(match[0])
        if len(words) > 1 and is_number(words[0]) and words[-1] in nouns:
            counted.append((words[0], words[-1]))
    return counted


# --- Which sentences of the evidence may speak against a claim, and by what ---


# A sentence may speak against a claim when it has as much of its matter as the best one, but for this share, and this
# share of the claim in all; its denied clause has to hold so much of that.
_CLOSE = 0.75
_ON_THE_MATTER = 0.45
_REACHED = 0.5
# A sentence states what a claim denies only where it has all of it but for a word.
_STATED = 0.9
_FEWEST_STATED = 2


def find_cues(
    claim: str, evidence: Sequence[SentenceMatch], query: ClaimTokens, language: LanguageProfile
) -> tuple[Cue, ...]:
    """What may speak against the claim in the sentences that speak of its matter, next to which others do not count."""
    if not language.has_cues or not evidence:
        return ()
    denied = bool(find_denials(claim, language)) or bool(is_refuted(claim, language))
    best = max(_matter(match, query) for match in evidence)
    whole = sum(query.matter.values())
    numbers = frozenset(token for match in evidence for token in match.hits if is_number(token))
    cues: list[Cue] = []
    for match in evidence:
        if _matter(match, query) < max(best * _CLOSE, whole * _ON_THE_MATTER):
            continue
        opposed = _find_opposition if not denied else _find_affirmed
        if cue := opposed(claim, match, query, language):
            cues.append(cue)
        if conflict := _find_conflict(claim, match, query, language, numbers, denied=denied):
            cues.append(conflict)
    return tuple(cues)


def _find_opposition(claim: str, match: SentenceMatch, query: ClaimTokens, language: LanguageProfile) -> Cue | None:
    sentence = match.sentence
    for words, clause in find_denials(sentence, language):
        # A clause that holds too little of what the sentence shares with the claim denies another thing.
        reaches = _inside(clause, query, language) >= _REACHED * _matter(match, query)
        if reaches or find_missing_item(claim, clause, query.specific):
            return Cue("negation", sentence, words)
    if word := is_refuted(sentence, language):
        return Cue("refutation", sentence, word)
    if language.code == "en" and (pair := find_opposite(claim, sentence)):
        return Cue("direction", sentence, pair[1], *pair)
    if language.code == "en":
        return find_turned_comparison(claim, sentence, query.weights.keys()) or find_other_quantifier(claim, sentence)
    return None


def _find_affirmed(claim: str, match: SentenceMatch, query: ClaimTokens, language: LanguageProfile) -> Cue | None:
    """A sentence that states what the claim denies."""
    whole = sum(weight for token, weight in query.matter.items() if token not in to_denying(language))
    numbers = {token for token, kind in query.kinds.items() if kind == "number"}
    if _matter(match, query) < _STATED * whole or len(match.hits) < _FEWEST_STATED or not numbers <= match.hits:
        return None
    words = find_affirmation(claim, match.sentence, language)
    return Cue("negation", match.sentence, words, "denied", "stated") if words else None


@cache
def to_denying(language: LanguageProfile) -> frozenset[str]:
    """The words that deny in a language, as tokens."""
    return frozenset(token for word in language.negations for token in tokens(word))


def _matter(match: SentenceMatch, query: ClaimTokens) -> float:
    """What a sentence has of the claim besides its numbers."""
    return sum(weight for token, weight in query.matter.items() if token in match.hits)


def _inside(clause: str, query: ClaimTokens, language: LanguageProfile) -> float:
    """What a clause has of the claim besides its numbers."""
    words = frozenset(unify(tokens(clause), {}, language))
    return sum(weight for token, weight in query.matter.items() if occurs(token, words))


def _find_conflict(
    claim: str,
    match: SentenceMatch,
    query: ClaimTokens,
    language: LanguageProfile,
    stated: frozenset[str],
    *,
    denied: bool,
) -> Cue | None:
    """Another number where the claim has its own: in the clause that has most of the claim, if it has enough of it.

    A year stands against another only within that clause, where the claim denies nothing of it, and where the year of
    the claim is in none of the numbers that are `stated`.
    """
    clauses = to_clauses(fold(match.sentence), language)
    clause = max(clauses, key=lambda each: _inside(each, query, language), default="")
    certain = _inside(clause, query, language) >= _CLOSE * _matter(match, query)
    clause = clause if certain else match.sentence
    conflict: tuple[str, str] | None = None
    if units := find_number_conflict(claim, clause) or find_other_unit(claim, clause):
        conflict = (f"{units[0].value} {units[0].unit}", f"{units[1].value} {units[1].unit}")
    elif certain and not denied and (years := find_other_year(claim, clause)) and years[0] not in stated:
        conflict = years
    else:
        conflict = find_other_count(claim, clause, query.specific)
    return Cue("number", match.sentence, conflict[1], *conflict) if conflict is not None else None
