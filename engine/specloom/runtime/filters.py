"""The filters of a tool: whose rows pass them is an answer, and who can hold to them itself is asked first."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from specloom.model import Row, Strategy

from .degradation import say_filtered
from .notices import reached_by
from .plan import Ask, AskAll, PlanRun, Run
from .stages import run_stages

FILTERED = "filtered"
"""How a provider fared of whose rows none passed the filters."""


def judge(run: PlanRun, rows: list[Row]) -> Generator[Ask | AskAll | Run, Any, list[Row]]:
    """The rows of whoever answered last that pass the filters of the tool.

    Where none does, everything is as before, and what was seen of the first such rows is told if nobody has others.
    """
    stages, context, outcome = run.tool.after[: run.tool.filters], run.context, run.outcome
    if not stages:
        return rows
    before, notes, shortfalls = dict(context.dropped), len(outcome.notes), len(outcome.shortfalls)
    context.served_by, context.served_operation = outcome.served_by or None, outcome.operation or None
    context.meta = outcome.meta
    kept = yield from run_stages(stages, rows, run)
    if kept:
        outcome.is_filtered = True
        return kept
    if outcome.dropped is None:
        outcome.dropped = context.dropped
        outcome.unserved = (outcome.notes[notes:], outcome.shortfalls[shortfalls:])
    context.dropped = before
    del outcome.notes[notes:], outcome.shortfalls[shortfalls:]
    return []


def tell_filtered(run: PlanRun) -> None:
    """Tell of an answer without rows what the filters took out of the first that there were."""
    outcome = run.outcome
    if outcome.dropped is not None:
        run.context.dropped = outcome.dropped
        outcome.notes += outcome.unserved[0]
        outcome.shortfalls += outcome.unserved[1]


def note_filtered(run: PlanRun, found: dict[str, int]) -> None:
    """Note of rows that did not pass the filters whose they were and how many."""
    run.outcome.notices += [say_filtered(name, count, run.model) for name, count in found.items()]


def rank_by_filters(names: list[str], strategy: Strategy, run: PlanRun) -> list[str]:
    """The providers with those first who take all filters that the caller set; else in their order."""
    if len(names) < 2:
        return names
    lacking = _count_lacking(names, strategy, run)
    return sorted(names, key=lacking.__getitem__)


def ablest_of(names: list[str], strategy: Strategy, run: PlanRun) -> list[str]:
    """Those of the providers of whom nobody takes more of the filters that the caller set."""
    lacking = _count_lacking(names, strategy, run)
    fewest = min(lacking.values(), default=0)
    return [name for name in names if lacking[name] == fewest]


def _count_lacking(names: list[str], strategy: Strategy, run: PlanRun) -> dict[str, int]:
    """How many of the filters that the caller set each provider does not take."""
    tool, args = run.tool, run.context.args
    filters = tool.hints.filters if tool.hints is not None else ()
    given = [name for name in filters if args.get(name) not in (None, "", [], tool.inputs[name].default)]
    wanted = [reached_by(name, strategy.operation, strategy.overrides, run) for name in given]

    def count_lacking(name: str) -> int:
        provider = run.model.providers.get(name)
        operation = provider.operations.get(strategy.operation) if provider is not None else None
        taken = {*operation.input} if operation is not None else None
        return sum(1 for reached in wanted if reached and taken is not None and not reached & taken)

    return {name: count_lacking(name) for name in names}
