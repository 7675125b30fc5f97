"""A claim as weighted terms, and a sentence as what it has of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise

from specloom.core import dataclass, load_table
from specloom.domains.text import (
    LanguageProfile,
    find_language,
    find_script,
    invert,
    is_function_word,
    is_irregular,
    is_number,
    load_languages,
    terms,
    to_word_set,
)
from specloom.domains.text.tokens import tokens

# --- Numbers as they are meant: a value with its unit, years apart from amounts ---------------------------------------


_TABLE = load_table(__file__, "cues.yaml")
_UNITS, _KINDS = invert(_TABLE["units"]), invert(_TABLE["measures"])
_CURRENCY = re.compile(r"([$€£])\s?(?=[0-9])")
_POINTS = re.compile(r"\b(?:percentage|per cent|percent)\s+points?\b", re.IGNORECASE)
_TIMES = re.compile(r"(?<=[0-9])\s?(?:-\s?fold|×|times)\b", re.IGNORECASE)
# A unit stands right behind its number, or behind one word ("12 older patients").
_REACH = 2


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in its canonical form (`2500000`, `3.5`) and its unit, "" when it has none that is known."""

    value: str
    unit: str

    @property
    def kind(self) -> str:
        """What its unit measures, "" where that is not known."""
        return _KINDS.get(self.unit, "")

    @property
    def is_year(self) -> bool:
        """Whether the number can only be meant as a year."""
        return not self.unit and len(self.value) == 4 and self.value.isdigit() and "1500" <= self.value <= "2099"


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Every number of a text with its unit, in order."""
    text = _CURRENCY.sub(lambda sign: {"$": "dollar ", "€": "euro ", "£": "pound "}[sign[1]], text)
    words = tokens(_TIMES.sub(" fold ", _POINTS.sub("points", text)))
    return tuple(Quantity(token, _find_unit(words, at)) for at, token in enumerate(words) if is_number(token))


def _find_unit(words: Sequence[str], at: int) -> str:
    if at and words[at - 1] in ("dollar", "euro", "pound"):
        return words[at - 1]
    for word in words[at + 1 : at + 1 + _REACH]:
        if is_number(word):
            return ""
        if word == "point":
            return "point"
        if word in _UNITS:
            return _UNITS[word]
    return ""


# --- How the words of a claim hang together: which may be one name, what the claim speaks of first, and where it
# is set ---------------------------------------------------------------------------------------------------------------
# No grammar is known here but word order and endings. Where those leave it open, words are taken to stand by
# themselves,
# so that a source which has one of them is not accused.


# Languages that part the words of one name by blanks, or not at all; others join them, or order them by case.
_APART = frozenset(("", "en", "ja", "ko", "th", "zh"))
_PHRASES_WORD = re.compile(r"[^\W\d_]+")
_PLURAL = re.compile(r"[^su]s$|[^aeiou]i$", re.IGNORECASE)
_PAST = re.compile(r"ed$", re.IGNORECASE)
_ENDS_IN_S = re.compile(r"[^su]s$", re.IGNORECASE)
_HYPHENED = re.compile(r"\w-([^\W\d_]+)\s+([^\W\d_]+)")
# A name behind one of these is where something is.
_PLACED = re.compile(r"\b(?:in|near|across|en|em|nel|nella|nell')\s?([^\W\d_a-z][\w’'-]+)")
_TIES = {code: to_word_set(words) for code, words in _TABLE["ties"].items()}
_ARTICLES = to_word_set(_TABLE["articles"])


@dataclass(frozen=True, slots=True)
class Shape:
    """What the order of a claim's words says about its specific tokens.

    `heads` names for each the word behind it that it may only modify ("cream" for "ice"), `modifiers` the other way
    round. `settings` are names that only say where ("in Denmark"). `subject` is the token that the claim begins with,
    "" where that modifies another, and `narrowed` what ties it to one kind ("tuna" in "mercury in tuna rises").
    """

    heads: Mapping[str, frozenset[str]]
    modifiers: Mapping[str, frozenset[str]]
    settings: frozenset[str]
    subject: str
    narrowed: frozenset[str]


def to_shape(claim: str, spoken: Sequence[str], specific: frozenset[str], language: LanguageProfile) -> Shape:
    """The shape of a claim of which `spoken` are the tokens in their order and `specific` those that tell it apart."""
    together, perhaps = _find_compounds(claim, spoken, specific, language)
    subject, narrowed = _find_subject(claim, specific, language)
    return Shape(
        _to_groups(together),
        _to_groups((two, one) for one, two in (*together, *perhaps)),
        frozenset(token for word in _PLACED.findall(claim) for token in tokens(word)) & specific,
        subject,
        narrowed,
    )


def _to_groups(pairs: Iterable[tuple[str, str]]) -> Mapping[str, frozenset[str]]:
    groups: dict[str, frozenset[str]] = {}
    for one, two in pairs:
        groups[one] = groups.get(one, frozenset()) | {two}
    return groups


def _find_compounds(
    claim: str, spoken: Sequence[str], specific: frozenset[str], language: LanguageProfile
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The pairs of specific tokens that stand directly together and may be one name ("ice cream", "太陽電").

    Only where such names are written apart: English, which is also what a language that cannot be told is taken for,
    and scripts without blanks. A plural is the subject of what follows it rather than its modifier ("trains consume"),
    and a past tense is no noun ("penicillin cured"). The second list has the pairs in which the first is the subject or
    the modifier of the second ("coffee lowers", "whale schools"), unless a hyphen decides ("high-protein breakfasts").
    """
    if language.code not in _APART:
        return [], []
    raw = {token: word for word in _PHRASES_WORD.findall(claim) for token in tokens(word)}
    together = [(one, two) for pair in _HYPHENED.findall(claim) for one, two in pairwise(tokens(" ".join(pair)))]
    together = [pair for pair in together if specific.issuperset(pair)]
    perhaps: list[tuple[str, str]] = []
    for one, two in pairwise(spoken):
        if one not in specific or two not in specific:
            continue
        left, right = raw.get(one, one), raw.get(two, two)
        if find_script(one) == "CJK":
            together.append((one, two))
        elif not _PLURAL.search(left) and not _is_past(right):
            (perhaps if _ENDS_IN_S.search(right) else together).append((one, two))
    return together, perhaps


def _is_past(word: str) -> bool:
    return bool(_PAST.search(word)) or is_irregular(word)


def _find_subject(claim: str, specific: frozenset[str], language: LanguageProfile) -> tuple[str, frozenset[str]]:
    """The first specific token of a claim and what narrows it; "" where it is the first half of a name.

    Here a word in -s behind a singular is taken for a noun ("anchor chains"), since the usual verbs are no specific
    tokens.
    """
    words = _PHRASES_WORD.findall(claim)
    at, subject = next(
        ((place, token) for place, word in enumerate(words) for token in tokens(word) if token in specific), (0, "")
    )
    if not subject or find_script(subject) == "CJK":
        return "", frozenset()
    following = words[at + 1 : at + 5]
    apart = language.code in _APART and following and not _PLURAL.search(words[at]) and not _is_past(following[0])
    if apart and specific.intersection(tokens(following[0])):
        return "", frozenset()
    return subject, _find_narrowing(following, language) & specific


def _find_narrowing(following: Sequence[str], language: LanguageProfile) -> frozenset[str]:
    """The noun that a preposition ties to the word before these; a name only says where or whose."""
    ties = _TIES.get(language.code or "en", frozenset())
    if not following or following[0].lower() not in ties:
        return frozenset()
    nouns = [word for word in following[1:] if word.lower() not in _ARTICLES]
    if not nouns:
        return frozenset()
    if nouns[0][0].islower() or language.code == "de":
        return frozenset(tokens(nouns[0]))
    # An English name before a plural only modifies it: "Navajo blankets".
    if language.code in ("", "en") and len(nouns) > 1 and nouns[1][0].islower() and _PLURAL.search(nouns[1]):
        return frozenset(tokens(nouns[1]))
    return frozenset()


# --- Different names of one thing as one token, so that a claim about heart attacks meets a source on infarctions -----


# "Acquired Immune Deficiency Syndrome (AIDS)": a text that explains its own initials.
_EXPLAINED = re.compile(r"\(([A-Z][A-Za-z0-9-]{1,7})\)")
_LOOK_BACK = 160


def unify(ordered: Sequence[str], initials: Mapping[str, tuple[str, ...]], language: LanguageProfile) -> list[str]:
    """Tokens with every known phrase replaced by the token of its concept, the longest phrase first.

    `initials` are those that a text explains (`find_initials`); they become the words that they stand for. The concepts
    are English, so that in a text of another language nothing is replaced by them ("die" is no death in German).
    """
    expanded: list[str] = []
    for token in ordered:
        expanded.extend(initials.get(token, (token,)))
    if language.code not in ("en", ""):
        return expanded
    known = load_concepts()
    unified: list[str] = []
    at = 0
    while at < len(expanded):
        for words, concept in known.get(expanded[at], ()):
            if tuple(expanded[at : at + len(words)]) == words:
                unified.append(concept)
                at += len(words)
                break
        else:
            unified.append(expanded[at])
            at += 1
    return unified


def find_initials(text: str) -> dict[str, tuple[str, ...]]:
    """The initials that a text explains, as tokens, with the tokens of the words that they stand for."""
    explained: dict[str, tuple[str, ...]] = {}
    for match in _EXPLAINED.finditer(text):
        letters = [letter for letter in match[1].lower() if letter.isalpha()]
        words = text[max(0, match.start() - _LOOK_BACK) : match.start()].split()
        for count in (len(letters), len(letters) + 1, len(letters) + 2):
            tail = words[-count:]
            firsts = iter(word[0].lower() for word in tail)
            if len(tail) == count and tail[0][0].lower() == letters[0] and all(letter in firsts for letter in letters):
                initials = tokens(match[1])
                if len(initials) == 1:
                    explained.setdefault(initials[0], tuple(tokens(" ".join(tail))))
                break
    return explained


@cache
def load_concepts() -> Mapping[str, Sequence[tuple[tuple[str, ...], str]]]:
    """The names of every concept as tokens, each with the token of the concept: by the first token, longest first."""
    concepts: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for names in load_table(__file__, "concepts.yaml")["concepts"]:
        # The first name stands for all; its tokens are joined, so that no word of another name equals it by chance.
        token = "+".join(tokens(names[0]))
        for name in names:
            words = tuple(tokens(name))
            concepts.setdefault(words[0], []).append((words, token))
    return {first: sorted(group, key=lambda name: -len(name[0])) for first, group in concepts.items()}


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
REVERSING = frozenset(_TABLE["reversing"].split())
# Kana that ends or joins words, and the Chinese particles: a pair with one is more of the grammar than of the matter.
_PARTICLE = re.compile(
    "[\u3041-\u3096\u7684\u4e86\u662f\u5728\u548c\u4ece\u5230\u7531\u4e0e\u53ca\u5e76\u4f46\u800c\u88ab\u628a\u5c06\u5bf9\u4e8e]"
)


@dataclass(frozen=True, slots=True)
class ClaimTokens:
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
class SentenceMatch:
    """A sentence, the terms of the claim that it has, how many of its pairs stand together here, too, and its words."""

    sentence: str
    hits: frozenset[str]
    pairs: int
    words: int


def to_claim_tokens(claim: str, language: LanguageProfile, initials: Mapping[str, tuple[str, ...]]) -> ClaimTokens:
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
    return ClaimTokens(weights, kinds, units, specific, pairs, to_shape(claim, spoken, specific, language))


def _stands_for_words(token: str, initials: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a token came in for others: a concept for its names, or a word for explained initials."""
    return token in _concept_tokens() or (len(token) > 2 and any(token in words for words in initials.values()))


@cache
def _concept_tokens() -> frozenset[str]:
    return frozenset(concept for group in load_concepts().values() for _, concept in group)


@cache
def _generic_tokens(code: str) -> frozenset[str]:
    """The words of every report in a language; the English ones for a language without a list."""
    languages = load_languages()
    words = (languages[code].generic if code in languages else frozenset()) or languages["en"].generic
    return frozenset(token for word in words for token in tokens(word)) | {"percent", "dollar", "euro"}


def _weigh(token: str, names: frozenset[str], units: Mapping[str, str], language: LanguageProfile) -> tuple[str, float]:
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
    names = re.findall(r"(?<=[^\s.!?:])\s+([A-Z][\w’'-]+|[A-Z]{2,})", claim)
    return [token for word in names for token in tokens(word)]


def match_sentence(
    sentence: str,
    query: ClaimTokens,
    language: LanguageProfile,
    initials: Mapping[str, tuple[str, ...]],
    forms: dict[str, tuple[str, ...]],
) -> SentenceMatch:
    """What a sentence has of a claim. `forms` keeps the terms that a token stands for, from sentence to sentence."""
    hit_terms: list[str] = []
    words = unify(tokens(sentence), initials, language)
    for token in words:
        same = forms.get(token)
        if same is None:
            same = forms[token] = tuple(term for term in query.weights if _is_same(term, token))
        hit_terms.extend(same)
    hits = frozenset(hit_terms)
    if wrong := _other_units(hits, sentence, query):
        hits -= wrong
    together = query.pairs.intersection(pairwise(hit_terms)) if query.pairs else ()
    return SentenceMatch(sentence, hits, len(together), len(words))


def _other_units(hits: frozenset[str], sentence: str, query: ClaimTokens) -> frozenset[str]:
    """The numbers of a claim that a sentence has with another unit only: 25 percent are not 25 patients."""
    claimed = {token: query.units[token] for token in hits if query.units.get(token)}
    if not claimed:
        return frozenset()
    units: dict[str, set[str]] = {}
    for quantity in find_quantities(sentence):
        units.setdefault(quantity.value, set()).add(quantity.unit)
    return frozenset(token for token, unit in claimed.items() if not units.get(token, {""}) & {unit, ""})


def occurs(term: str, words: Iterable[str]) -> bool:
    """Whether a term of a claim is among the tokens of a text, in this form or another."""
    return any(_is_same(term, token) for token in words)


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
        # "illegal" is no kind of "legal", nor the Antarctic of the Arctic.
        return longer.removesuffix(shorter) not in REVERSING
    shared = next((at for at, (first, second) in enumerate(zip(one, two, strict=False)) if first != second), -1)
    shared = len(shorter) if shared < 0 else shared
    return shared >= max(_SHORTEST_ROOT, (longest * 2 + 2) // 3) and longest - shared <= _LONGEST_ENDING


def union(spoken: Sequence[SentenceMatch]) -> frozenset[str]:
    """The terms that some sentences have together."""
    return frozenset(token for match in spoken for token in match.hits)


def share(spoken: Sequence[SentenceMatch], query: ClaimTokens) -> float:
    """The weighted share of a claim's terms in some sentences, from 0 to 1; pairs that stay together count on top."""
    total = sum(query.weights.values()) + _PHRASE_BONUS * len(query.pairs)
    if not total:
        return 0.0
    matched = sum(query.weights[token] for token in union(spoken))
    together = max((match.pairs for match in spoken), default=0)
    return (matched + _PHRASE_BONUS * together) / total


def score(match: SentenceMatch, query: ClaimTokens) -> float:
    """How much of a claim a sentence has, 0 for none of it."""
    return sum(query.weights[token] for token in match.hits) + _PHRASE_BONUS * match.pairs
