"""A change of a watched query while others look for it, end it or begin it: nothing that was seen is lost."""

import pytest

from specloom.compiler.collection import load_collections
from specloom.core.faults import Fault
from specloom.domains.sessions.watches import DAY, WatchChange, change_watch, to_key
from specloom.plugins.collections import join_owner
from specloom.specs.library import shipped_root
from specloom.storage import consent, writes
from specloom.storage.store import open_memory

ANN = join_owner("acme", "ann")
NOW = 1_700_000_000.0
OTTERS, SEALS = to_key("otters", ""), to_key("seals", "")


class Meanwhile:
    """A collection in which others write something just before one write of who holds it."""

    def __init__(self, collection):
        self.collection, self.acts = collection, {}

    def __getattr__(self, name):
        return getattr(self.collection, name)

    async def update(self, key, change, **options):
        act = self.acts.pop(key, None)
        if act is not None:
            await act()
        return await self.collection.update(key, change, **options)

    async def move(self, key, to, change, **options):
        act = self.acts.pop(to, None) or self.acts.pop(key, None)
        if act is not None:
            await act()
        return await self.collection.move(key, to, change, **options)


class Desk:
    """The context of a call of ann, who has agreed, and what she watches."""

    owner = ANN

    def __init__(self, store):
        self.store, self.watches = store, Meanwhile(store.drawer("watches", ANN))

    def state(self, name):
        return self.watches if name == "watches" else self.store.drawer(name, ANN)

    def now(self):
        return NOW

    def offering(self, _capability):
        return ("brave",)

    async def watch(self, query, *seen):
        value = {"query": query, "provider": "", "asked": "brave", "seen": list(seen), "ttlDays": 9}
        value |= {"until": NOW + 9 * DAY, "savedAt": "2023-11-14T22:13:20Z", "lastRunAt": "2023-11-14T22:13:20Z"}
        await self.watches.put(to_key(query, ""), value)

    async def change(self, **wanted):
        return await change_watch(self, WatchChange(**wanted))

    async def seen(self):
        return {item.value["query"]: item.value["seen"] for item in await self.watches.items()}


@pytest.fixture
async def desk(clock):
    store = open_memory(load_collections([shipped_root()]).values(), clock=clock)
    await consent.decide(store.drawer("consents", ANN), ANN, "monitoring", granted=True, now=NOW)
    made = Desk(store)
    await made.watch("otters", "one.example")
    yield made
    store.close()


async def fill(desk):
    for number in range(desk.watches.spec.max_items - 1):
        await desk.watch(f"rain {number}")


@pytest.mark.parametrize("wanted", [{"ttl_days": 5}, {"to_query": "seals"}])
async def test_a_watch_that_ended_meanwhile_is_not_begun_again(desk, wanted):
    desk.watches.acts[OTTERS] = lambda: desk.watches.delete(OTTERS)

    told = await desk.change(query="otters", **wanted)

    assert told.status == "not_found"
    assert await desk.seen() == {}


async def test_what_a_look_saw_meanwhile_stays_seen_under_new_words(desk):
    desk.watches.acts[SEALS] = lambda: desk.watch("otters", "one.example", "two.example")

    told = await desk.change(query="otters", to_query="seals")

    assert (told.status, told.seen_count) == ("ok", 2)
    assert await desk.seen() == {"seals": ["one.example", "two.example"]}


@pytest.mark.parametrize("is_full", [False, True])
async def test_a_watch_of_the_new_words_that_was_made_meanwhile_stays_as_it_is(desk, is_full):
    if is_full:
        await fill(desk)
        await desk.watches.delete(to_key("rain 0", ""))
    desk.watches.acts[SEALS] = lambda: desk.watch("seals", "a.example", "b.example")

    told = await desk.change(query="otters", to_query="seals")

    seen = await desk.seen()
    assert (told.status, told.reason.split(";")[1]) == ("exists", " monitor_query_stop ends one of the two.")
    assert (seen["otters"], seen["seals"]) == (["one.example"], ["a.example", "b.example"])


async def test_in_a_full_collection_the_old_watch_makes_the_room(desk):
    await fill(desk)

    told = await desk.change(query="otters", to_query="seals")

    assert (told.status, told.seen_count) == ("ok", 1)
    assert await desk.watches.count() == desk.watches.spec.max_items
    assert await desk.watches.get(OTTERS) is None


async def test_in_a_full_collection_a_watch_survives_that_the_new_one_cannot_be_written(desk, monkeypatch):
    await fill(desk)

    def end(*_, **__):
        raise Fault("internal", "the disk is full")

    # The old one is deleted by then, in the same transaction.
    monkeypatch.setattr(writes, "_write_marks", end)

    with pytest.raises(Fault, match="the disk is full"):
        await desk.change(query="otters", to_query="seals")

    kept = await desk.watches.get(OTTERS)
    assert (kept.value["seen"], kept.value["until"]) == (["one.example"], NOW + 9 * DAY)


@pytest.mark.parametrize("words", ["", "   "])
async def test_words_that_are_blank_are_refused(desk, words):
    with pytest.raises(Fault, match="to_query is blank"):
        await desk.change(query="otters", to_query=words)

    assert await desk.seen() == {"otters": ["one.example"]}
