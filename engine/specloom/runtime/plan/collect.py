"""Runs a `collect`: parts are asked side by side, each fails by itself, and all of it stands under their names."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from specloom.core import Answer, Fault, all_failed
from specloom.language import truthy
from specloom.language.evaluate import evaluate
from specloom.model import Model, Pair, Part, Row, Strategy, Tool

from .access import reach
from .context import PlanContext
from .effects import Ask, AskAll, Offer, ProviderOutcome, Run
from .stages import run_stages

Arguments = Callable[[str, str, tuple[Pair, ...]], dict[str, Any]]
Nobody = Callable[[str], Fault]


@dataclass(slots=True)
class _Open:
    """A part that is being asked: whom it may still ask, and what it was told so far."""

    part: Part
    names: list[str]
    rows: list[Row] = field(default_factory=list)
    provider: str = ""
    fault: Fault | None = None
    failed: list[Fault] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)


def collect(
    strategy: Strategy,
    tool: Tool,
    model: Model,
    context: PlanContext,
    offer: Offer,
    outcome: ProviderOutcome,
    arguments: Arguments,
    nobody: Nobody,
) -> Generator[Ask | AskAll | Run, Any, list[Row]]:
    """Ask every part, those that wait for others after them; the rows of the parts whose rows go on.

    `arguments` gives what a provider is asked with, `nobody` the fault of a part for which nobody can be asked.
    """
    late = [(name, value) for name, value in tool.values if any(path[0] == "parts" for path in value.uses)]
    waiting = list(strategy.parts)
    while waiting:
        names = {part.name for part in waiting}
        ready = [part for part in waiting if not part.needs & names]
        due = [part for part in ready if part.when is None or truthy(evaluate(part.when, context))]
        for part in due:
            if part.access is not None:
                kept = yield reach(part.access, context)
                rows = yield from run_stages(part.after, model, kept["rows"], context, offer, outcome)
                context.parts[part.name] |= {**kept, "rows": rows, "asked": True}
        questions = [part for part in due if part.access is None]
        yield from _ask_side_by_side(questions, model, context, offer, outcome, arguments, nobody)
        waiting = [part for part in waiting if part not in ready]
        for name, value in late:
            context.values[name] = evaluate(value, context)
    answered = [part for part in strategy.parts if context.parts[part.name].get("provider")]
    first = next((part for part in answered if context.parts[part.name]["rows"]), answered[0] if answered else None)
    if first is not None:
        outcome.served_by, outcome.operation = context.parts[first.name]["provider"], first.operation
    return [row for name in strategy.rows for row in context.parts[name]["rows"]]


def _ask_side_by_side(
    parts: list[Part],
    model: Model,
    context: PlanContext,
    offer: Offer,
    outcome: ProviderOutcome,
    arguments: Arguments,
    nobody: Nobody,
) -> Generator[Ask | AskAll | Run, Any, None]:
    asked = [_Open(part, _names(part, context, model, offer)) for part in parts]
    for one in asked:
        one.fault = None if one.names else nobody(one.part.operation)
    going = [one for one in asked if one.names]
    while going:
        asks = [
            Ask(one.names[0], one.part.operation, arguments(one.names[0], one.part.operation, one.part.overrides))
            for one in going
        ]
        outcome.tried += [ask.provider for ask in asks]
        got: list[Answer | Fault] = yield AskAll(tuple(asks))
        going = [one for one, answer in zip(going, got, strict=True) if not _is_done(one, answer)]
    for one in asked:
        if one.fault is not None and one.part.required:
            raise one.fault
        if one.fault is not None:
            outcome.notes.append(one.fault.message)
        rows = yield from run_stages(one.part.after, model, one.rows, context, offer, outcome)
        context.parts[one.part.name] = {
            "rows": rows,
            "fault": {"kind": one.fault.kind, "message": one.fault.message} if one.fault else None,
            "provider": one.provider or None,
            "asked": True,
            "meta": one.meta,
        }


def _names(part: Part, context: PlanContext, model: Model, offer: Offer) -> list[str]:
    said = evaluate(part.providers, context) if part.providers else None
    names = said if isinstance(said, list) else [said] if said else []
    offering = model.offering(part.operation)
    return [name for name in dict.fromkeys(map(str, names)) if name in offering and name in offer.configured]


def _is_done(one: _Open, got: Answer | Fault) -> bool:
    """Take in what a provider said; whether the next one is not asked."""
    name = one.names.pop(0)
    if isinstance(got, Fault):
        # Nothing found by an earlier provider is an answer, which a later failure does not undo.
        one.failed.append(got)
        one.fault = None if one.provider else all_failed(one.failed)
        rule = one.part.outcomes.get(got.kind) or one.part.outcomes.get("error", "next")
    else:
        one.fault = None
        one.rows, one.meta = got.rows, dict(got.meta)
        one.provider = one.provider if one.provider and not got.rows else name
        rule = "stop" if got.rows else one.part.outcomes.get("empty", "stop")
    return rule == "stop" or not one.names
