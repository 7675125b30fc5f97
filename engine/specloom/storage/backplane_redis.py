"""What the processes of several machines share through Redis or Valkey: scripts of a few lines, at the server's time.

Redis holds neither names nor texts: keys are keyed digests, messages and values are sealed. Whatever somebody else has
put under a key of ours counts as nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import math
import os
from typing import TYPE_CHECKING

from specloom.core import Backplane, BackplaneError, keyed_digest, seal, unseal

from .backplane_local import LocalBus, Subscription, check_cost, check_count, check_payload
from .redis_link import PATIENCE, RedisLink, RedisSettings, Script

if TYPE_CHECKING:
    from collections.abc import Callable

    from specloom.core import Lease

    Clock = Callable[[], float]

TAG_BYTES = 16


def redis_backplane(settings: RedisSettings, warn: Callable[[str], None], *, clock: Clock | None = None) -> Backplane:
    """What is shared with all who name the same server, prefix and key. `clock` takes the place of the server's."""
    link = RedisLink(settings, warn, patience=PATIENCE)
    names = RedisNames(settings)
    bus = RedisBus(link, settings)
    return Backplane(
        RedisCounters(link, names, clock),
        RedisLeases(link, names, clock),
        bus,
        RedisCache(link, names, bus, clock),
        link,
    )


class RedisNames:
    """What things are called in Redis: the prefix, their kind, and digests that only a holder of the key can make."""

    def __init__(self, settings: RedisSettings) -> None:
        self._prefix = settings.prefix
        self._digest = keyed_digest(hmac.digest(settings.key, b"specloom backplane: tags", "sha256"))

    def name(self, kind: str, *parts: str) -> str:
        """The name of a thing; parts behind the first are within what the parts before them name."""
        return self._prefix + ":".join([kind, *map(self._tag, parts)])

    def _tag(self, text: str) -> str:
        return self._digest(text.encode("utf-8", "surrogatepass"))[:TAG_BYTES].hex()


def _now(clock: Clock | None) -> str:
    return "" if clock is None else repr(clock())


_NOW = """
local time = redis.call('TIME')
local now = tonumber(ARGV[1]) or time[1] + time[2] / 1e6
local function get(key)
  local found = redis.pcall('GET', key)
  return type(found) == 'string' and found or ''
end
local function number(text)
  local found = tonumber(text)
  return found and found == found and found or nil
end
"""
"""Numbers keep their digits as `%.17g`; a value of another type or form is none."""


# --- Counters ---------------------------------------------------------------------------------------------------------


_TAKE = Script(
    _NOW
    + """
local per, burst, cost = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local arrival = math.min(math.max(number(get(KEYS[1])) or 0, now), now + burst * per)
local wait = arrival + (cost - burst) * per - now
if wait <= 1e-6 then
  wait, arrival = 0, arrival + cost * per
end
redis.call('SET', KEYS[1], string.format('%.17g', arrival), 'PX', math.ceil((arrival - now) * 1000) + 1)
return string.format('%.17g', wait)
"""
)
_START = Script(
    _NOW
    + """
local count, per, recent = tonumber(ARGV[2]), tonumber(ARGV[3]), {}
for word in string.gmatch(get(KEYS[1]), '%S+') do
  local one = number(word)
  if one and one > now - per then table.insert(recent, math.min(one, now)) end
end
while #recent > count do table.remove(recent, 1) end
local wait = #recent < count and 0 or recent[1] + per - now
if wait <= 1e-6 then
  wait = 0
  if #recent == count then table.remove(recent, 1) end
  table.insert(recent, now)
end
for at, one in ipairs(recent) do recent[at] = string.format('%.17g', one) end
redis.call('SET', KEYS[1], table.concat(recent, ' '), 'PX', math.ceil(per * 1000) + 1)
return string.format('%.17g', wait)
"""
)
_ADD = Script(
    _NOW
    + """
local value, left = number(get(KEYS[1])), redis.call('PTTL', KEYS[1])
if not value or left < 0 then
  value, left = 0, math.ceil((tonumber(ARGV[3]) - now) * 1000)
end
value = value + tonumber(ARGV[2])
if left > 0 then redis.call('SET', KEYS[1], string.format('%.0f', value), 'PX', left) end
return string.format('%.0f', value)
"""
)


class RedisCounters:
    """Counters of all machines. One that ends is gone, and so is one that nobody has used for as long as it holds."""

    def __init__(self, link: RedisLink, names: RedisNames, clock: Clock | None = None) -> None:
        self._link, self._names, self._clock = link, names, clock

    async def take(self, key: str, *, per: float, burst: int, cost: int = 1) -> float:
        check_cost(per, burst, cost)
        name = self._names.name("limit", key)
        return float(await self._link.run(_TAKE, (name,), _now(self._clock), per, burst, cost))

    async def start(self, key: str, *, count: int, per: float) -> float:
        check_count(count, per)
        return float(await self._link.run(_START, (self._names.name("pace", key),), _now(self._clock), count, per))

    async def add(self, key: str, amount: int, *, until: float) -> int:
        return int(await self._link.run(_ADD, (self._names.name("sum", key),), _now(self._clock), amount, until))


# --- Leases -----------------------------------------------------------------------------------------------------------


# Numbers go on above those of a server that lost its data, because they begin at its time. Every lease has an end, so
# what has none is not ours.
_ACQUIRE = Script(
    _NOW
    + """
if redis.call('PTTL', KEYS[1]) > 0 then return '' end
local last = string.format('%.0f', math.max((number(get(KEYS[2])) or 0) + 1, now * 1e6))
redis.call('SET', KEYS[2], last)
redis.call('SET', KEYS[1], last, 'PX', ARGV[2])
return last
"""
)
_RENEW = Script(
    """
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""
)
_RELEASE = Script("if redis.pcall('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end")


class RedisLeases:
    """Leases of all machines; that of a process that ended without a word is free when its time is over."""

    def __init__(self, link: RedisLink, names: RedisNames, clock: Clock | None = None) -> None:
        self._link, self._names, self._clock = link, names, clock
        self._last = names.name("lease-number")
        self._held: set[RedisLease] = set()

    async def acquire(self, name: str, ttl: float) -> Lease | None:
        key = self._names.name("lease", name)
        number = int(await self._link.run(_ACQUIRE, (key, self._last), _now(self._clock), _to_ms(ttl)) or 0)
        if not number:
            return None
        lease = RedisLease(self, key, number)
        self._held.add(lease)
        return lease

    async def renew(self, lease: RedisLease, ttl: float) -> bool:
        """Whether the lease was held; it now ends in so many seconds."""
        was_held = bool(await self._link.run(_RENEW, (lease.key,), lease.number, _to_ms(ttl)))
        if not was_held:
            self._held.discard(lease)
        return was_held

    async def release(self, lease: RedisLease) -> None:
        """Give a lease back. One that cannot be given back ends with its time, so nobody has to be told."""
        self._held.discard(lease)
        with contextlib.suppress(BackplaneError):
            await self._link.run(_RELEASE, (lease.key,), lease.number)

    async def aclose(self) -> None:
        """Give back all that this process has."""
        await asyncio.gather(*map(self.release, [*self._held]))


class RedisLease:
    """A lease of `RedisLeases`."""

    def __init__(self, leases: RedisLeases, key: str, number: int) -> None:
        self._leases, self.key, self._number = leases, key, number

    @property
    def number(self) -> int:
        return self._number

    async def renew(self, ttl: float) -> bool:
        return await self._leases.renew(self, ttl)

    async def release(self) -> None:
        await self._leases.release(self)


def _to_ms(seconds: float) -> int:
    return max(1, math.ceil(seconds * 1000))


# --- The bus ----------------------------------------------------------------------------------------------------------


IDLE = 1.0
"""Seconds without a message after which the connection is tried."""
RETRY = 0.25
"""Seconds before a connection that broke is made anew."""
_SENDER_BYTES = 8
_CONTEXT = b"specloom backplane: message"


class RedisBus:
    """A bus of all machines: one channel of sealed messages, and a connection that is made anew when it breaks.

    Who listens in this process is told at once, also while Redis is away.
    """

    def __init__(self, link: RedisLink, settings: RedisSettings) -> None:
        self._link = link
        self._local = LocalBus()
        self._channel = f"{settings.prefix}bus"
        self._key = hmac.digest(settings.key, b"specloom backplane: messages", "sha256")
        self._own = os.urandom(_SENDER_BYTES)
        self._reading: asyncio.Task[None] | None = None
        self._is_ready = asyncio.Event()
        self.on_ready: list[Callable[[], None]] = []
        """Who is told when messages arrive, for the first time or again: some may have been missed."""

    async def tell(self, topic: str, payload: bytes) -> None:
        check_payload(payload)
        self._local.deliver(topic, payload)
        encoded = topic.encode()
        message = self._own + len(encoded).to_bytes(2, "big") + encoded + payload
        await self._link.execute("PUBLISH", self._channel, seal(self._key, message, _CONTEXT))

    def listen(self, topic: str) -> Subscription:
        self.start()
        return self._local.listen(topic)

    def start(self) -> None:
        """Begin to listen to the others; runs on the loop."""
        if self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._read())

    async def ready(self) -> None:
        """Return once what others tell arrives."""
        self.start()
        await self._is_ready.wait()

    async def _read(self) -> None:
        while True:
            with contextlib.suppress(*self._link.faults):
                await self._receive()
            self._is_ready.clear()
            await asyncio.sleep(RETRY)

    async def _receive(self) -> None:
        """Pass on what comes until the connection breaks, or does not answer when it is tried."""
        async with self._link.client.pubsub() as connection:
            async with asyncio.timeout(4 * self._link.patience):
                await connection.subscribe(self._channel)
            is_tried = False
            while True:
                found = await connection.get_message(timeout=IDLE)
                if found is None:
                    if is_tried:
                        return
                    is_tried = True
                    async with asyncio.timeout(self._link.patience):
                        await connection.ping()
                    continue
                is_tried = False
                if found["type"] == "subscribe":
                    self._is_ready.set()
                    for tell in self.on_ready:
                        tell()
                elif found["type"] == "message":
                    self._pass_on(found["data"])

    def _pass_on(self, sealed: bytes) -> None:
        message = unseal(self._key, sealed, _CONTEXT)
        if message is None or message.startswith(self._own):
            return
        begin = _SENDER_BYTES + 2
        end = begin + int.from_bytes(message[_SENDER_BYTES:begin], "big")
        self._local.deliver(message[begin:end].decode("utf-8", "replace"), message[end:])

    async def aclose(self) -> None:
        """Leave; listeners come to their end."""
        self._local.close()
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading


# --- The cache --------------------------------------------------------------------------------------------------------


# Everything that belongs together has a mark, which its values begin with: with another mark, all of them are gone.
_MARK = (
    _NOW
    + """
local mark = get(KEYS[1])
if #mark > 24 or not string.match(mark, '^%d+$') then
  mark = string.format('%.0f', now * 1e6)
  redis.call('SET', KEYS[1], mark)
end
"""
)
_LOOK = Script(_MARK + "return {mark, KEYS[2] and get(KEYS[2]) or ''}")
_PUT = Script(
    _MARK
    + """
if ARGV[2] == '' or ARGV[2] == mark then
  redis.call('SET', KEYS[2], mark .. ' ' .. ARGV[3], 'PX', ARGV[4])
end
return mark
"""
)
_CLEAR = Script(
    _NOW
    + """
local mark = string.format('%.0f', math.max((number(get(KEYS[1])) or 0) + 1, now * 1e6))
redis.call('SET', KEYS[1], mark)
return mark
"""
)
SCANNED = 1000
MOST_SCANS = 10_000
"""Steps of keys that a clearance looks through, at most; what it does not reach is unreadable and ends by itself."""
_CLEARED = "\0cleared"


class RedisCache:
    """Values of all machines, by keys of two parts with a colon between: what has the same first part goes together.

    A value that was asked for before everything was forgotten is not kept afterwards, whoever brings it.
    """

    def __init__(self, link: RedisLink, names: RedisNames, bus: RedisBus, clock: Clock | None = None) -> None:
        self._link, self._names, self._bus, self._clock = link, names, bus, clock
        self._marks: dict[str, str] = {}
        """The last mark that was seen of each first part."""
        self._watchers: dict[str, list[Callable[[], None]]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._looks: set[asyncio.Task[None]] = set()
        bus.on_ready.append(self._look_at_all)

    async def get(self, key: str) -> bytes | None:
        part, mark, name = self._places(key)
        found, value = await self._link.run(_LOOK, (mark, name), _now(self._clock))
        self._see(part, found.decode("ascii", "replace"))
        return bytes(value[len(found) + 1 :]) if value.startswith(found + b" ") else None

    async def put(self, key: str, value: bytes, ttl: float) -> None:
        part, mark, name = self._places(key)
        expected = self._marks.get(part, "")
        found = await self._link.run(_PUT, (mark, name), _now(self._clock), expected, value, _to_ms(ttl))
        self._see(part, found.decode("ascii", "replace"))

    async def clear(self, prefix: str) -> None:
        part, colon, rest = prefix.partition(":")
        if not colon or rest:
            raise ValueError(f"{prefix!r}: only what has the same part before the first colon is forgotten together")
        found = await self._link.run(_CLEAR, (self._names.name("mark", part),), _now(self._clock))
        self._see(part, found.decode("ascii", "replace"))
        with contextlib.suppress(BackplaneError):
            await self._bus.tell(_CLEARED, part.encode("utf-8", "surrogatepass"))
        await self._sweep(self._names.name("value", part) + ":*")

    def watch(self, prefix: str, tell: Callable[[], None]) -> None:
        self._watchers.setdefault(prefix.removesuffix(":"), []).append(tell)
        if self._listening is None:
            self._listening = asyncio.get_running_loop().create_task(self._listen())

    async def aclose(self) -> None:
        """Watch no more."""
        for task in (self._listening, *self._looks):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    def _places(self, key: str) -> tuple[str, str, str]:
        part, _, rest = key.partition(":")
        return part, self._names.name("mark", part), self._names.name("value", part, rest)

    def _see(self, part: str, mark: str) -> None:
        before = self._marks.get(part, mark)
        self._marks[part] = mark
        if before != mark:
            for tell in self._watchers.get(part, ()):
                tell()

    async def _sweep(self, pattern: str) -> None:
        """Delete what nobody can read any more, so that its bytes are gone as well."""
        cursor = b"0"
        for _ in range(MOST_SCANS):
            cursor, names = await self._link.execute("SCAN", cursor, "MATCH", pattern, "COUNT", SCANNED)
            if names:
                await self._link.execute("UNLINK", *names)
            if int(cursor) == 0:
                return

    async def _listen(self) -> None:
        async for _ in self._bus.listen(_CLEARED):
            self._look_at_all()

    def _look_at_all(self) -> None:
        """See whether something was forgotten that is watched here."""
        for part in self._watchers:
            task = asyncio.get_running_loop().create_task(self._look(part))
            self._looks.add(task)
            task.add_done_callback(self._looks.discard)

    async def _look(self, part: str) -> None:
        # Without an answer the link finds out when it is back, and then the bus tells.
        with contextlib.suppress(BackplaneError):
            found, _ = await self._link.run(_LOOK, (self._names.name("mark", part),), _now(self._clock))
            self._see(part, found.decode("ascii", "replace"))
