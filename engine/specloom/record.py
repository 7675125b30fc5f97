"""Recordings of a live run, without secrets, and the example that is made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .driving import drive
from .examples_providers import describe_request
from .faults import Fault
from .perform import perform
from .recording import request_id, to_recording, write_whole
from .trying import Attempt, Exchange, parse_json
from .vault import Secret, redact
from .wire import Request, Response

_LONGEST_LIST = 2
"""Objects of a list that an example keeps: enough to show that there are several."""


def write_recordings(done: Attempt, folder: Path) -> list[Path]:
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


def example_of(done: Attempt) -> dict[str, Any]:
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


def _settings(done: Attempt) -> dict[str, Any]:
    return {name: one.default for name, one in done.provider.settings.items()}


def _stand_ins(done: Attempt) -> dict[str, Any]:
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
    done: Attempt, settings: Mapping[str, Any], exchanges: Sequence[Exchange], now: float
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
