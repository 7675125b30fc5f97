"""What the examples of a spec do not show: fields, request values, error rules, strategies, missing required fields.

Whether a rule decides or a stage runs is seen by running the examples on a copy of the compiled spec whose closures
tell when they are evaluated; what an example says about requests and rows is read from the example itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .diagnostics import Place, Report
from .examples import ProviderExample, Trace, provider_examples, run_provider_example, run_tool_example
from .load import Entry, Listing, Map, Node, Scalar, to_plain
from .model import Context, Field, Model, Operation, Provider, Setting, Step, Tool, Value
from .names import Library, Spec
from .shapes import BOOLEAN
from .values import MISSING, truthy

TOOL_TOKENS = 800
CATALOGUE_TOKENS = 12_000  # for all tools; others of this size were seen to take 228 to 35,000

Sent = Mapping[str, Any]


@dataclass(slots=True)
class Seen:
    """What did its work while examples ran: rules that decided, strategies that ran, fields that were missing."""

    worked: set[Place] = field(default_factory=set)
    lacking: set[tuple[Place, str]] = field(default_factory=set)


def check_coverage(library: Library, model: Model, report: Report) -> None:
    """Warn of everything in the compiled specs that no example shows, at the place where it stands."""
    for name, spec in library.of("provider").items():
        if name in model.providers:
            cover_provider(spec, model.providers[name], report)
    for name, spec in library.of("tool").items():
        if name in model.tools:
            cover_tool(spec, model.tools[name], model, report)
    check_catalogue(model, report)


def check_catalogue(model: Model, report: Report) -> None:
    """Warn of a tool, or of a catalogue, whose text costs its readers more than its budget (W306)."""
    costs = {tool.name: catalogue_cost(tool) for tool in model.tools.values()}
    for name, cost in costs.items():
        if cost > TOOL_TOKENS:
            message = f"{name} costs about {cost:,} tokens in the catalogue; {TOOL_TOKENS:,} is the budget of a tool"
            report.add("W306", model.tools[name].place, message, "shorten its description and those of its inputs")
    whole = sum(costs.values())
    if whole > CATALOGUE_TOKENS:
        dearest = max(costs, key=costs.__getitem__)
        message = f"all tools cost about {whole:,} tokens in the catalogue; {CATALOGUE_TOKENS:,} is the budget"
        report.add("W306", model.tools[dearest].place, message, f"{dearest} costs most: {costs[dearest]:,}")


def catalogue_cost(tool: Tool) -> int:
    """About how many tokens a model reads for one tool: four characters of JSON are one."""
    said = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    return len(json.dumps(said, ensure_ascii=False, separators=(",", ":"))) // 4


# --- providers ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the examples of one operation state about the requests of each step and about rows."""

    sent: Mapping[str, Sequence[Sent]]
    fields: Mapping[str, frozenset[str]]
    """For each step, the row fields with a value in examples that sent it."""
    meta: frozenset[str]


def cover_provider(spec: Spec, provider: Provider, report: Report) -> None:
    """Warn of what the examples of one provider do not show."""
    seen = Seen()
    watched = watch_provider(provider, seen)
    ran = list(_run_all(spec, watched))
    everywhere: list[Sent] = []
    for entry in _entries(spec.root.get("operations")):
        operation = provider.operations[entry.key]
        own = [(example, trace) for example, trace in ran if example.operation.name == operation.name]
        if not own:
            continue  # an operation without an example is an error of its own
        shown = _shown(own)
        everywhere += [one for sent in shown.sent.values() for one in sent]
        _cover_requests(entry, operation, shown, report)
        _cover_rows(operation, shown, report)
        _cover_required(operation, seen, report)
    _cover_service(spec, everywhere, report)
    for rule in provider.service.errors:
        if rule.place not in seen.worked:
            report.add(
                "W303", rule.place, f"no example triggers this error rule ({rule.kind})", "add a reply that it is for"
            )
    _cover_settings(spec, provider.settings, report)


def watch_provider(provider: Provider, seen: Seen) -> Provider:
    """The same provider, noting in `seen` which error rules decide and which required fields an item lacks."""
    rules = tuple(replace(rule, when=_watched(rule.when, rule.place, seen)) for rule in provider.service.errors)
    operations = {
        name: replace(one, steps=tuple(_watch_step(step, seen) for step in one.steps))
        for name, one in provider.operations.items()
    }
    return replace(provider, service=replace(provider.service, errors=rules), operations=operations)


def _watch_step(step: Step, seen: Seen) -> Step:
    fields = tuple(_watch_field(one, seen) if one.required else one for one in step.reading.fields)
    return replace(step, reading=replace(step.reading, fields=fields))


def _watch_field(one: Field, seen: Seen) -> Field:
    def read(item: Any, context: Context) -> Any:
        value = one.read(item, context)
        if value in MISSING:
            seen.lacking.add((one.place, one.name))
        return value

    return replace(one, read=read)


def _watched(value: Value, place: Place, seen: Seen) -> Value:
    def evaluate(context: Context) -> Any:
        result = value.evaluate(context)
        if truthy(result):
            seen.worked.add(place)
        return result

    return replace(value, evaluate=evaluate)


def _run_all(spec: Spec, provider: Provider) -> Iterator[tuple[ProviderExample, Trace]]:
    for example in provider_examples(spec, provider, Report()):
        trace = run_provider_example(example, provider, Report())
        if trace is not None:
            yield example, trace


def _shown(ran: Iterable[tuple[ProviderExample, Trace]]) -> _Shown:
    sent: dict[str, list[Sent]] = {}
    fields: dict[str, set[str]] = {}
    meta: set[str] = set()
    for example, trace in ran:
        expect = example.said["expect"]
        for name, one in (expect.get("sent") or {}).items():
            sent.setdefault(name, []).extend(one if isinstance(one, list) else [one])
        named = {name for row in expect.get("rows") or () for name, value in row.items() if value is not None}
        for name in trace.sent:
            fields.setdefault(name, set()).update(named)
        meta.update(name for name, value in (expect.get("meta") or {}).items() if value is not None)
    return _Shown(sent, {name: frozenset(one) for name, one in fields.items()}, frozenset(meta))


def _cover_requests(entry: Entry, operation: Operation, shown: _Shown, report: Report) -> None:
    """Every value of every request of the operation stands in some example (W302)."""
    assert isinstance(entry.value, Map)
    for node in _items(entry.value.get("steps")):
        name = str(to_plain(node.get("as")) or "main")
        where = f"{operation.id}, step {name!r}"
        sent = shown.sent.get(name, ())
        verb = "get" if "get" in node else "post"
        if not any(verb in one for one in sent):
            place = node.entries[verb].place
            report.add(
                "W302", place, f"no example shows the URL of {where}", f"state `{verb}` under `expect.sent.{name}`"
            )
        for part in ("query", "headers"):
            _cover_pairs(part, node.get(part), sent, where, report)
        body = node.get("body")
        for one in body if isinstance(body, Map) else ():
            for place, path in _leaves(one.value, one.place, ()):
                if not any(_has(said.get(one.key), path) for said in sent):
                    what = ".".join((one.key, *(str(part) for part in path)))
                    report.add(
                        "W302", place, f"no example shows the body's {what!r} of {where}", "state the whole body in one"
                    )


def _cover_service(spec: Spec, sent: Sequence[Sent], report: Report) -> None:
    """What all operations send is stated by an example of one of them (W302)."""
    node = spec.root.get("service")
    if not isinstance(node, Map):
        return
    for part in ("query", "headers"):
        _cover_pairs(part, node.get(part), sent, f"{spec.name}, sent with every request", report)
    auth = node.entries.get("auth")
    if auth is not None and not _states("headers", "Authorization", sent):
        report.add(
            "W302",
            auth.place,
            f"no example shows how the key of {spec.name} travels",
            "state `Authorization` under `headers`",
        )
    extra = node.entries.get("extra_headers")
    if extra is not None and not any(one.get("headers") for one in sent):
        report.add(
            "W302",
            extra.place,
            f"no example shows the extra headers of {spec.name}",
            "set them in `config` and state `headers`",
        )


def _cover_pairs(part: str, node: Node | None, sent: Sequence[Sent], where: str, report: Report) -> None:
    kind = "query parameter" if part == "query" else "header"
    for entry in _entries(node):
        null = isinstance(entry.value, Scalar) and entry.value.value is None
        if not null and not _states(part, entry.key, sent):
            report.add(
                "W302",
                entry.place,
                f"no example shows the {kind} {entry.key!r} of {where}",
                f"state it with a value under `{part}`",
            )


def _states(part: str, name: str, sent: Iterable[Sent]) -> bool:
    """Some stated request has this header or parameter with a value; the names of headers are the same in any case."""
    for one in sent:
        for said, value in (one.get(part) or {}).items():
            if value is not None and (said == name or (part == "headers" and said.lower() == name.lower())):
                return True
    return False


def _leaves(node: Node, place: Place, path: tuple[str | int, ...]) -> Iterator[tuple[Place, tuple[str | int, ...]]]:
    """Every single value in a body, with its place and the keys that lead to it; constants of null are not sent."""
    if isinstance(node, Map):
        for entry in node:
            yield from _leaves(entry.value, entry.place, (*path, entry.key))
    elif isinstance(node, Listing):
        for index, item in enumerate(node.items):
            yield from _leaves(item, item.place, (*path, index))
    elif node.value is not None:
        yield place, path


def _has(body: Any, path: tuple[str | int, ...]) -> bool:
    for part in path:
        keys = range(len(body)) if isinstance(body, list) else body if isinstance(body, dict) else ()
        if part not in keys:
            return False
        body = body[part]
    return body is not None


def _cover_rows(operation: Operation, shown: _Shown, report: Report) -> None:
    """Every field that comes out in a row is stated with a value by some example, and so is every fact (W301)."""
    known = {name for name, _, _ in operation.conform}
    joined = set(operation.arrangement.join.take) if operation.arrangement.join else set()
    sources = source_steps(operation)
    for step in operation.steps:
        out = known if step.name in sources else known & joined
        for one in step.reading.fields:
            if one.name in out and one.name not in shown.fields.get(step.name, ()):
                message = f"no example shows the field {one.name!r} of {operation.id}, step {step.name!r}"
                report.add("W301", one.place, message, "state it with a value under `expect.rows`")
    for name, value in operation.meta:
        if name not in shown.meta:
            report.add(
                "W301",
                value.place,
                f"no example shows the fact {name!r} of {operation.id}",
                "state it under `expect.meta`",
            )


def source_steps(operation: Operation) -> frozenset[str]:
    """The steps whose rows come out of an operation."""
    rows = operation.arrangement.rows
    if rows is not None:
        return frozenset(path[1] for path in rows.uses if path[0] == "steps" and len(path) > 1)
    needed = [step.name for step in operation.steps if not step.optional]
    return frozenset(needed[-1:])


def _cover_required(operation: Operation, seen: Seen, report: Report) -> None:
    """Every required field has an example in which an item lacks it (W305)."""
    for step in operation.steps:
        for one in step.reading.fields:
            if one.required and not one.constant and (one.place, one.name) not in seen.lacking:
                message = f"no example of {operation.id} has an item without {one.name!r}, which is required"
                report.add("W305", one.place, message, "add such an item to a reply; its row is dropped")


def _cover_settings(spec: Spec, settings: Mapping[str, Setting], report: Report) -> None:
    """Every declared setting is read somewhere (W307)."""
    texts = [text for entry in spec.root if entry.key not in {"config", "examples"} for text in _texts(entry.value)]
    used = {name for text in texts for name in re.findall(r"\bconfig\.(\w+)", text)}
    for one in settings.values():
        if one.name not in used:
            report.add(
                "W307",
                one.place,
                f"setting {one.name!r} is declared but nothing uses it",
                "remove it, or use it as config." + one.name,
            )


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node, Scalar):
        if isinstance(node.value, str):
            yield node.value
        return
    for one in [entry.value for entry in node] if isinstance(node, Map) else node.items:
        yield from _texts(one)


# --- tools ----------------------------------------------------------------------------------------------------------


def cover_tool(spec: Spec, tool: Tool, model: Model, report: Report) -> None:
    """Warn of what the examples of one tool do not show."""
    nodes = _items(spec.root.get("examples"))
    if not nodes:
        return  # a tool without an example is an error of its own
    seen = Seen()
    watched = watch_tool(tool, seen)
    stated: list[Mapping[str, Any]] = []
    twice = False
    for node in nodes:
        said = to_plain(node)
        trace = run_tool_example(node, said, watched, model, Report())
        twice = twice or (trace is not None and any(ask.again for ask in trace.asked))
        expect = said["expect"]
        stated.append({**(expect.get("answer") or {}), **({"hints": expect["hints"]} if expect.get("hints") else {})})
    _cover_plan(tool, seen, report, twice=twice)
    _cover_answer(tool, stated, report)
    _cover_settings(spec, tool.settings, report)


def watch_tool(tool: Tool, seen: Seen) -> Tool:
    """The same tool, noting in `seen` which checks, strategies, second tries, stages and advice come to work."""
    plan = []
    for strategy in tool.plan:
        again = strategy.again
        watched = replace(again, when=_watched(again.when, again.when.place, seen)) if again else None
        plan.append(
            replace(
                strategy, when=_watched(strategy.when or _always(strategy.place), strategy.place, seen), again=watched
            )
        )
    after = tuple(
        replace(stage, when=_when_rows(stage.when or _always(stage.place), stage.place, seen)) for stage in tool.after
    )
    checks = tuple((_watched(refuse, refuse.place, seen), message) for refuse, message in tool.checks)
    hints = tool.hints
    if hints is not None:
        hints = replace(
            hints, also=tuple(replace(one, when=_watched(one.when, one.when.place, seen)) for one in hints.also)
        )
    return replace(tool, plan=tuple(plan), after=after, checks=checks, hints=hints)


def _always(place: Place) -> Value:
    return Value(lambda _context: True, BOOLEAN, place)


def _when_rows(value: Value, place: Place, seen: Seen) -> Value:
    """A stage without rows to work on is not shown by that."""

    def evaluate(context: Context) -> Any:
        result = value.evaluate(context)
        if truthy(result) and context["rows"]:
            seen.worked.add(place)
        return result

    return replace(value, evaluate=evaluate)


def _cover_plan(tool: Tool, seen: Seen, report: Report, *, twice: bool) -> None:
    """Strategies, second tries, stages and advice are reached by an example (W304), and checks refuse one (W303)."""
    for refuse, _ in tool.checks:
        if refuse.place not in seen.worked:
            report.add("W303", refuse.place, f"no example of {tool.name} is refused by this check")
    for strategy in tool.plan:
        if strategy.place not in seen.worked:
            report.add("W304", strategy.place, f"no example of {tool.name} reaches the strategy {strategy.name!r}")
        if strategy.again is not None and not (twice and strategy.again.when.place in seen.worked):
            hint = "give a provider's part in an example few `rows` and more under `again`"
            report.add(
                "W304", strategy.again.when.place, f"no example of {tool.name} asks again in {strategy.name!r}", hint
            )
    for stage in tool.after:
        if stage.place not in seen.worked:
            report.add("W304", stage.place, f"no example of {tool.name} has rows at the stage `{stage.kind}`")
    for advice in tool.hints.also if tool.hints else ():
        if advice.when.place not in seen.worked:
            report.add("W304", advice.when.place, f"no example of {tool.name} is given the advice {advice.action!r}")


def _cover_answer(tool: Tool, stated: Sequence[Mapping[str, Any]], report: Report) -> None:
    """Every key of the answer, and every field of its lists, is stated by an example (W301)."""
    for key in tool.answer:
        values = [one[key.name] for one in stated if one.get(key.name) is not None]
        if not values:
            report.add(
                "W301",
                key.value.place,
                f"no example shows {key.name!r} in the answer of {tool.name}",
                "state it under `expect.answer`",
            )
            continue
        items = [item for value in values if isinstance(value, list) for item in value if isinstance(item, dict)]
        for one in key.fields or ():
            if not any(one.name in item for item in items):
                message = f"no example shows {one.name!r} in the {key.name!r} of {tool.name}"
                report.add("W301", one.place, message, f"state a whole item of {key.name!r} under `expect.answer`")


def _entries(node: Node | None) -> list[Entry]:
    return list(node) if isinstance(node, Map) else []


def _items(node: Node | None) -> list[Map]:
    return [item for item in node.items if isinstance(item, Map)] if isinstance(node, Listing) else []
