"""The daily quota of one owner over stdio, kept by all processes that serve from one state; and a backend in a backend.

It is the limit of the same name over HTTP, in the same counter. Answers from memory pass by it, and those that had been
kept on disk are given back.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from specloom.core import BackplaneError, Fault

from .protocol import Backend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specloom.core import Backplane

    from .protocol import Call, Looked

DAY = 86_400.0
VARIABLE = "MAX_CALLS_PER_DAY"
USER_DAY = "user_day"
"""The name of the limit."""


def find_midnight(now: float) -> float:
    """When the day of UTC ends, in seconds since the epoch."""
    return (now // DAY + 1) * DAY


def name_counter(limit: str, whose: str) -> str:
    """The key of a limit in shared counters."""
    return f"limit:{limit}:{whose}"


def name_day(key: str, ends: float) -> str:
    """The key of one day of a limit."""
    return f"{key}:{ends:.0f}"


def make_limit_fault(limit: str, wait: float, name: str, variable: str) -> Fault:
    """A limit of this server that was reached: which, by which variable, and in how many seconds to come back."""
    seconds = max(math.ceil(wait - 1e-6), 1)
    by = f" ({variable})" if variable else ""
    again = f"try again in {seconds} {'second' if seconds == 1 else 'seconds'}"
    fault = Fault("rate_limited", f"This server allows {limit}{by}; {again}.", retry_after=seconds, ours=True)
    fault.also = {"limit": name} | ({"variable": variable} if variable else {})
    return fault


class ForwardingBackend(Backend):
    """A backend that answers as another does, for those that change something of it."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def call_now(
        self, name: str, arguments: dict[str, Any], request_id: str | int
    ) -> bytes | dict[str, Any] | Looked | None:
        return self._backend.call_now(name, arguments, request_id)

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Call) -> bytes | dict[str, Any]:
        return await self._backend.call_tool(name, arguments, call)

    async def read_resource(self, uri: str, call: Call) -> dict[str, Any]:
        return await self._backend.read_resource(uri, call)

    async def get_prompt(self, name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        return await self._backend.get_prompt(name, arguments, call)

    async def complete(self, ref: dict[str, Any], argument: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
        return await self._backend.complete(ref, argument, context)

    def prepare(self) -> Iterator[None]:
        return self._backend.prepare()

    def note_stall(self, seconds: float, where: str) -> None:
        self._backend.note_stall(seconds, where)

    async def close(self, grace: float) -> None:
        await self._backend.close(grace)


class DailyQuota(ForwardingBackend):
    """A backend of which an owner may make so many calls in a day of UTC."""

    def __init__(
        self, backend: Backend, count: int, owner: str, backplane: Backplane, *, clock: Callable[[], float] = time.time
    ) -> None:
        """The `backplane` is closed with the backend."""
        super().__init__(backend)
        self._count, self._backplane, self._clock = count, backplane, clock
        self._key = name_counter(USER_DAY, owner)
        self._alone: tuple[float, int] = (0.0, 0)
        """The calls of a day that could not be counted with those of others."""

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Call) -> bytes | dict[str, Any]:
        now = self._clock()
        ends = find_midnight(now)
        if await self._add(1, ends) > self._count:
            await self._add(-1, ends)
            raise make_limit_fault(f"{self._count} calls a day of UTC for each user", ends - now, USER_DAY, VARIABLE)
        try:
            return await super().call_tool(name, arguments, call)
        finally:
            if call.is_kept:
                await self._add(-1, ends)

    async def close(self, grace: float) -> None:
        await super().close(grace)
        await self._backplane.aclose()

    async def _add(self, amount: int, ends: float) -> int:
        try:
            return await self._backplane.counters.add(name_day(self._key, ends), amount, until=ends)
        except BackplaneError:
            day, count = self._alone
            self._alone = (ends, (count if day == ends else 0) + amount)
            return self._alone[1]
