"""What works here and what does not: one line each, with the remedy."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from specloom.core import (
    KEY_FILE,
    KEY_VARIABLE,
    STATE_VARIABLE,
    Fault,
    Paint,
    command_name,
    cut,
    dataclass,
    from_epoch,
    load_key,
    own_words,
    project_folder,
    state_folder,
)
from specloom.language import evaluate
from specloom.model import Model, Provider
from specloom.plugins import PROGRAMS, load_hooks
from specloom.runtime import Executor
from specloom.storage import audit_path

from .common import own_places
from .tool_states import is_switched_off

# --- What was looked at and how it is: one line each, with the remedy -------------------------------------------------


State = Literal["ok", "missing", "warning", "broken"]

_TINTS = {"ok": "green", "missing": "dim", "warning": "yellow", "broken": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, and what to do when it is not well."""

    state: State
    about: str
    says: str
    remedy: str = ""

    def to_json(self) -> dict[str, str]:
        """The finding as data."""
        said = {"state": self.state, "about": self.about, "says": self.says}
        return {**said, "remedy": self.remedy} if self.remedy else said


def finding_lines(findings: list[Finding], paint: Paint, width: int) -> list[str]:
    """The findings as a person reads them."""
    size = max((len(one.about) for one in findings), default=0)
    lines = []
    for finding in findings:
        text = cut(" — ".join(filter(None, (finding.says, finding.remedy))), max(40, width - size - 11) * 3)
        lines.append(f"{paint(f'{finding.state:<7}', _TINTS[finding.state])}  {finding.about:<{size}}  {text}")
    return lines


NO_NETWORK = "network"
"""What the finding is about that stands for those of all providers where none can be reached."""
STATE_PATIENCE = 2.0
"""Seconds for which the server is waited for on which machines remember."""


# --- Where things are kept here, and whether they can be: the cache, the state, the audit log, and what packages
# keep -----------------------------------------------------------------------------------------------------------------


def examine_places(environ: Mapping[str, str], cache: Path, model: Model) -> list[Finding]:
    """Every place where something is kept under these variables; nothing is made or written to find out.

    The server that machines share is asked, where there is one for what they remember. What packages keep is left out
    where a project has no tool that reads its variable, as one without tools for papers.
    """
    load_hooks()
    state = Path(state_folder(environ))
    folder = _place("state", state, "nothing can be remembered", STATE_VARIABLE)
    found = [*_cache(cache, environ), folder, *_shared_state(environ)]
    log = audit_path(state, environ)
    if log is None:
        found.append(Finding("warning", "audit log", "switched off", "unset AUDIT_ENABLED to record calls"))
    else:
        found.append(_place("audit log", log, "calls are not audited", "AUDIT_OUTPUT_PATH", is_file=True))
    for about, place in own_places(environ, model):
        found.append(_place(about, place.function(environ), place.otherwise, place.variable, is_file=place.is_file))
    return found


def _shared_state(environ: Mapping[str, str]) -> list[Finding]:
    """How the server is on which servers over HTTP remember; nothing where they do so in the folder of the state."""
    from specloom.core import BackplaneError, VariableError
    from specloom.storage import check_redis, read_state_settings

    about, warned = "shared state", list[str]()
    try:
        settings = read_state_settings(environ)
        if settings is None:
            return []
        check_redis(settings, warned.append, within=STATE_PATIENCE, keeps_state=True)
    except VariableError as error:
        return [Finding("broken", about, str(error))]
    except BackplaneError as error:
        return [
            Finding("broken", about, str(error), "servers over HTTP do not start; SPECLOOM_STATE=folder needs none")
        ]
    if warned:
        return [Finding("warning", about, one) for one in warned]
    return [Finding("ok", about, f"Redis at {settings.place}, which keeps what it acknowledged, for servers over HTTP")]


def _place(about: str, path: Path, otherwise: str, variable: str, *, is_file: bool = False) -> Finding:
    """How one place is; `otherwise` says what holds when it cannot be written, `variable` names another."""
    there = path
    while not there.exists() and there != there.parent:
        there = there.parent
    fits = there.is_file() if is_file and there == path else there.is_dir()
    if not fits or not os.access(there, os.W_OK):
        remedy = f"make it writable, or name another with {variable}"
        return Finding("warning", about, f"{there} cannot be written; {otherwise}", remedy)
    return Finding("ok", about, str(path) if there == path else f"{path}, made when it is needed")


def _cache(folder: Path, environ: Mapping[str, str]) -> list[Finding]:
    if environ.get("SPECLOOM_CACHE", "").strip().lower() in {"off", "0", "false", "no"}:
        return [Finding("warning", "cache", "switched off", "unset SPECLOOM_CACHE to keep answers")]
    cache = _place("cache", folder, "answers are kept in memory only", "SPECLOOM_CACHE_DIR")
    return [cache, _cache_key(folder, environ)] if cache.state == "ok" else [cache]


def _cache_key(folder: Path, environ: Mapping[str, str]) -> Finding:
    if environ.get(KEY_VARIABLE, "").strip():
        try:
            load_key(folder, environ)
        except ValueError as error:
            return Finding("warning", "cache key", str(error), "give 64 hex digits, or 32 bytes in base64")
        return Finding("ok", "cache key", f"from {KEY_VARIABLE}")
    key = folder / KEY_FILE
    if not key.exists():
        return Finding("ok", "cache key", f"{key}, made when it is needed")
    mode = stat.S_IMODE(key.stat().st_mode)
    if os.name != "nt" and mode & 0o077:
        return Finding("warning", "cache key", f"{key} has mode {mode:03o}", f"chmod 600 {key}")
    return Finding("ok", "cache key", f"{key}, mode {mode:03o}")


# --- What serves: specs, providers and routes -------------------------------------------------------------------------


def examine(executor: Executor, errors: list[str], environ: Mapping[str, str], cache: Path) -> list[Finding]:
    """Everything that can be known without a connection."""
    model = executor.model
    found = [_specs(model, errors)]
    found += [Finding("warning", "settings", problem) for problem in _list_problems(executor, environ)]
    found += [_provider(executor, one) for one in model.providers.values()]
    found += _endings(executor)
    found += _tools(executor, environ)
    found += examine_places(environ, cache, model)
    found += _programs(environ)
    found += _extras()
    return found


def _list_problems(executor: Executor, environ: Mapping[str, str]) -> list[str]:
    """What is wrong with variables: what any server does without, and what one over HTTP does not start with."""
    from specloom.server import examine_environment

    model = executor.model
    found = examine_environment(environ, model.heads, [one.spec for one in model.collections.values()])
    return list(dict.fromkeys([*executor.problems, *found.problems, *found.notices]))


def _specs(model: Model, errors: list[str]) -> Finding:
    if errors:
        more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
        return Finding("broken", "specs", f"{errors[0]}{more}", own_words("run `specloom check`"))
    says = " and ".join(
        f"{len(specs)} {word}{'' if len(specs) == 1 else 's'}"
        for specs, word in ((model.tools, "tool"), (model.providers, "provider"))
    )
    says += f" compile{'s' if len(model.tools) + len(model.providers) == 1 else ''}"
    first = f"those of {command_name(os.environ)}" if project_folder(os.environ) else "shipped"
    # A whole path is how the file of a user's own layer is shown.
    placed = [(one.name, one.place.file) for one in model.tools.values()]
    placed += [(one.name, one.place.file) for one in model.providers.values()]
    own = ", ".join(f"{name} ({file})" for name, file in placed if Path(file).is_absolute())
    return Finding("ok", "specs", f"{says}; not {first}: {own}" if own else f"{says}, all of them {first}")


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


def _endings(executor: Executor) -> list[Finding]:
    """What providers that are set stop doing, which a person has to know before that day."""
    days: dict[tuple[str, float, str], list[str]] = {}
    for name in executor.configured:
        for operation, (end, why) in executor.model.heads.providers[name].ends.items():
            days.setdefault((name, end, why), []).append(operation)
    found = []
    for (name, end, why), operations in sorted(days.items()):
        when = "out of the routes since" if executor.clock() >= end else "leaves the routes on"
        says = f"{', '.join(operations)}: {when} {(from_epoch(end) or '')[:10]}. {why}"
        remedy = f"set another provider, or put {name} into SEARCH_ROUTING to go on asking it"
        found.append(Finding("warning", name, says, remedy))
    return found


def _tools(executor: Executor, environ: Mapping[str, str]) -> list[Finding]:
    """Each tool with whom it asks, in which order, or what lets it be answered."""
    found = []
    model, orders = executor.model, executor.routes.orders
    for name, tool in sorted(model.heads.tools.items()):
        about, asked = f"tool {name}", [one for one in tool.capabilities if orders.get(one)]
        if is_switched_off(tool, environ):
            found.append(Finding("missing", about, "switched off", f"set {tool.opt_in}=true"))
        elif tool.sources and not any(orders.get(one) for one in tool.sources):
            titles = " or ".join(model.capabilities[one].title.lower() for one in tool.sources)
            offering = dict.fromkeys(provider for one in tool.sources for provider in model.offering(one))
            says = f"nobody can be asked for {titles}"
            found.append(Finding("warning", about, says, _remedy(executor, offering)))
        elif len(asked) == 1:
            found.append(Finding("ok", about, " → ".join(orders[asked[0]])))
        else:
            says = "; ".join(f"{model.capabilities[one].title.lower()}: {' → '.join(orders[one])}" for one in asked)
            found.append(Finding("ok", about, says or "asks no provider"))
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


def _programs(environ: Mapping[str, str]) -> list[Finding]:
    """The programs that packages drive where they are there."""
    found = []
    for name, entry in sorted(PROGRAMS.items()):
        path, why = entry.function(environ)
        found.append(Finding("ok", name, path) if path else Finding("missing", name, f"{why}; {entry.otherwise}"))
    return found


def _extras() -> list[Finding]:
    """The optional parts, as the package itself declares them."""
    from importlib.metadata import PackageNotFoundError, requires, version

    def is_absent(name: str) -> bool:
        try:
            return not version(name)
        except PackageNotFoundError:
            return True

    parts: dict[str, list[str]] = {}
    with contextlib.suppress(PackageNotFoundError):
        for line in requires("specloom") or ():
            extra = re.search(r"""extra\s*==\s*['"]([^'"]+)""", line.partition(";")[2])
            if extra and extra[1] not in {"dev", "test"}:
                parts.setdefault(extra[1], []).append(re.split(r"[ \[<>=!~(;]", line.strip())[0])
    findings = []
    for name, needed in parts.items():
        absent = ", ".join(one for one in needed if is_absent(one))
        if absent:
            remedy = f"pip install 'specloom[{name}]'"
            findings.append(Finding("missing", f"extra {name}", f"not installed: {absent}", remedy))
        else:
            findings.append(Finding("ok", f"extra {name}", ", ".join(needed)))
    return findings


# --- connections ----------------------------------------------------------------------------------------------------


async def reach(executor: Executor, *, allow_private: bool = False) -> list[Finding]:
    """Whether the host of each configured provider takes a connection; nothing is asked of it."""
    from specloom.net import Dialer, resolve_name

    dialer = Dialer(resolve_name, 5.0)  # seconds for one connection

    async def dial(name: str) -> Finding:
        service, settings = executor.model.providers[name].service, executor.settings[name]
        context = {"config": settings, "args": {}, "values": {}, "steps": {}, "now": executor.clock()}
        try:
            parts = urlsplit(str(evaluate(service.base, context)))
            secure = parts.scheme == "https"
            host, port = parts.hostname or "", parts.port or (443 if secure else 80)
            private = allow_private or service.policy.allow_private
            stream = await dialer.dial(host, port, secure=secure, allow_private=private)
            await stream.aclose()
        except (Fault, ValueError) as problem:
            reason = problem.message if isinstance(problem, Fault) else "its address cannot be read"
            return Finding("broken", f"reach {name}", reason, "look at the network, a firewall or the address")
        return Finding("ok", f"reach {name}", f"{host}:{port}")

    names = [name for name in executor.model.providers if name in executor.configured]
    found = list(await asyncio.gather(*(dial(name) for name in names)))
    if len(found) > 1 and all(one.state == "broken" for one in found):
        says = f"none of {len(found)} providers can be reached; the first: {found[0].says}"
        return [Finding("broken", NO_NETWORK, says, "look at the network, a proxy or a firewall, and try again")]
    return found
