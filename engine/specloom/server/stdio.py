"""The stdio host: lines in, lines out, on the standard library alone, so that a server is there at once.

The main thread reads and answers what needs no work. Everything else runs on a worker thread that starts at the first
call, or shortly after the first list of tools.
"""

from __future__ import annotations

import os
import sys
import threading

from specloom.core import keep

from .connection import Connection
from .frames import STOPPED, to_error
from .protocol import INVALID_REQUEST, ProtocolError
from .watchdog import start_watchdog

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Iterator
    from typing import Any

    from .calls import LiveCall
    from .protocol import Backend, Catalogue, LoadBackend
    from .stalls import StallWatch

    Replace = Callable[[Catalogue, LoadBackend], object]


class Worker:
    """Runs calls on an event loop in a thread of its own, on a backend that is loaded in that thread."""

    def __init__(
        self,
        connection: Connection,
        load_backend: LoadBackend,
        closing: float,
        before: Callable[[], object] = lambda: None,
        warn: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`before` runs in the thread before the backend is loaded; `warn` gets a line about a loop that stalls."""
        self._connection = connection
        self._load_backend = load_backend
        self._closing = closing
        self._before = before
        self._warn = warn
        self._changed = threading.Condition()
        self._waiting: list[LiveCall] = []
        self._active = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closings: set[asyncio.Task[None]] = set()

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
            is_first = not self._waiting
            self._waiting.append(call)
            if self._active == 1:
                self._changed.notify_all()
            loop = self._loop
        if loop is None:
            self.start()
        elif is_first:
            # For those that wait already the loop has been told.
            loop.call_soon_threadsafe(self._take)

    def drain(self, enough: Callable[[], bool], seconds: float, loading: float = 0.0) -> None:
        """Wait until every call has ended, at most `seconds`, or until `enough()` says that it is no use.

        While the backend is loaded, no call could have ended: up to `loading` seconds of that come before the others.
        """
        import time

        start = time.monotonic()
        end = start + seconds
        with self._changed:
            while self._active and not enough():
                now = time.monotonic()
                if self._loop is None and now < start + loading:
                    end = now + seconds
                if now >= end:
                    return
                self._changed.wait(0.05)

    def replace(self, catalogue: Catalogue, load_backend: LoadBackend) -> None:
        """Serve this instead from now on; calls that run end with what they began with.

        For a thread that is neither the reader's nor the loop's: the backend is loaded in it.
        """
        with self._changed:
            while self._thread is not None and self._loop is None and not self._stopped:
                self._changed.wait(0.05)
            self._load_backend = load_backend
            loop = self._loop
            if self._stopped:
                return
        if loop is None:
            self._connection.replace(catalogue)
            return
        backend = keep(load_backend)
        with self._changed:
            if not self._stopped:
                loop.call_soon_threadsafe(self._exchange, catalogue, backend)

    def _exchange(self, catalogue: Catalogue, backend: Backend) -> None:
        """Let another backend answer, and close the one before when its calls have ended. Runs on the loop."""
        assert self._loop is not None
        before, self._connection.backend = self._connection.backend, backend
        self._connection.replace(catalogue)
        if before is not None:
            closing = self._loop.create_task(self._close_after(set(self._tasks), before))
            self._closings.add(closing)
            closing.add_done_callback(self._closings.discard)

    async def _close_after(self, tasks: set[asyncio.Task[None]], backend: Backend) -> None:
        import asyncio

        if tasks:
            await asyncio.wait(tasks)
        try:
            await backend.close(self._closing / 2)
        except Exception as error:  # noqa: BLE001 - another one answers already
            self._connection.report(error)

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
        self._before()
        # What is written behind the calls is written in Python. A call that waits for its upstream, or only looks into
        # a file, gets the interpreter back after so long, and it does so several times.
        sys.setswitchinterval(SWITCHING)
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
        watch = self._watch(asyncio.get_running_loop())
        self._take()
        preparation = asyncio.create_task(self._prepare(backend))
        await self._stop.wait()
        preparation.cancel()
        watch.stop()
        if self._connection.backend is not None:
            backend, self._connection.backend = self._connection.backend, None
        for task in self._tasks:
            task.cancel()
        if self._tasks or self._closings:
            await asyncio.wait(self._tasks | self._closings, timeout=self._closing / 3)
        try:
            await asyncio.wait_for(backend.close(self._closing / 2), self._closing / 2)
        except TimeoutError:
            pass  # what is not closed by then ends with the process
        except Exception as error:  # noqa: BLE001 - the process ends anyway
            self._connection.report(error)

    async def _prepare(self, backend: Backend) -> None:
        """Have the backend get ready for a first call, until there is one: that loads by itself what it uses."""
        import asyncio

        try:
            for _ in backend.prepare():
                await asyncio.sleep(BREATH)
                if self._active:
                    return
        except Exception as error:  # noqa: BLE001 - a call that needs it will tell what is wrong
            self._connection.report(error)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> StallWatch:
        """Watch over the loop that runs here, for as long as there are calls."""
        from .stalls import StallWatch

        def note(seconds: float, where: str, *, is_over: bool) -> None:
            if is_over:
                if (backend := self._connection.backend) is not None:
                    backend.note_stall(seconds, where)
                self._warn(f"a defect: no call went on for {seconds:.1f} s, held up at {where}")
            else:
                self._warn(f"a defect: no call has gone on for {seconds:.1f} s, held up at {where}")

        return StallWatch(loop, self._changed, lambda: self._active > 0, note)

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
            if self._connection.is_running(call):
                call.fail()
            self._leave()

        task.add_done_callback(done)
        call.on_cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        if not self._connection.is_running(call):
            task.cancel()

    def _leave(self) -> None:
        with self._changed:
            self._active -= 1
            if not self._active:
                self._changed.notify_all()


LONGEST_LINE = 16 * 1024 * 1024
CHUNK = 65_536
GRACE = 0.8
"""Seconds that calls in flight have to answer when the server leaves. Hosts wait two seconds for all of it and kill."""
CLOSING = 0.9
"""Seconds, at most, for cancelled calls to end and the backend to close."""
SWITCHING = 0.001
"""Seconds that a thread keeps the interpreter while another waits for it; the default is five times as long."""
LOADING = 10.0
"""Seconds that the first calls may wait for the backend when the input has ended: a script closes it at once."""
BREATH = 0.01
"""Seconds between two steps of getting ready, for what has come meanwhile."""
WARM_AFTER = 0.15
"""Seconds between the first list of tools and the loading of the backend; the list gets out first."""


class _Stop(BaseException):
    """A signal has asked for the end while the reader was waiting."""


class _Wire:
    """The way out: whole lines, one at a time, until nobody listens."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.broken = False
        self.on_break: Callable[[], object] = lambda: None
        self._lock = threading.Lock()

    def send(self, frame: bytes) -> None:
        """Write `frame`; once the other end is closed, do nothing."""
        with self._lock:
            if self.broken:
                return
            try:
                written = os.write(self.fd, frame)
                while written < len(frame):
                    written += os.write(self.fd, memoryview(frame)[written:])
            except OSError:
                self.broken = True
        if self.broken:
            self.on_break()

    def is_dead(self) -> bool:
        """Whether the other end is known to be closed, found out without writing where the system can tell."""
        if not self.broken and os.name == "posix":
            import select

            poll = select.poll()
            poll.register(self.fd, 0)
            self.broken = any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))
        return self.broken


class _LineReader:
    """The way in: lines from a descriptor, and `None` for a line that is too long to keep."""

    def __init__(self, fd: int, longest: int) -> None:
        self.fd = fd
        self.longest = longest
        self.reading = False
        self.stopped = False

    def stop(self) -> None:
        """End the reading, from a signal handler. A line that is being handled is handled to its end."""
        self.stopped = True
        if self.reading:
            self.reading = False
            raise _Stop

    def lines(self) -> Iterator[bytes | None]:
        """Every line without its end; the last one may lack one."""
        parts: list[bytes] = []
        size = 0
        skipping = False
        while chunk := self._read():
            *ended, rest = chunk.split(b"\n")
            for line in ended:
                if skipping or size + len(line) > self.longest:
                    yield None
                else:
                    parts.append(line)
                    yield b"".join(parts)
                parts, size, skipping = [], 0, False
            size += len(rest)
            if size > self.longest:
                parts, skipping = [], True
            elif rest:
                parts.append(rest)
        if skipping:
            yield None
        elif parts and not self.stopped:
            yield b"".join(parts)

    def _read(self) -> bytes:
        self.reading = True
        try:
            return b"" if self.stopped else os.read(self.fd, CHUNK)
        except OSError:
            return b""
        finally:
            self.reading = False


def serve_stdio(
    catalogue: Catalogue,
    load_backend: LoadBackend,
    *,
    grace: float = GRACE,
    stdin: int | None = None,
    stdout: int | None = None,
    longest_line: int = LONGEST_LINE,
    warm_after: float | None = WARM_AFTER,
    report: Callable[[BaseException], object] = lambda _: None,
    warn: Callable[[str], object] = lambda _: None,
    watch: Callable[[Replace], object] | None = None,
) -> int:
    """Serve one client until it leaves, and return the exit code.

    Without descriptors the process's own are taken over: 0 then reads nothing and 1 goes to stderr, so that no print
    reaches the client. `report` gets unexpected exceptions and `warn` a line about a stall; nothing is printed by
    default, because some clients take any text on stderr for a failure. Calls in flight have `grace` seconds to answer
    once the input has ended, and no more than `GRACE` after a signal. When a thread cannot be ended in time, the
    process leaves without it. `watch` gets what puts another catalogue and backend in the place of those served, and
    calls it on a daemon thread of its own when the specs have changed.
    """
    own = stdin is None and stdout is None
    try:
        way_in = _take_over(0, os.devnull) if stdin is None else stdin
        way_out = _take_over(1, None) if stdout is None else stdout
    except OSError:
        return 1
    wire = _Wire(way_out)
    reader = _LineReader(way_in, longest_line)
    connection = Connection(catalogue, wire.send, report)
    signals = _Signals(reader) if own and threading.current_thread() is threading.main_thread() else None
    watchdog = start_watchdog(way_in) if signals is not None else None
    before = watchdog.start if watchdog is not None else lambda: None
    worker = Worker(connection, load_backend, min(grace, CLOSING), before, warn)
    if signals is not None:
        wire.on_break = signals.wake
    if watch is not None:
        watch(worker.replace)
    loading = LOADING
    try:
        _pump(reader, wire, connection, worker, warm_after)
    except _Stop:
        reader.stopped = True
    if reader.stopped:
        grace, loading = min(grace, GRACE), 0.0
    reader.stopped = True
    if signals is not None:
        signals.calm()
    if own:
        # A client that neither reads nor leaves must not keep the process.
        _start_timer(loading + grace + CLOSING + 0.1, lambda: os._exit(0))
    connection.hang_up()
    worker.drain(lambda: wire.is_dead() or (signals is not None and signals.hurry), grace, loading)
    gone = worker.stop(min(grace, CLOSING))
    if watchdog is not None:
        watchdog.end()
    if own and (not gone or _has_strays()):
        os._exit(0)
    if signals is not None:
        signals.ignore()
    return 0


def _start_timer(seconds: float, call: Callable[[], object]) -> None:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()


def _has_strays() -> bool:
    """Whether a thread is left that the interpreter would wait for at its end."""
    return any(not thread.daemon and thread is not threading.main_thread() for thread in threading.enumerate())


def _pump(reader: _LineReader, wire: _Wire, connection: Connection, worker: Worker, warm_after: float | None) -> None:
    """Answer line after line until there are no more, or nobody reads the answers."""
    too_long = ProtocolError(INVALID_REQUEST, f"Invalid request: a line may have {reader.longest} bytes")
    warm = warm_after is None
    for line in reader.lines():
        if line is None:
            wire.send(to_error(None, too_long))
        elif line.strip():
            answer = connection.handle(line)
            if isinstance(answer, bytes):
                wire.send(answer)
            elif answer is not None:
                worker.submit(answer)
        if wire.broken or reader.stopped:
            return
        if not warm and connection.listed and warm_after is not None:
            warm = True
            _start_timer(warm_after, worker.start)


def _take_over(fd: int, instead: str | None) -> int:
    """A private copy of `fd`, which itself then leads to the file `instead`, or to stderr."""
    private = os.dup(fd)
    try:
        other = os.dup(2) if instead is None else os.open(instead, os.O_RDONLY)
    except OSError:
        other = os.open(os.devnull, os.O_RDWR)
    os.dup2(other, fd, inheritable=True)
    os.close(other)
    return private


class _Signals:
    """SIGTERM and SIGINT end the server like the end of input; a second one, or one while draining, at once.

    A reader that is kept from stopping, by an answer that nobody reads, is left behind with what it would have had.
    """

    def __init__(self, reader: _LineReader) -> None:
        # `signal` only adds enums to this module, which take longer to make than the rest of the start.
        import _signal  # type: ignore[import-not-found]

        self.hurry = False
        self.pending = False
        """Whether the reader was told to stop and has not done so yet."""
        self._reader = reader
        self._signal = _signal
        for number in (_signal.SIGTERM, _signal.SIGINT):
            _signal.signal(number, self._caught)

    def _caught(self, *_: object) -> None:
        if self.hurry or (self.pending and self._reader.stopped):
            os._exit(1)
        self.hurry = self._reader.stopped
        if hasattr(self._signal, "setitimer"):
            # The main thread may be waiting in a write, which goes on after the handler; another thread cannot be
            # begun from here, because the main thread may just be beginning one.
            self.pending = True
            self._signal.signal(self._signal.SIGALRM, lambda *_: os._exit(0))
            self._signal.setitimer(self._signal.ITIMER_REAL, GRACE + CLOSING)
        self._reader.stop()

    def calm(self) -> None:
        """The reader has stopped, so nothing is left behind."""
        if self.pending:
            self.pending = False
            self._signal.setitimer(self._signal.ITIMER_REAL, 0)

    def ignore(self) -> None:
        """What comes while the interpreter ends changes nothing; it would put the default back, which kills."""
        for number in (self._signal.SIGTERM, self._signal.SIGINT):
            self._signal.signal(number, self._signal.SIG_IGN)

    def wake(self) -> None:
        """Get the reader out of its waiting, from another thread: nobody reads any more."""
        if threading.current_thread() is threading.main_thread():
            return
        if hasattr(self._signal, "pthread_kill"):
            self._signal.pthread_kill(threading.main_thread().ident or 0, self._signal.SIGTERM)
        else:
            os._exit(0)
