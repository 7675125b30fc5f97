"""Process start to the answer of `tools/list` over stdio, and the memory that is then taken."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from client import Client, call, frame
from figures import Figure
from specs import ADDRESS, STUB, environment, write_stub

BIN = Path(sys.executable).parent
COMMAND = [str(BIN / ("specloom.exe" if sys.platform == "win32" else "specloom")), "serve"]
SDK = [sys.executable, str(Path(__file__).with_name("hello_sdk.py"))]
SETTLED = 1.5
"""Seconds after the list or the calls, in which what is done in the background comes to its end."""


def measure(rounds: int, upstream: str) -> list[Figure]:
    """Times in milliseconds, megabytes; the other side is a hello-world on the official SDK."""
    times: dict[str, list[float]] = {"bare": [], "sdk": [], "image": [], "fresh": []}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_stub(root / "stub")
        cache = root / "cache"
        stubbed = {ADDRESS: upstream, "SEARCH_ROUTING": STUB}
        environ = environment(cache, root / "stub", **stubbed)
        with Client(COMMAND, environ) as client:
            client.list_tools()  # makes the image, and the byte code of a fresh checkout
        for _ in range(rounds):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], env=environ, check=True)
            times["bare"].append((time.perf_counter() - began) * 1000)
            with Client(SDK, environ) as client:
                times["sdk"].append(client.list_tools())
            with Client(COMMAND, environ) as client:
                times["image"].append(client.list_tools())
            shutil.rmtree(root / "fresh", ignore_errors=True)
            with Client(COMMAND, environment(root / "fresh", root / "stub", **stubbed)) as client:
                times["fresh"].append(client.list_tools())
        memory = _memory(max(1, rounds // 4), environ)
    group = "start to tools/list over stdio"
    sdk = tuple(times["sdk"])
    found = [
        Figure(group, "python -c pass (the floor)", "ms", tuple(times["bare"]), sdk),
        Figure(group, "specloom serve", "ms", tuple(times["image"]), sdk, budget=60),
        Figure(group, "specloom serve, first start (no image)", "ms", tuple(times["fresh"]), sdk),
    ]
    return found + memory


def _memory(rounds: int, environ: dict[str, str]) -> list[Figure]:
    taken: dict[tuple[str, str, str], list[float]] = {}
    for turn in range(rounds):
        for side, command in (("ours", COMMAND), ("theirs", SDK)):
            with Client(command, environ) as client:
                client.list_tools()
                moments = {"after tools/list": client.memory()}
                time.sleep(SETTLED)
                moments["after tools/list, backend warmed up"] = client.memory()
                if side == "ours":
                    _mixed(client, turn)
                else:
                    for number in range(10):
                        client.ask(call(10 + number, "hello", {"name": "you"}))
                moments["after ten mixed calls"] = client.memory()
                # Answers and the audit log are sealed and written behind the calls.
                time.sleep(SETTLED)
                moments["after ten mixed calls, all written"] = client.memory()
            for moment, kinds in moments.items():
                for kind, value in kinds.items():
                    taken.setdefault((moment, kind, side), []).append(value)
    if not taken:
        return [Figure("memory", "skipped, there is no /proc here", "MB", ())]
    budgets = {("after tools/list", "RSS"): 20.0, ("after ten mixed calls", "RSS"): 60.0}
    pairs = list(dict.fromkeys((moment, kind) for moment, kind, _ in taken))
    return [
        Figure(
            "memory",
            f"{kind} {moment}",
            "MB",
            tuple(taken[moment, kind, "ours"]),
            tuple(taken.get((moment, kind, "theirs"), ())),
            budget=budgets.get((moment, kind)),
        )
        for moment, kind in pairs
    ]


def _mixed(client: Client, turn: int) -> None:
    """Four new searches, two kept ones, a refused argument, a resource, a completion and a ping."""
    for number in range(4):
        said = json.loads(client.ask(call(10 + number, "web_search", {"query": f"memory {turn} {number}"})))
        if said.get("result", {}).get("isError"):
            raise SystemExit(f"bench: a search through the stub failed: {said['result']['content'][0]['text'][:500]}")
    for number in range(2):
        client.ask(call(20 + number, "web_search", {"query": f"memory {turn} {number}"}))
    client.ask(call(30, "web_search", {"query": "x", "num_results": "many"}))
    client.ask(frame(31, "resources/read", {"uri": "lenses://catalog"}))
    reference = {"type": "ref/resource", "uri": "lenses://{name}"}
    client.ask(frame(32, "completion/complete", {"ref": reference, "argument": {"name": "name", "value": "a"}}))
    client.ask(frame(33, "ping"))
