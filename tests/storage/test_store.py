"""State is kept for its owner alone, within its bounds, until its time is over: one suite over every store there is."""

import asyncio
import json
from dataclasses import replace

import pytest

from specloom.core.faults import Fault
from specloom.plugins.collections import (
    CollectionSpec,
    WriteConflict,
    is_anonymous,
    join_owner,
    split_owner,
)
from specloom.storage.bounds import configure
from specloom.storage.keys import MasterKeys
from tests.support.stores import ANN, BOB, KEY, KINDS, OTHER, StoreFamily, settle


@pytest.fixture(params=KINDS)
async def stores(request, tmp_path, clock):
    server = request.getfixturevalue("redis_server") if request.param == "between machines" else None
    family = StoreFamily(request.param, tmp_path / "state", server, clock)
    yield family
    await family.aclose()


@pytest.fixture
def store(stores):
    return stores()


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


async def test_an_item_moves_in_one_step_and_makes_the_room_for_where_it_goes(store):
    notes = store.drawer("notes", ANN)
    for name in ("a", "b", "c", "d"):
        await notes.put(name, {"text": name, "topic": "birds"})

    moved = await notes.move("a", "e", lambda value, other: {**value, "other": other, "topic": "fish"})

    assert (moved.key, moved.value, moved.version) == ("e", {"text": "a", "topic": "fish", "other": None}, 1)
    assert {item.key for item in await notes.items()} == {"b", "c", "d", "e"}
    assert [item.key for item in await notes.items(where={"topic": "fish"})] == ["e"]
    onto = await notes.move("b", "e", lambda value, other: {"text": other["text"] + value["text"]})
    assert (onto.value, onto.version, await notes.count()) == ({"text": "ab"}, 2, 3)


async def test_a_move_that_cannot_be_written_or_is_not_wanted_leaves_both_items_as_they_are(store):
    notes = store.drawer("notes", ANN)
    for name in ("a", "b", "c", "d"):
        await notes.put(name, {"text": name})

    with pytest.raises(Fault, match="may have 2000 bytes"):
        await notes.move("a", "e", lambda value, other: {"text": "x" * 3000})
    assert await notes.move("a", "b", lambda value, other: None) is None
    assert await notes.move("nothing", "b", lambda value, other: {"text": "x"}) is None
    assert await notes.move("a", "a", lambda value, other: {"text": "x"}) is None

    assert {item.key: item.value for item in await notes.items()} == {name: {"text": name} for name in "abcd"}


async def test_nobody_moves_what_another_has_written(store):
    await store.drawer("board", BOB, space="team").put("b", {"text": "bob's"})
    board = store.drawer("board", ANN, space="team")

    with pytest.raises(Fault, match="else"):
        await board.move("b", "c", lambda value, other: value)

    assert [item.key for item in await board.items()] == ["b"]


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
    await settle(store)

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
        await settle(store)

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


async def test_an_export_of_much_is_whole_and_in_the_order_in_which_it_was_written(stores):
    store = stores(specs=[CollectionSpec("large", max_value=2_000_000), CollectionSpec("small", max_items=500)])
    large, small = store.drawer("large", ANN), store.drawer("small", ANN)
    for at in range(230):
        await small.put(str(at), at)
        if at % 20 == 0:
            await large.put(str(at), "x" * 1_500_000)

    exported = await store.export(ANN)

    assert [one["key"] for one in exported["small"]] == [str(at) for at in range(230)]
    assert [one["key"] for one in exported["large"]] == [str(at) for at in range(0, 230, 20)]


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
    await settle(both)

    new = stores(MasterKeys(OTHER))
    assert (await new.drawer("trails", ANN).get("t")).last == 1
    assert len(await new.drawer("trails", ANN).events("t")) == 1


async def test_a_store_of_another_key_is_refused_and_left_alone(stores):
    await stores().drawer("notes", ANN).put("n", {"text": "a"})

    with pytest.raises(Fault, match="sealed with another key: give that one as SPECLOOM_CACHE_KEY_PREVIOUS"):
        await stores(MasterKeys(OTHER)).drawer("notes", ANN).get("n")
    assert (await stores().drawer("notes", ANN).get("n")).value == {"text": "a"}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("4h", 14_400), ("1h30m", 5400), ("30d", 2_592_000), ("90", 90), ("1.5s", 1.5), ("250ms", 0.25)],
)
def test_an_operator_sets_bounds_by_variables(text, seconds):
    spec = CollectionSpec("c", variables=(("lifetime", "TTL"), ("max_items", "MOST")))

    assert configure(spec, {"TTL": text, "MOST": "7"}) == replace(spec, lifetime=seconds, max_items=7)
    assert configure(spec, {"TTL": " "}) == spec


# --- what happens to files -------------------------------------------------------------------------------------------


async def test_a_closed_store_refuses(stores):
    store = stores()
    await store.drawer("notes", ANN).put("n", {})
    await store.aclose()

    with pytest.raises(Fault, match="was closed"):
        await store.drawer("notes", ANN).put("n", {})
