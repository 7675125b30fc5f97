"""Findings about a brand: colours, and what one place says; who comes first fills, nobody overwrites; design tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from colorsys import rgb_to_hsv
from dataclasses import field, replace
from typing import Any

from specloom.core import dataclass
from specloom.domains.text import strip_markup

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
        fields = {"hex": self.hex, "name": self.name, "role": self.role, "brightness": self.brightness}
        return {name: value for name, value in fields.items() if value != ""}


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


# --- what is known of a brand ---

SECTIONS = ("identity", "colors", "logos", "typography", "tone_of_voice", "social")
# Sections in which places speak in words of their own, which may hold markup and what is not seen.
_WORDS = frozenset(("identity", "tone_of_voice"))


@dataclass(slots=True)
class Findings:
    """What is known of a brand, by section and under the names of the tool contract; what is not known is absent."""

    identity: dict[str, Any] = field(default_factory=dict)
    colors: dict[str, str] = field(default_factory=dict)
    """Hex colours by slot: primary, secondary, accent, background, text, surface, text_secondary."""
    logos: dict[str, Any] = field(default_factory=dict)
    typography: dict[str, Any] = field(default_factory=dict)
    tone_of_voice: dict[str, Any] = field(default_factory=dict)
    social: dict[str, str] = field(default_factory=dict)
    palette: list[Swatch] = field(default_factory=list)
    makeshift: set[str] = field(default_factory=set)
    """Slots of `colors` that nobody states: the colour of a browser's frame stands there until a page names one."""

    def withdraw(self, stated: Mapping[str, str]) -> list[str]:
        """Give up the makeshift colours whose slot is stated otherwise, and say which slots those were."""
        withdrawn = sorted(slot for slot in self.makeshift & stated.keys() if stated[slot] != self.colors[slot])
        for slot in withdrawn:
            code = self.colors.pop(slot)
            self.palette = [
                replace(one, role="") if (one.hex, one.role) == (code, slot) else one for one in self.palette
            ]
        self.makeshift -= stated.keys()
        return withdrawn

    def fill(self, more: Findings) -> list[str]:
        """Take over what is missing here, and say which fields that were ("identity.name", "colors.palette")."""
        filled: list[str] = []
        for section in SECTIONS:
            mine, other = getattr(self, section), getattr(more, section)
            for name, content in other.items():
                value = _clean(content) if section in _WORDS else content
                if name not in mine and value not in (None, "", [], {}):
                    mine[name] = value
                    if section == "colors" and name in more.makeshift:
                        self.makeshift.add(name)
                    filled.append(f"{section}.{name}")
        if self._fill_palette(more.palette):
            filled.append("colors.palette")
        return filled

    def _fill_palette(self, more: list[Swatch]) -> bool:
        places = {swatch.hex: at for at, swatch in enumerate(self.palette)}
        changed = False
        for swatch in more:
            at = places.get(swatch.hex)
            if at is not None:
                joined = self.palette[at].joined(swatch)
                changed = changed or joined != self.palette[at]
                self.palette[at] = joined
            elif len(self.palette) < MOST_SWATCHES:
                places[swatch.hex] = len(self.palette)
                self.palette.append(swatch)
                changed = True
        return changed

    def to_coverage(self, *, blocked: bool = False) -> dict[str, Any]:
        """How much is known of each section; `blocked` says that a portal is there whose text could not be had.

        Full is a palette of three colours, a primary logo with an icon or favicon, and fonts for headings and body.
        """
        coverage: dict[str, Any] = {
            "colors": _grade(len(self.palette) >= 3, bool(self.palette or self.colors)),
            "logos": _grade(
                "primary" in self.logos and bool(self.logos.keys() & {"icon", "favicon"}), bool(self.logos)
            ),
            "typography": _grade({"heading", "body"} <= self.typography.keys(), bool(self.typography)),
            "tone_of_voice": "found" if self.tone_of_voice else "none",
        }
        return coverage | ({"extraction_blocked": True} if blocked else {})

    def to_json(self) -> dict[str, Any]:
        """The sections as they are told; an empty section is an empty object."""
        colors: dict[str, Any] = dict(self.colors)
        if self.palette:
            colors["palette"] = [swatch.to_json() for swatch in self.palette]
        return {section: dict(getattr(self, section)) for section in SECTIONS} | {"colors": colors}


def _clean(value: Any) -> Any:
    """The same with every text on one line, without markup and invisible characters."""
    if isinstance(value, str):
        return strip_markup(value)
    if isinstance(value, list):
        return [_clean(each) for each in value]
    return {name: _clean(each) for name, each in value.items()} if isinstance(value, dict) else value


def _grade(full: bool, some: bool) -> str:
    return "full" if full else "partial" if some else "none"


# --- colours and fonts as design tokens in the format of the W3C community group: `$value` and `$type` ---

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
