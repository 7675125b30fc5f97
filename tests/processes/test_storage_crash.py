"""Whatever was acknowledged is there after a kill at any moment, in order, and a full disk loses nothing."""

import asyncio
import itertools
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specloom.core.faults import Fault
from specloom.plugins.collections import CollectionSpec
from specloom.storage.keys import MasterKeys
from specloom.storage.store import StateStore
from tests.support.crash_writer import KEY, SPEC, open_place
from tests.support.redis_server import RedisServer

ROUNDS, FEW_ROUNDS = 200, 20
STEPS = 20
"""Steps that every client is asked for in a round; one that is to be killed gets as many again, and is at work then."""
CLIENTS = ("a", "b", "c", "d")
CHILD = Path(__file__).parents[1] / "support" / "crash_writer.py"


def start(folder, name, out):
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(folder), name], stdin=subprocess.PIPE, stdout=out, bufsize=0
    )


def ask(child):
    child.stdin.write(b"." * STEPS)


async def check(folder, acknowledged):
    """Every acknowledged step is where it was said to be, and the streams have no gaps; how many steps there are."""
    connection = sqlite3.connect(folder / "state.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    store = StateStore(folder, MasterKeys(KEY), [SPEC])
    drawer = store.drawer("trails", "acme:crash")
    total = 0
    for key in ("shared", *CLIENTS):
        item = await drawer.get(key)
        # The clients that were not killed write on, so what is looked at is what there was at one moment.
        events = await drawer.events(key, last=item.last) if item else []
        told = acknowledged.get(key, {})
        assert [one.seq for one in events] == list(range(1, len(events) + 1))
        assert item is None or item.last == item.value["steps"] == len(events)
        steps = {one.seq: (one.value["by"], one.value["at"]) for one in events}
        assert {seq: steps.get(seq) for seq in told} == told
        for name in CLIENTS:
            own = [at for by, at in steps.values() if by == name]
            # Those of one client are in the order in which it told them, within each of its lives.
            assert all(later == earlier + 1 or later == 1 for earlier, later in itertools.pairwise(own))
        total += len(events)
    await store.aclose()
    return total


@pytest.mark.slow
def test_every_acknowledged_step_survives_kills_while_four_clients_write(tmp_path, tries):
    """Each round ends one to four clients with SIGKILL at a random moment; every tenth checks everything."""
    folder = tmp_path / "state"
    rounds = tries(ROUNDS, FEW_ROUNDS)
    chance = random.Random(20_261_122)
    outs = {name: (tmp_path / name).open("ab") for name in CLIENTS}
    children = {name: start(folder, name, outs[name]) for name in CLIENTS}
    written = []
    try:
        for round_ in range(1, rounds + 1):
            victims = chance.sample(CLIENTS, chance.choice((1, 1, 2, 4)))
            for child in children.values():
                ask(child)
            for name in victims:
                wait_for_more(tmp_path / name, children[name], chance)
            for name in victims:
                children[name].send_signal(signal.SIGKILL)
            for name in victims:
                children[name].communicate()
            if round_ % 10 == 0:
                acknowledged = {}
                for name in CLIENTS:
                    for line in whole_lines(tmp_path / name):
                        key, seq, by, at = line.split()
                        assert acknowledged.setdefault(key, {}).setdefault(int(seq), (by, int(at))) == (by, int(at))
                written.append(asyncio.run(check(folder, acknowledged)))
                assert written[-1] >= sum(map(len, acknowledged.values()))
            for name in victims:
                children[name] = start(folder, name, outs[name])
    finally:
        for child in children.values():
            child.kill()
            child.communicate()
        for out in outs.values():
            out.close()

    assert written == sorted(written)
    assert written[-1] > rounds


@pytest.mark.slow
def test_every_acknowledged_step_survives_kills_of_clients_and_of_the_redis_that_they_share(tmp_path, tries):
    """Each round ends one client with SIGKILL at a random moment, and every second one Redis as well."""
    chance = random.Random(20_261_124)
    outs = {name: (tmp_path / name).open("ab") for name in CLIENTS}
    with RedisServer("--appendonly", "yes", "--appendfsync", "always") as server:
        children = {name: start(server.url, name, outs[name]) for name in CLIENTS}
        try:
            for round_ in range(tries(60, 6)):
                for child in children.values():
                    ask(child)
                victim = chance.choice(CLIENTS)
                wait_for_more(tmp_path / victim, children[victim], chance)
                if round_ % 2:
                    server.kill()
                children[victim].kill()
                children[victim].communicate()
                if round_ % 2:
                    server.start()
                children[victim] = start(server.url, victim, outs[victim])
        finally:
            for child in children.values():
                child.kill()
                child.communicate()
            for out in outs.values():
                out.close()
        acknowledged = {}
        for line in (line for name in CLIENTS for line in whole_lines(tmp_path / name)):
            key, seq, by, at = line.split()
            assert (key, int(seq)) not in acknowledged, "no number was given twice"
            acknowledged[key, int(seq)] = (by, int(at))
        kept = asyncio.run(read_shared(server))

    assert {place: kept.get(place) for place in acknowledged} == acknowledged
    assert len({by for (key, _), (by, _) in acknowledged.items() if key == "shared"}) == len(CLIENTS)


async def read_shared(server):
    """Every step by its session and number; the sessions count them, and there are no gaps."""
    store = open_place(server.url)
    drawer = store.drawer("trails", "acme:crash")
    kept = {}
    for key in ("shared", *CLIENTS):
        item, events = await drawer.get(key), await drawer.events(key)
        assert [one.seq for one in events] == list(range(1, len(events) + 1))
        assert item.last == item.value["steps"] == len(events)
        kept |= {(key, one.seq): (one.value["by"], one.value["at"]) for one in events}
    await store.aclose()
    return kept


def whole_lines(path):
    return path.read_bytes().decode().split("\n")[:-1]


def wait_for_more(path, child, chance):
    """Until a client has written some more, so that it is killed at work: how much more is up to chance."""
    wanted = path.stat().st_size + chance.randrange(0, 15 * STEPS)
    ask(child)
    while path.stat().st_size <= wanted:
        assert child.poll() is None, "a client ended by itself"
        time.sleep(0.002)


DISK = """
import asyncio, resource, sys
from pathlib import Path
from specloom.core.faults import Fault
from specloom.plugins.collections import CollectionSpec
from specloom.storage.keys import MasterKeys
from specloom.storage.store import StateStore

async def main():
    store = StateStore(Path(sys.argv[1]), MasterKeys(bytes(32)), [CollectionSpec("notes", max_items=10_000)])
    notes = store.drawer("notes", "ann")
    await notes.put("0", "x" * 1000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
    refused = kept = 0
    for at in range(1, 1500):
        try:
            await notes.put(str(at), "x" * 1000)
            kept = at
        except Fault as fault:
            refused = refused or at
            assert "cannot be written" in fault.message or "is full" in fault.message, fault.message
            assert "nothing that was written is lost" in fault.message
            if at > refused + 20:
                break
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(refused, kept, await notes.count())
    await notes.put("after", "x")
    print(await notes.count())
    await store.aclose()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits on the size of files are a matter of Unix")
def test_a_disk_without_room_is_a_clear_fault_and_what_was_kept_stays(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", DISK, str(tmp_path / "state")], check=False, capture_output=True, text=True, timeout=120
    )

    assert done.returncode == 0, done.stderr
    refused, kept, counted, after = map(int, done.stdout.split())
    assert 0 < refused <= 1400
    assert counted >= refused
    assert after == counted + 1
    assert kept < 1500
    assert {str(at) for at in range(refused)} <= asyncio.run(read_keys(tmp_path / "state"))


async def read_keys(folder):
    store = StateStore(folder, MasterKeys(bytes(32)), [CollectionSpec("notes", max_items=10_000)])
    items = await store.drawer("notes", "ann").items(limit=9999)
    await store.aclose()
    return {item.key for item in items}


async def test_a_kill_between_two_writes_leaves_the_first(tmp_path):
    """The short form of the crash test: one client, one kill."""
    out = (tmp_path / "a").open("wb")
    child = start(tmp_path / "state", "a", out)
    wait_for_more(tmp_path / "a", child, random.Random(1))
    child.send_signal(signal.SIGKILL)
    child.communicate()
    out.close()
    acknowledged = {}
    for line in whole_lines(tmp_path / "a"):
        key, seq, by, at = line.split()
        acknowledged.setdefault(key, {})[int(seq)] = (by, int(at))

    assert acknowledged
    assert await check(tmp_path / "state", acknowledged) >= 1


async def test_a_write_that_was_given_up_does_not_hang_the_store(tmp_path):
    store = StateStore(tmp_path / "state", MasterKeys(KEY), [SPEC])
    drawer = store.drawer("trails", "ann")
    await drawer.put("k", {})
    waiting = asyncio.ensure_future(drawer.append("k", {}))
    await asyncio.sleep(0)
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(Fault):
        await drawer.append("absent", {})
    assert (await drawer.append("k", {})).last in (1, 2)
    await store.aclose()
