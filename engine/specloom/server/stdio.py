"""The stdio host: lines in, lines out, on the standard library alone, so that a server is there at once.

The main thread reads and answers what needs no work. Everything else runs on a worker thread that starts at the first
call, or shortly after the first list of tools.
"""

from __future__ import annotations

import os
import threading

from .connection import Connection
from .frames import to_error
from .protocol import INVALID_REQUEST, ProtocolError
from .worker import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .protocol import Catalogue, LoadBackend


LONGEST_LINE = 16 * 1024 * 1024
CHUNK = 65_536
CLOSING = 3.0
"""Seconds, at most, for cancelled calls to end and the backend to close."""
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
    grace: float = 10.0,
    stdin: int | None = None,
    stdout: int | None = None,
    longest_line: int = LONGEST_LINE,
    warm_after: float | None = WARM_AFTER,
    report: Callable[[BaseException], object] = lambda _: None,
) -> int:
    """Serve one client until it leaves, and return the exit code.

    Without descriptors the process's own are taken over: 0 then reads nothing and 1 goes to stderr, so that no print
    reaches the client. `report` gets unexpected exceptions; nothing is printed by default, because some clients take
    any text on stderr for a failure. When a thread cannot be ended in time, the process leaves without it.
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
    worker = Worker(connection, load_backend, min(grace, CLOSING))
    signals = _Signals(reader) if own and threading.current_thread() is threading.main_thread() else None
    if signals is not None:
        wire.on_break = signals.wake
    try:
        _pump(reader, wire, connection, worker, warm_after)
    except _Stop:
        reader.stopped = True
    reader.stopped = True
    if signals is not None:
        signals.calm()
    if own:
        _leave_after(grace + 2 * CLOSING)
    connection.hang_up()
    worker.drain(lambda: wire.is_dead() or (signals is not None and signals.hurry), grace)
    gone = worker.stop(min(grace, CLOSING))
    if own and (not gone or _has_strays()):
        os._exit(0)
    if signals is not None:
        signals.ignore()
    return 0


def _leave_after(seconds: float) -> None:
    """End the process in any case: a client that neither reads nor leaves must not keep it."""
    timer = threading.Timer(seconds, os._exit, (0,))
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
            timer = threading.Timer(warm_after, worker.start)
            timer.daemon = True
            timer.start()


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

    A reader that is kept from stopping, by an answer that nobody reads, is left behind after `CLOSING` seconds.
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
        if not self.hurry and hasattr(self._signal, "alarm"):
            # The main thread may be waiting in a write, which goes on after the handler; another thread cannot be
            # begun from here, because the main thread may just be beginning one.
            self.pending = True
            self._signal.signal(self._signal.SIGALRM, lambda *_: os._exit(0))
            self._signal.alarm(int(CLOSING))
        self._reader.stop()

    def calm(self) -> None:
        """The reader has stopped, so nothing is left behind."""
        if self.pending:
            self.pending = False
            self._signal.alarm(0)

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
