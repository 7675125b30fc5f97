"""The kinds of rule a grammar is made of, and the check of a tree against them.

Unions are told apart by the kind of YAML node, or by the one key that names the variant: a typo is then reported at the
typo and not as "none of seven alternatives fits".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from specloom.core import Place, Report, did_you_mean

from ..yaml import Listing, Map, Node, YamlScalar


@dataclass(frozen=True, slots=True)
class Text:
    """Text; `means` says how it is read (`expression`, `selector`, `value`, `path`, `name`, `prose`)."""

    means: str = "prose"
    pattern: str = ""
    says: str = ""
    """What the pattern wants, in words."""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """A number, whole unless `whole` is False."""

    least: float | None = None
    most: float | None = None
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""


@dataclass(frozen=True, slots=True)
class Anything:
    """Any value; `scalar` keeps it to text, numbers, true, false and null."""

    scalar: bool = False
    means: str = "data"


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    item: Rule
    least: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """A mapping with free keys of one kind."""

    value: Rule
    pattern: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a record: its rule, whether it must be there, and its one-line meaning."""

    rule: Rule
    doc: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class RecordRule:
    """A mapping with closed keys. `one_of` are groups of which exactly one key (or at most one) may stand."""

    name: str
    keys: Mapping[str, Key]
    one_of: tuple[tuple[tuple[str, ...], bool], ...] = ()


@dataclass(frozen=True, slots=True)
class RuleReference:
    """A rule that is named, so that rules may be recursive."""

    name: str


@dataclass(frozen=True, slots=True)
class Either:
    """One rule for each kind of node: a scalar, a list, a mapping."""

    scalar: Rule | None = None
    listing: Rule | None = None
    mapping: Rule | None = None


Rule = Text | Number | Flag | Anything | Items | Named | RecordRule | RuleReference | Either


@dataclass(frozen=True, slots=True)
class Grammar:
    """The rules of one kind of file, with the named ones that it refers to."""

    root: RecordRule
    named: Mapping[str, Rule] = field(default_factory=dict)

    def rule(self, name: str) -> Rule:
        """The rule behind a reference."""
        return self.named[name]


CONVERTER = "a converter"
"""What the grammar calls its record of converters, whose unknown names have a code of their own."""


_FLAGS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("yes", "on", "y", "true", "1"), "write true, without quotes"),
        **dict.fromkeys(("no", "off", "n", "false", "0"), "write false, without quotes"),
    }
)
"""What to write for words that other readers of YAML take for a flag."""


def check(node: Node, grammar: Grammar, report: Report) -> bool:
    """Hold a tree against its grammar; everything that does not fit is reported. True when all fits."""
    before = len(report.found)
    _check(node, grammar.root, grammar, report, "the file")
    return len(report.found) == before


def _check(node: Node, rule: Rule, grammar: Grammar, report: Report, what: str) -> None:
    if isinstance(rule, RuleReference):
        _check(node, grammar.rule(rule.name), grammar, report, what)
    elif isinstance(rule, Either):
        _check_either(node, rule, grammar, report, what)
    elif isinstance(rule, RecordRule):
        if isinstance(node, Map):
            _check_record(node, rule, grammar, report)
        else:
            _wrong(node, "a mapping", report, what)
    elif isinstance(rule, Named):
        if isinstance(node, Map):
            for entry in node:
                if rule.pattern and not re.fullmatch(rule.pattern, entry.key):
                    report.add("E104", entry.place, f"{entry.key!r} cannot be a key of {what}", rule.says)
                _check(entry.value, rule.value, grammar, report, f"`{entry.key}`")
        else:
            _wrong(node, "a mapping", report, what)
    elif isinstance(rule, Items):
        if isinstance(node, Listing):
            if len(node.items) < rule.least:
                report.add("E104", node.place, f"{what} needs at least {rule.least} item{'s'[: rule.least != 1]}")
            for item in node.items:
                _check(item, rule.item, grammar, report, f"an item of {what}")
        else:
            _wrong(node, "a list", report, what)
    elif not isinstance(node, YamlScalar):
        if not (isinstance(rule, Anything) and not rule.scalar):
            _wrong(node, _wanted(rule), report, what)
    else:
        _check_scalar(node, rule, report, what)


def _check_either(node: Node, rule: Either, grammar: Grammar, report: Report, what: str) -> None:
    chosen = rule.mapping if isinstance(node, Map) else rule.listing if isinstance(node, Listing) else rule.scalar
    if chosen is None:
        wanted = [_wanted(one) for one in (rule.scalar, rule.listing, rule.mapping) if one]
        _wrong(node, " or ".join(wanted), report, what)
    else:
        _check(node, chosen, grammar, report, what)


def _check_record(node: Map, rule: RecordRule, grammar: Grammar, report: Report) -> None:
    # Keys that another one is likely a slip of: that they are missing is no second mistake.
    meant: set[str] = set()
    for entry in node:
        key = rule.keys.get(entry.key)
        if key is None:
            hint = did_you_mean(entry.key, rule.keys)
            meant |= {name for name in rule.keys if hint == did_you_mean(name, [name])}
            place = Place(entry.place.file, entry.place.line, entry.place.column, len(entry.key))
            if rule.name == CONVERTER:
                report.add("E209", place, f"no converter is called {entry.key!r}", hint)
            else:
                report.add("E101", place, f"{rule.name} has no key {entry.key!r}", hint)
        else:
            _check(entry.value, key.rule, grammar, report, f"`{entry.key}`")
    if rule.name == CONVERTER and not node.entries:
        hint = "write its name, or its name with what it needs, like {truncate: 200}"
        report.add("E105", node.place, "a converter needs a name, and this mapping is empty", hint)
    for name, key in rule.keys.items():
        if key.required and name not in node and name not in meant:
            report.add("E102", node.place, f"{rule.name} needs the key {name!r}", key.doc)
    for group, needed in rule.one_of:
        present = [node.entries[name] for name in group if name in node]
        listed = ", ".join(f"{name!r}" for name in group)
        if len(present) > 1:
            report.add(
                "E105", present[1].place, f"{rule.name} takes one of {listed}, not several", "remove all but one"
            )
        elif needed and not present and meant.isdisjoint(group):
            report.add("E105", node.place, f"{rule.name} needs one of {listed}")


def _check_scalar(node: YamlScalar, rule: Rule, report: Report, what: str) -> None:
    value = node.value
    if isinstance(rule, Anything):
        return
    if isinstance(rule, Flag):
        if not isinstance(value, bool):
            _wrong(node, "true or false", report, what, _FLAGS.get(str(value).lower(), ""))
        return
    if isinstance(rule, Number):
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or (rule.whole and not isinstance(value, int))
        ):
            is_quoted = isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value) is not None
            _wrong(node, _wanted(rule), report, what, "take it out of its quotes" if is_quoted else "")
        elif (rule.least is not None and value < rule.least) or (rule.most is not None and value > rule.most):
            least, most = rule.least, rule.most
            bounds = (
                f"at least {least:g}"
                if most is None
                else f"at most {most:g}"
                if least is None
                else f"{least:g} to {most:g}"
            )
            report.add("E104", node.place, f"{what} is {value}; it may be {bounds}")
        return
    assert isinstance(rule, Text)
    if not isinstance(value, str):
        fits = not rule.choices and re.fullmatch(rule.pattern or ".*", str(value), re.DOTALL) is not None
        wanted = rule.says or (f"known: {', '.join(rule.choices)}" if rule.choices else "")
        hint = "put it in quotes" if fits else wanted
        _wrong(node, "text", report, what, "" if value is None else hint)
    elif rule.choices and value not in rule.choices:
        hint = did_you_mean(value, rule.choices) or f"known: {', '.join(rule.choices)}"
        if f"a {rule.means}" == CONVERTER:
            report.add("E209", node.place, f"no converter is called {value!r}", hint)
        else:
            report.add("E104", node.place, f"{what} cannot be {value!r}", hint)
    elif rule.pattern and not re.fullmatch(rule.pattern, value, re.DOTALL):
        report.add("E104", node.place, f"{what} cannot be {value!r}", rule.says)


def _wanted(rule: Rule) -> str:
    if isinstance(rule, Text):
        return "text"
    if isinstance(rule, Number):
        return "a whole number" if rule.whole else "a number"
    if isinstance(rule, Flag):
        return "true or false"
    if isinstance(rule, Items):
        return "a list"
    if isinstance(rule, Anything):
        return "a single value" if rule.scalar else "a value"
    return "a mapping"


def _found(node: Node) -> str:
    if isinstance(node, Map):
        return "a mapping"
    if isinstance(node, Listing):
        return "a list"
    if node.value is None:
        return "nothing"
    if isinstance(node.value, bool):
        return f"the flag {str(node.value).lower()}"
    if isinstance(node.value, str):
        return f"the text {node.value!r}"
    return f"the number {node.value}"


def _wrong(node: Node, wanted: str, report: Report, what: str, hint: str = "") -> None:
    report.add("E103", node.place, f"{what} should be {wanted}, not {_found(node)}", hint)
