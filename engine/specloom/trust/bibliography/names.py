"""Names of authors: people as family and given name, organisations whole, from what pages and files write."""

from __future__ import annotations

import re
from dataclasses import dataclass

from specloom.trust.words import to_word_set


@dataclass(frozen=True, slots=True)
class Name:
    """One author: a person with family and given names, or whoever has only `family` (an organisation, a pen name).

    Particles belong to the family name ("van der Berg"), as both styles sort them; `suffix` is "Jr." or "III".
    """

    family: str
    given: str = ""
    suffix: str = ""


_SUFFIX = re.compile(r"(?:jr|sr)\.?|i{2,3}|iv", re.IGNORECASE)
_PARTICLES = to_word_set(
    """af al av ben bin bint da dal dalla das de degli dei del della delle den der des di do dos du el ibn la las le
    lo los ten ter van vom von zu zum zur y 't"""
)
# A word that people's names do not have; in the languages in which organisations sign most pages.
_ORGANISATION = re.compile(
    r"""\b(?:academy|administration|agency|alliance|associates|association|authority|bank|board|bureau|cent(?:er|re)s?
    |collaborat(?:ion|ive)|college|commission|committee|company|consortium|corp(?:oration)?|council|court|department|dept|editors?|federation|foundation
    |fund|gmbh|group|hospital|inc|initiative|investigators|institut(?:e|es|ion|o|ut)?|journal|laborator(?:y|ies)|league|library|limited
    |llc|ltd|magazine|ministry|museum|network|news|newsroom|office|organi[sz]ation|panel|parliament|party|press|project
    |research|school|service[s]?|society|staff|team|times|trust|union|universit(?:y|ies|at|ät|é|e|à|at|eit|et|as)
    |universidad|universidade|université|università|verein|stiftung|verlag|ministerium|ministère|ministerio|wikipedia)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_BYLINE = re.compile(r"(?:written\s+by|posted\s+by|by|von|par|por)\s+(?=\S)", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|&|und|et|y)\s+(?!al\b)", re.IGNORECASE)
_ET_AL = re.compile(r"[,;]?\s*(?:\bet\s+al\b\.?|\band\s+others\b|…)\s*$", re.IGNORECASE)
# As indexes of medicine write given names: "Doe JQ".
_INDEXED = re.compile(r"(?!II|IV)[A-Z]{1,3}")
_INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,4}")
# As publishers write them: "Doe J.", "Müller K.-H.".
_TRAILING_INITIALS = re.compile(r"(?P<family>[^.]*[^\W\d_]{2,}) (?P<given>[^\W\d_a-z]\.(?:[\s-]?[^\W\d_a-z]\.){0,3})")
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
        for piece in _part_segment(" ".join(segment.split())):
            name = parse_name(piece)
            if name is not None and name not in names:
                names.append(name)
    return tuple(names)


def _part_segment(segment: str) -> list[str]:
    if _ORGANISATION.search(segment) and "," not in segment:
        return [segment]
    pieces: list[str] = []
    for part in _AND.split(segment):
        pieces.extend(_part_commas(part.strip(" ,")))
    return pieces


def _part_commas(part: str) -> list[str]:
    parts = [piece.strip() for piece in part.split(",") if piece.strip()]
    if len(parts) < 2:
        return parts
    if all(len(piece.split()) > 1 for piece in parts) and not _ORGANISATION.search(parts[0]):
        # "van der Berg, Anna Maria" is one name: its first half is all particles but one word.
        return parts if not (len(parts) == 2 and _is_particled(parts[0])) else [part]
    if len(parts) % 2 == 0 and len(parts) > 2 and all(_INITIALS.fullmatch(piece) for piece in parts[1::2]):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return [part]


def _is_particled(text: str) -> bool:
    words = text.split()
    return all(word.lower() in _PARTICLES for word in words[:-1])


def parse_name(text: str) -> Name | None:
    """One name, inverted or not; None when no letter is left of it."""
    text = " ".join(text.split()).strip(" ,;")
    if not any(character.isalpha() for character in text):
        return None
    if "," in text:
        return _parse_inverted([part.strip() for part in text.split(",") if part.strip()], text)
    words = text.split()
    if len(words) == 1 or _is_organisation(words, text) or any(character.isdigit() for character in text):
        return Name(text)
    if _EAST_ASIAN.search(text):
        return Name(words[0], " ".join(words[1:])) if len(words) == 2 else Name(text)
    if _INDEXED.fullmatch(words[-1]) and not any(word.isupper() for word in words[:-1]):
        return Name(" ".join(words[:-1]), words[-1])
    if len(words) > 2 and _SUFFIX.fullmatch(words[-1]) and _INDEXED.fullmatch(words[-2]):
        return Name(" ".join(words[:-2]), words[-2], words[-1])
    if found := _TRAILING_INITIALS.fullmatch(text):
        return Name(found["family"], found["given"])
    # "BOURDIEU Pierre": where only the first word is all capitals, and no initials (JRR), it is the family name.
    if len(words) == 2 and len(words[0]) > 3 and words[0].isupper() and "." not in text and not words[1].isupper():
        return Name(words[0], words[1])
    suffix = words.pop() if len(words) > 2 and _SUFFIX.fullmatch(words[-1]) else ""
    start = len(words) - 1
    while start > 1 and words[start - 1] in _PARTICLES:
        start -= 1
    return Name(" ".join(words[start:]), " ".join(words[:start]), suffix)


def _is_organisation(words: list[str], text: str) -> bool:
    # William H. Press is a person: organisations have no initial between two words.
    return bool(_ORGANISATION.search(text)) and not any(re.fullmatch(r"[^\W\d_]\.", word) for word in words)


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
    return " ".join("-".join(_initial(part) for part in word.split("-") if part) for word in _spaced(given).split())


def _spaced(given: str) -> str:
    return re.sub(r"\.(?=[^\W\d_])", ". ", given)


def _initial(part: str) -> str:
    first = part[0]
    return f"{first.upper()}." if first.upper() != first.lower() else part


def to_display(name: Name) -> str:
    """A name in reading order; East Asian names keep the family name first."""
    if not name.given:
        return name.family
    east_asian = _EAST_ASIAN.search(name.family)
    ordered = f"{name.family}{name.given}" if east_asian else f"{name.given} {name.family}"
    return f"{ordered} {name.suffix}" if name.suffix else ordered
