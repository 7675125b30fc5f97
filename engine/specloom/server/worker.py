"""The thread that runs calls: an event loop that starts at the first need and ends when the client has gone."""

from __future__ import annotations

import threading

from specloom.core import keep

from .frames import STOPPED

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine
    from typing import Any

    from .calls import LiveCall
    from .connection import Connection
    from .protocol import Backend, LoadBackend


class Worker:
    """Runs calls on an event loop in a thread of its own, on a backend that is loaded in that thread."""

    def __init__(self, connection: Connection, load_backend: LoadBackend, closing: float) -> None:
        self._connection = connection
        self._load_backend = load_backend
        self._closing = closing
        self._changed = threading.Condition()
        self._waiting: list[LiveCall] = []
        self._active = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Load the backend in the background, unless that has begun already."""
        with self._changed:
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(target=self._main, name="specloom-calls", daemon=True)
                self._thread.start()

    def submit(self, call: LiveCall) -> None:
        """Run `call` as soon as the backend is there."""
        with self._changed:
            self._active += 1
            self._waiting.append(call)
            loop = self._loop
        if loop is None:
            self.start()
        else:
            loop.call_soon_threadsafe(self._take)

    def drain(self, enough: Callable[[], bool], seconds: float) -> None:
        """Wait until every call has ended, at most `seconds`, or until `enough()` says that it is no use."""
        import time

        end = time.monotonic() + seconds
        with self._changed:
            while self._active and not enough() and (left := end - time.monotonic()) > 0:
                self._changed.wait(min(0.05, left))

    def stop(self, seconds: float) -> bool:
        """Cancel what still runs and close the backend; whether the thread is gone within `seconds`."""
        with self._changed:
            self._stopped = True
            thread, loop, stop = self._thread, self._loop, self._stop
            waiting, self._waiting = self._waiting, []
            if loop is not None and stop is not None:
                loop.call_soon_threadsafe(stop.set)
        for call in waiting:
            call.fail(STOPPED)
        if thread is None:
            return True
        # A thread that is still importing has nothing to lose, and waiting for it would only delay the exit.
        thread.join(seconds if loop is not None else 0.0)
        return not thread.is_alive()

    def _main(self) -> None:
        try:
            backend = keep(self._load_backend)
        except BaseException as error:  # noqa: BLE001 - reported; the calls that wait are answered
            self._connection.report(error)
            self._give_up()
            return
        import asyncio

        try:
            asyncio.run(self._serve(backend))
        except Exception as error:  # noqa: BLE001 - nothing may be printed, and there is nobody to raise to
            self._connection.report(error)

    def _give_up(self) -> None:
        """Fail the calls that wait for a backend which cannot be loaded; the next call tries again."""
        with self._changed:
            failed, self._waiting = self._waiting, []
            self._thread = None
            self._active -= len(failed)
            self._changed.notify_all()
        for call in failed:
            call.fail()

    async def _serve(self, backend: Backend) -> None:
        import asyncio

        with self._changed:
            self._loop = asyncio.get_running_loop()
            self._stop = asyncio.Event()
            if self._stopped:
                self._stop.set()
        self._connection.backend = backend
        self._take()
        await self._stop.wait()
        self._connection.backend = None
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._closing / 2)
        try:
            await asyncio.wait_for(backend.close(self._closing / 2), self._closing / 2)
        except Exception as error:  # noqa: BLE001 - the process ends anyway
            self._connection.report(error)

    def _take(self) -> None:
        """Start the calls that wait. Runs on the loop."""
        assert self._loop is not None
        assert self._connection.backend is not None or self._stopped
        with self._changed:
            calls, self._waiting = self._waiting, []
        for call in calls:
            backend = self._connection.backend
            if backend is None or not self._connection.is_running(call):
                call.fail(STOPPED)
                self._leave()
                continue
            self._track(call, call.run(backend))

    def _track(self, call: LiveCall, work: Coroutine[Any, Any, None]) -> None:
        assert self._loop is not None
        loop = self._loop
        task = loop.create_task(work)
        self._tasks.add(task)

        def done(ended: asyncio.Task[None]) -> None:
            self._tasks.discard(ended)
            if not ended.cancelled() and (error := ended.exception()) is not None:
                self._connection.report(error)
            # A task that is cancelled before its first step never gets to answer for itself.
            call.fail()
            self._leave()

        task.add_done_callback(done)
        call.on_cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        if not self._connection.is_running(call):
            task.cancel()

    def _leave(self) -> None:
        with self._changed:
            self._active -= 1
            self._changed.notify_all()
