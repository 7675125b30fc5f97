"""The selectors that can be judged on a tree alone: compounds of tag, id, class and attribute, below one another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lxml import etree

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

    def matches(self, element: etree._Element, known: dict[etree._Element, frozenset[str]]) -> bool:
        """Whether the element is one of these. `known` keeps the classes of elements that were asked about."""
        if self.tag and element.tag != self.tag:
            return False
        if self.ident and element.get("id") != self.ident:
            return False
        if self.classes:
            names = known.get(element)
            if names is None:
                names = known[element] = frozenset((element.get("class") or "").split())
            if not self.classes <= names:
                return False
        return all(_has(element.get(name), operator, value) for name, operator, value in self.attributes)


def _has(have: str | None, operator: str, value: str) -> bool:
    if have is None:
        return False
    match operator:
        case "=":
            return have == value
        case "~=":
            return value in have.split()
        case "^=":
            return have.startswith(value)
        case "$=":
            return have.endswith(value)
        case "*=":
            return value in have
        case "|=":
            return have == value or have.startswith(value + "-")
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One selector with its declarations, its specificity and its place in the sheet."""

    steps: tuple[Compound, ...]
    rank: tuple[int, int, int, int]
    declarations: Mapping[str, str]
    important: frozenset[str]

    def matches(self, element: etree._Element, known: dict[etree._Element, frozenset[str]]) -> bool:
        """Whether the selector holds for the element. The nearest element that fits a step is taken for it."""
        if not self.steps[-1].matches(element, known):
            return False
        at: etree._Element | None = element
        left = MAX_CLIMB
        for step in reversed(self.steps[:-1]):
            at = at.getparent() if at is not None else None
            while at is not None and not step.matches(at, known):
                left -= 1
                at = None if step.is_parent or not left else at.getparent()
            if at is None:
                return False
        return True


def parse_rule(
    selector: str, declarations: Mapping[str, str], important: frozenset[str], order: int, *, strict: bool
) -> Rule | None:
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
    return Rule(tuple(steps), (idents, classes, tags, order), declarations, important) if steps else None


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
