"""Runs a tool's plan as a generator: it yields whom to ask what, and is given answers or faults."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .arguments import Arguments
from .faults import Fault
from .hooks import HOOKS
from .model import Context, Field, Model, Pair, Row, Stage, Strategy, Tool
from .perform import Answer, interleave
from .values import build, evaluate, map_row, truthy

EPISTEMIC_WARNING = (
    "Nothing was found by this search, which is not evidence that nothing exists: "
    "it may be out of reach of this query or this provider. Do not report it as non-existent."
)
"""Said with every empty answer, always in the same words."""

_MOST_ACTIONS = 3


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask one provider: its answer, or its fault, is wanted."""

    provider: str
    operation: str
    arguments: Mapping[str, Any]
    again: bool = False


@dataclass(frozen=True, slots=True)
class AskAll:
    """Ask several at once; one answer or fault for each is wanted, in order."""

    asks: tuple[Ask, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """Who can be asked: per capability the configured providers in order, and the configured ones by name."""

    orders: Mapping[str, tuple[str, ...]]
    configured: frozenset[str]
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each provider that is not configured the variables to set."""
    resting: frozenset[str] = frozenset()
    """Providers whose breaker is open; they are not suggested."""


@dataclass(slots=True)
class Outcome:
    """What a plan gave, and how."""

    answer: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    served_by: str = ""
    tried: list[str] = field(default_factory=list)
    fallback_reason: str = ""
    explicit: bool = False
    """The caller named the provider, so there was nothing to route."""
    meta: dict[str, Any] = field(default_factory=dict)
    keep: bool = True
    """The spec allows this answer to be cached."""
    notes: list[str] = field(default_factory=list)


Pursuit = Generator[Ask | AskAll, Any, Outcome]


def plan_context(
    tool: Tool, model: Model, arguments: Arguments, config: Mapping[str, Any], offer: Offer, now: float
) -> Context:
    """What the expressions of a tool see."""
    context: Context = {
        "args": arguments.given,
        "requested": arguments.requested,
        "config": config,
        "route": {name: list(offer.orders.get(name, ())) for name in model.capabilities},
        "providers": {name: list(model.offering(name)) for name in model.capabilities},
        "now": now,
        "values": {},
        "served_by": None,
        "dropped": {stage.label: 0 for stage in tool.after if stage.label},
        "rows": [],
    }
    for name, value in tool.values:
        context["values"][name] = evaluate(value, context)
    return context


def pursue(
    tool: Tool, model: Model, arguments: Arguments, config: Mapping[str, Any], offer: Offer, now: float
) -> Pursuit:
    """Run the plan: strategies in order until one answers, then the stages, then the answer."""
    context = plan_context(tool, model, arguments, config, offer, now)
    outcome = Outcome()
    rows = yield from _strategies(tool, model, context, offer, outcome)
    context["served_by"] = outcome.served_by or None
    outcome.rows = yield from _stages(tool, model, rows, context, offer, outcome)
    context["rows"] = outcome.rows
    outcome.answer = _answer(tool, context)
    if tool.hints is not None and not outcome.rows:
        outcome.answer["hints"] = _hints(tool, arguments, context, offer, outcome)
    if tool.cache is not None and tool.cache.unless is not None:
        outcome.keep = not truthy(evaluate(tool.cache.unless, context))
    return outcome


def _strategies(
    tool: Tool, model: Model, context: Context, offer: Offer, outcome: Outcome
) -> Generator[Ask | AskAll, Any, list[Row]]:
    failed: list[Fault] = []
    empty_from = ""
    applied = False
    for strategy in tool.plan:
        if strategy.when is not None and not truthy(evaluate(strategy.when, context)):
            continue
        applied = True
        if strategy.kind == "hook":
            return HOOKS[strategy.hook].function([], build(strategy.overrides, context))
        run = _gather if strategy.kind == "gather" else _in_turn
        rows, goes_on = yield from run(strategy, tool, model, context, offer, outcome, failed)
        if rows is None:
            continue
        if rows or not goes_on:
            return rows
        empty_from = empty_from or outcome.served_by
    if empty_from:
        outcome.served_by = empty_from
        return []
    if failed:
        raise _all_failed(failed)
    if applied:
        wanted = dict.fromkeys(one.operation for one in tool.plan if one.operation)
        raise _none_configured(tool, model, offer, tuple(wanted))
    raise Fault("internal", f"no strategy of {tool.name} applies to these arguments")


Ran = Generator[Ask | AskAll, Any, tuple[list[Row] | None, bool]]


def _in_turn(
    strategy: Strategy, tool: Tool, model: Model, context: Context, offer: Offer, outcome: Outcome, failed: list[Fault]
) -> Ran:
    """`call` and `first_of`, one after the other: rows or None, and whether the next strategy may try after none."""
    empty_rule = strategy.outcomes.get("empty", "stop")
    empty_from = ""
    for name in _names(strategy, context):
        _resolve(name, strategy, model, offer)
        if strategy.kind == "call":
            outcome.explicit = True
        arguments = _arguments(tool, model, name, strategy, strategy.overrides, context)
        outcome.tried.append(name)
        try:
            answer: Answer = yield Ask(name, strategy.operation, arguments)
        except Fault as fault:
            failed.append(fault)
            outcome.fallback_reason = "circuit_open" if fault.kind == "circuit_open" else "primary_unavailable"
            rule = strategy.outcomes.get(fault.kind) or strategy.outcomes.get("error", "next")
            if rule == "stop":
                break
            continue
        rows = answer.rows
        if strategy.again is not None and truthy(evaluate(strategy.again.when, {**context, "rows": rows})):
            rows = yield from _try_again(strategy, tool, model, name, context, rows)
        outcome.served_by = name
        outcome.meta = dict(answer.meta)
        if rows:
            return rows, False
        if empty_rule == "stop":
            return [], False
        empty_from = empty_from or name
    if empty_from:
        outcome.served_by = empty_from
        return [], True
    return None, True


def _try_again(
    strategy: Strategy, tool: Tool, model: Model, name: str, context: Context, rows: list[Row]
) -> Generator[Ask | AskAll, Any, list[Row]]:
    again = strategy.again
    assert again is not None
    overrides = (*strategy.overrides, *again.overrides)
    arguments = _arguments(tool, model, name, strategy, overrides, {**context, "rows": rows})
    if arguments == _arguments(tool, model, name, strategy, strategy.overrides, context):
        return rows
    try:
        answer: Answer = yield Ask(name, strategy.operation, arguments, again=True)
    except Fault:
        return rows
    return answer.rows if len(answer.rows) > len(rows) else rows


def _gather(
    strategy: Strategy, tool: Tool, model: Model, context: Context, offer: Offer, outcome: Outcome, failed: list[Fault]
) -> Ran:
    """All at once; rows are interleaved in the order of the providers, and a fault of one hides no rows of others."""
    asks = []
    for name in _names(strategy, context):
        _resolve(name, strategy, model, offer)
        asks.append(Ask(name, strategy.operation, _arguments(tool, model, name, strategy, strategy.overrides, context)))
        outcome.tried.append(name)
    got: list[Answer | Fault] = (yield AskAll(tuple(asks))) if asks else []
    answers = [(ask.provider, one) for ask, one in zip(asks, got, strict=True) if isinstance(one, Answer)]
    faults = [one for one in got if isinstance(one, Fault)]
    failed.extend(faults)
    outcome.notes.extend(fault.message for fault in faults)
    if not answers:
        return None, True
    outcome.served_by = next((name for name, answer in answers if answer.rows), answers[0][0])
    for _, answer in reversed(answers):
        outcome.meta |= answer.meta
    rows = interleave([answer.rows for _, answer in answers])
    return rows, strategy.outcomes.get("empty", "stop") == "next"


def _names(strategy: Strategy, context: Context) -> list[str]:
    said = evaluate(strategy.providers, context) if strategy.providers else None
    names = said if isinstance(said, list) else [said] if said else []
    return list(dict.fromkeys(str(name) for name in names))


def _resolve(name: str, strategy: Strategy, model: Model, offer: Offer) -> None:
    """Unknown, unable and unconfigured are three different answers."""
    offering = list(model.offering(strategy.operation))
    if name not in offering:
        known = name in model.providers
        title = model.capabilities[strategy.operation].title.lower()
        problem = f"provider {name!r} does not offer {title}" if known else f"there is no provider {name!r}"
        raise Fault(
            "config",
            f"{problem}; those that do: {', '.join(offering)}",
            provider=name if known else "",
            alternatives=offering,
        )
    if name not in offer.configured:
        needed = " and ".join(offer.missing.get(name, ())) or "its settings"
        others = [one for one in offering if one in offer.configured]
        raise Fault(
            "config",
            f"provider {name!r} is not configured; set {needed}",
            provider=name,
            alternatives=others,
            action="check_api_key",
        )


def _arguments(
    tool: Tool, model: Model, provider: str, strategy: Strategy, overrides: tuple[Pair, ...], context: Context
) -> dict[str, Any]:
    """Arguments pass by name; `with` replaces them, and null there leaves one out."""
    taken = model.providers[provider].operations[strategy.operation].input
    given = {name: context["args"][name] for name in tool.inputs if name in context["args"]}
    for name, value in overrides:
        given[name] = evaluate(value, context)
    return {name: given[name] for name in taken if given.get(name) is not None}


def _all_failed(failed: list[Fault]) -> Fault:
    last = failed[-1]
    if len(failed) == 1:
        return last
    detail = "; ".join(f"{one.provider}: {one.message}" if one.provider else one.message for one in failed)
    return Fault(
        last.kind,
        last.message,
        provider=last.provider,
        retry_after=last.retry_after,
        alternatives=last.alternatives,
        detail=detail,
        action=last.action,
    )


def _none_configured(tool: Tool, model: Model, offer: Offer, capabilities: tuple[str, ...]) -> Fault:
    names = list(dict.fromkeys(name for one in capabilities for name in model.offering(one)))
    needed = [f"{name} ({' and '.join(offer.missing[name])})" for name in names if offer.missing.get(name)]
    sentence = f"no provider is configured for {tool.name}; configure one of: {', '.join(needed or names)}"
    return Fault("config", sentence, alternatives=names, action="check_api_key")


# --- stages ---------------------------------------------------------------------------------------------------------


def _stages(
    tool: Tool, model: Model, rows: list[Row], context: Context, offer: Offer, outcome: Outcome
) -> Generator[Ask | AskAll, Any, list[Row]]:
    for stage in tool.after:
        if stage.kind == "lookup":
            rows = yield from _look_up(stage, model, rows, context, offer, outcome)
            continue
        if stage.when is not None and not truthy(evaluate(stage.when, {**context, "rows": rows})):
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
        assert stage.value is not None
        most = evaluate(stage.value, {**context, "rows": rows})
        return rows if most is None else rows[: int(most)]
    if stage.kind == "dedupe":
        return dedupe(rows, stage.names)
    if stage.kind == "sort":
        return sort(rows, stage.names[0], stage.descending)
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
        got: list[Answer | Fault] = yield AskAll(tuple(asks))
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
    return found


def dedupe(rows: list[Row], by: tuple[str, ...]) -> list[Row]:
    """One row for each thing: rows that share one of the fields are one, and the first stays."""
    seen: dict[str, set[Any]] = {name: set() for name in by}
    kept = []
    for row in rows:
        keys = {name: same_thing(row[name]) for name in by if isinstance(row.get(name), (str, int))}
        if any(key in seen[name] for name, key in keys.items()):
            continue
        for name, key in keys.items():
            seen[name].add(key)
        kept.append(row)
    return kept


def same_thing(value: Any) -> Any:
    """The value as it counts for "the same": text without case and blanks, an address without what changes nothing."""
    if not isinstance(value, str):
        return value
    if value.startswith(("http://", "https://")):
        return canonical_url(value)
    return " ".join(value.casefold().split())


def canonical_url(url: str) -> str:
    """An address for comparison: no scheme, `www.`, default port, fragment, trailing slash or tracking parameter."""
    from urllib.parse import parse_qsl, urlencode, urlsplit

    try:
        parts = urlsplit(url)
        number = parts.port
    except ValueError:
        return url
    port = f":{number}" if number and number not in {80, 443} else ""
    host = (parts.hostname or "").removeprefix("www.")
    if not parts.query:
        return f"{host}{port}{parts.path.rstrip('/')}"
    query = urlencode(
        sorted(pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _is_tracking(pair[0]))
    )
    return f"{host}{port}{parts.path.rstrip('/')}" + (f"?{query}" if query else "")


def _is_tracking(name: str) -> bool:
    return name.lower().startswith("utm_") or name.lower() in {
        "gclid",
        "fbclid",
        "msclkid",
        "dclid",
        "igshid",
        "mc_cid",
        "mc_eid",
    }


def sort(rows: list[Row], by: str, descending: bool) -> list[Row]:
    """A stable sort; rows without the field come last in either direction."""
    have = [row for row in rows if row.get(by) is not None]
    return sorted(have, key=lambda row: row[by], reverse=descending) + [row for row in rows if row.get(by) is None]


# --- the answer -----------------------------------------------------------------------------------------------------


def _answer(tool: Tool, context: Context) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for key in tool.answer:
        value = evaluate(key.value, context)
        if key.fields is not None:
            answer[key.name] = [_mapped(key.fields, row, context) for row in value or []]
        elif value is not None:
            answer[key.name] = value
    return answer


def _mapped(fields: tuple[Field, ...], row: Row, context: Context) -> Row:
    mapped = map_row(fields, row, context)
    return mapped if mapped is not None else {}


def _hints(tool: Tool, arguments: Arguments, context: Context, offer: Offer, outcome: Outcome) -> dict[str, Any]:
    assert tool.hints is not None
    plan = tool.hints
    filters = {}
    for name in plan.filters:
        if name in arguments.given and (name in arguments.explicit or name in plan.always):
            value = arguments.given[name]
            filters[name] = (
                ",".join(value)
                if isinstance(value, list)
                else str(value).lower()
                if isinstance(value, bool)
                else str(value)
            )
    narrowing = [name for name in plan.filters if name in filters and name in arguments.explicit]
    reason = "filters_too_restrictive" if narrowing else "no_match"
    actions: list[dict[str, str]] = []
    for advice in plan.also:
        if truthy(evaluate(advice.when, context)):
            reason = advice.reason or reason
            said = {"action": advice.action, "parameter": advice.parameter, "detail": advice.detail}
            actions.append({key: text for key, text in said.items() if text})
    actions += [
        {"action": "remove_filter", "parameter": name, "detail": f"search again without {name}"}
        for name in narrowing
        if not tool.inputs[name].required
    ]
    actions = actions[:_MOST_ACTIONS]
    if len(actions) < _MOST_ACTIONS:
        asked = set(outcome.tried)
        others = [
            name
            for one in tool.capabilities
            for name in offer.orders.get(one, ())
            if name not in asked and name not in offer.resting
        ]
        if others:
            actions.append({"action": "try_different_provider", "parameter": "provider", "value": others[0]})
    hints: dict[str, Any] = {"reason": reason}
    if outcome.explicit and outcome.tried:
        hints["providersAttempted"] = list(dict.fromkeys(outcome.tried))
    if filters:
        hints["filtersApplied"] = filters
    return {**hints, "suggestedActions": actions, "epistemicWarning": EPISTEMIC_WARNING}
