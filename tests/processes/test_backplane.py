"""Several processes over one folder or Redis count together, and one that is killed takes nothing with it."""

from __future__ import annotations

import glob
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from specloom.core import Backplane, BackplaneError
from tests.support.backplane_process import open_place
from tests.support.demo_specs import PROVIDER, write_demo
from tests.support.loopback import Call, Loopback
from tests.support.redis_server import RedisServer

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-m", "tests.support.backplane_process")
SECONDS = 6.0
"""Seconds over which arrivals are counted: a busy machine delays some, and those behind them come sooner after."""
RATE = 20


@contextmanager
def process(place: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has opened the place; killed at the end, if it is still there."""
    child = subprocess.Popen(
        [*PROGRAM, place, *words],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=ROOT,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        yield child
    finally:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


def line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "run")


@pytest.fixture(params=["on a machine", "between machines"])
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    """A folder, or a Redis server of this test alone."""
    if request.param == "on a machine":
        yield request.getfixturevalue("folder")
        return
    with RedisServer() as server:
        yield server.url


def opened(place: str) -> Backplane:
    return open_place(place, pytest.fail)


async def test_counts_of_several_processes_add_up(place: str) -> None:
    with (
        process(place, "add", "500") as one,
        process(place, "add", "500") as two,
        process(place, "add", "500") as three,
    ):
        assert [each.wait(60) for each in (one, two, three)] == [0, 0, 0]
    plane = opened(place)

    assert await plane.counters.add("sum", 0, until=time.time() + 60) == 1500
    await plane.aclose()


def test_an_upstream_sees_the_pace_of_its_provider_from_four_processes_together(tmp_path: Path, place: str) -> None:
    limits = [("operations:\n  demo_pages:", f"  limits: {{rate: {RATE}/s, timeout: 20s}}\noperations:\n  demo_pages:")]
    root = write_demo(tmp_path / "specs", {PROVIDER: limits})
    arrived: list[float] = []
    lock = threading.Lock()

    def handler(call: Call) -> Any:
        with lock:
            arrived.append(time.monotonic())
        return 200, {}, b"{}"

    with Loopback(handler) as upstream:
        children = [
            subprocess.Popen(
                [*PROGRAM, place, "ask", str(root), upstream.url, str(SECONDS)],
                stdout=subprocess.DEVNULL,
                cwd=ROOT,
            )
            for _ in range(4)
        ]
        assert [child.wait(60) for child in children] == [0] * 4

    arrived.sort()
    # Over all of it: on a busy machine requests arrive late, and then together.
    assert len(arrived) <= RATE * 1.1 * (arrived[-1] - arrived[0] + 1)
    assert len(arrived) >= RATE * (SECONDS - 2), "the pace is kept and not undercut"


async def test_a_process_that_is_killed_at_any_moment_holds_up_nobody(place: str) -> None:
    plane = opened(place)
    for _ in range(8):
        with process(place, "take") as child:
            before = await plane.counters.add("sum", 0, until=time.time() + 60)
            while await plane.counters.add("sum", 0, until=time.time() + 60) < before + 50:
                assert child.poll() is None
            child.kill()
        began = time.monotonic()
        await plane.counters.take("limit", per=0.001, burst=10)
        assert time.monotonic() - began < 0.2
    await plane.aclose()


async def test_a_process_that_stops_while_it_holds_the_counters_holds_up_others_for_a_moment(folder: str) -> None:
    plane = opened(folder)
    with process(folder, "hold") as child:
        assert line(child) == "held"
        began = time.monotonic()
        with pytest.raises(BackplaneError, match="does not go on"):
            await plane.counters.take("limit", per=1.0, burst=1)
        took = time.monotonic() - began
    child.wait()

    assert 0.2 < took < 2.0
    assert await plane.counters.take("limit", per=1.0, burst=1) == 0.0
    await plane.aclose()


async def test_the_lease_of_a_process_that_is_killed_is_free_at_once(folder: str) -> None:
    plane = opened(folder)
    with process(folder, "lease", "3600") as child:
        assert line(child) == "True"
        while_it_lives = await plane.leases.acquire("flight", 10)
        child.kill()
        child.wait()
        afterwards = await plane.leases.acquire("flight", 10)

    assert while_it_lives is None
    assert afterwards is not None
    with process(folder, "lease", "10") as child:
        assert line(child) == "False"
    await plane.aclose()


async def test_every_process_that_listens_is_told_and_one_that_was_killed_is_forgotten(place: str) -> None:
    plane = opened(place)
    with process(place, "listen") as one, process(place, "listen") as two:
        assert [line(one), line(two)] == ["listening", "listening"]
        await plane.bus.tell("other", b"nothing")
        await plane.bus.tell("topic", b"first")
        heard = [line(one), line(two)]
        two.kill()
        two.wait()
        await plane.bus.tell("topic", b"second")
        after = line(one)
        sockets = glob.glob(f"{place}/bus/*")

    assert (heard, after) == (["first", "first"], "second")
    assert len(sockets) == (0 if place.startswith("unix:") else 2)
    await plane.aclose()
