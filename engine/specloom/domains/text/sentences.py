"""Text as sentences: where one ends, in prose, snippets and lists, with or without blanks between words."""

from __future__ import annotations

import re

from .tables import load_table, to_word_set

# Marks of scripts that need no blank after a sentence, then those that do, then line breaks.
_END = re.compile(
    r"""(?P<wide>[。！？｡।॥؟۔።។။]+[」』）》”’"')\]]*)
    |(?P<mark>[.!?…]+)(?P<closed>(?:[)\]"'”’»›]|\[[0-9]{1,3}\])*)
    |(?P<line>[\n\r\u2028\u2029]\s*)""",
    re.VERBOSE,
)
_NEXT = re.compile(r"""\s*["'“‘«‹(\[]{0,4}(\w{0,20})""")
_LAST = re.compile(r"(?:\w|(?<=\w)\.(?=\w)){1,20}\Z")
_LINE_BREAKS = re.compile(r"\r\n|[\n\r\u2028\u2029]")

_ENGLISH = load_table(__file__, "english.yaml")
# A full stop after the first never ends a sentence, after the second only when the next word likes to open one, and
# after the third not before a number.
_ALWAYS_ABBREVIATED, _OFTEN_ABBREVIATED, _NUMBERED = (
    to_word_set(_ENGLISH["abbreviated"][name]) for name in ("always", "often", "numbered")
)
_OPENERS = to_word_set(_ENGLISH["openers"])


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, white space collapsed; pieces without a letter or digit are left out."""
    found: list[str] = []
    start = 0
    # In text without capitals, a small letter says nothing about where a sentence goes on.
    cased = text != text.lower()
    for end in _END.finditer(text):
        if end["wide"] or (
            _ends_line(text, end, cased=cased) if end["line"] else _ends_sentence(text, end, start, cased=cased)
        ):
            _add(found, text[start : end.end()])
            start = end.end()
    _add(found, text[start:])
    return found


def _add(found: list[str], piece: str) -> None:
    if any(character.isalnum() for character in piece):
        found.append(" ".join(piece.split()))


def _ends_line(text: str, end: re.Match[str], *, cased: bool) -> bool:
    """A line break ends a sentence, except where a line was only wrapped."""
    breaks = len(_LINE_BREAKS.findall(end["line"]))
    goes_on = cased and text[end.end() : end.end() + 1].islower()
    return not (goes_on and breaks == 1)


def _ends_sentence(text: str, end: re.Match[str], start: int, *, cased: bool) -> bool:
    if end.end() < len(text) and not text[end.end()].isspace():
        return False
    following = _NEXT.match(text, end.end())
    follower = following[1] if following else ""
    if end["mark"] == ".":
        last = _LAST.search(text, max(start, end.start() - 20), end.start())
        word = last[0] if last else ""
        bare = word.replace(".", "").lower()
        if word.isdigit() and not text[start : last.start() if last else start].strip():
            return False  # the number of a list item
        if bare in _ALWAYS_ABBREVIATED:
            return False
        if bare in _NUMBERED and follower[:1].isdigit():
            return False
        if bare in _OFTEN_ABBREVIATED or "." in word or (len(word) == 1 and word.isupper()):
            return follower[:1].isupper() and follower.lower() in _OPENERS
    return not (cased and follower[:1].islower())
