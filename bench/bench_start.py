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
from figures import Figure, Taken, to_figures
from rivals import other_side, our_side
from stub import LAST
from wheel import install

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rivals import Side

IDLE = 5.0
"""Seconds between a start and the first call of a server that had the time to get ready."""
MORE = 10.0
"""Milliseconds that the first call of such a server may take more than one that follows."""
PLACES = {"checkout": "a checkout", "wheel": "an installed wheel"}


def measure(rounds: int, upstream: str, rival: str, beside: str, *, idle: float = IDLE) -> list[Figure]:
    """Milliseconds of starts and first answers; ratios to later starts, and to the other side."""
    taken: dict[str, list[Taken]] = {}
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
                    taken.setdefault(f"{name}, first {what}", []).append(act(side, root / "fresh"))
                    taken.setdefault(f"{name}, later {what}", []).append(act(side, root / name))
            both = {name: sides[name] for name in ("wheel", "other")}
            for name, (first, following) in after_idling(both, root, idle).items():
                taken.setdefault(f"{name}, idle search", []).append(first)
                taken.setdefault(f"{name}, next search", []).append(following)
    return make_figures(taken, beside, idle)


def make_figures(taken: dict[str, list[Taken]], beside: str, idle: float = IDLE) -> list[Figure]:
    """What was timed as figures with their budgets."""

    def pair(group: str, name: str, ours: str, theirs: str, other: str, budget: float | None = None) -> list[Figure]:
        return to_figures(group, name, taken[ours], taken[theirs], other, budget)

    figures = []
    for side, place in PLACES.items():
        group = f"start to tools/list over stdio, {place}"
        figures += pair(group, "first start ever", f"{side}, first list", f"{side}, later list", "a later start", 1.5)
        figures += pair(group, "a later start", f"{side}, later list", "other, later list", beside, 1.0)
    for side, place in PLACES.items():
        group = f"start to the answer of a web_search sent right behind initialize, {place}"
        for turn, name in (("first", "first start ever"), ("later", "a later start")):
            figures += pair(group, name, f"{side}, {turn} search", f"other, {turn} search", beside, 6.0)
    group = f"a first web_search {idle:g} seconds after tools/list, an installed wheel"
    following = "the following"
    figures += pair(group, "beside the new ones that follow", "wheel, idle search", "wheel, next search", following)
    figures += pair(group, "beside a first one of the other side", "wheel, idle search", "other, idle search", beside)
    pairs = zip(taken["wheel, idle search"], taken["wheel, next search"], strict=True)
    more = tuple(first.wall - next_one.wall for first, next_one in pairs)
    figures.append(Figure(group, "more than the new ones that follow", "ms", more, budget=MORE, absolute=True))
    name = "the other side beside those that follow"
    return figures + pair(group, name, "other, idle search", "other, next search", following)


def to_list(side: Side, home: Path) -> Taken:
    """From the start of the process to the list of its tools."""
    with side.start(home) as client:
        return Taken(client.list_tools(), (client.cpu() or 0.0) * 1000)


def to_search(side: Side, home: Path) -> Taken:
    """From the start of the process to the answer of a search that is sent with the handshake."""
    with side.start(home) as client:
        client.send(frame(0, "initialize", HELLO))
        client.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        client.send(call(1, side.search, {"query": f"first {time.time_ns()}"}))
        answer = client.answer(1)
        taken = Taken((time.perf_counter() - client.began) * 1000, (client.cpu() or 0.0) * 1000)
    must_have_results(answer)
    return taken


def after_idling(sides: Mapping[str, Side], root: Path, idle: float) -> dict[str, tuple[Taken, Taken]]:
    """The first search so many seconds after the list of tools, and the one in the middle of ten that follow."""
    found = {}
    with ExitStack() as stack:
        clients = {name: stack.enter_context(side.start(root / name)) for name, side in sides.items()}
        for client in clients.values():
            client.list_tools()  # as every host does, and after it the server gets ready
        time.sleep(idle)
        for name, client in clients.items():
            first = time_search(sides[name], client)
            following = statistics.median(time_search(sides[name], client) for _ in range(10))
            found[name] = Taken(first), Taken(following)
    return found


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
