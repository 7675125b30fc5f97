"""Findings that an owner keeps across sessions, and finds again by what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from specloom.core import Fault, canonical_url, from_epoch

if TYPE_CHECKING:
    from specloom.plugins import Collection, Item


TRUST = "user-asserted-content"
MOST_NOTE_BYTES = 64 * 1024
LONGEST_TOPIC, LONGEST_URL, LONGEST_TAG, MOST_TAGS = 200, 2048, 100, 50
DEFAULT_LIMIT, MOST_RECALLED = 20, 200


def make_note(
    *, note: str, topic: str = "", url: str = "", tags: Sequence[str] = (), **provenance: str
) -> dict[str, Any]:
    """A note as it is kept, or a `validation` fault; `provenance` is whose it is and when it was written."""
    if not note.strip():
        raise Fault("validation", "note is empty: write what is to be remembered.")
    size = len(note.encode("utf-8", "surrogatepass"))
    if size > MOST_NOTE_BYTES:
        raise Fault("validation", f"note has {size} bytes, and the most is {MOST_NOTE_BYTES}: shorten it.")
    if len(topic) > LONGEST_TOPIC:
        raise Fault("validation", f"topic has {len(topic)} characters, and the most is {LONGEST_TOPIC}.")
    if url and (len(url) > LONGEST_URL or not url.lower().startswith(("http://", "https://"))):
        raise Fault("validation", f"url is not an http or https address of at most {LONGEST_URL} characters.")
    if len(tags) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in tags):
        raise Fault("validation", f"tags may be {MOST_TAGS}, of {LONGEST_TAG} characters each.")
    kept: dict[str, Any] = {**provenance, "topic": topic.strip(), "note": note, "url": url, "tags": list(tags)}
    return {name: value for name, value in kept.items() if value}


async def save(drawer: Collection, note: dict[str, Any], *, new_id: str, now: float) -> dict[str, Any]:
    """Keep a note; its id and when it was kept."""
    created = from_epoch(now) or ""
    await drawer.put(new_id, {"id": new_id, **note, "createdAt": created}, expect=0)
    return {"id": new_id, "createdAt": created}


async def recall(
    drawer: Collection, *, topic: str = "", query: str = "", limit: int = DEFAULT_LIMIT
) -> list[dict[str, Any]]:
    """Notes of this owner: about the words of `query`, best first; else on the topic, newest first.

    A topic is first taken as it was written; where no note has exactly that one, its words are looked for as well.
    """
    limit = max(1, min(limit, MOST_RECALLED))
    topic, query = topic.strip(), query.strip()
    where = {"topic": topic} if topic else {}
    exact = await drawer.items(where=where, limit=limit) if topic or not query else []
    if topic and not exact:
        where, query = {}, f"{topic} {query}"
    if not query:
        return [_value(item) for item in exact]
    return [_value(found.item) for found in await drawer.search(query, where=where, limit=limit)]


def _value(item: Item) -> dict[str, Any]:
    value: dict[str, Any] = item.value
    return value


# --- Findings that members of a shared space give each other: copies with their origin, changed by nobody -------------


FINDINGS_TRUST = "untrusted-external-content"
MOST_READ = 5000


async def contribute(
    findings: Collection,
    *,
    space: str,
    tenant: str,
    user: str,
    new_id: str,
    now: float,
    note: str,
    url: str = "",
    tags: tuple[str, ...] = (),
) -> str:
    """Put a finding into a space, with where it came from; its id."""
    kept = make_note(
        note=note,
        url=url,
        tags=tags,
        id=new_id,
        workspaceId=space,
        contributorTenant=tenant,
        contributorUser=user,
        createdAt=from_epoch(now) or "",
    )
    await findings.put(new_id, kept, expect=0)
    return new_id


async def read(findings: Collection, limit: int = MOST_READ) -> list[dict[str, Any]]:
    """The findings of a space, newest first."""
    return [item.value for item in await findings.items(limit=limit)]


# --- Questions that an owner watches: what was there when they looked last, so that only the new is told --------------


LONGEST_QUERY = 500
SHORTEST_DAYS, DEFAULT_DAYS, LONGEST_DAYS = 1, 30, 90
DAY = 86_400.0
MOST_SEEN = 5000
"""Addresses that one watch remembers, the newest."""


def watch_key(query: str, provider: str) -> str:
    """Under which key a watched question lies; the same words of any case and spacing are the same question."""
    return f"{provider}\0{' '.join(query.casefold().split())}"


async def save_watch(
    drawer: Collection, *, query: str, provider: str, urls: Iterable[str], days: int, now: float, asked: str = ""
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


async def find(drawer: Collection, query: str, provider: str, now: float) -> dict[str, Any] | None:
    """The watch on a question, or None when there is none or its days are over."""
    item = await drawer.get(watch_key(query, provider))
    if item is None or item.value["until"] <= now:
        return None
    found: dict[str, Any] = item.value
    return found


async def check(
    drawer: Collection, *, query: str, provider: str, rows: Iterable[Mapping[str, Any]], now: float
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


async def _count_alive(drawer: Collection, now: float) -> int:
    """How many watches there are, after removing those whose days are over."""
    items = await drawer.items(limit=drawer.spec.max_items)
    over = [item for item in items if item.value["until"] <= now]
    for item in over:
        await drawer.delete(item.key)
    return len(items) - len(over)


def _names(urls: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(canonical_url(url) for url in urls))


# --- How an owner uses the tools, for that owner alone: counts and dates, no arguments and no answers -----------------


KEY = "usage"
RECENT = 10
"""Tools that were used last and are named in order; the contract's number."""


async def count_call(drawer: Collection, tool: str, now: float) -> None:
    """Count one call of a tool."""
    seen = from_epoch(now) or ""

    def change(value: Any) -> dict[str, Any]:
        kept = value or {"totalCalls": 0, "toolCounts": {}, "firstSeen": seen, "recentTools": []}
        counts = kept["toolCounts"]
        recent = [tool, *(one for one in kept["recentTools"] if one != tool)]
        return {
            **kept,
            "totalCalls": kept["totalCalls"] + 1,
            "toolCounts": {**counts, tool: counts.get(tool, 0) + 1},
            "lastSeen": seen,
            "recentTools": recent[:RECENT],
        }

    await drawer.update(KEY, change)


async def read_usage(drawer: Collection, tenant: str, user: str) -> dict[str, Any] | None:
    """What was counted for the owner, or None when nothing was."""
    item = await drawer.get(KEY)
    return None if item is None else {"tenantId": tenant, "userId": user, **item.value}
