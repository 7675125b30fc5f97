"""The parent of several workers: it starts them, replaces what dies, rolls them over, and ends them in order.

It holds the listening socket and nothing of the engine, so there is nothing in it that a worker could inherit half
done. Workers are forked, so that what they import is in memory once.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import NoReturn

from specloom.core import dataclass

FIRST_WAIT, LONGEST_WAIT = 0.1, 10.0
"""Seconds until a worker that died is started again, doubled each time that it dies young."""
YOUNG = 10.0
"""Seconds that a worker has to live until its death is no longer held against it."""
MOST_DEATHS = 5
"""Workers that may die within as many seconds as make one young, before the server gives up."""
STARTING = 60.0
"""Seconds that a new worker has to be ready before the one that it replaces is let go."""
GRACE = 2.0
"""Seconds beyond its own bound that a worker has to leave."""
GAVE_UP = 3
"""The exit code of a server whose workers do not stay alive."""
HANDLED = ("SIGTERM", "SIGINT", "SIGHUP", "SIGCHLD")
READY = b"r"


@dataclass(frozen=True, slots=True)
class Life:
    """What a worker has of its parent: where it says that it is ready, and what ends when the parent does."""

    ready: int
    parent: int

    def say_ready(self) -> None:
        """Tell the parent that calls are answered."""
        with contextlib.suppress(OSError):
            os.write(self.ready, READY)


class WorkerProcess:
    """A worker as its parent knows it."""

    __slots__ = ("is_leaving", "is_ready", "process", "ready", "replaces", "since")

    def __init__(self, process: int, ready: int, since: float, replaces: WorkerProcess | None) -> None:
        self.process = process
        self.ready = ready
        self.since = since
        self.replaces = replaces
        self.is_ready = False
        self.is_leaving = False


class Supervisor:
    """Keeps `count` workers alive until a signal ends them all.

    `work` is what a worker does, in a process of its own: it gets its number, from 0, and its `Life`, and gives its
    exit code. `seconds` is how long a worker may take to leave. `warn` gets one line on what an operator should know.
    """

    def __init__(
        self,
        count: int,
        work: Callable[[int, Life], int],
        *,
        seconds: float,
        warn: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._count = count
        self._work = work
        self._seconds = seconds
        self._warn = warn
        self._clock = clock
        self._places: list[WorkerProcess | None] = [None] * count
        self._leaving: set[WorkerProcess] = set()
        self._due: dict[int, float] = dict.fromkeys(range(count), 0.0)
        self._waits = [FIRST_WAIT] * count
        self._deaths: deque[float] = deque(maxlen=MOST_DEATHS)
        self._rolling: deque[int] = deque()
        self._is_rolling = False
        self._signals: set[int] = set()
        self._deadline = 0.0
        self._life, self._held = os.pipe()
        self._woken, self._waking = os.pipe()
        for descriptor in (self._woken, self._waking):
            os.set_blocking(descriptor, False)

    def run(self) -> int:
        """Serve until the end; the exit code."""
        code = 0
        with self._handling():
            while True:
                self._note_signals()
                self._reap()
                if len(self._deaths) == MOST_DEATHS and self._clock() - self._deaths[0] < YOUNG and not self._deadline:
                    self._warn(f"{MOST_DEATHS} workers have died within {YOUNG:.0f} s; the server ends")
                    code = GAVE_UP
                    self._end()
                if self._deadline:
                    if not self._everybody():
                        return code
                    if self._clock() > self._deadline:
                        self._kill()
                else:
                    self._start_due()
                    self._roll()
                self._wait()

    # Signals.

    @contextlib.contextmanager
    def _handling(self) -> Iterator[None]:
        numbers = [getattr(signal, name) for name in HANDLED]
        before = {number: signal.signal(number, lambda one, _: self._signals.add(one)) for number in numbers}
        fd = signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(fd)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note_signals(self) -> None:
        signals, self._signals = self._signals, set()
        if signals & {signal.SIGTERM, signal.SIGINT}:
            if self._deadline:
                self._kill()
            else:
                self._end()
        if signal.SIGHUP in signals and not self._deadline:
            self._rolling, self._is_rolling = deque(range(self._count)), True
            self._warn(f"replacing {self._count} workers, one after the other")

    def _end(self) -> None:
        self._deadline = self._clock() + self._seconds + GRACE
        for worker in self._everybody():
            self._signal(worker, signal.SIGTERM)

    def _kill(self) -> None:
        for worker in self._everybody():
            self._signal(worker, signal.SIGKILL)

    def _signal(self, worker: WorkerProcess, number: int) -> None:
        worker.is_leaving = True
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker.process, number)

    # Workers.

    def _everybody(self) -> set[WorkerProcess]:
        return self._leaving.union(one for one in self._places if one is not None)

    def _start_due(self) -> None:
        for place, due in tuple(self._due.items()):
            if due <= self._clock():
                del self._due[place]
                self._places[place] = self._start(place, None)

    def _start(self, place: int, replaces: WorkerProcess | None) -> WorkerProcess:
        ready, say = os.pipe()
        process = os.fork()
        if process == 0:
            self._become(place, say)
        os.close(say)
        os.set_blocking(ready, False)
        return WorkerProcess(process, ready, self._clock(), replaces)

    def _become(self, place: int, say: int) -> NoReturn:
        """Be a worker, in the process that was just forked, and end with it."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for name in HANDLED:
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            # The parent alone holds the other end, so this one ends with it.
            for descriptor in (self._held, self._woken, self._waking, *(one.ready for one in self._everybody())):
                os.close(descriptor)
            code = self._work(place, Life(say, self._life))
        except BaseException as error:  # noqa: BLE001 - nothing may get back into the parent's part of the program
            self._warn(f"a worker could not go on: {type(error).__name__}")
        finally:
            os._exit(code)

    def _reap(self) -> None:
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            self._forget(process, status)

    def _forget(self, process: int, status: int) -> None:
        worker = next((one for one in self._everybody() if one.process == process), None)
        if worker is None:
            return
        os.close(worker.ready)
        self._leaving.discard(worker)
        if worker not in self._places:
            for one in self._places:
                if one is not None and one.replaces is worker:
                    one.replaces = None
            return
        place = self._places.index(worker)
        self._places[place] = None
        if worker.replaces is not None:
            # The one that it was to replace goes on.
            self._leaving.discard(worker.replaces)
            self._places[place] = worker.replaces
            self._rolling.clear()
            self._is_rolling = False
            self._warn("a new worker has died; the old ones go on")
            return
        if self._deadline:
            return
        now = self._clock()
        is_young = now - worker.since < YOUNG
        self._deaths.append(now)
        wait = self._waits[place] if is_young else FIRST_WAIT
        self._waits[place] = min(wait * 2, LONGEST_WAIT)
        self._due[place] = now + wait
        self._warn(f"worker {place} has died ({_describe(status)}); it is started again in {wait:.1f} s")

    def _roll(self) -> None:
        """Replace one worker after the other: the next once the new one answers."""
        for place, worker in enumerate(self._places):
            if worker is None or worker.is_ready:
                continue
            with contextlib.suppress(BlockingIOError):
                worker.is_ready = os.read(worker.ready, 1) == READY
            if worker.replaces is None:
                continue
            if worker.is_ready:
                self._signal(worker.replaces, signal.SIGTERM)
                worker.replaces = None
                continue
            if self._clock() - worker.since > STARTING:
                self._warn(f"a new worker {place} is not ready after {STARTING:.0f} s; the old one goes on")
                self._signal(worker, signal.SIGKILL)
            return
        while self._rolling:
            place = self._rolling.popleft()
            old = self._places[place]
            if old is not None:
                self._leaving.add(old)
                self._places[place] = self._start(place, old)
                return
        if self._is_rolling:
            self._is_rolling = False
            self._warn(f"all {self._count} workers were replaced")

    def _wait(self) -> None:
        """Until a signal, a worker that is ready, or the next thing that is due."""
        soon = [due - self._clock() for due in self._due.values()]
        if self._deadline:
            soon = [self._deadline - self._clock()]
        waiting = [one.ready for one in self._places if one is not None and not one.is_ready]
        seconds = max(0.0, min([*soon, 1.0]))
        readable, _, _ = select.select([self._woken, *waiting], [], [], seconds)
        if self._woken in readable:
            with contextlib.suppress(BlockingIOError):
                while os.read(self._woken, 512):
                    pass


def _describe(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
