"""The embedded store: declared collections in one database of a folder, for any number of processes."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from specloom.core import KEY_BYTES
from specloom.plugins import (
    CONSENTS,
    NOTHING,
    Change,
    Collection,
    CollectionSpec,
    Erased,
    Event,
    Item,
    Json,
    Move,
    SearchHit,
    split_owner,
)

from . import writes
from .bounds import configure, find_spec
from .keys import MasterKeys, load_master_keys
from .rows import Rows, open_database, open_nowhere, prepare
from .search import Indexes
from .threads import InlineWorker, Readers, WriterThread

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

    from .addresses import ViewAddress


T = TypeVar("T")
P = ParamSpec("P")

LIMIT_VARIABLE = "SPECLOOM_STATE_MAX_MB"
DEFAULT_MEBIBYTES = 2048
MEBIBYTE = 1024 * 1024


def open_store(
    folder: Path,
    environ: Mapping[str, str],
    specs: Iterable[CollectionSpec],
    *,
    clock: Callable[[], float] = time.time,
) -> StateStore:
    """The store of a folder with the key that the environment or the folder has; a ValueError says what to do.

    The database is opened by the first operation.
    """
    configured = [configure(spec, environ) for spec in specs]
    text = environ.get(LIMIT_VARIABLE, "").strip()
    if text and not (text.isdecimal() and 0 < int(text) < 1_000_000):
        raise ValueError(f"{LIMIT_VARIABLE} is {text!r}; write a whole number of mebibytes above 0")
    max_bytes = (int(text) if text else DEFAULT_MEBIBYTES) * MEBIBYTE
    return StateStore(folder, load_master_keys(folder, environ), configured, clock=clock, max_bytes=max_bytes)


def open_memory(specs: Iterable[CollectionSpec], *, clock: Callable[[], float] = time.time) -> StateStore:
    """A store that is forgotten with the process: for examples, replays and where nothing may be written."""
    return StateStore(None, MasterKeys(os.urandom(KEY_BYTES)), specs, clock=clock)


class StateStore:
    """Everything that is remembered, over one folder, or in memory where that is None.

    Coroutines belong to one event loop; the work runs in threads of the store. Every operation is atomic on one item or
    one owner and raises Fault alone. What an awaited write has returned from is on the disk.
    """

    def __init__(
        self,
        folder: Path | None,
        keys: MasterKeys,
        specs: Iterable[CollectionSpec],
        *,
        clock: Callable[[], float] = time.time,
        max_bytes: int = DEFAULT_MEBIBYTES * MEBIBYTE,
    ) -> None:
        self.folder = folder
        self.specs = {spec.name: spec for spec in specs}
        self.clock = clock
        self._keys = keys
        self._max_bytes = max_bytes
        self.indexes = Indexes()
        self._writer: WriterThread | InlineWorker
        self._readers: Readers | InlineWorker
        if folder is None:
            self._writer = self._readers = InlineWorker(self._connect)
        else:
            self._writer, self._readers = WriterThread(self._connect), Readers(self._connect)

    def drawer(self, collection: str, owner: str, *, space: str = "") -> Collection:
        """One owner's view of a collection; of one space, where the collection is shared."""
        return _View(self, find_spec(self.specs, collection, space), owner, space)

    async def export(self, owner: str) -> dict[str, list[dict[str, Any]]]:
        """Everything that an owner wrote: items with their events, by collection."""
        tenant, user = split_owner(owner)
        return await self.read(lambda rows: writes.export(rows, self.specs, rows.tags.owner(tenant, user)))

    async def export_tenant(self, tenant: str) -> dict[str, list[dict[str, Any]]]:
        """The same of every user of a tenant; whose each item is, is said only where the item says so itself."""

        def read(rows: Rows) -> dict[str, list[dict[str, Any]]]:
            exported: dict[str, list[dict[str, Any]]] = {name: [] for name in self.specs}
            for user in writes.users_of(rows, rows.tags.tenant(tenant)):
                for name, items in writes.export(rows, self.specs, user).items():
                    exported.setdefault(name, []).extend(items)
            return exported

        return await self.read(read)

    async def erase(self, owner: str) -> Erased:
        """Remove everything that an owner wrote, in one transaction, and then every byte of it from the files.

        Of an owner who had decided about consents stays that they refuse every purpose, under their tag alone.
        """
        tenant, user = split_owner(owner)
        consents = self.specs.get(CONSENTS.name)
        deleted = await self.write(lambda rows: writes.erase(rows, [rows.tags.owner(tenant, user)], consents))
        return Erased(deleted, await self._compact())

    async def erase_tenant(self, tenant: str) -> Erased:
        """Remove what every user of a tenant wrote; refusals stay as they do for one of them."""
        consents = self.specs.get(CONSENTS.name)
        deleted = await self.write(
            lambda rows: writes.erase(rows, writes.users_of(rows, rows.tags.tenant(tenant)), consents)
        )
        return Erased(deleted, await self._compact())

    async def count(self, collection: str) -> int:
        """How many items of everybody are in a collection, with those that have just expired."""

        def read(rows: Rows) -> int:
            found = rows.connection.execute("SELECT COUNT(*) FROM items WHERE collection = ?", (collection,)).fetchone()
            return int(found[0])

        return await self.read(read)

    async def erase_collection(self, collection: str, tenant: str | None, user: str = "") -> int:
        """Remove one collection of a user, of every user of a tenant, or with None of everybody; how many items."""

        def work(rows: Rows) -> int:
            owners = None
            if tenant is not None:
                owners = [rows.tags.owner(tenant, user)] if user else writes.users_of(rows, rows.tags.tenant(tenant))
            return writes.erase_collection(rows, collection, owners)

        count = await self.write(work)
        await self._compact()
        return count

    async def expire(self) -> int:
        """Remove what has expired, seal anew what an earlier key sealed, finish erasures; how many items expired."""
        # What another process has erased may still be held as words here.
        self.indexes.forget()
        gone = 0
        while removed := await self.write(writes.expire):
            gone += removed
        after = 0
        while self._keys.previous is not None:
            after, _ = await self.write(partial(writes.reseal, specs=self.specs, after=after))
            if not after:
                break
        if await self.read(lambda rows: writes.wants_compacting(rows.connection)):
            await self._compact()
        return gone

    async def aclose(self) -> None:
        """Finish what is being written and let go of the files."""
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def close(self) -> None:
        """The same, and waits for it."""
        self._writer.close()
        self._readers.close()

    async def read(self, job: Callable[[Rows], T]) -> T:
        """What a job reads in one transaction."""
        return await _ended(self._readers.submit(job))

    async def write(self, job: Callable[[Rows], T]) -> T:
        """What a job writes in one transaction. It may run twice."""
        result: T = await _ended(self._writer.submit(job))
        return result

    def submit(self, job: Callable[[Rows], Any]) -> Future[Any]:
        """The same without waiting."""
        return self._writer.submit(job)

    async def _compact(self) -> bool:
        self.indexes.forget()
        done: bool = await _ended(self._writer.submit(lambda rows: writes.compact(rows.connection), alone=True))
        return done

    def _connect(self) -> Rows:
        connection = open_database(self.folder, max_bytes=self._max_bytes) if self.folder else open_nowhere()
        try:
            return Rows(connection, self._keys, prepare(connection, self._keys), self.clock)
        except BaseException:
            connection.close()
            raise


class _View:
    """An owner's view of a collection; see `specloom.plugins.Collection`."""

    def __init__(self, store: StateStore, spec: CollectionSpec, owner: str, space: str) -> None:
        self._store = store
        self.spec = spec
        self._owner = owner
        self._space = space

    def _place(self, rows: Rows) -> ViewAddress:
        return rows.tags.address(self.spec, self._owner, self._space)

    async def _write(self, job: Callable[Concatenate[Rows, ViewAddress, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._store.write(lambda rows: job(rows, self._place(rows), *args, **kwargs))

    async def get(self, key: str) -> Item | None:
        def read(rows: Rows) -> tuple[Item | None, bool]:
            place = self._place(rows)
            stored = rows.get(place, key)
            return (stored[0], rows.is_due(place, stored[1])) if stored else (None, False)

        item, is_due = await self._store.read(read)
        if is_due:
            # Nothing depends on it, so nobody waits.
            later = self._store.submit(lambda rows: writes.touch(rows, self._place(rows), key))
            later.add_done_callback(lambda future: future.exception())
        return item

    async def put(self, key: str, value: Json, *, expect: int | None = None) -> Item:
        return await self._write(writes.put, key, value, expect)

    async def update(self, key: str, change: Change, *, lasts: float | None = None) -> Item | None:
        return await self._write(writes.update, key, change, lasts)

    async def move(self, key: str, to: str, change: Move, *, lasts: float | None = None) -> Item | None:
        return await self._write(writes.move, key, to, change, lasts)

    async def append(
        self, key: str, event: Json, *, expect: int | None = None, change: Callable[[Json, int], Json] | None = None
    ) -> Item:
        return await self._write(writes.append, key, event, expect, change)

    async def delete(self, key: str) -> bool:
        return await self._write(writes.delete, key)

    async def events(self, key: str, *, first: int = 1, last: int | None = None) -> list[Event]:
        def read(rows: Rows) -> list[Event]:
            place = self._place(rows)
            row = rows.find(place, key)
            return rows.open_events(place, row, first, last) if row else []

        return await self._store.read(read)

    async def items(self, *, where: Mapping[str, str] = NOTHING, limit: int = 100) -> list[Item]:
        def read(rows: Rows) -> list[Item]:
            place = self._place(rows)
            return [rows.open(place, row) for row in rows.select(place, where, limit)]

        return await self._store.read(read)

    async def search(self, text: str, *, where: Mapping[str, str] = NOTHING, limit: int = 20) -> list[SearchHit]:
        search = self._store.indexes.search
        return await self._store.read(lambda rows: search(rows, self._place(rows), text, where, limit))

    async def count(self) -> int:
        return await self._store.read(lambda rows: rows.count(self._place(rows)))


async def _ended(future: Future[T]) -> T:
    # A call that is given up does not take back what it has asked for.
    return await asyncio.shield(asyncio.wrap_future(future))
