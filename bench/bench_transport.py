"""What a request through the transport costs, against a loopback server of its own process.

    python bench/bench_transport.py [--count 1500] [--rounds 3]           # requests a second, beside httpcore and httpx
    python bench/bench_transport.py --against CHECKOUT [--rounds 14]      # processor time, beside another checkout

CHECKOUT is another checkout of this repository (`git worktree add CHECKOUT COMMIT`). Its transport and ours are two
processes that take bursts in turns; a ratio is a burst of ours by the mean of theirs before and after it, and the
median of the rounds and the quartiles are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import itertools
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from specloom.core.messages import Policy, Request
from specloom.net.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

HERE = Path(__file__).parents[1]
BODY = json.dumps({"results": [{"title": f"row {n}", "url": f"https://example.org/{n}"} for n in range(10)]}).encode()
PAGE = b"".join(b"<p>Paragraph %d, of which %d words are made up.</p>\n" % (n, n * n) for n in range(8000))
PACKED = gzip.compress(PAGE, mtime=0)
USUAL = b"".join(
    b"%b: %b\r\n" % header
    for header in (
        (b"Date", b"Mon, 23 Nov 2026 12:00:00 GMT"),
        (b"Content-Type", b"application/json; charset=utf-8"),
        (b"Connection", b"keep-alive"),
        (b"Cache-Control", b"private, max-age=0"),
        (b"Strict-Transport-Security", b"max-age=63072000; includeSubDomains"),
        (b"X-Request-Id", b"5f2b8d0c-6f0e-4b43-9d0e-2d1a2b3c4d5e"),
        (b"Vary", b"Accept-Encoding, Origin"),
    )
)


def _chunks(body: bytes, size: int) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def _reply(headers: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + body


# By path: what a provider answers as a rule, the same in chunks, and a page of half a megabyte, packed and plain.
REPLIES = {
    b"/search": _reply(b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(BODY), BODY),
    b"/usual": _reply(USUAL + b"Content-Length: %d\r\n" % len(BODY), BODY),
    b"/chunks": _reply(USUAL + b"Transfer-Encoding: chunked\r\n", _chunks(BODY, 256)),
    b"/packed": _reply(USUAL + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", _chunks(PACKED, 4096)),
    b"/page": _reply(USUAL + b"Content-Length: %d\r\n" % len(PAGE), PAGE),
}


class Server(asyncio.Protocol):
    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, self.received = self.received.partition(b"\r\n\r\n")
            self.transport.write(REPLIES[head.split(b" ", 2)[1].partition(b"?")[0]])


def serve(pipe: Any) -> None:
    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def _burst(ask: Callable[[], Awaitable[object]], width: int, count: int) -> None:
    left = count

    async def worker() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await ask()

    await asyncio.gather(*(worker() for _ in range(width)))


# --- Beside other clients ---------------------------------------------------------------------------------------------


async def measure(ask: Callable[[], Awaitable[object]], width: int, count: int) -> float:
    """Requests a second."""
    await asyncio.gather(*(ask() for _ in range(width)))
    start = time.perf_counter()
    await _burst(ask, width, count)
    return count / (time.perf_counter() - start)


async def run(port: int, count: int, rounds: int) -> dict[str, dict[str, float]]:
    import httpcore
    import httpx

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


# --- Beside another checkout ------------------------------------------------------------------------------------------

SHAPES = (
    ("usual", 1, 400),
    ("usual", 8, 400),
    ("chunks", 8, 400),
    ("packed", 4, 30),
    ("page", 4, 30),
    ("fresh", 8, 100),
)
"""What is asked for, how many are in flight, and the requests of a burst; `fresh` dials for each."""


async def _answer_bursts(port: int) -> None:
    """For each line `SHAPE WIDTH COUNT` on stdin, a burst, and the microseconds of processor time a request."""
    async with Transport() as transport:
        for line in sys.stdin:
            shape, width, count = line.split()
            path = "usual" if shape == "fresh" else shape
            url = f"http://127.0.0.1:{port}/{path}"
            request = Request("GET", url, (("q", "otters"),), (("X-Key", "k"),), policy=Policy(allow_private=True))

            async def ask(wanted: Request = request, anew: bool = shape == "fresh") -> None:
                if anew:
                    async with Transport() as other:
                        await other.send(wanted)
                else:
                    await transport.send(wanted)

            began = time.process_time()
            await _burst(ask, int(width), int(count))
            print((time.process_time() - began) / int(count) * 1e6, flush=True)


class Side:
    """The transport of a checkout in a process of its own."""

    def __init__(self, checkout: Path, port: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, "--port", str(port)],
            env={**os.environ, "PYTHONPATH": str(checkout / "engine")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="ascii",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def burst(self, shape: str, width: int, count: int) -> float:
        """Microseconds of processor time a request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{shape} {width} {count}\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline()
        if not said:
            raise SystemExit("bench: the other process has left")
        return float(said)


def compare(checkout: Path, port: int, rounds: int) -> list[dict[str, Any]]:
    """The figures for each shape, printed as they come."""
    found = []
    with Side(HERE, port) as ours, Side(checkout, port) as theirs:
        for shape, width, count in SHAPES:
            for side in (ours, theirs):
                side.burst(shape, width, count)
            mine, other = [], [theirs.burst(shape, width, count)]
            for _ in range(rounds):
                mine.append(ours.burst(shape, width, count))
                other.append(theirs.burst(shape, width, count))
            around = [(before + after) / 2 for before, after in itertools.pairwise(other)]
            ratios = [one / two for one, two in zip(mine, around, strict=True)]
            low, middle, high = statistics.quantiles(ratios, n=4)
            figure = {"shape": shape, "width": width, "ratio": middle, "quartiles": [low, high]}
            figure |= {"ours": statistics.median(mine), "theirs": statistics.median(around)}
            found.append(figure)
            print(
                f"{shape:8} {width} in flight: processor {middle:.3f} ({low:.3f}-{high:.3f}),"
                f" {figure['ours']:.0f} µs a request, was {figure['theirs']:.0f}",
                flush=True,
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--count", type=int, default=1500, help="requests a measurement, without --against")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="measure beside another checkout")
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.port:
        asyncio.run(_answer_bursts(options.port))
        return
    if options.rounds is not None and options.rounds < 2 and options.against:
        parser.error("--rounds has to be 2 or more: quartiles need them")
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    try:
        port = ours.recv()
        if options.against:
            with contextlib.redirect_stdout(sys.stderr if options.json else sys.stdout):
                figures = compare(options.against.resolve(), port, options.rounds or 14)
            if options.json:
                print(json.dumps({"bench": "transport", "against": figures}))
            return
        found = asyncio.run(run(port, options.count, options.rounds or 3))
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
