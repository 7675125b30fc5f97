"""Answers that are remembered: a bounded memory in front of a bounded, sealed directory that may fail without harm."""

from __future__ import annotations

import errno
import os
import struct
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from .vault import KEY_BYTES, seal, unseal

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

T = TypeVar("T")
Freshness = Literal["fresh", "aging", "expiring"]

MEBIBYTE = 1024 * 1024
OVERHEAD = 256
"""Bytes an entry takes in memory beside its key and value, measured on a 64-bit CPython."""
SLACK = 5.0
"""Seconds a clock may step back before what was stored under the later time is refused."""
LOCK_WAIT = 1.0
"""Seconds to wait for another process that is writing to the directory."""
LARGEST_ON_DISK = 256 * MEBIBYTE
"""Bytes of the largest value that is kept on disk; a database row ends at a thousand million."""
PATIENCE = 3
"""Times in a row the directory may be busy before it is given up."""

_HEAD = struct.Struct(">dd")
_PLAIN_SETTINGS = ("wal", "least-recently-stored")
_OWN_SETTINGS = ("count", "size", "hits", "misses", "sqlite_journal_size_limit")


@dataclass(frozen=True, slots=True)
class Entry:
    """A remembered value, when it was stored (seconds since the epoch) and for how many seconds it may be served."""

    value: bytes
    stored_at: float
    ttl: float

    def age(self, now: float) -> float:
        """Seconds since it was stored, never below zero."""
        return max(0.0, now - self.stored_at)

    def freshness(self, now: float) -> Freshness:
        """Which part of its life it is in: `fresh` in the first half, `aging` up to four fifths, then `expiring`."""
        used = self.age(now) / self.ttl
        return "fresh" if used < 0.5 else "aging" if used < 0.8 else "expiring"

    def is_alive(self, now: float) -> bool:
        """Whether it may be served. One from the future is refused, or a clock set back would serve it for ever."""
        return -SLACK <= now - self.stored_at < self.ttl


class AnswerCache:
    """Answers by key, in memory and, when there is a directory and a key, sealed on disk.

    The directory gets a folder of its own, `answers`. Whatever goes wrong there ends in one sentence to `warn`, which
    may be called from another thread, and the memory serves on alone. Nothing is ever written in the clear.
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
    ) -> None:
        if key is not None and len(key) != KEY_BYTES:
            raise ValueError(f"the key of a cache has {KEY_BYTES} bytes, this one has {len(key)}")
        self._memory_bytes = memory_bytes
        self._clock = clock
        self._warn = warn
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._used = 0
        self._generation = 0
        self._counts = {"hits": 0, "disk_hits": 0, "misses": 0, "evicted": 0, "busy": 0}
        self._busy_in_a_row = 0
        self._disk = (
            _Disk(disk / "answers", disk_bytes, key, lock_wait) if disk is not None and key is not None else None
        )
        # One thread does all work on the directory, in order, on the one connection that it opens and closes.
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False
        if disk is not None and key is None:
            warn("answers are kept in memory only, because there is no key to seal them with on disk")

    def peek(self, key: str) -> Entry | None:
        """The entry if it is in memory and alive, in microseconds and from any thread."""
        with self._lock:
            entry = self._look(key)
            if entry is not None:
                self._counts["hits"] += 1
            return entry

    async def get(self, key: str) -> Entry | None:
        """The entry from memory, else from disk; what comes from disk is in memory afterwards."""
        with self._lock:
            entry = self._look(key)
            generation = self._generation
        if entry is None:
            found = await self._in_thread(lambda disk: disk.read(key, self._clock()))
            with self._lock:
                # A put or a clear during the read knows better than what was read.
                entry = self._look(key)
                if entry is None and found is not None and generation == self._generation and not self._closed:
                    self._remember(key, found)
                    self._counts["disk_hits"] += 1
                    entry = found
        with self._lock:
            self._counts["misses" if entry is None else "hits"] += 1
        return entry

    async def put(self, key: str, value: bytes, ttl: float) -> None:
        """Remember the value for `ttl` seconds; nothing is remembered for zero seconds. Never fails."""
        if not ttl > 0:
            return
        entry = Entry(bytes(value), self._clock(), float(ttl))
        with self._lock:
            if self._closed:
                return
            self._remember(key, entry)
        await self._in_thread(lambda disk: disk.write(key, entry))

    def clear(self) -> None:
        """Forget everything, in memory and on disk, before returning."""
        with self._lock:
            self._entries.clear()
            self._used = 0
            self._generation += 1
        future = self._submit(lambda disk: disk.clear())
        if future is not None and not future.result():
            self._warn("the remembered answers on disk were not cleared, because their database was busy or failed")

    def stats(self) -> dict[str, Any]:
        """How full the cache is and how often it helped, for health reports."""
        with self._lock:
            return {
                "entries": len(self._entries),
                "memory_bytes": self._used,
                "memory_limit": self._memory_bytes,
                "disk": self._disk is not None and not self._closed,
                **self._counts,
            }

    def close(self) -> None:
        """Forget what is in memory, finish what is being written and let go of the directory."""
        with self._lock:
            self._closed = True
            self._entries.clear()
            self._used = 0
            pool, disk = self._pool, self._disk
            self._pool = None
        if pool is not None:
            if disk is not None:
                pool.submit(disk.close)
            pool.shutdown(wait=True)

    def _look(self, key: str) -> Entry | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        if not entry.is_alive(self._clock()):
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return entry

    def _remember(self, key: str, entry: Entry) -> None:
        self._drop(key)
        size = _size_of(key, entry)
        if size > self._memory_bytes:
            return
        self._entries[key] = entry
        self._used += size
        while self._used > self._memory_bytes:
            self._drop(next(iter(self._entries)))
            self._counts["evicted"] += 1

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._used -= _size_of(key, entry)

    async def _in_thread(self, job: Callable[[_Disk], T]) -> T | None:
        future = self._submit(job)
        if future is None:
            return None
        # Imported here: the thread that peeks starts before there is a loop.
        import asyncio

        result: T | None = await asyncio.wrap_future(future)
        return result

    def _submit(self, job: Callable[[_Disk], T]) -> Any:
        with self._lock:
            if self._disk is None or self._closed:
                return None
            if self._pool is None:
                from concurrent.futures import ThreadPoolExecutor

                self._pool = ThreadPoolExecutor(1, "specloom-cache")
            return self._pool.submit(self._guarded, job)

    def _guarded(self, job: Callable[[_Disk], T]) -> T | None:
        """The job's result, or None after whatever a directory and a database can do has been dealt with."""
        disk = self._disk
        if disk is None:
            return None
        try:
            import sqlite3

            from diskcache import Timeout
        except ImportError:
            self._give_up(disk, "this Python comes without sqlite3")
            return None
        try:
            result = job(disk)
        except (sqlite3.Error, Timeout) as error:
            self._on_database_error(disk, _first_cause(error))
            return None
        except OSError as error:
            self._give_up(disk, error.strerror or type(error).__name__)
            return None
        except (ValueError, TypeError) as error:
            # A damaged table shows itself as a row of the wrong shape.
            self._set_aside(disk, str(error))
            return None
        except ImportError as error:
            self._give_up(disk, str(error))
            return None
        self._busy_in_a_row = 0
        return result

    def _on_database_error(self, disk: _Disk, error: BaseException) -> None:
        import sqlite3

        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            self._counts["busy"] += 1
            self._busy_in_a_row += 1
            if self._busy_in_a_row >= PATIENCE:
                self._give_up(disk, "another process keeps it locked")
        elif code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
            self._set_aside(disk, str(error))
        else:
            self._give_up(disk, str(error))

    def _give_up(self, disk: _Disk, reason: str) -> None:
        with self._lock:
            self._disk = None
        disk.close()
        self._warn(f"the cache directory {disk.directory} cannot be used ({reason}); answers are kept in memory only")

    def _set_aside(self, disk: _Disk, reason: str) -> None:
        with self._lock:
            self._disk = None
        disk.close()
        where = disk.set_aside()
        outcome = f"was moved to {where}" if where else "could not be moved away, so delete it"
        self._warn(
            f"the cache directory {disk.directory} is damaged ({reason}) and {outcome};"
            " answers are kept in memory only until the next start"
        )


class _Disk:
    """Sealed entries in one directory, for one thread. Everything it raises is for its caller to judge."""

    def __init__(self, directory: Path, limit: int, key: bytes, lock_wait: float) -> None:
        self.directory = directory
        self._limit = int(limit)
        self._largest = min(self._limit // 8, LARGEST_ON_DISK)
        self._key = key
        self._lock_wait = lock_wait
        self._cache: Any = None

    def read(self, key: str, now: float) -> Entry | None:
        """The entry if there is one that opens and is alive; a row that is not is deleted."""
        cache, name = self._open(), self._name(key)
        sealed = cache.get(name)
        if sealed is None:
            return None
        plain = unseal(self._key, sealed, _encode(key))
        if plain is not None and len(plain) >= _HEAD.size:
            entry = Entry(plain[_HEAD.size :], *_HEAD.unpack_from(plain))
            if entry.is_alive(now):
                return entry
        cache.delete(name)
        return None

    def write(self, key: str, entry: Entry) -> None:
        cache, name = self._open(), self._name(key)
        if len(entry.value) > self._largest:
            # It would push out too much else, and an older one must not come back in its place.
            cache.delete(name)
            return
        plain = _HEAD.pack(entry.stored_at, entry.ttl) + entry.value
        cache.set(name, seal(self._key, plain, _encode(key)), expire=entry.ttl)
        # A write culls ten rows, which is too few when large values follow small ones.
        if cache.volume() > self._limit:
            cache.cull()

    def clear(self) -> bool:
        if self._cache is not None or (self.directory / "cache.db").exists():
            self._open().clear()
        return True

    def close(self) -> None:
        import contextlib
        import sqlite3

        cache, self._cache = self._cache, None
        if cache is not None:
            with contextlib.suppress(sqlite3.Error):
                cache.close()

    def set_aside(self) -> Path | None:
        """Where the directory went, or None when it could not be moved. One damaged directory is kept, the latest."""
        import shutil

        target = self.directory.with_name(self.directory.name + ".damaged")
        try:
            if target.exists():
                shutil.rmtree(target)
            self.directory.rename(target)
        except OSError:
            return None
        return target

    def _name(self, key: str) -> str:
        # Keyed, so that a row's name does not confirm a guess at what was asked.
        import hmac

        return hmac.digest(self._key, b"answer:" + _encode(key), "sha256").hex()

    def _open(self) -> Any:
        if self._cache is None:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not os.access(self.directory, os.W_OK):
                raise PermissionError(errno.EACCES, "it is not writable")
            import diskcache

            _check_database(
                str(self.directory / "cache.db"), self._lock_wait, {*diskcache.DEFAULT_SETTINGS, *_OWN_SETTINGS}
            )
            # Held before it is initialised, so that its connection can be closed when that fails half-way.
            self._cache = diskcache.Cache.__new__(diskcache.Cache)
            try:
                self._cache.__init__(
                    str(self.directory),
                    timeout=self._lock_wait,
                    disk=_sealed_rows(),
                    size_limit=self._limit,
                    eviction_policy="least-recently-stored",
                    statistics=0,
                    # A mapped file that another process cuts short would end this one with a bus error.
                    sqlite_mmap_size=0,
                    sqlite_cache_size=512,
                    sqlite_journal_size_limit=4 * MEBIBYTE,
                )
            except BaseException:
                self.close()
                raise
        return self._cache


def _sealed_rows() -> type[Any]:
    """A storage class for diskcache that only knows bytes inside the row: no pickles, no files, in either direction."""
    import sqlite3

    import diskcache

    class SealedRows(diskcache.Disk):  # type: ignore[misc] # the library comes without types
        def put(self, key: Any) -> tuple[str, bool]:
            if type(key) is not str:
                raise TypeError(f"a row is named by text, not {type(key).__name__}")
            return key, True

        def get(self, key: Any, raw: Any) -> str:
            return key if raw and type(key) is str else ""

        def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, Any]:  # noqa: ARG002 - the library passes it
            if read or type(value) is not bytes:
                raise TypeError(f"a row holds sealed bytes, not {type(value).__name__}")
            return 0, diskcache.core.MODE_RAW, None, sqlite3.Binary(value)

        def fetch(self, mode: Any, filename: Any, value: Any, read: bool) -> bytes:
            # Empty bytes cannot be unsealed, so a planted row is a miss and is deleted.
            is_ours = mode == diskcache.core.MODE_RAW and filename is None and not read and type(value) is bytes
            return value if is_ours else b""

        def remove(self, file_path: Any) -> None:
            """Nothing: there are no files, and a planted row could name any file of the user."""

    return SealedRows


def _check_database(path: str, lock_wait: float, known: set[str]) -> None:
    """Raise what keeps the database from being opened: a lock, damage, or settings that the library never wrote."""
    import sqlite3

    connection = sqlite3.connect(path, timeout=lock_wait, isolation_level=None)
    try:
        # The library would try for a minute to open a database that is locked.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'Settings'").fetchone() is None:
            return
        for name, value in connection.execute("SELECT key, value FROM Settings"):
            if name not in known or not (isinstance(value, int) or value in _PLAIN_SETTINGS):
                raise ValueError(f"the setting {name!r} is not one of the library's")
    finally:
        connection.close()


def _first_cause(error: BaseException) -> BaseException:
    """The database error at the start of the chain: a failed write is followed by a failed rollback or a timeout."""
    import sqlite3

    while isinstance(error.__context__, sqlite3.Error):
        error = error.__context__
    return error


def _encode(key: str) -> bytes:
    # Every text has bytes this way; an error here would be taken for a damaged row.
    return key.encode("utf-8", "surrogatepass")


def _size_of(key: str, entry: Entry) -> int:
    return len(key) + len(entry.value) + OVERHEAD
