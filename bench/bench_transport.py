"""Requests a second through the transport, bare httpcore and httpx, against a loopback server of its own process."""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import time
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

from specloom.core.messages import Policy, Request
from specloom.net.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

BODY = json.dumps({"results": [{"title": f"row {n}", "url": f"https://example.org/{n}"} for n in range(10)]}).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


class Server(asyncio.Protocol):
    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while b"\r\n\r\n" in self.received:
            self.received = self.received.partition(b"\r\n\r\n")[2]
            self.transport.write(REPLY)


def serve(pipe: Any) -> None:
    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def measure(ask: Callable[[], Awaitable[object]], width: int, count: int) -> float:
    left = count

    async def worker() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await ask()

    await asyncio.gather(*(ask() for _ in range(width)))
    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(width)))
    return count / (time.perf_counter() - start)


async def run(port: int, count: int, rounds: int) -> dict[str, dict[str, float]]:
    base = f"http://127.0.0.1:{port}/search"
    query = (("q", "a question of some length"), ("count", "10"))
    request = Request("GET", base, query, (("X-Key", "k"),), policy=Policy(allow_private=True))
    async with (
        Transport() as transport,
        httpx.AsyncClient(trust_env=False) as client,
        httpcore.AsyncConnectionPool() as pool,
    ):
        ways: dict[str, Callable[[], Awaitable[object]]] = {
            "transport": lambda: transport.send(request),
            "httpcore": lambda: pool.request(
                "GET", base + "?q=a%20question%20of%20some%20length&count=10", headers={"X-Key": "k"}
            ),
            "httpx": lambda: client.get(base, params=query, headers={"X-Key": "k"}),
        }
        found: dict[str, dict[str, float]] = {}
        for width in (1, 8):
            rates: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(rounds):
                for name, ask in ways.items():
                    rates[name].append(await measure(ask, width, count))
            found[str(width)] = {name: statistics.median(values) for name, values in rates.items()}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--count", type=int, default=1500, help="requests a measurement")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    try:
        found = asyncio.run(run(ours.recv(), options.count, options.rounds))
    finally:
        server.terminate()
        server.join()
    if options.json:
        print(json.dumps({"bench": "transport", "requests_per_second": found}))
        return
    for width, rates in found.items():
        for name, rate in rates.items():
            print(f"{width} in flight  {name:10} {rate:7.0f} requests/s  {rate / rates['httpx']:.2f} x httpx")


if __name__ == "__main__":
    main()
