"""Text brought to one spelling for comparison: without markup, accents, scripts' own letters and typography."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import unescape
from typing import Any, Final

from specloom.core import drop_tags

# Browsers read some without the semicolon, which makes "R&D&para" of what was none.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# How often an entity may be escaped over; more is no mistake but a trap.
_DEEPEST = 50
_BLOCKS = frozenset(("br", "p", "div", "li", "jats:p", "title", "jats:title", "h1", "h2", "h3"))
# Controls, and what is not seen: zero widths (not the joiners, which some scripts spell with), marks of direction, and
# the tags of plane 14, which hide whole sentences from people and not from models.
_UNSAFE = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e007f]"
)
_MARKS = re.compile("[\u0300-\u036f]+")
_LONE_GREEK = re.compile(r"(?<![\u0370-\u03ff\u1f00-\u1fff])[\u0391-\u03c9](?![\u0370-\u03ff\u1f00-\u1fff])")
_COMMAND = re.compile(r"\\(?:(?:text|math)(?:rm|bf|it|sf|tt|cal|bb)|emph|rm|bf|it|mbox)?\s*([A-Za-z]*)")
_OWN_LETTERS = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L",
     "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ı": "i", "ħ": "h", "ŋ": "n", "ĸ": "k"}
)  # fmt: skip


def strip_markup(text: str) -> str:
    """A text without tags (HTML, JATS, MathML), entities, controls and invisible characters, on one line.

    What is in angle brackets and no tag stays.
    """
    # Entities may hide tags, and what was unescaped may be an entity again: what is shown in the end is what counts.
    for _ in range(_DEEPEST):
        if "&" not in text and "<" not in text:
            break
        stripped = _ENTITY.sub(lambda entity: unescape(entity[0]), drop_tags(text, blanks=_BLOCKS))
        if stripped == text:
            break
        text = stripped
    return " ".join(strip_unseen(unicodedata.normalize("NFC", text)).split())


def strip_unseen(text: str) -> str:
    """A text without controls, zero widths and marks that change its direction; lines stay what they are."""
    return _UNSAFE.sub("", text)


def fold(text: str) -> str:
    """A text in small letters without markup, accents and typographic variants; scripts stay what they are."""
    text = strip_markup(text)
    if "\\" in text or "$" in text:
        text = _COMMAND.sub(r" \1 ", text).replace("$", "").replace("{", "").replace("}", "")
    text = text.translate(_OWN_LETTERS)
    if not text.isascii():
        # GREEK SMALL LETTER ALPHA → alpha; with a final sigma the name has two words.
        text = _LONE_GREEK.sub(lambda sign: unicodedata.name(sign[0], "").rpartition("LETTER ")[2].split()[-1], text)
        text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text)))
    return " ".join(text.casefold().replace("&", " and ").split())


def compact(text: str) -> str:
    """Only the letters and digits of a folded text: what is left when spacing and hyphenation are a matter of taste."""
    return "".join(character for character in fold(text) if character.isalnum())


@lru_cache(maxsize=4096)
def to_latin(text: str) -> str:
    """A folded text in Latin letters, other scripts transliterated letter by letter."""
    folded = fold(text)
    if folded.isascii():
        return folded
    from anyascii import anyascii

    return " ".join(anyascii(folded).casefold().split())


def find_script(text: str) -> str:
    """The script of most letters of a text (`LATIN`, `CYRILLIC`, `CJK` …), "" when it has none."""
    counts: dict[str, int] = {}
    for character in text[:2000]:
        if character.isalpha():
            name = "LATIN" if character.isascii() else unicodedata.name(character, "").partition(" ")[0]
            counts[name] = counts.get(name, 0) + 1
    script = max(counts, key=lambda name: counts[name], default="")
    return "CJK" if script in ("HIRAGANA", "KATAKANA", "HANGUL", "CJK") else script


def is_near(first: str, second: str) -> bool:
    """Whether two words differ by no more than one slip: a letter left out, put in, changed or swapped.

    Words of fewer than six letters have to be equal, since there a letter makes another word.
    """
    if first == second:
        return True
    if min(len(first), len(second)) < 6 or abs(len(first) - len(second)) > 1:
        return False
    if any(character.isdigit() for character in first + second):
        return False
    at = 0
    while at < min(len(first), len(second)) and first[at] == second[at]:
        at += 1
    rest, other = first[at:], second[at:]
    return (
        rest[1:] == other[1:]
        or rest[1:] == other
        or rest == other[1:]
        or (rest[2:] == other[2:] and rest[:2] == other[:2][::-1])
    )


# --- What Markdown says, without its marks: for whoever weighs or quotes its words. Lines stay lines ------------------
# Addresses, of links and pictures or written out, are no words of a page: a headline in an address says nothing about
# the page that links it.


_TEXT: Final = r"((?:[^\[\]\\\n]|\n(?!\n)|\\.|\[[^\[\]\n]{0,200}\]){0,500}+)"
_TARGET: Final = r"(?:<[^<>\n]{0,2000}>|[^()\s]{0,2000}(?:\([^()\s]{0,2000}\)[^()\s]{0,2000}){0,20})"
_LINK: Final = re.compile(rf"!?\[{_TEXT}\]\({_TARGET}\)")
_ADDRESS: Final = re.compile(r"<https?://[^<>\s]{1,2000}>|https?://[!-;=?-_a-{}~]{1,2000}(?<![.,;:!?)\]'\"*])")
# Stars of the page itself that would read as emphasis are escaped, so what is left at the edge of a word is a mark.
_EMPHASIS: Final = re.compile(r"(?<![\w\\*])\*{1,3}(?=[^\s*])|(?<=[^\s*\\])\*{1,3}(?![\w*])")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_LEADING: Final = re.compile(r"^[ \t]{0,40}(?:(?:>|[-*+]|\d{1,9}[.)]|#{1,6})(?:[ \t]+|$)){1,20}", re.MULTILINE)
_ALONE: Final = re.compile(
    r"^[ \t]{0,40}(?:(?:`{3,}|~{3,})[^\n]{0,100}|\|(?:[ ]?:?-{3,}:?[ ]?\|)+|(?:-{3,}|\*{3,}))[ \t]*$", re.MULTILINE
)
_ROW: Final = re.compile(r"^\| ?| ?\|$", re.MULTILINE)


def to_plain(markdown: str) -> str:
    """The words of a Markdown text: the texts of its links and pictures, and what its marks enclose."""
    text = _ALONE.sub("", markdown)
    if "](" in text:
        # Twice, because a picture may stand in a link.
        text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))
    text = _ADDRESS.sub("", text) if "://" in text else text
    text = _LEADING.sub("", text)
    text = _ROW.sub("", text)
    text = _EMPHASIS.sub("", text) if "*" in text else text
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


# --- Mojibake: texts with the replacement character, and whether another text is the same without it ---

LOST = "\ufffd"
"""The character that stands where one was lost."""
LONGEST_MENDED = 2000
"""Characters of a text that is compared with another one to replace it."""

_RUNS = re.compile(f"{LOST}+|[^{LOST}]+")


def mends(broken: Any, whole: Any) -> bool:
    """Whether a text, or a list of texts, is another one without its replacement characters and the same elsewhere.

    A row of replacement characters stands for as many characters or fewer, because one is lost for every byte.
    """
    if isinstance(broken, list) and isinstance(whole, list) and len(broken) == len(whole):
        pairs = [(one, other) for one, other in zip(broken, whole, strict=True) if one != other]
        return bool(pairs) and all(mends(one, other) for one, other in pairs)
    if not isinstance(broken, str) or not isinstance(whole, str) or LOST not in broken or LOST in whole:
        return False
    if max(len(broken), len(whole)) > LONGEST_MENDED:
        return False
    ends = {0}
    for part in _RUNS.findall(broken):
        if part.startswith(LOST):
            ends = {end + more for end in ends for more in range(1, len(part) + 1) if end + more <= len(whole)}
        else:
            ends = {end + len(part) for end in ends if whole.startswith(part, end)}
    return len(whole) in ends
