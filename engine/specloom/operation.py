"""Compiles one operation of a provider and holds it against the capability that it offers."""

from __future__ import annotations

from collections.abc import Mapping

from .conform import conformers
from .diagnostics import Report, did_you_mean
from .load_tree import Entry, Listing, Map, Node, Scalar, to_plain
from .model_providers import Arrangement, Capability, Join, Nearest, Operation, Shard, Step
from .shapes import ANY, Shape, maybe
from .steps import compile_steps
from .tracker import Tracker
from .values import Scope, compile_definitions, entries_of, needed_definitions, whole

_ROWS = "what comes out"


def compile_operation(
    provider: str, entry: Entry, scope: Scope, capabilities: Mapping[str, Capability], shared: list[Entry]
) -> Operation | None:
    """An operation ready to run, or None when something in it is wrong; `shared` are the provider's `values`."""
    node, report, tracker = entry.value, scope.report, Tracker()
    assert isinstance(node, Map)
    before = len(report.errors)
    capability = _find_capability(entry, node, capabilities, report)
    arguments = _arguments(node, capability, report)
    scope = scope.plus(args=whole(arguments), steps=whole({}))
    own = entries_of(node.get("values"))
    values, scope = compile_definitions([*needed_definitions(shared, node), *own], scope)
    shard = _shard(node.get("shard"), arguments, scope, tracker)
    steps, shapes = compile_steps(node.get("steps"), scope, capability, tracker)
    scope = scope.plus(steps=whole(shapes), page=ANY)
    arrangement = _arrangement(node.get("rows"), scope, tracker)
    facts = [(one.key, tracker.expression("the facts", one.value, scope)) for one in entries_of(node.get("meta"))]
    if len(report.errors) > before or capability is None:
        return None
    _check_contract(f"{provider}.{entry.key}", capability, steps, arrangement, report)
    paths = {path for _, path in tracker.paths(dict(values))}
    used = frozenset(arguments if ("args",) in paths else (p[1] for p in paths if p[0] == "args" and len(p) > 1))
    for name in arguments:
        if name not in used:
            listed = node.get("input")
            items = listed.items if isinstance(listed, Listing) else ()
            place = next((item.place for item in items if to_plain(item) == name), entry.place)
            report.add("W307", place, f"operation {entry.key!r} takes {name!r} but nothing uses it")
    return Operation(
        provider,
        entry.key,
        capability.name,
        tuple(arguments),
        tuple(steps),
        entry.place,
        values,
        shard,
        arrangement,
        tuple((key, value) for key, value in facts if value is not None),
        conformers(capability),
        used,
        to_plain(node.get("description")) or "",
    )


def _find_capability(
    entry: Entry, node: Map, capabilities: Mapping[str, Capability], report: Report
) -> Capability | None:
    said = node.get("capability")
    name = str(to_plain(said)) if said else entry.key
    if name in capabilities:
        return capabilities[name]
    if name not in report.left_out:
        place = said.place if said else entry.place
        report.add("E110", place, f"no capability is called {name!r}", did_you_mean(name, capabilities))
    return None


def _arguments(node: Map, capability: Capability | None, report: Report) -> dict[str, Shape]:
    listed = node.get("input")
    assert isinstance(listed, Listing)
    found: dict[str, Shape] = {}
    for item in listed.items:
        assert isinstance(item, Scalar)
        name = str(item.value)
        if capability and name not in capability.arguments:
            hint = did_you_mean(name, capability.arguments)
            report.add("E120", item.place, f"capability {capability.name!r} has no argument {name!r}", hint)
            found[name] = ANY
        else:
            found[name] = maybe(capability.arguments[name].shape) if capability else ANY
    return found


def _shard(node: Node | None, arguments: Mapping[str, Shape], scope: Scope, tracker: Tracker) -> Shard | None:
    if not isinstance(node, Map):
        return None
    over = node.get("over")
    assert isinstance(over, Scalar)
    if over.value not in arguments:
        hint = did_you_mean(str(over.value), arguments)
        scope.report.add("E110", over.place, f"the operation takes no argument {over.value!r}", hint)
        return None
    what = "the shard"
    tracker.note(what, frozenset({("args", str(over.value))}))
    return Shard(str(over.value), to_plain(node.get("at_most")), tracker.text(what, "fits", node, scope))


def _arrangement(node: Node | None, scope: Scope, tracker: Tracker) -> Arrangement:
    if not isinstance(node, Map):
        return Arrangement()
    rows = tracker.text(_ROWS, "from", node, scope)
    join: Join | None = None
    join_node, near_node = node.get("join"), node.get("nearest")
    if isinstance(join_node, Map):
        other = tracker.text(_ROWS, "with", join_node, scope)
        if other:
            join = Join(other, to_plain(join_node.get("on")), tuple(to_plain(join_node.get("take"))))
    nearest: Nearest | None = None
    if isinstance(near_node, Map):
        lat, lon = (tracker.text(_ROWS, key, near_node, scope) for key in ("lat", "lon"))
        if lat and lon:
            nearest = Nearest(lat, lon, tracker.text(_ROWS, "within", near_node, scope))
    keep = tracker.text(_ROWS, "keep", node, scope.plus(row=ANY))
    return Arrangement(rows, join, nearest, keep, tracker.text(_ROWS, "take", node, scope))


def _check_contract(
    who: str, capability: Capability, steps: list[Step], arrangement: Arrangement, report: Report
) -> None:
    """What comes out fits the capability: no unknown field, and every required one is mapped."""
    joined = set(arrangement.join.take) if arrangement.join else set()
    for source in _source_steps(steps, arrangement):
        fields = {one.name: one for one in source.reading.fields}
        for one in fields.values():
            if one.name not in capability.row:
                hint = did_you_mean(one.name, capability.row)
                report.add("E121", one.place, f"a row of {capability.name!r} has no field {one.name!r}", hint)
        for wanted in capability.row.values():
            if wanted.required and wanted.name not in fields and wanted.name not in joined:
                message = f"{who} does not map {wanted.name!r}, which every {capability.name} row has"
                report.add("E122", source.reading.place, message, f"add it to `map`: {wanted.description}")


def _source_steps(steps: list[Step], arrangement: Arrangement) -> list[Step]:
    """The steps whose rows come out: those that `rows.from` names, else the last one that is needed."""
    if arrangement.rows is not None:
        names = {path[1] for path in arrangement.rows.uses if path[0] == "steps" and len(path) > 1}
        return [step for step in steps if step.name in names]
    return [step for step in steps if not step.optional][-1:]
