"""Watchdog process: ends a server that does not leave when it is told to, whatever holds its interpreter.

While a call into C holds the interpreter, no thread of Python has a turn: no handler of a signal runs, and nobody sees
that the client has closed the input. So a small process of its own looks out for both, and kills. It is told of signals
by the handler in C, which writes their numbers into a pipe, and asks at the end of input whether somebody is there.
This module is also the program of that process, so it imports nothing of ours.
"""

from __future__ import annotations

import os
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 2.3
"""Seconds that a server has to be gone after a signal, and to answer after the end of input."""
_LOOK = 0.5
"""Seconds between two questions once the input has ended."""
_CLIENT = 63
"""The descriptor of the client's input in the process; away from what a server has open."""
_HERE = b"."


class Watchdog:
    """The process, seen from the server that it looks after; made on the main thread, before any signal can come."""

    def __init__(self, client: int) -> None:
        """`client` is the descriptor that the server reads from."""
        import _signal  # type: ignore[import-not-found]

        self._client = client
        self._orders, self._way_out = os.pipe()
        self._started = False
        self._process = 0
        os.set_blocking(self._way_out, False)
        _signal.set_wakeup_fd(self._way_out, warn_on_full_buffer=False)

    def start(self) -> None:
        """Start the process, once; nothing where that is not possible, as a server does without."""
        if self._started:
            return
        self._started = True
        answers, questions = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, self._orders, 0),
            (os.POSIX_SPAWN_DUP2, questions, 1),
            (os.POSIX_SPAWN_DUP2, self._client, _CLIENT),
        ]
        program = [sys.executable, "-I", "-S", __file__, str(os.getpid())]
        try:
            self._process = os.posix_spawn(program[0], program, {}, file_actions=actions)
        except OSError:
            os.close(answers)
            return
        finally:
            os.close(questions)
            os.close(self._orders)
        _show_stacks()
        threading.Thread(target=self._answer, args=(answers,), name="specloom-watchdog", daemon=True).start()

    def end(self) -> None:
        """End the process: the server leaves by itself, and nothing of it stays behind."""
        if self._process:
            import signal

            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
            self._process = 0

    def _answer(self, questions: int) -> None:
        while os.read(questions, 1):
            # The pipe is never full: what is written here is read there before the next question.
            os.write(self._way_out, _HERE)


def start_watchdog(client: int) -> Watchdog | None:
    """A watchdog whose process is not started yet; None on a system without its means."""
    return Watchdog(client) if hasattr(os, "posix_spawn") and sys.executable else None


def _show_stacks() -> None:
    """Have the handler in C write where every thread stands when the watchdog is about to kill."""
    import faulthandler
    import signal

    faulthandler.register(signal.SIGUSR2, file=2, all_threads=True, chain=False)


def watch(server: int) -> None:
    """Wait until the server is gone, and kill it where it does not leave. The program of the process."""
    import select
    import signal
    import time

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # A terminal sends them to all; the watchdog ends with its server.
        signal.signal(number, signal.SIG_IGN)
    told = {bytes([signal.SIGTERM]), bytes([signal.SIGINT])}
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(_CLIENT, 0)
    end = asking = heard = float("inf")
    """When the server must be gone, when to ask it the next time, and when it was last heard of."""
    while (now := time.monotonic()) < end and now < heard + PATIENCE:
        if now >= asking:
            asking = now + _LOOK
            os.write(1, _HERE)
        next_look = min(end, asking)
        ready = poll.poll(None if next_look == float("inf") else max(0.0, next_look - now) * 1000 + 1)
        for descriptor, _ in ready:
            if descriptor == _CLIENT:
                poll.unregister(_CLIENT)
                asking = heard = time.monotonic()
                continue
            orders = os.read(0, 4096)
            if not orders:
                return
            if _HERE in orders:
                heard = time.monotonic()
            if any(number in orders for number in told):
                end = min(end, time.monotonic() + PATIENCE)
    sentence = (
        f"specloom: the server did not leave within {PATIENCE:g} seconds and is killed; its threads stood here:\n"
    )
    _try(os.write, 2, sentence.encode())
    # The pipe of orders would have ended with the server, so the number is still its own.
    _try(os.kill, server, signal.SIGUSR2)
    time.sleep(0.2)
    _try(os.kill, server, signal.SIGKILL)


def _try(function: Callable[..., object], *arguments: object) -> None:
    """Nobody is there to be told that the server has just gone, or that nobody reads its errors."""
    try:
        function(*arguments)
    except OSError:
        return


if __name__ == "__main__":
    watch(int(sys.argv[1]))
