"""Resident memory after the list of tools and after ten mixed calls, beside the other side."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench_start import must_have_results
from client import Client, call, frame
from figures import Figure
from rivals import other_side, our_side

if TYPE_CHECKING:
    from rivals import Side

SETTLED = 1.5
"""Seconds after the list or the calls, in which what is done in the background comes to its end."""
LISTED, WARM, MIXED, WRITTEN = (
    "after tools/list",
    "after tools/list, when it is idle again",
    "after ten mixed calls",
    "after ten mixed calls, when all is written",
)
BUDGETS = {LISTED: 12.0, MIXED: 40.0, WRITTEN: 40.0}


def measure(rounds: int, upstream: str, rival: str, beside: str) -> list[Figure]:
    """Megabytes, with what processes have of their own that the server has started; the budget is of ours."""
    taken: dict[tuple[str, str], list[float]] = {}
    sides = {"ours": our_side(upstream), "theirs": other_side(upstream, rival)}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for turn in range(-1, rounds):
            for name, side in sides.items():
                for moment, size in watch(side, root / name, turn).items():
                    if turn >= 0:  # the first start leaves what later ones have
                        taken.setdefault((moment, name), []).append(size)
            if turn < 0:
                continue
            shutil.rmtree(root / "fresh", ignore_errors=True)
            for moment, size in watch(sides["ours"], root / "fresh", turn).items():
                if moment in {LISTED, WRITTEN}:
                    taken.setdefault((f"first start ever: {moment}", "ours"), []).append(size)
    if not taken:
        return [Figure("memory", "skipped, there is no /proc here", "MB", ())]
    return [
        Figure(
            "memory, resident",
            moment,
            "MB",
            tuple(taken[moment, "ours"]),
            tuple(taken.get((moment, "theirs"), ())),
            budget=BUDGETS.get(moment),
            beside=beside if (moment, "theirs") in taken else "",
            absolute=True,
        )
        for moment in dict.fromkeys(moment for moment, _ in taken)
    ]


def watch(side: Side, home: Path, turn: int) -> dict[str, float]:
    """Megabytes at each moment of one server's life; nothing where there is no /proc."""
    with side.start(home) as client:
        client.list_tools()
        moments = {LISTED: client.weight()}
        time.sleep(SETTLED)
        moments[WARM] = client.weight()
        mixed_calls(side, client, turn)
        moments[MIXED] = client.weight()
        # Answers and the audit log are sealed and written behind the calls.
        time.sleep(SETTLED)
        moments[WRITTEN] = client.weight()
    return {moment: size for moment, size in moments.items() if size}


def mixed_calls(side: Side, client: Client, turn: int) -> None:
    """Four new searches, two kept ones, a refused argument, a resource, a completion and a ping."""
    for number in range(4):
        must_have_results(client.ask(call(10 + number, side.search, {"query": f"memory {turn} {number}"})))
    for number in range(2):
        must_have_results(client.ask(call(20 + number, side.search, {"query": f"memory {turn} {number}"})))
    client.ask(call(30, side.search, {"query": "x", "num_results": "many"}))
    client.ask(frame(31, "resources/read", {"uri": "lenses://catalog"}))
    reference = {"type": "ref/resource", "uri": "lenses://{name}"}
    client.ask(frame(32, "completion/complete", {"ref": reference, "argument": {"name": "name", "value": "a"}}))
    client.ask(frame(33, "ping"))
