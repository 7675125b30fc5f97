"""The process that reads one document: a line of JSON and the bytes come in, a line of JSON goes out."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from specloom.faults import Fault
from specloom.scrape.documents import Limits, read


def main() -> None:
    """Read standard input, write the document or the fault to standard output."""
    head: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    limits = Limits(**head["limits"])
    restrict(limits)
    body = sys.stdin.buffer.read()
    try:
        answer = {"document": asdict(read(body, head["content_type"], head["url"], limits=limits))}
    except Fault as fault:
        answer = {"fault": {"kind": fault.kind, "message": fault.message, "action": fault.action}}
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.flush()


def restrict(limits: Limits) -> None:
    """Give this process no more than the limits allow: memory, time, and no files. Nothing where the system cannot."""
    try:
        import resource
    except ImportError:  # Windows; the time limit of the parent remains
        return
    seconds = int(limits.seconds) + 5
    for kind, most in (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        # A system may refuse one of them, and has the others.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main()
