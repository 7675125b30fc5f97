"""Why a plan asks nobody, or had no answer from anybody: the faults that say what to set or whom to ask instead."""

from __future__ import annotations

from .asking import Offer
from .faults import Fault
from .model import Model, Tool


def resolve(name: str, operation: str, tool: Tool, model: Model, offer: Offer) -> None:
    """Refuse a provider that cannot be asked: unknown, unable and unconfigured are three different `config` faults."""
    offering = list(model.offering(operation))
    if name not in offering:
        known = name in model.providers
        title = model.capabilities[operation].title.lower()
        problem = f"provider {name!r} does not offer {title}" if known else f"there is no provider {name!r}"
        offering = list(dict.fromkeys(one for capability in tool.capabilities for one in model.offering(capability)))
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


def all_failed(failed: list[Fault]) -> Fault:
    """The last of several faults, with what each of them said as its detail."""
    last = failed[-1]
    if len(failed) == 1:
        return last
    detail = "; ".join(f"{one.provider}: {one.message}" if one.provider else one.message for one in failed)
    return Fault(
        last.kind,
        last.message,
        provider=last.provider,
        retry_after=last.retry_after,
        alternatives=last.alternatives,
        detail=detail,
        action=last.action,
    )


def none_configured(tool: Tool, model: Model, offer: Offer, capabilities: tuple[str, ...]) -> Fault:
    """The `config` fault that says which settings would make somebody able to answer."""
    names = list(dict.fromkeys(name for one in capabilities for name in model.offering(one)))
    needed = [f"{name} ({' and '.join(offer.missing[name])})" for name in names if offer.missing.get(name)]
    sentence = f"no provider is configured for {tool.name}; configure one of: {', '.join(needed or names)}"
    unrouted = [name for name in names if name in offer.configured]
    if unrouted and not any(offer.orders.get(one) for one in capabilities):
        sentence = (
            f"nobody is in the route of {tool.name}; ask {' or '.join(unrouted)} by name, or put it into SEARCH_ROUTING"
        )
    return Fault("config", sentence, alternatives=names, action="check_api_key")
