"""P10: a dry run shows the exact requests of a call, whom it asks and where the answer is kept, and sends nothing."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specloom.authoring.explain import explain, explanation_lines
from specloom.cache.cache import AnswerCache
from specloom.core.faults import Fault
from specloom.core.messages import Request
from specloom.core.terminal import Paint
from specloom.runtime import Unsent
from tests.support.demo_specs import demo_executor, write_demo
from tests.support.loopback import Loopback, Reply

PAGE: Reply = (200, {"Content-Type": "application/json"}, '{"results": []}')
ARGUMENTS = {"query": "otters & rivers", "num_results": 3, "time_range": "week", "session": "s"}
KEY = "s3cr3t-demo-key"

WATCHED = """\
import json, sys
from pathlib import Path
from specloom.runtime.executor import Executor
from specloom.authoring.explain import explain, explanation_lines
from specloom.core.terminal import Paint
from specloom.net.transport import Transport
from specloom.compiler.build import weave_from
import asyncio, encodings.idna, locale, io
model, _, report = weave_from([Path(sys.argv[1])])
assert not report.errors
executor = Executor(model, environ={"DEMO_URL": sys.argv[2], "DEMO_KEY": "k"}, sender=Transport())
seen = []
def watch(event, arguments):
    if event.startswith(("socket.", "subprocess.", "os.exec", "os.posix_spawn", "os.remove", "os.rename", "os.mkdir")):
        seen.append(event)
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        seen.append(f"{event} {arguments[0]}")
found = []
sys.addaudithook(watch)
if sys.argv[3] == "explain":
    found = explanation_lines(explain(executor, "demo_find", json.loads(sys.argv[4])), Paint(io.StringIO(), {}), 100)
else:
    asyncio.run(executor.call("demo_find", json.loads(sys.argv[4])))
print(json.dumps([seen, found]))
"""


def watched(root: Path, url: str, what: str) -> tuple[list[str], list[str]]:
    command = [sys.executable, "-B", "-c", WATCHED, str(root), url, what, json.dumps(ARGUMENTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seen, lines = json.loads(done.stdout)
    return seen, lines


def test_a_dry_run_opens_no_socket_no_process_and_no_file_to_write(tmp_path: Path) -> None:
    with Loopback(lambda call: PAGE) as upstream:
        seen, lines = watched(write_demo(tmp_path), upstream.url, "explain")

    assert seen == []
    assert upstream.connections == 0
    assert any(upstream.url in line for line in lines)


def test_the_watch_notices_a_live_call(tmp_path: Path) -> None:
    with Loopback(lambda call: PAGE) as upstream:
        seen, _ = watched(write_demo(tmp_path), upstream.url, "call")

    assert "socket.connect" in seen
    assert upstream.connections == 1


@pytest.mark.parametrize("arguments", [ARGUMENTS, {"query": "a"}, {"query": "ü\u2028", "num_results": "10"}])
async def test_the_request_that_is_shown_is_the_one_that_a_call_sends(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    with Loopback(lambda call: PAGE) as upstream:
        executor = demo_executor(write_demo(tmp_path), upstream.url)
        said = explain(executor, "demo_find", arguments).to_json()
        before = list(upstream.calls)

        await executor.call("demo_find", arguments)
        await executor.aclose()

    (shown,) = said["providers"][0]["requests"]
    sent = upstream.last
    assert before == []
    assert f"{shown['method']} {shown['url']}" == f"{sent.method} {upstream.url}{sent.path}"
    assert [tuple(pair) for pair in shown["query"]] == list(sent.query)
    for name, value in shown["headers"].items():
        assert sent.headers[name.lower()].replace(KEY, "•••") == value
    assert sent.headers["x-key"] == KEY
    assert shown["headers"]["X-Key"] == "•••"


async def test_the_order_of_providers_and_the_key_are_those_of_the_call(tmp_path: Path) -> None:
    with Loopback(lambda call: PAGE) as upstream:
        cache = AnswerCache(disk=None, key=None, warn=lambda text: None)
        executor = demo_executor(write_demo(tmp_path), upstream.url, cache=cache)
        found = explain(executor, "demo_find", ARGUMENTS)
        assert found.cache is not None
        absent = cache.peek(found.cache.key)

        await executor.call("demo_find", ARGUMENTS)
        present = cache.peek(found.cache.key)
        await executor.aclose()

    assert [one.provider for one in found.asked] == ["demo"]
    assert (found.cache.inputs, found.cache.ignored) == (("query", "num_results", "time_range", "lens"), ("session",))
    assert absent is None
    assert present is not None


def test_no_secret_is_shown_in_any_form(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path))

    found = explain(executor, "demo_find", ARGUMENTS)

    lines = explanation_lines(found, Paint(io.StringIO(), {}), 100)
    assert KEY not in "\n".join(lines)
    assert KEY not in json.dumps(found.to_json(), default=repr)
    assert any("•••" in line for line in lines)


async def test_a_dry_run_that_tried_to_send_would_be_a_defect() -> None:
    with pytest.raises(Fault, match="sends nothing") as caught:
        await Unsent().send(Request("GET", "https://demo.example.org/"))

    assert caught.value.kind == "internal"


def test_a_call_that_would_be_refused_is_refused_in_a_dry_run_too(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path))

    with pytest.raises(Fault) as caught:
        explain(executor, "demo_find", {"query": "a", "num_results": "many"})

    assert caught.value.kind == "validation"
