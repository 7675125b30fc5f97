"""What the store on disk keeps in its files, and what happens when something happens to them."""

import asyncio
import sqlite3
import stat

import pytest

from specloom.core.faults import Fault
from specloom.plugins.collections import CollectionSpec, WriteConflict
from specloom.storage.keys import MasterKeys
from specloom.storage.store import StateStore, open_memory, open_store
from tests.support.stores import ANN, BOARD, BOB, KEY, SPECS


@pytest.fixture
async def stores(tmp_path, clock):
    """Opens stores over one folder, each with connections of its own, as another process would have."""
    opened = []

    def open_another(keys=None, specs=SPECS, **options):
        store = StateStore(tmp_path / "state", keys or MasterKeys(KEY), specs, clock=clock, **options)
        opened.append(store)
        return store

    yield open_another
    for store in opened:
        await store.aclose()


@pytest.fixture
def store(stores):
    return stores()


def raw_bytes(folder):
    """All bytes of all files of a store."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


async def test_a_row_that_was_moved_to_another_owner_does_not_open(store, tmp_path):
    """Somebody who can write the file cannot hand an owner's value to another owner."""
    await store.drawer("notes", ANN).put("n", {"text": "mine"})
    await store.drawer("notes", BOB).put("n", {"text": "yours"})
    with sqlite3.connect(tmp_path / "state" / "state.db") as connection:
        (first, second) = connection.execute("SELECT id, value FROM items ORDER BY id").fetchall()
        connection.execute("UPDATE items SET value = ? WHERE id = ?", (first[1], second[0]))
    connection.close()

    with pytest.raises(Fault, match="does not open"):
        await store.drawer("notes", BOB).get("n")
    assert (await store.drawer("notes", ANN).get("n")).value == {"text": "mine"}


async def test_a_row_that_was_swapped_with_another_of_its_owner_does_not_open(store, tmp_path):
    trails = store.drawer("trails", ANN)
    for key in ("a", "b"):
        await trails.put(key, {"of": key})
        await trails.append(key, {"of": key})
        await trails.append(key, {"of": key})
    with sqlite3.connect(tmp_path / "state" / "state.db") as connection:
        (a, b) = connection.execute("SELECT id, value FROM items ORDER BY id").fetchall()
        connection.execute("UPDATE items SET value = ? WHERE id = ?", (a[1], b[0]))
        events = connection.execute("SELECT id, value FROM events WHERE item = ? ORDER BY seq", (a[0],)).fetchall()
        for (id_, _), (_, value) in zip(events, reversed(events), strict=True):
            connection.execute("UPDATE events SET value = ? WHERE id = ?", (value, id_))
    connection.close()

    with pytest.raises(Fault, match="A record in trails does not open"):
        await trails.get("b")
    with pytest.raises(Fault, match="Entry 1 of a record in trails does not open"):
        await trails.events("a")
    assert await trails.delete("b") is True


async def test_an_erasure_leaves_no_byte_of_the_owner_in_any_file(stores, tmp_path):
    """Neither names nor texts are ever in the files, and after an erasure no sealed byte, tag or salt is either."""
    store = stores(specs=[CollectionSpec("notes", max_events=9, indexes=("topic",), search=("text",)), BOARD])
    for at in range(60):
        for owner in (BOB, ANN):
            notes = store.drawer("notes", owner)
            await notes.put(f"key-{at}", {"text": f"zebra finch {at} " * (1 + at * 3), "topic": "ornithology"})
            await notes.append(f"key-{at}", {"zebra": at})
            await notes.put(f"key-{at}", {"text": f"zebra crossing {at}" * (2 + at), "topic": "ornithology"})
    await store.drawer("board", ANN, space="team").put("b", {"text": "zebra"})
    folder = tmp_path / "state"
    with sqlite3.connect(folder / "state.db") as connection:
        author = connection.execute("SELECT author FROM items ORDER BY id DESC LIMIT 1").fetchone()[0]
        pieces = [author]
        for query in (
            "SELECT salt FROM owners WHERE tag = ?",
            "SELECT name FROM items WHERE author = ?",
            "SELECT value FROM items WHERE author = ?",
            "SELECT e.value FROM events e JOIN items i ON i.id = e.item WHERE i.author = ?",
            "SELECT v.value FROM vectors v JOIN items i ON i.id = v.item WHERE i.author = ?",
            "SELECT DISTINCT m.tag FROM marks m JOIN items i ON i.id = m.item WHERE i.author = ?",
        ):
            found = connection.execute(query, (author,)).fetchall()
            assert found, query
            # Values that span pages are cut by page heads, so their beginnings are looked for.
            pieces += [one[0][:48] for one in found]
    connection.close()
    before = raw_bytes(folder)
    assert all(piece in before for piece in pieces)
    assert not any(word in before for word in (b"zebra", b"ornithology", b"ann@example", b"key-1", b"acme-works"))

    erased = await store.erase(ANN)

    after = raw_bytes(folder)
    assert erased.deleted == {"notes": 60, "board": 1}
    assert erased.compacted is True
    assert [piece for piece in pieces if piece in after] == []
    assert await store.drawer("notes", BOB).count() == 60
    assert (await store.export(ANN)) == {"notes": [], "board": []}


async def test_an_erasure_that_could_not_compact_is_finished_by_the_next_round(stores, tmp_path):
    store = stores()
    await store.drawer("notes", ANN).put("n", {"text": "a"})
    reader = sqlite3.connect(tmp_path / "state" / "state.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM items").fetchall()
    store._writer.submit(lambda rows: rows.connection.execute("PRAGMA busy_timeout = 50"), alone=True).result()

    erased = await store.erase(ANN)
    waits = await store.read(
        lambda rows: bool(rows.connection.execute("SELECT 1 FROM meta WHERE name='compact'").fetchone())
    )
    reader.execute("ROLLBACK")
    reader.close()
    await store.expire()

    assert (erased.compacted, waits) == (False, True)
    assert (
        await store.read(lambda rows: rows.connection.execute("SELECT 1 FROM meta WHERE name='compact'").fetchone())
        is None
    )


async def test_the_key_comes_from_a_private_file_or_the_environment(tmp_path):
    folder = tmp_path / "own"
    first = open_store(folder, {}, SPECS)
    await first.drawer("notes", ANN).put("n", {"text": "a"})
    await first.aclose()
    second = open_store(folder, {"SPECLOOM_CACHE_KEY": "ab" * 32}, SPECS)
    found = await second.drawer("notes", ANN).get("n")
    await second.expire()
    await second.aclose()
    third = open_store(folder, {"SPECLOOM_CACHE_KEY": "cd" * 32, "SPECLOOM_CACHE_KEY_PREVIOUS": "ab" * 32}, SPECS)
    again = await third.drawer("notes", ANN).get("n")
    await third.aclose()

    assert (found.value, again.value) == ({"text": "a"}, {"text": "a"})
    assert stat.S_IMODE((folder / "state.db").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with pytest.raises(ValueError, match="SPECLOOM_CACHE_KEY_PREVIOUS is not a key"):
        open_store(folder, {"SPECLOOM_CACHE_KEY_PREVIOUS": "x"}, SPECS)
    with pytest.raises(ValueError, match="SPECLOOM_STATE_MAX_MB is 'many'"):
        open_store(folder, {"SPECLOOM_STATE_MAX_MB": "many"}, SPECS)


@pytest.mark.parametrize(
    ("name", "text"),
    [("TTL", "four hours"), ("TTL", "0"), ("TTL", "1h x"), ("TTL", "-1h"), ("MOST", "0"), ("MOST", "1.5")],
)
def test_a_bound_that_cannot_be_read_is_refused_in_a_sentence(tmp_path, name, text):
    spec = CollectionSpec("c", variables=(("lifetime", "TTL"), ("max_items", "MOST")))

    with pytest.raises(ValueError, match=f"{name} is '{text}'; write a"):
        open_store(tmp_path, {name: text}, [spec])


async def test_a_full_store_says_so_and_loses_nothing(stores, clock):
    wide = [CollectionSpec("wide", max_items=10_000, max_value=20_000), CollectionSpec("brief", lifetime=10)]
    store = stores(specs=wide, max_bytes=400_000)
    drawer = store.drawer("wide", ANN)
    await store.drawer("brief", ANN).put("b", "x" * 30_000)
    kept = 0

    async def fill():
        nonlocal kept
        for kept in range(100):
            await drawer.put(str(kept), "x" * 15_000)

    with pytest.raises(Fault, match="is full: nothing of this was written, and nothing that was written is lost"):
        await fill()

    assert kept > 10
    assert [item.key for item in await drawer.items(limit=1000)] == [str(at) for at in reversed(range(kept))]
    # One of a group that does not fit is refused alone.
    outcomes = await asyncio.gather(drawer.put("a", "small"), drawer.put("b", "x" * 15_000), return_exceptions=True)
    assert [isinstance(one, Fault) for one in outcomes] == [False, True]
    # What has expired makes room before anybody is refused.
    clock.now += 11
    assert (await drawer.put("c", "x" * 15_000)).version == 1
    await drawer.delete("0")
    assert (await drawer.put("d", "x" * 12_000)).version == 1


async def test_a_damaged_file_is_a_sentence_and_not_a_crash(stores, tmp_path):
    store = stores()
    await store.drawer("notes", ANN).put("n", {})
    await store.aclose()
    (tmp_path / "state" / "state.db").write_bytes(b"not a database at all" * 500)
    for name in ("state.db-wal", "state.db-shm"):
        (tmp_path / "state" / name).unlink(missing_ok=True)

    with pytest.raises(Fault, match="damaged"):
        await stores().drawer("notes", ANN).get("n")


async def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path, clock):
    (tmp_path / "file").write_text("", encoding="utf-8")
    store = StateStore(tmp_path / "file" / "state", MasterKeys(KEY), SPECS, clock=clock)

    with pytest.raises(Fault, match="cannot be written or read"):
        await store.drawer("notes", ANN).put("n", {})
    with pytest.raises(Fault, match="cannot be written or read"):
        await store.drawer("notes", ANN).get("n")
    await store.aclose()


async def test_a_store_of_a_newer_version_is_refused(stores, tmp_path):
    store = stores()
    await store.drawer("notes", ANN).put("n", {})
    with sqlite3.connect(tmp_path / "state" / "state.db") as connection:
        connection.execute("UPDATE meta SET value = x'39' WHERE name = 'format'")
    connection.close()

    with pytest.raises(Fault, match="newer version"):
        await stores().drawer("notes", ANN).get("n")


async def test_a_writer_that_waits_does_not_hold_up_readers(stores, tmp_path):
    store = stores()
    notes = store.drawer("notes", ANN)
    await notes.put("n", {"text": "a"})
    blocker = sqlite3.connect(tmp_path / "state" / "state.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    writing = asyncio.ensure_future(notes.put("n", {"text": "b"}))

    read = [(await notes.get("n")).value["text"] for _ in range(20)]
    pending = not writing.done()
    blocker.execute("ROLLBACK")
    blocker.close()
    await writing

    assert read == ["a"] * 20
    assert pending
    assert (await notes.get("n")).value["text"] == "b"


async def test_what_another_process_locks_for_too_long_is_a_fault_to_try_again(stores, tmp_path):
    store = stores()
    notes = store.drawer("notes", ANN)
    await notes.put("n", {})
    store._writer.submit(lambda rows: rows.connection.execute("PRAGMA busy_timeout = 20"), alone=True).result()
    blocker = sqlite3.connect(tmp_path / "state" / "state.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")

    with pytest.raises(Fault, match="busy") as busy:
        await notes.put("n", {})
    blocker.execute("ROLLBACK")
    blocker.close()

    assert busy.value.to_json()["error"]["retryable"] is True
    assert (await notes.put("n", {})).version == 2


async def test_a_store_in_memory_keeps_what_a_store_on_disk_keeps(clock):
    store = open_memory(SPECS, clock=clock)
    notes, trails = store.drawer("notes", ANN), store.drawer("trails", ANN)

    await notes.put("n", {"text": "penguins", "topic": "birds"})
    await trails.put("t", {})
    await asyncio.gather(*(trails.append("t", at) for at in range(3)))

    assert [found.item.key for found in await notes.search("penguin")] == ["n"]
    assert [one.seq for one in await trails.events("t")] == [1, 2, 3]
    assert await store.drawer("notes", BOB).items() == []
    with pytest.raises(WriteConflict):
        await notes.put("n", {}, expect=0)
    assert (await store.erase(ANN)).deleted == {"notes": 1, "trails": 1}
    assert await store.expire() == 0
    await store.aclose()
