"""Sealed rows of declared collections on one connection: where they lie, and how they are read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..drawer import CollectionSpec, Event, Item, join_owner, split_owner
from ..faults import Fault
from .keys import MasterKeys, is_current, make_salt, make_tag, unseal_value

TOUCH_SHARE, TOUCH_SECONDS = 16, 60.0
"""A sliding lifetime is written anew once in a sixteenth of it, at most once a minute; it is longer by as much."""

COLUMNS = "i.id, i.name, i.author, i.version, i.created, i.changed, i.used, i.expires, i.last, i.size, i.value, o.salt"
FROM = "FROM items i JOIN owners o ON o.tag = i.author"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the items of one view lie, and who writes them; tags instead of names."""

    spec: CollectionSpec
    place: bytes
    author: bytes
    tenant: bytes


@dataclass(frozen=True, slots=True)
class Row:
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
        self.tag_key = tag_key
        self.clock = clock

    # --- where --------------------------------------------------------------------------------------------------------

    def place(self, spec: CollectionSpec, owner: str, space: str) -> Place:
        """Where an owner's view of a collection is."""
        tenant, user = split_owner(owner)
        author = self.owner_tag(tenant, user)
        if spec.scope == "user":
            return Place(spec, author, author, self.tenant_tag(tenant))
        return Place(spec, make_tag(self.tag_key, "space", space), author, self.tenant_tag(tenant))

    def owner_tag(self, tenant: str, user: str) -> bytes:
        """What stands for a user of a tenant."""
        return make_tag(self.tag_key, "owner", join_owner(tenant, user))

    def tenant_tag(self, tenant: str) -> bytes:
        """What stands for a tenant."""
        return make_tag(self.tag_key, "tenant", tenant)

    def name_tag(self, place: Place, key: str) -> bytes:
        """What stands for the key of an item."""
        return make_tag(self.tag_key, "name", place.spec.name, place.place.hex(), key)

    def mark_tag(self, place: Place, field: str, text: str) -> bytes:
        """What stands for a text in an indexed field."""
        return make_tag(self.tag_key, "mark", place.spec.name, place.place.hex(), field, text)

    def salt(self, place: Place) -> bytes:
        """The salt of who writes here, made when there is none."""
        row = self.connection.execute("SELECT salt FROM owners WHERE tag = ?", (place.author,)).fetchone()
        if row is not None:
            return bytes(row[0])
        salt = make_salt()
        self.connection.execute("INSERT INTO owners VALUES (?, ?, ?)", (place.author, place.tenant, salt))
        return salt

    # --- reading ------------------------------------------------------------------------------------------------------

    def find(self, place: Place, key: str) -> Row | None:
        """The row if it is there and alive."""
        found = self.connection.execute(
            f"SELECT {COLUMNS} {FROM} WHERE i.collection = ? AND i.place = ? AND i.name = ?",
            (place.spec.name, place.place, self.name_tag(place, key)),
        ).fetchone()
        row = Row(*found) if found else None
        return row if row is not None and self._is_alive(row) else None

    def get(self, place: Place, key: str) -> tuple[Item, Row] | None:
        """The item and its row."""
        row = self.find(place, key)
        return None if row is None else (self.open(place, row), row)

    def open(self, place: Place, row: Row) -> Item:
        """The item in a row; an `internal` fault when the row was changed outside."""
        plain = unseal_value(self.keys, row.salt, row.value, bind("item", place, row.name, row.author, row.version))
        if plain is None:
            raise Fault(
                "internal",
                f"A record in {place.spec.name} does not open: it was changed outside this program, or its key is "
                "gone. Delete it and write it anew.",
                action="inform_user",
            )
        key, value = json.loads(plain)
        return Item(key, value, row.version, row.created, row.changed, row.expires, row.last)

    def select(
        self, place: Place, where: Mapping[str, str], limit: int, *, among: Sequence[int] | None = None
    ) -> list[Row]:
        """Living rows, newest first; `among` names the only ones that are wanted."""
        conditions: list[str] = []
        values: list[Any] = []
        if among is not None:
            conditions.append(f"AND i.id IN ({','.join('?' * len(among))})")
            values += among
        for field, text in where.items():
            if field not in place.spec.indexes:
                raise Fault("internal", f"The collection {place.spec.name} declares no index {field!r}.")
            conditions.append("AND i.id IN (SELECT item FROM marks WHERE tag = ?)")
            values.append(self.mark_tag(place, field, text))
        found = self.connection.execute(
            f"SELECT {COLUMNS} {FROM} WHERE i.collection = ? AND i.place = ? AND (i.expires IS NULL OR i.expires > ?) "
            f"{' '.join(conditions)} ORDER BY i.id DESC LIMIT ?",
            (place.spec.name, place.place, self.clock(), *values, max(0, limit)),
        )
        return [Row(*one) for one in found]

    def items(self, place: Place, where: Mapping[str, str], limit: int) -> list[Item]:
        """Living items, newest first."""
        return [self.open(place, row) for row in self.select(place, where, limit)]

    def events(self, place: Place, key: str, first: int, last: int | None) -> list[Event]:
        """Events of a living item, in order."""
        row = self.find(place, key)
        return [] if row is None else self.open_events(place, row, first, last)

    def open_events(self, place: Place, row: Row, first: int = 1, last: int | None = None) -> list[Event]:
        """The events behind a row."""
        found = self.connection.execute(
            "SELECT seq, at, value FROM events WHERE item = ? AND seq BETWEEN ? AND ? ORDER BY seq",
            (row.id, first, row.last if last is None else last),
        )
        opened = []
        for seq, at, sealed in found:
            plain = unseal_value(self.keys, row.salt, sealed, bind("event", place, row.name, row.author, seq))
            if plain is None:
                raise Fault(
                    "internal",
                    f"Entry {seq} of a record in {place.spec.name} does not open: it was changed outside this program.",
                    action="inform_user",
                )
            opened.append(Event(seq, at, json.loads(plain)))
        return opened

    def count(self, place: Place) -> int:
        """How many living items there are."""
        return int(
            self.connection.execute(
                "SELECT COUNT(*) FROM items WHERE collection = ? AND place = ? AND (expires IS NULL OR expires > ?)",
                (place.spec.name, place.place, self.clock()),
            ).fetchone()[0]
        )

    def is_due(self, place: Place, row: Row) -> bool:
        """Whether a read of this row should be written down: its lifetime slides, or its key is an old one."""
        spec = place.spec
        slides = spec.sliding and self.clock() - row.used >= touch_every(spec)
        return slides or not is_current(self.keys, row.value)

    def open_words(
        self, place: Place, name: bytes, author: bytes, salt: bytes, version: int, sealed: bytes
    ) -> dict[str, int]:
        """The words of an item, as they were counted when it was written."""
        plain = unseal_value(self.keys, salt, sealed, bind("words", place, name, author, version))
        terms: dict[str, int] = {} if plain is None else json.loads(plain)
        return terms

    def _is_alive(self, row: Row) -> bool:
        return row.expires is None or row.expires > self.clock()


def touch_every(spec: CollectionSpec) -> float:
    """Seconds after which a read is written down anew."""
    return min((spec.lifetime or 0.0) / TOUCH_SHARE, TOUCH_SECONDS)


def bind(kind: str, place: Place, name: bytes, author: bytes, number: int) -> bytes:
    """What a sealed value is bound to: it opens nowhere else, so values cannot be swapped between rows."""
    return f"{kind}\0{place.spec.name}\0".encode() + place.place + name + author + number.to_bytes(8, "big")
