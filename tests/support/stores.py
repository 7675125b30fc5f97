"""Stores of every kind over one place of a test's own, and the collections that tests of stores declare."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from specloom.plugins.collections import CollectionSpec, CollectionStore, join_owner
from specloom.storage.keys import MasterKeys
from specloom.storage.redis_store import RedisStore
from specloom.storage.store import StateStore
from tests.support.redis_server import RedisServer

ANN, BOB = join_owner("acme-works", "ann@example.org"), join_owner("acme-works", "bob@example.org")
TRAILS = CollectionSpec("trails", lifetime=4 * 3600, sliding=True, max_items=3, when_full="evict", max_events=5)
NOTES = CollectionSpec("notes", max_items=4, max_value=2000, indexes=("topic", "tags"), search=("text", "topic"))
BOARD = CollectionSpec("board", scope="shared", lifetime=100, indexes=("by",), search=("text",))
SPECS = (TRAILS, NOTES, BOARD)
KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
KINDS = ("on disk", "between machines")


class StoreFamily:
    """Opens stores over one place, each with connections of its own, as another process would have."""

    def __init__(self, kind: str, folder: Path, server: RedisServer | None, clock: Callable[[], float]) -> None:
        self.kind, self.folder, self.server, self._clock = kind, folder, server, clock
        self.prefix = f"{uuid.uuid4().hex}:"
        self._opened: list[StateStore | RedisStore] = []

    def __call__(self, keys: MasterKeys | None = None, specs: Iterable[CollectionSpec] = SPECS) -> CollectionStore:
        keys = keys or MasterKeys(KEY)
        store: StateStore | RedisStore
        if self.server is None:
            store = StateStore(self.folder, keys, specs, clock=self._clock)
        else:
            settings = self.server.settings(key=keys.current, prefix=self.prefix)
            store = RedisStore(settings, keys, specs, pytest.fail, clock=self._clock)
        self._opened.append(store)
        return store

    async def aclose(self) -> None:
        """Close all of them."""
        for store in self._opened:
            await store.aclose()


async def settle(store: CollectionStore) -> None:
    """Return once what is written down behind reads is written."""
    if isinstance(store, RedisStore):
        await store.settle()
    else:
        assert isinstance(store, StateStore)
        await store.write(lambda rows: None)
