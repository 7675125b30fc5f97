"""What a tool may name: providers, capabilities, lenses, collections, hooks, and procedures with what these mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from specloom.core import Report, ViewTemplate, dataclass, did_you_mean
from specloom.language import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    TEXT,
    Choice,
    ListOf,
    RecordType,
    Shape,
    describe,
    from_schema,
    join_all,
    may_be_null,
    maybe,
    strip,
)
from specloom.model import (
    Capability,
    CollectionModel,
    LazyMapping,
    Lens,
    Model,
    Operation,
    Pair,
    Provider,
    Setting,
    Stage,
    Strategy,
    Uses,
    Value,
    make_setting,
)
from specloom.plugins import PROCEDURES, Hook, Procedure, load_hooks
from specloom.specs import Map, Node, YamlScalar, to_plain

from .values import Scope, compile_pairs, compile_text, compile_value, expand

Registered = TypeVar("Registered", Hook, Procedure)


@dataclass(frozen=True, slots=True)
class Symbols:
    """What a tool may name: the providers and capabilities that exist, lenses, hooks, and what these keep things in."""

    providers: Mapping[str, Provider]
    capabilities: Mapping[str, Capability]
    lenses: Mapping[str, Lens]
    hooks: Mapping[str, Hook]
    procedures: Mapping[str, Procedure]
    collections: Mapping[str, CollectionModel]
    views: Mapping[str, ViewTemplate]

    def offering(self, capability: str) -> dict[str, Operation]:
        """The operations that carry a capability's name, by provider."""
        return {
            provider.name: provider.operations[capability]
            for provider in self.providers.values()
            if capability in provider.operations
        }

    def find_capability(self, node: Node | None, report: Report) -> Capability | None:
        """The capability that a node names; one that is not there is reported."""
        assert isinstance(node, YamlScalar)
        name = str(node.value)
        if name not in self.capabilities and name not in report.left_out:
            hint = did_you_mean(name, self.capabilities)
            report.add("E110", node.place, f"no capability is called {name!r}", hint)
        return self.capabilities.get(name)

    def compile_hook(
        self, what: str, key: str, node: Map, scope: Scope, tracker: DependencyTracker
    ) -> tuple[Hook | None, tuple[Pair, ...]]:
        """The hook that stands under a key, with its parameters; one that is not there is reported, and so are
        parameters that it does not have."""
        parameters = tracker.pairs(what, node.get("with"), scope)
        return _find_registered("hook", self.hooks, node.get(key), node.get("with"), scope.report), parameters

    def compile_procedure(
        self, what: str, node: Map, scope: Scope, tracker: DependencyTracker
    ) -> tuple[Procedure | None, tuple[Pair, ...]]:
        """A procedure with its parameters; one that is not there is reported, and so is what it cannot be given."""
        parameters = tracker.pairs(what, node.get("with"), scope)
        found = _find_registered("procedure", self.procedures, node.get("name"), node.get("with"), scope.report)
        if found is not None:
            check_given(found, parameters, scope.report)
        return found, parameters


def symbols_of(model: Model) -> Symbols:
    """What a further tool may name beside a model that was compiled without it."""
    hooks = load_hooks()
    return Symbols(model.providers, model.capabilities, model.lenses, hooks, PROCEDURES, model.collections, model.views)


def check_given(procedure: Procedure, given: Iterable[tuple[str, Value]], report: Report) -> None:
    """Report what a procedure is given that its parameter can never be, and null where it needs a value (E204)."""
    for name, value in given:
        what = f"the parameter {name!r} of {procedure.name!r}"
        if (
            not check_kind(what, from_schema(procedure.parameters.get(name, {})), value, report)
            and name in procedure.needs
            and may_be_null(value.shape)
        ):
            report.add("E204", value.place, f"{what} is needed, and this may be null", NEVER_NULL)


NEVER_NULL = "make the input required, give it a default, or write not_null(…)"


def check_kind(what: str, wanted: Shape, value: Value, report: Report) -> bool:
    """Whether a value can never be what is wanted, which is then reported (E204)."""
    got = strip(value.shape)
    kinds = {kind_of(strip(wanted)), kind_of(got)}
    if len(kinds) < 2 or "" in kinds:
        return False
    report.add("E204", value.place, f"{what} is {describe(strip(wanted))}, and this is {describe(got)}")
    return True


def kind_of(shape: Shape) -> str:
    """What JSON calls a value of this shape; empty where it may be of several kinds."""
    if isinstance(shape, ListOf):
        return "array"
    if isinstance(shape, RecordType):
        return "object"
    if isinstance(shape, Choice) or shape == TEXT:
        return "string"
    return "number" if shape in (INTEGER, NUMBER) else "boolean" if shape == BOOLEAN else ""


def _find_registered(
    what: str, registered: Mapping[str, Registered], node: Node | None, parameters: Node | None, report: Report
) -> Registered | None:
    assert isinstance(node, YamlScalar)
    name = str(node.value)
    found = registered.get(name)
    if found is None:
        hint = did_you_mean(name, registered) or f"{what}s are registered by the packages that announce them"
        report.add("E110", node.place, f"no {what} is called {name!r}", hint)
        return None
    for entry in parameters if isinstance(parameters, Map) else ():
        if entry.key not in found.parameters:
            hint = did_you_mean(entry.key, found.parameters)
            report.add("E110", entry.place, f"{what} {name!r} has no parameter {entry.key!r}", hint)
    if isinstance(found, Procedure):
        for needed in found.needs:
            if not isinstance(parameters, Map) or needed not in parameters:
                hint = f"write `with: {{{needed}: …}}`; it takes {', '.join(found.parameters)}"
                report.add("E102", node.place, f"{what} {name!r} needs the parameter {needed!r}", hint)
    return found


def lens_table(lenses: Mapping[str, Lens]) -> Mapping[str, Any]:
    """The lenses as the built-in table `lenses`: domains, goggle and engine by name; read by who looks into it."""

    def row(name: str) -> dict[str, Any]:
        one = lenses[name]
        return {
            "name": one.name,
            "domains": list(one.domains) or None,
            "goggle": one.goggle or None,
            "engine": one.engine or None,
        }

    return LazyMapping(tuple(lenses), row)


# --- What the values of one operation or tool use, noted while they are compiled --------------------------------------


class DependencyTracker:
    """Compiles values and remembers what each of them uses, with what it is in words."""

    def __init__(self) -> None:
        self._found: list[tuple[str, Uses]] = []

    def note(self, what: str, uses: Uses) -> None:
        """Remember that this uses that."""
        self._found.append((what, uses))

    def text(self, what: str, key: str, node: Map, scope: Scope) -> Value | None:
        """The expression under a key of a mapping, if it is there."""
        found = node.get(key)
        return self.expression(what, found, scope) if found is not None else None

    def expression(self, what: str, node: Node, scope: Scope) -> Value | None:
        """The value of a key that always holds an expression."""
        value = compile_text(node, scope)
        if value:
            self.note(what, value.uses)
        return value

    def value(self, what: str, node: Node, scope: Scope) -> Value | None:
        """A request value: constant text, an expression after `=`, or a tree of both."""
        value = compile_value(node, scope)
        if value:
            self.note(what, value.uses)
        return value

    def pairs(self, what: str, node: Node | None, scope: Scope) -> tuple[Pair, ...]:
        """The keys of a mapping with their request values."""
        pairs = compile_pairs(node, scope)
        for _, value in pairs:
            self.note(what, value.uses)
        return pairs

    def absorb(self, other: DependencyTracker) -> Uses:
        """Remember all that another one noted; what that uses."""
        self._found += other._found
        return frozenset(path for _, uses in other._found for path in uses)

    def paths(self, definitions: Mapping[str, Value]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What uses which path, once every values.NAME is replaced by what its definition uses."""
        for what, uses in self._found:
            for path in expand(uses, definitions):
                yield what, path


# --- What a spec says over what goes without saying: arguments of a `with`, and the fields that hooks add to rows -----


def overrides_of(
    what: str, node: Node | None, capability: Capability, scope: Scope, tracker: DependencyTracker
) -> tuple[Pair, ...]:
    """The arguments of a `with`; one that the capability does not have is reported."""
    for entry in node if isinstance(node, Map) else ():
        if entry.key not in capability.arguments:
            hint = did_you_mean(entry.key, capability.arguments)
            message = f"capability {capability.name!r} has no argument {entry.key!r}"
            scope.report.add("E110", entry.place, message, hint)
    return tracker.pairs(what, node, scope)


def added_by(hook: str, around: Symbols) -> dict[str, Shape]:
    """The fields that a hook adds to a row, or that the rows it makes have."""
    return {name: maybe(from_schema(dict(said))) for name, said in around.hooks[hook].adds.items()}


# --- What procedures mean to the tool that runs them: their record, whom they ask, what they keep and their settings --


def procedures_of(plan: Iterable[Strategy], after: Iterable[Stage], around: Symbols) -> tuple[Procedure, ...]:
    """The procedures that a tool runs, and those that they run in turn, each once."""
    named = [one.hook for one in plan if one.kind == "procedure"]
    named += [one.hook for one in after if one.kind == "procedure"]
    return tuple(_with_those_they_run(named, around))


def _with_those_they_run(names: Iterable[str], around: Symbols) -> list[Procedure]:
    found: dict[str, Procedure] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name in around.procedures and name not in found:
            found[name] = around.procedures[name]
            waiting += found[name].runs
            if found[name].reads_sources:
                waiting += [one.name for one in around.procedures.values() if one.reads]
    return list(found.values())


def result_shape(plan: Iterable[Strategy], after: Iterable[Stage], around: Symbols) -> Shape:
    """The record that is called `result`: that of the strategies, with what procedures among the stages add to it.

    It may be null where a strategy that is no procedure may have answered.
    """
    strategies, stages = list(plan), [one for one in after if one.kind == "procedure"]
    running = [one for one in strategies if one.kind == "procedure"]
    shape = join_all(record_of(around.procedures[one.hook]) for one in running)
    certain = len(running) == len(strategies) or not running
    for stage in stages:
        added = record_of(around.procedures[stage.hook])
        if isinstance(shape, RecordType) and isinstance(added, RecordType):
            certain_fields = (shape.required if certain else frozenset()) | added.required
            shape = RecordType({**shape.fields, **added.fields}, required=certain_fields)
        else:
            shape = added
        certain = True
    return shape if certain else maybe(shape)


def record_of(procedure: Procedure) -> Shape:
    """What a procedure gives, with no other keys than it declares."""
    return from_schema({**procedure.gives, "additionalProperties": False})


def settings_of_procedures(root: Map, own: Mapping[str, Setting], around: Symbols) -> dict[str, Setting]:
    """The settings that the procedures of a tool declare; what the tool declares itself under a name is left alone."""
    found: dict[str, Setting] = {}
    for name, node in _named(root):
        for procedure in _with_those_they_run([name], around):
            for setting, said in procedure.settings.items():
                if setting not in own:
                    found[setting] = make_setting(setting, said, node.place)
    return found


def check_kept(root: Map, around: Symbols, report: Report) -> None:
    """The collections in which a tool's procedures keep something have to be declared (E110)."""
    for name, node in _named(root):
        for procedure in _with_those_they_run([name], around):
            for needed in procedure.keeps:
                if needed.name not in around.collections:
                    message = f"{procedure.name!r} keeps something in {needed.name!r}, and no collection is called that"
                    report.add("E110", node.place, message, did_you_mean(needed.name, around.collections))


def check_cached(node: Node | None, procedures: Iterable[Procedure], personal: Iterable[str], report: Report) -> None:
    """What is kept of one owner may not get into answers that are kept for all of them (E133)."""
    if node is None:
        return
    reading = [f"{one.name!r} reads {one.keeps[0].name!r} of its caller" for one in procedures if one.keeps]
    for said in (*reading, *personal):
        message = f"{said}, and this would keep what it tells for others"
        report.add("E133", node.place, message, "leave `cache` out")


def _named(root: Map) -> list[tuple[str, Node]]:
    """The procedures that a tool file names, with where."""
    found: list[tuple[str, Node]] = []
    for key in ("plan", "after"):
        listed = root.get(key)
        for item in getattr(listed, "items", ()):
            inner = item.get("procedure") if isinstance(item, Map) else None
            if isinstance(inner, Map):
                found.append((str(to_plain(inner.get("name"))), inner))
    return found
