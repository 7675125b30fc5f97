"""What a spec says over what goes without saying: arguments of a `with`, and the fields that hooks add to rows."""

from __future__ import annotations

from .diagnostics import did_you_mean
from .load_tree import Map, Node
from .model_providers import Capability
from .model_values import Pair
from .shapes import Shape, from_schema, maybe
from .surroundings import Surroundings
from .tracker import Tracker
from .values import Scope


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


def added_by(hook: str, around: Surroundings) -> dict[str, Shape]:
    """The fields that a hook adds to a row, or that the rows it makes have."""
    return {name: maybe(from_schema(dict(said))) for name, said in around.hooks[hook].adds.items()}
