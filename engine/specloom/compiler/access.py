"""Compiles how a plan reads and writes declared collections: `recall` and `save`, held against what is declared."""

from __future__ import annotations

from collections.abc import Mapping

from specloom.core import did_you_mean
from specloom.language import ANY, INTEGER, NUMBER, TEXT, ListOf, RecordType, may_be_null, maybe
from specloom.model import Access, CollectionModel, Pair, Value
from specloom.specs import Map, Node, YamlScalar, to_plain

from .symbols import NEVER_NULL, DependencyTracker, Symbols, check_kind
from .values import Scope, entries_of

ACCESS: Mapping[str, str] = {"recall": "from", "save": "into"}
"""The words that reach into a collection, each with the key that names it."""


def compile_access(
    what: str, word: str, node: Node | None, scope: Scope, around: Symbols, tracker: DependencyTracker
) -> tuple[Access | None, RecordType]:
    """How a part reaches into a collection, and what an item of it is; None where something is wrong."""
    assert isinstance(node, Map)
    report = scope.report
    before = len(report.errors)
    collection = _find_collection(node.get(ACCESS[word]), scope, around)
    if collection is None:
        return None, RecordType({}, closed=False)
    if (collection.spec.scope == "shared") != ("space" in node):
        hint = "say whose with `space`" if collection.spec.scope == "shared" else "remove `space`"
        report.add("E105", node.place, f"the collection {collection.name!r} is {collection.spec.scope}", hint)
    space = tracker.text(what, "space", node, scope)
    key = tracker.text(what, "key", node, scope)
    if key and not isinstance(key.shape, ListOf):
        check_kind("a key", TEXT, key, report)
    only_there = to_plain(node.get("only_there")) is True
    inside = scope.plus(key=TEXT, was=collection.shape if only_there else maybe(collection.shape))
    take, lasts = tracker.text(what, "take", node, scope), tracker.text(what, "lasts", node, scope)
    for name, value, wanted in (("take", take, INTEGER), ("lasts", lasts, NUMBER)):
        if value:
            check_kind(f"`{name}`", wanted, value, report)
    if key and (more := [name for name in ("where", "about", "take") if name in node]):
        report.add(
            "E105", node.entries[more[0]].place, f"an item of one key takes no `{more[0]}`", "remove one of them"
        )
    access = Access(
        word,
        collection.name,
        key=key,
        space=space,
        where=_where(what, node, collection, scope, tracker),
        about=_about(what, node, collection, scope, tracker),
        take=take,
        value=_value(what, node, collection, inside, tracker) if word == "save" else (),
        lasts=lasts,
        only_there=only_there,
    )
    return (access if len(report.errors) == before else None), collection.shape


def _find_collection(node: Node | None, scope: Scope, around: Symbols) -> CollectionModel | None:
    assert isinstance(node, YamlScalar)
    collection = around.collections.get(str(node.value))
    if collection is None and node.value not in scope.report.left_out:
        hint = did_you_mean(str(node.value), around.collections)
        scope.report.add("E110", node.place, f"no collection is called {node.value!r}", hint)
    elif collection is not None and not collection.row:
        message = f"the collection {node.value!r} does not say what its items hold"
        scope.report.add("E110", node.place, message, "declare its `fields`")
        return None
    return collection


def _where(
    what: str, node: Map, collection: CollectionModel, scope: Scope, tracker: DependencyTracker
) -> tuple[Pair, ...]:
    found = []
    for entry in entries_of(node.get("where")):
        if entry.key not in collection.spec.indexes:
            hint = did_you_mean(entry.key, collection.spec.indexes) or "declare it under `indexes`"
            scope.report.add(
                "E110", entry.place, f"the collection {collection.name!r} has no index {entry.key!r}", hint
            )
        value = tracker.expression(what, entry.value, scope)
        if value and not check_kind(f"the index {entry.key!r}", TEXT, value, scope.report):
            found.append((entry.key, value))
    return tuple(found)


def _about(what: str, node: Map, collection: CollectionModel, scope: Scope, tracker: DependencyTracker) -> Value | None:
    about = tracker.text(what, "about", node, scope)
    if about and not collection.spec.search:
        message = f"the collection {collection.name!r} has no fields that a search reads"
        scope.report.add("E110", about.place, message, "declare them under `search`")
    return about


def _value(
    what: str, node: Map, collection: CollectionModel, scope: Scope, tracker: DependencyTracker
) -> tuple[Pair, ...]:
    """The fields that are written; each has to be one of the collection's and of its type, and none may lack."""
    fields, report = collection.row, scope.report
    found = []
    for entry in entries_of(node.get("value")):
        value = tracker.expression(what, entry.value, scope)
        if entry.key not in fields:
            hint = did_you_mean(entry.key, fields)
            report.add("E110", entry.place, f"the collection {collection.name!r} has no field {entry.key!r}", hint)
        elif value and not check_kind(f"the field {entry.key!r}", fields[entry.key].shape, value, report):
            if fields[entry.key].required and may_be_null(value.shape) and value.shape != ANY:
                report.add("E204", value.place, f"the field {entry.key!r} is needed, and this may be null", NEVER_NULL)
            found.append((entry.key, value))
    for field in fields.values():
        if field.required and field.name not in {name for name, _ in found} and not report.errors:
            report.add("E102", node.place, f"an item of {collection.name!r} needs the field {field.name!r}")
    return tuple(found)
