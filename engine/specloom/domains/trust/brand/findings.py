"""What one place says of a brand, and how several places make one record: who comes first fills, nobody overwrites."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from specloom.domains.text import strip_markup

from .design_tokens import MOST_SWATCHES, Swatch

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

    def fill(self, more: Findings) -> list[str]:
        """Take over what is missing here, and say which fields that were ("identity.name", "colors.palette")."""
        filled: list[str] = []
        for section in SECTIONS:
            mine, other = getattr(self, section), getattr(more, section)
            for name, given in other.items():
                value = _clean(given) if section in _WORDS else given
                if name not in mine and value not in (None, "", [], {}):
                    mine[name] = value
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
        told: dict[str, Any] = {
            "colors": _grade(len(self.palette) >= 3, bool(self.palette or self.colors)),
            "logos": _grade(
                "primary" in self.logos and bool(self.logos.keys() & {"icon", "favicon"}), bool(self.logos)
            ),
            "typography": _grade({"heading", "body"} <= self.typography.keys(), bool(self.typography)),
            "tone_of_voice": "found" if self.tone_of_voice else "none",
        }
        return told | ({"extraction_blocked": True} if blocked else {})

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
