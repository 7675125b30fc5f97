"""Compiles the plan of a tool: its strategies, and what a row of any of them looks like."""

from __future__ import annotations

from collections.abc import Iterable

from .diagnostics import did_you_mean
from .load import Listing, Map, Node, to_plain
from .model import Again, Capability, Pair, Strategy
from .shapes import ListOf, Record, Shape, from_schema, join, maybe
from .surroundings import Surroundings
from .tracker import Tracker
from .values import Scope, whole

_KINDS = ("call", "first_of", "gather", "hook")


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
        outcomes=outcomes,
    )


def overrides_of(
    what: str, node: Node | None, capability: Capability, scope: Scope, tracker: Tracker
) -> tuple[Pair, ...]:
    """The arguments of a `with`; one that the capability does not have is reported."""
    for entry in node if isinstance(node, Map) else ():
        if entry.key not in capability.arguments:
            hint = did_you_mean(entry.key, capability.arguments)
            message = f"capability {capability.name!r} has no argument {entry.key!r}"
            scope.report.add("E110", entry.place, message, hint)
    return tracker.pairs(what, node, scope)


def row_shape_of(plan: Iterable[Strategy], around: Surroundings) -> Record:
    """A row that any of these strategies may give: a field that not all of them have may be null."""
    strategies = list(plan)
    operations = dict.fromkeys(one.operation for one in strategies if one.operation)
    shapes = [around.capabilities[one].shape for one in operations]
    shapes += [whole(added_by(one.hook, around)) for one in strategies if one.hook]
    fields: dict[str, Shape] = {}
    for shape in shapes:
        for name, known in shape.fields.items():
            everywhere = all(name in other.fields for other in shapes)
            merged = join(fields[name], known) if name in fields else known
            fields[name] = merged if everywhere else maybe(merged)
    return whole(fields)


def added_by(hook: str, around: Surroundings) -> dict[str, Shape]:
    """The fields that a hook adds to a row, or that the rows it makes have."""
    return {name: maybe(from_schema(dict(said))) for name, said in around.hooks[hook].adds.items()}
