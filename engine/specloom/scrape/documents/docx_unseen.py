"""The runs of a Word document that nobody sees: hidden, tiny, or as white as what they stand on.

A run looks as it says itself, else as the style of its characters says, else as that of its paragraph. What is below it
is told by the shading of the run, the paragraph, the cell and the table; nobody can say what is below a text box.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from lxml import etree

from specloom.scrape.documents.archive import attribute, child, local

# Half points (ECMA-376 part 1, 17.3.2.38): one point and less is read by nobody.
_TINY: Final = 2
# Of 255, in each colour: what is less is not as white as paper.
_PALE: Final = 245
_COLOUR: Final = re.compile(r"[0-9a-fA-F]{6}")
_OFF: Final = frozenset({"0", "false", "off"})
_DEEPEST: Final = 20
_MARKS: Final = 4


@dataclass(frozen=True, slots=True)
class Look:
    """How characters look, None for what is not said: hidden or not, the size in half points, white, and shaded."""

    vanish: bool | None = None
    size: int | None = None
    is_pale: bool | None = None
    is_shaded: bool | None = None


@dataclass(slots=True)
class Unseen:
    """What the runs of a document look like, and how many stretches of them nobody sees."""

    styles: Mapping[str, etree._Element] = field(default_factory=dict)
    is_coloured: bool = False
    """Whether the pages have a colour of their own."""
    looks: dict[str, Look] = field(default_factory=dict)
    count: int = 0

    def hides(self, run: etree._Element, style: str) -> bool:
        """Whether nobody sees a run of a paragraph that has a style."""
        settings = child(run, "rPr")
        look = to_look(settings)
        for name in (attribute(child(settings, "rStyle"), "val"), style):
            look = _over(look, self._find(name, 0))
        if look.vanish or (look.size is not None and look.size <= _TINY):
            return True
        return bool(look.is_pale) and not look.is_shaded and not self.is_coloured and not self._is_on_colour(run)

    def _find(self, name: str, depth: int) -> Look:
        """How a style looks, with what it inherits."""
        if name not in self.looks:
            element = self.styles.get(name)
            if element is None or depth > _DEEPEST:
                return Look()
            own = to_look(child(element, "rPr"))
            if is_shade(child(element, "pPr", "shd")):
                own = Look(own.vanish, own.size, own.is_pale, is_shaded=True)
            self.looks[name] = _over(own, self._find(attribute(child(element, "basedOn"), "val"), depth + 1))
        return self.looks[name]

    def _is_on_colour(self, run: etree._Element) -> bool:
        """Whether something around a run may have a colour of its own."""
        for each in run.iterancestors():
            name = local(each)
            if name == "txbxContent":
                return True
            settings = _find_settings(each, name) if name in ("p", "tc", "tbl") else None
            if is_shade(child(settings, "shd")):
                return True
            if name == "tbl" and self._is_shaded_style(attribute(child(settings, "tblStyle"), "val"), 0):
                return True
        return False

    def _is_shaded_style(self, name: str, depth: int) -> bool:
        """Whether a style of tables colours any of their cells."""
        element = self.styles.get(name)
        if element is None or depth > _DEEPEST:
            return False
        is_own = any(is_shade(each) for each in element.iter("{*}shd"))
        return is_own or self._is_shaded_style(attribute(child(element, "basedOn"), "val"), depth + 1)


def to_look(settings: etree._Element | None) -> Look:
    """What the settings of a run or a style say about it."""
    if settings is None or len(settings) == 0:
        return Look()
    vanish, size = child(settings, "vanish"), attribute(child(settings, "sz"), "val")
    colour = attribute(child(settings, "color"), "val")
    marked = child(settings, "highlight")
    is_shaded = is_shade(child(settings, "shd")) or attribute(marked, "val") not in ("", "none", "white")
    return Look(
        None if vanish is None else is_on(vanish),
        int(size) if size.isascii() and size.isdigit() and len(size) < 6 else None,
        _is_pale(colour) if colour else None,
        is_shaded or None,
    )


def _find_settings(element: etree._Element, name: str) -> etree._Element | None:
    """The settings of a paragraph, a cell or a table: its first child but for marks, and it may have very many."""
    return next((each for each in islice(element, _MARKS) if local(each) == f"{name}Pr"), None)


def is_on(switch: etree._Element | None) -> bool:
    """Whether a property that is a switch is there and not turned off."""
    return switch is not None and attribute(switch, "val").lower() not in _OFF


def is_shade(shade: etree._Element | None) -> bool:
    """Whether a shading is another colour than that of paper."""
    if shade is None:
        return False
    fill, pattern = attribute(shade, "fill"), attribute(shade, "val")
    return pattern not in ("", "clear", "nil") or (_COLOUR.fullmatch(fill) is not None and not _is_pale(fill))


def _over(one: Look, two: Look) -> Look:
    """The first look, and what it does not say as the second says it."""
    return Look(
        two.vanish if one.vanish is None else one.vanish,
        two.size if one.size is None else one.size,
        two.is_pale if one.is_pale is None else one.is_pale,
        two.is_shaded if one.is_shaded is None else one.is_shaded,
    )


def _is_pale(colour: str) -> bool:
    return _COLOUR.fullmatch(colour) is not None and min(bytes.fromhex(colour)) >= _PALE
