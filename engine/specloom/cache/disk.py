"""Answers on disk: sealed rows of a bounded database that only this program can have written."""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from specloom.core import cache_folder, dataclass, keyed_digest, make_database, make_folder, seal, state_folder, unseal

from .erasures import ERASURES, mark_erasure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


LOCK_WAIT = 1.0
"""Seconds to wait for another process that is writing to the directory."""
ANSWERS = "answers"
"""The directory in the cache's folder."""
WRITES_BETWEEN = 32
"""Writes between two looks at the size of the whole and at what has expired, unless much is written."""
PARTS = 8
"""The largest value that is kept is this part of the whole, and no more is written between two looks."""
LARGEST_ON_DISK = 256 * 1024 * 1024
"""Bytes of the largest value that is kept on disk; a database row ends at a thousand million."""
GLANCE_KIBIBYTES = 256
"""Memory for the pages of the database that a glance has read."""
JOURNAL_BYTES = 4 * 1024 * 1024
"""Bytes of the journal that stay on disk once it was written back."""

_HEAD = struct.Struct(">dd")
_PLAIN_SETTINGS = ("wal", "least-recently-stored")
_OWN_SETTINGS = ("count", "size", "hits", "misses", "sqlite_journal_size_limit")


Freshness = Literal["fresh", "aging", "expiring"]

SLACK = 5.0
"""Seconds a clock may step back before what was stored under the later time is refused."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
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


class AnswerDisk:
    """Sealed entries in one directory, for one thread. Everything it raises is for its caller to judge."""

    def __init__(self, directory: Path, limit: int, key: bytes, lock_wait: float) -> None:
        self.directory = directory
        self._limit = int(limit)
        self._largest = min(self._limit // PARTS, LARGEST_ON_DISK)
        self._key = key
        self._to_name = _namer(key)
        self._lock_wait = lock_wait
        self._cache: Any = None
        self._writes = self._written = 0

    def read(self, key: str, now: float) -> CacheEntry | None:
        """The entry if there is one that opens and is alive; a row that is not is deleted."""
        cache, name = self._open(), self._to_name(key)
        sealed = cache.get(name)
        if sealed is None:
            return None
        plain = unseal(self._key, sealed, _encode(key))
        if plain is not None and len(plain) >= _HEAD.size:
            entry = CacheEntry(plain[_HEAD.size :], *_HEAD.unpack_from(plain))
            if entry.is_alive(now):
                return entry
        cache.delete(name)
        return None

    def write_all(self, entries: Mapping[str, CacheEntry]) -> None:
        """Write several entries in one transaction, so that they cost little more than one."""
        with self._open().transact() if len(entries) > 1 else contextlib.nullcontext():
            for key, entry in entries.items():
                self.write(key, entry)

    def write(self, key: str, entry: CacheEntry) -> None:
        """Write one entry in place of whatever stands under its key."""
        cache, name = self._open(), self._to_name(key)
        if len(entry.value) > self._largest:
            # It would push out too much else, and an older one must not come back in its place.
            cache.delete(name)
            return
        plain = _HEAD.pack(entry.stored_at, entry.ttl) + entry.value
        cache.set(name, seal(self._key, plain, _encode(key)), expire=entry.ttl)
        self._writes += 1
        self._written += len(plain)
        # To look at each write is more than half of its work.
        if self._writes % WRITES_BETWEEN == 1 or self._written > self._limit // PARTS:
            self._written = 0
            cache.cull()

    def prepare(self) -> None:
        """Open the database if there is one."""
        if (self.directory / "cache.db").exists():
            self._open()

    def glance(self) -> Glance | None:
        """A look at the directory for other threads, once it is open."""
        return Glance(self.directory, self._key) if self._cache is not None else None

    def clear(self) -> bool:
        if self._cache is not None or (self.directory / "cache.db").exists():
            self._open().clear()
        return True

    def close(self) -> None:
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

    def _open(self) -> Any:
        if self._cache is None:
            make_folder(self.directory, tighten=True)
            if not os.access(self.directory, os.W_OK):
                raise PermissionError(errno.EACCES, "it is not writable")
            import diskcache

            make_database(self.directory / "cache.db")
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
                    cull_limit=0,
                    # A mapped file that another process cuts short would end this one with a bus error.
                    sqlite_mmap_size=0,
                    sqlite_cache_size=512,
                    sqlite_journal_size_limit=JOURNAL_BYTES,
                )
            except BaseException:
                self.close()
                raise
        return self._cache


class Glance:
    """Tells from any thread, in microseconds and without waiting, that an answer is not on disk.

    A connection of its own that only reads. Whatever is in its way, the answer may be there.
    """

    def __init__(self, directory: Path, key: bytes) -> None:
        self._file = directory / "cache.db"
        self._to_name = _namer(key)
        self._connection: Any = None
        self._closed = False
        self._lock = threading.Lock()

    def may_have(self, key: str) -> bool:
        """Whether there may be a row for the key, alive or not."""
        import sqlite3

        try:
            with self._lock:
                if self._closed:
                    return True
                if self._connection is None:
                    self._connection = sqlite3.connect(
                        f"{self._file.absolute().as_uri()}?mode=rw", uri=True, timeout=0, check_same_thread=False
                    )
                    self._connection.execute(f"PRAGMA cache_size = -{GLANCE_KIBIBYTES}")
                name = self._to_name(key)
                return bool(self._connection.execute("SELECT 1 FROM Cache WHERE key = ? LIMIT 1", (name,)).fetchall())
        except sqlite3.Error:
            return True

    def close(self) -> None:
        import sqlite3

        with self._lock, contextlib.suppress(sqlite3.Error):
            self._closed = True
            if self._connection is not None:
                self._connection.close()


def erase_answers(directory: Path, lock_wait: float, *, erasures: Path | None = None) -> bool:
    """Remove every kept answer and write the file anew without it; False when another process is in the way.

    Also where the key is gone and a server has the directory open: its next look finds nothing. With `erasures`, the
    file that servers look at, their memories go as well.
    """
    if erasures is not None:
        # Before, so that nothing on its way is written behind the removal; and behind it, because until then what is
        # to be removed may be read into memory.
        mark_erasure(erasures)
        try:
            return erase_answers(directory, lock_wait)
        finally:
            mark_erasure(erasures)
    import sqlite3

    if not (directory / "cache.db").exists():
        return True
    connection = sqlite3.connect(directory / "cache.db", timeout=lock_wait, isolation_level=None)
    try:
        # The library keeps count of its rows by triggers.
        connection.execute("DELETE FROM Cache")
        connection.execute("VACUUM")
        return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.Error:
        return False
    finally:
        connection.close()


def forget_answers(environ: Mapping[str, str]) -> tuple[int, bool]:
    """Remove every answer that is kept for an environment, also in the memory of servers that run.

    How many there were on disk, and whether they are gone; OSError where servers cannot be told.
    """
    directory = Path(cache_folder(environ)) / ANSWERS
    count = count_answers(directory, LOCK_WAIT)
    return count, erase_answers(directory, LOCK_WAIT, erasures=Path(state_folder(environ)) / ERASURES)


def count_answers(directory: Path, lock_wait: float) -> int:
    """How many answers are kept in a directory; 0 where none can be seen."""
    import sqlite3

    if not (directory / "cache.db").exists():
        return 0
    connection = sqlite3.connect(directory / "cache.db", timeout=lock_wait, isolation_level=None)
    try:
        return int(connection.execute("SELECT COUNT(*) FROM Cache").fetchone()[0])
    except sqlite3.Error:
        return 0
    finally:
        connection.close()


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


def _namer(secret: bytes) -> Callable[[str], str]:
    """What a row is called by its key; keyed, so that a name does not confirm a guess at what was asked."""
    digest = keyed_digest(secret)
    return lambda key: digest(b"answer:" + _encode(key)).hex()


def _encode(key: str) -> bytes:
    # Every text has bytes this way; an error here would be taken for a damaged row.
    return key.encode("utf-8", "surrogatepass")
