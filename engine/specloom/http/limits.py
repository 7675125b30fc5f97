"""Rate limits, daily quotas and places: what an address, the server, a tenant, a user and a tool may ask for.

Requests are counted before anybody looks at their token, and refused with the status 429. Tool calls are counted by
who makes them, from the narrowest limit to the widest, and refused with a tool error, which a model can read; a call
that one limit refuses takes nothing of any. Answers from memory pass by all of this.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from specloom.core import BackplaneError, Fault, VariableError, dataclass, did_you_mean, read_variable
from specloom.plugins import split_owner
from specloom.server import (
    CALL_TOOL,
    DAY,
    INTERNAL_ERROR,
    ForwardingBackend,
    ProtocolError,
    find_midnight,
    make_limit_fault,
    name_counter,
    name_day,
)
from specloom.storage import LocalCounters

from .guards import find_network
from .headers import HttpRefusal
from .settings import SettingsError

if TYPE_CHECKING:
    from specloom.core import Counters
    from specloom.server import Backend, Call, Catalogue

    from .gate import Caller
    from .service import Engine

T = TypeVar("T")

MINUTE = 60.0
FAILURES = 30
"""Credentials that do not hold, a minute and an address; always on."""
MOST_KEYS = 16_384
"""Addresses, tenants and users of which a worker remembers something, each in its table."""
MOST_WAITING = 64
"""Calls of a tenant that wait for a place; the next one is refused."""
TURN_SECONDS = 30.0
"""Seconds for which a call waits for a place."""
BATCHES = 20
"""Into how many batches a limit of requests is taken from the shared counters, so that most requests ask nobody."""
AWAY = 1.0
"""Seconds for which shared counters that could not be reached are left alone."""
RECHECK = 1.0
"""Seconds for which a quota that is used up is taken for that without a look."""
TOOL_PREFIX = "RATE_LIMIT_TOOL_"
UNASKED = frozenset({"validation", "config", "circuit_open"})
"""Faults of calls for which nobody was asked, unless they say that somebody was."""


# --- Settings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """How much may be asked for; 0 is without a limit."""

    per_address: int = 0
    """Requests a minute."""
    overall: int = 0
    """Requests a second of the whole server."""
    per_tenant: int = 0
    """Tool calls a minute, as all that follow."""
    per_user: int = 0
    per_tool: Mapping[str, int] = MappingProxyType({})
    """By the name of the tool, for each tenant."""
    daily_per_tenant: int = 0
    """Calls that asked somebody, in a day of UTC."""
    daily_per_owner: int = 0
    at_once: int = 0
    """Calls of a tenant that run at once in one worker."""


def read_limits(environ: Mapping[str, str], tools: Collection[str], *, shared: bool) -> LimitSettings:
    """The limits of an environment; raises SettingsError. Where one person is served, only those that are set."""

    def read(name: str) -> int:
        if not shared and not environ.get(name, "").strip():
            return 0
        try:
            return int(read_variable(name, environ) or 0)
        except VariableError as error:
            raise SettingsError(str(error)) from None

    return LimitSettings(
        per_address=read("RATE_LIMIT_PER_IP"),
        overall=read("RATE_LIMIT_GLOBAL"),
        per_tenant=read("RATE_LIMIT_PER_TENANT"),
        per_user=read("RATE_LIMIT_PER_USER"),
        per_tool=_read_tools(environ, tools),
        daily_per_tenant=read("DAILY_QUOTA_PER_TENANT"),
        daily_per_owner=read("MAX_CALLS_PER_DAY"),
        at_once=read("MAX_CALLS_AT_ONCE_PER_TENANT"),
    )


def _read_tools(environ: Mapping[str, str], tools: Collection[str]) -> dict[str, int]:
    """The calls a minute of each tool that has a variable of its own."""
    named = {_name_variable(tool): tool for tool in tools}
    limits = {}
    for name, text in environ.items():
        if not name.startswith(TOOL_PREFIX) or not text.strip():
            continue
        if name not in named:
            hint = did_you_mean(name, named)
            raise SettingsError(f"{name} names no tool that is served" + (f"; {hint}" if hint else ""))
        if not (text.strip().isascii() and text.strip().isdigit() and len(text.strip()) < 7):
            raise SettingsError(f"{name} is {text!r}; write a whole number of calls a minute, or 0 for no limit")
        limits[named[name]] = int(text)
    return {tool: count for tool, count in limits.items() if count}


def find_unasking(catalogue: Catalogue) -> frozenset[str]:
    """The tools that ask nobody outside, as their annotations say."""
    tools = json.loads(catalogue.tools)
    return frozenset(one["name"] for one in tools if one.get("annotations", {}).get("openWorldHint") is False)


def _name_variable(tool: str) -> str:
    return TOOL_PREFIX + tool.upper().replace("-", "_")


# --- One limit, and what is taken of it -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limit:
    """So many in so many seconds, or in a day of UTC."""

    name: str
    count: int
    window: float
    variable: str
    unit: str
    """What is counted, in words, and for whom."""
    scope: str
    batch: int = 1

    @property
    def is_daily(self) -> bool:
        """Whether it begins anew at midnight, and is no rate."""
        return self.window == DAY

    def make_fault(self, wait: float) -> Fault:
        """What a caller is told who has to wait so many seconds."""
        span = {1.0: "a second", MINUTE: "a minute", DAY: "a day of UTC"}[self.window]
        return make_limit_fault(f"{self.count} {self.unit} {span} {self.scope}", wait, self.name, self.variable)

    def make_refusal(self, wait: float) -> HttpRefusal:
        """The answer to a request, with the headers of the IETF draft on rate limits."""
        fault = self.make_fault(wait)
        policy, state = f'"{self.name}";q={self.count};w={self.window:g}', f'"{self.name}";r=0;t={fault.retry_after}'
        headers = (
            (b"retry-after", str(fault.retry_after).encode()),
            (b"ratelimit-policy", policy.encode()),
            (b"ratelimit", state.encode()),
        )
        return HttpRefusal(429, ProtocolError(INTERNAL_ERROR, fault.message, fault.to_json()), headers)


class BoundedMap(Generic[T]):
    """A bounded mapping, of which the entry that was written longest ago goes first."""

    def __init__(self, most: int = MOST_KEYS) -> None:
        self._entries: OrderedDict[str, T] = OrderedDict()
        self._most = most

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> T | None:
        """The entry, if there is one."""
        return self._entries.get(key)

    def put(self, key: str, value: T) -> None:
        """Write an entry."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def drop(self, key: str) -> None:
        """Forget an entry."""
        self._entries.pop(key, None)


class Ledger:
    """What is taken of limits: of the counters that all workers share, or of this worker's part while these are away.

    What was given back is held here and goes to the next who takes of the same limit; the counters know of no return.
    Who has to wait is remembered, so that a caller who does not wait costs no look at the counters.
    """

    def __init__(self, counters: Counters, *, workers: int = 1, clock: Callable[[], float] = time.time) -> None:
        self.workers = workers
        """How many share the counters, as far as is known; each has its part of a limit while they are away."""
        self.fallbacks = 0
        """How often this worker's own counters were asked, since the shared ones were away."""
        self.clock = clock
        self._counters = counters
        self._own = LocalCounters(clock)
        self._away_until = -math.inf
        self._held: BoundedMap[tuple[int, float]] = BoundedMap()
        """How many are held of a limit, and until when."""
        self._refused: BoundedMap[tuple[float, float]] = BoundedMap()
        """Until when a limit is not looked at, and when there is something of it again."""

    def take_held(self, key: str, now: float) -> bool:
        """Whether one was held, and is taken now."""
        held = self._held.get(key)
        if held is None:
            return False
        count, ends = held
        if ends <= now:
            self._held.drop(key)
            return False
        if count > 1:
            self._held.put(key, (count - 1, ends))
        else:
            self._held.drop(key)
        return True

    async def take(self, limit: Limit, whose: str) -> float:
        """0.0 when one was taken, else the seconds to wait."""
        key, now = name_counter(limit.name, whose), self.clock()
        if self.take_held(key, now):
            return 0.0
        refused = self._refused.get(key)
        if refused is not None:
            if refused[0] > now:
                return refused[1] - now
            self._refused.drop(key)
        wait = await self._count(limit, key, now)
        if wait > 0.0:
            recheck = min(wait, RECHECK) if limit.is_daily else wait
            self._refused.put(key, (now + recheck, now + wait))
        return wait

    async def read(self, limit: Limit, whose: str) -> int | None:
        """What is taken of a daily limit by all who share the counters; None while they are away."""
        key, now = name_counter(limit.name, whose), self.clock()
        ends = find_midnight(now)
        try:
            taken = await self._counters.add(name_day(key, ends), 0, until=ends)
        except BackplaneError:
            return None
        held = self._held.get(key)
        return max(taken - (held[0] if held is not None and held[1] > now else 0), 0)

    def give(self, limit: Limit, whose: str) -> None:
        """Give back one that was taken."""
        key, now = name_counter(limit.name, whose), self.clock()
        self._hold(key, 1, find_midnight(now) if limit.is_daily else now + limit.window)
        self._refused.drop(key)

    def _hold(self, key: str, count: int, ends: float) -> None:
        held = self._held.get(key)
        before = held[0] if held is not None and held[1] > self.clock() else 0
        self._held.put(key, (before + count, ends))

    async def _count(self, limit: Limit, key: str, now: float) -> float:
        if now >= self._away_until:
            try:
                return await self._ask(self._counters, limit, limit.count, key, now)
            except BackplaneError:
                self._away_until = now + AWAY
        self.fallbacks += 1
        return await self._ask(self._own, limit, max(limit.count // max(self.workers, 1), 1), key, now)

    async def _ask(self, counters: Counters, limit: Limit, count: int, key: str, now: float) -> float:
        if limit.is_daily:
            ends = find_midnight(now)
            day = name_day(key, ends)
            if await counters.add(day, 1, until=ends) <= count:
                return 0.0
            await counters.add(day, -1, until=ends)
            return ends - now
        per, batch = limit.window / count, min(limit.batch, count)
        if batch > 1 and not await counters.take(key, per=per, burst=count, cost=batch):
            self._hold(key, batch - 1, now + limit.window)
            return 0.0
        return await counters.take(key, per=per, burst=count)


# --- Places -----------------------------------------------------------------------------------------------------------


class Line:
    """The calls of one tenant: how many run, and who waits, by user."""

    __slots__ = ("running", "users", "waiting")

    def __init__(self) -> None:
        self.running = 0
        self.waiting = 0
        self.users: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()


class Places:
    """So many calls of each tenant at once. A place that gets free goes round the users of the tenant who wait."""

    def __init__(self, count: int, variable: str, *, seconds: float = TURN_SECONDS) -> None:
        self._count, self._variable, self._seconds = count, variable, seconds
        self._lines: dict[str, Line] = {}

    def __len__(self) -> int:
        """Tenants of which something runs or waits."""
        return len(self._lines)

    def count_waiting(self, tenant: str) -> int:
        """How many calls of a tenant wait for a place."""
        line = self._lines.get(tenant)
        return line.waiting if line is not None else 0

    async def enter(self, tenant: str, owner: str) -> None:
        """Take a place, in turn; a fault where too many wait, or the turn does not come in time."""
        line = self._lines.setdefault(tenant, Line())
        if line.running < self._count:
            line.running += 1
            return
        if line.waiting >= MOST_WAITING:
            raise self._refuse()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.users.setdefault(owner, deque()).append(turn)
        line.waiting += 1
        try:
            async with asyncio.timeout(self._seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self.leave(tenant)  # the place came as the call went
            else:
                self._forget(line, owner, turn)
            if isinstance(error, TimeoutError):
                raise self._refuse() from None
            raise

    def leave(self, tenant: str) -> None:
        """Give the place to the next user in turn, or back."""
        line = self._lines[tenant]
        if not line.users:
            line.running -= 1
            if not line.running:
                del self._lines[tenant]
            return
        owner, turns = next(iter(line.users.items()))
        turn = turns.popleft()
        line.waiting -= 1
        if turns:
            line.users.move_to_end(owner)
        else:
            del line.users[owner]
        if turn.done():  # it was cancelled in this turn of the loop, and has not noticed yet
            self.leave(tenant)
        else:
            turn.set_result(None)

    def _forget(self, line: Line, owner: str, turn: asyncio.Future[None]) -> None:
        turns = line.users.get(owner)
        if turns is None or turn not in turns:
            return
        turns.remove(turn)
        line.waiting -= 1
        if not turns:
            del line.users[owner]

    def _refuse(self) -> Fault:
        limit = f"{self._count} calls at once for each tenant, and {MOST_WAITING} that wait"
        return make_limit_fault(limit, 1.0, "at_once", self._variable)


# --- All of them ------------------------------------------------------------------------------------------------------


class HttpLimits:
    """The limits of one worker. `refused` counts by the name of the limit, and `fallbacks` the counters being away."""

    def __init__(
        self,
        settings: LimitSettings,
        counters: Counters,
        *,
        workers: int = 1,
        clock: Callable[[], float] = time.time,
        unasking: Collection[str] = frozenset(),
    ) -> None:
        """`workers` share the counters; `unasking` are tools that ask nobody, and cost nothing of a day's quota."""
        self.refused: Counter[str] = Counter()
        self.ledger = Ledger(counters, workers=workers, clock=clock)
        self.places = Places(settings.at_once, "MAX_CALLS_AT_ONCE_PER_TENANT") if settings.at_once else None
        self._unasking = frozenset(unasking)
        self._address = _find_limit(
            "address", settings.per_address, MINUTE, "RATE_LIMIT_PER_IP", "requests", "from an address", in_batches=True
        )
        self._overall = _find_limit(
            "server", settings.overall, 1.0, "RATE_LIMIT_GLOBAL", "requests", "in all", in_batches=True
        )
        self._overall_key = name_counter(self._overall.name, "") if self._overall else ""
        self._failures = Limit("failures", FAILURES, MINUTE, "", "credentials that do not hold", "from an address")
        self._barred: OrderedDict[str, float] = OrderedDict()
        """Until when an address is not listened to whose credentials did not hold."""
        self._good: OrderedDict[int, None] = OrderedDict()
        """Hashes of credentials that have held."""
        self._tools = {
            tool: Limit("tool", count, MINUTE, _name_variable(tool), f"calls of {tool}", "for each tenant")
            for tool, count in settings.per_tool.items()
        }
        self._user = _find_limit("user", settings.per_user, MINUTE, "RATE_LIMIT_PER_USER", "calls", "for each user")
        self._tenant = _find_limit(
            "tenant", settings.per_tenant, MINUTE, "RATE_LIMIT_PER_TENANT", "calls", "for each tenant"
        )
        self._user_day = _find_limit(
            "user_day", settings.daily_per_owner, DAY, "MAX_CALLS_PER_DAY", "calls", "for each user"
        )
        self._tenant_day = _find_limit(
            "tenant_day", settings.daily_per_tenant, DAY, "DAILY_QUOTA_PER_TENANT", "calls", "for each tenant"
        )

    @property
    def fallbacks(self) -> int:
        """How often this worker's own counters were asked, since the shared ones were away."""
        return self.ledger.fallbacks

    # Requests, before their token.

    def passes(self) -> bool:
        """Whether a request needs no `admit`: nobody is barred or counted by address, and the server has one left."""
        if self._address is not None or self._barred:
            return False
        return self._overall is None or self.ledger.take_held(self._overall_key, self.ledger.clock())

    async def admit(self, client: str, credential: bytes | None = None) -> None:
        """Nothing where a request from an address may go on, else an HttpRefusal.

        A credential that has held is listened to also where others of its address did not: behind a proxy, or in one
        house, somebody who guesses must not lock out everybody.
        """
        network, now = find_network(client), self.ledger.clock()
        while self._barred and next(iter(self._barred.values())) <= now:
            self._barred.popitem(last=False)
        if (barred := self._barred.get(network, now)) > now and not self._has_held(credential):
            raise self._refuse_request(self._failures, barred - now)
        if self._address is not None and (wait := await self.ledger.take(self._address, network)):
            raise self._refuse_request(self._address, wait)
        if self._overall is not None and (wait := await self.ledger.take(self._overall, "")):
            if self._address is not None:
                self.ledger.give(self._address, network)
            raise self._refuse_request(self._overall, wait)

    def note_success(self, credential: bytes | None) -> None:
        """Remember that a credential held, by its hash alone; it is looked at again with every request."""
        if credential is None or (digest := hash(credential)) in self._good:
            return
        self._good[digest] = None
        if len(self._good) > MOST_KEYS:
            self._good.popitem(last=False)

    def _has_held(self, credential: bytes | None) -> bool:
        return credential is not None and hash(credential) in self._good

    async def note_failure(self, client: str) -> None:
        """Count a credential that does not hold; an HttpRefusal in place of the challenge where there were too many."""
        network = find_network(client)
        if wait := await self.ledger.take(self._failures, network):
            self._barred[network] = self.ledger.clock() + wait
            self._barred.move_to_end(network)
            if len(self._barred) > MOST_KEYS:
                self._barred.popitem(last=False)
            raise self._refuse_request(self._failures, wait)

    def _refuse_request(self, limit: Limit, wait: float) -> HttpRefusal:
        self.refused[limit.name] += 1
        return limit.make_refusal(wait)

    # Calls.

    async def count_day(self, tenant: str) -> int | None:
        """What a tenant has taken of its quota of the day, in all workers and machines; None where none knows."""
        return await self.ledger.read(self._tenant_day, tenant) if self._tenant_day is not None else None

    async def begin(self, tenant: str, owner: str, tool: str) -> Bill:
        """What a call takes of every limit, with a place; a Fault, and nothing is taken, where one of them refuses."""
        bill = Bill(self, tenant)
        try:
            await self._pay(bill, owner, tool)
            if self.places is not None:
                await self.places.enter(tenant, owner)
        except BaseException as error:
            bill.give_back()
            if isinstance(error, Fault):
                self.refused[str(error.also["limit"])] += 1
            raise
        return bill

    async def _pay(self, bill: Bill, owner: str, tool: str) -> None:
        tenant = bill.tenant
        tenant_day = None if tool in self._unasking else self._tenant_day
        # The narrowest first.
        limits = (
            (self._tools.get(tool), f"{tool}:{tenant}"),
            (self._user, owner),
            (self._tenant, tenant),
            (self._user_day, owner),
            (tenant_day, tenant),
        )
        for limit, whose in limits:
            if limit is None:
                continue
            if wait := await self.ledger.take(limit, whose):
                raise limit.make_fault(wait)
            bill.taken.append((limit, whose))


def _find_limit(
    name: str, count: int, window: float, variable: str, unit: str, scope: str, *, in_batches: bool = False
) -> Limit | None:
    batch = max(count // BATCHES, 1) if in_batches else 1
    return Limit(name, count, window, variable, unit, scope, batch) if count else None


class Bill:
    """What one call has taken."""

    __slots__ = ("_limits", "taken", "tenant")

    def __init__(self, limits: HttpLimits, tenant: str) -> None:
        self._limits, self.tenant = limits, tenant
        self.taken: list[tuple[Limit, str]] = []

    def end(self, *, is_kept: bool = False, has_asked: bool = True) -> None:
        """Leave the place. An answer that had been kept costs nothing, one for which nobody was asked no quota."""
        if self._limits.places is not None:
            self._limits.places.leave(self.tenant)
        if is_kept:
            self.give_back()
        elif not has_asked:
            self.give_back("tenant_day")

    def give_back(self, name: str = "") -> None:
        """Give back what was taken of every limit, or of one."""
        for limit, whose in self.taken:
            if not name or limit.name == name:
                self._limits.ledger.give(limit, whose)


# --- The engine behind them -------------------------------------------------------------------------------------------


class LimitedEngine:
    """An engine whose tools are called within the limits of who calls."""

    def __init__(self, engine: Engine, limits: HttpLimits) -> None:
        self._engine, self._limits = engine, limits

    def make_backend(self, caller: Caller) -> Backend:
        """What answers a caller."""
        tenant = caller.identity.tenant if caller.identity is not None else split_owner(caller.owner)[0]
        return LimitedBackend(self._engine.make_backend(caller), self._limits, tenant, caller.owner)

    async def aclose(self) -> None:
        """Close it."""
        await self._engine.aclose()


class LimitedBackend(ForwardingBackend):
    """A backend whose calls are counted; what it has in memory, its resources and its prompts are not."""

    def __init__(self, backend: Backend, limits: HttpLimits, tenant: str, owner: str) -> None:
        super().__init__(backend)
        self._limits, self._tenant, self._owner = limits, tenant, owner

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Call) -> bytes | dict[str, Any]:
        tool = str(arguments.get("name", "")) if name == CALL_TOOL else name
        bill = await self._limits.begin(self._tenant, self._owner, tool)
        has_asked = True
        try:
            return await super().call_tool(name, arguments, call)
        except Fault as fault:
            has_asked = fault.has_asked or fault.kind not in UNASKED
            raise
        finally:
            bill.end(is_kept=call.is_kept, has_asked=has_asked)
