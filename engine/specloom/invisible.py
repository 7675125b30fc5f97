"""Characters that nobody sees are taken out of text, except where a script or an emoji needs them.

Taken out: controls, zero-width and word-joining characters, bidirectional controls and marks, tag characters, Hangul
fillers, runs of variation selectors, annotation anchors and non-characters. All of these can carry a message past a
reader. Kept: the joiner and the non-joiner after a letter of a script that shapes its letters (Persian, Hindi …) and
inside emoji; one variation selector after a character; the tags of a flag. Soft hyphens go too, uncounted: they are
typesetting.
"""

from __future__ import annotations

import re
from typing import Final

_SUSPECT: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)

_FLAG: Final = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,8}\U000e007f"
_SHAPED: Final = (
    "\u0600-\u0605\u0608\u060b\u060d\u061b\u061d-\u08ff"  # Arabic, Syriac, Thaana, N'Ko, Samaritan, Mandaic
    "\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u17ff"  # Indic scripts, Tibetan, Myanmar, Khmer
    "\u1800-\u180a\u1810-\u18af\u1900-\u1aaf\u1b00-\u1c4f\u1cd0-\u1cff"  # Mongolian to Lepcha, Vedic
    "\ua800-\ua82f\ua840-\ua8ff\ua930-\ua95f\ua980-\uaaff\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00010aff\U00010d00-\U00010d3f\U00010f30-\U00010fdf\U00011000-\U00011fff\U0001e900-\U0001e95f"
)
_EMOJI: Final = "\u00a9\u00ae\u203c-\u3299\ufe0f\u20e3\U0001f000-\U0001faff"
_KEPT: Final = (
    rf"{_FLAG}"
    rf"|(?<=[{_SHAPED}])[\u200c\u200d]"
    rf"|(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])"
    r"|(?<=[\u1820-\u18aa])[\u180b-\u180f]"
    r"|(?<=[^\s\ufe00-\ufe0f\U000e0100-\U000e01ef\u200b-\u200f\u2060-\u206f])[\ufe00-\ufe0f]"
    r"|(?<=[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
)
_RULES: Final = re.compile(rf"({_KEPT})|([\u2028\u2029\x0b\x0c\x85])|(\xad)|({_SUSPECT.pattern})")


def is_clean(text: str) -> bool:
    """Whether there is no character in the text that `clean` would look at twice."""
    return _SUSPECT.search(text) is None


def clean(text: str) -> tuple[str, int]:
    """The text without what is invisible, and how many characters were taken out. Separators become line ends."""
    if _SUSPECT.search(text) is None:
        return text, 0
    count = 0

    def judge(match: re.Match[str]) -> str:
        nonlocal count
        kind = match.lastindex
        if kind == 1:
            return match[0]
        if kind == 2:
            return "\n"
        count += kind == 4
        return ""

    return _RULES.sub(judge, text), count
