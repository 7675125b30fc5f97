"""The selectors that can be judged on a tree alone: compounds of tag, id, class and attribute, below one another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from specloom.core import dataclass

from .css_declarations import Style

if TYPE_CHECKING:
    from lxml import etree


MAX_SELECTOR: Final = 300
"""Characters of one selector; longer ones are passed over."""

MAX_CLIMB: Final = 60
"""Elements above one that are looked at for one selector."""

KNOWN: Final = 2048
"""Steps that are remembered from one rule to the next."""

_COMPOUND: Final = re.compile(
    r"(\*|[a-zA-Z][\w-]*)?((?:[.#][\w-]+|\[[\w-]+(?:[~|^$*]?=(?:\"[^\"]*\"|'[^']*'|[\w-]+))?\])*)"
    r"((?::(?:not|has)\([^(),\s]*\)|:(?:first|last|only)-child|:root)*)$"
)
_TEST: Final = re.compile(r":([\w-]+)(?:\(([^()]*)\))?")
CHOICE: Final = re.compile(r"(\w?):(?:is|where|-webkit-any|matches)\(([^()]*)\)")
_COMBINATOR: Final = re.compile(r"\[[^\[\]]*+|\([^()]*+|([>+~])")
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
    relation: str = ""
    """What it is to the step after it: its parent (`>`), the element before it (`+`), one before (`~`), or above it."""
    tests: tuple[tuple[str, Compound | None], ...] = ()
    """Pseudo-classes that hold on a tree alone, with what `not` and `has` speak of."""

    def marks(self) -> Iterator[str]:
        """The tag, the `#id` and the `.class`es."""
        if self.tag:
            yield self.tag
        if self.ident:
            yield f"#{self.ident}"
        for name in self.classes:
            yield f".{name}"

    def is_alone(self, key: str) -> bool:
        """Whether an element need have no more than the tag, the `#id` or the `.class`."""
        return not self.attributes and not self.tests and [*self.marks()] == [key]

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
        if self.tests and not all(_holds(name, inner, element, classes_of) for name, inner in self.tests):
            return False
        return all(
            (have := element.get(name)) is not None and _OPERATORS[operator](have, value)
            for name, operator, value in self.attributes
        )


def _holds(
    name: str, inner: Compound | None, element: etree._Element, classes_of: dict[etree._Element, frozenset[str]]
) -> bool:
    if inner is not None:
        if name == "not":
            return not inner.matches(element, classes_of)
        below = zip(element.iterdescendants("*"), range(MAX_CLIMB), strict=False)
        return any(inner.matches(one, classes_of) for one, _ in below)
    if name == "root":
        return element.getparent() is None
    is_first, is_last = (next(element.itersiblings("*", preceding=side), None) is None for side in (True, False))
    return (is_first or name == "last-child") and (is_last or name == "first-child")


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
    above: frozenset[str]
    """The tags, `#id`s and `.class`es that elements above must have."""

    def matches(self, element: etree._Element, classes_of: dict[etree._Element, frozenset[str]]) -> bool:
        """Whether the selector holds for the element. The nearest element that fits a step is taken for it."""
        return self.steps[-1].matches(element, classes_of) and self.stands(element, classes_of)

    def is_proved_above(self) -> bool:
        """Whether an element stands where it should as soon as what is in `above` is somewhere above it."""
        first = self.steps[0]
        is_plain = not (first.relation or first.attributes or first.tests)
        return len(self.steps) == 2 and len(self.above) == 1 and is_plain

    def stands(self, element: etree._Element, classes_of: dict[etree._Element, frozenset[str]]) -> bool:
        """Whether an element that fits the last step stands where the others ask for it."""
        at: etree._Element | None = element
        left = MAX_CLIMB
        for step in reversed(self.steps[:-1]):
            assert at is not None
            relation = step.relation
            if relation == "+" or relation == "~":  # noqa: PLR1714 - the fastest way to ask
                beside = at.itersiblings("*", preceding=True)
                before = zip(beside, range(1 if relation == "+" else MAX_CLIMB), strict=False)
                at = next((one for one, _ in before if step.matches(one, classes_of)), None)
            else:
                at = at.getparent()
                while at is not None and not step.matches(at, classes_of):
                    left -= 1
                    at = None if relation or not left else at.getparent()
            if at is None:
                return False
        return True


WrittenRule = tuple[str, Style, frozenset[str], int]
"""A rule whose selector is still as it is written, with the declarations, the important ones and its place."""
_LAST: Final = re.compile(r"(?:[^\\:\[(+~]*[\s>])?([a-zA-Z][\w-]*+|\*)?+((?:[.#][\w-]++)*+)")


def find_key(selector: str) -> str:
    """The `#id`, the `.class` or the tag that a plain selector ends with; "" for others."""
    match = _LAST.fullmatch(selector.rstrip()) if len(selector) <= MAX_SELECTOR else None
    if match is None:
        return ""
    tag, marks = match[1], match[2]
    if "#" in marks:
        return f"#{marks.rpartition('#')[2].partition('.')[0]}"
    if marks:
        return f".{max(marks.split('.')[1:], key=len)}"
    return tag.lower() if tag and tag != "*" else ""


def parse_rule(
    selector: str, declarations: Mapping[str, str], important: frozenset[str], order: int, *, strict: bool
) -> StyleRule | None:
    """The rule, or nothing if it depends on a state (`:hover`).

    Unless `strict`, which rules that may hide are, one that asks for siblings is nothing, and pseudo-classes are passed
    over, so that it holds for more elements than it should: all rules would be looked at for many elements.
    """
    selector = selector.strip()
    if not selector or len(selector) > MAX_SELECTOR or "\\" in selector or _STATE.search(selector):
        return None
    if not strict:
        if "+" in selector or "~" in selector:
            return None
        if ":" in selector:
            selector = _PSEUDO.sub("", selector)
    steps: list[Compound] = []
    idents = classes = tags = 0
    words = _COMBINATOR.sub(lambda match: f" {match[1]} " if match[1] else match[0], selector).split()
    for at, word in enumerate(words):
        if word in _RELATIONS:
            continue
        relation = words[at + 1] if words[at + 1 : at + 2] and words[at + 1] in _RELATIONS else ""
        step = _parse_compound(word, relation)
        if step is None:
            return None
        steps.append(step)
        idents += bool(step.ident)
        classes += len(step.classes) + len(step.attributes)
        tags += bool(step.tag)
    if not steps:
        return None
    upper = [step for step in steps[:-1] if step.relation not in ("+", "~")]
    above = frozenset(chain.from_iterable(step.marks() for step in upper))
    return StyleRule(tuple(steps), (idents, classes, tags, order), declarations, important, above)


_RELATIONS: Final = (">", "+", "~")


@lru_cache(maxsize=KNOWN)
def _parse_compound(word: str, relation: str) -> Compound | None:
    """One step as it is written, or nothing where it cannot be judged; the rules of a page have many in common."""
    match = _COMPOUND.match(word)
    return _to_compound(match, relation) if match is not None else None


def _to_compound(match: re.Match[str], relation: str = "") -> Compound | None:
    tag, rest = match[1], match[2]
    tests: list[tuple[str, Compound | None]] = []
    for test in _TEST.finditer(match[3]):
        inside = _COMPOUND.match(test[2]) if test[2] else None
        inner = _to_compound(inside) if inside is not None else None
        if test[2] is not None and inner is None:
            return None
        tests.append((test[1], inner))
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
    name = "" if tag in (None, "*") else tag.lower()
    return Compound(name, ident, frozenset(names), tuple(attributes), relation, tuple(tests))
