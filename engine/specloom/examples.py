"""Runs the examples inside specs, offline, through the code that serves, and says where one does not do what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from .arguments import parse_arguments
from .config import is_configured, missing_settings, read_settings
from .diagnostics import Place, Report, did_you_mean
from .faults import Fault
from .load import Listing, Map, Node, to_plain
from .model import Model, Operation, Provider, Row, Tool
from .names import Library, Spec
from .perform import Answer, Wait, perform
from .pursue import Ask, AskAll, Offer, Outcome, pursue
from .vault import Secret
from .wire import Request, Response

DEFAULT_NOW = "2026-01-01T00:00:00Z"
_MOST_TURNS = 100  # a spec that asks more often than this in one example never ends


@dataclass(slots=True)
class Trace:
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


def check_examples(library: Library, model: Model, report: Report, *, validate: bool = True) -> None:
    """Run every example of every spec that compiled; what is wrong is reported at the example's place."""
    for name, spec in library.of("provider").items():
        if name in model.providers:
            check_provider(spec, model.providers[name], report)
    for name, spec in library.of("tool").items():
        if name in model.tools:
            check_tool(spec, model.tools[name], model, report, validate=validate)


# --- providers ------------------------------------------------------------------------------------------------------


def provider_examples(spec: Spec, provider: Provider, report: Report) -> Iterator[ProviderExample]:
    """The examples of a provider; one that names no operation is reported."""
    node = spec.root.get("examples")
    for item in node.items if isinstance(node, Listing) else ():
        assert isinstance(item, Map)
        said = to_plain(item)
        operation = provider.operations.get(said["operation"])
        if operation is None:
            hint = did_you_mean(said["operation"], provider.operations)
            report.add("E402", _at(item, "operation"), f"{provider.name} has no operation {said['operation']!r}", hint)
            continue
        steps = {step.name for step in operation.steps}
        strange = False
        for key, inside in (("replies", said.get("replies")), ("expect", said["expect"].get("sent"))):
            for name in inside or ():
                if name not in steps:
                    report.add("E402", _at(item, key), f"{operation.id} has no step {name!r}", did_you_mean(name, steps))
                    strange = True
        if strange:
            continue
        yield ProviderExample(said["name"], item.place, item, said, operation)


def check_provider(spec: Spec, provider: Provider, report: Report) -> list[tuple[ProviderExample, Trace]]:
    """Run a provider's examples and compare; returns what each did, for the coverage of the spec."""
    done: list[tuple[ProviderExample, Trace]] = []
    for example in provider_examples(spec, provider, report):
        trace = run_provider_example(example, provider, report)
        if trace is not None:
            _compare(example, trace, report)
            done.append((example, trace))
    node = spec.root.get("examples")
    shown = {to_plain(item.get("operation")) for item in (node.items if isinstance(node, Listing) else ()) if isinstance(item, Map)}
    for operation in provider.operations.values():
        if operation.name not in shown:
            hint = "an example under `examples` states the request and what must come of it"
            report.add("E403", operation.place, f"{operation.id} has no example", hint)
    return done


def clock(text: str) -> float:
    """The moment that an RFC 3339 text means, in seconds since 1970."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def run_provider_example(example: ProviderExample, provider: Provider, report: Report) -> Trace | None:
    """What an example does, or None when it cannot be run, which is then reported."""
    said = example.said
    unknown = [name for name in said.get("config") or {} if name not in provider.settings]
    if unknown:
        hint = did_you_mean(unknown[0], provider.settings)
        report.add("E402", _at(example.node, "config"), f"{provider.name} has no setting {unknown[0]!r}", hint)
        return None
    strange = [name for name in said.get("args") or {} if name not in example.operation.input]
    if strange:
        hint = did_you_mean(strange[0], example.operation.input)
        report.add("E402", _at(example.node, "args"), f"{example.operation.id} takes no argument {strange[0]!r}", hint)
        return None
    config, problems = read_settings(provider.settings, _environment(said.get("config")))
    for problem in problems:
        report.add("E402", _at(example.node, "config"), problem)
    trace = Trace()
    replies = {name: list(one) if isinstance(one, list) else [one] for name, one in (said.get("replies") or {}).items()}
    running = perform(provider, example.operation, said.get("args") or {}, config, clock(said.get("now", DEFAULT_NOW)))
    give: Response | None = None
    throw: Fault | None = None
    for _ in range(_MOST_TURNS):
        try:
            wanted = running.throw(throw) if throw else running.send(give)
        except StopIteration as stop:
            trace.answer = stop.value
            break
        except Fault as fault:
            trace.fault = fault
            break
        give = throw = None
        if isinstance(wanted, Wait):
            continue
        trace.sent.setdefault(wanted.step, []).append(wanted)
        waiting = replies.get(wanted.step)
        if not waiting:
            report.add("E401", example.place, f"{example.name!r} sends step {wanted.step!r}, for which it has no reply")
            return None
        reply = waiting.pop(0) if len(waiting) > 1 or isinstance((said["replies"])[wanted.step], list) else waiting[0]
        give, throw = _response(reply, wanted)
    for name, rest in replies.items():
        if name not in trace.sent and rest:
            report.add("E401", _at(example.node, "replies"), f"{example.name!r} never sends step {name!r}")
    return trace


def _environment(config: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in (config or {}).items() if value is not None}


def _response(reply: Mapping[str, Any], request: Request) -> tuple[Response | None, Fault | None]:
    if "fault" in reply:
        return None, Fault(reply["fault"], "the example says so")
    headers = {name.lower(): value for name, value in (reply.get("headers") or {}).items()}
    if "json" in reply:
        headers.setdefault("content-type", "application/json")
        body = json.dumps(reply["json"], ensure_ascii=False).encode()
    else:
        body = str(reply.get("text", "")).encode()
    return Response(reply.get("status", 200), headers, body, request.url), None


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
    said: dict[str, Any] = {request.method.lower(): request.url, "query": query, "headers": {name: shown(value) for name, value in request.headers}}
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


def _compare(example: ProviderExample, trace: Trace, report: Report) -> None:
    expect = example.said["expect"]
    expect_node = example.node.get("expect")
    assert isinstance(expect_node, Map)

    def wrong(key: str, sentence: str) -> None:
        report.add("E401", _at(expect_node, key), f"{example.name!r}: {sentence}")

    for name, wanted in (expect.get("sent") or {}).items():
        requests = trace.sent.get(name, [])
        listed = wanted if isinstance(wanted, list) else [wanted]
        times = listed[0].get("times", len(listed))
        if len(requests) != times:
            wrong("sent", f"step {name!r} was sent {len(requests)} times, not {times}")
        for request, one in zip(requests, listed, strict=False):
            for sentence in differing_request(describe_request(request), one):
                wrong("sent", f"step {name!r} {sentence}")
    if trace.fault is not None:
        if "error" not in expect:
            wrong("error" if "error" in expect else next(iter(expect)), f"ended with the fault {trace.fault.kind}: {trace.fault.message}" + (f" ({trace.fault.detail})" if trace.fault.detail else ""))
            return
        _compare_fault(trace.fault, expect, wrong)
        return
    assert trace.answer is not None
    if "error" in expect:
        wrong("error", f"gave {len(trace.answer.rows)} rows instead of the fault {expect['error']}")
    _compare_rows(trace.answer.rows, expect, wrong)
    for name, value in (expect.get("meta") or {}).items():
        if trace.answer.meta.get(name) != value:
            wrong("meta", f"meta {name!r} is {_short(trace.answer.meta.get(name))}, not {_short(value)}")


def _compare_fault(fault: Fault, expect: Mapping[str, Any], wrong: Any) -> None:
    if fault.kind != expect["error"]:
        wrong("error", f"ended with {fault.kind}: {fault.message}; expected {expect['error']}")
    if "message" in expect and fault.message != expect["message"]:
        wrong("message", f"said {fault.message!r}, not {expect['message']!r}")
    if "retry_after" in expect and fault.retry_after != expect["retry_after"]:
        wrong("retry_after", f"may be tried again after {fault.retry_after} s, not {expect['retry_after']} s")


def differing_request(sent: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """What differs between a sent request and the whole request that an example states.

    Query and body are always compared whole, headers when they are stated; null says that something is not sent.
    """
    for verb in ("get", "post"):
        if verb in wanted and sent.get(verb) != wanted[verb]:
            yield f"went to {sent.get(verb) or next(iter(sent.items()))}, not {verb} {wanted[verb]}"
    for part in ("query", "headers", "form"):
        if part in wanted or (part != "headers" and sent.get(part)):
            yield from _differing_pairs(part, sent.get(part) or {}, wanted.get(part) or {})
    for part in ("json", "text"):
        if sent.get(part) != wanted.get(part) and (part in wanted or part in sent):
            yield f"sent the {part} {_short(sent.get(part))}, not {_short(wanted.get(part))}"


def _differing_pairs(part: str, sent: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    if part == "headers":
        sent = {name.lower(): value for name, value in sent.items() if name.lower() != "content-type"}
        wanted = {name.lower(): value for name, value in wanted.items() if name.lower() != "content-type"}
    for name in sorted({*sent, *wanted}):
        had, should = sent.get(name), as_sent(wanted.get(name))
        if name in wanted and should is None:
            if had is not None:
                yield f"sent {part} {name!r} = {_short(had)}, which should not be sent"
        elif name not in wanted:
            yield f"sent {part} {name!r} = {_short(had)}, which the example does not state"
        elif had != should:
            yield f"sent {part} {name!r} = {_short(had)}, not {_short(should)}"


def as_sent(value: Any) -> Any:
    """An expected value as it stands on the wire: everything is text, and a list of one is that one."""
    if isinstance(value, list):
        texts = [as_sent(one) for one in value]
        return texts[0] if len(texts) == 1 else texts
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _compare_rows(rows: list[Row], expect: Mapping[str, Any], wrong: Any) -> None:
    if "count" in expect and len(rows) != expect["count"]:
        wrong("count", f"gave {len(rows)} rows, not {expect['count']}")
    wanted = expect.get("rows")
    if wanted is None:
        return
    if len(rows) != len(wanted):
        wrong("rows", f"gave {len(rows)} rows, not {len(wanted)}: {_short(rows)}")
    for index, (row, one) in enumerate(zip(rows, wanted, strict=False)):
        for sentence in differing_row(row, one):
            wrong("rows", f"row {index + 1} {sentence}")


def differing_row(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """What differs in the fields that an example names; null says that a field is absent."""
    for name, value in wanted.items():
        if value is None and name in row:
            yield f"has {name!r} = {_short(row[name])}, which should be absent"
        elif value is not None and row.get(name) != value:
            where, had, should = first_difference(row.get(name), value, name)
            yield f"has {where} = {_short(had)}, not {_short(should)}"


def first_difference(had: Any, wanted: Any, where: str) -> tuple[str, Any, Any]:
    """Where two values first differ, as a path, with what stands there in each."""
    if isinstance(had, dict) and isinstance(wanted, dict):
        for key in (*wanted, *(key for key in had if key not in wanted)):
            if had.get(key) != wanted.get(key):
                return first_difference(had.get(key), wanted.get(key), f"{where}.{key}")
    if isinstance(had, list) and isinstance(wanted, list) and len(had) == len(wanted):
        for index, (one, other) in enumerate(zip(had, wanted, strict=True)):
            if one != other:
                return first_difference(one, other, f"{where}[{index}]")
    return where, had, wanted


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 160 else text[:159] + "…"


def _at(node: Map | Node, key: str) -> Place:
    if isinstance(node, Map) and key in node:
        return node.entries[key].place
    return node.place


# --- tools ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ToolTrace:
    """What one example of a tool did: whom it asked with what, and what came out."""

    asked: list[Ask] = field(default_factory=list)
    outcome: Outcome | None = None
    fault: Fault | None = None


def check_tool(spec: Spec, tool: Tool, model: Model, report: Report, *, validate: bool = True) -> list[tuple[Map, ToolTrace]]:
    """Run a tool's examples and compare; every answer must fit the output schema that the tool publishes."""
    node = spec.root.get("examples")
    items = node.items if isinstance(node, Listing) else ()
    if not items:
        report.add("E403", tool.place, f"{tool.name} has no example")
    done: list[tuple[Map, ToolTrace]] = []
    for item in items:
        assert isinstance(item, Map)
        said = to_plain(item)
        if "expect" not in said:
            check_bounds(item, said, tool, report)
            continue
        trace = run_tool_example(item, said, tool, model, report)
        if trace is None:
            continue
        _compare_tool(item, said, trace, report)
        if validate and trace.outcome is not None:
            _fits_schema(item, said, tool, trace.outcome, report)
        done.append((item, trace))
    return done


def check_bounds(node: Map, said: Mapping[str, Any], tool: Tool, report: Report) -> None:
    """Run the `refuse` and `accept` lists of an example: what is refused is `validation`, what is accepted stays as it is."""
    for word in ("refuse", "accept"):
        listed = node.get(word)
        for place, more in zip(listed.items if isinstance(listed, Listing) else (), said.get(word) or (), strict=False):
            more = {name: _long_text(value) for name, value in more.items()}
            given = {**said["args"], **more}
            try:
                taken = parse_arguments(tool, given)
            except Fault as fault:
                if word == "accept":
                    report.add("E401", place.place, f"{said['name']!r}: {_short(more)} is refused: {fault.message}")
                continue
            if word == "refuse":
                report.add("E401", place.place, f"{said['name']!r}: {_short(more)} is not refused")
            elif any(taken.given.get(name) != value for name, value in more.items()):
                changed = {name: taken.given.get(name) for name in more}
                report.add("E401", place.place, f"{said['name']!r}: {_short(more)} becomes {_short(changed)}")


def _long_text(value: Any) -> Any:
    """`{characters: N}` stands for a text of that length."""
    return "x" * value["characters"] if isinstance(value, dict) and set(value) == {"characters"} else value


def run_tool_example(node: Map, said: Mapping[str, Any], tool: Tool, model: Model, report: Report) -> ToolTrace | None:
    """What an example of a tool does, or None when it cannot be run, which is then reported."""
    parts = said.get("providers") or {}
    for name in parts:
        provider, _, operation = name.partition(".")
        if provider not in model.providers or operation not in model.providers[provider].operations:
            known = [one.id for p in model.providers.values() for one in p.operations.values()]
            report.add("E402", _at(node, "providers"), f"there is no operation {name!r}", did_you_mean(name, known))
            return None
    config, _ = read_settings(tool.settings, _environment(said.get("config")))
    trace = ToolTrace()
    try:
        arguments = parse_arguments(tool, said["args"])
        offer = _offer(parts, model)
        running = pursue(tool, model, arguments, config, offer, clock(DEFAULT_NOW))
        give: Any = None
        while True:
            wanted = running.throw(give) if isinstance(give, Fault) else running.send(give)
            if isinstance(wanted, AskAll):
                give = [_part_answer(one, parts, model, trace, node, said, report) for one in wanted.asks]
            else:
                give = _part_answer(wanted, parts, model, trace, node, said, report)
    except StopIteration as stop:
        trace.outcome = stop.value
    except Fault as fault:
        trace.fault = fault
    return trace


def _offer(parts: Mapping[str, Any], model: Model) -> Offer:
    """In an example those providers are configured that it names."""
    named = {name.partition(".")[0] for name in parts}
    orders = {}
    for capability in model.capabilities.values():
        offering = model.offering(capability.name)
        ranked = [name for name in capability.order if name in offering] + [name for name in offering if name not in capability.order]
        orders[capability.name] = tuple(name for name in ranked if f"{name}.{capability.name}" in parts)
    missing = {
        one.name: tuple(missing_settings(one, {}))
        for one in model.providers.values()
        if one.name not in named and not is_configured(one, {})
    }
    keyless = frozenset(one.name for one in model.providers.values() if is_configured(one, {}))
    return Offer(orders, frozenset(named) | keyless, missing)


def _part_answer(
    ask: Ask, parts: Mapping[str, Any], model: Model, trace: ToolTrace, node: Map, said: Mapping[str, Any], report: Report
) -> Answer | Fault:
    trace.asked.append(ask)
    name = f"{ask.provider}.{ask.operation}"
    part = parts.get(name)
    if part is None:
        report.add("E401", _at(node, "providers"), f"{said['name']!r} asks {name}, for which it has no answer")
        return Fault("internal", f"the example has no answer for {name}")
    if not ask.again:
        for key, wanted in (part.get("sent") or {}).items():
            if ask.arguments.get(key) != wanted:
                got = _short(ask.arguments.get(key))
                report.add("E401", _at(node, "providers"), f"{said['name']!r}: {name} is given {key} = {got}, not {_short(wanted)}")
    if "error" in part:
        return Fault(part["error"], "the example says so", provider=ask.provider)
    fields = model.capabilities[ask.operation].row
    rows = part.get("again" if ask.again else "rows") or []
    for row in rows:
        for key in row:
            if key not in fields:
                report.add("E402", _at(node, "providers"), f"a row of {ask.operation!r} has no field {key!r}", did_you_mean(key, fields))
    return Answer([dict(row) for row in rows], dict(part.get("meta") or {}))


def _compare_tool(node: Map, said: Mapping[str, Any], trace: ToolTrace, report: Report) -> None:
    expect = said["expect"]
    expect_node = node.get("expect")
    assert isinstance(expect_node, Map)

    def wrong(key: str, sentence: str) -> None:
        report.add("E401", _at(expect_node, key), f"{said['name']!r}: {sentence}")

    tried = list(dict.fromkeys(ask.provider for ask in trace.asked))
    if "tried" in expect and tried != expect["tried"]:
        wrong("tried", f"asked {tried}, not {expect['tried']}")
    if trace.fault is not None:
        if "error" not in expect:
            wrong(next(iter(expect)), f"ended with the fault {trace.fault.kind}: {trace.fault.message}")
        else:
            _compare_fault(trace.fault, expect, wrong)
        return
    outcome = trace.outcome
    assert outcome is not None
    if "error" in expect:
        wrong("error", f"gave {len(outcome.rows)} rows instead of the fault {expect['error']}")
    if "served_by" in expect and outcome.served_by != expect["served_by"]:
        wrong("served_by", f"was served by {outcome.served_by or 'nobody'}, not {expect['served_by']}")
    _compare_rows(outcome.rows, expect, wrong)
    for sentence in differing_row(outcome.answer, expect.get("answer") or {}):
        wrong("answer", f"the answer {sentence}")
    for sentence in differing_row(outcome.meta, expect.get("meta") or {}):
        wrong("meta", f"_meta {sentence}")
    if "hints" in expect:
        hints, wanted = outcome.answer.get("hints"), expect["hints"]
        given = hints.get("reason") if isinstance(hints, dict) and isinstance(wanted, str) else hints
        if isinstance(wanted, dict) and isinstance(given, dict):
            for sentence in differing_row(given, wanted):
                wrong("hints", f"the hints {sentence}")
        elif given != wanted:
            wrong("hints", f"the hints are {_short(given)}, not {_short(wanted)}")


def _fits_schema(node: Map, said: Mapping[str, Any], tool: Tool, outcome: Outcome, report: Report) -> None:
    from jsonschema import Draft7Validator

    for error in Draft7Validator(tool.output_schema).iter_errors(outcome.answer):
        where = "/".join(str(part) for part in error.absolute_path) or "the answer"
        report.add("E404", _at(node, "name"), f"{said['name']!r}: {where} does not fit the published schema: {error.message[:200]}")


