"""How fast upstreams are asked, for all calls of a process, and what is not asked again so soon (negative cache)."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Mapping
from weakref import WeakKeyDictionary

from specloom.core import Pacer
from specloom.plugins import Context

from .errors import PaperFault

PER_SECOND, GAP = 5, 0.2
"""Starts in any second, and seconds between two to one source."""
AT_ONCE, QUEUE = 5, 100
"""Requests at a time, and calls that may wait for their turn; one more is refused."""
GAPS: Mapping[str, float] = {"arxiv": 3.0}
"""Sources that ask for more than the common gap, in seconds, and for one connection at a time."""
PACE = (PER_SECOND, AT_ONCE, GAP, GAPS)

LASTING, PASSING = 600.0, 30.0
"""Seconds for which an end is told again that trying cannot change, and for which one is that may pass."""
MOST = 10_000
"""Papers whose end is remembered."""


class Replays:
    """What papers came to a short while ago, so that asking again at once asks nobody."""

    def __init__(self) -> None:
        self._ends: dict[Hashable, tuple[PaperFault, float]] = {}

    def _find(self, key: Hashable, now: float) -> tuple[PaperFault, float] | None:
        """What a paper came to, and how many seconds are left for which that is told again."""
        fault, at = self._ends.get(key, (None, 0.0))
        if fault is None:
            return None
        left = at + (PASSING if fault.disposition == "retry_after" else LASTING) - now
        return (fault, left) if at <= now and left > 0 else None

    def check(self, key: Hashable, now: float) -> None:
        """Raise what was told lately about a paper; nothing when it may be asked."""
        ended = self._find(key, now)
        if ended is None:
            return
        fault, left = ended
        if fault.disposition == "retry_after":
            wait = round(left * 1000)
            message = f"It was asked {PASSING - left:.0f} seconds ago ({fault.message}) Wait {wait} ms, or use force."
            raise PaperFault("RATE_LIMITED", message, retry_after_ms=wait, replayed=True)
        raise PaperFault(fault.code, fault.message, denial=fault.denial, remediation=fault.remediation, replayed=True)

    def note(self, key: Hashable, fault: PaperFault | None, now: float) -> None:
        """Remember how a call ended; a clean end forgets, and the same end keeps its first time."""
        before = self._find(key, now)
        if fault is not None and before is not None and before[0].code == fault.code:
            return
        self._ends.pop(key, None)
        if fault is not None:
            if len(self._ends) >= MOST:
                self._ends.pop(next(iter(self._ends)))
            self._ends[key] = fault, now


PACER, REPLAYS = Pacer(*PACE), Replays()
"""The turns of this process, and the failures that it knows."""

_APART: WeakKeyDictionary[Context, Replays] = WeakKeyDictionary()
"""Per call where nobody is really asked: what one example came to is nothing to the next."""


def turn(context: Context, source: str) -> contextlib.AbstractAsyncContextManager[None]:
    """A turn of the pacer that all calls share, at once where nobody is really asked; RATE_LIMITED in a full queue."""
    if not context.is_live:
        return contextlib.nullcontext()
    if PACER.waiting >= QUEUE + AT_ONCE:
        raise PaperFault(
            "RATE_LIMITED",
            f"{PACER.waiting} requests wait for their turn already, so {source} is not asked (cap {QUEUE}).",
            denial={"reason": "rate_limit_window", "source": source, "cap": QUEUE},
        )
    return PACER.turn(source)


def replays_of(context: Context) -> Replays:
    """The failures that a call knows of: those of the process, or in an example those of the call alone."""
    return REPLAYS if context.is_live else _APART.setdefault(context, Replays())
