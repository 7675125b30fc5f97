"""How the cost grows with the number of specs: compiling, running their examples, starting, listing, routing."""

from __future__ import annotations

import gc
import shutil
import tempfile
import time
from pathlib import Path

from bench_start import COMMAND
from client import Client
from figures import Figure
from specs import environment, write_grown

from specloom.authoring.examples.run import check_examples
from specloom.compiler.build import weave_from
from specloom.runtime.configuration import plan_routes

STEPS = ((10, 3), (100, 20), (1000, 200))
QUICK = STEPS[:2]


def measure(rounds: int, steps: tuple[tuple[int, int], ...]) -> list[Figure]:
    """For each step the time in all and by spec; a quadratic step would show as a rising time by spec."""
    found: list[Figure] = []
    for providers, tools in steps:
        with tempfile.TemporaryDirectory() as folder:
            found += _step(Path(folder), providers, tools, rounds if providers < 1000 else min(rounds, 2))
    return found


def _step(root: Path, providers: int, tools: int, rounds: int) -> list[Figure]:
    specs = root / "specs"
    write_grown(specs, providers, tools)
    size = providers + tools
    times: dict[str, list[float]] = {name: [] for name in ("weave", "examples", "route", "image", "fresh")}
    listed = 0
    for _ in range(rounds):
        gc.collect()
        began = time.perf_counter()
        model, library, report = weave_from([specs])
        woven = time.perf_counter()
        check_examples(library, model, report)
        ended = time.perf_counter()
        if report.errors:
            raise SystemExit(f"bench: a generated spec has an error: {report.errors[0]}")
        configured = frozenset(model.providers)
        routed = time.perf_counter()
        plan_routes(model, configured, {"SEARCH_ROUTING": ",".join(model.providers)})
        times["route"].append((time.perf_counter() - routed) * 1000)
        times["weave"].append((woven - began) * 1000)
        times["examples"].append((ended - woven) * 1000)
    for _ in range(rounds):
        shutil.rmtree(root / "cache", ignore_errors=True)
        environ = environment(root / "cache", specs, SPECLOOM_TOOLSETS="grown")
        for name in ("fresh", "image"):
            with Client(COMMAND, environ) as client:
                client.shake()
                client.send(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
                listed = len(client.receive())
                times[name].append((time.perf_counter() - client.began) * 1000)
    group = f"growth: {providers} providers, {tools} tools"
    by_spec = {name: tuple(value / size for value in times[name]) for name in ("weave", "examples")}
    checked = tuple(a + b for a, b in zip(times["weave"], times["examples"], strict=True))
    return [
        Figure(group, "check: compile and run all examples", "ms", checked, budget=5000 if providers == 100 else None),
        Figure(group, "  compile, by spec", "ms", by_spec["weave"]),
        Figure(group, "  examples, by spec", "ms", by_spec["examples"]),
        Figure(group, "routing in full", "ms", tuple(times["route"])),
        Figure(group, "first start to tools/list (no image)", "ms", tuple(times["fresh"])),
        Figure(group, "start to tools/list", "ms", tuple(times["image"])),
        Figure(group, "the list", "bytes", (float(listed),)),
        Figure(group, "  by tool", "bytes", (listed / tools,)),
    ]
