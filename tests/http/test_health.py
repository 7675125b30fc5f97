"""What a probe of readiness is answered, and what the log says of it: over real sockets, stores and breakers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.core import Backplane, Fault
from specloom.http.health import Health
from specloom.plugins import join_owner
from specloom.storage import StateStores, local_backplane
from tests.support.operated import Operated, operated
from tests.support.redis_server import RedisServer
from tests.support.shared_server import SharedServer

ONE, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe waits for its look: how long one takes is a matter of the machine."""
    monkeypatch.setattr("specloom.http.health.PATIENCE", 60.0)


def probe(desk: Operated) -> tuple[int, dict[str, str]]:
    """The answer to a probe, once a look at the state has ended."""
    with desk.server.client() as client:
        answer = client.get("/health/ready")
    return answer.status, answer.json


def keep(desk: Operated) -> None:
    """Something of a user, so that there is a state."""
    drawer = desk.executor.drawers.drawer("memories", join_owner("acme", "ann"))
    asyncio.run_coroutine_threadsafe(drawer.put("a", {"note": "otters"}), desk.server.loop).result(60)


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with RedisServer("--appendonly", "yes", "--appendfsync", "always") as server:
        yield server


def test_a_probe_makes_no_state_where_nobody_has_remembered_anything(tmp_path: Path) -> None:
    with operated(tmp_path) as desk:
        found = probe(desk)

    assert found == (200, {"status": "healthy"})
    assert not [*tmp_path.rglob("*.db")]


def test_a_server_with_another_key_than_its_folder_is_not_ready_and_says_why_once(tmp_path: Path) -> None:
    with operated(tmp_path, {"SPECLOOM_CACHE_KEY": ONE}) as desk:
        keep(desk)
        assert probe(desk) == (200, {"status": "healthy"})
    with operated(tmp_path, {"SPECLOOM_CACHE_KEY": OTHER}) as desk:
        found = [probe(desk) for _ in range(3)]
        told = [one for one in desk.warned if "ready" in one]

    assert found == [(503, {"status": "unhealthy"})] * 3
    assert len(told) == 1
    assert told[0].startswith("not ready: The state store cannot be opened: the state was sealed with another key")


def test_a_server_with_another_key_than_the_redis_of_its_state_is_not_ready(tmp_path: Path, redis: RedisServer) -> None:
    def machine(name: str, key: str) -> SharedServer:
        folder = tmp_path / name
        folder.mkdir()
        made = SharedServer(folder, "tenant", redis, prefix="specloom:")
        made.settings["SPECLOOM_CACHE_KEY"] = key
        return made

    one, two = machine("one", ONE), machine("two", OTHER)
    with one.running as desk:
        ready = probe(desk)
    with two.running as desk:
        found, told = probe(desk), [line for line in desk.warned if "ready" in line]

    assert (ready, found) == ((200, {"status": "healthy"}), (503, {"status": "unhealthy"}))
    assert "sealed with another key" in told[0]
    assert ONE not in str(told)
    assert OTHER not in str(told)


def test_while_the_redis_of_the_state_is_away_a_server_is_degraded(tmp_path: Path, redis: RedisServer) -> None:
    with SharedServer(tmp_path, "tenant", redis, prefix="specloom:").running as desk:
        before = probe(desk)
        redis.kill()
        # What the last look found counts for a while.
        desk.server.app.health._good_until = 0.0  # type: ignore[union-attr]
        away = probe(desk)

    assert before == (200, {"status": "healthy"})
    assert away == (200, {"status": "degraded"})


def test_a_server_whose_every_provider_rests_is_degraded(tmp_path: Path) -> None:
    with operated(tmp_path) as desk:
        desk.call("otters")
        assert probe(desk)[1] == {"status": "healthy"}
        for one in desk.executor.breakers._breakers.values():
            one.rest(60.0, "as another process says")
        found = probe(desk)

    assert found == (200, {"status": "degraded"})


class Away:
    is_away = True

    async def aclose(self) -> None: ...


async def test_while_shared_counters_are_away_a_worker_is_degraded(tmp_path: Path) -> None:
    plane = local_backplane()
    away = Backplane(plane.counters, plane.leases, plane.bus, link=Away())
    with operated(tmp_path) as desk:
        assert await Health(lambda: desk.executor, away, warn=print).look() == "degraded"
        assert await Health(lambda: desk.executor, plane, warn=print).look() == "healthy"
        assert await Health(lambda: None, plane, warn=print).look() == "unhealthy"


class Slow(StateStores):
    """A state whose first look does not end before it is let."""

    def __init__(self) -> None:
        super().__init__({}, [])
        self.may_end = asyncio.Event()
        self.fault: Fault | None = None

    async def check(self) -> None:
        await self.may_end.wait()
        if self.fault is not None:
            raise self.fault


async def test_a_look_that_takes_long_holds_up_no_probe_and_counts_for_the_next(monkeypatch: Any) -> None:
    monkeypatch.setattr("specloom.http.health.PATIENCE", 0.01)
    slow, now, told = Slow(), [0.0], list[str]()

    class Engine:
        drawers = slow
        breakers = type("None", (), {"snapshot": staticmethod(list)})

    health = Health(lambda: Engine, warn=told.append, clock=lambda: now[0])  # type: ignore[arg-type, return-value]
    before = await health.look()
    slow.may_end.set()
    await asyncio.gather(*filter(None, [health._looking]))
    after = await health.look()
    now[0], slow.fault = 6.0, Fault("internal", "The state store is damaged.")
    damaged = await health.look()
    now[0], slow.fault = 8.0, None
    mended = await health.look()

    assert (before, after, damaged, mended) == ("unhealthy", "healthy", "unhealthy", "healthy")
    assert told == ["not ready: The state store is damaged.", "ready again"]
