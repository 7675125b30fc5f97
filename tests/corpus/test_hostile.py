"""While a hostile body or argument is read, the server answers `ping` and other calls; and it leaves when told to."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.hostile.arguments import arguments
from tests.corpus.hostile.bodies import Body, bodies
from tests.support.loopback import Call, Loopback
from tests.support.server_process import call, initialize, request

DEAF = 0.5
"""Seconds that an answer to `ping` may take longer than that of a server with nothing to do."""
LEAVING = 3.0
DEADLINE = 90.0
SAMPLE = 12
"""Every so many of the corpus is read where `--many` reads it all."""
BODIES = {body.name: body for body in bodies()}
ARGUMENTS = {name: (tool, given) for name, tool, given in arguments()}
CASES = [*BODIES, *ARGUMENTS]


class Conversation:
    """A real server over stdio, whose answers are collected as they come."""

    def __init__(self, folder: Path, *options: str) -> None:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "SPECLOOM_CACHE_DIR": str(folder / "cache"),
            "SPECLOOM_ALLOW_PRIVATE": "true",
            "CHROME_PATH": "disabled",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "specloom", "serve", "--toolset", "all", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
        )
        self._answers: dict[Any, queue.Queue[dict[str, Any]]] = {}
        self._number = 0
        threading.Thread(target=self._collect, daemon=True).start()
        assert "result" in self.answer(self.send(initialize()))

    def _collect(self) -> None:
        import json

        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") in self._answers:
                self._answers[message["id"]].put(message)

    def send(self, message: dict[str, Any]) -> int:
        import json

        self._number += 1
        message["id"] = self._number
        self._answers[self._number] = queue.Queue()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self._number

    def has(self, number: int) -> bool:
        return not self._answers[number].empty()

    def answer(self, number: int, seconds: float = DEADLINE) -> dict[str, Any]:
        return self._answers[number].get(timeout=seconds)

    def ping(self) -> float:
        """Seconds until a ping is answered."""
        start = time.monotonic()
        self.answer(self.send(request(0, "ping")))
        return time.monotonic() - start

    def end(self) -> float:
        """Seconds from SIGTERM to the end."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(DEADLINE)
        return time.monotonic() - start

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Loopback]:
    names = list(BODIES)

    def answer(asked: Call) -> Any:
        head, _, number = asked.path.rpartition("/")
        if head != "/body":
            return 404, {}, b""
        body: Body = BODIES[names[int(number)]]
        return 200, {"Content-Type": body.kind, **body.headers}, body.data

    with Loopback(answer) as server:
        yield server


def hostile_call(name: str, upstream: Loopback) -> dict[str, Any]:
    if name in BODIES:
        return call(0, "scrape_page", {"url": f"{upstream.url}/body/{list(BODIES).index(name)}"})
    tool, given = ARGUMENTS[name]
    return call(0, tool, given)


def check_hearing(server: Conversation, message: dict[str, Any]) -> None:
    """Hold one call against what is promised; a ping that is late once may be the machine's."""
    still = max(server.ping() for _ in range(3))
    number = server.send(message)
    late = 0
    other = server.send(call(0, "get_research_session", {"sessionId": "none"}))
    while not server.has(number):
        delay = server.ping() - still
        # One that is very late is no accident of the machine.
        late = 2 if delay > 4 * DEAF else late + 1 if delay > DEAF else 0
        assert late < 2, "the server is deaf"
        time.sleep(0.01)
    server.answer(other, 10.0)
    result = server.answer(number)
    assert "result" in result or "error" in result
    assert "defect" not in str(result)[:2000]


def start(name: str, folder: Path) -> Conversation:
    """A server that is warm; one for arguments has nobody to ask but recordings, of which there are none."""
    empty = folder / "recordings"
    empty.mkdir(exist_ok=True)
    server = Conversation(folder, *([] if name in BODIES else ["--replay", str(empty)]))
    server.answer(server.send(call(0, "get_research_session", {"sessionId": "none"})))
    return server


@pytest.fixture
def step(request: pytest.FixtureRequest) -> int:
    """Every so many of the corpus is read."""
    return 1 if request.config.getoption("many") else SAMPLE


def test_the_corpus_has_at_least_two_hundred() -> None:
    assert len(CASES) == len(BODIES) + len(ARGUMENTS) >= 200
    assert len(BODIES) == len(bodies())


@pytest.mark.parametrize("names", [list(BODIES), list(ARGUMENTS)], ids=["bodies", "arguments"])
def test_others_are_heard_while_each_is_read(names: list[str], step: int, upstream: Loopback, tmp_path: Path) -> None:
    server = start(names[0], tmp_path)
    failed = {}
    try:
        for name in names[::step]:
            try:
                check_hearing(server, hostile_call(name, upstream))
            except (AssertionError, queue.Empty) as error:
                failed[name] = repr(error)[:200]
    finally:
        server.close()
    assert not failed


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_server_leaves_while_each_is_read(step: int, upstream: Loopback, tmp_path: Path) -> None:
    late = {}
    for name in CASES[:: 1 if step == 1 else 7 * SAMPLE]:
        server = start(name, tmp_path)
        try:
            server.send(hostile_call(name, upstream))
            server.ping()
            if (seconds := server.end()) > LEAVING:
                late[name] = seconds
        finally:
            server.close()
    assert not late
