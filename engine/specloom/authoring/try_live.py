"""One live run of one operation: what was sent, what came back, and what of it the map found; also as a recording."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    did_you_mean,
    redact,
    request_lines,
    request_to_json,
    row_lines,
    secrets_in,
)
from specloom.model import Argument, Capability, Operation, Provider
from specloom.runtime import (
    Executor,
    Sender,
    drive,
    drive_live,
    missing_settings,
    perform,
    request_id,
    to_recording,
    write_whole,
)

from .examples.providers import describe_request


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
) -> LiveTry:
    """Run an operation once, without cache, breaker or limits, and keep every exchange."""
    settings = executor.settings[provider.name]
    capability = executor.model.capabilities[operation.capability]
    done = LiveTry(provider, operation, capability, arguments, executor.clock(), secrets=secrets_in(settings))

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
    stand_ins = _stand_ins(done)
    if stand_ins:
        example["config"] = {name: _shown(value) for name, value in stand_ins.items()}
    now = float(int(done.now))
    example["now"] = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    cut_down = [_cut_down(one, done.secrets) for one in done.exchanges]
    replies: dict[str, list[dict[str, Any]]] = {}
    for one in cut_down:
        replies.setdefault(one.request.step, []).append(_reply(one))
    example["replies"] = {step: many[0] if len(many) == 1 else many for step, many in replies.items()}
    example["expect"] = _expectation(done, {**_settings(done), **stand_ins}, cut_down, now)
    return example


def _settings(done: LiveTry) -> dict[str, Any]:
    return {name: one.default for name, one in done.provider.settings.items()}


def _stand_ins(done: LiveTry) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, one in done.provider.settings.items():
        if one.required and one.kind == "url":
            found[name] = "https://host.example"
        elif one.required and one.kind == "credentials":
            found[name] = Secret("user:made-up")
        elif one.required:
            found[name] = Secret("made-up") if one.secret else "made-up"
    return found


def _shown(value: Any) -> Any:
    return value.reveal() if isinstance(value, Secret) else value


def _cut_down(one: Exchange, secrets: Sequence[Secret]) -> Exchange:
    if one.response is None:
        return one
    try:
        text = redact(one.response.body.decode("utf-8"), secrets)
    except UnicodeDecodeError:
        return one
    try:
        parsed = json.loads(text)
    except ValueError:
        return Exchange(one.request, replace(one.response, body=text.encode()))
    return Exchange(one.request, replace(one.response, body=json.dumps(_short_lists(parsed)).encode()))


def _short_lists(value: Any) -> Any:
    if isinstance(value, list):
        kept = value[:_LONGEST_LIST] if value and isinstance(value[0], (dict, list)) else value
        return [_short_lists(one) for one in kept]
    return {name: _short_lists(one) for name, one in value.items()} if isinstance(value, dict) else value


def _reply(one: Exchange) -> dict[str, Any]:
    if one.response is None:
        return {"fault": one.fault.kind if one.fault else "network"}
    said: dict[str, Any] = {} if one.response.status == 200 else {"status": one.response.status}
    kept = {name: one.response.headers[name] for name in ("retry-after", "link") if name in one.response.headers}
    if kept:
        said["headers"] = kept
    text = one.response.body.decode("utf-8", "replace")
    parsed = parse_json(text) if text[:1] in {"{", "["} else None
    return {**said, "json": parsed} if parsed is not None else {**said, "text": text}


def _expectation(
    done: LiveTry, settings: Mapping[str, Any], exchanges: Sequence[Exchange], now: float
) -> dict[str, Any]:
    """What the operation does with the cut-down replies: the same generator says it, so the example holds."""
    waiting = list(exchanges)
    sent: dict[str, list[dict[str, Any]]] = {}
    expect: dict[str, Any] = {}

    def answer(request: Request) -> Response | Fault:
        said = describe_request(request)
        sent.setdefault(request.step, []).append({name: value for name, value in said.items() if value not in ({}, "")})
        one = waiting.pop(0) if waiting else None
        if one is not None and one.response is not None:
            return replace(one.response, url=request.url)
        return (one.fault if one else None) or Fault("network", "there is no reply for this")

    try:
        found = drive(perform(done.provider, done.operation, done.arguments, settings, now), answer)
    except Fault as fault:
        expect["error"] = fault.kind
    else:
        expect["rows"] = found.rows
        if found.meta:
            expect["meta"] = found.meta
    expect["sent"] = {step: many[0] if len(many) == 1 else many for step, many in sent.items()}
    return expect


def to_yaml(value: Any) -> str:
    """A value as YAML that the loader of specs reads back as the same: no anchors, every doubtful text quoted."""
    import yaml

    class Plain(yaml.SafeDumper):
        """Writes everything out."""

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the same object twice is written twice
            return True

    text: str = yaml.dump(value, Dumper=Plain, sort_keys=False, allow_unicode=True, width=110)
    return text
