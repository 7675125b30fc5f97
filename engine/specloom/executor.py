"""Runs tools for real: checks arguments, looks into the cache, drives plans and operations, and keeps count."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .arguments import Arguments, parse_arguments
from .asking import Ask, AskAll, Offer, Outcome, Run
from .breaker import Breakers
from .cache import AnswerCache
from .cache_entry import Entry
from .cachekeys import answer_key, key_prefix, request_key
from .config import is_configured, missing_settings, read_settings
from .counts import Count
from .desk import Artifact, ArtifactKeeper
from .diagnostics import Place, did_you_mean
from .drawer import Drawers, split_owner
from .driving import drive_live
from .exchange import redact
from .faults import KINDS, Fault
from .flights import Flights
from .hooks import CLOSERS, ENVELOPES, OBSERVERS, PROCEDURES, Observer, Seen
from .keyring import SPENT, Key, Keyring
from .limits import Limiter
from .linking import link_large
from .livedesk import LiveDesk
from .model import Model, Operation, Provider, Row, Tool
from .perform import perform
from .provenance import say_freshness, say_routing
from .pursue import pursue
from .recording import Sender, from_recording, to_recording
from .route import RoutingError, plan_routes
from .settings import make_setting
from .tally import Tallies
from .vault import Secret
from .wire import Answer, Request, Response

Progress = Callable[[float, float | None, str | None], None]

NOWHERE = Place("<engine>")
OPTIONAL_SHARE = 4
"""What only adds to an answer may take a fourth of the time that there is for the call, so that two such stages and the
search before them fit into it."""
MOST_FAILED = 50
"""Failed calls that are remembered (the tool contract's figure)."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call that has ended, for the record: `error` is the kind of its fault as clients know it, or empty."""

    owner: str
    tool: str
    session: str
    seconds: float
    error: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that failed: when, whose, of which tool, and how; `kind` is the word that clients know."""

    at: float
    owner: str
    tool: str
    kind: str
    provider: str
    message: str


Auditor = Callable[[Called], None]


@dataclass(frozen=True, slots=True)
class Done:
    """An answered call: the answer as JSON text, and what stands beside it in `_meta`."""

    body: str
    meta: dict[str, Any]
    linked: Artifact | None = None
    """Where the whole answer is, when `body` only stands for it."""

    @property
    def answer(self) -> dict[str, Any]:
        """The answer as an object."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


@dataclass(frozen=True, slots=True)
class _Fresh:
    """What a plan gave, ready to be kept and told."""

    body: str
    meta: dict[str, Any]
    outcomes: list[Mapping[str, Any]]


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
        drawers: Drawers | None = None,
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
        self.settings: dict[str, dict[str, Any]] = {}
        configured = set()
        missing: dict[str, tuple[str, ...]] = {}
        for provider in model.providers.values():
            values, problems = read_settings(provider.settings, environ)
            self.problems += problems
            self.settings[provider.name] = values
            if is_configured(provider, values):
                configured.add(provider.name)
            elif always_configured:  # a replay needs no keys
                configured.add(provider.name)
                self.settings[provider.name] = {**values, **_stand_ins(provider, values)}
            else:
                missing[provider.name] = tuple(missing_settings(provider, values))
        self.configured = frozenset(configured)
        self.missing = missing
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
        self.provider_counts: dict[str, Count] = {}
        self.tallies = Tallies()
        self.recent: deque[Failed] = deque(maxlen=MOST_FAILED)
        self._observers: list[tuple[Observer, Mapping[str, Any]]] = []
        for one in OBSERVERS if drawers is not None else ():
            declared = {name: make_setting(name, said, NOWHERE) for name, said in one.settings.items()}
            values, problems = read_settings(declared, environ)
            self.problems += problems
            self._observers.append((one, values))
        self._limiters: dict[str, Limiter] = {}
        self._keyrings = {one.name: Keyring(one, self.settings[one.name]) for one in model.providers.values()}
        self.flights = Flights()
        self._prefixes: dict[str, bytes] = {}

    # --- calls ------------------------------------------------------------------------------------------------------

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
        if self._watched(tool, arguments):
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
            done = await self._watch(tool, arguments, began, owner, progress)
            if tool.link is not None and self.artifacts is not None:
                linked = await link_large(tool, arguments.given, done.body, self.artifacts, owner)
                done = Done(linked[0], done.meta, linked[1]) if linked else done
            error = ""
        except Fault as fault:
            self.tool_counts[name].add(time.perf_counter() - began, fault, at=self.clock())
            error = KINDS[fault.kind].wire
            self.recent.appendleft(Failed(self.clock(), owner, name, error, fault.provider, fault.message))
            if not tool.envelope:
                raise
            told = ENVELOPES[tool.envelope].function(fault, raw or {})
            done = Done(json.dumps(told, ensure_ascii=False, separators=(",", ":")), {})
        finally:
            self._audit(tool, owner, given, began, error)
        return done

    def _audit(self, tool: Tool, owner: str, given: Mapping[str, Any], began: float, error: str) -> None:
        self.tallies.count(split_owner(owner)[0], error, self.clock())
        if self.audit is not None:
            session = str(given.get(tool.record[0]) or "") if tool.record else ""
            self.audit(Called(owner, tool.name, session, time.perf_counter() - began, error, given))

    async def _watch(
        self, tool: Tool, arguments: Arguments, began: float, owner: str, progress: Progress | None
    ) -> Done:
        """Answer, and tell those who look at calls how it went."""
        outcomes: list[Mapping[str, Any]] = []
        try:
            done = await self._done(tool, arguments, began, owner, progress, outcomes)
        except Fault as fault:
            failed = {"provider": fault.provider or tool.name, "error": KINDS[fault.kind].wire}
            outcomes.append({**failed, "url": str(arguments.given.get("url") or "")})
            await self._observe(tool, arguments, owner, "", outcomes)
            raise
        await self._observe(tool, arguments, owner, done.body, outcomes)
        return done

    async def _done(
        self,
        tool: Tool,
        arguments: Arguments,
        began: float,
        owner: str,
        progress: Progress | None,
        outcomes: list[Mapping[str, Any]],
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

    def _from_entry(self, tool: Tool, arguments: Arguments, entry: Entry, began: float) -> Done:
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

    def _watched(self, tool: Tool, arguments: Arguments) -> list[tuple[Observer, Mapping[str, Any]]]:
        """Who looks at a call: those for its session, and those who look at every call."""
        session = bool(tool.record and arguments.given.get(tool.record[0]))
        return [one for one in self._observers if session or (one[0].every and one[1].get(one[0].every))]

    async def _observe(
        self, tool: Tool, arguments: Arguments, owner: str, body: str, outcomes: list[Mapping[str, Any]]
    ) -> None:
        watching = self._watched(tool, arguments)
        if not watching or self.drawers is None:
            return
        field, kind = tool.record or ("", "")
        rows = _sources(tool, json.loads(body)) if body and field else []
        for one, config in watching:
            session = str(arguments.given.get(field) or "")
            seen = Seen(owner, tool.name, session, kind, rows, outcomes, self.clock(), config)
            # What cannot be remembered keeps no answer from whoever asked.
            with contextlib.suppress(Fault):
                await one.function(self.drawers, seen)

    async def _answer(
        self, tool: Tool, arguments: Arguments, key: str, owner: str, progress: Progress | None
    ) -> _Fresh:
        try:
            async with asyncio.timeout(tool.deadline):
                outcome = await self._pursue(tool, arguments, owner, progress)
        except TimeoutError:
            raise Fault("upstream_unavailable", f"{tool.name} had no answer after {tool.deadline:g} seconds") from None
        if self.validate:
            _check_answer(tool, outcome.answer)
        body = json.dumps(outcome.answer, ensure_ascii=False, separators=(",", ":"))
        ttl = tool.cache.ttl if tool.cache else 0.0
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
        return _Fresh(body, meta, [*ended, {"provider": outcome.served_by or tool.name}])

    async def keep(self, key: str, value: bytes, ttl: float) -> None:
        """Keep an answer: in memory by the end of this, on disk soon."""
        assert self.cache is not None
        await self.cache.put(key, value, ttl, soon=True)

    def offer(self) -> Offer:
        """Who can be asked now."""
        resting = frozenset(one["provider"] for one in self.breakers.snapshot() if not one["available"])
        return Offer(self.routes.orders, self.configured, self.missing, resting, self.routes.unmet)

    async def _pursue(self, tool: Tool, arguments: Arguments, owner: str, progress: Progress | None) -> Outcome:
        running = pursue(tool, self.model, arguments, self.tool_settings[tool.name], self.offer(), self.clock())
        asked = 0
        give: Any = None
        while True:
            try:
                wanted = running.throw(give) if isinstance(give, Fault) else running.send(give)
            except StopIteration as stop:
                outcome: Outcome = stop.value
                return outcome
            if isinstance(wanted, AskAll):
                within = tool.deadline / OPTIONAL_SHARE if wanted.optional else None
                tasks = [asyncio.ensure_future(self._caught(ask, within)) for ask in wanted.asks]
                try:
                    give = await asyncio.gather(*tasks)
                finally:
                    for task in tasks:
                        task.cancel()
                continue
            if isinstance(wanted, Run):
                give = await self._run(tool, wanted, owner, progress)
                continue
            if progress is not None:
                progress(asked, None, f"asking {wanted.provider}")
            asked += 1
            give = await self._caught(wanted)

    async def _run(self, tool: Tool, run: Run, owner: str, progress: Progress | None) -> Row | Fault:
        try:
            return await PROCEDURES[run.procedure].function(LiveDesk(self, tool, owner, progress), run.parameters)
        except Fault as fault:
            return fault

    async def _caught(self, ask: Ask, within: float | None = None) -> Answer | Fault:
        try:
            return await self.ask(ask.provider, ask.operation, ask.arguments, within=within)
        except Fault as fault:
            return fault

    # --- operations -------------------------------------------------------------------------------------------------

    async def ask(
        self, name: str, operation_name: str, arguments: Mapping[str, Any], *, within: float | None = None
    ) -> Answer:
        """Run one operation of one provider behind its breaker and its limits, in `within` seconds; raises Fault."""
        provider = self.model.providers[name]
        operation = provider.operations[operation_name]
        count = self.provider_counts.setdefault(operation.id, Count())
        began = time.perf_counter()
        try:
            with self.breakers.of(name, operation_name).acquire() as permit:
                async with _bounded(within, provider.title):
                    answer = await self._with_keys(provider, operation, arguments)
                permit.succeed()
        except Fault as fault:
            count.add(time.perf_counter() - began, fault)
            raise self._owned(fault, name) from None
        count.add(time.perf_counter() - began)
        return answer

    async def _with_keys(self, provider: Provider, operation: Operation, arguments: Mapping[str, Any]) -> Answer:
        """The answer with the key whose turn it is; where that one is spent, with the next."""
        spent: Fault | None = None
        for key in self._keyrings[provider.name].turn():
            try:
                return await self._drive(provider, operation, arguments, key)
            except Fault as fault:
                if fault.kind not in SPENT:
                    raise
                spent = fault
        assert spent is not None
        raise spent

    async def _drive(self, provider: Provider, operation: Operation, arguments: Mapping[str, Any], key: Key) -> Answer:
        running = perform(provider, operation, arguments, key.settings, self.clock(), key.tokens)
        return await drive_live(running, lambda request: self._send(provider, request))

    async def _send(self, provider: Provider, request: Request) -> Response:
        if request.keep_for and self.cache is not None:
            key = "kept:" + request_key(request)
            entry = await self.cache.get(key)
            if entry is not None:
                return from_recording(json.loads(entry.value)["response"], request.url)
            response = await self._send_now(provider, request)
            if response.status < 300:
                kept = json.dumps(to_recording(request, response)).encode()
                await self.keep(key, kept, request.keep_for)
            return response
        return await self._send_now(provider, request)

    async def _send_now(self, provider: Provider, request: Request) -> Response:
        service = provider.service
        if service.rate is None and service.concurrency is None and not service.faster:
            return await self.sender.send(request)
        limiter = self._limiters.get(provider.name)
        if limiter is None:
            values = self.settings[provider.name]
            rate = next((one for name, one in service.faster if values.get(name) is not None), service.rate)
            limiter = self._limiters[provider.name] = Limiter(rate, service.concurrency, name=provider.title)
        async with limiter.slot(request.policy.timeout):
            return await self.sender.send(request)

    def _owned(self, fault: Fault, provider: str) -> Fault:
        """The fault with the provider's name, and without any secret that the upstream may have echoed."""
        values = self.settings[provider].values()
        secrets = [one for value in values for one in (value.values() if isinstance(value, dict) else [value])]
        known = [one for one in secrets if isinstance(one, Secret)]
        return Fault(
            fault.kind,
            redact(fault.message, known),
            provider=fault.provider or provider,
            retry_after=fault.retry_after,
            alternatives=fault.alternatives,
            detail=redact(fault.detail, known),
            action=fault.action,
        )

    async def aclose(self) -> None:
        """Close connections and the cache, and end what procedures have started."""
        for close in CLOSERS:
            await close()
        await self.sender.aclose()
        for close in self.closing:
            await close()
        if self.cache is not None:
            self.cache.close()


@contextlib.asynccontextmanager
async def _bounded(seconds: float | None, title: str) -> AsyncIterator[None]:
    """A fault of the upstream where what is inside takes longer; None for as long as it takes."""
    if seconds is None:
        yield
        return
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Fault("upstream_unavailable", f"{title} gave no answer in {seconds:g} seconds") from None


def _stand_ins(provider: Provider, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values for needed settings when nothing is sent anyway."""
    needed = [one for one in provider.settings.values() if one.required and values.get(one.name) is None]
    return {
        one.name: Secret("replayed") if one.secret else "https://replay.invalid" if one.kind == "url" else "replayed"
        for one in needed
    }


def _sources(tool: Tool, answer: Mapping[str, Any]) -> list[Row]:
    """The sources that an answer tells of, which is what a session records: its rows, or itself where it is one."""
    key = next((one.name for one in tool.answer if one.fields is not None), "")
    rows = answer.get(key) or answer.get("sources")
    if isinstance(rows, list):
        return rows
    # A source that is the answer itself keeps what it says of itself apart, under `metadata`.
    about = answer.get("metadata")
    return [{**(about if isinstance(about, dict) else {}), **answer}] if isinstance(answer.get("url"), str) else []


def _check_answer(tool: Tool, answer: dict[str, Any]) -> None:
    from jsonschema import Draft7Validator

    for error in Draft7Validator(tool.output_schema).iter_errors(answer):
        where = "/".join(str(part) for part in error.absolute_path) or "the answer"
        raise Fault("internal", f"{tool.name}: {where} does not fit the published schema", detail=error.message[:300])
