"""A sandboxed child process for files that anybody may have made: it can be ended, and keeps the event loop free.

It has a limit of time and memory, may write no file, and knows no variable of the environment that could be a secret.
It costs the start of an interpreter, about a tenth of a second. What it is to do comes in as a line of JSON with the
bytes behind it; a line of JSON goes out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from typing import Any, Final

from specloom.core import KINDS, Fault, restrict, run

from .document import Document, Limits
from .read import read_json

# Starting up counts too, and so does a page that is being read when the time is over.
_GRACE: Final = 10.0


async def read_apart(body: bytes, content_type: str, url: str, *, limits: Limits = Limits()) -> Document:  # noqa: B008 - frozen
    """What `documents.read.read` gives, and the same faults, from a process that is ended when it is late.

    Fault `too_large` when the process ran out of time or memory or was brought down.
    """
    arguments = content_type, url, asdict(limits)
    seconds, memory = limits.seconds, limits.memory
    answer = await call(read_json, body, *arguments, what="document", seconds=seconds, grace=_GRACE, memory=memory)
    return Document(**{**answer, "authors": tuple(answer["authors"])})


async def call(
    task: Callable[..., Any], body: bytes, *arguments: Any, what: str, seconds: float, grace: float = 0.0, memory: int
) -> Any:
    """What a function of a module makes of some bytes and arguments of JSON, and the same faults.

    Fault `too_large` when it ran out of time or memory, `internal` when no process can be started. The process ends
    with this call, also when that is cancelled.
    """
    head = {"task": [task.__module__, task.__name__], "arguments": arguments, "memory": memory, "seconds": seconds}
    try:
        ended = await run(__name__, json.dumps(head).encode() + b"\n" + body, seconds=seconds + grace)
    except OSError as error:
        raise Fault("internal", f"No process could be started to read the {what}: {error.strerror}.") from None
    if ended.is_late:
        raise Fault("too_large", f"The {what} could not be read within {seconds:g} seconds.")
    try:
        answer: dict[str, Any] = json.loads(ended.output)
    except ValueError:
        sentence = "the file is damaged, or needs more than it may use"
        raise Fault("too_large", f"The reader of the {what} ended early ({ended.how}): {sentence}.") from None
    if fault := answer.get("fault"):
        kind = fault["kind"] if fault["kind"] in KINDS else "internal"
        raise Fault(kind, fault["message"], action=fault["action"])
    return answer["value"]


def main() -> None:
    """Read standard input, write what the task gives or its fault to standard output."""
    head: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    restrict(head["memory"], int(head["seconds"]) + 5)
    module, name = head["task"]
    try:
        task = getattr(import_module(module), name)
        answer = {"value": task(sys.stdin.buffer.read(), *head["arguments"])}
    except Fault as fault:
        answer = {"fault": {"kind": fault.kind, "message": fault.message, "action": fault.action}}
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.flush()


if __name__ == "__main__":
    main()
