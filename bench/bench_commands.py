"""What commands take beside `python -c pass` in the same rounds, and `check` beside itself when nothing changed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from figures import Figure
from rivals import SPECLOOM, empty_home
from wheel import find_specs, install

FLOOR = "python -c pass"
COMMANDS = {"--version": 3.0, "list": 8.0, "explain web_search query=otters": 8.0}
"""Commands and how many times `python -c pass` they may take."""
CHANGED = 3.0
"""How many times an unchanged `check` one may take after a file has changed."""


class Taken(NamedTuple):
    """What a command took, in milliseconds."""

    wall: float
    processor: float


def measure(rounds: int, checks: int) -> list[Figure]:
    """Milliseconds of the checkout's commands, and of checks of specs in an installed wheel, where one is changed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        home = empty_home(root / "home")
        figures = _commands(home, rounds)
        scripts = install(root)
        specloom = str(next(scripts.glob("specloom*")))
        return figures + _checks(specloom, find_specs(scripts), home, checks)


def _commands(home: dict[str, str], rounds: int) -> list[Figure]:
    commands = {FLOOR: [sys.executable, "-c", "pass"], **{name: [SPECLOOM, *name.split()] for name in COMMANDS}}
    taken: dict[str, list[Taken]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            found = run(command, home)
            if turn:  # the first round leaves what later ones start from
                taken[name].append(found)
    floor = taken[FLOOR]
    group = "commands, in a home where they ran before"
    figures = []
    for name, budget in COMMANDS.items():
        walls = tuple(one.wall for one in taken[name])
        worked = tuple(one.processor for one in taken[name])
        short = " ".join(name.split()[:2])
        figures += [
            Figure(group, short, "ms", walls, tuple(one.wall for one in floor), budget=budget, beside=FLOOR),
            Figure(
                group,
                f"{short}, processor time",
                "ms",
                worked,
                tuple(one.processor for one in floor),
                beside=FLOOR,
            ),
        ]
    return figures


def _checks(specloom: str, specs: Path, home: dict[str, str], rounds: int) -> list[Figure]:
    spec = min((specs / "providers.d").glob("*.yaml"))
    text = spec.read_text(encoding="utf-8")
    run([specloom, "check"], home)
    taken: dict[str, list[Taken]] = {name: [] for name in ("floor", "same", "changed")}
    for turn in range(rounds):
        taken["floor"].append(run([sys.executable, "-c", "pass"], home))
        taken["same"].append(run([specloom, "check"], home))
        spec.write_text(f"{text}# changed {turn}\n", encoding="utf-8")
        taken["changed"].append(run([specloom, "check"], home))
    walls = {name: tuple(one.wall for one in some) for name, some in taken.items()}
    group = "check"
    return [
        Figure(group, "nothing changed", "ms", walls["same"], walls["floor"], beside=FLOOR),
        Figure(
            group, "one file changed", "ms", walls["changed"], walls["same"], budget=CHANGED, beside="nothing changed"
        ),
    ]


def run(command: list[str], environ: dict[str, str]) -> Taken:
    """What a command took that must succeed; its processor time includes that of what it started."""
    before = children_worked()
    began = time.perf_counter()
    done = subprocess.run(command, env=environ, capture_output=True, encoding="utf-8", check=False)
    wall = time.perf_counter() - began
    worked = children_worked() - before
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return Taken(wall * 1000, worked * 1000)


def children_worked() -> float:
    """Seconds of processor time of all child processes that have ended."""
    if sys.platform == "win32":
        return sum(os.times()[2:4])
    import resource  # finer than the ticks of os.times

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
