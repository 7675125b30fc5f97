"""Runs tools for real: checks arguments, looks into the cache, drives plans and operations, and keeps count."""

from __future__ import annotations

import copy
import functools
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from specloom.cache import AnswerCache, CacheEntry
from specloom.core import (
    KINDS,
    Answer,
    Fault,
    Place,
    VariableError,
    dataclass,
    did_you_mean,
    dump_clean,
    read_variable,
    replace,
)
from specloom.core.lazy import LateModule
from specloom.language import build, evaluate, truthy
from specloom.model import NOTICES, Model, ObserverHead, Row, Tool, make_setting
from specloom.plugins import (
    CLOSERS,
    ENVELOPES,
    OBSERVERS,
    Artifact,
    ArtifactKeeper,
    CallRecord,
    Collections,
    ObservedCall,
    split_owner,
)

from .answer_parts import Continuation, check_same, cut_told, find_continuation, join_begin, split_begin
from .arguments import Arguments, Digest, answer_key, bound_budget, digest_prefix, parse_arguments
from .circuit_breaker import Breakers
from .configuration import ROUTING, Routes, RoutingError, configure, plan_routes, read_settings
from .degradation import with_notices
from .live_context import LiveContext
from .metrics import CallerLimits, Count, Failed, Failures, Stalls, Tallies, TenantCounts, new_histogram
from .pages import PageIndex
from .plan import Ask, Life, Offer, Progress, ProviderOutcome, Run, conduct
from .providers import Upstreams
from .recordings import Sender
from .request import Writes
from .single_flight import Flights
from .spending import PaidQuestion, Spending, price_of, read_ceilings
from .strategies import pursue

if TYPE_CHECKING:
    import asyncio

    from specloom.core import Backplane

    from .trips import SharedTrips
else:
    asyncio = LateModule("asyncio")

# --- What stands beside an answer in `_meta`: where it comes from and how fresh it is ---------------------------------


def say_freshness(cached: bool, age: int, ttl: float, label: str) -> dict[str, Any]:
    """How old an answer is, in seconds, and how long it is good."""
    return {"cached": cached, "ageSeconds": age, "maxAgeSeconds": int(ttl), "freshness": label}


def say_routing(outcome: ProviderOutcome) -> dict[str, Any]:
    """Who answered, who was asked in which order, and how each fared; no address and no upstream text."""
    said: dict[str, Any] = {}
    if any(one.result == "rows" for one in outcome.attempts):
        said["provider_used"] = outcome.served_by
    said["providers_attempted"] = list(dict.fromkeys(outcome.tried))
    if outcome.fallback_reason and len(outcome.attempts) > 1:
        said |= {"fallback": True, "fallback_reason": outcome.fallback_reason}
    said["attempts"] = [{"provider": one.provider, "result": one.result} for one in outcome.attempts]
    return {**said, "cache_hit": False}


def say_attempts(fault: Fault) -> dict[str, Any]:
    """Who was asked in vain, for the record of a call that nobody answered."""
    return {"providers_attempted": list(dict.fromkeys(fault.tried)), "cache_hit": False}


# --- Large answers: kept for a short time under an address, with a small answer in their place ------------------------


MIME_TYPE = "application/json"
MOST_TOKENS = 100_000
"""Tokens of an answer where an operator admits no fewer; the default of SPECLOOM_MAX_TOKENS."""
NAME = "research-artifact"


def describe_large(tool: Tool, arguments: Mapping[str, Any], body: str) -> dict[str, Any] | None:
    """What is told of an answer that is large enough to be linked: `summary`, and what the spec adds; else None."""
    link = tool.link
    if link is None or len(body.encode("utf-8", "surrogatepass")) < link.above:
        return None
    context = {"args": arguments, "answer": json.loads(body)}
    if link.when is not None and not truthy(evaluate(link.when, context)):
        return None
    return {"summary": evaluate(link.summary, context), **build(link.also, context)}


async def link_large(
    tool: Tool, arguments: Mapping[str, Any], body: str, keeper: ArtifactKeeper, owner: str
) -> tuple[str, Artifact] | None:
    """What stands in place of an answer that is large enough, and where the whole is; None when it stays as it is.

    So does one that cannot be kept, since a store that is full or away costs a link, and not the answer.
    """
    described = describe_large(tool, arguments, body)
    if described is None:
        return None
    try:
        kept = await keeper.keep(owner, body, name=NAME, mime_type=MIME_TYPE)
    except Fault:
        return None
    said = {
        "resource": kept.uri,
        "bytes": kept.size,
        "mimeType": kept.mime_type,
        "expiresAt": datetime.fromtimestamp(kept.expires, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "linked": True,
        **described,
    }
    return dump_clean(with_notices(said, json.loads(body).get(NOTICES, ()))), kept


# --- Those who look at calls, such as sessions and analytics, are told how a call went --------------------------------


_NOWHERE = Place("<engine>")
NOT_RECORDED = "Nothing of this call was recorded in a session. {why}"
"""What an answer says that names a session in vain."""


class Watch:
    """The observers that are registered, where something can be kept; none where nothing can."""

    def __init__(
        self,
        observers: Iterable[ObserverHead],
        drawers: Collections | None,
        environ: Mapping[str, str],
        clock: Callable[[], float],
    ) -> None:
        self.problems: list[str] = []
        """A sentence for each of their settings that could not be read."""
        self._drawers = drawers
        self._clock = clock
        self._watching: list[tuple[ObserverHead, Mapping[str, Any]]] = []
        for one in observers if drawers is not None else ():
            declared = {name: make_setting(name, said, _NOWHERE) for name, said in one.settings.items()}
            values, problems = read_settings(declared, environ)
            self.problems += problems
            self._watching.append((one, values))

    def over(self, drawers: Collections) -> Watch:
        """The same observers over other drawers."""
        other = copy.copy(self)
        other._drawers = drawers  # noqa: SLF001 - a copy of itself
        return other

    def watching(self, tool: Tool, arguments: Arguments) -> list[tuple[ObserverHead, Mapping[str, Any]]]:
        """Who looks at a call, with what is set for them: those for its session, and those who look at every call."""
        session = bool(tool.record and arguments.given.get(tool.record[0]))
        return [one for one in self._watching if session or (one[0].every and one[1].get(one[0].every))]

    async def tell(
        self,
        tool: Tool,
        arguments: Arguments,
        owner: str,
        body: str,
        outcomes: list[Mapping[str, Any]],
        found: Sequence[Row] = (),
    ) -> str:
        """Tell everyone who looks at a call; `body` is its answer as JSON, "" where there is none.

        `found` are the rows behind it, for an answer that was asked to tell them only in its text. The sentence for a
        caller who named a session in which nothing of the call is recorded, else "".
        """
        field, kind = tool.record or ("", "")
        session = str(arguments.given.get(field) or "")
        if self._drawers is None:
            return NOT_RECORDED.format(why="This server keeps no state.") if session else ""
        watching = self.watching(tool, arguments)
        if not watching:
            return ""
        answer = json.loads(body) if body and field else {}
        rows = _sources(tool, answer, found) if answer else []
        ended = [*outcomes, *_failures(answer.get(tool.failures))]
        lost = ""
        for one, config in watching:
            seen = ObservedCall(owner, tool.name, session, kind, rows, ended, self._clock(), config)
            # What cannot be remembered keeps no answer from whoever asked.
            try:
                await OBSERVERS[one.name].function(self._drawers, seen)
            except Fault as fault:
                lost = lost or fault.message
        return NOT_RECORDED.format(why=lost) if session and lost else ""


def _failures(failed: Any) -> list[Mapping[str, Any]]:
    """The outcomes of what an answer says it could not read. No provider was asked for these."""
    rows = [one for one in failed if isinstance(one, dict)] if isinstance(failed, list) else []
    return [{"provider": "", "error": one.get("kind", ""), "url": one.get("url", "")} for one in rows]


def _sources(tool: Tool, answer: Mapping[str, Any], found: Sequence[Row]) -> list[Row]:
    """The sources that an answer tells of, which is what a session records: as its spec says, or all that it lists."""
    if tool.recorded is not None:
        rows = evaluate(tool.recorded, {"answer": answer, "rows": list(found)})
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    lists = [answer.get(one.name) for one in tool.answer if one.fields is not None]
    return [row for rows in lists if isinstance(rows, list) for row in rows]


def to_body(tool: Tool, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """An answer as JSON text whose texts are clean, but for those that its spec says stay as they came."""
    context = {"args": arguments, "answer": answer}
    verbatim = [name for name, when in tool.verbatim if truthy(evaluate(when, context))]
    return dump_clean(answer, verbatim=verbatim)


def check_answer(tool: Tool, answer: dict[str, Any]) -> None:
    """Nothing, or an `internal` fault that names the first part of an answer that does not fit its published schema."""
    from jsonschema import Draft7Validator

    for error in Draft7Validator(tool.output_schema).iter_errors(answer):
        where = "/".join(str(part) for part in error.absolute_path) or "the answer"
        raise Fault("internal", f"{tool.name}: {where} does not fit the published schema", detail=error.message[:300])


# --- What is known of a call that has ended: its answer, or how it failed, and the line that a record has of it -------


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
    warning: str = ""
    """What the caller is told whose session recorded nothing of the call; never kept."""
    arguments: Arguments | None = None
    """What was asked; None where the answer is a fault."""
    aside: Sequence[str] = ()
    """Notices that only the text tells; never kept."""
    since: int | None = None
    """What `Executor.count_erasures` said as it was asked for; None where it was there at once."""
    begin: str = ""
    """The cursor at the first row of it, by which a part of it is gone on with; "" where it has none."""
    artifacts: Sequence[Artifact] = ()
    """What is kept for the caller beside the answer, which names each by its address."""

    @property
    def answer(self) -> dict[str, Any]:
        """The answer as an object."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call whose arguments were read: its tool, what is asked, and the key of its answer."""

    tool: Tool
    arguments: Arguments
    key: str
    goes_on: Continuation | None = None
    """The answer that it goes on within; the key is then that of the whole of it."""
    first_key: str = ""
    """The key of the first answer of the search, where that may be it."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """What a plan gave, ready to be kept and told."""

    body: str
    meta: dict[str, Any]
    outcomes: list[Mapping[str, Any]]
    rows: list[Row]
    """What was found, of which the answer may tell less."""
    aside: Sequence[str] = ()
    """The notices of an answer whose data has no place for them."""
    begin: str = ""
    """The cursor at its first row."""
    artifacts: Sequence[Artifact] = ()


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
        is_personal: bool = True,
        is_alone: bool = True,
        validate: bool = False,
        isolate: bool = False,
        always_configured: bool = False,
        most_tokens: int = MOST_TOKENS,
        backplane: Backplane | None = None,
        by_tenant: bool = True,
    ) -> None:
        """With a `backplane` the paces of providers hold over all processes that share it, and breakers open together.

        Without `by_tenant` there is one tenant, and its calls are not counted twice.
        """
        self.model = model
        self.most_tokens = most_tokens
        """What an operator admits for the tokens of an answer."""
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
        self.is_personal = is_personal
        self.is_alone = is_alone
        self.validate = validate
        self.isolate = isolate
        self.problems: list[str] = []
        self._always_configured = always_configured
        self._prefixes: dict[str, Digest] = {}
        self._configure(environ)
        self.tool_counts: dict[str, Count] = {name: Count(buckets=new_histogram()) for name in model.tools}
        self.tenant_counts = TenantCounts() if by_tenant else None
        self.tallies = Tallies()
        self.caller_limits = CallerLimits()
        """Those that a server holds its callers to; whoever serves sets them."""
        self.count_day: Callable[[str], Awaitable[int | None]] | None = None
        """What all who share its limits have taken of a tenant's quota of the day; set by them, where there is one."""
        self.stalls = Stalls()
        self.failures = Failures()
        if cache is not None:
            # They tell of what was asked.
            cache.on_erased.append(self.failures.clear)
        self._watch = Watch(model.heads.observers, drawers, environ, clock)
        self.problems += self._watch.problems
        self.upstreams = Upstreams(
            model.providers,
            self.settings,
            sender=sender,
            breakers=self.breakers,
            cache=cache,
            clock=clock,
            counters=backplane.counters if backplane is not None else None,
        )
        counters = backplane.counters if backplane is not None else None
        self.spending = Spending(self._ceilings, counters, clock)
        self.flights = Flights()
        self._trips: SharedTrips | None = None
        if backplane is not None:
            from .trips import SharedTrips

            self._trips = SharedTrips(self.breakers, backplane.bus, model.providers)
            self.closing.append(self._trips.aclose)

    def _configure(self, environ: Mapping[str, str]) -> None:
        # A replay needs no keys.
        found = configure(
            self.model.heads.providers.values(), environ, always=self._always_configured, shared=not self.is_alone
        )
        self.problems += found.problems
        self.settings, self.configured, self.missing = found.settings, found.names, found.missing
        try:
            self.routes = self._plan_routes(environ)
        except RoutingError as error:
            self.problems.append(str(error))
            environ = {name: value for name, value in environ.items() if name != ROUTING}
            self.routes = self._plan_routes(environ)
        self._environ = environ
        self.problems += self.routes.warnings
        self._ceilings = read_ceilings(functools.partial(self._read, environ))
        self.tool_settings: dict[str, dict[str, Any]] = {}
        for tool in self.model.heads.tools.values():
            values, problems = read_settings(tool.settings, environ)
            self.problems += problems
            self.tool_settings[tool.name] = values

    def under(self, environ: Mapping[str, str]) -> Executor:
        """The same engine with the settings of another environment, such as a tenant's own keys.

        What it keeps is its tenant's alone, and an upstream that turns these keys away goes on for everybody else.
        Stores, connections, counts and the audit log are shared.
        """
        other = copy.copy(self)
        other.problems = []
        other._configure(environ)  # noqa: SLF001 - a copy of itself
        other.isolate = True
        other.breakers = self.breakers.anew()
        other.spending = self.spending.under(other._ceilings)  # noqa: SLF001
        other.upstreams = self.upstreams.under(other.settings, other.breakers)
        other._prefixes = {}  # noqa: SLF001
        return other

    def _plan_routes(self, environ: Mapping[str, str]) -> Routes:
        prices = None
        if self._read(environ, "SPECLOOM_SEARCH_ORDER") == "cheap":
            found = self.model.heads.providers.values()
            prices = {one.name: price_of(one.name, one.cost, self.settings[one.name]) for one in found}
        return plan_routes(self.model, self.configured, environ, self.clock(), prices)

    def _keep_routes(self) -> None:
        """Leave out who is no longer to be asked, once its day has come."""
        if self.clock() >= self.routes.good_until:
            self.routes = self._plan_routes(self._environ)
            self._prefixes.clear()

    def _read(self, environ: Mapping[str, str], name: str) -> Any:
        try:
            return read_variable(name, environ)
        except VariableError as error:
            self.problems.append(str(error))
            return read_variable(name, {})

    @functools.cached_property
    def sites(self) -> PageIndex:
        """The pages of sites that providers read."""
        return PageIndex(self.model.pages)

    def over(self, drawers: Collections) -> Executor:
        """The same engine with other drawers, and without artifacts; everything else is shared with this one."""
        other = copy.copy(self)
        other.drawers, other.artifacts = drawers, None
        other._watch = self._watch.over(drawers)  # noqa: SLF001 - a copy of itself
        return other

    def tool(self, name: str) -> Tool:
        """The tool of that name, or a `config` fault."""
        if name not in self.model.tools:
            hint = did_you_mean(name, self.model.tools)
            sentence = f"there is no tool {name!r}" + (f"; {hint}" if hint else "")
            raise Fault("config", sentence, alternatives=sorted(self.model.tools))
        return self.model.tools[name]

    def peek(self, name: str, raw: Mapping[str, Any] | None, *, owner: str = "", request: str = "") -> Done | None:
        """The kept answer if it is in memory, else None. Never waits, and may be called from any thread."""
        found = self.look(name, raw, owner=owner, request=request)
        return found if isinstance(found, Done) else None

    def look(
        self, name: str, raw: Mapping[str, Any] | None, *, owner: str = "", request: str = ""
    ) -> Done | Prepared | None:
        """The same; where it is not in memory, what `call` may be given of what was worked out to see that."""
        if self.cache is None:
            return None
        began = time.perf_counter()
        tool = self.tool(name)
        if tool.cache is None or tool.link is not None:
            return None
        try:
            call = self._prepare(tool, raw, owner)
        except Fault:
            return None
        if self._watch.watching(tool, call.arguments):
            return None
        for key in _keys(call):
            entry = self.cache.peek(key)
            done = self._from_entry(call, entry, owner, began) if entry is not None else None
            if done is not None:
                self._audit(tool, owner, call.arguments.given, began, "", request, done.meta.get("routing"))
                return done
        return call

    def _prepare(self, tool: Tool, raw: Mapping[str, Any] | None, owner: str) -> Prepared:
        """The call with its arguments read, or a `validation` fault."""
        arguments = bound_budget(parse_arguments(tool, raw), self.most_tokens)
        goes_on = find_continuation(tool, self.model, arguments)
        if goes_on is None:
            return Prepared(tool, arguments, self.cache_key(tool, arguments, owner))
        first = self.cache_key(tool, goes_on.first, owner) if goes_on.first is not None else ""
        return Prepared(tool, arguments, self.cache_key(tool, goes_on.arguments, owner), goes_on, first)

    async def call(
        self,
        name: str,
        raw: Mapping[str, Any] | None,
        *,
        owner: str = "",
        progress: Progress | None = None,
        request: str = "",
        prepared: Prepared | None = None,
    ) -> Done:
        """Answer a call, from the cache or anew; raises Fault. `request` is how the record of calls names it.

        `prepared` is what `look` gave for the same call of the same owner.
        """
        began = time.perf_counter()
        tool = prepared.tool if prepared is not None else self.tool(name)
        given: Mapping[str, Any] = raw or {}
        since = self.count_erasures()
        error, routing = "cancelled", None
        cost: Mapping[str, Any] = {}
        try:
            if prepared is None:
                prepared = self._prepare(tool, raw, owner)
            given = prepared.arguments.given
            done = await self._watched(prepared, began, owner, progress)
            # Whoever is erased while they are answered has nothing new kept of them by that.
            if tool.link is not None and self.artifacts is not None and since == self.count_erasures():
                linked = await link_large(tool, given, done.body, self.artifacts, owner)
                done = replace(done, body=linked[0], linked=linked[1]) if linked else done
            if done.warning:
                warned = with_notices(done.answer, [done.warning])
                done = replace(done, body=_dump(warned))
            error, routing, cost = "", done.meta.get("routing"), done.meta.get("cost", {})
        except Exception as raised:
            fault = _to_fault(raised)
            error, cost = KINDS[fault.kind].wire, fault.spent
            routing = say_attempts(fault) if fault.tried else None
            if fault is raised or tool.envelope:
                self._count(name, owner, time.perf_counter() - began, self.clock(), fault)
                if since == self.count_erasures():
                    self.failures.add(
                        Failed(self.clock(), owner, name, error, fault.kind, fault.provider, fault.message)
                    )
            if not tool.envelope:
                raise
            told = ENVELOPES[tool.envelope].function(fault, given)
            done = Done(dump_clean(told), {}, fault=fault.kind)
        finally:
            self._audit(tool, owner, given, began, error, request, routing, cost)
        return replace(done, since=since)

    def count_erasures(self) -> int:
        """A number that is another once anybody's data was erased, here or by another process."""
        return self.cache.generation if self.cache is not None else 0

    def _audit(
        self,
        tool: Tool,
        owner: str,
        given: Mapping[str, Any],
        began: float,
        error: str,
        request: str,
        routing: Mapping[str, Any] | None,
        cost: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.tallies.count(split_owner(owner)[0], error, self.clock())
        if self.audit is not None:
            session = str(given.get(tool.record[0]) or "") if tool.record else ""
            seconds = time.perf_counter() - began
            if routing is not None:
                routing = {**routing, "latency_ms": round(seconds * 1000)}
            self.audit(CallRecord(owner, tool.name, session, seconds, error, given, request, routing or {}, cost))

    async def _watched(self, call: Prepared, began: float, owner: str, progress: Progress | None) -> Done:
        """Answer, and tell those who look at calls how it went."""
        tool, arguments = call.tool, call.arguments
        try:
            done, fresh = await self._done(call, began, owner, progress)
        except Fault as fault:
            failed = {"provider": fault.provider or tool.name, "error": KINDS[fault.kind].wire}
            outcome = {**failed, "url": str(arguments.given.get("url") or "")}
            warning = await self._watch.tell(tool, arguments, owner, "", [outcome])
            if not warning:
                raise
            # Others may have joined the call and be told the same fault.
            own = fault.told_as()
            own.also = {**fault.also, NOTICES: [warning]}
            raise own from None
        outcomes, rows = (fresh.outcomes, fresh.rows) if fresh else ([], [])
        warning = await self._watch.tell(tool, arguments, owner, done.body, outcomes, rows)
        return replace(done, warning=warning) if warning else done

    async def _done(
        self, call: Prepared, began: float, owner: str, progress: Progress | None
    ) -> tuple[Done, Fresh | None]:
        """The answer, and what the plan gave where it was not kept."""
        tool, key, goes_on = call.tool, call.key, call.goes_on
        arguments = call.arguments if goes_on is None else goes_on.arguments
        if self.cache is not None and tool.cache is not None:
            for one in _keys(call):
                entry = await self.cache.get(one)
                done = self._from_entry(call, entry, owner, began) if entry is not None else None
                if done is not None:
                    return done, None
        # What will be kept for others can be waited for by them; the compiler has proved that nothing of one owner is
        # in it, and the key has the tenant where answers are kept apart.
        is_shared = self.cache is not None and tool.cache is not None
        run = functools.partial(self._answer, tool, arguments, key, owner, is_shared)
        if is_shared:
            fresh = await self.flights.run(key, run, progress)
        elif tool.cache is not None or tool.annotations["idempotent"]:
            fresh = await self.flights.run(f"{owner}\0{key}", run, progress)
        else:
            fresh = await run(progress)
        self._count(tool.name, owner, time.perf_counter() - began, self.clock())
        meta = dict(fresh.meta)
        if "routing" in meta:
            meta["routing"] = {**meta["routing"], "latency_ms": round((time.perf_counter() - began) * 1000)}
        body, begin = fresh.body, fresh.begin
        if goes_on is not None and check_same(tool, self.model, goes_on, begin):
            body, begin = _dump(cut_told(tool, json.loads(body), goes_on.told)), goes_on.cursor
        done = Done(body, meta, arguments=call.arguments, aside=fresh.aside, begin=begin, artifacts=fresh.artifacts)
        return done, fresh

    def sharing(self, owner: str) -> str:
        """Who shares what is kept of an owner's calls: its tenant where answers are kept apart, else all, as ""."""
        return split_owner(owner)[0] if self.isolate else ""

    def cache_key(self, tool: Tool, arguments: Arguments, owner: str = "") -> str:
        """Under which key the answer to these arguments is kept."""
        self._keep_routes()
        prefix = self._prefixes.get(tool.name)
        if prefix is None:
            orders, own = (self.routes.orders, self.routes.own), self.tool_settings[tool.name]
            prefix = self._prefixes[tool.name] = digest_prefix(tool, self.model, orders, self.settings, own)
        return answer_key(tool, arguments, prefix, self.sharing(owner))

    def _count(
        self, tool: str, owner: str, seconds: float, now: float, fault: Fault | None = None, *, hits: int = 0
    ) -> None:
        """Count a call that has ended, for the whole process and for its tenant."""
        count = self.tool_counts[tool]
        count.add(seconds, fault, at=now)
        count.hits += hits
        if self.tenant_counts is not None:
            self.tenant_counts.add(owner, tool, seconds, fault, at=now, hits=hits)

    def _from_entry(self, call: Prepared, entry: CacheEntry, owner: str, began: float) -> Done | None:
        """The answer that was kept; None where it is not the one that the call goes on within."""
        tool, arguments, now = call.tool, call.arguments, self.clock()
        body, begin = split_begin(entry.value.decode())
        if call.goes_on is not None and not call.goes_on.is_of(begin):
            return None
        meta: dict[str, Any] = say_freshness(True, int(entry.age(now)), entry.ttl, entry.freshness(now))
        spent = time.perf_counter() - began
        if tool.capabilities and "provider" not in arguments.explicit:
            meta["routing"] = {"cache_hit": True, "latency_ms": round(spent * 1000)}
        self._count(tool.name, owner, spent, now, hits=1)
        if tool.cache is not None and tool.cache.age_as:
            body = _dump({**json.loads(body), tool.cache.age_as: int(entry.age(now))})
        if call.goes_on is not None:
            body, begin = _dump(cut_told(tool, json.loads(body), call.goes_on.told)), call.goes_on.cursor
        return Done(body, meta, arguments=arguments, begin=begin)

    async def _answer(
        self, tool: Tool, arguments: Arguments, key: str, owner: str, is_shared: bool, progress: Progress | None
    ) -> Fresh:
        since = self.cache.generation if self.cache is not None else None
        if self._trips is not None:
            self._trips.start()
        written: list[Writes] = []
        try:
            async with asyncio.timeout(tool.deadline):
                outcome = await self._pursue(tool, arguments, owner, is_shared, progress, written)
        except TimeoutError:
            late = Fault("upstream_unavailable", f"{tool.name} had no answer after {tool.deadline:g} seconds")
            raise (late.after_writing() if any(one.open for one in written) else late) from None
        except Fault as fault:
            # One part of the call may have written before another failed, and the whole would be called again.
            if any(one.open for one in written):
                raise fault.after_writing() from None
            raise
        if self.validate:
            check_answer(tool, outcome.answer)
        ttl = tool.cache.ttl if tool.cache else 0.0
        if outcome.partial:
            ttl = min(ttl, PARTIAL_TTL)
        meta: dict[str, Any] = {}
        age = 0.0
        if outcome.lives:
            # An answer is as old as its oldest part, and ends with the first that ends.
            now = self.clock()
            age = max(0.0, now - min(made for made, _ in outcome.lives))
            left = min(ends for _, ends in outcome.lives) - now
            ttl = age + max(0.0, min(ttl, left) if tool.cache else left)
            label = CacheEntry(b"", now - age, ttl).freshness(now) if ttl else "expiring"
            meta |= say_freshness(not outcome.served_by, int(age), ttl, label)
            if tool.cache is not None and tool.cache.age_as:
                outcome.answer[tool.cache.age_as] = int(age)
        elif tool.cache is not None and tool.cache.always_say:
            meta |= say_freshness(False, 0, ttl, "fresh")
        # Nothing that a page, an upstream or a caller wrote gets into an answer but through here.
        body = to_body(tool, arguments.given, outcome.answer)
        if self.cache is not None and tool.cache is not None and outcome.keep:
            kept = join_begin(body, outcome.begin).encode("utf-8", "surrogatepass")
            await self.cache.put(key, kept, ttl, age=age, soon=True, since=since)
        if outcome.cost:
            meta["cost"] = outcome.cost
        if outcome.notes:
            meta["incomplete"] = list(dict.fromkeys(outcome.notes))
        meta |= outcome.meta
        if outcome.attempts and "provider" not in arguments.explicit:
            meta["routing"] = say_routing(outcome)
        ended: list[Mapping[str, Any]] = [
            {"provider": one.provider, "error": KINDS[one.kind].wire} for one in outcome.failed if one.provider
        ]
        # A procedure is served by no provider, and counts as the tool, as when it fails.
        ended = [*ended, {"provider": outcome.served_by or tool.name}]
        return Fresh(body, meta, ended, outcome.rows, outcome.aside, outcome.begin, outcome.artifacts)

    def offer(self) -> Offer:
        """Who can be asked now."""
        self._keep_routes()
        resting = self.breakers.resting()
        return Offer(self.routes.orders, self.configured, self.missing, resting, self.routes.unmet, self.routes.own)

    async def _pursue(
        self,
        tool: Tool,
        arguments: Arguments,
        owner: str,
        is_shared: bool,
        progress: Progress | None,
        written: list[Writes],
    ) -> ProviderOutcome:
        lives: list[Life] = []
        tenant = self.sharing(owner)
        session = str(arguments.given.get(tool.record[0]) or "") if tool.record else ""
        question = PaidQuestion(self.spending.begin(split_owner(owner)[0], session), self.spending)

        async def ask(one: Ask, within: float) -> Answer:
            return await self.upstreams.ask(
                one.provider,
                one.operation,
                one.arguments,
                within=within,
                lives=lives,
                tenant=tenant,
                position=one.position,
                goes_on=one.goes_on,
                question=question,
                written=written,
            )

        contexts: list[LiveContext] = []

        async def run(one: Run) -> Row:
            context = LiveContext(
                self,
                tool,
                owner,
                progress,
                one.told,
                is_shared=is_shared,
                bill=question.bill,
                written=written,
                running=one,
            )
            contexts.append(context)
            return await one.function(context, one.parameters)

        caller, now = "" if is_shared else owner, self.clock()
        running = pursue(tool, self.model, arguments, self.tool_settings[tool.name], self.offer(), now, caller)
        try:
            outcome = await conduct(running, ask, run, deadline=tool.deadline, progress=progress)
        except Fault as fault:
            fault.spent = question.bill.to_json()
            fault.has_asked = bool(fault.spent) or any(context.has_sent for context in contexts)
            raise
        outcome.cost = question.bill.to_json()
        outcome.lives = [*lives, *(life for context in contexts for life in context.lives)]
        outcome.artifacts = [kept for context in contexts for kept in context.artifacts]
        # What is told in parts of an answer that is not kept is made again for each of these.
        is_made_again = tool.cache is None and bool(outcome.begin)
        # Where somebody failed, what the others gave is told again without them.
        is_made_again = is_made_again or bool(outcome.waiting)
        if is_made_again or (outcome.cursor is not None and outcome.cursor.offset):
            for _, _, answer in outcome.pages:
                if answer.keep is not None:
                    await answer.keep()
        return outcome

    async def aclose(self) -> None:
        """Close connections and the cache, and end what procedures have started."""
        # Side by side: who leaves waits for a short while only, and a browser must not cost the stores their turn.
        await asyncio.gather(
            self._close_stores(), self.sender.aclose(), *(closer.function() for closer in CLOSERS.values())
        )

    async def _close_stores(self) -> None:
        for close in self.closing:
            await close()
        if self.cache is not None:
            self.cache.close()


def _keys(call: Prepared) -> tuple[str, ...]:
    """The keys under which the answer of a call may be kept, the likeliest first."""
    return (call.first_key, call.key) if call.first_key else (call.key,)


_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _to_fault(error: Exception) -> Fault:
    """What ended a call; where failures are answers, a defect is one too."""
    return error if isinstance(error, Fault) else Fault("internal", f"A defect of the server: {type(error).__name__}.")
