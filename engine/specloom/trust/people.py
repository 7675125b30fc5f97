"""Whether two names may be one person: spelled with or without accents, whole or in initials, in another script."""

from __future__ import annotations

import re

from specloom.trust.bibliography.names import Name
from specloom.trust.folding import find_script, is_near, to_latin

_UMLAUTS = {ord(letter): pair for letter, pair in zip("äöüåø", ("ae", "oe", "ue", "aa", "oe"), strict=True)}
# What romanisations of one sound write differently, longest first.
_SOUNDS = (
    ("shch", "s"), ("tsch", "c"), ("tch", "c"), ("sch", "s"), ("ch", "c"), ("kh", "h"), ("zh", "j"), ("sh", "s"),
    ("ts", "c"), ("ck", "k"), ("ph", "f"), ("dj", "j"), ("w", "v"), ("x", "ks"),
)  # fmt: skip


def same_person(one: Name, two: Name) -> bool:
    """Whether two names may be one author: family names agree, and initials where both sides have them."""
    if not _same_family(one, two):
        return False
    first, second = to_latin(one.given)[:1], to_latin(two.given)[:1]
    return not first or not second or first == second or find_script(one.given) != find_script(two.given)


def _same_family(one: Name, two: Name) -> bool:
    left, right = _spellings(one), _spellings(two)
    if not left.isdisjoint(right):
        return True
    if find_script(one.family) != find_script(two.family):
        skeletons = {_skeleton(each) for each in left}
        return not skeletons.isdisjoint(_skeleton(each) for each in right)
    return any(is_near(first, second) for first in left for second in right)


def _spellings(name: Name) -> frozenset[str]:
    """The ways to write a family name in Latin letters without accents: whole, without particles, umlauts as two."""
    family = name.family
    umlauts = family.casefold().translate(_UMLAUTS)
    found = {to_latin(family), to_latin(umlauts)}
    words = re.split(r"[\s’'-]+", to_latin(family))
    # Of a double name either half may be given alone, of one with particles the last word.
    found.update(word for word in (words[0], words[-1]) if len(word) >= 4)
    if not name.given:
        found.add("".join(word[0] for word in words if word and word not in ("of", "the", "and", "for")))
    return frozenset("".join(character for character in each if character.isalnum()) for each in found if each)


def _skeleton(text: str) -> str:
    """What romanisations agree on: consonants, with those that they write differently made one."""
    for written, sound in _SOUNDS:
        text = text.replace(written, sound)
    return text[:1] + re.sub(r"[aeiouyjh]|(.)(?=\1)", "", text[1:])


def stands_in(name: Name, text: str) -> bool:
    """Whether a text holds the family name of a person as a word."""
    family = to_latin(name.family)
    return len(family) >= 3 and bool(re.search(rf"(?<!\w){re.escape(family)}(?!\w)", to_latin(text)))
