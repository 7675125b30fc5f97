"""Compiles the parts of a `collect`: what each asks, what a row of it is, and which others it has to wait for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from .diagnostics import Report, did_you_mean
from .load_tree import Listing, Map, Node, Scalar, to_plain
from .model_tools import Part, Strategy
from .model_values import Value
from .overrides import overrides_of
from .shapes import ANY, BOOLEAN, TEXT, ListOf, Record, Shape, maybe
from .stages import compile_stages
from .surroundings import Surroundings
from .tracker import Tracker
from .values import Scope, expand, items_of, whole

_FAULT = maybe(whole({"kind": TEXT, "message": TEXT}))


def declared_parts(plan: Node | None, around: Surroundings) -> dict[str, Shape]:
    """What `parts` holds as far as it is known before the plan is compiled; of fields that stages add, the names."""
    found: dict[str, Shape] = {}
    for strategy in plan.items if isinstance(plan, Listing) else ():
        collect = strategy.get("collect") if isinstance(strategy, Map) else None
        parts = collect.get("parts") if isinstance(collect, Map) else None
        for entry in parts if isinstance(parts, Map) else ():
            said = to_plain(entry.value)
            capability = around.capabilities.get(str(said.get("operation")))
            if capability is None:
                found[entry.key] = ANY
                continue
            added = {name: ANY for stage in said.get("after", ()) for name in _added(stage)}
            found[entry.key] = _part_shape(whole({**capability.shape.fields, **added}))
    return found


def _added(stage: Mapping[str, Any]) -> list[str]:
    """The fields that a stage puts into a row, as it is written."""
    expanded = [stage["expand"]["as"]] if "expand" in stage else []
    return [*stage.get("set", ()), *expanded, *stage.get("lookup", {}).get("take", ())]


def _part_shape(row: Record) -> Record:
    return whole({"rows": ListOf(row), "fault": _FAULT, "provider": maybe(TEXT), "asked": BOOLEAN, "meta": ANY})


def compile_parts(node: Node | None, scope: Scope, around: Surroundings, tracker: Tracker) -> tuple[Part, ...] | None:
    """The parts in order, of which each sees the ones before it; None when one of them has problems."""
    assert isinstance(node, Map)
    found: list[Part] = []
    shapes: dict[str, Shape] = {}
    for entry in node:
        assert isinstance(entry.value, Map)
        part = _part(entry.key, entry.value, scope.plus(parts=whole(dict(shapes))), around, tracker)
        shapes[entry.key] = _part_shape(part.shape) if part else ANY
        if part:
            found.append(part)
    return tuple(found) if len(found) == len(node.entries) else None


def _part(name: str, node: Map, scope: Scope, around: Surroundings, tracker: Tracker) -> Part | None:
    what, inner = f"the part {name!r}", Tracker()
    when = inner.text(what, "when", node, scope)
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
    outcomes = to_plain(node.get("on")) or {}
    return Part(name, node.place, capability.name, providers, when, overrides, outcomes, after, shape, uses)


def rows_of_parts(node: Map, parts: Iterable[Part], report: Report) -> tuple[str, ...]:
    """The names under `rows`, or of all parts; one that is no part is reported."""
    known, listed = [one.name for one in parts], node.get("rows")
    if not isinstance(listed, Listing):
        return tuple(known)
    for item in listed.items:
        if isinstance(item, Scalar) and item.value not in known:
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


def shape_of_parts(plan: Iterable[Strategy]) -> Record:
    """What `parts` holds once the plan has run."""
    return whole({part.name: _part_shape(part.shape) for strategy in plan for part in strategy.parts})
