"""Turns the values of a spec (constants, expressions, trees of both) into closures that know what they use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .convert import CONVERTERS, ConverterProblem, compile_converter
from .converter import Moment
from .diagnostics import Report
from .expressions import EvaluationError, Problem, compile_expression, compile_selector
from .faults import Fault
from .load import Entry, Listing, Map, Node, Scalar, to_plain
from .model import Context, Field, Pair, Row, Uses, Value
from .shapes import ANY, BOOLEAN, INTEGER, NUMBER, TEXT, ListOf, Maybe, Record, Shape, maybe
from .xpaths import XPathProblem, compile_xpath

Tables = Mapping[str, Mapping[str, Any]]
MISSING: tuple[Any, ...] = (None, "", [], {})
"""What counts as nothing found. Zero and false are values."""

_VALUE_NAME = re.compile(r"\bvalues\.([A-Za-z_][A-Za-z0-9_]*)")
_RETURNS: Mapping[str, Shape] = {
    "text": TEXT,
    "integer": INTEGER,
    "number": NUMBER,
    "boolean": BOOLEAN,
    "list": ListOf(ANY),
}


def whole(fields: Mapping[str, Shape]) -> Record:
    """A closed record in which every field is there, though its value may be null."""
    return Record(fields, closed=True, required=frozenset(fields))


@dataclass(frozen=True, slots=True)
class Scope:
    """What expressions may name where they stand, the tables they may look into, and where problems go."""

    names: Record
    tables: Tables
    report: Report

    def plus(self, **more: Shape) -> Scope:
        """The same scope with further names."""
        return Scope(whole({**self.names.fields, **more}), self.tables, self.report)


@dataclass(frozen=True, slots=True)
class Language:
    """How selectors into the items of one decoder are compiled."""

    name: str
    namespaces: Mapping[str, str]

    @property
    def is_xpath(self) -> bool:
        """XPath for trees, JMESPath for everything else."""
        return self.name == "xpath"


def evaluate(value: Value, context: Context) -> Any:
    """The value in this context. An expression that cannot be worked out is a fault that names its place."""
    try:
        return value.evaluate(context)
    except EvaluationError as error:
        raise Fault("internal", f"a spec cannot be worked out here: {error}", detail=str(value.place)) from None


def compile_text(node: Node, scope: Scope) -> Value | None:
    """The value of a key that always holds an expression (`when`, `take` …); numbers and flags stand for themselves."""
    assert isinstance(node, Scalar)
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
    if isinstance(node, Scalar):
        if isinstance(node.value, str) and node.value.startswith("="):
            return compile_text(node, scope)
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


def compile_pairs(node: Node | None, scope: Scope) -> tuple[Pair, ...]:
    """The keys of a mapping with their request values, in order; those with problems are reported and left out."""
    if node is None:
        return ()
    assert isinstance(node, Map)
    found = [(entry.key, compile_value(entry.value, scope)) for entry in node]
    return tuple((key, value) for key, value in found if value is not None)


def build(pairs: tuple[Pair, ...], context: Context) -> dict[str, Any]:
    """The mapping in this context; a key whose value is null is left out."""
    found = ((key, evaluate(value, context)) for key, value in pairs)
    return {key: value for key, value in found if value is not None}


def compile_definitions(entries: Iterable[Entry], scope: Scope) -> tuple[tuple[Pair, ...], Scope]:
    """The named expressions of `values` mappings; each sees those before it as values.NAME."""
    pairs: list[Pair] = []
    shapes: dict[str, Shape] = {}
    for entry in entries:
        value = compile_text(entry.value, scope.plus(values=whole(dict(shapes))))
        shapes[entry.key] = value.shape if value else ANY
        if value:
            known = dict(pairs)
            pairs.append((entry.key, _expanded(value, known)))
    return tuple(pairs), scope.plus(values=whole(shapes))


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
    return frozenset(found)


def note_problems(problems: list[Problem], node: Scalar, shift: int, report: Report) -> None:
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


def _gathered(node: Node, parts: list[Value], make: Callable[[Context], Any], shape: Shape) -> Value:
    uses = frozenset[tuple[str, ...]]().union(*(part.uses for part in parts))
    tables = frozenset[str]().union(*(part.tables for part in parts))
    return Value(make, shape, node.place, "", uses, tables)


# --- fields of rows -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one thing from an item: the first hit, every hit, or the nodes themselves."""

    first: Callable[[Any, Context], Any]
    every: Callable[[Any, Context], list[Any]]
    nodes: Callable[[Any], list[Any]]
    shape: Shape
    uses: Uses = frozenset()
    tables: frozenset[str] = frozenset()
    constant: bool = False


def compile_field(entry: Entry, language: Language, item: Shape, scope: Scope) -> Field | None:
    """One entry of a `map`: a selector, an expression over the whole context, or the long form."""
    node = entry.value
    if isinstance(node, Scalar):
        reader = _reader(node, language, item, scope)
        if reader is None:
            return None
        sure = reader.constant or (isinstance(item, Record) and item.closed)
        shape = reader.shape if sure else maybe(reader.shape)
        return Field(entry.key, reader.first, shape, entry.place, reader.uses, reader.tables, constant=reader.constant)
    assert isinstance(node, Map)
    return _long_field(entry, node, language, item, scope)


def _long_field(entry: Entry, node: Map, language: Language, item: Shape, scope: Scope) -> Field | None:
    before = len(scope.report.found)
    at, each = node.get("at"), node.get("each")
    selectors = at.items if isinstance(at, Listing) else (at,) if at else (each,)
    readers = [_reader(one, language, item, scope) for one in selectors if isinstance(one, Scalar)]
    inner = _reader(value, language, ANY, scope) if isinstance(value := node.get("value"), Scalar) else None
    if each is not None and value is None:
        scope.report.add("E102", node.place, "a field with `each` needs `value`, which is read from every node")
    when = compile_text(condition, scope) if (condition := node.get("when")) else None
    convert, returns = _chain(node.get("then"), scope.report)
    wants_all = to_plain(node.get("all")) is True
    if len(scope.report.found) > before:
        return None
    found = [reader for reader in readers if reader]
    fallback = to_plain(node.get("else"))
    has_else = "else" in node

    def read(one: Any, context: Context) -> Any:
        if when is not None and not truthy(evaluate(when, context)):
            return None
        result: Any = None
        if inner is not None:
            result = [got for part in found[0].nodes(one) if (got := inner.first(part, context)) not in MISSING]
        else:
            for reader in found:
                result = reader.every(one, context) if wants_all else reader.first(one, context)
                if convert is not None and result not in MISSING:
                    result = convert(result, context["moment"])
                if result not in MISSING:
                    return result
            result = None
        if convert is not None and result not in MISSING:
            result = convert(result, context["moment"])
        return fallback if result in MISSING else result

    parts = [*found, *([inner] if inner else [])]
    shape = returns or (ListOf(ANY) if wants_all or inner else found[0].shape if len(found) == 1 else ANY)
    if not has_else or when is not None:
        shape = maybe(shape)
    elif isinstance(shape, Maybe):
        shape = shape.shape
    uses = frozenset[tuple[str, ...]]().union(*(part.uses for part in parts), when.uses if when else frozenset())
    tables = frozenset[str]().union(*(part.tables for part in parts), when.tables if when else frozenset())
    required = to_plain(node.get("required")) is True
    constant = has_else and when is None
    return Field(entry.key, read, shape, entry.place, uses, tables, required, constant, has_else)


def _reader(node: Scalar, language: Language, item: Shape, scope: Scope) -> _Reader | None:
    text = node.value
    assert isinstance(text, str)
    if text.startswith("="):
        value = compile_text(node, scope)
        if value is None:
            return None
        constant = not any(path[0] in {"item", "page"} for path in value.uses)

        def from_context(one: Any, context: Context) -> Any:
            context["item"] = one
            return evaluate(value, context)

        return _Reader(
            from_context,
            lambda one, context: as_list(from_context(one, context)),
            lambda one: [one],
            value.shape,
            value.uses,
            value.tables,
            constant and not isinstance(value.shape, Maybe) and value.shape is not ANY,
        )
    if language.is_xpath:
        return _xpath_reader(node, text, language, scope.report)
    expression, problems = compile_selector(text, item, tables=scope.tables)
    note_problems(problems, node, 0, scope.report)
    if expression is None or problems:
        return None
    select = expression.evaluate

    def first(one: Any, _context: Context) -> Any:
        # The innermost loop of every mapping, so `selected` is written out.
        try:
            return select(one)
        except EvaluationError as error:
            raise _other_shape(error, node) from None

    return _Reader(
        first,
        lambda one, _context: as_list(selected(select, one, node)),
        lambda one: as_list(selected(select, one, node)),
        expression.shape,
        frozenset(),
        expression.tables,
        text.startswith(("'", "`")),
    )


def _xpath_reader(node: Scalar, text: str, language: Language, report: Report) -> _Reader | None:
    try:
        path = compile_xpath(text, dict(language.namespaces))
    except XPathProblem as problem:
        report.add(problem.code, node.at(problem.offset), problem.message)
        return None
    return _Reader(lambda one, _c: path.first(one), lambda one, _c: path.all(one), path.nodes, ANY)


def selected(select: Callable[[Any], Any], one: Any, node: Scalar) -> Any:
    """What a selector finds in an item; an item that it cannot be applied to means that the upstream changed."""
    try:
        return select(one)
    except EvaluationError as error:
        raise _other_shape(error, node) from None


def _other_shape(error: EvaluationError, node: Scalar) -> Fault:
    return Fault("layout_changed", f"a part of the answer has another shape: {error}", detail=str(node.place))


def compile_selection(node: Node, language: Language, scope: Scope) -> Callable[[Any], list[Any] | None] | None:
    """A selector of many: from a document to the list of what it selects, or to None where a key is missing."""
    assert isinstance(node, Scalar)
    assert isinstance(node.value, str)
    if language.is_xpath or node.value.startswith("="):
        reader = _reader(node, language, ANY, scope)
        return reader.nodes if reader else None
    expression, problems = compile_selector(node.value, ANY, tables=scope.tables)
    note_problems(problems, node, 0, scope.report)
    if expression is None or problems:
        return None
    select = expression.evaluate

    def items(document: Any) -> list[Any] | None:
        found = selected(select, document, node)
        return None if found is None else as_list(found)

    return items


def _chain(node: Node | None, report: Report) -> tuple[Callable[[Any, Moment], Any] | None, Shape | None]:
    if node is None:
        return None, None
    assert isinstance(node, Listing)
    functions: list[Callable[[Any, Moment], Any]] = []
    shape: Shape | None = None
    for item in node.items:
        pairs = (
            [(str(item.value), None)]
            if isinstance(item, Scalar)
            else [(e.key, to_plain(e.value)) for e in entries_of(item)]
        )
        for name, parameters in pairs:
            try:
                functions.append(compile_converter(name, parameters))
            except ConverterProblem as problem:
                report.add(problem.code, item.place, problem.message, problem.hint)
                continue
            shape = _RETURNS.get(CONVERTERS[name].returns, ANY)
    if len(functions) == 1:
        return functions[0], shape

    def convert(value: Any, moment: Moment) -> Any:
        for function in functions:
            value = function(value, moment)
        return value

    return convert, shape


def entries_of(node: Node | None) -> list[Entry]:
    """The entries of a mapping; none when it is not there."""
    return list(node) if isinstance(node, Map) else []


def needed_definitions(shared: Iterable[Entry], node: Node) -> list[Entry]:
    """Those of the shared named expressions that a tree names, or that another needed one names, in their order."""
    entries = list(shared)
    wanted = _named_values(node)
    size = -1
    while size != len(wanted):
        size = len(wanted)
        wanted |= {name for entry in entries if entry.key in wanted for name in _named_values(entry.value)}
    return [entry for entry in entries if entry.key in wanted]


def _named_values(node: Node) -> set[str]:
    if isinstance(node, Scalar):
        return set(_VALUE_NAME.findall(node.value)) if isinstance(node.value, str) else set()
    parts = [entry.value for entry in node] if isinstance(node, Map) else node.items
    return {name for part in parts for name in _named_values(part)}


def as_list(value: Any) -> list[Any]:
    """A list as it is without nulls, nothing as an empty list, anything else as a list of one."""
    if value is None:
        return []
    if isinstance(value, list):
        return [one for one in value if one is not None]
    return [value]


def truthy(value: Any) -> bool:
    """JMESPath's notion of true: everything but null, false, and empty text, lists and mappings."""
    return not (value is None or value is False or value in ("", [], {}))


def map_row(fields: tuple[Field, ...], item: Any, context: Context) -> Row | None:
    """One row from one item, without the fields for which nothing was found; None when a required one is missing."""
    row: Row = {}
    for one in fields:
        value = one.read(item, context)
        if value is None or value in MISSING:
            if one.has_else and value is not None:
                row[one.name] = value
            elif one.required:
                return None
            continue
        row[one.name] = value
    return row
