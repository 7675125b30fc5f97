"""Compiles the plan of a tool: its strategies, and what a row of any of them looks like."""

from __future__ import annotations

from collections.abc import Iterable

from .load_tree import Listing, Map, Node, to_plain
from .model_tools import Again, Strategy
from .overrides import added_by, overrides_of
from .parts import compile_parts, rows_of_parts
from .shapes import ListOf, Record, Shape, join, maybe
from .surroundings import Surroundings, check_given
from .tracker import Tracker
from .values import Scope, whole

_KINDS = ("call", "first_of", "gather", "collect", "hook", "procedure")


def compile_plan(node: Node | None, scope: Scope, around: Surroundings, tracker: Tracker) -> tuple[Strategy, ...]:
    """The strategies of a plan, in order; those with problems are reported and left out."""
    assert isinstance(node, Listing)
    found = [_strategy(item, scope, around, tracker) for item in node.items if isinstance(item, Map)]
    return tuple(one for one in found if one)


def _strategy(node: Map, scope: Scope, around: Surroundings, tracker: Tracker) -> Strategy | None:
    name = str(to_plain(node.get("name")))
    what = f"the strategy {name!r}"
    when = tracker.text(what, "when", node, scope)
    outcomes = to_plain(node.get("on")) or {}
    kind = next(word for word in _KINDS if word in node)
    inner = node.get(kind)
    assert isinstance(inner, Map)
    if kind == "hook":
        parameters = tracker.pairs(what, inner.get("with"), scope)
        called, hook = around.find_hook(inner.get("name"), inner.get("with"), scope.report)
        if hook is None:
            return None
        return Strategy(name, kind, node.place, when=when, overrides=parameters, hook=called, outcomes=outcomes)
    if kind == "procedure":
        parameters = tracker.pairs(what, inner.get("with"), scope)
        called, procedure = around.find_procedure(inner.get("name"), inner.get("with"), scope.report)
        if procedure is None:
            return None
        check_given(procedure, parameters, scope.report)
        return Strategy(name, kind, node.place, when=when, overrides=parameters, hook=called, outcomes=outcomes)
    if kind == "collect":
        parts = compile_parts(inner.get("parts"), scope, around, tracker)
        if parts is None:
            return None
        rows = rows_of_parts(inner, parts, scope.report)
        return Strategy(name, kind, node.place, when=when, outcomes=outcomes, parts=parts, rows=rows)
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
        outcomes=outcomes,
    )


def row_shape_of(plan: Iterable[Strategy], around: Surroundings) -> Record:
    """A row that any of these strategies may give: a field that not all of them have may be null."""
    strategies = list(plan)
    operations = dict.fromkeys(one.operation for one in strategies if one.operation)
    shapes = [around.capabilities[one].shape for one in operations]
    shapes += [whole(added_by(one.hook, around)) for one in strategies if one.kind == "hook"]
    shapes += [part.shape for one in strategies for part in one.parts if part.name in one.rows]
    fields: dict[str, Shape] = {}
    for shape in shapes:
        for name, known in shape.fields.items():
            everywhere = all(name in other.fields for other in shapes)
            merged = join(fields[name], known) if name in fields else known
            fields[name] = merged if everywhere else maybe(merged)
    return whole(fields)
