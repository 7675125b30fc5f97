"""The store that machines share: declared collections in Redis or Valkey, for any number of processes on any number of
machines.

What the store on disk promises, this one does too, over a server that keeps what it acknowledged (an append-only file
that is synced with each write). While the server cannot be reached whoever asks is told so, and nothing is kept
elsewhere: two places for one session would never be one again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from specloom.core import KEY_BYTES, BackplaneError, Fault
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

from .addresses import ViewAddress
from .bounds import configure, find_spec
from .consent import to_refusals
from .keys import MasterKeys, is_current, load_previous_key, unwrap_tag_key, wrap_tag_key
from .redis_link import RedisLink, RedisRefusal, RedisSettings
from .redis_rows import BATCH, SCRIPT, RedisRows, StoreReplaced
from .search import Indexes

T = TypeVar("T")

FORMAT = 1
PATIENCE = 2.0
"""Seconds that a call may take: a write waits for the disk of the server, and a large answer for the network."""
REWRITE = 10.0
"""Seconds for which an erasure waits until the server has written its file anew."""
POLL = 0.05
AWAY = "what is remembered cannot be reached until it is back"


def open_redis_store(
    settings: RedisSettings,
    environ: Mapping[str, str],
    specs: Iterable[CollectionSpec],
    warn: Callable[[str], None],
) -> RedisStore:
    """The store of a server with the key that the environment has; a ValueError says what to do.

    The server is asked by the first operation.
    """
    keys = MasterKeys(settings.key, load_previous_key(environ))
    return RedisStore(settings, keys, [configure(spec, environ) for spec in specs], warn)


class RedisStore:
    """Everything that is remembered, on a server that machines share.

    Coroutines belong to one event loop. Every operation is atomic on one item or one owner and raises Fault alone. What
    an awaited write has returned from the server has acknowledged.
    """

    def __init__(
        self,
        settings: RedisSettings,
        keys: MasterKeys,
        specs: Iterable[CollectionSpec],
        warn: Callable[[str], None],
        *,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """`clock` takes the place of the server's."""
        self.specs = {spec.name: spec for spec in specs}
        self.indexes = Indexes()
        self._keys, self._warn, self._clock = keys, warn, clock
        self._link = RedisLink(settings, warn, patience=PATIENCE, away=AWAY)
        self._base = f"{settings.prefix}state:"
        self._rows: RedisRows | None = None
        self._seen: bytes = b""
        """The mark of the store that was opened last."""
        self._opening = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    def drawer(self, collection: str, owner: str, *, space: str = "") -> Collection:
        """One owner's view of a collection; of one space, where the collection is shared."""
        return _RedisView(self, find_spec(self.specs, collection, space), owner, space)

    async def export(self, owner: str) -> dict[str, list[dict[str, Any]]]:
        """Everything that an owner wrote: items with their events, by collection."""
        return await self.work(lambda rows: rows.export(self.specs, rows.tags.owner(*split_owner(owner))))

    async def export_tenant(self, tenant: str) -> dict[str, list[dict[str, Any]]]:
        """The same of every user of a tenant; whose each item is, is said only where the item says so itself."""

        async def read(rows: RedisRows) -> dict[str, list[dict[str, Any]]]:
            exported: dict[str, list[dict[str, Any]]] = {name: [] for name in self.specs}
            for author in await self._authors(rows, tenant):
                for name, items in (await rows.export(self.specs, author)).items():
                    exported.setdefault(name, []).extend(items)
            return exported

        return await self.work(read)

    async def erase(self, owner: str) -> Erased:
        """Remove everything that an owner wrote, and then every byte of it from the server's file.

        From the first step on nothing of it opens any more; what an end of this process leaves of it, the next round
        removes. Of an owner who had decided about consents stays that they refuse every purpose, under their tag alone.
        """
        deleted = await self.work(lambda rows: self._erase(rows, rows.tags.owner(*split_owner(owner))))
        return Erased(deleted, await self._compact())

    async def erase_tenant(self, tenant: str) -> Erased:
        """Remove what every user of a tenant wrote; refusals stay as they do for one of them."""

        async def work(rows: RedisRows) -> dict[str, int]:
            deleted: dict[str, int] = {}
            for author in await self._authors(rows, tenant):
                for name, count in (await self._erase(rows, author)).items():
                    deleted[name] = deleted.get(name, 0) + count
            return deleted

        return Erased(await self.work(work), await self._compact())

    async def _erase(self, rows: RedisRows, author: bytes) -> dict[str, int]:
        deleted, now, tenant = await rows.erase(author)
        consents = self.specs.get(CONSENTS.name)
        if tenant and consents is not None and consents.name in deleted:
            place = ViewAddress(consents, author, author, tenant)
            for purpose, refusal in to_refusals(now).items():
                await rows.put(place, purpose, refusal, None)
        return deleted

    async def count(self, collection: str) -> int:
        """How many items of everybody are in a collection, with those that have just expired."""

        async def read(rows: RedisRows) -> int:
            return int((await rows.run("total", collection))[0])

        return await self.work(read)

    async def erase_collection(self, collection: str, tenant: str | None, user: str = "") -> int:
        """Remove one collection of a user, of every user of a tenant, or with None of everybody; how many items."""

        async def work(rows: RedisRows) -> int:
            authors = [b""]
            if tenant is not None:
                authors = [rows.tags.owner(tenant, user)] if user else await self._authors(rows, tenant)
            return sum([await rows.empty(collection, author) for author in authors])

        count = await self.work(work)
        await self._compact()
        return count

    async def expire(self) -> int:
        """Remove what has expired, seal anew what an earlier key sealed, finish erasures; how many items expired."""
        # What another process has erased may still be held as words here.
        self.indexes.forget()

        async def work(rows: RedisRows) -> int:
            gone = 0
            while removed := (await rows.run("expire", BATCH))[0]:
                gone += removed
            (authors,) = await rows.run("erasing")
            for author in authors:
                await rows.clear(author)
            if self._keys.previous is not None:
                await rows.reseal_all(self.specs)
            return gone

        gone = await self.work(work)
        if (await self.work(lambda rows: rows.run("compact")))[0]:
            await self._compact()
        return gone

    async def settle(self) -> None:
        """Return once what is written down behind reads is written."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def aclose(self) -> None:
        """Finish what is being written and let go of the connection."""
        self._is_closed = True
        await self.settle()
        await self._link.aclose()

    async def work(self, job: Callable[[RedisRows], Awaitable[T]]) -> T:
        """What a job gives over the rows of the store as it is; anything but a Fault is made one."""
        if self._is_closed:
            raise Fault("internal", "The state store was closed before this was asked.")
        try:
            while True:
                rows = self._rows or await self._open()
                try:
                    return await job(rows)
                except StoreReplaced:
                    self._rows = None
        except BackplaneError as error:
            raise self._to_fault(error) from None

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Do something that comes to its end before the store is closed, whether it is waited for or not."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return task

    def _end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits is told of it all the same

    async def _authors(self, rows: RedisRows, tenant: str) -> list[bytes]:
        (authors,) = await rows.run("authors", rows.tags.tenant(tenant))
        return sorted(authors)

    async def _open(self) -> RedisRows:
        async with self._opening:
            if self._rows is not None:
                return self._rows
            new = (FORMAT, wrap_tag_key(self._keys, os.urandom(KEY_BYTES)), os.urandom(16))
            format_, wrapped, mark = await self._run("open", b"", *new)
            if int(format_) > FORMAT:
                raise _cannot_open("the state was written by a newer version: use that one, or another REDIS_PREFIX")
            try:
                tag_key = unwrap_tag_key(self._keys, wrapped)
            except ValueError as error:
                raise _cannot_open(str(error)) from None
            if not is_current(self._keys, wrapped):
                await self._run("wrap", mark, wrapped, wrap_tag_key(self._keys, tag_key))
            if self._seen not in (b"", mark):
                self._warn("Redis has lost what was remembered, or was emptied: everything of it begins anew")
            self._seen = mark
            self.indexes.forget()
            self._rows = RedisRows(self._link, self._base, mark, self._keys, tag_key, self._now)
            return self._rows

    async def _run(self, command: str, mark: bytes, *values: Any) -> Any:
        return await self._link.run(SCRIPT, (self._base,), command, mark, self._now(), *values)

    def _now(self) -> str:
        return "" if self._clock is None else repr(self._clock())

    async def _compact(self) -> bool:
        """Let the server write its file without what was removed; False where that is not done by now."""
        self.indexes.forget()
        try:
            if not await self._rewrite():
                return False
            await self.work(lambda rows: rows.run("compacted"))
        except (BackplaneError, Fault):
            # What was erased is gone from every answer; the next round tries again.
            return False
        return True

    async def _rewrite(self) -> bool:
        if not (await self._persistence())["aof_enabled"]:
            return True
        # One that runs already began before the erasure.
        await self._link.execute("BGREWRITEAOF")
        until = time.monotonic() + REWRITE
        while time.monotonic() < until:
            now = await self._persistence()
            if not now["aof_rewrite_in_progress"] and not now["aof_rewrite_scheduled"]:
                return bool(now["aof_last_bgrewrite_status"] == "ok")
            await asyncio.sleep(POLL)
        return False

    async def _persistence(self) -> dict[str, Any]:
        told: dict[str, Any] = await self._link.execute("INFO", "persistence")
        return told

    def _to_fault(self, error: BackplaneError) -> Fault:
        if isinstance(error, RedisRefusal) and error.is_full:
            return Fault(
                "upstream_unavailable",
                "The state store is full: nothing of this was written, and nothing that was written is lost. The "
                "operator should give its server more memory, or delete what is not needed.",
                action="inform_user",
            )
        if isinstance(error, RedisRefusal) and not error.is_passing:
            self._warn(f"the state store: {error}")
            return Fault(
                "internal",
                "The state store does not do what it is asked, so nothing of this was written: its server was changed "
                "by something else, or refuses us. The operator finds the reason in the log.",
                action="inform_user",
            )
        return Fault(
            "upstream_unavailable",
            "What the server remembers cannot be reached at present. Nothing that was acknowledged is lost; whether a "
            "write that was under way was done is not known. Try again in a moment.",
            retry_after=2,
            action="retry_after_delay",
        )


def _cannot_open(why: str) -> Fault:
    return Fault("config", f"The state store cannot be opened: {why}.", action="inform_user")


class _RedisView:
    """An owner's view of a collection; see `specloom.plugins.Collection`."""

    def __init__(self, store: RedisStore, spec: CollectionSpec, owner: str, space: str) -> None:
        self._store = store
        self.spec = spec
        self._owner, self._space = owner, space

    async def _on(self, job: Callable[..., Awaitable[T]], *values: Any) -> T:
        """What a method of the rows gives for the place of this view."""
        return await self._store.work(
            lambda rows: job(rows, rows.tags.address(self.spec, self._owner, self._space), *values)
        )

    async def _until_done(self, work: Coroutine[Any, Any, T]) -> T:
        # A call that is given up does not take back what it has asked for.
        return await asyncio.shield(self._store.start(work))

    async def get(self, key: str) -> Item | None:
        item, note = await self._on(RedisRows.get, key)
        if note is not None:
            self._store.start(_ignore(note))
        return item

    async def put(self, key: str, value: Json, *, expect: int | None = None) -> Item:
        return await self._until_done(self._on(RedisRows.put, key, value, expect))

    async def update(self, key: str, change: Change, *, lasts: float | None = None) -> Item | None:
        return await self._until_done(self._on(RedisRows.update, key, change, lasts))

    async def move(self, key: str, to: str, change: Move, *, lasts: float | None = None) -> Item | None:
        return await self._until_done(self._on(RedisRows.move, key, to, change, lasts))

    async def append(
        self, key: str, event: Json, *, expect: int | None = None, change: Callable[[Json, int], Json] | None = None
    ) -> Item:
        return await self._until_done(self._on(RedisRows.append, key, event, expect, change))

    async def delete(self, key: str) -> bool:
        return await self._until_done(self._on(RedisRows.delete, key))

    async def events(self, key: str, *, first: int = 1, last: int | None = None) -> list[Event]:
        return await self._on(RedisRows.events, key, first, last)

    async def items(self, *, where: Mapping[str, str] = NOTHING, limit: int = 100) -> list[Item]:
        async def read(rows: RedisRows, place: Any) -> list[Item]:
            return [rows.open(place, row) for row in await rows.select(place, where, limit)]

        return await self._on(read)

    async def search(self, text: str, *, where: Mapping[str, str] = NOTHING, limit: int = 20) -> list[SearchHit]:
        return await self._on(RedisRows.search, self._store.indexes, text, where, limit)

    async def count(self) -> int:
        return await self._on(RedisRows.count)


async def _ignore(note: Callable[[], Awaitable[None]]) -> None:
    with contextlib.suppress(Fault, BackplaneError, StoreReplaced):
        await note()
