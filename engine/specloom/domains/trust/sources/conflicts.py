"""Whether who recommends something says to work for it, be paid by it or own it: signs in a biography, word by word."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from specloom.core import load_table
from specloom.domains.text import to_alternatives, to_word_set

from ..records import Conflict

_TABLE = load_table(__file__, "stakes.yaml")
_FORM = rf"(?:{to_alternatives(_TABLE['forms'])})\.?"
# Letters of words that blanks part; other scripts write a name and what follows it in one.
_LETTER = r"(?:[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[&'’-])"
_NAME = rf"[A-ZÀ-ÖØ-ÞА-ЯЁ]{_LETTER}*(?:\.[A-Za-z]{{2,}})?"
_ENTITY = re.compile(rf"{_NAME}(?:\s+(?:{_NAME}|&|of))*")
_PARTS = {
    "ROLE": f"(?:{to_alternatives(_TABLE['roles'])}|{to_alternatives(_TABLE['roles_elsewhere'])})",
    "ENGLISH": to_alternatives(_TABLE["roles"]),
    "LEADER": to_alternatives(_TABLE["leaders"]),
    "UNSPACED": to_alternatives(_TABLE["roles_unspaced"]),
}
_PART = re.compile("ROLE|ENGLISH|LEADER|UNSPACED|STEM|NAME")
_ORDINARY = to_word_set(_TABLE["ordinary"])
_NOUN_AFTER = re.compile(rf"\b(?:{to_alternatives(_TABLE['noun_after'])})\s+$", re.IGNORECASE)
_SHORTEST = 3
_MARK = "\ua7ff"
"""A letter that nobody writes; it stands for a name, so that patterns are compiled once and not for every name."""
_AFTER = r"(?![\w-]|\.\w)"
# What may follow the name of an employer: the end of the phrase, or a word that begins another.
_ENDS = rf"(?=\s*(?:$|[.,;:!?)(|&—–/-]|(?:{to_alternatives(_TABLE['ends'])}|[a-z]+ing)\b))"
_FORMER_WORD = rf"\b(?:{to_alternatives(_TABLE['former'])})\b|{to_alternatives(_TABLE['former_unspaced'])}"
_FORMER = re.compile(rf"(?:{_FORMER_WORD})[\s-]*[\w\s,]{{0,30}}$", re.IGNORECASE)
_OVER = re.compile(rf"[\s,(]*+(?:{'|'.join(_TABLE['over'])})", re.IGNORECASE)
_DENIED_WORD = rf"\b(?:{to_alternatives(_TABLE['denied'])})\b|n['’]t\b"
_DENIED = re.compile(rf"(?:{_DENIED_WORD})[^.;!?]{{0,60}}$", re.IGNORECASE)
# Within a sign a word of any of these kinds makes another thing of it.
_VOID = re.compile(
    rf"{_FORMER_WORD}|{_DENIED_WORD}|\b(?:{to_alternatives(_TABLE['outside'])})\b"
    rf"|{to_alternatives(_TABLE['outside_unspaced'])}|{to_alternatives(_TABLE['denied_unspaced'])}",
    re.IGNORECASE,
)
_DENIED_BEHIND = re.compile(rf"[^。.;!?]{{0,20}}?(?:{to_alternatives(_TABLE['denied_unspaced'])})")
_DENIED_BEFORE = re.compile(rf"(?:{to_alternatives(_TABLE['denied_unspaced'])})[^。.;!?]{{0,20}}$")


def find_conflict(biography: str, title: str) -> Conflict | None:
    """The first sign in an author's biography of a stake in a name that stands in a title; None when there is none.

    A name counts where the biography says it with a role or a verb beside it ("engineer at Acme", "Acme's founder",
    "funded by Acme", "shareholder of Acme"), never where it only occurs. Former posts do not count.
    """
    text = " ".join(biography.replace(_MARK, "M").split())
    for entity in find_entities(title):
        if entity not in text:
            continue
        marked = text.replace(entity, _MARK)
        for sign, patterns in _load_signs():
            for pattern in patterns:
                for match in pattern.finditer(marked):
                    start = len(marked[: match.start()].replace(_MARK, entity))
                    end = start + len(match[0].replace(_MARK, entity))
                    if _holds(text, start, end, entity):
                        return Conflict(
                            detected=True,
                            author_affiliation=text[start:end].strip(" ,."),
                            cited_entity_name=entity,
                            evidence=_sentence_around(text, start, end),
                            conflict_type=sign["kind"],
                            confidence=sign["confidence"],
                        )
    return None


@cache
def _load_signs() -> Sequence[tuple[Mapping[str, Any], Sequence[re.Pattern[str]]]]:
    """The signs, each with its patterns, in which a mark stands for whatever name is looked for."""
    return [(sign, [re.compile(_to_pattern(each)) for each in sign["patterns"]]) for sign in _TABLE["signs"]]


def _to_pattern(sign: str) -> str:
    """The pattern of a sign with the mark of a name in it."""
    parts = {
        **_PARTS,
        "STEM": rf"(?<![A-Za-z0-9_-]){_MARK}(?![A-Za-z0-9_])",
        "NAME": rf"{_MARK}(?:,?\s+{_FORM})?{_AFTER}",
    }
    # A name that a noun follows only qualifies it: an engineer of Acme clusters does not work for Acme.
    return _PART.sub(lambda part: parts[part[0]], sign) + (_ENDS if sign.endswith("NAME") else "")


def _holds(text: str, start: int, end: int, entity: str) -> bool:
    """Whether a sign is said of today and not denied, by the words within it and on both sides."""
    before = text[max(0, start - 80) : start]
    behind = text[end : end + 40]
    # "No" is a preposition in Portuguese where it stands in front of a name.
    within = re.sub(r"\bno\s+(?=\0)", "", text[start:end].replace(entity, "\0"))
    return not (
        _VOID.search(within)
        or _FORMER.search(before[-60:])
        or _OVER.match(behind)
        or _DENIED.search(before)
        or _DENIED_BEFORE.search(before)
        or _DENIED_BEHIND.match(behind)
    )


def _sentence_around(text: str, start: int, end: int) -> str:
    before = max((mark.end() for mark in re.finditer(r"[.!?]\s|[。！？]", text[:start])), default=0)
    after = re.search(r"[.!?](?:\s|$)|[。！？]", text[end:])
    return text[before : end + after.start() + 1 if after else len(text)].strip()[:300]


def find_entities(title: str) -> list[str]:
    """The names in a title that a company may bear, whole names before the words of them."""
    names: list[str] = []
    for match in _ENTITY.finditer(title):
        if _NOUN_AFTER.search(title[: match.start()]):
            continue
        words = [word for word in match[0].split() if word.lower().rstrip(".,") not in _ORDINARY]
        words = [word for word in words if not re.fullmatch(_FORM, word)]
        if not words:
            continue
        names.extend([" ".join(words), *words] if len(words) > 1 else words)
    cleaned = (re.sub(r"['’]s$", "", name).strip(" .,&") for name in names)
    return [name for name in dict.fromkeys(cleaned) if len(name) >= _SHORTEST]
