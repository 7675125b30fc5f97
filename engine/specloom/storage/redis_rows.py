"""Sealed rows of declared collections in Redis: what is read and written there, each step whole or not at all.

A write is read, decided here and committed there if what was read is there still (optimistic concurrency control); a
writer that stood still for a while finds another version, and looks again. So it needs no lock that could be left, and
no transaction, which would take a connection of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from specloom.core import Fault, dataclass
from specloom.plugins import Change, CollectionSpec, Event, Item, Json, Move, SearchHit

from .addresses import Tags, ViewAddress, bind
from .bounds import (
    check_author,
    check_index,
    check_size,
    check_stream,
    check_version,
    damaged_event,
    damaged_item,
    encode,
    missing_item,
    too_many_bytes,
    too_many_items,
    total_lifetime,
    touch_every,
)
from .keys import SALT_BYTES, MasterKeys, is_current, make_tag, seal_value, unseal_value
from .redis_link import Script
from .search import CANDIDATES, Index, Indexes, count_terms, read_texts

if TYPE_CHECKING:
    from .redis_link import RedisLink

SCRIPT = Script(Path(__file__).with_name("collections.lua").read_text(encoding="utf-8"))
MOST_TRIES = 100
"""Times that a write looks again because others were faster; of those who try at once, one has always succeeded."""
LONGEST_PAUSE = 0.02
PAGE, PAGE_BYTES = 100, 4_000_000
"""Items that are read in one step where all are, and bytes after which no more are."""
BATCH = 500
"""Items that one step removes, or whose words it reads, so that nobody waits long for it."""


class StoreReplaced(Exception):  # noqa: N818 - no failure: the work begins anew
    """The server has another store than the one that was opened: it has lost its data, or was emptied."""


@dataclass(frozen=True, slots=True)
class RedisRow:
    """An item as it lies in Redis."""

    tag: bytes
    id: bytes
    collection: str
    place: bytes
    author: bytes
    version: int
    created: float
    changed: float
    used: float
    expires: float | None
    last: int
    value: bytes
    salt: bytes


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to be written: a value, and the event that is put on the stream with it."""

    value: Json
    event: bytes = b""
    lasts: float | None = None
    """After how many seconds it ends, where that is earlier than its collection says."""


Decide = Callable[[RedisRow | None, Item | None, Item | None], Draft | None]
"""From what is there, and the item that moves there, to what is to be written; None leaves it as it is."""


def to_row(fields: Sequence[Any]) -> RedisRow | None:
    """A row as the script tells it."""
    if not fields:
        return None
    id_, collection, place, author, version, created, changed, used, expires, last, _, value, salt, tag = fields
    return RedisRow(
        tag,
        id_,
        collection.decode(),
        place,
        author,
        int(version),
        float(created),
        float(changed),
        float(used),
        float(expires) if expires else None,
        int(last),
        value,
        salt,
    )


def _stamp(row: RedisRow | None) -> bytes:
    """What tells a row as it was seen from every later one; empty for none."""
    return b"%s:%d" % (row.id, row.version) if row else b""


class RedisRows:
    """What is read and written in a store that was opened.

    Raises Fault for what a caller did, BackplaneError for what the server did, and StoreReplaced.
    """

    def __init__(
        self, link: RedisLink, base: str, mark: bytes, keys: MasterKeys, tag_key: bytes, clock: Callable[[], str]
    ) -> None:
        self.tags = Tags(tag_key)
        self._tag_key = tag_key
        self._link, self._base, self._mark, self._keys, self._clock = link, base, mark, keys, clock
        # Of one process, those who write the same item take turns instead of trying against each other.
        self._turns: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()

    async def run(self, command: str, *values: Any) -> Any:
        """What the script answers."""
        answer = await self._link.run(SCRIPT, (self._base,), command, self._mark, self._clock(), *values)
        if answer[0] == b"other":
            raise StoreReplaced
        return answer

    # --- Reading ------------------------------------------------------------------------------------------------------

    async def look(self, place: ViewAddress, key: str) -> tuple[float, bytes, RedisRow | None]:
        """The time, the salt of who looks (empty where there is none), and the row."""
        now, salt, row = await self.run("look", self.tags.name(place, key), place.author)
        return float(now), salt, to_row(row)

    async def get(self, place: ViewAddress, key: str) -> tuple[Item | None, Callable[[], Awaitable[None]] | None]:
        """The item, and what writes down that it was read, where that is due."""
        now, _, row = await self.look(place, key)
        if row is None:
            return None, None
        slides = place.spec.sliding and now - row.used >= touch_every(place.spec)
        if not slides and is_current(self._keys, row.value):
            return self.open(place, row), None
        return self.open(place, row), lambda: self._touch(place, row)

    def open(self, place: ViewAddress, row: RedisRow) -> Item:
        """The item in a row; an `internal` fault when the row was changed outside."""
        plain = unseal_value(self._keys, row.salt, row.value, bind("item", place, row.tag, row.author, row.version))
        if plain is None:
            raise damaged_item(place.spec)
        key, value = json.loads(plain)
        return Item(key, value, row.version, row.created, row.changed, row.expires, row.last)

    def open_events(self, place: ViewAddress, row: RedisRow, stored: Iterable[bytes], first: int = 1) -> list[Event]:
        """The events behind a row, from number `first`."""
        opened = []
        for seq, entry in enumerate(stored, first):
            at, _, sealed = entry.partition(b" ")
            plain = unseal_value(self._keys, row.salt, sealed, bind("event", place, row.tag, row.author, seq))
            if plain is None:
                raise damaged_event(place.spec, seq)
            opened.append(Event(seq, float(at), json.loads(plain)))
        return opened

    async def events(self, place: ViewAddress, key: str, first: int, last: int | None) -> list[Event]:
        """Some events of an item."""
        first = max(1, first)
        if last is not None and last < first:
            return []
        name = self.tags.name(place, key)
        found, stored = await self.run("events", name, first, "" if last is None else last)
        row = to_row(found)
        return self.open_events(place, row, stored, first) if row else []

    async def select(
        self, place: ViewAddress, where: Mapping[str, str], limit: int, among: Sequence[int] = ()
    ) -> list[RedisRow]:
        """Living rows, newest first; `among` names the only ones that are wanted."""
        for field in where:
            check_index(place.spec, field)
        marks = b"".join(self.tags.mark(place, field, text) for field, text in where.items())
        (rows,) = await self.run("select", self._view(place), max(0, limit), marks, " ".join(map(str, among)))
        return [row for one in rows if (row := to_row(one))]

    async def search(
        self, place: ViewAddress, indexes: Indexes, text: str, where: Mapping[str, str], limit: int
    ) -> list[SearchHit]:
        """Living items about a text, best first."""
        terms = count_terms([text])
        if not terms or not place.spec.search or limit < 1:
            return []
        # Those who search one place take turns, since the words that are held of it are changed meanwhile.
        async with self._turn(b"words" + self._view(place)):
            index = indexes.hold(place)
            await self._refresh(place, index)
            ranked = await asyncio.to_thread(index.rank, terms)
        hits: list[SearchHit] = []
        for at in range(0, len(ranked), CANDIDATES):
            some = dict(ranked[at : at + CANDIDATES])
            living = {int(row.id): row for row in await self.select(place, where, CANDIDATES, [*some])}
            rows_scored = [(living[id_], score) for id_, score in some.items() if id_ in living][: limit - len(hits)]
            hits += [SearchHit(self.open(place, row), round(score, 4)) for row, score in rows_scored]
            if len(hits) >= limit:
                break
        return hits

    async def _refresh(self, place: ViewAddress, index: Index) -> None:
        """Let an index know the words of what is there now."""
        change, stored = await self.run("versions", self._view(place), index.change)
        if change.decode() == index.change:
            return
        numbers = map(int, stored)
        stale = index.begin(dict(zip(numbers, numbers, strict=False)))
        for at in range(0, len(stale), BATCH):
            (found,) = await self.run("words", self._view(place), " ".join(map(str, stale[at : at + BATCH])))
            for id_, version, words in await asyncio.to_thread(self._open_words, place, found):
                index.add(id_, version, words)
        index.change = change.decode()

    def _open_words(self, place: ViewAddress, found: Iterable[Sequence[bytes]]) -> list[tuple[int, int, Any]]:
        opened = []
        for id_, tag, author, version, sealed, salt in found:
            context = bind("words", place, tag, author, int(version))
            plain = unseal_value(self._keys, salt, sealed, context)
            opened.append((int(id_), int(version), {} if plain is None else json.loads(plain)))
        return opened

    async def count(self, place: ViewAddress) -> int:
        """How many living items there are."""
        return int((await self.run("count", self._view(place)))[0])

    # --- Writing ------------------------------------------------------------------------------------------------------

    async def put(self, place: ViewAddress, key: str, value: Json, expect: int | None) -> Item:
        """Write a value."""

        def decide(row: RedisRow | None, _: Item | None, __: Item | None) -> Draft:
            check_version(row.version if row else 0, expect)
            return Draft(value)

        item = await self._change(place, key, decide, opens=False)
        assert item is not None
        return item

    async def update(self, place: ViewAddress, key: str, change: Change, lasts: float | None) -> Item | None:
        """Write what `change` gives."""

        def decide(_: RedisRow | None, item: Item | None, __: Item | None) -> Draft | None:
            value = change(item.value if item else None)
            return None if value is None else Draft(value, lasts=lasts)

        return await self._change(place, key, decide)

    async def move(self, place: ViewAddress, key: str, to: str, change: Move, lasts: float | None) -> Item | None:
        """Write under another key what `change` gives, and delete the item."""
        moves = False

        def decide(_: RedisRow | None, item: Item | None, left: Item | None) -> Draft | None:
            nonlocal moves
            value = None if left is None else change(left.value, item.value if item else None)
            moves = value is not None
            return Draft(value, lasts=lasts) if moves else None

        item = await self._change(place, to, decide, leaves=key) if key != to else None
        return item if moves else None

    async def append(
        self,
        place: ViewAddress,
        key: str,
        event: Json,
        expect: int | None,
        change: Callable[[Json, int], Json] | None,
    ) -> Item:
        """Append an event."""

        def decide(row: RedisRow | None, item: Item | None, _: Item | None) -> Draft:
            if row is None or item is None:
                raise missing_item(place.spec)
            check_stream(place.spec, row.last, expect)
            seq = row.last + 1
            value = item.value if change is None else change(item.value, seq)
            text = encode(event)
            check_size(place.spec, text)
            context = bind("event", place, row.tag, row.author, seq)
            return Draft(value, seal_value(self._keys.current, row.salt, text, context))

        item = await self._change(place, key, decide)
        assert item is not None
        return item

    async def delete(self, place: ViewAddress, key: str) -> bool:
        """Delete an item of this author."""
        return bool((await self.run("delete", self.tags.name(place, key), place.author))[0] == b"done")

    async def _change(
        self, place: ViewAddress, key: str, decide: Decide, *, opens: bool = True, leaves: str | None = None
    ) -> Item | None:
        """Look, decide and commit, until nobody came between; the item as it is then.

        `opens` reads the value first; `leaves` is the key of the item that moves there and is deleted.
        """
        async with self._turn(self.tags.name(place, key)):
            for attempt in range(MOST_TRIES):
                _, salt, row = await self.look(place, key)
                item = self.open(place, row) if row and opens else None
                left = None if leaves is None else (await self.look(place, leaves))[2]
                if left is not None:
                    check_author(place.spec, is_own=left.author == place.author)
                draft = decide(row, item, None if left is None else self.open(place, left))
                if draft is None:
                    return item
                check_author(place.spec, is_own=row is None or row.author == place.author)
                answer = await self._commit(place, key, salt, row, draft, left)
                if answer[0] == b"done":
                    if row and not is_current(self._keys, row.value):
                        await self.reseal(place, self.tags.name(place, key))
                    _, version, created, now, expires, last = answer
                    ends = float(expires) if expires else None
                    return Item(key, draft.value, int(version), float(created), float(now), ends, int(last))
                if answer[0] == b"many":
                    raise too_many_items(place.spec)
                if answer[0] == b"large":
                    raise too_many_bytes(place.spec, int(answer[1]))
                await asyncio.sleep(random.uniform(0, min(LONGEST_PAUSE, 0.001 * attempt)))  # noqa: S311 - no secret
        raise Fault(
            "upstream_unavailable",
            "Others write the same record all the time, so this was not written: try again in a moment.",
            retry_after=2,
            action="retry_after_delay",
        )

    async def _commit(
        self, place: ViewAddress, key: str, salt: bytes, row: RedisRow | None, draft: Draft, left: RedisRow | None
    ) -> Any:
        spec = place.spec
        check_size(spec, encode(draft.value))
        name, is_new = self.tags.name(place, key), not salt
        salt = salt or os.urandom(SALT_BYTES)
        version = row.version + 1 if row else 1
        current = self._keys.current
        context = bind("item", place, name, place.author, version)
        words = b""
        if spec.search:
            terms = encode(count_terms(read_texts(draft.value, spec.search)))
            words = seal_value(current, salt, terms, bind("words", place, name, place.author, version))
        lifetime = total_lifetime(spec)
        return await self.run(
            "commit",
            name,
            self._view(place),
            place.place,
            place.author,
            place.tenant,
            spec.name,
            _stamp(row),
            salt,
            int(is_new),
            seal_value(current, salt, encode([key, draft.value]), context),
            draft.event,
            self._marks(place, draft.value),
            words,
            "" if lifetime is None else lifetime,
            "" if draft.lasts is None else draft.lasts,
            spec.max_items,
            spec.max_bytes,
            int(spec.when_full == "evict"),
            left.tag if left else b"",
            _stamp(left),
        )

    async def _touch(self, place: ViewAddress, row: RedisRow) -> None:
        if not is_current(self._keys, row.value):
            await self.reseal(place, row.tag)
        lifetime = total_lifetime(place.spec) if place.spec.sliding else None
        lives = "" if lifetime is None else lifetime
        await self.run("touch", row.tag, row.id, self._view(place), lives)

    # --- All of an owner or of everybody ------------------------------------------------------------------------------

    async def pages(
        self, kind: str, whose: bytes, each: Callable[[RedisRow, list[bytes], bytes], Awaitable[None]]
    ) -> None:
        """Call `each` with every living item of an author (`by`) or a collection (`of`), its events and its words."""
        after: bytes = b"0"
        while after:
            after, found = await self.run("page", kind, whose, after, PAGE, PAGE_BYTES)
            for fields, events, words in found:
                row = to_row(fields)
                if row is not None:
                    await each(row, events, words)

    async def export(self, specs: Mapping[str, CollectionSpec], author: bytes) -> dict[str, list[dict[str, Any]]]:
        """Everything that an author wrote, by collection, in the order in which it was written."""
        exported: dict[str, list[dict[str, Any]]] = {name: [] for name in specs}

        async def add(row: RedisRow, events: list[bytes], _: bytes) -> None:
            place = self.place_of(specs, row)
            item = self.open(place, row)
            fields = {"key": item.key, "value": item.value, "created": item.created, "changed": item.changed}
            if item.expires is not None:
                fields["expires"] = item.expires
            if item.last:
                opened = self.open_events(place, row, events)
                fields["events"] = [{"seq": one.seq, "at": one.at, "value": one.value} for one in opened]
            exported.setdefault(row.collection, []).append(fields)

        await self.pages("by", author, add)
        return exported

    async def reseal_all(self, specs: Mapping[str, CollectionSpec]) -> None:
        """Seal what an earlier key sealed with the current one."""

        async def renew(row: RedisRow, events: list[bytes], words: bytes) -> None:
            sealed = (row.value, words or row.value, *(one.partition(b" ")[2] for one in events))
            if not all(is_current(self._keys, one) for one in sealed):
                await self._reseal(self.place_of(specs, row), row, events, words)

        (collections,) = await self.run("collections")
        for collection in collections:
            await self.pages("of", collection, renew)

    async def reseal(self, place: ViewAddress, tag: bytes) -> None:
        """Seal one item and what is behind it with the current key."""
        found, events = await self.run("events", tag, 1, "")
        row = to_row(found)
        if row is not None:
            (stored,) = await self.run("words", self._view(place), row.id.decode())
            await self._reseal(place, row, events, stored[0][4] if stored else b"")

    async def _reseal(self, place: ViewAddress, row: RedisRow, events: list[bytes], words: bytes) -> None:
        def renew(kind: str, number: int, sealed: bytes) -> bytes:
            context = bind(kind, place, row.tag, row.author, number)
            plain = None if is_current(self._keys, sealed) else unseal_value(self._keys, row.salt, sealed, context)
            # What does not open stays as it is, and is a fault to whoever reads it.
            return sealed if plain is None else seal_value(self._keys.current, row.salt, plain, context)

        entries = [one.partition(b" ") for one in events]
        renewed = [at + b" " + renew("event", seq, sealed) for seq, (at, _, sealed) in enumerate(entries, 1)]
        value = renew("item", row.version, row.value)
        words = renew("words", row.version, words) if words else words
        await self.run("reseal", row.tag, row.id, row.version, value, words, *renewed)

    async def erase(self, author: bytes) -> tuple[dict[str, int], float, bytes]:
        """Remove everything of an author: items by collection, the time, and the author's tenant if there was one."""
        now, tenant = await self.run("erase", author)
        return await self.clear(author), float(now), tenant

    async def clear(self, author: bytes) -> dict[str, int]:
        """Remove what is left of an erasure; items by collection."""
        deleted: defaultdict[str, int] = defaultdict(int)
        while True:
            looked, went = await self.run("clear", author, BATCH)
            for collection in went:
                deleted[collection.decode()] += 1
            if not looked:
                return dict(deleted)

    async def empty(self, collection: str, author: bytes) -> int:
        """Remove what an author, or with nothing everybody, wrote in a collection; how many items."""
        after, count = b"0", 0
        while after:
            after, went = await self.run("empty", collection, author, after, BATCH)
            count += went
        return count

    def place_of(self, specs: Mapping[str, CollectionSpec], row: RedisRow) -> ViewAddress:
        """Where a row lies, also one of a collection that is not declared any more."""
        spec = specs.get(row.collection) or CollectionSpec(row.collection)
        return ViewAddress(spec, row.place, row.author, b"")

    def _view(self, place: ViewAddress) -> bytes:
        return make_tag(self._tag_key, "view", place.spec.name, place.place.hex())

    def _marks(self, place: ViewAddress, value: Json) -> bytes:
        fields = place.spec.indexes
        marks = {self.tags.mark(place, field, text) for field in fields for text in read_texts(value, (field,))}
        return b"".join(sorted(marks))

    def _turn(self, name: bytes) -> asyncio.Lock:
        lock = self._turns.get(name)
        if lock is None:
            lock = self._turns[name] = asyncio.Lock()
        return lock
