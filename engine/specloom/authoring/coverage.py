"""What the examples of a spec do not show: fields, request values, error rules, strategies, missing required fields.

Whether a rule decides or a stage runs is seen while the examples run, on a copy of the compiled spec whose closures
tell when they are evaluated; what an example says about requests and rows is read from the example itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from specloom.core import Place, Report, dataclass
from specloom.language import BOOLEAN, MISSING, Bindings, evaluate, truthy
from specloom.model import Field, Model, Operation, Provider, Setting, Stage, Step, Tool, Value, stages_of
from specloom.specs import Library, Listing, Map, Node, Spec, YamlEntry, YamlScalar, texts_of, to_plain

from .examples.compare import Example, ExampleTrace, examples_of
from .examples.run import CompiledSpec, check_examples, run_examples
from .examples.selectors import find_reading, find_selector
from .reach import check_reach

TOOL_TOKENS = 800
CATALOGUE_TOKENS = 12_000  # for one toolset; others of this size were seen to take 228 to 35,000

_Path = tuple[str | int, ...]
_Traces = Sequence[tuple[Example, ExampleTrace]]


def check_coverage(library: Library, model: Model, report: Report) -> None:
    """Run all examples, and warn of everything in the compiled specs that none of them shows, where it stands.

    What has errors is looked at once they are mended, and so are tools whose providers may be among what was left out:
    before that, an example may show less than it will.
    """
    from specloom.compiler import check_use

    use = SpecUse()
    traces = check_examples(library, model, report, watch=use.watch)
    wrong = {diagnostic.place.file for diagnostic in report.errors}
    for (kind, name), ran in traces.items():
        spec = library.of(kind)[name]
        if spec.source.file not in wrong and not (kind == "tool" and report.left_out):
            cover_spec(
                spec, model.providers[name] if kind == "provider" else model.tools.get(name), ran, use, model, report
            )
    check_use(model.collections, model.tools.values(), report)
    check_costs(model, report)


def check_with_coverage(spec: Spec, compiled: CompiledSpec, model: Model, report: Report) -> None:
    """Run the examples of one spec, and where all of them hold warn of what they do not show."""
    use = SpecUse()
    traces = run_examples(spec, use.watch(compiled), model, report)
    if not report.errors:
        cover_spec(spec, compiled, traces, use, model, report)


def cover_spec(spec: Spec, compiled: object, traces: _Traces, use: SpecUse, model: Model, report: Report) -> None:
    """Warn of what the examples of one provider or tool do not show; `traces` is what they did, watched by `use`.

    In a spec of any kind, warn of named values that nothing uses.
    """
    _cover_values(spec, report)
    if isinstance(compiled, (Provider, Tool)):
        check_reach(spec, compiled, examples_of(spec, report), model, report)
    if isinstance(compiled, Provider):
        _cover_provider(spec, compiled, traces, use, report)
        _cover_pages(compiled, traces, report)
    elif isinstance(compiled, Tool):
        _cover_tool(spec, compiled, traces, use, report)


def check_costs(model: Model, report: Report) -> None:
    """Warn of a tool, or of a toolset, whose text costs its readers more than its budget (W306)."""
    costs = {tool.name: _catalogue_cost(tool) for tool in model.tools.values()}
    for name, cost in costs.items():
        if cost > TOOL_TOKENS:
            message = f"{name} costs about {cost:,} tokens in the catalogue; {TOOL_TOKENS:,} is the budget of a tool"
            report.add("W306", model.tools[name].place, message, "shorten its description and those of its inputs")
    for toolset in sorted({one for tool in model.tools.values() for one in tool.toolsets}):
        listed = {name: cost for name, cost in costs.items() if toolset in model.tools[name].toolsets}
        total = sum(listed.values())
        if total > CATALOGUE_TOKENS:
            dearest = max(listed, key=listed.__getitem__)
            what = f"the tools of {toolset} cost about {total:,} tokens in the catalogue"
            message = f"{what}; {CATALOGUE_TOKENS:,} is the budget"
            report.add("W306", model.tools[dearest].place, message, f"{dearest} costs most: {listed[dearest]:,}")


def _catalogue_cost(tool: Tool) -> int:
    """About how many tokens a model reads for one tool: four characters of JSON are one."""
    listed = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    return len(json.dumps(listed, ensure_ascii=False, separators=(",", ":"))) // 4


# --- What comes to work while examples run ---------------------------------------------------------------------------


@dataclass(slots=True)
class SpecUse:
    """What did its work while examples ran: rules that decided, strategies that ran, fields that were missing."""

    worked: set[Place] = field(default_factory=set)
    lacking: set[tuple[Place, str]] = field(default_factory=set)

    def watch(self, compiled: CompiledSpec) -> CompiledSpec:
        """The same spec, noting here what comes to work."""
        if isinstance(compiled, Provider):
            return self._watch_provider(compiled)
        return self._watch_tool(compiled) if isinstance(compiled, Tool) else compiled

    def _when(self, value: Value | None, place: Place, *, with_rows: bool = False) -> Value:
        """The same condition, noting the place whenever it is true, and there are rows where that is asked."""
        value = value or Value(lambda _context: True, BOOLEAN, place)

        def evaluate(context: Bindings) -> Any:
            result = value.evaluate(context)
            if truthy(result) and (context.get("rows") or not with_rows):
                self.worked.add(place)
            return result

        return replace(value, evaluate=evaluate)

    def _watch_provider(self, provider: Provider) -> Provider:
        rules = tuple(replace(rule, when=self._when(rule.when, rule.place)) for rule in provider.service.errors)
        operations = {
            name: replace(operation, steps=tuple(self._watch_step(step) for step in operation.steps))
            for name, operation in provider.operations.items()
        }
        return replace(provider, service=replace(provider.service, errors=rules), operations=operations)

    def _watch_step(self, step: Step) -> Step:
        fields = tuple(self._watch_field(one) if one.required else one for one in step.reading.fields)
        return replace(step, reading=replace(step.reading, fields=fields))

    def _watch_field(self, watched: Field) -> Field:
        def read(item: Any, context: Bindings) -> Any:
            value = watched.read(item, context)
            if value in MISSING:
                self.lacking.add((watched.place, watched.name))
            return value

        return replace(watched, read=read)

    def _watch_tool(self, tool: Tool) -> Tool:
        plan = []
        for strategy in tool.plan:
            again = strategy.again
            parts = tuple(
                replace(part, when=self._when(part.when, part.place), after=self._watch_stages(part.after))
                for part in strategy.parts
            )
            twice = replace(again, when=self._when(again.when, again.when.place)) if again else None
            plan.append(replace(strategy, when=self._when(strategy.when, strategy.place), again=twice, parts=parts))
        hints = tool.hints
        if hints is not None:
            also = tuple(replace(advice, when=self._when(advice.when, advice.when.place)) for advice in hints.also)
            hints = replace(hints, also=also)
        checks = tuple((self._when(refuse, refuse.place), message) for refuse, message in tool.checks)
        notices = tuple((self._when(when, when.place), say) for when, say in tool.notices)
        stages = self._watch_stages(tool.after)
        return replace(tool, plan=tuple(plan), after=stages, checks=checks, hints=hints, notices=notices)

    def _watch_stages(self, stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
        # A stage without rows to work on is not shown by that.
        return tuple(replace(stage, when=self._when(stage.when, stage.place, with_rows=True)) for stage in stages)


# --- Providers -------------------------------------------------------------------------------------------------------


_Sent = Mapping[str, Any]


def _cover_provider(spec: Spec, provider: Provider, traces: _Traces, use: SpecUse, report: Report) -> None:
    stated: list[_Sent] = []
    for entry in _entries_of(spec.root.get("operations")):
        operation = provider.operations[entry.key]
        ran = [
            (example.expect, trace) for example, trace in traces if example.stated.get("operation") == operation.name
        ]
        if not ran:
            continue  # an operation without an example is an error of its own
        sent: dict[str, list[_Sent]] = {}
        for expect, _ in ran:
            for name, requests in (expect.get("sent") or {}).items():
                sent.setdefault(name, []).extend(requests if isinstance(requests, list) else [requests])
        stated += [request for requests in sent.values() for request in requests]
        _cover_requests(entry, operation, sent, report)
        _cover_rows(operation, ran, report)
        _cover_required(spec, operation, use, report)
    _cover_service(spec, stated, report)
    for rule in provider.service.errors:
        if rule.place not in use.worked:
            message = f"no example triggers this error rule ({rule.kind})"
            report.add("W303", rule.place, message, "add a reply that it is for")
    _cover_settings(spec, provider.settings, report)


def _cover_requests(
    entry: YamlEntry, operation: Operation, sent: Mapping[str, Sequence[_Sent]], report: Report
) -> None:
    """Every value of every request of the operation stands in some example (W302)."""
    assert isinstance(entry.value, Map)
    for node in maps_of(entry.value.get("steps")):
        name = str(to_plain(node.get("as")) or "main")
        where = f"{operation.id}, step {name!r}"
        requests = sent.get(name, ())
        verb = "get" if "get" in node else "post"
        if not any(verb in request for request in requests):
            hint = f"state `{verb}` under `expect.sent.{name}`"
            report.add("W302", node.entries[verb].place, f"no example shows the URL of {where}", hint)
        _cover_pairs(node, requests, where, report)
        for value in _entries_of(node.get("body")):
            for place, path in _leaves(value.value, value.place, ()):
                # Bytes that are text are shown as it.
                shown = ("base64", "text") if value.key == "base64" else (value.key,)
                if not any(_has(request.get(kind), path) for request in requests for kind in shown):
                    what = ".".join((value.key, *(str(part) for part in path)))
                    message = f"no example shows the body's {what!r} of {where}"
                    report.add("W302", place, message, "state the whole body in one")


def _cover_service(spec: Spec, sent: Sequence[_Sent], report: Report) -> None:
    """What all operations send is stated by an example of one of them (W302)."""
    node = spec.root.get("service")
    if not isinstance(node, Map):
        return
    _cover_pairs(node, sent, f"{spec.name}, sent with every request", report)
    auth, extra = node.entries.get("auth"), node.entries.get("extra_headers")
    if auth is not None and not _states("headers", "Authorization", sent):
        message = f"no example shows how the key of {spec.name} travels"
        report.add("W302", auth.place, message, "state `Authorization` under `headers`")
    if extra is not None and not any(request.get("headers") for request in sent):
        message = f"no example shows the extra headers of {spec.name}"
        report.add("W302", extra.place, message, "set them in `config` and state `headers`")


def _cover_pairs(node: Map, sent: Sequence[_Sent], where: str, report: Report) -> None:
    """Every query parameter and header of a step, or of the service, is stated with a value."""
    for part, kind in (("query", "query parameter"), ("headers", "header")):
        for entry in _entries_of(node.get(part)):
            is_null = isinstance(entry.value, YamlScalar) and entry.value.value is None
            if not is_null and not _states(part, entry.key, sent):
                message = f"no example shows the {kind} {entry.key!r} of {where}"
                report.add("W302", entry.place, message, f"state it with a value under `{part}`")


def _states(part: str, name: str, sent: Iterable[_Sent]) -> bool:
    """Some stated request has this header or parameter with a value; the names of headers are the same in any case."""
    return any(
        value is not None and (key == name or (part == "headers" and key.lower() == name.lower()))
        for request in sent
        for key, value in (request.get(part) or {}).items()
    )


def _leaves(node: Node, place: Place, path: _Path) -> Iterator[tuple[Place, _Path]]:
    """Every single value in a body, with its place and the keys that lead to it; constants of null are not sent."""
    if isinstance(node, Map):
        for entry in node:
            yield from _leaves(entry.value, entry.place, (*path, entry.key))
    elif isinstance(node, Listing):
        for index, item in enumerate(node.items):
            yield from _leaves(item, item.place, (*path, index))
    elif node.value is not None:
        yield place, path


def _has(body: Any, path: _Path) -> bool:
    for part in path:
        keys = range(len(body)) if isinstance(body, list) else body if isinstance(body, dict) else ()
        if part not in keys:
            return False
        body = body[part]
    return body is not None


def _cover_rows(operation: Operation, ran: Sequence[tuple[Mapping[str, Any], ExampleTrace]], report: Report) -> None:
    """Every field that comes out in a row is stated with a value by some example, and so is every fact (W301)."""
    stated: dict[str, set[str]] = {}
    facts: set[str] = set()
    for expect, trace in ran:
        named = {name for row in expect.get("rows") or () for name, value in row.items() if value is not None}
        for request in trace.sent:
            stated.setdefault(request.step, set()).update(named)
        facts.update(name for name, value in (expect.get("meta") or {}).items() if value is not None)
    fields = {name for name, _, _ in operation.conform}
    joined = set(operation.arrangement.join.take) if operation.arrangement.join else set()
    sources = _source_steps(operation)
    for step in operation.steps:
        out = fields if step.name in sources else fields & joined
        for one in step.reading.fields:
            if one.name in out and one.name not in stated.get(step.name, ()):
                message = f"no example shows the field {one.name!r} of {operation.id}, step {step.name!r}"
                report.add("W301", one.place, message, "state it with a value under `expect.rows`")
    for name, value in operation.meta:
        if name not in facts:
            message = f"no example shows the fact {name!r} of {operation.id}"
            report.add("W301", value.place, message, "state it under `expect.meta`")


def _source_steps(operation: Operation) -> frozenset[str]:
    """The steps whose rows come out of an operation."""
    rows = operation.arrangement.rows
    if rows is not None:
        return frozenset(path[1] for path in rows.uses if path[0] == "steps" and len(path) > 1)
    needed = [step.name for step in operation.steps if not step.optional]
    return frozenset(needed[-1:])


def _cover_required(spec: Spec, operation: Operation, use: SpecUse, report: Report) -> None:
    """Every required field has an example in which an item lacks it (W305), unless no item can.

    That is one whose selector a required field above it has, which drops the row before, and the key of an entry.
    """
    for step in operation.steps:
        node = find_reading(spec, operation, step)
        each = str(to_plain(node.get("each") if node else None) or "")
        above = {"key"} if each.startswith("entries(") else set()
        for one in step.reading.fields:
            if not one.required or one.constant:
                continue
            _, selector = find_selector(node, one.name)
            if selector not in above and (one.place, one.name) not in use.lacking:
                message = f"no example of {operation.id} has an item without {one.name!r}, which is required"
                report.add("W305", one.place, message, "add such an item to a reply; its row is dropped")
            above.add(selector)


# --- Pages of sites --------------------------------------------------------------------------------------------------


_TOLD_OTHERWISE = frozenset({"missing", "fallback"})
"""Facts that are told by the message of a fault, and by `fallback` of an example."""


def _cover_pages(provider: Provider, ran: _Traces, report: Report) -> None:
    """Warn of forms of address, questions, error rules and facts of pages that no example shows (W303, W309)."""
    if not provider.pages:
        return
    from .examples.pages import PageTrace

    traces = [(example.expect, trace) for example, trace in ran if isinstance(trace, PageTrace)]
    shown = {match.pattern.place for _, trace in traces for match in trace.matches if match}
    for page in provider.pages:
        own = [
            (e, trace) for e, trace in traces if any(match and match.page.kind == page.kind for match in trace.matches)
        ]
        for pattern in {one.place: one for one in (*page.patterns, *page.holders)}.values():
            if pattern.place not in shown:
                message = f"no example shows an address like {pattern.text}, which is read as {page.id}"
                report.add("W309", pattern.place, message, "name one under `page`")
        questions = {name for _, trace in own for name in trace.questions}
        for ask in page.asks:
            if ask.name not in questions:
                message = f"no example of {page.id} asks {ask.name!r}"
                report.add("W309", ask.place, message, "add a page for which it is asked")
        for rule in page.errors:
            if not any(trace.fault and trace.fault.kind == rule.kind for _, trace in own):
                report.add("W303", rule.place, f"no example triggers this error rule ({rule.kind})", "add such a page")
        facts = [expect.get("page") or {} for expect, trace in own if trace.page]
        for name, value in page.facts.items():
            key = {"by": "extracted_by", "markdown": "is_markdown"}.get(name, name)
            told = name in _TOLD_OTHERWISE or (value.constant and not truthy(evaluate(value, {})))
            if not told and not any(stated.get(key) for stated in facts):
                message = f"no example shows {key!r} of {page.id}"
                report.add("W309", value.place, message, "state it with a value under `expect.page`")
        if not any(trace.page and "content" in expect for expect, trace in own):
            report.add("W309", page.place, f"no example shows the Markdown of {page.id}", "state it under `content`")


# --- Tools -----------------------------------------------------------------------------------------------------------


def _cover_tool(spec: Spec, tool: Tool, traces: _Traces, use: SpecUse, report: Report) -> None:
    if not maps_of(spec.root.get("examples")):
        return  # a tool without an example is an error of its own
    _cover_plan(tool, use, report, twice=any(ask.again for _, trace in traces for ask in trace.asked))
    expects = [example.expect for example, _ in traces]
    stated = [
        {**(expect.get("answer") or {}), **({"hints": expect["hints"]} if expect.get("hints") else {})}
        for expect in expects
    ]
    if any(expect.get("following") for expect in expects):
        # Where an answer goes on is stated as a position, and not as the text that it is told as.
        stated.append({key.name: True for key in tool.answer if ("next_cursor",) in key.value.uses})
    _cover_answer(tool, stated, report)
    _cover_view(tool, [expect["view"] for expect in expects if isinstance(expect.get("view"), dict)], report)
    _cover_settings(spec, tool.settings, report)


def _cover_plan(tool: Tool, use: SpecUse, report: Report, *, twice: bool) -> None:
    """Examples reach strategies, second tries, stages, advice and notices (W304); checks refuse one (W303)."""

    def cover(place: Place, what: str, hint: str = "", *, code: str = "W304", unless: bool = True) -> None:
        if not (unless and place in use.worked):
            report.add(code, place, f"no example of {tool.name} {what}", hint)

    for refuse, _ in tool.checks:
        cover(refuse.place, "is refused by this check", code="W303")
    for strategy in tool.plan:
        cover(strategy.place, f"reaches the strategy {strategy.name!r}")
        if strategy.again is not None:
            hint = "give a provider's part in an example few `rows` and more under `again`"
            cover(strategy.again.when.place, f"asks again in {strategy.name!r}", hint, unless=twice)
        for part in strategy.parts:
            cover(part.place, f"asks for the part {part.name!r}")
    for stage in stages_of(tool.plan, tool.after):
        cover(stage.place, f"has rows at the stage `{stage.kind}`")
    for advice in tool.hints.also if tool.hints else ():
        cover(advice.when.place, f"is given the advice {advice.action!r}")
    for when, _ in tool.notices:
        cover(when.place, "has this notice")


def _cover_answer(tool: Tool, stated: Sequence[Mapping[str, Any]], report: Report) -> None:
    """Every key of the answer, and every field of its lists, is stated by an example (W301)."""
    for key in tool.answer:
        values = [answer[key.name] for answer in stated if answer.get(key.name) is not None]
        if not values:
            message = f"no example shows {key.name!r} in the answer of {tool.name}"
            report.add("W301", key.value.place, message, "state it under `expect.answer`")
            continue
        items = [item for value in values if isinstance(value, list) for item in value if isinstance(item, dict)]
        for one in key.fields or ():
            if not any(one.name in item for item in items):
                message = f"no example shows {one.name!r} in the {key.name!r} of {tool.name}"
                report.add("W301", one.place, message, f"state a whole item of {key.name!r} under `expect.answer`")


def _cover_view(tool: Tool, stated: Sequence[Mapping[str, Any]], report: Report) -> None:
    """Every slot of the view, and every field of its rows, is stated by an example (W301)."""
    for name, bound in tool.view.slots if tool.view is not None else ():
        values = [view[name] for view in stated if view.get(name) not in MISSING]
        if not values and isinstance(bound, Value):
            message = f"no example shows the slot {name!r} in the view of {tool.name}"
            report.add("W301", bound.place, message, "state all slots under `expect.view`")
        items = [item for value in values if isinstance(value, list) for item in value if isinstance(item, dict)]
        for group in bound if isinstance(bound, tuple) else ():
            for one in group.fields:
                if not any(one.name in item for item in items):
                    message = f"no example shows {one.name!r} in the rows of the slot {name!r} of {tool.name}"
                    report.add("W301", one.place, message, "state a whole row of it under `expect.view`")


# --- Settings, and the trees of specs --------------------------------------------------------------------------------


def _cover_settings(spec: Spec, settings: Mapping[str, Setting], report: Report) -> None:
    """Every setting that the file declares is read somewhere (W307); those of procedures are read by them."""
    declared = {entry.key for entry in _entries_of(spec.root.get("config"))}
    texts = [text for entry in spec.root if entry.key not in {"config", "examples"} for text in texts_of(entry.value)]
    used = {name for text in texts for name in re.findall(r"\bconfig\.(\w+)", text)}
    used.add(str(to_plain(spec.root.get("opt_in"))))
    for setting in settings.values():
        if setting.name in declared and setting.name not in used:
            message = f"setting {setting.name!r} is declared but nothing uses it"
            report.add("W307", setting.place, message, f"remove it, or use it as config.{setting.name}")


def _cover_values(spec: Spec, report: Report) -> None:
    """Every named value is needed by something that is worked out (W312)."""
    from specloom.compiler import find_unused_values

    for entry in find_unused_values(spec.root):
        message = f"nothing uses the named value {entry.key!r}, so it is not worked out"
        report.add("W312", entry.place, message, f"remove it, or use it as values.{entry.key}")


def _entries_of(node: Node | None) -> list[YamlEntry]:
    """The keys of a mapping with their values; none where there is no mapping."""
    return list(node) if isinstance(node, Map) else []


def maps_of(node: Node | None) -> list[Map]:
    """The mappings of a list; none where there is no list."""
    return [item for item in node.items if isinstance(item, Map)] if isinstance(node, Listing) else []
