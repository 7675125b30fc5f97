"""What becomes of callers when Redis hangs, dies, forgets, is full or holds what is not ours."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import redis

from specloom.core import Backplane, BackplaneError, VariableError
from specloom.storage.backplane_redis import RedisBus, redis_backplane
from specloom.storage.redis_link import (
    PATIENCE,
    RedisSettings,
    check_info,
    check_redis,
    read_redis_settings,
)
from tests.support.redis_server import KEY, RedisServer
from tests.support.timing import soonest, soonest_of

HEX = KEY.hex()
SOON = 60.0
"""Seconds within which a server that is back is used again."""
SLACK = 0.25
"""Seconds for which a machine holds up a test that is not busy."""


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """A server that the test may harm."""
    with RedisServer() as server:
        yield server


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def said() -> asyncio.Event:
    """Set when something was told."""
    return asyncio.Event()


@pytest.fixture
async def plane(server: RedisServer, told: list[str], said: asyncio.Event) -> AsyncIterator[Backplane]:
    def tell(sentence: str) -> None:
        told.append(sentence)
        said.set()

    plane = redis_backplane(server.settings(), tell)
    yield plane
    await plane.aclose()


async def seconds(work: Awaitable[object]) -> float:
    began = time.monotonic()
    with pytest.raises(BackplaneError, match="cannot be reached"):
        await work
    return time.monotonic() - began


async def come_back(plane: Backplane) -> None:
    await answered(lambda: plane.counters.add("back", 1, until=time.time() + 60))


async def answered(ask: Callable[[], Awaitable[float]]) -> float:
    """What is answered at last."""
    async with asyncio.timeout(SOON):
        while True:
            try:
                return await ask()
            except BackplaneError:
                await asyncio.sleep(0.01)


# --- Away and back ----------------------------------------------------------------------------------------------------


Harm = tuple[Callable[[RedisServer], object], Callable[[RedisServer], object]]
HARMS: dict[str, Harm] = {
    "hangs": (RedisServer.hold, RedisServer.go_on),
    "is killed": (RedisServer.kill, RedisServer.start),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS.keys())
async def test_a_server_that_is_away_costs_one_short_wait_and_is_used_soon_after_it_is_back(
    impatient: None, plane: Backplane, server: RedisServer, told: list[str], said: asyncio.Event, harm: Harm
) -> None:
    cache = plane.cache
    assert cache is not None
    laters: list[float] = []

    async def attempt() -> float:
        await come_back(plane)
        said.clear()
        harm[0](server)
        first = await asyncio.gather(*(seconds(plane.counters.take("k", per=9.0, burst=1)) for _ in range(50)))
        laters.append(sum([await seconds(cache.get(f"answers:{at}")) for at in range(50)]))
        assert plane.is_away
        async with asyncio.timeout(SOON):
            await said.wait()
        harm[1](server)
        await come_back(plane)
        return max(first)

    assert await soonest_of(attempt, PATIENCE + SLACK) < PATIENCE + SLACK
    assert max(laters) < 50 * PATIENCE / 2, "nothing is sent while the breaker is open"
    assert not plane.is_away
    words = [one.partition(" at ")[2].partition(str(server.socket))[2][:8] for one in told]
    assert words == [" cannot ", " is back"] * (len(words) // 2)


async def test_a_server_that_sleeps_holds_nobody(impatient: None, plane: Backplane, server: RedisServer) -> None:
    assert await answered(lambda: plane.counters.take("k", per=3600.0, burst=1)) in (0.0, pytest.approx(3600, abs=60))
    sleeper = server.client.connection_pool.get_connection()

    async def attempt() -> float:
        await come_back(plane)
        sleeper.send_command("DEBUG", "SLEEP", "1.5")
        began = time.monotonic()
        with contextlib.suppress(BackplaneError):
            await plane.counters.take("k", per=3600.0, burst=1)
            return math.inf  # the machine was held up until it slept no more
        return time.monotonic() - began

    assert await soonest_of(attempt, PATIENCE + SLACK) < PATIENCE + SLACK
    sleeper.disconnect()
    left = await answered(lambda: plane.counters.take("k", per=3600.0, burst=1))
    assert left > 0, "what was counted is there still"


async def test_one_who_gives_up_waiting_harms_nobody_else(plane: Backplane, server: RedisServer) -> None:
    until = time.time() + 60
    impatient = [asyncio.ensure_future(plane.counters.add("k", 1, until=until)) for _ in range(20)]
    others = [asyncio.ensure_future(plane.counters.add("l", 1, until=until)) for _ in range(20)]
    await asyncio.sleep(0)
    for one in impatient:
        one.cancel()

    assert sorted(await asyncio.gather(*others)) == list(range(1, 21))


async def test_leases_and_messages_go_on_after_a_server_was_replaced(plane: Backplane, server: RedisServer) -> None:
    other = redis_backplane(server.settings(), lambda _: None)
    assert isinstance(other.bus, RedisBus)
    heard = other.bus.listen("t")
    await other.bus.ready()
    before = await plane.leases.acquire("flight", 60)
    assert before is not None
    again = asyncio.Event()
    other.bus.on_ready.append(again.set)
    server.kill()
    with pytest.raises(BackplaneError):
        await plane.bus.tell("t", b"lost")
    server.start()
    await come_back(plane)
    async with asyncio.timeout(SOON):
        await again.wait()

    after = await plane.leases.acquire("flight", 60)
    await plane.bus.tell("t", b"heard")

    assert after is not None
    assert after.number > before.number
    assert not await before.renew(60)
    async with asyncio.timeout(SOON):
        assert await anext(heard) == b"heard"
    await other.aclose()


async def test_who_listens_here_is_told_also_while_the_server_is_away(plane: Backplane, server: RedisServer) -> None:
    heard = plane.bus.listen("t")
    server.kill()

    with pytest.raises(BackplaneError):
        await plane.bus.tell("t", b"a")

    assert await anext(heard) == b"a"


async def test_a_lease_is_given_back_when_its_process_leaves(server: RedisServer, plane: Backplane) -> None:
    leaver = redis_backplane(server.settings(), lambda _: None)
    assert await leaver.leases.acquire("flight", 3600) is not None
    assert await plane.leases.acquire("flight", 10) is None

    await leaver.aclose()

    assert await plane.leases.acquire("flight", 10) is not None


# --- Forgotten, foreign, full -----------------------------------------------------------------------------------------


async def test_a_server_that_forgot_everything_is_used_on_and_its_cache_is_empty(
    plane: Backplane, server: RedisServer
) -> None:
    assert plane.cache is not None
    told: list[int] = []
    plane.cache.watch("answers:", lambda: told.append(1))
    await plane.cache.put("answers:a", b"sealed", 60)
    before = await plane.leases.acquire("flight", 60)
    server.client.flushall()
    server.client.script_flush()

    assert await plane.cache.get("answers:a") is None
    assert told, "it may have been an erasure"
    after = await plane.leases.acquire("flight", 60)
    assert before is not None
    assert after is not None
    assert after.number > before.number
    assert await plane.counters.take("k", per=9.0, burst=1) == 0.0


FOREIGN = {
    "text": lambda client, name: client.set(name, "hello"),
    "a number": lambda client, name: client.set(name, "9e99"),
    "no number": lambda client, name: client.set(name, "nan"),
    "bytes": lambda client, name: client.set(name, bytes(range(256))),
    "a list": lambda client, name: (client.delete(name), client.rpush(name, "a")),
    "a set": lambda client, name: (client.delete(name), client.sadd(name, "a")),
}


@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=FOREIGN.keys())
async def test_foreign_values_under_our_keys_count_as_nothing(
    plane: Backplane, server: RedisServer, foreign: Callable[[redis.Redis, bytes], object]
) -> None:
    cache, until = plane.cache, time.time() + 60
    assert cache is not None

    async def use() -> None:
        assert await plane.counters.take("k", per=60.0, burst=2) <= 120.0
        assert await plane.counters.start("k", count=2, per=60.0) <= 60.0
        await plane.counters.add("k", 1, until=until)
        await plane.leases.acquire("flight", 60)
        await cache.put("answers:a", b"sealed", 60)

    await use()
    names = list(server.client.scan_iter())
    assert len(names) == 7
    for name in names:
        foreign(server.client, name)

    assert await cache.get("answers:a") is None
    await use()
    assert await plane.counters.add("k", 1, until=until) == 2
    await cache.put("answers:a", b"sealed", 60)
    assert await cache.get("answers:a") == b"sealed"
    lease = await plane.leases.acquire("other flight", 60)
    assert lease is not None
    assert await lease.renew(60)


async def test_foreign_messages_are_not_heard(plane: Backplane, server: RedisServer) -> None:
    assert isinstance(plane.bus, RedisBus)
    heard = plane.bus.listen("t")
    await plane.bus.ready()
    stranger = redis_backplane(server.settings(key=bytes(32)), lambda _: None)

    server.client.publish("specloom:bus", b"t")
    await stranger.bus.tell("t", b"forged")
    await plane.bus.tell("t", b"ours")

    assert await anext(heard) == b"ours"
    await stranger.aclose()


async def test_a_full_server_refuses_at_once_and_goes_on_telling_what_it_has(
    plane: Backplane, server: RedisServer
) -> None:
    assert plane.cache is not None
    await plane.cache.put("answers:a", b"sealed", 60)
    server.client.config_set("maxmemory", "1mb")

    with pytest.raises(BackplaneError, match="OutOfMemory"):
        await plane.cache.put("answers:b", bytes(100_000), 60)

    assert await plane.cache.get("answers:a") == b"sealed"
    assert not plane.is_away


async def test_what_was_asked_for_before_everything_was_forgotten_is_not_kept(
    plane: Backplane, server: RedisServer
) -> None:
    other = redis_backplane(server.settings(), lambda _: None)
    assert plane.cache is not None
    assert other.cache is not None
    assert await other.cache.get("answers:a") is None
    await plane.cache.put("answers:b", b"sealed", 60)

    await plane.cache.clear("answers:")
    await other.cache.put("answers:a", b"of before", 60)

    assert await plane.cache.get("answers:a") is None
    assert [name for name in server.client.scan_iter() if b":value" in name] == [], "its bytes are gone as well"
    await other.cache.put("answers:a", b"of now", 60)
    assert await plane.cache.get("answers:a") == b"of now"
    await other.aclose()


async def test_redis_holds_no_names_and_no_texts(plane: Backplane, server: RedisServer) -> None:
    assert plane.cache is not None
    secret = "whales-of-tenant-zoo"
    with server.client.monitor() as seen:
        await plane.counters.take(secret, per=1.0, burst=2)
        await plane.counters.start(secret, count=2, per=1.0)
        await plane.counters.add(secret, 1, until=time.time() + 60)
        await plane.leases.acquire(secret, 10)
        await plane.bus.tell(secret, secret.encode())
        await plane.cache.put(f"{secret}:{secret}", b"sealed", 10)
        await plane.cache.get(f"{secret}:{secret}")
        await plane.cache.clear(f"{secret}:")
        await plane.counters.add("last", 4711, until=time.time() + 60)
        commands = []
        for command in seen.listen():
            commands.append(command["command"])
            if " 4711 " in command["command"]:
                break

    assert len(commands) >= 10
    assert not [one for one in commands if secret in one]
    assert all(name.startswith(b"specloom:") for name in server.client.scan_iter())


async def test_prefixes_and_keys_share_nothing(plane: Backplane, server: RedisServer) -> None:
    for settings in (server.settings(prefix="other:"), server.settings(key=bytes(32))):
        other = redis_backplane(settings, lambda _: None)
        await plane.counters.take("k", per=60.0, burst=1)
        assert await other.counters.take("k", per=60.0, burst=1) == 0.0
        await other.aclose()


# --- At the start -----------------------------------------------------------------------------------------------------


def test_a_server_that_can_be_used_is_found_without_a_word(server: RedisServer, told: list[str]) -> None:
    check_redis(server.settings(), told.append)

    assert told == []


def test_a_server_that_does_not_answer_is_waited_for_and_then_told(server: RedisServer, told: list[str]) -> None:
    server.kill()

    def attempt() -> float:
        began = time.monotonic()
        with pytest.raises(BackplaneError, match=r"gave no answer within 0\.3 seconds \(ConnectionError\); see REDIS"):
            check_redis(server.settings(), told.append, within=0.3)
        return time.monotonic() - began

    assert 0.3 <= soonest(attempt, 0.3 + 4 * SLACK) < 0.3 + 4 * SLACK


def test_a_server_that_hangs_is_told(server: RedisServer, told: list[str]) -> None:
    server.hold()

    with pytest.raises(BackplaneError, match="gave no answer"):
        check_redis(server.settings(), told.append, within=0.3)

    server.go_on()


def test_a_password_that_is_wrong_is_told_and_not_shown(told: list[str]) -> None:
    with RedisServer() as server:
        server.client.config_set("requirepass", "right")
        url = f"unix://:whales@{server.socket}"
        with pytest.raises(BackplaneError, match=r"does not let us in .*EVAL") as wrong:
            check_redis(RedisSettings(url, "specloom:", KEY), told.append)
        check_redis(RedisSettings(f"unix://:right@{server.socket}", "specloom:", KEY), told.append)

    assert "whales" not in str(wrong.value)


def test_a_server_that_drops_keys_is_named_to_the_operator(server: RedisServer, told: list[str]) -> None:
    server.client.config_set("maxmemory-policy", "allkeys-lru")

    check_redis(server.settings(), told.append)

    assert len(told) == 1
    assert "maxmemory-policy allkeys-lru" in told[0]


def test_a_server_that_is_too_old_is_refused(told: list[str]) -> None:
    settings = RedisSettings("redis://localhost", "specloom:", KEY)

    with pytest.raises(BackplaneError, match=r"is 6\.0\.16: 6\.2 or newer is needed"):
        check_info(settings, {"redis_version": "6.0.16"}, told.append)
    check_info(settings, {"redis_version": "7.2.4", "server_name": "valkey"}, told.append)

    assert told == []


def test_without_an_address_nothing_is_read() -> None:
    assert read_redis_settings({"REDIS_URL": " "}) is None


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"REDIS_URL": "redis://h"}, "needs SPECLOOM_CACHE_KEY in the environment"),
        ({"REDIS_URL": "redis://h", "SPECLOOM_CACHE_KEY": "short"}, "SPECLOOM_CACHE_KEY is not a key"),
        ({"REDIS_URL": "http://h"}, "is not the address of a Redis server"),
        ({"REDIS_URL": "redis://"}, "is not the address"),
        ({"REDIS_URL": "redis://h:none"}, "is not the address"),
        ({"REDIS_URL": "unix://"}, "is not the address"),
        ({"REDIS_URL": "redis://h?socket_timeout=90&db=1"}, "may not set socket_timeout"),
        ({"REDIS_URL": "rediss://h?ssl_cert_reqs=none"}, "may not set ssl_cert_reqs"),
        ({"REDIS_URL": "redis://h", "REDIS_PREFIX": "*"}, "write at most 64 letters"),
    ],
)
def test_settings_that_cannot_be_are_told(environ: dict[str, str], sentence: str) -> None:
    with pytest.raises(VariableError, match=sentence):
        read_redis_settings(environ)


@pytest.mark.parametrize(
    ("url", "place", "is_open"),
    [
        ("redis://:secret@10.0.0.7:6380/2", "10.0.0.7:6380", True),
        ("redis://cache.internal", "cache.internal:6379", True),
        ("rediss://u:secret@cache.internal", "cache.internal:6379", False),
        ("redis://localhost", "localhost:6379", False),
        ("redis://[::1]:7000", "::1:7000", False),
        ("unix:///run/redis.sock?db=3", "/run/redis.sock", False),
    ],
)
def test_a_server_is_named_without_its_password(url: str, place: str, is_open: bool) -> None:
    settings = read_redis_settings({"REDIS_URL": url, "SPECLOOM_CACHE_KEY": HEX})

    assert settings is not None
    assert (settings.place, settings.is_open) == (place, is_open)
    assert "secret" not in repr(settings)


def test_the_library_is_imported_only_where_there_is_an_address() -> None:
    program = (
        "import json, sys\n"
        "import specloom.server.start, specloom.storage.backplane, specloom.storage.backplane_redis\n"
        "specloom.server.start.check_shared({})\n"
        "specloom.server.start.open_run_folder({'SPECLOOM_STATE_DIR': sys.argv[1]})\n"
        "print(json.dumps(sorted(name for name in sys.modules if name.partition('.')[0] in ('redis', 'hiredis'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, os.devnull + "/none"], capture_output=True, encoding="utf-8", check=True
    )

    assert json.loads(done.stdout) == []


def test_a_server_of_several_tenants_ends_with_a_sentence_where_redis_is_away(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from specloom.server.catalogue import Selection
    from specloom.server.start import load_catalogue
    from specloom.storage import redis_link

    server.kill()
    monkeypatch.setattr(redis_link.check_redis, "__kwdefaults__", {"within": 0.2})

    with pytest.raises(SystemExit) as ended:
        load_catalogue({"REDIS_URL": server.url, "SPECLOOM_CACHE_KEY": HEX}, Selection([], shared=True))

    assert ended.value.code == 2
    assert "gave no answer within 0.2 seconds" in capsys.readouterr().err


async def test_servers_of_several_machines_share_what_their_redis_holds(server: RedisServer, tmp_path: Path) -> None:
    from specloom.server.start import open_run_folder

    common = {"REDIS_URL": server.url, "SPECLOOM_CACHE_KEY": HEX}
    one, other = (open_run_folder({**common, "SPECLOOM_STATE_DIR": str(tmp_path / name)}) for name in ("a", "b"))

    await one.counters.add("calls", 2, until=time.time() + 60)

    assert await other.counters.add("calls", 1, until=time.time() + 60) == 3
    assert os.listdir(tmp_path) == [], "nothing of it is in files"
    for plane in (one, other):
        await plane.aclose()


async def test_what_was_forgotten_while_a_machine_was_cut_off_is_noticed_when_it_is_back(
    plane: Backplane, server: RedisServer
) -> None:
    assert plane.cache is not None
    assert isinstance(plane.bus, RedisBus)
    told = asyncio.Event()
    await plane.cache.put("answers:a", b"sealed", 60)
    plane.cache.watch("answers:", told.set)
    await plane.bus.ready()
    # As another machine does whose word is lost.
    mark = next(name for name in server.client.scan_iter() if b":mark" in name)
    server.client.set(mark, int(server.client.get(mark)) + 1)
    assert not told.is_set()

    server.client.client_kill_filter(_type="pubsub")

    async with asyncio.timeout(SOON):
        await told.wait()
