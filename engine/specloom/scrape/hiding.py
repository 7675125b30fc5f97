"""Whether declarations of style hide an element: the judgement, without any tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from .colours import Colour, find_colour, is_unseen

Style = Mapping[str, str]

PROPERTIES: Final = frozenset(
    (
        "display", "visibility", "content-visibility", "opacity", "font-size", "font", "position", "left", "top",
        "right", "bottom", "text-indent", "margin-left", "margin-top", "clip", "clip-path", "transform", "width",
        "height", "max-width", "max-height", "overflow", "overflow-x", "overflow-y", "color", "background",
        "background-color", "background-clip", "-webkit-background-clip", "transition", "animation", "animation-name",
        "will-change",
    )
)  # fmt: skip
"""Properties that are read; all others are passed over."""

FAR: Final = -900
"""Pixels at which something is off the screen; the usual tricks are -999, -9999 and -10000."""
TINY: Final = 2
"""Pixels of a font that nobody reads."""
MAX_STYLE: Final = 4000
"""Characters of one set of declarations that are read."""

_MAY_HIDE: Final = re.compile(
    r"none|hidden|collapse|opacity|font|clip|-\d{3}|-\d+\.?\d*(?:vw|vh|r?em|%)|inset|rect\(|scale|color|background"
    r"|(?:width|height)\s*:\s*[01](?:\.\d+)?(?:px)?\b",
    re.IGNORECASE,
)
_LENGTH: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(px|r?em|ex|ch|pt|pc|in|cm|mm|%|vw|vh|vmin|vmax)?$")
# An em is taken for 16 pixels, a view for 1000: enough to tell a trick from a layout.
_PIXELS: Final[Mapping[str | None, float]] = MappingProxyType(
    {
        None: 1, "px": 1, "em": 16, "rem": 16, "ex": 8, "ch": 8, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 37.8,
        "mm": 3.78, "%": 10, "vw": 10, "vh": 10, "vmin": 10, "vmax": 10,
    }
)  # fmt: skip
_CLIPPED: Final = re.compile(r"inset\(\s*(?:50|100)%|circle\(\s*0|polygon\(\s*0(?:px)? 0(?:px)?\s*,\s*0(?:px)? 0")
_MOVED_AWAY: Final = re.compile(r"scale(?:[xy]|3d)?\(\s*0(?:\.0+)?\s*[,)]|translate\w*\([^)]*-\d{3,}(?!\d*%)\d*")
_NOTHING: Final = Colour(0, 0, 0, 0)
_ANIMATED: Final = frozenset(("transform", "transition", "animation", "animation-name", "will-change"))


def may_hide(text: str) -> bool:
    """Whether a style sheet is worth reading."""
    return _MAY_HIDE.search(text) is not None


@lru_cache(maxsize=2048)
def parse_declarations(text: str) -> tuple[Style, frozenset[str]]:
    """The declarations that can matter, in lower case, and the names of those that are `!important`."""
    result: dict[str, str] = {}
    important: set[str] = set()
    # A semicolon inside a quoted text or a data address cuts a value that no judgement needs.
    for part in text[:MAX_STYLE].split(";"):
        name, _, value = part.partition(":")
        name = name.strip().lower()
        if name not in PROPERTIES:
            continue
        value = value.strip().lower()
        if "!" in value:
            value = value.partition("!")[0].strip()
            important.add(name)
        elif name in important:
            continue
        result[name] = value
    return MappingProxyType(result), frozenset(important)


def to_pixels(value: str | None) -> float | None:
    """A length in pixels; nothing for a word, a sum or no length at all."""
    match = _LENGTH.match(value) if value else None
    return float(match[1]) * _PIXELS[match[2]] if match else None


def hides(style: Style) -> str:
    """Why an element with these declarations is not shown, in a word; "" if it may be. Colours are not judged here."""
    get = style.get
    if get("display") == "none":
        return "display"
    if get("visibility") in ("hidden", "collapse") or get("content-visibility") == "hidden":
        return "visibility"
    for name, judge in _JUDGES:
        value = get(name)
        if value is not None:
            reason = judge(value, style)
            if reason:
                return reason
    return ""


def _judge_opacity(value: str, style: Style) -> str:
    # What fades in when it is scrolled to begins at zero as well, and says that it moves.
    try:
        share = float(value.rstrip("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        return ""
    return "opacity" if share <= 0.02 and _ANIMATED.isdisjoint(style) else ""


def _judge_font_size(value: str, _: Style) -> str:
    size = to_pixels(value)
    return "font-size" if size is not None and 0 <= size <= (0 if value.endswith("%") else TINY) else ""


def _judge_font(value: str, _: Style) -> str:
    return "font-size" if re.match(r"(?:[a-z]+\s+)*0(?:px|pt|em)?(?:\s|/)", value + " ") else ""


def _judge_position(value: str, style: Style) -> str:
    if value not in ("absolute", "fixed"):
        return ""
    for side in ("left", "top", "right", "bottom"):
        at = to_pixels(style.get(side))
        if at is not None and at <= FAR:
            return "off-screen"
    clip = style.get("clip", "")
    return "clip" if clip.startswith("rect(") and _is_empty(clip) else ""


def _is_empty(clip: str) -> bool:
    sides = [to_pixels(side) for side in re.split(r"[\s,]+", clip[5:].rstrip(") ").strip())]
    if len(sides) != 4:
        return False
    top, right, bottom, left = (side or 0.0 for side in sides)
    return all(side is not None for side in sides) and (right - left <= 1 or bottom - top <= 1)


def _judge_shift(value: str, _: Style) -> str:
    shift = to_pixels(value)
    return "off-screen" if shift is not None and shift <= FAR else ""


def _judge_clip_path(value: str, _: Style) -> str:
    return "clip" if _CLIPPED.match(value) else ""


def _judge_transform(value: str, _: Style) -> str:
    return "off-screen" if _MOVED_AWAY.search(value) else ""


def _judge_overflow(value: str, style: Style) -> str:
    if "hidden" not in value and "clip" not in value:
        return ""
    for name in ("width", "height", "max-width", "max-height"):
        size = to_pixels(style.get(name))
        if size is not None and 0 <= size <= 1:
            return "size"
    return ""


_JUDGES: Final[tuple[tuple[str, Callable[[str, Style], str]], ...]] = (
    ("opacity", _judge_opacity),
    ("font-size", _judge_font_size),
    ("font", _judge_font),
    ("position", _judge_position),
    ("text-indent", _judge_shift),
    ("margin-left", _judge_shift),
    ("margin-top", _judge_shift),
    ("clip-path", _judge_clip_path),
    ("transform", _judge_transform),
    ("overflow", _judge_overflow),
    ("overflow-x", _judge_overflow),
    ("overflow-y", _judge_overflow),
)


def find_ground(style: Style) -> Colour | bool | None:
    """The colour behind an element by its own declarations; False if it has none, nothing if it cannot be told."""
    for name in ("background-color", "background"):
        value = style.get(name)
        if value is None or value in ("none", "inherit", "initial", "unset", "0", "0 0"):
            continue
        colour = find_colour(value)
        if colour is None or 0 < colour.alpha < 1:
            return None
        if colour.alpha == 1:
            return colour
    return False


def is_lost(style: Style, ground: Colour | None) -> bool:
    """Whether text of the declared colour cannot be told from what is behind it; gradients seen through text are."""
    value = style.get("color")
    colour = find_colour(value) if value else None
    if colour is None or "text" in (style.get("background-clip", ""), style.get("-webkit-background-clip", "")):
        return False
    return is_unseen(colour, ground or _NOTHING)


def may_be_lost(style: Style, ground: Colour | None) -> bool:
    """The same for a rule, whose element may have its ground from elsewhere: `ground` is what is behind the page."""
    if "color" not in style:
        return False
    own = find_ground(style)
    return is_lost(style, ground if own is False else own if isinstance(own, Colour) else None)
