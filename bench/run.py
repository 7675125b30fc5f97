"""All benchmarks in one run on one machine, as ratios beside their budgets.

    python bench/run.py [--quick] [--only PARTS] [--rival PROGRAM] [--record] [--json FILE]

Ours is held against the binary of another server with the same tools, in turns, in the same rounds; where that is not
there this is said, and a stand-in on the official SDK takes its place, without budgets. Nothing here fails for being
slow: OVER and UNDER are for people. `--record` appends the figures to the history.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bench_calls
import bench_catalogue
import bench_commands
import bench_growth
import bench_http
import bench_http_scale
import bench_mapping
import bench_memory
import bench_reading
import bench_start
import history
from figures import Figure, lines
from rivals import find_rival, introduce, other_side, tell_absence
from stub import running

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PARTS = ("start", "commands", "memory", "calls", "http", "scale", "mapping", "growth", "catalogue", "reading")
BESIDE = frozenset({"start", "memory", "calls", "http"})
"""Parts that need somebody beside us: the rival, or the stand-in."""


def measure_parts(wanted: list[str], *, quick: bool, rival: str, say: Callable[[str], object]) -> list[Figure]:
    """The figures of the parts that are wanted, in their order; a table of each is said as soon as it is measured."""
    found: list[Figure] = []
    program = find_rival(rival)
    with running() as upstream, tempfile.TemporaryDirectory() as folder:
        beside = ""
        if BESIDE.intersection(wanted):
            beside = introduce(other_side(upstream, program), Path(folder))
            say(f"beside {beside}" if program else tell_absence())
        measures: dict[str, Callable[[], list[Figure]]] = {
            "start": lambda: bench_start.measure(2 if quick else 5, upstream, program, beside),
            "commands": lambda: bench_commands.measure(2 if quick else 9, 1 if quick else 3),
            "memory": lambda: bench_memory.measure(1 if quick else 5, upstream, program, beside),
            "calls": lambda: bench_calls.measure(3 if quick else 21, 60 if quick else 120, upstream, program, beside),
            "http": lambda: bench_http.measure(1 if quick else 5, 1 if quick else 2, upstream, program, beside),
            "scale": lambda: bench_http_scale.measure(1 if quick else 3, 2 if quick else 5),
            "mapping": lambda: bench_mapping.measure(3 if quick else 9),
            "growth": lambda: bench_growth.measure(
                1 if quick else 3, bench_growth.QUICK if quick else bench_growth.STEPS
            ),
            "catalogue": bench_catalogue.measure,
            "reading": lambda: bench_reading.measure(1 if quick else 5, 40 if quick else 100, rival=rival),
        }
        for part in wanted:
            began = time.perf_counter()
            figures = measures[part]()
            if not program:
                figures = [without_budget(one, beside) for one in figures]
            found += figures
            for line in lines(figures):
                say(line)
            say(f"  ({part} took {time.perf_counter() - began:.1f} s)")
    return found


def without_budget(figure: Figure, beside: str) -> Figure:
    """The figure without its budget where that is a ratio to a rival and a stand-in was measured."""
    return replace(figure, budget=None) if figure.is_ratio and figure.beside == beside else figure


def machine() -> dict[str, Any]:
    """What the figures are measured on."""
    said: dict[str, Any] = {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
    }
    if hasattr(os, "getloadavg"):
        said["load"] = round(os.getloadavg()[0], 2)
    return said


def tell_load(facts: Mapping[str, Any]) -> str:
    """A warning where more is running than there are processors for; "" where not."""
    load, processors = facts.get("load", 0.0), facts["processors"] or 1
    if load <= processors:
        return ""
    return f"the machine is busy, with a load of {load:g}: trust processor time and narrow quartiles, and measure again"


def tell_missed(figures: list[Figure]) -> list[str]:
    """How many budgets are missed, and which."""
    missed = [one for one in figures if one.within is False]
    said = [f"{len(missed)} of {sum(one.within is not None for one in figures)} budgets are missed"]
    return said + [f"  {one.group}: {one.name}" for one in missed]


def main() -> int:
    """Measure, print, record if asked to, and write the figures as JSON if asked to."""
    parser = argparse.ArgumentParser(description="The benchmarks, as ratios in one run, beside their budgets.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and no large step: the same ratios, roughly")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to this file")
    parser.add_argument("--only", metavar="PARTS", default=",".join(PARTS), help=f"comma list of {', '.join(PARTS)}")
    parser.add_argument("--rival", metavar="PROGRAM", default="", help="the other server, where it is not installed")
    parser.add_argument("--record", action="store_true", help="append to bench/history.jsonl and make docs/figures.md")
    parser.add_argument("--profile", action="store_true", help="only say where the time of new calls goes")
    options = parser.parse_args()
    wanted = [part.strip() for part in options.only.split(",") if part.strip()]
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; known: {', '.join(PARTS)}")
    if options.record and options.quick:
        parser.error("--record is for a whole run: a quick one has too few rounds to be kept")
    if options.profile:
        with running() as upstream:
            for keep in (False, True):
                print(f"new calls, answers {'kept' if keep else 'not kept'}")
                print(bench_calls.profile(200 if options.quick else 1000, upstream, keep=keep))
        return 0
    facts = machine()
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    print(", ".join(f"{key} {value}" for key, value in facts.items()))
    print("× ratio of specloom to what stands beside it, round by round: median (quartiles); then both medians")
    if busy := tell_load(facts):
        print(busy)
    figures = measure_parts(wanted, quick=options.quick, rival=options.rival, say=lambda line: print(line, flush=True))
    print()
    print("\n".join(tell_missed(figures)))
    if options.record:
        how = "make bench" if tuple(wanted) == PARTS else f"bench/run.py --only {','.join(wanted)}"
        rows = history.to_rows(figures, history.describe_run(facts, when, how))
        history.append_rows(rows)
        history.write_page()
        print(f"{len(rows)} rows were appended to bench/history.jsonl, and docs/figures.md shows them")
    if options.json:
        said = {"machine": facts, "quick": options.quick, "figures": [one.to_json() for one in figures]}
        options.json.write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
