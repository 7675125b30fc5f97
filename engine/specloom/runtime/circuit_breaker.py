"""A breaker gives an upstream that fails a rest, and then lets exactly one call find out whether it recovered."""

from __future__ import annotations

import math
import random
import time
from typing import TYPE_CHECKING, Any, Literal

from specloom.core import KINDS, Fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


State = Literal["closed", "open", "half_open"]

THRESHOLD = 5
RESET = 60.0
JITTER = 0.2
LONGEST_REST = 3600.0
"""The longest rest an upstream can ask for with its own retry time."""
LEASE = 120.0
"""Seconds after which a trial call that never reported back is taken for lost."""


class Permit:
    """Leave for one call. Say how it went, once; as a context manager it reads that from the exception."""

    __slots__ = ("_breaker", "_era", "_settled")

    def __init__(self, breaker: Breaker, era: int) -> None:
        self._breaker = breaker
        self._era = era
        self._settled = False

    def succeed(self) -> None:
        """The upstream answered, also with an empty list."""
        if self._settle():
            self._breaker._on_success(self._era)  # noqa: SLF001 - a permit is the breaker's own half

    def fail(self, fault: Fault) -> None:
        """The upstream failed; the kind of the fault says whether that trips, counts or is ignored."""
        if self._settle():
            self._breaker._on_fault(self._era, fault)  # noqa: SLF001

    def release(self) -> None:
        """Nothing was learnt about the upstream, such as when the caller cancelled."""
        if self._settle():
            self._breaker._on_release(self._era)  # noqa: SLF001

    def _settle(self) -> bool:
        first = not self._settled
        self._settled = True
        return first

    def __enter__(self) -> Permit:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.succeed()
        elif isinstance(error, Fault):
            self.fail(error)
        else:
            self.release()


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
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.provider = provider
        self.family = family
        self._threshold = max(1, threshold)
        self._reset = reset
        self._clock = clock
        self._chance = chance
        self._failures = 0
        self._rests_until: float | None = None
        self._trial_until: float | None = None
        # Counts changes of state: what a call from before the last change reports is about a time that is over.
        self._era = 0
        self._reason = ""

    @property
    def state(self) -> State:
        """`closed` lets calls through, `open` refuses them, `half_open` lets one through to find out."""
        rests_until = self._rests_until
        if rests_until is None:
            return "closed"
        return "open" if self._clock() < rests_until else "half_open"

    def ready(self) -> bool:
        """Whether `acquire` would give a permit now. Asking changes nothing."""
        return self._wait() == 0.0

    def acquire(self) -> Permit:
        """A permit for one call, or a `circuit_open` fault that says when to come back."""
        wait = self._wait()
        if wait > 0.0:
            raise self._refusal(wait)
        if self._rests_until is not None:
            self._era += 1
            self._trial_until = self._clock() + max(LEASE, self._reset)
        return Permit(self, self._era)

    def snapshot(self) -> dict[str, Any]:
        """What a health report shows: provider, family, state, whether a call would pass, failures, seconds to wait."""
        wait = self._wait()
        return {
            "provider": self.provider,
            "family": self.family,
            "state": self.state,
            "available": wait == 0.0,
            "failures": self._failures,
            "retry_after": math.ceil(wait),
        }

    def _wait(self) -> float:
        rests_until, trial_until = self._rests_until, self._trial_until
        if rests_until is None:
            return 0.0
        now = self._clock()
        if now < rests_until:
            return rests_until - now
        # While the trial call is out nobody knows; an answer or a failure is a matter of seconds.
        return 1.0 if trial_until is not None and now < trial_until else 0.0

    def _on_success(self, era: int) -> None:
        if era != self._era:
            return
        self._failures = 0
        if self._rests_until is not None:
            self._rests_until = self._trial_until = None
            self._era += 1

    def _on_fault(self, era: int, fault: Fault) -> None:
        trip = KINDS[fault.kind].trip
        asked = min(float(fault.retry_after or 0), LONGEST_REST) if trip == "at_once" and not fault.ours else 0.0
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
            self._open(asked, "asked to slow down" if trip == "at_once" else "failed repeatedly")

    def _on_release(self, era: int) -> None:
        if era == self._era:
            self._trial_until = None

    def _open(self, asked: float, reason: str) -> None:
        # The jitter keeps several servers from trying a recovering upstream in the same second.
        rest = max(self._reset, asked)
        self._rests_until = self._clock() + rest + self._reset * JITTER * self._chance()
        self._trial_until = None
        self._era += 1
        self._reason = reason

    def _refusal(self, wait: float) -> Fault:
        seconds = max(1, math.ceil(wait))
        if self.state == "half_open":
            message = (
                f"{self.provider} {self._reason}, and another call is just trying it again; come back in {seconds} s."
            )
        else:
            message = f"{self.provider} {self._reason} and is left alone for now; come back in {seconds} s."
        return Fault("circuit_open", message, provider=self.provider, retry_after=seconds)


class Breakers:
    """Every breaker of a process, one for a provider in a family, made when first asked for."""

    def __init__(
        self,
        *,
        threshold: int = THRESHOLD,
        reset: float = RESET,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._threshold = threshold
        self._reset = reset
        self._clock = clock
        self._chance = chance
        self._breakers: dict[tuple[str, str], Breaker] = {}

    def of(self, provider: str, family: str = "") -> Breaker:
        """The breaker of this provider for this family of operations."""
        breaker = self._breakers.get((family, provider))
        if breaker is None:
            breaker = Breaker(
                provider, family, threshold=self._threshold, reset=self._reset, clock=self._clock, chance=self._chance
            )
            self._breakers[family, provider] = breaker
        return breaker

    def snapshot(self) -> list[dict[str, Any]]:
        """The snapshot of every breaker, sorted by family, then provider."""
        return [breaker.snapshot() for _, breaker in sorted(self._breakers.copy().items(), key=lambda item: item[0])]
