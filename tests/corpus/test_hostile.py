"""While a hostile body or argument is read, the server answers `ping` and other calls; and it leaves when told to."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.hostile.arguments import arguments
from tests.corpus.hostile.bodies import bodies
from tests.faults.conftest import Tries
from tests.support.loopback import Call
from tests.support.served import Served
from tests.support.server_process import request
from tests.support.upstream import EVERY_STORE, Upstream, web

pytestmark = pytest.mark.faults

DEAF = 0.5
"""Seconds that an answer to `ping` may take longer than that of a server with nothing to do."""
LEAVING = 3.0
DEADLINE = 90.0
LONG_ENOUGH = 20.0
"""Seconds after which a call is left to itself: some audit two hundred references, which asks for much and computes
little."""
SAMPLE = 24
"""Every so many of the corpus is read where `--many` reads it all."""
AGAIN = 3
"""How often a case is tried, alone in a server, before it is one of ours: a machine with much to do is deaf as well."""
BODIES = {body.name: body for body in bodies()}
ARGUMENTS = {name: (tool, given) for name, tool, given in arguments()}
CASES = [*BODIES, *ARGUMENTS]
OTHER = ("get_research_session", {"sessionId": "none"})
"""A call that asks nobody and does next to nothing."""


ANSWERING = ("api.search.brave.com", "api.crossref.org", "api.unpaywall.org", "www.nature.com")
"""Hosts that `web` stands for, beside those of examples."""


@dataclass(frozen=True)
class Heard:
    """What others had of a server while it was busy with one case."""

    name: str
    ping: float
    """Seconds of the longest wait for a ping, beyond that of a server at rest."""
    other: float
    """Seconds that another call took."""
    took: float
    told: str = ""
    """What the server said to its operator: where a stall was."""

    @property
    def is_deaf(self) -> bool:
        return self.ping > DEAF


class Web:
    """Every host of the web: one hands out the bodies, registries answer with a work of the worst kind, or nothing."""

    def __init__(self) -> None:
        names = {name: at for at, name in enumerate(["Otters", *(f"Otter{at}" for at in range(2_000))])}
        work = {"DOI": "10.1234/otters", "title": ["Otters (hold) hands " * 400], "container-title": ["J " * 1_000],
                "URL": "https://doi.org/10.1234/otters", "issued": {"date-parts": [[2020]]},
                "author": [{"family": f"{name} " * 20, "given": "J"} for name in names]}  # fmt: skip
        found = {"status": "ok", "message-type": "work-list", "message": {"total-results": 5, "items": [work] * 5}}
        self._found = json.dumps(found).encode()

    def __call__(self, call: Call) -> Any:
        host = call.headers.get("host", "")
        _, _, number = call.path.rpartition("/body/")
        if host == "hostile.example" and number.isdecimal():
            body = BODIES[list(BODIES)[int(number)]]
            return 200, {"Content-Type": body.kind, **body.headers}, body.data
        if host == "api.crossref.org" and call.path == "/works":
            return 200, {"Content-Type": "application/json"}, self._found
        if host in ANSWERING or host.endswith(".example"):
            return web(call)
        return 404, {"Content-Type": "application/json"}, b"{}"


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream(Web()) as server:
        yield server


Start = Callable[[], Served]


@pytest.fixture
def start(upstream: Upstream, tmp_path: Path) -> Start:
    """Starts a server that is warm."""

    def begin() -> Served:
        server = Served(tmp_path, {**upstream.environ(), **EVERY_STORE, "CHROME_PATH": "disabled"})
        server.call(*OTHER)
        return server

    return begin


def hostile_call(name: str) -> tuple[str, dict[str, Any]]:
    if name in BODIES:
        return "scrape_page", {"url": f"http://hostile.example/body/{list(BODIES).index(name)}"}
    return ARGUMENTS[name]


def ping(server: Served) -> float:
    """Seconds until a ping is answered."""
    began = time.monotonic()
    server.ask(request(f"ping {began}", "ping"))
    return time.monotonic() - began


def hear(server: Served, name: str) -> Heard:
    """Ask for pings and for one other call until the hostile one is answered."""
    still = max(ping(server) for _ in range(3))
    began = time.monotonic()
    ended: dict[str, float] = {}
    noted = threading.Event()

    def note(which: str) -> Callable[[Future[Any]], None]:
        def end(_: Future[Any]) -> None:
            ended[which] = time.monotonic() - began
            if which == "other":
                noted.set()

        return end

    hostile = server.begin(*hostile_call(name))
    hostile.add_done_callback(note("hostile"))
    other = server.begin(*OTHER)
    other.add_done_callback(note("other"))
    worst = 0.0
    while not hostile.done() and time.monotonic() - began < LONG_ENOUGH:
        worst = max(worst, ping(server) - still)
        threading.Event().wait(0.01)
    other.result(DEADLINE)
    # A result is there before those are called who are told of it.
    assert noted.wait(DEADLINE)
    if hostile.done():
        message = hostile.result()
        assert "result" in message or "error" in message
        assert "defect" not in str(message)[:2000], message
    told = server.stderr()[-600:]
    return Heard(name, worst, ended["other"], ended.get("hostile", LONG_ENOUGH), told)


def leave(server: Served, name: str) -> float:
    """Seconds from SIGTERM to the end while a case is being read."""
    server.begin(*hostile_call(name))
    ping(server)
    # A body is on its way by then, and arguments are being worked on.
    threading.Event().wait(0.05)
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(DEADLINE)
    return time.monotonic() - began


def test_the_corpus_has_at_least_two_hundred() -> None:
    assert len(CASES) == len(BODIES) + len(ARGUMENTS) >= 200
    assert len(BODIES) == len(bodies())


@pytest.mark.parametrize("what", ["bodies", "arguments"])
def test_others_are_heard_while_each_is_read(
    what: str, tries: Tries, start: Start, record_property: Callable[[str, object], None]
) -> None:
    names = list(BODIES if what == "bodies" else ARGUMENTS)[:: tries(1, SAMPLE)]
    with start() as server:
        heard = [hear(server, name) for name in names]
    for at, one in enumerate(heard):
        for _ in range(AGAIN - 1):
            if heard[at].is_deaf:
                with start() as server:
                    heard[at] = hear(server, one.name)
    for one in sorted(heard, key=lambda one: -one.ping)[:5]:
        print(f"{one.name}: ping {one.ping:.2f} s, another call {one.other:.2f} s, answered in {one.took:.2f} s")
    ping_, other = max(one.ping for one in heard), max(one.other for one in heard)
    outcome = f"{sum(not one.is_deaf for one in heard)} heard; ping {ping_:.2f} s, another call {other:.2f} s at worst"
    record_property("fault", ("hostile", what, len(names), outcome))
    assert [one for one in heard if one.is_deaf] == []


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_server_leaves_while_each_is_read(
    tries: Tries, start: Start, record_property: Callable[[str, object], None]
) -> None:
    names = CASES[-tries(len(CASES), 1) :]

    def try_(name: str) -> tuple[float, str]:
        for _ in range(AGAIN):
            with start() as server:
                if (seconds := leave(server, name)) <= LEAVING:
                    break
        return seconds, name

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        left = sorted(pool.map(try_, names), reverse=True)
    for seconds, name in left[:5]:
        print(f"{name}: gone {seconds:.2f} s after SIGTERM")
    gone = sum(seconds <= LEAVING for seconds, _ in left)
    outcome = f"{gone} gone within {LEAVING:g} s, {left[0][0]:.2f} s at worst"
    record_property("fault", ("hostile, then SIGTERM", "bodies and arguments", len(names), outcome))
    assert gone == len(left), left[: len(left) - gone]
