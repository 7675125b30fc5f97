"""What several sources say alike is told once, by the first of them, and each that mostly repeats another is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .passages import count_words, drop_known, name_blocks

MOSTLY = 0.5
"""Share of the words of a source from which on, found in one before it, it is a copy with something added."""
SOME_WORDS = 40
"""Words below which what two sources share is a quotation or a notice, and makes neither a copy."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a text after those before it."""

    text: str
    repeats: str = ""
    """The name of the text that it repeats all or most of."""
    is_whole: bool = False
    """Nothing of it is its own."""


def tell_once(texts: Iterable[tuple[str, str]]) -> list[Rest]:
    """What is left of each of these texts, given with their names: prose that stood in none before it.

    Compared are whole blocks, word for word. A text that is all of an earlier one leaves nothing, not even its lists.
    """
    seen: set[str] = set()
    wholes: dict[str, str] = {}
    first: dict[str, str] = {}
    told = []
    for name, text in texts:
        key = " ".join(text.split())
        if key and key in wholes:
            told.append(Rest("", wholes[key], is_whole=True))
            continue
        wholes[key] = name
        named = name_blocks(text)
        shared: Counter[str] = Counter()
        for _, key in named:
            if key and (other := first.setdefault(key, name)) != name:
                shared[other] += count_words(key)
        ((other, words),) = shared.most_common(1) or [("", 0)]
        rest = drop_known(named, seen)
        is_copy = words >= max(SOME_WORDS, MOSTLY * count_words(text))
        told.append(Rest(rest, other if is_copy else "", is_whole=is_copy and not rest))
    return told


def name_copies(told: Iterable[tuple[str, Rest]]) -> str:
    """A sentence that says which of these named sources say the same, and not who had it first; "" where none do."""
    said = "; ".join(
        f"{name} says {'' if one.is_whole else 'mostly '}the same as {one.repeats}" for name, one in told if one.repeats
    )
    return f"Not independent of each other, and what they share told once: {said}." if said else ""
