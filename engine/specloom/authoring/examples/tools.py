"""Runs the examples of tools: the providers' answers are given, what is asked and what is returned are compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from specloom.core import Answer, Fault, Report, Request, Response, did_you_mean
from specloom.model import Model, Tool
from specloom.plugins import ENVELOPES, Item
from specloom.runtime import (
    Ask,
    AskAll,
    Offer,
    ProviderOutcome,
    Run,
    describe_large,
    is_configured,
    missing_settings,
    parse_arguments,
    pursue,
    read_settings,
)
from specloom.specs import Listing, Map, Spec, to_plain

from .compare import compare_fault, compare_rows, differing_row, place_of, short
from .context import ExampleContext, ExampleState, find_kept, furnish, placed, run_procedure
from .providers import DEFAULT_NOW, clock, environment, to_response

# --- Holds the `refuse` and `accept` lists of an example against what its tool takes ----------------------------------


def check_bounds(node: Map, said: Mapping[str, Any], tool: Tool, report: Report) -> None:
    """Run the `refuse` and `accept` lists of an example: the first are `validation`, the second stay as they are."""
    for word in ("refuse", "accept"):
        listed = node.get(word)
        for item in listed.items if isinstance(listed, Listing) else ():
            more = {name: spread(value) for name, value in to_plain(item).items()}
            given = {**said["args"], **more}
            try:
                taken = parse_arguments(tool, given)
            except Fault as fault:
                if word == "accept":
                    report.add("E401", item.place, f"{said['name']!r}: {short(more)} is refused: {fault.message}")
                continue
            if word == "refuse":
                report.add("E401", item.place, f"{said['name']!r}: {short(more)} is not refused")
            elif any(taken.given.get(name) != value for name, value in more.items()):
                changed = {name: taken.given.get(name) for name in more}
                report.add("E401", item.place, f"{said['name']!r}: {short(more)} becomes {short(changed)}")


def spread(value: Any) -> Any:
    """`{characters: N}` stands for a text of that length and `{times: N, of: X}` for a list of that one, anywhere."""
    if isinstance(value, list):
        return [spread(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"characters"}:
        return "x" * value["characters"]
    if set(value) == {"times", "of"}:
        return [spread(value["of"])] * value["times"]
    return {name: spread(item) for name, item in value.items()}


@dataclass(slots=True)
class ToolTrace:
    """What one example of a tool did: whom it asked with what, and what came out."""

    asked: list[Ask] = field(default_factory=list)
    sent: list[Request] = field(default_factory=list)
    given: Mapping[str, Any] = field(default_factory=dict)
    """The arguments as they were taken."""
    outcome: ProviderOutcome | None = None
    fault: Fault | None = None


def check_tool(
    spec: Spec, tool: Tool, model: Model, report: Report, *, validate: bool = True
) -> list[tuple[Map, ToolTrace]]:
    """Run a tool's examples and compare; every answer must fit the output schema that the tool publishes."""
    node = spec.root.get("examples")
    items = node.items if isinstance(node, Listing) else ()
    if not items:
        report.add("E403", tool.place, f"{tool.name} has no example")
    done: list[tuple[Map, ToolTrace]] = []
    asked = [model.capabilities[name] for name in tool.capabilities if name in model.capabilities]
    if any(name in report.left_out for one in asked for name in one.order):
        return done  # what they show may hang on a provider that is left out
    for item in items:
        assert isinstance(item, Map)
        said = to_plain(item)
        if "expect" not in said:
            check_bounds(item, said, tool, report)
            continue
        trace = run_tool_example(item, said, tool, model, report)
        if trace is None:
            continue
        _compare_tool(item, said, tool, trace, report)
        if validate and trace.outcome is not None:
            _fits_schema(item, said, tool, trace.outcome, report)
        done.append((item, trace))
    return done


def run_tool_example(node: Map, said: Mapping[str, Any], tool: Tool, model: Model, report: Report) -> ToolTrace | None:
    """What an example of a tool does, or None when it cannot be run, which is then reported."""
    parts = said.get("providers") or {}
    for name in parts:
        provider, _, operation = name.partition(".")
        if provider in report.left_out:
            return None
        if provider not in model.providers or operation not in model.providers[provider].operations:
            known = [one.id for p in model.providers.values() for one in p.operations.values()]
            hint = did_you_mean(name, known)
            listed = node.get("providers")
            place = place_of(listed, name) if listed else node.place
            report.add("E402", place, f"there is no operation {name!r}", hint)
            return None
    room = ExampleState(clock(DEFAULT_NOW), {name: one.spec for name, one in model.collections.items()})
    try:
        with placed(said) as there:
            return _call_in(room, node, there, tool, model, report)
    finally:
        room.close()


def _call_in(
    room: ExampleState, node: Map, said: Mapping[str, Any], tool: Tool, model: Model, report: Report
) -> ToolTrace | None:
    """The example in its room, with what was kept and called before."""
    for owner, items in _kept_by(said).items():
        room.owner = owner
        problem = furnish(room, items)
        if problem is not None:
            report.add("E402", place_of(node, "state"), problem.message, ", ".join(problem.alternatives))
            return None
    for earlier in said.get("before") or ():
        if earlier.get("tool", tool.name) not in model.tools:
            hint = did_you_mean(earlier["tool"], model.tools)
            report.add("E402", place_of(node, "before"), f"there is no tool {earlier['tool']!r}", hint)
            return None
        room.owner = earlier.get("owner", said.get("owner", ""))
        long = {name: spread(value) for name, value in earlier["args"].items()}
        done = _call(
            node, {**said, **earlier, "args": long}, model.tools.get(earlier.get("tool", ""), tool), model, room, report
        )
        if done.fault is not None:
            message = f"{said['name']!r}: an earlier call ends with the fault {done.fault.kind}: {done.fault.message}"
            report.add("E401", place_of(node, "before"), message)
    room.owner = said.get("owner", "")
    trace = _call(node, said, tool, model, room, report)
    expect_node = node.entries["expect"].value
    for index, item in enumerate(said["expect"].get("kept") or ()):
        room.owner = item.get("owner", said.get("owner", ""))
        for sentence in _differing_item(find_kept(room, item), item, room.now):
            report.add("E401", place_of(expect_node, "kept", index), f"{said['name']!r}: {sentence}")
    return trace


def _differing_item(item: Item | None, expected: Mapping[str, Any], now: float) -> Iterator[str]:
    """What differs between a kept item and what an example expects of it."""
    name = f"{expected['in']} {expected['key']!r}"
    if item is None:
        yield f"nothing is kept as {name}"
        return
    for sentence in differing_row(item.value, expected["value"]):
        yield f"{name} {sentence}"
    lasts = None if item.expires is None else item.expires - now
    if "lasts" in expected and lasts != expected["lasts"]:
        yield f"{name} is kept for {lasts} s, not {expected['lasts']} s"


def _kept_by(said: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """What each owner has kept before."""
    kept: dict[str, list[Mapping[str, Any]]] = {}
    for one in said.get("state") or ():
        kept.setdefault(one.get("owner", said.get("owner", "")), []).append(one)
    return kept


def _call(
    node: Map, said: Mapping[str, Any], tool: Tool, model: Model, room: ExampleState, report: Report
) -> ToolTrace:
    parts = said.get("providers") or {}
    config, _ = read_settings(tool.settings, environment(said.get("config")))
    trace = ToolTrace()
    try:
        arguments = parse_arguments(tool, said["args"])
        trace.given = arguments.given
        offer = _offer(parts, model)
        running = pursue(tool, model, arguments, config, offer, room.now, room.owner)
        give: Any = None

        def answer(ask: Ask) -> Answer | Fault:
            return _part_answer(ask, parts, model, trace, node, said, report)

        def reply(request: Request) -> Response | Fault:
            return _page(request, said.get("pages") or {}, trace)

        while True:
            wanted = running.throw(give) if isinstance(give, Fault) else running.send(give)
            if isinstance(wanted, Run):
                give = run_procedure(wanted, ExampleContext(tool, model, offer, config, room, answer, reply))
            elif isinstance(wanted, AskAll):
                give = [answer(one) for one in wanted.asks]
            else:
                give = answer(wanted)
    except StopIteration as stop:
        trace.outcome = stop.value
    except Fault as fault:
        if tool.envelope:
            trace.outcome = ProviderOutcome(
                answer=ENVELOPES[tool.envelope].function(fault, trace.given or said["args"])
            )
        else:
            trace.fault = fault
    return trace


def _offer(parts: Mapping[str, Any], model: Model) -> Offer:
    """In an example those providers are configured that it names."""
    named = {name.partition(".")[0] for name in parts}
    orders = {}
    for capability in model.capabilities.values():
        offering = model.offering(capability.name)
        # `offering` is ranked by the capability's order, then by name.
        orders[capability.name] = tuple(name for name in offering if f"{name}.{capability.name}" in parts)
    missing = {
        one.name: tuple(missing_settings(one, {}))
        for one in model.providers.values()
        if one.name not in named and not is_configured(one, {})
    }
    return Offer(orders, frozenset(named), missing)


def _part_answer(
    ask: Ask,
    parts: Mapping[str, Any],
    model: Model,
    trace: ToolTrace,
    node: Map,
    said: Mapping[str, Any],
    report: Report,
) -> Answer | Fault:
    trace.asked.append(ask)
    name = f"{ask.provider}.{ask.operation}"
    stated = parts.get(name)
    # A list has a part for each way of asking; a single part is what every question gets.
    part = next((one for one in stated if _fits(one, ask)), None) if isinstance(stated, list) else stated
    if part is None:
        asked = f" with {short(dict(ask.arguments))}" if stated else ""
        message = f"{said['name']!r} asks {name}{asked}, for which it has no answer"
        report.add("E401", place_of(node, "providers"), message)
        return Fault("internal", f"the example has no answer for {name}")
    if not ask.again:
        for key, wanted in (part.get("sent") or {}).items():
            if ask.arguments.get(key) != wanted:
                got = short(ask.arguments.get(key))
                message = f"{said['name']!r}: {name} is given {key} = {got}, not {short(wanted)}"
                report.add("E401", place_of(node, "providers"), message)
    if "error" in part:
        return Fault(part["error"], "the example says so", provider=ask.provider)
    fields = model.capabilities[ask.operation].row
    rows = part.get("again" if ask.again else "rows") or []
    for row in rows:
        for key in row:
            if key not in fields:
                message = f"a row of {ask.operation!r} has no field {key!r}"
                report.add("E402", place_of(node, "providers"), message, did_you_mean(key, fields))
    return Answer([dict(row) for row in rows], dict(part.get("meta") or {}))


def _fits(part: Mapping[str, Any], ask: Ask) -> bool:
    return all(ask.arguments.get(key) == wanted for key, wanted in (part.get("sent") or {}).items())


def _page(request: Request, pages: Mapping[str, Any], trace: ToolTrace) -> Response | Fault:
    """What an example's `pages` say for a request; a URL that is not there does not resolve."""
    trace.sent.append(request)
    query = "&".join(f"{name}={value}" for name, value in request.query)
    url = f"{request.url}?{query}" if query else request.url
    accept = next((str(value) for name, value in request.headers if name.lower() == "accept"), "")
    said = pages.get(url) or []
    for page in said if isinstance(said, list) else [said]:
        if page.get("accept", "") in accept and page.get("method", request.method) == request.method:
            headers = {"content-type": "application/json" if "json" in page else "text/html", **page.get("headers", {})}
            repeated = {"text": page["text"] * page["times"]} if "times" in page else {}
            return to_response({**page, **repeated, "headers": headers}, url)
    host = url.split("/")[2]
    return Fault("network", f"{host} could not be reached: the name does not resolve.")


def _compare_tool(node: Map, said: Mapping[str, Any], tool: Tool, trace: ToolTrace, report: Report) -> None:
    expect = said["expect"]
    expect_node = node.get("expect")
    assert isinstance(expect_node, Map)

    def wrong(key: str, sentence: str, item: int | None = None) -> None:
        report.add("E401", place_of(expect_node, key, item), f"{said['name']!r}: {sentence}")

    tried = list(dict.fromkeys(ask.provider for ask in trace.asked))
    if "tried" in expect and tried != expect["tried"]:
        wrong("tried", f"asked {tried}, not {expect['tried']}")
    if trace.fault is not None:
        if "error" not in expect:
            wrong(next(iter(expect)), f"ended with the fault {trace.fault.kind}: {trace.fault.message}")
        else:
            compare_fault(trace.fault, expect, wrong)
        return
    outcome = trace.outcome
    assert outcome is not None
    if "error" in expect:
        wrong("error", f"gave {len(outcome.rows)} rows instead of the fault {expect['error']}")
    if "served_by" in expect and outcome.served_by != expect["served_by"]:
        wrong("served_by", f"was served by {outcome.served_by or 'nobody'}, not {expect['served_by']}")
    compare_rows(outcome.rows, expect, wrong)
    for sentence in differing_row(outcome.answer, expect.get("answer") or {}):
        wrong("answer", f"the answer {sentence}")
    if "link" in expect:
        body = json.dumps(outcome.answer, ensure_ascii=False, separators=(",", ":"))
        link = describe_large(tool, trace.given, body)
        if link != expect["link"]:
            wrong("link", f"the link tells {short(link)}, not {short(expect['link'])}")
    for sentence in differing_row(outcome.meta, expect.get("meta") or {}):
        wrong("meta", f"_meta {sentence}")
    if "hints" in expect:
        hints, wanted = outcome.answer.get("hints"), expect["hints"]
        given = hints.get("reason") if isinstance(hints, dict) and isinstance(wanted, str) else hints
        if isinstance(wanted, dict) and isinstance(given, dict):
            for sentence in differing_row(given, wanted):
                wrong("hints", f"the hints {sentence}")
        elif given != wanted:
            wrong("hints", f"the hints are {short(given)}, not {short(wanted)}")


def _fits_schema(node: Map, said: Mapping[str, Any], tool: Tool, outcome: ProviderOutcome, report: Report) -> None:
    from jsonschema import Draft7Validator

    for error in Draft7Validator(tool.output_schema).iter_errors(outcome.answer):
        where = "/".join(str(part) for part in error.absolute_path) or "the answer"
        message = f"{said['name']!r}: {where} does not fit the published schema: {error.message[:200]}"
        report.add("E404", place_of(node, "name"), message)
