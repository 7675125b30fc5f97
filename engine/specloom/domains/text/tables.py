"""Lists of words in tables as what checks go by: sets, patterns, and each word with its list."""

from __future__ import annotations

from collections.abc import Mapping


def to_word_set(text: str) -> frozenset[str]:
    """The words of a text that is a list of them."""
    return frozenset(text.split())


def to_alternatives(text: str) -> str:
    """The words of a text, or patterns without blanks, as a pattern for any of them."""
    return "|".join(text.split())


def invert(groups: Mapping[str, str]) -> dict[str, str]:
    """Each word of some lists with the name of its list."""
    return {word: name for name, words in groups.items() for word in words.split()}
