"""Which inputs whoever answered did not hold to, so that an answer can name them instead of keeping silent."""

from __future__ import annotations

from collections.abc import Collection

from .arguments import Arguments
from .asking import Outcome
from .evaluate import evaluate
from .model import Model
from .model_tools import Tool, questions
from .model_values import Context, Value

LEFT_OUT = "not_applied"
"""The fact under `meta` in which an operation names arguments that it takes and left out because of their values."""


def find_unheld(tool: Tool, model: Model, arguments: Arguments, context: Context, outcome: Outcome) -> list[str]:
    """The inputs that the caller set and that changed nothing at whoever answered, in the order of the tool.

    An input that is an argument of any question of the plan counts by its name, another one by the arguments that it
    reaches through `with`: it is unheld when none of them was taken. One that names whom to ask has done its work.
    """
    if not outcome.served_by or not outcome.operation:
        return []
    asked = list(questions(tool.plan))
    known = {name for one in asked for name in model.capabilities[one.operation].arguments}
    taken = set(model.providers[outcome.served_by].operations[outcome.operation].input)
    taken -= set(outcome.meta.get(LEFT_OUT) or ())
    overrides = [pair for one in asked if one.operation == outcome.operation for pair in one.overrides]
    choosing = {path[:2] for one in asked if one.providers is not None for path in one.providers.uses}
    found = []
    for name in tool.inputs:
        if name not in arguments.explicit or ("args", name) in choosing:
            continue
        if arguments.given[name] == tool.inputs[name].default:
            continue
        reached = {name} if name in known else _reached(name, tool, overrides, context)
        if reached and not reached & taken:
            found.append(name)
    return found


def _reached(name: str, tool: Tool, overrides: Collection[tuple[str, Value]], context: Context) -> set[str]:
    """The arguments that an input has a part in, as far as they came to a value."""
    return {
        argument for argument, value in overrides if _is_in(name, value, tool) and evaluate(value, context) is not None
    }


def _is_in(name: str, value: Value, tool: Tool) -> bool:
    """Whether a value is worked out from an input, by itself or through the values of the tool."""
    named = dict(tool.values)
    return any(
        path[:2] == ("args", name)
        or (path[0] == "values" and len(path) > 1 and path[1] in named and _is_in(name, named[path[1]], tool))
        for path in value.uses
    )
