"""Runs the examples of tools: what providers, pages and collections hold is given, and the answer is compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from specloom.core import Answer, Fault, Report, Request, Response, dataclass, did_you_mean
from specloom.language import evaluate, truthy
from specloom.model import Capability, DerivedMapping, Model, Provider, Tool
from specloom.plugins import ENVELOPES, Item
from specloom.runtime import (
    AnswerEnd,
    Arguments,
    Ask,
    AskAll,
    Offer,
    ProviderOutcome,
    Run,
    describe_large,
    fill_view,
    fit_to_budget,
    is_configured,
    missing_settings,
    name_providers,
    paged_operation,
    parse_arguments,
    plan_context,
    pursue,
    read_settings,
    tell_failure,
    tell_within,
    to_body,
    to_text,
    write_cursor,
)
from specloom.specs import Listing, Spec, to_plain

from .compare import Example, ExampleTrace, compare_result, differing_row, examples_of, place_of, short
from .context import ExampleContext, ExampleState, find_kept, furnish, placed, run_procedure, without_folder
from .providers import DEFAULT_NOW, clock, describe_position, environment, to_position, to_response


def check_tool(
    spec: Spec, tool: Tool, model: Model, report: Report, *, validate: bool = True
) -> list[tuple[Example, ExampleTrace]]:
    """Run a tool's examples and compare; every answer must fit the output schema that the tool publishes."""
    examples = examples_of(spec, report)
    if not examples:
        report.add("E403", tool.place, f"{tool.name} has no example")
    traces: list[tuple[Example, ExampleTrace]] = []
    asked = [model.capabilities[name] for name in tool.capabilities if name in model.capabilities]
    if any(name in report.left_out for one in asked for name in one.order):
        return traces  # what they show may hang on a provider that is left out
    for example in examples:
        if "expect" not in example.stated:
            _check_bounds(example, tool)
            continue
        trace = run_tool_example(example, tool, model)
        if trace is None:
            continue
        _compare(example, tool, model, trace)
        if validate and trace.outcome is not None:
            _check_schema(example, tool, trace.outcome)
        traces.append((example, trace))
    return traces


def _check_bounds(example: Example, tool: Tool) -> None:
    """Hold the lists `refuse` and `accept` against a tool: the first are `validation`, the second stay as they are."""
    for word in ("refuse", "accept"):
        listed = example.node.get(word)
        for item in listed.items if isinstance(listed, Listing) else ():
            more = {name: _expanded(value) for name, value in to_plain(item).items()}
            try:
                taken = parse_arguments(tool, {**example.stated["args"], **more}).given
            except Fault as fault:
                problem = f"is refused: {fault.message}" if word == "accept" else ""
            else:
                now = {name: taken.get(name) for name in more}
                problem = "is not refused" if word == "refuse" else f"becomes {short(now)}" if now != more else ""
            if problem:
                example.report.add("E401", item.place, f"{example.name!r}: {short(more)} {problem}")


def _expanded(value: Any) -> Any:
    """`{characters: N}` stands for a text of that length and `{times: N, of: X}` for a list of that one, anywhere."""
    if isinstance(value, list):
        return [_expanded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"characters"}:
        return "x" * value["characters"]
    if set(value) == {"times", "of"}:
        return [_expanded(value["of"])] * value["times"]
    return {name: _expanded(item) for name, item in value.items()}


def run_tool_example(example: Example, tool: Tool, model: Model) -> ExampleTrace | None:
    """What an example of a tool does, or None when it cannot be run, which is then reported."""
    for name in example.stated.get("providers") or {}:
        provider, _, operation = name.partition(".")
        if provider in example.report.left_out:
            return None
        if provider not in model.providers or operation not in model.providers[provider].operations:
            listed = example.node.get("providers")
            place = place_of(listed, name) if listed else example.node.place
            hint = did_you_mean(name, [one.id for each in model.providers.values() for one in each.operations.values()])
            example.report.add("E402", place, f"there is no operation {name!r}", hint)
            return None
    state = ExampleState(clock(DEFAULT_NOW), {name: one.spec for name, one in model.collections.items()})
    try:
        with placed(example.stated) as (stated, folder):
            trace = _run_in(state, replace(example, stated=stated), tool, model)
        if trace is not None and trace.outcome is not None and folder:
            trace.outcome = replace(trace.outcome, answer=without_folder(trace.outcome.answer, folder))
        return trace
    finally:
        state.close()


def _run_in(state: ExampleState, example: Example, tool: Tool, model: Model) -> ExampleTrace | None:
    """The example over its state, with what was kept and called before."""
    owner = example.stated.get("owner", "")
    items: dict[str, list[Mapping[str, Any]]] = {}
    for item in example.stated.get("state") or ():
        items.setdefault(item.get("owner", owner), []).append(item)
    for state_owner, kept in items.items():
        state.owner = state_owner
        problem = furnish(state, kept)
        if problem is not None:
            example.add("E402", "state", problem.message, ", ".join(problem.alternatives))
            return None
    for earlier in example.stated.get("before") or ():
        if earlier.get("tool", tool.name) not in model.tools:
            message = f"there is no tool {earlier['tool']!r}"
            example.add("E402", "before", message, did_you_mean(earlier["tool"], model.tools))
            return None
        state.owner = earlier.get("owner", owner)
        arguments = {name: _expanded(value) for name, value in earlier["args"].items()}
        call = replace(example, stated={**example.stated, **earlier, "args": arguments})
        fault = _ToolExample(call, model.tools.get(earlier.get("tool", ""), tool), model, state).run().fault
        if fault is not None:
            message = f"{example.name!r}: an earlier call ends with the fault {fault.kind}: {fault.message}"
            example.add("E401", "before", message)
    state.owner = owner
    trace = _ToolExample(example, tool, model, state).run()
    for index, item in enumerate(example.expect.get("kept") or ()):
        state.owner = item.get("owner", owner)
        for sentence in _differing_item(find_kept(state, item), item, state.now):
            example.wrong("kept", sentence, index)
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


GIVEN = "given"
"""Beside the providers of a position: how many rows of what comes of it were given."""


def write_position(
    tool: Tool, model: Model, raw: Mapping[str, Any], config: Mapping[str, Any], offer: Offer, now: float
) -> Mapping[str, Any]:
    """The arguments of an example whose cursor is written out: a position for each provider, `{PROVIDER: 2}`."""
    stated = raw.get(tool.cursor.name) if tool.cursor is not None else None
    if tool.cursor is None or not isinstance(stated, Mapping):
        return raw
    rest = {name: value for name, value in raw.items() if name != tool.cursor.name}
    arguments = parse_arguments(tool, rest)
    context = plan_context(tool, model, arguments, config, offer, now)
    named = [name for name in stated if name != GIVEN]
    asking = [
        index
        for index, strategy in enumerate(tool.plan)
        if paged_operation(strategy)
        and {*named}
        <= {
            *(
                model.heads.offering(paged_operation(strategy))
                if strategy.kind == "procedure"
                else name_providers(strategy.providers, context)
            )
        }
        and (strategy.when is None or truthy(evaluate(strategy.when, context)))
    ]
    if not asking:
        raise Fault("validation", f"with these arguments nothing in the plan asks {' and '.join(named)} for a page")
    positions = tuple((name, to_position(stated[name])) for name in named)
    size = arguments.given.get(tool.cursor.size) if tool.cursor.size else None
    cursor = AnswerEnd(asking[0], positions, stated.get(GIVEN, 0), size)
    return {**rest, tool.cursor.name: write_cursor(tool, arguments.given, cursor)}


def describe_cursor(cursor: AnswerEnd | None) -> dict[str, Any]:
    """Where an answer ended, as an example writes it."""
    if cursor is None:
        return {}
    positions = {name: describe_position(position) for name, position in cursor.positions}
    return {**positions, GIVEN: cursor.offset} if cursor.offset else positions


def _following(stated: Mapping[str, Any]) -> dict[str, Any]:
    """The same as an example states it, whose pages may be numbers."""
    return {name: value if name == GIVEN else describe_position(to_position(value)) for name, value in stated.items()}


@dataclass(frozen=True, slots=True)
class _ToolExample:
    """One call of a tool whose upstreams are what its example states."""

    example: Example
    tool: Tool
    model: Model
    state: ExampleState

    def run(self) -> ExampleTrace:
        """What the call asked, and what came of it."""
        stated, tool, model, state = self.example.stated, self.tool, self.model, self.state
        config, _ = read_settings(tool.settings, environment(stated.get("config")))
        trace = ExampleTrace()

        def answer(ask: Ask) -> Answer | Fault:
            trace.asked.append(ask)
            return self._answer(ask)

        def reply(request: Request) -> Response | Fault:
            trace.sent.append(request)
            return self._page(request)

        try:
            offer = self._offer()
            given = write_position(tool, model, stated["args"], config, offer, state.now)
            arguments = parse_arguments(tool, given)
            trace.arguments = arguments.given
            plan = pursue(tool, model, arguments, config, offer, state.now, state.owner)
            result: Any = None
            while True:
                effect = plan.throw(result) if isinstance(result, Fault) else plan.send(result)
                if isinstance(effect, Run):
                    context = ExampleContext(
                        tool, model, offer, config, state, answer, reply, effect.told, running=effect
                    )
                    result = run_procedure(effect, context)
                elif isinstance(effect, AskAll):
                    result = [answer(one) for one in effect.asks]
                else:
                    result = answer(effect)
        except StopIteration as stop:
            outcome: ProviderOutcome = stop.value
            # As it is sent: nothing gets into an answer but cleaned, and what is kept as it came is told apart.
            body = to_body(tool, arguments.given, outcome.answer)
            trace.outcome = replace(outcome, answer=json.loads(body))
        except Fault as fault:
            if tool.envelope:
                envelope = ENVELOPES[tool.envelope].function(fault, trace.arguments or stated["args"])
                trace.outcome = ProviderOutcome(answer=envelope)
                trace.is_failure = True
            else:
                trace.fault = fault
        return trace

    def _offer(self) -> Offer:
        """In an example those providers are configured that it names."""
        parts, model = self.example.stated.get("providers") or {}, self.model
        named = {name.partition(".")[0] for name in parts}

        routes = self.example.stated.get("routes") or {}

        # Both are worked out where they are asked for: an example that asks few is not judged by all.
        def order(one: Capability) -> tuple[str, ...]:
            """As the example says, else as the capability does."""
            offering = model.heads.offering(one.name)
            wanted = routes.get(one.name, one.order)
            return tuple(name for name in wanted if f"{name}.{one.name}" in parts and name in offering)

        def own(one: Capability) -> tuple[str, ...]:
            """Those of the order that the capability says itself."""
            return tuple(name for name in one.order if name in named and name in model.heads.offering(one.name))

        def missing(one: Provider) -> tuple[str, ...]:
            return () if one.name in named or is_configured(one, {}) else tuple(missing_settings(one, {}))

        return Offer(
            DerivedMapping(model.capabilities, order),
            frozenset(named),
            DerivedMapping(model.providers, missing),
            own=DerivedMapping(model.capabilities, own),
        )

    def _answer(self, ask: Ask) -> Answer | Fault:
        """What the example's `providers` say to a question."""
        name = f"{ask.provider}.{ask.operation}"
        stated = (self.example.stated.get("providers") or {}).get(name)

        def differing(part: Mapping[str, Any]) -> list[tuple[str, Any]]:
            return [(key, value) for key, value in (part.get("sent") or {}).items() if ask.arguments.get(key) != value]

        # A list has a part for each way of asking; a single part is what every question gets.
        part = next((one for one in stated if not differing(one)), None) if isinstance(stated, list) else stated
        if part is None:
            arguments = f" with {short(dict(ask.arguments))}" if stated else ""
            message = f"{self.example.name!r} asks {name}{arguments}, for which it has no answer"
            self.example.add("E401", "providers", message)
            return Fault("internal", f"the example has no answer for {name}")
        for key, value in () if ask.again else differing(part):
            message = f"{name} is given {key} = {short(ask.arguments.get(key))}, not {short(value)}"
            self.example.add("E401", "providers", f"{self.example.name!r}: {message}")
        if "position" in part and ask.position != (wanted := to_position(part["position"] or "")):
            message = f"{name} is asked from {ask.position and describe_position(ask.position)}, not {wanted}"
            self.example.add("E401", "providers", f"{self.example.name!r}: {message}")
        if "error" in part:
            return Fault(part["error"], "the example says so", provider=ask.provider)
        fields = self.model.capabilities[ask.operation].row
        rows = part.get("again" if ask.again else "rows") or []
        for key in (key for row in rows for key in row if key not in fields):
            message = f"a row of {ask.operation!r} has no field {key!r}"
            self.example.add("E402", "providers", message, did_you_mean(key, fields))
        following = to_position(part["following"]) if part.get("following") is not None else None
        has_more = True if following is not None else part.get("has_more", False if "following" in part else None)
        return Answer([dict(row) for row in rows], dict(part.get("meta") or {}), following=following, has_more=has_more)

    def _page(self, request: Request) -> Response | Fault:
        """What the example's `pages` say to a request; a URL that is not there does not resolve."""
        query = "&".join(f"{name}={value}" for name, value in request.query)
        url = f"{request.url}?{query}" if query else request.url
        accept = next((str(value) for name, value in request.headers if name.lower() == "accept"), "")
        stated = (self.example.stated.get("pages") or {}).get(url) or []
        for page in stated if isinstance(stated, list) else [stated]:
            if page.get("accept", "") in accept and page.get("method", request.method) == request.method:
                kind = "application/json" if "json" in page else "text/html"
                repeated = {"text": page["text"] * page["times"]} if "times" in page else {}
                headers = {"content-type": kind, **page.get("headers", {})}
                return to_response({**page, **repeated, "headers": headers}, url)
        return Fault("network", f"{url.split('/')[2]} could not be reached: the name does not resolve.")


def _as_shipped(fault: Fault, example: Example, model: Model) -> Fault:
    """A fault as it reads without the providers that later layers add, which a shipped example cannot know."""
    if Path(example.node.place.file).is_absolute():
        return fault
    named = list(fault.alternatives)
    files = {name: model.providers[name].place.file for name in named if name in model.providers}
    kept = [name for name in named if not Path(files.get(name, "")).is_absolute()]
    if kept == named:
        return fault
    message = fault.message.replace(", ".join(named), ", ".join(kept))
    return Fault(fault.kind, message, retry_after=fault.retry_after, detail=fault.detail)


def _route_hint(fault: Fault, tool: Tool, model: Model) -> str:
    """Whose order to write where a plan asks a route in which nobody is; nothing for other faults."""
    empty = [one for one in map(model.capabilities.get, tool.capabilities) if one is not None and not one.order]
    if fault.kind != "config" or not empty:
        return ""
    able = ", ".join(sorted(model.offering(empty[0].name))) or "a provider"
    order = f"`routing: {{order: [{able}]}}` of {empty[0].name!r} ({empty[0].place.file})"
    return f"nobody is in the order of that capability: write {order}, or say `routes` in the example"


def _compare(example: Example, tool: Tool, model: Model, trace: ExampleTrace) -> None:
    expect, outcome = example.expect, trace.outcome
    tried = list(dict.fromkeys(ask.provider for ask in trace.asked))
    if "tried" in expect and tried != expect["tried"]:
        example.wrong("tried", f"asked {tried}, not {expect['tried']}")
    fault = trace.fault
    if fault is not None and "message" in expect and fault.message != expect["message"]:
        fault = _as_shipped(fault, example, model)
    hint = _route_hint(fault, tool, model) if fault is not None else ""
    if not compare_result(example, outcome.rows if outcome else [], fault, hint) or outcome is None:
        return
    if "served_by" in expect and outcome.served_by != expect["served_by"]:
        example.wrong("served_by", f"was served by {outcome.served_by or 'nobody'}, not {expect['served_by']}")
    if "following" in expect and (described := describe_cursor(outcome.cursor)) != _following(expect["following"]):
        example.wrong("following", f"goes on at {short(described)}, not {short(expect['following'])}")
    for key, what, mapping in (("answer", "the answer", outcome.answer), ("meta", "_meta", outcome.meta)):
        for sentence in differing_row(mapping, expect.get(key) or {}):
            example.wrong(key, f"{what} {sentence}")
    if "text" in expect:
        try:
            text = _tell(example, tool, model, trace, outcome)
        except Fault as refusal:  # an expression of the text that does not take what the answer has
            text = refusal.message
        if text != expect["text"].rstrip("\n"):
            example.wrong("text", f"the text is\n{text}\nnot\n{expect['text']}")
    if "view" in expect:
        try:
            view = _show(example, tool, model, trace, outcome)
        except Fault as refusal:
            view = refusal.message
        if view != expect["view"]:
            example.wrong("view", f"the view shows {json.dumps(view, ensure_ascii=False)}, not {short(expect['view'])}")
    if "link" in expect:
        body = json.dumps(outcome.answer, ensure_ascii=False, separators=(",", ":"))
        link = describe_large(tool, trace.arguments, body)
        if link != expect["link"]:
            example.wrong("link", f"the link tells {short(link)}, not {short(expect['link'])}")
    if "hints" in expect:
        hints, expected = outcome.answer.get("hints"), expect["hints"]
        hints = hints.get("reason") if isinstance(hints, dict) and isinstance(expected, str) else hints
        if isinstance(expected, dict) and isinstance(hints, dict):
            for sentence in differing_row(hints, expected):
                example.wrong("hints", f"the hints {sentence}")
        elif hints != expected:
            example.wrong("hints", f"the hints are {short(hints)}, not {short(expected)}")


def _show(example: Example, tool: Tool, model: Model, trace: ExampleTrace, outcome: ProviderOutcome) -> Any:
    """What fills the slots of the view; None where the tool has none or failed."""
    if tool.view is None or trace.is_failure:
        return None
    arguments = _arguments_of(example, tool)
    answer = outcome.answer if tool.envelope else fit_to_budget(tool, model, arguments, outcome.answer)[0]
    return fill_view(tool, model, arguments, answer)["slots"]


def _arguments_of(example: Example, tool: Tool) -> Arguments:
    stated = dict(example.stated["args"])
    if tool.cursor is not None and isinstance(stated.get(tool.cursor.name), Mapping):
        del stated[tool.cursor.name]
    return parse_arguments(tool, stated)


def _tell(example: Example, tool: Tool, model: Model, trace: ExampleTrace, outcome: ProviderOutcome) -> str:
    """The text of an answer, as it is sent."""
    if trace.is_failure:
        return tell_failure(tool, outcome.answer) or json.dumps(outcome.answer, ensure_ascii=False)
    arguments = _arguments_of(example, tool)
    if tool.envelope:
        return tell_within(tool, model, arguments, outcome.answer, outcome.aside, begin=outcome.begin)[0]
    return to_text(tool, arguments, fit_to_budget(tool, model, arguments, outcome.answer, begin=outcome.begin)[0])


def _check_schema(example: Example, tool: Tool, outcome: ProviderOutcome) -> None:
    from jsonschema import Draft7Validator

    for error in Draft7Validator(tool.output_schema).iter_errors(outcome.answer):
        where = "/".join(str(part) for part in error.absolute_path) or "the answer"
        message = f"{example.name!r}: {where} does not fit the published schema: {error.message[:200]}"
        example.add("E404", "name", message)
