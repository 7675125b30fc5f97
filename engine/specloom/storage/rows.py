"""Sealed rows of declared collections on one connection: where they lie, and how they are read."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from specloom.core import KEY_BYTES, Fault, dataclass, make_database, make_folder
from specloom.plugins import Event, Item

from .addresses import Tags, ViewAddress, bind
from .bounds import check_index, damaged_event, damaged_item, touch_every
from .files import STATE_FILE
from .keys import (
    SALT_BYTES,
    MasterKeys,
    is_current,
    unseal_value,
    unwrap_tag_key,
    wrap_tag_key,
)

COLUMNS = "i.id, i.name, i.author, i.version, i.created, i.changed, i.used, i.expires, i.last, i.size, i.value, o.salt"
FROM = "FROM items i JOIN owners o ON o.tag = i.author"


@dataclass(frozen=True, slots=True)
class StoredRow:
    """An item as it lies in the table."""

    id: int
    name: bytes
    author: bytes
    version: int
    created: float
    changed: float
    used: float
    expires: float | None
    last: int
    size: int
    value: bytes
    salt: bytes


class Rows:
    """What is read over an open connection; the caller begins and ends transactions. `writing` does the rest.

    Raises Fault for what a caller did, and sqlite3.Error for what the database did.
    """

    def __init__(
        self, connection: sqlite3.Connection, keys: MasterKeys, tag_key: bytes, clock: Callable[[], float]
    ) -> None:
        self.connection = connection
        self.keys = keys
        self.tags = Tags(tag_key)
        self.clock = clock

    def salt(self, place: ViewAddress) -> bytes:
        """The salt of who writes here, made when there is none."""
        row = self.connection.execute("SELECT salt FROM owners WHERE tag = ?", (place.author,)).fetchone()
        if row is not None:
            return bytes(row[0])
        salt = os.urandom(SALT_BYTES)
        self.connection.execute("INSERT INTO owners VALUES (?, ?, ?)", (place.author, place.tenant, salt))
        return salt

    # --- reading ------------------------------------------------------------------------------------------------------

    def find(self, place: ViewAddress, key: str) -> StoredRow | None:
        """The row if it is there and alive."""
        columns = self.connection.execute(
            f"SELECT {COLUMNS} {FROM} WHERE i.collection = ? AND i.place = ? AND i.name = ?",
            (place.spec.name, place.place, self.tags.name(place, key)),
        ).fetchone()
        row = StoredRow(*columns) if columns else None
        return row if row is not None and self._is_alive(row) else None

    def get(self, place: ViewAddress, key: str) -> tuple[Item, StoredRow] | None:
        """The item and its row."""
        row = self.find(place, key)
        return (self.open(place, row), row) if row else None

    def open(self, place: ViewAddress, row: StoredRow) -> Item:
        """The item in a row; an `internal` fault when the row was changed outside."""
        plain = unseal_value(self.keys, row.salt, row.value, bind("item", place, row.name, row.author, row.version))
        if plain is None:
            raise damaged_item(place.spec)
        key, value = json.loads(plain)
        return Item(key, value, row.version, row.created, row.changed, row.expires, row.last)

    def select(
        self, place: ViewAddress, where: Mapping[str, str], limit: int, *, among: Sequence[int] | None = None
    ) -> list[StoredRow]:
        """Living rows, newest first; `among` names the only ones that are wanted."""
        conditions: list[str] = []
        values: list[Any] = []
        if among is not None:
            conditions.append(f"AND i.id IN ({','.join('?' * len(among))})")
            values += among
        for field, text in where.items():
            check_index(place.spec, field)
            conditions.append("AND i.id IN (SELECT item FROM marks WHERE tag = ?)")
            values.append(self.tags.mark(place, field, text))
        rows = self.connection.execute(
            f"SELECT {COLUMNS} {FROM} WHERE i.collection = ? AND i.place = ? AND (i.expires IS NULL OR i.expires > ?) "
            f"{' '.join(conditions)} ORDER BY i.id DESC LIMIT ?",
            (place.spec.name, place.place, self.clock(), *values, max(0, limit)),
        )
        return [StoredRow(*one) for one in rows]

    def open_events(self, place: ViewAddress, row: StoredRow, first: int = 1, last: int | None = None) -> list[Event]:
        """The events behind a row."""
        events = self.connection.execute(
            "SELECT seq, at, value FROM events WHERE item = ? AND seq BETWEEN ? AND ? ORDER BY seq",
            (row.id, first, row.last if last is None else last),
        )
        opened = []
        for seq, at, sealed in events:
            plain = unseal_value(self.keys, row.salt, sealed, bind("event", place, row.name, row.author, seq))
            if plain is None:
                raise damaged_event(place.spec, seq)
            opened.append(Event(seq, at, json.loads(plain)))
        return opened

    def count(self, place: ViewAddress) -> int:
        """How many living items there are."""
        return int(
            self.connection.execute(
                "SELECT COUNT(*) FROM items WHERE collection = ? AND place = ? AND (expires IS NULL OR expires > ?)",
                (place.spec.name, place.place, self.clock()),
            ).fetchone()[0]
        )

    def is_due(self, place: ViewAddress, row: StoredRow) -> bool:
        """Whether a read of this row should be written down: its lifetime slides, or its key is an old one."""
        spec = place.spec
        slides = spec.sliding and self.clock() - row.used >= touch_every(spec)
        return slides or not is_current(self.keys, row.value)

    def _is_alive(self, row: StoredRow) -> bool:
        return row.expires is None or row.expires > self.clock()


# --- The file behind the state: how it is opened, what is in it, and what its errors mean to a caller -----------------


FORMAT = 1
LOCK_WAIT = 15.0
"""Seconds to wait for another process that is writing."""
JOURNAL_BYTES = 4 * 1024 * 1024
"""Bytes of the journal that stay on disk once it was written back."""
PAGE_BYTES = 4096


def open_database(folder: Path, *, max_bytes: int, lock_wait: float = LOCK_WAIT) -> sqlite3.Connection:
    """A connection to the database of a folder, made when it is missing: private, journalled, safe against power loss.

    It may be used by one thread at a time. Raises sqlite3.Error and OSError.
    """
    make_folder(folder)
    path = folder / STATE_FILE
    make_database(path)
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
        for statement in Path(__file__).with_name("schema.sql").read_text(encoding="utf-8").split(";\n"):
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
        tag_key = os.urandom(KEY_BYTES)
        wrapped = wrap_tag_key(keys, tag_key)
        connection.execute("INSERT INTO meta VALUES ('format', ?), ('tags', ?)", (b"%d" % FORMAT, wrapped))
        return tag_key
    tag_key = _open_tag_key(rows, keys)
    if not is_current(keys, rows["tags"]):
        connection.execute("UPDATE meta SET value = ? WHERE name = 'tags'", (wrap_tag_key(keys, tag_key),))
    return tag_key


def _open_tag_key(rows: Mapping[str, bytes], keys: MasterKeys) -> bytes:
    if int(rows["format"]) > FORMAT:
        raise ValueError("the state was written by a newer version: use that one, or name another folder")
    return unwrap_tag_key(keys, rows["tags"])


_NOTHING_LOST = "nothing of this was written, and nothing that was written is lost."
_FAILURES = {
    sqlite3.SQLITE_FULL: (
        f"is full: {_NOTHING_LOST} Free disk space, delete what is not needed or raise SPECLOOM_STATE_MAX_MB, then try "
        "again."
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged: its file was changed or cut short by something else. "
        "The operator should restore it from a backup, or move it away to begin a new one."
    ),
}
_FAILURES[sqlite3.SQLITE_NOTADB] = _FAILURES[sqlite3.SQLITE_CORRUPT]


def to_fault(error: Exception) -> Fault:
    """What a failure of the database means to whoever called."""
    if isinstance(error, Fault):
        return error
    code = _code(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        sentence = "The state store is busy: another process has been writing for too long. Try again in a moment."
        return Fault("upstream_unavailable", sentence, retry_after=2, action="retry_after_delay")
    if isinstance(error, ValueError):
        return Fault("config", f"The state store cannot be opened: {error}.", action="inform_user")
    reason = getattr(error, "strerror", None) or getattr(error, "sqlite_errorname", None) or type(error).__name__
    unknown = (
        f"cannot be written or read ({reason}): {_NOTHING_LOST} The operator should look at the disk and the rights of "
        "SPECLOOM_STATE_DIR."
    )
    kind = "upstream_unavailable" if code == sqlite3.SQLITE_FULL or code not in _FAILURES else "internal"
    return Fault(kind, f"The state store {_FAILURES.get(code, unknown)}", action="inform_user")


def is_full(error: Exception) -> bool:
    """Whether there is no room for what was to be written."""
    return _code(error) == sqlite3.SQLITE_FULL


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
