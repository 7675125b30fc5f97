"""Compiles what happens to the rows of a tool after its plan, stage by stage."""

from __future__ import annotations

from .diagnostics import did_you_mean
from .load import Listing, Map, Node, Scalar, to_plain
from .model import Stage, Value
from .shapes import ListOf, Record, Shape, maybe
from .strategies import added_by, overrides_of
from .surroundings import Surroundings
from .tracker import Tracker
from .values import Scope, whole


def compile_stages(
    node: Node | None, scope: Scope, row_shape: Record, around: Surroundings, tracker: Tracker
) -> tuple[tuple[Stage, ...], Record]:
    """The stages in order, and what a row looks like after them; those with problems are reported and left out."""
    stages: list[Stage] = []
    for item in node.items if isinstance(node, Listing) else ():
        assert isinstance(item, Map)
        stage, row_shape = _stage(item, scope, row_shape, around, tracker)
        if stage:
            stages.append(stage)
    return tuple(stages), row_shape


def _stage(
    node: Map, scope: Scope, row_shape: Record, around: Surroundings, tracker: Tracker
) -> tuple[Stage | None, Record]:
    kind = next(entry.key for entry in node if entry.key != "as")
    what = f"the stage `{kind}`"
    inside = scope.plus(row=row_shape, rows=ListOf(row_shape))
    if kind in {"keep", "drop", "take"}:
        label = str(to_plain(node.get("as")) or "")
        return Stage(kind, node.place, tracker.text(what, kind, node, inside), label=label), row_shape
    inner = node.get(kind)
    assert isinstance(inner, Map)
    when = tracker.text(what, "when", inner, inside)
    if kind == "lookup":
        return _lookup(inner, what, inside, row_shape, around, tracker, when)
    if kind == "enrich":
        parameters = tracker.pairs(what, inner.get("with"), inside)
        name, hook = around.find_hook(inner.get("hook"), inner.get("with"), scope.report)
        if hook is None:
            return None, row_shape
        optional = to_plain(inner.get("optional")) is True
        stage = Stage(kind, node.place, when=when, hook=name, parameters=parameters, optional=optional)
        return stage, whole({**row_shape.fields, **added_by(name, around)})
    by = inner.get("by")
    names = by.items if isinstance(by, Listing) else (by,)
    for one in names:
        if isinstance(one, Scalar) and one.value not in row_shape.fields:
            hint = did_you_mean(str(one.value), row_shape.fields)
            scope.report.add("E110", one.place, f"a row has no field {one.value!r}", hint)
    fields = tuple(str(to_plain(one)) for one in names)
    descending = to_plain(inner.get("descending")) is True
    return Stage(kind, node.place, names=fields, descending=descending, when=when), row_shape


def _lookup(
    node: Map,
    what: str,
    scope: Scope,
    row_shape: Record,
    around: Surroundings,
    tracker: Tracker,
    when: Value | None,
) -> tuple[Stage | None, Record]:
    capability = around.find_capability(node.get("operation"), scope.report)
    if capability is None:
        return None, row_shape
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
    )
    return stage, whole({**row_shape.fields, **added})
