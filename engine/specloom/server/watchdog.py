"""Watchdog process: ends a server that does not leave when it is told to, whatever holds its interpreter.

While a call into C holds the interpreter, no thread of Python has a turn: no handler of a signal runs, and nobody sees
that the client has closed the input. So a small process of its own looks out for both, and kills. It is told of signals
by the handler in C, which writes their numbers into a pipe, and asks at the end of input whether somebody is there.
`watchdog_program` is what that process runs; this is the server's side.
"""

from __future__ import annotations

import os
import sys
import threading


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
        from . import watchdog_program

        answers, questions = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, self._orders, 0),
            (os.POSIX_SPAWN_DUP2, questions, 1),
            (os.POSIX_SPAWN_DUP2, self._client, watchdog_program.CLIENT),
        ]
        program = [sys.executable, "-I", "-S", watchdog_program.__file__, str(os.getpid())]
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
        from .watchdog_program import HERE

        while os.read(questions, 1):
            # The pipe is never full: what is written here is read there before the next question.
            os.write(self._way_out, HERE)


def start_watchdog(client: int) -> Watchdog | None:
    """A watchdog whose process is not started yet; None on a system without its means."""
    return Watchdog(client) if hasattr(os, "posix_spawn") and sys.executable else None


def _show_stacks() -> None:
    """Have the handler in C write where every thread stands when the watchdog is about to kill."""
    import faulthandler
    import signal

    faulthandler.register(signal.SIGUSR2, file=2, all_threads=True, chain=False)
