"""Pages that say that they are not there, and come with a status that says otherwise ("soft 404").

Such a page is told by what it is called and by what it says to whoever came, where it says little else. An article
about such pages explains them, has a date, or says more. Every part that reads pages asks here, each with what it has
of one: the reader its Markdown, the checks of links the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from specloom.core import load_table

from .tables import to_alternatives

_TABLE: Final = load_table(__file__, "soft_404.yaml")
CODE: Final = re.compile(rf"(?:(?:{to_alternatives(_TABLE['status'])}) )*4(?:04|10)")
"""What a page is called by the status that it should have."""
EXPLAINS: Final = re.compile(rf"\b(?:{'|'.join(_TABLE['explains'])})\b")
"""Who explains such pages, or tells of one that they came to, is not one."""


def _to_pattern(statement: str, language: str) -> str:
    """A statement of the table as a pattern: its dots stand for some words, or for characters where none are parted."""
    statement = statement.format(thing=f"(?:{'|'.join(_TABLE['thing'])})", not_yet=_TABLE["not_yet"])
    if language in _TABLE["unspaced"].split():
        return statement.replace("…", r"[^\n]{0,16}?")
    return r"(?<!\w)" + statement.replace(" … ", r" (?:\S+ ){0,9}?")


SAYS: Final = re.compile(
    "|".join(_to_pattern(each, language) for language, group in _TABLE["statements"].items() for each in group)
)
"""A statement that a page is not there."""


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
_PARTS: Final = re.compile(r"(?:(?<!\s)\s++)?[|·•»›]\s*+|(?<!\s)\s++[-–—:]++\s++|:\s++")
# What is drawn over or under letters is no sign of its own.
_SIGNS: Final = re.compile("[^\\w\\s\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e]+")
_DATED: Final = re.compile(rb"article:published_time|datePublished")
_WRONG: Final = re.compile(r"(?:(?:error|page|file|document|oops|sorry|whoops|uh oh)\b ?){1,3}(?:missing|lost|gone)?$")
_CODED: Final = re.compile(r"(?!4)" + CODE.pattern)
_TITLED: Final = re.compile(r"(?:(?<!\s)\s++)?[|·•»›]\s*+|(?<!\s)\s++[-–—]++\s++")
"""Signs between a title and the name of its site; behind a colon it may go on."""
_ASIDE: Final = frozenset(("a", "nav", "header", "footer", "aside", "form", "button", "select", "dialog"))
"""Elements of a page as it was sent that are not what it says."""
_LONGEST_NAME: Final = 90
_SHARE: Final = 0.4
"""Part of a name that is the statement; the rest is an apology."""
_WHOLE: Final = 0.6
"""The same from which nothing but an apology fits beside it."""
_IN_WORDS: Final = frozenset(("label", "words", "statement"))
_OUTRIGHT: Final = frozenset(("code", "label", "statement"))


def is_missing(text: str, *, titles: Sequence[str] = (), html: bytes = b"") -> bool:
    """Whether a Markdown text says that its page does not exist, and little else.

    `titles` are what the page is called by its metadata and markup, and `html` is what the text was made of.
    """
    if not text or len(text) > MOST:
        return False
    headings = [_LINK.sub("", heading[1]) for heading in islice(_HEADING.finditer(text), 2)]
    # A title is looked at as a whole, and in the parts between which sites put signs.
    called, named = (
        {_to_name(part) for each in all_ for part in (each, *_PARTS.split(each)) if len(part) <= _LONGEST_NAME}
        for all_ in (titles, headings)
    )
    if not (any(called) or any(named)) and (headings or len(text) > 2 * ALONE):
        return False
    prose = _fold(_HEADING.sub("", _LINK.sub("", text)))
    size = len(prose.encode("utf-8", "replace"))
    if size > LITTLE or EXPLAINS.search(prose):
        return False
    sure = "statement" in called and "statement" in named
    if says := SAYS.search(prose):
        is_told = any(called) or any(named) or (size <= ALONE and says.start() <= ALONE // 4)
    elif prose:
        both = bool(called & _IN_WORDS) and (bool(named & _IN_WORDS) or not headings)
        is_told = sure or (size <= LEAST and (both or (not headings and _CODED.match(prose) is not None)))
    else:
        is_told = any(named)
    return is_told and not _DATED.search(html)


def find_missing(body: bytes, content_type: str = "") -> str:
    """What a page of HTML calls itself, where it says that it does not exist, and little else; "" where it does not.

    Of a page that says nothing at all, as one that a script would fill, the title is believed.
    """
    from .visible_text import parse, to_text, to_title

    root = parse(body, content_type)
    title, text = to_title(root), to_text(root, without=_ASIDE)
    if text.strip("# \n"):
        missing = is_missing(text, titles=(title,), html=body)
    else:
        missing = is_called_missing(title) and not _DATED.search(body)
    heading = _HEADING.search(text)
    return (title or (heading[1] if heading else "") or text[:_LONGEST_NAME]) if missing else ""


def is_called_missing(title: str) -> bool:
    """Whether a title or heading, or what stands in it beside the name of a site, calls its page missing outright."""
    parts = (part for part in (title, *_TITLED.split(title)) if len(part) <= _LONGEST_NAME)
    return any(_to_name(part) in _OUTRIGHT for part in parts)


def _to_name(text: str) -> str:
    """How a part of a title, or a heading, says it and nothing else.

    By a `code`, a `label` ("not found"), in `words`, by a `statement` about a page with hardly a word beside it, or ""
    where it does not.
    """
    name = _fold(text)
    code = CODE.match(name)
    rest = name[code.end() :].strip() if code else name
    if code and (rest in {"", "error", "page"} or _WRONG.match(rest)):
        return "code"
    if rest == "not found" or (code and rest == "gone"):
        return "label"
    statement = SAYS.search(rest)
    if not statement or EXPLAINS.search(rest) or len(statement[0]) < _SHARE * len(rest):
        return ""
    return "statement" if len(statement[0]) >= _WHOLE * len(rest) else "words"


def _fold(text: str) -> str:
    """Small letters and single blanks, without signs; an apostrophe joins what it parts."""
    joined = text.casefold().replace("’", "'").replace("n't", "nt").replace("'re", "re")
    return " ".join(_SIGNS.sub(" ", joined).split())
