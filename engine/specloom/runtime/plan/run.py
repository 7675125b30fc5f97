"""Runs a tool's plan as a generator: it yields whom to ask what, and is given answers or faults."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any

from specloom.core import Answer, Fault, all_failed
from specloom.language import Bindings, Layer, build, how_many, may_be_null, truthy
from specloom.language.evaluate import evaluate
from specloom.model import AnswerKey, Field, Model, Pair, Row, Strategy, Tool, Value, questions
from specloom.plugins import HOOKS, PROCEDURES

from ..arguments import Arguments
from ..operation.rows import interleave, map_row
from .collect import collect
from .context import PlanContext, plan_context
from .effects import Ask, AskAll, Offer, ProviderOutcome, Run
from .notices import LEFT_OUT, find_unheld, make_hints, none_configured, point_to_others, resolve
from .stages import run_stages

Pursuit = Generator[Ask | AskAll | Run, Any, ProviderOutcome]


def pursue(
    tool: Tool,
    model: Model,
    arguments: Arguments,
    config: Mapping[str, Any],
    offer: Offer,
    now: float,
    owner: str = "",
) -> Pursuit:
    """Run the plan: strategies in order until one answers, then the stages, then the answer."""
    context = plan_context(tool, model, arguments, config, offer, now, owner)
    outcome = ProviderOutcome()
    rows = yield from _strategies(tool, model, context, offer, outcome)
    context.served_by = outcome.served_by or None
    context.served_operation = outcome.operation or None
    context.not_applied = find_unheld(tool, model, arguments, context, outcome)
    outcome.meta.pop(LEFT_OUT, None)
    context.meta = outcome.meta
    outcome.rows = yield from run_stages(tool.after, model, rows, context, offer, outcome)
    context.rows = outcome.rows
    outcome.answer = answer_of(tool.answer, tool.whole, context)
    searched = any(questions(tool.plan))
    if tool.hints is not None and not outcome.rows and (searched or not context.result):
        outcome.answer["hints"] = make_hints(tool, arguments, context, offer, outcome)
    if tool.cache is not None and tool.cache.age_as:
        outcome.answer[tool.cache.age_as] = 0
    if tool.cache is not None and tool.cache.unless is not None:
        outcome.keep = not truthy(evaluate(tool.cache.unless, context))
    return outcome


def _strategies(
    tool: Tool, model: Model, context: PlanContext, offer: Offer, outcome: ProviderOutcome
) -> Generator[Ask | AskAll | Run, Any, list[Row]]:
    failed = outcome.failed
    empty_from = of = ""
    applied = False
    for strategy in tool.plan:
        if strategy.when is not None and not truthy(evaluate(strategy.when, context)):
            continue
        applied = True
        if strategy.kind == "hook":
            return HOOKS[strategy.hook].function([], build(strategy.overrides, context))
        if strategy.kind == "procedure":
            try:
                given, function = build(strategy.overrides, context), PROCEDURES[strategy.hook].function
                context.result = yield Run(strategy.hook, given, function)
            except Fault as fault:
                failed.append(fault)
                if (strategy.outcomes.get(fault.kind) or strategy.outcomes.get("error", "next")) == "stop":
                    raise
                continue
            return []
        run = {"gather": _gather, "collect": _collect}.get(strategy.kind, _in_turn)
        rows, goes_on = yield from run(strategy, tool, model, context, offer, outcome, failed)
        if rows is None:
            continue
        if rows or not goes_on:
            return rows
        empty_from, of = (empty_from, of) if empty_from else (outcome.served_by, outcome.operation)
    if empty_from:
        outcome.served_by, outcome.operation = empty_from, of
        return []
    if failed:
        raise point_to_others(all_failed(failed), tool, offer, outcome)
    if applied:
        wanted = dict.fromkeys(one.operation for one in questions(tool.plan))
        raise none_configured(tool, model, offer, tuple(wanted))
    raise Fault("internal", f"no strategy of {tool.name} applies to these arguments")


Ran = Generator[Ask | AskAll | Run, Any, tuple[list[Row] | None, bool]]


def _in_turn(
    strategy: Strategy,
    tool: Tool,
    model: Model,
    context: PlanContext,
    offer: Offer,
    outcome: ProviderOutcome,
    failed: list[Fault],
) -> Ran:
    """`call` and `first_of`, one after the other: rows or None, and whether the next strategy may try after none."""
    empty_rule = strategy.outcomes.get("empty", "stop")
    empty_from = ""
    first_failure: Fault | None = None
    names = _names(strategy, context)
    for name in names:
        resolve(name, strategy.operation, tool, model, offer)
        if strategy.kind == "call":
            outcome.explicit = True
        arguments = _arguments(tool, model, name, strategy.operation, strategy.overrides, context)
        outcome.tried.append(name)
        try:
            answer: Answer = yield Ask(name, strategy.operation, arguments)
        except Fault as fault:
            failed.append(fault)
            if strategy.first_decides and name == names[0]:
                first_failure = fault
            outcome.fallback_reason = "circuit_open" if fault.kind == "circuit_open" else "primary_unavailable"
            rule = strategy.outcomes.get(fault.kind) or strategy.outcomes.get("error", "next")
            if rule == "stop":
                break
            continue
        rows = answer.rows
        if strategy.again is not None and truthy(evaluate(strategy.again.when, Layer(context, rows=rows))):
            rows = yield from _try_again(strategy, tool, model, name, context, rows)
        outcome.served_by, outcome.operation = name, strategy.operation
        outcome.meta = dict(answer.meta)
        if rows:
            return rows, False
        if empty_rule == "stop" and first_failure is None:
            return [], False
        empty_from = empty_from or name
    if empty_from and first_failure is not None:
        raise first_failure
    if empty_from:
        outcome.served_by = empty_from
        return [], True
    return None, True


def _try_again(
    strategy: Strategy, tool: Tool, model: Model, name: str, context: PlanContext, rows: list[Row]
) -> Generator[Ask | AskAll, Any, list[Row]]:
    again = strategy.again
    assert again is not None
    overrides = (*strategy.overrides, *again.overrides)
    arguments = _arguments(tool, model, name, strategy.operation, overrides, Layer(context, rows=rows))
    if arguments == _arguments(tool, model, name, strategy.operation, strategy.overrides, context):
        return rows
    try:
        answer: Answer = yield Ask(name, strategy.operation, arguments, again=True)
    except Fault:
        return rows
    return answer.rows if len(answer.rows) > len(rows) else rows


def _gather(
    strategy: Strategy,
    tool: Tool,
    model: Model,
    context: PlanContext,
    offer: Offer,
    outcome: ProviderOutcome,
    failed: list[Fault],
) -> Ran:
    """All at once; rows are interleaved in the order of the providers, and a fault of one hides no rows of others."""
    asks = []
    for name in _names(strategy, context):
        resolve(name, strategy.operation, tool, model, offer)
        arguments = _arguments(tool, model, name, strategy.operation, strategy.overrides, context)
        asks.append(Ask(name, strategy.operation, arguments))
        outcome.tried.append(name)
    got: list[Answer | Fault] = (yield AskAll(tuple(asks))) if asks else []
    answers = [(ask.provider, one) for ask, one in zip(asks, got, strict=True) if isinstance(one, Answer)]
    faults = [one for one in got if isinstance(one, Fault)]
    failed.extend(faults)
    outcome.notes.extend(fault.message for fault in faults)
    if not answers:
        return None, True
    outcome.served_by = next((name for name, answer in answers if answer.rows), answers[0][0])
    outcome.operation = strategy.operation
    for _, answer in reversed(answers):
        outcome.meta |= answer.meta
    rows = interleave([answer.rows for _, answer in answers])
    return rows, strategy.outcomes.get("empty", "stop") == "next"


def _collect(
    strategy: Strategy,
    tool: Tool,
    model: Model,
    context: PlanContext,
    offer: Offer,
    outcome: ProviderOutcome,
    _: list[Fault],
) -> Ran:
    """Several questions side by side. A part that fails leaves its fault to the spec, so none ends the plan."""

    def arguments(name: str, operation: str, overrides: tuple[Pair, ...]) -> dict[str, Any]:
        return _arguments(tool, model, name, operation, overrides, context)

    def nobody(operation: str) -> Fault:
        return none_configured(tool, model, offer, (operation,))

    rows = yield from collect(strategy, tool, model, context, offer, outcome, arguments, nobody)
    return rows, strategy.outcomes.get("empty", "stop") == "next"


def _names(strategy: Strategy, context: PlanContext) -> list[str]:
    said = evaluate(strategy.providers, context) if strategy.providers else None
    names = said if isinstance(said, list) else [said] if said else []
    return list(dict.fromkeys(str(name) for name in names))


def _arguments(
    tool: Tool, model: Model, provider: str, operation: str, overrides: tuple[Pair, ...], context: Bindings
) -> dict[str, Any]:
    """Arguments pass by name; `with` replaces them, and null there leaves one out."""
    taken = model.providers[provider].operations[operation].input
    passed = context.get("args")
    given = {name: passed[name] for name in tool.inputs if name in passed}
    for name, value in overrides:
        given[name] = evaluate(value, context)
    return {name: given[name] for name in taken if given.get(name) is not None}


# --- the answer -----------------------------------------------------------------------------------------------------


def answer_of(keys: Iterable[AnswerKey], returned: Value | None, context: Bindings) -> dict[str, Any]:
    """The answer that is put together from keys, without those that are null; or the record that is the whole of it."""
    if returned is not None:
        return dict(evaluate(returned, context))
    answer: dict[str, Any] = {}
    for key in keys:
        value = evaluate(key.value, context)
        if key.fields is not None and value is None and may_be_null(key.value.shape):
            continue
        if key.fields is not None:
            answer[key.name] = [
                _mapped(key.fields, row, context) for row in (value or [])[: how_many(key.take, context)]
            ]
        elif value is not None:
            answer[key.name] = value
    return answer


def _mapped(fields: tuple[Field, ...], row: Row, context: Bindings) -> Row:
    mapped = map_row(fields, row, context)
    return mapped if mapped is not None else {}
