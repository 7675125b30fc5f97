"""Words by language that turn a claim round or change what it says, as patterns over folded text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from functools import cache
from typing import Any, Final

from specloom.core import dataclass, load_table
from specloom.domains.text import LanguageProfile
from specloom.domains.text.fold import fold

_TABLE: Final = load_table(__file__, "words.yaml")
UNSPACED: Final = frozenset(("ja", "zh", "ko"))
"""Languages that part no words by blanks: their words are looked for anywhere."""
NEVER: Final = re.compile(r"(?!)")
_TURNING: Final = ("causal", "universal", "booster")
_ENDING, _BETWEEN = r"\w{0,12}", r"(?: [^ ,;:]{1,30}){0,12}? "


@dataclass(frozen=True, slots=True)
class Axis:
    """Opposite words of one matter, each side a pattern."""

    name: str
    sides: tuple[re.Pattern[str], re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of one language; a list that it lacks matches nothing."""

    axes: tuple[Axis, ...]
    tied: tuple[Axis, ...]
    lists: Mapping[str, re.Pattern[str]]
    groups: Mapping[str, re.Pattern[str]]
    than: frozenset[str]
    shift: tuple[frozenset[str], frozenset[str]]

    def find(self, name: str, folded: str) -> str:
        """The first words of a list that a folded text has, "" when none."""
        match = self.lists.get(name, NEVER).search(folded)
        return match[0].strip() if match else ""

    def find_groups(self, folded: str) -> dict[str, str]:
        """The groups that a folded text names, each with the words for it."""
        matches = ((name, pattern.search(folded)) for name, pattern in self.groups.items())
        return {name: match[0].strip() for name, match in matches if match}


EXCLUSIVE: Final = tuple((str(one), str(other)) for one, other in _TABLE["exclusive"])
"""Pairs of groups of which one has nothing of the other."""


@cache
def load_lexicon(code: str) -> Lexicon | None:
    """The words of a language, None where there are none."""
    entry = _TABLE["languages"].get(code)
    if entry is None:
        return None
    spaced = code not in UNSPACED
    axes, tied = (
        tuple(
            Axis(name, (_to_pattern(one, spaced=spaced), _to_pattern(other, spaced=spaced)))
            for name, (one, other) in entry.get(block, {}).items()
        )
        for block in ("axes", "tied")
    )
    nested = ("axes", "tied", "groups", "shift", "than")
    lists = {name: _to_pattern(words, spaced=spaced) for name, words in entry.items() if name not in nested}
    groups = {name: _to_pattern(words, spaced=spaced) for name, words in entry.get("groups", {}).items()}
    before, after = (frozenset(fold(str(words)).split()) for words in entry["shift"])
    return Lexicon(axes, tied, lists, groups, frozenset(fold(str(entry["than"])).split()), (before, after))


def to_lexicon(language: LanguageProfile) -> Lexicon | None:
    """The words of a language, None where there are none."""
    return load_lexicon(language.code)


def _to_pattern(words: Any, *, spaced: bool) -> re.Pattern[str]:
    alternatives = [_to_alternative(word) for word in sorted(fold(str(words)).split(), key=len, reverse=True)]
    if not alternatives:
        return NEVER
    body = "|".join(alternatives)
    return re.compile(rf"(?<!\w)(?:{body})(?!\w)" if spaced else f"(?:{body})")


def _to_alternative(word: str) -> str:
    plain = re.escape(word).replace("_", " ").replace(r"\ ", " ")
    return plain.replace(r"\*", _ENDING).replace(r"\~", _BETWEEN)


def drop_turning(lexicon: Lexicon, folded: str) -> str:
    """A folded text without the words that turn it: those of the axes, of cause, of all and of certainty."""
    patterns = [pattern for axis in lexicon.axes for pattern in axis.sides]
    for pattern in (*patterns, *(lexicon.lists.get(name, NEVER) for name in _TURNING)):
        folded = pattern.sub(" ", folded)
    return folded


def find_part(lexicon: Lexicon, clause: str, words: str) -> str:
    """The part of a folded clause, between words that join, that some words stand in."""
    return next((part for part in lexicon.lists.get("and", NEVER).split(clause) if words in part), clause)


def find_sides(lexicon: Lexicon, folded: str, neutral: Set[str] = frozenset()) -> dict[str, tuple[str, str]]:
    """The words of each side of every axis that a folded text has, "" for a side without any but `neutral` ones."""
    sides: dict[str, tuple[str, str]] = {}
    for axis in lexicon.axes:
        one, other = (
            next((word for match in pattern.finditer(folded) if (word := match[0].strip()) not in neutral), "")
            for pattern in axis.sides
        )
        if one or other:
            sides[axis.name] = (one, other)
    return sides


def find_shared(lexicon: Lexicon, one: str, other: str) -> frozenset[str]:
    """The words of the axes that two folded texts share in the same form."""
    found = [
        {match[0].strip() for axis in lexicon.axes for pattern in axis.sides for match in pattern.finditer(text)}
        for text in (one, other)
    ]
    return frozenset(found[0] & found[1])
