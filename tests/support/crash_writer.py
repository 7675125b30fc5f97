"""One client of the crash tests: writes steps to a session of its own and to one that all share, and says what it may
rely on. Run as `crash_writer.py PLACE NAME`, where the place is a folder or the address of a Redis; each byte on its
standard input asks for one step in both, so that a fast machine does not write more in a round than a slow one."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from specloom.core import Fault
from specloom.plugins.collections import CollectionSpec, CollectionStore
from specloom.storage.keys import MasterKeys
from specloom.storage.redis_link import RedisSettings
from specloom.storage.redis_store import RedisStore
from specloom.storage.store import StateStore

T = TypeVar("T")
SPEC = CollectionSpec(
    "trails", max_items=1000, max_events=100_000, max_bytes=1 << 30, indexes=("of",), search=("text",)
)
KEY = bytes(range(32))


def open_place(place: str) -> CollectionStore:
    """The store in a folder, or on a Redis."""
    if place.startswith("unix://"):
        return RedisStore(RedisSettings(place, "specloom:", KEY), MasterKeys(KEY), [SPEC], lambda _: None)
    return StateStore(Path(place), MasterKeys(KEY), [SPEC])


async def until_done(write: Callable[[], Awaitable[T]]) -> T:
    """What a write gives, tried again while what is written to is away."""
    while True:
        try:
            return await write()
        except Fault as fault:
            if fault.kind != "upstream_unavailable":
                raise
            await asyncio.sleep(0.01)


async def write(place: str, name: str) -> None:
    store = open_place(place)
    drawer = store.drawer("trails", "acme:crash")
    for key in ("shared", name):
        begun = partial(drawer.update, key, lambda value: value or {"of": "all", "text": "penguins", "steps": 0})
        await until_done(begun)
    at = 0
    while os.read(0, 1):
        at += 1
        for key in ("shared", name):
            step = {"by": name, "at": at}
            append = partial(drawer.append, key, step, change=lambda value, seq: {**value, "steps": seq})
            item = await until_done(append)
            # A line is written by one call, so it is there whole or not at all.
            os.write(1, f"{key} {item.last} {name} {at}\n".encode())


if __name__ == "__main__":
    asyncio.run(write(*sys.argv[1:]))
