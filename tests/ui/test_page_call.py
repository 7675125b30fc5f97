"""What a page is told of a call that runs: each step once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from specloom.ui import actions
from specloom.ui.actions import MOST_STEPS, PageCall


@pytest.fixture
async def running(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PageCall]:
    """A call that waits for its upstream, whose page waits no moment for news."""
    monkeypatch.setattr(actions, "STEPS_EVERY", 0)
    call, never = PageCall(), asyncio.Event()

    async def wait() -> Mapping[str, Any]:
        await never.wait()
        return {}

    call.task = asyncio.create_task(wait())
    yield call
    call.task.cancel()


async def test_a_call_that_says_nothing_new_tells_no_step_again(running: PageCall) -> None:
    for step in ("one", "two"):
        running.tell(1, None, step)

    told = [(await running.read_after(number))["steps"] for number in (0, 1, 2, 3)]

    assert told == [["one", "two"], ["two"], [], []]
    assert await running.read_after(2) == {"running": True, "told": 2, "steps": []}


async def test_of_more_steps_than_are_kept_the_newest_are_told(running: PageCall) -> None:
    for number in range(MOST_STEPS + 2):
        running.tell(1, None, str(number))

    assert (await running.read_after(0))["steps"] == [str(number) for number in range(2, MOST_STEPS + 2)]
    assert (await running.read_after(MOST_STEPS + 1))["steps"] == [str(MOST_STEPS + 1)]
