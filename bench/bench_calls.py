"""What a call costs: kept answers and pings over stdio, kept answers without protocol, and new calls through a stub."""

from __future__ import annotations

import asyncio
import cProfile
import json
import pstats
import re
import statistics
import sys
import tempfile
import time
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_start import COMMAND, SDK
from client import Client, call, frame
from figures import Figure
from specs import ADDRESS, STUB, environment, write_stub

from specloom.runtime.arguments import parse_arguments
from specloom.server.backend import ExecutorBackend
from specloom.server.frames import render_text
from specloom.server.protocol import Call
from specloom.server.start import make_executor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ID = re.compile(rb'"id":\s*(\d+)')


class _Quiet(Call):
    """A call that tells nobody how far it is."""

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Say nothing."""


def measure(rounds: int, count: int, upstream: str) -> list[Figure]:
    """Microseconds a call and calls a second; the other side is the hello-world on the official SDK."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_stub(root / "stub")
        environ = environment(root / "cache", root / "stub", **{ADDRESS: upstream, "SEARCH_ROUTING": STUB})
        bare = {**environ, "SPECLOOM_CACHE": "off"}
        with (
            Client(COMMAND, environ) as ours,
            Client([*SDK, upstream], environ) as sdk,
            Client(COMMAND, bare) as uncached,
        ):
            for client in (ours, sdk, uncached):
                client.list_tools()
            for client, tool in ((ours, "web_search"), (uncached, "web_search"), (sdk, "search")):
                _must(client.ask(call(2, tool, {"query": "warm"})))
            found = _kept(ours, sdk, rounds, count)
            found += _new(ours, uncached, sdk, rounds, count)
        found += _engine(environ, rounds, count)
    return found


def _must(line: bytes) -> None:
    said = json.loads(line)
    if "error" in said or said["result"].get("isError"):
        raise SystemExit(f"bench: a call through the stub failed: {line[:800].decode('utf-8', 'replace')}")


def _micro(client: Client, line: bytes, count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        client.ask(line)
    return (time.perf_counter() - began) / count * 1e6


def _kept(ours: Client, sdk: Client, rounds: int, count: int) -> list[Figure]:
    kept, hello, ping = call(3, "web_search", {"query": "warm"}), call(3, "hello", {"name": "you"}), frame(4, "ping")
    times: dict[str, list[float]] = {name: [] for name in ("kept", "hello", "ping", "sdk ping")}
    for client, line in ((ours, kept), (sdk, hello), (ours, ping), (sdk, ping)):
        _micro(client, line, count // 4)
    for _ in range(rounds):
        times["kept"].append(_micro(ours, kept, count))
        times["hello"].append(_micro(sdk, hello, count))
        times["ping"].append(_micro(ours, ping, count))
        times["sdk ping"].append(_micro(sdk, ping, count))
    group = "calls over stdio, one at a time"
    hello_times = tuple(times["hello"])
    return [
        Figure(group, "ping (the protocol alone)", "µs", tuple(times["ping"]), tuple(times["sdk ping"]), budget=100),
        Figure(group, "kept web_search; the SDK's hello", "µs", tuple(times["kept"]), hello_times, budget=300),
    ]


def _queries(prefix: str) -> Iterator[str]:
    number = 0
    while True:
        yield f"{prefix} query {number}"
        number += 1


def _flood(
    client: Client, tool: str, queries: Iterator[str], width: int, count: int
) -> tuple[float, float, float | None]:
    """Calls a second, the median latency in milliseconds, and processor milliseconds a call."""
    lines = [call(1000 + number, tool, {"query": next(queries)}) for number in range(count)]
    sent: dict[int, float] = {}
    taken: list[float] = []
    cpu = client.cpu()
    began = time.perf_counter()
    at = 0
    while len(taken) < count:
        while at < count and at - len(taken) < width:
            sent[1000 + at] = time.perf_counter()
            client.send(lines[at])
            at += 1
        line = client.receive()
        match = _ID.search(line[:60])
        if match is None:
            continue
        taken.append(time.perf_counter() - sent[int(match[1])])
        if len(taken) == 1:
            _must(line)
    spent = time.perf_counter() - began
    after = client.cpu()
    worked = (after - cpu) / count * 1000 if cpu is not None and after is not None else None
    return count / spent, statistics.median(taken) * 1000, worked


def _new(ours: Client, uncached: Client, sdk: Client, rounds: int, count: int) -> list[Figure]:
    queries = _queries("new")
    sides = {"kept": (ours, "web_search"), "off": (uncached, "web_search"), "sdk": (sdk, "search")}
    figures: list[Figure] = []
    floors = {1: 868.0, 8: 1843.0}
    for width in (1, 8):
        got: dict[str, list[tuple[float, float, float | None]]] = {side: [] for side in sides}
        for client, tool in sides.values():
            _flood(client, tool, queries, width, count // 4)
        for _ in range(rounds):
            for side, (client, tool) in sides.items():
                got[side].append(_flood(client, tool, queries, width, count))
        group = f"new searches through a loopback stub, {width} in flight (the other side: SDK + httpx by hand)"
        rate = {side: tuple(one[0] for one in runs) for side, runs in got.items()}
        median = {side: tuple(one[1] for one in runs) for side, runs in got.items()}
        cpu = {side: tuple(one[2] for one in runs if one[2] is not None) for side, runs in got.items()}
        floor = floors[width]
        figures += [
            Figure(
                group, "answers kept in memory and on disk", "calls/s", rate["kept"], rate["sdk"], floor, at_least=True
            ),
            Figure(group, "answers not kept", "calls/s", rate["off"], rate["sdk"], floor, at_least=True),
            Figure(group, "p50, kept", "ms", median["kept"], median["sdk"]),
            Figure(group, "p50, not kept", "ms", median["off"], median["sdk"]),
            Figure(group, "processor, kept", "ms a call", cpu["kept"], cpu["sdk"]),
            Figure(group, "processor, not kept", "ms a call", cpu["off"], cpu["sdk"]),
        ]
    return figures


def _engine(environ: dict[str, str], rounds: int, count: int) -> list[Figure]:
    async def run() -> list[Figure]:
        executor = make_executor(environ)
        backend = ExecutorBackend(executor)
        raw = {"query": "warm"}
        await backend.call_tool("web_search", raw, _Quiet())
        done = executor.peek("web_search", raw)
        assert done is not None
        tool = executor.tool("web_search")
        arguments = parse_arguments(tool, raw)
        parts: dict[str, Callable[[], Any]] = {
            "whole: peek and render": lambda: backend.call_now("web_search", raw),
            "  checking the arguments": lambda: parse_arguments(tool, raw),
            "  the cache key": lambda: executor.cache_key(tool, arguments),
            "  rendering": lambda: render_text(done.body, done.meta),
        }
        times: dict[str, list[float]] = {name: [] for name in parts}
        for _ in range(rounds):
            for name, part in parts.items():
                began = time.perf_counter()
                for _ in range(count):
                    part()
                times[name].append((time.perf_counter() - began) / count * 1e6)
        await executor.aclose()
        group = "a kept answer without protocol"
        budgets = {"whole: peek and render": 150.0}
        return [Figure(group, name, "µs", tuple(values), budget=budgets.get(name)) for name, values in times.items()]

    return asyncio.run(run())


def profile(count: int, upstream: str, *, keep: bool = False) -> str:
    """Where the time of new calls goes, without protocol: the ten functions that take most themselves, and in all."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_stub(root / "stub")
        more = {} if keep else {"SPECLOOM_CACHE": "off"}
        environ = environment(root / "cache", root / "stub", **{ADDRESS: upstream, "SEARCH_ROUTING": STUB}, **more)

        async def run() -> cProfile.Profile:
            backend = ExecutorBackend(make_executor(environ))
            await backend.call_tool("web_search", {"query": "warm"}, _Quiet())
            profiler = cProfile.Profile()
            profiler.enable()
            for number in range(count):
                await backend.call_tool("web_search", {"query": f"profile {number}"}, _Quiet())
            profiler.disable()
            await backend.close(1.0)
            return profiler

        profiler = asyncio.run(run())
    out = StringIO()
    stats = pstats.Stats(profiler, stream=out)
    stats.strip_dirs().sort_stats("tottime").print_stats(10)
    stats.sort_stats("cumulative").print_stats(25)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit("run bench/run.py --only calls")
