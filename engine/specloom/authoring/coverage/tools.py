"""What the examples of a tool do not show: strategies, stages, second tries, checks, advice, and keys of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from specloom.core import Place, Report
from specloom.language import BOOLEAN, Bindings, truthy
from specloom.model import Model, Stage, Tool, Value, stages_of
from specloom.specs import Spec, to_plain

from ..examples.tools import run_tool_example
from .common import SpecUse, cover_settings, maps_of, watched


def cover_tool(spec: Spec, tool: Tool, model: Model, report: Report) -> None:
    """Warn of what the examples of one tool do not show."""
    nodes = maps_of(spec.root.get("examples"))
    if not nodes:
        return  # a tool without an example is an error of its own
    seen = SpecUse()
    noting = watch_tool(tool, seen)
    stated: list[Mapping[str, Any]] = []
    twice = False
    for node in nodes:
        said = to_plain(node)
        if "expect" not in said:
            continue  # bounds of arguments: nothing is asked
        trace = run_tool_example(node, said, noting, model, Report())
        twice = twice or (trace is not None and any(ask.again for ask in trace.asked))
        expect = said["expect"]
        stated.append({**(expect.get("answer") or {}), **({"hints": expect["hints"]} if expect.get("hints") else {})})
    _cover_plan(tool, seen, report, twice=twice)
    _cover_answer(tool, stated, report)
    cover_settings(spec, tool.settings, report)


def watch_tool(tool: Tool, seen: SpecUse) -> Tool:
    """The same tool, noting in `seen` which checks, strategies, second tries, stages and advice come to work."""
    plan = []
    for strategy in tool.plan:
        again = strategy.again
        twice = replace(again, when=watched(again.when, again.when.place, seen)) if again else None
        parts = tuple(
            replace(
                part,
                when=watched(part.when or _always(part.place), part.place, seen),
                after=_watch_stages(part.after, seen),
            )
            for part in strategy.parts
        )
        when = watched(strategy.when or _always(strategy.place), strategy.place, seen)
        plan.append(replace(strategy, when=when, again=twice, parts=parts))
    after = _watch_stages(tool.after, seen)
    checks = tuple((watched(refuse, refuse.place, seen), message) for refuse, message in tool.checks)
    hints = tool.hints
    if hints is not None:
        hints = replace(
            hints, also=tuple(replace(one, when=watched(one.when, one.when.place, seen)) for one in hints.also)
        )
    return replace(tool, plan=tuple(plan), after=after, checks=checks, hints=hints)


def _watch_stages(stages: tuple[Stage, ...], seen: SpecUse) -> tuple[Stage, ...]:
    return tuple(
        replace(stage, when=_when_rows(stage.when or _always(stage.place), stage.place, seen)) for stage in stages
    )


def _always(place: Place) -> Value:
    return Value(lambda _context: True, BOOLEAN, place)


def _when_rows(value: Value, place: Place, seen: SpecUse) -> Value:
    """A stage without rows to work on is not shown by that."""

    def evaluate(context: Bindings) -> Any:
        result = value.evaluate(context)
        if truthy(result) and context.get("rows"):
            seen.worked.add(place)
        return result

    return replace(value, evaluate=evaluate)


def _cover_plan(tool: Tool, seen: SpecUse, report: Report, *, twice: bool) -> None:
    """Strategies, second tries, stages and advice are reached by an example (W304), and checks refuse one (W303)."""
    for refuse, _ in tool.checks:
        if refuse.place not in seen.worked:
            report.add("W303", refuse.place, f"no example of {tool.name} is refused by this check")
    for strategy in tool.plan:
        if strategy.place not in seen.worked:
            report.add("W304", strategy.place, f"no example of {tool.name} reaches the strategy {strategy.name!r}")
        if strategy.again is not None and not (twice and strategy.again.when.place in seen.worked):
            hint = "give a provider's part in an example few `rows` and more under `again`"
            report.add(
                "W304", strategy.again.when.place, f"no example of {tool.name} asks again in {strategy.name!r}", hint
            )
        for part in strategy.parts:
            if part.place not in seen.worked:
                report.add("W304", part.place, f"no example of {tool.name} asks for the part {part.name!r}")
    for stage in stages_of(tool.plan, tool.after):
        if stage.place not in seen.worked:
            report.add("W304", stage.place, f"no example of {tool.name} has rows at the stage `{stage.kind}`")
    for advice in tool.hints.also if tool.hints else ():
        if advice.when.place not in seen.worked:
            report.add("W304", advice.when.place, f"no example of {tool.name} is given the advice {advice.action!r}")


def _cover_answer(tool: Tool, stated: Sequence[Mapping[str, Any]], report: Report) -> None:
    """Every key of the answer, and every field of its lists, is stated by an example (W301)."""
    for key in tool.answer:
        values = [one[key.name] for one in stated if one.get(key.name) is not None]
        if not values:
            report.add(
                "W301",
                key.value.place,
                f"no example shows {key.name!r} in the answer of {tool.name}",
                "state it under `expect.answer`",
            )
            continue
        items = [item for value in values if isinstance(value, list) for item in value if isinstance(item, dict)]
        for one in key.fields or ():
            if not any(one.name in item for item in items):
                message = f"no example shows {one.name!r} in the {key.name!r} of {tool.name}"
                report.add("W301", one.place, message, f"state a whole item of {key.name!r} under `expect.answer`")
