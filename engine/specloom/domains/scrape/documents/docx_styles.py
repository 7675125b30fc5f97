"""What the styles and lists of a Word document mean: headings, items of what number, and runs that nobody sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from specloom.core import dataclass

from .office import Element, attribute, child, children, local, to_int, value_of

# Word names its own styles in English in every language; other programs and old files do not.
_HEADING: Final = re.compile(
    r"(?:heading|überschrift|berschrift|titre|título|ttulo|titolo|titlu|заголовок|kop|overskrift|rubrik|otsikko|nagłówek"
    r"|nadpis|címsor|başlık|επικεφαλίδα|标题|標題|見出し|제목) ?([1-9])",
    re.IGNORECASE,
)
_TITLES: Final = frozenset(
    {"title", "titel", "titre", "título", "titolo", "tittel", "название", "标题", "標題", "表題"}
)
_DEEPEST: Final = 20


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style: its heading level (0 for none) and the list that it puts a paragraph into."""

    level: int = 0
    number: str = ""
    depth: int = 0
    is_code: bool = False


class Styles:
    """The styles of a document by id, each with what it inherits."""

    def __init__(self, root: Element | None) -> None:
        self._elements = {attribute(each, "styleId"): each for each in children(root, "style")}
        self._styles: dict[str, Style] = {}
        self._looks: dict[str, Look] = {}

    def chain(self, name: str) -> Iterator[Element]:
        """A style, the one that it is based on, and so on."""
        for _ in range(_DEEPEST):
            element = self._elements.get(name)
            if element is None:
                return
            yield element
            name = value_of(element, "basedOn")

    def find(self, name: str) -> Style:
        """The style of a paragraph; where the file does not describe it, what its name says."""
        if name not in self._styles:
            style = Style() if name in self._elements else Style(_to_heading_level(name))
            for element in reversed(list(self.chain(name))):
                style = _inherit(style, element)
            self._styles[name] = style
        return self._styles[name]

    def look(self, name: str) -> Look:
        """How characters of a style look."""
        if name not in self._looks:
            look: Look = {}
            for element in self.chain(name):
                shaded = {"shaded": True} if is_shade(child(element, "pPr", "shd")) else {}
                look = to_look(child(element, "rPr")) | shaded | look
            self._looks[name] = look
        return self._looks[name]

    def colours_cells(self, name: str) -> bool:
        """Whether a style of tables colours any of their cells."""
        return any(is_shade(each) for element in self.chain(name) for each in element.iter("{*}shd"))


def _inherit(base: Style, element: Element) -> Style:
    """A style that is based on another."""
    shown, settings = value_of(element, "name"), child(element, "pPr")
    level = _to_heading_level(shown) or to_outline_level(settings)
    depth = value_of(settings, "numPr", "ilvl")
    return Style(
        base.level if level is None else level,
        value_of(settings, "numPr", "numId") or base.number,
        to_int(depth) if depth else base.depth,
        base.is_code or "code" in shown.lower() or "preformatted" in shown.lower(),
    )


def to_outline_level(settings: Element | None) -> int | None:
    """The heading level that the settings of a paragraph or style say, 0 for text; None where they say nothing."""
    outline = value_of(settings, "outlineLvl")
    return None if not outline else to_int(outline, 9) + 1 if to_int(outline, 9) < 9 else 0


def _to_heading_level(name: str) -> int:
    """The level of a heading whose style is called so, in any of a number of languages; 0 for other names."""
    if match := _HEADING.fullmatch(name):
        return int(match[1])
    return 1 if name.lower() in _TITLES else 0


# --- The lists of a Word document, and the marks of their items -------------------------------------------------------


_PLACE: Final = re.compile(r"%([1-9])")
_PLAIN: Final = re.compile(r"\(?([0-9]+)[.)]?")
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MOST_ROMAN: Final = 4000
_LONGEST_MARK: Final = 60


@dataclass(frozen=True, slots=True)
class Level:
    """How a list counts at a depth: in what kind of number, from which on, and what is printed (`%1.%2`)."""

    kind: str = "bullet"
    start: int = 1
    shown: str = ""


@dataclass(slots=True)
class Numbering:
    """A list of a document: its levels, those that begin anew with it, and how far it and its likes have counted."""

    levels: Mapping[int, Level]
    anew: set[int]
    counts: dict[int, int]
    """Shared by all lists of the same series."""

    def mark(self, depth: int) -> str:
        """The mark of the next item at a depth: `-`, `3.`, or as printed (`1.2`, `(b)`); "" for none."""
        level = self.levels.get(depth, Level())
        for at in [each for each in self.counts if each > depth or each in self.anew]:
            del self.counts[at]
        self.anew = set()
        if level.kind in ("bullet", "none", ""):
            return "-" if level.kind != "none" else ""
        self.counts[depth] = self.counts.get(depth, level.start - 1) + 1
        for above in range(depth):
            self.counts.setdefault(above, self.levels.get(above, Level()).start)

        def fill(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            return _to_number(self.counts.get(at, 1), self.levels.get(at, Level()).kind)

        shown = _PLACE.sub(fill, level.shown)[:_LONGEST_MARK].strip()
        plain = _PLAIN.fullmatch(shown)
        return f"{plain[1] if plain else self.counts[depth]}." if plain or not shown else shown


def to_lists(root: Element | None) -> dict[str, Numbering]:
    """The lists by number."""
    series = {
        attribute(each, "abstractNumId"): _to_levels(children(each, "lvl")) for each in children(root, "abstractNum")
    }
    counts: dict[str, dict[int, int]] = {}
    lists: dict[str, Numbering] = {}
    for each in children(root, "num"):
        name = value_of(each, "abstractNumId")
        levels, anew = dict(series.get(name, {})), set()
        for override in children(each, "lvlOverride"):
            depth = to_int(attribute(override, "ilvl"))
            if (own := child(override, "lvl")) is not None:
                levels[depth] = _to_level(own)
            if start := value_of(override, "startOverride"):
                levels[depth] = replace(levels.get(depth, Level("decimal")), start=to_int(start, 1))
                anew.add(depth)
        lists[attribute(each, "numId")] = Numbering(levels, anew, counts.setdefault(name, {}))
    return lists


def _to_levels(levels: Iterator[Element]) -> dict[int, Level]:
    return {to_int(attribute(each, "ilvl")): _to_level(each) for each in levels}


def _to_level(level: Element) -> Level:
    return Level(value_of(level, "numFmt"), to_int(value_of(level, "start"), 1), value_of(level, "lvlText"))


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


# --- The runs of a Word document that nobody sees: hidden, tiny, or as white as what they stand on --------------------
# A run looks as it says itself, else as the style of its characters says, else as that of its paragraph. What is below
# it is told by the shading of the run, the paragraph, the cell and the table; nobody can say what is below a text box.


# Half points (ECMA-376 part 1, 17.3.2.38): one point and less is read by nobody.
_TINY: Final = 2
# Of 255, in each colour: what is less is not as white as paper.
_PALE: Final = 245
_COLOUR: Final = re.compile(r"[0-9a-fA-F]{6}")
_OFF: Final = frozenset({"0", "false", "off"})
_MARKS: Final = 4
# Per cent of the usual width, and twentieths of a point of a line.
_THIN: Final = 5
_FLAT: Final = 20
# Of 255, in each colour: what differs by less looks the same.
_SAME: Final = 10
_PAPER: Final = frozenset({"background1", "light1"})
# The colours of the pen that marks text (17.18.40), but for white and those that no text has.
_PENS: Final = {
    "black": "000000", "blue": "0000FF", "cyan": "00FFFF", "green": "00FF00", "magenta": "FF00FF", "red": "FF0000",
    "yellow": "FFFF00", "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000", "darkMagenta": "800080",
    "darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "C0C0C0",
}  # fmt: skip

Look = dict[str, Any]
"""How characters look, as far as it is said: `hidden` or not, their `size` in half points, `pale`, and `shaded`.

And their `colour` and that of the `ground` right below them as six digits, and the per cent of their usual `width`.
"""


@dataclass(slots=True)
class Unseen:
    """Which runs of a document nobody sees."""

    styles: Styles
    is_coloured: bool
    """Whether the pages have a colour of their own."""

    def hides(self, run: Element, style: str) -> bool:
        """Whether nobody sees a run of a paragraph that has a style."""
        settings = child(run, "rPr")
        look = self.styles.look(style) | self.styles.look(value_of(settings, "rStyle")) | to_look(settings)
        if look.get("hidden") or look.get("size", _TINY + 1) <= _TINY or look.get("width", 100) <= _THIN:
            return True
        if _is_same(look.get("colour", ""), look.get("ground", "")) or _is_squeezed(run):
            return True
        is_white = look.get("pale") and not look.get("shaded") and not self.is_coloured
        return bool(is_white) and not self._is_on_colour(run)

    def _is_on_colour(self, run: Element) -> bool:
        """Whether something around a run may have a colour of its own."""
        for each in run.iterancestors():
            name = local(each)
            if name == "txbxContent":
                return True
            settings = _find_settings(each) if name in ("p", "tc", "tbl") else None
            if is_shade(child(settings, "shd")):
                return True
            if name == "tbl" and self.styles.colours_cells(value_of(settings, "tblStyle")):
                return True
        return False


def _find_settings(element: Element) -> Element | None:
    """The settings of a paragraph, a cell or a table: the first child but for marks; there may be many."""
    return next((part for part in islice(element, _MARKS) if local(part) == f"{local(element)}Pr"), None)


def to_look(settings: Element | None) -> Look:
    """What the settings of a run or a style say about it."""
    look: Look = {}
    if (switch := child(settings, "vanish")) is not None:
        look["hidden"] = attribute(switch, "val").lower() not in _OFF
    if (size := to_int(value_of(settings, "sz"), -1)) >= 0:
        look["size"] = size
    if (width := to_int(value_of(settings, "w"), -1)) >= 0:
        look["width"] = width
    if (colour := child(settings, "color")) is not None:
        value = attribute(colour, "val")
        is_paper = attribute(colour, "themeColor") in _PAPER and not _COLOUR.fullmatch(value)
        look["pale"] = is_paper or _is_pale(value)
        look["colour"] = value
    if child(settings, "textFill", "noFill") is not None and child(settings, "textOutline", "solidFill") is None:
        look["hidden"] = True
    ground = _PENS.get(value_of(settings, "highlight")) or _to_fill(child(settings, "shd"))
    if ground:
        look["ground"] = ground
    if is_shade(child(settings, "shd")) or value_of(settings, "highlight") not in ("", "none", "white"):
        look["shaded"] = True
    return look


def is_shade(shade: Element | None) -> bool:
    """Whether a shading is another colour than that of paper."""
    fill, pattern = attribute(shade, "fill"), attribute(shade, "val")
    return pattern not in ("", "clear", "nil") or (_COLOUR.fullmatch(fill) is not None and not _is_pale(fill))


def _to_fill(shade: Element | None) -> str:
    """The one colour of a shading, "" where it has none or a pattern of two."""
    return attribute(shade, "fill") if attribute(shade, "val") in ("", "clear", "nil") else ""


def _is_same(one: str, two: str) -> bool:
    """Whether two colours look the same; those that a program chooses do not."""
    if not (_COLOUR.fullmatch(one) and _COLOUR.fullmatch(two)):
        return False
    return all(abs(first - second) <= _SAME for first, second in zip(*map(bytes.fromhex, (one, two)), strict=True))


def _is_squeezed(run: Element) -> bool:
    """Whether the line of a run has next to no height."""
    parent = run.getparent()
    spacing = child(_find_settings(parent), "spacing") if parent is not None else None
    return attribute(spacing, "lineRule") == "exact" and to_int(attribute(spacing, "line"), _FLAT + 1) <= _FLAT


def _is_pale(colour: str) -> bool:
    return _COLOUR.fullmatch(colour) is not None and min(bytes.fromhex(colour)) >= _PALE
