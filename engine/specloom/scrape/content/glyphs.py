"""Characters of many texts counted at once, by what they are: with one look-up a character, whatever is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

COUNTED: Final = {
    "stops": ".!?。！？…",
    "commas": ",;:，、；：",
    "digits": "0123456789",
    "signs": "|#@/&+©®™»›•·→",
}
CJK_RANGES: Final = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xAC00, 0xD7AF))
"""Kana, ideographs and syllables of Hangul: scripts in which a character is about as much as a word."""

WORD: Final = re.compile(r"[^\W\d_]+")
"""A run of letters, of any script."""

MOST: Final = 1023
"""Characters of a text that are counted at most."""

_FIELD: Final = 10
"""Bits of a count: those of a text are added up as one number."""
_CJK_FIELD: Final = len(COUNTED) * _FIELD
_SPACE, _UPPER, _LETTER = 1, 2, 4
_LAST: Final = 0xFFFF
"""The last character that is told apart; it is none. Beyond are emoji and rare signs, of which none is counted."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Counts for each text."""

    stops: Any
    commas: Any
    digits: Any
    signs: Any
    cjk: Any
    words: Any
    """Between blanks."""
    capitalised: Any
    """Words that begin with a capital letter."""


def count_glyphs(texts: Sequence[str]) -> Glyphs:
    """The counts for texts that are not empty and have no more than `MOST` characters each."""
    codes, starts = _encode(texts)
    fields, kinds = _tables()
    counts = np.add.reduceat(fields.take(codes), starts)
    of_code = kinds.take(codes)
    # A word begins where none goes on: at what is no blank, behind one or at the beginning.
    begins = ~of_code & _SPACE
    begins[1:] &= of_code[:-1]
    words = np.add.reduceat(begins, starts, dtype=np.int32)
    capitals = np.add.reduceat(begins & (of_code >> 1), starts, dtype=np.int32)
    stops, commas, digits, signs, cjk = (counts >> at * _FIELD & MOST for at in range(len(COUNTED) + 1))
    return Glyphs(stops, commas, digits, signs, cjk, words, capitals)


def split_letters(texts: Sequence[str]) -> tuple[list[str], Any]:
    """The runs of letters of all texts in one list, and how many each text has."""
    codes, starts = _encode(texts)
    letter = _tables()[1].take(codes) & _LETTER
    begins = letter.copy()
    begins[1:] &= ~letter[:-1]
    counts = np.add.reduceat(begins > 0, starts, dtype=np.int32)
    plain = np.where(letter, codes, 32)
    raw = plain.astype(np.uint8 if codes.dtype == np.uint8 else np.uint32).tobytes()
    return raw.decode("latin-1" if codes.dtype == np.uint8 else "utf-32-le").split(), counts


def _encode(texts: Sequence[str]) -> tuple[Any, Any]:
    """The texts as numbers of characters, with a line end behind each, and where each begins."""
    text = "\n".join(texts)
    sizes = np.fromiter(map(len, texts), np.intp, len(texts)) + 1
    starts = np.concatenate(([0], sizes.cumsum()[:-1]))
    if text.isascii():
        return np.frombuffer(text.encode("latin-1"), np.uint8), starts
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.minimum(codes, _LAST), starts


@cache
def _tables() -> tuple[Any, Any]:
    """For each character, one in the field of what it counts as; and its kinds as bits."""
    fields = np.zeros(_LAST + 1, np.int64)
    for at, characters in enumerate(COUNTED.values()):
        fields[[ord(character) for character in characters]] = 1 << at * _FIELD
    for first, last in CJK_RANGES:
        fields[first : last + 1] = 1 << _CJK_FIELD
    everything = [chr(code) for code in range(_LAST)]
    kinds = np.zeros(_LAST + 1, np.uint8)
    for bit, is_one in ((_SPACE, str.isspace), (_UPPER, str.isupper)):
        kinds[:_LAST] |= np.fromiter(map(is_one, everything), bool, _LAST) * np.uint8(bit)
    for letters in WORD.finditer("".join(everything)):
        kinds[letters.start() : letters.end()] |= _LETTER
    return fields, kinds
