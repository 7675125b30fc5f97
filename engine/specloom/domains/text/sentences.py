"""Text as sentences: where one ends, in prose, snippets and lists, with or without blanks between words."""

from __future__ import annotations

import re

from .tokens import to_word_set

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

# A full stop after these never ends a sentence.
_ALWAYS_ABBREVIATED = to_word_set(
    """adm approx brig ca capt cf cmdr col dr eg gen gov hon ie lt maj messrs mr mrs ms mt pres prof rep rev sen sgt
    viz vs"""
)
# After these it does only when the next word is one that likes to open a sentence.
_OFTEN_ABBREVIATED = to_word_set(
    """al am apr aug ave bldg blvd bros co corp dec dept dist est etc feb ft govt inc jan jr jul jun ltd mar mass mfg
    nov oct ph phd pm pty rd rs sep sept sr st tel univ wash"""
)
# Before a number these are abbreviations, elsewhere words of their own.
_NUMBERED = to_word_set("""art ch chap eq eqs ex fig figs no nos nr p par pp ref refs sec sect tab vol vols""")
_OPENERS = to_word_set(
    """a after all although an and another as at because before but by during each even every few for from given he her
    here his how however i if in it its many more most much my no not now on one or other our over researchers
    scientists she since so some such that the their then there these they this those thus to today under until we
    what when where which while who why with yet you your"""
)


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
