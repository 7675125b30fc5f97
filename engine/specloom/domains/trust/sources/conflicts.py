"""Whether who recommends something says to work for it, be paid by it or own it: signs in a biography, word by word."""

from __future__ import annotations

import re

from specloom.core import load_table
from specloom.domains.text import to_alternatives, to_word_set

from ..records import Conflict

_TABLE = load_table(__file__, "stakes.yaml")
_FORM = rf"(?:{to_alternatives(_TABLE['forms'])})\.?"
_NAME = r"[A-Z][\w&'’-]*(?:\.[A-Za-z]{2,})?"
_ENTITY = re.compile(rf"{_NAME}(?:\s+(?:{_NAME}|&|of))*")
_ROLE = f"(?:{to_alternatives(_TABLE['roles'])})"
_ORDINARY = to_word_set(_TABLE["ordinary"])
_SHORTEST = 3
_AFTER = r"(?![\w-]|\.\w)"
# What may follow the name of an employer: the end of the phrase, or a word that begins another.
_ENDS = (
    r"(?=\s*(?:$|[.,;:!?)|&—–/-]|(?:a|and|as|at|based|but|by|for|from|in|is|of|on|or|since|that|the|to|where|which|while"
    r"|who|whose|with|[a-z]+ing)\b))"
)


def find_conflict(biography: str, title: str) -> Conflict | None:
    """The first sign in an author's biography of a stake in a name that stands in a title; None when there is none.

    A name counts where the biography says it with a role or a verb beside it ("engineer at Acme", "Acme's founder",
    "funded by Acme", "shareholder of Acme"), never where it only occurs. Former posts do not count.
    """
    text = " ".join(biography.split())
    for entity in find_entities(title):
        if entity not in text:
            continue
        name = rf"{re.escape(entity)}(?:,?\s+{_FORM})?{_AFTER}"
        for sign in _TABLE["signs"]:
            for pattern in sign["patterns"]:
                # A name that a noun follows only qualifies it: an engineer of Acme clusters does not work for Acme.
                last = _ENDS if pattern.endswith("NAME") else ""
                match = re.search(pattern.replace("ROLE", _ROLE).replace("NAME", name) + last, text)
                if match is None:
                    continue
                before = text[max(0, match.start() - 80) : match.start()]
                if not _FORMER.search(before[-60:]) and not _DENIED.search(before):
                    return Conflict(
                        detected=True,
                        author_affiliation=match[0].strip(" ,."),
                        cited_entity_name=entity,
                        evidence=_sentence_around(text, match.start(), match.end()),
                        conflict_type=sign["kind"],
                        confidence=sign["confidence"],
                    )
    return None


_FORMER = re.compile(rf"\b(?:{to_alternatives(_TABLE['former'])})\b[\s-]*[\w\s,]{{0,30}}$", re.IGNORECASE)
_DENIED = re.compile(rf"(?:\b(?:{to_alternatives(_TABLE['denied'])})|n['’]t)\b[^.;!?]{{0,60}}$", re.IGNORECASE)


def _sentence_around(text: str, start: int, end: int) -> str:
    before = max((mark.end() for mark in re.finditer(r"[.!?]\s", text[:start])), default=0)
    after = re.search(r"[.!?](?:\s|$)", text[end:])
    return text[before : end + after.start() + 1 if after else len(text)].strip()[:300]


def find_entities(title: str) -> list[str]:
    """The names in a title that a company may bear, whole names before the words of them."""
    names: list[str] = []
    for match in _ENTITY.finditer(title):
        words = [word for word in match[0].split() if word.lower().rstrip(".,") not in _ORDINARY]
        words = [word for word in words if not re.fullmatch(_FORM, word)]
        if not words:
            continue
        names.extend([" ".join(words), *words] if len(words) > 1 else words)
    cleaned = (re.sub(r"['’]s$", "", name).strip(" .,&") for name in names)
    return [name for name in dict.fromkeys(cleaned) if len(name) >= _SHORTEST]
