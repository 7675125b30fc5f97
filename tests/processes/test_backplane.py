"""Several processes over one folder or Redis count together, and one that is killed takes nothing with it."""

from __future__ import annotations

import glob
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from specloom.core import Backplane, BackplaneError
from specloom.storage import backplane
from specloom.storage.backplane import PATIENCE
from tests.support.backplane_process import open_place
from tests.support.demo_specs import PROVIDER, write_demo
from tests.support.loopback import Call, Loopback
from tests.support.redis_server import RedisServer
from tests.support.timing import soonest_of

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-m", "tests.support.backplane_process")
RATE, WINDOW = 20, 3.0
"""Requests of a provider in a second, and seconds in which they are counted."""
ENOUGH = 160


@contextmanager
def process(place: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has opened the place; killed at the end, if it is still there."""
    child = subprocess.Popen(
        [*PROGRAM, place, *words],
        stdin=subprocess.PIPE,
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
        child.communicate()


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
        assert [each.wait(300) for each in (one, two, three)] == [0, 0, 0]
    plane = opened(place)

    assert await plane.counters.add("sum", 0, until=time.time() + 3600) == 1500
    await plane.aclose()


def test_an_upstream_sees_the_pace_of_its_provider_from_four_processes_together(tmp_path: Path, place: str) -> None:
    limits = [("operations:\n  demo_pages:", f"  limits: {{rate: {RATE}/s, timeout: 20s}}\noperations:\n  demo_pages:")]
    root = write_demo(tmp_path / "specs", {PROVIDER: limits})
    arrived: list[float] = []
    lock, enough = threading.Lock(), threading.Event()

    def handler(call: Call) -> Any:
        with lock:
            arrived.append(time.monotonic())
            if len(arrived) >= ENOUGH:
                enough.set()
        return 200, {}, b"{}"

    with Loopback(handler) as upstream, ExitStack() as stack:
        children = [stack.enter_context(process(place, "ask", str(root), upstream.url)) for _ in range(4)]
        assert [line(child) for child in children] == ["loaded"] * 4
        began = time.monotonic()
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        assert enough.wait(300)
        for child in children:
            child.communicate(timeout=60)
        took = time.monotonic() - began
        assert [child.returncode for child in children] == [0] * 4

    arrived.sort()
    # Over all of it, from before the first is sent: a busy machine lets requests arrive late, and then together.
    assert len(arrived) <= RATE * 1.1 * (took + 1)
    most = max(sum(at <= one < at + WINDOW for one in arrived) for at in arrived)
    assert most >= RATE * WINDOW * 2 / 3, "the pace is kept and not undercut"


async def test_a_process_that_is_killed_at_any_moment_holds_up_nobody(place: str, patience: float) -> None:
    plane = opened(place)
    for _ in range(8):
        with process(place, "take") as child:
            before = await plane.counters.add("sum", 0, until=time.time() + 3600)
            while await plane.counters.add("sum", 0, until=time.time() + 3600) < before + 50:
                assert child.poll() is None
            child.kill()
        began = time.monotonic()
        await plane.counters.take("limit", per=0.001, burst=10)
        # What is held by somebody is waited for until the patience of tests is over.
        assert time.monotonic() - began < patience / 2
    await plane.aclose()


async def test_a_process_that_stops_while_it_holds_the_counters_holds_up_others_for_a_moment(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane = opened(folder)

    async def attempt() -> float:
        began = time.monotonic()
        with pytest.raises(BackplaneError, match="does not go on"):
            await plane.counters.take("limit", per=1.0, burst=1)
        return time.monotonic() - began

    with process(folder, "hold") as child, monkeypatch.context() as patch:
        patch.setattr(backplane, "PATIENCE", PATIENCE)
        assert line(child) == "held"
        assert 0.2 < await soonest_of(attempt, 2.0) < 2.0
    child.wait()

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
