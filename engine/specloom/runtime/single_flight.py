"""Identical calls in flight share one: whoever asks for the same key gets the same answer or the same failure."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from specloom.core import Fault
from specloom.core.lazy import LateModule

from .plan import Progress

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = LateModule("asyncio")

T = TypeVar("T")


class _Flight:
    """One call under way, and those who wait for it."""

    __slots__ = ("listeners", "said", "task", "waiting")

    def __init__(self) -> None:
        self.task: asyncio.Task[Any]
        self.waiting: set[asyncio.Future[None]] = set()
        """One future for each who waits, resolved as the call ends."""
        self.listeners: list[Progress] = []
        self.said: tuple[float, float | None, str | None] | None = None

    def tell(self, done: float, total: float | None, message: str | None) -> None:
        """Tell everyone who waits how far it is."""
        self.said = (done, total, message)
        for listener in tuple(self.listeners):
            self.tell_one(listener)

    def tell_one(self, listener: Progress) -> None:
        """Tell one of them what was said last."""
        if self.said is None:
            return
        try:
            listener(*self.said)
        except Exception:  # noqa: BLE001 - whose client cannot be told takes the answer from nobody
            self.listeners.remove(listener)


class Flights:
    """The calls under way, by key. A call ends early only when everyone who waits for it has gone."""

    def __init__(self) -> None:
        self._flights: dict[str, _Flight] = {}
        # The loop holds tasks weakly; one that is being cancelled has nobody else to hold it.
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        """How many calls are under way, those that are just being cancelled included."""
        return len(self._tasks)

    async def run(
        self, key: str, start: Callable[[Progress], Coroutine[Any, Any, T]], progress: Progress | None = None
    ) -> T:
        """The result of the call that is under way for this key, or of `start` when there is none.

        What the call tells through the function that `start` is given goes to the `progress` of each who waits; who
        comes later begins with what was told last.
        """
        flight = self._flights.get(key)
        if flight is None or flight.task.done():
            flight = self._launch(key, start)
        # Unlike awaiting the task, waiting for this leaves the task alone when this caller is cancelled.
        landed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        flight.waiting.add(landed)
        if progress is not None:
            flight.listeners.append(progress)
            flight.tell_one(progress)
        try:
            await landed
        finally:
            if progress in flight.listeners:
                flight.listeners.remove(progress)
            flight.waiting.discard(landed)
            if not flight.waiting and not flight.task.done():
                self._forget(key, flight)
                flight.task.cancel()
        if flight.task.cancelled():
            # A CancelledError would look as if this caller had been cancelled.
            raise Fault(
                "upstream_unavailable", "The call this one had joined was broken off before it answered; try again."
            )
        result: T = flight.task.result()
        return result

    def _launch(self, key: str, start: Callable[[Progress], Coroutine[Any, Any, T]]) -> _Flight:
        flight = _Flight()
        flight.task = asyncio.create_task(start(flight.tell), name=f"flight {key[:16]}")
        self._flights[key] = flight
        self._tasks.add(flight.task)

        def land(task: asyncio.Task[Any]) -> None:
            self._tasks.discard(task)
            self._forget(key, flight)
            for landed in flight.waiting:
                if not landed.done():
                    landed.set_result(None)
            if not task.cancelled():
                # Looked at here, because the last waiter may have gone while the exception was under way.
                task.exception()

        flight.task.add_done_callback(land)
        return flight

    def _forget(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
