"""Who answers a search with no key, with one and with all of them: every tool is really asked, and upstreams are stubs.

A stub answers with what the examples of its provider's file reply, cut down from recorded answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from specloom.core import Fault, Report, Request, Response, dataclass
from specloom.model import Model, Provider, Tool, questions
from specloom.runtime import Executor
from specloom.specs import Library

from .examples.compare import examples_of
from .examples.providers import clock, to_response

NOW = clock("2026-01-01T00:00:00Z")
EVERY_PACE = "1000/s"
"""Nobody waits for a stub."""
_KEYS = ("none", "one", "all")


@dataclass(frozen=True, slots=True)
class RouteRow:
    """A tool under one set of keys: who answers, and who is asked where everybody refuses."""

    tool: str
    keys: str
    """`none`, the variables of the one provider that is set, or `all`."""
    served: str
    """Who answers when all do; empty where nobody can be asked."""
    rows: int
    requests: int
    usd: float
    order: tuple[str, ...]
    """Who is asked, in which order, when nobody has an answer."""
    says: str
    """What is told where nobody can be asked."""


class StubbedUpstreams:
    """Answers each step of an operation with what an example of its provider's file replies."""

    def __init__(self, replies: Mapping[tuple[str, str, str], list[Mapping[str, Any]]], *, refuses: bool) -> None:
        self._replies, self._refuses = replies, refuses
        self._served: dict[tuple[str, str, str], int] = {}

    async def send(self, request: Request) -> Response:
        """The reply for the step of a request, several of them in turn."""
        key = request.provider, request.operation, request.step
        replies = self._replies.get(key)
        if self._refuses or not replies:
            raise Fault("blocked", f"{request.provider} refuses, as the stub was told to")
        at = self._served.get(key, 0)
        self._served[key] = at + 1
        answer = to_response(replies[min(at, len(replies) - 1)], request.url)
        if isinstance(answer, Fault):
            raise answer
        return answer

    async def aclose(self) -> None:
        """Nothing is open."""


def list_routes(model: Model, library: Library) -> list[RouteRow]:
    """A row for each search tool and set of keys, by tool."""
    replies, arguments = collect_replies(model, library), _collect_arguments(model, library)
    return asyncio.run(_list_routes(model, replies, arguments))


async def _list_routes(
    model: Model, replies: Mapping[tuple[str, str, str], list[Mapping[str, Any]]], arguments: Mapping[str, Any]
) -> list[RouteRow]:
    rows = []
    for name, given in arguments.items():
        tool = model.tools[name]
        for keys in _KEYS:
            told, environ = _environ(tool, model, keys)
            if not told:
                continue
            answering, refusing = (
                Executor(
                    model,
                    environ=environ,
                    sender=StubbedUpstreams(replies, refuses=refuses),
                    clock=lambda: NOW,
                )
                for refuses in (False, True)
            )
            rows.append(await _row(tool, told, given, answering, refusing))
    return rows


async def _row(tool: Tool, keys: str, given: Mapping[str, Any], answering: Executor, refusing: Executor) -> RouteRow:
    served, count, requests, usd, says = "", 0, 0, 0.0, ""
    try:
        done = await answering.call(tool.name, given)
    except Fault as fault:
        says = fault.message
    else:
        routing, cost = done.meta.get("routing", {}), done.meta.get("cost", {})
        served = str(routing.get("provider_used", ""))
        requests, usd = int(cost.get("requests", 0)), float(cost.get("usd", 0.0))
        lists = [done.answer.get(key.name) for key in tool.answer if key.fields is not None]
        count = sum(len(one) for one in lists if isinstance(one, list))
    try:
        done = await refusing.call(tool.name, given)
    except Fault as fault:
        order = tuple(dict.fromkeys(fault.tried))
    else:
        order = tuple(done.meta.get("routing", {}).get("providers_attempted", ()))
    return RouteRow(tool.name, keys, served, count, requests, usd, order, says)


def _environ(tool: Tool, model: Model, keys: str) -> tuple[str, dict[str, str]]:
    """What the set of keys is called for a tool, "" where its routes need none, and the environment that it is."""
    environ = {f"{name.upper()}_RATE": EVERY_PACE for name in model.providers}
    if keys == "all":
        for provider in model.providers.values():
            environ |= _needed(provider)
        return keys, environ
    if keys == "one":
        ranked = (name for one in questions(tool.plan) for name in model.capabilities[one.operation].order)
        own = next((needed for name in ranked if (needed := _needed(model.providers[name]))), {})
        return " and ".join(own), environ | own
    return keys, environ


def _needed(provider: Provider) -> dict[str, str]:
    """What has to be set for a provider, made up."""
    kinds = {"url": f"https://{provider.name.replace('_', '-')}.example", "credentials": "ann:made-up"}
    return {one.name: kinds.get(one.kind, "made-up") for one in provider.settings.values() if one.required}


def collect_replies(model: Model, library: Library) -> dict[tuple[str, str, str], list[Mapping[str, Any]]]:
    """What the examples of providers reply: for each step of an operation that of the first with an answer."""
    found: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for name, spec in library.of("provider").items():
        for stated in (one.stated for one in examples_of(spec, Report())):
            expect = stated.get("expect") or {}
            operation = str(stated.get("operation", ""))
            if "replies" not in stated or "error" in expect or expect.get("count") == 0 or not operation:
                continue
            for step, reply in stated["replies"].items():
                replies = reply if isinstance(reply, list) else [reply]
                if all("fault" not in one and one.get("status", 200) < 400 for one in replies):
                    found.setdefault((name, operation, str(step)), replies)
    assert all(provider in model.providers for provider, _, _ in found)
    return found


def _collect_arguments(model: Model, library: Library) -> dict[str, Mapping[str, Any]]:
    """For each tool that asks providers the arguments of its first example with an answer, without its filters."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, tool in model.tools.items():
        keeps = any(part.access is not None for strategy in tool.plan for part in strategy.parts)
        if keeps or not any(questions(tool.plan)):
            continue
        for stated in (one.stated for one in examples_of(library.of("tool")[name], Report())):
            expect = stated.get("expect") or {}
            if "providers" in stated and expect.get("count", 1) and "error" not in expect:
                narrowing = set(tool.hints.filters) if tool.hints is not None else set()
                given = stated.get("args") or {}
                found[name] = {
                    key: value
                    for key, value in given.items()
                    if key not in narrowing - {one.name for one in tool.inputs.values() if one.required}
                    and key != "provider"
                }
                break
    return found
