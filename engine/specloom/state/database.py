"""The file behind the state: how it is opened, what is in it, and what its errors mean to a caller."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path

from ..faults import Fault
from .keys import PREVIOUS_VARIABLE, MasterKeys, is_current, make_tag_key, unwrap_tag_key, wrap_tag_key

FILE = "state.db"
FORMAT = 1
LOCK_WAIT = 15.0
"""Seconds to wait for another process that is writing."""
JOURNAL_BYTES = 4 * 1024 * 1024
"""Bytes of the journal that stay on disk once it was written back."""
PAGE_BYTES = 4096

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS owners (tag BLOB PRIMARY KEY, tenant BLOB NOT NULL, salt BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS owners_by_tenant ON owners (tenant);
CREATE TABLE IF NOT EXISTS items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL, place BLOB NOT NULL, name BLOB NOT NULL, author BLOB NOT NULL,
    version INTEGER NOT NULL, created REAL NOT NULL, changed REAL NOT NULL, used REAL NOT NULL, expires REAL,
    last INTEGER NOT NULL, size INTEGER NOT NULL, value BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS items_by_name ON items (collection, place, name);
CREATE INDEX IF NOT EXISTS items_by_use ON items (collection, place, used, expires, size);
CREATE INDEX IF NOT EXISTS items_by_author ON items (author);
CREATE INDEX IF NOT EXISTS items_by_place ON items (place);
CREATE INDEX IF NOT EXISTS items_by_end ON items (expires) WHERE expires IS NOT NULL;
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, item INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL, at REAL NOT NULL, value BLOB NOT NULL, UNIQUE (item, seq));
CREATE TABLE IF NOT EXISTS marks (
    item INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE, tag BLOB NOT NULL,
    PRIMARY KEY (tag, item)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS marks_by_item ON marks (item);
CREATE TABLE IF NOT EXISTS vectors (
    item INTEGER PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE, version INTEGER NOT NULL, value BLOB NOT NULL);
"""
"""`place` is the tag of the owner or of the shared space; `author` that of who wrote, whose salt is in the key."""


def open_database(folder: Path, *, max_bytes: int, lock_wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """A connection to the database of a folder, made when it is missing: private, journalled, safe against power loss.

    It may be used by one thread at a time. Raises sqlite3.Error and OSError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / FILE
    if not path.exists():
        # The journal takes over the mode of the file, so nobody else can read either.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, timeout=lock_wait, isolation_level=None, check_same_thread=False)
    try:
        _switch_to_wal(connection, lock_wait)
        for pragma in (
            "synchronous = FULL",
            "secure_delete = ON",
            "foreign_keys = ON",
            "temp_store = MEMORY",
            f"journal_size_limit = {JOURNAL_BYTES}",
            f"max_page_count = {max(64, max_bytes // PAGE_BYTES)}",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def open_nowhere() -> sqlite3.Connection:
    """A connection to a database of its own in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _switch_to_wal(connection: sqlite3.Connection, lock_wait: float) -> None:
    # Two processes that switch a new file at once do not wait for each other; the loser is told at once.
    deadline = time.monotonic() + lock_wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if time.monotonic() > deadline or _code(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            time.sleep(0.01)
        else:
            return


def prepare(connection: sqlite3.Connection, keys: MasterKeys) -> bytes:
    """Make the tables where they are missing; gives the key of the tags. A ValueError when the store has other keys."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone() is not None:
        # Whoever only reads need not wait for somebody who writes.
        rows = dict(connection.execute("SELECT name, value FROM meta"))
        if "tags" in rows and is_current(keys, rows["tags"]):
            return _open_tag_key(rows, keys)
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in _TABLES.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        tag_key = _take_tag_key(connection, keys)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return tag_key


def _take_tag_key(connection: sqlite3.Connection, keys: MasterKeys) -> bytes:
    rows = dict(connection.execute("SELECT name, value FROM meta"))
    if "tags" not in rows:
        tag_key = make_tag_key()
        wrapped = wrap_tag_key(keys.current, tag_key)
        connection.execute("INSERT INTO meta VALUES ('format', ?), ('tags', ?)", (b"%d" % FORMAT, wrapped))
        return tag_key
    found = _open_tag_key(rows, keys)
    if not is_current(keys, rows["tags"]):
        wrapped = wrap_tag_key(keys.current, found)
        connection.execute("UPDATE meta SET value = ? WHERE name = 'tags'", (wrapped,))
    return found


def _open_tag_key(rows: Mapping[str, bytes], keys: MasterKeys) -> bytes:
    if int(rows["format"]) > FORMAT:
        raise ValueError("the state was written by a newer version: use that one, or name another folder")
    found = unwrap_tag_key(keys, rows["tags"])
    if found is None:
        raise ValueError(
            f"the state was sealed with another key: give that one as {PREVIOUS_VARIABLE}, or restore its key file"
        )
    return found


def to_fault(error: Exception) -> Fault:
    """What a failure of the database means to whoever called."""
    if isinstance(error, Fault):
        return error
    code = _code(error)
    if code == sqlite3.SQLITE_FULL:
        sentence = (
            "The state store is full: nothing of this was written, and nothing that was written is lost. "
            "Free disk space, delete what is not needed or raise SPECLOOM_STATE_MAX_MB, then try again."
        )
        return Fault("upstream_unavailable", sentence, action="inform_user")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        sentence = "The state store is busy: another process has been writing for too long. Try again in a moment."
        return Fault("upstream_unavailable", sentence, retry_after=2, action="retry_after_delay")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        sentence = (
            "The state store is damaged: its file was changed or cut short by something else. "
            "The operator should restore it from a backup, or move it away to begin a new one."
        )
        return Fault("internal", sentence, action="inform_user")
    if isinstance(error, ValueError):
        return Fault("config", f"The state store cannot be opened: {error}.", action="inform_user")
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
    else:
        reason = getattr(error, "sqlite_errorname", type(error).__name__)
    sentence = (
        f"The state store cannot be written or read ({reason}): nothing of this was written, and nothing that was "
        "written is lost. The operator should look at the disk and the rights of SPECLOOM_STATE_DIR."
    )
    return Fault("upstream_unavailable", sentence, action="inform_user")


def is_full(error: Exception) -> bool:
    """Whether there is no room for what was to be written."""
    return _code(error) == sqlite3.SQLITE_FULL


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
