"""Compiles tool files: inputs, plan, stages, answer and the schemas that are derived from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .diagnostics import Place, Report, did_you_mean
from .hooks import Hook
from .limits import parse_duration
from .load import Entry, Listing, Map, Node, Scalar, to_plain
from .model import (
    Advice,
    Again,
    AnswerKey,
    Cache,
    Capability,
    Field,
    Hints,
    Input,
    Lens,
    Operation,
    Pair,
    Provider,
    Setting,
    Stage,
    Strategy,
    Tool,
    Value,
)
from .names import Spec
from .operation import compile_settings, compile_tables, digest_of, settings_shape
from .published import input_schema, output_schema
from .shapes import ANY, BOOLEAN, INTEGER, NUMBER, TEXT, Choice, ListOf, Maybe, Record, Shape, from_schema, join, maybe
from .values import (
    Language,
    Scope,
    compile_definitions,
    compile_field,
    compile_pairs,
    compile_text,
    compile_value,
    entries_of,
    expand,
    whole,
)

DEFAULT_DEADLINE = 60.0
_SHAPES: Mapping[str, Shape] = {
    "string": TEXT,
    "integer": INTEGER,
    "number": NUMBER,
    "boolean": BOOLEAN,
    "list": ListOf(TEXT),
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a tool may name: the providers and capabilities that exist, lenses, and hooks."""

    providers: Mapping[str, Provider]
    capabilities: Mapping[str, Capability]
    lenses: Mapping[str, Lens]
    hooks: Mapping[str, Hook]

    def offering(self, capability: str) -> dict[str, Operation]:
        """The operations that carry a capability's name, by provider."""
        return {
            provider.name: provider.operations[capability]
            for provider in self.providers.values()
            if capability in provider.operations
        }


def lens_table(lenses: Mapping[str, Lens]) -> dict[str, Any]:
    """The lenses as the built-in table `lenses`: domains, goggle and engine by name."""
    table: dict[str, Any] = {}
    for one in lenses.values():
        table[one.name] = {
            "name": one.name,
            "domains": list(one.domains) or None,
            "goggle": one.goggle or None,
            "engine": one.engine or None,
        }
    return table


def compile_tool(spec: Spec, around: Surroundings, report: Report) -> Tool | None:
    """A tool ready to run, or None when something in it is wrong and was reported."""
    return _ToolCompiler(spec, around, report).compile()


class _ToolCompiler:
    """Compiles one tool; kept together because every part adds to what the cache proof has to know."""

    def __init__(self, spec: Spec, around: Surroundings, report: Report) -> None:
        self.spec = spec
        self.root = spec.root
        self.around = around
        self.report = report
        self.uses: list[tuple[str, Value]] = []
        """Every value that can change the answer, with what it is, for the cache proof."""
        self.capabilities: list[str] = []

    def compile(self) -> Tool | None:
        before = len(self.report.errors)
        plain = to_plain(self.root)
        settings = compile_settings(self.root.get("config"))
        inputs = self._inputs()
        scope = self._scope(inputs, settings)
        values, scope = compile_definitions(entries_of(self.root.get("values")), scope)
        self.definitions = dict(values)
        plan = self._plan(scope)
        row_shape = self._row_shape(plan)
        after, row_shape = self._after(scope, row_shape)
        done = scope.plus(rows=ListOf(row_shape), served_by=maybe(TEXT))
        checks = self._checks(scope)
        answer = self._answer(done, row_shape)
        hints = self._hints(done, inputs)
        cache = self._cache(done, inputs)
        record = self._record(inputs)
        if len(self.report.errors) > before:
            return None
        self._proof(cache, inputs, plan, hints)
        if len(self.report.errors) > before:
            return None
        toolsets = tuple(dict.fromkeys([*([self.spec.group] if self.spec.group else []), *plain.get("toolsets", [])]))
        return Tool(
            self.spec.name,
            plain["title"],
            " ".join(plain["description"].split()),
            self.spec.place,
            digest_of(self.spec),
            toolsets,
            plain["annotations"],
            inputs,
            checks,
            settings,
            cache,
            values,
            plan,
            after,
            hints,
            answer,
            record,
            parse_duration(plain["deadline"]) if "deadline" in plain else DEFAULT_DEADLINE,
            row_shape,
            tuple(dict.fromkeys(self.capabilities)),
            input_schema(inputs.values()),
            output_schema(answer, hints is not None),
        )

    # --- inputs -----------------------------------------------------------------------------------------------------

    def _inputs(self) -> dict[str, Input]:
        node = self.root.get("input")
        assert isinstance(node, Map)
        return {entry.key: self._input(entry) for entry in node}

    def _input(self, entry: Entry) -> Input:
        said = to_plain(entry.value)
        assert isinstance(entry.value, Map)
        choices, catalogue = self._choices(entry.value.get("enum"))
        kind, default = said["type"], said.get("default")
        shape: Shape = Choice(choices) if choices and kind == "string" else _SHAPES[kind]
        if default is not None:
            place = _place(entry.value.get("default"), entry.place)
            if choices and default not in choices:
                self.report.add(
                    "E104", place, f"the default {default!r} is not in the enum", did_you_mean(str(default), choices)
                )
            if not _fits(default, kind):
                self.report.add("E104", place, f"the default {default!r} is not of type {kind}")
        pattern = said.get("pattern", "")
        if pattern:
            try:
                re.compile(pattern)
            except re.error as error:
                self.report.add(
                    "E104", _place(entry.value.get("pattern"), entry.place), f"not a regular expression: {error}"
                )
        return Input(
            entry.key,
            kind,
            " ".join(said["description"].split()),
            entry.place,
            shape if said.get("required") or default is not None else maybe(shape),
            said.get("required", False),
            default,
            choices,
            catalogue,
            said.get("open", False),
            said.get("minimum"),
            said.get("maximum"),
            said.get("clamp", False),
            said.get("min_length"),
            said.get("max_length"),
            pattern,
            said.get("says", ""),
            said.get("max_items"),
        )

    def _choices(self, node: Node | None) -> tuple[tuple[str, ...], str]:
        if node is None:
            return (), ""
        if isinstance(node, Listing):
            return tuple(to_plain(node)), ""
        assert isinstance(node, Scalar)
        text = str(node.value)
        if text == "lenses":
            return tuple(sorted(self.around.lenses)), text
        capability = text.partition(".")[2]
        if capability not in self.around.capabilities:
            hint = did_you_mean(capability, self.around.capabilities)
            self.report.add("E110", node.place, f"no capability is called {capability!r}", hint)
        return tuple(sorted(self.around.offering(capability))), text

    def _scope(self, inputs: Mapping[str, Input], settings: Mapping[str, Setting]) -> Scope:
        lists: dict[str, Shape] = {name: ListOf(TEXT) for name in self.around.capabilities}
        clamped = {
            one.name: maybe(INTEGER if one.kind == "integer" else NUMBER) for one in inputs.values() if one.clamp
        }
        names = whole(
            {
                "args": whole({one.name: one.shape for one in inputs.values()}),
                "requested": whole(dict(clamped)),
                "config": settings_shape(settings),
                "route": whole(lists),
                "providers": whole(lists),
                "now": NUMBER,
            }
        )
        tables = {**compile_tables(self.root.get("tables")), "lenses": lens_table(self.around.lenses)}
        return Scope(names, tables, self.report)

    # --- plan -------------------------------------------------------------------------------------------------------

    def _text(self, what: str, key: str, node: Map, scope: Scope) -> Value | None:
        found = node.get(key)
        value = compile_text(found, scope) if found is not None else None
        if value:
            self.uses.append((what, value))
        return value

    def _pairs(self, what: str, node: Node | None, scope: Scope) -> tuple[Pair, ...]:
        pairs = compile_pairs(node, scope)
        self.uses.extend((what, value) for _, value in pairs)
        return pairs

    def _plan(self, scope: Scope) -> tuple[Strategy, ...]:
        node = self.root.get("plan")
        assert isinstance(node, Listing)
        found = [self._strategy(item, scope) for item in node.items if isinstance(item, Map)]
        return tuple(one for one in found if one)

    def _strategy(self, node: Map, scope: Scope) -> Strategy | None:
        name = str(to_plain(node.get("name")))
        what = f"the strategy {name!r}"
        when = self._text(what, "when", node, scope)
        outcomes = to_plain(node.get("on")) or {}
        kind = next(word for word in ("call", "first_of", "gather", "hook") if word in node)
        inner = node.get(kind)
        assert isinstance(inner, Map)
        if kind == "hook":
            hook, parameters = self._hook(what, inner, scope)
            return Strategy(name, kind, node.place, when, None, "", parameters, None, hook, outcomes) if hook else None
        operation_node = inner.get("operation")
        assert isinstance(operation_node, Scalar)
        operation = str(operation_node.value)
        if operation not in self.around.capabilities:
            hint = did_you_mean(operation, self.around.capabilities)
            self.report.add("E110", operation_node.place, f"no capability is called {operation!r}", hint)
            return None
        self.capabilities.append(operation)
        providers_node = inner.get("provider" if kind == "call" else "providers")
        assert providers_node is not None
        providers = compile_value(providers_node, scope)
        if providers:
            self.uses.append((what, providers))
        overrides = self._overrides(what, inner.get("with"), operation, scope)
        again: Again | None = None
        again_node = inner.get("again")
        if isinstance(again_node, Map):
            inside = scope.plus(rows=ListOf(self.around.capabilities[operation].shape))
            again_when = self._text(what, "when", again_node, inside)
            more = self._overrides(what, again_node.get("with"), operation, inside)
            again = Again(again_when, more) if again_when else None
        return Strategy(name, kind, node.place, when, providers, operation, overrides, again, "", outcomes)

    def _overrides(self, what: str, node: Node | None, operation: str, scope: Scope) -> tuple[Pair, ...]:
        arguments = self.around.capabilities[operation].arguments
        for entry in node if isinstance(node, Map) else ():
            if entry.key not in arguments:
                hint = did_you_mean(entry.key, arguments)
                self.report.add("E110", entry.place, f"capability {operation!r} has no argument {entry.key!r}", hint)
        return self._pairs(what, node, scope)

    def _hook(self, what: str, node: Map, scope: Scope) -> tuple[str, tuple[Pair, ...]]:
        name_node = node.get("name") or node.get("hook")
        assert isinstance(name_node, Scalar)
        name = str(name_node.value)
        hook = self.around.hooks.get(name)
        parameters = self._pairs(what, node.get("with"), scope)
        if hook is None:
            hint = did_you_mean(name, self.around.hooks) or "hooks are registered by the packages that announce them"
            self.report.add("E110", name_node.place, f"no hook is called {name!r}", hint)
            return "", parameters
        with_node = node.get("with")
        for entry in with_node if isinstance(with_node, Map) else ():
            if entry.key not in hook.parameters:
                hint = did_you_mean(entry.key, hook.parameters)
                self.report.add("E110", entry.place, f"hook {name!r} has no parameter {entry.key!r}", hint)
        return name, parameters

    def _row_shape(self, plan: Iterable[Strategy]) -> Record:
        fields: dict[str, Shape] = {}
        shapes = [
            self.around.capabilities[one].shape for one in dict.fromkeys(s.operation for s in plan if s.operation)
        ]
        for one in plan:
            if one.hook:
                shapes.append(
                    whole(
                        {
                            name: maybe(from_schema(dict(said)))
                            for name, said in self.around.hooks[one.hook].adds.items()
                        }
                    )
                )
        for shape in shapes:
            for name, known in shape.fields.items():
                everywhere = all(name in other.fields for other in shapes)
                merged = join(fields[name], known) if name in fields else known
                fields[name] = merged if everywhere else maybe(merged)
        return whole(fields)

    # --- stages -----------------------------------------------------------------------------------------------------

    def _after(self, scope: Scope, row_shape: Record) -> tuple[tuple[Stage, ...], Record]:
        node = self.root.get("after")
        stages: list[Stage] = []
        for item in node.items if isinstance(node, Listing) else ():
            assert isinstance(item, Map)
            stage, row_shape = self._stage(item, scope, row_shape)
            if stage:
                stages.append(stage)
        return tuple(stages), row_shape

    def _stage(self, node: Map, scope: Scope, row_shape: Record) -> tuple[Stage | None, Record]:
        kind = next(iter(node)).key
        what = f"the stage `{kind}`"
        inside = scope.plus(row=row_shape, rows=ListOf(row_shape))
        if kind in {"keep", "drop", "take"}:
            return Stage(kind, node.place, self._text(what, kind, node, inside)), row_shape
        inner = node.get(kind)
        assert isinstance(inner, Map)
        when = self._text(what, "when", inner, inside)
        if kind == "enrich":
            name, parameters = self._hook(what, inner, inside)
            if not name:
                return None, row_shape
            added = {key: maybe(from_schema(dict(said))) for key, said in self.around.hooks[name].adds.items()}
            optional = to_plain(inner.get("optional")) is True
            stage = Stage(kind, node.place, None, (), False, when, name, parameters, optional)
            return stage, whole({**row_shape.fields, **added})
        by = inner.get("by")
        names = by.items if isinstance(by, Listing) else (by,)
        for one in names:
            if isinstance(one, Scalar) and one.value not in row_shape.fields:
                hint = did_you_mean(str(one.value), row_shape.fields)
                self.report.add("E110", one.place, f"a row has no field {one.value!r}", hint)
        fields = tuple(str(to_plain(one)) for one in names)
        return Stage(kind, node.place, None, fields, to_plain(inner.get("descending")) is True, when), row_shape

    # --- what is returned -------------------------------------------------------------------------------------------

    def _checks(self, scope: Scope) -> tuple[tuple[Value, Value], ...]:
        node = self.root.get("checks")
        found = []
        for item in node.items if isinstance(node, Listing) else ():
            assert isinstance(item, Map)
            refuse, message = item.get("refuse_when"), item.get("message")
            if refuse is None or message is None:
                self.report.add("E102", item.place, "a check needs `refuse_when` and `message`")
                continue
            pair = compile_text(refuse, scope), compile_text(message, scope)
            if pair[0] and pair[1]:
                found.append((pair[0], pair[1]))
        return tuple(found)

    def _answer(self, scope: Scope, row_shape: Record) -> tuple[AnswerKey, ...]:
        node = self.root.get("answer")
        assert isinstance(node, Map)
        keys: list[AnswerKey] = []
        for entry in node:
            what = f"the answer's key {entry.key!r}"
            if isinstance(entry.value, Map):
                each_node, map_node = entry.value.get("each"), entry.value.get("map")
                assert each_node is not None
                assert isinstance(map_node, Map)
                each = compile_text(each_node, scope)
                if each is None:
                    continue
                self.uses.append((what, each))
                item = each.shape.item if isinstance(each.shape, ListOf) else row_shape
                item = item.shape if isinstance(item, Maybe) else item
                inside = scope.plus(item=item, page=ANY)
                fields: list[Field] = []
                for one in map_node:
                    field = compile_field(one, Language("jmespath", {}), item, inside)
                    if field:
                        self.uses.append((what, Value(lambda _c: None, ANY, field.place, "", field.uses)))
                        fields.append(field)
                keys.append(AnswerKey(entry.key, each, tuple(fields)))
            else:
                value = compile_value(entry.value, scope)
                if value:
                    self.uses.append((what, value))
                    keys.append(AnswerKey(entry.key, value))
        return tuple(keys)

    def _hints(self, scope: Scope, inputs: Mapping[str, Input]) -> Hints | None:
        node = self.root.get("hints")
        if not isinstance(node, Map):
            return None
        for key in ("filters", "always"):
            listed = node.get(key)
            for item in listed.items if isinstance(listed, Listing) else ():
                if isinstance(item, Scalar) and item.value not in inputs:
                    hint = did_you_mean(str(item.value), inputs)
                    self.report.add("E110", item.place, f"the tool has no input {item.value!r}", hint)
        advice: list[Advice] = []
        also = node.get("also")
        for item in also.items if isinstance(also, Listing) else ():
            assert isinstance(item, Map)
            said = to_plain(item)
            when = self._text("the hints", "when", item, scope)
            if when:
                advice.append(
                    Advice(
                        when, said["action"], said.get("reason", ""), said.get("parameter", ""), said.get("detail", "")
                    )
                )
        plain = to_plain(node)
        return Hints(tuple(plain["filters"]), tuple(plain.get("always", ())), tuple(advice))

    def _record(self, inputs: Mapping[str, Input]) -> tuple[str, str] | None:
        node = self.root.get("record")
        if not isinstance(node, Map):
            return None
        session = node.get("session")
        assert isinstance(session, Scalar)
        if session.value not in inputs:
            hint = did_you_mean(str(session.value), inputs)
            self.report.add("E110", session.place, f"the tool has no input {session.value!r}", hint)
        return str(session.value), str(to_plain(node.get("as")))

    # --- the cache and its proof ------------------------------------------------------------------------------------

    def _cache(self, scope: Scope, inputs: Mapping[str, Input]) -> Cache | None:
        node = self.root.get("cache")
        if not isinstance(node, Map):
            return None
        ignored = node.get("ignore")
        for item in ignored.items if isinstance(ignored, Listing) else ():
            if isinstance(item, Scalar) and item.value not in inputs:
                hint = did_you_mean(str(item.value), inputs)
                self.report.add("E132", item.place, f"the cache ignores {item.value!r}, which is not an input", hint)
        plain = to_plain(node)
        unless = compile_text(found, scope) if (found := node.get("unless")) else None
        return Cache(
            parse_duration(plain["ttl"]),
            plain["shape"],
            tuple(plain.get("ignore", ())),
            unless,
            plain.get("always_say", False),
        )

    def _proof(
        self, cache: Cache | None, inputs: Mapping[str, Input], plan: tuple[Strategy, ...], hints: Hints | None
    ) -> None:
        """Every input that the key leaves out is followed through the tool and every reachable operation."""
        node = self.root.get("cache")
        ignored = node.get("ignore") if isinstance(node, Map) else None
        reached = self._reached(plan, hints, inputs)
        for item in ignored.items if isinstance(ignored, Listing) else ():
            assert isinstance(item, Scalar)
            by = reached.get(str(item.value), [])
            if by:
                shown = ", ".join(by[:4]) + (f" and {len(by) - 4} more" if len(by) > 4 else "")
                self.report.add(
                    "E131",
                    item.place,
                    f"the cache ignores {item.value!r}, but it changes the answer",
                    f"used by: {shown}",
                )
        session = to_plain(self.root.get("record")) or {}
        for one in inputs.values():
            if one.name not in reached and one.name != session.get("session"):
                self.report.add("W307", one.place, f"input {one.name!r} is declared but changes nothing")

    def _reached(
        self, plan: tuple[Strategy, ...], hints: Hints | None, inputs: Mapping[str, Input]
    ) -> dict[str, list[str]]:
        reached: dict[str, list[str]] = {}

        def reach(name: str, what: str) -> None:
            listed = reached.setdefault(name, [])
            if what not in listed:
                listed.append(what)

        for what, value in self.uses:
            for path in expand(value.uses, self.definitions):
                if path[0] in {"args", "requested"}:
                    for name in [path[1]] if len(path) > 1 else inputs:
                        reach(name, what)
        for strategy in plan:
            if not strategy.operation:
                continue
            overridden = {name for name, _ in strategy.overrides}
            for provider, operation in self.around.offering(strategy.operation).items():
                for name in operation.arguments_used - overridden:
                    if name in inputs:
                        reach(name, f"operation {provider}.{operation.name}")
        for name in (*hints.filters, *hints.always) if hints else ():
            reach(name, "the hints")
        return reached


def _place(node: Node | None, otherwise: Place) -> Place:
    return node.place if node is not None else otherwise


def _fits(value: Any, kind: str) -> bool:
    if kind == "list":
        return isinstance(value, list)
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    wanted: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float)}
    return isinstance(value, wanted[kind])
