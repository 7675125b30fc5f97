"""Runs the examples of providers: the replies are given, the requests and what comes out are compared."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from specloom.core import (
    Fault,
    PagePosition,
    Rate,
    Report,
    Request,
    Response,
    Secret,
    did_you_mean,
    looks_issued,
    parse_rate,
)
from specloom.model import Operation, Provider
from specloom.runtime import STEP as TOKEN_STEP
from specloom.runtime import drive, perform, read_quota, read_settings
from specloom.specs import Spec

from .compare import Example, ExampleTrace, compare_result, differing_request, examples_of, place_of, short
from .selectors import explain

DEFAULT_NOW = "2026-01-01T00:00:00Z"


def check_provider(spec: Spec, provider: Provider, report: Report) -> list[tuple[Example, ExampleTrace]]:
    """Run a provider's examples and compare; what each did, for the coverage of the spec."""
    traces: list[tuple[Example, ExampleTrace]] = []
    for example in provider_examples(spec, provider, report):
        apart = replace(example, report=Report())
        trace = run_example(apart, provider)
        if trace is not None:
            _compare(apart, provider, provider.operations[example.stated["operation"]], trace)
            traces.append((example, trace))
        found = apart.report.found
        if trace is not None and any(one.code == "E401" for one in found):
            found = explain(spec, example, provider, found, run_example)
        report.take(found)
    with_example = {example.stated.get("operation") for example in examples_of(spec, report)}
    for operation in provider.operations.values():
        if operation.name not in with_example:
            hint = "an example under `examples` states the request and what must come of it"
            report.add("E403", operation.place, f"{operation.id} has no example", hint)
    return traces


def provider_examples(spec: Spec, provider: Provider, report: Report) -> Iterator[Example]:
    """The examples of a provider; one that names no operation, or a step that it does not have, is reported."""
    for example in examples_of(spec, report):
        if "page" in example.stated:
            continue
        name = example.stated["operation"]
        operation = provider.operations.get(name)
        if operation is None:
            hint = did_you_mean(name, provider.operations)
            example.add("E402", "operation", f"{provider.name} has no operation {name!r}", hint)
            continue
        steps = {step.name for step in operation.steps} | ({TOKEN_STEP} if provider.service.grant else set())
        named = [("replies", step) for step in example.stated.get("replies") or ()]
        named += [("expect", step) for step in example.expect.get("sent") or ()]
        unknown = [(key, step) for key, step in named if step not in steps]
        for key, step in unknown:
            example.add("E402", key, f"{operation.id} has no step {step!r}", did_you_mean(step, steps))
        if not unknown:
            yield example


def clock(text: str) -> float:
    """The moment that an RFC 3339 text means, in seconds since 1970."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def run_example(example: Example, provider: Provider) -> ExampleTrace | None:
    """What an example does, or None when it cannot be run, which is then reported."""
    operation = provider.operations[example.stated["operation"]]
    config, arguments = example.stated.get("config") or {}, example.stated.get("args") or {}
    settings = sorted({name for one in provider.settings.values() for name in (one.name, one.stand_in) if name})
    for key, names, allowed, message in (
        ("config", config, settings, f"{provider.name} has no setting"),
        ("args", arguments, operation.input, f"{operation.id} takes no argument"),
    ):
        unknown = next((name for name in names if name not in allowed), None)
        if unknown is not None:
            example.add("E402", key, f"{message} {unknown!r}", did_you_mean(unknown, allowed))
            return None
    for name, value in config.items():
        if isinstance(value, str) and looks_issued(value):
            example.add("W202", "config", f"the value of {name} looks like a real secret", "make one up, such as k")
    values, problems = read_settings(provider.settings, environment(config))
    for problem in problems:
        example.add("E402", "config", problem)
    trace = ExampleTrace()
    replies = {
        name: list(one) if isinstance(one, list) else [one]
        for name, one in (example.stated.get("replies") or {}).items()
    }
    unanswered: list[str] = []

    def answer(request: Request) -> Response | Fault:
        trace.sent.append(request)
        waiting = replies.get(request.step)
        if not waiting:
            unanswered.append(request.step)
            return Fault("internal", "the example has no reply")
        is_listed = isinstance(example.stated["replies"][request.step], list)
        response = to_response(waiting.pop(0) if is_listed else waiting[0], request.url)
        if isinstance(response, Response):
            trace.quota = read_quota(provider.service.learned, response.headers, now)
        return response

    now = clock(example.stated.get("now", DEFAULT_NOW))
    try:
        position = to_position(example.stated["position"]) if "position" in example.stated else None
        trace.answer = drive(perform(provider, operation, arguments, values, now, position=position), answer)
    except Fault as fault:
        trace.fault = fault
    if unanswered:
        message = f"{example.name!r} sends step {unanswered[0]!r}, for which it has no reply"
        example.report.add("E401", example.node.place, message)
        return None
    sent = {request.step for request in trace.sent}
    for name, rest in replies.items():
        if name not in sent and rest and not _surprises(trace, example.expect):
            example.add("E401", "replies", f"{example.name!r} never sends step {name!r}")
    return trace


def to_position(stated: Any) -> PagePosition:
    """Where a call goes on, as an example writes it: a page, or a page with how many of its rows were given."""
    if isinstance(stated, Mapping):
        return PagePosition(str(stated["page"]), stated.get("skip", 0))
    return PagePosition(str(stated))


def describe_position(position: PagePosition | None) -> Any:
    """A position as an example writes it; numbers are compared as texts."""
    if position is None:
        return None
    return {"page": position.page, "skip": position.skip} if position.skip else position.page


def differs(position: PagePosition | None, stated: Any) -> str:
    """How a position differs from the one that an example states; "" where it does not."""
    expected = None if stated is None else to_position(stated)
    return "" if position == expected else f"is {short(describe_position(position))}, not {short(stated)}"


def _surprises(trace: ExampleTrace, expect: Mapping[str, Any]) -> bool:
    """Whether the run ended in a fault that the example does not expect, so that what it did not do is no wonder."""
    return trace.fault is not None and trace.fault.kind != expect.get("error")


def environment(config: Mapping[str, Any] | None) -> dict[str, str]:
    """The settings of an example as the environment would have them: texts; null is not set."""
    stated = {name: value for name, value in (config or {}).items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in stated.items()}


def to_response(reply: Mapping[str, Any], url: str) -> Response | Fault:
    """What a reply of an example stands for."""
    if "fault" in reply:
        return Fault(reply["fault"], "the example says so")
    headers = {name.lower(): value for name, value in (reply.get("headers") or {}).items()}
    if "json" in reply:
        headers.setdefault("content-type", "application/json")
        body = json.dumps(reply["json"], ensure_ascii=False).encode()
    else:
        body = str(reply.get("text", "")).encode()
    return Response(reply.get("status", 200), headers, body, url)


def reveal(value: Any) -> Any:
    """A sent value as an example writes it: secrets in clear, because in an example they are made up."""
    return value.reveal() if isinstance(value, Secret) else value


def describe_request(request: Request) -> dict[str, Any]:
    """A request in the words of an example: verb and URL, query, headers, body."""
    query: dict[str, Any] = {}
    for name, value in request.query:
        before = query.get(name, [])
        text = reveal(value)
        query[name] = [*(before if isinstance(before, list) else [before]), text] if name in query else text
    headers = {name: reveal(value) for name, value in request.headers}
    described: dict[str, Any] = {request.method.lower(): request.url, "query": query, "headers": headers}
    if request.body is not None:
        kind = next((str(value) for name, value in headers.items() if name.lower() == "content-type"), "")
        try:
            text = request.body.decode()
        except UnicodeDecodeError:
            return described | {"base64": base64.b64encode(request.body).decode()}
        if kind.startswith("application/json"):
            described["json"] = json.loads(text)
        elif kind.startswith("application/x-www-form-urlencoded"):
            described["form"] = dict(parse_qsl(text, keep_blank_values=True))
        else:
            described["text"] = text
    return described


def _to_rate(stated: Any) -> Any:
    """The rate that an example states; what is none stays as it is, and is equal to no rate."""
    try:
        return parse_rate(stated) if isinstance(stated, str) else stated
    except ValueError:
        return stated


def _settings_hint(example: Example, fault: Fault | None, provider: Provider) -> str:
    """What to give an example that ended for want of settings: it has none but its own."""
    if fault is None or fault.kind not in {"config", "auth_required"}:
        return ""
    given = example.stated.get("config") or {}
    unset = [one.name for one in provider.settings.values() if one.required and one.name not in given]
    listed = ", ".join(f"{name}: …" for name in unset)
    return f"an example has settings of its own and none of yours: write `config: {{{listed}}}` in it" if unset else ""


def _compare(example: Example, provider: Provider, operation: Operation, trace: ExampleTrace) -> None:
    expect = example.expect
    for name, stated in (expect.get("sent") or {}).items():
        requests = [request for request in trace.sent if request.step == name]
        listed = stated if isinstance(stated, list) else [stated]
        times = listed[0].get("times", len(listed))
        if len(requests) != times and not _surprises(trace, expect):
            example.wrong("sent", f"step {name!r} was sent {len(requests)} times, not {times}")
        for request, one in zip(requests, listed, strict=False):
            for sentence in differing_request(describe_request(request), one):
                example.wrong("sent", f"step {name!r} {sentence}")
    for name, stated in (expect.get("learned") or {}).items():
        told = getattr(trace.quota, name)
        if told != (_to_rate(stated) if name == "rate" else stated):
            shown = f"{told.count:g}/{told.per:g}s" if isinstance(told, Rate) else told
            example.wrong("learned", f"the headers tell the {name} {short(shown)}, not {short(stated)}")
    fields = [name for name, _, _ in operation.conform]
    for index, row in enumerate(expect.get("rows") or () if trace.answer else ()):
        unknown = next((name for name in row if name not in fields), None)
        if unknown is not None:
            place = place_of(example.node.get("expect") or example.node, "rows", index)
            message = f"a row of {operation.capability!r} has no field {unknown!r}"
            example.report.add("E402", place, message, did_you_mean(unknown, fields))
            return
    hint = _settings_hint(example, trace.fault, provider)
    if compare_result(example, trace.answer.rows if trace.answer else [], trace.fault, hint) and trace.answer:
        if "following" in expect and (difference := differs(trace.answer.following, expect["following"])):
            example.wrong("following", f"what follows {difference}")
        if "has_more" in expect and trace.answer.has_more is not expect["has_more"]:
            example.wrong("has_more", f"has_more is {trace.answer.has_more}, not {expect['has_more']}")
        for name, value in (expect.get("meta") or {}).items():
            if trace.answer.meta.get(name) != value:
                example.wrong("meta", f"meta {name!r} is {short(trace.answer.meta.get(name))}, not {short(value)}")
