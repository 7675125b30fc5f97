"""The context of one run of a plan: what the expressions of a tool may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from specloom.language import Moment
from specloom.language.evaluate import evaluate
from specloom.model import Model, Row, Tool, stages_of
from specloom.plugins import split_owner

from ..arguments import Arguments
from .effects import Offer


class PerCapability:
    """A list of providers for each capability, worked out when a capability is first named: most never are."""

    __slots__ = ("_known", "_list")

    def __init__(self, list_: Callable[[str], list[str]]) -> None:
        self._list = list_
        self._known: dict[str, list[str]] = {}

    def get(self, name: str, /) -> list[str]:
        """The providers of a capability, as names."""
        if name not in self._known:
            self._known[name] = self._list(name)
        return self._known[name]


@dataclass(slots=True)
class PlanContext:
    """The bindings of a tool's expressions, by the names that specs use."""

    args: Mapping[str, Any]
    requested: Mapping[str, Any]
    """What was asked for where an argument was clamped."""
    config: Mapping[str, Any]
    caller: Mapping[str, str]
    """Whose call it is: `tenant` and `user`."""
    route: PerCapability
    """The providers that are asked, in their order."""
    providers: PerCapability
    """The providers that there are."""
    configured: PerCapability
    """The providers that have what they need."""
    now: float
    moment: Moment
    dropped: dict[str, int]
    """How many rows each labelled stage took out."""
    groups: dict[str, list[dict[str, Any]]]
    parts: dict[str, Any]
    values: dict[str, Any] = field(default_factory=dict)
    served_by: str | None = None
    served_operation: str | None = None
    not_applied: list[str] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    result: Any = None
    """The record of the procedure that ran."""

    def get(self, name: str, /) -> Any:
        """What an expression's name stands for; the compiler lets none through that is not there."""
        return getattr(self, name, None)


def plan_context(
    tool: Tool,
    model: Model,
    arguments: Arguments,
    config: Mapping[str, Any],
    offer: Offer,
    now: float,
    owner: str = "",
) -> PlanContext:
    """The context at the beginning of a run, with the tool's own values worked out."""
    stages = stages_of(tool.plan, tool.after)
    nothing: dict[str, Any] = {"rows": [], "fault": None, "provider": None, "asked": False, "meta": {}}
    unread: dict[str, Any] = {"rows": [], "status": None, "reason": None, "was": None, "asked": False}
    parts = [part for strategy in tool.plan for part in strategy.parts]
    context = PlanContext(
        args=arguments.given,
        requested=arguments.requested,
        config=config,
        caller=dict(zip(("tenant", "user"), split_owner(owner), strict=True)),
        route=PerCapability(lambda name: list(offer.orders.get(name, ()))),
        providers=PerCapability(lambda name: list(model.offering(name))),
        configured=PerCapability(lambda name: [one for one in model.offering(name) if one in offer.configured]),
        now=now,
        moment=Moment(now, ""),
        dropped={stage.label: 0 for stage in stages if stage.label and stage.kind != "group"},
        groups={stage.label: [] for stage in stages if stage.kind == "group"},
        parts={part.name: dict(unread if part.access else nothing) for part in parts},
    )
    for name, value in tool.values:
        context.values[name] = evaluate(value, context)
    return context
