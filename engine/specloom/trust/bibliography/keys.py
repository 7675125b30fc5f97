"""Cite keys: who, when and the first word, the same for the same list in any order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from specloom.trust.bibliography.entry import Entry
from specloom.trust.folding import to_latin

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def assign_keys(entries: Iterable[Entry]) -> list[Entry]:
    """The entries with a key each, no two alike, sorted by it.

    An entry keeps its own key; others get family name, year and first word of the title in small Latin letters
    (`vaswani2017attention`), "anon" without an author. Of equal ones the first keeps it bare and the next ones get a,
    b … z, z2, z3 …, in the order of what they are and not of how they came.
    """
    ordered = sorted(entries, key=lambda entry: (entry.key or make_key(entry), *_identity(entry)))
    taken: set[str] = set()
    keyed: list[Entry] = []
    for entry in ordered:
        key = _free_key(entry.key or make_key(entry), taken)
        taken.add(key)
        keyed.append(replace(entry, key=key))
    return sorted(keyed, key=lambda entry: (entry.key, *_identity(entry)))


def make_key(entry: Entry) -> str:
    """Family name, year and first word of the title, as far as there are any."""
    family = to_latin(entry.authors[0].family) if entry.authors else ""
    # A family name is one word in a key, an organisation gives its first.
    name = re.sub(r"[^a-z0-9]", "", family) if entry.authors and entry.authors[0].given else _first_word(family)
    year = str(entry.issued[0]) if entry.issued else ""
    return f"{name or 'anon'}{year}{_first_word(to_latin(entry.title))}"[:60]


def _first_word(text: str) -> str:
    found = re.search(r"[a-z0-9]+", text)
    return found[0] if found else ""


def _free_key(key: str, taken: set[str]) -> str:
    if key not in taken:
        return key
    for letter in _LETTERS:
        if key + letter not in taken:
            return key + letter
    number = 2
    while f"{key}z{number}" in taken:
        number += 1
    return f"{key}z{number}"


def _identity(entry: Entry) -> tuple[str, ...]:
    return (entry.url, entry.doi, entry.title, repr(entry))
