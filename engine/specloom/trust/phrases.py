"""How the words of a claim hang together: which may be one name, what the claim speaks of first, and where it is set.

No grammar is known here but word order and endings. Where those leave it open, words are taken to stand by themselves,
so that a source which has one of them is not accused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from specloom.trust.folding import find_script
from specloom.trust.languages import Language
from specloom.trust.words import is_irregular, to_word_set, tokens

# Languages that part the words of one name by blanks, or not at all; others join them, or order them by case.
_APART = frozenset(("", "en", "ja", "ko", "th", "zh"))
_WORD = re.compile(r"[^\W\d_]+")
_PLURAL = re.compile(r"[^su]s$|[^aeiou]i$", re.IGNORECASE)
_PAST = re.compile(r"ed$", re.IGNORECASE)
_ENDS_IN_S = re.compile(r"[^su]s$", re.IGNORECASE)
_HYPHENED = re.compile(r"\w-([^\W\d_]+)\s+([^\W\d_]+)")
# A name behind one of these is where something is.
_PLACED = re.compile(r"\b(?:in|near|across|en|em|nel|nella|nell')\s?([^\W\d_a-z][\w’'-]+)")
# Words that tie a second noun to the first one, and the articles between.
_TIES: Mapping[str, frozenset[str]] = {
    "en": to_word_set("with of in on from for at off by near"),
    "de": to_word_set("der des von mit aus in auf für im vom"),
    "fr": to_word_set("de des du d en à au aux sur avec"),
    "es": to_word_set("de del con en para"),
    "it": to_word_set("di del della dei delle degli in con per da"),
    "pt": to_word_set("de do da dos das em com"),
    "nl": to_word_set("van in met op aan uit"),
    "sv": to_word_set("från av med på i"),
}
_ARTICLES = to_word_set("the a an der die das den dem la le les l los las el il lo i gli o os as de het")


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


def to_shape(claim: str, spoken: Sequence[str], specific: frozenset[str], language: Language) -> Shape:
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
    claim: str, spoken: Sequence[str], specific: frozenset[str], language: Language
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The pairs of specific tokens that stand directly together and may be one name ("ice cream", "太陽電").

    Only where such names are written apart: English, which is also what a language that cannot be told is taken for,
    and scripts without blanks. A plural is the subject of what follows it rather than its modifier ("trains consume"),
    and a past tense is no noun ("penicillin cured"). The second list has the pairs in which the first is the subject or
    the modifier of the second ("coffee lowers", "whale schools"), unless a hyphen decides ("high-protein breakfasts").
    """
    if language.code not in _APART:
        return [], []
    raw = {token: word for word in _WORD.findall(claim) for token in tokens(word)}
    found = [(one, two) for pair in _HYPHENED.findall(claim) for one, two in pairwise(tokens(" ".join(pair)))]
    found = [pair for pair in found if specific.issuperset(pair)]
    perhaps: list[tuple[str, str]] = []
    for one, two in pairwise(spoken):
        if one not in specific or two not in specific:
            continue
        left, right = raw.get(one, one), raw.get(two, two)
        if find_script(one) == "CJK":
            found.append((one, two))
        elif not _PLURAL.search(left) and not _is_past(right):
            (perhaps if _ENDS_IN_S.search(right) else found).append((one, two))
    return found, perhaps


def _is_past(word: str) -> bool:
    return bool(_PAST.search(word)) or is_irregular(word)


def _find_subject(claim: str, specific: frozenset[str], language: Language) -> tuple[str, frozenset[str]]:
    """The first specific token of a claim and what narrows it; "" where it is the first half of a name.

    Here a word in -s behind a singular is taken for a noun ("anchor chains"), since the usual verbs are no specific
    tokens.
    """
    words = _WORD.findall(claim)
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


def _find_narrowing(following: Sequence[str], language: Language) -> frozenset[str]:
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
