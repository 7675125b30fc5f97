"""P8: stdout carries JSON-RPC frames only, whatever a hook prints, and the end of stdin ends everything."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import wait_until
from tests.support.demo_specs import SERVE, TOOL, child_environment, copy_package, write_demo
from tests.support.loopback import Loopback

PATIENCE = 300.0
PAGE = (200, {"Content-Type": "application/json"}, '{"results": [{"title": "A", "link": "https://example.org/a"}]}')
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
HOOK = '''
import os, subprocess, sys
from specloom.plugins.registry import HOOKS

@HOOKS.register("demo_noise", parameters={}, adds={"noise": {"type": "string"}}, reads=())
def noise(rows, arguments):
    """Prints in every way there is."""
    print("printed")
    sys.stdout.write("written\\n")
    sys.stdout.flush()
    sys.__stdout__.write("the other stdout\\n")
    sys.__stdout__.flush()
    os.write(1, b"to the descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('a child')"], check=True)
    if os.environ.get("DEMO_LEAVE_A_CHILD"):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    return [{**row, "noise": f"{len(os.read(0, 10))} bytes from stdin"} for row in rows]
'''
NOISY = {
    TOOL: [
        ("after:\n", "after:\n  - enrich: {hook: demo_noise}\n"),
        ("url: url, rank: rank}}\nrecord", "url: url, rank: rank, noise: noise}}\nrecord"),
    ]
}
POSIX = pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed package whose one tool has a hook that prints."""
    root = tmp_path_factory.mktemp("noisy")
    found = copy_package(root / "package", write_demo(root / "specs", NOISY))
    (found / "specloom" / "domains" / "trust" / "demo_noise.py").write_text(HOOK, encoding="utf-8")
    with (found / "specloom" / "domains" / "trust" / "plugin.py").open("a", encoding="utf-8") as file:
        file.write("\nfrom specloom.domains.trust import demo_noise\n")
    return found


@pytest.fixture(scope="module")
def upstream() -> Iterator[Loopback]:
    with Loopback(lambda call: PAGE) as server:
        yield server


def frame(number: int | None, method: str, params: dict[str, Any] | None = None) -> bytes:
    said: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    return json.dumps(said if number is None else {**said, "id": number}).encode() + b"\n"


class Server:
    """A server in a process group of its own; leaving the context ends the whole group."""

    def __init__(self, environ: dict[str, str], errors: Path) -> None:
        self.errors = errors
        with errors.open("wb") as sink:
            self.process = subprocess.Popen(
                SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sink, env=environ, start_new_session=True
            )
        self._watchdog = threading.Timer(PATIENCE, self.end)
        self._watchdog.start()

    def end(self) -> None:
        if os.name == "posix":
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return
        else:
            self.process.kill()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        self.end()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()

    def ask(self, number: int, method: str, params: dict[str, Any] | None = None) -> bytes:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(frame(number, method, params))
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def leave(self) -> None:
        """Close stdin and wait until the process has ended with 0."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait() == 0, self.errors.read_text(encoding="utf-8")

    def left_behind(self) -> bool:
        """Whether something of the process group is still there; the process itself has been waited for."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True


@pytest.fixture
def serve(package: Path, upstream: Loopback, tmp_path: Path) -> Any:
    def start(**more: str) -> Server:
        environ = child_environment(package, tmp_path / "cache", DEMO_URL=upstream.url, DEMO_KEY="k", **more)
        return Server(environ, tmp_path / "stderr")

    return start


def is_frame(line: bytes) -> bool:
    try:
        said = json.loads(line)
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("jsonrpc") == "2.0" and line.endswith(b"\n")


def test_a_hook_that_prints_in_every_way_reaches_stderr_and_never_stdout(serve: Any) -> None:
    with serve() as server:
        lines = [server.ask(0, "initialize", HELLO), server.ask(1, "tools/list")]
        lines += [
            server.ask(number, "tools/call", {"name": "demo_find", "arguments": {"query": f"q{number}"}})
            for number in (2, 3)
        ]
        lines += [server.ask(4, "tools/call", {"name": "demo_find", "arguments": {"query": "q3"}})]  # from the cache
        lines += [server.ask(5, "tools/call", {"name": "demo_find", "arguments": {"query": "x", "num_results": "?"}})]
        lines += [server.ask(6, "resources/read", {"uri": "lenses://catalog"}), server.ask(7, "nothing/at/all")]
        server.leave()
        rest = server.process.stdout.read()

    answers = [json.loads(line) for line in lines]
    assert [one for one in lines if not is_frame(one)] == []
    assert [one["id"] for one in answers] == list(range(8))
    assert rest == b""
    assert answers[2]["result"]["structuredContent"]["count"] == 1
    # The client's stdin is not the hook's either: it reads nothing.
    assert answers[2]["result"]["structuredContent"]["pages"][0]["noise"] == "0 bytes from stdin"
    printed = server.errors.read_text(encoding="utf-8")
    assert all(text in printed for text in ("printed", "written", "the other stdout", "to the descriptor", "a child"))


def test_a_stray_print_would_be_seen(package: Path) -> None:
    done = subprocess.run([sys.executable, "-c", "print('printed')"], capture_output=True, check=True)

    assert not is_frame(done.stdout)


@POSIX
@pytest.mark.parametrize("calls", [0, 1])
def test_the_end_of_stdin_ends_the_process_and_leaves_nothing_behind(serve: Any, calls: int) -> None:
    with serve() as server:
        server.ask(0, "initialize", HELLO)
        server.ask(1, "tools/list")
        for number in range(calls):
            server.ask(10 + number, "tools/call", {"name": "demo_find", "arguments": {"query": f"q{number}"}})

        server.leave()

        wait_until(lambda: not server.left_behind())


@POSIX
def test_the_end_of_stdin_before_the_first_word_ends_the_process(serve: Any) -> None:
    with serve() as server:
        server.leave()

        wait_until(lambda: not server.left_behind())


@POSIX
def test_a_child_that_was_left_behind_is_noticed(serve: Any) -> None:
    with serve(DEMO_LEAVE_A_CHILD="1") as server:
        server.ask(0, "initialize", HELLO)
        server.ask(1, "tools/call", {"name": "demo_find", "arguments": {"query": "q"}})

        server.leave()

        assert server.left_behind()
