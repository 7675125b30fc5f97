"""The keys of the spec language as tables, read from the one grammar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .grammar import GRAMMARS
from .rules import Anything, Either, Flag, Grammar, Items, Named, Number, Record, Ref, Rule, Text


@dataclass(frozen=True, slots=True)
class Row:
    """One key: what it holds, whether it must stand, what it means."""

    name: str
    holds: str
    required: bool
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    """The keys of one record, and where in a file it stands."""

    path: str
    name: str
    rows: tuple[Row, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """All records of one kind of spec, the outermost first."""

    name: str
    tables: tuple[Table, ...]


def list_kinds() -> list[Kind]:
    """Every kind of spec with its tables."""
    return [Kind(name, tuple(_tables(grammar))) for name, grammar in GRAMMARS.items()]


def _tables(grammar: Grammar) -> Iterator[Table]:
    found: dict[tuple[Row, ...], Table] = {}
    roots: list[tuple[str, Rule]] = [("", grammar.root), *((f"({name})", rule) for name, rule in grammar.named.items())]
    for start, root in roots:
        for path, record in _records(root, start):
            rows = tuple(Row(name, describe(key.rule), key.required, key.doc) for name, key in record.keys.items())
            table = Table(path, record.name, rows, tuple(_group(names, must) for names, must in record.one_of))
            # Records that stand in several places, such as request bodies, are shown once.
            if found.setdefault(rows, table) is table:
                yield table


def _records(rule: Rule, path: str) -> Iterator[tuple[str, Record]]:
    if isinstance(rule, Record):
        yield path, rule
        for name, key in rule.keys.items():
            yield from _records(key.rule, f"{path}.{name}" if path else name)
    elif isinstance(rule, Items):
        yield from _records(rule.item, f"{path}[]")
    elif isinstance(rule, Named):
        yield from _records(rule.value, f"{path}.NAME")
    elif isinstance(rule, Either):
        for one in (rule.scalar, rule.listing, rule.mapping):
            if one is not None:
                yield from _records(one, path)


def _group(names: tuple[str, ...], must: bool) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    return f"{'Exactly' if must else 'At most'} one of {listed}."


def describe(rule: Rule) -> str:
    """What a rule wants, in words."""
    if isinstance(rule, Ref):
        return {"value": "a request value", "field": "a field", "converter": "a converter"}.get(rule.name, rule.name)
    if isinstance(rule, Either):
        return " or ".join(describe(one) for one in (rule.scalar, rule.listing, rule.mapping) if one is not None)
    if isinstance(rule, Record):
        return "a mapping"
    if isinstance(rule, Named):
        inner = describe(rule.value)
        return "names, each with " + (inner if inner != "a mapping" else "a mapping of its own")
    if isinstance(rule, Items):
        return f"a list, each {describe(rule.item)}"
    return _scalar(rule)


def _scalar(rule: Text | Number | Flag | Anything) -> str:
    if isinstance(rule, Flag):
        return "true or false"
    if isinstance(rule, Number):
        bounds = [f"{word} {bound:g}" for word, bound in (("from", rule.least), ("to", rule.most)) if bound is not None]
        return " ".join(["a whole number" if rule.whole else "a number", *bounds])
    if isinstance(rule, Anything):
        return "a single value" if rule.scalar else "any value"
    if rule.means == "kind":
        return "a kind of [fault](faults.md)" + (" or `empty`" if "empty" in rule.choices else "")
    if rule.choices:
        return "one of " + ", ".join(f"`{choice}`" for choice in rule.choices)
    read = {"expression": "an expression", "selector": "a selector", "path": "a path", "duration": "a duration"}
    if rule.means in read:
        return read[rule.means]
    return f"text: {rule.says}" if rule.says and rule.means != "prose" else "text"
