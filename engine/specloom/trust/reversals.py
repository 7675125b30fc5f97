"""What turns a claim round without denying it: the sides of a comparison, how many it is said of, an item left out.

The words are English, and so is what is found. Everything here asks for the same words on both sides, so that only a
sentence that says the claim but for one turn is told.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from specloom.trust.cues import Cue, find_denials, find_opposite, is_refuted
from specloom.trust.folding import fold
from specloom.trust.languages import Language
from specloom.trust.words import is_number, stem, to_word_set, tokens

_WORD = re.compile(r"[^\W_]+")
_MUCH, _LITTLE = frozenset(("more",)), frozenset(("less", "fewer"))
# Between a comparative and its "than": "emit less carbon dioxide than".
_WITHIN = 4
_SHORTEST_COMPARATIVE = 5
_MANY = frozenset(("most", "many", "all", "every", "each", "both", "majority", "always"))
_FEW = frozenset(("few", "none", "hardly", "rarely", "neither", "minority"))
# Words that are no claim of their own: questions, doubts, and what others are said to think.
_OPEN = frozenset(
    map(
        stem,
        to_word_set(
            """absence absent acquit alleged ask asked before believe believed claim claimed clear contrary could deny
            dismiss dispel doubt end except exclude exempt exonerate fail false few free hardly if instead lack
            little may might myth only overturn prevent question rare rarely refuse reject rule rumor rumour stop
            supposedly thought unable unless unlikely unrelated until whether without would wrong wrongly zero"""
        ),
    )
)
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
    words: list[str] = _WORD.findall(fold(text))
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
    words = [word for word in _WORD.findall(fold(text)) if word not in ("of", "the", "these", "those")]
    found: dict[str, tuple[str, bool]] = {}
    for at, word in enumerate(words[:-1]):
        alone = at == 0 or words[at - 1] not in ("a", "quite", "not", "at", "very")
        if alone and (word in _MANY or word in _FEW):
            found.setdefault(stem(words[at + 1]), (word, word in _MANY))
    return found


def find_missing_item(claim: str, denied: str, specific: Set[str]) -> str:
    """The item of a claim's list that a denied clause is about and nothing else of the claim, "" without one."""
    said = frozenset(tokens(denied)) & specific
    if len(said) != 1:
        return ""
    items = {token for found in _LIST.finditer(claim) for word in found.groups() for token in tokens(word)}
    return next((token for token in said if token in items), "") if len(items & specific) > 1 else ""


def find_affirmation(claim: str, sentence: str, language: Language) -> str:
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
    if language.code == "en" and not _OPEN.isdisjoint(map(stem, _WORD.findall(fold(sentence)))):
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
    for found in _COUNTED.finditer(fold(text)):
        said = tokens(found[0])
        if len(said) > 1 and is_number(said[0]) and said[-1] in nouns:
            counted.append((said[0], said[-1]))
    return counted
