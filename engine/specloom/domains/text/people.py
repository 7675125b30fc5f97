"""Whether two names may be one person: spelled with or without accents, whole or in initials, in another script."""

from __future__ import annotations

import re
from functools import lru_cache

from specloom.core import dataclass, load_table

from .fold import find_script, is_near, to_latin
from .tables import to_alternatives, to_word_set

# --- Names of authors: people as family and given name, organisations whole, from what pages and files write ----------


@dataclass(frozen=True, slots=True)
class Name:
    """One author: a person with family and given names, or whoever has only `family` (an organisation, a pen name).

    Particles belong to the family name ("van der Berg"); `suffix` is "Jr." or "III". Where a source parted them from
    the name, `particle` is what the family name begins with, and `dropped` what the given names end with ("de" of
    "Jean de La Fontaine"), which no list is sorted by.
    """

    family: str
    given: str = ""
    suffix: str = ""
    particle: str = ""
    dropped: str = ""


_SUFFIX = re.compile(r"(?:jr|sr)\.?|i{2,3}|iv", re.IGNORECASE)
_TABLE = load_table(__file__, "names.yaml")
_PARTICLES = to_word_set(_TABLE["particles"])
_ORGANISATION = re.compile(rf"\b(?:{to_alternatives(_TABLE['organisations'])})\b", re.IGNORECASE)
_BYLINE = re.compile(r"(?:written\s+by|posted\s+by|by|von|par|por)\s+(?=\S)", re.IGNORECASE)
_AND = re.compile(r"(?<!\s)\s++(?:and|&|und|et|y)\s++(?!al\b)", re.IGNORECASE)
_ET_AL = re.compile(r"(?:[,;]|(?<![\s,;]))\s*+(?:\bet\s++al\b\.?|\band\s++others\b|…)\s*+$", re.IGNORECASE)
# As indexes of medicine write given names: "Doe JQ".
_INDEXED = re.compile(r"(?!II|IV)[A-Z]{1,3}")
_SPACED_INITIALS = re.compile(
    rf"(?P<family>[^\W\d_]{{2,}}(?:[\s'’-][^\W\d_]{{2,}}){{0,3}})(?P<given>(?:\s[^\W\d_a-z]){{1,4}})"
    rf"(?:\s(?:{to_alternatives(_TABLE['particles'])}))?"
)
_INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,4}")
# As publishers write them: "Doe J.", "Müller K.-H.".
_TRAILING_INITIALS = re.compile(r"(?P<family>[^.]*[^\W\d_]{2}) (?P<given>[^\W\d_a-z]\.(?:[\s-]?[^\W\d_a-z]\.){0,3})")
# Han, kana and Hangul: written family name first, and often without a blank.
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


def parse_names(text: str) -> tuple[Name, ...]:
    """The authors in a line as pages and reference lists write it, in order; () for an empty one.

    `;` always parts two names, "and" and "&" do outside names of organisations, and a comma only where every piece is
    a whole name ("Jane Doe, John Roe") or family names and initials alternate ("Doe, J., Roe, A."). "et al." is
    dropped.
    """
    text = _ET_AL.sub("", _BYLINE.sub("", " ".join(text.split()), count=1) if _BYLINE.match(text.strip()) else text)
    names: list[Name] = []
    for segment in text.split(";"):
        line = " ".join(segment.split())
        pieces = [piece for part in _AND.split(line) for piece in _part_commas(part.strip(" ,"))]
        for piece in [line] if _ORGANISATION.search(line) and "," not in line else pieces:
            name = parse_name(piece)
            if name is not None and name not in names:
                names.append(name)
    return tuple(names)


def _part_commas(part: str) -> list[str]:
    parts = [piece.strip() for piece in part.split(",") if piece.strip()]
    if len(parts) < 2:
        return parts
    if all(len(piece.split()) > 1 for piece in parts) and not _ORGANISATION.search(parts[0]):
        # "van der Berg, Anna Maria" is one name: its first half is all particles but one word.
        is_particled = all(word.lower() in _PARTICLES for word in parts[0].split()[:-1])
        return [part] if len(parts) == 2 and is_particled else parts
    if len(parts) % 2 == 0 and len(parts) > 2 and all(_INITIALS.fullmatch(piece) for piece in parts[1::2]):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return [part]


def parse_name(text: str) -> Name | None:
    """One name, inverted or not; None when no letter is left of it."""
    text = " ".join(text.split()).strip(" ,;")
    if not any(character.isalpha() for character in text):
        return None
    if "," in text:
        return _parse_inverted([part.strip() for part in text.split(",") if part.strip()], text)
    words = text.split()
    # William H. Press is a person: organisations have no initial between two words.
    is_organisation = _ORGANISATION.search(text) and not any(re.fullmatch(r"[^\W\d_]\.", word) for word in words)
    if len(words) == 1 or is_organisation or any(character.isdigit() for character in text):
        return Name(text)
    if _EAST_ASIAN.search(text):
        return Name(words[0], " ".join(words[1:])) if len(words) == 2 else Name(text)
    if _INDEXED.fullmatch(words[-1]) and not any(word.isupper() for word in words[:-1]):
        return Name(" ".join(words[:-1]), words[-1])
    # The Chinese standard parts initials by blanks and puts a particle behind them: "CAMPOS C R J de".
    if match := _SPACED_INITIALS.fullmatch(text):
        return Name(match["family"], match["given"].strip())
    if len(words) > 2 and _SUFFIX.fullmatch(words[-1]) and _INDEXED.fullmatch(words[-2]):
        return Name(" ".join(words[:-2]), words[-2], words[-1])
    if match := _TRAILING_INITIALS.fullmatch(text):
        return Name(match["family"], match["given"].strip())
    # "BOURDIEU Pierre": where only the first word is all capitals, and no initials (JRR), it is the family name.
    if len(words) == 2 and len(words[0]) > 3 and words[0].isupper() and "." not in text and not words[1].isupper():
        return Name(words[0], words[1])
    suffix = words.pop() if len(words) > 2 and _SUFFIX.fullmatch(words[-1]) else ""
    start = len(words) - 1
    while start > 1 and words[start - 1] in _PARTICLES:
        start -= 1
    return Name(" ".join(words[start:]), " ".join(words[:start]), suffix)


def _parse_inverted(parts: list[str], text: str) -> Name:
    if len(parts) == 1:
        return Name(parts[0])
    if _ORGANISATION.search(text) or len(parts) > 3:
        return Name(text)
    if len(parts) == 2:
        # "Sammy Davis, Jr." is not inverted.
        if _SUFFIX.fullmatch(parts[1]):
            plain = parse_name(parts[0])
            return Name(plain.family, plain.given, parts[1]) if plain and plain.given else Name(text)
        given, _, last = parts[1].rpartition(" ")
        # "Davis, Sammy Jr." has no comma in front of the suffix.
        return Name(parts[0], given, last) if given and _SUFFIX.fullmatch(last) else Name(parts[0], parts[1])
    if _SUFFIX.fullmatch(parts[1]):
        return Name(parts[0], parts[2], parts[1])
    return Name(parts[0], parts[1], parts[2]) if _SUFFIX.fullmatch(parts[2]) else Name(text)


def to_initials(given: str) -> str:
    """Given names as initials ("Jean-Paul Marie" → "J.-P. M."); scripts without capitals are left as they are."""
    spaced = re.sub(r"\.(?=[^\W\d_])", ". ", given)
    parts = ([part for part in word.split("-") if part] for word in spaced.split())
    return " ".join(
        "-".join(f"{part[0].upper()}." if part[0].upper() != part[0].lower() else part for part in word)
        for word in parts
    )


def to_display(name: Name) -> str:
    """A name in reading order; East Asian names keep the family name first."""
    if not name.given:
        return name.family
    east_asian = _EAST_ASIAN.search(name.family)
    ordered = f"{name.family}{name.given}" if east_asian else f"{name.given} {name.family}"
    return f"{ordered} {name.suffix}" if name.suffix else ordered


_UMLAUTS = {ord(letter): pair for letter, pair in zip("äöüåø", ("ae", "oe", "ue", "aa", "oe"), strict=True)}
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
# Family names have one character, and of four together two.
_LONGEST_HAN = 4
_TELLING = 5
"""So many consonants in one order belong to one family name."""
_CALLED = {frozenset((name, each)) for name, names in _TABLE["called"].items() for each in names.split()}


def same_person(author: Name, other: Name) -> bool:
    """Whether two names may be one author: family names agree, and initials where both sides have them.

    Of names that some write family name first (Li Heng, Bartók Béla) nobody can tell which half is which.
    """
    if all(_HAN.fullmatch(_whole(name)) for name in (author, other)):
        left, right = (to_latin(_whole(name)).replace(" ", "") for name in (author, other))
        # One character alone is a family name.
        return left == right or (min(len(_whole(author)), len(_whole(other))) == 1 and _same_family(author, other))
    author, other = _split_han(author), _split_han(other)
    if not _same_family(author, other):
        return _is_turned(author, other)
    first, second = to_latin(author.given), to_latin(other.given)
    called = frozenset(given.partition(" ")[0] for given in (first, second)) in _CALLED
    return (
        not first
        or not second
        or first[0] == second[0]
        or called
        or find_script(author.given) != find_script(other.given)
    )


def _whole(name: Name) -> str:
    return "".join(f"{name.family}{name.given}".split())


def _split_han(name: Name) -> Name:
    """A name in Chinese characters that nothing parts as family name and given name; any other as it is."""
    if name.given or not _HAN.fullmatch(name.family) or not 2 <= len(name.family) <= _LONGEST_HAN:
        return name
    at = 2 if len(name.family) == _LONGEST_HAN else 1
    return Name(name.family[:at], name.family[at:])


def _is_turned(first: Name, second: Name) -> bool:
    """Whether the family name of the one is the given name of the other, both of them whole."""
    if not first.given or not second.given:
        return False
    left, right = (re.findall(r"\w+", to_latin(f"{name.family} {name.given}")) for name in (first, second))
    whole = sum(len(word) > 1 for word in left) > 1
    turned = "".join(re.findall(r"\w", to_latin(f"{second.given} {second.family}")))
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
    spellings = {to_latin(family), to_latin(umlauts)}
    words = re.split(r"[\s’'-]+", to_latin(family))
    # Of a double name either half may be given alone, of one with particles the last word.
    spellings.update(word for word in (words[0], words[-1]) if len(word) >= 4)
    if not name.given and len(words) > 1:
        spellings.add("".join(word[0] for word in words if word and word not in ("of", "on", "the", "and", "for")))
    return frozenset("".join(character for character in each if character.isalnum()) for each in spellings if each)


@lru_cache(maxsize=8192)
def _skeletons(name: Name) -> frozenset[str]:
    """The skeletons of a family name that are long enough to tell it from others."""
    return frozenset(found for found in map(_skeleton, _spellings(name)) if len(found) >= _TELLING)


def _skeleton(text: str) -> str:
    """What romanisations agree on: consonants, with those that they write differently made one."""
    for written, sound in _TABLE["sounds"].items():
        text = text.replace(written, sound)
    return text[:1] + re.sub(r"[aeiouyjh]|(.)(?=\1)", "", text[1:])


def stands_in(name: Name, text: str) -> bool:
    """Whether a text holds the family name of a person as a word."""
    family, text = to_latin(name.family), to_latin(text)
    # Most names of a long list do not occur at all, which is quickly seen.
    if len(family) < 3 or family not in text:
        return False
    return bool(re.search(rf"(?<!\w){re.escape(family)}(?!\w)", text))
