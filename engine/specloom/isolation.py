"""Processes of our own that read what anybody may have sent: what they know of us, and how much they may take."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

_PASSED_ON: Final = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR",
)  # fmt: skip
"""What an interpreter needs to start and to find its packages."""


def passed_on() -> dict[str, str]:
    """The environment of such a process: no variable that could be a secret."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def restrict(memory: int, seconds: int) -> None:
    """Give this process no more bytes of address space and seconds of processor time, and no files to write.

    Nothing where the system cannot: then the time limit of the parent remains.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        # A system may refuse one of them, and has the others.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))
