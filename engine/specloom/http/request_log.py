"""A line of JSON for each request, on stderr: who, what and how long, and nothing of what was asked."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from specloom.core import from_epoch, make_own_folder, read_variable, state_folder
from specloom.plugins import split_owner
from specloom.storage import load_master_keys

if TYPE_CHECKING:
    from .app import HttpRequest

MOST_WAITING = 10_000
"""Lines that wait for a slow reader of stderr; more are left out, and their number is told."""
METHODS = frozenset(
    {
        "initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
        "resources/templates/list", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
        "notifications/initialized", "notifications/cancelled", "subscriptions/listen",
    }
)  # fmt: skip
"""Methods that are written as they are; of others, that there was one."""


def wants_log(environ: Mapping[str, str]) -> bool:
    """Whether the environment asks for a line a request; raises `VariableError` where that is not understood."""
    return read_variable("LOG_FORMAT", environ) == "json"


def make_log(environ: Mapping[str, str]) -> RequestLog | None:
    """The log that the environment asks for, if it does."""
    if not wants_log(environ):
        return None
    folder = state_folder(environ)
    make_own_folder(folder, environ)
    # A tag tells the lines of one user, and nobody without the key of the state can find out whose they are.
    master = load_master_keys(Path(folder), environ).current
    return RequestLog(_write, hmac.digest(master, b"specloom request log: users", "sha256"))


def _write(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()


class RequestLog:
    """Writes lines from a thread of its own, so that no request waits for who reads them."""

    def __init__(self, write: Callable[[str], object], key: bytes, *, clock: Callable[[], float] = time.time) -> None:
        self.dropped = 0
        self._write = write
        self._key = key
        self._clock = clock
        self._worker = os.getpid()
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="specloom-requests", daemon=True)
        self._thread.start()

    def add(self, request: HttpRequest, route: str) -> None:
        """The line of a request that has ended."""
        if self._lines.qsize() >= MOST_WAITING:
            self.dropped += 1
            return
        method = request.message.get("method")
        line: dict[str, object] = {
            "time": from_epoch(self._clock()),
            "request": request.id,
            "worker": self._worker,
            "route": route,
            "status": request.status,
            "ms": round((time.perf_counter() - request.began) * 1000, 2),
        }
        if request.caller is not None:
            tenant, user = split_owner(request.caller.owner)
            line |= {"tenant": tenant, "user": self._tag(user)}
        if isinstance(method, str):
            line["method"] = method if method in METHODS else "other"
        tool = request.tool
        if tool:
            line["tool"] = tool
        if self.dropped:
            line["dropped"], self.dropped = self.dropped, 0
        self._lines.put(json.dumps(line) + "\n")

    def _tag(self, user: str) -> str:
        return hashlib.blake2b(user.encode("utf-8", "surrogatepass"), key=self._key, digest_size=6).hexdigest()

    def close(self) -> None:
        """Write what is waiting."""
        self._lines.put(None)
        self._thread.join(2.0)

    def _work(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                self._write(line)
            except (OSError, ValueError):  # nobody reads it
                self.dropped += 1
