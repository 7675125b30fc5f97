"""The program of the watchdog: waits until the server is gone, and kills it where it does not leave.

It is run by the bare interpreter as a process of its own for as long as there is a server, so what it imports stays in
memory: nothing of ours, and of the library what the interpreter has loaded already or is written in C.
"""

import _signal  # type: ignore[import-not-found] # `signal` only adds enums, which are larger than the rest of this
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 2.3
"""Seconds that a server has to be gone after a signal, and to answer after the end of input."""
CLIENT = 63
"""The descriptor of the client's input in the process; away from what a server has open."""
HERE = b"."
"""What a server writes that is asked whether it is there."""
_LOOK = 0.5
"""Seconds between two questions once the input has ended."""


def watch(server: int) -> None:
    """Wait until the server is gone, and kill it where it does not leave. The program of the process."""
    for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
        # A terminal sends them to all; the watchdog ends with its server.
        _signal.signal(number, _signal.SIG_IGN)
    told = {bytes([_signal.SIGTERM]), bytes([_signal.SIGINT])}
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(CLIENT, 0)
    end = asking = heard = float("inf")
    """When the server must be gone, when to ask it the next time, and when it was last heard of."""
    while (now := time.monotonic()) < end and now < heard + PATIENCE:
        if now >= asking:
            asking = now + _LOOK
            os.write(1, HERE)
        next_look = min(end, asking)
        ready = poll.poll(None if next_look == float("inf") else max(0.0, next_look - now) * 1000 + 1)
        for descriptor, _ in ready:
            if descriptor == CLIENT:
                poll.unregister(CLIENT)
                asking = heard = time.monotonic()
                continue
            orders = os.read(0, 4096)
            if not orders:
                return
            if HERE in orders:
                heard = time.monotonic()
            if any(number in orders for number in told):
                end = min(end, time.monotonic() + PATIENCE)
    sentence = (
        f"specloom: the server did not leave within {PATIENCE:g} seconds and is killed; its threads stood here:\n"
    )
    _try(os.write, 2, sentence.encode())
    # The pipe of orders would have ended with the server, so the number is still its own.
    _try(os.kill, server, _signal.SIGUSR2)
    time.sleep(0.2)
    _try(os.kill, server, _signal.SIGKILL)


def _try(function: "Callable[..., object]", *arguments: object) -> None:
    """Nobody is there to be told that the server has just gone, or that nobody reads its errors."""
    try:
        function(*arguments)
    except OSError:
        return


if __name__ == "__main__":
    watch(int(sys.argv[1]))
