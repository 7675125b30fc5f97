"""Runs the stages of a tool over the rows that its plan gave."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from specloom.core import KINDS, Answer, Fault, canonical_url
from specloom.language import Bindings, Layer, as_list, build, evaluate, how_many, truthy
from specloom.model import Row, Stage, Value
from specloom.plugins import HOOKS, PROCEDURES

from .plan import Ask, AskAll, PlanContext, PlanRun, ProviderOutcome, Run, Shortfall

# --- Which rows are about the same thing, and in which order rows come ------------------------------------------------


def dedupe(rows: list[Row], by: Iterable[tuple[str, ...]]) -> list[Row]:
    """One row for each thing: rows that share one of the keys are one, and the first stays.

    A key is one field or several; a row that lacks one of its fields has no such key.
    """
    seen: dict[tuple[str, ...], set[Any]] = {names: set() for names in by}
    kept = []
    for row in rows:
        keys = {
            names: tuple(same_thing(row[name]) for name in names)
            for names in seen
            if all(isinstance(row.get(name), (str, int)) for name in names)
        }
        if any(key in seen[names] for names, key in keys.items()):
            continue
        for names, key in keys.items():
            seen[names].add(key)
        kept.append(row)
    return kept


def same_thing(value: Any) -> Any:
    """The value as it counts for "the same": text without case and blanks, an address without what changes nothing."""
    if not isinstance(value, str):
        return value
    if value.startswith(("http://", "https://")):
        return canonical_url(value)
    return " ".join(value.casefold().split())


def sort(rows: list[Row], by: str, descending: bool) -> list[Row]:
    """A stable sort; rows without the field come last in either direction.

    Values of several kinds under one field are kept apart: false and true, numbers, texts, and the rest as it came.
    """
    have = [row for row in rows if row.get(by) is not None]
    return sorted(have, key=lambda row: _rank(row[by]), reverse=descending) + [
        row for row in rows if row.get(by) is None
    ]


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool):
        return 0, value
    if isinstance(value, (int, float)):
        return 1, value
    return (2, value) if isinstance(value, str) else (3, 0)


def group(rows: list[Row], keys: list[Any]) -> tuple[list[Row], list[tuple[Any, int]]]:
    """Rows of one key stand together, the largest group first and rows without a key last; with each key and its count.

    Of several spellings of a key the first counts; groups of one size stay in the order of their first rows.
    """
    groups: dict[Any, list[Row]] = {}
    spelled: dict[Any, Any] = {}
    rest = []
    for row, key in zip(rows, keys, strict=True):
        if not isinstance(key, (str, int, float)) or key == "":
            rest.append(row)
            continue
        same = same_thing(key)
        spelled.setdefault(same, key)
        groups.setdefault(same, []).append(row)
    ranked = sorted(groups, key=lambda same: -len(groups[same]))
    return [row for same in ranked for row in groups[same]] + rest, [(spelled[one], len(groups[one])) for one in ranked]


def run_stages(
    stages: tuple[Stage, ...], rows: list[Row], run: PlanRun
) -> Generator[Ask | AskAll | Run, Any, list[Row]]:
    """The rows after every stage; look-ups are yielded as questions, and procedures to be run."""
    context = run.context
    for stage in stages:
        if stage.kind == "lookup":
            rows = yield from _look_up(stage, rows, run)
            continue
        if stage.when is not None and not truthy(evaluate(stage.when, Layer(context, rows=rows))):
            continue
        if stage.merge is not None:
            from .merge import merge, split_marks

            seen = split_marks(run.cursor.seen) if run.cursor is not None else frozenset()
            # Only the next part of an answer of several asks what was given before.
            marked = run.tool.cursor is not None and run.tool.plan[run.outcome.strategy].kind == "gather"
            merged = merge(rows, stage.merge, run.model.providers, context, seen, marked=marked)
            rows, run.outcome.marks = merged.rows, merged.marks
            continue
        if stage.kind == "procedure":
            given, function = build(stage.parameters, Layer(context, rows=rows)), PROCEDURES[stage.hook].function
            running = Run(stage.hook, given, function)
            context.result = {**(context.result or {}), **(yield running)}
            run.outcome.take_in(running)
            continue
        rows = _stage(stage, rows, context, run.outcome)
    return rows


def name_providers(providers: Value | None, context: Bindings) -> list[str]:
    """The providers that an expression names, in order, each once."""
    said = evaluate(providers, context) if providers else None
    names = said if isinstance(said, list) else [said] if said else []
    return list(dict.fromkeys(map(str, names)))


def able_providers(operation: str, providers: Value | None, context: Bindings, run: PlanRun) -> list[str]:
    """Those of the named providers that are configured and offer the operation."""
    offering = run.model.heads.offering(operation)
    return [one for one in name_providers(providers, context) if one in offering and one in run.offer.configured]


def _stage(stage: Stage, rows: list[Row], context: PlanContext, outcome: ProviderOutcome) -> list[Row]:
    if stage.kind in {"keep", "drop"}:
        assert stage.value is not None
        wanted = stage.kind == "keep"
        kept = [row for row in rows if truthy(evaluate(stage.value, Layer(context, row=row))) is wanted]
        if stage.label:
            context.dropped[stage.label] += len(rows) - len(kept)
        return kept
    if stage.kind == "take":
        return rows[: how_many(stage.value, Layer(context, rows=rows))]
    if stage.kind == "dedupe":
        return dedupe(rows, stage.keys)
    if stage.kind == "sort":
        return sort(rows, stage.names[0], stage.descending)
    if stage.kind == "expand":
        listed, one = stage.names
        return [{**row, one: item} for row in rows for item in as_list(row.get(listed))]
    if stage.kind == "set":
        made = []
        for row in rows:
            more = {name: evaluate(value, Layer(context, rows=rows, row=row)) for name, value in stage.parameters}
            made.append({key: value for key, value in {**row, **more}.items() if value is not None})
        return made
    if stage.kind == "group":
        assert stage.value is not None
        keys = [evaluate(stage.value, Layer(context, rows=rows, row=row)) for row in rows]
        rows, counts = group(rows, keys)
        context.groups[stage.label] = [{"key": key, "count": count} for key, count in counts]
        return rows
    try:
        return HOOKS[stage.hook].function(rows, build(stage.parameters, Layer(context, rows=rows)))
    except Fault as fault:
        if not stage.optional:
            raise
        outcome.notes.append(fault.message)
        outcome.notices.append(f"{fault.message.rstrip('.')}.")
        return rows


def _look_up(stage: Stage, rows: list[Row], run: PlanRun) -> Generator[Ask | AskAll, Any, list[Row]]:
    """Ask about each row that the stage applies to, all at once; a provider that fails is followed by the next.

    So is one that has nothing, where the stage says so; what nobody has is missing only if somebody failed.
    """
    context, outcome = run.context, run.outcome
    names = able_providers(stage.operation, stage.providers, Layer(context, rows=rows), run)
    found = [dict(row) for row in rows]
    waiting: dict[int, dict[str, Any]] = {}
    helped = ""
    for at, row in enumerate(found):
        inside = Layer(context, rows=rows, row=row)
        if stage.when is None or truthy(evaluate(stage.when, inside)):
            waiting[at] = build(stage.parameters, inside)
    failed: list[Fault] = []
    unsure: set[int] = set()
    wanted = len(waiting)
    # Who hung when it was asked for rows is not awaited once more for what only adds to those of others.
    late = {fault.provider: fault for fault in outcome.failed if fault.late} if stage.optional else {}
    for name in names:
        if not waiting:
            break
        if name in late:
            failed.append(late[name])
            continue
        taken = run.model.providers[name].operations[stage.operation].input
        asks = [
            Ask(name, stage.operation, {key: given[key] for key in taken if key in given}) for given in waiting.values()
        ]
        got: list[Answer | Fault] = yield AskAll(tuple(asks), optional=stage.optional)
        for at, one in zip(list(waiting), got, strict=True):
            if isinstance(one, Fault):
                failed.append(one)
                unsure.add(at)
                continue
            if stage.next_on_empty and not one.rows:
                continue
            del waiting[at]
            helped = name if failed else helped
            for field_name, source in stage.fields if one.rows else ():
                value = one.rows[0].get(source)
                if value is not None and (stage.names or found[at].get(field_name) is None):
                    found[at][field_name] = value
    waiting = {at: given for at, given in waiting.items() if at in unsure or not stage.next_on_empty}
    if waiting and failed and not stage.optional:
        raise failed[-1]
    outcome.notes.extend(dict.fromkeys(fault.message for fault in failed))
    if failed:
        instead = "" if waiting else helped
        outcome.shortfalls.append(Shortfall(tuple(failed), stage.operation, instead, len(waiting), wanted))
    outcome.partial = outcome.partial or (bool(waiting) and any(KINDS[fault.kind].retryable for fault in failed))
    return found
