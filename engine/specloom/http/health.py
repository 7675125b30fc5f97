"""Readiness of a worker: what its probe is answered, with the reason in the log where it is not to be sent calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from specloom.core import Fault
from specloom.storage import StateStores

if TYPE_CHECKING:
    from specloom.core import Backplane
    from specloom.runtime import Executor

Verdict = Literal["healthy", "degraded", "unhealthy"]
GOOD, BAD = 5.0, 1.0
"""Seconds for which a look at the state counts that found it well, and one that did not."""
PATIENCE = 0.5
"""Seconds that a probe waits for a look; one that takes longer ends behind it, for the next probe."""
SHARED = "upstream_unavailable"
"""The kind of a fault that no other machine would be better off with, since they ask the same server."""


class Health:
    """Looks at what is behind a worker when it is probed. What is wrong is told once, and once that it no longer is.

    What is broken here alone (a key that does not open the state, a file that is damaged) makes it unhealthy, so that
    calls go elsewhere. What all machines ask in common makes it degraded, because elsewhere it would be no better.
    """

    def __init__(
        self,
        find_executor: Callable[[], Executor | None],
        backplane: Backplane | None = None,
        *,
        warn: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`find_executor` gives the engine's executor once it is loaded."""
        self._find_executor = find_executor
        self._backplane = backplane
        self._warn = warn
        self._clock = clock
        self._verdict: Verdict | None = None
        """What the last look at the state has found; None before the first."""
        self._good_until = 0.0
        self._looking: asyncio.Task[None] | None = None
        self._told = ""

    async def look(self) -> Verdict:
        """What a probe is answered; it waits for a moment at most."""
        executor = self._find_executor()
        if executor is None:
            return "unhealthy"
        if self._looking is None and self._clock() >= self._good_until:
            self._looking = asyncio.get_running_loop().create_task(self._look(executor.drawers))
        if self._looking is not None:
            await asyncio.wait([self._looking], timeout=PATIENCE)
        # Before the first look has ended nobody knows.
        if self._verdict is None or self._verdict == "unhealthy":
            return "unhealthy"
        is_away = self._backplane is not None and self._backplane.is_away
        return "degraded" if is_away or _rest(executor.breakers.snapshot()) else self._verdict

    async def _look(self, drawers: object) -> None:
        try:
            if isinstance(drawers, StateStores):
                await drawers.check()
        except Fault as fault:
            self._judge("degraded" if fault.kind == SHARED else "unhealthy", fault.message)
        else:
            self._judge("healthy", "")
        finally:
            self._looking = None

    def _judge(self, verdict: Verdict, why: str) -> None:
        self._verdict = verdict
        self._good_until = self._clock() + (GOOD if verdict == "healthy" else BAD)
        if verdict == "unhealthy" and why != self._told:
            self._warn(f"not ready: {why}")
        elif verdict != "unhealthy" and self._told:
            self._warn("ready again")
        self._told = why if verdict == "unhealthy" else ""


def _rest(breakers: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all that was asked rests after failures."""
    return bool(breakers) and all(one["state"] == "open" for one in breakers)
