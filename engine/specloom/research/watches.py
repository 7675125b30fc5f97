"""Questions that an owner watches: what was there when they looked last, so that only the new is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..dates import from_epoch
from ..urls import canonical_url

if TYPE_CHECKING:
    from ..drawer import Drawer

LONGEST_QUERY = 500
SHORTEST_DAYS, DEFAULT_DAYS, LONGEST_DAYS = 1, 30, 90
DAY = 86_400.0
MOST_SEEN = 5000
"""Addresses that one watch remembers, the newest."""


def watch_key(query: str, provider: str) -> str:
    """Under which key a watched question lies; the same words of any case and spacing are the same question."""
    return f"{provider}\0{' '.join(query.casefold().split())}"


async def save(
    drawer: Drawer, *, query: str, provider: str, urls: Iterable[str], days: int, now: float, asked: str = ""
) -> dict[str, Any] | None:
    """Watch a question from what it gives now, in place of an earlier watch on it; None when there are too many.

    `provider` is the one that the owner wants to be asked, if any, and `asked` the one that gave the addresses.
    """
    key = watch_key(query, provider)
    if await drawer.get(key) is None and await _count_alive(drawer, now) >= drawer.spec.max_items:
        return None
    seen = _names(urls)
    record = {
        "query": query,
        "provider": provider,
        "asked": asked,
        "seen": seen,
        "savedAt": from_epoch(now) or "",
        "lastRunAt": from_epoch(now) or "",
        "ttlDays": days,
        "until": now + days * DAY,
    }
    await drawer.put(key, record)
    shown = {name: value for name, value in record.items() if name in ("query", "provider", "savedAt", "ttlDays")}
    return {**shown, "seenCount": len(seen)}


async def find(drawer: Drawer, query: str, provider: str, now: float) -> dict[str, Any] | None:
    """The watch on a question, or None when there is none or its days are over."""
    item = await drawer.get(watch_key(query, provider))
    if item is None or item.value["until"] <= now:
        return None
    found: dict[str, Any] = item.value
    return found


async def check(
    drawer: Drawer, *, query: str, provider: str, rows: Iterable[Mapping[str, Any]], now: float
) -> dict[str, Any] | None:
    """The rows that were not there before, which count as seen from now on; None when nothing watches the question."""
    given = {canonical_url(row["url"]): row for row in reversed(list(rows)) if isinstance(row.get("url"), str)}
    fresh: list[Mapping[str, Any]] = []

    def change(value: Any) -> Any:
        nonlocal fresh
        if value is None or value["until"] <= now:
            return None
        known = set(value["seen"])
        new = [name for name in reversed(given) if name not in known]
        fresh = [given[name] for name in new]
        return {**value, "seen": [*value["seen"], *new][-MOST_SEEN:], "lastRunAt": from_epoch(now) or ""}

    item = await drawer.update(watch_key(query, provider), change)
    if item is None or item.value["until"] <= now:
        return None
    return {"newCount": len(fresh), "newResults": fresh, "lastRunAt": item.value["lastRunAt"]}


async def _count_alive(drawer: Drawer, now: float) -> int:
    """How many watches there are, after removing those whose days are over."""
    items = await drawer.items(limit=drawer.spec.max_items)
    over = [item for item in items if item.value["until"] <= now]
    for item in over:
        await drawer.delete(item.key)
    return len(items) - len(over)


def _names(urls: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(canonical_url(url) for url in urls))
