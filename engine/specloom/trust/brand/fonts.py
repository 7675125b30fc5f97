"""The fonts that a brand page names for headings, body and code, with their weights and where they come from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specloom.trust.brand.lines import Line

_FAMILY = r"[\"'“‘]?([A-Z][A-Za-z0-9]*(?: (?:[A-Z0-9][A-Za-z0-9]*)){0,3})[\"'”’]?"
_USES = (
    ("mono", r"(?:mono(?:space)?d?|code)"),
    ("heading", r"(?:headings?|headlines?|titles?|display|primary|brand)"),
    ("body", r"(?:body(?: copy| text)?|text|copy|paragraphs?|secondary)"),
)
_FONT = r"(?:type ?faces?|fonts?(?: famil(?:y|ies))?)"
_IS = r"\s*(?:[:=–—-]|\bis\b|\bare\b)\s*(?:called |set in |the )?"
_STATED = tuple(
    (role, re.compile(rf"\b(?i:{use}(?: {_FONT})?|{_FONT} for {use}){_IS}{_FAMILY}")) for role, use in _USES
)
_FOR = r"(?i: (?:is used )?for (?:all )?(?:our )?)"
_SET_IN = tuple(
    (role, re.compile(rf"(?i:\b{use}(?: text)? (?:is|are) set in ){_FAMILY}|{_FAMILY}{_FOR}(?i:{use}\b)"))
    for role, use in _USES
)  # fmt: skip
_ONLY = re.compile(rf"(?i:\b(?:our|the|brand) (?:brand |corporate )?{_FONT}{_IS}|\bfont-family\s*:\s*){_FAMILY}")
_ABOUT = re.compile(r"typograph|type ?face|\bfonts?\b|lettering", re.IGNORECASE)
_WEIGHTS = {
    "thin": 100, "extralight": 200, "light": 300, "regular": 400, "medium": 500, "semibold": 600, "bold": 700,
    "extrabold": 800, "black": 900,
}  # fmt: skip
_WEIGHT = re.compile(r"\b(thin|extra ?light|light|regular|medium|semi ?bold|bold|extra ?bold|black|[1-9]00)\b", re.I)
_NO_FAMILY = frozenset(
    (
        "the", "our", "a", "an", "used", "sans", "serif", "sans serif", "monospace", "use", "we", "for", "this", "it",
        "download", "color", "colors", "colour", "colours", "black", "white", "left", "font", "fonts", "typeface",
    )
)  # fmt: skip
_GOOGLE = re.compile(r"https?://fonts\.(?:googleapis|google)\.com/[^\s\"'<>)]{1,500}")
_FROM_GOOGLE = re.compile(r"\bgoogle fonts?\b|fonts\.google\.com", re.IGNORECASE)
_SCALE = re.compile(r"\b(H[1-6]|Body|Caption|Display)\b[^\d\n]{0,30}?(\d{1,3}(?:\.\d{1,3})?\s?(?:px|pt|rem))\b")


def find_fonts(lines: list[Line]) -> dict[str, Any]:
    """`heading`, `body` and `mono` where the page says which font they have, and `scale` with sizes it gives."""
    found: dict[str, Any] = {}
    scale: dict[str, str] = {}
    for line in lines:
        about = bool(_ABOUT.search(f"{line.heading} {line.text}"))
        if not about:
            continue
        for role, family in _families_of(line):
            found.setdefault(role, _tell(family, line))
        for match in _SCALE.finditer(line.text):
            scale.setdefault(match[1].lower(), re.sub(r"\s", "", match[2].lower()))
    if scale:
        found["scale"] = scale
    return found


def find_google_fonts(text: str) -> str:
    """The style sheet of Google Fonts that a text links to, "" where there is none."""
    match = next((one for one in _GOOGLE.finditer(text) if "/css" in one[0]), None)
    return match[0] if match else ""


def _families_of(line: Line) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for role, stated in _STATED:
        match = stated.search(line.text)
        if match and (family := _clean(match[1])):
            found.append((role, family))
    for role, pattern in _SET_IN:
        match = pattern.search(line.text)
        if match and (family := _clean(match[1] or match[2])):
            found.append((role, family))
    if not found and (match := _ONLY.search(line.text)) and (family := _clean(match[1])):
        found.append(("heading", family))
    return found


def _clean(family: str) -> str:
    """The family without the words of its weight; "" where nothing but ordinary words is left."""
    words = family.split()
    while words and _WEIGHT.fullmatch(words[-1]):
        words.pop()
    name = " ".join(words)
    return "" if not words or name.lower() in _NO_FAMILY or words[0].lower() in _NO_FAMILY else name


def _tell(family: str, line: Line) -> dict[str, Any]:
    weights = sorted({_to_weight(match[1]) for match in _WEIGHT.finditer(line.text)})
    said: dict[str, Any] = {"family": family}
    if weights:
        said["weights"] = weights
    if _FROM_GOOGLE.search(line.text):
        said |= {"origin": "google", "origin_id": family}
    return said


def _to_weight(word: str) -> int:
    return int(word) if word.isdecimal() else _WEIGHTS[word.lower().replace(" ", "")]
