"""The grammar of the kinds of spec: the rules that it is made of, the check of a tree against them, and its reading.

Unions are told apart by the kind of YAML node, or by the one key that names the variant: a typo is then reported at the
typo and not as "none of seven alternatives fits".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any, Final

from specloom.core import FORMATS, KINDS, Place, Report, TooManyProblemsError, dataclass, did_you_mean, load_table
from specloom.language import CONVERTERS, DECODERS

from .yaml import Listing, Map, Node, YamlScalar


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


MAX_PROBLEMS = 100
"""How many problems of one file are looked for."""

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
    own = Report(most=MAX_PROBLEMS)
    try:
        _check(node, grammar.root, grammar, own, "the file")
    except TooManyProblemsError:
        own.most = 0
        message = f"more than {MAX_PROBLEMS} problems in one file; what follows is not looked at"
        own.add("E008", own.found[-1].place, message, "mend these first")
    for one in own.found:
        report.add(one.code, one.place, one.message, one.hint)
    return not own.found


def _check(node: Node, rule: Rule, grammar: Grammar, report: Report, what: str) -> None:
    if isinstance(rule, RuleReference):
        _check(node, grammar.named[rule.name], grammar, report, what)
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


# --- The grammars themselves, which are written in `grammar.yaml` ----------------------------------------------------


Notation = Any
"""A rule as `grammar.yaml` writes it; the file says how at its top."""
_NUMBER = re.compile(r"number(?: (\d+)?\.\.(\d+)?)?")
_KEYS = re.compile(r"(?:/(.*)/|([a-z_]+))(?: \((.*)\))?")
_PATTERN_NAME = re.compile(r"<([A-Z_]+)>")


class _Reader:
    """Makes rules of what `grammar.yaml` says, each named one once."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._said: Mapping[str, Notation] = said["rules"]
        self._patterns: dict[str, str] = {"KINDS": "|".join(KINDS)}
        for name, pattern in said["patterns"].items():
            self._patterns[name] = self.pattern(pattern)
        converters = {name: Key(Anything(), one.doc.split("\n")[0]) for name, one in CONVERTERS.items()}
        self._rules: dict[str, Rule] = {
            "flag": Flag(),
            "decimal": Number(whole=False),
            "any": Anything(),
            "key": Text(),
            "scalar": Anything(scalar=True),
            "constant": Anything(scalar=True, means="value"),
            "fault": Text("kind", choices=tuple(KINDS)),
            "fault_or_empty": Text("kind", choices=(*KINDS, "empty")),
            "format": Text(choices=tuple(FORMATS)),
            "converter_name": Text("converter", choices=tuple(CONVERTERS)),
            "converter_record": RecordRule(CONVERTER, MappingProxyType(converters)),
        }

    def pattern(self, text: str) -> str:
        """A regular expression with the patterns that it names put in."""
        return _PATTERN_NAME.sub(lambda name: self._patterns[name[1]], text)

    def named(self, name: str) -> Rule:
        """The rule of a name."""
        if name not in self._rules:
            said = self._said[name]
            self._rules[name] = self._make_record(name, said) if "keys" in said else self.rule(said)
        return self._rules[name]

    def record(self, name: str) -> RecordRule:
        """The mapping of a name."""
        rule = self.named(name)
        assert isinstance(rule, RecordRule)
        return rule

    def rule(self, said: Notation) -> Rule:
        """The rule that is written so."""
        match said:
            case str() if said[0] == "$":
                return RuleReference(said[1:])
            case str() if said[0] == "=":
                return Text(choices=tuple(said[1:].split("|")))
            case str() if bounds := _NUMBER.fullmatch(said):
                least, most = (int(bound) if bound else None for bound in bounds.groups())
                return Number(least, most)
            case str():
                return self.named(said)
            case [item, *least]:
                return Items(self.rule(item), *least)
            case {"either": branches}:
                return self._either([self.rule(branch) for branch in branches])
            case {"text": means}:
                return Text(means, self.pattern(said.get("pattern", "")), said.get("says", ""))
        ((keys, value),) = said.items()
        written = _KEYS.fullmatch(keys)
        assert written is not None, keys
        inline, name, says = written.groups("")
        text = self.named(name) if name else Text(pattern=self.pattern(inline))
        return Named(self.rule(value), text.pattern if isinstance(text, Text) else "", says)

    def _either(self, branches: list[Rule]) -> Either:
        made = Either()
        for rule in branches:
            slot = (
                "listing"
                if isinstance(rule, Items)
                else "mapping"
                if isinstance(rule, (Named, RecordRule))
                else "scalar"
            )
            made = replace(made, **{slot: rule})
        return made

    def _make_record(self, name: str, said: Mapping[str, Any]) -> RecordRule:
        keys = dict(self.record(said["like"]).keys) if "like" in said else {}
        for word, (rule, doc) in said["keys"].items():
            keys[word.removesuffix("!")] = Key(self.rule(rule), doc, required=word.endswith("!"))
        one_of = [(tuple(group), needed) for at, needed in _GROUPS for group in said.get(at, ())]
        if name == "step":
            keys |= self._decoders()
            one_of.append((tuple(DECODERS), True))
        return RecordRule(said.get("title", f"`{name}`"), MappingProxyType(keys), tuple(one_of))

    def _decoders(self) -> dict[str, Key]:
        """A key for each decoder: what all of them have, and its own options."""
        kinds: dict[str, Rule] = {
            "boolean": Flag(),
            "character": Text("value", r".", "one character"),
            "texts": self.rule(["text", 1]),
            "namespaces": self.rule("namespaces"),
        }
        keys = {}
        for word, decoder in DECODERS.items():
            own = {name: Key(kinds[option.kind], option.doc) for name, option in decoder.options.items()}
            rule = RecordRule(f"`{word}`", MappingProxyType({**self.record("decoder").keys, **own}))
            keys[word] = Key(rule, decoder.doc.split("\n")[0])
        return keys


_GROUPS = (("one_of", True), ("at_most_one_of", False))
_KINDS = ("provider", "capability", "tool", "toolset", "lens", "collection", "resource")
_REFERRING = ("provider", "tool", "resource")


_READER = _Reader(load_table(__file__, "grammar.yaml"))
_SHARED: Mapping[str, Rule] = MappingProxyType(
    {name: _READER.named(name) for name in ("value", "field", "converter", "text_part")}
)

NAME: Final = _READER.pattern("<NAME>")
STEM: Final = _READER.pattern("<STEM>")
GRAMMARS: Final[Mapping[str, Grammar]] = MappingProxyType(
    {kind: Grammar(_READER.record(kind), _SHARED if kind in _REFERRING else {}) for kind in _KINDS}
)
"""The grammar of each kind of spec, by the word before the slash in its first key."""
PROMPT: Final = Grammar(_READER.record("prompt"))
"""The grammar of what stands at the head of a prompt."""
VIEW: Final = Grammar(_READER.record("view_template"), {"slot": _READER.named("slot")})
"""The grammar of what stands at the head of a template of views."""
