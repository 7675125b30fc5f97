"""What a tool may name: providers, capabilities, lenses, collections and hooks, and words for what is not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from specloom.core import Report, did_you_mean
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
    may_be_null,
    maybe,
    strip,
)
from specloom.model import Capability, CollectionModel, Lens, Model, Operation, Pair, Provider, Uses, Value
from specloom.plugins import PROCEDURES, Hook, Procedure, load_hooks
from specloom.specs import Map, Node, YamlScalar

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

    def find_hook(self, node: Node | None, parameters: Node | None, report: Report) -> tuple[str, Hook | None]:
        """A hook and its name; one that is not there is reported, and so are parameters that it does not have."""
        return _find_registered("hook", self.hooks, node, parameters, report)

    def find_procedure(
        self, node: Node | None, parameters: Node | None, report: Report
    ) -> tuple[str, Procedure | None]:
        """A procedure and its name; one that is not there is reported, and so are parameters that it does not have."""
        return _find_registered("procedure", self.procedures, node, parameters, report)


def symbols_of(model: Model) -> Symbols:
    """What a further tool may name beside a model that was compiled without it."""
    hooks = load_hooks()
    return Symbols(model.providers, model.capabilities, model.lenses, hooks, PROCEDURES, model.collections)


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
    kinds = {_kind(strip(wanted)), _kind(got)}
    if len(kinds) < 2 or "" in kinds:
        return False
    report.add("E204", value.place, f"{what} is {describe(strip(wanted))}, and this is {describe(got)}")
    return True


def _kind(shape: Shape) -> str:
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
) -> tuple[str, Registered | None]:
    assert isinstance(node, YamlScalar)
    name = str(node.value)
    found = registered.get(name)
    if found is None:
        hint = did_you_mean(name, registered) or f"{what}s are registered by the packages that announce them"
        report.add("E110", node.place, f"no {what} is called {name!r}", hint)
        return name, None
    for entry in parameters if isinstance(parameters, Map) else ():
        if entry.key not in found.parameters:
            hint = did_you_mean(entry.key, found.parameters)
            report.add("E110", entry.place, f"{what} {name!r} has no parameter {entry.key!r}", hint)
    if isinstance(found, Procedure):
        for needed in found.needs:
            if not isinstance(parameters, Map) or needed not in parameters:
                hint = f"write `with: {{{needed}: …}}`; it takes {', '.join(found.parameters)}"
                report.add("E102", node.place, f"{what} {name!r} needs the parameter {needed!r}", hint)
    return name, found


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
