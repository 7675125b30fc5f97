"""Whether a text answers a question: words of the answer stand near each other in it, in whatever Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

WITHIN: Final = 300
"""Characters that all words of an answer have to stand in."""
_MOST_PLACES: Final = 200

_ADDRESS: Final = re.compile(r"\]\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,2000}){0,3}(?: \"[^\"\n]{0,300}\")?\)")
_BARE: Final = re.compile(r"\b(?:https?|ftp)://[^\s<>\"')\]]+")
_SIGNS: Final = re.compile(r"\\(?=[^\w\s])|[*`\[\]|<>#]|(?<!\w)_|_(?!\w)|!(?=\[)")
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def to_words(text: str) -> str:
    """A text without addresses and signs of Markdown, in small letters and with one blank between words."""
    plain = _SIGNS.sub(" ", _BARE.sub(" ", _ADDRESS.sub("] ", text)))
    plain = unicodedata.normalize("NFKC", plain).replace("\u00ad", "").replace("’", "'").casefold()
    return " ".join(plain.split())


def find_answers(words: str, near: Sequence[str], *, within: int = WITHIN) -> list[tuple[int, int]]:
    """Where in a text that `to_words` gave all words of an answer stand within so many characters of each other.

    A word of `near` is a whole word or several; one that ends with `*` begins a word.
    """
    places = [list(_find(words, one))[:_MOST_PLACES] for one in near]
    if not all(places):
        return []
    first, *others = places
    spans = []
    for start, end in first:
        close = [[place for place in of_one if abs(place[0] - start) <= within] for of_one in others]
        if not all(close):
            continue
        if len(close) > 1 and sum(map(len, close)) > 60:
            close = [of_one[:8] for of_one in close]
        for chosen in product(*close):
            span = min([start, *(place[0] for place in chosen)]), max([end, *(place[1] for place in chosen)])
            if span[1] - span[0] <= within:
                spans.append(span)
                break
    return spans


def _find(words: str, wanted: str) -> Iterator[tuple[int, int]]:
    is_beginning = wanted.endswith("*")
    plain = to_words(wanted.removesuffix("*"))
    before = r"(?<!\w)" if plain[:1].isalnum() and not _UNSPACED.match(plain) else ""
    after = r"(?!\w)" if plain[-1:].isalnum() and not is_beginning and not _UNSPACED.match(plain[-1]) else ""
    for match in re.finditer(f"{before}{re.escape(plain)}{after}", words):
        yield match.span()


def without_signs(text: str) -> str:
    """A text without addresses and signs of Markdown: what is left is words."""
    return _SIGNS.sub("", _BARE.sub("", _ADDRESS.sub("]", text)))
