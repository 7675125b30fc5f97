"""What the embedded style sheets and the inline styles of a page say about its elements, as far as it can hide them.

An own bounded reader stands here, not a CSS library: tokenizing all style sheets of a page in Python takes longer than
the rest of the work on it, and only rules that can hide something or undo that are of interest. Rules for print and
rules that depend on the size of the window are passed over; so is what is loaded from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from colorsys import hls_to_rgb
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from .parse import VOCABULARY, to_standing

if TYPE_CHECKING:
    from lxml import etree

    from .parse import Attributes


# --- Colours of CSS as three channels and an opacity, and whether text of one can be seen on another ------------------


class Colour(NamedTuple):
    """Red, green and blue from 0 to 255, opacity from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float


WHITE: Final = Colour(255, 255, 255, 1)
SAME: Final = 14
"""The largest difference of a channel, of 255, at which text is not seen: a contrast of about 1.1 to 1."""

_NOTHING: Final = Colour(0, 0, 0, 0)
_NAMES: Final = VOCABULARY["colours"]
_HEX: Final = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})(?![0-9a-f])")
_CALL: Final = re.compile(r"(rgb|hsl)a?\(([^()]{1,60})\)")
_WORD: Final = re.compile(r"[a-z]+")
_UNKNOWN: Final = re.compile(r"url\(|gradient\(|var\(|image")


def find_colour(value: str) -> Colour | None:
    """The first colour in the value of `color`, `background` or `background-color`; nothing if it cannot be told."""
    if _UNKNOWN.search(value):
        return None
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


# --- Whether declarations of style hide an element: the judgement, without any tree -----------------------------------


Style = Mapping[str, str]

PROPERTIES: Final = frozenset(VOCABULARY["styles"]["properties"].split())

FAR: Final = -900
"""Pixels at which something is off the screen; the usual tricks are -999, -9999 and -10000."""
TINY: Final = 2
"""Pixels of a font that nobody reads."""
MAX_STYLE: Final = 4000
"""Characters of one set of declarations that are read."""

_MAY_HIDE: Final = re.compile(
    r"none|hidden|collapse|opacity|font|clip|-\d{3}|-\d+\.?\d*(?:vw|vh|r?em|%)|inset|rect\(|scale|color|background"
    r"|(?:width|height)\s*:\s*[01](?:\.\d+)?(?:px)?\b",
    re.IGNORECASE,
)
_LENGTH: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(px|r?em|ex|ch|pt|pc|in|cm|mm|%|vw|vh|vmin|vmax)?$")
# An em is taken for 16 pixels, a view for 1000: enough to tell a trick from a layout.
_PIXELS: Final[Mapping[str | None, float]] = MappingProxyType(
    {
        None: 1, "px": 1, "em": 16, "rem": 16, "ex": 8, "ch": 8, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 37.8,
        "mm": 3.78, "%": 10, "vw": 10, "vh": 10, "vmin": 10, "vmax": 10,
    }
)  # fmt: skip
_NO_FONT: Final = re.compile(r"(?:[a-z]+\s+)*0(?:px|pt|em)?(?:\s|/)")
_CLIPPED: Final = re.compile(r"inset\(\s*(?:50|100)%|circle\(\s*0|polygon\(\s*0(?:px)? 0(?:px)?\s*,\s*0(?:px)? 0")
_MOVED_AWAY: Final = re.compile(r"scale(?:[xy]|3d)?\(\s*0(?:\.0+)?\s*[,)]|translate\w*\([^)]*-\d{3,}(?!\d*%)\d*")
_ANIMATED: Final = frozenset(("transform", "transition", "animation", "animation-name", "will-change"))


def may_hide(text: str) -> bool:
    """Whether a style sheet is worth reading."""
    return _MAY_HIDE.search(text) is not None


@lru_cache(maxsize=2048)
def parse_declarations(text: str) -> tuple[Style, frozenset[str]]:
    """The declarations that can matter, in lower case, and the names of those that are `!important`."""
    result: dict[str, str] = {}
    important: set[str] = set()
    # A semicolon inside a quoted text or a data address cuts a value that no judgement needs.
    for part in text[:MAX_STYLE].split(";"):
        name, _, value = part.partition(":")
        name = name.strip().lower()
        if name not in PROPERTIES:
            continue
        value = value.strip().lower()
        if "!" in value:
            value = value.partition("!")[0].strip()
            important.add(name)
        elif name in important:
            continue
        result[name] = value
    return MappingProxyType(result), frozenset(important)


def to_pixels(value: str | None) -> float | None:
    """A length in pixels; nothing for a word, a sum or no length at all."""
    match = _LENGTH.match(value) if value else None
    return float(match[1]) * _PIXELS[match[2]] if match else None


def hides(style: Style) -> str:
    """Why an element with these declarations is not shown, in a word; "" if it may be. Colours are not judged here."""
    get = style.get
    if get("display") == "none":
        return "display"
    if get("visibility") in ("hidden", "collapse") or get("content-visibility") == "hidden":
        return "visibility"
    for name, judge in _JUDGES.items():
        value = get(name)
        if value is not None and (reason := judge(value, style)):
            return reason
    return ""


def _judge_opacity(value: str, style: Style) -> str:
    # What fades in when it is scrolled to begins at zero as well, and says that it moves.
    try:
        share = float(value.rstrip("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        return ""
    return "opacity" if share <= 0.02 and _ANIMATED.isdisjoint(style) else ""


def _judge_font_size(value: str, _: Style) -> str:
    size = to_pixels(value)
    return "font-size" if size is not None and 0 <= size <= (0 if value.endswith("%") else TINY) else ""


def _judge_position(value: str, style: Style) -> str:
    if value not in ("absolute", "fixed"):
        return ""
    if any(_judge_shift(style.get(side, ""), style) for side in ("left", "top", "right", "bottom")):
        return "off-screen"
    clip = style.get("clip", "")
    return "clip" if clip.startswith("rect(") and _is_empty(clip) else ""


def _is_empty(clip: str) -> bool:
    sides = [to_pixels(side) for side in re.split(r"[\s,]+", clip[5:].rstrip(") ").strip())]
    if len(sides) != 4:
        return False
    top, right, bottom, left = (side or 0.0 for side in sides)
    return all(side is not None for side in sides) and (right - left <= 1 or bottom - top <= 1)


def _judge_shift(value: str, _: Style) -> str:
    shift = to_pixels(value)
    return "off-screen" if shift is not None and shift <= FAR else ""


def _judge_overflow(value: str, style: Style) -> str:
    if "hidden" not in value and "clip" not in value:
        return ""
    sizes = (to_pixels(style.get(name)) for name in ("width", "height", "max-width", "max-height"))
    return "size" if any(size is not None and 0 <= size <= 1 for size in sizes) else ""


_JUDGES: Final[Mapping[str, Callable[[str, Style], str]]] = {
    "opacity": _judge_opacity,
    "font-size": _judge_font_size,
    "font": lambda value, _: "font-size" if _NO_FONT.match(value + " ") else "",
    "position": _judge_position,
    **dict.fromkeys(("text-indent", "margin-left", "margin-top"), _judge_shift),
    "clip-path": lambda value, _: "clip" if _CLIPPED.match(value) else "",
    "transform": lambda value, _: "off-screen" if _MOVED_AWAY.search(value) else "",
    **dict.fromkeys(("overflow", "overflow-x", "overflow-y"), _judge_overflow),
}


def find_ground(style: Style) -> Colour | bool | None:
    """The colour behind an element by its own declarations; False if it has none, nothing if it cannot be told."""
    for name in ("background-color", "background"):
        value = style.get(name)
        if value is None or value in ("none", "inherit", "initial", "unset", "0", "0 0"):
            continue
        colour = find_colour(value)
        if colour is None or 0 < colour.alpha < 1:
            return None
        if colour.alpha == 1:
            return colour
    return False


def is_lost(style: Style, ground: Colour | None) -> bool:
    """Whether text of the declared colour cannot be told from what is behind it; gradients seen through text are."""
    value = style.get("color")
    colour = find_colour(value) if value else None
    if colour is None or "text" in (style.get("background-clip", ""), style.get("-webkit-background-clip", "")):
        return False
    return is_unseen(colour, ground or _NOTHING)


def may_be_lost(style: Style, ground: Colour | None) -> bool:
    """The same for a rule, whose element may have its ground from elsewhere: `ground` is what is behind the page."""
    if "color" not in style:
        return False
    own = find_ground(style)
    return is_lost(style, ground if own is False else own if isinstance(own, Colour) else None)


# --- The selectors that can be judged on a tree alone: compounds of tag, id, class and attribute, below one
# another --------------------------------------------------------------------------------------------------------------


MAX_SELECTOR: Final = 300
"""Characters of one selector; longer ones are passed over."""

MAX_CLIMB: Final = 60
"""Elements above one that are looked at for one selector."""

_COMPOUND: Final = re.compile(
    r"(\*|[a-zA-Z][\w-]*)?((?:[.#][\w-]+|\[[\w-]+(?:[~|^$*]?=(?:\"[^\"]*\"|'[^']*'|[\w-]+))?\])*)$"
)
_PART: Final = re.compile(r"([.#])([\w-]+)|\[([\w-]+)(?:([~|^$*]?=)(?:\"([^\"]*)\"|'([^']*)'|([\w-]+)))?\]")
_STATE: Final = re.compile(
    r"::|:(?:hover|focus|active|checked|target|focus-within|focus-visible|before|after|first-line|first-letter)\b"
)
_PSEUDO: Final = re.compile(r":[\w-]+(?:\([^()]*\))?")


@dataclass(frozen=True, slots=True)
class Compound:
    """One step of a selector: a tag, an id, classes and attributes that an element must all have."""

    tag: str
    ident: str
    classes: frozenset[str]
    attributes: tuple[tuple[str, str, str], ...]
    is_parent: bool
    """It is the parent of the step after it, not merely above it."""

    def matches(self, element: etree._Element, classes_of: dict[etree._Element, frozenset[str]]) -> bool:
        """Whether the element is one of these. `classes_of` keeps those of elements that were asked about."""
        if self.tag and element.tag != self.tag:
            return False
        if self.ident and element.get("id") != self.ident:
            return False
        if self.classes:
            names = classes_of.get(element)
            if names is None:
                names = classes_of[element] = frozenset((element.get("class") or "").split())
            if not self.classes <= names:
                return False
        return all(
            (have := element.get(name)) is not None and _OPERATORS[operator](have, value)
            for name, operator, value in self.attributes
        )


_OPERATORS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "": lambda _, __: True,
    "=": lambda have, value: have == value,
    "~=": lambda have, value: value in have.split(),
    "^=": lambda have, value: have.startswith(value),
    "$=": lambda have, value: have.endswith(value),
    "*=": lambda have, value: value in have,
    "|=": lambda have, value: have == value or have.startswith(value + "-"),
}
"""Whether an attribute fits what a selector says of it."""


@dataclass(frozen=True, slots=True)
class StyleRule:
    """One selector with its declarations, its specificity and its place in the sheet."""

    steps: tuple[Compound, ...]
    rank: tuple[int, int, int, int]
    declarations: Mapping[str, str]
    important: frozenset[str]

    def matches(self, element: etree._Element, classes_of: dict[etree._Element, frozenset[str]]) -> bool:
        """Whether the selector holds for the element. The nearest element that fits a step is taken for it."""
        if not self.steps[-1].matches(element, classes_of):
            return False
        at: etree._Element | None = element
        left = MAX_CLIMB
        for step in reversed(self.steps[:-1]):
            at = at.getparent() if at is not None else None
            while at is not None and not step.matches(at, classes_of):
                left -= 1
                at = None if step.is_parent or not left else at.getparent()
            if at is None:
                return False
        return True


def parse_rule(
    selector: str, declarations: Mapping[str, str], important: frozenset[str], order: int, *, strict: bool
) -> StyleRule | None:
    """The rule, or nothing if it depends on a state (`:hover`) or on siblings.

    Other pseudo-classes are passed over, so the rule holds for more elements than it should, unless `strict`.
    """
    selector = selector.strip()
    if not selector or len(selector) > MAX_SELECTOR or "+" in selector or "\\" in selector or _STATE.search(selector):
        return None
    if ":" in selector:
        if strict:
            return None
        selector = _PSEUDO.sub("", selector)
    steps: list[Compound] = []
    idents = classes = tags = 0
    words = selector.replace(">", " > ").split()
    for at, word in enumerate(words):
        if word == ">":
            continue
        match = _COMPOUND.match(word)
        if match is None:
            return None
        step = _to_compound(match[1], match[2], is_parent=words[at + 1 : at + 2] == [">"])
        steps.append(step)
        idents += bool(step.ident)
        classes += len(step.classes) + len(step.attributes)
        tags += bool(step.tag)
    return StyleRule(tuple(steps), (idents, classes, tags, order), declarations, important) if steps else None


def _to_compound(tag: str | None, rest: str, *, is_parent: bool) -> Compound:
    ident = ""
    names: list[str] = []
    attributes: list[tuple[str, str, str]] = []
    for part in _PART.finditer(rest):
        if part[1] == "#":
            ident = part[2]
        elif part[1] == ".":
            names.append(part[2])
        else:
            attributes.append((part[3].lower(), part[4] or "", part[5] or part[6] or part[7] or ""))
    return Compound("" if tag in (None, "*") else tag.lower(), ident, frozenset(names), tuple(attributes), is_parent)


MAX_SHEET: Final = 1 << 20
"""Characters of embedded style sheets that are read."""
KNOWN: Final = 32
"""Style sheets that are remembered from one page to the next, …"""
MAX_KNOWN: Final = 1 << 15
"""… and their characters: a large one is that of one site."""
MAX_RULES: Final = 4000
"""Selectors that are kept; what follows them is passed over."""
MAX_TRIALS: Final = 50_000
"""Rules tried on elements, all together; an ordinary page takes some hundreds."""
MAX_LOOKS: Final = 1_000_000
"""Elements in hidden ones that are looked at, all together; after that nothing in them counts as shown."""

Selector = tuple[str, list[str]]
"""A selector as it is written, and the classes and ids in it."""

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_NAME: Final = re.compile(r"[.#]([a-zA-Z_-][\w-]*)(?![^\[]*\])")
_PLAIN_NAME: Final = re.compile(r"[.#]([a-zA-Z_-][\w-]*)")
_PLAIN: Final = re.compile(r"@(?:media\s+(?:only\s+)?(?:all|screen)|layer\b[^{]*|supports\b[^{]*)\s*$", re.IGNORECASE)


@dataclass(slots=True)
class Sheet:
    """The embedded style sheets of one page; `has_external` says that there are others, which are not known."""

    names: frozenset[str]
    """The classes and ids of the page."""
    has_external: bool
    _rules: dict[str, list[StyleRule]] = field(default_factory=dict)
    """By the `#id`, the `.class` or the tag that their last step asks for."""
    _suspect: set[str] = field(default_factory=set)
    """Those of rules that may hide."""
    _known: dict[etree._Element, Style] = field(default_factory=dict)
    _grounds: dict[etree._Element, Colour | None] = field(default_factory=dict)
    _classes: dict[etree._Element, frozenset[str]] = field(default_factory=dict)
    _count: int = 0
    _trials: int = 0
    _looks: int = 0

    def read(self, text: str) -> None:
        """Take in one style sheet."""
        if may_hide(text):
            for selectors, body in (parse_sheet if len(text) <= MAX_KNOWN else parse_sheet.__wrapped__)(text):
                self._add(selectors, body)

    def _add(self, selectors: Sequence[Selector], body: str) -> None:
        # Most rules of a sheet are about classes that this page does not use.
        present = self.names.issuperset
        used = [selector for selector, names in selectors if present(names)]
        if not used or self._count > MAX_RULES:
            return
        declarations, important = parse_declarations(body.strip()[:MAX_STYLE])
        if not declarations:
            return
        suspect = bool(hides(declarations)) or may_be_lost(declarations, None if self.has_external else WHITE)
        for selector in used:
            rule = parse_rule(selector, declarations, important, self._count, strict=suspect)
            if rule is None:
                continue
            self._count += 1
            last = rule.steps[-1]
            key = f"#{last.ident}" if last.ident else f".{max(last.classes, key=len)}" if last.classes else last.tag
            if key:
                self._rules.setdefault(key, []).append(rule)
                if suspect:
                    self._suspect.add(key)

    def find_suspects(self, attributes: Attributes) -> Iterator[etree._Element]:
        """Elements of the tree that an attribute, a style of their own or a rule may hide; some of them twice.

        Nothing may be moved in the tree before the last of them is given.
        """
        root = attributes.root
        stands = to_standing(root)
        idents, classes = ({key[1:] for key in self._suspect if key[0] == sign} for sign in "#.")
        tags = {key for key in self._suspect if key[0] not in "#."}
        for element, _ in attributes.valued["style"]:
            if stands(element):
                yield element
        yield from list(root.iter("font"))
        if idents or classes:
            for element, attribute, value in attributes.named:
                hit = value in idents if attribute == "id" else not classes.isdisjoint(value.split())
                if hit and stands(element):
                    yield element
        if tags:
            yield from list(root.iter(*tags))

    def style_of(self, element: etree._Element) -> Style:
        """What applies to the element itself: rules by specificity and order, then its own style."""
        style = self._known.get(element)
        if style is not None:
            return style
        rules: list[StyleRule] = []
        if self._rules:
            names = (element.get("class") or "").split()
            for key in (element.tag, f"#{element.get('id') or ''}", *(f".{name}" for name in names)):
                rules += self._rules.get(key, ())
        self._trials += len(rules)
        if self._trials > MAX_TRIALS:
            rules = []
        own, own_important = parse_declarations((element.get("style") or "")[:MAX_STYLE])
        result: Style = own
        if rules:
            rules = sorted((rule for rule in rules if rule.matches(element, self._classes)), key=lambda rule: rule.rank)
            merged: dict[str, str] = {}
            for rule in rules:
                merged.update(rule.declarations)
            merged.update(own)
            for rule in rules:
                merged.update((name, rule.declarations[name]) for name in rule.important)
            merged.update((name, own[name]) for name in own_important)
            result = merged
        for attribute, name in (("bgcolor", "background-color"), ("color", "color")):
            value = element.get(attribute)
            if value and name not in result and (attribute != "color" or element.tag == "font"):
                result = {**result, name: value.lower()}
        self._known[element] = result
        return result

    def find_reason(self, element: etree._Element) -> str:
        """Why the element is not shown, in a word; "" if it is."""
        hidden = element.get("hidden")
        # What the search of a browser opens is meant to be read.
        if hidden is not None and hidden.lower() != "until-found":
            return "attribute"
        style = self.style_of(element)
        if not style:
            return ""
        return hides(style) or ("colour" if "color" in style and is_lost(style, self._ground(element)) else "")

    def _ground(self, element: etree._Element) -> Colour | None:
        """The colour behind the element: its own, else the nearest above it, else white if no sheet is unknown."""
        passed: list[etree._Element] = []
        result: Colour | None = None if self.has_external else WHITE
        at: etree._Element | None = element
        while at is not None:
            if at in self._grounds:
                result = self._grounds[at]
                break
            passed.append(at)
            ground = find_ground(self.style_of(at))
            if ground is not False:
                result = ground if isinstance(ground, Colour) else None
                break
            at = at.getparent()
        self._grounds.update(dict.fromkeys(passed, result))
        return result

    def restyles_below(self, element: etree._Element, names: tuple[str, ...]) -> bool:
        """Whether something in the element may undo what hides its text: its own colour, its own size."""
        for below in element.iterdescendants("*"):
            self._looks += 1
            if self._looks > MAX_LOOKS:
                break
            if self.has_external and (below.get("class") or below.get("id")):
                return True
            style = self.style_of(below)
            if any(name in style for name in names) and not hides(style):
                return True
        return False


@lru_cache(maxsize=KNOWN)
def parse_sheet(text: str) -> tuple[tuple[tuple[Selector, ...], str], ...]:
    """The rules of a style sheet that apply to a screen: their selectors, and their declarations as they are written.

    What the pages of a site have in common, and many sites that are made alike, is parsed once.
    """
    if "/*" in text or "<!--" in text:
        text = _COMMENT.sub(" ", text)
    rules: list[tuple[tuple[Selector, ...], str]] = []
    # The heads of the blocks that are open; nothing for one that does not apply.
    heads: list[str | None] = []
    barred = 0
    # The end of the text ends a rule, too.
    for part in text.split("}"):
        *opened, body = part.split("{")
        for before in opened:
            head: str | None = before.rpartition(";")[2].strip()
            if head and head.startswith("@"):
                head = "" if _PLAIN.match(head) else None
                barred += head is None
            heads.append(head)
        if heads:
            last = heads.pop()
            if last is None:
                barred -= 1
            elif last and not barred:
                rules.append((to_selectors(last), body))
    return tuple(rules)


def to_selectors(written: str) -> tuple[Selector, ...]:
    """The selectors before a block, each with the classes and ids that it names."""
    find_names = (_NAME if "]" in written else _PLAIN_NAME).findall
    return tuple([(one, find_names(one)) for one in written.split(",") if len(one) <= MAX_SELECTOR])


def read_sheets(root: etree._Element, attributes: Attributes) -> Sheet:
    """Every `<style>` of the page that applies to a screen, up to a size."""
    texts = []
    size = 0
    for style in root.iter("style"):
        text = style.text
        # A sheet inside `noscript` hides the page from readers without scripts, who are told to go away.
        if next(style.iterancestors("noscript"), None) is not None:
            continue
        if text and (style.get("media") or "").strip().lower() in ("", "all", "screen"):
            size += len(text)
            if size > MAX_SHEET:
                break
            texts.append(text)
    has_external = any("stylesheet" in (link.get("rel") or "").lower() for link in root.iter("link"))
    named = attributes.named if texts else ()
    names = {name for _, attribute, value in named for name in ((value,) if attribute == "id" else value.split())}
    sheet = Sheet(frozenset(names), has_external)
    for text in texts:
        sheet.read(text)
    return sheet
