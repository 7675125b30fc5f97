"""Colours and fonts as design tokens in the format of the W3C Design Tokens Community Group: `$value` and `$type`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from colorsys import rgb_to_hsv
from dataclasses import dataclass, replace
from typing import Any

# What a token is called, and the slot it is taken from; the names are those of the tool contract.
_COLORS = {"brand": "primary", "accent": "accent", "background": "background", "text": "text", "secondary": "secondary"}
_FONTS = ("heading", "body")


def to_tokens(colors: Mapping[str, Any], typography: Mapping[str, Any]) -> dict[str, Any]:
    """The groups `color` and `font`, each with what is known; an empty object where nothing is."""
    groups = {
        "color": {
            token: {"$value": colors[slot], "$type": "color"} for token, slot in _COLORS.items() if slot in colors
        },
        "font": {
            role: {"$value": typography[role]["family"], "$type": "fontFamily"} for role in _FONTS if role in typography
        },
    }
    return {name: group for name, group in groups.items() if group}


# --- Colours of a brand: written in one way, with a name and a role where the page gives them, and with a
# brightness -----------------------------------------------------------------------------------------------------------


MOST_SWATCHES = 20
"""Colours that a palette has at most (the tool contract's figure)."""
SLOTS = ("primary", "secondary", "accent", "background", "text", "surface", "text_secondary")
"""Roles of which a brand has one colour each; `neutral` is a role as well and has no slot."""

_HEX = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
# A colour is nearly neutral below this saturation, and outside of these brightnesses (the tool contract's figures, %).
_PALE = 7
_DARKEST = 3
_BRIGHTEST = 87


@dataclass(frozen=True, slots=True)
class Swatch:
    """One colour: `hex` is "#rrggbb" in lower case; name and role are "" where nothing says them."""

    hex: str
    name: str = ""
    role: str = ""

    @property
    def brightness(self) -> int:
        """Perceived brightness in per cent: 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601)."""
        red, green, blue = to_channels(self.hex)
        return round((0.299 * red + 0.587 * green + 0.114 * blue) / 255 * 100)

    @property
    def is_neutral(self) -> bool:
        """Whether it is so pale, dark or bright that it is nobody's mark."""
        return to_saturation(self.hex) < _PALE or not _DARKEST <= self.brightness <= _BRIGHTEST

    def joined(self, other: Swatch) -> Swatch:
        """The same colour with name and role of the other where it has none."""
        return replace(self, name=self.name or other.name, role=self.role or other.role)

    def to_json(self) -> dict[str, Any]:
        """The keys of the tool contract; name and role are left out where they are not known."""
        said = {"hex": self.hex, "name": self.name, "role": self.role, "brightness": self.brightness}
        return {name: value for name, value in said.items() if value != ""}


def find_hex(text: str) -> str:
    """A colour code as "#rrggbb"; opacity is dropped, and "" stands for what is no code."""
    match = _HEX.fullmatch(text.strip())
    if match is None:
        return ""
    digits = match[1].lower()
    return "#" + ("".join(digit * 2 for digit in digits) if len(digits) == 3 else digits[:6])


def to_hex(red: int, green: int, blue: int) -> str:
    """Three channels of 0 to 255 as "#rrggbb"."""
    return f"#{red:02x}{green:02x}{blue:02x}"


def to_channels(code: str) -> tuple[int, int, int]:
    """Red, green and blue of "#rrggbb", each 0 to 255."""
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def to_saturation(code: str) -> float:
    """How colourful "#rrggbb" is, in per cent (HSV)."""
    red, green, blue = to_channels(code)
    return rgb_to_hsv(red / 255, green / 255, blue / 255)[1] * 100


def to_slots(palette: list[Swatch]) -> dict[str, str]:
    """The first colour of each role that has a slot."""
    slots: dict[str, str] = {}
    for swatch in palette:
        if swatch.role in SLOTS:
            slots.setdefault(swatch.role, swatch.hex)
    return slots
