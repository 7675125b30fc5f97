"""A claim as weighted terms, and a sentence as what it has of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from specloom.trust.concepts import load_concepts, unify
from specloom.trust.folding import find_script
from specloom.trust.languages import Language, find_language, is_function_word, load_languages
from specloom.trust.phrases import Shape, to_shape
from specloom.trust.quantities import find_quantities
from specloom.trust.words import is_number, terms, tokens

# Weights of terms. A name or a number with its unit is seldom shared by chance, a word of every study often is.
_NAME, _LONG, _WORD, _NUMBER, _GENERIC = 1.5, 1.2, 1.0, 0.8, 0.35
_LONG_WORD = 9
_PHRASE_BONUS = 0.5
# Where words have forms that no stemmer here knows, they are equal up to their endings.
_LONGEST_ENDING = 3
_SHORTEST_ROOT = 5
# Italian changes the last vowel only: "pila", "pile".
_ENDINGS = frozenset("aeio")
_SHORTEST_WORD = 4
# A word of so many letters may be a compound: "multilayer" has the layer, "Grundwasserbelastung" the groundwater; so
# may one that is twice as long as its beginning: "peatland".
_COMPOUND = 9
# Kana that ends or joins words, and the Chinese particles: a pair with one is more of the grammar than of the matter.
_PARTICLE = re.compile("[\u3041-\u3096\u7684\u4e86\u662f\u5728\u548c]")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A claim as tokens: what each weighs, what it is (name, number, word, generic), and the units of its numbers.

    `specific` are the tokens that tell this claim from others, `pairs` those of them that follow each other with only
    function words between them, `shape` is how they hang together.
    """

    weights: Mapping[str, float]
    kinds: Mapping[str, str]
    units: Mapping[str, str]
    specific: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    shape: Shape

    @property
    def matter(self) -> Mapping[str, float]:
        """The weights of all terms but numbers: what the claim is about."""
        return {token: weight for token, weight in self.weights.items() if self.kinds[token] != "number"}


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence, the terms of the claim that it has, how many of its pairs stand together here, too, and its words."""

    sentence: str
    hits: frozenset[str]
    pairs: int
    words: int


def to_wanted(claim: str, language: Language, initials: Mapping[str, tuple[str, ...]]) -> Wanted:
    """A claim in a language as weighted terms; `initials` are those that the text explains."""
    shouted = claim.isupper()
    names = frozenset(unify(_find_names(claim), {}, language))
    plain = frozenset(terms(claim))
    units = {each.value: each.unit for each in find_quantities(claim)}
    weights: dict[str, float] = {}
    kinds: dict[str, str] = {}
    ordered: list[str] = []
    spoken = unify(tokens(claim), initials, language)
    for at, token in enumerate(spoken):
        # A capital letter alone is a name ("vitamin C"), but an article where it opens the claim ("O", "A").
        opens = at == 0 and len(token) == 1
        bare = token.casefold() if opens else token
        if token in plain and is_function_word(bare, language) and (shouted or opens or not token.isupper()):
            continue
        if token not in plain and not _stands_for_words(token, initials):
            continue
        kind, weight = _weigh(token, names, units, language)
        ordered.append(token)
        weights.setdefault(token, weight)
        kinds.setdefault(token, kind)
    specific = frozenset(token for token, kind in kinds.items() if kind in ("word", "name"))
    pairs = frozenset((one, two) for one, two in pairwise(ordered) if one in specific and two in specific)
    return Wanted(weights, kinds, units, specific, pairs, to_shape(claim, spoken, specific, language))


def _stands_for_words(token: str, initials: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a token came in for others: a concept for its names, or a word for explained initials."""
    return token in _concept_tokens() or (len(token) > 2 and any(token in words for words in initials.values()))


@cache
def _concept_tokens() -> frozenset[str]:
    return frozenset(phrase.token for group in load_concepts().values() for phrase in group)


@cache
def _generic_tokens(code: str) -> frozenset[str]:
    """The words of every report in a language; the English ones for a language without a list."""
    known = load_languages()
    words = (known[code].generic if code in known else frozenset()) or known["en"].generic
    return frozenset(token for word in words for token in tokens(word)) | {"percent", "dollar", "euro"}


def _weigh(token: str, names: frozenset[str], units: Mapping[str, str], language: Language) -> tuple[str, float]:
    if is_number(token):
        return "number", _NAME if units.get(token) else _NUMBER
    if token in _generic_tokens(language.code) or (find_script(token) == "CJK" and _PARTICLE.search(token)):
        return "generic", _GENERIC
    if token in names or token.isupper():
        return "name", _NAME
    return "word", _LONG if len(token) >= _LONG_WORD else _WORD


def _find_names(claim: str) -> list[str]:
    """The tokens of capitalised words that open no sentence; none where all nouns or all words have a capital."""
    if find_language(claim).code == "de" or claim.isupper() or claim.istitle():
        return []
    found = re.findall(r"(?<=[^\s.!?:])\s+([A-Z][\w’'-]+|[A-Z]{2,})", claim)
    return [token for word in found for token in tokens(word)]


def to_said(
    sentence: str,
    wanted: Wanted,
    language: Language,
    initials: Mapping[str, tuple[str, ...]],
    known: dict[str, tuple[str, ...]],
) -> Said:
    """What a sentence has of a claim. `known` keeps the terms that a token stands for, from sentence to sentence."""
    kept: list[str] = []
    found = unify(tokens(sentence), initials, language)
    for token in found:
        same = known.get(token)
        if same is None:
            same = known[token] = tuple(term for term in wanted.weights if _is_same(term, token))
        kept.extend(same)
    hits = frozenset(kept)
    if wrong := _other_units(hits, sentence, wanted):
        hits -= wrong
    together = wanted.pairs.intersection(pairwise(kept)) if wanted.pairs else ()
    return Said(sentence, hits, len(together), len(found))


def _other_units(hits: frozenset[str], sentence: str, wanted: Wanted) -> frozenset[str]:
    """The numbers of a claim that a sentence has with another unit only: 25 percent are not 25 patients."""
    claimed = {token: wanted.units[token] for token in hits if wanted.units.get(token)}
    if not claimed:
        return frozenset()
    said: dict[str, set[str]] = {}
    for quantity in find_quantities(sentence):
        said.setdefault(quantity.value, set()).add(quantity.unit)
    return frozenset(token for token, unit in claimed.items() if not said.get(token, {""}) & {unit, ""})


def is_said(term: str, found: Iterable[str]) -> bool:
    """Whether a term of a claim is among the tokens of a text, in this form or another."""
    return any(_is_same(term, token) for token in found)


def _is_same(one: str, two: str) -> bool:
    """Whether two tokens are forms of one word: equal but for the ending, or one a compound that has the other.

    This joins what a dictionary would part ("universe", "university"). A term found wrongly costs less here than a
    source that is accused because its language inflects.
    """
    if one == two:
        return True
    longest = max(len(one), len(two))
    if len(one) == len(two) >= _SHORTEST_WORD and one[:-1] == two[:-1] and _ENDINGS.issuperset(one[-1] + two[-1]):
        return True
    if is_number(one) or is_number(two) or one.isupper():
        return False
    shorter, longer = sorted((one, two), key=len)
    if len(shorter) >= _SHORTEST_WORD and longest >= min(2 * len(shorter), _COMPOUND) and longer.startswith(shorter):
        return True
    if len(shorter) < _SHORTEST_ROOT:
        return False
    if longest >= _COMPOUND and longer.endswith(shorter):
        return True
    shared = next((at for at, (first, second) in enumerate(zip(one, two, strict=False)) if first != second), -1)
    shared = len(shorter) if shared < 0 else shared
    return shared >= max(_SHORTEST_ROOT, (longest * 2 + 2) // 3) and longest - shared <= _LONGEST_ENDING


def union(spoken: Sequence[Said]) -> frozenset[str]:
    """The terms that some sentences have together."""
    return frozenset(token for said in spoken for token in said.hits)


def share(spoken: Sequence[Said], wanted: Wanted) -> float:
    """The weighted share of a claim's terms in some sentences, from 0 to 1; pairs that stay together count on top."""
    total = sum(wanted.weights.values()) + _PHRASE_BONUS * len(wanted.pairs)
    if not total:
        return 0.0
    matched = sum(wanted.weights[token] for token in union(spoken))
    together = max((said.pairs for said in spoken), default=0)
    return (matched + _PHRASE_BONUS * together) / total


def score(said: Said, wanted: Wanted) -> float:
    """How much of a claim a sentence has, 0 for none of it."""
    return sum(wanted.weights[token] for token in said.hits) + _PHRASE_BONUS * said.pairs
