"""Colours of CSS (Color Module Level 4) as three channels and an opacity, and whether one is seen on another."""

from __future__ import annotations

import re
from colorsys import hls_to_rgb
from functools import lru_cache
from math import cos, radians, sin
from typing import Final, NamedTuple

from .parse import VOCABULARY


class Colour(NamedTuple):
    """Red, green and blue from 0 to 255, opacity from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float


WHITE: Final = Colour(255, 255, 255, 1)
SAME: Final = 14
"""The largest difference of a channel, of 255, at which text is not seen: a contrast of about 1.1 to 1."""

TRANSPARENT: Final = Colour(0, 0, 0, 0)
_NAMES: Final = VOCABULARY["colours"]
_HEX: Final = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})(?![0-9a-f])")
_CALL: Final = re.compile(r"(rgb|hsl|hwb|lab|lch|oklab|oklch|color)a?\(([^()]{1,60})\)")
_MIX: Final = re.compile(r"color-mix\(in [^,()]*,(.{1,100}),(.{1,100})\)")
_WORD: Final = re.compile(r"[a-z]+")
_UNKNOWN: Final = re.compile(r"url\(|gradient\(|var\(|image")


@lru_cache(maxsize=1024)
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
