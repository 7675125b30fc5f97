"""Conducts a plan: whom it wants to ask is asked, side by side where it says so, within the time for a call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from specloom.core import Answer, Fault
from specloom.model import Row

from .effects import Ask, AskAll, ProviderOutcome, Run
from .run import Pursuit

Progress = Callable[[float, float | None, str | None], None]
"""What is done, what there is to do in all, and a word about it."""

ASKING_SHARE = 0.95
"""How much of the time for a call is for asking, so that one who is silent is named and the rows of others are told."""
OPTIONAL_SHARE = 0.25
"""How much of it may go to what only adds to an answer, so that two such stages and the search before them fit in."""


@dataclass(frozen=True, slots=True)
class _Time:
    """The time for a call: `until` is a moment of the loop's clock."""

    deadline: float
    until: float

    def left(self, optional: bool) -> float:
        left = self.until - asyncio.get_running_loop().time()
        return min(left, self.deadline * OPTIONAL_SHARE) if optional else left


async def conduct(
    pursuit: Pursuit,
    ask: Callable[[Ask, float], Awaitable[Answer]],
    run: Callable[[Run], Awaitable[Row]],
    *,
    deadline: float,
    progress: Progress | None = None,
) -> ProviderOutcome:
    """What a plan comes to. `ask` is given the seconds that there are for it; who cannot be asked any more is a fault.

    A procedure is not held to the deadline, which is for the caller to do.
    """
    time = _Time(deadline, asyncio.get_running_loop().time() + deadline * ASKING_SHARE)
    asked = 0
    give: Any = None
    while True:
        try:
            wanted = pursuit.throw(give) if isinstance(give, Fault) else pursuit.send(give)
        except StopIteration as stop:
            outcome: ProviderOutcome = stop.value
            return outcome
        if isinstance(wanted, AskAll):
            give = await _ask_all(wanted, ask, time)
            continue
        if isinstance(wanted, Run):
            give = await _run(wanted, run)
            continue
        if progress is not None:
            progress(asked, None, f"asking {wanted.provider}")
        asked += 1
        give = await _ask(wanted, ask, time.left(optional=False))


async def _ask_all(wanted: AskAll, ask: Callable[[Ask, float], Awaitable[Answer]], time: _Time) -> list[Answer | Fault]:
    tasks = [asyncio.ensure_future(_ask(one, ask, time.left(wanted.optional))) for one in wanted.asks]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _ask(one: Ask, ask: Callable[[Ask, float], Awaitable[Answer]], within: float) -> Answer | Fault:
    if within <= 0:
        message = f"there was no time left to ask {one.provider}"
        return Fault("upstream_unavailable", message, provider=one.provider, ours=True)
    try:
        return await ask(one, within)
    except Fault as fault:
        return fault


async def _run(one: Run, run: Callable[[Run], Awaitable[Row]]) -> Row | Fault:
    try:
        return await run(one)
    except Fault as fault:
        return fault
