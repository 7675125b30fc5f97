"""Why a plan asks nobody, or had no answer from anybody: the faults that say what to set or whom to ask instead."""

from __future__ import annotations

from collections.abc import Sequence

from .asking import Offer, Outcome
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


_HEADLINES = (
    ("auth_required", "not_in_plan", "config"),
    ("bad_request", "validation"),
    ("quota_exhausted", "rate_limited"),
    ("network", "upstream_unavailable", "circuit_open"),
)
"""Which of several faults is told first: what a setting mends, then what other arguments mend, then what time mends.

The rest come last. That a thing does not exist is among them: it is not known while others could not be asked.
"""


def all_failed(failed: Sequence[Fault]) -> Fault:
    """The fault among several that the caller can do most about, with what each of them said as its detail.

    Of equals it is the one after which to come back soonest, and of those the first that was asked.
    """
    if len(failed) == 1:
        return failed[0]
    first = min(failed, key=lambda one: (_rank(one.kind), one.retry_after or 0))
    told = [(one.provider, one.message.rstrip(".")) for one in failed]
    said = dict.fromkeys(f"{provider}: {message}" if provider else message for provider, message in told)
    return Fault(
        first.kind,
        first.message,
        provider=first.provider,
        retry_after=first.retry_after,
        alternatives=first.alternatives,
        detail="; ".join(said),
        action=first.action,
    )


def _rank(kind: str) -> int:
    return next((rank for rank, kinds in enumerate(_HEADLINES) if kind in kinds), len(_HEADLINES))


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
    choices = tool.inputs["provider"].choices if "provider" in tool.inputs else ()
    names = (name for one in tool.capabilities for name in offer.orders.get(one, ()))
    asked = {*outcome.tried, *offer.resting}
    return list(dict.fromkeys(name for name in names if name in choices and name not in asked))


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
