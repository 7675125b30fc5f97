"""Compiles the plan of a tool: its strategies, and what a row of any of them looks like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from specloom.core import Report, did_you_mean, parse_duration
from specloom.language import ANY, BOOLEAN, INTEGER, NUMBER, TEXT, ListOf, RecordType, Shape, join, may_be_null, maybe
from specloom.model import Access, Again, Capability, CollectionModel, Pair, Part, Strategy, Value
from specloom.plugins import Hook, Procedure
from specloom.specs import Listing, Map, Node, YamlScalar, to_plain

from .stages import compile_stages
from .symbols import NEVER_NULL, DependencyTracker, Symbols, added_by, check_kind, overrides_of
from .values import Scope, entries_of, expand, items_of, maps_of, scalars_of, whole

# --- How a plan reads and writes declared collections: `recall`, `save` and `delete`, held against what is declared ---


ACCESS: Mapping[str, str] = {"recall": "from", "save": "into", "delete": "from"}
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
        value=_written_fields(what, node, collection, inside, tracker) if word == "save" else (),
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


def _written_fields(
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


# --- Compiles the parts of a `collect`: what each asks, what a row of it is, and which others it has to wait for ------


_FAULT = maybe(whole({"kind": TEXT, "message": TEXT}))


def declared_parts(plan: Node | None, around: Symbols) -> dict[str, Shape]:
    """What `parts` holds as far as it is known before the plan is compiled; of fields that stages add, the names."""
    found: dict[str, Shape] = {}
    for strategy in maps_of(plan):
        collect = strategy.get("collect")
        for entry in entries_of(collect.get("parts") if isinstance(collect, Map) else None):
            said = to_plain(entry.value)
            word = next((word for word in ACCESS if word in said), "")
            collection = around.collections.get(str(said[word].get(ACCESS[word]))) if word else None
            source = collection or around.capabilities.get(str(said.get("operation")))
            if source is None:
                found[entry.key] = ANY
                continue
            added = {name: ANY for stage in said.get("after", ()) for name in _added(stage)}
            row = whole({**source.shape.fields, **added})
            found[entry.key] = _shape(word, row, source.shape, always="when" not in said)
    return found


def _added(stage: Mapping[str, Any]) -> list[str]:
    """The fields that a stage puts into a row, as it is written."""
    expanded = [stage["expand"]["as"]] if "expand" in stage else []
    return [*stage.get("set", ()), *expanded, *stage.get("lookup", {}).get("take", ())]


def _shape(word: str, row: RecordType, item: RecordType, *, always: bool) -> RecordType:
    """What stands under the name of a part: of a question, or of what reaches into a collection by this word."""
    if not word:
        return whole({"rows": ListOf(row), "fault": _FAULT, "provider": maybe(TEXT), "asked": BOOLEAN, "meta": ANY})
    status: dict[str, Shape] = {"status": TEXT if always else maybe(TEXT), "reason": maybe(TEXT)}
    was: dict[str, Shape] = {"was": maybe(item)} if word == "save" else {}
    return whole({"rows": ListOf(row), "asked": BOOLEAN, **status, **was})


def _shape_of(part: Part) -> RecordType:
    return _shape(part.access.kind if part.access else "", part.shape, part.item, always=part.when is None)


def compile_parts(
    node: Node | None, scope: Scope, around: Symbols, tracker: DependencyTracker
) -> tuple[Part, ...] | None:
    """The parts in order, of which each sees the ones before it; None when one of them has problems."""
    assert isinstance(node, Map)
    found: list[Part] = []
    shapes: dict[str, Shape] = {}
    for entry in node:
        assert isinstance(entry.value, Map)
        part = _part(entry.key, entry.value, scope.plus(parts=whole(dict(shapes))), around, tracker)
        shapes[entry.key] = _shape_of(part) if part else ANY
        if part:
            found.append(part)
    return tuple(found) if len(found) == len(node.entries) else None


def _part(name: str, node: Map, scope: Scope, around: Symbols, tracker: DependencyTracker) -> Part | None:
    what, inner = f"the part {name!r}", DependencyTracker()
    when = inner.text(what, "when", node, scope)
    word = next((word for word in ACCESS if word in node), "")
    if word:
        for key in ("with", "on", "required"):
            if key in node:
                message = f"{what} reaches into a collection, which takes no `{key}`"
                scope.report.add("E105", node.entries[key].place, message, "remove it")
        access, item = compile_access(what, word, node.get(word), scope, around, inner)
        after, shape = compile_stages(node.get("after"), scope, item, around, inner)
        uses = tracker.absorb(inner)
        if access is None or len(after) < len(items_of(node.get("after"))):
            return None
        return Part(name, node.place, access=access, when=when, after=after, shape=shape, item=item, uses=uses)
    capability = around.find_capability(node.get("operation"), scope.report)
    providers_node = node.get("providers")
    if capability is None or providers_node is None:
        return None
    providers = inner.value(what, providers_node, scope)
    overrides = overrides_of(what, node.get("with"), capability, scope, inner)
    after, shape = compile_stages(node.get("after"), scope, capability.shape, around, inner)
    uses = tracker.absorb(inner)
    if providers is None or len(after) < len(items_of(node.get("after"))):
        return None
    outcomes = _outcomes(node, capability, scope.report)
    required = to_plain(node.get("required")) is True
    return Part(
        name,
        node.place,
        capability.name,
        providers,
        required=required,
        when=when,
        overrides=overrides,
        outcomes=outcomes,
        after=after,
        shape=shape,
        uses=uses,
    )


def rows_of_parts(node: Map, parts: Iterable[Part], report: Report) -> tuple[str, ...]:
    """The names under `rows`, or of all parts; one that is no part is reported."""
    known, listed = [one.name for one in parts], node.get("rows")
    if not isinstance(listed, Listing):
        return tuple(known)
    for item in scalars_of(listed):
        if item.value not in known:
            report.add("E110", item.place, f"no part is called {item.value!r}", did_you_mean(str(item.value), known))
    return tuple(to_plain(listed))


def settle_parts(plan: Iterable[Strategy], definitions: Mapping[str, Value], report: Report) -> tuple[Strategy, ...]:
    """The plan with each part knowing what it waits for, also through named values; one that waits for a later part is
    reported."""
    settled = []
    for strategy in plan:
        parts: list[Part] = []
        for part in strategy.parts:
            paths = expand(part.uses, definitions)
            needs = {path[1] for path in paths if path[0] == "parts" and len(path) > 1}
            before = {one.name for one in parts}
            if ("parts",) in paths:
                needs |= before
            for late in sorted(needs - before):
                report.add("E110", part.place, f"the part {part.name!r} uses {late!r}, which is not there before it")
            parts.append(replace(part, needs=frozenset(needs & before)))
        settled.append(replace(strategy, parts=tuple(parts)))
    return tuple(settled)


def shape_of_parts(plan: Iterable[Strategy]) -> RecordType:
    """What `parts` holds once the plan has run."""
    return whole({part.name: _shape_of(part) for strategy in plan for part in strategy.parts})


_KINDS = ("call", "first_of", "gather", "collect", "hook", "procedure")


def compile_plan(node: Node | None, scope: Scope, around: Symbols, tracker: DependencyTracker) -> tuple[Strategy, ...]:
    """The strategies of a plan, in order; those with problems are reported and left out."""
    found = [_strategy(item, scope, around, tracker) for item in maps_of(node)]
    return tuple(one for one in found if one)


def _strategy(node: Map, scope: Scope, around: Symbols, tracker: DependencyTracker) -> Strategy | None:
    name = str(to_plain(node.get("name")))
    what = f"the strategy {name!r}"
    when = tracker.text(what, "when", node, scope)
    outcomes = to_plain(node.get("on")) or {}
    kind = next(word for word in _KINDS if word in node)
    inner = node.get(kind)
    assert isinstance(inner, Map)
    if kind in ("hook", "procedure"):
        called: Hook | Procedure | None
        if kind == "hook":
            called, parameters = around.compile_hook(what, "name", inner, scope, tracker)
        else:
            called, parameters = around.compile_procedure(what, inner, scope, tracker)
        if called is None:
            return None
        return Strategy(name, kind, node.place, when=when, overrides=parameters, hook=called.name, outcomes=outcomes)
    if kind == "collect":
        parts = compile_parts(inner.get("parts"), scope, around, tracker)
        if parts is None:
            return None
        rows, wait = rows_of_parts(inner, parts, scope.report), _wait_of(inner)
        return Strategy(name, kind, node.place, when=when, outcomes=outcomes, parts=parts, rows=rows, wait=wait)
    capability = around.find_capability(inner.get("operation"), scope.report)
    if capability is None:
        return None
    providers_node = inner.get("provider" if kind == "call" else "providers")
    assert providers_node is not None
    providers = tracker.value(what, providers_node, scope)
    overrides = overrides_of(what, inner.get("with"), capability, scope, tracker)
    again: Again | None = None
    again_node = inner.get("again")
    if isinstance(again_node, Map):
        inside = scope.plus(rows=ListOf(capability.shape))
        again_when = tracker.text(what, "when", again_node, inside)
        more = overrides_of(what, again_node.get("with"), capability, inside, tracker)
        again = Again(again_when, more) if again_when else None
    if capability.writes and (kind == "gather" or again):
        message = f"{capability.name!r} writes, and nobody is to write twice"
        scope.report.add("E105", node.place, message, "use `call` or `first_of`, without `again`")
    return Strategy(
        name,
        kind,
        node.place,
        when=when,
        providers=providers,
        operation=capability.name,
        overrides=overrides,
        again=again,
        first_decides=to_plain(inner.get("first_decides")) is True,
        able_first=to_plain(inner.get("able_first")) is True,
        at_most=tracker.text(what, "at_most", inner, scope),
        wait=_wait_of(inner),
        outcomes=_outcomes(node, capability, scope.report),
    )


def _outcomes(node: Map, capability: Capability, report: Report) -> dict[str, str]:
    """What an error or an empty answer leads to; who was asked to write and failed may have written."""
    stated: dict[str, str] = to_plain(node.get("on")) or {}
    if not capability.writes:
        return stated
    for word, leads in stated.items():
        if leads == "next":
            message = f"{capability.name!r} writes, and the next would write what may be written already"
            report.add("E105", node.entries["on"].place, message, f"remove `{word}`")
    return {**stated, "error": "stop", "empty": "stop"}


def _wait_of(node: Map) -> float:
    """The seconds after which no answer is awaited; 0 where nothing is said."""
    return parse_duration(to_plain(node.get("wait"))) if "wait" in node else 0.0


WITNESS: Mapping[str, Shape] = {"provider": TEXT, "place": INTEGER}
"""The fields of a row that say who gave it, and as the how manieth."""


def row_shape_of(plan: Iterable[Strategy], around: Symbols, *, witnessed: bool = False) -> RecordType:
    """A row that any of these strategies may give: a field that not all of them have may be null.

    With `witnessed` a row says who gave it.
    """
    strategies = list(plan)
    operations = dict.fromkeys(one.operation for one in strategies if one.operation)
    shapes = [around.capabilities[one].shape for one in operations]
    shapes += [whole(added_by(one.hook, around)) for one in strategies if one.kind == "hook"]
    shapes += [part.shape for one in strategies for part in one.parts if part.name in one.rows]
    fields: dict[str, Shape] = {}
    for shape in shapes:
        for name, known in shape.fields.items():
            everywhere = all(name in other.fields for other in shapes)
            together = join(fields[name], known) if name in fields else known
            fields[name] = together if everywhere else maybe(together)
    return whole({**fields, **WITNESS} if witnessed else fields)


def check_witnesses(plan: Iterable[Strategy], report: Report) -> None:
    """Report strategies whose rows nobody is named for who gave them, in a tool that gathers or merges."""
    for strategy in plan:
        if strategy.kind not in ("call", "first_of", "gather"):
            message = f"rows of `{strategy.kind}` are nobody's, and here each row says who gave it"
            report.add("E105", strategy.place, message, "use `gather`, `first_of` or `call`")
