"""What a resource answers with, from what is known of its address, the engine and its source; nothing is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specloom.language import Moment
from specloom.language.evaluate import build, evaluate
from specloom.model import Resource

from .plan.run import answer_of


@dataclass(slots=True)
class ResourceContext:
    """The bindings of a resource's expressions, by the names that specs use."""

    args: Mapping[str, str]
    """What fills the holes of the address."""
    engine: Mapping[str, Any]
    """The tables of the engine that are looked into, by name."""
    now: float
    rows: list[dict[str, Any]] = field(default_factory=list)
    row: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def moment(self) -> Moment:
        """When it is read, as converters want it."""
        return Moment(self.now, "")

    def get(self, name: str, /) -> Any:
        """What an expression's name stands for; the compiler lets none through that is not there."""
        return getattr(self, name, None)


def parameters_of(resource: Resource, context: ResourceContext) -> dict[str, Any]:
    """What the procedure of a resource is given, for a source of that kind."""
    return build(resource.source.parameters, context)


def list_rows(resource: Resource, context: ResourceContext) -> list[dict[str, Any]]:
    """The rows of which one is meant, for a source of that kind."""
    rows = evaluate(resource.source.value, context) if resource.source.value is not None else None
    return rows or []


def answer_resource(resource: Resource, context: ResourceContext) -> dict[str, Any] | None:
    """The answer, or None where the row that is meant is not there; the context has what the source gives."""
    source = resource.source
    if source.kind == "one_of":
        wanted = context.args[source.name]
        context.row = next((row for row in list_rows(resource, context) if row.get(source.name) == wanted), None)
        if context.row is None:
            return None
    for name, value in resource.values:
        context.values[name] = evaluate(value, context)
    return answer_of(resource.answer, resource.whole, context)
