"""What is shared within one process: counters, a bus and leases in memory, for tests and where nothing else can be."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Generic, TypeVar

from specloom.core import MOST_PAYLOAD, MOST_STARTS, Backplane

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from specloom.core import Lease

T = TypeVar("T")

_TICK = 1e-6
"""Seconds below which a wait is over: clocks and sums of floats are no finer."""
MOST_KEYS = 16_384
MOST_WAITING = 256
"""Messages that wait for one listener; then the oldest is lost."""


# --- The rules, over what is remembered of a key ----------------------------------------------------------------------


def advance(arrival: float, now: float, *, per: float, burst: int, cost: int) -> tuple[float, float]:
    """GCRA: the theoretical time of the next arrival, and the seconds to wait; 0.0 where the cost was taken.

    `arrival` is that time as it was; one that no sequence of calls can have led to, since a clock was set back, counts
    as the latest that can be.
    """
    check_cost(per, burst, cost)
    arrival = min(max(arrival, now), now + burst * per)
    wait = arrival + (cost - burst) * per - now
    return (arrival, wait) if wait > _TICK else (arrival + cost * per, 0.0)


def begin(starts: Iterable[float], now: float, *, count: int, per: float) -> tuple[list[float], float]:
    """The starts of the last `per` seconds, with one more where that may be, and the seconds to wait for it."""
    check_count(count, per)
    # One from the future is of a clock that was set back since.
    recent = [min(one, now) for one in starts if one > now - per][-count:]
    if len(recent) < count:
        return [*recent, now], 0.0
    wait = recent[0] + per - now
    return (recent, wait) if wait > _TICK else ([*recent[1:], now], 0.0)


def check_cost(per: float, burst: int, cost: int) -> None:
    """ValueError for a cost that is never there."""
    if not (per > 0 and 0 < cost <= burst):
        raise ValueError(f"{cost} at a time can never be taken where at most {burst} are there, one every {per:g} s")


def check_count(count: int, per: float) -> None:
    """ValueError for a pace that is not counted."""
    if not (per > 0 and 0 < count <= MOST_STARTS):
        raise ValueError(f"{count} starts in {per:g} s cannot be counted: give 1 to {MOST_STARTS} in more than 0 s")


# --- In memory --------------------------------------------------------------------------------------------------------


class LocalCounters:
    """Counters of this process; beyond `MOST_KEYS` the one that was used longest ago is forgotten."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._arrivals: Table[float] = Table()
        self._starts: Table[list[float]] = Table()
        self._sums: Table[tuple[int, float]] = Table()

    async def take(self, key: str, *, per: float, burst: int, cost: int = 1) -> float:
        arrival, wait = advance(self._arrivals.get(key, 0.0), self._clock(), per=per, burst=burst, cost=cost)
        self._arrivals.put(key, arrival)
        return wait

    async def start(self, key: str, *, count: int, per: float) -> float:
        starts, wait = begin(self._starts.get(key, []), self._clock(), count=count, per=per)
        self._starts.put(key, starts)
        return wait

    async def add(self, key: str, amount: int, *, until: float) -> int:
        value, ends = self._sums.get(key, (0, until))
        value, ends = (value, ends) if ends > self._clock() else (0, until)
        self._sums.put(key, (value + amount, ends))
        return value + amount


class Table(Generic[T]):
    """A bounded mapping, of which the entry that was written longest ago goes first."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str, default: T) -> T:
        return self._entries.get(key, default)

    def remove(self, prefix: str) -> None:
        for key in [one for one in self._entries if one.startswith(prefix)]:
            del self._entries[key]

    def put(self, key: str, value: T) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > MOST_KEYS:
            self._entries.popitem(last=False)


class LocalLeases:
    """Leases of this process."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._held: dict[str, tuple[int, float]] = {}
        self._last = 0

    async def acquire(self, name: str, ttl: float) -> Lease | None:
        now = self._clock()
        self._held = {one: (number, ends) for one, (number, ends) in self._held.items() if ends > now}
        if name in self._held:
            return None
        self._last += 1
        self._held[name] = (self._last, now + ttl)
        return LocalLease(self, name, self._last)

    def extend(self, name: str, number: int, ttl: float) -> bool:
        """Whether that lease was held; it now ends in so many seconds."""
        now = self._clock()
        held, ends = self._held.get(name, (0, 0.0))
        if held != number or ends <= now:
            return False
        self._held[name] = (number, now + ttl)
        return True


class LocalLease:
    """A lease of `LocalLeases`."""

    def __init__(self, leases: LocalLeases, name: str, number: int) -> None:
        self._leases, self._name, self._number = leases, name, number

    @property
    def number(self) -> int:
        return self._number

    async def renew(self, ttl: float) -> bool:
        return self._leases.extend(self._name, self._number, ttl)

    async def release(self) -> None:
        self._leases.extend(self._name, self._number, 0.0)


class Subscription:
    """What is told of one topic, from when it is made; an end of its life for whoever waits when it is closed."""

    def __init__(self, forget: Callable[[Subscription], None]) -> None:
        self._forget = forget
        self._messages: deque[bytes] = deque(maxlen=MOST_WAITING)
        self._come = asyncio.Event()
        self._closed = False

    def hear(self, payload: bytes) -> None:
        """One more message."""
        self._messages.append(payload)
        self._come.set()

    def close(self) -> None:
        """No more messages."""
        self._closed = True
        self._come.set()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> bytes:
        while not self._messages:
            if self._closed:
                raise StopAsyncIteration
            self._come.clear()
            await self._come.wait()
        return self._messages.popleft()

    async def aclose(self) -> None:
        """Listen no more."""
        self._forget(self)
        self.close()


class LocalBus:
    """A bus of this process."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Subscription]] = {}

    async def tell(self, topic: str, payload: bytes) -> None:
        check_payload(payload)
        self.deliver(topic, payload)

    def deliver(self, topic: str, payload: bytes) -> None:
        """Tell those who listen in this process."""
        for listener in self._listeners.get(topic, ()):
            listener.hear(payload)

    def listen(self, topic: str) -> Subscription:
        def forget(one: Subscription) -> None:
            self._listeners[topic] = [other for other in self._listeners.get(topic, ()) if other is not one]

        listener = Subscription(forget)
        self._listeners.setdefault(topic, []).append(listener)
        return listener

    def close(self) -> None:
        """Listeners come to their end."""
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.close()
        self._listeners.clear()


def check_payload(payload: bytes) -> None:
    """ValueError for a message that is too large for some bus."""
    if len(payload) > MOST_PAYLOAD:
        raise ValueError(f"a message of {len(payload)} bytes is too large: at most {MOST_PAYLOAD}")


class LocalCache:
    """A cache of this process, for tests of who uses one."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._entries: Table[tuple[bytes, float]] = Table()
        self._watchers: list[tuple[str, Callable[[], None]]] = []

    async def get(self, key: str) -> bytes | None:
        value, ends = self._entries.get(key, (b"", 0.0))
        return value if ends > self._clock() else None

    async def put(self, key: str, value: bytes, ttl: float) -> None:
        self._entries.put(key, (value, self._clock() + ttl))

    async def clear(self, prefix: str) -> None:
        self._entries.remove(prefix)
        for watched, tell in self._watchers:
            if watched.startswith(prefix) or prefix.startswith(watched):
                tell()

    def watch(self, prefix: str, tell: Callable[[], None]) -> None:
        self._watchers.append((prefix, tell))


def local_backplane(clock: Callable[[], float] = time.time) -> Backplane:
    """A backplane of this process alone."""
    return Backplane(LocalCounters(clock), LocalLeases(clock), LocalBus(), LocalCache(clock))
