"""Findings that an owner keeps across sessions, and finds again by what they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..dates import from_epoch
from ..faults import Fault

if TYPE_CHECKING:
    from ..drawer import Drawer, Item

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


async def save(drawer: Drawer, note: dict[str, Any], *, new_id: str, now: float) -> dict[str, Any]:
    """Keep a note; its id and when it was kept."""
    created = from_epoch(now) or ""
    await drawer.put(new_id, {"id": new_id, **note, "createdAt": created}, expect=0)
    return {"id": new_id, "createdAt": created}


async def recall(
    drawer: Drawer, *, topic: str = "", query: str = "", limit: int = DEFAULT_LIMIT
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
