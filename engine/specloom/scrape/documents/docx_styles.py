"""What the styles and lists of a Word document mean: which paragraph is a heading or an item of what number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from specloom.scrape.documents.archive import attribute, child, children

_HEADING: Final = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|заголовок|kop|标题|見出し) ?([1-9])", re.IGNORECASE
)
_TITLES: Final = frozenset({"title", "titel"})
_DEEPEST: Final = 20


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style: its heading level (0 for none) and the list that it puts a paragraph into."""

    level: int = 0
    number: str = ""
    depth: int = 0
    is_code: bool = False


@dataclass(slots=True)
class Lists:
    """The lists of a document, and how far each has counted."""

    formats: Mapping[str, Mapping[int, tuple[str, int]]]
    counts: dict[str, dict[int, int]] = field(default_factory=dict)

    def mark(self, number: str, depth: int) -> str:
        """The mark of the next item of a list at a depth, `-` or `3.`; "" when the list has none."""
        levels = self.formats.get(number)
        if levels is None:
            return ""
        kind, start = levels.get(depth, ("bullet", 1))
        counts = self.counts.setdefault(number, {})
        for deeper in [each for each in counts if each > depth]:
            del counts[deeper]
        if kind in ("bullet", "none", ""):
            return "-" if kind != "none" else ""
        counts[depth] = counts.get(depth, start - 1) + 1
        return f"{counts[depth]}."


def to_styles(root: etree._Element | None) -> dict[str, Style]:
    """The paragraph styles by id, each with what it inherits."""
    elements = {attribute(each, "styleId"): each for each in children(root, "style")}
    return {name: _to_style(name, elements, 0) for name in elements}


def to_lists(root: etree._Element | None) -> Lists:
    """The lists by number: for each depth its format and where it starts."""
    abstract: dict[str, dict[int, tuple[str, int]]] = {}
    for each in children(root, "abstractNum"):
        levels = {}
        for level in children(each, "lvl"):
            kind = attribute(child(level, "numFmt"), "val")
            levels[to_int(attribute(level, "ilvl"))] = (kind, to_int(attribute(child(level, "start"), "val"), 1))
        abstract[attribute(each, "abstractNumId")] = levels
    formats: dict[str, dict[int, tuple[str, int]]] = {}
    for each in children(root, "num"):
        levels = dict(abstract.get(attribute(child(each, "abstractNumId"), "val"), {}))
        for override in children(each, "lvlOverride"):
            depth = to_int(attribute(override, "ilvl"))
            if start := attribute(child(override, "startOverride"), "val"):
                levels[depth] = (levels.get(depth, ("decimal", 1))[0], to_int(start, 1))
        formats[attribute(each, "numId")] = levels
    return Lists(formats)


def to_int(text: str, default: int = 0) -> int:
    """A small whole number, or the default."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


def _to_style(name: str, elements: Mapping[str, etree._Element], depth: int) -> Style:
    element = elements.get(name)
    if element is None or depth > _DEEPEST:
        return Style()
    base = _to_style(attribute(child(element, "basedOn"), "val"), elements, depth + 1)
    shown = attribute(child(element, "name"), "val")
    settings = child(element, "pPr")
    level = base.level
    if match := _HEADING.fullmatch(shown):
        level = int(match[1])
    elif shown.lower() in _TITLES:
        level = 1
    elif outline := attribute(child(settings, "outlineLvl"), "val"):
        level = to_int(outline, 9) + 1 if to_int(outline, 9) < 9 else 0
    numbering = child(settings, "numPr")
    number = attribute(child(numbering, "numId"), "val") or base.number
    at = attribute(child(numbering, "ilvl"), "val")
    is_code = base.is_code or "code" in shown.lower() or "preformatted" in shown.lower()
    return Style(level, number, to_int(at) if at else base.depth, is_code)
