"""What calls cost over stdio: pings, kept searches and new ones through a loopback stub, some in flight at once."""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import re
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_start import must_have_results
from client import Client, call, frame
from figures import Figure
from rivals import asking, other_side, our_side
from specs import environment

from specloom.runtime.arguments import parse_arguments
from specloom.server.backend import ExecutorBackend
from specloom.server.frames import render_text
from specloom.server.protocol import Call
from specloom.server.start import make_executor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specloom.runtime.executor import Executor

FLOORS = {1: 0.6, 8: 0.4, 32: 0.4}
"""Calls in flight, and the calls a second that are wanted of new searches, by those of the rival."""
KEPT_FLOOR = 1.0
"""The same of kept answers."""
TAIL = {8: 5.0}
"""How many times p50 p99 may be of new searches, by calls in flight."""
SETTLED = 0.1
"""Seconds after the calls of one side, in which it writes what it keeps; its processor time counts."""
_ID = re.compile(rb'"id":\s*(\d+)')


class _Quiet(Call):
    """A call that tells nobody how far it is."""

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class Flood:
    """Some calls: calls a second, milliseconds of half and of 99 in 100 of them, processor milliseconds of one."""

    rate: float
    p50: float
    p99: float
    worked: float


def measure(rounds: int, count: int, upstream: str, rival: str, beside: str) -> list[Figure]:
    """Calls a second and latencies by those of the other side; answers are kept and the audit log is on."""
    ours, other = our_side(upstream), other_side(upstream, rival)
    pings: dict[str, list[float]] = {"ours": [], "theirs": []}
    floods: dict[tuple[str, int, str], list[Flood]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        ours.start(Path(folder) / "ours") as mine,
        other.start(Path(folder) / "theirs") as yours,
    ):
        sides = {"ours": (ours, mine), "theirs": (other, yours)}
        for side, client in sides.values():
            client.list_tools()
            flood(client, side.search, [f"warm {number}" for number in range(count)], 8)
        for turn in range(rounds):
            # Who goes second finds the processors as the first has left them, so they change places.
            for name in sides if turn % 2 else reversed(sides):
                pings[name].append(_ping(sides[name][1], count))
            for width in FLOORS:
                for kind in ("new", "kept"):
                    for name in sides if turn % 2 else reversed(sides):
                        side, client = sides[name]
                        queries = [f"new {turn} {width} {at}" if kind == "new" else "warm 0" for at in range(count)]
                        floods.setdefault((kind, width, name), []).append(flood(client, side.search, queries, width))
    both = tuple(pings["ours"]), tuple(pings["theirs"])
    ping = Figure("pings over stdio", "the protocol alone", "µs", *both, budget=1.0, beside=beside)
    return [ping, *make_figures(floods, beside)]


def make_figures(floods: dict[tuple[str, int, str], list[Flood]], beside: str) -> list[Figure]:
    """What was timed as figures with their budgets."""
    figures = []
    for kind, width in dict.fromkeys((kind, width) for kind, width, _ in floods):
        group = f"{kind} web_search over stdio, {width} in flight"
        mine, yours = floods[kind, width, "ours"], floods[kind, width, "theirs"]
        parts = {
            part: (tuple(getattr(one, part) for one in mine), tuple(getattr(one, part) for one in yours))
            for part in ("rate", "p50", "p99", "worked")
        }
        floor = FLOORS[width] if kind == "new" else KEPT_FLOOR
        figures += [
            Figure(group, "calls a second", "calls/s", *parts["rate"], budget=floor, at_least=True, beside=beside),
            Figure(group, "p50", "ms", *parts["p50"], beside=beside),
            Figure(group, "p99", "ms", *parts["p99"], beside=beside),
        ]
        if kind == "new":
            both = parts["p99"][0], parts["p50"][0]
            figures.append(Figure(group, "p99 by p50", "ms", *both, budget=TAIL.get(width), beside="p50"))
        if all(parts["worked"][0]) and all(parts["worked"][1]):
            figures.append(Figure(group, "processor time of a call", "ms", *parts["worked"], beside=beside))
    return figures


def _ping(client: Client, count: int) -> float:
    line = frame(4, "ping")
    began = time.perf_counter()
    for _ in range(count):
        client.ask(line)
    return (time.perf_counter() - began) / count * 1e6


def flood(client: Client, tool: str, queries: Sequence[str], width: int) -> Flood:
    """All searches with so many in flight; a SystemExit where one has no results."""
    lines = [call(1000 + number, tool, {"query": query}) for number, query in enumerate(queries)]
    sent: dict[int, float] = {}
    taken: list[float] = []
    answers: list[bytes] = []
    cpu = client.cpu()
    began = time.perf_counter()
    while len(taken) < len(lines):
        while len(sent) < len(lines) and len(sent) - len(taken) < width:
            number = 1000 + len(sent)
            sent[number] = time.perf_counter()
            client.send(lines[number - 1000])
        line = client.receive()
        match = _ID.search(line[:60])
        if match is None or b'"method":' in line[:60]:
            continue
        taken.append(time.perf_counter() - sent[int(match[1])])
        answers.append(line)
    spent = time.perf_counter() - began
    for answer in answers:
        must_have_results(answer)
    time.sleep(SETTLED)
    after = client.cpu()
    worked = (after - cpu) / len(lines) * 1000 if cpu is not None and after is not None else 0.0
    p50, p99 = to_percentiles(taken)
    return Flood(len(lines) / spent, p50 * 1000, p99 * 1000, worked)


def to_percentiles(values: Sequence[float]) -> tuple[float, float]:
    """The value in the middle and the one that one in a hundred passes."""
    if len(values) < 2:
        return values[0], values[0]
    return statistics.median(values), statistics.quantiles(values, n=100, method="inclusive")[98]


def profile(count: int, upstream: str, *, keep: bool = False) -> str:
    """Where the time of new calls goes, without protocol: the ten functions that take most themselves, and in all.

    Before it stand the parts of a kept answer, in microseconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        more = {} if keep else {"SPECLOOM_CACHE": "off"}
        environ = environment(Path(folder) / "cache", **asking(upstream), **more)

        async def run() -> tuple[cProfile.Profile, list[str]]:
            executor = make_executor(environ)
            backend = ExecutorBackend(executor)
            await backend.call_tool("web_search", {"query": "warm"}, _Quiet())
            parts = _time_kept(executor, backend, count) if keep else []
            profiler = cProfile.Profile()
            profiler.enable()
            for number in range(count):
                await backend.call_tool("web_search", {"query": f"profile {number}"}, _Quiet())
            profiler.disable()
            await backend.close(1.0)
            return profiler, parts

        profiler, parts = asyncio.run(run())
    out = StringIO()
    stats = pstats.Stats(profiler, stream=out)
    stats.strip_dirs().sort_stats("tottime").print_stats(10)
    stats.sort_stats("cumulative").print_stats(25)
    return "\n".join([*parts, out.getvalue()])


def _time_kept(executor: Executor, backend: ExecutorBackend, count: int) -> list[str]:
    raw = {"query": "warm"}
    done = executor.peek("web_search", raw)
    assert done is not None
    tool = executor.tool("web_search")
    arguments = parse_arguments(tool, raw)
    parts: dict[str, Callable[[], Any]] = {
        "a kept answer: peek and render": lambda: backend.call_now("web_search", raw),
        "  checking the arguments": lambda: parse_arguments(tool, raw),
        "  the cache key": lambda: executor.cache_key(tool, arguments),
        "  rendering": lambda: render_text(done.body, done.meta),
    }
    said = []
    for name, part in parts.items():
        began = time.perf_counter()
        for _ in range(count):
            part()
        said.append(f"{name:40}{(time.perf_counter() - began) / count * 1e6:10.1f} µs")
    return said


if __name__ == "__main__":
    sys.exit("run bench/run.py --only calls")
