"""While specs are written: `specloom dev` as a host starts it, and `specloom check --watch` in a terminal."""

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

from tests.support.demo_specs import CAPABILITY, PROVIDER, TEXTS, TOOL, write_demo
from tests.support.hosted import PATIENCE, Hosted
from tests.support.loopback import Call, Loopback, Reply
from tests.support.server_process import call, initialize, notification, request

pytestmark = pytest.mark.process
CHANGED = "notifications/tools/list_changed"
LISTEN = {"notifications": {"toolsListChanged": True}}


def replace(path: Path, text: str) -> None:
    """Write a file as editors do, so that nobody who is quick reads half of it."""
    half = path.parents[2] / "half written"
    half.write_text(text, encoding="utf-8")
    half.replace(path)


class Author(Hosted):
    """Somebody who writes specs in a folder, and the client of a server that serves them."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder / "specs"
        write_demo(self.folder)
        command = [sys.executable, "-m", "specloom", "dev", "--tools", "demo_find"]
        super().__init__(command, folder, SPECLOOM_PATH=str(self.folder), DEMO_KEY="k", **environ)

    def write(self, name: str, old: str, new: str) -> None:
        """Put `new` in the place of `old` in a file."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        replace(path, text.replace(old, new))

    def find(self, number: int, *, modern: bool = False) -> dict[str, Any]:
        """The tool as it is listed."""
        tools = self.ask(request(number, "tools/list", modern=modern))["tools"]
        return next(one for one in tools if one["name"] == "demo_find")


@pytest.fixture
def upstream() -> Iterator[Loopback]:
    def answer(asked: Call) -> Reply:
        body = json.dumps({"results": [{"title": dict(asked.query)["q"], "link": "https://example.org/a"}]})
        return 200, {"Content-Type": "application/json"}, body

    with Loopback(answer) as loopback:
        yield loopback


def title_of(text: str) -> str:
    return next(line for line in TEXTS[text].splitlines() if line.startswith("title:"))


def test_a_changed_tool_is_listed_then_called_without_a_restart(tmp_path: Path, upstream: Loopback) -> None:
    with Author(tmp_path, DEMO_URL=upstream.url) as author:
        hello = author.ask(initialize(1))
        author.send(notification("notifications/initialized"))
        assert hello["capabilities"]["tools"] == {"listChanged": True}
        before = author.ask(call(2, "demo_find", {"query": "otters"}))
        author.write(TOOL, title_of(TOOL), "title: Found otherwise")
        author.wait_for(CHANGED)

        assert author.find(3)["title"] == "Found otherwise"
        after = author.ask(call(4, "demo_find", {"query": "otters"}))
        assert not after.get("isError")
        assert before["structuredContent"] == after["structuredContent"]
        assert "compiled anew: changed: demo_find" in author.stderr()


def test_a_change_of_what_a_provider_sends_is_used_by_the_next_call(tmp_path: Path, upstream: Loopback) -> None:
    with Author(tmp_path, DEMO_URL=upstream.url) as author:
        author.ask(initialize(1))
        author.ask(call(2, "demo_find", {"query": "otters"}))
        author.write(PROVIDER, "get: /search\n", "get: /find\n")
        while "compiled anew" not in author.stderr():
            author.ask(request(3, "ping"))
        author.ask(call(4, "demo_find", {"query": "minks"}))

        assert [one.path.partition("?")[0] for one in upstream.calls] == ["/search", "/find"]
        assert "the list of tools is as before" in author.stderr()


def test_an_error_leaves_what_was_served_until_it_is_mended(tmp_path: Path, upstream: Loopback) -> None:
    with Author(tmp_path, DEMO_URL=upstream.url) as author:
        author.ask(initialize(1))
        before = author.find(2)
        author.write(TOOL, title_of(TOOL), "titel: Found otherwise")
        while "is served until this is mended" not in author.stderr():
            author.ask(request(3, "ping"))
        assert author.find(4) == before
        assert "demo_find.yaml" in author.stderr()

        author.write(TOOL, "titel: Found otherwise", "title: Mended")
        author.wait_for(CHANGED)
        assert author.find(5)["title"] == "Mended"


def test_a_tool_that_breaks_right_after_the_start_is_served_as_it_was(tmp_path: Path, upstream: Loopback) -> None:
    with Author(tmp_path, DEMO_URL=upstream.url) as author:
        author.ask(initialize(1))
        author.write(TOOL, title_of(TOOL), "titel: Found otherwise")

        answer = author.ask(call(2, "demo_find", {"query": "otters"}))

        assert not answer.get("isError"), answer


def test_a_modern_client_hears_of_it_on_its_subscription(tmp_path: Path) -> None:
    with Author(tmp_path, DEMO_URL="http://127.0.0.1:9") as author:
        author.send(request(1, "subscriptions/listen", LISTEN, modern=True))
        acknowledged = author.wait_for("notifications/subscriptions/acknowledged")
        assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}
        listed = author.ask(request(2, "tools/list", modern=True))
        assert listed["ttlMs"] == 0
        author.write(CAPABILITY, "description: How many.}", "description: How many rows.}")
        author.write(TOOL, title_of(TOOL), "title: Found otherwise")
        author.wait_for(CHANGED)
        # Who is quick compiles between the two changes, and tells of each.
        while author.find(3, modern=True)["title"] != "Found otherwise":
            author.wait_for(CHANGED)


def test_a_watching_check_judges_again_after_each_change(tmp_path: Path) -> None:
    write_demo(tmp_path / "specs")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "SPECLOOM_"))}
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "specloom", "check", "--watch", "specs"],
        cwd=tmp_path,
        env={**kept, "HOME": str(tmp_path), "SPECLOOM_PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        alarm = threading.Timer(PATIENCE, process.kill)
        alarm.start()
        first = read_verdict(process)
        tool = tmp_path / "specs" / TOOL
        replace(tool, TEXTS[TOOL].replace("title:", "titel:", 1))
        second = read_verdict(process)
        replace(tool, TEXTS[TOOL])
        third = read_verdict(process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        alarm.cancel()

    assert "0 errors" in first
    assert "titel" in second
    assert "0 errors" in third
    assert process.returncode == 130


def read_verdict(process: subprocess.Popen[str]) -> str:
    """What is said until it watches again."""
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or "watching for changes" not in lines[-1]:
        lines.append(process.stdout.readline())
        assert lines[-1], lines
    return "".join(lines)
