"""Runs tools for real: checks arguments, looks into the cache, drives plans and operations, and keeps count."""

from __future__ import annotations

import asyncio
import functools
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from specloom.cache import AnswerCache, CacheEntry
from specloom.core import KINDS, Answer, Fault, did_you_mean
from specloom.model import Model, Row, Tool
from specloom.plugins import CLOSERS, ENVELOPES, Artifact, ArtifactKeeper, CallRecord, Collections, split_owner

from .answer_check import check_answer
from .arguments import Arguments, parse_arguments
from .cache_keys import answer_key, key_prefix
from .circuit_breaker import Breakers
from .configuration import configure, read_settings
from .live_context import LiveContext
from .metrics import Count, Tallies
from .observers import Watch
from .plan.drive import Progress, conduct
from .plan.effects import Ask, Offer, ProviderOutcome, Run
from .plan.run import pursue
from .providers import Upstreams
from .recordings import Sender
from .response_meta import link_large, say_freshness, say_routing
from .routing import RoutingError, plan_routes
from .single_flight import Flights

# --- What is known of a call that has ended: its answer, or how it failed, and the line that a record has of it -------


MOST_FAILED = 50
"""Failed calls that are remembered (the tool contract's figure)."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that failed: when, whose, of which tool, and how; `kind` is the word that clients know."""

    at: float
    owner: str
    tool: str
    kind: str
    provider: str
    message: str


Auditor = Callable[[CallRecord], None]


@dataclass(frozen=True, slots=True)
class Done:
    """An answered call: the answer as JSON text, and what stands beside it in `_meta`."""

    body: str
    meta: dict[str, Any]
    linked: Artifact | None = None
    """Where the whole answer is, when `body` only stands for it."""
    fault: str = ""
    """The kind of the fault that the answer tells in the envelope of its tool."""

    @property
    def answer(self) -> dict[str, Any]:
        """The answer as an object."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


@dataclass(frozen=True, slots=True)
class Fresh:
    """What a plan gave, ready to be kept and told."""

    body: str
    meta: dict[str, Any]
    outcomes: list[Mapping[str, Any]]
    rows: list[Row]
    """What was found, of which the answer may tell less."""


PARTIAL_TTL = 60.0
"""Seconds for which an answer is kept at most that lacks what an upstream in trouble would have added."""


class Executor:
    """One engine over one model: everything that a call needs, and everything that calls share."""

    def __init__(
        self,
        model: Model,
        *,
        environ: Mapping[str, str],
        sender: Sender,
        cache: AnswerCache | None = None,
        breakers: Breakers | None = None,
        drawers: Collections | None = None,
        audit: Auditor | None = None,
        artifacts: ArtifactKeeper | None = None,
        clock: Callable[[], float] = time.time,
        allow_private: bool = False,
        is_live: bool = True,
        validate: bool = False,
        isolate: bool = False,
        always_configured: bool = False,
    ) -> None:
        self.model = model
        self.sender = sender
        self.cache = cache
        self.breakers = breakers or Breakers()
        self.drawers = drawers
        self.closing: list[Callable[[], Awaitable[None]]] = []
        """What else ends with this executor, in order."""
        self.audit = audit
        self.artifacts = artifacts
        self.clock = clock
        self.allow_private = allow_private
        self.is_live = is_live
        self.validate = validate
        self.isolate = isolate
        self.problems: list[str] = []
        # A replay needs no keys.
        found = configure(model.providers.values(), environ, always=always_configured)
        self.problems += found.problems
        self.settings, self.configured, self.missing = found.settings, found.names, found.missing
        try:
            self.routes = plan_routes(model, self.configured, environ)
        except RoutingError as error:
            self.problems.append(str(error))
            self.routes = plan_routes(model, self.configured, {})
        self.problems += self.routes.warnings
        self.tool_settings: dict[str, dict[str, Any]] = {}
        for tool in model.tools.values():
            values, problems = read_settings(tool.settings, environ)
            self.problems += problems
            self.tool_settings[tool.name] = values
        self.tool_counts: dict[str, Count] = {name: Count() for name in model.tools}
        self.tallies = Tallies()
        self.recent: deque[Failed] = deque(maxlen=MOST_FAILED)
        self._watch = Watch(drawers, environ, clock)
        self.problems += self._watch.problems
        self.upstreams = Upstreams(
            model.providers, self.settings, sender=sender, breakers=self.breakers, cache=cache, clock=clock
        )
        self.flights = Flights()
        self._prefixes: dict[str, bytes] = {}

    def tool(self, name: str) -> Tool:
        """The tool of that name, or a `config` fault."""
        if name not in self.model.tools:
            hint = did_you_mean(name, self.model.tools)
            sentence = f"there is no tool {name!r}" + (f"; {hint}" if hint else "")
            raise Fault("config", sentence, alternatives=sorted(self.model.tools))
        return self.model.tools[name]

    def peek(self, name: str, raw: Mapping[str, Any] | None, *, owner: str = "") -> Done | None:
        """The kept answer if it is in memory, else None. Never waits, and may be called from any thread."""
        if self.cache is None:
            return None
        began = time.perf_counter()
        tool = self.tool(name)
        if tool.cache is None or tool.link is not None:
            return None
        try:
            arguments = parse_arguments(tool, raw)
        except Fault:
            return None
        if self._watch.watching(tool, arguments):
            return None
        entry = self.cache.peek(self.cache_key(tool, arguments, owner))
        if entry is None:
            return None
        done = self._from_entry(tool, arguments, entry, began)
        self._audit(tool, owner, arguments.given, began, "")
        return done

    async def call(
        self, name: str, raw: Mapping[str, Any] | None, *, owner: str = "", progress: Progress | None = None
    ) -> Done:
        """Answer a call, from the cache or anew; raises Fault."""
        began = time.perf_counter()
        tool = self.tool(name)
        given: Mapping[str, Any] = raw or {}
        error = "cancelled"
        try:
            arguments = parse_arguments(tool, raw)
            given = arguments.given
            done = await self._watched(tool, arguments, began, owner, progress)
            if tool.link is not None and self.artifacts is not None:
                linked = await link_large(tool, arguments.given, done.body, self.artifacts, owner)
                done = Done(linked[0], done.meta, linked[1]) if linked else done
            error = ""
        except Exception as raised:
            fault = _to_fault(raised)
            error = KINDS[fault.kind].wire
            if fault is raised or tool.envelope:
                self.tool_counts[name].add(time.perf_counter() - began, fault, at=self.clock())
                self.recent.appendleft(Failed(self.clock(), owner, name, error, fault.provider, fault.message))
            if not tool.envelope:
                raise
            told = ENVELOPES[tool.envelope].function(fault, given)
            done = Done(json.dumps(told, ensure_ascii=False, separators=(",", ":")), {}, fault=fault.kind)
        finally:
            self._audit(tool, owner, given, began, error)
        return done

    def _audit(self, tool: Tool, owner: str, given: Mapping[str, Any], began: float, error: str) -> None:
        self.tallies.count(split_owner(owner)[0], error, self.clock())
        if self.audit is not None:
            session = str(given.get(tool.record[0]) or "") if tool.record else ""
            self.audit(CallRecord(owner, tool.name, session, time.perf_counter() - began, error, given))

    async def _watched(
        self, tool: Tool, arguments: Arguments, began: float, owner: str, progress: Progress | None
    ) -> Done:
        """Answer, and tell those who look at calls how it went."""
        outcomes: list[Mapping[str, Any]] = []
        found: list[Row] = []
        try:
            done = await self._done(tool, arguments, began, owner, progress, outcomes, found)
        except Fault as fault:
            failed = {"provider": fault.provider or tool.name, "error": KINDS[fault.kind].wire}
            outcomes.append({**failed, "url": str(arguments.given.get("url") or "")})
            await self._watch.tell(tool, arguments, owner, "", outcomes)
            raise
        await self._watch.tell(tool, arguments, owner, done.body, outcomes, found)
        return done

    async def _done(
        self,
        tool: Tool,
        arguments: Arguments,
        began: float,
        owner: str,
        progress: Progress | None,
        outcomes: list[Mapping[str, Any]],
        found: list[Row],
    ) -> Done:
        key = self.cache_key(tool, arguments, owner)
        if self.cache is not None and tool.cache is not None:
            entry = await self.cache.get(key)
            if entry is not None:
                return self._from_entry(tool, arguments, entry, began)
        run = functools.partial(self._answer, tool, arguments, key, owner, progress)
        shared = tool.cache is not None or tool.annotations["idempotent"]
        fresh = await (self.flights.run(f"{owner}\0{key}", run) if shared else run())
        self.tool_counts[tool.name].add(time.perf_counter() - began, at=self.clock())
        outcomes.extend(fresh.outcomes)
        found.extend(fresh.rows)
        meta = dict(fresh.meta)
        if "routing" in meta:
            meta["routing"] = {**meta["routing"], "latency_ms": round((time.perf_counter() - began) * 1000)}
        return Done(fresh.body, meta)

    def cache_key(self, tool: Tool, arguments: Arguments, owner: str = "") -> str:
        """Under which key the answer to these arguments is kept."""
        prefix = self._prefixes.get(tool.name)
        if prefix is None:
            orders, own = self.routes.orders, self.tool_settings[tool.name]
            prefix = self._prefixes[tool.name] = key_prefix(tool, self.model, orders, self.settings, own)
        return answer_key(tool, arguments, prefix, owner if self.isolate else "")

    def _from_entry(self, tool: Tool, arguments: Arguments, entry: CacheEntry, began: float) -> Done:
        now = self.clock()
        meta: dict[str, Any] = say_freshness(True, int(entry.age(now)), entry.ttl, entry.freshness(now))
        spent = time.perf_counter() - began
        if self.routes.routed and "provider" not in arguments.explicit:
            meta["routing"] = {"cache_hit": True, "latency_ms": round(spent * 1000)}
        count = self.tool_counts[tool.name]
        count.add(spent, at=now)
        count.hits += 1
        body = entry.value.decode()
        if tool.cache is not None and tool.cache.age_as:
            aged = {**json.loads(body), tool.cache.age_as: int(entry.age(now))}
            body = json.dumps(aged, ensure_ascii=False, separators=(",", ":"))
        return Done(body, meta)

    async def _answer(self, tool: Tool, arguments: Arguments, key: str, owner: str, progress: Progress | None) -> Fresh:
        try:
            async with asyncio.timeout(tool.deadline):
                outcome = await self._pursue(tool, arguments, owner, progress)
        except TimeoutError:
            raise Fault("upstream_unavailable", f"{tool.name} had no answer after {tool.deadline:g} seconds") from None
        if self.validate:
            check_answer(tool, outcome.answer)
        body = json.dumps(outcome.answer, ensure_ascii=False, separators=(",", ":"))
        ttl = tool.cache.ttl if tool.cache else 0.0
        if outcome.partial:
            ttl = min(ttl, PARTIAL_TTL)
        if self.cache is not None and tool.cache is not None and outcome.keep:
            await self.keep(key, body.encode("utf-8", "surrogatepass"), ttl)
        meta: dict[str, Any] = {}
        if tool.cache is not None and tool.cache.always_say:
            meta |= say_freshness(False, 0, ttl, "fresh")
        meta |= outcome.meta
        if self.routes.routed and not outcome.explicit and outcome.served_by:
            meta["routing"] = say_routing(outcome)
        ended: list[Mapping[str, Any]] = [
            {"provider": one.provider, "error": KINDS[one.kind].wire} for one in outcome.failed if one.provider
        ]
        # A procedure is served by no provider, and counts as the tool, as when it fails.
        return Fresh(body, meta, [*ended, {"provider": outcome.served_by or tool.name}], outcome.rows)

    async def keep(self, key: str, value: bytes, ttl: float) -> None:
        """Keep an answer: in memory by the end of this, on disk soon."""
        assert self.cache is not None
        await self.cache.put(key, value, ttl, soon=True)

    def offer(self) -> Offer:
        """Who can be asked now."""
        resting = frozenset(one["provider"] for one in self.breakers.snapshot() if not one["available"])
        return Offer(self.routes.orders, self.configured, self.missing, resting, self.routes.unmet)

    async def _pursue(self, tool: Tool, arguments: Arguments, owner: str, progress: Progress | None) -> ProviderOutcome:
        async def ask(one: Ask, within: float) -> Answer:
            return await self.upstreams.ask(one.provider, one.operation, one.arguments, within=within)

        async def run(one: Run) -> Row:
            return await one.function(LiveContext(self, tool, owner, progress), one.parameters)

        running = pursue(tool, self.model, arguments, self.tool_settings[tool.name], self.offer(), self.clock(), owner)
        return await conduct(running, ask, run, deadline=tool.deadline, progress=progress)

    async def aclose(self) -> None:
        """Close connections and the cache, and end what procedures have started."""
        for closer in CLOSERS.values():
            await closer.function()
        await self.sender.aclose()
        for close in self.closing:
            await close()
        if self.cache is not None:
            self.cache.close()


def _to_fault(error: Exception) -> Fault:
    """What ended a call; where failures are answers, a defect is one too."""
    return error if isinstance(error, Fault) else Fault("internal", f"A defect of the server: {type(error).__name__}.")
