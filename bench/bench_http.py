"""What calls cost over HTTP: lists, kept searches and new ones at some connections, beside the rival in the same run.

The load comes from wrk, a generator in C, because one in Python would be slower than what it measures; where it is not
there that is said and nothing is measured.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from figures import Figure
from rivals import PACKAGE, SPECLOOM, asking, empty_home

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CONNECTIONS = (1, 8, 64)
FLOORS = {"new web_search": 0.4}
"""Calls a second that are wanted, by those of the rival."""
RATES = {"tools/list": 5000.0, "kept web_search": 4000.0}
"""Calls a second that are wanted of one worker at the most connections, whoever stands beside it."""
TAIL = 0.5
"""p99 of kept answers at the most connections, by that of the rival."""
SCALING = 1.7
"""Calls a second of two workers that are wanted, by those of one, where processors are free for all who take part."""
SETTLE = 1.0
"""Seconds after the start in which a server loads what its first call needs."""
PATIENCE = 30.0
UNLIMITED = {
    "RATE_LIMIT_PER_TENANT": "999999",
    "RATE_LIMIT_GLOBAL": "999999",
    "DAILY_QUOTA_PER_TENANT": "999999",
    "HTTP_MAX_CONNECTIONS": "4096",
}
"""What a server limits is not what is measured."""
REQUEST = """\
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
local count = 0
function request()
  count = count + 1
  return wrk.format(nil, nil, nil, string.gsub(BODY, "@", SEED .. count))
end
"""
SEARCH = (
    '{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"web_search","arguments":{{"query":"{}"}}}}}}'
)
BODIES = {
    "tools/list": '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    "kept web_search": SEARCH.format("otters"),
    "new web_search": SEARCH.format("otters @"),
}


class Load(NamedTuple):
    """What a server bore: calls a second, and milliseconds of half and of 99 in 100 of them."""

    rate: float
    p50: float
    p99: float


class RunningServer(NamedTuple):
    """A server that runs: its port and its process, which is the parent where it has several workers."""

    port: int
    process: subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True)
class HttpSide:
    """A server over HTTP: its name, its command, and its settings."""

    name: str
    command: Sequence[str]
    settings: Mapping[str, str]

    @contextmanager
    def start(self, home: Path) -> Iterator[RunningServer]:
        """The server while it runs, at home in this folder."""
        home.mkdir(exist_ok=True)
        port = find_port()
        environ = {**empty_home(home), **self.settings, **UNLIMITED, "PORT": str(port)}
        with (home / "said.txt").open("wb") as said:
            process = subprocess.Popen(self.command, env=environ, stdout=subprocess.DEVNULL, stderr=said)
        try:
            wait_for(port)
            yield RunningServer(port, process)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def measure(rounds: int, seconds: int, upstream: str, rival: str, beside: str) -> list[Figure]:
    """Calls a second and latencies of one worker by those of the rival, and of two workers by one."""
    program = shutil.which("wrk")
    if program is None:
        note = "wrk was not found, so nothing was measured over HTTP; Debian has it (apt-get install wrk)"
        return [Figure("Over HTTP", "no load", "calls/s", (), note=note)]
    settings = asking(upstream)
    sides = {
        "ours": HttpSide("specloom", [SPECLOOM, "serve", "--http"], settings),
        "two": HttpSide("specloom with 2 workers", [SPECLOOM, "serve", "--http", "--workers", "2"], settings),
    }
    if rival:
        quiet = {**settings, "ALLOW_PRIVATE_IPS": "true", "AUDIT_OUTPUT_PATH": os.devnull}
        sides["theirs"] = HttpSide(PACKAGE, [rival], quiet)
    loads: dict[tuple[str, str, int], list[Load]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds):
            # One server at a time, and each in another place of the turn.
            names = list(sides)
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                home = Path(folder) / name
                with sides[name].start(home) as server:
                    for kind, body in BODIES.items():
                        for count in CONNECTIONS:
                            script = write_script(Path(folder), body, f"{name}{turn}{count}x")
                            found = run_load(program, script, server.port, count, seconds)
                            loads.setdefault((name, kind, count), []).append(found)
    return to_figures(loads, beside if rival else "")


def to_figures(loads: Mapping[tuple[str, str, int], list[Load]], beside: str) -> list[Figure]:
    """The figures of all loads, a group for each kind and number of connections."""
    found = []
    for kind in BODIES:
        for count in CONNECTIONS:
            group = f"{kind} over HTTP, {count} connection{'s' if count > 1 else ''}"
            ours, theirs = loads["ours", kind, count], loads.get(("theirs", kind, count), [])
            rate = RATES.get(kind) if count == CONNECTIONS[-1] else None
            floor = rate or (FLOORS.get(kind) if theirs else None)
            tail = TAIL if theirs and count == CONNECTIONS[-1] and kind == "kept web_search" else None
            for name, field, budget in (("calls a second", "rate", floor), ("p50", "p50", None), ("p99", "p99", tail)):
                found.append(
                    Figure(
                        group,
                        name,
                        "calls/s" if field == "rate" else "ms",
                        tuple(getattr(one, field) for one in ours),
                        tuple(getattr(one, field) for one in theirs),
                        budget=budget,
                        at_least=field == "rate",
                        absolute=field == "rate" and rate is not None,
                        beside=beside if theirs else "",
                    )
                )
            two = tuple(one.rate for one in loads["two", kind, count])
            one_worker = tuple(one.rate for one in ours)
            found.append(
                Figure(
                    group,
                    "two workers, calls a second",
                    "calls/s",
                    two,
                    one_worker,
                    budget=SCALING if kind != "tools/list" and count == CONNECTIONS[-1] and is_free() else None,
                    at_least=True,
                    beside="one worker",
                )
            )
    return found


def is_free() -> bool:
    """Whether there are processors for two workers, for the engine and for the load."""
    return (os.cpu_count() or 1) >= 4


def write_script(folder: Path, body: str, seed: str, name: str = "") -> Path:
    """A script of wrk that posts this body, with a number of its own where it has a `@`."""
    script = folder / f"load{name}.lua"
    script.write_text(f"local BODY = [==[{body}]==]\nlocal SEED = [==[{seed}]==]\n{REQUEST}", encoding="utf-8")
    return script


def run_load(program: str, script: Path, port: int, connections: int, seconds: int, path: str = "/mcp/") -> Load:
    """What one server bears from so many connections for so long; a RuntimeError where it answers with faults."""
    command = [program, "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "--latency", "-s", str(script)]
    done = subprocess.run([*command, f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True)
    said = done.stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(said)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
    assert rate is not None, said
    return Load(float(rate[1]), read_percentile(said, 50), read_percentile(said, 99))


def read_percentile(said: str, percent: int) -> float:
    """A percentile of the latencies, in milliseconds."""
    found = re.search(rf"^\s+{percent}%\s+([\d.]+)(us|ms|s|m)\s*$", said, re.MULTILINE)
    assert found is not None, said
    return float(found[1]) * {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}[found[2]]


def find_port() -> int:
    """A port of loopback that is free."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int, path: str = "/health/live") -> None:
    """Wait until a server answers, whatever it says, and has loaded what its first call needs."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
                answer.read()
            break
        except urllib.error.HTTPError:
            break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)
    time.sleep(SETTLE)
