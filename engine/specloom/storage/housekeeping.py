"""The housekeeping of a store: what expires, what is exported, what is erased, and what a new key seals again."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from specloom.plugins import CollectionSpec, Json

from .consent import to_refusals
from .keys import name_key
from .rows import COLUMNS, FROM, Rows, StoredRow, ViewAddress
from .writes import put
from .writes import reseal as reseal_item

BATCH = 500
"""Rows that one transaction removes or seals anew, so that nobody waits long for it."""


def expire(rows: Rows) -> int:
    """Remove some of what has expired, and who has nothing left; how many items went. Call again until it is 0."""
    gone = rows.connection.execute(
        "DELETE FROM items WHERE id IN (SELECT id FROM items WHERE expires <= ? LIMIT ?)", (rows.clock(), BATCH)
    ).rowcount
    if not gone:
        rows.connection.execute(
            "DELETE FROM owners WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.author = owners.tag)"
        )
    return gone


def reseal(rows: Rows, specs: Mapping[str, CollectionSpec], after: int) -> tuple[int, int]:
    """Seal some items after this id with the current key: the last id that was looked at (0 at the end), how many."""
    found = rows.connection.execute(
        f"SELECT {COLUMNS}, i.collection, i.place {FROM} WHERE i.id > ? AND substr(i.value, 1, 4) <> ? "
        "ORDER BY i.id LIMIT ?",
        (after, name_key(rows.keys.current), BATCH),
    ).fetchall()
    done = 0
    for *columns, collection, place in found:
        row = StoredRow(*columns)
        spec = specs.get(collection) or CollectionSpec(collection)
        done += reseal_item(rows, ViewAddress(spec, place, row.author, b""), row)
    return (found[-1][0] if len(found) == BATCH else 0), done


def export(rows: Rows, specs: Mapping[str, CollectionSpec], owner: bytes) -> dict[str, list[dict[str, Any]]]:
    """Everything that an owner wrote, by collection, in the order in which it was written."""
    exported: dict[str, list[dict[str, Any]]] = {name: [] for name in specs}
    found = rows.connection.execute(
        f"SELECT {COLUMNS}, i.collection, i.place {FROM} WHERE i.author = ? AND (i.expires IS NULL OR i.expires > ?) "
        "ORDER BY i.id",
        (owner, rows.clock()),
    ).fetchall()
    for *columns, collection, place in found:
        spec = specs.get(collection) or CollectionSpec(collection)
        exported.setdefault(collection, []).append(
            _export_item(rows, ViewAddress(spec, place, owner, b""), StoredRow(*columns))
        )
    return exported


def _export_item(rows: Rows, place: ViewAddress, row: StoredRow) -> dict[str, Json]:
    item = rows.open(place, row)
    said: dict[str, Json] = {"key": item.key, "value": item.value, "created": item.created, "changed": item.changed}
    if item.expires is not None:
        said["expires"] = item.expires
    if item.last:
        said["events"] = [{"seq": one.seq, "at": one.at, "value": one.value} for one in rows.open_events(place, row)]
    return said


def erase(rows: Rows, owners: Iterable[bytes], consents: CollectionSpec | None = None) -> dict[str, int]:
    """Remove everything these owners wrote and the salts it was sealed with; items by collection.

    Who had decided about anything in `consents` has refused every purpose from then on: without that a later start
    would take them for somebody who was never asked. The files are compacted in a step of its own, which
    `wants_compacting` remembers through a crash.
    """
    deleted: Counter[str] = Counter()
    for owner in owners:
        known = rows.connection.execute("SELECT tenant FROM owners WHERE tag = ?", (owner,)).fetchone()
        counted = rows.connection.execute(
            "SELECT collection, COUNT(*) FROM items WHERE author = ? OR place = ? GROUP BY collection", (owner, owner)
        )
        gone = dict(counted.fetchall())
        deleted.update(gone)
        rows.connection.execute("DELETE FROM items WHERE author = ? OR place = ?", (owner, owner))
        rows.connection.execute("DELETE FROM owners WHERE tag = ?", (owner,))
        if known and consents is not None and consents.name in gone:
            place = ViewAddress(consents, owner, owner, bytes(known[0]))
            for purpose, refusal in to_refusals(rows.clock()).items():
                put(rows, place, purpose, refusal, None)
    rows.connection.execute("INSERT OR REPLACE INTO meta VALUES ('compact', x'01')")
    return dict(deleted)


def users_of(rows: Rows, tenant: bytes) -> list[bytes]:
    """The owners of a tenant who wrote anything."""
    return [bytes(tag) for (tag,) in rows.connection.execute("SELECT tag FROM owners WHERE tenant = ?", (tenant,))]


def wants_compacting(connection: sqlite3.Connection) -> bool:
    """Whether an erasure has left its traces to be removed from the files."""
    return connection.execute("SELECT 1 FROM meta WHERE name = 'compact'").fetchone() is not None


def compact(connection: sqlite3.Connection) -> bool:
    """Write the files anew without what was removed; False when another process is in the way, to be tried again.

    Deleted cells are overwritten already (`secure_delete`), but pages that were rebuilt may hold copies of cells that
    moved away; only a new file is certain to hold none. Runs outside any transaction.
    """
    try:
        connection.execute("VACUUM")
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError:
        # A reader of another process, or no room for a second copy: what was erased is gone from every answer, and
        # its salt with it; the next round tries again.
        return False
    if busy:
        return False
    connection.execute("DELETE FROM meta WHERE name = 'compact'")
    return True
