"""Runs a tool's plan as a generator: it yields whom to ask what, and is given answers or faults."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specloom.core import Answer, Fault, all_failed
from specloom.language import Bindings, Layer, build, how_many, may_be_null, truthy
from specloom.language.evaluate import evaluate
from specloom.model import Access, AnswerKey, Field, Model, Pair, Part, Row, Strategy, Tool, Value, questions
from specloom.plugins import HOOKS, NOT_MEMBER, PROCEDURES, REASONS, find_refusal, is_member

from .arguments import Arguments
from .notices import LEFT_OUT, find_unheld, make_hints, none_configured, point_to_others, resolve
from .plan import Ask, AskAll, Offer, PlanContext, ProviderOutcome, Pursuit, Run, plan_context
from .response import interleave, map_row
from .stages import run_stages

if TYPE_CHECKING:
    from specloom.plugins import Collection, Context, Item


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


# --- Parts of a `collect` are asked side by side, each fails by itself, and all stands under their names --------------


ArgumentsOf = Callable[[str, str, tuple[Pair, ...]], dict[str, Any]]
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
    arguments: ArgumentsOf,
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
    arguments: ArgumentsOf,
    nobody: Nobody,
) -> Generator[Ask | AskAll | Run, Any, None]:
    asked = [_Open(part, _providers_of(part, context, model, offer)) for part in parts]
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


def _providers_of(part: Part, context: PlanContext, model: Model, offer: Offer) -> list[str]:
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


# --- Declared collections, each read or written only for an owner who has agreed to what is kept in it ----------------


def reach(access: Access, scope: Bindings) -> Run:
    """What reaches into a collection, with everything that is worked out before it is read or written."""
    given: dict[str, Any] = {
        "collection": access.collection,
        "space": evaluate(access.space, scope) if access.space else "",
        "key": _to_key(evaluate(access.key, scope)) if access.key else "",
    }
    if access.kind == "save":
        return Run("save", given | {"access": access, "scope": scope}, _save)
    where = {name: evaluate(value, scope) for name, value in access.where}
    given["where"] = {name: str(text) for name, text in where.items() if text is not None}
    given["about"] = evaluate(access.about, scope) if access.about else None
    given["take"] = how_many(access.take, scope) if access.take else None
    return Run("recall", given, _recall)


def _to_key(value: Any) -> str:
    return "\0".join(map(str, value)) if isinstance(value, list) else str(value)


async def _recall(context: Context, given: Mapping[str, Any]) -> Row:
    collection = context.state(given["collection"], space=given["space"])
    if refusal := await _find_refusal(context, collection, given["space"]):
        return refusal
    limit = collection.spec.max_items if given["take"] is None else given["take"]
    items: list[Item]
    if given["key"]:
        item = await collection.get(given["key"])
        items = [item] if item else []
    elif given["about"]:
        found = await collection.search(given["about"], where=given["where"], limit=limit)
        items = [one.item for one in found]
    else:
        items = await collection.items(where=given["where"], limit=limit)
    return {"status": "ok", "reason": None, "rows": [dict(item.value) for item in items]}


async def _save(context: Context, given: Mapping[str, Any]) -> Row:
    collection, access = context.state(given["collection"], space=given["space"]), given["access"]
    if refusal := await _find_refusal(context, collection, given["space"]):
        return {**refusal, "was": None}
    key = given["key"] or context.new_id()
    written: dict[str, Any] = {}

    def change(value: Any) -> Any:
        inside = Layer(given["scope"], key=key, was=value)
        written["was"] = value
        written["row"] = None if value is None and access.only_there else _make(access.value, inside)
        return written["row"]

    lasts = evaluate(access.lasts, given["scope"]) if access.lasts else None
    await collection.update(key, change, lasts=lasts)
    rows = [written["row"]] if written["row"] is not None else []
    return {"status": "ok", "reason": None, "rows": rows, "was": written["was"]}


def _make(pairs: tuple[Pair, ...], scope: Bindings) -> Row:
    made = {name: evaluate(value, scope) for name, value in pairs}
    return {name: value for name, value in made.items() if value is not None}


async def _find_refusal(context: Context, collection: Collection, space: str) -> Row | None:
    """Why nothing of the caller may be read or written there, as what the part holds; None when it may."""
    spec, owner = collection.spec, context.owner
    if spec.consent and (refusal := await find_refusal(context.state("consents"), owner, spec.consent)):
        return {"status": refusal, "reason": REASONS[refusal], "rows": []}
    if spec.scope == "shared" and not await is_member(context.state("members", space=space), owner):
        return {"status": "not_member", "reason": NOT_MEMBER, "rows": []}
    return None
