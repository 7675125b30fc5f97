"""What a sentence denies, and how far its denials reach."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from specloom.core import load_table
from specloom.domains.text import LanguageProfile, stem
from specloom.domains.text.fold import fold
from specloom.domains.text.tokens import tokens

from .reversals import find_opposite

_TABLE = load_table(__file__, "cues.yaml")
# Clause marks; a hyphen or a full stop inside a number is none, and neither is the comma before the year of a day.
_CLAUSE = re.compile(r",(?!\s?(?:1[5-9]|20)[0-9]{2}\b)(?![0-9])|[;:()\[\]–—](?![0-9])|\s-\s|[。，、；：（）]")
# The comma of a list that ends in "or" parts no clauses: "no effect on health, schooling or wages".
_LISTED = re.compile(
    r",(?= (?:[^\s,;.:]+(?: [^\s,;.:]+){0,2}, ){0,12}[^\s,;.:]+(?: [^\s,;.:]+){0,2},?"
    r" (?:or|nor|oder|noch|ou|ni|o|ne|или|ни) [^\s,;])"
)
_CONTRACTED = re.compile(r"\b(can|do|does|did|is|are|was|were|has|have|had|wo|would|could|should|must)n['’]?t\b")
# "Those who do not smoke" only names a group.
_ATTRIBUTIVE = {
    "ja": re.compile("(?:ない|なかった)(?=人|群|者|場合|グループ|子ども|女性|男性|患者|とき|時)"),
    "zh": re.compile("[不没][^,。、;不没的]{1,6}(?:的(?=人|群|组)|(?=者))"),
}
_WORD = re.compile(r"[^\W_]+")
_UNDOING = 3
# Words that are no claim of their own: questions, doubts, and what others are said to think.
_OPEN = frozenset(map(stem, _TABLE["open"].split()))
# A claim that denies a part, or for a time or a case, is not turned round by who states the rest.
_PARTLY = re.compile(
    r"\b(?:not|n't|nicht|pas|no|non|nao|niet) (?:all|every\w*|always|necessarily|entirely|fully|completely|yet|both"
    r"|alle?|immer|tous|toutes|toujours|todos|todas|siempre|sempre|tutti|tutte|altijd)\b|\b(?:before|until|unless|except|only"
    r"|without|than|if|bevor|bis|avant|sauf|antes|hasta|salvo|prima|finche|ate|voor|tot)\b"
)


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
    if language.code == "zh":
        folded = folded.replace("、", " ")
    for part in _CLAUSE.split(_LISTED.sub(" ", folded)):
        current: list[str] = []
        for word in part.split():
            if word in language.breaks and current and current[-1] != "of":
                clauses.append(" ".join(current))
                current = []
            current.append(word)
        clauses.append(" ".join(current))
    return [clause for clause in clauses if clause]


def _find_negations(clause: str, language: LanguageProfile) -> list[str]:
    if language.code in ("ja", "zh"):
        clause = _ATTRIBUTIVE[language.code].sub(" ", clause)
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


def find_affirmation(claim: str, sentence: str, language: LanguageProfile) -> str:
    """The words with which a claim denies what a sentence simply states; "" where it does not, or is not certain to.

    Nothing is certain that is asked, doubted, said of others or denied in any part of the sentence.
    """
    denials = find_denials(claim, language)
    if not denials or _PARTLY.search(fold(claim)) or find_denials(sentence, language) or is_open(sentence, language):
        return ""
    if is_refuted(sentence, language) or (language.code == "en" and find_opposite(claim, sentence)):
        return ""
    return denials[0][0]


def is_open(sentence: str, language: LanguageProfile) -> bool:
    """Whether a sentence leaves open what it speaks of: it asks, doubts, or tells what others are said to think."""
    if "?" in sentence or "？" in sentence:
        return True
    return language.code == "en" and not _OPEN.isdisjoint(map(stem, _WORD.findall(fold(sentence))))


@cache
def to_denying(language: LanguageProfile) -> frozenset[str]:
    """The words that deny in a language, as tokens."""
    return frozenset(token for word in language.negations for token in tokens(word))
