"""A small JSON file for its owner alone, which commands and servers change under a lock and servers read anew.

What changes in it counts in every process of the machine within a second.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from specloom.core import make_folder, open_private
from specloom.storage import FileLock, write_whole

from .identity import say_nothing

LOOK_EVERY = 0.5
"""Seconds between two looks at a file."""
MOST_BYTES = 8 * 1024 * 1024
FORMAT = 1

T = TypeVar("T")


class WatchedFile(Generic[T]):
    """A file of one kind. `parse` makes a value of its JSON, and of {} where there is no file.

    `what` names in the plural what is in it, and `error` is raised with one sentence where it cannot be used. `timer`
    tells seconds that only go on; `warn` gets that sentence once.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        parse: Callable[[Mapping[str, Any]], T],
        *,
        what: str,
        error: type[Exception],
        warn: Callable[[str], None] = say_nothing,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = Path(path)
        self._parse = parse
        self._what = what
        self._error = error
        self._warn = warn
        self._timer = timer
        self._looked_at: float | None = None
        self._version: tuple[int, ...] = ()
        self._value: T | None = None
        self._told = ""

    def look(self) -> T | None:
        """What the file has now, give or take half a second; None where it cannot be read.

        A file that cannot be read may have been changed to revoke something, so what it had before is not used.
        """
        now = self._timer()
        if self._looked_at is not None and now - self._looked_at < LOOK_EVERY:
            return self._value
        self._looked_at = now
        version = self._find_version()
        if self._value is None or version != self._version:
            try:
                self._value, told = self.read(), ""
            except self._error as error:
                self._value, told = None, str(error)
                if told != self._told:
                    self._warn(f"{told}; until then no caller who needs it is let in")
            self._version, self._told = version, told
        return self._value

    def read(self) -> T:
        """What the file has; the error where it cannot be used."""
        try:
            handle = open_private(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return self._parse({})
        except OSError as error:
            raise self._error(f"the {self._what} in {self.path} cannot be read: {error.strerror}") from None
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
                raise self._error(f"{self.path} is no file of {self._what}")
            if os.name != "nt" and status.st_mode & 0o022:
                raise self._error(f"others may write {self.path}, so it is not believed; run chmod 600 on it")
            text = file.read(MOST_BYTES)
        try:
            said = json.loads(text)
            if said["format"] == FORMAT:
                return self._parse(said)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass
        raise self._error(f"{self.path} is no file of {self._what} that this version reads")

    def locked(self) -> FileLock:
        """What keeps others from changing the file; TimeoutError after 5 seconds."""
        make_folder(self.path.parent)
        return FileLock(self.path.with_name(self.path.name + ".lock"))

    def write(self, said: Mapping[str, Any]) -> None:
        """Replace the file in one step; here it counts at once."""
        data = {"format": FORMAT, **said}
        write_whole(self.path, (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode())
        self._looked_at = None

    def _find_version(self) -> tuple[int, ...]:
        """What changes when the file does; it is replaced, so its number changes too."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return ()
        except OSError as error:
            return (error.errno or 0,)
        return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
