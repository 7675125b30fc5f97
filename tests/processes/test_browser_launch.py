"""How the browser of readings starts, why it does not, and that nothing of it outlives the server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from specloom.domains.scrape.browser.browser import DEEPEST, find_reason, make_folder, remove_folder
from tests.support.browser import find_processes, is_running, needs_browser, page, tell, wait_until
from tests.support.loopback import Loopback
from tests.support.scrape_client import connected, refused, shelf_folder
from tests.support.scrape_context import HTML

APP = page("<div id=root></div>", "root.append('written by a script '.repeat(20))")
LOGS = """BrowserType.launch: Target page, context or browser has been closed
Browser logs:

<launching> /usr/bin/chromium --no-sandbox --headless
<launched> pid=7
"""


# Why it does not start


@pytest.mark.parametrize(
    ("logged", "reason"),
    [
        (
            "[pid=7][err] [7:7:1122/051252.6:ERROR:third_party/crashpad/x.cc:145] open /sys: No such file (2)\n"
            "[pid=7][err] [7:7:1122/051252.7:FATAL:chrome/x.cc:315] Socket path too long: /a/b.\n",
            "Socket path too long: /a/b.",
        ),
        (
            "[pid=7][err] /usr/bin/chromium: error while loading shared libraries: libnss3.so: cannot open\n",
            "error while loading shared libraries: libnss3.so: cannot open",
        ),
        (
            "[pid=7][err] [7:7:1122/051253.2:ERROR:content/x.cc:103] Running as root is not supported.\n",
            "Running as root is not supported.",
        ),
        ("", "BrowserType.launch: Target page, context or browser has been closed"),
    ],
)
def test_the_browsers_own_last_word_is_the_reason(logged: str, reason: str) -> None:
    assert find_reason(LOGS + logged) == reason


def test_a_failure_without_words_is_still_a_reason() -> None:
    assert find_reason("  ") == "it gives no reason"


@needs_browser
async def test_a_caller_is_told_why_the_browser_did_not_start(tmp_path: Path) -> None:
    chrome = tmp_path / "chrome"
    chrome.write_text(
        '#!/bin/sh\necho "$0: error while loading shared libraries: libotter.so: cannot open" >&2\nexit 127\n',
        encoding="utf-8",
    )
    chrome.chmod(0o755)
    with Loopback(lambda call: (200, HTML, "<div id=root></div><script src=/a.js></script>")) as server:
        async with connected(CHROME_PATH=str(chrome)) as client:
            sentence, block = await refused(client, "scrape_page", url=server.url)

    assert block["kind"] == "browser_unavailable"
    assert sentence.startswith("Scrape failed: Chrome unavailable.")
    assert "browser: chrome launch failed: error while loading shared libraries: libotter.so" in block["detail"]


# A folder for temporary files that lies too deep for Chromium's socket


def test_a_folder_of_its_own_is_made_only_where_the_usual_one_lies_too_deep(tmp_path: Path) -> None:
    deep = "/" + "d" * DEEPEST

    made = make_folder(deep, [str(tmp_path / "missing"), str(tmp_path)])

    assert make_folder(deep[:-1], [str(tmp_path)]) == ""
    assert Path(made).parent == tmp_path
    assert stat.S_IMODE(Path(made).stat().st_mode) == 0o700
    remove_folder(made)
    assert list(tmp_path.iterdir()) == []
    assert make_folder(deep, [str(tmp_path / "missing")]) == ""


def test_what_a_killed_process_left_goes_after_a_day_and_what_is_in_use_stays(tmp_path: Path) -> None:
    deep = "/" + "d" * DEEPEST
    left, used = (Path(make_folder(deep, [str(tmp_path)])) for _ in range(2))
    (left / "org.chromium").mkdir()
    (tmp_path / "others").mkdir()
    for folder in (left, tmp_path / "others"):
        os.utime(folder, (0, 0))

    made = make_folder(deep, [str(tmp_path)])

    assert {one.name for one in tmp_path.iterdir()} == {used.name, Path(made).name, "others"}


@pytest.fixture
def deep() -> Iterator[Path]:
    """A folder whose path is longer than that of a socket may be."""
    top = Path(tempfile.mkdtemp(prefix="deep-"))
    folder = top / ("d" * 60) / ("e" * 60)
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(top, ignore_errors=True)


class Server:
    """`specloom serve` in a process of its own, spoken to in lines."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "specloom", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ
            | {
                "SPECLOOM_PATH": str(shelf_folder()),
                "SPECLOOM_CACHE_DIR": str(folder),
                "SPECLOOM_ALLOW_PRIVATE": "true",
            }
            | environ,
        )
        self._number = 0
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.ask("initialize", about)
        self._write({"method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self._write({"id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            said = json.loads(line)
            if said.get("id") == self._number:
                return said["result"]
        raise AssertionError("the server ended")

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def render(self, url: str) -> dict[str, Any]:
        """The answer about a page that only the browser can read; a busy machine gets three tries to start one."""
        for attempt in range(3):
            asked = {"name": "scrape_page", "arguments": {"url": f"{url}/{attempt}"}}
            called = self.ask("tools/call", asked)
            if not called.get("isError"):
                break
        found: dict[str, Any] = called["structuredContent"]
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end("kill")

    def end(self, how: str) -> None:
        """End the server by closing its input, by a signal to end, or by killing it."""
        assert self.process.stdin is not None
        if how == "kill":
            self.process.kill()
        elif how == "term":
            self.process.send_signal(signal.SIGTERM)
        self.process.stdin.close()
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()


@needs_browser
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", ["close", "term", "kill"])
def test_no_browser_outlives_the_server_and_a_deep_folder_does_not_keep_it_from_starting(
    how: str, deep: Path, tmp_path: Path
) -> None:
    with Loopback(lambda call: (200, HTML, APP)) as loopback, Server(tmp_path, TMPDIR=str(deep)) as server:
        said = server.render(loopback.url)
        ours = find_processes(server.process.pid)
        # Other servers of this machine make such folders too.
        told = "".join(tell(one, "environ") for one in ours)
        folders = [one for one in Path(tempfile.gettempdir()).glob("specloom-chromium-*") if str(one) in told]
        server.end(how)

    assert (said["extractedBy"], "written by a script" in said["content"]) == ("browser", True)
    assert len(ours) > 2
    wait_until(lambda: not any(is_running(process) for process in ours))
    wait_until(lambda: not list(deep.glob("playwright_chromiumdev_profile-*")))
    assert len(folders) == 1
    if how == "kill":
        # Nobody was left to remove it; the next start does, once it is a day old.
        remove_folder(str(folders[0]))
    else:
        assert not folders[0].exists()


@needs_browser
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_sandbox_is_on_unless_root_starts_the_browser(tmp_path: Path) -> None:
    with Loopback(lambda call: (200, HTML, APP)) as loopback, Server(tmp_path) as server:
        server.render(loopback.url)
        lines = [tell(one, "cmdline") for one in find_processes(server.process.pid)]
        server.end("close")

    mains = [line for line in lines if "--remote-debugging-pipe" in line]
    assert mains
    assert all(("--no-sandbox" in line) == (os.geteuid() == 0) for line in mains)
