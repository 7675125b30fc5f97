"""What the styles and lists of a Word document mean: which paragraph is a heading or an item of what number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from lxml import etree

from .office import attribute, child, children, local

# Word names its own styles in English in every language; other programs and old files do not.
_HEADING: Final = re.compile(
    r"(?:heading|überschrift|berschrift|titre|título|ttulo|titolo|titlu|заголовок|kop|overskrift|rubrik|otsikko|nagłówek"
    r"|nadpis|címsor|başlık|επικεφαλίδα|标题|標題|見出し|제목) ?([1-9])",
    re.IGNORECASE,
)
_TITLES: Final = frozenset(
    {"title", "titel", "titre", "título", "titolo", "tittel", "название", "标题", "標題", "表題"}
)
_PLACE: Final = re.compile(r"%([1-9])")
_PLAIN: Final = re.compile(r"\(?([0-9]+)[.)]?")
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MOST_ROMAN: Final = 4000
_LONGEST_MARK: Final = 60
_DEEPEST: Final = 20


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style: its heading level (0 for none) and the list that it puts a paragraph into."""

    level: int = 0
    number: str = ""
    depth: int = 0
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """How a list counts at a depth: in what kind of number, from which on, and what is printed (`%1.%2`)."""

    kind: str = "bullet"
    start: int = 1
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Numbering:
    """A list of a document: the series in which it counts, its levels, and those that begin anew with it."""

    series: str
    levels: Mapping[int, Level]
    anew: frozenset[int] = frozenset()


@dataclass(slots=True)
class Lists:
    """The lists of a document, and how far each series has counted."""

    formats: Mapping[str, Numbering]
    counts: dict[str, dict[int, int]] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)

    def mark(self, number: str, depth: int) -> str:
        """The mark of the next item of a list at a depth: `-`, `3.`, or as printed (`1.2`, `(b)`); "" for none."""
        numbering = self.formats.get(number)
        if numbering is None:
            return ""
        level = numbering.levels.get(depth, Level())
        counts = self.counts.setdefault(numbering.series, {})
        if number not in self.begun:
            self.begun.add(number)
            for at in numbering.anew:
                counts.pop(at, None)
        for deeper in [each for each in counts if each > depth]:
            del counts[deeper]
        if level.kind in ("bullet", "none", ""):
            return "-" if level.kind != "none" else ""
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for above in range(depth):
            counts.setdefault(above, numbering.levels.get(above, Level()).start)

        def fill(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            return _to_number(counts.get(at, 1), numbering.levels.get(at, Level()).kind)

        shown = _PLACE.sub(fill, level.shown)[:_LONGEST_MARK].strip()
        plain = _PLAIN.fullmatch(shown)
        return f"{plain[1] if plain else counts[depth]}." if plain or not shown else shown


def to_styles(root: etree._Element | None) -> dict[str, Style]:
    """The paragraph styles by id, each with what it inherits."""
    elements = {attribute(each, "styleId"): each for each in children(root, "style")}
    return {name: _to_style(name, elements, 0) for name in elements}


def to_lists(root: etree._Element | None) -> Lists:
    """The lists by number."""
    abstract: dict[str, dict[int, Level]] = {}
    for each in children(root, "abstractNum"):
        levels = {to_int(attribute(level, "ilvl")): _to_level(level) for level in children(each, "lvl")}
        abstract[attribute(each, "abstractNumId")] = levels
    formats: dict[str, Numbering] = {}
    for each in children(root, "num"):
        series = attribute(child(each, "abstractNumId"), "val")
        levels = dict(abstract.get(series, {}))
        anew = set()
        for override in children(each, "lvlOverride"):
            depth = to_int(attribute(override, "ilvl"))
            if (own := child(override, "lvl")) is not None:
                levels[depth] = _to_level(own)
            if start := attribute(child(override, "startOverride"), "val"):
                levels[depth] = replace(levels.get(depth, Level("decimal")), start=to_int(start, 1))
                anew.add(depth)
        formats[attribute(each, "numId")] = Numbering(series, levels, frozenset(anew))
    return Lists(formats)


def heading_level(name: str) -> int:
    """The level of a heading whose style is called so, in any of a number of languages; 0 for other names."""
    if match := _HEADING.fullmatch(name):
        return int(match[1])
    return 1 if name.lower() in _TITLES else 0


def _to_level(level: etree._Element) -> Level:
    return Level(
        attribute(child(level, "numFmt"), "val"),
        to_int(attribute(child(level, "start"), "val"), 1),
        attribute(child(level, "lvlText"), "val"),
    )


def _to_number(count: int, kind: str) -> str:
    """A count as a list prints it (ECMA-376 part 1, 17.18.59); kinds that are not known in digits."""
    if kind in ("lowerLetter", "upperLetter") and count > 0:
        # After z comes aa, then bb.
        text = chr(ord("a") + (count - 1) % 26) * min((count - 1) // 26 + 1, 9)
    elif kind in ("lowerRoman", "upperRoman") and 0 < count < _MOST_ROMAN:
        text = ""
        for value, sign in _ROMAN:
            text += sign * (count // value)
            count %= value
    elif kind in ("bullet", "none"):
        return ""
    else:
        return f"{count:02}" if kind == "decimalZero" else str(count)
    return text.upper() if kind.startswith("upper") else text


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
    if named := heading_level(shown):
        level = named
    elif outline := attribute(child(settings, "outlineLvl"), "val"):
        level = to_int(outline, 9) + 1 if to_int(outline, 9) < 9 else 0
    numbering = child(settings, "numPr")
    number = attribute(child(numbering, "numId"), "val") or base.number
    at = attribute(child(numbering, "ilvl"), "val")
    is_code = base.is_code or "code" in shown.lower() or "preformatted" in shown.lower()
    return Style(level, number, to_int(at) if at else base.depth, is_code)


# --- The runs of a Word document that nobody sees: hidden, tiny, or as white as what they stand on --------------------
# A run looks as it says itself, else as the style of its characters says, else as that of its paragraph. What is below
# it
# is told by the shading of the run, the paragraph, the cell and the table; nobody can say what is below a text box.


# Half points (ECMA-376 part 1, 17.3.2.38): one point and less is read by nobody.
_TINY: Final = 2
# Of 255, in each colour: what is less is not as white as paper.
_PALE: Final = 245
_COLOUR: Final = re.compile(r"[0-9a-fA-F]{6}")
_OFF: Final = frozenset({"0", "false", "off"})
_UNSEEN_DEEPEST: Final = 20
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
            if element is None or depth > _UNSEEN_DEEPEST:
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
        if element is None or depth > _UNSEEN_DEEPEST:
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
