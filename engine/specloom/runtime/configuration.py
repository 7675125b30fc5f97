"""Reads the environment: declared settings, and who is asked in which order; its text is data after it was read."""

from __future__ import annotations

import json
import math
import re

from specloom import core  # for what a start that only lists tools has no use for
from specloom.core import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from specloom.model import ListedModel, Model, Provider, ProviderHead, Setting

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - RFC 9110 §5.6.2


class SettingError(ValueError):
    """A variable that cannot be read as its type: one sentence that does not show a secret."""


def read_setting(setting: Setting, environ: Mapping[str, str]) -> Any:
    """The value in its type, its default, or None."""
    text = environ.get(setting.name, "").strip() or environ.get(setting.stand_in, "").strip()
    if not text:
        return setting.default
    shown = "not readable" if setting.secret else repr(text)
    if setting.kind == "boolean":
        if text.lower() in {"1", "true", "yes", "on"}:
            return True
        if text.lower() in {"0", "false", "no", "off"}:
            return False
        raise SettingError(f"{setting.name} is {shown}; write true or false")
    if setting.kind == "integer":
        if not re.fullmatch(r"[-+]?\d{1,12}", text):
            raise SettingError(f"{setting.name} is {shown}; write a whole number")
        return int(text)
    if setting.kind == "number":
        if not re.fullmatch(r"[-+]?\d{1,12}(?:\.\d{1,12})?", text):
            raise SettingError(f"{setting.name} is {shown}; write a number like 0.5")
        return float(text)
    if setting.kind == "url":
        if not re.fullmatch(r"https?://[^\s/]\S*", text):
            raise SettingError(f"{setting.name} should be an http or https URL")
        return text
    if setting.kind == "rate":
        try:
            core.parse_rate(text)
        except ValueError as error:
            raise SettingError(f"{setting.name}: {error}") from None
        return text
    if setting.kind == "headers":
        return _headers(setting, text)
    if setting.kind == "credentials":
        user, colon, password = text.partition(":")
        if not (user and colon and password):
            raise SettingError(f"{setting.name} should be user:password")
        return core.Secret(text)
    if re.search(r"[\r\n\0]", text):
        raise SettingError(f"{setting.name} has a line break in it")
    return core.Secret(text) if setting.secret else text


def _headers(setting: Setting, text: str) -> dict[str, core.Secret]:
    """`Name: Value, Name2: Value2`; values cannot hold commas, and a name that is said twice counts once, the last."""
    found: dict[str, tuple[str, core.Secret]] = {}
    for pair in text.split(","):
        name, colon, value = pair.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not re.fullmatch(_TOKEN, name) or not value or re.search(r"[\r\n\0]", value):
            raise SettingError(f"{setting.name} should be pairs like `Name: value, Other: value`")
        found[name.lower()] = (name, core.Secret(value))
    return dict(found.values())


def read_settings(settings: Mapping[str, Setting], environ: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """All values by name, and a sentence for each that could not be read (its default is then used)."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for setting in settings.values():
        try:
            values[setting.name] = read_setting(setting, environ)
        except SettingError as error:
            problems.append(str(error))
            values[setting.name] = setting.default
    return values, problems


def is_configured(provider: ProviderHead | Provider, values: Mapping[str, Any]) -> bool:
    """Whether every setting that the provider needs has a value."""
    return all(values.get(one.name) is not None for one in provider.settings.values() if one.required)


def missing_settings(provider: ProviderHead | Provider, values: Mapping[str, Any]) -> list[str]:
    """The variables to set before the provider can be asked, by name or as `NAME or OTHER`."""
    return [
        f"{one.name} or {one.stand_in}" if one.stand_in else one.name
        for one in provider.settings.values()
        if one.required and values.get(one.name) is None
    ]


def unset_personal(provider: ProviderHead | Provider, environ: Mapping[str, str]) -> list[str]:
    """The variables whose defaults are one person's and that nobody has set, by name."""
    return [
        one.name
        for one in provider.settings.values()
        if one.personal and not any(environ.get(name, "").strip() for name in (one.name, one.stand_in))
    ]


@dataclass(frozen=True, slots=True)
class Configured:
    """What is set for all providers."""

    settings: Mapping[str, dict[str, Any]]
    """The values of each provider by name."""
    names: frozenset[str]
    """The providers that have what they need."""
    missing: Mapping[str, tuple[str, ...]]
    """For each of the others the variables to set."""
    problems: tuple[str, ...]
    """A sentence for each value that could not be read."""


def configure(
    providers: Iterable[ProviderHead | Provider],
    environ: Mapping[str, str],
    *,
    always: bool = False,
    shared: bool = False,
) -> Configured:
    """What is set for these providers; with `always` what they need is made up where it is missing.

    `shared` is for a server of several tenants, which defaults that are one person's are not for.
    """
    settings: dict[str, dict[str, Any]] = {}
    names: set[str] = set()
    missing: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for provider in providers:
        values, found = read_settings(provider.settings, environ)
        problems += found
        unset = [*missing_settings(provider, values), *(unset_personal(provider, environ) if shared else ())]
        if not unset:
            names.add(provider.name)
        elif always:
            names.add(provider.name)
            values |= _stand_ins(provider, values)
        else:
            missing[provider.name] = tuple(unset)
        settings[provider.name] = values
    return Configured(settings, frozenset(names), missing, tuple(problems))


def _stand_ins(provider: ProviderHead | Provider, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values for needed settings when nothing is sent anyway."""
    needed = [one for one in provider.settings.values() if one.required and values.get(one.name) is None]
    plain = {one.name: "https://replay.invalid" if one.kind == "url" else "replayed" for one in needed}
    return {one.name: core.Secret(plain[one.name]) if one.secret else plain[one.name] for one in needed}


# --- Who is asked, and in which order: decided by the environment, then by what the capability's file says ------------


ROUTING = "SEARCH_ROUTING"
SINGLE = "SEARCH_PROVIDER"


_NEVER, _OVER = (math.inf, ""), (-math.inf, "")


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
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each capability the configured providers of its own order, whatever route is written."""
    good_until: float = math.inf
    """When the first of those who are asked leaves its route, in seconds since the epoch."""


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


def plan_routes(
    model: Model | ListedModel,
    configured: frozenset[str],
    environ: Mapping[str, str],
    now: float = 0.0,
    prices: Mapping[str, float] | None = None,
) -> Routes:
    """The order for every capability at a time. Names that cannot be asked are left out with a warning, never silently.

    With `prices` those who cost least come first in the routes that nobody has written.
    """
    warnings: list[str] = []
    good_until = math.inf
    providers = model.heads.providers
    chosen = parse_routing(environ[ROUTING]) if environ.get(ROUTING, "").strip() else {}
    single = environ.get(SINGLE, "").strip().lower()
    keys = {one.routing_key for one in model.heads.capabilities.values()}
    known = ", ".join([*sorted(keys - {""}), "default"])
    unknown = [key for key in chosen if key not in keys and key != "default"]
    warnings += [f"{ROUTING}: nothing is routed by {key!r}; known: {known}" for key in unknown]
    if single and single not in providers:
        warnings.append(f"{SINGLE} is {single!r}, which is not a provider; known: {', '.join(sorted(providers))}")
    orders: dict[str, tuple[str, ...]] = {}
    own: dict[str, tuple[str, ...]] = {}
    unmet: dict[str, tuple[str, ...]] = {}
    for capability in model.heads.capabilities.values():
        offering = model.heads.offering(capability.name)
        written = chosen.get(capability.routing_key)
        general = chosen.get("default")
        # A general list of providers of whom none offers this says nothing about it; one of no providers at all is a
        # mistake, which the warnings below tell.
        if (
            written is None
            and general
            and (any(name in offering for name in general) or not any(name in providers for name in general))
        ):
            written = general
        if written is None and single in offering:
            written = [single]
        ranked = []
        for name in capability.order:
            end, _ = providers[name].ends.get(capability.name, _NEVER) if name in offering else _OVER
            if now < end:
                ranked.append(name)
                good_until = min(good_until, end if name in configured else math.inf)
        if prices is not None:
            ranked.sort(key=lambda name: prices.get(name, 0.0))
        own[capability.name] = tuple(name for name in ranked if name in configured)
        wanted = ranked if written is None else written
        able = (name for name in wanted if name in offering and name in configured)
        orders[capability.name] = tuple(dict.fromkeys(able))
        lacking = (name for name in written or () if name in offering and name not in configured)
        unmet[capability.name] = tuple(dict.fromkeys(lacking))
        for name in written or ():
            if name not in providers:
                warnings.append(f"routing: {name!r} is not a provider")
            elif name not in offering and capability.routing_key in chosen:
                warnings.append(f"routing: {name!r} does not offer {capability.name!r}")
            elif name not in configured:
                needed = " and ".join(one.name for one in providers[name].settings.values() if one.required)
                warnings.append(f"routing: {name!r} is not configured; set {needed}")
    routed = bool(chosen) or any(len(order) > 1 for order in orders.values())
    return Routes(orders, routed, tuple(dict.fromkeys(warnings)), unmet, own, good_until)
