"""A server as a child process, spoken to line by line; a watchdog ends it if a test hangs."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

DEMO = Path(__file__).parent / "demo_server.py"
PATIENCE = 120.0

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
ENVELOPE = {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}}


def initialize(number: int = 0, version: str = "2025-11-25", capabilities: dict | None = None) -> dict[str, Any]:
    """The first request of a client with a handshake."""
    params = {
        "protocolVersion": version,
        "capabilities": capabilities or {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


def request(number: Any, method: str, params: dict | None = None, *, modern: bool = False) -> dict[str, Any]:
    """A request, with the envelope of the modern era if asked for."""
    params = dict(params or {})
    if modern:
        params["_meta"] = {**ENVELOPE, **params.get("_meta", {})}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number: Any, name: str, arguments: dict | None = None, *, modern: bool = False, **meta: Any) -> dict[str, Any]:
    """A call of a tool."""
    params: dict[str, Any] = {"name": name, "arguments": arguments or {}}
    if meta:
        params["_meta"] = meta
    return request(number, "tools/call", params, modern=modern)


def notification(method: str, params: dict | None = None) -> dict[str, Any]:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params or {}}


class Child:
    """A running demo server. Leaving the context ends it."""

    def __init__(self, *arguments: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the context ends
        self.process = subprocess.Popen(
            [sys.executable, str(DEMO), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._watchdog = threading.Timer(PATIENCE, self.process.kill)
        self._watchdog.start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            if stream is not None:
                stream.close()

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        """Write messages, or bytes as they are, in one go."""
        lines = [item if isinstance(item, bytes) else json.dumps(item).encode() + b"\n" for item in messages]
        self.process.stdin.write(b"".join(lines))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message; every line must be one."""
        line = self.process.stdout.readline()
        assert line, f"the server has left: {self.stderr()!r}"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; what comes before it is dropped."""
        self.send(message)
        while (answer := self.receive()).get("id") != message["id"] or "method" in answer:
            pass
        return answer

    def finish(self) -> list[dict[str, Any]]:
        """Close the input and return everything that still comes, until the process has ended with 0."""
        self.process.stdin.close()
        rest = [json.loads(line) for line in self.process.stdout]
        assert self.process.wait() == 0
        return rest

    def stderr(self) -> bytes:
        """Everything the process has printed on stderr."""
        self._errors.seek(0)
        return self._errors.read()
