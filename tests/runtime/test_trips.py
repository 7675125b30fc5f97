"""An upstream that one process finds in trouble is left alone by all; what is told can do no more than that."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specloom.core import Backplane, Fault
from specloom.core.messages import Request, Response
from specloom.runtime.circuit_breaker import Breakers
from specloom.runtime.executor import Executor
from specloom.runtime.trips import TOPIC
from specloom.storage.backplane_local import local_backplane
from tests.support.clock import Clock
from tests.support.demo_specs import demo_executor, write_demo


class Stub:
    """An upstream that fails as the test says."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault, self.asked = fault, 0

    async def send(self, request: Request) -> Response:
        self.asked += 1
        if self.fault is not None:
            raise self.fault
        return Response(200, {"content-type": "application/json"}, b'{"results": []}', request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


Start = Callable[..., Executor]


@pytest.fixture
def plane() -> Backplane:
    return local_backplane()


@pytest.fixture
def start(tmp_path: Path, plane: Backplane, clock: Clock) -> Start:
    """Starts one of the processes."""
    root = write_demo(tmp_path)

    def start(sender: Stub) -> Executor:
        breakers = Breakers(threshold=2, reset=60.0, clock=clock, chance=lambda: 0.0)
        return demo_executor(root, sender=sender, breakers=breakers, backplane=plane)

    return start


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def ask(executor: Executor, query: str) -> Any:
    try:
        return await executor.call("demo_find", {"query": query})
    except Fault as fault:
        return fault
    finally:
        await settle()


async def test_what_one_process_finds_in_trouble_no_other_asks(start: Start, clock: Clock) -> None:
    failing, fine = Stub(Fault("network", "no answer")), Stub()
    one, other = start(failing), start(fine)
    await ask(other, "before")
    for query in ("a", "b"):
        await ask(one, query)

    refused = await ask(other, "c")
    clock.now += 61
    answered = await ask(other, "d")

    assert isinstance(refused, Fault)
    assert refused.kind == "circuit_open"
    assert "failed repeatedly" in refused.message
    assert answered.answer["count"] == 0
    assert fine.asked == 2
    for executor in (one, other):
        await executor.aclose()


async def test_who_is_asked_to_slow_down_tells_for_how_long(start: Start, clock: Clock) -> None:
    one, other = start(Stub(Fault("rate_limited", "slow down", retry_after=600))), start(Stub())
    await ask(other, "before")
    await ask(one, "a")
    clock.now += 500

    refused = await ask(other, "b")

    assert (refused.kind, refused.retry_after) == ("rate_limited", 100)
    for executor in (one, other):
        await executor.aclose()


@pytest.mark.parametrize(
    "said",
    [
        {"provider": "nobody"},
        {"family": "nothing"},
        {"seconds": 1e9},
        {"seconds": -1},
        {"seconds": float("nan")},
        {"seconds": "long"},
        {"by": None, "seconds": []},
    ],
)
async def test_a_message_that_says_nothing_sensible_opens_no_breaker(
    start: Start, plane: Backplane, said: dict[str, Any]
) -> None:
    stub = Stub()
    executor = start(stub)
    await ask(executor, "before")
    whole = {"by": "x", "provider": "demo", "family": "demo_pages", "seconds": 60, "reason": "it failed"}
    await plane.bus.tell(TOPIC, json.dumps(whole | said).encode())
    await plane.bus.tell(TOPIC, b"no JSON")
    await settle()

    await ask(executor, "after")

    assert stub.asked == 2
    assert len(executor.breakers.snapshot()) == 1
    await executor.aclose()
