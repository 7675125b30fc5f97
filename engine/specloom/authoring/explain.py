"""A dry run of a call: who would be asked, with which exact requests, and under which key the answer is kept.

It sends nothing: the same generators run as in a real call, and every request is described instead of sent.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from specloom.core import (
    Fault,
    Paint,
    Request,
    Secret,
    cut,
    dataclass,
    from_epoch,
    printable,
    replace,
    request_lines,
    request_to_json,
    secrets_in,
)
from specloom.language import build, evaluate, truthy
from specloom.model import Access, Operation, Step, Strategy, Tool, Value, asked_by
from specloom.plugins import PROCEDURES
from specloom.runtime import (
    Arguments,
    Ask,
    AskAll,
    Executor,
    PageMatch,
    PlanContext,
    Pursuit,
    Run,
    first_requests,
    parse_arguments,
    plan_context,
    pursue,
    settle,
)

_NOTHING: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class Prospect:
    """One provider that would be asked: with what, by which requests, and what of the call it cannot honour."""

    provider: str
    operation: str
    arguments: Mapping[str, Any]
    not_honoured: tuple[str, ...] = ()
    requests: tuple[Request, ...] = ()
    """The first request of every shard; each needs no answer to be known."""
    later: tuple[tuple[str, str, str], ...] = ()
    """Steps that need an answer first, or that are skipped: name, method and path as the spec writes it."""
    problem: str = ""
    secrets: tuple[Secret, ...] = ()

    @property
    def shards(self) -> int:
        """In how many requests a list is split."""
        return max(1, len(self.requests))

    def to_json(self) -> dict[str, Any]:
        """The prospect as data, secrets masked."""
        return {
            "provider": self.provider,
            "operation": self.operation,
            "arguments": dict(self.arguments),
            "notHonoured": list(self.not_honoured),
            "shards": self.shards,
            "requests": [request_to_json(request, self.secrets) for request in self.requests],
            "laterSteps": [dict(zip(("step", "method", "path"), step, strict=True)) for step in self.later],
            **({"problem": self.problem} if self.problem else {}),
        }


@dataclass(frozen=True, slots=True)
class CacheFacts:
    """The key of the answer, what is in it and what is not, and for how many seconds it is good."""

    key: str
    ttl: float
    inputs: tuple[str, ...]
    ignored: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The facts as data."""
        lists = {"inputs": list(self.inputs), "ignored": list(self.ignored)}
        return {"key": self.key, "ttlSeconds": self.ttl, **lists}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that a call would do, up to the first answer."""

    tool: str
    given: Mapping[str, Any]
    requested: Mapping[str, Any]
    asked: Sequence[Prospect]
    left_out: Sequence[tuple[str, str]]
    """Providers that could do it and are not asked, with the reason."""
    read: Sequence[tuple[str, str]]
    """Pages of sites that arguments name: which page, and the form of address that says so."""
    then: str
    """What follows when nobody of them answers."""
    cache: CacheFacts | None

    def to_json(self) -> dict[str, Any]:
        """The explanation as data, secrets masked."""
        return {
            "tool": self.tool,
            "arguments": dict(self.given),
            **({"requested": dict(self.requested)} if self.requested else {}),
            "providers": [one.to_json() for one in self.asked],
            "leftOut": [{"provider": name, "reason": why} for name, why in self.left_out],
            **({"pages": [{"page": page, "address": form} for page, form in self.read]} if self.read else {}),
            **({"then": self.then} if self.then else {}),
            "cache": self.cache.to_json() if self.cache else None,
        }


def explain(executor: Executor, name: str, raw: Mapping[str, Any]) -> Explanation:
    """What a call of the tool would do; a `validation` or `config` fault when it would not get as far as asking."""
    tool = executor.tool(name)
    arguments = parse_arguments(tool, raw)
    cache = None
    if tool.cache is not None:
        ignored = tuple(name for name in tool.inputs if name in tool.cache.ignore)
        inputs = tuple(name for name in tool.inputs if name not in ignored)
        cache = CacheFacts(executor.cache_key(tool, arguments), tool.cache.ttl, inputs, ignored)
    now, offer, settings = executor.clock(), executor.offer(), executor.tool_settings[name]
    context = plan_context(tool, executor.model, arguments, settings, offer, now)
    applicable = [strategy for strategy in tool.plan if _applies(strategy.when, context)]
    hook = next((strategy for strategy in applicable if strategy.kind in {"hook", "procedure"}), None)
    # Registered Python might read something, so it is named and not run.
    before = applicable[: applicable.index(hook)] if hook else applicable
    asked: list[Prospect] = []
    if before:
        running = pursue(replace(tool, plan=tuple(before)), executor.model, arguments, settings, offer, now)
        asked = [_prospect(executor, tool, ask, arguments, context) for ask in _asks(running)]
    parts = [part for strategy in before for part in strategy.parts]
    waiting = [part.name for part in parts if part.needs and not _applies(part.when, context)]
    then = _then(hook, waiting, [part.access for part in parts if part.access], tool, executor)
    matches: list[PageMatch] = []
    if hook and hook.kind == "procedure" and PROCEDURES[hook.hook].reads_pages:
        matches = [match for text in _texts(arguments.given.values()) if (match := executor.sites.find(text))]
    for match in matches:
        asked += _page_prospects(executor, match, now)
    read = [(match.page.id, match.pattern.text) for match in matches]
    left_out = _left_out(executor, tool, {prospect.provider for prospect in asked})
    return Explanation(name, arguments.given, arguments.requested, asked, left_out, read, then, cache)


def _applies(condition: Value | None, context: PlanContext) -> bool:
    return condition is None or truthy(evaluate(condition, context))


def _texts(values: Iterable[Any]) -> list[str]:
    """The texts among some values, in lists and objects too, each once."""
    found: dict[str, None] = {}
    for value in values:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        found.update(dict.fromkeys([value] if isinstance(value, str) else _texts(inner)))
    return list(found)


def _page_prospects(executor: Executor, match: PageMatch, now: float) -> Iterator[Prospect]:
    """What is asked for a page of a site before there is any answer."""
    context = replace(match.context, rows={}, values={})
    settle(match.page, context)
    for ask in match.page.asks:
        if ask.needs or ask.each or (ask.when and not truthy(evaluate(ask.when, context))):
            continue
        name, arguments = ask.operation.provider, build(ask.arguments, context)
        requests = first_requests(
            executor.model.providers[name], ask.operation, arguments, executor.settings[name], now
        )
        secrets = tuple(secrets_in(executor.settings[name]))
        yield Prospect(name, ask.operation.name, arguments, requests=tuple(requests), secrets=secrets)


def _then(
    strategy: Strategy | None, waiting: Sequence[str], reaching: Iterable[Access], tool: Tool, executor: Executor
) -> str:
    """What follows the questions that are known: what is kept, parts that hang on answers, and registered Python and
    whom it asks."""
    kept = {"recall": "is read", "save": "is written to", "delete": "loses an item"}
    said = [f"the collection {one.collection} {kept[one.kind]} for the caller" for one in reaching]
    said += [f"what is found may lead to the parts {', '.join(waiting)}"] if waiting else []
    said += [f"the hook {strategy.hook} makes the rows"] if strategy and strategy.kind == "hook" else []
    names = [strategy.hook] if strategy and strategy.kind == "procedure" else []
    names += [stage.hook for stage in tool.after if stage.kind == "procedure"]
    for name in names:
        asks = [
            f"{one} ({', '.join(executor.routes.orders.get(one, ())) or 'nobody'})"
            for one in asked_by([PROCEDURES[name]], executor.model.providers.values())
        ]
        said.append(f"the procedure {name} runs" + (f", which may ask {', '.join(asks)}" if asks else ""))
    return "; ".join(said)


def _asks(running: Pursuit) -> list[Ask]:
    """Whom a plan asks when nobody answers, so that it goes through everyone; its fault when it asks nobody."""
    asked: list[Ask] = []
    give: Any = None
    while True:
        try:
            wanted = running.throw(give) if isinstance(give, Fault) else running.send(give)
        except StopIteration:
            return asked
        except Fault:
            if asked:
                return asked
            raise
        if isinstance(wanted, Run) and wanted.procedure in PROCEDURES:
            return asked
        if isinstance(wanted, Run):
            # Nothing is read in a dry run, and nothing written.
            give = {"status": "ok", "reason": None, "rows": [], "was": None}
            continue
        asks = wanted.asks if isinstance(wanted, AskAll) else (wanted,)
        asked += asks
        faults = [Fault("upstream_unavailable", "nothing is sent in a dry run", provider=ask.provider) for ask in asks]
        give = faults if isinstance(wanted, AskAll) else faults[0]


def _prospect(executor: Executor, tool: Tool, ask: Ask, arguments: Arguments, context: PlanContext) -> Prospect:
    provider = executor.model.providers[ask.provider]
    operation = provider.operations[ask.operation]
    settings = executor.settings[ask.provider]
    problem = ""
    requests: list[Request] = []
    try:
        requests = first_requests(provider, operation, ask.arguments, settings, context.now)
    except Fault as fault:
        problem = fault.message
    sent = {request.step for request in requests}
    later = tuple((step.name, step.method, _path(step)) for step in operation.steps if step.name not in sent)
    return Prospect(
        ask.provider,
        ask.operation,
        ask.arguments,
        _not_honoured(executor, tool, operation, arguments, context),
        tuple(requests),
        later,
        problem,
        tuple(secrets_in(settings)),
    )


def _path(step: Step) -> str:
    return "".join(part if isinstance(part, str) else f"{{{part.text}}}" for part in step.path)


def _not_honoured(
    executor: Executor, tool: Tool, operation: Operation, arguments: Arguments, context: PlanContext
) -> tuple[str, ...]:
    """Arguments with a value that the caller's words led to and that the operation does not take."""
    capability = executor.model.capabilities.get(operation.capability)
    if capability is None:
        return ()
    passed = {name: arguments.given[name] for name in arguments.explicit}
    strategies = (one for one in tool.plan if one.operation == operation.name and _applies(one.when, context))
    strategy = next(strategies, None)
    passed |= {name: _quietly(value, context) for name, value in (strategy.overrides if strategy else ())}
    return tuple(
        name for name in capability.arguments if passed.get(name) not in _NOTHING and name not in operation.input
    )


def _quietly(value: Value, context: PlanContext) -> Any:
    try:
        return evaluate(value, context)
    except Fault:
        return None


def _left_out(executor: Executor, tool: Tool, asked: Container[str]) -> list[tuple[str, str]]:
    why: dict[str, str] = {}
    for capability in tool.capabilities:
        for name in executor.model.offering(capability):
            if name in asked or name in why:
                continue
            if name not in executor.configured:
                needed = " and ".join(executor.missing.get(name, ())) or "its settings"
                why[name] = f"not configured; set {needed}"
            elif name not in executor.routes.orders.get(capability, ()):
                end, because = executor.model.heads.providers[name].ends.get(capability, (math.inf, ""))
                over = executor.clock() >= end
                since = f"in no route since {(from_epoch(end) or '')[:10]}: {because}"
                told = since if over else "not in the routing order;"
                why[name] = f"{told} ask for it by name or put it into SEARCH_ROUTING"
            else:
                why[name] = "the call does not reach it"
    return list(why.items())


# --- showing --------------------------------------------------------------------------------------------------------


def explanation_lines(explanation: Explanation, paint: Paint, width: int) -> list[str]:
    """The explanation as a person reads it."""
    import json

    given = explanation.given
    lines = [f"{paint(explanation.tool, 'bold')} {printable(json.dumps(dict(given), ensure_ascii=False))}"]
    lines += [f"  {name} was {value} and is moved to {given[name]}" for name, value in explanation.requested.items()]
    lines.append("")
    for number, prospect in enumerate(explanation.asked, 1):
        several = f"  {prospect.shards} requests, because a list is split" if prospect.shards > 1 else ""
        lines.append(f"{number}. {paint(f'{prospect.provider}.{prospect.operation}', 'bold')}{several}")
        if prospect.not_honoured:
            names = ", ".join(prospect.not_honoured)
            lines.append(paint(f"   does not take {names}: left out of the request", "yellow"))
        if prospect.problem:
            lines.append(paint(f"   cannot be asked: {prospect.problem}", "red"))
        for request in prospect.requests:
            lines += [f"   {line}" for line in request_lines(request, prospect.secrets)]
        lines += [f"   then, if it applies, step {name}: {method} {path}" for name, method, path in prospect.later]
    lines += [f"read as the page {page}, by its address {form}" for page, form in explanation.read]
    if not explanation.asked:
        lines.append("nobody is asked")
    if explanation.then:
        lines.append(f"then: {explanation.then}")
    if explanation.left_out:
        lines += ["", "left out:"]
        lines += [f"  {name}: {cut(why, max(40, width - len(name) - 4))}" for name, why in explanation.left_out]
    cache = explanation.cache
    if cache is None:
        return [*lines, "", "cache: answers of this tool are not kept"]
    lines += ["", f"cache: {cache.key} for {cache.ttl:g} s"]
    lines.append(f"  in the key: specs and settings, the route, {', '.join(cache.inputs)}")
    if cache.ignored:
        lines.append(f"  ignored, proved to change nothing: {', '.join(cache.ignored)}")
    return lines
