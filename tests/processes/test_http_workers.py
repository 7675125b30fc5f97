"""Several workers behind one socket: what a death, a replacement and an end cost the clients of the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_server import PATIENCE, Client
from tests.support.server_process import call, request

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked, which this system cannot"),
]
ROOT = Path(__file__).parent.parent.parent


class Workers:
    """A running server with several workers."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port

    def post(self, message: Any) -> Any:
        """One message over a connection of its own."""
        with Client(self.port) as client:
            return client.post(message)

    def find_processes(self, count: int) -> set[int]:
        """The processes that answer, asked until there are so many."""
        found: set[int] = set()
        while len(found) < count:
            found.add(int(self.post(call(1, "echo")).json["result"]["structuredContent"]["text"]))
        return found


@contextmanager
def workers(folder: Path, count: int = 2, *more: str) -> Iterator[Workers]:
    command = [sys.executable, "-m", "tests.support.http_workers", str(folder), str(count), *more]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    alarm = threading.Timer(300, process.kill)
    alarm.start()
    try:
        assert process.stdout is not None
        yield Workers(process, int(process.stdout.readline()))
    finally:
        alarm.cancel()
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_all_workers_answer_and_the_end_is_clean(tmp_path: Path) -> None:
    with workers(tmp_path) as server:
        assert len(server.find_processes(2)) == 2
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0


def test_a_worker_that_is_killed_is_replaced_while_the_other_answers(tmp_path: Path) -> None:
    with workers(tmp_path) as server:
        first = server.find_processes(2)
        killed = first.pop()
        os.kill(killed, signal.SIGKILL)
        # What had been taken by the one that died is lost with it; what comes then is not.
        assert server.post(request(1, "ping")).status == 200
        now = server.find_processes(2)
        assert killed not in now
        assert first < now


def test_workers_are_replaced_one_by_one_without_a_call_that_fails(tmp_path: Path) -> None:
    with workers(tmp_path) as server:
        before = server.find_processes(2)
        stop, failed = threading.Event(), []

        def ask() -> None:
            while not stop.is_set():
                try:
                    answer = server.post(call(1, "echo"))
                except OSError as error:
                    failed.append(repr(error))
                else:
                    if answer.status != 200:
                        failed.append(str(answer))

        asking = [threading.Thread(target=ask) for _ in range(4)]
        for one in asking:
            one.start()
        server.process.send_signal(signal.SIGHUP)
        while any(_is_alive(process) for process in before):
            time.sleep(0.05)
        stop.set()
        for one in asking:
            one.join(PATIENCE)
        assert failed == []
        assert not before & server.find_processes(2)
        assert server.process.stderr is not None
        told = [server.process.stderr.readline().strip() for _ in range(2)]
        assert told == ["replacing 2 workers, one after the other", "all 2 workers were replaced"]


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_call_that_runs_when_the_server_is_told_to_leave_is_answered(tmp_path: Path) -> None:
    with workers(tmp_path) as server, Client(server.port) as client:
        response = client.open(call(1, "nap", {"seconds": 0.5}, progressToken=1))
        response.readline()
        server.process.terminate()
        assert b"rested" in response.read()
        assert server.process.wait(PATIENCE) == 0


def test_a_change_that_one_worker_makes_is_heard_by_the_streams_of_all(tmp_path: Path) -> None:
    wanted = {"notifications": {"resourceSubscriptions": ["demo://one"]}}
    with workers(tmp_path) as server:
        server.find_processes(2)
        clients = [Client(server.port) for _ in range(6)]
        streams = [one.open(request(1, "subscriptions/listen", wanted, modern=True)) for one in clients]
        for stream in streams:
            while b"acknowledged" not in stream.readline():
                pass
        server.post(call(1, "echo", {"text": "demo://one"}))
        for stream in streams:
            while b"resources/updated" not in stream.readline():
                pass
        for one in clients:
            one.close()


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    with workers(tmp_path) as server:
        processes = server.find_processes(2)
        server.process.kill()
        server.process.wait(PATIENCE)
        while any(_is_alive(process) for process in processes):
            time.sleep(0.05)


def test_a_server_whose_workers_die_at_once_ends_and_says_why(tmp_path: Path) -> None:
    with workers(tmp_path, 2, "dying") as server:
        _, said = server.process.communicate(timeout=PATIENCE)
        assert server.process.returncode == 3
        assert "worker 0 has died (exit code 7); it is started again in 0.1 s" in said
        assert said.splitlines()[-1] == "5 workers have died within 10 s; the server ends"
