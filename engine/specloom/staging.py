"""Runs the stages of a tool over the rows that its plan gave."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from .asking import Ask, AskAll, Offer, Outcome, Run
from .evaluate import as_list, build, evaluate, how_many, truthy
from .faults import KINDS, Fault
from .hooks import HOOKS
from .model import Model
from .model_tools import Stage
from .model_values import Context, Row
from .sameness import dedupe, group, sort
from .wire import Answer


def run_stages(
    stages: tuple[Stage, ...], model: Model, rows: list[Row], context: Context, offer: Offer, outcome: Outcome
) -> Generator[Ask | AskAll | Run, Any, list[Row]]:
    """The rows after every stage; look-ups are yielded as questions, and procedures to be run."""
    for stage in stages:
        if stage.kind == "lookup":
            rows = yield from _look_up(stage, model, rows, context, offer, outcome)
            continue
        if stage.when is not None and not truthy(evaluate(stage.when, {**context, "rows": rows})):
            continue
        if stage.kind == "procedure":
            given = build(stage.parameters, {**context, "rows": rows})
            context["result"] = {**(context["result"] or {}), **(yield Run(stage.hook, given))}
            continue
        rows = _stage(stage, rows, context, outcome)
    return rows


def _stage(stage: Stage, rows: list[Row], context: Context, outcome: Outcome) -> list[Row]:
    if stage.kind in {"keep", "drop"}:
        assert stage.value is not None
        wanted = stage.kind == "keep"
        inside = dict(context)
        kept = []
        for row in rows:
            inside["row"] = row
            if truthy(evaluate(stage.value, inside)) is wanted:
                kept.append(row)
        if stage.label:
            context["dropped"][stage.label] += len(rows) - len(kept)
        return kept
    if stage.kind == "take":
        return rows[: how_many(stage.value, {**context, "rows": rows})]
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
            more = {name: evaluate(value, {**context, "rows": rows, "row": row}) for name, value in stage.parameters}
            made.append({key: value for key, value in {**row, **more}.items() if value is not None})
        return made
    if stage.kind == "group":
        assert stage.value is not None
        keys = [evaluate(stage.value, {**context, "rows": rows, "row": row}) for row in rows]
        rows, counts = group(rows, keys)
        context["groups"][stage.label] = [{"key": key, "count": count} for key, count in counts]
        return rows
    try:
        return HOOKS[stage.hook].function(rows, build(stage.parameters, {**context, "rows": rows}))
    except Fault as fault:
        if not stage.optional:
            raise
        outcome.notes.append(fault.message)
        return rows


def _look_up(
    stage: Stage, model: Model, rows: list[Row], context: Context, offer: Offer, outcome: Outcome
) -> Generator[Ask | AskAll, Any, list[Row]]:
    """Ask about each row that the stage applies to, all at once; a provider that fails is followed by the next."""
    said = evaluate(stage.providers, {**context, "rows": rows}) if stage.providers else None
    names = [str(name) for name in (said if isinstance(said, list) else [said] if said else [])]
    names = [name for name in names if name in offer.configured and name in model.offering(stage.operation)]
    found = [dict(row) for row in rows]
    waiting: dict[int, dict[str, Any]] = {}
    for at, row in enumerate(found):
        inside = {**context, "rows": rows, "row": row}
        if stage.when is None or truthy(evaluate(stage.when, inside)):
            waiting[at] = build(stage.parameters, inside)
    failed: list[Fault] = []
    for name in names:
        if not waiting:
            break
        taken = model.providers[name].operations[stage.operation].input
        asks = [
            Ask(name, stage.operation, {key: given[key] for key in taken if key in given}) for given in waiting.values()
        ]
        got: list[Answer | Fault] = yield AskAll(tuple(asks), optional=stage.optional)
        for at, one in zip(list(waiting), got, strict=True):
            if isinstance(one, Fault):
                failed.append(one)
                continue
            del waiting[at]
            for field_name, source in stage.fields if one.rows else ():
                value = one.rows[0].get(source)
                if value is not None and (stage.names or found[at].get(field_name) is None):
                    found[at][field_name] = value
    if waiting and failed and not stage.optional:
        raise failed[-1]
    outcome.notes.extend(dict.fromkeys(fault.message for fault in failed))
    outcome.partial = outcome.partial or (bool(waiting) and any(KINDS[fault.kind].retryable for fault in failed))
    return found
