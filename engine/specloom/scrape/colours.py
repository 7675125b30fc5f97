"""Colours of CSS as three channels and an opacity, and whether text of one can be seen on another."""

from __future__ import annotations

import re
from colorsys import hls_to_rgb
from typing import Final, NamedTuple


class Colour(NamedTuple):
    """Red, green and blue from 0 to 255, opacity from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float


WHITE: Final = Colour(255, 255, 255, 1)
SAME: Final = 14
"""The largest difference of a channel, of 255, at which text is not seen: a contrast of about 1.1 to 1."""

_NAMES: Final = {
    "white": 0xFFFFFF, "black": 0x000000, "snow": 0xFFFAFA, "ivory": 0xFFFFF0, "ghostwhite": 0xF8F8FF,
    "whitesmoke": 0xF5F5F5, "floralwhite": 0xFFFAF0, "mintcream": 0xF5FFFA, "azure": 0xF0FFFF, "seashell": 0xFFF5EE,
    "aliceblue": 0xF0F8FF, "red": 0xFF0000, "green": 0x008000, "blue": 0x0000FF, "yellow": 0xFFFF00, "navy": 0x000080,
    "gray": 0x808080, "grey": 0x808080, "silver": 0xC0C0C0, "lightgray": 0xD3D3D3, "lightgrey": 0xD3D3D3,
    "gainsboro": 0xDCDCDC, "orange": 0xFFA500, "maroon": 0x800000, "purple": 0x800080, "teal": 0x008080,
    "aqua": 0x00FFFF, "cyan": 0x00FFFF, "lime": 0x00FF00, "olive": 0x808000, "fuchsia": 0xFF00FF, "magenta": 0xFF00FF,
    "darkgray": 0xA9A9A9, "darkgrey": 0xA9A9A9, "dimgray": 0x696969, "beige": 0xF5F5DC, "linen": 0xFAF0E6,
    "pink": 0xFFC0CB, "gold": 0xFFD700, "brown": 0xA52A2A,
}  # fmt: skip
_HEX: Final = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})(?![0-9a-f])")
_CALL: Final = re.compile(r"(rgb|hsl)a?\(([^()]{1,60})\)")
_WORD: Final = re.compile(r"[a-z]+")
_UNKNOWN: Final = re.compile(r"url\(|gradient\(|var\(|image")


def find_colour(value: str) -> Colour | None:
    """The first colour in the value of `color`, `background` or `background-color`; nothing if it cannot be told."""
    if _UNKNOWN.search(value):
        return None
    match = _HEX.search(value)
    if match:
        digits = match[1]
        if len(digits) < 6:
            digits = "".join(digit * 2 for digit in digits)
        channels = [int(digits[at : at + 2], 16) for at in range(0, len(digits), 2)]
        return Colour(channels[0], channels[1], channels[2], channels[3] / 255 if len(channels) > 3 else 1)
    match = _CALL.search(value)
    if match:
        return _from_call(match[1], match[2])
    for match in _WORD.finditer(value):
        if match[0] == "transparent":
            return Colour(0, 0, 0, 0)
        if match[0] in _NAMES:
            number = _NAMES[match[0]]
            return Colour(number >> 16, number >> 8 & 255, number & 255, 1)
    return None


def _from_call(kind: str, inner: str) -> Colour | None:
    parts = [part for part in re.split(r"[\s,/]+", inner.strip()) if part]
    if len(parts) not in (3, 4):
        return None
    try:
        numbers = [_to_number(part, 255 if kind == "rgb" and at < 3 else 1) for at, part in enumerate(parts)]
    except ValueError:
        return None
    alpha = numbers[3] if len(numbers) == 4 else 1
    if kind == "rgb":
        return Colour(numbers[0], numbers[1], numbers[2], alpha)
    red, green, blue = hls_to_rgb(numbers[0] / 360 % 1, numbers[2], numbers[1])
    return Colour(red * 255, green * 255, blue * 255, alpha)


def _to_number(text: str, whole: int) -> float:
    if text.endswith("%"):
        return float(text[:-1]) / 100 * whole
    return float(text.removesuffix("deg"))


def is_unseen(text: Colour, ground: Colour) -> bool:
    """Whether text of one colour is lost on a ground of the other."""
    if text.alpha <= 0.03:
        return True
    return ground.alpha == 1 and all(abs(text[at] - ground[at]) * text.alpha <= SAME for at in range(3))
