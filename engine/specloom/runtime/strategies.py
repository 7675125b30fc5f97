"""Runs a tool's plan as a generator: it yields whom to ask what, and is given answers or faults."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any

from specloom.core import KINDS, Answer, Fault, PagePosition, all_failed, dataclass, field, replace
from specloom.language import MISSING, Bindings, Layer, build, evaluate, how_many, truthy
from specloom.model import HINTS, Access, Again, AnswerKey, Model, Pair, Part, Row, Strategy, Tool, Value, questions
from specloom.plugins import HOOKS, NOT_MEMBER, PROCEDURES, REASONS, Collection, Context, Item, find_refusal, is_member

from .arguments import Arguments
from .cursor import (
    asked_again,
    find_begin,
    find_more,
    find_next,
    note_end,
    paged_operation,
    take_up,
    tell_lacking,
    tell_unresumed,
    write_cursors,
)
from .degradation import note_degradation, say_not_asked, say_parts, say_wider, tell_failures
from .filters import FILTERED, ablest_of, judge, note_filtered, rank_by_filters, tell_filtered
from .notices import LEFT_OUT, find_unheld, make_hints, none_configured, point_to_others, resolve, tell_all
from .plan import (
    NOT_ASKED,
    NOT_SENT,
    Ask,
    AskAll,
    Offer,
    PlanRun,
    ProviderAttempt,
    ProviderOutcome,
    Pursuit,
    Run,
    Shortfall,
    plan_context,
)
from .response import interleave, map_row
from .stages import able_providers, name_providers, run_stages

UNAVAILABLE, NO_RESULTS = "primary_unavailable", "no_results"
"""Why somebody else was asked; the words of `_meta.routing`."""


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
    arguments, cursor = take_up(tool, model, arguments)
    context = plan_context(tool, model, arguments, config, offer, now, owner)
    outcome = ProviderOutcome()
    run = PlanRun(tool, model, offer, context, outcome, cursor)
    rows = yield from _strategies(run)
    rest = tool.after[tool.filters :] if outcome.is_filtered else tool.after
    if not rows:
        tell_filtered(run)
    _note_passed_over(outcome, rows)
    context.served_by = outcome.served_by or None
    context.served_operation = outcome.operation or None
    context.not_applied = find_unheld(tool, model, arguments, context, outcome)
    outcome.meta.pop(LEFT_OUT, None)
    context.failures = tell_failures(outcome, model)
    context.meta = outcome.meta
    if tool.cursor is None:
        context.rows = outcome.rows = yield from run_stages(rest, rows, run)
    else:
        context.rows = outcome.rows = yield from _tell_part(rows, run, arguments)
    outcome.answer = answer_of(tool.answer, tool.whole, context)
    searched = any(questions(tool.plan))
    if tool.hints is not None and not outcome.rows and (searched or not context.result):
        outcome.answer[HINTS] = make_hints(tool, model, arguments, context, offer, outcome)
    if tool.cache is not None and tool.cache.age_as:
        outcome.answer[tool.cache.age_as] = 0
    if tool.cache is not None and tool.cache.unless is not None:
        outcome.keep = not truthy(evaluate(tool.cache.unless, context))
    _note_cuts(tool, context, outcome)
    note_degradation(tool, model, context, outcome)
    return outcome


MOST_ROUNDS = 3
"""How often a call goes on by itself where nothing of what came is left after the stages."""


def _tell_part(rows: list[Row], run: PlanRun, arguments: Arguments) -> Generator[Ask | AskAll | Run, Any, list[Row]]:
    """The rows of this part of an answer, and where the next part begins.

    A part is what is cut out behind all stages of what one round of questions gave, so that it does not matter what
    these left out or how they sorted.
    """
    tool, context, outcome = run.tool, run.context, run.outcome
    assert tool.cursor is not None
    at = tool.cursor.take
    stages = tool.after if at is None else tool.after[:at]
    for turn in range(1, MOST_ROUNDS + 1):
        offset = run.cursor.offset if run.cursor is not None else 0
        begin = tool.filters if outcome.is_filtered else 0
        rows = yield from run_stages(stages[begin:], rows, run)
        total = len(rows)
        if at is not None:
            stage, inside = tool.after[at], Layer(context, rows=rows)
            is_due = stage.when is None or truthy(evaluate(stage.when, inside))
            most = how_many(stage.value, inside) if is_due else None
            rows = rows[offset:] if most is None else rows[offset : offset + most]
        given = offset + len(rows)
        outcome.cursor = find_next(run, given if given < total else 0, arguments.given)
        # Who goes on wants rows; a first part without any is an empty answer, with its advice. Those of a procedure are
        # in its record.
        is_record = tool.plan[outcome.strategy].kind == "procedure"
        if rows or is_record or outcome.cursor is None or run.cursor is None or turn == MOST_ROUNDS:
            break
        run = replace(run, cursor=outcome.cursor)
        outcome.pages, outcome.waiting, outcome.is_filtered = [], {}, False
        rows = yield from _strategies(run)
    ends = find_begin(run, arguments.given), outcome.cursor
    outcome.begin, following = write_cursors(tool, arguments.given, ends)
    context.next_cursor = following or None
    context.more_exists = find_more(outcome)
    note_end(run, arguments, len(rows))
    return rows if at is None else (yield from run_stages(tool.after[at + 1 :], rows, run))


def _note_cuts(tool: Tool, context: Bindings, outcome: ProviderOutcome) -> None:
    """Note of each list that its spec cuts how much there is."""
    for key in tool.answer:
        if key.take is not None and key.fields is not None:
            shown, total = len(outcome.answer.get(key.name) or ()), len(evaluate(key.value, context) or ())
            if total > shown:
                outcome.notices.append(f"{key.name} has the first {shown:,} of {total:,}.")


def _note_passed_over(outcome: ProviderOutcome, rows: list[Row]) -> None:
    """Note who was passed over because of a failure, and who answered in their place."""
    failed = tuple(outcome.passed_over)
    if not failed:
        return
    instead = outcome.served_by if rows else ""
    # Who stood in for itself did so with something else.
    capability = outcome.operation if any(fault.provider == instead for fault in failed) else ""
    outcome.shortfalls.insert(0, Shortfall(failed, capability, instead, is_main=True))


def _strategies(run: PlanRun) -> Generator[Ask | AskAll | Run, Any, list[Row]]:
    tool, context, outcome = run.tool, run.context, run.outcome
    empty_from = of = ""
    applied, paged = False, 0
    for at, strategy in enumerate(tool.plan):
        if run.cursor is not None and at != run.cursor.strategy:
            continue
        if strategy.when is not None and not truthy(evaluate(strategy.when, context)):
            continue
        applied = True
        outcome.strategy = at
        if strategy.kind == "hook":
            return HOOKS[strategy.hook].function([], build(strategy.overrides, context))
        if strategy.kind == "procedure":
            try:
                given, function = build(strategy.overrides, context), PROCEDURES[strategy.hook].function
                can_resume = run.tool.cursor is not None and bool(paged_operation(strategy))
                running = Run(strategy.hook, given, function, can_resume=can_resume, cursor=run.cursor)
                context.result = yield running
                outcome.take_in(running)
            except Fault as fault:
                outcome.failed.append(fault)
                outcome.passed_over.append(fault)
                if _rule(strategy.outcomes, fault) == "stop":
                    raise
                continue
            return []
        ask = {"gather": _gather, "collect": _collect}.get(strategy.kind, _in_turn)
        pages = outcome.pages
        rows, goes_on = yield from ask(strategy, run)
        # Who asked nobody any more has not given the pages that are there.
        paged = at if outcome.pages is not pages else paged
        outcome.strategy = paged if outcome.pages else at
        if rows is None:
            continue
        if rows and not outcome.is_filtered and goes_on:
            rows = yield from judge(run, rows)
        if rows or not goes_on:
            return rows
        empty_from, of = (empty_from, of) if empty_from else (outcome.served_by, outcome.operation)
    if empty_from:
        outcome.served_by, outcome.operation = empty_from, of
        return []
    if run.cursor is not None:
        raise tell_unresumed(run)
    if outcome.failed:
        raise point_to_others(tell_all(outcome.failed), tool, run.model, run.offer, outcome, context)
    if applied:
        wanted = dict.fromkeys(one.operation for one in questions(tool.plan))
        raise none_configured(tool, run.model, run.offer, tuple(wanted))
    raise Fault("internal", f"no strategy of {tool.name} applies to these arguments")


def _rule(outcomes: Mapping[str, str], fault: Fault) -> str:
    """What a fault leads to: `next` or `stop`."""
    return outcomes.get(fault.kind) or outcomes.get("error", "next")


Ran = Generator[Ask | AskAll | Run, Any, tuple[list[Row] | None, bool]]


@dataclass(slots=True)
class _Turns:
    """What is known of those who were asked one after the other and had no rows."""

    empty_from: str = ""
    """Who was the first to have none."""
    empty_meta: dict[str, Any] = field(default_factory=dict)
    silent: str = ""
    """Who was the first with nothing to ask for."""
    filtered: dict[str, int] = field(default_factory=dict)
    """How many rows they had of which none passed the filters."""
    first_failure: Fault | None = None
    """How the first one failed, where that decides."""


def _in_turn(strategy: Strategy, run: PlanRun) -> Ran:
    """`call` and `first_of`, one after the other: rows or None, and whether the next strategy may try after none."""
    outcome, turns = run.outcome, _Turns()
    is_end = strategy.outcomes.get("empty", "stop") == "stop"
    names = _route(strategy, run)
    overrides, context, position = _begin(strategy, run)
    for name in names:
        resolve(name, strategy.operation, run.tool, run.model, run.offer)
        outcome.explicit = outcome.explicit or strategy.kind == "call"
        arguments = _arguments(run, name, strategy.operation, overrides, context)
        ask = Ask(name, strategy.operation, arguments, outcome.is_again, position, run.cursor is not None)
        try:
            answer: Answer = yield ask
        except Fault as fault:
            _pass_over(ask, fault, outcome)
            if strategy.first_decides and name == names[0]:
                turns.first_failure = fault
            if _rule(strategy.outcomes, fault) == "stop":
                break
            continue
        if not answer.asked:
            outcome.attempts.append(ProviderAttempt(name, NOT_ASKED))
            turns.silent = turns.silent or name
            continue
        answer = yield from _widen(strategy, run, name, answer)
        rows = yield from _take_rows(strategy, run, ask, answer)
        if rows or (is_end and turns.first_failure is None):
            note_filtered(run, turns.filtered if rows else {})
            outcome.notices += say_parts(name, answer, run.model)
            return rows, False
        outcome.fallback_reason = "filtered_out" if answer.rows else NO_RESULTS
        if answer.rows:
            turns.filtered[name] = len(answer.rows)
        if not turns.empty_from:
            turns.empty_from, turns.empty_meta = name, outcome.meta
    return _end_without_rows(strategy, run, names, turns)


def _route(strategy: Strategy, run: PlanRun) -> list[str]:
    """Who is asked, in order; where an answer is gone on with, nobody but those who gave it."""
    names = name_providers(strategy.providers, run.context)
    if strategy.able_first:
        names = rank_by_filters(names, strategy, run)
    if strategy.kind == "first_of":
        names = [name for name in names if (name, strategy.operation) not in run.outcome.gathered]
    return names if run.cursor is None else asked_again(run.cursor, names)


def _begin(strategy: Strategy, run: PlanRun) -> tuple[tuple[Pair, ...], Bindings, PagePosition | None]:
    """With what is asked and from which page on: of a second try, where that gave what is gone on with."""
    cursor = run.cursor
    if cursor is None:
        return strategy.overrides, run.context, PagePosition() if run.tool.cursor is not None else None
    position = cursor.positions[0][1]
    if not cursor.is_again or strategy.again is None:
        return strategy.overrides, run.context, position
    run.outcome.is_again = True
    return (*strategy.overrides, *strategy.again.overrides), Layer(run.context, rows=[]), position


def _pass_over(ask: Ask, fault: Fault, outcome: ProviderOutcome) -> None:
    """Note who failed, and that the next one is asked because of that."""
    outcome.note(ask, fault)
    outcome.failed.append(fault)
    outcome.passed_over.append(fault)
    outcome.fallback_reason = fault.kind if fault.kind in NOT_SENT else UNAVAILABLE


def _take_rows(
    strategy: Strategy, run: PlanRun, ask: Ask, answer: Answer
) -> Generator[Ask | AskAll | Run, Any, list[Row]]:
    """The rows of whoever has answered; where the next one may have others, those that pass the filters."""
    outcome, name = run.outcome, ask.provider
    if ask.position is not None:
        outcome.pages, outcome.waiting = [(name, ask.position, answer)], {}
    outcome.served_by, outcome.operation, outcome.meta = name, strategy.operation, dict(answer.meta)
    rows = _witness(name, answer.rows) if run.tool.names_providers else answer.rows
    if rows and strategy.outcomes.get("empty", "stop") == "next":
        rows = yield from judge(run, rows)
    outcome.attempts.append(ProviderAttempt(name, "rows" if rows else FILTERED if answer.rows else "empty"))
    return rows


def _end_without_rows(
    strategy: Strategy, run: PlanRun, names: list[str], turns: _Turns
) -> tuple[list[Row] | None, bool]:
    """What it comes to where nobody had rows: an empty answer, the fault that decides, or nothing."""
    outcome = run.outcome
    if not outcome.failed and not turns.empty_from and turns.silent:
        # Who had nothing to ask for is no answer beside others that failed.
        outcome.notices.append(say_not_asked(names, run.model))
        turns.empty_from = turns.silent
    if not turns.empty_from:
        return None, True
    if turns.first_failure is not None:
        raise turns.first_failure
    outcome.served_by, outcome.operation, outcome.meta = turns.empty_from, strategy.operation, turns.empty_meta
    return [], strategy.outcomes.get("empty", "stop") == "next"


def _widen(strategy: Strategy, run: PlanRun, name: str, answer: Answer) -> Generator[Ask | AskAll, Any, Answer]:
    """The answer to a second try with the same provider, where the spec wants one and it finds more; else the first."""
    # Filler words are of the question, so one index that finds no more without them speaks for the others.
    is_first = all(one.result in NOT_SENT for one in run.outcome.attempts)
    run.outcome.tried.append(name)
    again = strategy.again if is_first and run.cursor is None else None
    if again is None or not truthy(evaluate(again.when, Layer(run.context, rows=answer.rows))):
        return answer
    return (yield from _try_again(strategy, again, run, name, answer))


def _try_again(
    strategy: Strategy, again: Again, run: PlanRun, name: str, first: Answer
) -> Generator[Ask | AskAll, Any, Answer]:
    rows = first.rows
    overrides = (*strategy.overrides, *again.overrides)
    arguments = _arguments(run, name, strategy.operation, overrides, Layer(run.context, rows=rows))
    before = _arguments(run, name, strategy.operation, strategy.overrides, run.context)
    if arguments == before:
        return first
    try:
        position = PagePosition() if run.tool.cursor is not None else None
        answer: Answer = yield Ask(name, strategy.operation, arguments, True, position)
    except Fault:
        return first
    if len(answer.rows) <= len(rows):
        return first
    run.outcome.notices.append(say_wider(len(rows), before, arguments))
    run.outcome.is_again = True
    # What is told of an answer is what the first one said; its rows and their pages are those of the second.
    return replace(first, rows=answer.rows, following=answer.following, has_more=answer.has_more, keep=answer.keep)


def _gather(strategy: Strategy, run: PlanRun) -> Ran:
    """All at once; rows are interleaved in the order of the providers, and a fault of one hides no rows of others."""
    outcome = run.outcome
    asks = []
    names = name_providers(strategy.providers, run.context)
    positions: dict[str, PagePosition] = {}
    is_next = strategy.outcomes.get("empty", "stop") == "next"
    if run.cursor is None and strategy.able_first:
        names = ablest_of(names, strategy, run)
    if run.cursor is None and strategy.at_most is not None:
        names = _of_different_indexes(names, how_many(strategy.at_most, run.context), run)
    if run.cursor is not None:
        names, positions = asked_again(run.cursor, names), dict(run.cursor.positions)
    for name in names:
        resolve(name, strategy.operation, run.tool, run.model, run.offer)
        arguments = _arguments(run, name, strategy.operation, strategy.overrides, run.context)
        position = positions.get(name, PagePosition()) if run.tool.cursor is not None else None
        asks.append(Ask(name, strategy.operation, arguments, False, position, run.cursor is not None))
    got: list[Answer | Fault] = (yield AskAll(tuple(asks), wait=strategy.wait)) if asks else []
    for ask, one in zip(asks, got, strict=True):
        outcome.note(ask, one)
        outcome.gathered.add((ask.provider, ask.operation))
    answers = [(ask.provider, one) for ask, one in zip(asks, got, strict=True) if isinstance(one, Answer)]
    failing = [(ask, one) for ask, one in zip(asks, got, strict=True) if isinstance(one, Fault)]
    faults = [one for _, one in failing]
    if run.cursor is not None and run.cursor.offset and faults:
        # Without them the rows stand in another order, and what was told of these is not what the cursor counts.
        raise tell_lacking(faults[0], [ask.provider for ask, _ in failing])
    if faults and not any(one.asked or one.rows for _, one in answers):
        answers = []
    outcome.failed.extend(faults)
    outcome.notes.extend(fault.message for fault in faults)
    outcome.partial = outcome.partial or any(KINDS[fault.kind].retryable for fault in faults)
    if not answers:
        outcome.passed_over.extend(faults)
        return None, True
    if run.tool.cursor is not None:
        outcome.waiting = _find_waiting(run, failing)
    if faults and (run.cursor is not None or any(one.rows for _, one in answers)):
        outcome.shortfalls += _missing_beside(run, failing)
    else:
        outcome.passed_over.extend(faults)
    outcome.served_by = next((name for name, answer in answers if answer.rows), answers[0][0])
    outcome.operation = strategy.operation
    if run.tool.cursor is not None:
        at = {ask.provider: ask.position or PagePosition() for ask in asks}
        outcome.pages = [(name, at[name], answer) for name, answer in answers]
    outcome.notices += [sentence for name, answer in answers for sentence in say_parts(name, answer, run.model)]
    for _, answer in reversed(answers):
        outcome.meta |= answer.meta
    return interleave([_witness(name, answer.rows) for name, answer in answers]), is_next


def _find_waiting(run: PlanRun, failing: list[tuple[Ask, Fault]]) -> dict[str, PagePosition]:
    """Who failed beside others and is asked once more on the next page, each from where it was.

    Whoever fails twice in a row is not waited for again: it would fail on every page.
    """
    cursor = run.cursor
    waiting = dict(cursor.waiting) if cursor is not None else {}
    for ask, fault in failing:
        may_recover = KINDS[fault.kind].retryable or fault.kind == "over_budget"
        if may_recover and ask.position is not None and not (cursor is not None and ask.provider in cursor.retried):
            waiting[ask.provider] = ask.position
    return waiting


def _missing_beside(run: PlanRun, failing: list[tuple[Ask, Fault]]) -> list[Shortfall]:
    """What is missing of those who failed beside others, told apart by what further pages have of them."""
    groups: dict[str, list[Fault]] = {}
    for ask, fault in failing:
        if ask.provider in run.outcome.waiting:
            further = "again"
        else:
            further = "none" if run.cursor is not None and ask.provider in run.cursor.retried else ""
        groups.setdefault(further, []).append(fault)
    return [Shortfall(tuple(faults), is_main=True, further=further) for further, faults in groups.items()]


def _of_different_indexes(names: list[str], most: int | None, run: PlanRun) -> list[str]:
    """The first so many providers, of several that search one index the first alone."""
    providers = run.model.providers
    chosen: dict[str, str] = {}
    for name in names:
        index = providers[name].index if name in providers else ""
        chosen.setdefault(index or name, name)
    return list(chosen.values())[:most]


def _witness(name: str, rows: list[Row]) -> list[Row]:
    """The rows with who gave them, and as the how manieth."""
    return [{**row, "provider": name, "place": place} for place, row in enumerate(rows, 1)]


def _arguments(
    run: PlanRun, provider: str, operation: str, overrides: tuple[Pair, ...], context: Bindings
) -> dict[str, Any]:
    """Arguments pass by name; `with` replaces them, and null there leaves one out."""
    taken = run.model.providers[provider].operations[operation].input
    passed = context.get("args")
    given = {name: passed[name] for name in run.tool.inputs if name in passed}
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
        if key.fields is not None and value is None and key.left_out:
            continue
        if key.fields is not None:
            rows = (value if isinstance(value, list) else [])[: how_many(key.take, context)]
            answer[key.name] = [_name_origins(key, row, map_row(key.fields, row, context) or {}) for row in rows]
        elif value is not None:
            answer[key.name] = value
    return answer


def _name_origins(key: AnswerKey, row: Row, told: Row) -> Row:
    """A row as it is told, which says who gave which field by the names of what is told."""
    origins = told.get(key.origins) if key.origins else None
    if not isinstance(origins, Mapping):
        return told
    named = {}
    for name, fields in key.sources:
        read = next((field for field in fields if row.get(field) not in MISSING), "") if name in told else ""
        if read in origins:
            named[name] = origins[read]
    rest = {name: value for name, value in told.items() if name != key.origins or named}
    return {**rest, key.origins: named} if named else rest


# --- Parts of a `collect` are asked side by side, each fails by itself, and all stands under their names --------------


@dataclass(slots=True)
class _OpenPart:
    """A part that is being asked: whom it may still ask, and what it was told so far."""

    part: Part
    names: list[str]
    rows: list[Row] = field(default_factory=list)
    provider: str = ""
    fault: Fault | None = None
    failed: list[Fault] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    answer: Answer | None = None


def _collect(strategy: Strategy, run: PlanRun) -> Ran:
    """Ask every part, those that wait for others after them; the rows of the parts whose rows go on.

    A part that fails leaves its fault to the spec, so none ends the plan.
    """
    context = run.context
    late = [(name, value) for name, value in run.tool.values if any(path[0] == "parts" for path in value.uses)]
    waiting = list(strategy.parts)
    while waiting:
        names = {part.name for part in waiting}
        ready = [part for part in waiting if not part.needs & names]
        due = [part for part in ready if part.when is None or truthy(evaluate(part.when, context))]
        for part in due:
            if part.access is not None:
                kept = yield reach(part.access, context)
                rows = yield from run_stages(part.after, kept["rows"], run)
                context.parts[part.name] |= {**kept, "rows": rows, "asked": True}
        yield from _ask_side_by_side([part for part in due if part.access is None], run, strategy.wait)
        waiting = [part for part in waiting if part not in ready]
        for name, value in late:
            context.values[name] = evaluate(value, context)
    answered = [part for part in strategy.parts if context.parts[part.name].get("provider")]
    first = next((part for part in answered if context.parts[part.name]["rows"]), answered[0] if answered else None)
    if first is not None:
        run.outcome.served_by, run.outcome.operation = context.parts[first.name]["provider"], first.operation
    rows = [row for name in strategy.rows for row in context.parts[name]["rows"]]
    return rows, strategy.outcomes.get("empty", "stop") == "next"


def _ask_side_by_side(parts: list[Part], run: PlanRun, wait: float) -> Generator[Ask | AskAll | Run, Any, None]:
    asked = [_OpenPart(part, able_providers(part.operation, part.providers, run.context, run)) for part in parts]
    for one in asked:
        if not one.names:
            one.fault = _find_obstacle(one.part, run)
    going = [one for one in asked if one.names]
    while going:
        asks = []
        for one in going:
            name, part = one.names[0], one.part
            arguments = _arguments(run, name, part.operation, part.overrides, run.context)
            asks.append(Ask(name, part.operation, arguments))
        got: list[Answer | Fault] = yield AskAll(tuple(asks), wait=wait)
        for ask, answer in zip(asks, got, strict=True):
            run.outcome.note(ask, answer)
        # However long the route is, a row of providers that hang costs no more than twice the time of the first.
        wait /= 2
        going = [one for one, answer in zip(going, got, strict=True) if not _is_done(one, answer)]
        if going:
            failed = any(isinstance(answer, Fault) for answer in got)
            run.outcome.fallback_reason = UNAVAILABLE if failed else NO_RESULTS
    for one in asked:
        if one.fault is not None and one.part.required:
            if one.failed:
                one.fault = tell_all(one.failed)
                point_to_others(one.fault, run.tool, run.model, run.offer, run.outcome, run.context)
            raise one.fault
        if one.fault is not None:
            run.outcome.notes.append(one.fault.message)
        if one.fault is not None or one.failed:
            # Nobody who is configured is no failure of anybody.
            instead = one.provider if one.fault is None and one.rows else ""
            run.outcome.shortfalls.append(Shortfall(tuple(one.failed), one.part.operation, instead))
        if one.answer is not None:
            run.outcome.notices += say_parts(one.provider, one.answer, run.model)
        rows = yield from run_stages(one.part.after, one.rows, run)
        run.context.parts[one.part.name] = {
            "rows": rows,
            "fault": {"kind": one.fault.kind, "message": one.fault.message} if one.fault else None,
            "provider": one.provider or None,
            "asked": True,
            "meta": one.meta,
        }


def _find_obstacle(part: Part, run: PlanRun) -> Fault:
    """Why nobody can be asked for a part: whom the caller named cannot be, or nobody is configured."""
    inputs = [one.name for one in run.tool.inputs.values() if one.catalogue.startswith("providers.")]
    named = {run.context.args.get(name) for name in inputs}
    try:
        for name in name_providers(part.providers, run.context):
            if name in named:
                resolve(name, part.operation, run.tool, run.model, run.offer)
    except Fault as fault:
        return fault
    return none_configured(run.tool, run.model, run.offer, (part.operation,))


def _is_done(one: _OpenPart, got: Answer | Fault) -> bool:
    """Take in what a provider said; whether the next one is not asked."""
    name = one.names.pop(0)
    if isinstance(got, Fault):
        # Nothing found by an earlier provider is an answer, which a later failure does not undo.
        one.failed.append(got)
        one.fault = None if one.provider else all_failed(one.failed)
        rule = _rule(one.part.outcomes, got)
    elif not got.asked and (one.names or one.failed):
        # Who has nothing of the kind is no answer beside others.
        rule = "next"
    else:
        one.fault = None
        one.rows, one.meta = got.rows, dict(got.meta)
        one.answer = got
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
    if access.kind == "delete":
        return Run("delete", given, _delete)
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


async def _delete(context: Context, given: Mapping[str, Any]) -> Row:
    collection = context.state(given["collection"], space=given["space"])
    if refusal := await _find_refusal(context, collection, given["space"], deleting=True):
        return refusal
    item = await collection.get(given["key"]) if given["key"] else None
    # Of two who delete it at once, one is told that it did.
    deleted = item is not None and await collection.delete(given["key"])
    return {"status": "ok", "reason": None, "rows": [dict(item.value)] if item and deleted else []}


def _make(pairs: tuple[Pair, ...], scope: Bindings) -> Row:
    made = {name: evaluate(value, scope) for name, value in pairs}
    return {name: value for name, value in made.items() if value is not None}


async def _find_refusal(context: Context, collection: Collection, space: str, *, deleting: bool = False) -> Row | None:
    """Why nothing of the caller may be read or written there, as what the part holds; None when it may.

    Whoever has withdrawn a consent may still delete what was kept under it.
    """
    spec, owner = collection.spec, context.owner
    refusal = await find_refusal(context.state("consents"), owner, spec.consent) if spec.consent else None
    if refusal and not (deleting and refusal == "no_consent"):
        return {"status": refusal, "reason": REASONS[refusal], "rows": []}
    if spec.scope == "shared" and not await is_member(context.state("members", space=space), owner):
        return {"status": "not_member", "reason": NOT_MEMBER, "rows": []}
    return None
