"""The functions that tell works apart: titles, names and identifiers as they count for "the same"."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

from ..signatures import function
from ..types import TEXT, maybe

_TAGS = re.compile(r"<[^<>]{1,200}>")
_COMMANDS = re.compile(r"\\[A-Za-z]{1,20}\s?|[{}$\\]")
_NO_WORD = re.compile(r"[\W_]+")
_LEAST_WORDS, _LEAST_CHARACTERS = 4, 24
"""Of a title that is known by it; `Introduction`, `Editorial` and `Reply` are those of many works."""

_DOI = re.compile(r"10\.[0-9]{4,9}/\S+")
_BEFORE_DOI = re.compile(r"^\s*(?:doi:\s*|https?://(?:dx\.|www\.)?doi\.org/|info:doi/)", re.IGNORECASE)
_EXAMPLE = "10.5555/"
"""The prefix of examples, under which nothing is."""
_NUMBERED = "10.48550/"
"""The prefix of a preprint server whose works have numbers of its own."""
# Depositories have `.v2`, and preprint servers `v2`, `-v2` or `/v2` behind the DOI.
_VERSION = re.compile(r"[/.-]?v[0-9]{1,2}(?:\.full(?:\.pdf)?)?$")
_VERSIONED = ("10.1101/", "10.21203/", "10.26434/", "10.6084/", "10.5281/", "10.31234/", "10.20944/", "10.22541/")


@function("nullable string", result=maybe(TEXT))
def _title_key(title: str | None) -> str | None:
    """The title as it counts for the same work: without case, marks, tags, LaTeX and punctuation; null for null and for
    one that is too short to be that of one work. Numbers stay, so that a second part is another work."""
    if title is None:
        return None
    text = unicodedata.normalize("NFKD", _COMMANDS.sub("", _TAGS.sub("", title)))
    plain = "".join(letter for letter in text if not unicodedata.combining(letter)).casefold()
    words = _NO_WORD.sub(" ", plain).split()
    if not plain.isascii() and sum(letter.isascii() and letter.isalpha() for letter in plain) * 2 < len(plain):
        # Scripts that write no blanks between words.
        key = "".join(words)
        return key if len(key) * 3 >= _LEAST_CHARACTERS else None
    key = " ".join(words)
    return key if len(words) >= _LEAST_WORDS or len(key) >= _LEAST_CHARACTERS else None


@function("nullable string", result=maybe(TEXT))
def _family(name: str | None) -> str | None:
    """The family name of a person, in small letters without marks, whichever way round it is written: `Jane Q. Doe`,
    `Doe, Jane` and `Doe JQ` are doe; null for null and for a text without letters."""
    if name is None:
        return None
    before, comma, _ = name.partition(",")
    words = [word for word in re.split(r"\s+", before.strip()) if word]
    if not comma and len(words) > 1:
        # Initials behind the name, as indexes of medicine write it; else the name is behind.
        is_turned = words[-1].isupper() and len(words[-1].strip(".")) <= 3 and not words[0].strip(".").isupper()
        words = [words[0]] if is_turned else [words[-1]]
    text = unicodedata.normalize("NFKD", words[-1] if words else "")
    letters = "".join(letter for letter in text if letter.isalpha()).casefold()
    return letters or None


@function("nullable string", result=maybe(TEXT))
def _doi_key(text: str | None) -> str | None:
    """The DOI in a text, in small letters, as it counts for the same work: without address, escapes, closing marks and
    the version of a preprint; null where there is none, for that of an example, and for one that stands for a number
    of a preprint server (10.48550)."""
    if text is None:
        return None
    found = _DOI.match(unquote(_BEFORE_DOI.sub("", text)).strip())
    if found is None:
        return None
    doi = found[0].rstrip(".,;)").lower()
    if doi.startswith((_EXAMPLE, _NUMBERED)):
        return None
    return _VERSION.sub("", doi) if doi.startswith(_VERSIONED) else doi
