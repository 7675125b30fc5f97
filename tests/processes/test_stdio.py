"""The stdio host as a client sees it: a process with two pipes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from specloom.server.stdio import serve_stdio
from tests.support.demo_server import Demo, catalogue
from tests.support.server_process import PATIENCE, Child, call, initialize, notification, request
from tests.support.timing import soonest

BUSY = 3
"""How much slower than it should be a machine may be that runs many tests at once."""
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals")


def test_a_conversation_runs_from_handshake_to_exit_without_a_word_on_stderr():
    with Child() as child:
        hello = child.ask(initialize(1))
        child.send(notification("notifications/initialized"))
        tools = child.ask(request(2, "tools/list"))
        answer = child.ask(call(3, "echo", {"text": "grün"}))
        rest = child.finish()

        assert hello["result"]["serverInfo"] == {"name": "demo", "version": "1.2.3", "title": "Demo"}
        assert "echo" in [tool["name"] for tool in tools["result"]["tools"]]
        assert answer["result"]["structuredContent"] == {"text": "grün"}
        assert rest == []
        assert child.stderr() == b""


def test_a_modern_client_needs_no_handshake():
    with Child() as child:
        found = child.ask(request(1, "server/discover", modern=True))
        answer = child.ask(call("a", "echo", {"text": "x"}, modern=True))

        assert found["result"]["supportedVersions"] == ["2026-07-28"]
        assert answer["result"]["resultType"] == "complete"


def test_progress_comes_before_the_answer_and_only_forward():
    with Child() as child:
        child.ask(initialize())
        child.send(call(1, "steps", {"count": 4}, progressToken="p"))
        messages = [child.receive()]
        while "id" not in messages[-1]:
            messages.append(child.receive())

        steps = [message["params"] for message in messages[:-1] if message["method"] == "notifications/progress"]
        assert [step["progress"] for step in steps] == [1, 2, 3, 4]
        assert {step["progressToken"] for step in steps} == {"p"}


def test_the_last_step_gets_through_however_many_there_are():
    with Child() as child:
        child.ask(initialize())
        child.send(call(1, "steps", {"count": 500}, progressToken="p"))
        messages = [child.receive()]
        while "id" not in messages[-1]:
            messages.append(child.receive())

        assert len(messages) < 400
        assert messages[-2]["params"]["progress"] == 500


def test_a_cancelled_call_is_never_answered():
    with Child() as child:
        child.ask(initialize())
        child.send(call(7, "wait", {"name": "a"}, progressToken=1))
        assert child.receive()["method"] == "notifications/progress"

        child.send(notification("notifications/cancelled", {"requestId": 7}), call(8, "release", {"name": "a"}))

        assert child.receive()["id"] == 8
        assert child.finish() == []


def test_a_call_cancelled_before_it_starts_is_never_answered():
    with Child() as child:
        child.ask(initialize())
        child.send(
            call(1, "wait", {"name": "a"}),
            notification("notifications/cancelled", {"requestId": 1}),
            notification("notifications/cancelled", {"requestId": 99}),
            call(2, "echo"),
        )

        assert [message["id"] for message in child.finish()] == [2]


def test_at_the_end_of_input_running_calls_are_still_answered():
    with Child() as child:
        child.send(initialize(0), call(1, "wait", {"name": "a"}), call(2, "release", {"name": "a"}), call(3, "echo"))

        answers = child.finish()

        assert sorted(answer["id"] for answer in answers) == [0, 1, 2, 3]
        assert all("result" in answer for answer in answers)


def test_a_call_that_outlasts_the_grace_is_told_so():
    with Child("--grace", "0.1") as child:
        child.send(initialize(0), call(1, "wait", {"name": "never"}))

        answer = child.finish()[-1]

        assert answer["id"] == 1
        assert answer["result"]["isError"] is True
        assert "stopped" in answer["result"]["content"][0]["text"]


def test_a_thread_that_cannot_be_ended_does_not_keep_the_process():
    with Child("--grace", "0.1") as child:
        child.ask(initialize())
        child.send(call(1, "block", {"seconds": 600}, progressToken=1))
        assert child.receive()["method"] == "notifications/progress"

        assert [answer["id"] for answer in child.finish()] == [1]


def test_input_that_is_closed_at_once_ends_the_process():
    with Child() as child:
        assert child.finish() == []
        assert child.stderr() == b""


def test_input_that_is_closed_after_the_list_ends_the_process_while_it_warms_up():
    with Child() as child:
        child.ask(request(1, "tools/list", modern=True))

        assert child.finish() == []
        assert child.stderr() == b""


def test_stray_prints_do_not_reach_the_client():
    with Child() as child:
        child.ask(initialize())
        child.send(call(1, "noise"))

        assert child.receive()["id"] == 1
        assert child.finish() == []
        assert child.stderr().splitlines() == [b"a stray print", b"a stray write"]


def test_an_exception_stays_inside():
    with Child() as child:
        child.ask(initialize())
        crashed = child.ask(call(1, "crash"))
        left = child.ask(call(2, "leave"))
        alive = child.ask(call(3, "echo", {"text": "still here"}))

        assert crashed["result"]["isError"] is True
        assert left["result"]["isError"] is True
        assert "secret" not in str(crashed)
        assert alive["result"]["structuredContent"] == {"text": "still here"}
        assert child.stderr() == b""


def test_garbage_is_answered_and_survived():
    with Child() as child:
        child.send(b"garbage\n", b"\xff\xfe\n", b"\n", b"  \r\n", b"[]\n", b"5\n", b'{"jsonrpc":"2.0","id":null}\n')
        codes = [child.receive()["error"]["code"] for _ in range(5)]
        answer = child.ask(initialize(1))

        assert codes == [-32700, -32700, -32600, -32600, -32600]
        assert "result" in answer


def test_a_line_that_ends_with_the_input_is_answered():
    with Child() as child:
        child.send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')

        assert child.finish() == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_a_live_question_is_answered_by_the_client():
    with Child() as child:
        child.ask(initialize(capabilities={"elicitation": {}}))
        child.send(call(1, "ask"))
        question = child.receive()
        child.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})

        assert question["method"] == "elicitation/create"
        assert child.receive()["result"]["structuredContent"] == {"answer": {"action": "decline"}}


def test_a_question_that_nobody_can_answer_any_more_does_not_wait():
    with Child() as child:
        child.ask(initialize(capabilities={"elicitation": {}}))
        child.send(call(1, "ask"))
        child.receive()

        (answer,) = child.finish()

        assert "has left" in answer["result"]["structuredContent"]["answer"]


def test_the_process_leaves_quietly_when_nobody_reads():
    with Child() as child:
        child.ask(initialize())
        child.process.stdout.close()
        child.send(request(1, "tools/list"))

        assert child.process.wait() == 0
        assert child.stderr() == b""


def test_the_process_leaves_when_nobody_reads_the_answer_of_a_worker():
    with Child() as child:
        child.ask(initialize())
        child.ask(call(1, "echo"))
        child.process.stdout.close()
        child.send(call(2, "echo"))

        assert child.process.wait() == 0
        assert child.stderr() == b""


def test_a_client_that_neither_reads_nor_leaves_does_not_keep_the_process():
    with Child("--grace", "0.1") as child:
        child.ask(initialize())
        child.send(call(1, "flood"))
        child.process.stdin.close()

        assert child.process.wait() == 0


@POSIX
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_like_the_end_of_input(number):
    with Child() as child:
        child.ask(initialize())
        child.ask(call(1, "echo"))

        child.process.send_signal(number)

        assert child.process.wait() == 0
        assert child.stderr() == b""


@POSIX
def test_a_signal_lets_running_calls_answer():
    with Child("--grace", "0.1") as child:
        child.ask(initialize())
        child.send(call(1, "wait", {"name": "never"}, progressToken=1))
        child.receive()

        child.process.send_signal(signal.SIGTERM)

        assert child.receive()["id"] == 1
        assert child.process.wait() == 0


@POSIX
def test_a_signal_ends_a_process_whose_answers_nobody_reads():
    # The watchdog kills what has had no turn for so long; on a machine that gives it one, the process leaves by itself.
    ended = [_end_while_nobody_reads()]
    while len(ended) < 4 and ended[-1][0] == -signal.SIGKILL and b"did not leave within" in ended[-1][1]:
        ended.append(_end_while_nobody_reads())

    assert ended[-1] == (0, b"")


def _end_while_nobody_reads() -> tuple[int, bytes]:
    """How a server ends on SIGTERM that waits for its way out, and what it has printed."""
    import fcntl
    import struct
    import termios

    with Child() as child:
        child.ask(initialize())
        stdin, stdout = child.process.stdin.fileno(), child.process.stdout.fileno()
        os.set_blocking(stdin, False)
        line = json.dumps(request(1, "tools/list")).encode() + b"\n"
        waiting, before = 0, -1
        # With the way in full, what waits to be read no longer grows when the server waits for its way out.
        while waiting != before or not waiting:
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(stdin, line)
            threading.Event().wait(0.1)
            before, waiting = waiting, struct.unpack("i", fcntl.ioctl(stdout, termios.FIONREAD, b"\0" * 4))[0]

        child.process.send_signal(signal.SIGTERM)

        return child.process.wait(), child.stderr()


@POSIX
def test_a_signal_after_the_end_of_input_cuts_the_waiting_short():
    with Child("--grace", "600") as child:
        child.ask(initialize())
        child.send(call(1, "wait", {"name": "never"}, progressToken=1))
        child.receive()
        child.process.stdin.close()

        # The first signal may arrive before the end of input has been seen, and then only begins the waiting.
        while child.process.poll() is None:
            child.process.send_signal(signal.SIGTERM)
            threading.Event().wait(0.05)

        assert child.process.returncode in {0, 1}


HOLDS = 60
"""Signs of a text that a pattern never comes to an end with, and no other thread has a turn meanwhile."""


def begin(child: Child, tool: str, **arguments: Any) -> None:
    """Start a call that does not come back, when the server is warm."""
    child.ask(initialize())
    child.send(call(1, tool, arguments, progressToken=1))
    assert child.receive()["method"] == "notifications/progress"


LONG = {"wait": {"name": "never"}, "block": {"seconds": 600}, "spin": {"seconds": 600}}


@pytest.mark.parametrize("tool", LONG)
@pytest.mark.parametrize("how", ["end of input", pytest.param("signal", marks=POSIX)])
def test_a_server_leaves_within_two_seconds_whatever_a_call_does(tool: str, how: str):
    def leave() -> float:
        with Child() as child:
            begin(child, tool, **LONG[tool])

            started = time.monotonic()
            if how == "signal":
                child.process.send_signal(signal.SIGTERM)
            else:
                child.process.stdin.close()

            # On a machine so busy that it does not come to its end by itself, the watchdog ends it.
            assert child.process.wait() in {0, -signal.SIGKILL}
            assert b"traceback" not in child.stderr().lower()
            return time.monotonic() - started

    assert soonest(leave, BUSY * 2) < BUSY * 2


@POSIX
@pytest.mark.parametrize("how", ["end of input", "signal"])
def test_a_call_that_holds_the_interpreter_does_not_keep_the_process(how: str):
    def leave() -> float:
        with Child() as child:
            begin(child, "hold", signs=HOLDS)

            started = time.monotonic()
            if how == "signal":
                child.process.send_signal(signal.SIGTERM)
            else:
                child.process.stdin.close()

            assert child.process.wait() == -signal.SIGKILL
            assert b"did not leave within" in child.stderr()
            assert b"in do_hold" in child.stderr()
            return time.monotonic() - started

    assert soonest(leave, BUSY * 3) < BUSY * 3


@POSIX
def test_the_watchdog_ends_with_its_server():
    with Child() as child:
        child.ask(initialize())
        child.ask(call(1, "echo"))
        (dog,) = children_of(child.process.pid)

        child.process.kill()
        child.process.wait()

        wait_until(lambda: not is_alive(dog))


def test_a_ping_is_answered_while_the_loop_stands_still_and_the_stall_is_told():
    with Child() as child:
        begin(child, "spin", seconds=3)

        child.send(request(2, "ping"), call(3, "echo"))

        assert [child.receive()["id"] for _ in range(3)] == [2, 1, 3]
        wait_until(lambda: b"no call went on for" in child.stderr())
        (stall,) = child.ask(call(4, "stalls"))["result"]["structuredContent"]["stalls"]
        assert 1 < stall["seconds"] < BUSY * 3
        assert stall["where"].startswith("server/calls.py:")


def test_calls_that_wait_are_no_stall():
    with Child() as child:
        begin(child, "nap", seconds=2)

        assert child.receive()["id"] == 1
        assert child.ask(call(2, "stalls"))["result"]["structuredContent"]["stalls"] == []


def is_alive(number: int) -> bool:
    """Whether there is a process of this number that has not ended."""
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True, check=False)
    return bool(listed.stdout.strip()) and not listed.stdout.startswith("Z")


def children_of(number: int) -> list[int]:
    """The processes that a process has started."""
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid="], capture_output=True, text=True, check=True)
    pairs = [line.split() for line in listed.stdout.splitlines()]
    return [int(child) for parent, child in pairs if parent == str(number)]


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for what happens in another process; a test that waits in vain is ended by its own time."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        threading.Event().wait(0.05)


class Pipes:
    """A server in a thread of this process, on pipes of its own."""

    def __init__(self, **options):
        self.child_in, self.way_in = os.pipe()
        self.way_out, self.child_out = os.pipe()
        self.codes = []
        options = {"warm_after": None, **options}

        def serve():
            self.codes.append(serve_stdio(catalogue(), Demo, stdin=self.child_in, stdout=self.child_out, **options))
            os.close(self.child_out)

        self.thread = threading.Thread(target=serve)
        self.thread.start()

    def talk(self, data: bytes) -> bytes:
        """Everything that the server says to `data`."""
        os.write(self.way_in, data)
        os.close(self.way_in)
        said = b""
        while chunk := os.read(self.way_out, 65536):
            said += chunk
        self.thread.join()
        os.close(self.way_out)
        os.close(self.child_in)
        assert self.codes == [0]
        return said


def test_a_line_that_is_too_long_is_refused_and_the_next_one_is_read():
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'

    said = Pipes(longest_line=100).talk(b"x" * 5000 + b"\n" + ping + b"y" * 200)

    assert [line[:60] for line in said.splitlines()] == [
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":',
    ]


def test_a_backend_that_cannot_be_loaded_fails_its_calls_and_is_tried_again():
    seen = []
    attempts = iter([RuntimeError("no backend")])

    def load():
        for error in attempts:
            raise error
        return Demo()

    inside, way_in = os.pipe()
    way_out, outside = os.pipe()
    host = threading.Thread(
        target=lambda: serve_stdio(
            catalogue(),
            load,
            stdin=inside,
            stdout=outside,
            warm_after=None,
            report=lambda error: seen.append(str(error)),
        )
    )
    host.start()
    with os.fdopen(way_out, "rb") as answers, os.fdopen(way_in, "wb", buffering=0) as questions:
        questions.write(json.dumps(call(1, "echo", modern=True)).encode() + b"\n")
        first = json.loads(answers.readline())
        questions.write(json.dumps(call(2, "echo", {"text": "x"}, modern=True)).encode() + b"\n")
        second = json.loads(answers.readline())
    host.join()
    os.close(inside)
    os.close(outside)

    assert first["result"]["isError"] is True
    assert second["result"]["structuredContent"] == {"text": "x"}
    assert seen == ["no backend"]


class Prepared(Demo):
    """A backend that gets ready in endless steps: `began` is set by the first, `ended` when no more is taken."""

    began = ended = threading.Event()
    fault = None

    def prepare(self):
        try:
            while True:
                self.began.set()
                if self.fault is not None:
                    raise self.fault
                yield
        finally:
            self.ended.set()


def serve_prepared(seen, **attributes):
    """Lists the tools of a `Prepared`, waits for its steps, makes a call, and waits for the end of the steps."""
    backend = type("Backend", (Prepared,), {"began": threading.Event(), "ended": threading.Event(), **attributes})
    inside, way_in = os.pipe()
    way_out, outside = os.pipe()
    options = {"stdin": inside, "stdout": outside, "warm_after": 0.0, "report": lambda error: seen.append(str(error))}
    host = threading.Thread(target=lambda: serve_stdio(catalogue(), backend, **options))
    host.start()
    with os.fdopen(way_out, "rb") as answers, os.fdopen(way_in, "wb", buffering=0) as questions:
        questions.write(json.dumps(request(1, "tools/list", modern=True)).encode() + b"\n")
        answers.readline()
        assert backend.began.wait(PATIENCE)
        questions.write(json.dumps(call(2, "nap", {"seconds": 0.2}, modern=True)).encode() + b"\n")
        assert json.loads(answers.readline())["id"] == 2
        assert backend.ended.wait(PATIENCE)
    host.join()
    os.close(inside)
    os.close(outside)


def test_a_server_that_is_not_called_gets_ready_until_it_is():
    seen = []

    serve_prepared(seen)

    assert seen == []


def test_what_goes_wrong_while_a_server_gets_ready_is_reported_and_calls_are_answered():
    seen = []

    serve_prepared(seen, fault=RuntimeError("not ready"))

    assert seen == ["not ready"]


def test_the_start_imports_nothing_heavy():
    """The budget of the start is kept by what is not imported."""
    code = "import sys, specloom.server.stdio as s; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())

    assert not loaded & {"asyncio", "dataclasses", "inspect", "typing", "logging", "contextlib", "pydantic", "yaml"}


def test_the_envelope_fixes_the_era_for_the_process():
    with Child() as child:
        child.ask(request(1, "tools/list", modern=True))
        refused = child.ask(initialize(2))

        assert refused["error"]["code"] == -32022
        assert refused["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}
