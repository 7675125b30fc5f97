"""Drives a running operation: something answers its requests, and only that differs from driver to driver."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from specloom.core import Answer, Fault, Request, Response

from .run import Running, Wait

MOST_TURNS = 1000
"""Requests and pauses of one operation; one that wants more never ends."""


def drive(running: Running, answer: Callable[[Request], Response | Fault]) -> Answer:
    """What the operation gives when its requests are answered like this; pauses take no time. Raises Fault."""
    give: Response | Fault | None = None
    for _ in range(MOST_TURNS):
        wanted = _advance(running, give)
        if isinstance(wanted, Answer):
            return wanted
        give = None if isinstance(wanted, Wait) else answer(wanted)
    raise _endless(running)


async def drive_live(running: Running, send: Callable[[Request], Awaitable[Response]]) -> Answer:
    """What the operation gives when its requests are really sent, pauses included. Raises Fault."""
    give: Response | Fault | None = None
    for _ in range(MOST_TURNS):
        wanted = _advance(running, give)
        if isinstance(wanted, Answer):
            return wanted
        if isinstance(wanted, Wait):
            give = None
            await asyncio.sleep(wanted.seconds)
            continue
        try:
            give = await send(wanted)
        except Fault as fault:
            give = fault
    raise _endless(running)


def _advance(running: Running, give: Response | Fault | None) -> Request | Wait | Answer:
    """What the operation wants next, or what it gives when it is done."""
    try:
        return running.throw(give) if isinstance(give, Fault) else running.send(give)
    except StopIteration as stop:
        found: Answer = stop.value
        return found


def _endless(running: Running) -> Fault:
    running.close()
    return Fault("internal", f"the operation was not done after {MOST_TURNS} requests and pauses")
