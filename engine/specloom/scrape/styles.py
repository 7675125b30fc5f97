"""What the embedded style sheets and the inline styles of a page say about its elements, as far as it can hide them.

An own bounded reader stands here, not a CSS library: tokenizing all style sheets of a page in Python takes longer than
the rest of the work on it, and only rules that can hide something or undo that are of interest. Rules for print and
rules that depend on the size of the window are passed over; so is what is loaded from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from .colours import WHITE, Colour
from .hiding import MAX_STYLE, Style, find_ground, hides, is_lost, may_be_lost, may_hide, parse_declarations
from .selectors import MAX_SELECTOR, Rule, parse_rule
from .standing import to_standing

if TYPE_CHECKING:
    from lxml import etree

    from .attributes import Attributes

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


class Sheet:
    """The embedded style sheets of one page; `has_external` says that there are others, which are not known."""

    __slots__ = (
        "_by_class",
        "_by_id",
        "_by_tag",
        "_classes",
        "_count",
        "_grounds",
        "_known",
        "_looks",
        "_names",
        "_suspect",
        "_trials",
        "has_external",
    )

    def __init__(self, names: frozenset[str], *, has_external: bool) -> None:
        self._names = names
        self._by_class: dict[str, list[Rule]] = {}
        self._by_id: dict[str, list[Rule]] = {}
        self._by_tag: dict[str, list[Rule]] = {}
        self._suspect: tuple[set[str], set[str], set[str]] = (set(), set(), set())
        self._known: dict[etree._Element, Style] = {}
        self._grounds: dict[etree._Element, Colour | None] = {}
        self._classes: dict[etree._Element, frozenset[str]] = {}
        self._count = self._trials = self._looks = 0
        self.has_external = has_external

    def read(self, text: str) -> None:
        """Take in one style sheet."""
        if may_hide(text):
            for selectors, body in (parse_sheet if len(text) <= MAX_KNOWN else parse_sheet.__wrapped__)(text):
                self._add(selectors, body)

    def _add(self, selectors: Sequence[Selector], body: str) -> None:
        # Most rules of a sheet are about classes that this page does not use.
        present = self._names.issuperset
        used = [selector for selector, names in selectors if present(names)]
        if not used or self._count > MAX_RULES:
            return
        declarations, important = parse_declarations(body.strip()[:MAX_STYLE])
        if not declarations:
            return
        suspect = bool(hides(declarations)) or may_be_lost(declarations, None if self.has_external else WHITE)
        idents, classes, tags = self._suspect
        for selector in used:
            rule = parse_rule(selector, declarations, important, self._count, strict=suspect)
            if rule is None:
                continue
            self._count += 1
            last = rule.steps[-1]
            if last.ident:
                key, index, keys = last.ident, self._by_id, idents
            elif last.classes:
                key, index, keys = max(last.classes, key=len), self._by_class, classes
            elif last.tag:
                key, index, keys = last.tag, self._by_tag, tags
            else:
                continue
            index.setdefault(key, []).append(rule)
            if suspect:
                keys.add(key)

    def find_suspects(self, attributes: Attributes) -> Iterator[etree._Element]:
        """Elements of the tree that an attribute, a style of their own or a rule may hide; some of them twice.

        Nothing may be moved in the tree before the last of them is given.
        """
        root = attributes.root
        stands = to_standing(root)
        idents, classes, tags = self._suspect
        for element, _ in attributes.unseen:
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
        known = self._known.get(element)
        if known is not None:
            return known
        rules: list[Rule] = []
        if self._by_tag:
            rules += self._by_tag.get(element.tag, ())
        if self._by_class:
            for name in (element.get("class") or "").split():
                rules += self._by_class.get(name, ())
        if self._by_id:
            rules += self._by_id.get(element.get("id") or "", ())
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
    names: set[str] = set()
    if texts:
        for _, attribute, value in attributes.named:
            if attribute == "id":
                names.add(value)
            else:
                names.update(value.split())
    sheet = Sheet(frozenset(names), has_external=has_external)
    for text in texts:
        sheet.read(text)
    return sheet
