"""Stall watch: notices when the event loop has no turn for over a second, and where it stood.

A stalled loop keeps every other call waiting, so each stall is a defect to be found. The watch sleeps while no call is
in flight.
"""

from __future__ import annotations

import os
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from types import FrameType
    from typing import Protocol

    class Note(Protocol):
        """Is told of a stall: its seconds so far, the place, and whether it is over."""

        def __call__(self, seconds: float, where: str, *, is_over: bool) -> object: ...


LONGEST = 1.0
"""Seconds without a turn of the loop that are no stall yet."""
LONG = 5.0
"""Seconds after which a stall is told of while it goes on, for it may never end."""
_BEAT = 0.5
"""Seconds between two beats while calls are in flight."""
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH120, PTH100 - see the start in stdio


class StallWatch:
    """Asks a loop for a sign of life as long as there is work, from a thread of its own.

    `note` is told of a stall when it is over, and of a long one also while it goes on.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        changed: threading.Condition,
        is_busy: Callable[[], bool],
        note: Note,
    ) -> None:
        """Made on the thread of the loop. `changed` is notified when `is_busy` may have become true."""
        self._loop = loop
        self._thread = threading.get_ident()
        self._changed = changed
        self._is_busy = is_busy
        self._note = note
        self._stopped = False
        self._ended = threading.Event()
        self._beaten = threading.Event()
        self._turn = 0.0
        threading.Thread(target=self._watch, name="specloom-stalls", daemon=True).start()

    def stop(self) -> None:
        """End the thread, at its next beat."""
        with self._changed:
            self._stopped = True
            self._ended.set()
            self._changed.notify_all()

    def _watch(self) -> None:
        while True:
            if not self._wait_for_work():
                return
            asked = time.monotonic()
            self._beaten.clear()
            try:
                self._loop.call_soon_threadsafe(self._beat)
            except RuntimeError:  # the loop is closed
                return
            place, is_told = "", False
            while not self._beaten.wait(LONGEST):
                if self._is_over():
                    return
                place = place or find_place(self._thread)
                if not is_told and (seconds := time.monotonic() - asked) > LONG:
                    is_told = True
                    self._note(seconds, place, is_over=False)
            # A call that held the interpreter kept this thread from looking, and the loop may have been the first to
            # go on; so the time is the loop's own.
            if (seconds := self._turn - asked) > LONGEST:
                self._note(seconds, place or find_place(self._thread), is_over=True)
            # Not for `changed`: each call that begins or ends would wake this thread, and take its turn from the loop.
            self._ended.wait(_BEAT)

    def _is_over(self) -> bool:
        return self._stopped

    def _wait_for_work(self) -> bool:
        """Whether there is some; False when the watch is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._is_busy())
        return not self._is_over()

    def _beat(self) -> None:
        self._turn = time.monotonic()
        self._beaten.set()


def find_place(thread: int) -> str:
    """Where a thread stands: `domains/scrape/read.py:12 in read`, in the innermost frame of the engine that it has.

    Empty for a thread that has ended; the innermost frame of all where none is the engine's.
    """
    frames = sys._current_frames()  # noqa: SLF001 - the one way to the frame of another thread
    innermost = frame = frames.get(thread)
    while frame is not None and not frame.f_code.co_filename.startswith(_ROOT):
        frame = frame.f_back
    return _to_place(frame or innermost)


def _to_place(frame: FrameType | None) -> str:
    if frame is None:
        return ""
    name = frame.f_code.co_filename
    name = os.path.relpath(name, _ROOT) if name.startswith(_ROOT) else os.path.basename(name)  # noqa: PTH119
    return f"{name}:{frame.f_lineno} in {frame.f_code.co_name}"
