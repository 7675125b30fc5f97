"""Turns the values of a spec (constants, expressions, trees of both) into closures that know what they use."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from specloom.core import Diagnostic, Report
from specloom.language import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    TEXT,
    Bindings,
    ExpressionProblem,
    ListOf,
    RecordType,
    Shape,
    build,
    compile_expression,
    share,
)
from specloom.model import Pair, Uses, Value
from specloom.specs import Listing, Map, Node, YamlEntry, YamlScalar, to_plain

Tables = Mapping[str, Mapping[str, Any]]
_SHOWN = 60
_HOLE = re.compile(r"\$?\{\{?\s*([^{}]+?)\s*\}?\}")
_VALUE_NAME = re.compile(r"\bvalues\.([A-Za-z_][A-Za-z0-9_]*)")


def whole(fields: Mapping[str, Shape]) -> RecordType:
    """A closed record in which every field is there, though its value may be null."""
    return RecordType(fields, closed=True, required=frozenset(fields))


@dataclass(frozen=True, slots=True)
class Scope:
    """What expressions may name where they stand, the tables they may look into, and where problems go."""

    names: RecordType
    tables: Tables
    report: Report

    def plus(self, **more: Shape) -> Scope:
        """The same scope with further names."""
        return Scope(whole({**self.names.fields, **more}), self.tables, self.report)


def compile_text(node: Node, scope: Scope) -> Value | None:
    """The value of a key that always holds an expression (`when`, `take` …); numbers and flags stand for themselves."""
    assert isinstance(node, YamlScalar)
    if not isinstance(node.value, str):
        return _constant(node, node.value)
    text = node.value.removeprefix("=")
    shift = len(node.value) - len(text)
    expression, problems = compile_expression(text, scope.names, tables=scope.tables)
    note_problems(problems, node, shift, scope.report)
    if expression is None or problems:
        return None
    return Value(expression.evaluate, expression.shape, node.place, text, expression.uses, expression.tables)


def compile_value(node: Node, scope: Scope) -> Value | None:
    """A request value: text is itself, text after `=` is an expression, lists and mappings are built from both."""
    if isinstance(node, YamlScalar):
        if isinstance(node.value, str) and node.value.startswith("="):
            return compile_text(node, scope)
        warn_of_expression(node, scope)
        return _constant(node, node.value)
    if isinstance(node, Listing):
        items = [compile_value(item, scope) for item in node.items]
        if any(item is None for item in items):
            return None
        parts = [item for item in items if item is not None]
        if all(part.constant for part in parts):
            return _constant(node, to_plain(node))
        shape = ListOf(parts[0].shape if len({part.shape for part in parts}) == 1 else ANY)
        return _gathered(node, parts, lambda context: [part.evaluate(context) for part in parts], shape)
    pairs = compile_pairs(node, scope)
    if len(pairs) < len(node.entries):
        return None
    if all(value.constant for _, value in pairs):
        return _constant(node, {key: value for key, value in to_plain(node).items() if value is not None})
    return _gathered(node, [value for _, value in pairs], lambda context: build(pairs, context), ANY)


def warn_of_expression(node: YamlScalar, scope: Scope, roots: Iterable[str] = ()) -> None:
    """Report a text that stands for itself and would be an expression over what may be named here (W201).

    Only what names something below one of the roots (all that are in scope, if none are given) is taken for one, alone
    or in the braces of a template.
    """
    text = node.value
    roots = tuple(roots) or tuple(scope.names.fields)
    if not isinstance(text, str) or not any(f"{root}." in text for root in roots):
        return
    if _is_expression(text, scope, roots):
        hint = f"write ={text} for its value"
        scope.report.add("W201", node.place, f"{_short(text)} is text here and not worked out", hint)
        return
    for hole in _HOLE.finditer(text):
        if _is_expression(hole[1], scope, roots):
            is_all = hole[0] == text.strip()
            hint = f"write ={hole[1]}" if is_all else f"write =fill('… {{it}} …', {{it: {hole[1]}}})"
            scope.report.add("W201", node.at(hole.start()), f"nothing is filled in for {_short(hole[0])}", hint)


def _is_expression(text: str, scope: Scope, roots: tuple[str, ...]) -> bool:
    expression, problems = compile_expression(text, scope.names, tables=scope.tables)
    return expression is not None and not problems and any(len(u) > 1 and u[0] in roots for u in expression.uses)


def _short(text: str) -> str:
    """A text in quotes, cut where it is long."""
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def compile_pairs(node: Node | None, scope: Scope) -> tuple[Pair, ...]:
    """The keys of a mapping with their request values, in order; those with problems are reported and left out."""
    if node is None:
        return ()
    assert isinstance(node, Map)
    found = [(entry.key, compile_value(entry.value, scope)) for entry in node]
    return tuple((key, value) for key, value in found if value is not None)


def compile_definitions(entries: Iterable[YamlEntry], scope: Scope) -> tuple[tuple[Pair, ...], Scope]:
    """The named expressions of `values` mappings; each sees those before it as values.NAME."""
    pairs: list[Pair] = []
    shapes: dict[str, Shape] = {}
    entries = list(entries)
    for at, entry in enumerate(entries):
        before = len(scope.report.found)
        value = compile_text(entry.value, scope.plus(values=whole(dict(shapes))))
        # The same name may be unknown somewhere else, as in `values: {region: args.region}`.
        later = {one.key for one in entries[at:] if f"values.{one.key}" in str(to_plain(entry.value))}
        explain_later(scope.report, before, later, "values.", "a value sees those above it")
        shapes[entry.key] = value.shape if value else ANY
        if value:
            known = dict(pairs)
            pairs.append((entry.key, _expanded(value, known)))
    return tuple(pairs), scope.plus(values=whole(shapes))


def explain_later(report: Report, start: int, later: Container[str], before_name: str, hint: str) -> None:
    """Tell an unknown name that is declared further down in other words, because it is no typo (E111).

    Looks at what was reported from `start` on; `before_name` is how a spec names such a thing.
    """
    for at, one in enumerate(report.found[start:], start):
        name = one.message.removeprefix("unknown name ").strip("'")
        if one.code == "E202" and name in later:
            report.found[at] = Diagnostic("E111", one.place, f"{before_name}{name} is not known yet here", hint)


def _expanded(value: Value, known: Mapping[str, Value]) -> Value:
    return Value(value.evaluate, value.shape, value.place, value.text, expand(value.uses, known), value.tables)


def expand(uses: Uses, definitions: Mapping[str, Value]) -> Uses:
    """What is used once every values.NAME is replaced by what its definition uses."""
    found: set[tuple[str, ...]] = set()
    for path in uses:
        if path[0] != "values":
            found.add(path)
        elif len(path) > 1 and path[1] in definitions:
            found |= definitions[path[1]].uses
        else:
            found.update(*(one.uses for one in definitions.values()))
    return share(frozenset(found))


def note_problems(problems: list[ExpressionProblem], node: YamlScalar, shift: int, report: Report) -> None:
    """Report the problems of one expression, each with its caret inside the text."""
    for problem in problems:
        report.add(problem.code, node.at(problem.offset + shift), problem.message, problem.hint)


def _constant(node: Node, value: Any) -> Value:
    shape: Shape = ANY
    if isinstance(value, bool):
        shape = BOOLEAN
    elif isinstance(value, str):
        shape = TEXT
    elif isinstance(value, (int, float)):
        shape = INTEGER if isinstance(value, int) else NUMBER
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        shape = ListOf(TEXT)
    return Value(lambda _context: value, shape, node.place, constant=True)


def _gathered(node: Node, parts: list[Value], make: Callable[[Bindings], Any], shape: Shape) -> Value:
    uses = frozenset[tuple[str, ...]]().union(*(part.uses for part in parts))
    tables = frozenset[str]().union(*(part.tables for part in parts))
    return Value(make, shape, node.place, "", uses, tables)


def entries_of(node: Node | None) -> list[YamlEntry]:
    """The entries of a mapping; none when it is not there."""
    return list(node) if isinstance(node, Map) else []


def items_of(node: Node | None) -> tuple[Node, ...]:
    """The items of a list; none when it is not there."""
    return node.items if isinstance(node, Listing) else ()


def needed_definitions(shared: Iterable[YamlEntry], node: Node) -> list[YamlEntry]:
    """Those of the shared named expressions that a tree names, or that another needed one names, in their order."""
    entries = list(shared)
    wanted = _named_values(node)
    size = -1
    while size != len(wanted):
        size = len(wanted)
        wanted |= {name for entry in entries if entry.key in wanted for name in _named_values(entry.value)}
    return [entry for entry in entries if entry.key in wanted]


def _named_values(node: Node) -> set[str]:
    if isinstance(node, YamlScalar):
        return set(_VALUE_NAME.findall(node.value)) if isinstance(node.value, str) else set()
    parts = [entry.value for entry in node] if isinstance(node, Map) else node.items
    return {name for part in parts for name in _named_values(part)}
