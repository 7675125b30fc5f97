"""Runs the examples of providers: the replies are given, the requests and what comes out are compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from specloom.core import Answer, Fault, Place, Report, Request, Response, Secret, did_you_mean, looks_issued
from specloom.model import Operation, Provider
from specloom.runtime import STEP as TOKEN_STEP
from specloom.runtime import drive, perform, read_settings
from specloom.specs import Listing, Map, Spec, to_plain

from .compare import compare_fault, compare_rows, differing_request, place_of, short

DEFAULT_NOW = "2026-01-01T00:00:00Z"


@dataclass(slots=True)
class ExchangeTrace:
    """What one example of a provider did: the requests by step, what came out, and which error rule spoke."""

    sent: dict[str, list[Request]] = field(default_factory=dict)
    answer: Answer | None = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class ProviderExample:
    """One example of a provider, ready to run."""

    name: str
    place: Place
    node: Map
    said: Mapping[str, Any]
    operation: Operation


def provider_examples(spec: Spec, provider: Provider, report: Report) -> Iterator[ProviderExample]:
    """The examples of a provider; one that names no operation is reported."""
    node = spec.root.get("examples")
    for item in node.items if isinstance(node, Listing) else ():
        assert isinstance(item, Map)
        said = to_plain(item)
        operation = provider.operations.get(said["operation"])
        if operation is None:
            message = f"{provider.name} has no operation {said['operation']!r}"
            hint = did_you_mean(said["operation"], provider.operations)
            report.add("E402", place_of(item, "operation"), message, hint)
            continue
        steps = {step.name for step in operation.steps} | ({TOKEN_STEP} if provider.service.grant else set())
        strange = False
        for key, inside in (("replies", said.get("replies")), ("expect", said["expect"].get("sent"))):
            for name in inside or ():
                if name not in steps:
                    hint = did_you_mean(name, steps)
                    report.add("E402", place_of(item, key), f"{operation.id} has no step {name!r}", hint)
                    strange = True
        if strange:
            continue
        yield ProviderExample(said["name"], item.place, item, said, operation)


def check_provider(spec: Spec, provider: Provider, report: Report) -> list[tuple[ProviderExample, ExchangeTrace]]:
    """Run a provider's examples and compare; returns what each did, for the coverage of the spec."""
    done: list[tuple[ProviderExample, ExchangeTrace]] = []
    for example in provider_examples(spec, provider, report):
        trace = run_provider_example(example, provider, report)
        if trace is not None:
            _compare(example, trace, report)
            done.append((example, trace))
    examples = to_plain(spec.root.get("examples")) or []
    with_example = {said["operation"] for said in examples}
    for operation in provider.operations.values():
        if operation.name not in with_example:
            hint = "an example under `examples` states the request and what must come of it"
            report.add("E403", operation.place, f"{operation.id} has no example", hint)
    return done


def clock(text: str) -> float:
    """The moment that an RFC 3339 text means, in seconds since 1970."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def run_provider_example(example: ProviderExample, provider: Provider, report: Report) -> ExchangeTrace | None:
    """What an example does, or None when it cannot be run, which is then reported."""
    said = example.said
    known = {name for one in provider.settings.values() for name in (one.name, one.stand_in) if name}
    unknown = [name for name in said.get("config") or {} if name not in known]
    if unknown:
        hint = did_you_mean(unknown[0], sorted(known))
        report.add("E402", place_of(example.node, "config"), f"{provider.name} has no setting {unknown[0]!r}", hint)
        return None
    strange = [name for name in said.get("args") or {} if name not in example.operation.input]
    if strange:
        message = f"{example.operation.id} takes no argument {strange[0]!r}"
        hint = did_you_mean(strange[0], example.operation.input)
        report.add("E402", place_of(example.node, "args"), message, hint)
        return None
    for name, value in (said.get("config") or {}).items():
        if isinstance(value, str) and looks_issued(value):
            place = place_of(example.node, "config")
            report.add("W202", place, f"the value of {name} looks like a real secret", "make one up, such as k")
    config, problems = read_settings(provider.settings, environment(said.get("config")))
    for problem in problems:
        report.add("E402", place_of(example.node, "config"), problem)
    trace = ExchangeTrace()
    replies = {name: list(one) if isinstance(one, list) else [one] for name, one in (said.get("replies") or {}).items()}
    lost: list[str] = []

    def answer(request: Request) -> Response | Fault:
        trace.sent.setdefault(request.step, []).append(request)
        waiting = replies.get(request.step)
        if not waiting:
            lost.append(request.step)
            return Fault("internal", "the example has no reply")
        listed = isinstance(said["replies"][request.step], list)
        return to_response(waiting.pop(0) if listed else waiting[0], request.url)

    now = clock(said.get("now", DEFAULT_NOW))
    try:
        trace.answer = drive(perform(provider, example.operation, said.get("args") or {}, config, now), answer)
    except Fault as fault:
        trace.fault = fault
    if lost:
        message = f"{example.name!r} sends step {lost[0]!r}, for which it has no reply"
        report.add("E401", example.place, message)
        return None
    if not _surprises(trace, said["expect"]):
        for name, rest in replies.items():
            if name not in trace.sent and rest:
                report.add("E401", place_of(example.node, "replies"), f"{example.name!r} never sends step {name!r}")
    return trace


def _surprises(trace: ExchangeTrace, expect: Mapping[str, Any]) -> bool:
    """Whether the run ended in a fault that the example does not expect, so that what it did not do is no wonder."""
    return trace.fault is not None and trace.fault.kind != expect.get("error")


def environment(config: Mapping[str, Any] | None) -> dict[str, str]:
    """The settings of an example as the environment would have them: texts; null is not set."""
    said = {name: value for name, value in (config or {}).items() if value is not None}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in said.items()}


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


def shown(value: Any) -> Any:
    """A sent value as an example writes it: secrets in clear, because in an example they are made up."""
    return value.reveal() if isinstance(value, Secret) else value


def describe_request(request: Request) -> dict[str, Any]:
    """A request in the words of an example: verb and URL, query, headers, body."""
    query: dict[str, Any] = {}
    for name, value in request.query:
        one = shown(value)
        if name in query:
            query[name] = [*(query[name] if isinstance(query[name], list) else [query[name]]), one]
        else:
            query[name] = one
    headers = {name: shown(value) for name, value in request.headers}
    said: dict[str, Any] = {request.method.lower(): request.url, "query": query, "headers": headers}
    if request.body is not None:
        kind = next((str(shown(value)) for name, value in request.headers if name.lower() == "content-type"), "")
        text = request.body.decode()
        if kind.startswith("application/json"):
            said["json"] = json.loads(text)
        elif kind.startswith("application/x-www-form-urlencoded"):
            said["form"] = dict(parse_qsl(text, keep_blank_values=True))
        else:
            said["text"] = text
    return said


def _compare(example: ProviderExample, trace: ExchangeTrace, report: Report) -> None:
    expect = example.said["expect"]
    expect_node = example.node.get("expect")
    assert isinstance(expect_node, Map)

    def wrong(key: str, sentence: str, item: int | None = None) -> None:
        report.add("E401", place_of(expect_node, key, item), f"{example.name!r}: {sentence}")

    for name, wanted in (expect.get("sent") or {}).items():
        requests = trace.sent.get(name, [])
        listed = wanted if isinstance(wanted, list) else [wanted]
        times = listed[0].get("times", len(listed))
        if len(requests) != times and not _surprises(trace, expect):
            wrong("sent", f"step {name!r} was sent {len(requests)} times, not {times}")
        for request, one in zip(requests, listed, strict=False):
            for sentence in differing_request(describe_request(request), one):
                wrong("sent", f"step {name!r} {sentence}")
    if trace.fault is not None:
        if "error" not in expect:
            detail = f" ({trace.fault.detail})" if trace.fault.detail else ""
            wrong(next(iter(expect)), f"ended with the fault {trace.fault.kind}: {trace.fault.message}{detail}")
            return
        compare_fault(trace.fault, expect, wrong)
        return
    assert trace.answer is not None
    known = [name for name, _, _ in example.operation.conform]
    for index, row in enumerate(expect.get("rows") or ()):
        for name in row:
            if name not in known:
                message = f"a row of {example.operation.capability!r} has no field {name!r}"
                report.add("E402", place_of(expect_node, "rows", index), message, did_you_mean(name, known))
                return
    if "error" in expect:
        wrong("error", f"gave {len(trace.answer.rows)} rows instead of the fault {expect['error']}")
    compare_rows(trace.answer.rows, expect, wrong)
    for name, value in (expect.get("meta") or {}).items():
        if trace.answer.meta.get(name) != value:
            wrong("meta", f"meta {name!r} is {short(trace.answer.meta.get(name))}, not {short(value)}")
