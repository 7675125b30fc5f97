"""Whether who recommends something says to work for it, be paid by it or own it: signs in a biography, word by word."""

from __future__ import annotations

import re
from typing import Literal

from specloom.domains.text import to_word_set

from ..records import Conflict

# A company's legal form, which marks the word before it as a name: https://www.gleif.org (ISO 20275) lists thousands;
# these are what English texts write.
_FORM = r"(?:Inc|LLC|Corp(?:oration)?|Ltd|Limited|Co|GmbH|AG|SA|BV|NV|PLC|SE)\.?"
_NAME = r"[A-Z][\w&'’-]*(?:\.[A-Za-z]{2,})?"
_ENTITY = re.compile(rf"{_NAME}(?:\s+(?:{_NAME}|&|of))*")
_ROLE = (
    r"(?:founder|co-?founder|ceo|cto|cfo|coo|cmo|president|chair(?:man|woman|person)?|director|head|vp|vice\s+president|engineer"
    r"|developer|manager|employee|analyst|consultant|scientist|researcher|designer|evangelist|advocate|lead|partner"
    r"|strategist|specialist|marketer|writer|editor|executive|officer|intern)"
)
# Words that begin titles and lists and name nobody.
_ORDINARY = to_word_set(
    """a an and are as at best better but buy by cheap comparison for free from get good great guide how if in is it
    list most my new of on or our pick picks platform price review reviews software the their this to tool tools top
    use using versus vs what when which why with you your service services app apps pro plus premium edition"""
)
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
        for kind, confidence, patterns in _SIGNS:
            for pattern in patterns:
                # A name that a noun follows only qualifies it: an engineer of Acme clusters does not work for Acme.
                last = _ENDS if pattern.endswith("NAME") else ""
                match = re.search(pattern.replace("NAME", name) + last, text)
                if match and not _is_over(text, match.start()) and not _is_denied(text, match.start()):
                    return Conflict(
                        detected=True,
                        author_affiliation=match[0].strip(" ,."),
                        cited_entity_name=entity,
                        evidence=_sentence_around(text, match.start(), match.end()),
                        conflict_type=kind,
                        confidence=confidence,
                    )
    return None


_Kind = Literal["employed_by", "funded_by", "owns_equity"]
_SIGNS: tuple[tuple[_Kind, Literal["high", "medium"], tuple[str, ...]], ...] = (
    (
        "employed_by",
        "high",
        (
            rf"(?i:\b{_ROLE}\b[\w\s,&/-]{{0,40}}?(?:\s(?:at|of|for)\s|\s@\s?)(?:the\s)?)NAME",
            r"(?i:\b(?:works|working|I\s+work|leads|runs|heads)\b[\w\s]{0,40}?\s(?:at|for)\s)NAME",
            r"(?i:\bemployed\s(?:by|at)\s)NAME",
            r"(?i:\b(?:founded|co-?founded|leads|runs|heads)\s)NAME",
            rf"NAME(?:['’]s?)?\s+(?i:{_ROLE})\b",
            rf"(?i:\b{_ROLE}),\s+NAME",
        ),
    ),
    (
        "funded_by",
        "medium",
        (r"(?i:\b(?:funded|sponsored|supported|paid)\s+by\s(?:a\sgrant\sfrom\s)?)NAME", r"(?i:\bgrants?\s+from\s)NAME"),
    ),
    (
        "owns_equity",
        "medium",
        (
            r"(?i:\b(?:advis[oe]r|board\s+member|shareholder|investor|shares|stock|equity|stake)\s+(?:to|of|in|at|for)\s)NAME",
            r"(?i:\b(?:advises|sits\s+on\s+the\s+board\s+of|invest(?:s|ed)\s+in|owns\s+(?:shares|stock)\s+(?:of|in))\s)NAME",
        ),
    ),
)
_FORMER = re.compile(
    r"\b(?:former(?:ly)?|ex|previously|until|used\s+to|once|retired|was|had\s+been)\b[\s-]*[\w\s,]{0,30}$",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|no|never|neither|nor|without|nothing)\b[^.;!?]{0,60}$|n['’]t\b[^.;!?]{0,60}$", re.IGNORECASE
)


def _is_over(text: str, at: int) -> bool:
    return bool(_FORMER.search(text[max(0, at - 60) : at]))


def _is_denied(text: str, at: int) -> bool:
    return bool(_DENIED.search(text[max(0, at - 80) : at]))


def _sentence_around(text: str, start: int, end: int) -> str:
    before = max((mark.end() for mark in re.finditer(r"[.!?]\s", text[:start])), default=0)
    after = re.search(r"[.!?](?:\s|$)", text[end:])
    return text[before : end + after.start() + 1 if after else len(text)].strip()[:300]


def find_entities(title: str) -> list[str]:
    """The names in a title that a company may bear, whole names before the words of them."""
    found: list[str] = []
    for match in _ENTITY.finditer(title):
        words = [word for word in match[0].split() if word.lower().rstrip(".,") not in _ORDINARY]
        words = [word for word in words if not re.fullmatch(_FORM, word)]
        if not words:
            continue
        found.extend([" ".join(words), *words] if len(words) > 1 else words)
    cleaned = (re.sub(r"['’]s$", "", name).strip(" .,&") for name in found)
    return [name for name in dict.fromkeys(cleaned) if len(name) >= _SHORTEST]
