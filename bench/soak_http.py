"""A server over HTTP under a steady load for as long as is asked: errors, latencies and memory, slice by slice.

    python bench/soak_http.py [--minutes 60] [--rate 100] [--workers 2] [--json FILE]

Requests come at a rate of their own and wait for nobody, so a server that is late is seen to be: a latency begins when
its request was due. They are of a hundred users of twenty tenants whose answers are apart: kept searches, new ones from
an engine that takes 200 ms, lists, pages, and steps of sessions; beside them streams of changes are open and quiet.
The exit code is 1 where a request failed or the server did not end cleanly; growth is told and judged by nobody.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_http import PATIENCE, UNLIMITED, find_port, wait_for
from bench_reading import serving
from client import descendants, private
from rivals import SPECLOOM, asking, empty_home
from stub import running

from specloom.http.identity import ApiKeyFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TENANTS, USERS = 20, 5
ENGINE_DELAY = 0.2
MIX = {"kept": 55, "new": 15, "list": 15, "page": 5, "step": 10}
"""What is asked, in a hundred requests."""
LONGEST_SESSION = 10
"""Steps of a session, before its user begins another one."""
WARM = 1 / 3
"""The part of a run, from its beginning, whose memory says nothing of growth: what is kept fills up."""
LISTEN = {"notifications": {"resourceSubscriptions": ["memory://none"]}}
VERSION = "io.modelcontextprotocol/protocolVersion"
MODERN = {
    "_meta": {
        VERSION: "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
    }
}
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


@dataclass(slots=True)
class Slice:
    """What came of the requests of a part of the run."""

    began: float
    taken: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, seconds: float) -> None:
        """A request that was answered."""
        self.taken.setdefault(kind, []).append(seconds * 1000)

    def to_json(self) -> dict[str, Any]:
        """Counts and milliseconds."""
        every = sorted(one for some in self.taken.values() for one in some)
        kinds = {
            kind: {"count": len(some), "p50": round(statistics.median(some), 1), "p99": percentile(sorted(some), 99)}
            for kind, some in sorted(self.taken.items())
        }
        return {
            "requests": len(every),
            "errors": dict(self.errors),
            "p50": percentile(every, 50),
            "p99": percentile(every, 99),
            "most": percentile(every, 100),
            "kinds": kinds,
        }


def percentile(ordered: Sequence[float], percent: int) -> float:
    """A percentile of ordered values, in tenths; 0 of nothing."""
    return round(ordered[min(len(ordered) * percent // 100, len(ordered) - 1)], 1) if ordered else 0.0


class Connection:
    """One connection to the server, which is opened again where it was closed."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes, key: str, extra: str = "") -> tuple[int, bytes]:
        """Status and body of the answer to a message."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        writer.write(to_request(self.port, body, key, extra))
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            said = await (reader.readexactly(int(length[1])) if length else read_chunks(reader))
        except (OSError, EOFError, asyncio.IncompleteReadError):
            await self.close()
            raise
        if b"connection: close" in head.lower():
            await self.close()
        return int(head[9:12]), said

    async def close(self) -> None:
        """Close it."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def to_request(port: int, body: bytes, key: str, extra: str = "") -> bytes:
    """A message as HTTP."""
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nAuthorization: Bearer {key}\r\n{extra}"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def read_chunks(reader: asyncio.StreamReader) -> bytes:
    """A body that comes in chunks."""
    parts = []
    while size := int(await reader.readline(), 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readexactly(2)
    return b"".join(parts)


class Soak:
    """The load, and what came of it."""

    def __init__(self, port: int, keys: Sequence[str], pages: str) -> None:
        self.port, self.keys, self.pages = port, keys, pages
        self.numbers = itertools.count(1)
        self.sessions: dict[str, tuple[str, int]] = {}
        self.slice = Slice(time.monotonic())
        self._due: asyncio.Queue[tuple[float, str, int]] = asyncio.Queue()

    async def run(self, rate: float, seconds: float, connections: int) -> None:
        """Ask at a rate for so long, over so many connections."""
        kinds = [kind for kind, share in MIX.items() for _ in range(share)]
        order = [kinds[(at * 37) % len(kinds)] for at in range(len(kinds))]  # 37 has no divisor of 100: all are mixed
        asking = [asyncio.create_task(self._work()) for _ in range(connections)]
        began = time.monotonic()
        for number in itertools.count():
            due = began + number / rate
            if due > began + seconds:
                break
            wait = due - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            self._due.put_nowait((due, order[number % len(order)], number))
        await asyncio.wait_for(self._due.join(), PATIENCE)
        for one in asking:
            one.cancel()

    async def _work(self) -> None:
        connection = Connection(self.port)
        while True:
            due, kind, number = await self._due.get()
            try:
                key = self.keys[number * 7 % len(self.keys)]
                status, said = await connection.post(self._message(kind, number, key), key)
                why = self._find_fault(kind, key, status, said)
                if why:
                    self.slice.errors[f"{kind}: {why}"] += 1
                else:
                    self.slice.add(kind, time.monotonic() - due)
            except (OSError, EOFError, asyncio.IncompleteReadError, ValueError) as error:
                self.slice.errors[f"{kind}: {type(error).__name__}"] += 1
            finally:
                self._due.task_done()

    def _message(self, kind: str, number: int, key: str) -> bytes:
        if kind == "list":
            return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/list"}).encode()
        tool, arguments = self._call(kind, number, key)
        params = {"name": tool, "arguments": arguments}
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()

    def _call(self, kind: str, number: int, key: str) -> tuple[str, Mapping[str, Any]]:
        match kind:
            case "kept":
                return "web_search", {"query": f"otters {number % 10}"}
            case "new":
                return "web_search", {"query": f"otters at bend {number}"}
            case "page":
                return "scrape_page", {"url": f"{self.pages}/now/{number}"}
        session, step = self.sessions.pop(key, ("", 0))
        arguments = {"searchStep": f"Read reach {number}", "stepNumber": step + 1, "nextStepNeeded": True}
        more = {"sessionId": session} if session else {"researchGoal": f"rivers {number}"}
        return "sequential_search", {**arguments, **more}

    def _find_fault(self, kind: str, key: str, status: int, said: bytes) -> str:
        """What is wrong with an answer; "" where nothing is."""
        if status != 200:
            return f"status {status}"
        if b'"isError":true' in said or b'"error":{' in said[:200]:
            found = re.search(rb'\\"kind\\":\s*\\"(\w+)', said)
            return found[1].decode() if found else "an error"
        if kind == "step":
            content = json.loads(said)["result"]["structuredContent"]
            if content["currentStep"] < LONGEST_SESSION:
                self.sessions[key] = (content["sessionId"], content["currentStep"])
        return ""

    async def listen(self, key: str) -> None:
        """Hold a stream of changes open until it is cancelled; one that ends is an error."""
        body = {"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": {**LISTEN, **MODERN}}
        extra = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(to_request(self.port, json.dumps(body).encode(), key, extra))
        try:
            while await reader.read(65536):
                pass
            self.slice.errors["listen: ended"] += 1
        finally:
            writer.close()


def weigh(parent: int, count: int) -> dict[str, float]:
    """Megabytes that the parent, its workers together, and what they started have of their own; open descriptors.

    One worker is its own parent.
    """
    workers = find_children(parent) if count > 1 else [parent]
    below = [pid for worker in workers for pid in descendants(worker)]
    found = {
        "parent": private(parent),
        "workers": sum(map(private, workers)),
        "helpers": sum(map(private, below)),
        "descriptors": sum(count_descriptors(pid) for pid in workers),
    }
    return {name: round(size, 1) for name, size in found.items()}


def find_children(pid: int) -> list[int]:
    """The processes that a process has started itself."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def count_descriptors(pid: int) -> int:
    """How many descriptors a process has open; 0 for one that has just left."""
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0


def find_slope(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    """Megabytes an hour, by least squares over the slices that are not warm-up."""
    kept = [(row["minute"] / 60, row["memory"][name]) for row in rows[int(len(rows) * WARM) :]]
    if len(kept) < 3:
        return 0.0
    middle, level = (statistics.fmean(values) for values in zip(*kept, strict=True))
    spread = sum((at - middle) ** 2 for at, _ in kept)
    return sum((at - middle) * (size - level) for at, size in kept) / spread


async def soak(server: subprocess.Popen[bytes], load: Soak, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run the load, and tell what came of each slice."""
    rows: list[dict[str, Any]] = []
    began = time.monotonic()
    listening = [asyncio.create_task(load.listen(load.keys[at % len(load.keys)])) for at in range(options.streams)]

    async def watch() -> None:
        while True:
            await asyncio.sleep(options.slice)
            ended, load.slice = load.slice, Slice(time.monotonic())
            minute = (time.monotonic() - began) / 60
            row = {"minute": round(minute, 2), **ended.to_json(), "memory": weigh(server.pid, options.workers)}
            rows.append(row)
            print(tell(row), flush=True)

    watching = asyncio.create_task(watch())
    await load.run(options.rate, options.minutes * 60, options.connections)
    for one in (watching, *listening):
        one.cancel()
    await asyncio.gather(watching, *listening, return_exceptions=True)
    if not rows:
        rows.append(
            {
                "minute": (time.monotonic() - began) / 60,
                **load.slice.to_json(),
                "memory": weigh(server.pid, options.workers),
            }
        )
        print(tell(rows[-1]), flush=True)
    return rows


def tell(row: Mapping[str, Any]) -> str:
    """A slice as a line."""
    memory = row["memory"]
    errors = ", ".join(f"{count} {what}" for what, count in row["errors"].items()) or "none"
    return (
        f"{row['minute']:6.1f} min {row['requests']:7} requests  p50 {row['p50']:6.1f}  p99 {row['p99']:7.1f}"
        f"  most {row['most']:7.1f} ms  workers {memory['workers']:6.1f} MB  parent {memory['parent']:5.1f}"
        f"  helpers {memory['helpers']:6.1f}  {memory['descriptors']:.0f} descriptors  errors: {errors}"
    )


def make_keys(home: Path) -> list[str]:
    """An API key for each user of each tenant."""
    keys = ApiKeyFile(home / "keys.json")
    pairs = itertools.product(range(TENANTS), range(USERS))
    return [
        keys.add(f"tenant{tenant}", user=f"user{user}", scopes=["research"], now=time.time())[1]
        for tenant, user in pairs
    ]


def main() -> int:
    """Run it, and say what came of it as a whole."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=100.0, help="requests a second")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--streams", type=int, default=100, help="streams of changes that are open")
    parser.add_argument("--slice", type=float, default=60.0, help="seconds of a slice")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the slices there as well")
    options = parser.parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        upstream, pages = stack.enter_context(running(ENGINE_DELAY)), stack.enter_context(serving())
        port = find_port()
        settings = {
            **empty_home(home),
            **UNLIMITED,
            **asking(upstream),
            "SPECLOOM_API_KEYS": str(home / "keys.json"),
            "CACHE_ISOLATION": "tenant",
            "SPECLOOM_ALLOW_PRIVATE": "true",
            "CHROME_PATH": "disabled",
        }
        keys = make_keys(home)
        command = [SPECLOOM, "serve", "--http", str(port), "--workers", str(options.workers)]
        said = stack.enter_context((home / "said.txt").open("wb"))
        server = subprocess.Popen(command, env=settings, stdout=subprocess.DEVNULL, stderr=said)
        try:
            wait_for(port)
            rows = asyncio.run(soak(server, Soak(port, keys, pages), options))
        finally:
            server.terminate()
            code = server.wait(2 * PATIENCE)
        lines = (home / "said.txt").read_text(encoding="utf-8").splitlines()
    failed = sum(sum(row["errors"].values()) for row in rows)
    whole = {
        "minutes": round(rows[-1]["minute"], 1),
        "requests": sum(row["requests"] for row in rows),
        "failed": failed,
        "growth, MB an hour": {name: round(find_slope(rows, name), 2) for name in ("workers", "parent", "helpers")},
        "worst p99 of a slice, ms": max(row["p99"] for row in rows),
        "exit code": code,
        "said": lines[1:20],
    }
    print(json.dumps(whole, indent=1))
    if options.json:
        options.json.write_text(json.dumps({"whole": whole, "slices": rows}, indent=1) + "\n", encoding="utf-8")
    return 1 if failed or code else 0


if __name__ == "__main__":
    sys.exit(main())
