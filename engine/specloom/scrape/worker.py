"""A process that makes pages of what was fetched, one at a time: frames on standard input, frames on standard output.

A frame is a line of JSON, which tells how many bytes follow, and these bytes. The process ends with its input, and with
the process that started it even in the middle of a task.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any, BinaryIO

from specloom.faults import Fault
from specloom.garbage import collect_seldom
from specloom.isolation import restrict

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
    while (frame := read_frame(source)) is not None:
        said, body = frame
        write_frame(target, _answer(said, body), b"")
    return 0


def _answer(said: dict[str, Any], body: bytes) -> dict[str, Any]:
    from .pages import from_fault, make_page

    try:
        page, frames = make_page(body, said)
    except Fault as fault:
        return {"fault": from_fault(fault)}
    except (MemoryError, RecursionError) as error:
        return {"fault": from_fault(Fault("too_large", f"The page needs more memory than it may take ({error!r})."))}
    except Exception as error:  # noqa: BLE001 - a defect of one page must not end the process that others wait for
        return {"fault": from_fault(Fault("internal", f"The page could not be read because of a defect: {error!r}"))}
    return {"page": page.to_json(), "frames": list(frames)}


def read_frame(source: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next frame, or None where the input has ended."""
    line = source.readline()
    if not line.endswith(b"\n"):
        return None
    said: dict[str, Any] = json.loads(line)
    body = source.read(said["bytes"])
    return (said, body) if len(body) == said["bytes"] else None


def to_frame(said: dict[str, Any], body: bytes) -> bytes:
    """A frame as it travels."""
    return json.dumps({**said, "bytes": len(body)}).encode() + b"\n" + body


def write_frame(target: BinaryIO, said: dict[str, Any], body: bytes) -> None:
    """Send a frame."""
    target.write(to_frame(said, body))
    target.flush()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())
