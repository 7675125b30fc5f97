"""What one machine revokes is refused by all that share its Redis: at once, after an outage, and after a loss."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from specloom.core import BackplaneError, seal
from specloom.http.identity import Identity, RevocationFile, RevocationsFullError
from specloom.http.identity.shared_revocations import PLACE, SharedRevocations
from specloom.storage import redis_backplane
from tests.support.redis_server import KEY, RedisServer

ANN = Identity("acme", "ann", token_id="t-1", issued=100.0)
BOB = Identity("acme", "bob", issued=100.0)
LATER = 4e9


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with RedisServer() as running:
        yield running


class Machine:
    """A file of revocations, what shares it, and what was warned of."""

    def __init__(self, file: RevocationFile, shared: SharedRevocations, warned: list[str]) -> None:
        self.file, self.shared, self.warned = file, shared, warned


def watched(folder: Path, *, now: float = 1000.0) -> RevocationFile:
    """A file that is looked at whenever it is asked."""
    times = iter(range(10**9))
    return RevocationFile(folder / "revocations.json", clock=lambda: now, timer=lambda: float(next(times)))


@asynccontextmanager
async def machines(
    server: RedisServer, folder: Path, *names: str, every: float = 0.02, now: float = 1000.0
) -> AsyncIterator[list[Machine]]:
    async with AsyncExitStack() as stack:
        made = []
        for name in names:
            (folder / name).mkdir(exist_ok=True)
            warned: list[str] = []
            plane = redis_backplane(server.settings(), warned.append)
            stack.push_async_callback(plane.aclose)
            file = watched(folder / name, now=now)
            assert plane.cache is not None
            shared = SharedRevocations(file, plane.cache, plane.bus, KEY, every=every, warn=warned.append)
            await shared.start()
            await plane.bus.ready()  # type: ignore[attr-defined]
            stack.push_async_callback(shared.aclose)
            made.append(Machine(file, shared, warned))
        yield made


KEPT = 2
"""Keys that there are once something is revoked: the revocations, and the mark of what goes with them."""


def kept(server: RedisServer) -> dict[bytes, bytes]:
    return {name: server.client.get(name) for name in server.client.scan_iter()}


async def until(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not what():  # noqa: ASYNC110 - what another process has told
            await asyncio.sleep(0.01)


async def test_what_one_machine_revokes_another_refuses_without_waiting_for_its_turn(
    server: RedisServer, tmp_path: Path
) -> None:
    async with machines(server, tmp_path, "one", "two", every=3600.0) as (one, two):
        await asyncio.to_thread(one.shared.revoke_token, "t-1", LATER)
        assert one.shared.is_revoked(ANN)
        await until(lambda: two.shared.is_revoked(ANN))
        await asyncio.to_thread(two.shared.revoke_user, "acme", "bob", 200.0)
        await until(lambda: one.shared.is_revoked(BOB))

        assert not one.shared.is_revoked(Identity("acme", "bob", issued=300.0))
        assert not two.shared.is_revoked(Identity("acme", "eve", issued=100.0))


async def test_a_machine_that_was_cut_off_hears_of_it_when_it_is_back(server: RedisServer, tmp_path: Path) -> None:
    async with machines(server, tmp_path, "one", "two") as (one, two):
        server.kill()
        await asyncio.to_thread(one.shared.revoke_token, "t-1", LATER)
        await asyncio.to_thread(two.shared.revoke_user, "acme", "", 200.0)
        assert (one.shared.is_revoked(ANN), two.shared.is_revoked(BOB)) == (True, True)
        server.start()

        await until(lambda: two.shared.is_revoked(ANN) and one.shared.is_revoked(BOB))


async def test_a_machine_that_comes_later_has_what_was_revoked_before(server: RedisServer, tmp_path: Path) -> None:
    async with machines(server, tmp_path, "one") as (one,):
        await asyncio.to_thread(one.shared.revoke_token, "t-1", LATER)
        await until(lambda: len(kept(server)) == KEPT)
    async with machines(server, tmp_path, "two", every=3600.0) as (two,):
        await until(lambda: two.shared.is_revoked(ANN))


async def test_a_redis_that_lost_everything_is_told_again(server: RedisServer, tmp_path: Path) -> None:
    async with machines(server, tmp_path, "one") as (one,):
        await asyncio.to_thread(one.shared.revoke_token, "t-1", LATER)
        await until(lambda: len(kept(server)) == KEPT)
        server.client.flushall()
        async with machines(server, tmp_path, "two") as (two,):
            await until(lambda: two.shared.is_revoked(ANN))


async def test_what_somebody_else_put_there_revokes_nothing(server: RedisServer, tmp_path: Path) -> None:
    told = json.dumps({"tokens": {"00" * 32: LATER}, "users": {}}).encode()
    plane = redis_backplane(server.settings(), lambda _: None)
    assert plane.cache is not None
    async with machines(server, tmp_path, "one", every=3600.0) as (one,):
        for forged in (b"", b"{}", told, seal(bytes(32), told, PLACE.encode()), seal(KEY, b'{"users": 3}', b"x")):
            await plane.cache.put(PLACE, forged, 60.0)
            await one.shared.exchange()
        await plane.cache.put(PLACE, seal(KEY, b'{"tokens": {"odd": 1}}', PLACE.encode()), 60.0)
        await one.shared.exchange()

        assert one.file.merge({}) == {"tokens": {}, "users": {}}
        await asyncio.to_thread(one.shared.revoke_token, "t-1", LATER)
        await one.shared.exchange()
        assert one.shared.is_revoked(ANN)
        assert one.warned == []
    await plane.aclose()


async def test_a_token_that_has_ended_here_is_taken_from_nobody_and_given_to_nobody(
    server: RedisServer, tmp_path: Path
) -> None:
    async with (
        machines(server, tmp_path, "late", every=3600.0, now=2000.0) as (late,),
        machines(server, tmp_path, "early", every=3600.0) as (early,),
    ):
        await asyncio.to_thread(early.shared.revoke_token, "t-1", 1500.0)
        await until(lambda: len(kept(server)) == KEPT)
        before = kept(server)
        for _ in range(3):
            await late.shared.exchange()
            await early.shared.exchange()

        assert not late.shared.is_revoked(ANN)
        assert early.shared.is_revoked(ANN)
        assert kept(server) == before


async def test_without_redis_an_exchange_says_so_and_the_file_goes_on(server: RedisServer, tmp_path: Path) -> None:
    async with machines(server, tmp_path, "one", every=3600.0) as (one,):
        server.kill()
        with pytest.raises(BackplaneError):
            await one.shared.exchange()
        await asyncio.to_thread(one.shared.revoke_token, "t-1", LATER)
        assert one.shared.is_revoked(ANN)


def test_of_two_times_the_later_one_counts_and_a_full_file_takes_no_more(tmp_path: Path) -> None:
    file = watched(tmp_path)
    name = "00" * 32
    file.merge({"users": {name: 10.0}})

    assert file.merge({"users": {name: 5.0}})["users"] == {name: 10.0}
    assert file.merge({"users": {name: 20.0}, "tokens": {name: 5000.0}}) == {
        "tokens": {name: 5000.0},
        "users": {name: 20.0},
    }
    full = RevocationFile(tmp_path / "revocations.json", most=2, clock=lambda: 1000.0)
    with pytest.raises(RevocationsFullError):
        full.merge({"users": {"11" * 32: 1.0}})
    assert full.merge({})["users"] == {name: 20.0}
