"""Values and fields of specs (constants, expressions, trees, selectors) become closures that know what they use."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from specloom.core import Diagnostic, Place, Report, dataclass, looks_secret
from specloom.language import (
    ANY,
    BOOLEAN,
    CONVERTERS,
    INTEGER,
    NUMBER,
    TEXT,
    Bindings,
    ConverterProblem,
    ExpressionProblem,
    ListOf,
    Maybe,
    Moment,
    RecordType,
    Shape,
    XPathProblem,
    compile_converter,
    compile_expression,
    compile_selector,
    compile_xpath,
    constantly,
    converted,
    every_from_context,
    every_selected,
    first_hit,
    from_context,
    list_of,
    maybe,
    object_of,
    of_each,
    only_item,
    selected,
    selection,
    share,
    xpath_every,
    xpath_first,
    xpath_nodes,
    xpath_selection,
)
from specloom.model import NULL_KEPT, Field, Pair, Uses, Value
from specloom.specs import Listing, Map, Node, YamlEntry, YamlScalar, texts_of, to_plain

Tables = Mapping[str, Mapping[str, Any]]
_SHOWN = 60
_HOLE = re.compile(r"\$?\{\{?\s*+([^{}]*[^{}\s])\s*+\}?\}")
_VALUE_NAME = re.compile(r"\bvalues\.([A-Za-z_][A-Za-z0-9_]*)")
# All of them as one object, or one of them in another way than `values.NAME`; `values(…)` is a function.
_WHOLE_VALUES = re.compile(r"\bvalues\b(?!\(|\.[A-Za-z_])")
_PROSE = frozenset({"title", "description", "notes", "config", "examples", "values", "input", "tables"})
"""Keys of a tool, a resource or an operation below which nothing names a value; `values` are looked at apart."""


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
        return _gathered(node, parts, list_of(tuple(parts)), shape)
    pairs = compile_pairs(node, scope)
    if len(pairs) < len(node.entries):
        return None
    if all(value.constant for _, value in pairs):
        return _constant(node, {key: value for key, value in to_plain(node).items() if value is not None})
    return _gathered(node, [value for _, value in pairs], object_of(pairs), ANY)


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
    return Value(constantly(value), shape, node.place, constant=True)


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


def maps_of(node: Node | None) -> list[Map]:
    """The mappings of a list; none when it is not there."""
    return [item for item in items_of(node) if isinstance(item, Map)]


def scalars_of(node: Node | None) -> list[YamlScalar]:
    """The single values of a list; none when it is not there."""
    return [item for item in items_of(node) if isinstance(item, YamlScalar)]


def needed_definitions(shared: Iterable[YamlEntry], node: Node) -> list[YamlEntry]:
    """Those of the shared named expressions that a tree names, or that another needed one names, in their order."""
    entries = list(shared)
    wanted = _named_values(node)
    size = -1
    while size != len(wanted):
        size = len(wanted)
        wanted |= {name for entry in entries if entry.key in wanted for name in _named_values(entry.value)}
    return [entry for entry in entries if entry.key in wanted]


def used_definitions(definitions: Iterable[Pair], node: Node | None) -> tuple[Pair, ...]:
    """Those of the named values that something in a tree needs, itself or through another; no other is worked out."""
    definitions = tuple(definitions)
    used = find_used([(name, (value.text,)) for name, value in definitions], node)
    return tuple(one for one in definitions if one[0] in used)


def find_unused_values(root: Map) -> list[YamlEntry]:
    """The named values of a spec that nothing needs, not even through another, in the order of the file.

    Those of a provider itself are needed where one of its operations needs them.
    """
    shared = entries_of(root.get("values"))
    operations = [entry.value for entry in entries_of(root.get("operations")) if isinstance(entry.value, Map)]
    unused: list[YamlEntry] = []
    used = set[str]() if operations else find_used(_texts_by_name(shared), root)
    for node in operations:
        own = entries_of(node.get("values"))
        needed = find_used(_texts_by_name([*shared, *own]), node)
        unused += [entry for entry in own if entry.key not in needed]
        used |= needed
    return [*(entry for entry in shared if entry.key not in used), *unused]


def _texts_by_name(entries: Iterable[YamlEntry]) -> list[tuple[str, tuple[str, ...]]]:
    return [(entry.key, tuple(texts_of(entry.value))) for entry in entries]


def find_used(definitions: Iterable[tuple[str, Sequence[str]]], node: Node | None) -> set[str]:
    """The names that a tree uses, of definitions with the texts of each; those that only an unused one uses are not."""
    texts_by_name = dict(definitions)
    parts = [entry.value for entry in entries_of(node) if entry.key not in _PROSE]
    texts = [text for part in parts for text in texts_of(part)]
    if any(_WHOLE_VALUES.search(text) for text in (*texts, *(text for one in texts_by_name.values() for text in one))):
        return set(texts_by_name)
    wanted = {name for text in texts for name in _VALUE_NAME.findall(text)}
    known: set[str] = set()
    while fresh := (wanted - known) & texts_by_name.keys():
        known |= fresh
        wanted |= {name for one in fresh for text in texts_by_name[one] for name in _VALUE_NAME.findall(text)}
    return known


def _named_values(node: Node) -> set[str]:
    return {name for text in texts_of(node) for name in _VALUE_NAME.findall(text)}


# --- Fields of rows: a selector, an expression over the whole context, or the long form with converters ---------------


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
    nodes: Callable[[Any, Bindings], list[Any]]
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
    if inner is not None:
        read = of_each(found[0].nodes, inner.first, convert, fallback, when)
    else:
        hits = tuple(reader.every if wants_all else reader.first for reader in found)
        read = first_hit(hits, convert, fallback, when)
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

        return _FieldReader(
            from_context(value),
            every_from_context(value),
            only_item(),
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
    every = every_selected(expression.evaluate, node.place)
    return _FieldReader(
        selected(expression.evaluate, node.place),
        every,
        every,
        expression.shape,
        tables=expression.tables,
        constant=text.startswith(("'", "`")),
    )


def _xpath_reader(node: YamlScalar, text: str, language: SelectorLanguage, report: Report) -> _FieldReader | None:
    try:
        compile_xpath(text, language.namespaces)
    except XPathProblem as problem:
        report.add(problem.code, node.at(problem.offset), problem.message)
        return None
    said = (text, language.namespaces)
    return _FieldReader(xpath_first(*said), xpath_every(*said), xpath_nodes(*said), ANY)


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
        return xpath_selection(node.value, language.namespaces) if reader else None
    expression, problems = compile_selector(node.value, ANY, tables=scope.tables)
    note_problems(problems, node, 0, scope.report)
    if expression is None or problems:
        return None
    return selection(expression.evaluate, node.place)


def _chain(node: Node | None, report: Report) -> tuple[Callable[[Any, Moment], Any] | None, Shape | None]:
    if node is None:
        return None, None
    assert isinstance(node, Listing)
    steps: list[tuple[str, Any]] = []
    shape: Shape | None = None
    for item in node.items:
        pairs = (
            [(str(item.value), None)]
            if isinstance(item, YamlScalar)
            else [(e.key, to_plain(e.value)) for e in entries_of(item)]
        )
        for name, parameters in pairs:
            try:
                compile_converter(name, parameters)
            except ConverterProblem as problem:
                report.add(problem.code, item.place, problem.message, problem.hint)
                continue
            steps.append((name, parameters))
            shape = _RETURNS.get(CONVERTERS[name].returns, ANY)
    return converted(tuple(steps)), shape


# --- What stands written out in a request: what cannot be sent, and what should not stand in a file ------------------


_HINT = "declare a setting under `config` with `secret: true`, and send it as =config.NAME"


def check_constants(node: Node | None, report: Report, *, headers: bool = False) -> None:
    """Report the texts of a mapping of request values that look like a secret (W202).

    With `headers` those that hold a line break or another control character are reported too (E104).
    """
    for entry in node if isinstance(node, Map) else ():
        for text, place in _texts(entry.value):
            if headers and not text.isprintable() and any(one < " " or one == "\x7f" for one in text):
                message = f"the header {entry.key!r} holds a control character, which cannot be sent"
                report.add("E104", place, message, "write it on one line")
            if looks_secret(entry.key, text):
                report.add("W202", place, f"what is sent as {entry.key!r} looks like a secret", _HINT)


def _texts(node: Node) -> list[tuple[str, Place]]:
    """The texts below a request value that are no expressions, each with its place."""
    if isinstance(node, YamlScalar):
        is_text = isinstance(node.value, str) and not node.value.startswith("=")
        return [(str(node.value), node.place)] if is_text else []
    parts = node.items if isinstance(node, Listing) else [entry.value for entry in node]
    return [found for part in parts for found in _texts(part)]
