"""Microseconds of every way into the answer cache, as a table or with `--json`."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from specloom.cache.cache import AnswerCache

VALUE_BYTES = 8 * 1024
BATCHES = 15


def _warn(text: str) -> None:
    print(text, file=sys.stderr)


def _micro(started: float, calls: int) -> float:
    return (time.perf_counter() - started) / calls * 1e6


async def measure(directory: Path) -> dict[str, float]:
    """The median over batches, in microseconds a call."""
    keys = [os.urandom(32).hex() for _ in range(200)]
    value = os.urandom(VALUE_BYTES)
    times: dict[str, list[float]] = {}
    memory = AnswerCache(disk=None, key=None, warn=_warn)
    both = AnswerCache(disk=directory, key=bytes(32), warn=_warn)
    disk = AnswerCache(disk=directory, key=bytes(32), memory_bytes=0, warn=_warn)
    await both.put("warm", value, 600)
    await disk.get("warm")
    for _ in range(BATCHES):
        for name, cache in (("put, memory only", memory), ("put, memory and disk", both)):
            started = time.perf_counter()
            for key in keys:
                await cache.put(key, value, 600)
            times.setdefault(name, []).append(_micro(started, len(keys)))
        started = time.perf_counter()
        for key in keys * 20:
            memory.peek(key)
        times.setdefault("peek, found", []).append(_micro(started, len(keys) * 20))
        started = time.perf_counter()
        for _ in range(4000):
            memory.peek("absent")
        times.setdefault("peek, absent", []).append(_micro(started, 4000))
        started = time.perf_counter()
        for key in keys:
            await disk.get(key)
        times.setdefault("get, from disk", []).append(_micro(started, len(keys)))
    for cache in (memory, both, disk):
        cache.close()
    return {name: round(statistics.median(values), 2) for name, values in times.items()}


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as directory:
        result = asyncio.run(measure(Path(directory)))
    if "--json" in sys.argv[1:]:
        print(json.dumps({"unit": "us", "value_bytes": VALUE_BYTES, "times": result}))
        return
    for name, micro in result.items():
        print(f"{name:24}{micro:10.2f} µs")


if __name__ == "__main__":
    main()
