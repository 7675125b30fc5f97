"""Pages a second from hosts that answer after 200 ms, alone and while other hosts hang. Loopback only.

    python bench/reading/throughput.py [seconds]

Prints one line for 8 and one for 32 readings in flight, each without and with 50 readings of hosts that never answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from specloom.domains.scrape.fetch import fallback
from tests.support.scrape_context import ARTICLE, OPTIONS, open_desk, take_text

PAGE = ARTICLE.encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(PAGE)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
        while True:
            line = await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(3600 if line.startswith(b"GET /hang") else 0.2)
            writer.write(HEAD + PAGE)


async def run(in_flight: int, hanging: int, seconds: float) -> float:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    done = 0
    async with open_desk() as (context, session):

        async def read(path: str) -> None:
            await fallback.read(url + path, context=context, options=OPTIONS, extract=take_text, session=session)

        async def keep_reading() -> None:
            nonlocal done
            while True:
                await read("/page")
                done += 1

        async with asyncio.TaskGroup() as group:
            stuck = [group.create_task(hang(read)) for _ in range(hanging)]
            busy = [group.create_task(keep_reading()) for _ in range(in_flight)]
            await asyncio.sleep(1.0)
            begun, done_before = time.perf_counter(), done
            await asyncio.sleep(seconds)
            rate = (done - done_before) / (time.perf_counter() - begun)
            for task in [*stuck, *busy]:
                task.cancel()
    server.close()
    return rate


async def hang(read: object) -> None:
    while True:
        with contextlib.suppress(Exception):
            await read("/hang")  # type: ignore[operator]


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    for in_flight in (8, 32):
        for hanging in (0, 50):
            rate = asyncio.run(run(in_flight, hanging, seconds))
            print(f"{in_flight} in flight, {hanging} hanging: {rate:.1f} pages a second")


if __name__ == "__main__":
    main()
