"""The store between machines and the one on disk do the same, whatever is asked of them in whatever order."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.plugins.collections import CONSENTS, CollectionSpec, CollectionStore, join_owner
from specloom.storage.keys import MasterKeys
from specloom.storage.redis_store import RedisStore
from specloom.storage.store import open_memory
from tests.support.clock import Clock
from tests.support.redis_server import RedisServer
from tests.support.stores import KEY, settle

SPECS = (
    CollectionSpec("trails", lifetime=100, sliding=True, max_items=3, when_full="evict", max_events=3),
    CollectionSpec("pages", max_items=4, when_full="evict", max_bytes=900, max_value=700),
    CollectionSpec("notes", max_items=3, max_bytes=1500, indexes=("topic", "tags"), search=("text",)),
    CollectionSpec(
        "board", scope="shared", lifetime=50, max_items=4, indexes=("topic",), search=("text",), max_events=2
    ),
    CollectionSpec(CONSENTS.name),
)
NAMES = tuple(one.name for one in SPECS)
OWNERS = (join_owner("acme", "ann"), join_owner("acme", "bob"), join_owner("other", "ann"))
WORDS = ("otter", "otters swim", "penguin penguin", "a battery", "heat and otters")

keys = st.sampled_from(["a", "b", "c", "d"])
values = st.fixed_dictionaries(
    {
        "text": st.sampled_from(WORDS),
        "topic": st.sampled_from(["birds", "fish"]),
        "tags": st.lists(st.sampled_from(["red", "blue"]), max_size=2),
        "more": st.sampled_from(["", "x" * 300, "x" * 650]),
    }
)
where = st.sampled_from([{}, {"topic": "birds"}, {"topic": "fish", "tags": "red"}])
view_steps = st.one_of(
    st.tuples(st.just("put"), keys, values, st.sampled_from([None, None, None, 0, 1])),
    st.tuples(st.just("update"), keys, values, st.sampled_from([None, 20.0, 500.0])),
    st.tuples(st.just("move"), keys, keys, values, st.sampled_from([None, 20.0, 500.0])),
    st.tuples(st.just("append"), keys, values, st.sampled_from([None, None, 1])),
    st.tuples(st.sampled_from(["get", "delete", "events"]), keys),
    st.tuples(st.just("items"), where, st.integers(0, 5)),
    st.tuples(st.just("search"), st.sampled_from(WORDS), where, st.integers(1, 5)),
    st.tuples(st.just("count")),
)
steps = st.one_of(
    st.tuples(st.just("view"), st.sampled_from(NAMES), st.sampled_from(OWNERS), view_steps),
    st.tuples(st.just("view"), st.sampled_from(NAMES), st.sampled_from(OWNERS), view_steps),
    st.tuples(st.just("view"), st.sampled_from(NAMES), st.sampled_from(OWNERS), view_steps),
    st.tuples(st.just("wait"), st.sampled_from([1.0, 10.0, 60.0])),
    st.tuples(st.sampled_from(["export", "erase"]), st.sampled_from(OWNERS)),
    st.tuples(st.sampled_from(["export_tenant", "erase_tenant"]), st.sampled_from(["acme", "other"])),
    st.tuples(st.just("erase_collection"), st.sampled_from(NAMES), st.sampled_from([None, "acme"]), st.just("")),
    st.tuples(st.just("erase_collection"), st.sampled_from(NAMES), st.just("acme"), st.just("ann")),
    st.tuples(st.just("count"), st.sampled_from(NAMES)),
    st.tuples(st.just("expire")),
)


async def perform(store: CollectionStore, step: tuple[Any, ...]) -> Any:
    """What a step gives, or the words in which it is refused."""
    try:
        if step[0] != "view":
            return await getattr(store, step[0])(*step[1:])
        _, collection, owner, (name, *values) = step
        view = store.drawer(collection, owner, space="team" if collection == "board" else "")
        if name == "put":
            return await view.put(values[0], values[1], expect=values[2])
        if name == "update":
            return await view.update(values[0], lambda old: {**(old or {}), **values[1]}, lasts=values[2])
        if name == "move":
            key, to, value, lasts = values
            return await view.move(key, to, lambda old, other: {**old, **(other or {}), **value}, lasts=lasts)
        if name == "append":
            grown: Callable[[Any, int], Any] = lambda old, seq: {**old, "steps": seq}  # noqa: E731
            return await view.append(values[0], values[1], expect=values[2], change=grown)
        if name == "items":
            return await view.items(where=known(view.spec, values[0]), limit=values[1])
        if name == "search":
            return await view.search(values[0], where=known(view.spec, values[1]), limit=values[2])
        found = await getattr(view, name)(*values)
        if isinstance(store, RedisStore):
            await settle(store)
    except Fault as fault:
        return type(fault), fault.kind, fault.message
    return found


def known(spec: CollectionSpec, where: dict[str, str]) -> dict[str, str]:
    return {field: text for field, text in where.items() if field in spec.indexes}


async def compare(server: RedisServer, told: list[tuple[Any, ...]]) -> None:
    clock = Clock(1_700_000_000.0)
    settings = server.settings(prefix=f"{uuid.uuid4().hex}:")
    shared = RedisStore(settings, MasterKeys(KEY), SPECS, pytest.fail, clock=clock)
    local = open_memory(SPECS, clock=clock)
    try:
        for step in told:
            if step[0] == "wait":
                clock.now += step[1]
                continue
            assert await perform(shared, step) == await perform(local, step), step
        for owner in OWNERS:
            assert (await shared.erase(owner)).deleted == (await local.erase(owner)).deleted
        for name in NAMES:
            await shared.erase_collection(name, None)
        left = {one.decode().removeprefix(settings.prefix) for one in server.client.scan_iter(f"{settings.prefix}*")}
        assert left <= {"state:meta", "state:number"}, "what is removed leaves nothing behind"
    finally:
        await shared.aclose()
        await local.aclose()


@given(st.lists(steps, min_size=5, max_size=40))
def test_whatever_is_asked_is_answered_as_by_the_store_on_disk(
    redis_server: RedisServer, told: list[tuple[Any, ...]]
) -> None:
    asyncio.run(compare(redis_server, told))
