"""What the embedded style sheets and the inline styles of a page say about its elements, as far as it can hide them.

An own bounded reader stands here, not a CSS library: tokenizing all style sheets of a page in Python takes longer than
the rest of the work on it, and only rules that can hide something or undo that are of interest. Rules for print are
passed over, and so is what is loaded from elsewhere; rules that depend on the size of the window hide nothing, and show
what they show in a wide one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from specloom.core import dataclass

from .css_colours import WHITE, Colour
from .css_declarations import (
    ESCAPE,
    ESCAPED_LETTER,
    MAX_STYLE,
    Style,
    find_ground,
    hides,
    is_harmless,
    is_lost,
    judge_declarations,
    may_be_lost,
    may_hide,
    parse_declarations,
    to_pixels,
    unescape,
)
from .css_selectors import CHOICE, MAX_CLIMB, MAX_SELECTOR, Compound, StyleRule, WrittenRule, find_key, parse_rule
from .parse import VOCABULARY, query, to_standing

if TYPE_CHECKING:
    from lxml import etree

    from .parse import Attributes


MAX_SHEET: Final = 1 << 20
"""Characters of embedded style sheets that are read."""
KNOWN: Final = 32
"""Style sheets that are remembered from one page to the next, …"""
MAX_KNOWN: Final = 1 << 15
"""… and their characters: a large one is that of one site."""
MAX_RULES: Final = 4000
"""Selectors that are kept; what follows them is passed over."""
MAX_NESTED: Final = 20
"""Selectors of a rule around or in another, and alternatives of one, that are looked at."""
MAX_ASKED: Final = 20
"""Attributes whose elements are looked for because rules without any other mark ask for them."""
MAX_LASTS: Final = 50
"""Last steps with one mark that a further one is compared with, so that each is asked once."""
MAX_LINEAGE: Final = 500
"""Names of elements in one another up to which rules are left out by them before they are tried."""
MAX_TRIALS: Final = 50_000
"""Rules tried on elements, all together; an ordinary page takes some hundreds."""
MAX_LOOKS: Final = 1_000_000
"""Elements in hidden ones that are looked at, all together; after that nothing in them counts as shown."""

Rule = tuple[str, str, bool]
"""Selectors and declarations as they are written, and whether they hold in a wide window alone."""
AskedRule = tuple[StyleRule, bool, bool]
"""A rule, whether the key that it was found by is all that its last step asks for, and whether the names above an
element prove that the other steps hold."""

_WAITING: Final = re.compile(VOCABULARY["styles"]["waiting"])
_FADING: Final = re.compile(VOCABULARY["styles"]["fading"])
_NOT: Final = re.compile(r":not\([^()]*\)")
_VARIABLE: Final = re.compile(r"var\(\s{0,9}(--[\w-]{1,100})\s{0,9}(?:,\s{0,9}([^(),]{0,100}(?:\([^()]{0,60}\))?))?\)")
_NAME: Final = re.compile(r"\[[^\[\]]*+|[.#]([a-zA-Z_-][\w-]*+)")
_PLAIN_NAME: Final = re.compile(r"[.#]([a-zA-Z_-][\w-]*)")
_PLAIN: Final = re.compile(
    r"@(?:media\s(?P<query>[^{]*+)|layer\b[^{]*+|supports\b(?!\s*+not\b)[^{]*+)$", re.IGNORECASE | re.DOTALL
)
_SCREEN: Final = re.compile(r"(?:only\s+)?(?:all|screen)|not\s+print")
_SIZE: Final = re.compile(
    r"\(\s*(?:(?P<bound>min|max)-(?:device-)?(?P<side>width|height)\s*:|(?P<ranged>width|height)\s*(?P<sign>[<>])=?)"
    r"\s*(?P<size>\d++(?:\.\d*+)?(?:px|em|rem)?)\s*\)"
)
WIDTHS: Final = {"width": (240, 8000), "height": (240, 8000)}
"""Pixels between which all windows are: what asks for less or more always holds."""
WINDOW: Final = {"width": (1280, 1280), "height": (800, 800)}
"""The pixels of a wide window: what is shown in one is shown, and what is hidden in one may be shown in others."""
WIDE_ONLY: Final = "@"
"""Stands for the condition of a block that holds in a wide window alone."""
_RANK: Final = attrgetter("rank")
_SHOWS: Final = re.compile("display|visibility", re.IGNORECASE)


@lru_cache(maxsize=1024)
def is_for_screens(query: str, *, wide: bool = False) -> bool:
    """Whether a media query holds in every window, or in a wide one."""
    sizes = WINDOW if wide else WIDTHS
    return any(
        all(_SCREEN.fullmatch(part) or _holds_for(part, sizes) for part in each.strip().split(" and "))
        for each in " ".join(query.lower().split()).split(",")
    )


def _holds_for(feature: str, sizes: Mapping[str, tuple[int, int]]) -> bool:
    match = _SIZE.fullmatch(feature)
    size = to_pixels(match["size"]) if match else None
    if match is None or size is None:
        return False
    least, most = sizes[match["side"] or match["ranged"]]
    return size <= least if match["bound"] == "min" or match["sign"] == ">" else size >= most


def _judge_condition(head: str) -> str | None:
    """`WIDE_ONLY`, "" for what always holds, nothing for what is not for a wide window, or not known."""
    match = _PLAIN.match(head)
    if match is None:
        return None
    query = match["query"]
    if query is None or is_for_screens(query):
        return ""
    return WIDE_ONLY if is_for_screens(query, wide=True) else None


@dataclass(slots=True)
class Sheet:
    """The embedded style sheets of one page; `has_external` says that there are others, which are not known."""

    names: frozenset[str]
    """The classes and ids of the page."""
    has_external: bool
    scripts: Sequence[etree._Element] = ()
    _rules: dict[str, list[StyleRule | WrittenRule]] = field(default_factory=dict)
    """By the `#id`, the `.class`, the tag or the `[attribute` that their last step asks for."""
    _asked: dict[str, list[AskedRule]] = field(default_factory=dict)
    """Those of them that were asked for."""
    _suspect: dict[str, list[Compound]] = field(default_factory=dict)
    """Those of rules that may hide, with the last steps of these, one of which an element must be."""
    _variables: dict[str, str] = field(default_factory=dict)
    """The custom properties of the page itself."""
    _known: dict[etree._Element, Style] = field(default_factory=dict)
    _grounds: dict[etree._Element, Colour | None] = field(default_factory=dict)
    _lineages: dict[etree._Element, tuple[frozenset[str] | None, int]] = field(default_factory=dict)
    _classes: dict[etree._Element, frozenset[str]] = field(default_factory=dict)
    _by_attribute: bool = False
    _uses_variables: bool = False
    _count: int = 0
    _trials: int = 0
    _looks: int = 0

    def read(self, text: str) -> None:
        """Take in one style sheet."""
        if not may_hide(text):
            return
        names = self.names
        for written, body, is_wide in (parse_sheet if len(text) <= MAX_KNOWN else parse_sheet.__wrapped__)(text):
            # Most rules of a sheet are about classes that this page does not use.
            used = find_used(written, names)
            if used and self._count <= MAX_RULES:
                self._add(used, body, is_wide)

    def _add(self, used: Sequence[str], body: str, is_wide: bool) -> None:
        judgement = judge_declarations(body.strip()[:MAX_STYLE])
        declarations, important = judgement.declarations, judgement.important
        if not declarations:
            return
        known = declarations
        reason = judgement.reason
        suspect = bool(reason) or (judgement.lost if self.has_external else judgement.lost_on_white)
        if "--" in body:
            if any(selector.strip() in (":root", "html", "body") for selector in used):
                self._variables.update((name, value) for name, value in declarations.items() if name[:2] == "--")
            known = self._resolve(declarations)
            if all(name[:2] == "--" for name in known):
                return
            self._uses_variables = self._uses_variables or "var(" in body
            reason = hides(known)
            suspect = bool(reason) or may_be_lost(known, None if self.has_external else WHITE)
        if is_wide:
            declarations = {name: value for name, value in declarations.items() if name in ("display", "visibility")}
            important &= declarations.keys()
            if suspect or not declarations:
                return
        fades = reason == "opacity" and not hides({name: known[name] for name in known if name != "opacity"})
        for selector in used:
            # What waits for a script is no more hidden than what a script writes.
            if (reason and _WAITING.search(selector)) or (fades and _FADING.search(selector)):
                continue
            rule: StyleRule | WrittenRule
            key = "" if suspect else find_key(selector)
            if key:
                rule = selector, declarations, important, self._count
            else:
                compiled = parse_rule(selector, declarations, important, self._count, strict=suspect)
                if compiled is None:
                    continue
                rule, last = compiled, compiled.steps[-1]
                key = f"#{last.ident}" if last.ident else f".{max(last.classes, key=len)}" if last.classes else last.tag
                if not key and last.attributes:
                    key = f"[{last.attributes[0][0]}"
                    self._by_attribute = True
                if suspect and key:
                    lasts = self._suspect.setdefault(key, [])
                    if last not in lasts[:MAX_LASTS]:
                        lasts.append(last)
            self._count += 1
            if key:
                self._rules.setdefault(key, []).append(rule)

    def _find_rules(self, key: str) -> list[AskedRule]:
        """The rules whose last step asks for this; those of which nothing was known but that are made out now.

        With each goes whether its last step asks for nothing else, and whether the names above an element prove the
        rest.
        """
        written = self._rules.get(key, ())
        made = (parse_rule(*rule, strict=False) if isinstance(rule, tuple) else rule for rule in written)
        rules = self._asked[key] = [
            (rule, rule.steps[-1].is_alone(key), rule.is_proved_above()) for rule in made if rule is not None
        ]
        return rules

    def _resolve(self, style: Style) -> Style:
        """Declarations with the custom properties that they use, as far as these are their own or the page's."""
        if not any("var(" in value for value in style.values()):
            return style

        def value_of(match: re.Match[str]) -> str:
            value: str | None = style.get(match[1], self._variables.get(match[1], match[2]))
            return match[0] if not value or "var(" in value else value

        resolved = {name: _VARIABLE.sub(value_of, value) if "var(" in value else value for name, value in style.items()}
        for name in ("visibility", "opacity"):
            match = _VARIABLE.match(style.get(name, ""))
            if match and match[1] not in style and match[1] not in self._variables and self._may_set(match[1]):
                resolved[name] = style[name]
        return resolved

    def _may_set(self, variable: str) -> bool:
        """Whether a script may show what is unseen until the variable is set: one from elsewhere, or that names it."""
        return any(script.get("src") or variable in (script.text or "") for script in self.scripts)

    def find_suspects(self, attributes: Attributes) -> Iterator[etree._Element]:
        """Elements of the tree that an attribute, a style of their own or a rule may hide; some of them twice.

        Nothing may be moved in the tree before the last of them is given.
        """
        root = attributes.root
        stands = to_standing(root)
        marks: dict[str, dict[str, list[Compound]]] = {"#": {}, ".": {}, "[": {}}
        tags: dict[str, list[Compound]] = {}
        for key, lasts in self._suspect.items():
            if key[0] in marks:
                marks[key[0]][key[1:]] = lasts
            else:
                tags[key] = lasts
        idents, classes, asked = marks["#"], marks["."], marks["["]
        no_rules = not (self._rules or self._uses_variables)
        for element, value in attributes.valued["style"]:
            # Most have a style of their own that hides nothing, and no other.
            if (
                no_rules
                and is_harmless(value)
                and element.get("hidden") is None
                and element.get("popover") is None
                and element.tag != "font"
            ):
                continue
            if stands(element):
                yield element
        for tag in ("font", "mphantom"):
            yield from filter(stands, attributes.tagged[tag])
        for name in sorted(asked)[:MAX_ASKED]:
            yield from query(f"descendant::*[@{name}]")(root)
        if idents or classes:
            known: dict[str, list[Compound]] = {}
            for element, attribute, value in attributes.named:
                if attribute == "id":
                    if value in idents and self._is_one(element, idents[value]) and stands(element):
                        yield element
                else:
                    if value not in known:
                        known[value] = [last for name in value.split() for last in classes.get(name, ())]
                    if known[value] and self._is_one(element, known[value]) and stands(element):
                        yield element
        if tags:
            yield from [element for element in root.iter(*tags) if self._is_one(element, tags[str(element.tag)])]

    def _is_one(self, element: etree._Element, lasts: Sequence[Compound]) -> bool:
        return any(last.matches(element, self._classes) for last in lasts)

    def style_of(self, element: etree._Element) -> Style:
        """What applies to the element itself: rules by specificity and order, then its own style."""
        style = self._known.get(element)
        if style is not None:
            return style
        rules: list[AskedRule] = []
        if self._rules:
            known, asked = self._rules, self._asked
            keys = [str(element.tag), *map(".".__add__, (element.get("class") or "").split())]
            if ident := element.get("id"):
                keys.append(f"#{ident}")
            if self._by_attribute:
                keys += map("[".__add__, map(str, element.attrib))
            for key in keys:
                if key in known:
                    made = asked.get(key)
                    rules += self._find_rules(key) if made is None else made
        self._trials += len(rules)
        if self._trials > MAX_TRIALS:
            rules = []
        inline = element.get("style") or ""
        own, own_important = parse_declarations(inline[:MAX_STYLE])
        result: Style = own
        if rules and (holding := self._find_holding(element, rules)):
            merged: dict[str, str] = {}
            for rule in holding:
                merged.update(rule.declarations)
            merged.update(own)
            for rule in holding:
                if rule.important:
                    merged.update((name, rule.declarations[name]) for name in rule.important)
            if own_important:
                merged.update((name, own[name]) for name in own_important)
            result = merged
        if self._uses_variables or "var(" in inline:
            result = self._resolve(result)
        for attribute, name in (("bgcolor", "background-color"), ("color", "color")):
            value = element.get(attribute)
            if value and name not in result and (attribute != "color" or element.tag == "font"):
                result = {**result, name: value.lower()}
        self._known[element] = result
        return result

    def _find_holding(self, element: etree._Element, rules: Sequence[AskedRule]) -> list[StyleRule]:
        """Those of the rules that hold for the element, the strongest last."""
        classes_of = self._classes
        above: frozenset[str] | None = None
        depth = -1
        holding: list[StyleRule] = []
        for rule, is_alone, is_proved in rules:
            if rule.above:
                if depth < 0:
                    above, depth = self._find_lineage(element.getparent())
                if above is not None and not rule.above <= above:
                    continue
            if (is_alone or rule.steps[-1].matches(element, classes_of)) and (
                len(rule.steps) == 1
                or (is_proved and above is not None and depth <= MAX_CLIMB)
                or rule.stands(element, classes_of)
            ):
                holding.append(rule)
        if len(holding) > 1:
            holding.sort(key=_RANK)
        return holding

    def _find_lineage(self, element: etree._Element | None) -> tuple[frozenset[str] | None, int]:
        """The tags, `#id`s and `.class`es of the element and of all above it; nothing where these are too many.

        With them goes how many elements these are.
        """
        passed: list[etree._Element] = []
        while element is not None and element not in self._lineages:
            passed.append(element)
            element = element.getparent()
        names: frozenset[str] | None
        names, depth = (frozenset(), 0) if element is None else self._lineages[element]
        for each in reversed(passed):
            depth += 1
            if names is not None:
                own = [str(each.tag), *map(".".__add__, (each.get("class") or "").split())]
                if ident := each.get("id"):
                    own.append(f"#{ident}")
                if not names.issuperset(own):
                    names = names.union(own)
                    if len(names) > MAX_LINEAGE:
                        names = None
            self._lineages[each] = names, depth
        return names, depth

    def find_reason(self, element: etree._Element) -> str:
        """Why the element is not shown, in a word; "" if it is."""
        hidden = element.get("hidden")
        # What the search of a browser opens is meant to be read.
        if (hidden is not None and hidden.lower() != "until-found") or element.get("popover") is not None:
            own, _ = parse_declarations(element.get("style") or "")
            if own.get("display", "none") == "none":
                return "attribute"
        if element.tag == "mphantom":
            return "visibility"
        style = self.style_of(element)
        if not style:
            return ""
        if "color" in style or "-webkit-text-fill-color" in style:
            return hides(style) or ("colour" if is_lost(style, self._ground(element)) else "")
        return hides(style)

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
def parse_sheet(text: str) -> tuple[Rule, ...]:
    """The rules of a style sheet that apply to a screen.

    What the pages of a site have in common, and many sites that are made alike, is parsed once.
    """
    if "/*" in text or "<!--" in text:
        text = _without_comments(text)
    rules: list[Rule] = []
    # The heads of the blocks that are open; nothing for one that does not apply.
    heads: list[str | None] = []
    # The selectors around what is in each of them.
    outer = [""]
    barred = nested = wide = 0
    # The end of the text ends a rule, too.
    for part in text.split("}"):
        *opened, body = part.split("{")
        if len(opened) == 1 and not outer[-1]:
            # Nearly all: a rule that stands in no other leaves everything as it was.
            if not barred:
                plain = opened[0].rpartition(";")[2].strip()
                if plain and plain[0] != "@" and (not wide or _SHOWS.search(body)):
                    rules.append((plain, body, wide > 0))
            continue
        for before in opened:
            declarations, _, written = before.rpartition(";")
            head: str | None = written.strip()
            around = outer[-1]
            if around and declarations and heads[-1] and not barred and (not wide or _SHOWS.search(declarations)):
                rules.append((around, declarations, wide > 0))
            if head and head.startswith("@"):
                head = _judge_condition(head)
                wide += head == WIDE_ONLY
                barred += head is None
            elif head and around:
                head = nest(around, head) if nested < MAX_RULES else None
                nested += head.count(",") + 1 if head else 0
                barred += head is None
            heads.append(head)
            outer.append(head if head and head != WIDE_ONLY else around)
        if heads:
            last, around = heads.pop(), outer.pop()
            if last is None:
                barred -= 1
            else:
                if around and not barred and (not wide or _SHOWS.search(body)):
                    rules.append((around, body, wide > 0))
                wide -= last == WIDE_ONLY
    return tuple(rules)


def _without_comments(text: str) -> str:
    """The text with a blank for each comment of CSS, and for each mark that hides a sheet from the first browsers."""
    parts = []
    at = 0
    while (start := text.find("/*", at)) >= 0:
        parts.append(text[at:start])
        end = text.find("*/", start + 2)
        at = end + 2 if end >= 0 else len(text)
    if parts:
        text = " ".join([*parts, text[at:]])
    return text.replace("<!--", " ").replace("-->", " ")


def nest(around: str, inside: str) -> str:
    """The selectors of a rule that stands in another, as they would be written outside (CSS Nesting)."""
    return ",".join(
        inner.replace("&", outer) if "&" in inner else f"{outer} {inner}"
        for outer in around.split(",")[:MAX_NESTED]
        for inner in inside.split(",")[:MAX_NESTED]
        if len(outer) + len(inner) <= MAX_SELECTOR
    )


def find_used(written: str, present: frozenset[str]) -> list[str]:
    """The selectors before a block whose classes and ids are all `present`."""
    if "(" not in written and "]" not in written and "\\" not in written:
        if "," not in written:
            used = len(written) <= MAX_SELECTOR and present.issuperset(_PLAIN_NAME.findall(written))
            return [written] if used else []
        selectors = written.split(",")
    else:
        if "\\" in written and ESCAPED_LETTER.search(written):
            # A letter that is escaped is that letter; any other sign is left, and the selector with it.
            written = ESCAPE.sub(lambda match: sign if (sign := unescape(match[0])).isalnum() else match[0], written)
        if "(" in written:
            if CHOICE.search(written):
                written = _choose(written)
            # One with a list in brackets is not taken apart.
            written = ",".join(selector for selector in _split(written) if "," not in selector)
        selectors = written.split(",")
        if "]" in written or ":not(" in written:
            return [
                each
                for each in selectors
                if len(each) <= MAX_SELECTOR and present.issuperset(filter(None, _NAME.findall(_NOT.sub("", each))))
            ]
    return [each for each in selectors if len(each) <= MAX_SELECTOR and present.issuperset(_PLAIN_NAME.findall(each))]


def _split(written: str) -> list[str]:
    """The selectors of a list; commas in brackets do not part them."""
    selectors: list[list[str]] = []
    depth = 0
    for part in written.split(","):
        if depth:
            selectors[-1].append(part)
        else:
            selectors.append([part])
        depth = max(depth + part.count("(") - part.count(")"), 0)
    return [",".join(parts) for parts in selectors]


def _choose(written: str) -> str:
    """Selectors with each alternative of `:is()` and `:where()` in its place; what cannot be one is left out."""
    selectors = []
    for selector in _split(written)[:MAX_NESTED]:
        match = CHOICE.search(selector)
        if match is None:
            selectors.append(selector)
            continue
        for choice in match[2].split(",")[:MAX_NESTED]:
            word = choice.strip()
            if (match[1] and word[:1].isalpha()) or (match.end() < len(selector) and " " in word):
                continue
            selectors.append(f"{selector[: match.start()]}{match[1]}{word}{selector[match.end() :]}")
    return ",".join(selectors)


def read_sheets(attributes: Attributes) -> Sheet:
    """Every `<style>` of the page that applies to a screen, up to a size."""
    texts = []
    size = 0
    tagged = attributes.tagged
    for style in tagged["style"]:
        text = style.text
        # A sheet inside `noscript` hides the page from readers without scripts, who are told to go away.
        if tagged["noscript"] and next(style.iterancestors("noscript"), None) is not None:
            continue
        if text and is_for_screens(style.get("media") or "all"):
            size += len(text)
            if size > MAX_SHEET:
                break
            texts.append(text)
    has_external = any("stylesheet" in (link.get("rel") or "").lower() for link in tagged["link"])
    names: set[str] = set()
    if texts:
        names.update(" ".join(attributes.classes).split())
        names.update([value for _, attribute, value in attributes.named if attribute == "id"])
    sheet = Sheet(frozenset(names), has_external, tagged["script"])
    for text in texts:
        sheet.read(text)
    return sheet
