"""Locks between processes on a file of their own, and files that are there whole or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import stat
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import IO

from .errors import Refusal

WAIT = 5.0
"""Seconds for which a lock is waited for."""
POLL = 0.05

Sleep = Callable[[float], Awaitable[None]]


@contextlib.asynccontextmanager
async def held(path: Path, *, sleep: Sleep = asyncio.sleep) -> AsyncIterator[None]:
    """The exclusive lock on `path`, which is made and stays; LOCK_TIMEOUT when somebody else keeps it."""
    with _opened(path) as file:
        for tries in itertools.count():
            if _is_locked(path, file, tries):
                break
            await sleep(POLL)
        try:
            yield
        finally:
            _unlock(file)


@contextlib.contextmanager
def held_now(path: Path) -> Iterator[None]:
    """The same for work of a few milliseconds, where nothing else goes on while it is waited for."""
    with _opened(path) as file:
        for tries in itertools.count():
            if _is_locked(path, file, tries):
                break
            time.sleep(POLL)
        try:
            yield
        finally:
            _unlock(file)


def write_whole(path: Path, data: bytes) -> None:
    """Put bytes under a name in one step: beside it, flushed, then renamed, and the folder flushed too.

    What a killed process left beside it is removed, and so is a link that somebody put there: none is written through.
    """
    beside = path.with_name(path.name + ".tmp")
    beside.unlink(missing_ok=True)
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename last; Windows has no such thing."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_locked(path: Path, file: IO[bytes], tries: int) -> bool:
    """Whether this process has the lock now; LOCK_TIMEOUT when it was tried for long enough."""
    if _try_lock(file):
        return True
    if tries >= WAIT / POLL:
        raise Refusal("LOCK_TIMEOUT", f"{path.name} is locked by another process for more than {WAIT:g} seconds.")
    return False


def _opened(path: Path) -> IO[bytes]:
    """The file of a lock; a link, which could lead anywhere, and a pipe, which could block, are none."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0)
    except OSError as error:
        raise Refusal("STORE_ERROR", f"{path.name} cannot be opened as a lock: {error.strerror or error}.") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise Refusal("STORE_ERROR", f"{path.name} cannot be opened as a lock: it is no plain file.")
    return file


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
