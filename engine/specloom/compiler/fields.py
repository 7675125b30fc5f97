"""Compiles the fields of rows: a selector, an expression over the whole context, or the long form with converters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from specloom.core import Report
from specloom.language import (
    ANY,
    BOOLEAN,
    CONVERTERS,
    INTEGER,
    MISSING,
    NUMBER,
    TEXT,
    Bindings,
    ConverterProblem,
    EvaluationError,
    Layer,
    ListOf,
    Maybe,
    Moment,
    RecordType,
    Shape,
    Unworkable,
    XPathProblem,
    as_list,
    compile_converter,
    compile_selector,
    compile_xpath,
    defer_xpath,
    maybe,
    share,
    truthy,
)
from specloom.language.evaluate import evaluate
from specloom.model import NULL_KEPT, Field, Uses
from specloom.specs import Listing, Map, Node, YamlEntry, YamlScalar, to_plain

from .values import Scope, compile_text, entries_of, note_problems, warn_of_expression

_RETURNS: Mapping[str, Shape] = {
    "text": TEXT,
    "integer": INTEGER,
    "number": NUMBER,
    "boolean": BOOLEAN,
    "list": ListOf(ANY),
}


@dataclass(frozen=True, slots=True)
class SelectorLanguage:
    """How selectors into the items of one decoder are compiled."""

    name: str
    namespaces: Mapping[str, str]

    @property
    def is_xpath(self) -> bool:
        """XPath for trees, JMESPath for everything else."""
        return self.name == "xpath"


@dataclass(frozen=True, slots=True)
class _FieldReader:
    """Reads one thing from an item: the first hit, every hit, or the nodes themselves."""

    first: Callable[[Any, Bindings], Any]
    every: Callable[[Any, Bindings], list[Any]]
    nodes: Callable[[Any], list[Any]]
    shape: Shape
    uses: Uses = frozenset()
    tables: frozenset[str] = frozenset()
    constant: bool = False


def compile_field(entry: YamlEntry, language: SelectorLanguage, item: Shape, scope: Scope) -> Field | None:
    """One entry of a `map`: a selector, an expression over the whole context, or the long form."""
    node = entry.value
    if isinstance(node, YamlScalar):
        reader = _reader(node, language, item, scope)
        if reader is None:
            return None
        if isinstance(node.value, str) and not node.value.startswith("=") and not language.is_xpath:
            # An item may have anything in it, but hardly what the tool or the operation calls so.
            warn_of_expression(node, scope, ("args", "config"))
        sure = reader.constant or (isinstance(item, RecordType) and item.closed)
        shape = reader.shape if sure else maybe(reader.shape)
        return Field(entry.key, reader.first, shape, entry.place, reader.uses, reader.tables, constant=reader.constant)
    assert isinstance(node, Map)
    return _long_field(entry, node, language, item, scope)


def _long_field(entry: YamlEntry, node: Map, language: SelectorLanguage, item: Shape, scope: Scope) -> Field | None:
    before = len(scope.report.found)
    at, each = node.get("at"), node.get("each")
    selectors = at.items if isinstance(at, Listing) else (at,) if at else (each,)
    readers = [_reader(one, language, item, scope) for one in selectors if isinstance(one, YamlScalar)]
    inner = _reader(value, language, ANY, scope) if isinstance(value := node.get("value"), YamlScalar) else None
    if each is not None and value is None:
        scope.report.add("E102", node.place, "a field with `each` needs `value`, which is read from every node")
    when = compile_text(condition, scope) if (condition := node.get("when")) else None
    convert, returns = _chain(node.get("then"), scope.report)
    wants_all = to_plain(node.get("all")) is True
    if len(scope.report.found) > before:
        return None
    found = [reader for reader in readers if reader]
    has_else = "else" in node
    fallback = to_plain(node.get("else"))
    keeps_null = has_else and fallback is None
    if keeps_null:
        fallback = NULL_KEPT

    def read(one: Any, context: Bindings) -> Any:
        if when is not None and not truthy(evaluate(when, context)):
            return None
        result: Any = None
        if inner is not None:
            result = [got for part in found[0].nodes(one) if (got := inner.first(part, context)) not in MISSING]
        else:
            for reader in found:
                result = reader.every(one, context) if wants_all else reader.first(one, context)
                if convert is not None and result not in MISSING:
                    result = convert(result, context.get("moment"))
                if result not in MISSING:
                    return result
            result = None
        if convert is not None and result not in MISSING:
            result = convert(result, context.get("moment"))
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
    if keeps_null:
        shape = maybe(shape)
    return Field(
        entry.key, read, shape, entry.place, share(uses), share(tables), required, constant, has_else, keeps_null
    )


def _reader(node: YamlScalar, language: SelectorLanguage, item: Shape, scope: Scope) -> _FieldReader | None:
    text = node.value
    assert isinstance(text, str)
    if text.startswith("="):
        value = compile_text(node, scope)
        if value is None:
            return None
        constant = not any(path[0] in {"item", "page", "headers"} for path in value.uses)

        def from_context(one: Any, context: Bindings) -> Any:
            return evaluate(value, Layer(context, item=one))

        return _FieldReader(
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

    def first(one: Any, _context: Bindings) -> Any:
        # The innermost loop of every mapping, so `selected` is written out.
        try:
            return select(one)
        except EvaluationError as error:
            raise Unworkable(error, node.place) from None

    return _FieldReader(
        first,
        lambda one, _context: as_list(selected(select, one, node)),
        lambda one: as_list(selected(select, one, node)),
        expression.shape,
        tables=expression.tables,
        constant=text.startswith(("'", "`")),
    )


def _xpath_reader(node: YamlScalar, text: str, language: SelectorLanguage, report: Report) -> _FieldReader | None:
    if report.checked:
        later = defer_xpath(text, language.namespaces)
        return _FieldReader(
            lambda one, _c: later().first(one), lambda one, _c: later().all(one), lambda one: later().nodes(one), ANY
        )
    try:
        path = compile_xpath(text, language.namespaces)
    except XPathProblem as problem:
        report.add(problem.code, node.at(problem.offset), problem.message)
        return None
    return _FieldReader(lambda one, _c: path.first(one), lambda one, _c: path.all(one), path.nodes, ANY)


def selected(select: Callable[[Any], Any], one: Any, node: YamlScalar) -> Any:
    """What a selector finds in an item; an item that it cannot be applied to means that the upstream changed."""
    try:
        return select(one)
    except EvaluationError as error:
        raise Unworkable(error, node.place) from None


def compile_selection(node: Node, language: SelectorLanguage, scope: Scope) -> Callable[[Any], list[Any] | None] | None:
    """A selector of many: from a document to the list of what it selects, or to None where a key is missing.

    A tree has no empty lists: what is not there is missing.
    """
    assert isinstance(node, YamlScalar)
    assert isinstance(node.value, str)
    if node.value.startswith("="):
        scope.report.add("E104", node.place, "a selector is needed here, not an expression", "leave out the `=`")
        return None
    if language.is_xpath:
        reader = _reader(node, language, ANY, scope)
        return (lambda document: reader.nodes(document) or None) if reader else None
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
            if isinstance(item, YamlScalar)
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
