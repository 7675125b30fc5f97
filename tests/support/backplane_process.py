"""One of several processes over one folder or Redis: `python -m tests.support.backplane_process PLACE ACTION …`.

It says that it is ready before it begins; one that asks begins with a line of its input and ends with that.
"""

from __future__ import annotations

import asyncio
import fcntl
import sys
import time
from collections.abc import Callable
from pathlib import Path

from specloom.core import Backplane
from specloom.core.messages import Policy, Request, Response
from specloom.net.transport import Transport
from specloom.storage import backplane, backplane_redis
from specloom.storage.backplane import open_backplane
from specloom.storage.backplane_redis import RedisBus, redis_backplane
from specloom.storage.redis_link import RedisSettings
from tests.support.demo_specs import demo_executor


def fail(sentence: str) -> None:
    raise RuntimeError(sentence)


def say(*words: object) -> None:
    print(*words, flush=True)


def open_place(place: str, warn: Callable[[str], None] = fail) -> Backplane:
    """The backplane over a folder, or a Redis server at `unix://PATH`."""
    if place.startswith("unix://"):
        return redis_backplane(RedisSettings(place, "specloom:", bytes(range(32))), warn)
    return open_backplane(Path(place), warn)


async def main(place: str, action: str, *words: str) -> None:
    plane = open_place(place)
    say("ready")
    if action == "add":
        for _ in range(int(words[0])):
            await plane.counters.add("sum", 1, until=time.time() + 3600)
    elif action == "take":
        while True:
            await plane.counters.take("limit", per=0.001, burst=10)
            await plane.counters.add("sum", 1, until=time.time() + 3600)
    elif action == "hold":
        # As a process does that is stopped at the worst moment.
        with (Path(place) / "numbers.1").open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            say("held")
            await asyncio.Event().wait()
    elif action == "lease":
        say((await plane.leases.acquire("flight", float(words[0]))) is not None)
        await asyncio.Event().wait()
    elif action == "listen":
        heard = plane.bus.listen("topic")
        if isinstance(plane.bus, RedisBus):
            await plane.bus.ready()
        say("listening")
        async for payload in heard:
            say(payload.decode())
    elif action == "ask":
        await ask(Path(words[0]), words[1], plane)
    await plane.aclose()


class Upstream:
    """Asks the real one whatever the spec asks."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._transport = Transport(allow_private=True)

    async def send(self, request: Request) -> Response:
        await self._transport.send(Request("GET", self._url, policy=Policy(allow_private=True)))
        return Response(200, {"content-type": "application/json"}, b'{"results": []}', request.url)

    async def aclose(self) -> None:
        await self._transport.aclose()


async def ask(specs: Path, url: str, plane: object) -> None:
    """Ask an upstream through its provider as often as that lets."""
    executor = demo_executor(specs, sender=Upstream(url), backplane=plane)
    say("loaded")
    await asyncio.to_thread(sys.stdin.readline)
    over = asyncio.create_task(asyncio.to_thread(sys.stdin.read))

    async def go_on(name: int) -> None:
        while not over.done():
            await executor.upstreams.ask("demo", "demo_pages", {"query": str(name)})

    await asyncio.gather(*(go_on(name) for name in range(8)))
    await executor.aclose()


if __name__ == "__main__":
    # Nothing is away here, however busy the machine is.
    backplane.PATIENCE = backplane_redis.PATIENCE = 60.0
    asyncio.run(main(*sys.argv[1:]))
