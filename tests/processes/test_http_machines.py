"""Two machines of two workers over one Redis: what deaths of workers, of a parent and of Redis cost, under load."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.processes.test_http_product import make_environ, make_key
from tests.support.http_server import Client
from tests.support.loopback import Call, Loopback, Reply
from tests.support.redis_server import RedisServer
from tests.support.server_process import call, request
from tests.support.timing import soonest

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked, which this system cannot"),
]
RATE = 20
PROVIDER = f"""\
spec: provider/1
name: paced
title: Paced
homepage: https://example.org/
notes: For tests.
config:
  PACED_URL: {{type: url, required: true, description: Where it listens.}}
service:
  base: =config.PACED_URL
  private: true
  limits: {{rate: {RATE}/s, timeout: 20s}}
operations:
  web:
    input: [query]
    steps:
      - get: /search
        query: {{q: =args.query}}
        json:
          each: results
          map:
            title: title
            url: {{at: link, required: true, then: [absolute_http]}}
examples:
  - name: a page
    operation: web
    args: {{query: otters}}
    config: {{PACED_URL: "https://paced.example.org"}}
    replies: {{main: {{json: {{results: [{{title: otters, link: "https://example.org/"}}]}}}}}}
    expect: {{count: 1, sent: {{main: {{query: {{q: otters}}}}}}}}
"""
TENANTS = ("acme", "globex")
SEARCHES, WRITES = "web_search", "sequential_search"
MOST_KEPT = 4
"""Sessions that one of those who ask keeps; a user has fifty, with those that were written and never acknowledged."""
KEEPS = ("--appendonly", "yes", "--appendfsync", "always")
STATES = {"in folders": {}, "on Redis": {"SPECLOOM_STATE": "redis"}}
ADMIN_KEY = "the admin key of this test"
UNLIMITED = ("RATE_LIMIT_PER_TENANT", "RATE_LIMIT_GLOBAL", "DAILY_QUOTA_PER_TENANT", "MAX_CALLS_AT_ONCE_PER_TENANT")
ALLOWED = {"rate_limited", "upstream_unavailable", "circuit_open"}
"""What a call may end with while something is away that all machines share."""


class Machine:
    """A server of several workers, at home in a folder of its own."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        folder.mkdir()
        self.folder = folder
        self.environ = {**environ, "HOME": str(folder)}
        self.deaths = itertools.count()
        self.port = 0
        self.process: subprocess.Popen[str]

    def start(self) -> None:
        """Start it, and wait until it says where it listens."""
        said = self.folder / f"said-{next(self.deaths)}"
        command = [sys.executable, "-m", "specloom", "serve", "--http", "127.0.0.1:0", "--workers", "2"]
        with said.open("w") as errors:
            self.process = subprocess.Popen(command, cwd=self.folder, env=self.environ, stderr=errors, text=True)
        while (found := re.search(r"127\.0\.0\.1:(\d+)/mcp", said.read_text())) is None:
            assert self.process.poll() is None, said.read_text()
            time.sleep(0.05)
        self.port = int(found[1])

    def find_workers(self) -> list[int]:
        """The processes that answer."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(word) for word in listed.split()]

    def kill(self) -> None:
        """End the parent as a machine that fails does."""
        self.process.kill()
        self.process.wait()


class Load:
    """Who asks and writes as a tenant, until told to stop, and what came of it."""

    def __init__(self, machine: Machine, tenant: str, key: str, number: int) -> None:
        self.machine, self.tenant, self.key = machine, tenant, key
        self.name = f"{tenant}-{machine.folder.name}-{number}"
        self.ended: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.kept: dict[str, str] = {}
        """What was written and acknowledged: the goal of each session."""
        self.steps: Counter[str] = Counter()
        """How many steps of each session were acknowledged."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for turn in itertools.count():
            if self._stop.is_set():
                return
            said = f"{self.name} {turn}"
            try:
                if turn % 3:
                    self._search(said)
                elif len(self.kept) < MOST_KEPT:
                    self._begin(said)
                else:
                    self._go_on([*self.kept][turn % MOST_KEPT], said)
            except (OSError, EOFError, json.JSONDecodeError) as error:
                self.ended[type(error).__name__] += 1
            except Exception as error:
                self.wrong.append(repr(error))

    def _search(self, said: str) -> None:
        found = self.ask(SEARCHES, {"query": said})
        if found is not None and [one["title"] for one in found["results"]] != [said]:
            self.wrong.append(f"{said!r} was answered with {found['results']}")

    def _begin(self, said: str) -> None:
        step = {"searchStep": said, "stepNumber": 1, "nextStepNeeded": True, "researchGoal": said}
        written = self.ask(WRITES, step)
        if written is not None:
            self.kept[written["sessionId"]] = said
            self.steps[written["sessionId"]] = 1

    def _go_on(self, session: str, said: str) -> None:
        number = self.steps[session] + 1
        step = {"searchStep": said, "stepNumber": number, "nextStepNeeded": True, "sessionId": session}
        if self.ask(WRITES, step) is not None:
            self.steps[session] += 1

    def ask(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """The structured content of an answer; None where something was away that the machines share."""
        with Client(self.machine.port) as client:
            answer = client.post(call(1, tool, arguments), Authorization=f"Bearer {self.key}")
        if answer.status == 503:
            self.ended["503"] += 1
            return None
        assert answer.status == 200, answer
        result = answer.json["result"]
        if result.get("isError"):
            kind = json.loads(result["content"][0]["text"].partition("\n\n")[2])["error"]["kind"]
            assert kind in ALLOWED, result
            self.ended[kind] += 1
            return None
        self.ended["answered"] += 1
        content: dict[str, Any] = result["structuredContent"]
        return content

    def read_session(self, session: str, machine: Machine | None = None) -> tuple[str, int]:
        """What a session is for and how many steps it has; "" where there is none."""
        with Client((machine or self.machine).port) as client:
            message = call(1, "get_research_session", {"sessionId": session})
            result = client.post(message, Authorization=f"Bearer {self.key}").json["result"]
        content = result.get("structuredContent", {})
        return str(content.get("researchGoal", "")), int(content.get("stepCount", 0))

    def stop(self) -> None:
        """Ask no more."""
        self._stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive()


@contextmanager
def machines(
    folder: Path, redis: RedisServer, upstream: str, state: dict[str, str] | None = None
) -> Iterator[tuple[list[Machine], dict[str, str]]]:
    layer = folder / "specs" / "providers.d"
    layer.mkdir(parents=True)
    (layer / "paced.yaml").write_text(PROVIDER)
    keys = {"SPECLOOM_API_KEYS": str(folder / "keys.json")}
    environ = make_environ(
        folder,
        {
            **keys,
            **dict.fromkeys(UNLIMITED, "0"),
            "REDIS_URL": redis.url,
            "SPECLOOM_CACHE_KEY": "ab" * 32,
            "SPECLOOM_PATH": str(folder / "specs"),
            "SPECLOOM_ALLOW_PRIVATE": "true",
            "CACHE_ISOLATION": "tenant",
            "SEARCH_ROUTING": "paced",
            "PACED_URL": upstream,
            "CHROME_PATH": "disabled",
            "ADMIN_API_KEY": ADMIN_KEY,
            **(state or {}),
        },
    )
    shown = {tenant: make_key(folder, tenant, **keys) for tenant in TENANTS}
    made = [Machine(folder / name, environ) for name in ("one", "two")]
    try:
        for one in made:
            one.start()
        yield made, shown
    finally:
        for one in made:
            one.process.terminate()
            one.process.wait(60)


def wait_for(what: Callable[[], bool]) -> None:
    """Return once it is so; the test is ended where it never is."""
    until = time.monotonic() + 120
    while not what():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("state", STATES)
def test_no_death_makes_a_wrong_answer_or_loses_what_was_acknowledged(tmp_path: Path, state: str) -> None:
    arrived: list[float] = []

    def answer(asked: Call) -> Reply:
        arrived.append(time.monotonic())
        query = dict(asked.query)["q"]
        body = json.dumps({"results": [{"title": query, "link": "https://example.org/"}]})
        return 200, {"Content-Type": "application/json"}, body

    with ExitStack() as stack:
        redis = stack.enter_context(RedisServer(*KEEPS))
        upstream = stack.enter_context(Loopback(answer))
        (one, two), keys = stack.enter_context(machines(tmp_path, redis, upstream.url, STATES[state]))
        loads = [
            Load(machine, tenant, keys[tenant], number)
            for machine, tenant, number in itertools.product((one, two), TENANTS, range(4))
        ]

        def answered(machine: Machine) -> int:
            return sum(load.ended["answered"] for load in loads if load.machine is machine)

        def go_on(count: int = 30) -> None:
            """Wait until each machine has answered so many more."""
            wanted = {machine.folder: answered(machine) + count for machine in (one, two)}
            wait_for(lambda: all(answered(machine) >= wanted[machine.folder] for machine in (one, two)))

        def measure() -> float:
            """The pace over some seconds, as a part of what the machines may have together."""
            arrived.clear()
            wait_for(lambda: len(arrived) > RATE * 8)
            whole = sorted(arrived)
            return len(whole) / (RATE * (whole[-1] - whole[0] + 1))

        # Over all of it: on a busy machine requests arrive late, and then together, and where Redis answers late a
        # worker goes alone for a moment. Workers that paced alone would send four times as many, each time.
        assert soonest(measure, 2) <= 2
        for machine in (one, two):
            os.kill(machine.find_workers()[0], signal.SIGKILL)
        go_on()
        redis.kill()
        go_on()
        redis.start()
        go_on()
        two.kill()
        two.start()
        go_on()
        wait_for(lambda: sum(sum(load.steps.values()) for load in loads) > 100)
        wait_for(lambda: sum(len(load.kept) for load in loads) > 50)
        for load in loads:
            load.stop()

        assert [wrong for load in loads for wrong in load.wrong] == []
        for load in loads:
            # What machines share is read from the one that did not write it.
            other_one = {one.folder: two, two.folder: one}[load.machine.folder]
            machine = other_one if state == "on Redis" else load.machine
            read = {session: load.read_session(session, machine) for session in load.kept}
            assert {session: goal for session, (goal, _) in read.items()} == load.kept
            # A step that was taken and never acknowledged may be there as well.
            assert [session for session, (_, steps) in read.items() if steps < load.steps[session]] == []
        # Nobody has a session of another tenant, wherever it is asked for.
        theirs = next(load for load in loads if load.tenant == "acme")
        other = next(load for load in loads if load.tenant == "globex" and load.machine is theirs.machine)
        assert {other.read_session(session) for session in theirs.kept} == {("", 0)}


def test_who_is_revoked_on_one_machine_is_refused_by_the_other(tmp_path: Path) -> None:
    with RedisServer() as redis, machines(tmp_path, redis, "http://127.0.0.1:9") as ((one, two), keys):

        def is_let_in(machine: Machine, tenant: str) -> bool:
            with Client(machine.port) as client:
                answer = client.post(request(1, "tools/list"), Authorization=f"Bearer {keys[tenant]}")
            assert answer.status in (200, 401)
            return answer.status == 200

        assert all(is_let_in(machine, tenant) for machine in (one, two) for tenant in TENANTS)
        revoked = json.dumps({"tenant_id": "acme", "user_id": "ann", "before": time.time() + 60})
        with Client(one.port) as client:
            client.connection.request("POST", "/admin/revoke", revoked, {"X-Admin-Key": ADMIN_KEY})
            assert client.connection.getresponse().status == 200

        wait_for(lambda: not is_let_in(two, "acme"))
        wait_for(lambda: not is_let_in(one, "acme"))
        assert is_let_in(two, "globex")
