"""Why a plan asks nobody, or had no answer from anybody: the faults that say what to set or whom to ask instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from specloom.core import KINDS, Fault, all_failed, find_nearest
from specloom.language import Unworkable, evaluate, truthy
from specloom.model import Model, Strategy, Tool, Value, questions

from .arguments import Arguments
from .degradation import say_failure
from .operation import asks_anything
from .plan import NOT_ASKED, Offer, PlanContext, PlanRun, ProviderOutcome


def resolve(name: str, operation: str, tool: Tool, model: Model, offer: Offer) -> None:
    """Refuse a provider that cannot be asked: unknown, unable and unconfigured are three different `config` faults."""
    offering = list(model.heads.offering(operation))
    if name not in offering:
        known = name in model.providers
        title = model.capabilities[operation].title.lower()
        problem = f"provider {name!r} does not offer {title}" if known else f"there is no provider {name!r}"
        offering = list(
            dict.fromkeys(one for capability in tool.capabilities for one in model.heads.offering(capability))
        )
        # What a tool asks beside its search, such as readers of pages, cannot be named.
        offering = [one for one in offering if one in _choices(tool)] or offering
        raise Fault(
            "config",
            f"{problem}; those that do: {', '.join(offering)}",
            provider=name if known else "",
            alternatives=offering,
            **_as_argument(name, tool, offering),
        )
    if name not in offer.configured:
        needed = " and ".join(offer.missing.get(name, ())) or "its settings"
        others = [one for one in offering if one in offer.configured]
        raise Fault(
            "config",
            f"provider {name!r} is not configured; set {needed}",
            provider=name,
            alternatives=others,
            action="check_api_key",
        )


def _as_argument(name: str, tool: Tool, offering: Sequence[str]) -> dict[str, Any]:
    """What a fault tells of a wrong name that the caller gave; nothing where no argument names a provider."""
    argument = next((one.name for one in tool.inputs.values() if one.catalogue.startswith("providers.")), "")
    if not argument:
        return {}
    return {"action": "fix_arguments", "argument": argument, "near": find_nearest(name, offering)}


_OF_ARGUMENTS = frozenset({"validation", "not_found"})
"""What is wrong whoever is asked, so that nobody else is named."""


_MOST_OTHERS = 5
"""Others who failed that a sentence tells of; of more than that it is said how many there are."""


def tell_all(failed: Sequence[Fault]) -> Fault:
    """The fault to tell of those who were asked in vain; its sentence says of every other one how it failed.

    What each of them said in words of its own is the detail.
    """
    fault = all_failed(failed)
    others: dict[str, str] = {}
    for one in failed:
        if one.provider and one.provider != fault.provider:
            others.setdefault(one.provider, say_failure(one))
    if not others:
        return fault
    each = [f"{provider}: {phrase}" for provider, phrase in others.items()]
    more = f", and {len(each) - _MOST_OTHERS} more" if len(each) > _MOST_OTHERS else ""
    begin = fault.message.rstrip(".")
    return fault.told_as(message=f"{begin}; no answer either from {', '.join(each[:_MOST_OTHERS])}{more}")


def point_to_others(
    fault: Fault, tool: Tool, model: Model, offer: Offer, outcome: ProviderOutcome, context: PlanContext
) -> Fault:
    """The fault of a call that nobody answered, with those whom the caller may ask by name instead."""
    fault.tried = tuple(outcome.tried)
    if fault.kind not in _OF_ARGUMENTS:
        # Whom a procedure has asked is not in the outcome; of them, the one that the fault is of is known.
        others = (name for name in not_asked(tool, model, offer, outcome, context) if name != fault.provider)
        fault.alternatives = fault.alternatives or tuple(others)
        if not fault.alternatives and fault.action == "try_different_provider" and KINDS[fault.kind].retryable:
            # All there are were asked, so there is nobody else to try.
            fault.action = "retry_after_delay"
    return fault


def not_asked(tool: Tool, model: Model, offer: Offer, outcome: ProviderOutcome, context: PlanContext) -> list[str]:
    """The providers that the caller of a tool may name, that were not asked and do not rest; those of the route first.

    Behind them stand those of the own order of each capability, whatever route is written; where nobody of these is
    left, those who are asked by name alone for what the plan asks first. Those who have nothing of the kind asked for
    are not among them.
    """
    # What stages and procedures ask is beside the search, and whoever they ask is nobody to search with instead.
    capabilities = [one.operation for one in questions(tool.plan)] or tool.capabilities
    silent = (one.provider for one in outcome.attempts if one.result == NOT_ASKED)
    asked = {*outcome.tried, *silent, *offer.resting}

    def choose(names: Iterable[str]) -> list[str]:
        able = (name for name in dict.fromkeys(names) if name in _choices(tool) and name not in asked)
        return [name for name in able if _would_ask(name, tool, model, context)]

    return choose(
        name for one in capabilities for order in (offer.orders, offer.own) for name in order.get(one, ())
    ) or choose(name for one in capabilities[:1] for name in _by_name_alone(one, model, offer))


def _would_ask(name: str, tool: Tool, model: Model, context: PlanContext, **instead: Any) -> bool:
    """Whether a provider would be asked anything for the arguments of the call, with others `instead` of some."""
    questioned = False
    for question in questions(tool.plan):
        operation = model.providers[name].operations.get(question.operation) if name in model.providers else None
        if operation is None or not isinstance(question, Strategy):
            continue
        questioned = True
        given = {**{one: context.args.get(one) for one in tool.inputs}, **instead}
        try:
            given |= {one: evaluate(value, context) for one, value in question.overrides}
            if asks_anything(operation, given, context.now):
                return True
        except Unworkable:
            return True
    return not questioned


def _find_fitting(name: str, tool: Tool, model: Model, context: PlanContext) -> dict[str, str] | None:
    """The advice that names the one value of an input with which a provider would be asked; None where none is."""
    for one in tool.inputs.values():
        # Where it would do to leave the input out, that is the advice.
        if one.catalogue or not one.choices or _would_ask(name, tool, model, context, **{one.name: one.default}):
            continue
        for choice in one.choices:
            if choice != one.default and _would_ask(name, tool, model, context, **{one.name: choice}):
                action = "change_parameter" if context.args.get(one.name) else "add_parameter"
                detail = f"{model.providers[name].title} is asked with {one.name} = {choice} only"
                return {"action": action, "parameter": one.name, "value": choice, "detail": detail}
    return None


def _by_name_alone(capability: str, model: Model, offer: Offer) -> list[str]:
    """The configured providers that are in no order of a capability, without those that have an end."""
    heads = model.heads
    # What a procedure asks need be declared nowhere.
    declared = heads.capabilities.get(capability)
    order = declared.order if declared is not None else ()
    names = (name for name in heads.offering(capability) if name not in order and name in offer.configured)
    return [name for name in names if capability not in heads.providers[name].ends]


def _choices(tool: Tool) -> Sequence[str]:
    """The providers that a caller of a tool may name."""
    return tool.inputs["provider"].choices if "provider" in tool.inputs else ()


def none_configured(tool: Tool, model: Model, offer: Offer, capabilities: tuple[str, ...]) -> Fault:
    """The `config` fault that says which settings would make somebody able to answer."""
    names = list(dict.fromkeys(name for one in capabilities for name in model.heads.offering(one)))
    needed = {name: " and ".join(offer.missing[name]) for name in names if offer.missing.get(name)}
    if len(needed) == 1:
        what = "".join(f"set {settings} to use {name}" for name, settings in needed.items())
    else:
        each = [f"{name} ({settings})" for name, settings in needed.items()] or names
        what = f"configure {'one of: ' * (len(each) > 1)}{', '.join(each)}"
    sentence = f"no provider is configured for {tool.name}; {what}"
    unrouted = [name for name in names if name in offer.configured]
    if unrouted and not any(offer.orders.get(one) for one in capabilities):
        unmet = dict.fromkeys(name for one in capabilities for name in offer.unmet.get(one, ()) if name in needed)
        mend = " or ".join(f"set {needed[name]} to use {name}" for name in unmet)
        others = f"ask {' or '.join(unrouted)} by name"
        sentence = (
            f"nobody in the route of {tool.name} is configured; {mend}, or {others}"
            if mend
            else f"nobody is in the route of {tool.name}; {others}, or put it into SEARCH_ROUTING"
        )
    return Fault("config", sentence, alternatives=names, action="check_api_key")


# --- What an empty answer says, so that nobody takes it for evidence of absence ---------------------------------------


EPISTEMIC_WARNING = (
    "Nothing was found by this search, which is not evidence that nothing exists: "
    "it may be out of reach of this query or this provider. Do not report it as non-existent."
)
"""Said with every empty answer, always in the same words."""

_MOST_ACTIONS = 3


def make_hints(
    tool: Tool, model: Model, arguments: Arguments, context: PlanContext, offer: Offer, outcome: ProviderOutcome
) -> dict[str, Any]:
    """The object that explains an empty answer: why, with which filters, and what to try."""
    assert tool.hints is not None
    plan = tool.hints
    filters, idle = {}, _said_not_applied(tool, context, outcome)
    set_apart = {name for name in arguments.explicit if arguments.given[name] != tool.inputs[name].default}
    for name in plan.filters:
        if name in arguments.given and name not in idle and (name in set_apart or name in plan.always):
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
    was_asked = bool(outcome.tried) or not outcome.attempts
    reason = "filters_too_restrictive" if narrowing else "no_match"
    if not was_asked:
        reason = "not_asked"
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
    met = {one.provider for one in outcome.attempts}
    others = [name for name in not_asked(tool, model, offer, outcome, context) if name not in met]
    if others:
        other = {"action": "try_different_provider", "parameter": "provider", "value": others[0]}
        # Who was not asked would not be with one filter less, but another one may be.
        actions.insert(len(actions) if was_asked else 0, other)
    if not was_asked and outcome.served_by and (fitting := _find_fitting(outcome.served_by, tool, model, context)):
        without = [one for one in actions if one.get("parameter") != fitting["parameter"]]
        actions = [fitting, *without]
    actions = actions[:_MOST_ACTIONS]
    hints: dict[str, Any] = {"reason": reason}
    if outcome.tried:
        hints["providersAttempted"] = list(dict.fromkeys(outcome.tried))
    if filters:
        hints["filtersApplied"] = filters
    return {**hints, "suggestedActions": actions, "epistemicWarning": EPISTEMIC_WARNING}


def _said_not_applied(tool: Tool, context: PlanContext, outcome: ProviderOutcome) -> set[str]:
    """The inputs of which the answer itself says that they were not applied, so that its hints say nothing else."""
    lists = [outcome.answer.get(key.name) for key in tool.answer if ("not_applied",) in key.value.uses]
    said = {name for one in lists if isinstance(one, list) for name in one if isinstance(name, str)}
    # What whoever was asked did not hold to may have been held to by the stage that took rows out.
    return said - set(context.not_applied) if any(context.dropped.values()) else said


# --- Which inputs whoever answered did not hold to, so that an answer can name them instead of keeping silent ---------


LEFT_OUT = "not_applied"
"""The fact under `meta` in which an operation names arguments that it takes and left out because of their values."""


def find_unheld(
    tool: Tool, model: Model, arguments: Arguments, context: PlanContext, outcome: ProviderOutcome
) -> list[str]:
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


def reached_by(name: str, operation: str, overrides: tuple[tuple[str, Value], ...], run: PlanRun) -> set[str]:
    """The arguments of a capability that an input of the tool reaches, by its name or through `with`."""
    if name in run.model.capabilities[operation].arguments and name not in dict(overrides):
        return {name}
    return _reached(name, run.tool, overrides, run.context)


def _reached(name: str, tool: Tool, overrides: Collection[tuple[str, Value]], context: PlanContext) -> set[str]:
    """The arguments that an input has a part in, as far as they came to a value; how many rows are wanted is none."""
    size = tool.cursor.size if tool.cursor is not None else ""
    return {
        argument
        for argument, value in overrides
        if argument != size and _is_in(name, value, tool) and evaluate(value, context) is not None
    }


def _is_in(name: str, value: Value, tool: Tool) -> bool:
    """Whether a value is worked out from an input, by itself or through the values of the tool."""
    named = dict(tool.values)
    return any(
        path[:2] == ("args", name)
        or (path[0] == "values" and len(path) > 1 and path[1] in named and _is_in(name, named[path[1]], tool))
        for path in value.uses
    )
