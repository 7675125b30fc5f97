"""Breakers that open together: what one process finds of an upstream, all others are told over the bus."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping

from specloom.core import BackplaneError, Bus
from specloom.model import Provider

from .circuit_breaker import LONGEST_REST, Breakers

TOPIC = "breakers"
LONGEST_REASON = 100


class SharedTrips:
    """Tells others when a breaker opens here, and opens it here when others tell so. Nothing depends on a message."""

    def __init__(self, breakers: Breakers, bus: Bus, providers: Mapping[str, Provider]) -> None:
        self._breakers, self._bus, self._providers = breakers, bus, providers
        self._own = os.urandom(8).hex()
        self._listening: asyncio.Task[None] | None = None
        self._telling: set[asyncio.Task[None]] = set()
        breakers.on_open = self._on_open

    def start(self) -> None:
        """Listen on the running loop, from the first call on."""
        if self._listening is None:
            heard = self._bus.listen(TOPIC)
            self._listening = asyncio.create_task(self._listen(heard), name="breakers")

    async def aclose(self) -> None:
        """Neither tell nor listen any more."""
        tasks = [*self._telling, *([self._listening] if self._listening is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _on_open(self, provider: str, family: str, seconds: float, reason: str) -> None:
        said = {"by": self._own, "provider": provider, "family": family, "seconds": seconds, "reason": reason}
        task = asyncio.get_running_loop().create_task(self._tell(json.dumps(said).encode()))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self, payload: bytes) -> None:
        try:
            await self._bus.tell(TOPIC, payload)
        except (BackplaneError, OSError):
            return  # they find out by themselves

    async def _listen(self, heard: AsyncIterator[bytes]) -> None:
        async for payload in heard:
            self._hear(payload)

    def _hear(self, payload: bytes) -> None:
        try:
            said = json.loads(payload)
            by, provider, family = str(said["by"]), str(said["provider"]), str(said["family"])
            seconds, reason = float(said["seconds"]), str(said["reason"])[:LONGEST_REASON]
        except (ValueError, TypeError, KeyError):
            return  # of another version
        known = provider in self._providers and family in self._providers[provider].operations
        if known and by != self._own and 0.0 < seconds <= LONGEST_REST:
            self._breakers.of(provider, family).rest(seconds, reason)
