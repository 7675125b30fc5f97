"""What a page writes where its authors belong becomes names: no addresses, no "By", no roles, nobody twice."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Final

from .sources import to_words

MOST_AUTHORS: Final = 100
_LONGEST: Final = 120

_BY: Final = re.compile(
    r"^\W*(?:(?:written|posted|published|story|words|text|reported|reviewed|edited|submitted|started|asked)\s+)?"
    r"by\s*[:：]?\s+",
    re.IGNORECASE,
)
# Also the beginnings of family names, so a first and a last name have to follow.
_BY_ELSEWHERE: Final = re.compile(r"^(?:[Vv]on|[Pp]ar|[Pp]or|[Dd]oor|[Aa]v)\s+(?=\S+\s+\S+)")
_BY_LABEL: Final = re.compile(r"^\W*(?:authors?|written by|作者|автор|記者|记者|文|by)\s*[:：]\s*", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(?:https?:)?//\S+|www\.\S+|\S+@\S+\.\S+", re.IGNORECASE)
_AND: Final = re.compile(r",?\s+(?:and|und|et|y|e|och|en|и|&)\s+", re.IGNORECASE)
_MARKS: Final = re.compile(r"\s*(?:;|\s\|\s|/|、|•|·)\s*")
# Degrees, certificates and employers behind a name: "Ann Lee, CFP®", "Bo Day, Ph.D."
_LETTERS: Final = re.compile(
    r",\s*(?:[A-Z]{3,6}®?|M\.?D\.?|Ph\.?D\.?|R\.?[DN]\.?|J\.?D\.?|CNN)(?=\s*(?:,|;|&|and\b|$))"
)
_TAIL: Final = re.compile(
    r"\s*(?:,|\||–|—|\s-)\s*(?:[\w .']*\b(?:editor|reporter|correspondent|writer|contributor|staff|columnist|producer|"
    r"journalist|ph\.?d|m\.?d|professor|author)\b.*)$",
    re.IGNORECASE,
)
_PERSON: Final = re.compile(r"[^\W\d_][\w.'’-]*(?:\s+[^\W\d_][\w.'’-]*){1,4}")
# What content systems fill in when nobody is named.
_NOBODY: Final = to_words(
    "admin administrator anonymous author authors by editor editorial editors guest n/a na nobody none null root"
    " last home menu post posts reply services comments"
    " staff undefined unknown user webmaster wordpress follow share contributor authorname super deleted [deleted]"
) | {"super user", "guest author", "about the author", "see full bio", "view all posts", "guest contributor"}


def to_text(value: object, most: int = 1000) -> str:
    """A text on one line, its character references resolved (pages often write them twice), cut after `most`."""
    if not isinstance(value, str):
        return ""
    text = value[: most * 4]
    if "&" in text:
        text = html.unescape(text)
        if "&" in text and ";" in text:
            text = html.unescape(text)
    if "<" in text:
        text = re.sub(r"</?[A-Za-z][^<>]{0,200}>", " ", text)
    return " ".join(text.replace("\x00", "").split())[:most].rstrip()


def to_names(values: Iterable[str], *, split: bool) -> tuple[str, ...]:
    """Distinct names in order, at most 100. With `split`, one value may list several of them."""
    found: dict[str, str] = {}
    for value in values:
        text = _strip(value)
        for part in _split(_BY_ELSEWHERE.sub("", text)) if split else (text,):
            name = _clean(part)
            if name:
                found.setdefault(name.casefold(), name)
        if len(found) >= MOST_AUTHORS:
            break
    return tuple(found.values())[:MOST_AUTHORS]


def _strip(value: str) -> str:
    text = to_text(value, 2000)
    text = _ADDRESS.sub(" ", text)
    text = _BY_LABEL.sub("", text, count=1)
    return _BY.sub("", text, count=1).strip()


def _split(text: str) -> Iterable[str]:
    """The names in a list of names; at commas only if every part is several words ("Ann Lee, Bo Day and Cy Fox")."""
    text = _LETTERS.sub("", _TAIL.sub("", text))
    parts = _MARKS.split(text)
    if len(parts) == 1:
        # "Center for Research and Evaluation" is one name.
        pair = [part.rpartition(", ")[2] for part in _AND.split(text)]
        parts = _AND.split(text) if all(map(_PERSON.fullmatch, pair)) else [text]
    for part in parts:
        pieces = [piece.strip() for piece in part.split(",") if piece.strip()]
        if len(pieces) > 1 and all(_PERSON.fullmatch(piece) for piece in pieces):
            yield from pieces
        else:
            yield part


def _clean(text: str) -> str:
    name = re.sub(r"[\s,|•·–—:-]+$", "", _TAIL.sub("", text)).strip(' \t,;|()<>"“”')
    if not name or len(name) > _LONGEST or name.casefold() in _NOBODY or not any(map(str.isalpha, name)):
        return ""
    # A letter of the alphabet, a sentence or a line of an interface, not a name.
    return "" if len(name.split()) > 12 or (len(name) < 2 and name.isascii()) else name
