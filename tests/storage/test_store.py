"""State is kept for its owner alone, within its bounds, until its time is over, and survives what happens to files."""

import asyncio
import json
import sqlite3
import stat
from dataclasses import replace

import pytest

from specloom.core.faults import Fault
from specloom.plugins.collections import CollectionSpec, WriteConflict, is_anonymous, join_owner, split_owner
from specloom.storage.keys import MasterKeys
from specloom.storage.store import StateStore, configure, open_memory, open_store

ANN, BOB = join_owner("acme-works", "ann@example.org"), join_owner("acme-works", "bob@example.org")
TRAILS = CollectionSpec("trails", lifetime=4 * 3600, sliding=True, max_items=3, when_full="evict", max_events=5)
NOTES = CollectionSpec("notes", max_items=4, max_value=2000, indexes=("topic", "tags"), search=("text", "topic"))
BOARD = CollectionSpec("board", scope="shared", lifetime=100, indexes=("by",), search=("text",))
SPECS = (TRAILS, NOTES, BOARD)
KEY, OTHER = bytes(range(32)), bytes(range(1, 33))


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


# --- one owner's items -----------------------------------------------------------------------------------------------


async def test_what_was_put_is_there_for_its_owner_and_counts_its_versions(store, clock):
    notes = store.drawer("notes", ANN)

    first = await notes.put("n1", {"text": "a half surrogate \ud800 and é"})
    clock.now += 5
    second = await notes.put("n1", {"text": "b"})
    read = await notes.get("n1")

    assert (first.version, second.version, second.created, second.changed) == (1, 2, clock.now - 5, clock.now)
    assert read == second
    assert await notes.get("n2") is None


async def test_a_write_may_ask_for_the_version_it_has_seen(store):
    notes = store.drawer("notes", ANN)
    await notes.put("n", {"text": "a"}, expect=0)

    with pytest.raises(WriteConflict, match="version 1 and not 0"):
        await notes.put("n", {"text": "b"}, expect=0)
    assert (await notes.put("n", {"text": "c"}, expect=1)).version == 2


async def test_updates_from_two_stores_at_once_are_all_counted(stores):
    one, two = stores(), stores()
    drawers = [one.drawer("notes", ANN), two.drawer("notes", ANN)]

    await asyncio.gather(
        *(drawers[at % 2].update("n", lambda value: {"n": (value or {"n": 0})["n"] + 1}) for at in range(100))
    )

    assert (await drawers[0].get("n")).value == {"n": 100}


async def test_an_update_that_gives_nothing_leaves_the_item_as_it_is(store):
    notes = store.drawer("notes", ANN)
    put = await notes.put("n", {"text": "a"})

    assert await notes.update("n", lambda value: None) == put
    assert await notes.update("absent", lambda value: None) is None
    assert await notes.count() == 1


async def test_a_change_that_fails_changes_nothing_and_spares_the_writes_beside_it(store):
    notes = store.drawer("notes", ANN)

    def explode(value):
        raise Fault("validation", "no")

    outcomes = await asyncio.gather(
        notes.put("a", {}), notes.update("b", explode), notes.put("c", {}), return_exceptions=True
    )

    assert [isinstance(one, Fault) for one in outcomes] == [False, True, False]
    assert [item.key for item in await notes.items()] == ["c", "a"]


async def test_a_deleted_item_is_gone_with_its_events(store):
    trails = store.drawer("trails", ANN)
    await trails.put("t", {})
    await trails.append("t", {"step": 1})

    assert await trails.delete("t") is True
    assert await trails.delete("t") is False
    await trails.put("t", {})
    assert await trails.events("t") == []


async def test_what_is_no_json_is_refused_in_a_sentence(store):
    with pytest.raises(Fault, match="not JSON data"):
        await store.drawer("notes", ANN).put("n", {"at": object()})


async def test_an_unknown_collection_or_a_missing_space_is_named(store):
    with pytest.raises(Fault, match="no collection 'nots'; known: trails, notes, board"):
        store.drawer("nots", ANN)
    with pytest.raises(Fault, match="board is shared, so it takes the space"):
        store.drawer("board", ANN)
    with pytest.raises(Fault, match="notes is user, so it takes no space"):
        store.drawer("notes", ANN, space="x")
    with pytest.raises(Fault, match="declares no index 'text'"):
        await store.drawer("notes", ANN).items(where={"text": "a"})


# --- streams ---------------------------------------------------------------------------------------------------------


async def test_events_are_numbered_without_gaps_and_change_the_item_with_them(store):
    trails = store.drawer("trails", ANN)
    await trails.put("t", {"steps": 0})

    for name in ("a", "b", "c"):
        item = await trails.append("t", {"name": name}, change=lambda value, seq: {"steps": seq})

    assert (item.last, item.value) == (3, {"steps": 3})
    assert [(one.seq, one.value["name"]) for one in await trails.events("t")] == [(1, "a"), (2, "b"), (3, "c")]
    assert [one.seq for one in await trails.events("t", first=2, last=2)] == [2]


async def test_of_two_that_append_after_the_same_event_one_is_told(store):
    trails = store.drawer("trails", ANN)
    await trails.put("t", {})

    outcomes = await asyncio.gather(
        trails.append("t", 1, expect=0), trails.append("t", 2, expect=0), return_exceptions=True
    )

    assert sum(isinstance(one, WriteConflict) for one in outcomes) == 1
    assert len(await trails.events("t")) == 1


async def test_a_stream_ends_at_its_bound_and_needs_an_item(store):
    trails = store.drawer("trails", ANN)
    await trails.put("t", {})
    for at in range(5):
        await trails.append("t", at)

    with pytest.raises(Fault, match="holds 5 entries"):
        await trails.append("t", 6)
    with pytest.raises(Fault) as missing:
        await trails.append("absent", 1)
    assert missing.value.kind == "not_found"


# --- bounds and time -------------------------------------------------------------------------------------------------


async def test_the_least_recently_used_item_makes_room(store, clock):
    trails = store.drawer("trails", ANN)
    for key in ("a", "b", "c"):
        clock.now += 100
        await trails.put(key, {})
    clock.now += 100
    await trails.get("a")
    await store.write(lambda rows: None)  # the read is written down behind it

    await trails.put("d", {})

    assert [item.key for item in await trails.items()] == ["d", "c", "a"]
    assert await store.drawer("trails", BOB).count() == 0


async def test_a_full_collection_that_does_not_evict_refuses(store):
    notes = store.drawer("notes", ANN)
    for at in range(4):
        await notes.put(str(at), {})

    with pytest.raises(Fault, match="holds 4 records"):
        await notes.put("5", {})
    await notes.put("1", {"text": "an item that is there may still change"})
    await store.drawer("notes", BOB).put("5", {})


async def test_too_large_values_and_too_many_bytes_are_refused(stores):
    store = stores(specs=[CollectionSpec("small", max_value=600, max_bytes=1000, max_events=9)])
    small = store.drawer("small", ANN)

    with pytest.raises(Fault, match="may have 600 bytes, and this one has 702"):
        await small.put("a", "x" * 700)
    await small.put("a", "x" * 500)
    with pytest.raises(Fault, match="of 1000 bytes, and this does not fit"):
        await small.put("b", "x" * 500)
    with pytest.raises(Fault, match="of 1000 bytes"):
        await small.append("a", "x" * 500)
    assert await small.events("a") == []
    assert (await small.append("a", "y")).last == 1


async def test_a_collection_that_evicts_makes_room_in_bytes_too_and_spares_what_is_written(stores, clock):
    store = stores(specs=[CollectionSpec("pages", max_items=9, max_bytes=2000, when_full="evict", max_events=9)])
    pages = store.drawer("pages", ANN)
    for key in ("a", "b", "c"):
        clock.now += 1
        await pages.put(key, key * 500)

    clock.now += 1
    await pages.put("d", "d" * 1100)
    left = [item.key for item in await pages.items()]
    await pages.append("c", "e" * 1200)

    assert left == ["d", "c"]
    assert [item.key for item in await pages.items()] == ["c"]
    with pytest.raises(Fault, match="does not fit"):
        await pages.append("c", "e" * 600)
    assert (await pages.get("c")).last == 1


async def test_a_lifetime_ends_unless_it_slides_and_the_item_is_read(store, clock):
    trails, board = store.drawer("trails", ANN), store.drawer("board", ANN, space="team")
    await trails.put("read", {})
    await trails.put("left", {})
    await board.put("read", {})

    for _ in range(5):
        clock.now += 3600
        await trails.get("read")
        await board.get("read")
        await store.write(lambda rows: None)

    assert await trails.get("read") is not None
    assert await trails.get("left") is None
    assert await board.get("read") is None
    assert await trails.count() == 1


async def test_sweeping_removes_what_has_expired_from_the_files(store, clock):
    board = store.drawer("board", ANN, space="team")
    await asyncio.gather(*(board.put(str(at), {}) for at in range(999)))
    await store.drawer("notes", ANN).put("stays", {})
    clock.now += 101

    assert await store.expire() == 999
    assert await store.expire() == 0
    assert await store.drawer("notes", ANN).count() == 1


async def test_an_expired_name_can_be_used_anew(store, clock):
    board = store.drawer("board", ANN, space="team")
    await board.put("k", {"text": "old"})
    clock.now += 101

    item = await board.put("k", {"text": "new"}, expect=0)

    assert item.version == 1


# --- whose -----------------------------------------------------------------------------------------------------------


def test_owner_texts_are_unambiguous():
    assert split_owner(join_owner("a:b", "c")) == ("a:b", "c")
    assert join_owner("a:b", "c") != join_owner("a", "b:c")
    assert split_owner("") == split_owner(join_owner("", "")) == ("default", "anonymous")
    assert split_owner("ann") == ("default", "ann")
    assert is_anonymous("")
    assert is_anonymous("acme:")
    assert not is_anonymous(ANN)


async def test_nothing_crosses_from_one_owner_to_another(store):
    mine = store.drawer("notes", ANN)
    theirs = store.drawer("notes", BOB)
    same_name = store.drawer("notes", join_owner("other", "ann"))
    await mine.put("secret", {"text": "penguin census", "topic": "birds"})

    for other in (theirs, same_name):
        assert await other.get("secret") is None
        assert await other.items(where={"topic": "birds"}) == []
        assert await other.search("penguin") == []
        assert await other.delete("secret") is False
        assert await other.update("secret", lambda value: None if value is None else {"stolen": value}) is None
        with pytest.raises(Fault):
            await other.append("secret", {})
    assert (await mine.get("secret")).version == 1
    assert (await store.export(BOB))["notes"] == []


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


async def test_a_shared_space_is_read_by_all_and_changed_by_who_wrote(store):
    ann, bob = (store.drawer("board", owner, space="team") for owner in (ANN, BOB))
    elsewhere = store.drawer("board", BOB, space="other")
    await ann.put("1", {"text": "otters use tools", "by": "ann"})
    await bob.put("2", {"text": "so do crows", "by": "bob"})

    assert [item.value["by"] for item in await bob.items()] == ["bob", "ann"]
    assert [found.item.key for found in await bob.search("otter")] == ["1"]
    assert await elsewhere.items() == []
    with pytest.raises(Fault, match="somebody else's"):
        await bob.put("1", {"text": "changed"})
    assert await bob.delete("1") is False
    assert [item["key"] for item in (await store.export(BOB))["board"]] == ["2"]


# --- found -----------------------------------------------------------------------------------------------------------


async def test_items_are_found_by_declared_fields_exactly(store):
    notes = store.drawer("notes", ANN)
    await notes.put("1", {"topic": "birds", "tags": ["red", "blue"]})
    await notes.put("2", {"topic": "birds", "tags": ["blue"]})
    await notes.put("3", {"topic": "Birds"})

    assert [item.key for item in await notes.items(where={"topic": "birds"})] == ["2", "1"]
    assert [item.key for item in await notes.items(where={"topic": "birds", "tags": "red"})] == ["1"]
    await notes.put("1", {"topic": "fish"})
    assert [item.key for item in await notes.items(where={"topic": "birds"}, limit=1)] == ["2"]


async def test_a_search_follows_every_change(stores):
    one, two = stores(), stores()
    notes, same = one.drawer("notes", ANN), two.drawer("notes", ANN)
    await notes.put("1", {"text": "batteries age in the heat", "topic": "energy"})
    assert [found.item.key for found in await notes.search("battery")] == ["1"]

    await same.put("1", {"text": "penguins"})
    await same.put("2", {"text": "a battery of tests", "topic": "medicine"})

    assert [found.item.key for found in await notes.search("batteries")] == ["2"]
    assert await notes.search("batteries", where={"topic": "energy"}) == []
    await same.delete("2")
    assert await notes.search("batteries") == []
    assert await notes.search("the of and") == []


async def test_a_filter_finds_the_one_item_behind_many_that_fit_better(store):
    store.specs["many"] = CollectionSpec("many", indexes=("topic",), search=("text",))
    drawer = store.drawer("many", ANN)
    await asyncio.gather(*(drawer.put(str(at), {"text": "otter otter", "topic": "a"}) for at in range(250)))
    await drawer.put("wanted", {"text": "an otter among many other words of a long note", "topic": "b"})

    assert [found.item.key for found in await drawer.search("otter", where={"topic": "b"})] == ["wanted"]
    assert len(await drawer.search("otter", limit=230)) == 230
    assert await drawer.search("otter", limit=0) == []


# --- erased, exported ------------------------------------------------------------------------------------------------


async def test_an_export_has_everything_an_owner_wrote(store):
    await store.drawer("notes", ANN).put("n", {"text": "a"})
    await store.drawer("trails", ANN).put("t", {"goal": "g"})
    await store.drawer("trails", ANN).append("t", {"step": 1})
    await store.drawer("board", ANN, space="team").put("b", {"text": "c"})
    await store.drawer("notes", BOB).put("n", {"text": "not mine"})

    exported = await store.export(ANN)

    assert {name: [one["value"] for one in items] for name, items in exported.items()} == {
        "notes": [{"text": "a"}],
        "trails": [{"goal": "g"}],
        "board": [{"text": "c"}],
    }
    assert exported["trails"][0]["events"][0]["value"] == {"step": 1}
    assert json.dumps(exported)


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


async def test_a_tenant_is_erased_with_all_of_its_users(store):
    for owner in (ANN, BOB, join_owner("other", "ann")):
        await store.drawer("notes", owner).put("n", {})

    erased = await store.erase_tenant("acme-works")

    assert erased.deleted == {"notes": 2}
    assert await store.drawer("notes", join_owner("other", "ann")).count() == 1


# --- keys ------------------------------------------------------------------------------------------------------------


async def test_after_a_change_of_keys_everything_opens_and_is_sealed_anew(stores, tmp_path):
    old = stores()
    await old.drawer("notes", ANN).put("n", {"text": "penguins", "topic": "birds"})
    await old.drawer("trails", ANN).put("t", {})
    await old.drawer("trails", ANN).append("t", {"step": 1})
    await old.aclose()

    both = stores(MasterKeys(OTHER, KEY))
    assert (await both.drawer("notes", ANN).get("n")).value["text"] == "penguins"
    assert [item.key for item in await both.drawer("notes", ANN).items(where={"topic": "birds"})] == ["n"]
    await both.expire()
    await both.aclose()

    new = stores(MasterKeys(OTHER))
    assert (await new.drawer("notes", ANN).get("n")).value["text"] == "penguins"
    assert [found.item.key for found in await new.drawer("notes", ANN).search("penguin")] == ["n"]
    assert [one.value for one in await new.drawer("trails", ANN).events("t")] == [{"step": 1}]


async def test_a_read_under_the_old_key_seals_the_item_anew(stores):
    old = stores()
    await old.drawer("trails", ANN).put("t", {})
    await old.drawer("trails", ANN).append("t", {"step": 1})
    both = stores(MasterKeys(OTHER, KEY))

    await both.drawer("trails", ANN).get("t")
    await both.write(lambda rows: None)

    new = stores(MasterKeys(OTHER))
    assert (await new.drawer("trails", ANN).get("t")).last == 1
    assert len(await new.drawer("trails", ANN).events("t")) == 1


async def test_a_store_of_another_key_is_refused_and_left_alone(stores):
    await stores().drawer("notes", ANN).put("n", {"text": "a"})

    with pytest.raises(Fault, match="sealed with another key: give that one as SPECLOOM_CACHE_KEY_PREVIOUS"):
        await stores(MasterKeys(OTHER)).drawer("notes", ANN).get("n")
    assert (await stores().drawer("notes", ANN).get("n")).value == {"text": "a"}


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
    ("text", "seconds"),
    [("4h", 14_400), ("1h30m", 5400), ("30d", 2_592_000), ("90", 90), ("1.5s", 1.5), ("250ms", 0.25)],
)
def test_an_operator_sets_bounds_by_variables(text, seconds):
    spec = CollectionSpec("c", variables=(("lifetime", "TTL"), ("max_items", "MOST")))

    assert configure(spec, {"TTL": text, "MOST": "7"}) == replace(spec, lifetime=seconds, max_items=7)
    assert configure(spec, {"TTL": " "}) == spec


@pytest.mark.parametrize(
    ("name", "text"),
    [("TTL", "four hours"), ("TTL", "0"), ("TTL", "1h x"), ("TTL", "-1h"), ("MOST", "0"), ("MOST", "1.5")],
)
def test_a_bound_that_cannot_be_read_is_refused_in_a_sentence(tmp_path, name, text):
    spec = CollectionSpec("c", variables=(("lifetime", "TTL"), ("max_items", "MOST")))

    with pytest.raises(ValueError, match=f"{name} is '{text}'; write a"):
        open_store(tmp_path, {name: text}, [spec])


# --- what happens to files -------------------------------------------------------------------------------------------


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


async def test_a_closed_store_refuses(stores):
    store = stores()
    await store.drawer("notes", ANN).put("n", {})
    await store.aclose()

    with pytest.raises(Fault, match="was closed"):
        await store.drawer("notes", ANN).put("n", {})
