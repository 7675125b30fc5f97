"""Who is asked, and in which order: decided by the environment, then by what the capability's file says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from specloom.model import Model

ROUTING = "SEARCH_ROUTING"
SINGLE = "SEARCH_PROVIDER"


class RoutingError(ValueError):
    """A routing variable that cannot be read: one sentence with what to write."""


@dataclass(frozen=True, slots=True)
class Routes:
    """For each capability the configured providers in the order they are asked; `warnings` name what was left out."""

    orders: Mapping[str, tuple[str, ...]]
    routed: bool
    """A routing was set, or the default order has several providers: there is a choice worth reporting."""
    warnings: tuple[str, ...] = field(default=())
    unmet: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each capability those who were written into its route and lack a setting."""


def parse_routing(text: str) -> dict[str, list[str]]:
    """`SEARCH_ROUTING` in either form: a comma list for everything, or a JSON object of comma lists by key.

    Names are in lower case whatever the case they are written in, as those of all providers are.
    """
    text = text.strip()
    if not text.startswith("{"):
        return {"default": _names(text)}
    try:
        said = json.loads(text)
    except ValueError as error:
        better = '{"web": "a,b", "default": "a"} or a,b'
        raise RoutingError(f"{ROUTING} starts like JSON but is not: {error}; write {better}") from None
    if not isinstance(said, dict):
        raise RoutingError(f"{ROUTING} should be a JSON object of comma lists")
    found: dict[str, list[str]] = {}
    for key, value in said.items():
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            found[key] = _names(",".join(value))
        elif isinstance(value, str):
            found[key] = _names(value)
        else:
            raise RoutingError(f"{ROUTING}: {key!r} should be a comma list of provider names, not {json.dumps(value)}")
    return found


def _names(text: str) -> list[str]:
    return [name.strip().lower() for name in text.split(",") if name.strip()]


def plan_routes(model: Model, configured: frozenset[str], environ: Mapping[str, str]) -> Routes:
    """The order for every capability. Names that cannot be asked are left out with a warning, never silently."""
    warnings: list[str] = []
    chosen = parse_routing(environ[ROUTING]) if environ.get(ROUTING, "").strip() else {}
    single = environ.get(SINGLE, "").strip().lower()
    keys = {one.routing_key for one in model.capabilities.values()}
    known = ", ".join([*sorted(keys - {""}), "default"])
    unknown = [key for key in chosen if key not in keys and key != "default"]
    warnings += [f"{ROUTING}: nothing is routed by {key!r}; known: {known}" for key in unknown]
    if single and single not in model.providers:
        warnings.append(f"{SINGLE} is {single!r}, which is not a provider; known: {', '.join(sorted(model.providers))}")
    orders: dict[str, tuple[str, ...]] = {}
    unmet: dict[str, tuple[str, ...]] = {}
    for capability in model.capabilities.values():
        offering = model.offering(capability.name)
        written = chosen.get(capability.routing_key)
        general = chosen.get("default")
        # A general list of providers of whom none offers this says nothing about it; one of no providers at all is a
        # mistake, which the warnings below tell.
        if (
            written is None
            and general
            and (any(name in offering for name in general) or not any(name in model.providers for name in general))
        ):
            written = general
        if written is None and single in offering:
            written = [single]
        wanted = written if written is not None else [name for name in capability.order if name in offering]
        able = (name for name in wanted if name in offering and name in configured)
        orders[capability.name] = tuple(dict.fromkeys(able))
        lacking = (name for name in written or () if name in offering and name not in configured)
        unmet[capability.name] = tuple(dict.fromkeys(lacking))
        for name in written or ():
            if name not in model.providers:
                warnings.append(f"routing: {name!r} is not a provider")
            elif name not in offering and capability.routing_key in chosen:
                warnings.append(f"routing: {name!r} does not offer {capability.name!r}")
            elif name not in configured:
                needed = " and ".join(one.name for one in model.providers[name].settings.values() if one.required)
                warnings.append(f"routing: {name!r} is not configured; set {needed}")
    routed = bool(chosen) or any(len(order) > 1 for order in orders.values())
    return Routes(orders, routed, tuple(dict.fromkeys(warnings)), unmet)
