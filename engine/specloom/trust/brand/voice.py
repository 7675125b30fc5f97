"""How a brand says that it speaks: what stands under a heading about it, never what a text sounds like."""

from __future__ import annotations

import re
from typing import Any

from specloom.trust.brand.lines import Line, to_section

_HEADING = re.compile(
    r"\b(?:tone of voice|brand voice|(?:our|the) voice|our tone|voice (?:and|&) tone|tone (?:and|&) voice"
    r"|how we (?:sound|speak|write|talk)|brand personality)\b|^(?:voice|tone|personality)$",
    re.IGNORECASE,
)
_DOS = re.compile(r"(?:do|dos|do's|do’s|we are|we do|yes)\s*:?", re.IGNORECASE)
_DONTS = re.compile(r"(?:don'?ts?|don’ts?|do nots?|we are not|we're not|we don't|avoid|no)\s*:?", re.IGNORECASE)
_DO = re.compile(r"do[:\s–-]+(?!not\b)(\S.{2,200})", re.IGNORECASE)
_DONT = re.compile(r"(?:don['’]?t|do not|avoid|never)[:\s–-]+(\S.{2,200})", re.IGNORECASE)
_LISTED = re.compile(
    r"\b(?:voice|tone|personality|we|brand) (?:is|are|sounds?|should be|should sound)(?: always)?:? "
    r"((?:[A-Za-z-]{3,25}, ){0,5}[A-Za-z-]{3,25},? (?:and|but|&) [A-Za-z-]{3,25})(?=[.!;,]|$)",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"[A-Z][\w-]*(?: [\w,-]+){0,3}")
_MOST = 12
_SHORTEST_SUMMARY = 40
_LONGEST_SUMMARY = 600


def find_voice(lines: list[Line]) -> dict[str, Any]:
    """`summary`, `attributes` and `dos_and_donts` of the first section about the voice that says something."""
    for at, line in enumerate(lines):
        if line.level and len(line.text) <= 80 and _HEADING.search(line.text):
            found = _read(to_section(lines, at))
            if found:
                return found
    return {}


def _read(section: list[Line]) -> dict[str, Any]:
    summary = next((line.text for line in section if _is_summary(line)), "")
    attributes: list[str] = []
    for line in section:
        if match := _LISTED.search(line.text):
            attributes += re.split(r",? (?:and|but|&) |, ", match[1])
    dos: list[str] = []
    donts: list[str] = []
    under: list[str] | None = None
    for line in section:
        if line.level or not line.item:
            under = dos if _DOS.fullmatch(line.text) else donts if _DONTS.fullmatch(line.text) else None
            if line.level and under is None and _ATTRIBUTE.fullmatch(line.text):
                attributes.append(line.text)
            continue
        if under is not None:
            under.append(line.text)
        elif match := _DONT.fullmatch(line.text):
            donts.append(match[1])
        elif match := _DO.fullmatch(line.text):
            dos.append(match[1])
        elif (head := line.text.partition(":")[0].strip()) and _ATTRIBUTE.fullmatch(head) and len(head) <= 40:
            attributes.append(head)
    told: dict[str, Any] = {
        "summary": summary[:_LONGEST_SUMMARY],
        "attributes": _unique(attributes),
        "dos_and_donts": {name: found for name, found in (("dos", _unique(dos)), ("donts", _unique(donts))) if found},
    }
    return {name: value for name, value in told.items() if value}


def _is_summary(line: Line) -> bool:
    return not line.level and not line.item and len(line.text) >= _SHORTEST_SUMMARY


def _unique(words: list[str]) -> list[str]:
    found: dict[str, str] = {}
    for word in words:
        found.setdefault(word.strip().lower(), word.strip())
    return list(found.values())[:_MOST]
