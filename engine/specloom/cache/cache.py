"""Two-tier answer cache: a bounded LRU in memory over a bounded, sealed directory that may fail without harm."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

from specloom.core import KEY_BYTES

from .disk import ANSWERS, LOCK_WAIT, AnswerDisk, CacheEntry, Glance
from .erasures import FRESH, Erasures

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    from specloom.core import SharedCache

    from .shared import SharedAnswers


T = TypeVar("T")

MEBIBYTE = 1024 * 1024
TOGETHER = 0.05
"""Seconds that an answer waits for others on its way to the disk: one transaction costs more than what it writes."""
MOST_WAITING = 4 * MEBIBYTE
"""Bytes that wait for the disk before the next answer waits until they are written."""
PATIENCE = 3
"""Times in a row the directory may be busy before it is let be for a while."""
REST = 60.0
"""Seconds for which a directory that stays locked is let be, before it is tried again."""


class AnswerCache:
    """Answers by key, in memory and, when there is a directory and a key, sealed on disk.

    The directory gets a folder of its own, `answers`. Whatever goes wrong there ends in one sentence to `warn`, which
    may be called from another thread, and the memory serves on alone. Nothing is ever written in the clear.

    `erasures` is the file by which other processes tell that they have erased what is kept: then nothing is answered
    from memory any more, and nothing is kept that was asked before. `shared` is what machines share: asked for what is
    neither in memory nor on disk, and given what is put; without a key it is left alone.
    """

    def __init__(
        self,
        *,
        memory_bytes: int = 16 * MEBIBYTE,
        disk: Path | None,
        disk_bytes: int = 256 * MEBIBYTE,
        key: bytes | None,
        clock: Callable[[], float] = time.time,
        warn: Callable[[str], None],
        lock_wait: float = LOCK_WAIT,
        erasures: Path | None = None,
        shared: SharedCache | None = None,
    ) -> None:
        if key is not None and len(key) != KEY_BYTES:
            raise ValueError(f"the key of a cache has {KEY_BYTES} bytes, this one has {len(key)}")
        self._clock = clock
        self._warn = warn
        self._lock = threading.Lock()
        self._memory = AnswerMemory(memory_bytes)
        self._outbox: dict[str, CacheEntry] = {}
        self._outbox_bytes = 0
        self._gathering: Any = None
        """The event loop that will have the outbox written."""
        self._generation = 0
        self._erasures = Erasures(erasures) if erasures is not None else None
        self._mark = self._erasures.now() if self._erasures is not None else b""
        self.on_erased: list[Callable[[], None]] = []
        """What else is told once something was erased; from any thread."""
        self._shared: SharedAnswers | None = None
        if shared is not None and key is not None:
            from .shared import SharedAnswers

            self._shared = SharedAnswers(shared, key, on_forgotten=self._forget)
        self._counts = {"hits": 0, "disk_hits": 0, "shared_hits": 0, "misses": 0, "busy": 0}
        self._busy_in_a_row = 0
        self._rests_until = 0.0
        self._has_told_of_rest = False
        self._disk = (
            AnswerDisk(disk / ANSWERS, disk_bytes, key, lock_wait) if disk is not None and key is not None else None
        )
        # There from when the directory is open until it is let go of.
        self._glance: Glance | None = None
        # One thread does all work on the directory, in order, on the one connection that it opens and closes.
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False
        if disk is not None and key is None:
            warn("answers are kept in memory only, because there is no key to seal them with on disk")

    @property
    def generation(self) -> int:
        """A number that is another once what is kept was erased, here or by another process.

        It may be that of a millisecond ago: then what is asked now is not kept.
        """
        self.notice_erasure(FRESH)
        return self._generation

    def notice_erasure(self, fresh: float = 0.0) -> None:
        """Forget what is in memory where another process has erased what is kept, `fresh` seconds ago or before."""
        if self._erasures is None or (mark := self._erasures.now(fresh)) == self._mark:
            return
        self._mark = mark
        self._forget_memory()
        if self._shared is not None:
            # Whoever has erased may be a command that ended, and knows this machine alone.
            self._shared.forget_soon()

    def _forget_memory(self) -> None:
        with self._lock:
            self._generation += 1
            self._memory.clear()
            # What is on its way to the disk belongs to what was erased.
            self._outbox, self._outbox_bytes = {}, 0
        for tell in self.on_erased:
            tell()

    def _forget(self) -> None:
        """Forget everything on this machine too, because another has erased what is shared."""
        self._forget_memory()
        self._submit(lambda disk: disk.clear())

    def prepare(self) -> None:
        """Have the thread of the disk load what it works with and open what is there; nothing is made."""
        self._submit(lambda disk: disk.prepare())

    def peek(self, key: str) -> CacheEntry | None:
        """The entry if it is in memory and alive, in microseconds and from any thread."""
        if self._erasures is not None:
            self.notice_erasure(FRESH)
        with self._lock:
            entry = self._memory.get(key, self._clock())
            if entry is not None:
                self._counts["hits"] += 1
            return entry

    async def get(self, key: str) -> CacheEntry | None:
        """The entry from memory, else from disk, else from other machines; it is in memory afterwards."""
        self.notice_erasure()
        with self._lock:
            entry = self._memory.get(key, self._clock())
            if entry is None and (waiting := self._outbox.get(key)) is not None and waiting.is_alive(self._clock()):
                entry = waiting
            generation = self._generation
            glance = self._glance
        # To ask the thread takes ten times as long as to see that there is nothing to ask for.
        if entry is None and (glance is None or glance.may_have(key)):
            stored = await self._in_thread(lambda disk: disk.read(key, self._clock()))
            with self._lock:
                # A put or a clear during the read knows better than what was read.
                entry = self._memory.get(key, self._clock())
                if entry is None and stored is not None and generation == self._generation and not self._closed:
                    self._memory.put(key, stored)
                    self._counts["disk_hits"] += 1
                    entry = stored
        if entry is None and self._shared is not None:
            found = await self._shared.get(key, self._clock())
            with self._lock:
                entry = self._memory.get(key, self._clock())
                if entry is None and found is not None and generation == self._generation and not self._closed:
                    self._memory.put(key, found)
                    self._counts["shared_hits"] += 1
                    entry = found
        with self._lock:
            self._counts["misses" if entry is None else "hits"] += 1
        return entry

    async def put(
        self,
        key: str,
        value: bytes,
        ttl: float,
        *,
        age: float = 0.0,
        soon: bool = False,
        since: int | None = None,
    ) -> None:
        """Remember the value until it is `ttl` seconds old, which `age` seconds are of already. Never fails.

        Afterwards it is in memory and on disk, or with `soon` in memory, and on disk with what else comes in the next
        twentieth of a second; the disk is waited for only where it falls behind. Of what was asked in the generation
        `since` nothing is kept once that is over.
        """
        if not ttl > age:
            return
        entry = CacheEntry(bytes(value), self._clock() - age, float(ttl))
        self.notice_erasure()
        with self._lock:
            if self._closed or since not in (None, self._generation):
                return
            self._memory.put(key, entry)
            if self._disk is not None:
                self._outbox[key] = entry
                self._outbox_bytes += len(entry.value)
            is_much = self._outbox_bytes > MOST_WAITING
        if self._shared is not None:
            self._shared.put_soon(key, entry, self._clock())
        if is_much or not soon:
            await self._in_thread(self._write_outbox)
            return
        import asyncio

        loop = asyncio.get_running_loop()
        with self._lock:
            # What another loop was to do may never be done.
            if not self._outbox or self._gathering is loop:
                return
            self._gathering = loop
        loop.call_later(TOGETHER, lambda: self._submit(self._write_outbox))

    def _write_outbox(self, disk: AnswerDisk) -> None:
        """Write all that has come in since the last time, in one transaction: that costs little more than one write."""
        self.notice_erasure()
        disk.write_all(self._empty_outbox())
        if self._erasures is not None and self._erasures.now() != self._mark:
            # Somebody erased what is kept while it was written.
            self.notice_erasure()
            disk.clear()

    def _empty_outbox(self) -> dict[str, CacheEntry]:
        with self._lock:
            entries, self._outbox, self._outbox_bytes = self._outbox, {}, 0
            self._gathering = None
        return entries

    def _waiting(self, key: str) -> CacheEntry | None:
        entry = self._outbox.get(key)
        return entry if entry is not None and entry.is_alive(self._clock()) else None

    def clear(self) -> None:
        """Forget everything, in memory and on disk, before returning."""
        self._empty_outbox()
        self._rests_until = 0.0  # what is to be gone is not put off
        with self._lock:
            self._memory.clear()
            self._generation += 1
        future = self._submit(lambda disk: disk.clear())
        if future is not None and not future.result():
            self._warn("the remembered answers on disk were not cleared, because their database was busy or failed")

    def stats(self) -> dict[str, Any]:
        """How full the cache is and how often it helped, for health reports."""
        with self._lock:
            return {
                "entries": len(self._memory),
                "memory_bytes": self._memory.used,
                "memory_limit": self._memory.limit,
                "disk": self._disk is not None and not self._closed,
                "evicted": self._memory.evicted,
                **self._counts,
            }

    def close(self) -> None:
        """Forget what is in memory, finish what is being written and let go of the directory."""
        if self._outbox:
            self._submit(self._write_outbox)
        with self._lock:
            self._closed = True
            self._memory.clear()
            pool, disk = self._pool, self._disk
            self._pool = None
        if pool is not None:
            if disk is not None:
                pool.submit(disk.close)
            pool.shutdown(wait=True)
        self._end_glance()
        if self._erasures is not None:
            self._erasures.close()

    def _end_glance(self) -> None:
        with self._lock:
            glance, self._glance = self._glance, None
        if glance is not None:
            glance.close()

    async def _in_thread(self, job: Callable[[AnswerDisk], T]) -> T | None:
        # Imported here: the thread that peeks starts before there is a loop.
        import asyncio

        future = self._submit(job)
        return None if future is None else await asyncio.shield(asyncio.wrap_future(future))

    def _submit(self, job: Callable[[AnswerDisk], T]) -> Any:
        with self._lock:
            if self._disk is None or self._closed:
                return None
            if self._pool is None:
                from concurrent.futures import ThreadPoolExecutor

                self._pool = ThreadPoolExecutor(1, "specloom-cache")
            return self._pool.submit(self._guarded, job)

    def _guarded(self, job: Callable[[AnswerDisk], T]) -> T | None:
        """The job's result, or None after whatever a directory and a database can do has been dealt with."""
        disk = self._disk
        if disk is None:
            return None
        if 0 < self._rests_until - self._clock() <= REST:
            self._empty_outbox()
            return None
        try:
            import sqlite3

            from diskcache import Timeout
        except ImportError:
            self._give_up(disk, "this Python comes without sqlite3")
            return None
        try:
            result = job(disk)
            if self._glance is None:
                self._glance = disk.glance()
        except (sqlite3.Error, Timeout) as error:
            self._on_database_error(disk, error)
        except OSError as error:
            self._give_up(disk, error.strerror or type(error).__name__)
        except (ValueError, TypeError) as error:
            # A damaged table shows itself as a row of the wrong shape.
            self._set_aside(disk, str(error))
        except ImportError as error:
            self._give_up(disk, str(error))
        else:
            self._busy_in_a_row = 0
            return result
        return None

    def _on_database_error(self, disk: AnswerDisk, error: BaseException) -> None:
        import sqlite3

        # A failed write is followed by a failed rollback or a timeout: the first of the chain tells.
        while isinstance(error.__context__, sqlite3.Error):
            error = error.__context__
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            self._counts["busy"] += 1
            self._busy_in_a_row += 1
            if self._busy_in_a_row >= PATIENCE:
                self._rest(disk)
        elif code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
            self._set_aside(disk, str(error))
        else:
            self._give_up(disk, str(error))

    def _rest(self, disk: AnswerDisk) -> None:
        """Do without the directory for a while: whoever keeps it locked, or the machine that is busy, may be done."""
        self._busy_in_a_row = PATIENCE - 1  # then one more is enough
        self._rests_until = self._clock() + REST
        self._empty_outbox()
        if not self._has_told_of_rest:
            self._has_told_of_rest = True
            self._warn(
                f"the cache directory {disk.directory} is kept locked by another process; answers are kept in memory"
                f" only, and it is tried again every {REST:.0f} seconds"
            )

    def _let_go(self, disk: AnswerDisk) -> None:
        with self._lock:
            self._disk = None
        self._empty_outbox()
        self._end_glance()
        disk.close()

    def _give_up(self, disk: AnswerDisk, reason: str) -> None:
        self._let_go(disk)
        self._warn(f"the cache directory {disk.directory} cannot be used ({reason}); answers are kept in memory only")

    def _set_aside(self, disk: AnswerDisk, reason: str) -> None:
        self._let_go(disk)
        where = disk.set_aside()
        outcome = f"was moved to {where}" if where else "could not be moved away, so delete it"
        self._warn(
            f"the cache directory {disk.directory} is damaged ({reason}) and {outcome};"
            " answers are kept in memory only until the next start"
        )


# --- Answers in memory ------------------------------------------------------------------------------------------------


OVERHEAD = 256
"""Bytes an entry takes in memory beside its key and value, measured on a 64-bit CPython."""


class AnswerMemory:
    """Entries by key in at most so many bytes. Not safe from several threads by itself: its owner holds a lock."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        """Bytes that are taken, the overhead of each entry included."""
        self.evicted = 0
        """Entries that had to go for others since the start."""
        self._entries: OrderedDict[str, CacheEntry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str, now: float) -> CacheEntry | None:
        """The entry if it is there and alive; one that is not alive is dropped."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if not entry.is_alive(now):
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return entry

    def put(self, key: str, entry: CacheEntry) -> None:
        """Hold the entry in place of what stands under its key; one larger than the whole is not held."""
        self._drop(key)
        size = len(key) + len(entry.value) + OVERHEAD
        if size > self.limit:
            return
        self._entries[key] = entry
        self.used += size
        while self.used > self.limit:
            self._drop(next(iter(self._entries)))
            self.evicted += 1

    def clear(self) -> None:
        """Hold nothing."""
        self._entries.clear()
        self.used = 0

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.used -= len(key) + len(entry.value) + OVERHEAD
