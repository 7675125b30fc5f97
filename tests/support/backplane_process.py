"""One of several processes over one folder: `python -m tests.support.backplane_process FOLDER ACTION …`."""

from __future__ import annotations

import asyncio
import fcntl
import sys
import time
from pathlib import Path

from specloom.core.messages import Policy, Request, Response
from specloom.net.transport import Transport
from specloom.storage.backplane import open_backplane
from tests.support.demo_specs import demo_executor


def fail(sentence: str) -> None:
    raise RuntimeError(sentence)


def say(*words: object) -> None:
    print(*words, flush=True)


async def main(folder: str, action: str, *words: str) -> None:
    plane = open_backplane(Path(folder), fail)
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
        with (Path(folder) / "numbers.1").open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            say("held")
            await asyncio.Event().wait()
    elif action == "lease":
        say((await plane.leases.acquire("flight", float(words[0]))) is not None)
        await asyncio.Event().wait()
    elif action == "listen":
        heard = plane.bus.listen("topic")
        say("listening")
        async for payload in heard:
            say(payload.decode())
    elif action == "ask":
        await ask(Path(words[0]), words[1], float(words[2]), plane)
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


async def ask(specs: Path, url: str, seconds: float, plane: object) -> None:
    """Ask an upstream through its provider as often as that lets, for so long."""
    executor = demo_executor(specs, sender=Upstream(url), backplane=plane)
    until = time.monotonic() + seconds

    async def go_on(name: int) -> None:
        while time.monotonic() < until:
            await executor.upstreams.ask("demo", "demo_pages", {"query": str(name)})

    await asyncio.gather(*(go_on(name) for name in range(8)))
    await executor.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
