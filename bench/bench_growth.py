"""How the cost grows with the number of specs: compiling, running their examples, starting, listing, routing."""

from __future__ import annotations

import gc
import shutil
import tempfile
import time
from pathlib import Path

from client import Client
from figures import Figure
from rivals import COMMAND
from specs import environment, write_grown

from specloom.authoring.examples.run import check_examples
from specloom.compiler.build import weave_from
from specloom.runtime.configuration import plan_routes

STEPS = ((10, 3), (100, 20), (1000, 200))
QUICK = STEPS[:2]
LINEAR = 1.3
"""What a spec may cost among ten times as many, as a multiple of what it costs among few."""


def measure(rounds: int, steps: tuple[tuple[int, int], ...]) -> list[Figure]:
    """For each step the time by spec, beside that of the step before; a quadratic one would show as a rising one."""
    found: list[Figure] = []
    before: dict[str, tuple[float, ...]] = {}
    beside = ""
    with tempfile.TemporaryDirectory() as folder:
        _step(Path(folder), 1, 1, 1)  # imports what the first step would pay for
    for providers, tools in steps:
        with tempfile.TemporaryDirectory() as folder:
            times = _step(Path(folder), providers, tools, rounds if providers < 1000 else min(rounds, 2))
        group = f"growth: {providers} providers, {tools} tools; by spec"
        for name, values in times.items():
            # A start compiles or lists what is shipped too, so its time by spec falls.
            budget = LINEAR if before and "start" not in name else None
            theirs = before.get(name, ())
            found.append(Figure(group, name, "ms", values, theirs, budget=budget, beside=beside))
        before, beside = times, f"{providers + tools} specs"
    return found


def _step(root: Path, providers: int, tools: int, rounds: int) -> dict[str, tuple[float, ...]]:
    specs = root / "specs"
    write_grown(specs, providers, tools)
    size = providers + tools
    times: dict[str, list[float]] = {name: [] for name in ("weave", "examples", "route", "image", "fresh")}
    for _ in range(rounds):
        gc.collect()
        began = time.process_time()
        model, library, report = weave_from([specs])
        woven = time.process_time()
        check_examples(library, model, report)
        ended = time.process_time()
        if report.errors:
            raise SystemExit(f"bench: a generated spec has an error: {report.errors[0]}")
        configured = frozenset(model.providers)
        routed = time.process_time()
        plan_routes(model, configured, {"SEARCH_ROUTING": ",".join(model.providers)})
        times["route"].append((time.process_time() - routed) * 1000)
        times["weave"].append((woven - began) * 1000)
        times["examples"].append((ended - woven) * 1000)
    for _ in range(rounds):
        shutil.rmtree(root / "cache", ignore_errors=True)
        environ = environment(root / "cache", specs, SPECLOOM_TOOLSETS="grown")
        for name in ("fresh", "image"):
            with Client(COMMAND, environ) as client:
                client.shake()
                client.send(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
                client.receive()
                times[name].append((time.perf_counter() - client.began) * 1000)
    names = {
        "compile, processor time": "weave",
        "examples, processor time": "examples",
        "routing in full, processor time": "route",
        "first start to tools/list (no image)": "fresh",
        "start to tools/list": "image",
    }
    return {name: tuple(value / size for value in times[key]) for name, key in names.items()}
