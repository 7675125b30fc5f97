"""Characters that nobody sees are taken out of text, except where a script or an emoji needs them.

Taken out: controls, zero-width and word-joining characters, bidirectional controls and marks, tag characters, Hangul
fillers, runs of variation selectors, annotation anchors and non-characters. All of these can carry a message past a
reader. Kept: the joiner and the non-joiner after a letter of a script that shapes its letters (Persian, Hindi …) and
inside emoji; one direction mark beside a letter of a script that is written from the right; one variation selector
after a character; the tags of a flag. Soft hyphens go too, uncounted: they are typesetting.
"""

from __future__ import annotations

import json
import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, Final

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
_FROM_RIGHT: Final = (
    "\u05be-\u061b\u061d-\u085f\u0860-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff"
)
_KEPT: Final = (
    rf"{_FLAG}"
    rf"|(?<=[{_FROM_RIGHT}])[\u200e\u200f\u061c]"
    rf"|(?<!{_SUSPECT.pattern})[\u200e\u200f\u061c](?=[{_FROM_RIGHT}])"
    rf"|(?<=[{_SHAPED}])[\u200c\u200d]"
    rf"|(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])"
    r"|(?<=[\u1820-\u18aa])[\u180b-\u180f]"
    r"|(?<=[^\s\ufe00-\ufe0f\U000e0100-\U000e01ef\u200b-\u200f\u2060-\u206f])[\ufe00-\ufe0f]"
    r"|(?<=[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
)


@cache
def _rules() -> re.Pattern[str]:
    """What stays, what becomes a line end, what goes uncounted, and what goes; compiled when first something may go."""
    return re.compile(rf"({_KEPT})|([\u2028\u2029\x0b\x0c\x85])|(\xad)|({_SUSPECT.pattern})")


_ORDINARY: Final = bytes((*b"\t\n\r", *range(0x20, 0x7F)))
"""The bytes of text that never are a part of what is looked at twice."""


def is_clean(text: str) -> bool:
    """Whether there is no character in the text that `clean` would look at twice."""
    if text.isascii() and text.isprintable():
        return True
    # The pattern takes 13 ns for a character; what is left of most texts without their ASCII is nearly nothing.
    rest = text.encode("utf-8", "surrogatepass").translate(None, _ORDINARY)
    return not rest or _SUSPECT.search(rest.decode("utf-8", "surrogatepass")) is None


def clean(text: str) -> tuple[str, int]:
    """The text without what is invisible, and how many characters were taken out. Separators become line ends."""
    if is_clean(text):
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

    return _rules().sub(judge, text), count


def escape(text: str, *, pairs: bool = True) -> str:
    """The text with each character that `clean` takes out written as `\\u202e`; the rest as it is.

    In JSON text it is another way to write the same value; in YAML in double quotes too, where `pairs` is off, which
    writes `\\U000e0041` for what JSON writes as two.
    """
    if is_clean(text):
        return text

    def write(match: re.Match[str]) -> str:
        if match.lastindex == 1:
            return match[0]
        wide = ord(match[0]) > 0xFFFF and not pairs
        return f"\\U{ord(match[0]):08x}" if wide else json.dumps(match[0])[1:-1]

    return _rules().sub(write, text)


_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def to_clean(value: Any) -> Any:
    """A value of JSON with every text in it, names of members too, as `clean` gives it.

    In what is an address as a whole such characters are percent-encoded, as browsers send them: it leads where it led.
    """
    if isinstance(value, str):
        return value if is_clean(value) else _to_clean_text(value)
    if isinstance(value, dict):
        return {to_clean(name): to_clean(item) for name, item in value.items()}
    return [to_clean(item) for item in value] if isinstance(value, (list, tuple)) else value


def _to_clean_text(text: str) -> str:
    if _ADDRESS.fullmatch(text) is None:
        return clean(text)[0]
    from urllib.parse import quote

    return _SUSPECT.sub(lambda match: quote(match[0], errors="replace"), text)


_ESCAPED: Final = re.compile(r"(?<!\\)(?:\\\\)*\\(?:u00|[bf])")
"""How the controls of ASCII begin in JSON text; a backslash of the text itself is a pair of them there."""
_ESCAPES: Final = ("\\u00", "\\b", "\\f")
"""What stands in each of its matches: to look for these takes a hundredth of its time."""


def dump_clean(value: Any, *, verbatim: Collection[str] = ()) -> str:
    """A value as compact JSON text of which every text is clean; the members `verbatim` of an object are left alone.

    Where nothing is to be cleaned, which is told from the JSON text at once, it costs next to nothing.
    """
    text = _dump(value)
    if is_clean(text) and not (any(one in text for one in _ESCAPES) and _ESCAPED.search(text)):
        return text
    kept = {name: value[name] for name in verbatim if name in value}
    return _dump({**to_clean(value), **kept} if kept else to_clean(value))


_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


# --- Texts cut to a length --------------------------------------------------------------------------------------------


_ENDS: Final = ("\n\n", "\n", ". ", "\u3002", "; ", ", ", " ")
"""Where a text may be cut, the best places first."""
_SEARCHED: Final = 5
"""In the last of how many parts a better place to cut is looked for."""


def cut_text(text: str, most: int) -> str:
    """The beginning of a text, of so many characters at most, with its last paragraph, sentence or word whole.

    It is a prefix of the text, so that a reader can go on where it ends.
    """
    if len(text) <= most:
        return text
    earliest = most - most // _SEARCHED
    for end in _ENDS:
        at = text.rfind(end, earliest, most)
        if at > 0:
            return text[: at + len(end.rstrip(" "))]
    return text[:most]


def parse_json(text: str) -> Any:
    """The value that a text is, or None when it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def fold_name(text: str) -> str:
    """A name as it is compared: whatever its case, its letters in one form (NFC), one blank between words."""
    import unicodedata  # what it reads is for no start

    folded = unicodedata.normalize("NFD", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())
