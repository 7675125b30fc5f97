"""The product as a host runs it: `specloom serve` in a home of its own, asked many things at once over its pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self

from tests.support.server_process import call, initialize, notification, request

PATIENCE = 120.0
"""Seconds for an answer; the longest deadline of a shipped tool is a fraction of it."""
ROOT = Path(__file__).parents[2]


class Served:
    """A running server; leaving the context ends it. `command` is put before its own, to start it under a limit."""

    def __init__(
        self,
        home: Path,
        environ: Mapping[str, str] | None = None,
        *,
        command: tuple[str, ...] = (),
        umask: int = -1,
    ) -> None:
        self.home = home
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the context ends
        base = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "SPECLOOM_"))}
        self.process = subprocess.Popen(
            [*command, sys.executable, "-m", "specloom", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=home,
            umask=umask,
            env={**base, "HOME": str(home), "SPECLOOM_TOOLSETS": "all", "STDIO_USER_ID": "ann", **(environ or {})},
        )
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._number = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.hello = self.ask(initialize(0))
        self._send(notification("notifications/initialized"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._errors.close()

    def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a call."""
        answer = self.begin(name, arguments).result(PATIENCE)
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def begin(self, name: str, arguments: Mapping[str, Any]) -> Future[dict[str, Any]]:
        """A call that is under way; its future fails with EOFError when the server goes before it answers."""
        with self._lock:
            self._number += 1
            number = self._number
        return self._begin(call(number, name, dict(arguments)))

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        return self._begin(message).result(PATIENCE)

    def tools(self) -> dict[str, dict[str, Any]]:
        """The listed tools by name."""
        with self._lock:
            self._number += 1
            number = self._number
        listed = self.ask(request(number, "tools/list"))["result"]["tools"]
        return {tool["name"]: tool for tool in listed}

    def finish(self, seconds: float = 20.0) -> int:
        """Close its input and wait until it has left; its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(seconds)

    def kill(self) -> None:
        """SIGKILL; what was not answered never will be."""
        self.process.kill()
        self.process.wait()
        self._reader.join(10)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue  # a message that was not whole when its reader was killed

    def stderr(self) -> str:
        """Everything that it has said to the operator."""
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")

    def rss(self) -> int:
        """KiB of memory that it holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))

    def descriptors(self) -> int:
        """How many descriptors it has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def _begin(self, message: Mapping[str, Any]) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        self._waiting[message["id"]] = future
        try:
            self._send(message)
        except (OSError, ValueError):
            self._waiting.pop(message["id"], None)
            future.set_exception(EOFError(f"the server has left: {self.stderr()[-2000:]}"))
        if not self._reader.is_alive():
            self._end()
        return future

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        with self._lock:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.endswith(b"\n"):
                break  # it was killed while it wrote this
            message = json.loads(line)
            future = self._waiting.pop(message.get("id"), None)
            if future is not None and "method" not in message:
                future.set_result(message)
        self._end()

    def _end(self) -> None:
        while self._waiting:
            try:
                _, future = self._waiting.popitem()
            except KeyError:
                return
            future.set_exception(EOFError("the server has left"))


class RefusedError(AssertionError):
    """A call was answered by a fault."""


def content(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a call answered; RefusedError where it is a fault."""
    if result.get("isError"):
        raise RefusedError(result["content"][0]["text"])
    answered: dict[str, Any] = result["structuredContent"]
    return answered


STEP = {"searchStep": "Read what zoos feed", "stepNumber": 1, "nextStepNeeded": True, "researchGoal": "otter diet"}
"""The arguments that begin a session."""


def use_every_store(server: Served, mark: str = "a") -> dict[str, str]:
    """One call at least for each store, over `tests.support.upstream.web`; the session and the artifact's address."""
    session = content(server.call("sequential_search", STEP))["sessionId"]
    content(server.call("web_search", {"query": f"otters {mark}", "sessionId": session}))
    content(server.call("memory_save", {"note": f"Otters eat fish, said {mark}.", "topic": mark}))
    content(server.call("monitor_query_save", {"query": f"otters {mark}"}))
    paper = content(server.call("doiget_fetch_paper", {"ref": f"10.1234/otters-{mark}"}))
    assert paper.get("pdf") == {"status": "fetched"}, paper
    raw = server.call("scrape_page", {"url": f"https://otters.example/large-{mark}", "mode": "raw"})
    link = next((part["uri"] for part in raw["content"] if part["type"] == "resource_link"), "")
    return {"session": session, "artifact": link}
