"""Locks between processes on a file of their own, and files that are there whole or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import IO

from .codes import Refusal

WAIT = 5.0
"""Seconds for which a lock is waited for."""
POLL = 0.05

Sleep = Callable[[float], Awaitable[None]]


@contextlib.asynccontextmanager
async def held(path: Path, *, sleep: Sleep = asyncio.sleep) -> AsyncIterator[None]:
    """The exclusive lock on `path`, which is made and stays; LOCK_TIMEOUT when somebody else keeps it."""
    with _opened(path) as file:
        tries = 0
        while not _try_lock(file):
            if tries >= WAIT / POLL:
                raise Refusal(
                    "LOCK_TIMEOUT", f"{path.name} is locked by another process for more than {WAIT:g} seconds."
                )
            await sleep(POLL)
            tries += 1
        try:
            yield
        finally:
            _unlock(file)


@contextlib.contextmanager
def held_now(path: Path) -> Iterator[None]:
    """The exclusive lock on `path`, waited for without a limit: for work of a few milliseconds."""
    with _opened(path) as file:
        _lock(file)
        try:
            yield
        finally:
            _unlock(file)


def write_whole(path: Path, data: bytes) -> None:
    """Put bytes under a name in one step: beside it, flushed, then renamed, and the folder flushed too."""
    beside = path.with_name(path.name + ".tmp")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
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


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("ab")
    except OSError as error:
        raise Refusal("STORE_ERROR", f"{path.name} cannot be opened in the store: {error.strerror}.") from None


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _lock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

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

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
