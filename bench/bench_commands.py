"""What commands take beside `python -c pass` in the same rounds, and `check` beside itself when nothing changed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure, Taken, to_figures
from rivals import SPECLOOM, empty_home
from wheel import find_specs, install

FLOOR = "python -c pass"
COMMANDS = {"--version": 3.0, "list": 8.0, "explain web_search query=otters": 8.0}
"""Commands and how many times `python -c pass` they may take."""
CHANGED = 3.0
"""How many times an unchanged `check` one may take after a file has changed."""


def measure(rounds: int, checks: int) -> list[Figure]:
    """Milliseconds of commands of the checkout and of an installed wheel, and of checks in it, where a spec changes."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        scripts = install(root)
        installed = str(next(scripts.glob("specloom*")))
        home = empty_home(root / "home")
        figures = _commands({"a checkout": SPECLOOM, "an installed wheel": installed}, root, rounds)
        return figures + _checks(installed, find_specs(scripts), home, checks)


def _commands(programs: dict[str, str], root: Path, rounds: int) -> list[Figure]:
    taken: dict[tuple[str, str], list[tuple[Taken, Taken]]] = {}
    for turn in range(rounds + 1):
        for place, program in programs.items():
            home = empty_home(root / place)
            for name in COMMANDS:
                both = run([program, *name.split()], home), run([sys.executable, "-c", "pass"], home)
                if turn:  # the first round leaves what later ones start from
                    taken.setdefault((place, name), []).append(both)
    figures = []
    for (place, name), some in taken.items():
        group = f"commands of {place}, in a home where they ran before"
        ours, floor = zip(*some, strict=True)
        figures += to_figures(group, " ".join(name.split()[:2]), ours, floor, FLOOR, COMMANDS[name])
    return figures


def _checks(specloom: str, specs: Path, home: dict[str, str], rounds: int) -> list[Figure]:
    spec = min((specs / "providers.d").glob("*.yaml"))
    text = spec.read_text(encoding="utf-8")
    run([specloom, "check"], home)
    floor, same, changed = [], [], []
    for turn in range(rounds):
        floor.append(run([sys.executable, "-c", "pass"], home))
        same.append(run([specloom, "check"], home))
        spec.write_text(f"{text}# changed {turn}\n", encoding="utf-8")
        changed.append(run([specloom, "check"], home))
    found = to_figures("check of an installed wheel", "nothing changed", same, floor, FLOOR)
    return found + to_figures(
        "check of an installed wheel", "one file changed", changed, same, "nothing changed", CHANGED
    )


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
