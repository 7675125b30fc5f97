"""Compiles resource files: what can be read beside calling tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specloom.core import Report, did_you_mean, parse_duration
from specloom.language import ANY, TEXT, ListOf, RecordType, Shape, from_schema, strip
from specloom.model import HOLE, Completion, Resource, Source, Tables
from specloom.plugins import schema_of
from specloom.specs import Map, Node, Spec, YamlScalar, to_plain

from .answer import compile_answer
from .provider import compile_tables
from .symbols import DependencyTracker, Symbols, record_of
from .values import Scope, compile_definitions, compile_text, entries_of, used_definitions, whole

DEFAULT_LIMIT = 100
LAST = 1_000_000
"""The place in the list of a resource that names none."""
ITEM = whole({"key": TEXT, "value": ANY})
"""An item of a collection as a row."""


def compile_resource(spec: Spec, around: Symbols, report: Report) -> Resource | None:
    """A resource, or None when something in it is wrong and was reported."""
    before = len(report.errors)
    root, plain, tracker = spec.root, to_plain(spec.root), DependencyTracker()
    holes = dict.fromkeys(HOLE.findall(plain["uri"]))
    names = whole({"engine": from_schema(schema_of(Tables)), "args": whole(dict.fromkeys(holes, TEXT))})
    scope = Scope(names, compile_tables(root.get("tables")), report)
    source, given = _compile_source(root.get("source"), scope, holes, around)
    scope = scope.plus(**given)
    values, scope = compile_definitions(entries_of(root.get("values")), scope)
    row_shape = RecordType({})
    answer, returned = (
        compile_answer(node, scope, row_shape, tracker) if (node := root.get("answer")) is not None else ((), None)
    )
    if (node is None) != (source.kind == "artifact"):
        hint = "an artifact is read as it is" if node is not None else "say what is read, as in a tool"
        report.add("E105", root.place, "a resource has an `answer`, or is an artifact", hint)
    for entry in (*entries_of(root.get("complete")), *entries_of(root.get("changes_with"))):
        _check_hole(entry.value, holes, report, entry.key)
    complete = {name: _complete(name, one, root, around, report) for name, one in (plain.get("complete") or {}).items()}
    if len(report.errors) > before:
        return None
    paths = [path for _, path in tracker.paths(dict(values))] + list(source.value.uses if source.value else ())
    return Resource(
        spec.name,
        plain["uri"],
        plain["title"],
        " ".join(plain["description"].split()),
        plain.get("mime_type", "application/json"),
        spec.place,
        plain.get("order", LAST),
        parse_duration(plain["ttl"]) if "ttl" in plain else 0.0,
        used_definitions(values, root),
        source,
        " ".join(plain.get("missing", "").split()),
        complete,
        plain.get("changes_with") or {},
        answer,
        returned,
        frozenset(path[1] for path in paths if path[0] == "engine" and len(path) > 1),
    )


def _compile_source(
    node: Node | None, scope: Scope, holes: Iterable[str], around: Symbols
) -> tuple[Source, dict[str, Shape]]:
    """The source, and what expressions may name of it."""
    if not isinstance(node, Map):
        return Source(), {}
    (entry,) = node
    kind, inner, report = entry.key, entry.value, scope.report
    if kind == "collection":
        assert isinstance(inner, YamlScalar)
        _check_collection(inner, around, report)
        return Source(kind, str(inner.value)), {"rows": ListOf(ITEM)}
    if kind == "artifact":
        _check_hole(inner, holes, report)
        return Source(kind, str(to_plain(inner))), {}
    assert isinstance(inner, Map)
    if kind == "one_of":
        rows, by = inner.get("rows"), inner.get("by")
        assert rows is not None
        assert isinstance(by, YamlScalar)
        value = compile_text(rows, scope)
        shape = strip(value.shape) if value else ANY
        item = shape.item if isinstance(shape, ListOf) else ANY
        _check_hole(by, holes, report)
        if isinstance(item, RecordType) and by.value not in item.fields:
            hint = did_you_mean(str(by.value), item.fields)
            report.add("E110", by.place, f"the rows have no field {by.value!r}", hint)
        return Source(kind, str(by.value), value), {"row": item}
    procedure, given = around.compile_procedure("the procedure", inner, scope, DependencyTracker())
    result = record_of(procedure) if procedure else ANY
    return Source(kind, str(to_plain(inner.get("name"))), parameters=given), {"result": result}


def _check_collection(node: Node | None, around: Symbols, report: Report) -> None:
    assert isinstance(node, YamlScalar)
    if node.value not in around.collections and node.value not in report.left_out:
        hint = did_you_mean(str(node.value), around.collections)
        report.add("E110", node.place, f"no collection is called {node.value!r}", hint)


def _check_hole(node: Node, holes: Iterable[str], report: Report, name: str = "") -> None:
    name = name or str(to_plain(node))
    if name not in holes:
        report.add("E110", node.place, f"the address has no hole {name!r}", did_you_mean(name, holes))


def _complete(name: str, said: Mapping[str, object], root: Map, around: Symbols, report: Report) -> Completion:
    node = root.get("complete")
    inner = node.get(name) if isinstance(node, Map) else None
    _check_collection(inner.get("collection") if isinstance(inner, Map) else None, around, report)
    return Completion(str(said["collection"]), int(str(said.get("limit", DEFAULT_LIMIT))))


def check_addresses(resources: Iterable[Resource], report: Report) -> None:
    """No two resources have one address (E011)."""
    seen: dict[str, Resource] = {}
    for one in resources:
        shape = HOLE.sub("{}", one.uri)
        if shape in seen:
            report.add(
                "E011", one.place, f"the address {one.uri!r} is that of two resources", f"also of {seen[shape].name}"
            )
        seen.setdefault(shape, one)
