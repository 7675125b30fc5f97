"""The process that reads one document: a line of JSON and the bytes come in, a line of JSON goes out."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from specloom.core import Fault, restrict

from .document import Limits
from .read import read


def main() -> None:
    """Read standard input, write the document or the fault to standard output."""
    head: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    limits = Limits(**head["limits"])
    restrict(limits.memory, int(limits.seconds) + 5)
    body = sys.stdin.buffer.read()
    try:
        answer = {"document": asdict(read(body, head["content_type"], head["url"], limits=limits))}
    except Fault as fault:
        answer = {"fault": {"kind": fault.kind, "message": fault.message, "action": fault.action}}
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.flush()


if __name__ == "__main__":
    main()
