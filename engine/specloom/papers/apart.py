"""A bundle of sources read in a process of its own, which can be ended: it may come from anybody.

The process has a limit of time and memory, may write no file, and knows no variable of the environment that could be a
secret. It costs the start of an interpreter, about a tenth of a second.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from specloom.isolation import restrict, run

from .codes import Refusal
from .tex import assemble
from .unpacking import BundleError, read_bundle

SECONDS: Final = 20.0
"""Time for one bundle, the start of the process included."""
MEMORY: Final = 1024**3
"""Bytes of address space that the process may have."""


async def read_source(bundle: bytes, *, apart: bool) -> tuple[str, str]:
    """The name of a bundle's main TeX file, and its text with the files that it takes in.

    TEXT_UNAVAILABLE where there is none, and where it would take more than it may; INTERNAL_ERROR where no process can
    be started to read it. Without `apart` it is read here.
    """
    said = await _ask(bundle) if apart else tell(bundle)
    if "problem" in said:
        raise Refusal("TEXT_UNAVAILABLE", f"There is no TeX source: {said['problem']}.")
    return said["main"], said["text"]


def tell(bundle: bytes) -> dict[str, Any]:
    """`main` and `text` of a bundle, or its `problem`."""
    try:
        main, text = assemble(read_bundle(bundle))
    except BundleError as error:
        return {"problem": str(error)}
    except (MemoryError, RecursionError):
        return {"problem": "the bundle needs more memory than it may take"}
    return {"main": main, "text": text}


async def _ask(bundle: bytes) -> dict[str, Any]:
    try:
        ended = await run("specloom.papers.apart", bundle, seconds=SECONDS)
    except OSError as error:
        raise Refusal("INTERNAL_ERROR", f"No process could be started to read the source: {error.strerror}.") from None
    try:
        said: dict[str, Any] = json.loads(ended.output)
    except ValueError:
        return {"problem": "the bundle needs more time or memory than it may take"}
    return said


if __name__ == "__main__":
    restrict(MEMORY, int(SECONDS))
    sys.stdout.buffer.write(json.dumps(tell(sys.stdin.buffer.read())).encode())
    sys.stdout.flush()
