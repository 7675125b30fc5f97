"""A breaker gives an upstream that fails a rest, and then lets exactly one call find out whether it recovered."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from specloom.core import KINDS, Fault

State = Literal["closed", "open", "half_open"]
Opened = Callable[[str, str, float, str], None]
"""Is told the provider, the family, the seconds of the rest, and why."""

THRESHOLD = 5
RESET = 60.0
JITTER = 0.2
LONGEST_REST = 3600.0
"""The longest rest an upstream can ask for with its own retry time."""
SHORTEST_REST = 10
"""Seconds of a rest up to which the next call waits for its end."""
FIRST_REST = 5.0
"""Seconds of the first rest of an upstream that asks to slow down and does not say for how long."""
SLOW = "asked to slow down"
LEASE = 120.0
"""Seconds after which a trial call that never reported back is taken for lost."""


def _toss() -> float:
    import random  # with the digests that seed it

    return random.random()  # noqa: S311 - it only spreads times


class Breaker:
    """The breaker of one provider in one family of operations, for one loop; any thread may read `snapshot`."""

    def __init__(
        self,
        provider: str,
        family: str = "",
        *,
        threshold: int = THRESHOLD,
        reset: float = RESET,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = _toss,
        on_open: Opened | None = None,
    ) -> None:
        self.provider = provider
        self.family = family
        self._threshold = max(1, threshold)
        self._reset = reset
        self._clock = clock
        self._chance = chance
        self._on_open = on_open
        self._failures = 0
        self._rests_until: float | None = None
        self._trial_until: float | None = None
        # Counts changes of state: what a call from before the last change reports is about a time that is over.
        self._era = 0
        self._reason = ""
        self._unsaid = 0.0
        """The last rest of an upstream that asked to slow down without saying for how long."""

    @property
    def state(self) -> State:
        """`closed` lets calls through, `open` refuses them, `half_open` lets one through to find out."""
        rests_until = self._rests_until
        if rests_until is None:
            return "closed"
        return "open" if self._clock() < rests_until else "half_open"

    def ready(self) -> bool:
        """Whether `call` would let a call through now. Asking changes nothing."""
        return self.wait() == 0.0

    @contextmanager
    def call(self) -> Iterator[None]:
        """Leave for one call, which counts by how it ends; a `circuit_open` fault that says when to come back.

        The kind of a fault says whether it trips, counts or is ignored. Nothing is learnt about the upstream by another
        exception, such as when the caller cancels.
        """
        wait = self.wait()
        if wait > 0.0:
            raise self._refusal(wait)
        if self._rests_until is not None:
            self._era += 1
            self._trial_until = self._clock() + max(LEASE, self._reset)
        era = self._era
        try:
            yield
        except Fault as fault:
            self._on_fault(era, fault)
            raise
        except BaseException:
            self._on_release(era)
            raise
        self._on_success(era)

    def snapshot(self) -> dict[str, Any]:
        """What a health report shows: provider, family, state, whether a call would pass, failures, seconds to wait."""
        wait = self.wait()
        return {
            "provider": self.provider,
            "family": self.family,
            "state": self.state,
            "available": wait == 0.0,
            "failures": self._failures,
            "retry_after": math.ceil(wait),
        }

    def wait(self) -> float:
        """Seconds until `call` may let a call through, as far as is known."""
        rests_until, trial_until = self._rests_until, self._trial_until
        if rests_until is None:
            return 0.0
        now = self._clock()
        if now < rests_until:
            return rests_until - now
        # While the trial call is out nobody knows; an answer or a failure is a matter of seconds.
        return 1.0 if trial_until is not None and now < trial_until else 0.0

    def rest(self, seconds: float, reason: str) -> None:
        """Leave it alone for so long, as another process has found that it should be; a longer rest stays as it is."""
        until = self._clock() + min(seconds, LONGEST_REST) + self._reset * JITTER * self._chance()
        if self._rests_until is None or self._rests_until < until:
            self._rests_until, self._trial_until, self._reason = until, None, reason
            self._era += 1

    def _on_success(self, era: int) -> None:
        if era != self._era:
            return
        self._failures, self._unsaid = 0, 0.0
        if self._rests_until is not None:
            self._rests_until = self._trial_until = None
            self._era += 1

    def _on_fault(self, era: int, fault: Fault) -> None:
        trip = KINDS[fault.kind].trip
        if fault.kind == "rate_limited" and 0 < (fault.said_after or 0) <= SHORTEST_REST:
            # So short a rest is waited for, by whoever is next.
            trip = "ignore"
        asked = min(float(fault.said_after or 0), LONGEST_REST) if trip == "at_once" and not fault.ours else 0.0
        if era != self._era:
            # A late call may still bring the news that the upstream wants a longer rest.
            if self._rests_until is not None and self._trial_until is None:
                self._rests_until = max(self._rests_until, self._clock() + asked) if asked else self._rests_until
            return
        if trip == "ignore" or fault.ours:
            self._on_release(era)
            return
        self._failures += trip == "count"
        if trip == "at_once" or self._rests_until is not None or self._failures >= self._threshold:
            self._open(asked, SLOW if trip == "at_once" else "failed repeatedly")

    def _on_release(self, era: int) -> None:
        if era == self._era:
            self._trial_until = None

    def _open(self, asked: float, reason: str) -> None:
        # The jitter keeps several servers from trying a recovering upstream in the same second.
        if reason == SLOW and not asked:
            # Nobody said for how long: shortly at first, and longer each time.
            self._unsaid = min(self._reset, self._unsaid * 2 if self._unsaid else FIRST_REST)
        rest = asked or (self._unsaid if reason == SLOW else self._reset)
        self._rests_until = self._clock() + rest + (0.0 if asked else rest * JITTER * self._chance())
        self._trial_until = None
        self._era += 1
        self._reason = reason
        if self._on_open is not None:
            self._on_open(self.provider, self.family, rest, reason)

    def _refusal(self, wait: float) -> Fault:
        seconds = max(1, math.ceil(wait))
        half_open = self.state == "half_open"
        now = ", and another call is just trying it again" if half_open else " and is left alone for now"
        message = f"{self.provider} {self._reason}{now}; come back in {seconds} s."
        # Who has to wait is told to wait, however often it is asked meanwhile.
        kind = "rate_limited" if self._reason == SLOW else "circuit_open"
        return Fault(kind, message, provider=self.provider, retry_after=seconds, ours=True)


class Breakers:
    """Every breaker of a process, one for a provider in a family, made when first asked for."""

    def __init__(self, **options: Any) -> None:
        """`options` are those of every `Breaker`."""
        self._options = options
        self.on_open: Opened | None = None
        """Is told when one opens by what its own calls found."""
        self._breakers: dict[tuple[str, str], Breaker] = {}

    def anew(self) -> Breakers:
        """Breakers with the same options, all closed."""
        return Breakers(**self._options)

    def of(self, provider: str, family: str = "") -> Breaker:
        """The breaker of this provider for this family of operations."""
        breaker = self._breakers.get((family, provider))
        if breaker is None:
            breaker = Breaker(provider, family, on_open=self._tell, **self._options)
            self._breakers[family, provider] = breaker
        return breaker

    def _tell(self, provider: str, family: str, seconds: float, reason: str) -> None:
        if self.on_open is not None:
            self.on_open(provider, family, seconds, reason)

    def resting(self) -> frozenset[str]:
        """The providers of which a breaker would let no call through now."""
        return frozenset(provider for (_, provider), one in self._breakers.copy().items() if one.wait() > 0.0)

    def snapshot(self) -> list[dict[str, Any]]:
        """The snapshot of every breaker, sorted by family, then provider."""
        return [self._breakers[key].snapshot() for key in sorted(self._breakers.copy())]
