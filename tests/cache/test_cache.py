"""Answers are remembered within bounds, sealed on disk, and no damage to the directory harms a call."""

import asyncio
import contextlib
import hashlib
import os
import pickle
import sqlite3
import subprocess
import sys
import threading

import pytest

import specloom.cache.cache as cache_module
import specloom.cache.erasures as erasures_module
from specloom.cache.cache import OVERHEAD, AnswerCache
from specloom.cache.disk import AnswerDisk, CacheEntry, erase_answers

KEY = bytes(range(32))
MIB = 1024 * 1024


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def make(tmp_path, clock, warnings):
    """Make caches over one directory; each stands for a process that starts later."""
    with contextlib.ExitStack() as stack:

        def make(**more):
            options = {"disk": tmp_path / "cache", "key": KEY, "clock": clock, "warn": warnings.append}
            return stack.enter_context(contextlib.closing(AnswerCache(**{**options, **more})))

        yield make


def name_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def execute(tmp_path, statement, *values):
    with contextlib.closing(
        sqlite3.connect(tmp_path / "cache" / "answers" / "cache.db", isolation_level=None)
    ) as connection:
        return connection.execute(statement, values).fetchall()


def test_an_entry_knows_its_age_and_which_part_of_its_life_it_is_in():
    entry = CacheEntry(b"x", stored_at=100.0, ttl=10.0)

    assert [entry.freshness(now) for now in (99, 100, 104.9, 105, 107.9, 108, 120)] == [
        "fresh",
        "fresh",
        "fresh",
        "aging",
        "aging",
        "expiring",
        "expiring",
    ]
    assert entry.age(104) == 4
    assert entry.age(90) == 0


async def test_what_was_put_is_found_without_waiting(make, clock):
    cache = make(disk=None, key=None)

    await cache.put("k", b"value", 60)

    assert cache.peek("k") == CacheEntry(b"value", clock.now, 60)
    assert await cache.get("k") == CacheEntry(b"value", clock.now, 60)
    assert cache.peek("other") is None
    assert await cache.get("other") is None


async def test_an_expired_entry_is_never_served(make, clock):
    cache = make()
    await cache.put("k", b"value", 60)

    clock.now += 59.9
    assert cache.peek("k") is not None
    clock.now += 0.1

    assert cache.peek("k") is None
    assert await cache.get("k") is None
    assert await make().get("k") is None
    assert cache.stats()["memory_bytes"] == 0


async def test_nothing_is_remembered_for_no_time(make):
    cache = make()

    await cache.put("k", b"value", 0)
    await cache.put("l", b"value", float("nan"))

    assert await cache.get("k") is None
    assert await cache.get("l") is None


async def test_a_clock_that_is_set_back_does_not_serve_for_ever(make, clock):
    cache = make()
    await cache.put("k", b"value", 60)

    clock.now -= 3600

    assert cache.peek("k") is None
    assert await cache.get("k") is None
    clock.now += 3600
    assert await make().get("k") is None


async def test_memory_is_bounded_and_forgets_what_was_used_least_lately(make):
    size = 1000 + OVERHEAD + 1
    cache = make(disk=None, key=None, memory_bytes=3 * size)
    for key in "abc":
        await cache.put(key, bytes(1000), 60)
    cache.peek("a")

    await cache.put("d", bytes(1000), 60)

    assert [key for key in "abcd" if cache.peek(key)] == ["a", "c", "d"]
    assert cache.stats()["memory_bytes"] == 3 * size
    assert cache.stats()["evicted"] == 1


async def test_the_bound_holds_for_every_mixture_of_sizes(make):
    cache = make(disk=None, key=None, memory_bytes=50_000)

    for number in range(500):
        await cache.put(str(number % 90), bytes((number * 7919) % 60_000), 60)
        stats = cache.stats()
        assert stats["memory_bytes"] <= 50_000
    held = [entry for number in range(90) if (entry := cache.peek(str(number)))]
    assert sum(len(entry.value) for entry in held) <= 50_000


async def test_a_value_larger_than_the_memory_replaces_an_older_one_all_the_same(make):
    cache = make(disk=None, key=None, memory_bytes=1000)
    await cache.put("k", b"old", 60)

    await cache.put("k", bytes(2000), 60)

    assert cache.peek("k") is None


async def test_a_later_process_finds_the_entry_with_its_age(make, clock):
    await make().put("k", b"value", 60)
    clock.now += 40

    later = make()
    assert later.peek("k") is None
    entry = await later.get("k")

    assert entry == CacheEntry(b"value", clock.now - 40, 60)
    assert entry.freshness(clock.now) == "aging"
    assert later.peek("k") == entry
    assert later.stats()["disk_hits"] == 1


async def test_two_caches_share_the_directory_at_the_same_time(make, warnings):
    one, two = make(), make()

    await asyncio.gather(*(cache.put(f"{cache is one}{n}", b"%d" % n, 60) for n in range(20) for cache in (one, two)))

    assert [(await two.get(f"True{n}")).value for n in range(20)] == [b"%d" % n for n in range(20)]
    assert [(await one.get(f"False{n}")).value for n in range(20)] == [b"%d" % n for n in range(20)]
    assert warnings == []


async def test_what_is_not_on_disk_is_not_asked_for_there_once_the_directory_is_open(make, monkeypatch):
    asked = []
    read = AnswerDisk.read
    monkeypatch.setattr(AnswerDisk, "read", lambda disk, key, now: (asked.append(key), read(disk, key, now))[1])
    await make().put("k", b"value", 60)
    cache = make()

    assert await cache.get("absent") is None
    assert [await cache.get(f"absent {number}") for number in range(5)] == [None] * 5
    assert (await cache.get("k")).value == b"value"

    assert asked == ["absent", "k"]
    assert cache.stats()["misses"] == 6


async def test_what_another_process_writes_later_is_found(make):
    cache = make()
    await cache.put("own", b"value", 60)
    for number in range(3):
        assert await cache.get(f"k{number}") is None
        await make().put(f"k{number}", b"%d" % number, 60)

        assert (await cache.get(f"k{number}")).value == b"%d" % number


async def test_the_directory_can_be_erased_while_it_is_looked_at(make, tmp_path, warnings):
    cache = make(memory_bytes=1)
    await cache.put("k", b"value", 60)
    assert await cache.get("absent") is None

    assert erase_answers(tmp_path / "cache" / "answers", 1.0)

    assert await cache.get("k") is None
    await cache.put("l", b"value", 60)
    assert (await cache.get("l")).value == b"value"
    assert warnings == []


async def test_a_database_that_is_damaged_while_it_is_looked_at_gives_no_wrong_answer(make, tmp_path, warnings):
    cache = make(memory_bytes=1)
    await cache.put("k", b"value", 60)
    assert await cache.get("absent") is None
    (tmp_path / "cache" / "answers" / "cache.db").write_bytes(b"this is no database" * 1000)

    for number in range(20):
        entry = await cache.get(f"absent {number}" if number % 2 else "k")
        assert entry is None or entry.value == b"value"
        await cache.put(f"l{number}", b"value", 60)
    cache.close()

    assert await cache.get("absent") is None
    assert len(warnings) <= 1


async def test_what_is_put_for_soon_is_on_disk_when_the_loop_has_come_round(make, monkeypatch):
    monkeypatch.setattr(cache_module, "TOGETHER", 0)
    cache, other = make(memory_bytes=1), make()
    await cache.put("on disk", b"value", 60)

    await cache.put("k", b"value", 60, soon=True)
    # Each look goes over the thread that writes, behind what the loop has had it do.
    looks = [await cache.get("on disk") for _ in range(20)]

    assert (await other.get("k")).value == b"value"
    assert all(looks)


async def test_what_waits_for_the_disk_is_written_with_the_next_and_at_the_end(make, monkeypatch):
    monkeypatch.setattr(cache_module, "TOGETHER", 3600)
    cache = make()
    await cache.put("k", b"one", 60, soon=True)
    await cache.put("l", b"two", 60)
    await cache.put("m", b"three", 60, soon=True)

    assert [await make().get(key) is not None for key in "klm"] == [True, True, False]
    cache.close()

    assert [(await make().get(key)).value for key in "klm"] == [b"one", b"two", b"three"]


async def test_what_waits_for_the_disk_is_found_although_memory_has_lost_it(make, clock):
    cache = make(memory_bytes=2000)
    await cache.put("k", b"1" * 1500, 60, soon=True)
    await cache.put("l", b"2" * 1500, 60, soon=True)

    assert cache.peek("k") is None
    assert (await cache.get("k")).value == b"1" * 1500
    clock.now += 60
    assert await cache.get("k") is None


async def test_what_waits_for_the_disk_is_forgotten_with_the_rest(make):
    cache = make()
    await cache.put("k", b"value", 60, soon=True)

    cache.clear()
    await cache.put("l", b"value", 60)

    assert await cache.get("k") is None
    assert await make().get("k") is None


async def test_no_more_waits_for_the_disk_than_is_allowed(make, monkeypatch):
    monkeypatch.setattr(cache_module, "MOST_WAITING", 1000)
    monkeypatch.setattr(cache_module, "TOGETHER", 3600)
    cache = make()

    await cache.put("k", bytes(1000), 60, soon=True)
    assert await make().get("k") is None
    await cache.put("l", b"1", 60, soon=True)

    assert [await make().get(key) is not None for key in "kl"] == [True, True]


async def test_the_directory_holds_no_plain_text(make, tmp_path):
    cache = make()
    await cache.put("what-was-asked", b"what-was-answered " * 10_000, 60)
    cache.close()

    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    content = b"".join(path.read_bytes() for path in files)

    assert [path.name for path in files] == ["cache.db"]
    assert len(content) > 180_000
    assert b"what-was" not in content


async def test_nothing_touches_the_disk_before_the_first_use(make, tmp_path):
    cache = make()

    cache.peek("k")
    cache.clear()

    assert not (tmp_path / "cache").exists()


async def test_without_a_key_nothing_is_written_and_one_sentence_says_so(make, tmp_path, warnings):
    cache = make(key=None)

    await cache.put("k", b"value", 60)

    assert cache.peek("k") is not None
    assert not (tmp_path / "cache").exists()
    assert warnings == ["answers are kept in memory only, because there is no key to seal them with on disk"]


class Trap:
    """Creates a directory when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (self.path,))


async def test_a_planted_pickle_is_a_miss_and_is_deleted(make, tmp_path, warnings):
    trap = tmp_path / "sprung"
    await make().put("k", b"value", 60)
    planted = pickle.dumps(Trap(str(trap)))
    execute(tmp_path, "UPDATE Cache SET mode = 4, value = ?", planted)

    entry = await make().get("k")

    assert entry is None
    assert not trap.exists()
    assert execute(tmp_path, "SELECT count(*) FROM Cache") == [(0,)]
    assert warnings == []


async def test_a_planted_file_name_is_neither_read_nor_removed(make, tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(pickle.dumps(Trap(str(tmp_path / "sprung"))))
    for mode in (2, 3, 4):
        await make().put("k", b"value", 60)
        execute(tmp_path, "UPDATE Cache SET mode = ?, value = NULL, filename = '../../victim'", mode)

        assert await make().get("k") is None

    assert victim.exists()
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("planted", ["text", 7, None, b"", b"\x01" * 40])
async def test_a_planted_value_of_any_other_kind_is_a_miss(make, tmp_path, planted):
    await make().put("k", b"value", 60)
    execute(tmp_path, "UPDATE Cache SET value = ?", planted)

    assert await make().get("k") is None


async def test_a_planted_setting_is_not_applied(make, tmp_path, warnings):
    await make().put("k", b"value", 60)
    execute(tmp_path, "INSERT INTO Settings VALUES ('_disk', 'anything')")

    cache = make()

    assert await cache.get("k") is None
    assert "is damaged (the setting '_disk'" in warnings[0]


async def test_a_changed_ciphertext_is_a_miss_and_is_deleted(make, tmp_path):
    await make().put("k", b"value", 60)
    ((sealed,),) = execute(tmp_path, "SELECT value FROM Cache")
    execute(tmp_path, "UPDATE Cache SET value = ?", sealed[:-1] + bytes([sealed[-1] ^ 1]))

    assert await make().get("k") is None
    assert execute(tmp_path, "SELECT count(*) FROM Cache") == [(0,)]


async def test_an_entry_that_was_moved_to_another_key_is_refused(make, tmp_path):
    cache = make()
    await cache.put("one", b"answer one", 60)
    ((first, sealed),) = execute(tmp_path, "SELECT key, value FROM Cache")
    await cache.put("two", b"answer two", 60)

    execute(tmp_path, "UPDATE Cache SET value = ? WHERE key != ?", sealed, first)

    assert await make().get("two") is None
    assert (await make().get("one")).value == b"answer one"


async def test_another_key_opens_nothing(make):
    await make().put("k", b"value", 60)

    assert await make(key=bytes(32)).get("k") is None
    assert (await make().get("k")).value == b"value"


async def test_the_directory_is_bounded(make, tmp_path, warnings):
    cache = make(disk_bytes=MIB, memory_bytes=0)

    for number in range(150):
        await cache.put(f"small {number}", os.urandom(500), 600)
    for number in range(60):
        await cache.put(f"large {number}", os.urandom(100_000), 600)

    assert (await cache.get("large 59")) is not None
    assert (await cache.get("small 0")) is None
    cache.close()
    assert sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*") if path.is_file()) <= MIB
    assert warnings == []


async def test_a_value_too_large_for_the_disk_does_not_leave_an_older_one_behind(make):
    cache = make(disk_bytes=MIB)
    await cache.put("k", b"old", 60)

    await cache.put("k", bytes(MIB), 60)

    assert len((await cache.get("k")).value) == MIB
    assert await make().get("k") is None


async def test_clearing_forgets_memory_and_disk(make, warnings):
    cache = make()
    await cache.put("k", b"value", 60)

    make().clear()
    assert cache.peek("k") is not None
    cache.clear()

    assert cache.peek("k") is None
    assert await cache.get("k") is None
    assert warnings == []


async def test_a_closed_cache_is_empty_and_may_be_closed_again(make):
    cache = make()
    await cache.put("k", b"value", 60)

    cache.close()
    cache.close()
    await cache.put("l", b"value", 60)

    assert cache.peek("k") is None
    assert await cache.get("l") is None
    assert cache.stats()["disk"] is False


@pytest.mark.parametrize("garbage", [b"this is no database" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
async def test_a_damaged_database_is_moved_aside_and_the_memory_serves_on(make, tmp_path, warnings, garbage):
    (tmp_path / "cache" / "answers").mkdir(parents=True)
    (tmp_path / "cache" / "answers" / "cache.db").write_bytes(garbage)
    cache = make()

    assert await cache.get("k") is None
    await cache.put("k", b"value", 60)

    assert cache.peek("k").value == b"value"
    assert len(warnings) == 1
    assert "is damaged" in warnings[0]
    assert (tmp_path / "cache" / "answers.damaged" / "cache.db").read_bytes() == garbage
    later = make()
    await later.put("k", b"value", 60)
    assert (await make().get("k")).value == b"value"
    assert len(warnings) == 1


async def test_pages_that_are_damaged_later_are_a_miss_or_noticed_but_never_a_wrong_answer(make, tmp_path, warnings):
    cache = make()
    for number in range(60):
        await cache.put(f"k{number}", b"%d" % number * 300, 60)
    cache.close()
    path = tmp_path / "cache" / "answers" / "cache.db"
    content = bytearray(path.read_bytes())
    content[8192:-4096:7] = bytes(len(content[8192:-4096:7]))
    path.write_bytes(content)

    later = make()
    found = {number: await later.get(f"k{number}") for number in range(60)}

    assert all(entry is None or entry.value == b"%d" % number * 300 for number, entry in found.items())
    assert any(entry is None for entry in found.values())
    assert len(warnings) <= 1


async def test_a_second_damaged_directory_replaces_the_first(make, tmp_path, warnings):
    for garbage in (b"first" * 500, b"second" * 500):
        (tmp_path / "cache" / "answers").mkdir(parents=True)
        (tmp_path / "cache" / "answers" / "cache.db").write_bytes(garbage)
        await make().get("k")

    assert (tmp_path / "cache" / "answers.damaged" / "cache.db").read_bytes() == b"second" * 500
    assert len(warnings) == 2


async def test_a_directory_that_cannot_be_made_leaves_the_memory(make, tmp_path, warnings):
    (tmp_path / "file").write_text("in the way", encoding="ascii")
    cache = make(disk=tmp_path / "file")

    await cache.put("k", b"value", 60)
    await cache.put("l", b"value", 60)

    assert cache.peek("k").value == b"value"
    assert len(warnings) == 1
    assert "cannot be used" in warnings[0]
    assert (tmp_path / "file").read_text(encoding="ascii") == "in the way"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
async def test_a_directory_that_is_not_writable_leaves_the_memory(make, tmp_path, warnings):
    (tmp_path / "cache").mkdir(mode=0o500)
    cache = make()

    await cache.put("k", b"value", 60)

    assert cache.peek("k").value == b"value"
    assert len(warnings) == 1


async def test_a_database_that_another_process_locks_is_waited_for_and_then_left_alone(make, tmp_path, warnings):
    cache = make(lock_wait=0.01)
    await cache.put("k", b"value", 60)
    with contextlib.closing(
        sqlite3.connect(tmp_path / "cache" / "answers" / "cache.db", isolation_level=None)
    ) as other:
        other.execute("BEGIN IMMEDIATE")

        await cache.put("l", b"value", 60)
        assert await make(lock_wait=0.01).get("k") is None
        other.execute("ROLLBACK")
    assert warnings == []

    await cache.put("m", b"value", 60)
    assert (await make().get("m")).value == b"value"
    assert cache.stats()["busy"] == 1


async def test_a_lock_that_stays_is_told_once_and_the_directory_is_tried_again_later(make, tmp_path, warnings):
    now = [1000.0]
    cache = make(lock_wait=0.01, clock=lambda: now[0])
    await cache.put("k", b"value", 60)
    with contextlib.closing(
        sqlite3.connect(tmp_path / "cache" / "answers" / "cache.db", isolation_level=None)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        for number in range(5):
            await cache.put(f"l{number}", b"value", 600)
        busy = cache.stats()["busy"]
        now[0] += 61
        await cache.put("n", b"value", 600)
        assert cache.stats()["busy"] == busy + 1
        other.execute("ROLLBACK")
    await cache.put("m", b"value", 600)
    assert await make(clock=lambda: now[0]).get("m") is None
    now[0] += 61
    await cache.put("o", b"value", 600)

    assert (await make(clock=lambda: now[0]).get("o")).value == b"value"
    assert len(warnings) == 1
    assert "locked" in warnings[0]
    assert cache.peek("l4") is not None
    assert (tmp_path / "cache" / "answers" / "cache.db").exists()


FULL = """
import asyncio, os, resource, sys
from pathlib import Path
from specloom.cache.cache import AnswerCache
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
said = []
async def main():
    cache = AnswerCache(disk=Path(sys.argv[1]), key=bytes(32), warn=said.append)
    for n in range(40):
        await cache.put(f"k{n}", os.urandom(30_000), 60)
    assert all(cache.peek(f"k{n}") for n in range(40))
    cache.close()
asyncio.run(main())
print(len(said), said[0])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the size of files the Linux way")
def test_a_full_disk_leaves_the_memory_and_a_readable_database(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "cache")], capture_output=True, text=True, timeout=300, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 the cache directory")
    assert "memory only" in done.stdout
    assert execute(tmp_path, "PRAGMA integrity_check") == [("ok",)]


WRITER = """
import asyncio, hashlib, sys, itertools
from pathlib import Path
from specloom.cache.cache import AnswerCache
async def main():
    cache = AnswerCache(disk=Path(sys.argv[1]), key=bytes(range(32)), warn=lambda text: print(text, file=sys.stderr))
    for n in itertools.count():
        key = f"{sys.argv[2]}-{n % 40}"
        await cache.put(key, hashlib.sha256(key.encode()).digest() * (1 + n % 700), 3600)
        print(n, flush=True)
asyncio.run(main())
"""


def start_writer(directory, name):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(directory), name],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def test_a_kill_at_any_moment_leaves_no_wrong_answer(tmp_path, warnings):
    for round_ in range(1, 5):
        writers = [start_writer(tmp_path / "cache", name) for name in ("a", "b")]
        for writer in writers:
            for _ in range(round_ * 13):
                assert writer.stdout.readline(), writer.stderr.read()
        for writer in writers:
            writer.kill()
            writer.communicate(timeout=300)

        cache = AnswerCache(disk=tmp_path / "cache", key=KEY, warn=warnings.append)
        found = 0
        for key in (f"{name}-{number}" for name in "ab" for number in range(40)):
            entry = await cache.get(key)
            if entry is not None:
                found += 1
                digest = hashlib.sha256(key.encode()).digest()
                assert entry.value == digest * (len(entry.value) // 32)
        cache.close()
        assert found >= min(40, round_ * 13)

    assert warnings == []
    assert execute(tmp_path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("size", [0, 4096, 20_000])
async def test_a_kill_while_the_database_is_being_made_leaves_a_directory_that_works(tmp_path, warnings, size):
    database = tmp_path / "cache" / "answers" / "cache.db"
    writer = start_writer(tmp_path / "cache", "a")
    while writer.poll() is None and not (database.exists() and database.stat().st_size >= size):
        os.sched_yield() if hasattr(os, "sched_yield") else None
    writer.kill()
    writer.communicate(timeout=300)

    with contextlib.closing(AnswerCache(disk=tmp_path / "cache", key=KEY, warn=warnings.append)) as cache:
        await cache.put("k", b"value", 60)
    with contextlib.closing(AnswerCache(disk=tmp_path / "cache", key=KEY, warn=warnings.append)) as cache:
        entry = await cache.get("k")

    assert warnings == []
    assert entry.value == b"value"


async def test_peek_is_safe_from_other_threads(make):
    cache = make(disk=None, key=None, memory_bytes=20_000)
    wrong = []
    done = threading.Event()

    def read():
        while not done.is_set():
            for number in range(50):
                entry = cache.peek(str(number))
                if entry is not None and entry.value != b"%d" % number * 100:
                    wrong.append(number)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(3000):
        await cache.put(str(number % 50), b"%d" % (number % 50) * 100, 60)
    done.set()
    for reader in readers:
        reader.join()

    assert wrong == []
    assert 0 < cache.stats()["memory_bytes"] <= 20_000


def test_a_key_of_the_wrong_length_is_refused_before_anything_is_touched(make):
    with pytest.raises(ValueError, match="32 bytes"):
        make(key=b"short")


async def test_any_text_is_a_key(make, warnings):
    await make().put("\ud800 ünïcode \0", b"value", 60)

    assert (await make().get("\ud800 ünïcode \0")).value == b"value"
    assert warnings == []


async def test_a_caller_that_is_cancelled_while_reading_leaves_the_cache_in_order(make):
    await make().put("k", b"value", 60)
    cache = make()

    reading = asyncio.create_task(cache.get("k"))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    assert (await cache.get("k")).value == b"value"


def test_peeking_imports_neither_the_library_nor_a_loop():
    code = (
        "import sys; from specloom.cache.cache import AnswerCache; from pathlib import Path;"
        "AnswerCache(disk=Path('nowhere'), key=bytes(32), warn=print).peek('k');"
        "print([name for name in ('diskcache', 'sqlite3', 'asyncio', 'cryptography', 'hmac') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)

    assert done.stdout.strip() == "[]"


# --- Erasures by other processes --------------------------------------------------------------------------------------


@pytest.fixture
def erase(tmp_path):
    """What a command does beside a server."""
    return lambda: erase_answers(tmp_path / "cache" / "answers", 1.0, erasures=tmp_path / "erasures")


async def test_what_another_process_erases_is_answered_from_no_memory(make, tmp_path, erase, warnings):
    cache, told = make(erasures=tmp_path / "erasures"), []
    cache.on_erased.append(lambda: told.append("erased"))
    await cache.put("key", b"value", 60)
    before = cache.peek("key")

    assert erase()

    assert before is not None
    assert await cache.get("key") is None
    assert cache.peek("key") is None
    assert told == ["erased"]
    await cache.put("key", b"new", 60)
    assert (await cache.get("key")).value == b"new"
    assert warnings == []


async def test_what_was_on_its_way_to_the_disk_when_it_was_erased_never_gets_there(make, tmp_path, erase):
    cache = make(erasures=tmp_path / "erasures")
    await cache.put("first", b"value", 60)
    await cache.put("key", b"value", 60, soon=True)

    erase()
    cache.close()

    assert await make(erasures=tmp_path / "erasures").get("key") is None


async def test_nothing_is_kept_of_what_was_asked_before_an_erasure(make, tmp_path, erase):
    cache = make(erasures=tmp_path / "erasures")
    since = cache.generation

    erase()
    await cache.put("asked before", b"value", 60, since=since)
    await cache.put("asked after", b"value", 60, since=cache.generation)

    assert await cache.get("asked before") is None
    assert await cache.get("asked after") is not None


async def test_a_mark_that_was_deleted_is_found_again_where_it_is_made_anew(make, tmp_path, erase, monkeypatch):
    moment = [1000.0]
    monkeypatch.setattr(erasures_module.time, "monotonic", lambda: moment[0])
    cache = make(erasures=tmp_path / "erasures")
    (tmp_path / "erasures").unlink()
    await cache.put("key", b"value", 60)

    erase()
    moment[0] += 1.5

    assert cache.peek("key") is None


async def test_where_no_mark_can_be_had_answers_are_kept_all_the_same(make, tmp_path):
    cache = make(erasures=tmp_path / "no folder" / "erasures")
    await cache.put("key", b"value", 60)

    assert cache.peek("key") is not None
