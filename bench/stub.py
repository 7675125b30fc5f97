"""A loopback engine, a process of its own, that answers every request with the same page of SearXNG's JSON.

It answers at once, or after so many seconds as its argument says.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = [
    {
        "title": f"Result {number} about rivers",
        "url": f"https://www.example.org/pages/{number}?from=stub",
        "content": "A sentence or two that a search engine quotes from a page, as long as they usually are.",
        "publishedDate": "2026-01-01T00:00:00",
        "engine": "stub",
        "engines": ["stub"],
        "category": "general",
        "score": 1.0,
    }
    for number in range(10)
]
BODY = json.dumps({"query": "", "number_of_results": 10, "results": ROWS, "unresponsive_engines": []}).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
LAST = b"/pages/4?from=stub"
"""What stands in every answer that has the five results a search brings by default."""


class Upstream(asyncio.Protocol):
    delay = 0.0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while b"\r\n\r\n" in self.received:
            self.received = self.received.partition(b"\r\n\r\n")[2]
            if self.delay:
                asyncio.get_running_loop().call_later(self.delay, self.transport.write, REPLY)
            else:
                self.transport.write(REPLY)


@contextmanager
def running(delay: float = 0.0) -> Iterator[str]:
    """The address of a stub that runs as long as the context, and answers after so many seconds."""
    command = [sys.executable, __file__, str(delay)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    Upstream.delay = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    asyncio.run(_serve())
