"""Whether two names may be one person: spelled with or without accents, whole or in initials, in another script."""

from __future__ import annotations

import re
from functools import lru_cache

from specloom.trust.bibliography.names import Name
from specloom.trust.folding import find_script, is_near, to_latin

_UMLAUTS = {ord(letter): pair for letter, pair in zip("äöüåø", ("ae", "oe", "ue", "aa", "oe"), strict=True)}
# What romanisations of one sound write differently, longest first.
_SOUNDS = (
    ("shch", "s"), ("tsch", "c"), ("tch", "c"), ("sch", "s"), ("ch", "c"), ("kh", "h"), ("zh", "j"), ("sh", "s"),
    ("ts", "c"), ("ck", "k"), ("ph", "f"), ("dj", "j"), ("w", "v"), ("x", "ks"),
)  # fmt: skip


_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
# Family names have one character, and of four together two.
_LONGEST_HAN = 4
_TELLING = 5
"""So many consonants in one order belong to one family name."""
# First names and what people of that name are called, where the two begin with different letters.
_CALLED = {
    frozenset(pair.split("|"))
    for pair in (
        "robert|bob", "robert|bobby", "william|bill", "william|billy", "richard|dick", "john|jack", "margaret|peggy",
        "elizabeth|betty", "elizabeth|liz", "edward|ted", "edward|ned", "theodore|ed", "charles|chuck", "henry|harry",
        "henry|hank", "mary|molly", "anthony|tony", "james|jim", "alexander|sasha", "theresa|tess", "antonio|toni",
    )
}  # fmt: skip


def same_person(one: Name, two: Name) -> bool:
    """Whether two names may be one author: family names agree, and initials where both sides have them.

    Of names that some write family name first (Li Heng, Bartók Béla) nobody can tell which half is which.
    """
    if all(_HAN.fullmatch(_whole(name)) for name in (one, two)):
        left, right = (to_latin(_whole(name)).replace(" ", "") for name in (one, two))
        # One character alone is a family name.
        return left == right or (min(len(_whole(one)), len(_whole(two))) == 1 and _same_family(one, two))
    one, two = _split_han(one), _split_han(two)
    if not _same_family(one, two):
        return _is_turned(one, two)
    first, second = to_latin(one.given), to_latin(two.given)
    called = frozenset(given.partition(" ")[0] for given in (first, second)) in _CALLED
    return (
        not first or not second or first[0] == second[0] or called or find_script(one.given) != find_script(two.given)
    )


def _whole(name: Name) -> str:
    return "".join(f"{name.family}{name.given}".split())


def _split_han(name: Name) -> Name:
    """A name in Chinese characters that nothing parts as family name and given name; any other as it is."""
    if name.given or not _HAN.fullmatch(name.family) or not 2 <= len(name.family) <= _LONGEST_HAN:
        return name
    at = 2 if len(name.family) == _LONGEST_HAN else 1
    return Name(name.family[:at], name.family[at:])


def _is_turned(one: Name, two: Name) -> bool:
    """Whether the family name of the one is the given name of the other, both of them whole."""
    if not one.given or not two.given:
        return False
    left, right = (re.findall(r"\w+", to_latin(f"{name.family} {name.given}")) for name in (one, two))
    whole = sum(len(word) > 1 for word in left) > 1
    turned = "".join(re.findall(r"\w", to_latin(f"{two.given} {two.family}")))
    return whole and (set(left) == set(right) or "".join(left) == turned)


def _same_family(one: Name, two: Name) -> bool:
    left, right = _spellings(one), _spellings(two)
    if not left.isdisjoint(right):
        return True
    if _script(one) != _script(two):
        skeletons = {_skeleton(each) for each in left}
        return not skeletons.isdisjoint(_skeleton(each) for each in right)
    if any(is_near(first, second) for first in left for second in right):
        return True
    # Romanisations of one long name (Dostoevskij, Dostoyevsky) agree in all that they write of its consonants.
    return not _skeletons(one).isdisjoint(_skeletons(two))


@lru_cache(maxsize=8192)
def _script(name: Name) -> str:
    return find_script(name.family)


@lru_cache(maxsize=8192)
def _spellings(name: Name) -> frozenset[str]:
    """The ways to write a family name in Latin letters without accents: whole, without particles, umlauts as two."""
    family = name.family
    umlauts = family.casefold().translate(_UMLAUTS)
    found = {to_latin(family), to_latin(umlauts)}
    words = re.split(r"[\s’'-]+", to_latin(family))
    # Of a double name either half may be given alone, of one with particles the last word.
    found.update(word for word in (words[0], words[-1]) if len(word) >= 4)
    if not name.given and len(words) > 1:
        found.add("".join(word[0] for word in words if word and word not in ("of", "on", "the", "and", "for")))
    return frozenset("".join(character for character in each if character.isalnum()) for each in found if each)


@lru_cache(maxsize=8192)
def _skeletons(name: Name) -> frozenset[str]:
    """The skeletons of a family name that are long enough to tell it from others."""
    return frozenset(found for found in map(_skeleton, _spellings(name)) if len(found) >= _TELLING)


def _skeleton(text: str) -> str:
    """What romanisations agree on: consonants, with those that they write differently made one."""
    for written, sound in _SOUNDS:
        text = text.replace(written, sound)
    return text[:1] + re.sub(r"[aeiouyjh]|(.)(?=\1)", "", text[1:])


def stands_in(name: Name, text: str) -> bool:
    """Whether a text holds the family name of a person as a word."""
    family, text = to_latin(name.family), to_latin(text)
    # Most names of a long list do not occur at all, which is quickly seen.
    if len(family) < 3 or family not in text:
        return False
    return bool(re.search(rf"(?<!\w){re.escape(family)}(?!\w)", text))
