"""File locks between processes, and files that are there whole or not at all (flush, then atomic rename)."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from specloom.core import open_private

STATE_FILE = "state.db"
"""The database in the folder of the state."""
WAIT = 5.0
"""Seconds for which a lock is waited for."""
POLL = 0.05


class FileLock:
    """An exclusive lock on a file of its own, which is made and stays; for `with` and for `async with`.

    TimeoutError when somebody else keeps it for `wait` seconds, OSError for a link, which could lead anywhere, and for
    a pipe, which could block.
    """

    def __init__(self, path: Path, *, wait: float | None = None, poll: float | None = None) -> None:
        self._path = path
        self._wait = WAIT if wait is None else wait
        self._poll = POLL if poll is None else poll
        self._file: IO[bytes] | None = None

    def __enter__(self) -> None:
        for pause in self._pauses():
            time.sleep(pause)

    async def __aenter__(self) -> None:
        for pause in self._pauses():
            await asyncio.sleep(pause)

    def __exit__(self, *_: object) -> None:
        # Closing gives the lock back.
        if self._file is not None:
            self._file.close()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    def _pauses(self) -> Iterator[float]:
        """A pause for each try that was in vain; ends when this process has the lock."""
        file = _open(self._path)
        try:
            for tries in itertools.count():
                if _try_lock(file):
                    self._file = file
                    return
                if tries * self._poll >= self._wait:
                    name = self._path.name
                    raise TimeoutError(f"{name} is locked by another process for more than {self._wait:g} seconds")
                yield self._poll
        finally:
            if self._file is None:
                file.close()


def write_whole(path: Path, data: bytes) -> None:
    """Put bytes under a name in one step: beside it, flushed, then renamed, and the folder flushed too.

    What a killed process left beside it is removed, and so is a link that somebody put there: none is written through.
    """
    beside = path.with_name(path.name + ".tmp")
    beside.unlink(missing_ok=True)
    try:
        with os.fdopen(open_private(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def append_whole(path: Path, data: bytes) -> None:
    """Append bytes, flushed, whole or not at all: what a full disk cut off is taken back."""
    handle = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        size = os.fstat(handle).st_size
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make a rename last; Windows has no such thing."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _open(path: Path) -> IO[bytes]:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    file = os.fdopen(open_private(path, flags), "r+b", buffering=0)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{path.name} is no plain file")
    return file


def _try_lock(file: IO[bytes]) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
