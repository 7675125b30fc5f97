"""The words by which a draft is guessed: names of fields that mean one thing, and names of parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from specloom.core import load_table

WORDS: Mapping[str, Any] = load_table(__file__, "words.yaml")
"""Words of fields that mean one thing, and names of parameters, by which a draft is guessed."""


def _listed(text: str) -> list[str]:
    return [one.replace("_", "") for one in text.split()]


SAME = [(_listed(group["sure"]), _listed(group["perhaps"])) for group in WORDS["same"]]
"""Names that surely, and names that perhaps, mean the same."""
CONTAINERS, OTHERS, NAMED, ADDRESSED = (
    frozenset(_listed(WORDS[one])) for one in ("containers", "others", "named", "addressed")
)


def in_order(name: str) -> list[str]:
    """The words of a name, small, as they follow each other."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.replace("@", ""))
    return [word.lower() for word in re.split(r"[^A-Za-z]+", parted) if word]


def words_of(name: str) -> set[str]:
    """`publishedAt`, `published_at` and `@published-at` are the same two words."""
    return set(in_order(name))


def joined(name: str) -> str:
    """The words of a name as one."""
    return "".join(in_order(name))
