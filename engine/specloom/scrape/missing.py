"""Pages that say that they are not there, and come with a status that says otherwise ("soft 404").

Such a page is told by what it is called and by what it says to whoever came, where it says little else. An article
about such pages explains them, has a date, or says more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from .missing_words import CODE, EXPLAINS, SAYS
from .passages import count_bytes

LITTLE: Final = 700
"""Bytes of text, links and headings left out, up to which a page may be one that is missing."""
LEAST: Final = 80
"""Bytes of the same up to which it is enough that both title and heading call a page so."""
ALONE: Final = 240
"""Bytes of the same up to which a sentence of a page without headings is believed."""
MOST: Final = 8000
"""Bytes of Markdown up to which it is looked at: below such a sentence sites link what else they have."""

_LINK: Final = re.compile(r"!?\[[^\[\]]{0,300}\]\([^()\s]{0,2000}\)")
_HEADING: Final = re.compile(r"^#{1,6} +(.{1,300})$", re.MULTILINE)
_PARTS: Final = re.compile(r"\s*[|·•»›]\s*|\s+[-–—:]+\s+|:\s+")
# What is drawn over or under letters is no sign of its own.
_SIGNS: Final = re.compile("[^\\w\\s\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e]+")
_DATED: Final = re.compile(rb"article:published_time|datePublished")
_LONGEST_NAME: Final = 90
_SHARE: Final = 0.4
"""Part of a name that is the statement; the rest is an apology."""


def is_missing(text: str, *, titles: Sequence[str] = (), html: bytes = b"") -> bool:
    """Whether a Markdown text says that its page does not exist, and little else.

    `titles` are what the page is called by its metadata and markup, and `html` is what the text was made of.
    """
    if not text or len(text) > MOST:
        return False
    headings = [_LINK.sub("", heading[1]) for heading in islice(_HEADING.finditer(text), 2)]
    called, named = ({_to_name(part) for each in all_ for part in _part(each)} for all_ in (titles, headings))
    if not (any(called) or any(named)) and (headings or len(text) > 2 * ALONE):
        return False
    prose = _fold(_HEADING.sub("", _LINK.sub("", text)))
    size = count_bytes(prose)
    if size > LITTLE or EXPLAINS.search(prose):
        return False
    if says := SAYS.search(prose):
        told = any(called) or any(named) or (size <= ALONE and says.start() <= ALONE // 4)
    elif prose:
        told = size <= LEAST and "words" in called and ("words" in named or not headings)
    else:
        told = any(named)
    return told and not _DATED.search(html)


def _part(text: str) -> set[str]:
    """A title, and the parts of it between which sites put signs."""
    return {part for part in (text, *_PARTS.split(text)) if len(part) <= _LONGEST_NAME}


def _to_name(text: str) -> str:
    """How a part of a title, or a heading, says it and nothing else: by a `code`, or in `words`; "" if not."""
    name = _fold(text)
    code = CODE.match(name)
    rest = name[code.end() :].strip() if code else name
    if code and rest in {"", "error", "page"}:
        return "code"
    if rest == "not found" or (code and rest == "gone"):
        return "words"
    found = SAYS.search(rest)
    return "words" if found and not EXPLAINS.search(rest) and len(found[0]) >= _SHARE * len(rest) else ""


def _fold(text: str) -> str:
    """Small letters and single blanks, without signs; an apostrophe joins what it parts."""
    joined = text.casefold().replace("’", "'").replace("n't", "nt").replace("'re", "re")
    return " ".join(_SIGNS.sub(" ", joined).split())
