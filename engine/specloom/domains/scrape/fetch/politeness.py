"""Whose turn it is: requests at once in all, for a tenant and for a host, and rests that hosts have asked for.

A turn is held per request and never while waiting for another one. A request that has waited for its host longer than
`patience` gives its place back and goes on in a waiting room, so that hosts which hang do not keep pages of other hosts
from being read. The contract's five places would not allow more than 25 answers a second from hosts that take 200 ms.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import field
from email.utils import parsedate_to_datetime
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal, Protocol

from specloom.core import Fault, dataclass
from specloom.net import find_objection

# --- Rests that hosts have asked for: how long, since when, and for how many hosts that is remembered -----------------


SHORT_REST = 3.0
"""Seconds that are waited when a host asked for them; for longer rests the call ends, and says when to come back."""
LONGEST_REST = 3600.0
"""Seconds for which a host is believed at most."""
MOST_HOSTS = 10_000
"""Hosts that are remembered; beyond, the one that asked longest ago is forgotten."""


class Rests:
    """Until when each host wants no request. All times are seconds of one clock."""

    def __init__(self) -> None:
        self._until: OrderedDict[str, float] = OrderedDict()

    def note(self, host: str, seconds: float | None, now: float) -> None:
        """Remember that a host wants to be left alone from now on."""
        if seconds is None or seconds <= 0:
            return
        self._until[host] = now + min(seconds, LONGEST_REST)
        self._until.move_to_end(host)
        if len(self._until) > MOST_HOSTS:
            self._until.popitem(last=False)

    def left(self, host: str, now: float) -> float:
        """The seconds for which a host still wants to be left alone; 0 for most."""
        left = self._until.get(host, now) - now
        if left <= 0:
            self._until.pop(host, None)
            return 0.0
        return left

    def __len__(self) -> int:
        return len(self._until)


def read_retry_after(text: str, now: float) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or as an HTTP date; nothing where it says neither."""
    text = text.strip()
    if re.fullmatch(r"\d{1,9}", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError, OSError):
        return None


Lane = Literal["fast", "browser"]

PATIENCE = 2.0
"""Seconds after which a request that still waits for its host no longer counts."""
ROOM = 4
"""The waiting room holds this many times as many requests as there are places."""
_LOCAL = re.compile(r"(?:.*\.)?(?:localhost|local|localdomain|internal|home\.arpa)")


class Handle(Protocol):
    """A callback that is still to come, as `loop.call_later` gives it."""

    def cancel(self) -> None:
        """Do not call."""


Later = Callable[[float, Callable[[], None]], Handle]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many requests at once, and the seconds between two starts at one host. `tenant` 0 means as many as `fast`."""

    fast: int = 64
    browser: int = 2
    tenant: int = 0
    host: int = 2
    spacing: float = 0.1


@dataclass(slots=True)
class _Host:
    active: int = 0
    next_start: float = 0.0


@dataclass(slots=True, eq=False)
class _Turn:
    """A turn that is waited for, and then held."""

    host: str
    owner: str
    lane: Lane
    spacing: float
    follows: bool
    granted: asyncio.Future[None]
    counts: bool = True
    """Whether it takes one of the places; not in the waiting room."""
    roomed: bool = False
    timer: Handle | None = None


@dataclass(slots=True)
class _Lane:
    places: int
    owners: OrderedDict[str, deque[_Turn]] = field(default_factory=OrderedDict)


class Politeness:
    """Gives turns: in the order of asking within a tenant, and to tenants in rotation."""

    def __init__(
        self,
        bounds: Bounds | None = None,
        *,
        patience: float = PATIENCE,
        clock: Callable[[], float] | None = None,
        later: Later | None = None,
    ) -> None:
        self._bounds = bounds or Bounds()
        self._patience = patience
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._later: Later = later or (lambda delay, call: asyncio.get_running_loop().call_later(delay, call))
        self._lanes: dict[Lane, _Lane] = {"fast": _Lane(self._bounds.fast), "browser": _Lane(self._bounds.browser)}
        self._tenants: dict[tuple[str, Lane], int] = {}
        self._hosts: dict[str, _Host] = {}
        self._rests = Rests()
        self._roomed = 0
        self._wake: Handle | None = None
        self._wake_at = math.inf

    @asynccontextmanager
    async def turn(
        self,
        host: str,
        *,
        owner: str = "",
        lane: Lane = "fast",
        spacing: float | None = None,
        follows: bool = False,
    ) -> AsyncIterator[None]:
        """A turn at a host; waits for it, or raises `rate_limited` at once where the host asked for a long rest.

        `follows` is for the next hop of a redirect on the same host, which keeps no distance to the one before.
        `spacing` replaces the usual seconds between two starts. Hosts of the own machine or network have neither a
        spacing nor a number of their own: who allows them is their operator.
        """
        rest = self.rest_of(host)
        if rest > SHORT_REST:
            seconds = math.ceil(rest)
            message = f"{host} asked to be left alone for a while; try again in {seconds} s."
            raise Fault("rate_limited", message, retry_after=seconds)
        usual = self._bounds.spacing if spacing is None else spacing
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        turn = _Turn(host, owner, lane, usual, follows, granted)
        await self._wait(turn)
        try:
            yield
        finally:
            self._end(turn)

    def rest_of(self, host: str) -> float:
        """The seconds for which a host still wants no request."""
        return self._rests.left(host, self._clock())

    def note(self, host: str, status: int, retry_after: str, *, now: float) -> None:
        """Remember what a 429 or 503 asks for; `now` are seconds since the epoch, for answers that name a date."""
        if status in (429, 503):
            self._rests.note(host, read_retry_after(retry_after, now), self._clock())

    async def _wait(self, turn: _Turn) -> None:
        owners = self._lanes[turn.lane].owners
        owners.setdefault(turn.owner, deque()).append(turn)
        self._dispatch()
        try:
            await turn.granted
        except asyncio.CancelledError:
            if turn.granted.done() and not turn.granted.cancelled():
                self._end(turn)
            elif turn in owners.get(turn.owner, ()):
                self._remove(turn)
            raise
        if turn.lane == "fast":
            turn.timer = self._later(self._patience, lambda: self._step_aside(turn))

    def _remove(self, turn: _Turn) -> None:
        owners = self._lanes[turn.lane].owners
        owners[turn.owner].remove(turn)
        if not owners[turn.owner]:
            del owners[turn.owner]

    def _dispatch(self) -> None:
        """Grant whatever can be granted now, and arrange to be woken when time alone will allow more."""
        now = self._clock()
        soonest = math.inf
        for name, lane in self._lanes.items():
            idle = 0
            # Each tenant in turn gets one place, then goes to the end of the row.
            while lane.owners and lane.places > 0 and idle < len(lane.owners):
                owner, queue = next(iter(lane.owners.items()))
                lane.owners.move_to_end(owner)
                turn, wait = self._find_ready(queue, now) if self._has_room(owner, name) else (None, math.inf)
                soonest = min(soonest, wait)
                if turn is None:
                    idle += 1
                    continue
                idle = 0
                self._remove(turn)
                self._begin(turn, now)
        self._arrange(soonest, now)

    def _find_ready(self, queue: deque[_Turn], now: float) -> tuple[_Turn | None, float]:
        """The first whose host can be asked now, else how long until time alone lets one through."""
        soonest = math.inf
        for turn in queue:
            wait = self.rest_of(turn.host)
            if not is_own(turn.host):
                host = self._hosts.get(turn.host)
                if host is not None:
                    if host.active >= self._bounds.host:
                        continue
                    if not turn.follows:
                        wait = max(wait, host.next_start - now)
            if wait <= 1e-6:
                return turn, math.inf
            soonest = min(soonest, wait)
        return None, soonest

    def _has_room(self, owner: str, lane: Lane) -> bool:
        most = self._bounds.tenant or self._bounds.fast
        return self._tenants.get((owner, lane), 0) < most

    def _begin(self, turn: _Turn, now: float) -> None:
        self._lanes[turn.lane].places -= 1
        key = (turn.owner, turn.lane)
        self._tenants[key] = self._tenants.get(key, 0) + 1
        if not is_own(turn.host):
            host = self._hosts.setdefault(turn.host, _Host())
            host.active += 1
            host.next_start = max(host.next_start, now + turn.spacing)
        turn.granted.set_result(None)

    def _end(self, turn: _Turn) -> None:
        if turn.timer is not None:
            turn.timer.cancel()
        self._give_back(turn)
        if turn.roomed:
            self._roomed -= 1
        host = self._hosts.get(turn.host)
        if host is not None:
            host.active -= 1
            if host.active <= 0 and host.next_start <= self._clock():
                del self._hosts[turn.host]
        if len(self._hosts) > MOST_HOSTS:
            now = self._clock()
            self._hosts = {name: host for name, host in self._hosts.items() if host.active > 0 or host.next_start > now}
        self._dispatch()

    def _step_aside(self, turn: _Turn) -> None:
        if turn.counts and self._roomed < ROOM * self._bounds.fast:
            self._roomed += 1
            turn.roomed = True
            self._give_back(turn)
            self._dispatch()

    def _give_back(self, turn: _Turn) -> None:
        if not turn.counts:
            return
        turn.counts = False
        self._lanes[turn.lane].places += 1
        key = (turn.owner, turn.lane)
        self._tenants[key] -= 1
        if not self._tenants[key]:
            del self._tenants[key]

    def _arrange(self, soonest: float, now: float) -> None:
        if soonest == math.inf or (self._wake is not None and now < self._wake_at <= now + soonest):
            return
        if self._wake is not None:
            self._wake.cancel()
        self._wake_at = now + soonest
        self._wake = self._later(soonest, self._woken)

    def _woken(self) -> None:
        self._wake = None
        self._wake_at = math.inf
        self._dispatch()


@lru_cache(maxsize=4096)
def is_own(host: str) -> bool:
    """Whether a host is of the own machine or network, as far as its name or literal address says."""
    try:
        return bool(find_objection(ip_address(host)))
    except ValueError:
        return bool(_LOCAL.fullmatch(host))
