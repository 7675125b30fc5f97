"""What becomes of what machines remember when Redis hangs, dies, forgets, is full, or holds what is not ours."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from specloom.core import BackplaneError, VariableError
from specloom.core.faults import Fault
from specloom.plugins.collections import CONSENTS, CollectionSpec
from specloom.server import check_shared
from specloom.storage import redis_store
from specloom.storage.consent import decide
from specloom.storage.keys import MasterKeys
from specloom.storage.redis_link import check_redis, read_state_settings
from specloom.storage.redis_rows import RedisRows
from specloom.storage.redis_store import RedisStore, open_redis_store
from tests.support.redis_server import KEY, RedisServer
from tests.support.stores import ANN, BOARD, BOB, OTHER, SPECS

HEX = KEY.hex()
KEPT = ("--appendonly", "yes", "--appendfsync", "always")
SOON = 60.0
"""Seconds within which a server that is back is used again."""
Make = Callable[..., RedisStore]


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """A server that keeps what it acknowledged, which the test may harm."""
    with RedisServer(*KEPT) as server:
        yield server


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
async def make(server: RedisServer, told: list[str]) -> AsyncIterator[Make]:
    """Opens one more store over the server, as another machine would."""
    opened: list[RedisStore] = []

    def make(keys: MasterKeys | None = None, specs: tuple[CollectionSpec, ...] = SPECS) -> RedisStore:
        keys = keys or MasterKeys(KEY)
        opened.append(RedisStore(server.settings(key=keys.current), keys, specs, told.append))
        return opened[-1]

    yield make
    for store in opened:
        await store.aclose()


@pytest.fixture
def store(make: Make) -> RedisStore:
    return make()


def file_bytes(server: RedisServer) -> bytes:
    """All bytes of all files of a server."""
    return b"".join(path.read_bytes() for path in sorted(server.folder.rglob("*")) if path.is_file())


def items(server: RedisServer) -> list[bytes]:
    """The names of all items, in the order in which they were made."""
    return sorted(server.client.keys("specloom:state:item:*"), key=lambda name: int(server.client.hget(name, "id")))


async def come_back(work: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(SOON):
        while True:
            try:
                await work()
            except Fault:
                await asyncio.sleep(0.01)
            else:
                return


# --- Away and back ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("harm", "mend"),
    [(RedisServer.hold, RedisServer.go_on), (RedisServer.kill, RedisServer.start)],
    ids=["hangs", "is killed"],
)
async def test_while_the_server_is_away_one_sentence_says_so_and_afterwards_everything_is_there(
    store: RedisStore,
    server: RedisServer,
    told: list[str],
    harm: Callable[[RedisServer], None],
    mend: Callable[[RedisServer], None],
) -> None:
    notes, trails = store.drawer("notes", ANN), store.drawer("trails", ANN)
    await notes.put("n", {"text": "before"})
    await trails.put("t", {})
    await trails.append("t", {"step": 1})
    patient, store._link.patience = store._link.patience, 0.2
    harm(server)

    calls = [notes.get("n"), notes.put("n", {"text": "while it is away"}), trails.append("t", {"step": 2})]
    calls += [notes.search("otter"), notes.items(), notes.count(), store.export(ANN), store.expire()]
    faults = await asyncio.gather(*calls, return_exceptions=True)

    assert {(type(one), getattr(one, "kind", "")) for one in faults} == {(Fault, "upstream_unavailable")}
    assert len({str(one) for one in faults}) == 1
    assert str(server.socket) not in str(faults[0]), "whoever calls is told of no address"
    assert faults[0].to_json()["error"]["retryable"] is True
    began = time.monotonic()
    for _ in range(100):
        with pytest.raises(Fault, match="cannot be reached at present"):
            await notes.get("n")
    assert time.monotonic() - began < 100 * 0.2 / 2, "nothing is sent while the breaker is open"
    store._link.patience = patient
    mend(server)
    await come_back(lambda: notes.get("n"))
    found = await notes.get("n")
    assert found is not None
    # One that was written while the server stood still may have been taken, and none is there in part.
    assert found.value in ({"text": "before"}, {"text": "while it is away"})
    steps = [one.value["step"] for one in await trails.events("t")]
    item = await trails.get("t")
    assert item is not None
    assert steps == [1, 2][: item.last]
    assert all("cannot be reached" in one or "is back" in one for one in told)


async def test_what_was_acknowledged_survives_kills_of_the_server(make: Make, server: RedisServer) -> None:
    one, two = make(), make()
    trails = CollectionSpec("many", max_events=100_000, max_items=1000)
    for store in (one, two):
        store.specs["many"] = trails
    await one.drawer("many", ANN).put("shared", {"steps": 0})
    kept: list[int] = []
    ended: list[str] = []
    moved = asyncio.Event()

    async def write(store: RedisStore) -> None:
        view = store.drawer("many", ANN)
        while len(kept) < 400:
            try:
                item = await view.append("shared", len(kept), change=lambda value, seq: {"steps": seq})
            except Fault as fault:
                ended.append(fault.kind)
                await asyncio.sleep(0.005)
            else:
                kept.append(item.last)
                moved.set()

    async def kill() -> None:
        for wanted in (50, 150, 250):
            while len(kept) < wanted:
                moved.clear()
                await moved.wait()
            server.kill()
            await asyncio.to_thread(server.start)

    await asyncio.gather(write(one), write(one), write(two), kill())

    item = await one.drawer("many", ANN).get("shared")
    events = await two.drawer("many", ANN).events("shared")
    assert item is not None
    assert {*ended} == {"upstream_unavailable"}
    assert len(kept) == len(set(kept)), "no number is given twice"
    assert [one.seq for one in events] == list(range(1, len(events) + 1))
    assert item.last == item.value["steps"] == len(events) >= max(kept)


async def test_a_server_that_lost_everything_begins_anew_and_says_so(
    make: Make, server: RedisServer, told: list[str]
) -> None:
    specs = (*SPECS, CollectionSpec(CONSENTS.name))
    one, two = make(specs=specs), make(specs=specs)
    await decide(one.drawer(CONSENTS.name, ANN), ANN, "memory", granted=True, now=1.0)
    await one.drawer("notes", ANN).put("n", {"text": "otter"})
    assert [hit.item.key for hit in await one.drawer("notes", ANN).search("otter")] == ["n"]
    await two.drawer("notes", ANN).get("n")
    server.client.flushall()

    assert await one.drawer("notes", ANN).search("otter") == []
    assert await one.drawer(CONSENTS.name, ANN).get("memory") is None, "whoever was not asked has not agreed"
    await two.drawer("notes", ANN).put("n", {"text": "anew"})

    assert (await one.drawer("notes", ANN).get("n")).value == {"text": "anew"}  # type: ignore[union-attr]
    assert told == ["Redis has lost what was remembered, or was emptied: everything of it begins anew"] * 2


async def test_a_full_server_says_so_and_loses_nothing(make: Make, server: RedisServer) -> None:
    wide = CollectionSpec("wide", max_items=10_000, max_value=200_000)
    store = make(specs=(wide,))
    view = store.drawer("wide", ANN)
    await view.put("first", "x")
    server.client.config_set("maxmemory", server.client.info()["used_memory"] + 1_000_000)
    kept = 0

    async def fill() -> None:
        nonlocal kept
        for kept in range(100):
            await view.put(str(kept), "x" * 100_000)

    with pytest.raises(Fault, match="is full: nothing of this was written, and nothing that was written is lost"):
        await fill()

    assert 2 < kept < 30
    assert [item.key for item in await view.items(limit=1000)] == [*map(str, reversed(range(kept))), "first"]
    for at in range(kept):
        await view.delete(str(at))
    await view.put("again", "x")


# --- Who can read and write there -------------------------------------------------------------------------------------


async def test_a_value_that_was_moved_to_another_owner_or_swapped_does_not_open(
    store: RedisStore, server: RedisServer
) -> None:
    await store.drawer("notes", ANN).put("n", {"text": "mine"})
    await store.drawer("notes", BOB).put("n", {"text": "yours"})
    trails = store.drawer("trails", ANN)
    for key in ("a", "b"):
        await trails.put(key, {"of": key})
        for at in range(2):
            await trails.append(key, {"of": key, "at": at})
    mine, yours, first, second = items(server)
    server.client.hset(yours, "value", server.client.hget(mine, "value"))
    server.client.hset(second, "value", server.client.hget(first, "value"))
    events = first.replace(b":item:", b":events:")
    stored = server.client.lrange(events, 0, -1)
    server.client.lset(events, 0, stored[1])

    with pytest.raises(Fault, match="A record in notes does not open"):
        await store.drawer("notes", BOB).get("n")
    with pytest.raises(Fault, match="A record in trails does not open"):
        await trails.get("b")
    with pytest.raises(Fault, match="Entry 1 of a record in trails does not open"):
        await trails.events("a")
    assert (await store.drawer("notes", ANN).get("n")).value == {"text": "mine"}  # type: ignore[union-attr]
    assert await trails.delete("b") is True


async def test_a_tag_that_somebody_put_into_another_owners_view_opens_nothing(
    store: RedisStore, server: RedisServer
) -> None:
    """Who can write to Redis cannot let an owner list, find or count another one's items."""
    for owner in (ANN, BOB):
        await store.drawer("notes", owner).put("n", {"text": f"secret of {owner}", "topic": "birds"})
    views = server.client.keys("specloom:state:in:*")
    tags = [server.client.zrange(name, 0, -1, withscores=True) for name in views]
    for name, other in zip(views, reversed(tags), strict=True):
        server.client.zadd(name, {tag: score + 1000 for tag, score in other})

    for owner in (ANN, BOB):
        with pytest.raises(Fault, match="does not open"):
            await store.drawer("notes", owner).items()


async def test_redis_holds_no_name_and_no_text_and_after_an_erasure_no_byte(make: Make, server: RedisServer) -> None:
    notes = CollectionSpec("notes", max_events=9, indexes=("topic",), search=("text",))
    store = make(specs=(notes, BOARD))
    for at in range(30):
        for owner in (BOB, ANN):
            view = store.drawer("notes", owner)
            await view.put(f"key-{at}", {"text": f"zebra finch {at} " * (1 + at), "topic": "ornithology"})
            await view.append(f"key-{at}", {"zebra": at})
    await store.drawer("board", ANN, space="team").put("b", {"text": "zebra"})
    last = items(server)[-1]
    author = server.client.hget(last, "author")
    pieces = [author, server.client.hget(b"specloom:state:owner:" + author, "salt")]
    for name in (one for one in items(server) if server.client.hget(one, "author") == author):
        pieces += [name.rpartition(b":item:")[2], server.client.hget(name, "value")[:48]]
        pieces += [one[-48:] for one in server.client.lrange(name.replace(b":item:", b":events:"), 0, -1)]
    before = file_bytes(server)
    assert [piece for piece in pieces if piece not in before] == []
    assert not any(word in before for word in (b"zebra", b"ornithology", b"ann@example", b"key-1", b"acme-works"))

    erased = await store.erase(ANN)

    after = file_bytes(server)
    assert erased.deleted == {"notes": 30, "board": 1}
    assert erased.compacted is True
    assert [piece for piece in pieces if piece in after] == []
    assert await store.drawer("notes", BOB).count() == 30
    assert await store.export(ANN) == {"notes": [], "board": []}


async def test_an_erasure_that_was_cut_short_opens_nothing_and_is_finished_by_the_next_round(
    make: Make, server: RedisServer
) -> None:
    store = make()
    await store.drawer("notes", ANN).put("n", {"text": "a"})
    await store.drawer("board", ANN, space="team").put("b", {"text": "a"})
    await store.drawer("board", BOB, space="team").put("c", {"text": "b"})

    await store.work(lambda rows: rows.run("erase", rows.tags.owner("acme-works", "ann@example.org")))

    notes = store.drawer("notes", ANN)
    assert await notes.get("n") is None
    assert await notes.search("a") == []
    assert [one.key for one in await store.drawer("board", BOB, space="team").items()] == ["c"]
    assert len(items(server)) == 3
    # Whoever was erased may begin anew meanwhile.
    await notes.put("new", {"text": "otter"})
    await notes.put("n", {"text": "otter"})
    await make().expire()
    assert len(items(server)) == 3
    assert [one.key for one in await notes.items()] == ["n", "new"]
    assert [one.key for one in await store.drawer("board", BOB, space="team").items()] == ["c"]
    assert server.client.hget("specloom:state:meta", "compact") is None


async def test_an_erasure_says_when_the_file_could_not_be_written_anew(
    make: Make, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make()
    await store.drawer("notes", ANN).put("n", {"text": "a"})
    monkeypatch.setattr(redis_store, "REWRITE", 0.0)

    first = await store.erase(ANN)

    assert (first.deleted, first.compacted) == ({"notes": 1}, False)
    assert server.client.hget("specloom:state:meta", "compact") == b"1"
    monkeypatch.undo()
    await come_back(lambda: _finish(store, server))


async def _finish(store: RedisStore, server: RedisServer) -> None:
    await store.expire()
    if server.client.hget("specloom:state:meta", "compact") is not None:
        raise Fault("network", "not yet")


async def test_a_write_that_stood_still_does_not_write_over_what_came_between(make: Make) -> None:
    """The version that was read is the fence: also that of an item which was deleted and made anew meanwhile."""
    slow, fast = make(), make()
    view = fast.drawer("notes", ANN)
    await view.put("n", {"n": 1})
    seen: list[object] = []

    def change(value: object) -> object:
        seen.append(value)
        return {"from": value}

    look, is_first = RedisRows.look, True

    async def look_and_stand(rows: RedisRows, *given: object) -> object:
        nonlocal is_first
        found = await look(rows, *given)  # type: ignore[arg-type]
        if is_first and given[1] == "n":
            is_first = False
            await view.delete("n")
            await view.put("n", {"n": 2})
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RedisRows, "look", look_and_stand)
        await slow.drawer("notes", ANN).update("n", change)

    assert seen == [{"n": 1}, {"n": 2}]
    assert (await view.get("n")).value == {"from": {"n": 2}}  # type: ignore[union-attr]


async def test_a_store_of_another_key_or_a_newer_version_is_refused_and_left_alone(
    make: Make, server: RedisServer
) -> None:
    await make().drawer("notes", ANN).put("n", {"text": "a"})

    with pytest.raises(Fault, match="sealed with another key: give that one as SPECLOOM_CACHE_KEY_PREVIOUS"):
        await make(MasterKeys(OTHER)).drawer("notes", ANN).get("n")
    assert (await make().drawer("notes", ANN).get("n")).value == {"text": "a"}  # type: ignore[union-attr]
    server.client.hset("specloom:state:meta", "format", "9")
    with pytest.raises(Fault, match="newer version"):
        await make().drawer("notes", ANN).get("n")


async def test_a_key_is_replaced_machine_by_machine_and_each_reads_what_the_others_write(make: Make) -> None:
    old, new = MasterKeys(KEY, OTHER), MasterKeys(OTHER, KEY)
    views = {"before": make(MasterKeys(KEY)).drawer("notes", ANN)}
    await views["before"].put("begun", {"text": "before"})

    # First all machines learn the new key beside the old one, then one after the other takes it as its own.
    one, two = make(old), make(old)
    await one.drawer("notes", ANN).put("of one", {"text": "old key"})
    turned = make(new)
    await turned.drawer("notes", ANN).put("of two", {"text": "new key"})
    during = [
        {item.key: item.value["text"] for item in await store.drawer("notes", ANN).items()}
        for store in (one, two, turned, make(old))
    ]
    # At last all have it, and once it has sealed everything anew the old one is needed no more.
    last = make(new)
    await last.expire()
    after = {item.key: item.value["text"] for item in await make(MasterKeys(OTHER)).drawer("notes", ANN).items()}

    everything = {"begun": "before", "of one": "old key", "of two": "new key"}
    assert during == [everything] * 4
    assert after == everything


async def test_what_is_not_ours_under_a_name_of_ours_is_a_sentence(
    make: Make, server: RedisServer, told: list[str]
) -> None:
    store = make()
    await store.drawer("notes", ANN).put("n", {"text": "a"})
    server.client.delete(items(server)[0])
    server.client.set("specloom:state:ends", "not ours")

    with pytest.raises(Fault, match="does not do what it is asked") as refused:
        await store.expire()

    assert refused.value.kind == "internal"
    assert any("WRONGTYPE" in one for one in told)


# --- Settings, and servers that will not do ---------------------------------------------------------------------------


def test_the_state_follows_redis_only_where_that_is_said() -> None:
    shared = {"REDIS_URL": "redis://localhost/0", "SPECLOOM_CACHE_KEY": HEX}
    own = {"SPECLOOM_STATE_REDIS_URL": "redis://localhost/1"}

    assert read_state_settings(shared) is None
    assert read_state_settings({**shared, **own, "SPECLOOM_STATE": "folder"}) is None
    found = read_state_settings({**shared, "SPECLOOM_STATE": "redis"})
    assert found is not None
    assert (found.url, found.variable) == ("redis://localhost/0", "REDIS_URL")
    found = read_state_settings({**shared, **own, "SPECLOOM_STATE": "redis"})
    assert found is not None
    assert (found.url, found.variable) == ("redis://localhost/1", "SPECLOOM_STATE_REDIS_URL")


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"SPECLOOM_STATE": "valkey"}, "SPECLOOM_STATE is 'valkey'; write one of folder, redis"),
        ({"SPECLOOM_STATE": "redis"}, "no server is named: set REDIS_URL, or SPECLOOM_STATE_REDIS_URL"),
        (
            {"SPECLOOM_STATE": "redis", "SPECLOOM_STATE_REDIS_URL": "localhost"},
            "SPECLOOM_STATE_REDIS_URL is not the address of a Redis server",
        ),
        (
            {"SPECLOOM_STATE": "redis", "REDIS_URL": "redis://localhost"},
            "REDIS_URL needs SPECLOOM_CACHE_KEY in the environment",
        ),
    ],
)
def test_a_setting_that_cannot_work_is_refused_with_what_to_write(environ: dict[str, str], sentence: str) -> None:
    with pytest.raises(VariableError, match=sentence):
        read_state_settings(environ)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "writes nothing to its disk as it goes, so a restart would lose what is remembered: set `appendonly yes`"),
        ((*KEPT, "--maxmemory-policy", "allkeys-lru"), "drops keys when its memory is full .*: set it to noeviction"),
    ],
)
def test_a_server_that_would_lose_what_is_remembered_is_refused(options: tuple[str, ...], sentence: str) -> None:
    with RedisServer(*options) as server, pytest.raises(BackplaneError, match=sentence):
        check_redis(server.settings(), pytest.fail, keeps_state=True)


def test_a_server_that_syncs_later_or_does_not_say_is_told_of(server: RedisServer) -> None:
    told: list[str] = []
    check_redis(server.settings(), told.append, keeps_state=True)
    assert told == []

    server.client.config_set("appendfsync", "everysec")
    check_redis(server.settings(), told.append, keeps_state=True)
    server.client.execute_command("ACL", "SETUSER", "default", "-config")
    check_redis(server.settings(), told.append, keeps_state=True)

    assert [one.partition("fails ")[2].partition(":")[0] for one in told] == [
        "(appendfsync everysec)",
        "(it does not say when (CONFIG GET appendfsync))",
    ]


async def test_a_user_of_redis_who_may_use_no_more_than_our_keys_is_enough(server: RedisServer) -> None:
    rights = ["on", ">word", "~specloom:*", "&specloom:*", "+@all", "-@admin", "-@dangerous", "+info"]
    server.client.execute_command("ACL", "SETUSER", "specloom", *rights)
    environ = {
        "SPECLOOM_STATE": "redis",
        "SPECLOOM_STATE_REDIS_URL": server.url.replace("unix://", "unix://specloom:word@"),
        "SPECLOOM_CACHE_KEY": HEX,
    }
    settings = read_state_settings(environ)
    assert settings is not None
    store = open_redis_store(settings, environ, SPECS, pytest.fail)
    view = store.drawer("notes", ANN)

    await view.put("n", {"text": "otter", "topic": "birds"})
    found = await view.search("otters", where={"topic": "birds"})
    erased = await store.erase(ANN)
    await store.aclose()

    assert [hit.item.key for hit in found] == ["n"]
    assert (erased.deleted, erased.compacted) == ({"notes": 1}, False), "the file is for its operator to write anew"


def test_a_server_over_http_that_cannot_remember_ends_with_a_sentence_at_its_start(
    server: RedisServer, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"SPECLOOM_STATE": "redis", "REDIS_URL": server.url, "SPECLOOM_CACHE_KEY": HEX}
    check_shared(environ, state=True)
    server.client.config_set("appendonly", "no")
    check_shared(environ, state=True)
    assert capsys.readouterr().err == "", "one that has answered is not asked again, by workers that replace others"

    with RedisServer() as forgetful, pytest.raises(SystemExit) as ended:
        check_shared({**environ, "REDIS_URL": forgetful.url}, state=True)

    assert ended.value.code == 2
    assert "writes nothing to its disk as it goes" in capsys.readouterr().err


def test_a_server_on_standard_input_keeps_its_folder_and_imports_nothing_of_redis(tmp_path: Path) -> None:
    program = (
        "import asyncio, json, sys\n"
        "from specloom.server.start import make_executor\n"
        "executor = make_executor(json.loads(sys.argv[1]))\n"
        "asyncio.run(executor.drawers.drawer('consents', 'acme:ann').put('memory', {}))\n"
        "names = sorted(name for name in sys.modules if 'redis' in name)\n"
        "print(json.dumps([names, executor.problems]))"
    )
    environ = {"SPECLOOM_STATE_DIR": str(tmp_path / "state"), "SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    environ |= {"SPECLOOM_STATE": "redis", "REDIS_URL": "redis://localhost:1"}
    command = [sys.executable, "-c", program, json.dumps(environ)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)

    names, problems = json.loads(done.stdout)
    assert names == []
    assert "SPECLOOM_STATE is for servers over HTTP; this one remembers in the folder of the state" in problems
    assert (tmp_path / "state" / "state.db").exists()


def test_the_script_is_one_that_every_server_of_ours_can_compile(redis_server: RedisServer) -> None:
    assert redis_server.client.script_load(Path(redis_store.__file__).with_name("collections.lua").read_text())
