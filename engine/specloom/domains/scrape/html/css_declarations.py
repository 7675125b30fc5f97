"""Whether declarations of style hide an element: the judgement, without any tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from .css_colours import TRANSPARENT, WHITE, Colour, find_colour, is_unseen
from .parse import VOCABULARY

Style = Mapping[str, str]

PROPERTIES: Final = frozenset(VOCABULARY["styles"]["properties"].split())

FAR: Final = -900
"""Pixels at which something is off the screen; the usual tricks are -999, -9999 and -10000."""
TINY: Final = 2
"""Pixels of a font that nobody reads."""
MAX_STYLE: Final = 4000
"""Characters of one set of declarations that are read."""

_MAY_HIDE: Final = re.compile(
    r"none|hidden|collapse|opacity|font|clip|-\d{3}|-\d++(?:\.\d*+)?(?:vw|vh|r?em|%)|inset|rect\(|scale|color|background"
    r"|filter|zoom|mask|translate|rotate|matrix|letter-spacing|line-height|fill|\\[a-z0-9]|var\("
    r"|(?:width|height|-size)\s*:\s*[01](?:\.\d+)?(?:px)?\b"
)
_LENGTH: Final = re.compile(r"([+-]?(?:\d++(?:\.\d*+)?|\.\d++))(px|r?em|ex|ch|pt|pc|in|cm|mm|%|vw|vh|vmin|vmax)?$")
# An em is taken for 16 pixels, a view for 1000: enough to tell a trick from a layout.
_PIXELS: Final[Mapping[str | None, float]] = MappingProxyType(
    {
        None: 1, "px": 1, "em": 16, "rem": 16, "ex": 8, "ch": 8, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 37.8,
        "mm": 3.78, "%": 10, "vw": 10, "vh": 10, "vmin": 10, "vmax": 10,
    }
)  # fmt: skip
_NO_FONT: Final = re.compile(r"(?:[a-z]+\s+)*0(?:px|pt|em)?(?:\s|/)")
_ANIMATED: Final = frozenset(("transform", "transition", "animation", "animation-name", "will-change"))


def may_hide(text: str) -> bool:
    """Whether a style sheet is worth reading."""
    return _MAY_HIDE.search(text.lower()) is not None


@lru_cache(maxsize=2048)
def parse_declarations(text: str) -> tuple[Style, frozenset[str]]:
    """The declarations that can matter, in lower case, and the names of those that are `!important`."""
    result: dict[str, str] = {}
    important: set[str] = set()
    text = text[:MAX_STYLE]
    if "/*" in text:
        text = _REMARK.sub(" ", text)
    if "'" in text or '"' in text:
        text = _QUOTED.sub("''", text)
    escaped = "\\" in text
    # A semicolon inside a data address cuts a value that no judgement needs.
    for part in text.lower().split(";"):
        name, _, value = part.partition(":")
        if escaped and "\\" in part:
            name, value = unescape(name).lower(), unescape(value).lower()
        name = name.strip()
        if name not in PROPERTIES:
            if name[:2] != "--":
                continue
        elif name in _SAME_AS:
            name = _SAME_AS[name]
        value = value.strip()
        if name == "display" and _NO_DISPLAY.match(value):
            continue
        if "!" in value:
            value = value.partition("!")[0].strip()
            important.add(name)
        elif name in important:
            continue
        result[name] = value
    return MappingProxyType(result), frozenset(important)


_REMARK: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_QUOTED: Final = re.compile(r"\"(?:[^\"\\\n]++|\\.)*+\"?|'(?:[^'\\\n]++|\\.)*+'?", re.DOTALL)
ESCAPED_LETTER: Final = re.compile(r"\\\w")
ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n\r\f]?|(.))", re.DOTALL)
_NO_DISPLAY: Final = re.compile(
    r"(?!none|contents|inline|block|run-in|flow|flex|grid|table|ruby|list|math|inherit|initial|unset|revert|var\(|[-!])"
)
"""Values of `display` that no browser knows, and so passes over."""
_SAME_AS: Final = {
    "inset-inline-start": "left",
    "inset-block-start": "top",
    "margin-inline-start": "margin-left",
    "margin-block-start": "margin-top",
    "block-size": "height",
    "inline-size": "width",
    "max-block-size": "max-height",
    "max-inline-size": "max-width",
    "-webkit-mask": "mask",
    "-webkit-mask-image": "mask",
    "mask-image": "mask",
    "-webkit-transform": "transform",
    "-webkit-clip-path": "clip-path",
    "-webkit-filter": "filter",
}
"""Properties of text from left to right, or with a prefix, by those that mean the same."""


def unescape(text: str) -> str:
    """A part of CSS without its escapes: with the characters that they stand for."""
    return ESCAPE.sub(lambda match: _to_sign(match[1]) if match[1] else match[2], text)


def _to_sign(digits: str) -> str:
    number = int(digits, 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def to_pixels(value: str | None) -> float | None:
    """A length in pixels, also a sum of some; nothing for a word, or no length at all."""
    match = _LENGTH.match(value) if value else None
    if match:
        return float(match[1]) * _PIXELS[match[2]]
    if value and value.startswith("calc(") and "(" not in value[5:]:
        terms = value[5:].rstrip(") ").replace(" - ", " + -").split(" + ")
        lengths = [to_pixels(term.strip()) for term in terms]
        return None if None in lengths else sum(length or 0 for length in lengths)
    return None


def _to_lengths(value: str) -> list[float]:
    """The lengths of a value that are told, in order; 0 for what is not told."""
    return [to_pixels(part) or 0.0 for part in value.replace(",", " ").split()]


def hides(style: Style) -> str:
    """Why an element with these declarations is not shown, in a word; "" if it may be. Colours are not judged here."""
    get = style.get
    if get("display") == "none":
        return "display"
    if get("visibility") in ("hidden", "collapse") or get("content-visibility") == "hidden":
        return "visibility"
    judged = _JUDGES.keys() & style.keys()
    for name in sorted(judged, key=_RANKS.__getitem__) if len(judged) > 1 else judged:
        if reason := _JUDGES[name](style[name], style):
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


def _judge_position(value: str, style: Style) -> str:
    if value not in ("absolute", "fixed", "relative", "sticky"):
        return ""
    inset = _to_sides(style.get("inset", ""))
    if any(
        (shift := to_pixels(style.get(side, inset.get(side)))) is not None
        # Nobody can scroll to what is fixed.
        and (shift <= FAR or (value == "fixed" and shift >= WIDE))
        for side in ("top", "right", "bottom", "left")
    ):
        return "off-screen"
    clip = style.get("clip", "") if value in ("absolute", "fixed") else ""
    return "clip" if clip.startswith("rect(") and _is_empty(clip) else ""


def _to_sides(value: str) -> dict[str, str]:
    """The four sides of a shorthand such as `margin`; none where it has no value."""
    parts = value.split()[:4]
    if not parts:
        return {}
    top, right, bottom, left = [*parts, *(parts * 3)[: 4 - len(parts)]] if len(parts) != 3 else [*parts, parts[1]]
    return {"top": top, "right": right, "bottom": bottom, "left": left}


def _is_empty(clip: str) -> bool:
    sides = [to_pixels(side) for side in re.split(r"[\s,]+", clip[5:].rstrip(") ").strip())]
    if len(sides) != 4:
        return False
    top, right, bottom, left = (side or 0.0 for side in sides)
    return all(side is not None for side in sides) and (right - left <= 1 or bottom - top <= 1)


def _judge_shift(value: str, _: Style) -> str:
    shift = to_pixels(value)
    return "off-screen" if shift is not None and shift <= FAR else ""


def _judge_overflow(value: str, style: Style) -> str:
    if "hidden" not in value and "clip" not in value:
        return ""
    sizes = (to_pixels(style.get(name)) for name in ("width", "height", "max-width", "max-height"))
    if any(size is not None and 0 <= size <= 1 for size in sizes):
        return "size"
    if "height" not in style and _is_flat(style.get("line-height", "")):
        return "line-height"
    indent = style.get("text-indent", "")
    return "off-screen" if indent.endswith("%") and (to_pixels(indent) or 0) >= WHOLE else ""


def _is_flat(height: str) -> bool:
    """Whether lines have no height; one without a unit counts in heights of the font."""
    size = to_pixels(height)
    return size is not None and 0 <= size <= (TINY_SHARE if height[-1:].isdigit() else 1)


def _judge_spacing(value: str, style: Style) -> str:
    """Letters that stand on one another. Of a font whose size is not said here, 16 pixels are taken."""
    match = _LENGTH.match(value)
    if match is None:
        return ""
    stated = _LENGTH.match(style.get("font-size", ""))
    size = float(stated[1]) * _PIXELS[stated[2]] if stated and stated[2] in _FIXED else 16.0
    share = float(match[1]) / 100 if match[2] == "%" else (to_pixels(value) or 0) / (16 if match[2] == "em" else size)
    return "letter-spacing" if share <= CRAMPED else ""


def _judge_contain(value: str, style: Style) -> str:
    return _judge_overflow("hidden", style) if re.search("paint|strict|content", value) else ""


def _judge_margin(value: str, style: Style) -> str:
    sides = _to_sides(value)
    return _judge_shift(sides.get("left", ""), style) or _judge_shift(sides.get("top", ""), style)


def _judge_filter(value: str, style: Style) -> str:
    return next((_judge_opacity(share, style) for share in _FADED.findall(value)), "")


def _judge_mask(value: str, _: Style) -> str:
    # Where all that a mask is made of is transparent, it lets nothing through.
    if "gradient(" not in value or "url(" in value or "var(" in value:
        return ""
    colours = [find_colour(part) for part in re.findall(r"#[0-9a-f]+|(?:rgb|hsl)a?\([^()]*\)|[a-z]+(?![\w(-])", value)]
    return "opacity" if {colour.alpha <= 0.03 for colour in colours if colour} == {True} else ""


def _judge_clip_path(value: str, __: Style) -> str:
    shape, _, rest = value.partition("(")
    inner = rest.partition(")")[0]
    if shape == "inset":
        sides = {name: to_pixels(part) or 0 for name, part in _to_sides(inner.partition("round")[0]).items()}
        is_gone = bool(sides) and max(sides["top"] + sides["bottom"], sides["left"] + sides["right"]) >= 0.99 * WHOLE
        return "clip" if is_gone and "%" in inner else ""
    radii = inner.partition("at ")[0].split()
    if shape in ("circle", "ellipse"):
        return "clip" if any((to_pixels(part) or 9) <= 1 or _is_zero(part) for part in radii) else ""
    if shape != "polygon":
        return ""
    points = [_to_lengths(point) for point in inner.split(",")]
    flat = [{point[axis] for point in points if len(point) == 2} for axis in (0, 1)]
    return "clip" if any(axis and max(axis) - min(axis) <= 1 for axis in flat) else ""


def _is_zero(part: str) -> bool:
    return to_pixels(part) == 0


def _judge_scale(value: str, _: Style) -> str:
    return "size" if any(abs(to_pixels(part) or 9) < TINY_SHARE or _is_zero(part) for part in value.split()[:2]) else ""


def _judge_translate(value: str, _: Style) -> str:
    return "off-screen" if any(_is_far(part) for part in value.split()[:2]) else ""


def _is_far(part: str) -> bool:
    # A share is one of the element, which layouts use to centre it.
    return (to_pixels(part) or 0) <= (-WHOLE * 10 if part.endswith("%") else FAR_TRANSLATED)


def _judge_transform(value: str, style: Style) -> str:
    for name, inner in _FUNCTION.findall(value):
        parts = [part.strip() for part in inner.split(",")]
        if name.startswith("scale"):
            # The third axis leads away from the reader.
            if name != "scalez" and _judge_scale(" ".join(parts), style):
                return "off-screen"
        elif name.startswith("translate"):
            if any(_is_far(part) for part in parts[:2]):
                return "off-screen"
        elif name in ("rotatex", "rotatey", "rotate3d") and parts[-1].endswith("deg"):
            degrees = to_pixels(parts[-1].removesuffix("deg"))
            if degrees is not None and abs(degrees % 180 - 90) < 1 and (name != "rotate3d" or parts[2] in ("0", "0.0")):
                return "off-screen"
        elif name == "matrix" and len(parts) == 6:
            one, two, three, four, *moved = (to_pixels(part) or 0 for part in parts)
            if abs(one * four - two * three) < TINY_SHARE**2 or min(moved) <= FAR_TRANSLATED:
                return "off-screen"
    return ""


_FADED: Final = re.compile(r"opacity\(\s*+(-?(?:\d++(?:\.\d*+)?|\.\d++)%?)\s*+\)")
_FUNCTION: Final = re.compile(r"(?<![a-z0-9])([a-z0-9]{1,20})\(([^()]{0,200})\)")
WIDE: Final = 2000
"""Pixels to the right or below from which on what is fixed is beside every window."""
WHOLE: Final = 1000
"""Pixels that stand for 100 %."""
FAR_TRANSLATED: Final = -100
"""Pixels by which something is moved from where it stands, so that it is meant to be away."""
TINY_SHARE: Final = 0.05
"""The share of its size to which text is made smaller that nobody reads."""
CRAMPED: Final = -0.6
"""The space between letters, in sizes of their font, from which on they stand on one another."""
_FIXED: Final = frozenset(("px", "pt", "pc", "in", "cm", "mm", "rem"))


_JUDGES: Final[Mapping[str, Callable[[str, Style], str]]] = {
    "opacity": _judge_opacity,
    "font-size": _judge_font_size,
    "font": lambda value, _: "font-size" if _NO_FONT.match(value + " ") else "",
    "position": _judge_position,
    **dict.fromkeys(("text-indent", "margin-left", "margin-top"), _judge_shift),
    "margin": _judge_margin,
    "clip-path": _judge_clip_path,
    "transform": _judge_transform,
    "translate": _judge_translate,
    "scale": _judge_scale,
    "filter": _judge_filter,
    "mask": _judge_mask,
    "contain": _judge_contain,
    "zoom": lambda value, _: "size" if 0 < (to_pixels(value) or 0) <= (50 if value.endswith("%") else 0.1) else "",
    "letter-spacing": _judge_spacing,
    **dict.fromkeys(("overflow", "overflow-x", "overflow-y"), _judge_overflow),
}
_RANKS: Final = {name: at for at, name in enumerate(_JUDGES)}


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
    value = style.get("-webkit-text-fill-color") or style.get("color")
    colour = find_colour(value) if value else None
    if colour is None or "text" in (style.get("background-clip", ""), style.get("-webkit-background-clip", "")):
        return False
    return is_unseen(colour, ground or TRANSPARENT)


def may_be_lost(style: Style, ground: Colour | None) -> bool:
    """The same for a rule, whose element may have its ground from elsewhere: `ground` is what is behind the page."""
    if "color" not in style and "-webkit-text-fill-color" not in style:
        return False
    own = find_ground(style)
    return is_lost(style, ground if own is False else own if isinstance(own, Colour) else None)


class StyleJudgement(NamedTuple):
    """The declarations of a rule, and what they say by themselves: with no custom property in its place."""

    declarations: Style
    important: frozenset[str]
    reason: str
    """Why they hide, as `hides` says it."""
    lost: bool
    """Whether text of their colour may be lost where nothing is known of what is behind the page, …"""
    lost_on_white: bool
    """… and where the page is white."""


@lru_cache(maxsize=2048)
def judge_declarations(text: str) -> StyleJudgement:
    """What the declarations of a rule say; many rules, of one page and of others, say the same."""
    style, important = parse_declarations(text)
    if "color" in style or "-webkit-text-fill-color" in style:
        lost = may_be_lost(style, None), may_be_lost(style, WHITE)
    else:
        lost = False, False
    return StyleJudgement(style, important, hides(style) if style else "", *lost)


def is_harmless(text: str) -> bool:
    """Whether a style of an element's own hides nothing by itself, whatever is behind the element."""
    if "var(" in text:
        return False
    judgement = judge_declarations(text[:MAX_STYLE])
    style = judgement.declarations
    return not judgement.reason and "color" not in style and "-webkit-text-fill-color" not in style
