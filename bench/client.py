"""A client over stdio that costs as little as possible, so that what is measured is the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHUNK = 1 << 16
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def frame(number: int, method: str, params: Mapping[str, Any] | None = None) -> bytes:
    """One request as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}).encode() + b"\n"


def call(number: int, name: str, arguments: Mapping[str, Any]) -> bytes:
    """One call of a tool as a line."""
    return frame(number, "tools/call", {"name": name, "arguments": arguments})


class Client:
    """A server as a child process. Leaving the context closes its input and waits for its end."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the context ends
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=self._errors, env=dict(environ), bufsize=0
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in = self.process.stdin.fileno()
        self._out = self.process.stdout.fileno()
        self._lines: list[bytes] = []
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None  # so that communicate only reads
        try:
            self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        self._errors.close()

    def send(self, line: bytes) -> None:
        """Write one line."""
        os.write(self._in, line)

    def receive(self) -> bytes:
        """The next line; what the server said on stderr if it has left."""
        while not self._lines:
            chunk = os.read(self._out, CHUNK)
            if not chunk:
                self._errors.seek(0)
                said = self._errors.read().decode("utf-8", "replace").strip()
                raise SystemExit(f"bench: {' '.join(map(str, self.process.args))} has left: {said[-2000:]}")
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            self._lines = whole[::-1]
        return self._lines.pop()

    def ask(self, line: bytes) -> bytes:
        """Write a request and return its answer, with nothing else in flight; notifications are passed over."""
        self.send(line)
        while b'"method":' in (answer := self.receive())[:60]:
            pass
        return answer

    def answer(self, number: int) -> bytes:
        """The answer of the request with this number; what comes before it is passed over."""
        said = b'"id":%d,' % number
        while said not in (line := self.receive()).replace(b" ", b"")[:80]:
            pass
        return line

    def shake(self) -> None:
        """The handshake."""
        self.ask(frame(0, "initialize", HELLO))
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def list_tools(self) -> float:
        """The handshake and the list of tools; milliseconds since the process was started."""
        self.shake()
        answer = self.ask(frame(1, "tools/list"))
        taken = (time.perf_counter() - self.began) * 1000
        assert b'"tools":[' in answer.replace(b" ", b""), answer[:200]
        return taken

    def cpu(self) -> float | None:
        """Seconds of processor time so far, of all threads; None where the system has no clock of another process."""
        try:
            # The clock that clock_getcpuclockid(3) gives on Linux, which Python does not wrap.
            return time.clock_gettime(~self.process.pid << 3 | 2) if sys.platform == "linux" else None
        except OSError:
            return None

    def memory(self) -> dict[str, float]:
        """Resident and proportional megabytes; nothing where there is no /proc."""
        found = {}
        for name, file, key in (("RSS", "status", "VmRSS:"), ("PSS", "smaps_rollup", "Pss:")):
            try:
                lines = Path(f"/proc/{self.process.pid}/{file}").read_text(encoding="ascii").splitlines()
            except OSError:
                continue
            found.update((name, int(line.split()[1]) / 1024) for line in lines if line.startswith(key))
        return found

    def weight(self) -> float:
        """Resident megabytes of the server, and what those that it has started have of their own; 0 without /proc.

        What they share, such as the pages of the interpreter's library, is in memory once and counts once.
        """
        server = self.process.pid
        return resident(server) + sum(private(pid) for pid in descendants(server))


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have, where there is /proc."""
    try:
        listed = [path.read_text(encoding="ascii") for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    below = sorted(int(word) for line in listed for word in line.split())
    return [*below, *(further for child in below for further in descendants(child))]


def resident(pid: int) -> float:
    """Resident megabytes of a process; 0 where it cannot be told."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def private(pid: int) -> float:
    """Resident megabytes of a process that no other one has; all of them where that cannot be told."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return resident(pid)
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("Private_"))
