"""A sandboxed child process for texts and files that anybody may have made: it can be ended, and frees the event loop.

It has a limit of time and memory, may write no file, and knows no variable of the environment that could be a secret.
It costs the start of an interpreter, about a tenth of a second. What it is to do comes in as a line of JSON with the
bytes behind it; a line of JSON goes out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .faults import KINDS, Fault
from .process import restrict, run


class EndedFault(Fault):
    """The process ended before it told anything of what it read, which may lie with the moment: `too_large`."""


async def run_apart(
    task: Callable[..., Any], body: bytes, *arguments: Any, what: str, seconds: float, grace: float = 0.0, memory: int
) -> Any:
    """What a function of a module makes of some bytes and arguments of JSON, and the same faults.

    EndedFault when it was late or ended early, fault `internal` when no process can be started. The process ends with
    this call, also when that is cancelled.
    """
    head = {"task": [task.__module__, task.__name__], "arguments": arguments, "memory": memory, "seconds": seconds}
    try:
        ended = await run(__name__, json.dumps(head).encode() + b"\n" + body, seconds=seconds + grace)
    except OSError as error:
        raise Fault("internal", f"No process could be started to read the {what}: {error.strerror}.") from None
    if ended.is_late:
        raise EndedFault("too_large", f"The {what} could not be read within {seconds:g} seconds.", late=True)
    try:
        reply: dict[str, Any] = json.loads(ended.output)
    except ValueError:
        sentence = "the file is damaged, or needs more than it may use"
        raise EndedFault("too_large", f"The reader of the {what} ended early ({ended.how}): {sentence}.") from None
    if fault := reply.get("fault"):
        kind = fault["kind"] if fault["kind"] in KINDS else "internal"
        raise Fault(kind, fault["message"], action=fault["action"])
    return reply["value"]


def main() -> None:
    """Read standard input, write what the task gives or its fault to standard output."""
    head: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    restrict(head["memory"], int(head["seconds"]) + 5)
    module, name = head["task"]
    try:
        task = getattr(import_module(module), name)
        reply = {"value": task(sys.stdin.buffer.read(), *head["arguments"])}
    except Fault as fault:
        reply = {"fault": {"kind": fault.kind, "message": fault.message, "action": fault.action}}
    sys.stdout.buffer.write(json.dumps(reply).encode())
    sys.stdout.flush()


if __name__ == "__main__":
    main()
