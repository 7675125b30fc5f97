"""Process start to a first answer over stdio: of `tools/list`, and of a search sent at once or seconds later.

Homes are empty but for what a start before has left there; the checkout and an installed wheel are started, and the
other side in the same rounds.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from client import HELLO, Client, call, frame
from figures import Figure
from rivals import other_side, our_side
from stub import LAST
from wheel import install

if TYPE_CHECKING:
    from rivals import Side

IDLE = 5.0
"""Seconds between a start and the first call of a server that had the time to get ready."""
TOGETHER = 4
"""Servers of each side that idle at the same time."""


def measure(rounds: int, upstream: str, rival: str, beside: str, *, idle: float = IDLE) -> list[Figure]:
    """Milliseconds of starts and first answers; ratios to later starts, and to the other side."""
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        scripts = install(root)
        checkout, installed = our_side(upstream), our_side(upstream, [str(next(scripts.glob("specloom*"))), "serve"])
        other = other_side(upstream, rival)
        sides = {"checkout": checkout, "wheel": installed, "other": other}
        for name, side in sides.items():
            to_list(side, root / name)
        for _ in range(rounds):
            for name, side in sides.items():
                for what, act in (("list", to_list), ("search", to_search)):
                    shutil.rmtree(root / "fresh", ignore_errors=True)
                    times.setdefault(f"{name}, first {what}", []).append(act(side, root / "fresh"))
                    times.setdefault(f"{name}, later {what}", []).append(act(side, root / name))
        for name in ("wheel", "other"):
            found = after_idling(sides[name], root / name, rounds, idle)
            times[f"{name}, idle search"], times[f"{name}, next search"] = found
    return make_figures({name: tuple(values) for name, values in times.items()}, beside, idle)


def make_figures(times: dict[str, tuple[float, ...]], beside: str, idle: float = IDLE) -> list[Figure]:
    """What was timed as figures with their budgets."""
    figures = []
    for side, what in (("checkout", "a checkout"), ("wheel", "an installed wheel")):
        first, later = times[f"{side}, first list"], times[f"{side}, later list"]
        group = f"start to tools/list over stdio, {what}"
        other = times["other, later list"]
        figures += [
            Figure(group, "first start ever", "ms", first, later, budget=1.5, beside="a later start"),
            Figure(group, "a later start", "ms", later, other, budget=1.0, beside=beside),
        ]
    for side, what in (("checkout", "a checkout"), ("wheel", "an installed wheel")):
        group = f"start to the answer of a web_search sent right behind initialize, {what}"
        for turn, name in (("first", "first start ever"), ("later", "a later start")):
            values, other = times[f"{side}, {turn} search"], times[f"other, {turn} search"]
            figures.append(Figure(group, name, "ms", values, other, budget=6.0, beside=beside))
    group = f"a first web_search {idle:g} seconds after tools/list, an installed wheel"
    ours, following = times["wheel, idle search"], times["wheel, next search"]
    theirs, their_following = times["other, idle search"], times["other, next search"]
    return [
        *figures,
        Figure(group, "beside the new ones that follow", "ms", ours, following, beside="the following"),
        Figure(group, "beside a first one of the other side", "ms", ours, theirs, beside=beside),
        Figure(group, "the other side beside those that follow", "ms", theirs, their_following, beside="the following"),
    ]


def to_list(side: Side, home: Path) -> float:
    """Milliseconds from the start of the process to the list of its tools."""
    with side.start(home) as client:
        return client.list_tools()


def to_search(side: Side, home: Path) -> float:
    """Milliseconds from the start of the process to the answer of a search that is sent with the handshake."""
    with side.start(home) as client:
        client.send(frame(0, "initialize", HELLO))
        client.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        client.send(call(1, side.search, {"query": f"first {time.time_ns()}"}))
        answer = client.answer(1)
        taken = (time.perf_counter() - client.began) * 1000
    must_have_results(answer)
    return taken


def after_idling(side: Side, home: Path, rounds: int, idle: float) -> tuple[list[float], list[float]]:
    """Milliseconds of the first search seconds after the list of tools, and of the median of ten that follow."""
    first, following = [], []
    for _ in range(-(-rounds // TOGETHER)):
        with ExitStack() as stack:
            clients = [stack.enter_context(side.start(home)) for _ in range(min(TOGETHER, rounds))]
            for client in clients:
                client.list_tools()  # as every host does, and after it the server gets ready
            time.sleep(idle)
            for client in clients:
                first.append(time_search(side, client))
                following.append(statistics.median(time_search(side, client) for _ in range(10)))
    return first, following


def time_search(side: Side, client: Client) -> float:
    """Milliseconds of one new search."""
    line = call(1, side.search, {"query": f"new {time.time_ns()}"})
    began = time.perf_counter()
    answer = client.ask(line)
    taken = (time.perf_counter() - began) * 1000
    must_have_results(answer)
    return taken


def must_have_results(line: bytes) -> None:
    """A SystemExit with what was answered where it is not the results of the stub."""
    if LAST not in line:
        raise SystemExit(f"bench: a search through the stub failed: {line[:800].decode('utf-8', 'replace')}")
