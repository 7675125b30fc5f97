"""What the embedded style sheets and the inline styles of a page say about its elements, as far as it can hide them.

An own bounded reader stands here, not a CSS library: tokenizing all style sheets of a page in Python takes longer than
the rest of the work on it, and only rules that can hide something or undo that are of interest. Rules for print are
passed over, and so is what is loaded from elsewhere; rules that depend on the size of the window hide nothing, and show
what they show in a wide one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from colorsys import hls_to_rgb
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from math import cos, radians, sin
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from .parse import VOCABULARY, query, to_standing

if TYPE_CHECKING:
    from lxml import etree

    from .parse import Attributes


# --- Colours of CSS as three channels and an opacity, and whether text of one can be seen on another ------------------


class Colour(NamedTuple):
    """Red, green and blue from 0 to 255, opacity from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float


WHITE: Final = Colour(255, 255, 255, 1)
SAME: Final = 14
"""The largest difference of a channel, of 255, at which text is not seen: a contrast of about 1.1 to 1."""

_NOTHING: Final = Colour(0, 0, 0, 0)
_NAMES: Final = VOCABULARY["colours"]
_HEX: Final = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})(?![0-9a-f])")
_CALL: Final = re.compile(r"(rgb|hsl|hwb|lab|lch|oklab|oklch|color)a?\(([^()]{1,60})\)")
_MIX: Final = re.compile(r"color-mix\(in [^,()]*,(.{1,100}),(.{1,100})\)")
_WORD: Final = re.compile(r"[a-z]+")
_UNKNOWN: Final = re.compile(r"url\(|gradient\(|var\(|image")


def find_colour(value: str) -> Colour | None:
    """The first colour in the value of `color`, `background` or `background-color`; nothing if it cannot be told."""
    if _UNKNOWN.search(value):
        return None
    if "color-mix(" in value:
        mix = _MIX.search(value)
        pair = [find_colour(part) for part in mix.groups()] if mix else [None]
        # Half and half, whatever is said: two colours that are one stay it.
        return None if None in pair else Colour(*(sum(channels) / 2 for channels in zip(*pair, strict=True)))
    if match := _HEX.search(value):
        return _from_digits(match[1] if len(match[1]) > 4 else "".join(digit * 2 for digit in match[1]))
    if match := _CALL.search(value):
        return _from_call(match[1], match[2])
    return next((_from_digits(_NAMES[word]) for word in _WORD.findall(value) if word in _NAMES), None)


def _from_digits(digits: str) -> Colour:
    red, green, blue, alpha = bytes.fromhex(digits.ljust(8, "f"))
    return Colour(red, green, blue, alpha / 255)


def _from_call(kind: str, inner: str) -> Colour | None:
    parts = [part for part in re.split(r"[\s,/]+", inner.strip()) if part]
    if kind == "color":
        parts = parts[1:]  # other spaces than sRGB have the same grey
    if len(parts) not in (3, 4):
        return None
    wholes = {"rgb": (255, 255, 255), "lab": (100, 125, 125), "lch": (100, 150, 1), "oklab": (1, 0.4, 0.4)}
    whole = (*wholes.get(kind, (1, 0.4, 1) if kind == "oklch" else (1, 1, 1)), 1)
    try:
        first, second, third, *rest = (_to_number(part, whole[at]) for at, part in enumerate(parts))
    except ValueError:
        return None
    alpha = rest[0] if rest else 1
    if kind == "rgb":
        return Colour(first, second, third, alpha)
    if kind == "hsl":
        red, green, blue = hls_to_rgb(first / 360 % 1, third, second)
    elif kind == "hwb":
        grey = second / (second + third) if second + third >= 1 else -1
        red, green, blue = hls_to_rgb(first / 360 % 1, 0.5, 1)
        red, green, blue = (
            grey if grey >= 0 else channel * (1 - second - third) + second for channel in (red, green, blue)
        )
    elif kind == "color":
        red, green, blue = first, second, third
    else:
        if kind.endswith("lch"):
            second, third = second * cos(radians(third)), second * sin(radians(third))
        if not kind.startswith("ok"):
            # The lightness of CIE Lab is that of OKLab within a few hundredths, and its axes are 300 times as long.
            first, second, third = first / 100, second / 300, third / 300
        red, green, blue = _from_oklab(first, second, third)
    red, green, blue = (min(max(channel, 0), 1) * 255 for channel in (red, green, blue))
    return Colour(red, green, blue, alpha)


def _from_oklab(light: float, green_red: float, blue_yellow: float) -> tuple[float, ...]:
    """Red, green and blue from 0 to 1; the matrices are those of CSS Color 4, section 18."""
    long = (light + 0.3963377774 * green_red + 0.2158037573 * blue_yellow) ** 3
    middle = (light - 0.1055613458 * green_red - 0.0638541728 * blue_yellow) ** 3
    short = (light - 0.0894841775 * green_red - 1.2914855480 * blue_yellow) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return tuple(1.055 * one ** (1 / 2.4) - 0.055 if one > 0.0031308 else 12.92 * max(one, 0) for one in linear)


def _to_number(text: str, whole: float) -> float:
    if text.endswith("%"):
        return float(text[:-1]) / 100 * whole
    return float(text.removesuffix("deg"))


def is_unseen(text: Colour, ground: Colour) -> bool:
    """Whether text of one colour is lost on a ground of the other."""
    if text.alpha <= 0.03:
        return True
    return ground.alpha == 1 and all(abs(text[at] - ground[at]) * text.alpha <= SAME for at in range(3))


# --- Whether declarations of style hide an element: the judgement, without any tree -----------------------------------


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
    r"|(?:width|height|-size)\s*:\s*[01](?:\.\d+)?(?:px)?\b",
    re.IGNORECASE,
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
    return _MAY_HIDE.search(text) is not None


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
    # A semicolon inside a data address cuts a value that no judgement needs.
    for part in text.split(";"):
        name, _, value = part.partition(":")
        if "\\" in part:
            name, value = unescape(name), unescape(value)
        name = name.strip().lower()
        if name not in PROPERTIES:
            if name[:2] != "--":
                continue
        elif name in _SAME_AS:
            name = _SAME_AS[name]
        value = value.strip().lower()
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
_LETTER: Final = re.compile(r"\\\w")
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n\r\f]?|(.))", re.DOTALL)
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
    return _ESCAPE.sub(lambda match: _to_sign(match[1]) if match[1] else match[2], text)


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
    return is_unseen(colour, ground or _NOTHING)


def may_be_lost(style: Style, ground: Colour | None) -> bool:
    """The same for a rule, whose element may have its ground from elsewhere: `ground` is what is behind the page."""
    if "color" not in style and "-webkit-text-fill-color" not in style:
        return False
    own = find_ground(style)
    return is_lost(style, ground if own is False else own if isinstance(own, Colour) else None)


# --- The selectors that can be judged on a tree alone: compounds of tag, id, class and attribute, below one
# another --------------------------------------------------------------------------------------------------------------


MAX_SELECTOR: Final = 300
"""Characters of one selector; longer ones are passed over."""

MAX_CLIMB: Final = 60
"""Elements above one that are looked at for one selector."""

_COMPOUND: Final = re.compile(
    r"(\*|[a-zA-Z][\w-]*)?((?:[.#][\w-]+|\[[\w-]+(?:[~|^$*]?=(?:\"[^\"]*\"|'[^']*'|[\w-]+))?\])*)"
    r"((?::(?:not|has)\([^(),\s]*\)|:(?:first|last|only)-child|:root)*)$"
)
_TEST: Final = re.compile(r":([\w-]+)(?:\(([^()]*)\))?")
_CHOICE: Final = re.compile(r"(\w?):(?:is|where|-webkit-any|matches)\(([^()]*)\)")
_COMBINATOR: Final = re.compile(r"\[[^\[\]]*+|\([^()]*+|([>+~])")
_PART: Final = re.compile(r"([.#])([\w-]+)|\[([\w-]+)(?:([~|^$*]?=)(?:\"([^\"]*)\"|'([^']*)'|([\w-]+)))?\]")
_STATE: Final = re.compile(
    r"::|:(?:hover|focus|active|checked|target|focus-within|focus-visible|before|after|first-line|first-letter)\b"
)
_PSEUDO: Final = re.compile(r":[\w-]+(?:\([^()]*\))?")


@dataclass(frozen=True, slots=True)
class Compound:
    """One step of a selector: a tag, an id, classes and attributes that an element must all have."""

    tag: str
    ident: str
    classes: frozenset[str]
    attributes: tuple[tuple[str, str, str], ...]
    relation: str = ""
    """What it is to the step after it: its parent (`>`), the element before it (`+`), one before (`~`), or above it."""
    tests: tuple[tuple[str, Compound | None], ...] = ()
    """Pseudo-classes that hold on a tree alone, with what `not` and `has` speak of."""

    def marks(self) -> Iterator[str]:
        """The tag, the `#id` and the `.class`es."""
        if self.tag:
            yield self.tag
        if self.ident:
            yield f"#{self.ident}"
        for name in self.classes:
            yield f".{name}"

    def matches(self, element: etree._Element, classes_of: dict[etree._Element, frozenset[str]]) -> bool:
        """Whether the element is one of these. `classes_of` keeps those of elements that were asked about."""
        if self.tag and element.tag != self.tag:
            return False
        if self.ident and element.get("id") != self.ident:
            return False
        if self.classes:
            names = classes_of.get(element)
            if names is None:
                names = classes_of[element] = frozenset((element.get("class") or "").split())
            if not self.classes <= names:
                return False
        if self.tests and not all(_holds(name, inner, element, classes_of) for name, inner in self.tests):
            return False
        return all(
            (have := element.get(name)) is not None and _OPERATORS[operator](have, value)
            for name, operator, value in self.attributes
        )


def _holds(
    name: str, inner: Compound | None, element: etree._Element, classes_of: dict[etree._Element, frozenset[str]]
) -> bool:
    if inner is not None:
        if name == "not":
            return not inner.matches(element, classes_of)
        below = zip(element.iterdescendants("*"), range(MAX_CLIMB), strict=False)
        return any(inner.matches(one, classes_of) for one, _ in below)
    if name == "root":
        return element.getparent() is None
    is_first, is_last = (next(element.itersiblings("*", preceding=side), None) is None for side in (True, False))
    return (is_first or name == "last-child") and (is_last or name == "first-child")


_OPERATORS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "": lambda _, __: True,
    "=": lambda have, value: have == value,
    "~=": lambda have, value: value in have.split(),
    "^=": lambda have, value: have.startswith(value),
    "$=": lambda have, value: have.endswith(value),
    "*=": lambda have, value: value in have,
    "|=": lambda have, value: have == value or have.startswith(value + "-"),
}
"""Whether an attribute fits what a selector says of it."""


@dataclass(frozen=True, slots=True)
class StyleRule:
    """One selector with its declarations, its specificity and its place in the sheet."""

    steps: tuple[Compound, ...]
    rank: tuple[int, int, int, int]
    declarations: Mapping[str, str]
    important: frozenset[str]
    above: frozenset[str]
    """The tags, `#id`s and `.class`es that elements above must have."""

    def matches(self, element: etree._Element, classes_of: dict[etree._Element, frozenset[str]]) -> bool:
        """Whether the selector holds for the element. The nearest element that fits a step is taken for it."""
        if not self.steps[-1].matches(element, classes_of):
            return False
        at: etree._Element | None = element
        left = MAX_CLIMB
        for step in reversed(self.steps[:-1]):
            assert at is not None
            relation = step.relation
            if relation == "+" or relation == "~":  # noqa: PLR1714 - the fastest way to ask
                beside = at.itersiblings("*", preceding=True)
                before = zip(beside, range(1 if relation == "+" else MAX_CLIMB), strict=False)
                at = next((one for one, _ in before if step.matches(one, classes_of)), None)
            else:
                at = at.getparent()
                while at is not None and not step.matches(at, classes_of):
                    left -= 1
                    at = None if relation or not left else at.getparent()
            if at is None:
                return False
        return True


WrittenRule = tuple[str, Style, frozenset[str], int]
"""A rule whose selector is still as it is written, with the declarations, the important ones and its place."""
_LAST: Final = re.compile(r"[^\\:\[(+~]*?(?:^|[\s>])([a-zA-Z][\w-]*|\*)?((?:[.#][\w-]+)*)\s*")


def find_key(selector: str) -> str:
    """The `#id`, the `.class` or the tag that a plain selector ends with; "" for others."""
    match = _LAST.fullmatch(selector) if len(selector) <= MAX_SELECTOR else None
    if match is None:
        return ""
    tag, marks = match[1], match[2]
    if "#" in marks:
        return f"#{marks.rpartition('#')[2].partition('.')[0]}"
    if marks:
        return f".{max(marks.split('.')[1:], key=len)}"
    return tag.lower() if tag and tag != "*" else ""


def parse_rule(
    selector: str, declarations: Mapping[str, str], important: frozenset[str], order: int, *, strict: bool
) -> StyleRule | None:
    """The rule, or nothing if it depends on a state (`:hover`).

    Unless `strict`, which rules that may hide are, one that asks for siblings is nothing, and pseudo-classes are passed
    over, so that it holds for more elements than it should: all rules would be looked at for many elements.
    """
    selector = selector.strip()
    if not selector or len(selector) > MAX_SELECTOR or "\\" in selector or _STATE.search(selector):
        return None
    if not strict:
        if "+" in selector or "~" in selector:
            return None
        if ":" in selector:
            selector = _PSEUDO.sub("", selector)
    steps: list[Compound] = []
    idents = classes = tags = 0
    words = _COMBINATOR.sub(lambda match: f" {match[1]} " if match[1] else match[0], selector).split()
    for at, word in enumerate(words):
        if word in _RELATIONS:
            continue
        match = _COMPOUND.match(word)
        relation = words[at + 1] if words[at + 1 : at + 2] and words[at + 1] in _RELATIONS else ""
        step = _to_compound(match, relation) if match is not None else None
        if step is None:
            return None
        steps.append(step)
        idents += bool(step.ident)
        classes += len(step.classes) + len(step.attributes)
        tags += bool(step.tag)
    if not steps:
        return None
    upper = [step for step in steps[:-1] if step.relation not in ("+", "~")]
    above = frozenset(chain.from_iterable(step.marks() for step in upper))
    return StyleRule(tuple(steps), (idents, classes, tags, order), declarations, important, above)


_RELATIONS: Final = (">", "+", "~")


def _to_compound(match: re.Match[str], relation: str = "") -> Compound | None:
    tag, rest = match[1], match[2]
    tests: list[tuple[str, Compound | None]] = []
    for test in _TEST.finditer(match[3]):
        inside = _COMPOUND.match(test[2]) if test[2] else None
        inner = _to_compound(inside) if inside is not None else None
        if test[2] is not None and inner is None:
            return None
        tests.append((test[1], inner))
    ident = ""
    names: list[str] = []
    attributes: list[tuple[str, str, str]] = []
    for part in _PART.finditer(rest):
        if part[1] == "#":
            ident = part[2]
        elif part[1] == ".":
            names.append(part[2])
        else:
            attributes.append((part[3].lower(), part[4] or "", part[5] or part[6] or part[7] or ""))
    name = "" if tag in (None, "*") else tag.lower()
    return Compound(name, ident, frozenset(names), tuple(attributes), relation, tuple(tests))


MAX_SHEET: Final = 1 << 20
"""Characters of embedded style sheets that are read."""
KNOWN: Final = 32
"""Style sheets that are remembered from one page to the next, …"""
MAX_KNOWN: Final = 1 << 15
"""… and their characters: a large one is that of one site."""
MAX_RULES: Final = 4000
"""Selectors that are kept; what follows them is passed over."""
MAX_NESTED: Final = 20
"""Selectors of a rule around or in another, and alternatives of one, that are looked at."""
MAX_ASKED: Final = 20
"""Attributes whose elements are looked for because rules without any other mark ask for them."""
MAX_LASTS: Final = 50
"""Last steps with one mark that a further one is compared with, so that each is asked once."""
MAX_LINEAGE: Final = 500
"""Names of elements in one another up to which rules are left out by them before they are tried."""
MAX_TRIALS: Final = 50_000
"""Rules tried on elements, all together; an ordinary page takes some hundreds."""
MAX_LOOKS: Final = 1_000_000
"""Elements in hidden ones that are looked at, all together; after that nothing in them counts as shown."""

Selector = tuple[str, list[str]]
"""A selector as it is written, and the classes and ids in it."""
Rule = tuple[tuple[Selector, ...], str, bool]
"""Selectors, declarations as they are written, and whether they hold in a wide window alone."""

_WAITING: Final = re.compile(VOCABULARY["styles"]["waiting"])
_FADING: Final = re.compile(VOCABULARY["styles"]["fading"])
_NOT: Final = re.compile(r":not\([^()]*\)")
_VARIABLE: Final = re.compile(r"var\(\s{0,9}(--[\w-]{1,100})\s{0,9}(?:,\s{0,9}([^(),]{0,100}(?:\([^()]{0,60}\))?))?\)")
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_NAME: Final = re.compile(r"\[[^\[\]]*+|[.#]([a-zA-Z_-][\w-]*+)")
_PLAIN_NAME: Final = re.compile(r"[.#]([a-zA-Z_-][\w-]*)")
_PLAIN: Final = re.compile(
    r"@(?:media\s(?P<query>[^{]*+)|layer\b[^{]*+|supports\b(?!\s*+not\b)[^{]*+)$", re.IGNORECASE | re.DOTALL
)
_SCREEN: Final = re.compile(r"(?:only\s+)?(?:all|screen)|not\s+print")
_SIZE: Final = re.compile(
    r"\(\s*(?:(?P<bound>min|max)-(?:device-)?(?P<side>width|height)\s*:|(?P<ranged>width|height)\s*(?P<sign>[<>])=?)"
    r"\s*(?P<size>\d++(?:\.\d*+)?(?:px|em|rem)?)\s*\)"
)
WIDTHS: Final = {"width": (240, 8000), "height": (240, 8000)}
"""Pixels between which all windows are: what asks for less or more always holds."""
WINDOW: Final = {"width": (1280, 1280), "height": (800, 800)}
"""The pixels of a wide window: what is shown in one is shown, and what is hidden in one may be shown in others."""
WIDE_ONLY: Final = "@"
"""Stands for the condition of a block that holds in a wide window alone."""
_SHOWS: Final = re.compile("display|visibility", re.IGNORECASE)


@lru_cache(maxsize=1024)
def is_for_screens(query: str, *, wide: bool = False) -> bool:
    """Whether a media query holds in every window, or in a wide one."""
    sizes = WINDOW if wide else WIDTHS
    return any(
        all(_SCREEN.fullmatch(part) or _holds_for(part, sizes) for part in each.strip().split(" and "))
        for each in " ".join(query.lower().split()).split(",")
    )


def _holds_for(feature: str, sizes: Mapping[str, tuple[int, int]]) -> bool:
    match = _SIZE.fullmatch(feature)
    size = to_pixels(match["size"]) if match else None
    if match is None or size is None:
        return False
    least, most = sizes[match["side"] or match["ranged"]]
    return size <= least if match["bound"] == "min" or match["sign"] == ">" else size >= most


def _judge_condition(head: str) -> str | None:
    """`WIDE_ONLY`, "" for what always holds, nothing for what is not for a wide window, or not known."""
    match = _PLAIN.match(head)
    if match is None:
        return None
    query = match["query"]
    if query is None or is_for_screens(query):
        return ""
    return WIDE_ONLY if is_for_screens(query, wide=True) else None


@dataclass(slots=True)
class Sheet:
    """The embedded style sheets of one page; `has_external` says that there are others, which are not known."""

    names: frozenset[str]
    """The classes and ids of the page."""
    has_external: bool
    scripts: Sequence[etree._Element] = ()
    _rules: dict[str, list[StyleRule | WrittenRule]] = field(default_factory=dict)
    """By the `#id`, the `.class`, the tag or the `[attribute` that their last step asks for."""
    _asked: dict[str, list[StyleRule]] = field(default_factory=dict)
    """Those of them that were asked for."""
    _suspect: dict[str, list[Compound]] = field(default_factory=dict)
    """Those of rules that may hide, with the last steps of these, one of which an element must be."""
    _variables: dict[str, str] = field(default_factory=dict)
    """The custom properties of the page itself."""
    _known: dict[etree._Element, Style] = field(default_factory=dict)
    _grounds: dict[etree._Element, Colour | None] = field(default_factory=dict)
    _lineages: dict[etree._Element, frozenset[str] | None] = field(default_factory=dict)
    _classes: dict[etree._Element, frozenset[str]] = field(default_factory=dict)
    _by_attribute: bool = False
    _uses_variables: bool = False
    _count: int = 0
    _trials: int = 0
    _looks: int = 0

    def read(self, text: str) -> None:
        """Take in one style sheet."""
        if may_hide(text):
            for rule in (parse_sheet if len(text) <= MAX_KNOWN else parse_sheet.__wrapped__)(text):
                self._add(*rule)

    def _add(self, selectors: Sequence[Selector], body: str, is_wide: bool) -> None:
        # Most rules of a sheet are about classes that this page does not use.
        present = self.names.issuperset
        used = [selector for selector, names in selectors if present(names)]
        if not used or self._count > MAX_RULES:
            return
        declarations, important = parse_declarations(body.strip()[:MAX_STYLE])
        if not declarations:
            return
        known = declarations
        if "--" in body:
            if any(selector.strip() in (":root", "html", "body") for selector in used):
                self._variables.update((name, value) for name, value in declarations.items() if name[:2] == "--")
            known = self._resolve(declarations)
            if all(name[:2] == "--" for name in known):
                return
            self._uses_variables = self._uses_variables or "var(" in body
        reason = hides(known)
        suspect = bool(reason) or may_be_lost(known, None if self.has_external else WHITE)
        if is_wide:
            declarations = {name: value for name, value in declarations.items() if name in ("display", "visibility")}
            important &= declarations.keys()
            if suspect or not declarations:
                return
        fades = reason == "opacity" and not hides({name: known[name] for name in known if name != "opacity"})
        for selector in used:
            # What waits for a script is no more hidden than what a script writes.
            if (reason and _WAITING.search(selector)) or (fades and _FADING.search(selector)):
                continue
            rule: StyleRule | WrittenRule
            key = "" if suspect else find_key(selector)
            if key:
                rule = selector, declarations, important, self._count
            else:
                compiled = parse_rule(selector, declarations, important, self._count, strict=suspect)
                if compiled is None:
                    continue
                rule, last = compiled, compiled.steps[-1]
                key = f"#{last.ident}" if last.ident else f".{max(last.classes, key=len)}" if last.classes else last.tag
                if not key and last.attributes:
                    key = f"[{last.attributes[0][0]}"
                    self._by_attribute = True
                if suspect and key:
                    lasts = self._suspect.setdefault(key, [])
                    if last not in lasts[:MAX_LASTS]:
                        lasts.append(last)
            self._count += 1
            if key:
                self._rules.setdefault(key, []).append(rule)

    def _find_rules(self, key: str) -> list[StyleRule]:
        """The rules whose last step asks for this; those of which nothing was known but that are made out now."""
        rules = self._asked.get(key)
        if rules is None:
            written = self._rules.get(key, ())
            made = (parse_rule(*rule, strict=False) if isinstance(rule, tuple) else rule for rule in written)
            rules = self._asked[key] = [rule for rule in made if rule is not None]
        return rules

    def _resolve(self, style: Style) -> Style:
        """Declarations with the custom properties that they use, as far as these are their own or the page's."""
        if not any("var(" in value for value in style.values()):
            return style

        def value_of(match: re.Match[str]) -> str:
            value: str | None = style.get(match[1], self._variables.get(match[1], match[2]))
            return match[0] if not value or "var(" in value else value

        resolved = {name: _VARIABLE.sub(value_of, value) for name, value in style.items()}
        for name in ("visibility", "opacity"):
            match = _VARIABLE.match(style.get(name, ""))
            if match and match[1] not in style and match[1] not in self._variables and self._may_set(match[1]):
                resolved[name] = style[name]
        return resolved

    def _may_set(self, variable: str) -> bool:
        """Whether a script may show what is unseen until the variable is set: one from elsewhere, or that names it."""
        return any(script.get("src") or variable in (script.text or "") for script in self.scripts)

    def find_suspects(self, attributes: Attributes) -> Iterator[etree._Element]:
        """Elements of the tree that an attribute, a style of their own or a rule may hide; some of them twice.

        Nothing may be moved in the tree before the last of them is given.
        """
        root = attributes.root
        stands = to_standing(root)
        marks: dict[str, dict[str, list[Compound]]] = {"#": {}, ".": {}, "[": {}}
        tags: dict[str, list[Compound]] = {}
        for key, lasts in self._suspect.items():
            if key[0] in marks:
                marks[key[0]][key[1:]] = lasts
            else:
                tags[key] = lasts
        idents, classes, asked = marks["#"], marks["."], marks["["]
        for element, _ in attributes.valued["style"]:
            if stands(element):
                yield element
        yield from list(root.iter("font", "mphantom"))
        for name in sorted(asked)[:MAX_ASKED]:
            yield from query(f"descendant::*[@{name}]")(root)
        if idents or classes:
            for element, attribute, value in attributes.named:
                if attribute == "id":
                    if value in idents and self._is_one(element, idents[value]) and stands(element):
                        yield element
                else:
                    names = value.split()
                    if (
                        not classes.keys().isdisjoint(names)
                        and any(self._is_one(element, classes[name]) for name in names if name in classes)
                        and stands(element)
                    ):
                        yield element
        if tags:
            yield from [element for element in root.iter(*tags) if self._is_one(element, tags[str(element.tag)])]

    def _is_one(self, element: etree._Element, lasts: Sequence[Compound]) -> bool:
        return any(last.matches(element, self._classes) for last in lasts)

    def style_of(self, element: etree._Element) -> Style:
        """What applies to the element itself: rules by specificity and order, then its own style."""
        style = self._known.get(element)
        if style is not None:
            return style
        rules: list[StyleRule] = []
        if self._rules:
            names = (element.get("class") or "").split()
            for key in (element.tag, f"#{element.get('id') or ''}", *(f".{name}" for name in names)):
                if key in self._rules:
                    rules += self._find_rules(key)
            if self._by_attribute:
                rules += chain.from_iterable(self._find_rules(f"[{name!s}") for name in element.attrib)
        self._trials += len(rules)
        if self._trials > MAX_TRIALS:
            rules = []
        own, own_important = parse_declarations((element.get("style") or "")[:MAX_STYLE])
        result: Style = own
        if rules:
            above = self._find_lineage(element.getparent())
            if above is not None:
                rules = [rule for rule in rules if rule.above <= above]
            rules = sorted((rule for rule in rules if rule.matches(element, self._classes)), key=lambda rule: rule.rank)
            merged: dict[str, str] = {}
            for rule in rules:
                merged.update(rule.declarations)
            merged.update(own)
            for rule in rules:
                merged.update((name, rule.declarations[name]) for name in rule.important)
            merged.update((name, own[name]) for name in own_important)
            result = merged
        if self._uses_variables or "var(" in (element.get("style") or ""):
            result = self._resolve(result)
        for attribute, name in (("bgcolor", "background-color"), ("color", "color")):
            value = element.get(attribute)
            if value and name not in result and (attribute != "color" or element.tag == "font"):
                result = {**result, name: value.lower()}
        self._known[element] = result
        return result

    def _find_lineage(self, element: etree._Element | None) -> frozenset[str] | None:
        """The tags, `#id`s and `.class`es of the element and of all above it; nothing where these are too many."""
        passed: list[etree._Element] = []
        while element is not None and element not in self._lineages:
            passed.append(element)
            element = element.getparent()
        names = frozenset[str]() if element is None else self._lineages[element]
        for each in reversed(passed):
            if names is not None:
                classes = [f".{name}" for name in (each.get("class") or "").split()]
                names = names.union((str(each.tag), f"#{each.get('id') or ''}", *classes))
                if len(names) > MAX_LINEAGE:
                    names = None
            self._lineages[each] = names
        return names

    def find_reason(self, element: etree._Element) -> str:
        """Why the element is not shown, in a word; "" if it is."""
        hidden = element.get("hidden")
        # What the search of a browser opens is meant to be read.
        if (hidden is not None and hidden.lower() != "until-found") or element.get("popover") is not None:
            own, _ = parse_declarations(element.get("style") or "")
            if own.get("display", "none") == "none":
                return "attribute"
        if element.tag == "mphantom":
            return "visibility"
        style = self.style_of(element)
        if not style:
            return ""
        if "color" in style or "-webkit-text-fill-color" in style:
            return hides(style) or ("colour" if is_lost(style, self._ground(element)) else "")
        return hides(style)

    def _ground(self, element: etree._Element) -> Colour | None:
        """The colour behind the element: its own, else the nearest above it, else white if no sheet is unknown."""
        passed: list[etree._Element] = []
        result: Colour | None = None if self.has_external else WHITE
        at: etree._Element | None = element
        while at is not None:
            if at in self._grounds:
                result = self._grounds[at]
                break
            passed.append(at)
            ground = find_ground(self.style_of(at))
            if ground is not False:
                result = ground if isinstance(ground, Colour) else None
                break
            at = at.getparent()
        self._grounds.update(dict.fromkeys(passed, result))
        return result

    def restyles_below(self, element: etree._Element, names: tuple[str, ...]) -> bool:
        """Whether something in the element may undo what hides its text: its own colour, its own size."""
        for below in element.iterdescendants("*"):
            self._looks += 1
            if self._looks > MAX_LOOKS:
                break
            if self.has_external and (below.get("class") or below.get("id")):
                return True
            style = self.style_of(below)
            if any(name in style for name in names) and not hides(style):
                return True
        return False


@lru_cache(maxsize=KNOWN)
def parse_sheet(text: str) -> tuple[Rule, ...]:
    """The rules of a style sheet that apply to a screen.

    What the pages of a site have in common, and many sites that are made alike, is parsed once.
    """
    if "/*" in text or "<!--" in text:
        text = _COMMENT.sub(" ", text)
    rules: list[Rule] = []
    # The heads of the blocks that are open; nothing for one that does not apply.
    heads: list[str | None] = []
    # The selectors around what is in each of them.
    outer = [""]
    barred = nested = wide = 0
    # The end of the text ends a rule, too.
    for part in text.split("}"):
        *opened, body = part.split("{")
        for before in opened:
            declarations, _, written = before.rpartition(";")
            head: str | None = written.strip()
            around = outer[-1]
            if around and declarations and heads[-1] and not barred and (not wide or _SHOWS.search(declarations)):
                rules.append((to_selectors(around), declarations, wide > 0))
            if head and head.startswith("@"):
                head = _judge_condition(head)
                wide += head == WIDE_ONLY
                barred += head is None
            elif head and around:
                head = nest(around, head) if nested < MAX_RULES else None
                nested += head.count(",") + 1 if head else 0
                barred += head is None
            heads.append(head)
            outer.append(head if head and head != WIDE_ONLY else around)
        if heads:
            last, around = heads.pop(), outer.pop()
            if last is None:
                barred -= 1
            else:
                if around and not barred and (not wide or _SHOWS.search(body)):
                    rules.append((to_selectors(around), body, wide > 0))
                wide -= last == WIDE_ONLY
    return tuple(rules)


def nest(around: str, inside: str) -> str:
    """The selectors of a rule that stands in another, as they would be written outside (CSS Nesting)."""
    return ",".join(
        inner.replace("&", outer) if "&" in inner else f"{outer} {inner}"
        for outer in around.split(",")[:MAX_NESTED]
        for inner in inside.split(",")[:MAX_NESTED]
        if len(outer) + len(inner) <= MAX_SELECTOR
    )


def to_selectors(written: str) -> tuple[Selector, ...]:
    """The selectors before a block, each with the classes and ids that it names."""
    if "\\" in written and _LETTER.search(written):
        # A letter that is escaped is that letter; any other sign is left, and the selector with it.
        written = _ESCAPE.sub(lambda match: sign if (sign := unescape(match[0])).isalnum() else match[0], written)
    if "(" in written:
        if _CHOICE.search(written):
            written = _choose(written)
        # One with a list in brackets is not taken apart.
        written = ",".join(selector for selector in _split(written) if "," not in selector)
    selectors = [selector for selector in written.split(",") if len(selector) <= MAX_SELECTOR]
    if "]" in written or ":not(" in written:
        return tuple([(each, list(filter(None, _NAME.findall(_NOT.sub("", each))))) for each in selectors])
    return tuple([(each, _PLAIN_NAME.findall(each)) for each in selectors])


def _split(written: str) -> list[str]:
    """The selectors of a list; commas in brackets do not part them."""
    selectors: list[list[str]] = []
    depth = 0
    for part in written.split(","):
        if depth:
            selectors[-1].append(part)
        else:
            selectors.append([part])
        depth = max(depth + part.count("(") - part.count(")"), 0)
    return [",".join(parts) for parts in selectors]


def _choose(written: str) -> str:
    """Selectors with each alternative of `:is()` and `:where()` in its place; what cannot be one is left out."""
    selectors = []
    for selector in _split(written)[:MAX_NESTED]:
        match = _CHOICE.search(selector)
        if match is None:
            selectors.append(selector)
            continue
        for choice in match[2].split(",")[:MAX_NESTED]:
            word = choice.strip()
            if (match[1] and word[:1].isalpha()) or (match.end() < len(selector) and " " in word):
                continue
            selectors.append(f"{selector[: match.start()]}{match[1]}{word}{selector[match.end() :]}")
    return ",".join(selectors)


def read_sheets(root: etree._Element, attributes: Attributes) -> Sheet:
    """Every `<style>` of the page that applies to a screen, up to a size."""
    texts = []
    size = 0
    for style in root.iter("style"):
        text = style.text
        # A sheet inside `noscript` hides the page from readers without scripts, who are told to go away.
        if next(style.iterancestors("noscript"), None) is not None:
            continue
        if text and is_for_screens(style.get("media") or "all"):
            size += len(text)
            if size > MAX_SHEET:
                break
            texts.append(text)
    has_external = any("stylesheet" in (link.get("rel") or "").lower() for link in root.iter("link"))
    named = attributes.named if texts else ()
    names = {name for _, attribute, value in named for name in ((value,) if attribute == "id" else value.split())}
    sheet = Sheet(frozenset(names), has_external, list(root.iter("script")))
    for text in texts:
        sheet.read(text)
    return sheet
