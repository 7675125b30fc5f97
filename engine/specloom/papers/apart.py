"""A bundle of sources read in a process of its own, which can be ended: it may come from anybody.

The process has a limit of time and memory, may write no file, and knows no variable of the environment that could be a
secret. It costs the start of an interpreter, about a tenth of a second.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from typing import Any, Final

from .codes import Refusal
from .tex import assemble
from .unpacking import BundleError, read_bundle

SECONDS: Final = 20.0
"""Time for one bundle, the start of the process included."""
MEMORY: Final = 1024**3
"""Bytes of address space that the process may have."""

_PASSED_ON: Final = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR",
)  # fmt: skip
"""What an interpreter needs to start and to find its packages."""


async def read_source(bundle: bytes, *, apart: bool) -> tuple[str, str]:
    """The name of a bundle's main TeX file, and its text with the files that it takes in.

    TEXT_UNAVAILABLE where there is none, and where it would take more than it may. Without `apart` it is read here.
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
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "specloom.papers.apart",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
    )  # fmt: skip
    try:
        async with asyncio.timeout(SECONDS):
            answer, _ = await process.communicate(bundle)
        said: dict[str, Any] = json.loads(answer)
    except (TimeoutError, ValueError):
        return {"problem": "the bundle needs more time or memory than it may take"}
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return said


def restrict() -> None:
    """Give this process no more memory and time than a bundle may take, and no files; what the system has of that."""
    try:
        import resource
    except ImportError:  # Windows; the time limit of the parent remains
        return
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, int(SECONDS)),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        # A system may refuse one of them, and has the others.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    restrict()
    sys.stdout.buffer.write(json.dumps(tell(sys.stdin.buffer.read())).encode())
    sys.stdout.flush()
