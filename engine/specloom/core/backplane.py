"""What processes that serve the same callers share: counters, a bus, leases, a cache; the seam, and nothing behind it.

There is one implementation within a process, one between the processes of a machine, and there may be one between
machines. Whatever cannot be reached raises `BackplaneError` within a quarter of a second, and whoever asked goes on
with what the process has by itself, or refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

MOST_STARTS = 128
"""Starts that `Counters.start` remembers of a key; a larger count is the same rate over a shorter time."""
MOST_PAYLOAD = 32 * 1024
"""Bytes of one message of a bus."""


class BackplaneError(Exception):
    """What is shared cannot be reached: one sentence that says why."""


class Counters(Protocol):
    """Limits, quotas and paces that hold over all who share them. Times are seconds."""

    async def take(self, key: str, *, per: float, burst: int, cost: int = 1) -> float:
        """0.0 when `cost` was taken, else the seconds to wait, and nothing was taken.

        One comes back every `per` seconds, and at most `burst` are there at once (GCRA). ValueError for a cost that is
        never there.
        """

    async def start(self, key: str, *, count: int, per: float) -> float:
        """0.0 when one more may start, of which at most `count` do in any `per` seconds; else the seconds to wait.

        Unlike `take` it lets no more through in the first window than in any other, which a pace that somebody else
        watches has to hold to. `count` is at most `MOST_STARTS`.
        """

    async def add(self, key: str, amount: int, *, until: float) -> int:
        """What the counter says with the amount added; it begins anew at `until`, in seconds since the epoch."""


class Lease(Protocol):
    """The right to do something that should be done once, for a while."""

    @property
    def number(self) -> int:
        """A number above those of all leases before, by which a holder that was late is told from the present one."""

    async def renew(self, ttl: float) -> bool:
        """Hold it for so long from now; False when it has ended or is another's."""

    async def release(self) -> None:
        """Give it back; nothing where it has ended."""


class Leases(Protocol):
    """Who does a thing that should be done once."""

    async def acquire(self, name: str, ttl: float) -> Lease | None:
        """The lease for so many seconds, or None while another has it. That of a process that ended is free again."""


class Bus(Protocol):
    """Tells all who listen, in every process, this one included: at most once, and nobody where nobody listens."""

    async def tell(self, topic: str, payload: bytes) -> None:
        """Tell; ValueError for more than `MOST_PAYLOAD` bytes."""

    def listen(self, topic: str) -> AsyncIterator[bytes]:
        """What is told from now on, on the running loop; who is too slow misses the oldest."""


class SharedCache(Protocol):
    """A second level under the memory of a process. Values arrive sealed, with their age inside."""

    async def get(self, key: str) -> bytes | None:
        """The value while it lives."""

    async def put(self, key: str, value: bytes, ttl: float) -> None:
        """Keep the value for so many seconds."""

    async def clear(self, prefix: str) -> None:
        """Forget everything whose key begins so: a name and a colon."""

    def watch(self, prefix: str, tell: Callable[[], None]) -> None:
        """`tell` on the running loop, once what begins so was forgotten by anybody, or may have been."""


class Link(Protocol):
    """The connection that the parts of a backplane share, where they have one."""

    @property
    def is_away(self) -> bool:
        """Whether what is shared cannot be reached at present."""

    async def aclose(self) -> None:
        """Let go of it."""


@dataclass(frozen=True, slots=True)
class Backplane:
    """Everything that is shared. Without a `cache` the answers' own directory is what processes share."""

    counters: Counters
    leases: Leases
    bus: Bus
    cache: SharedCache | None = None
    link: Link | None = None

    @property
    def is_away(self) -> bool:
        """Whether what is shared cannot be reached at present, so that each process is by itself."""
        return self.link is not None and self.link.is_away

    async def aclose(self) -> None:
        """Let go of what is held; leases end."""
        for part in (self.cache, self.bus, self.leases, self.counters, self.link):
            if (aclose := getattr(part, "aclose", None)) is not None:
                await aclose()
            elif (close := getattr(part, "close", None)) is not None:
                close()
