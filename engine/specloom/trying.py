"""One live run of one operation: what was sent, what came back, and what of it the map found; also as a recording."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .config import missing_settings
from .diagnostics import did_you_mean
from .driving import drive_live
from .executor import Executor
from .faults import Fault
from .model_providers import Argument, Capability, Operation, Provider
from .perform import perform
from .recording import Sender
from .show import Paint, cut, request_lines, request_to_json, row_lines, secrets_in
from .vault import Secret
from .wire import Answer, Request, Response


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response, or the fault instead of one."""

    request: Request
    response: Response | None = None
    fault: Fault | None = None


@dataclass(slots=True)
class Attempt:
    """What one run of an operation did."""

    provider: Provider
    operation: Operation
    capability: Capability
    arguments: Mapping[str, Any]
    now: float
    exchanges: list[Exchange] = field(default_factory=list)
    answer: Answer | None = None
    fault: Fault | None = None
    secrets: Sequence[Secret] = ()

    def filled(self) -> dict[str, int]:
        """For each row field of the capability how many rows have it."""
        rows = self.answer.rows if self.answer else []
        return {name: sum(name in row for row in rows) for name in self.capability.row}

    def to_json(self) -> dict[str, Any]:
        """The run as data, secrets masked."""
        said: dict[str, Any] = {"operation": self.operation.id, "arguments": dict(self.arguments), "exchanges": []}
        for one in self.exchanges:
            shown: dict[str, Any] = {"request": request_to_json(one.request, self.secrets)}
            if one.response is not None:
                shown |= {"status": one.response.status, "bytes": len(one.response.body)}
            if one.fault is not None:
                shown["fault"] = {"kind": one.fault.kind, "message": one.fault.message}
            said["exchanges"].append(shown)
        if self.answer is not None:
            said |= {"rows": self.answer.rows, "meta": self.answer.meta, "filled": self.filled()}
        if self.fault is not None:
            said["fault"] = {"kind": self.fault.kind, "message": self.fault.message, "detail": self.fault.detail}
        return said


def find_operation(executor: Executor, said: str) -> tuple[Provider, Operation]:
    """What `PROVIDER` or `PROVIDER.OPERATION` means; a `config` fault when it means nothing or the key is missing."""
    name, _, wanted = said.partition(".")
    providers = executor.model.providers
    if name not in providers:
        raise Fault("config", f"there is no provider {name!r}; {did_you_mean(name, providers)}".rstrip("; "))
    provider = providers[name]
    if not wanted and len(provider.operations) > 1:
        listed = ", ".join(f"{name}.{one}" for one in provider.operations)
        raise Fault("config", f"{name} has several operations; say which: {listed}")
    wanted = wanted or next(iter(provider.operations))
    if wanted not in provider.operations:
        hint = did_you_mean(wanted, provider.operations)
        raise Fault("config", f"{name} has no operation {wanted!r}; {hint}".rstrip("; "))
    if name not in executor.configured:
        needed = " and ".join(missing_settings(provider, executor.settings[name]))
        raise Fault("config", f"{name} is not configured; set {needed}", action="check_api_key")
    return provider, provider.operations[wanted]


def to_arguments(operation: Operation, capability: Capability, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The arguments that `key=value` pairs mean, in the types of the capability; a `validation` fault otherwise."""
    found: dict[str, Any] = {}
    for name, text in pairs:
        if name not in operation.input:
            hint = did_you_mean(name, operation.input)
            raise Fault("validation", f"{operation.id} takes no argument {name!r}; {hint}".rstrip("; "))
        value = _typed(capability.arguments[name], text)
        found[name] = [*found.get(name, []), *value] if isinstance(value, list) else value
    return found


def _typed(argument: Argument, text: str) -> Any:
    kind = argument.kind
    if kind == "list":
        value = parse_json(text) if text.lstrip().startswith("[") else None
        return value if isinstance(value, list) else [text]
    if kind in {"integer", "number", "boolean", "object", "any"}:
        value = parse_json(text)
        if kind == "any" and value is None:
            return text
        wanted: dict[str, tuple[type, ...]] = {
            "integer": (int,),
            "number": (int, float),
            "boolean": (bool,),
            "object": (dict,),
        }
        if kind in wanted and (not isinstance(value, wanted[kind]) or (isinstance(value, bool) and kind != "boolean")):
            raise Fault("validation", f"{argument.name} is {text!r}; it should be a value of type {kind}")
        return value
    return text


def parse_json(text: str) -> Any:
    """The value that a text is, or None when it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


async def attempt(
    executor: Executor, provider: Provider, operation: Operation, arguments: Mapping[str, Any], sender: Sender
) -> Attempt:
    """Run an operation once, without cache, breaker or limits, and keep every exchange."""
    settings = executor.settings[provider.name]
    capability = executor.model.capabilities[operation.capability]
    done = Attempt(provider, operation, capability, arguments, executor.clock(), secrets=secrets_in(settings))

    async def send(request: Request) -> Response:
        try:
            response = await sender.send(request)
        except Fault as fault:
            done.exchanges.append(Exchange(request, fault=fault))
            raise
        done.exchanges.append(Exchange(request, response))
        return response

    try:
        done.answer = await drive_live(perform(provider, operation, arguments, settings, done.now), send)
    except Fault as fault:
        done.fault = fault
    return done


def attempt_lines(done: Attempt, paint: Paint, width: int) -> list[str]:
    """The run as a person reads it."""
    lines: list[str] = []
    for one in done.exchanges:
        lines += request_lines(one.request, done.secrets)
        if one.response is not None:
            kind = cut(one.response.headers.get("content-type", "no type"), 60)
            tint = "green" if one.response.status < 300 else "red"
            lines.append(paint(f"  → {one.response.status}, {len(one.response.body)} bytes, {kind}", tint))
        if one.fault is not None:
            lines.append(paint(f"  → {one.fault.kind}: {cut(one.fault.message, 2 * width)}", "red"))
    lines.append("")
    if done.fault is not None:
        lines.append(paint(f"{done.fault.kind}: {cut(done.fault.message, 2 * width)}", "red"))
        if done.fault.detail:
            lines.append(f"  {cut(done.fault.detail, 3 * width)}")
    if done.answer is not None:
        for number, row in enumerate(done.answer.rows, 1):
            lines += row_lines(number, row, paint, width)
        total = len(done.answer.rows)
        shares = [f"{name} {number}/{total}" for name, number in done.filled().items() if total]
        lines.append(f"{total} rows" + (f": {', '.join(shares)}" if shares else ""))
        lines += [f"{name}: {cut(str(value), width)}" for name, value in done.answer.meta.items()]
    lines += [paint(line, "yellow") for line in _unmapped(done)]
    return lines


def _unmapped(done: Attempt) -> list[str]:
    needed = [name for name, one in done.capability.row.items() if one.required]
    mapped = {one.name for step in done.operation.steps for one in step.reading.fields}
    return [f"the required field {name} is not mapped by any step" for name in needed if name not in mapped]
