"""Processes of our own that read what anybody may have sent: what they know of us, how much they may take, their end.

`run` is for one task, and its process ends with it; `start` is for a process that lives longer, whose end is with its
caller. The module that such a process runs calls `restrict` before it reads.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from .dataclasses import dataclass

if TYPE_CHECKING:
    from asyncio.subprocess import Process


_PASSED_ON: Final = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR",
)  # fmt: skip
"""What an interpreter needs to start and to find its packages. The language is not among it: all text is UTF-8."""
_ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Such a process has one thing to do at a time; threads of a numerical library would only hold memory."""
MOST_OUTPUT: Final = 64 * 1024 * 1024
"""Bytes that are read of what a process writes for one task: its whole output, or a line of it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a process wrote until its end, and how it ended."""

    output: bytes
    """Nothing of a process that was late, or that wrote more than `MOST_OUTPUT`."""
    code: int
    """Its exit status; a signal that ended it as a negative number."""
    is_late: bool
    """Whether it was ended because its time was over."""

    @property
    def how(self) -> str:
        """`status 1` or `signal 9`."""
        return f"signal {-self.code}" if self.code < 0 else f"status {self.code}"


async def run(module: str, given: bytes, *, seconds: float) -> Ended:
    """Run `python -m MODULE` once with these bytes as its input, for so many seconds, its start included.

    The process has ended when this returns or raises, also when the call is cancelled. `OSError` when it cannot be
    started.
    """
    import asyncio

    process = await start(module)
    output, is_late = b"", False
    try:
        async with asyncio.timeout(seconds):
            output = await _exchange(process, given)
    except TimeoutError:
        is_late = True
    finally:
        code = await end(process)
    return Ended(output, code, is_late)


async def _exchange(process: Process, given: bytes) -> bytes:
    import asyncio

    source, target = process.stdin, process.stdout
    assert source is not None
    assert target is not None

    async def feed() -> None:
        # A process that has enough before the end closes its input.
        with suppress(ConnectionError):
            source.write(given)
            await source.drain()
        source.close()

    feeding = asyncio.create_task(feed())
    try:
        parts = []
        room = MOST_OUTPUT
        while part := await target.read(room + 1):
            parts.append(part)
            room -= len(part)
            if room < 0:
                # Whoever took the reader over with its file could go on until there is no memory left here.
                return b""
        await process.wait()
    finally:
        feeding.cancel()
    return b"".join(parts)


async def start(module: str, *arguments: str) -> Process:
    """A process that runs `python -m MODULE ARGUMENT …`, its input and output as pipes.

    It takes no module from the folder that the server was started in, and says nothing on the server's standard error.
    `OSError` when it cannot be started.
    """
    from asyncio.subprocess import DEVNULL, PIPE, create_subprocess_exec

    # No variable that could be a secret.
    environ = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return await create_subprocess_exec(
        sys.executable, "-P", "-m", module, *arguments,
        stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environ | _ONE_THREAD, limit=MOST_OUTPUT,
    )  # fmt: skip


async def end(process: Process) -> int:
    """Kill the process if it still runs, and give the code that it ended with: see `Ended`."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
    return await process.wait()


def restrict(memory: int, seconds: int | None) -> None:
    """Give this process no more bytes of address space and seconds of processor time, and no files to write.

    `None` seconds for a process that lives long. A lower bound that it has already stays. Nothing where the system
    cannot: then the time limit of the parent remains.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    bounds = [(resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)]
    if seconds is not None:
        bounds.append((resource.RLIMIT_CPU, seconds))
    for kind, most in bounds:
        # A system may refuse one of them, and has the others.
        with suppress(ValueError, OSError):
            soft, hard = (most if now == resource.RLIM_INFINITY else min(now, most) for now in resource.getrlimit(kind))
            resource.setrlimit(kind, (soft, hard))
