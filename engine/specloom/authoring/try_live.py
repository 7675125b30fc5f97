"""One live run of one operation: what was sent, what came back, and what of it the map found; also as a recording."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specloom.core import (
    Answer,
    Fault,
    Paint,
    Request,
    Response,
    Secret,
    cut,
    dataclass,
    did_you_mean,
    escape,
    is_clean,
    parse_json,
    redact,
    redact_response,
    request_lines,
    request_to_json,
    row_lines,
    secrets_in,
    write_whole,
)
from specloom.model import Argument, Capability, Operation, Provider, Setting
from specloom.runtime import (
    STEP,
    TOKEN_REPLY,
    Executor,
    Sender,
    drive,
    drive_live,
    missing_settings,
    perform,
    request_id,
    secrets_of,
    to_recording,
)

from .examples.providers import describe_request, reveal


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response, or the fault instead of one."""

    request: Request
    response: Response | None = None
    fault: Fault | None = None


@dataclass(slots=True)
class LiveTry:
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
        data: dict[str, Any] = {"operation": self.operation.id, "arguments": dict(self.arguments), "exchanges": []}
        for exchange in self.exchanges:
            described: dict[str, Any] = {"request": request_to_json(exchange.request, self.secrets)}
            if exchange.response is not None:
                described |= {"status": exchange.response.status, "bytes": len(exchange.response.body)}
            if exchange.fault is not None:
                described["fault"] = {"kind": exchange.fault.kind, "message": exchange.fault.message}
            data["exchanges"].append(described)
        if self.answer is not None:
            data |= {"rows": self.answer.rows, "meta": self.answer.meta, "filled": self.filled()}
        if self.fault is not None:
            data["fault"] = {name: getattr(self.fault, name) for name in ("kind", "message", "detail")}
        return data


def find_operation(executor: Executor, path: str) -> tuple[Provider, Operation]:
    """What `PROVIDER` or `PROVIDER.OPERATION` means; a `config` fault when it means nothing or the key is missing."""
    name, _, operation = path.partition(".")
    providers = executor.model.providers
    if name not in providers:
        raise Fault("config", f"there is no provider {name!r}; {did_you_mean(name, providers)}".rstrip("; "))
    provider = providers[name]
    if not operation and len(provider.operations) > 1:
        listed = ", ".join(f"{name}.{one}" for one in provider.operations)
        raise Fault("config", f"{name} has several operations; say which: {listed}")
    operation = operation or next(iter(provider.operations))
    if operation not in provider.operations:
        hint = did_you_mean(operation, provider.operations)
        raise Fault("config", f"{name} has no operation {operation!r}; {hint}".rstrip("; "))
    if name not in executor.configured:
        needed = " and ".join(missing_settings(provider, executor.settings[name]))
        raise Fault("config", f"{name} is not configured; set {needed}", action="check_api_key")
    return provider, provider.operations[operation]


def to_arguments(operation: Operation, capability: Capability, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The arguments that `key=value` pairs mean, in the types of the capability; a `validation` fault otherwise."""
    arguments: dict[str, Any] = {}
    for name, text in pairs:
        if name not in operation.input:
            hint = did_you_mean(name, operation.input)
            raise Fault("validation", f"{operation.id} takes no argument {name!r}; {hint}".rstrip("; "))
        value = _typed(capability.arguments[name], text)
        arguments[name] = [*arguments.get(name, []), *value] if isinstance(value, list) else value
    return arguments


_TYPES: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
}


def _typed(argument: Argument, text: str) -> Any:
    kind, value = argument.kind, parse_json(text)
    if kind == "list":
        return value if isinstance(value, list) else [text]
    if kind == "any":
        return text if value is None else value
    if kind not in _TYPES:
        return text
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        raise Fault("validation", f"{argument.name} is {text!r}; it should be a value of type {kind}")
    return value


async def attempt(
    executor: Executor,
    provider: Provider,
    operation: Operation,
    arguments: Mapping[str, Any],
    sender: Sender,
    *,
    settings: Mapping[str, Any] | None = None,
) -> LiveTry:
    """Run an operation once, without cache, breaker or limits, and keep every exchange.

    `settings` are those of the executor unless they are given, as for a provider that it does not have.
    """
    settings = executor.settings[provider.name] if settings is None else settings
    capability = executor.model.capabilities[operation.capability]
    done = LiveTry(provider, operation, capability, arguments, executor.clock(), secrets=secrets_in(settings))

    async def send(request: Request) -> Response:
        secrets = [*done.secrets, *secrets_of(request)]
        try:
            response = await sender.send(request)
        except Fault as fault:
            fault = _without(fault, secrets)
            done.exchanges.append(Exchange(request, fault=fault))
            raise fault from None
        masked = redact_response(response, secrets)
        if request.step == STEP:
            # The operation needs the token, and nobody else.
            done.exchanges.append(Exchange(request, replace(masked, body=TOKEN_REPLY)))
            return response
        done.exchanges.append(Exchange(request, masked))
        return masked

    try:
        done.answer = await drive_live(perform(provider, operation, arguments, settings, done.now), send)
    except Fault as fault:
        done.fault = _without(fault, done.secrets)
    return done


def _without(fault: Fault, secrets: Sequence[Secret]) -> Fault:
    return fault.told_as(message=redact(fault.message, secrets), detail=redact(fault.detail, secrets))


def attempt_lines(done: LiveTry, paint: Paint, width: int) -> list[str]:
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


def _unmapped(done: LiveTry) -> list[str]:
    needed = [name for name, one in done.capability.row.items() if one.required]
    mapped = {one.name for step in done.operation.steps for one in step.reading.fields}
    return [f"the required field {name} is not mapped by any step" for name in needed if name not in mapped]


# --- Recordings of a live run, without secrets, and the example that is made of it ------------------------------------


_LONGEST_LIST = 2
"""Objects of a list that an example keeps: enough to show that there are several."""


def write_recordings(done: LiveTry, folder: Path) -> list[Path]:
    """Write every exchange under FOLDER/PROVIDER, without any secret of the provider; the files."""
    written = []
    for one in done.exchanges:
        if one.response is None:
            continue
        text = json.dumps(to_recording(one.request, one.response), ensure_ascii=False, indent=1)
        name = f"{one.request.operation}.{one.request.step}.{request_id(one.request)}.json"
        path = folder / one.request.provider / name
        write_whole(path, (redact(text, done.secrets) + "\n").encode())
        written.append(path)
    return written


def example_of(done: LiveTry) -> dict[str, Any]:
    """An example for the spec, made from a run: replies cut down, keys made up, and what then comes out as expected."""
    example: dict[str, Any] = {"name": "say in a sentence what this shows", "operation": done.operation.name}
    example["args"] = dict(done.arguments)
    settings = done.provider.settings
    stand_ins = {name: _stand_in(setting) for name, setting in settings.items() if setting.required}
    if stand_ins:
        example["config"] = {name: reveal(value) for name, value in stand_ins.items()}
    now = float(int(done.now))
    example["now"] = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    cut_down = [_cut_down(exchange) for exchange in done.exchanges]
    example["replies"] = _by_step((exchange.request.step, _reply(exchange)) for exchange in cut_down)
    defaults = {name: setting.default for name, setting in settings.items()}
    example["expect"] = _expectation(done, {**defaults, **stand_ins}, cut_down, now)
    return example


def _by_step(described: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """What was sent or answered by step: one where it was once, a list where it was more often."""
    steps: dict[str, list[dict[str, Any]]] = {}
    for step, one in described:
        steps.setdefault(step, []).append(one)
    return {step: several[0] if len(several) == 1 else several for step, several in steps.items()}


def _stand_in(setting: Setting) -> Any:
    """A made-up value of a setting."""
    if setting.kind == "url":
        return "https://host.example"
    if setting.kind == "credentials":
        return Secret("user:made-up")
    return Secret("made-up") if setting.secret else "made-up"


def _cut_down(exchange: Exchange) -> Exchange:
    if exchange.response is None:
        return exchange
    try:
        body = json.dumps(_short_lists(json.loads(exchange.response.body))).encode()
    except (ValueError, RecursionError):
        return exchange
    return replace(exchange, response=replace(exchange.response, body=body))


def _short_lists(value: Any) -> Any:
    if isinstance(value, list):
        kept = value[:_LONGEST_LIST] if value and isinstance(value[0], (dict, list)) else value
        return [_short_lists(one) for one in kept]
    return {name: _short_lists(one) for name, one in value.items()} if isinstance(value, dict) else value


def _reply(exchange: Exchange) -> dict[str, Any]:
    response = exchange.response
    if response is None:
        return {"fault": exchange.fault.kind if exchange.fault else "network"}
    reply: dict[str, Any] = {} if response.status == 200 else {"status": response.status}
    headers = {name: response.headers[name] for name in ("retry-after", "link") if name in response.headers}
    if headers:
        reply["headers"] = headers
    text = response.body.decode("utf-8", "replace")
    parsed = parse_json(text) if text[:1] in {"{", "["} else None
    return {**reply, "json": parsed} if parsed is not None else {**reply, "text": text}


def _expectation(
    done: LiveTry, settings: Mapping[str, Any], exchanges: Sequence[Exchange], now: float
) -> dict[str, Any]:
    """What the operation does with the cut-down replies: the same generator says it, so the example holds."""
    waiting = iter(exchanges)
    sent: list[tuple[str, dict[str, Any]]] = []
    expect: dict[str, Any] = {}

    def answer(request: Request) -> Response | Fault:
        described = describe_request(request)
        sent.append((request.step, {name: value for name, value in described.items() if value not in ({}, "")}))
        exchange = next(waiting, None)
        if exchange is not None and exchange.response is not None:
            return replace(exchange.response, url=request.url)
        return (exchange.fault if exchange else None) or Fault("network", "there is no reply for this")

    try:
        outcome = drive(perform(done.provider, done.operation, done.arguments, settings, now), answer)
    except Fault as fault:
        expect["error"] = fault.kind
    else:
        expect["rows"] = outcome.rows
        if outcome.meta:
            expect["meta"] = outcome.meta
    return {**expect, "sent": _by_step(sent)}


class LinedText(str):
    """A text that is written line by line, as a table is."""

    __slots__ = ()


def to_yaml(value: Any) -> str:
    """A value as YAML that the loader of specs reads back as the same: no anchors, every doubtful text quoted."""
    import yaml

    class Plain(yaml.SafeDumper):
        """Writes everything out."""

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the same object twice is written twice
            return True

    def represent(dumper: Plain, text: str) -> yaml.ScalarNode:
        style = '"' if not is_clean(text) else "|" if isinstance(text, LinedText) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Plain.add_representer(str, represent)
    Plain.add_representer(LinedText, represent)
    return escape(yaml.dump(value, Dumper=Plain, sort_keys=False, allow_unicode=True, width=110), pairs=False)
