"""What each write does inside its transaction: values sealed, bounds kept, index terms and words written with them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from specloom.plugins import Change, CollectionSpec, Item, Json, Move

from .addresses import ViewAddress, bind
from .bounds import (
    TOUCH_SECONDS,
    check_author,
    check_size,
    check_stream,
    check_version,
    encode,
    missing_item,
    too_many_bytes,
    too_many_items,
    total_lifetime,
)
from .consent import to_refusals
from .keys import is_current, name_key, seal_value, unseal_value
from .rows import COLUMNS, FROM, Rows, StoredRow
from .search import count_terms, read_texts


def put(rows: Rows, place: ViewAddress, key: str, value: Json, expect: int | None) -> Item:
    """Write a value; see Drawer.put."""
    row = rows.find(place, key)
    check_version(row.version if row else 0, expect)
    return _write(rows, place, key, value, row)


def update(rows: Rows, place: ViewAddress, key: str, change: Change, lasts: float | None = None) -> Item | None:
    """Write what `change` gives; see Drawer.update."""
    stored = rows.get(place, key)
    value = change(stored[0].value if stored else None)
    if value is None:
        return stored[0] if stored else None
    return _write(rows, place, key, value, stored[1] if stored else None, lasts=lasts)


def move(rows: Rows, place: ViewAddress, key: str, to: str, change: Move, lasts: float | None = None) -> Item | None:
    """Write under another key what `change` gives, and delete the item; see Collection.move."""
    stored = rows.get(place, key)
    if stored is None or key == to:
        return None
    item, row = stored
    check_author(place.spec, is_own=row.author == place.author)
    other = rows.get(place, to)
    value = change(item.value, other[0].value if other else None)
    if value is None:
        return None
    rows.connection.execute("DELETE FROM items WHERE id = ?", (row.id,))
    return _write(rows, place, to, value, other[1] if other else None, lasts=lasts)


def append(
    rows: Rows,
    place: ViewAddress,
    key: str,
    event: Json,
    expect: int | None,
    change: Callable[[Json, int], Json] | None,
) -> Item:
    """Append an event; see Drawer.append."""
    stored = rows.get(place, key)
    if stored is None:
        raise missing_item(place.spec)
    item, row = stored
    check_stream(place.spec, row.last, expect)
    seq = row.last + 1
    value = item.value if change is None else change(item.value, seq)
    text = encode(event)
    check_size(place.spec, text)
    sealed = seal_value(rows.keys.current, row.salt, text, bind("event", place, row.name, row.author, seq))
    rows.connection.execute(
        "INSERT INTO events (item, seq, at, value) VALUES (?, ?, ?, ?)", (row.id, seq, rows.clock(), sealed)
    )
    return _write(rows, place, key, value, row, last=seq, more=len(sealed))


def delete(rows: Rows, place: ViewAddress, key: str) -> bool:
    """Delete an item of this author."""
    gone = rows.connection.execute(
        "DELETE FROM items WHERE collection = ? AND place = ? AND name = ? AND author = ?",
        (place.spec.name, place.place, rows.tags.name(place, key), place.author),
    )
    return gone.rowcount > 0


def touch(rows: Rows, place: ViewAddress, key: str) -> None:
    """Write down that an item was read."""
    row = rows.find(place, key)
    if row is None or not rows.is_due(place, row):
        return
    if not is_current(rows.keys, row.value):
        reseal_item(rows, place, row)
    now = rows.clock()
    expires = _end(place.spec, now) if place.spec.sliding else row.expires
    rows.connection.execute("UPDATE items SET used = ?, expires = ? WHERE id = ?", (now, expires, row.id))


def reseal_item(rows: Rows, place: ViewAddress, row: StoredRow) -> bool:
    """Seal an item and everything behind it with the current key; whether all of it could be opened."""
    parts = [("item", row.version, row.value, row.id, "UPDATE items SET value = ? WHERE id = ?")]
    events = rows.connection.execute("SELECT seq, value, id FROM events WHERE item = ?", (row.id,)).fetchall()
    parts += [("event", *one, "UPDATE events SET value = ? WHERE id = ?") for one in events]
    words = rows.connection.execute("SELECT version, value FROM vectors WHERE item = ?", (row.id,)).fetchall()
    parts += [("words", *one, row.id, "UPDATE vectors SET value = ? WHERE item = ?") for one in words]
    opened = True
    for kind, number, sealed, id_, update in parts:
        if is_current(rows.keys, sealed):
            continue
        context = bind(kind, place, row.name, row.author, number)
        plain = unseal_value(rows.keys, row.salt, sealed, context)
        if plain is None:
            opened = False
            continue
        rows.connection.execute(update, (seal_value(rows.keys.current, row.salt, plain, context), id_))
    return opened


def _write(
    rows: Rows,
    place: ViewAddress,
    key: str,
    value: Json,
    row: StoredRow | None,
    *,
    last: int | None = None,
    more: int = 0,
    lasts: float | None = None,
) -> Item:
    spec, now = place.spec, rows.clock()
    check_author(spec, is_own=row is None or row.author == place.author)
    check_size(place.spec, encode(value))
    version = row.version + 1 if row else 1
    last = last if last is not None else row.last if row else 0
    name = row.name if row else rows.tags.name(place, key)
    salt = row.salt if row else rows.salt(place)
    plain = encode([key, value])
    sealed = seal_value(rows.keys.current, salt, plain, bind("item", place, name, place.author, version))
    size = (row.size - len(row.value) if row else 0) + len(sealed) + more
    expires = _end(spec, now)
    if lasts is not None:
        expires = min(now + lasts, now + lasts if expires is None else expires)
    _make_room(rows, place, row, size)
    if row is None:
        cursor = rows.connection.execute(
            "INSERT INTO items (collection, place, name, author, version, created, changed, used, expires, last, "
            "size, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (spec.name, place.place, name, place.author, version, now, now, now, expires, last, size, sealed),
        )
        id_, created = int(cursor.lastrowid or 0), now
    else:
        if not is_current(rows.keys, row.value):
            reseal_item(rows, place, row)
        id_, created = row.id, row.created
        rows.connection.execute(
            "UPDATE items SET version = ?, changed = ?, used = ?, expires = ?, last = ?, size = ?, value = ? "
            "WHERE id = ?",
            (version, now, now, expires, last, size, sealed, id_),
        )
    _write_marks(rows, place, id_, value, is_new=row is None)
    _write_words(rows, place, id_, name, version, salt, value)
    return Item(key, value, version, created, now, expires, last)


def _write_marks(rows: Rows, place: ViewAddress, id_: int, value: Json, *, is_new: bool) -> None:
    if not place.spec.indexes:
        return
    if not is_new:
        rows.connection.execute("DELETE FROM marks WHERE item = ?", (id_,))
    tags = {rows.tags.mark(place, field, text) for field in place.spec.indexes for text in read_texts(value, (field,))}
    rows.connection.executemany("INSERT INTO marks (item, tag) VALUES (?, ?)", [(id_, tag) for tag in sorted(tags)])


def _write_words(rows: Rows, place: ViewAddress, id_: int, name: bytes, version: int, salt: bytes, value: Json) -> None:
    if not place.spec.search:
        return
    terms = count_terms(read_texts(value, place.spec.search))
    context = bind("words", place, name, place.author, version)
    sealed = seal_value(rows.keys.current, salt, encode(terms), context)
    rows.connection.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (id_, version, sealed))


def _make_room(rows: Rows, place: ViewAddress, row: StoredRow | None, size: int) -> None:
    spec = place.spec
    grown = size - (row.size if row else 0)
    if row is not None and grown <= 0:
        return
    if row is None:
        rows.connection.execute(
            "DELETE FROM items WHERE collection = ? AND place = ? AND expires <= ?",
            (spec.name, place.place, rows.clock()),
        )
    items, used = rows.connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(size), 0) FROM items WHERE collection = ? AND place = ?",
        (spec.name, place.place),
    ).fetchone()
    too_many = items + (row is None) - spec.max_items
    too_large = used + grown - spec.max_bytes
    if spec.when_full == "evict" and (too_many > 0 or too_large > 0):
        too_large -= _evict(rows, place, row, too_many, too_large)
    elif row is None and too_many > 0:
        raise too_many_items(spec)
    if too_large > 0:
        raise too_many_bytes(spec, used)


def _evict(rows: Rows, place: ViewAddress, spared: StoredRow | None, count: int, size: int) -> int:
    """Remove the least recently used items until so many and so many bytes are gone; how many bytes went."""
    # What was used in the future was used before the clock was put back, and so before everything since.
    oldest = rows.connection.execute(
        "SELECT id, size FROM items WHERE collection = ? AND place = ? AND id IS NOT ? ORDER BY used <= ?, used, id",
        (place.spec.name, place.place, spared.id if spared else None, rows.clock() + TOUCH_SECONDS),
    )
    gone: list[tuple[int]] = []
    freed = 0
    for id_, held in oldest:
        if len(gone) >= count and freed >= size:
            break
        gone.append((id_,))
        freed += held
    rows.connection.executemany("DELETE FROM items WHERE id = ?", gone)
    return freed


def _end(spec: CollectionSpec, now: float) -> float | None:
    lifetime = total_lifetime(spec)
    return None if lifetime is None else now + lifetime


# --- Housekeeping: what expires, what is exported, what is erased, and what a new key seals again ---------------------


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
    stored = rows.connection.execute(
        f"SELECT {COLUMNS}, i.collection, i.place {FROM} WHERE i.id > ? AND substr(i.value, 1, 4) <> ? "
        "ORDER BY i.id LIMIT ?",
        (after, name_key(rows.keys.current), BATCH),
    ).fetchall()
    done = 0
    for *columns, collection, place in stored:
        row = StoredRow(*columns)
        spec = specs.get(collection) or CollectionSpec(collection)
        done += reseal_item(rows, ViewAddress(spec, place, row.author, b""), row)
    return (stored[-1][0] if len(stored) == BATCH else 0), done


def export(rows: Rows, specs: Mapping[str, CollectionSpec], owner: bytes) -> dict[str, list[dict[str, Any]]]:
    """Everything that an owner wrote, by collection, in the order in which it was written."""
    exported: dict[str, list[dict[str, Any]]] = {name: [] for name in specs}
    stored = rows.connection.execute(
        f"SELECT {COLUMNS}, i.collection, i.place {FROM} WHERE i.author = ? AND (i.expires IS NULL OR i.expires > ?) "
        "ORDER BY i.id",
        (owner, rows.clock()),
    ).fetchall()
    for *columns, collection, place in stored:
        spec = specs.get(collection) or CollectionSpec(collection)
        exported.setdefault(collection, []).append(
            _export_item(rows, ViewAddress(spec, place, owner, b""), StoredRow(*columns))
        )
    return exported


def _export_item(rows: Rows, place: ViewAddress, row: StoredRow) -> dict[str, Json]:
    item = rows.open(place, row)
    fields: dict[str, Json] = {"key": item.key, "value": item.value, "created": item.created, "changed": item.changed}
    if item.expires is not None:
        fields["expires"] = item.expires
    if item.last:
        fields["events"] = [{"seq": one.seq, "at": one.at, "value": one.value} for one in rows.open_events(place, row)]
    return fields


def erase(rows: Rows, owners: Iterable[bytes], consents: CollectionSpec | None = None) -> dict[str, int]:
    """Remove everything these owners wrote and the salts it was sealed with; items by collection.

    Who had decided about anything in `consents` has refused every purpose from then on: without that a later start
    would take them for somebody who was never asked. The files are compacted in a step of its own, which
    `wants_compacting` remembers through a crash.
    """
    deleted: Counter[str] = Counter()
    for owner in owners:
        tenant_row = rows.connection.execute("SELECT tenant FROM owners WHERE tag = ?", (owner,)).fetchone()
        counts = rows.connection.execute(
            "SELECT collection, COUNT(*) FROM items WHERE author = ? OR place = ? GROUP BY collection", (owner, owner)
        )
        gone = dict(counts.fetchall())
        deleted.update(gone)
        rows.connection.execute("DELETE FROM items WHERE author = ? OR place = ?", (owner, owner))
        rows.connection.execute("DELETE FROM owners WHERE tag = ?", (owner,))
        if tenant_row and consents is not None and consents.name in gone:
            place = ViewAddress(consents, owner, owner, bytes(tenant_row[0]))
            for purpose, refusal in to_refusals(rows.clock()).items():
                put(rows, place, purpose, refusal, None)
    rows.connection.execute("INSERT OR REPLACE INTO meta VALUES ('compact', x'01')")
    return dict(deleted)


def erase_collection(rows: Rows, collection: str, owners: Iterable[bytes] | None) -> int:
    """Remove what these owners, or with None all, wrote in one collection; how many items. Compacting as by `erase`."""
    if owners is None:
        count = rows.connection.execute("DELETE FROM items WHERE collection = ?", (collection,)).rowcount
    else:
        count = sum(
            rows.connection.execute("DELETE FROM items WHERE collection = ? AND author = ?", (collection, one)).rowcount
            for one in owners
        )
    rows.connection.execute("INSERT OR REPLACE INTO meta VALUES ('compact', x'01')")
    return count


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
