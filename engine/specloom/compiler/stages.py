"""Compiles what happens to the rows of a tool after its plan, stage by stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from specloom.core import Report, did_you_mean
from specloom.language import ANY, BOOLEAN, OPEN, TEXT, Any_, Choice, ListOf, RecordType, Shape, describe, maybe, strip
from specloom.model import Merge, Stage, Value
from specloom.specs import Listing, Map, Node, YamlEntry, YamlScalar, to_plain

from .symbols import DependencyTracker, Symbols, added_by, overrides_of
from .values import Scope, entries_of, items_of, maps_of, scalars_of, whole


def compile_stages(
    node: Node | None, scope: Scope, row_shape: RecordType, around: Symbols, tracker: DependencyTracker
) -> tuple[tuple[Stage, ...], RecordType]:
    """The stages in order, and what a row looks like after them; those with problems are reported and left out."""
    stages: list[Stage] = []
    for item in maps_of(node):
        stage, row_shape = _stage(item, scope, row_shape, around, tracker)
        if stage:
            stages.append(stage)
    return tuple(stages), row_shape


_FILTERS = frozenset({"keep", "drop"})
_ONCE = frozenset({"procedure", "group", "take"})
"""Stages that are of the whole answer, so that no provider's rows are judged by what stands behind one."""


def count_filters(stages: Sequence[Stage]) -> int:
    """How many stages there are up to the last filter; none where a stage of the whole answer stands among them."""
    last = max((at for at, stage in enumerate(stages) if stage.kind in _FILTERS), default=-1)
    return 0 if any(stage.kind in _ONCE for stage in stages[: last + 1]) else last + 1


def _stage(
    node: Map, scope: Scope, row_shape: RecordType, around: Symbols, tracker: DependencyTracker
) -> tuple[Stage | None, RecordType]:
    kind = next(entry.key for entry in node if entry.key != "as")
    what = f"the stage `{kind}`"
    inside = scope.plus(row=row_shape, rows=ListOf(row_shape))
    if kind in {"keep", "drop", "take"}:
        label = str(to_plain(node.get("as")) or "")
        return Stage(kind, node.place, tracker.text(what, kind, node, inside), label=label), row_shape
    inner = node.get(kind)
    assert isinstance(inner, Map)
    if kind == "set":
        pairs = [(entry.key, tracker.expression(what, entry.value, inside)) for entry in inner]
        made = tuple((name, value) for name, value in pairs if value)
        return Stage(kind, node.place, parameters=made), _with(row_shape, {name: value.shape for name, value in made})
    when = tracker.text(what, "when", inner, inside)
    if kind == "lookup":
        return _lookup(inner, what, inside, row_shape, around, tracker, when)
    if kind == "procedure":
        procedure, parameters = around.compile_procedure(what, inner, inside, tracker)
        stage = Stage(kind, node.place, hook=procedure.name, parameters=parameters) if procedure else None
        return stage, row_shape
    if kind == "enrich":
        hook, parameters = around.compile_hook(what, "hook", inner, inside, tracker)
        if hook is None:
            return None, OPEN
        optional = to_plain(inner.get("optional")) is True
        enriching = Stage(kind, node.place, when=when, hook=hook.name, parameters=parameters, optional=optional)
        return enriching, _with(row_shape, added_by(hook.name, around))
    if kind == "merge":
        return _merge(inner, node, row_shape, around, scope.report)
    if kind == "group":
        by, label = tracker.text(what, "by", inner, inside), str(to_plain(inner.get("as")))
        return Stage(kind, node.place, by, when=when, label=label), row_shape
    if kind == "expand":
        return _expand(inner, node, row_shape, scope)
    if kind == "sort":
        _check_fields((inner.get("by"),), row_shape, scope)
        descending = to_plain(inner.get("descending")) is True
        return Stage(
            kind, node.place, names=(str(to_plain(inner.get("by"))),), descending=descending, when=when
        ), row_shape
    together = [one.items if isinstance(one, Listing) else (one,) for one in items_of(inner.get("by"))]
    for names in together:
        _check_fields(names, row_shape, scope)
    keys = tuple(tuple(str(to_plain(one)) for one in names) for names in together)
    return Stage(kind, node.place, keys=keys, when=when), row_shape


def _with(row: RecordType, added: Mapping[str, Shape]) -> RecordType:
    """The row with more fields; one of which not everything is known stays so."""
    fields = {**row.fields, **added}
    return whole(fields) if row.closed else RecordType(fields, closed=False)


def _check_fields(names: Iterable[Node | None], row_shape: RecordType, scope: Scope) -> None:
    for one in names:
        if isinstance(one, YamlScalar) and row_shape.closed and one.value not in row_shape.fields:
            hint = did_you_mean(str(one.value), row_shape.fields)
            scope.report.add("E110", one.place, f"a row has no field {one.value!r}", hint)


def _expand(inner: Map, node: Map, row_shape: RecordType, scope: Scope) -> tuple[Stage, RecordType]:
    listed, one = inner.get("list"), str(to_plain(inner.get("as")))
    _check_fields((listed,), row_shape, scope)
    assert isinstance(listed, YamlScalar)
    shape = strip(row_shape.fields.get(str(listed.value), ANY))
    if not isinstance(shape, (ListOf, Any_)):
        scope.report.add("E110", listed.place, f"the field {listed.value!r} is no list")
    item = shape.item if isinstance(shape, ListOf) else ANY
    return Stage("expand", node.place, names=(str(listed.value), one)), _with(row_shape, {one: item})


def _merge(inner: Map, node: Map, row: RecordType, around: Symbols, report: Report) -> tuple[Stage | None, RecordType]:
    capability = around.find_capability(inner.get("by"), report)
    if capability is None:
        return None, OPEN
    if capability.identity is None:
        place = inner.entries["by"].place
        hint = "say under its `identity` which rows are about one thing"
        report.add("E110", place, f"capability {capability.name!r} does not say when two rows are one", hint)
        return None, OPEN
    scope = Scope(RecordType({}), {}, report)
    takes, everything = inner.get("take"), inner.get("all")
    take: list[tuple[str, str | tuple[str, ...]]] = []
    for entry in entries_of(takes):
        rule = to_plain(entry.value)
        _check_fields((YamlScalar(entry.key, entry.place, False),), row, scope)
        _check_choice(entry, rule, row, report)
        for provider in scalars_of(entry.value) if isinstance(rule, list) else ():
            if provider.value not in around.providers and provider.value not in report.left_out:
                hint = did_you_mean(str(provider.value), around.providers)
                report.add("E110", provider.place, f"there is no provider {provider.value!r}", hint)
        take.append((entry.key, tuple(rule) if isinstance(rule, list) else rule))
    added: dict[str, Shape] = {}
    for entry in entries_of(everything):
        _check_fields((entry.value,), row, scope)
        added[entry.key] = ListOf(TEXT) if to_plain(entry.value) == "provider" else maybe(ANY)
    versions = to_plain(inner.get("versions")) or {}
    for name in (to_plain(inner.get("from")) or "", versions.get("as", "")):
        if name:
            added[name] = maybe(ANY)
    versions_node = inner.get("versions")
    if isinstance(versions_node, Map):
        _check_fields(items_of(versions_node.get("fields")), row, scope)
    stage = Merge(
        capability.identity,
        tuple(take),
        tuple((to_plain(everything) or {}).items()),
        to_plain(inner.get("from")) or "",
        versions.get("as", ""),
        tuple(versions.get("fields", ())),
    )
    return Stage("merge", node.place, merge=stage), _with(row, added)


def _check_choice(entry: YamlEntry, rule: object, row: RecordType, report: Report) -> None:
    """Report `longest` of what has no length, and `any` of what is neither true nor false."""
    shape = strip(row.fields.get(entry.key, ANY))
    if rule == "longest" and not (isinstance(shape, Any_ | ListOf | Choice) or shape == TEXT):
        hint = 'say "any"' if shape == BOOLEAN else "name providers in their order"
        report.add("E104", entry.value.place, f"{entry.key!r} is {describe(shape)}, which has no length", hint)
    if rule == "any" and not (isinstance(shape, Any_) or shape == BOOLEAN):
        hint = 'say "longest", or name providers in their order'
        report.add("E104", entry.value.place, f"{entry.key!r} is {describe(shape)}, and `any` is for yes or no", hint)


def _lookup(
    node: Map,
    what: str,
    scope: Scope,
    row_shape: RecordType,
    around: Symbols,
    tracker: DependencyTracker,
    when: Value | None,
) -> tuple[Stage | None, RecordType]:
    capability = around.find_capability(node.get("operation"), scope.report)
    if capability is None:
        return None, OPEN
    providers_node, take = node.get("providers"), node.get("take")
    assert providers_node is not None
    assert isinstance(take, Map)
    providers = tracker.value(what, providers_node, scope)
    parameters = overrides_of(what, node.get("with"), capability, scope, tracker)
    added: dict[str, Shape] = {}
    for entry in take:
        wanted = str(to_plain(entry.value))
        if wanted not in capability.row:
            hint = did_you_mean(wanted, capability.row)
            scope.report.add("E110", entry.value.place, f"a row of {capability.name!r} has no field {wanted!r}", hint)
            continue
        added[entry.key] = row_shape.fields.get(entry.key) or maybe(capability.row[wanted].shape)
    stage = Stage(
        "lookup",
        node.place,
        names=("replace",) if to_plain(node.get("replace")) is True else (),
        when=when,
        parameters=parameters,
        optional=to_plain(node.get("optional")) is True,
        operation=capability.name,
        providers=providers,
        fields=tuple((entry.key, str(to_plain(entry.value))) for entry in take),
        next_on_empty=(to_plain(node.get("on")) or {}).get("empty") == "next",
    )
    return stage, _with(row_shape, added)
