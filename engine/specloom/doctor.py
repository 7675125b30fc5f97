"""What works here and what does not: one line each, with the remedy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .evaluate import evaluate
from .executor import Executor
from .faults import Fault
from .findings import Finding
from .model import Model
from .model_providers import Provider
from .places import examine_places

_PATIENCE = 5.0
"""Seconds for one connection of `--reach`."""


def examine(executor: Executor, errors: list[str], environ: Mapping[str, str], cache: Path) -> list[Finding]:
    """Everything that can be known without a connection."""
    model = executor.model
    found = [_specs(model, errors)]
    found += [Finding("warning", "settings", problem) for problem in executor.problems]
    found += [_provider(executor, one) for one in model.providers.values()]
    found += _routing(executor)
    found += examine_places(environ, cache)
    found += _extras()
    return found


def nothing_works(executor: Executor) -> bool:
    """Whether there is no tool that anybody could answer."""
    return not any(
        not tool.capabilities or any(executor.routes.orders.get(one) for one in tool.capabilities)
        for tool in executor.model.tools.values()
    )


def _specs(model: Model, errors: list[str]) -> Finding:
    if errors:
        more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
        return Finding("broken", "specs", f"{errors[0]}{more}", "run `specloom check`")
    says = f"{len(model.tools)} tools and {len(model.providers)} providers compile"
    # A whole path is how the file of a user's own layer is shown.
    placed = [(one.name, one.place.file) for one in model.tools.values()]
    placed += [(one.name, one.place.file) for one in model.providers.values()]
    own = ", ".join(f"{name} ({file})" for name, file in placed if Path(file).is_absolute())
    return Finding("ok", "specs", f"{says}; not shipped: {own}" if own else f"{says}, all of them shipped")


def _provider(executor: Executor, provider: Provider) -> Finding:
    offers = ", ".join(provider.operations)
    missing, values = executor.missing.get(provider.name, ()), executor.settings[provider.name]
    if not missing:
        keys = [one.name for one in provider.settings.values() if one.required]
        return Finding(
            "ok", provider.name, f"{offers}" + (f", with {' and '.join(keys)}" if keys else ", without a key")
        )
    needed = [one for one in provider.settings.values() if one.required and values.get(one.name) is None]
    where = " ".join(" ".join(one.description.split()) for one in needed)
    return Finding("missing", provider.name, f"{offers}; not configured", f"set {' and '.join(missing)}: {where}")


def _routing(executor: Executor) -> list[Finding]:
    found = []
    for name, capability in executor.model.capabilities.items():
        order = executor.routes.orders.get(name, ())
        if order:
            found.append(Finding("ok", f"route {name}", " → ".join(order)))
        elif any(name in tool.capabilities for tool in executor.model.tools.values()):
            title = capability.title.lower()
            says, remedy = f"nobody can be asked for {title}", _remedy(executor, executor.model.offering(name))
            found.append(Finding("warning", f"route {name}", says, remedy))
    return found


def _remedy(executor: Executor, offering: Iterable[str]) -> str:
    """What puts somebody into a route without anybody: settings, or a routing that names who is configured."""
    unset: list[str] = []
    ready: list[str] = []
    for name in offering:
        (ready if name in executor.configured else unset).append(name)
    parts = []
    if unset:
        parts.append(f"configure {'one of ' if len(unset) > 1 else ''}{', '.join(unset)}")
    if ready:
        parts.append(f"name {' or '.join(ready)} in the call or in SEARCH_ROUTING")
    return ", or ".join(parts) or "add a provider that offers it"


def _extras() -> list[Finding]:
    """The optional parts, as the package itself declares them."""
    from importlib.metadata import PackageNotFoundError, requires, version

    parts: dict[str, list[str]] = {}
    try:
        declared = requires("specloom") or []
    except PackageNotFoundError:
        return []
    for line in declared:
        requirement, _, marker = line.partition(";")
        name = next((word for word in marker.replace('"', "'").split("'") if "extra" not in word and word.strip()), "")
        if "extra" in marker and name not in {"dev", "test"}:
            parts.setdefault(name, []).append(_distribution(requirement))
    found = []
    for name, needed in parts.items():
        absent = []
        for one in needed:
            try:
                version(one)
            except PackageNotFoundError:
                absent.append(one)
        about = f"extra {name}"
        if absent:
            says = f"not installed: {', '.join(absent)}"
            found.append(Finding("missing", about, says, f"pip install 'specloom[{name}]'"))
        else:
            found.append(Finding("ok", about, ", ".join(needed)))
    return found


def _distribution(requirement: str) -> str:
    for at, character in enumerate(requirement):
        if character in " [<>=!~(":
            return requirement[:at]
    return requirement.strip()


# --- connections ----------------------------------------------------------------------------------------------------


async def reach(executor: Executor, *, allow_private: bool = False) -> list[Finding]:
    """Whether the host of each configured provider takes a connection; nothing is asked of it."""
    from .network import Dialer, resolve_name

    dialer = Dialer(resolve_name, _PATIENCE)
    names = [name for name in executor.model.providers if name in executor.configured]

    async def one(name: str) -> Finding:
        provider = executor.model.providers[name]
        try:
            base = evaluate(provider.service.base, _base_context(executor, name))
            parts = urlsplit(str(base))
            secure = parts.scheme == "https"
            host, port = parts.hostname or "", parts.port or (443 if secure else 80)
            private = allow_private or provider.service.policy.allow_private
            stream = await dialer.dial(host, port, secure=secure, allow_private=private)
            await stream.aclose()
        except (Fault, ValueError) as problem:
            said = problem.message if isinstance(problem, Fault) else "its address cannot be read"
            return Finding("broken", f"reach {name}", said, "look at the network, a firewall or the address")
        return Finding("ok", f"reach {name}", f"{host}:{port}")

    return list(await asyncio.gather(*(one(name) for name in names)))


def _base_context(executor: Executor, name: str) -> dict[str, Any]:
    return {"config": executor.settings[name], "args": {}, "values": {}, "steps": {}, "now": executor.clock()}
