"""Why a plan asks nobody, or had no answer from anybody: the faults that say what to set or whom to ask instead."""

from __future__ import annotations

from collections.abc import Sequence

from .asking import Offer, Outcome
from .faults import Fault
from .model import Model
from .model_tools import Tool


def resolve(name: str, operation: str, tool: Tool, model: Model, offer: Offer) -> None:
    """Refuse a provider that cannot be asked: unknown, unable and unconfigured are three different `config` faults."""
    offering = list(model.offering(operation))
    if name not in offering:
        known = name in model.providers
        title = model.capabilities[operation].title.lower()
        problem = f"provider {name!r} does not offer {title}" if known else f"there is no provider {name!r}"
        offering = list(dict.fromkeys(one for capability in tool.capabilities for one in model.offering(capability)))
        # What a tool asks beside its search, such as readers of pages, cannot be named.
        offering = [one for one in offering if one in _choices(tool)] or offering
        raise Fault(
            "config",
            f"{problem}; those that do: {', '.join(offering)}",
            provider=name if known else "",
            alternatives=offering,
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


_OF_ARGUMENTS = frozenset({"validation", "not_found"})
"""What is wrong whoever is asked, so that nobody else is named."""


def point_to_others(fault: Fault, tool: Tool, offer: Offer, outcome: Outcome) -> Fault:
    """The fault of a call that nobody answered, with those whom the caller may ask by name instead."""
    if fault.kind not in _OF_ARGUMENTS:
        # Whom a procedure has asked is not in the outcome; of them, the one that the fault is of is known.
        others = (name for name in not_asked(tool, offer, outcome) if name != fault.provider)
        fault.alternatives = fault.alternatives or tuple(others)
    return fault


def not_asked(tool: Tool, offer: Offer, outcome: Outcome) -> list[str]:
    """The providers in the routes of a tool that its caller may name, that were not asked and do not rest; in order."""
    names = (name for one in tool.capabilities for name in offer.orders.get(one, ()))
    asked = {*outcome.tried, *offer.resting}
    return list(dict.fromkeys(name for name in names if name in _choices(tool) and name not in asked))


def _choices(tool: Tool) -> Sequence[str]:
    """The providers that a caller of a tool may name."""
    return tool.inputs["provider"].choices if "provider" in tool.inputs else ()


def none_configured(tool: Tool, model: Model, offer: Offer, capabilities: tuple[str, ...]) -> Fault:
    """The `config` fault that says which settings would make somebody able to answer."""
    names = list(dict.fromkeys(name for one in capabilities for name in model.offering(one)))
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
