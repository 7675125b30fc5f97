"""All benchmarks in one run on one machine, beside their budgets: python bench/run.py [--quick] [--json FILE].

Times are held against a hello-world server on the official SDK in the same rounds, turn and turn about, because figures
of different machines or days do not compare. Nothing here fails for being slow: OVER and UNDER are for people.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bench_calls
import bench_catalogue
import bench_growth
import bench_mapping
import bench_reading
import bench_start
from figures import Figure, lines
from stub import running

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = ("start", "calls", "mapping", "growth", "catalogue", "reading")


def measure_mapping(rounds: int) -> list[Figure]:
    """Closures against the interpreter of the jmespath package."""
    found = []
    for case, fields in bench_mapping.CASES.items():
        measured = bench_mapping.measure(fields, rounds)
        ours, theirs = (
            tuple(measured[key][part] for part in ("min", "median", "max")) for key in ("closures µs", "interpreter µs")
        )
        budget = 100.0 if fields is bench_mapping.PATHS else None
        found.append(
            Figure("mapping 10 rows (the other side: the jmespath interpreter)", case, "µs", ours, theirs, budget)
        )
    return found


def measure_parts(wanted: list[str], *, quick: bool, say: Callable[[str], object]) -> list[Figure]:
    """The figures of the parts that are wanted, in their order."""
    found: list[Figure] = []
    with running() as upstream:
        measures: dict[str, Callable[[], list[Figure]]] = {
            "start": lambda: bench_start.measure(4 if quick else 20, upstream),
            "calls": lambda: bench_calls.measure(2 if quick else 7, 100 if quick else 600, upstream),
            "mapping": lambda: measure_mapping(3 if quick else 9),
            "growth": lambda: bench_growth.measure(
                1 if quick else 3, bench_growth.QUICK if quick else bench_growth.STEPS
            ),
            "catalogue": bench_catalogue.measure,
            "reading": lambda: bench_reading.measure(1 if quick else 3, 40 if quick else 200),
        }
        for part in wanted:
            began = time.perf_counter()
            figures = measures[part]()
            found += figures
            for line in lines(figures):
                say(line)
            say(f"  ({part} took {time.perf_counter() - began:.1f} s)")
    return found


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    said: dict[str, Any] = {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
    }
    said["processors"] = os.cpu_count()
    if hasattr(os, "getloadavg"):
        said["load"] = round(os.getloadavg()[0], 2)
    return said


def main() -> int:
    """Measure, print, and write the figures as JSON if asked to."""
    parser = argparse.ArgumentParser(description="The benchmarks, as ratios in one run, beside their budgets.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and no large step: the same ratios, roughly")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to this file")
    parser.add_argument("--only", metavar="PARTS", default=",".join(PARTS), help=f"comma list of {', '.join(PARTS)}")
    parser.add_argument("--profile", action="store_true", help="only say where the time of new calls goes")
    options = parser.parse_args()
    wanted = [part.strip() for part in options.only.split(",") if part.strip()]
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; known: {', '.join(PARTS)}")
    if options.profile:
        with running() as upstream:
            for keep in (False, True):
                print(f"new calls, answers {'kept' if keep else 'not kept'}")
                print(bench_calls.profile(200 if options.quick else 1000, upstream, keep=keep))
        return 0
    facts = machine()
    print(", ".join(f"{key} {value}" for key, value in facts.items()))
    print("median (minimum-maximum); a ratio is specloom by the other side, round by round")
    figures = measure_parts(wanted, quick=options.quick, say=print)
    over = [one for one in figures if one.within is False]
    print(f"\n{len(over)} of {sum(one.within is not None for one in figures)} budgets are missed")
    for one in over:
        print(f"  {one.group}: {one.name}, {one.unit}")
    if options.json:
        said = {"machine": facts, "quick": options.quick, "figures": [one.to_json() for one in figures]}
        options.json.write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
