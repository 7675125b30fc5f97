"""What more workers and machines bear over HTTP: new searches, kept ones and pages, and what they have in memory.

The engine on loopback takes 200 ms for each search, as engines on the net do, so new searches wait for it and not for a
processor. It is asked through a spec of the benchmark's own, whose provider has no limits: those of a shipped spec are
its upstream's, and would be all that is measured. Beside all of it stands a hello-world on the official SDK.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench_http import BODIES, CONNECTIONS, PATIENCE, HttpSide, find_port, run_load, wait_for, write_script
from bench_reading import serving
from client import descendants, private
from figures import Figure
from rivals import SPECLOOM, empty_home
from stub import running

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENGINE_DELAY = 0.2
WORKERS = (1, 2, 4)
MACHINES = "two machines of two workers"
HELLO = "the SDK's hello-world"
PROVIDER = """\
spec: provider/1
name: bench_engine
title: Bench
homepage: https://example.org/
notes: An engine on loopback, for benchmarks.
config:
  BENCH_ENGINE_URL: {type: url, required: true, description: Where it listens.}
service:
  base: =config.BENCH_ENGINE_URL
  private: true
  limits: {timeout: 20s}
operations:
  web:
    input: [query, num_results]
    steps:
      - get: /search
        query: {q: =args.query}
        json:
          each: results
          map:
            title: title
            url: {at: url, required: true, then: [absolute_http]}
            snippet: content
examples:
  - name: a page
    operation: web
    args: {query: otters}
    config: {BENCH_ENGINE_URL: "https://bench.example.org"}
    replies: {main: {json: {results: [{title: otters, url: "https://example.org/", content: They float.}]}}}
    expect: {count: 1, sent: {main: {query: {q: otters}}}}
"""
CALL = '{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{}}}}}'
NEW, KEPT, PAGE, GREETING = "new web_search, 200 ms", "kept web_search", "scrape_page", "hello"
LOADS = {NEW: 64, KEPT: 64, PAGE: 8}
"""What is asked, over so many connections."""
WARMING = 3
"""Seconds in which those who read pages are started, before pages are counted."""


def measure(rounds: int, seconds: int) -> list[Figure]:
    """Calls a second and latencies by the number of workers, and the memory behind them."""
    program = shutil.which("wrk")
    if program is None:
        note = "wrk was not found, so nothing was measured over HTTP; Debian has it (apt-get install wrk)"
        return [Figure("Over HTTP, by workers", "no load", "calls/s", (), note=note)]
    found: dict[tuple[str, str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, running(ENGINE_DELAY) as upstream, serving() as pages:
        work = Path(folder)
        layer = work / "specs" / "providers.d"
        layer.mkdir(parents=True)
        (layer / "bench_engine.yaml").write_text(PROVIDER, encoding="utf-8")
        settings = {
            "SPECLOOM_PATH": str(work / "specs"),
            "BENCH_ENGINE_URL": upstream,
            "SEARCH_ROUTING": "bench_engine",
            "SPECLOOM_ALLOW_PRIVATE": "true",
            "CHROME_PATH": "disabled",
        }
        bodies = {
            NEW: BODIES["new web_search"],
            KEPT: BODIES["kept web_search"],
            PAGE: CALL.format("scrape_page", json.dumps({"url": f"{pages}/now/@"})),
        }
        for turn in range(rounds):
            for count in WORKERS[turn % 3 :] + WORKERS[: turn % 3]:
                side = HttpSide("specloom", [SPECLOOM, "serve", "--http", "--workers", str(count)], settings)
                home = work / f"workers{count}"
                with side.start(home) as server:
                    for kind, connections in LOADS.items():
                        if kind == PAGE:
                            script = write_script(work, bodies[kind], f"9{turn}{count}")
                            run_load(program, script, server.port, connections, WARMING)
                        seed = f"{turn}{count}" if kind == PAGE else f"s{turn}w{count}x"
                        script = write_script(work, bodies[kind], seed)
                        before = find_processor_time(server.process.pid)
                        load = run_load(program, script, server.port, connections, seconds)
                        worked = (find_processor_time(server.process.pid) - before) / max(load.rate * seconds, 1)
                        keep(found, kind, str(count), {**load._asdict(), "worked": worked * 1000})
                    keep(found, "memory", str(count), weigh(server.process.pid, count))
            with machines(work, settings) as ports:
                for kind in (NEW, KEPT):
                    scripts = [write_script(work, bodies[kind], f"m{turn}p{at}x", str(at)) for at in range(2)]
                    with ThreadPoolExecutor(2) as pool:
                        half = [LOADS[kind] // 2] * 2
                        halves = list(pool.map(run_load, [program] * 2, scripts, ports, half, [seconds] * 2))
                    keep(found, kind, MACHINES, {"rate": sum(one.rate for one in halves), "p99": halves[0].p99})
            with hello(work) as port:
                for connections in CONNECTIONS:
                    script = write_script(work, CALL.format("hello", '{"name":"@"}'), "n")
                    load = run_load(program, script, port, connections, seconds, "/mcp")
                    keep(found, f"{GREETING} {connections}", HELLO, load._asdict())
    return to_figures(found)


def keep(found: dict[tuple[str, str, str], list[float]], kind: str, side: str, values: Mapping[str, float]) -> None:
    """Keep what a round has given."""
    for name, value in values.items():
        found.setdefault((kind, side, name), []).append(value)


def to_figures(found: Mapping[tuple[str, str, str], list[float]]) -> list[Figure]:
    """The figures of all rounds: each number of workers beside one worker."""
    figures = []
    for kind, connections in LOADS.items():
        group = f"{kind} over HTTP by workers, {connections} connections"
        one = tuple(found[kind, "1", "rate"])
        figures.append(Figure(group, "one worker, calls a second", "calls/s", one))
        for name in ("p50", "p99"):
            figures.append(Figure(group, f"one worker, {name}", "ms", tuple(found[kind, "1", name])))
        figures.append(Figure(group, "processor time of a call", "ms", tuple(found[kind, "1", "worked"])))
        for side in ("2", "4", MACHINES):
            rates = tuple(found.get((kind, side, "rate"), ()))
            if rates:
                name = side if side == MACHINES else f"{side} workers"
                figures.append(
                    Figure(
                        group,
                        f"{name}, calls a second",
                        "calls/s",
                        rates,
                        one,
                        beside="one worker",
                    )
                )
    for connections in CONNECTIONS:
        group = f"hello over HTTP on the SDK, {connections} connection{'s' if connections > 1 else ''}"
        for name, unit in (("rate", "calls/s"), ("p50", "ms"), ("p99", "ms")):
            values = tuple(found[f"{GREETING} {connections}", HELLO, name])
            figures.append(Figure(group, "calls a second" if name == "rate" else name, unit, values))
    for side in map(str, WORKERS):
        for name in ("parent", "a worker"):
            values = tuple(found.get(("memory", side, name), ()))
            if values:
                workers = f"{side} worker{'s' if side != '1' else ''}"
                figures.append(Figure("memory over HTTP after the loads", f"{workers}, {name}", "MB", values))
    return figures


def weigh(parent: int, count: int) -> dict[str, float]:
    """Megabytes that the parent, and a worker on average, have of their own, without those who read pages for them."""
    if count == 1:
        return {"a worker": private(parent)}
    workers = [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()]
    return {"parent": private(parent), "a worker": sum(map(private, workers)) / max(len(workers), 1)}


def find_processor_time(pid: int) -> float:
    """Seconds of processor time so far, of a server and all that it has started and that still runs."""
    ticks = 0
    for one in (pid, *descendants(pid)):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text("ascii").rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def machines(work: Path, settings: Mapping[str, str]) -> Iterator[list[int]]:
    """Two servers of two workers at homes of their own over one Redis; their ports."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        raise SystemExit("bench: there is no redis-server (apt-get install redis-server)")
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="redis")))
        options = ["--port", "0", "--unixsocket", str(place / "s"), "--save", "", "--dir", str(place)]
        redis = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
        stack.callback(redis.wait, PATIENCE)
        stack.callback(redis.terminate)
        while not (place / "s").exists():
            time.sleep(0.01)
        shared = {**settings, "REDIS_URL": f"unix://{place / 's'}", "SPECLOOM_CACHE_KEY": "ab" * 32}
        side = HttpSide("specloom", [SPECLOOM, "serve", "--http", "--workers", "2"], shared)
        servers = [stack.enter_context(side.start(work / f"machine{at}")) for at in range(2)]
        yield [one.port for one in servers]


@contextmanager
def hello(work: Path) -> Iterator[int]:
    """The port of the hello-world, while it runs."""
    port = find_port()
    script = str(Path(__file__).with_name("hello_sdk.py"))
    environ = empty_home(work / "hello")
    with subprocess.Popen([sys.executable, script, "--http", str(port)], env=environ) as process:
        try:
            wait_for(port, "/mcp")
            yield port
        finally:
            process.terminate()
