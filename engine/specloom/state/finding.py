"""Full-text search over sealed items: what each is about is sealed too, and ranked in memory.

The words are opened once and held by place while there is room; an item that changed is opened again. So the file says
nothing about what is in it, and a search costs what its own place holds and not what the store holds.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from ..drawer import Found
from .ranking import Index
from .rows import Place, Rows
from .words import count_terms

MOST_WORDS = 2_000_000
"""Words held in memory over all places, about 200 MB at worst; the place that was searched longest ago goes first."""
CANDIDATES = 100
"""Best-ranked items that are looked at together, because `where` or the end of their life may take some away."""


class Indexes:
    """The words of the places that were searched lately, for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, bytes], Index] = OrderedDict()

    def search(self, rows: Rows, place: Place, text: str, where: Mapping[str, str], limit: int) -> list[Found]:
        """Living items about a text, best first, as they are in the transaction of `rows`."""
        asked = count_terms([text])
        if not asked or not place.spec.search or limit < 1:
            return []
        with self._lock:
            index = self._refresh(rows, place)
            ranked = index.rank(asked)
        found: list[Found] = []
        for at in range(0, len(ranked), CANDIDATES):
            some = dict(ranked[at : at + CANDIDATES])
            living = {row.id: row for row in rows.select(place, where, CANDIDATES, among=list(some))}
            kept = [(living[id_], score) for id_, score in some.items() if id_ in living][: limit - len(found)]
            found += [Found(rows.open(place, row), round(score, 4)) for row, score in kept]
            if len(found) >= limit:
                break
        return found

    def forget(self) -> None:
        """Let go of everything, as after an erasure."""
        with self._lock:
            self._held.clear()

    def _refresh(self, rows: Rows, place: Place) -> Index:
        key = (place.spec.name, place.place)
        index = self._held.pop(key, None) or Index()
        current = dict(
            rows.connection.execute(
                "SELECT id, version FROM items WHERE collection = ? AND place = ?", (place.spec.name, place.place)
            )
        )
        for id_ in [one for one in index.versions if one not in current]:
            index.remove(id_)
        stale = [id_ for id_, version in current.items() if index.versions.get(id_) != version]
        for id_, version, terms in _open_words(rows, place, stale):
            index.add(id_, version, terms)
        self._held[key] = index
        while len(self._held) > 1 and sum(one.size for one in self._held.values()) > MOST_WORDS:
            self._held.popitem(last=False)
        return index


def _open_words(rows: Rows, place: Place, ids: list[int]) -> list[tuple[int, int, dict[str, int]]]:
    opened = []
    for at in range(0, len(ids), 500):
        some = ids[at : at + 500]
        found = rows.connection.execute(
            "SELECT i.id, i.name, i.author, o.salt, v.version, v.value FROM items i JOIN owners o ON o.tag = i.author "  # noqa: S608 - marks
            f"JOIN vectors v ON v.item = i.id WHERE i.id IN ({','.join('?' * len(some))})",
            some,
        )
        for id_, name, author, salt, version, sealed in found:
            opened.append((id_, version, rows.open_words(place, name, author, salt, version, sealed)))
    return opened
