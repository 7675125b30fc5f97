"""A mark that changes whenever somebody erases what is kept: read by every look into memory, so by one system call."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

from specloom.core import open_private

if TYPE_CHECKING:
    from pathlib import Path


ERASURES = "erasures"
"""The file of the mark in the folder of the state, which is not deleted as the cache may be."""
MARK_BYTES = 16
FRESH = 0.001
"""Seconds for which a mark that was read counts as the present one, so that many calls at once read it once."""
RECHECK = 1.0
"""Seconds after which it is seen that the file was deleted and made anew."""


def mark_erasure(path: Path) -> None:
    """Tell all processes that something was erased; OSError where that cannot be written.

    No number is counted up, so that two who erase at once need no lock.
    """
    handle = open_private(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.write(handle, os.urandom(MARK_BYTES))
        os.fsync(handle)
    finally:
        os.close(handle)


class Erasures:
    """The mark as it is now. Any thread may read it; a file that cannot be had has none, and never changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        self._checked = self._read_at = 0.0
        self._mark = b""
        self._open()

    def now(self, fresh: float = 0.0) -> bytes:
        """The mark, which is another after each erasure; empty before the first. One `fresh` seconds old may do."""
        moment = time.monotonic()
        if moment - self._read_at < fresh:
            return self._mark
        self._read_at = moment
        if moment - self._checked > RECHECK:
            self._checked = moment
            if not self._is_there():
                self.close()
                self._open()
        self._mark = self._read()
        return self._mark

    def _read(self) -> bytes:
        if self._handle is None:
            return b""
        try:
            return os.pread(self._handle, MARK_BYTES, 0)
        except (OSError, AttributeError):  # Windows cannot read at a place
            with contextlib.suppress(OSError):
                return self._path.read_bytes()
            return b""

    def close(self) -> None:
        """Let go of the file."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def _open(self) -> None:
        with contextlib.suppress(OSError):
            self._handle = open_private(self._path, os.O_RDWR | os.O_CREAT)

    def _is_there(self) -> bool:
        if self._handle is None:
            return False
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._handle))
        except OSError:
            return False
