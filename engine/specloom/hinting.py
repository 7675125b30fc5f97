"""What an empty answer says, so that nobody takes it for evidence of absence."""

from __future__ import annotations

from typing import Any

from .arguments import Arguments
from .asking import Offer, Outcome
from .evaluate import evaluate, truthy
from .model_tools import Tool
from .model_values import Context
from .refusals import not_asked

EPISTEMIC_WARNING = (
    "Nothing was found by this search, which is not evidence that nothing exists: "
    "it may be out of reach of this query or this provider. Do not report it as non-existent."
)
"""Said with every empty answer, always in the same words."""

_MOST_ACTIONS = 3


def make_hints(tool: Tool, arguments: Arguments, context: Context, offer: Offer, outcome: Outcome) -> dict[str, Any]:
    """The object that explains an empty answer: why, with which filters, and what to try."""
    assert tool.hints is not None
    plan = tool.hints
    filters = {}
    set_apart = {name for name in arguments.explicit if arguments.given[name] != tool.inputs[name].default}
    for name in plan.filters:
        if name in arguments.given and (name in set_apart or name in plan.always):
            value = arguments.given[name]
            filters[name] = (
                ",".join(value)
                if isinstance(value, list)
                else str(value).lower()
                if isinstance(value, bool)
                else str(value)
            )
    narrowing = [
        name for name in plan.filters if name in filters and name in set_apart and not tool.inputs[name].required
    ]
    reason = "filters_too_restrictive" if narrowing else "no_match"
    actions: list[dict[str, str]] = []
    for advice in plan.also:
        if truthy(evaluate(advice.when, context)):
            reason = advice.reason or reason
            said = {"action": advice.action, "parameter": advice.parameter, "detail": advice.detail}
            actions.append({key: text for key, text in said.items() if text})
    # An input with advice of its own is not one to leave out: its default may be narrower.
    advised = {advice.parameter for advice in plan.also}
    actions += [
        {"action": "remove_filter", "parameter": name, "detail": f"search again without {name}"}
        for name in narrowing
        if name not in advised
    ]
    actions = actions[:_MOST_ACTIONS]
    if len(actions) < _MOST_ACTIONS:
        others = not_asked(tool, offer, outcome)
        if others:
            actions.append({"action": "try_different_provider", "parameter": "provider", "value": others[0]})
    hints: dict[str, Any] = {"reason": reason}
    if outcome.explicit and outcome.tried:
        hints["providersAttempted"] = list(dict.fromkeys(outcome.tried))
    if filters:
        hints["filtersApplied"] = filters
    return {**hints, "suggestedActions": actions, "epistemicWarning": EPISTEMIC_WARNING}
