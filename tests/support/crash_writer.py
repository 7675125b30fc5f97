"""One client of the crash test: writes steps to a session of its own and to one that all share, and says what it may
rely on. Run as `crash_writer.py FOLDER NAME`; each byte on its standard input asks for one step in both, so that a fast
machine does not write more in a round than a slow one."""

import asyncio
import os
import sys
from pathlib import Path

from specloom.plugins.collections import CollectionSpec
from specloom.storage.keys import MasterKeys
from specloom.storage.store import StateStore

SPEC = CollectionSpec(
    "trails", max_items=1000, max_events=100_000, max_bytes=1 << 30, indexes=("of",), search=("text",)
)
KEY = bytes(range(32))


async def write(folder: str, name: str) -> None:
    store = StateStore(Path(folder), MasterKeys(KEY), [SPEC])
    drawer = store.drawer("trails", "acme:crash")
    for key in ("shared", name):
        await drawer.update(key, lambda value: value or {"of": "all", "text": "penguins", "steps": 0})
    at = 0
    while os.read(0, 1):
        at += 1
        for key in ("shared", name):
            item = await drawer.append(key, {"by": name, "at": at}, change=lambda value, seq: {**value, "steps": seq})
            # A line is written by one call, so it is there whole or not at all.
            os.write(1, f"{key} {item.last} {name} {at}\n".encode())


if __name__ == "__main__":
    asyncio.run(write(*sys.argv[1:]))
