"""Compiles tool files, and proves that the cache of a tool ignores nothing that matters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from specloom.core import Report, did_you_mean, parse_duration
from specloom.language import ANY, BOOLEAN, INTEGER, NUMBER, OPEN, TEXT, ListOf, Shape, maybe
from specloom.model import (
    BUDGET,
    AnswerKey,
    Cache,
    Capability,
    Hints,
    Input,
    Setting,
    Stage,
    Strategy,
    Tool,
    Value,
    asked_by,
    questions,
    stages_of,
)
from specloom.plugins import ARTIFACTS, ENVELOPES, Envelope
from specloom.specs import Listing, Map, Node, Spec, YamlScalar, to_plain

from .answer import (
    compile_answer,
    compile_checks,
    compile_hints,
    compile_link,
    compile_notices,
    compile_recorded,
    compile_verbatim,
    find_row_keys,
)
from .answer_text import (
    answer_shape,
    budget_input,
    check_window,
    compile_answer_text,
    compile_budget,
    compile_reads,
)
from .inputs import check_names, compile_cursor, compile_inputs
from .provider import compile_settings, compile_tables, settings_shape
from .published_schemas import input_schema, output_schema, whole_schema
from .stages import compile_stages, count_filters
from .strategies import check_witnesses, compile_plan, declared_parts, row_shape_of, settle_parts, shape_of_parts
from .symbols import (
    DependencyTracker,
    Symbols,
    check_cached,
    check_kept,
    lens_table,
    procedures_of,
    result_shape,
    settings_of_procedures,
)
from .values import (
    Scope,
    compile_definitions,
    compile_text,
    entries_of,
    expand,
    items_of,
    maps_of,
    scalars_of,
    used_definitions,
    whole,
)
from .view import compile_view

DEFAULT_DEADLINE = 60.0
_DOTTED = re.compile(r"\.\s*+\"?([\w-]+)")
_GROUPS = ListOf(whole({"key": ANY, "count": INTEGER}))


def compile_tool(spec: Spec, around: Symbols, report: Report) -> Tool | None:
    """A tool ready to run, or None when something in it is wrong and was reported."""
    before = len(report.errors)
    root, plain, tracker = spec.root, to_plain(spec.root), DependencyTracker()
    settings = compile_settings(root.get("config"))
    settings |= settings_of_procedures(root, settings, around)
    check_kept(root, around, report)
    inputs = compile_inputs(root.get("input"), around, report) | budget_input(
        root.get("budget"), spec.place, of_text="envelope" in root
    )
    scope = _scope(root, inputs, settings, around, report)
    values, scope = compile_definitions(entries_of(root.get("values")), scope)
    plan = settle_parts(compile_plan(root.get("plan"), scope, around, tracker), dict(values), report)
    is_whole = len(plan) == len(items_of(root.get("plan")))
    # What a strategy that cannot be used would have given is not known, so nothing that names it is blamed.
    scope = scope.plus(parts=shape_of_parts(plan)) if is_whole and "parts" in scope.names.fields else scope
    merged = any("merge" in stage for stage in maps_of(root.get("after")))
    witnessed = merged or any(strategy.kind == "gather" for strategy in plan)
    given = row_shape_of(plan, around, witnessed=witnessed) if is_whole else OPEN
    if witnessed:
        check_witnesses(plan, report)
    answered = scope.plus(served_operation=maybe(TEXT))
    after, row_shape = compile_stages(root.get("after"), answered, given, around, tracker)
    is_whole = is_whole and len(after) == len(items_of(root.get("after")))
    done = scope.plus(
        rows=ListOf(row_shape), served_by=maybe(TEXT), served_operation=maybe(TEXT), meta=ANY, not_applied=ListOf(TEXT)
    )
    cursor = compile_cursor(root.get("input"), inputs, after, report)
    if cursor is not None:
        done = done.plus(next_cursor=maybe(TEXT), more_exists=maybe(BOOLEAN))
    procedures = procedures_of(plan, after, around)
    if procedures:
        done = done.plus(result=result_shape(plan, after, around))
    checks = compile_checks(root.get("checks"), scope)
    origins = {stage.merge.origin for stage in after if stage.merge is not None}
    answer, returned = compile_answer(root.get("answer"), done, row_shape, tracker, origins)
    told_as = _envelope(root.get("envelope"), report)
    hints = compile_hints(root.get("hints"), done, inputs, tracker)
    notices = compile_notices(root.get("notices"), done.plus(failures=maybe(TEXT)), tracker)
    _check_orders(plan, after, dict(values), around, report)
    cache = _cache(root.get("cache"), done, inputs)
    record = _record(root.get("record"), inputs, report)
    failures = _failures(root.get("record"), answer, report)
    recorded = compile_recorded(root.get("record"), done, answer)
    link = compile_link(root.get("link"), done, answer)
    if link is not None and ARTIFACTS.name not in {*around.collections, *report.left_out}:
        hint = "a project that `new project` makes has it, and the resource that reads it: copy both files"
        message = f"a linked answer is kept in the collection {ARTIFACTS.name!r}, which is not there"
        report.add("E110", root.entries["link"].place, message, hint)
    verbatim = compile_verbatim(root.get("verbatim"), done, answer)
    told = answer_shape(answer, returned)
    text = compile_answer_text(root.get("text"), done, told)
    budget = compile_budget(root.get("budget"), done, told)
    node = root.get("input")
    if cursor is not None and isinstance(node, Map):
        cursor = find_row_keys(cursor, node, answer, root.get("budget"), report)
    check_window(root, text, report)
    reads = compile_reads(root.get("reads"), inputs, report)
    view = compile_view(root.get("view"), done, told, around.views)
    if len(report.errors) > before or not is_whole:
        return None
    reached = _reached(tracker, dict(values), plan, hints, inputs, around)
    if cursor is not None:
        reached.setdefault(cursor.name, []).append("the plan")
    _prove(root.get("cache"), reached, report)
    check_cached(root.get("cache"), procedures, _personal(tracker, dict(values), plan), report)
    for one in inputs.values():
        # A provider that is left out may be the one that uses it.
        if one.name not in {*reached, BUDGET, record[0] if record else ""} and not report.left_out:
            report.add("W307", one.place, f"input {one.name!r} is declared but changes nothing")
    if len(report.errors) > before:
        return None
    capabilities = tuple(
        dict.fromkeys([*(one.operation for one in questions(plan)), *asked_by(procedures, around.providers.values())])
    )
    asked = [around.capabilities.get(name) for name in capabilities]
    _check_annotations(root.get("annotations"), plan, asked, report)
    if len(report.errors) > before:
        return None
    stages = stages_of(plan, after)
    lookups = tuple(dict.fromkeys(one.operation for one in stages if one.operation))
    # What is told beside an answer in an envelope is told in its text, because a contract says what its data has.
    asks = capabilities or lookups or procedures
    noted = bool(budget or record or notices or asks) and told_as is None
    return Tool(
        spec.name,
        plain["title"],
        "\n".join(" ".join(line.split()) for line in plain["description"].splitlines() if line.strip()),
        spec.place,
        spec.digest,
        tuple(dict.fromkeys([*([spec.group] if spec.group else []), *plain.get("toolsets", [])])),
        plain["annotations"],
        inputs,
        checks,
        settings,
        replace(cache, ignore=(*cache.ignore, BUDGET)) if cache and budget and BUDGET not in reached else cache,
        used_definitions(values, root),
        plan,
        after,
        hints,
        answer,
        record,
        parse_duration(plain["deadline"]) if "deadline" in plain else DEFAULT_DEADLINE,
        row_shape,
        capabilities,
        lookups,
        input_schema(inputs.values()),
        output_schema(answer, hints is not None, link, cache.age_as if cache else "", noted=noted, told_as=told_as)
        if returned is None
        else whole_schema(returned.shape, told_as, noted=noted),
        link,
        returned,
        told_as.name if told_as else "",
        _opt_in(root.get("opt_in"), settings, report),
        bool(plain.get("needs_provider", False)),
        failures,
        recorded,
        verbatim,
        text,
        budget,
        reads,
        notices,
        cursor,
        view,
        count_filters(after),
        witnessed,
        tuple(dict.fromkeys(one.label for one in stages if one.label and one.kind != "group")),
        tuple(dict.fromkeys(one.label for one in stages if one.kind == "group")),
        plain.get("shared_by", ""),
    )


def _personal(tracker: DependencyTracker, definitions: Mapping[str, Value], plan: Iterable[Strategy]) -> list[str]:
    """What the plan itself tells of its caller, in words."""
    kept = [part.access.collection for strategy in plan for part in strategy.parts if part.access]
    used = [what for what, path in tracker.paths(definitions) if path[0] == "caller"]
    return [
        *(f"the plan reaches into {name!r} of its caller" for name in kept),
        *(f"{what} uses its caller" for what in used),
    ]


def _check_annotations(
    node: Node | None, plan: Iterable[Strategy], asked: Iterable[Capability | None], report: Report
) -> None:
    """What a plan does in collections, and whom it lets write, has to be what hosts are told of the tool (E134)."""
    words = {part.access.kind for strategy in plan for part in strategy.parts if part.access}
    assert node is not None
    told = to_plain(node)
    if words & {"save", "delete"} and told["read_only"]:
        report.add("E134", node.place, "the plan changes what is kept, and `read_only` is true", "say false")
    elif told["read_only"] and (writing := next((one.name for one in asked if one and one.writes), "")):
        report.add("E134", node.place, f"{writing!r} writes where it is asked, and `read_only` is true", "say false")
    elif "delete" in words and not told["destructive"]:
        report.add("E134", node.place, "the plan deletes what is kept, and `destructive` is false", "say true")


def _opt_in(node: Node | None, settings: dict[str, Setting], report: Report) -> str:
    """The switch that publishes a tool: a boolean setting of the tool or of what it runs, off where nobody sets it."""
    if not isinstance(node, YamlScalar):
        return ""
    name = str(node.value)
    if name not in settings or settings[name].kind != "boolean":
        switches = [one.name for one in settings.values() if one.kind == "boolean"]
        report.add("E110", node.place, f"the tool has no boolean setting {name!r}", did_you_mean(name, switches))
    elif settings[name].default:
        message = f"{name!r} publishes the tool and is on by default, so nobody is asked"
        report.add("E110", node.place, message, "leave its `default` out")
    else:
        settings[name] = replace(settings[name], default=False)
    return name


def _check_orders(
    plan: Iterable[Strategy], after: Iterable[Stage], values: Mapping[str, Value], around: Symbols, report: Report
) -> None:
    """Warn of lists of providers made of all that there are, as who is in no order is asked by name or a route alone
    (W310), and of those made of an order in which nobody is (W311).
    """
    plan = list(plan)
    values_of_plan = [one.providers for one in plan] + [part.providers for one in plan for part in one.parts]
    several = [*values_of_plan, *(stage.providers for stage in stages_of(plan, after))]
    for value in filter(None, several):
        for path in sorted(expand(value.uses, values)):
            if path[0] == "configured" and len(path) > 1:
                message = f"configured.{path[1]} has those as well who are in no order, which are asked by name alone"
                hint = f"use order.{path[1]}, or route.{path[1]}"
                report.add("W310", value.place, message, hint)
            capability = around.capabilities.get(path[1]) if path[0] in {"route", "order"} and len(path) > 1 else None
            if capability is not None and not capability.order:
                able = sorted(around.offering(capability.name))
                named = f"put {' and '.join(able[:3])} into it" if able else "it needs a provider"
                message = f"nobody is in the order of {capability.name!r}, so that {'.'.join(path[:2])} is empty"
                hint = f"{named}: `routing: {{order: [{', '.join(able[:3])}]}}` in {capability.place.file}"
                report.add("W311", value.place, f"{message} until an operator writes a route", hint)


def _envelope(node: Node | None, report: Report) -> Envelope | None:
    """The envelope that a tool names; one that is not registered is reported."""
    if not isinstance(node, YamlScalar):
        return None
    found = ENVELOPES.get(str(node.value))
    if found is None:
        hint = did_you_mean(str(node.value), ENVELOPES) or "envelopes are registered by the packages that announce them"
        report.add("E110", node.place, f"no envelope is called {node.value!r}", hint)
    return found


def _scope(
    root: Map, inputs: Mapping[str, Input], settings: Mapping[str, Setting], around: Symbols, report: Report
) -> Scope:
    left_out = (name for name in _dotted(root) if name in report.left_out)
    lists: dict[str, Shape] = dict.fromkeys((*around.capabilities, *left_out), ListOf(TEXT))
    parts = declared_parts(root.get("plan"), around)
    clamped = {one.name: maybe(INTEGER if one.kind == "integer" else NUMBER) for one in inputs.values() if one.clamp}
    names = whole(
        {
            "args": whole({one.name: one.shape for one in inputs.values()}),
            "requested": whole(dict(clamped)),
            "config": settings_shape(settings),
            "caller": whole({"tenant": TEXT, "user": TEXT}),
            "route": whole(lists),
            "order": whole(lists),
            "configured": whole(lists),
            "providers": whole(lists),
            "dropped": whole(dict.fromkeys(_labels(root, "as"), INTEGER)),
            "groups": whole(dict.fromkeys(_labels(root, "group"), _GROUPS)),
            **({"parts": whole(parts)} if parts else {}),
            "now": NUMBER,
        }
    )
    tables = {**compile_tables(root.get("tables")), "lenses": lens_table(around.lenses)}
    return Scope(names, tables, report)


def _dotted(node: Node) -> Iterator[str]:
    """The names that stand behind a dot in what a spec says."""
    if isinstance(node, YamlScalar):
        yield from _DOTTED.findall(node.value) if isinstance(node.value, str) else ()
        return
    for part in [one.value for one in node if one.key != "examples"] if isinstance(node, Map) else node.items:
        yield from _dotted(part)


def _labels(root: Map, word: str) -> list[str]:
    """The names under which stages count what they drop, or which groups they make."""
    collected = [strategy["collect"]["parts"] for strategy in to_plain(root.get("plan")) if "collect" in strategy]
    stages = [stage for parts in collected for part in parts.values() for stage in part.get("after", ())]
    stages += to_plain(root.get("after")) or []
    return [str(stage[word]["as"] if word == "group" else stage[word]) for stage in stages if word in stage]


def _record(node: Node | None, inputs: Mapping[str, Input], report: Report) -> tuple[str, str] | None:
    if not isinstance(node, Map):
        return None
    session = node.get("session")
    assert isinstance(session, YamlScalar)
    check_names(Listing((session,), session.place), inputs, report)
    return str(session.value), str(to_plain(node.get("as")))


def _failures(node: Node | None, answer: Iterable[AnswerKey], report: Report) -> str:
    """The key of the answer that lists what could not be read; one that does not exist is reported."""
    said = node.get("failures") if isinstance(node, Map) else None
    if not isinstance(said, YamlScalar):
        return ""
    known = [key.name for key in answer]
    if said.value not in known:
        report.add("E110", said.place, f"the answer has no key {said.value!r}", did_you_mean(str(said.value), known))
    return str(said.value)


def _cache(node: Node | None, scope: Scope, inputs: Mapping[str, Input]) -> Cache | None:
    if not isinstance(node, Map):
        return None
    for item in scalars_of(node.get("ignore")):
        if item.value not in inputs:
            hint = did_you_mean(str(item.value), inputs)
            scope.report.add("E132", item.place, f"the cache ignores {item.value!r}, which is not an input", hint)
    plain = to_plain(node)
    unless = compile_text(found, scope) if (found := node.get("unless")) else None
    return Cache(
        parse_duration(plain["ttl"]),
        plain["shape"],
        tuple(plain.get("ignore", ())),
        unless,
        plain.get("always_say", False),
        plain.get("age_as", ""),
    )


def _prove(node: Node | None, reached: Mapping[str, list[str]], report: Report) -> None:
    """Every input that the cache's key leaves out is one that nothing in the tool or below it uses."""
    for item in scalars_of(node.get("ignore") if isinstance(node, Map) else None):
        by = reached.get(str(item.value), [])
        if by:
            shown = ", ".join(by[:4]) + (f" and {len(by) - 4} more" if len(by) > 4 else "")
            message = f"the cache ignores {item.value!r}, but it changes the answer"
            report.add("E131", item.place, message, f"used by: {shown}")


def _reached(
    tracker: DependencyTracker,
    definitions: Mapping[str, Value],
    plan: tuple[Strategy, ...],
    hints: Hints | None,
    inputs: Mapping[str, Input],
    around: Symbols,
) -> dict[str, list[str]]:
    """What each input reaches, in words: followed through the tool and through every operation that it may call."""
    reached: dict[str, dict[str, None]] = {}  # a mapping keeps the order and looks up at once, however many there are

    def reach(name: str, what: str) -> None:
        reached.setdefault(name, {})[what] = None

    for what, path in tracker.paths(definitions):
        if path[0] in {"args", "requested"}:
            for name in [path[1]] if len(path) > 1 else inputs:
                reach(name, what)
        elif path[0] == "not_applied":
            for name in inputs:
                if any(name in around.capabilities[one.operation].arguments for one in questions(plan)):
                    reach(name, what)
    for one in questions(plan):
        overridden = {name for name, _ in one.overrides}
        for provider, operation in around.offering(one.operation).items():
            for name in operation.arguments_used - overridden:
                if name in inputs:
                    reach(name, f"operation {provider}.{operation.name}")
    for name in (*hints.filters, *hints.always) if hints else ():
        reach(name, "the hints")
    return {name: list(by) for name, by in reached.items()}
