"""From an empty home to a first answer in two commands: `python scripts/first_answer.py [--offline]`.

The wheel of this checkout is installed into a fresh environment of this Python, writes itself into the file of a host,
and is then started and asked as that file says. What it searches is a small engine on this machine, so that the seconds
are ours alone. `--offline` takes what is installed here in the place of what an index would give.
"""

from __future__ import annotations

import argparse
import http.server
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HOST, FILE = "cursor", ".cursor/mcp.json"
"""The host, and its file in a home, which is at the same place on every system."""
PATIENCE = 300
BOUND = 60.0
"""Seconds that a newcomer waits at most, the way of the package over their network left aside."""
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "first-answer", "version": "1"}}
ROW = {"title": "Sea otter", "url": "https://example.org/sea-otter", "content": "The smallest marine mammal."}
_GIVEN = ("SYSTEMROOT", "TEMP", "TMP", "PIP_INDEX_URL", "PIP_CERT", "PIP_CONFIG_FILE", "SSL_CERT_FILE", "HTTPS_PROXY")


class FirstAnswerError(Exception):
    """What did not go as it should, in a sentence."""


@dataclass(frozen=True)
class FirstAnswer:
    """What a newcomer waited for, each in seconds, and what came of it."""

    waits: dict[str, float]
    answer: dict[str, Any]
    program: Path
    environ: dict[str, str]


def build_wheel(folder: Path) -> Path:
    """The wheel of this checkout."""
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], ROOT, os.environ)
    (wheel,) = folder.glob("*.whl")
    return wheel


def reach_first_answer(wheel: Path, home: Path, *, offline: bool) -> FirstAnswer:
    """Go the whole way in an empty home; FirstAnswerError where a step fails."""
    scripts = home / "env" / ("Scripts" if os.name == "nt" else "bin")
    environ = {name: os.environ[name] for name in _GIVEN if name in os.environ}
    environ |= {"HOME": str(home), "USERPROFILE": str(home), "PATH": f"{scripts}{os.pathsep}{os.defpath}"}
    venv.create(home / "env", with_pip=True, symlinks=os.name != "nt")
    suffix = ".exe" if os.name == "nt" else ""
    python, program = str(scripts / f"python{suffix}"), scripts / f"specloom{suffix}"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    if offline:
        _lend_installed(python, home, environ)
        install += ["--no-deps", "--no-index"]
    waits: dict[str, float] = {}
    with _search_engine() as address:
        with _timed(waits, "the package is installed"):
            _run(install, home, environ)
        with _timed(waits, f"it is written into {HOST}, then tried as that starts it"):
            settings = ("--set", f"SEARXNG_URL={address}", "--set", "SPECLOOM_ALLOW_PRIVATE=true")
            _run([str(program), "install", HOST, "--no-keys", *settings], home, environ)
        entry = json.loads((home / FILE).read_text(encoding="utf-8"))["mcpServers"]["specloom"]
        with _timed(waits, "the host starts it, asks, and has an answer"):
            answer = _ask([entry["command"], *entry["args"]], home, {**environ, **entry["env"]})
    return FirstAnswer(waits, answer, program, environ)


def _ask(command: list[str], home: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """The answer to a search, by the messages that a host sends."""
    question = {"name": "web_search", "arguments": {"query": "sea otters", "provider": "searxng"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": question},
    ]
    with subprocess.Popen(  # noqa: S603 - the command that was just installed
        command, cwd=home, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        alarm = threading.Timer(PATIENCE, server.kill)
        alarm.start()
        try:
            server.stdin.write("".join(json.dumps(one) + "\n" for one in messages))
            server.stdin.flush()
            for line in server.stdout:
                message = json.loads(line)
                if message.get("id") == 3:
                    result: dict[str, Any] = message.get("result") or message
                    return result
        finally:
            server.stdin.close()
            server.wait(PATIENCE)
            alarm.cancel()
    raise FirstAnswerError("the server left without an answer")


def _run(command: list[str], folder: Path, environ: Mapping[str, str]) -> None:
    done = subprocess.run(  # noqa: S603 - commands of this file
        command,
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode:
        said = (done.stdout + done.stderr)[-2000:]
        raise FirstAnswerError(f"{' '.join(command)} ended with {done.returncode}\n{said}")


def _lend_installed(python: str, home: Path, environ: Mapping[str, str]) -> None:
    """Let an environment import what is installed here, but for packages that are installed in place."""
    words = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    done = subprocess.run(words, cwd=home, env=environ, capture_output=True, encoding="utf-8", check=True)  # noqa: S603
    folders = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    text = "".join(f"{folder}\n" for folder in folders)
    Path(done.stdout.strip(), "zz_dependencies.pth").write_text(text, encoding="utf-8")


@contextmanager
def _timed(waits: dict[str, float], what: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    waits[what] = time.perf_counter() - began


@contextmanager
def _search_engine() -> Iterator[str]:
    """The address of a search engine that answers as SearXNG does."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"results": [ROW]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def main() -> int:
    """Go the way once and say how long it took; 1 where it failed or took too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--offline", action="store_true", help="install what is installed here, from no index")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="specloom-first-") as folder:
        home = Path(folder).resolve() / "home"
        home.mkdir()
        try:
            done = reach_first_answer(build_wheel(Path(folder)), home, offline=options.offline)
        except FirstAnswerError as error:
            sys.stdout.write(f"{error}\n")
            return 1
    whole = sum(done.waits.values())
    for what, seconds in {**done.waits, "all of it": whole}.items():
        sys.stdout.write(f"{seconds:6.1f} s  {what}\n")
    sys.stdout.write(f"\n{done.answer['content'][0]['text']}\n")
    return 0 if whole <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
