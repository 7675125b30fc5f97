"""Different names of one thing as one token, so that a claim about heart attacks meets a source on infarctions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from specloom.trust.languages import Language
from specloom.trust.words import tokens

# "Acquired Immune Deficiency Syndrome (AIDS)": a text that explains its own initials.
_EXPLAINED = re.compile(r"\(([A-Z][A-Za-z0-9-]{1,7})\)")
_LOOK_BACK = 160


@dataclass(frozen=True, slots=True)
class Phrase:
    """The tokens of one name of a concept, and the token that stands for the concept."""

    words: tuple[str, ...]
    token: str


def unify(found: Sequence[str], initials: Mapping[str, tuple[str, ...]], language: Language) -> list[str]:
    """Tokens with every known phrase replaced by the token of its concept, the longest phrase first.

    `initials` are those that a text explains (`find_initials`); they become the words that they stand for. The concepts
    are English, so that in a text of another language nothing is replaced by them ("die" is no death in German).
    """
    expanded: list[str] = []
    for token in found:
        expanded.extend(initials.get(token, (token,)))
    if language.code not in ("en", ""):
        return expanded
    known = load_concepts()
    unified: list[str] = []
    at = 0
    while at < len(expanded):
        for phrase in known.get(expanded[at], ()):
            if tuple(expanded[at : at + len(phrase.words)]) == phrase.words:
                unified.append(phrase.token)
                at += len(phrase.words)
                break
        else:
            unified.append(expanded[at])
            at += 1
    return unified


def find_initials(text: str) -> dict[str, tuple[str, ...]]:
    """The initials that a text explains, as tokens, with the tokens of the words that they stand for."""
    found: dict[str, tuple[str, ...]] = {}
    for match in _EXPLAINED.finditer(text):
        letters = [letter for letter in match[1].lower() if letter.isalpha()]
        words = text[max(0, match.start() - _LOOK_BACK) : match.start()].split()
        for count in (len(letters), len(letters) + 1, len(letters) + 2):
            tail = words[-count:]
            firsts = iter(word[0].lower() for word in tail)
            if len(tail) == count and tail[0][0].lower() == letters[0] and all(letter in firsts for letter in letters):
                initials = tokens(match[1])
                if len(initials) == 1:
                    found.setdefault(initials[0], tuple(tokens(" ".join(tail))))
                break
    return found


@cache
def load_concepts() -> Mapping[str, tuple[Phrase, ...]]:
    """Every phrase of the bundled data set by its first token, the longest first."""
    from importlib.resources import files

    import yaml

    text = files("specloom.trust").joinpath("data", "concepts.yaml").read_text(encoding="utf-8")
    data = yaml.load(text, Loader=yaml.CSafeLoader)
    found: dict[str, list[Phrase]] = {}
    for names in data["concepts"]:
        # The first name stands for all; its tokens are joined, so that no word of another name equals it by chance.
        token = "+".join(tokens(names[0]))
        for name in names:
            words = tuple(tokens(name))
            found.setdefault(words[0], []).append(Phrase(words, token))
    return {first: tuple(sorted(group, key=lambda each: -len(each.words))) for first, group in found.items()}
