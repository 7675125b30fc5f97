"""Colours and fonts as design tokens in the format of the W3C Design Tokens Community Group: `$value` and `$type`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What a token is called, and the slot it is taken from; the names are those of the tool contract.
_COLORS = {
    "brand": "primary",
    "accent": "accent",
    "background": "background",
    "text": "text",
    "secondary": "secondary",
}
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
