"""A process that does one task after the other: frames on standard input, frames on standard output.

Its argument names the task as `MODULE:FUNCTION`: it takes the bytes of a frame and what is said about them, and gives
what is answered. A frame is a line of JSON, which tells how many bytes follow, and these bytes. The process ends with
its input, and with the process that started it even in the middle of a task.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
from typing import Any, BinaryIO, Protocol

from specloom.core import collect_seldom, restrict


class Task(Protocol):
    """A function of a module that makes an answer in JSON of bytes, and of what is said about them."""

    __module__: str
    __qualname__: str

    def __call__(self, body: bytes, fields: dict[str, Any], /) -> dict[str, Any]: ...


WATCH = 1.0
"""Seconds between two looks at whether the parent is still there."""
MOST_MEMORY = 4 * 1024**3
"""Bytes of address space beyond which a task fails instead of taking the machine with it."""


def main() -> int:
    """Answer frames until there are no more; the exit code."""
    source, target = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # A library that prints must not write into the answers.
    os.dup2(2, sys.stdout.fileno())
    restrict(MOST_MEMORY, None)
    collect_seldom()
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    module, _, function = sys.argv[1].partition(":")
    while (frame := read_frame(source)) is not None:
        fields, body = frame
        # The module of the task is loaded with the first frame.
        task: Task = getattr(importlib.import_module(module), function)
        write_frame(target, task(body, fields), b"")
    return 0


def to_name(task: Task) -> str:
    """How a worker is told of a task."""
    return f"{task.__module__}:{task.__qualname__}"


def read_frame(source: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next frame, or None where the input has ended."""
    line = source.readline()
    if not line.endswith(b"\n"):
        return None
    fields: dict[str, Any] = json.loads(line)
    body = source.read(fields["bytes"])
    return (fields, body) if len(body) == fields["bytes"] else None


def to_frame(fields: dict[str, Any], body: bytes) -> bytes:
    """A frame as it travels."""
    return json.dumps({**fields, "bytes": len(body)}).encode() + b"\n" + body


def write_frame(target: BinaryIO, fields: dict[str, Any], body: bytes) -> None:
    """Send a frame."""
    target.write(to_frame(fields, body))
    target.flush()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())
