"""What the text of a brand page says: its colours, its fonts, and how the brand speaks. Markdown or plain lines."""

from __future__ import annotations

import re

from specloom.trust.brand.findings import Findings
from specloom.trust.brand.fonts import find_fonts
from specloom.trust.brand.lines import Line, to_lines
from specloom.trust.brand.swatches import MOST_SWATCHES, Swatch, find_hex, to_hex, to_slots
from specloom.trust.brand.voice import find_voice

_CODE = re.compile(r"(?<![\w#/&=.])#([0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})(?![\w-])|\bHEX[:\s]{1,3}([0-9A-Fa-f]{6})\b", re.I)
_RGB = re.compile(
    r"\bRGBA?\b\s*[:(]?\s*(?:R\s*:?\s*)?(\d{1,3})\s*[,/|\s]\s*(?:G\s*:?\s*)?(\d{1,3})\s*[,/|\s]\s*(?:B\s*:?\s*)?(\d{1,3})\b",
    re.IGNORECASE,
)
_COLOUR_WORD = re.compile(r"colou?r|hex|rgb|palette|--", re.IGNORECASE)
_LABELS = re.compile(
    r"\b(?:HEX|RGBA?|CMYK|HSLA?|HSB|HSV|PMS|Pantone|RAL|Coated|Uncoated|Copy|Colou?r codes?)\b.*", re.IGNORECASE
)
_NAME = re.compile(r"[^\W\d_][\w'&.+-]*(?: [\w'&.+-]+){0,4}")
_NO_NAME = re.compile(
    r"\b(?:primary|secondary|accent|background|text|surface|neutral|brand|main|colou?rs?|palette|code|value|our|the)\b",
    re.IGNORECASE,
)
_ROLES = (
    ("text_secondary", re.compile(r"\b(?:secondary|muted|subtle) (?:text|copy)\b|\btext (?:secondary|muted)\b", re.I)),
    ("background", re.compile(r"\bback(?:ground|drop)s?\b|\bcanvas\b", re.I)),
    ("surface", re.compile(r"\bsurfaces?\b", re.I)),
    ("text", re.compile(r"\b(?:text|body copy|foreground)\b", re.I)),
    ("primary", re.compile(r"\b(?:primary|main|core|principal) (?:brand )?(?:colou?rs?|palette)\b|\bprimary\b", re.I)),
    ("secondary", re.compile(r"\bsecondary\b|\bsupporting\b", re.I)),
    ("accent", re.compile(r"\baccents?\b|\bhighlight\b", re.I)),
    ("neutral", re.compile(r"\bneutrals?\b|\bgr[ea]yscale\b", re.I)),
)  # fmt: skip


def read_guidelines(text: str) -> Findings:
    """The colours, fonts and tone of voice that a page's text states; what it does not state is not there."""
    lines = to_lines(text)
    found = Findings()
    found.palette = find_swatches(lines)
    found.colors = to_slots(found.palette)
    found.typography = find_fonts(lines)
    found.tone_of_voice = find_voice(lines)
    return found


def find_swatches(lines: list[Line]) -> list[Swatch]:
    """At most 20 colours in the order of the page, each with the name and role that stand with it or above it."""
    found: dict[str, Swatch] = {}
    for at, line in enumerate(lines):
        # A line with many codes is a ramp or code: its codes are colours, and no words stand with one of them.
        codes = _codes_of(line)
        for start, code in codes:
            label = _find_label(lines, at, start) if len(codes) < 4 else ""
            role = find_role(label) or find_role(line.text) or find_role(line.heading)
            swatch = Swatch(code, _to_name(label), role)
            if code in found:
                found[code] = found[code].joined(swatch)
            elif len(found) < MOST_SWATCHES:
                found[code] = swatch
    return list(found.values())


def find_role(text: str) -> str:
    """The role that words give a colour, "" where they give none."""
    return next((role for role, words in _ROLES if words.search(text.replace("-", " "))), "")


def _codes_of(line: Line) -> list[tuple[int, str]]:
    """Where colour codes begin in a line, and which colours they are."""
    found = []
    for match in _CODE.finditer(line.text):
        digits = match[1] or match[2]
        # "#123" counts things; three digits are a colour right behind a word that says so.
        if len(digits) == 3 and not _COLOUR_WORD.search(line.text[max(0, match.start() - 25) : match.start()]):
            continue
        found.append((match.start(), find_hex(digits)))
    for match in _RGB.finditer(line.text):
        channels = [int(match[part]) for part in (1, 2, 3)]
        code = to_hex(channels[0], channels[1], channels[2]) if max(channels) < 256 else ""
        # Where both are given they are one colour, whose code is the more exact of the two.
        if code and not found:
            found.append((match.start(), code))
    return sorted(found)


def _find_label(lines: list[Line], at: int, start: int) -> str:
    """What a colour is called: the words before its code, else the short line above that is no code itself."""
    own = _to_label(lines[at].text[:start])
    if own:
        return own
    if lines[at].text[:start].strip(" :-–—(") and not _LABELS.match(lines[at].text):
        return ""
    for above in reversed(lines[max(0, at - 3) : at]):
        if _codes_of(above) or _LABELS.match(above.text):
            continue
        return _to_label(above.text) if len(above.text) <= 40 else ""
    return ""


def _to_label(text: str) -> str:
    text = _LABELS.sub("", text).strip(" \t:;,.()[]-–—=>")
    text = re.sub(r"^--", "", text)
    match = _NAME.fullmatch(text)
    return match[0] if match and len(text) <= 40 else ""


def _to_name(label: str) -> str:
    """A label as a name: "Primary colour" is what a colour is for and not what it is called."""
    return label if _NO_NAME.sub("", label).strip(" -") else ""
