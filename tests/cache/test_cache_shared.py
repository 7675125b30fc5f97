"""Answers of one machine are found by others, as old as they are, and what is shared may be away without harm."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from specloom.cache import ANSWERS, SHARED_ANSWERS, AnswerCache, erase_answers
from specloom.cache.erasures import mark_erasure
from specloom.core import Backplane
from specloom.storage.backplane_redis import redis_backplane
from specloom.storage.redis_link import PATIENCE
from tests.support.clock import Clock
from tests.support.redis_server import KEY, RedisServer

Machine = Callable[..., AnswerCache]
SOON = 60.0
"""Seconds that others may hold up what comes at once."""


@pytest.fixture
async def planes(redis_server: RedisServer) -> AsyncIterator[list[Backplane]]:
    redis_server.client.flushall()
    planes: list[Backplane] = []
    yield planes
    for plane in planes:
        await plane.aclose()


@pytest.fixture
async def machine(
    redis_server: RedisServer, planes: list[Backplane], clock: Clock, tmp_path: Path
) -> AsyncIterator[Machine]:
    """Makes the cache of one more machine, with a connection and a folder of its own."""
    async with AsyncExitStack() as stack:

        def make(server: RedisServer = redis_server, *, key: bytes = KEY, disk: bool = False) -> AnswerCache:
            plane = redis_backplane(server.settings(), lambda _: None)
            planes.append(plane)
            folder = tmp_path / str(len(planes))
            folder.mkdir()
            cache = AnswerCache(
                disk=folder if disk else None,
                key=key,
                clock=clock,
                warn=pytest.fail,
                erasures=folder / "erasures",
                shared=plane.cache,
            )
            stack.callback(cache.close)
            return cache

        yield make


async def shared(cache: AnswerCache) -> None:
    """What was put is shared."""
    assert cache._shared is not None
    await cache._shared.flush()


async def test_what_one_machine_keeps_another_finds_with_its_age(machine: Machine, clock: Clock) -> None:
    one, other = machine(), machine()
    await one.put("k", b"answer", 100, age=20)
    await shared(one)
    clock.now += 30

    found = await other.get("k")

    assert found is not None
    assert (found.value, found.age(clock.now), found.ttl) == (b"answer", 50, 100)
    assert other.peek("k") == found, "it is in memory from now on"
    clock.now += 51
    assert await other.get("k") is None, "it is not younger for having been moved"


async def test_a_value_that_was_moved_or_changed_or_is_foreign_is_a_miss(
    machine: Machine, planes: list[Backplane], redis_server: RedisServer
) -> None:
    one = machine()
    await one.put("tenant-a", b"of a", 100)
    await shared(one)
    cache = planes[0].cache
    assert cache is not None
    sealed = await cache.get(f"{SHARED_ANSWERS}tenant-a")
    assert sealed is not None
    assert b"of a" not in sealed
    await cache.put(f"{SHARED_ANSWERS}tenant-b", sealed, 100)
    await cache.put(f"{SHARED_ANSWERS}cut", sealed[:-1], 100)
    await cache.put(f"{SHARED_ANSWERS}foreign", b"hello", 100)

    other, stranger = machine(), machine(key=bytes(32))

    assert [await other.get(key) for key in ("tenant-b", "cut", "foreign")] == [None] * 3
    assert await stranger.get("tenant-a") is None
    assert await other.get("tenant-a") is not None


async def test_an_erasure_on_one_machine_reaches_memory_and_disk_of_all(
    machine: Machine, tmp_path: Path, clock: Clock
) -> None:
    one, other = machine(disk=True), machine(disk=True)
    await one.put("k", b"answer", 100)
    await shared(one)
    assert await other.get("k") is not None
    since = other.generation
    erased = asyncio.Event()
    other.on_erased.append(erased.set)

    assert erase_answers(tmp_path / "1" / ANSWERS, 1.0, erasures=tmp_path / "1" / "erasures")
    assert await one.get("k") is None
    async with asyncio.timeout(SOON):
        await erased.wait()
    await shared(one)
    await other.put("k", b"asked before", 100, since=since)

    assert [other.peek("k"), await other.get("k"), await one.get("k")] == [None] * 3
    assert await machine(disk=True).get("k") is None
    await one.put("k", b"asked after", 100)
    await shared(one)
    found = await other.get("k")
    assert found is not None
    assert found.value == b"asked after"


async def test_without_what_is_shared_answers_go_on_after_one_short_wait(impatient: None, machine: Machine) -> None:
    with RedisServer() as server:
        cache = machine(server)
        await cache.put("k", b"answer", 100)
        await shared(cache)
        server.hold()

        began = time.monotonic()
        assert await cache.get("new") is None
        for at in range(100):
            await cache.put(f"k{at}", b"answer", 100)
            assert await cache.get(f"new {at}") is None
            assert await cache.get(f"k{at}") is not None
        took = time.monotonic() - began

        server.go_on()
    assert took < 100 * PATIENCE / 2


async def test_an_erasure_while_redis_is_away_is_made_up_for_and_nothing_is_shared_until_then(
    impatient: None, machine: Machine, planes: list[Backplane], tmp_path: Path
) -> None:
    with RedisServer() as server:
        one = machine(server)
        await one.put("k", b"erased", 100)
        await shared(one)
        server.hold()
        mark_erasure(tmp_path / "1" / "erasures")
        assert await one.get("k") is None
        server.go_on()
        async with asyncio.timeout(SOON):
            while planes[0].is_away or [name for name in server.client.scan_iter() if b":value" in name]:
                assert await one.get("k") is None
                await asyncio.sleep(0.01)

        assert await machine(server).get("k") is None
        for plane in planes:
            await plane.aclose()
