"""The files of an audit log: written by any number of processes in turn, turned over when full, removed when old."""

from __future__ import annotations

import functools
import hmac
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from specloom.core import from_epoch

from .files import FileLock, append_whole
from .hash_chain import ChainVerdict, RowFormat, parse_row

# --- The rows of an audit log as a chain: each is bound to the one before it by a key, so that no change goes
# unnoticed ------------------------------------------------------------------------------------------------------------
# A seal beside the log says which row is the first that is kept and which the last, so that rows cut off at either end
# are missed. Without the key nobody can write a row or a seal that holds. An older copy of log and seal together cannot
# be told from the truth; whoever needs that sends the rows elsewhere as well.


BEGINNING = ""
"""What the first row ever is bound to."""


@dataclass(frozen=True, slots=True)
class Seal:
    """The ends of a log: number and predecessor of the first row that is kept, number and hash of the last."""

    first: int = 1
    anchor: str = BEGINNING
    last: int = 0
    hash: str = BEGINNING


def row_format(keys: Sequence[bytes]) -> RowFormat:
    """How rows are written under the first of these keys, and hold under any of them."""
    return RowFormat("row", "hash", [functools.partial(_mac, key) for key in keys], BEGINNING, is_ascii=True)


def read_seal(keys: Sequence[bytes], text: str) -> Seal | None:
    """The seal, or None when it was changed."""
    try:
        fields = json.loads(text)
        mac = fields.pop("mac")
        holds = any(hmac.compare_digest(_hash(key, fields), mac) for key in keys)
        return Seal(**fields) if holds else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def seal_path(path: Path) -> Path:
    """Where the seal of a log is."""
    return path.with_name(path.name + ".seal")


def log_files(path: Path) -> list[Path]:
    """The files of a log in the order of their rows, the current one last."""
    older = sorted(path.parent.glob(f"{path.stem}.[0-9]*{path.suffix}"))
    return [*older, path] if path.exists() else older


def verify(path: Path, keys: Sequence[bytes]) -> ChainVerdict:
    """Look at every row of a log with the keys it may have been written under."""
    try:
        seal = read_seal(keys, seal_path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ChainVerdict(0, f"{seal_path(path).name} is missing" if log_files(path) else "")
    if seal is None:
        return ChainVerdict(0, f"{seal_path(path).name} does not hold: it was changed, or written under another key")
    number, before, count = seal.first, seal.anchor, 0
    format_ = row_format(keys)
    is_sealed = seal.last < seal.first
    for where, line in _lines(path):
        if number == seal.first and _read_row(line).get("row", number) < seal.first:
            # Its time is over, and a crash kept the file from being deleted.
            continue
        row, problem = format_.check(line, number, before)
        if row is None:
            # What a crash left of the last row is no change; the next start cuts it off.
            if not line.endswith(b"\n") and number > seal.last and is_sealed:
                break
            return ChainVerdict(count, f"{where}: row {number} {problem}")
        before = row["hash"]
        if number == seal.last:
            if before != seal.hash:
                return ChainVerdict(count, f"{where}: row {number} is not the one that was sealed")
            is_sealed = True
        count, number = count + 1, number + 1
    if not is_sealed:
        return ChainVerdict(count, f"rows {number} to {seal.last} are missing at the end of {path.name}")
    return ChainVerdict(count)


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in log_files(path):
        with file.open("rb") as lines:
            for at, line in enumerate(lines, 1):
                yield f"{file.name}:{at}", line


def _hash(key: bytes, fields: dict[str, Any]) -> str:
    return _mac(key, json.dumps(fields, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode())


def _mac(key: bytes, data: bytes) -> str:
    return hmac.digest(key, b"specloom audit\0" + data, "sha256").hex()


SMALLEST_BYTES = 4096
DAY = 86_400.0
PARTS = 18
"""A file is closed after this part of the time that records are kept, so that it can go soon after its last one."""
_CHECK_EVERY = 3600.0

_Marks = tuple[tuple[int, int, int], tuple[int, int, int]]


class LogFiles:
    """The current file of a log, its older siblings and its seal, for one thread. Everything raises OSError alone."""

    def __init__(
        self,
        path: Path,
        *,
        keys: Sequence[bytes],
        max_bytes: int,
        retention_days: float,
        clock: Callable[[], float],
        warn: Callable[[str], None],
    ) -> None:
        self.path = path
        self._keys = list(keys)
        self._format = row_format(self._keys)
        self._max_bytes = max(SMALLEST_BYTES, max_bytes)
        self._retention = retention_days * DAY
        self._clock = clock
        self._warn = warn
        self._is_old = False
        self._checked = -_CHECK_EVERY
        self._left: tuple[_Marks, Seal] | None = None

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Put rows at the end of the chain; all of them are on the disk afterwards, or none after an OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(self.path.with_name(self.path.name + ".lock"), wait=math.inf, poll=0.002):
            seal, size = self._resume()
            seal = self._look_at_ages(seal)
            if size and (size >= self._max_bytes or self._is_old):
                # An older file is called after its first row; one where that cannot be read stays for `verify`.
                first = self._first_row().get("row")
                if isinstance(first, int):
                    self.path.rename(self.path.with_name(f"{self.path.stem}.{first:012d}{self.path.suffix}"))
            lines = []
            number, before = seal.last, seal.hash
            for fields in rows:
                number += 1
                row = self._format.bind({"row": 0, **fields}, number, before)
                before = row["hash"]
                lines.append(self._format.to_line(row))
            append_whole(self.path, b"".join(lines))
            seal = Seal(seal.first, seal.anchor, number, before)
            self._write_seal(seal)
            self._left = self._look(), seal

    def _write_seal(self, seal: Seal) -> None:
        draft = self.path.with_name(f"{self.path.name}.seal.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            fields = asdict(seal)
            file.write(json.dumps({**fields, "mac": _hash(self._keys[0], fields)}) + "\n")
        draft.replace(seal_path(self.path))

    def _resume(self) -> tuple[Seal, int]:
        """Where the chain ends, and the size of the current file; what a crash left half-written is cut off."""
        if self._left is not None and self._left[0] == self._look():
            # Nobody has written since this process did.
            return self._left[1], self._left[0][0][1]
        try:
            seal = read_seal(self._keys, seal_path(self.path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            seal = Seal()
        size = self.path.stat().st_size if self.path.exists() else 0
        if seal is None or (size and not seal.last):
            self._set_aside()
            return Seal(), 0
        if not size:
            return seal, 0
        with self.path.open("rb+") as file:
            tail_at = max(0, size - 1024 * 1024)
            file.seek(tail_at)
            tail = file.read()
            whole = tail.rfind(b"\n") + 1
            if whole != len(tail):
                file.truncate(tail_at + whole)
                size = tail_at + whole
        row = _read_row(tail[:whole].rstrip(b"\n").rpartition(b"\n")[2])
        # Rows that a crash left behind the seal are part of the chain. Whether they hold is for `verify` to say: a row
        # that was planted here breaks the chain where it stands, and stays.
        if row and row["row"] > seal.last:
            return Seal(seal.first, seal.anchor, row["row"], row["hash"]), size
        return seal, size

    def _look(self) -> _Marks:
        """What tells whether the file and its seal are those that were left."""
        return _mark(self.path), _mark(seal_path(self.path))

    def _set_aside(self) -> None:
        """A log whose seal does not hold is kept as it is, and a new one is begun beside it."""
        stamp = (from_epoch(self._clock()) or "").replace(":", "")
        for file in [*log_files(self.path), seal_path(self.path)]:
            if file.exists():
                file.rename(file.with_name(f"broken-{stamp}-{file.name}"))
        self._warn(f"the seal of the audit log {self.path} does not hold; the log was set aside and a new one begun")

    def _look_at_ages(self, seal: Seal) -> Seal:
        """Once an hour, delete what is too old and see whether the current file is old enough to be closed."""
        now = self._clock()
        self._is_old = False
        if not self._retention or now - self._checked < _CHECK_EVERY:
            return seal
        self._checked = now
        if self.path.exists():
            self._is_old = now - float(self._first_row().get("at", now)) >= self._retention / PARTS
        return self._remove_old(seal)

    def _first_row(self) -> dict[str, Any]:
        with self.path.open("rb") as file:
            return _read_row(file.readline())

    def _remove_old(self, seal: Seal) -> Seal:
        """Delete the files whose last record is older than records are kept; the seal of what is left."""
        older = [file for file in log_files(self.path) if file != self.path]
        for file in older:
            last = _read_row(file.read_bytes().rstrip(b"\n").rpartition(b"\n")[2])
            if not last or self._clock() - float(last["at"]) < self._retention:
                break
            seal = Seal(int(last["row"]) + 1, str(last["hash"]), seal.last, seal.hash)
            # The seal first: a crash between the two leaves a file too much, which the next round removes.
            self._write_seal(seal)
            file.unlink()
        return seal


def _mark(path: Path) -> tuple[int, int, int]:
    """Number, size and time of the last change of a file; zeros where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0, 0
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read_row(line: bytes) -> dict[str, Any]:
    """The row in a line, empty when it is none."""
    row = parse_row(line) or {}
    kinds = {"row": int, "hash": str, "at": int | float}
    return row if all(isinstance(row.get(name), kind) for name, kind in kinds.items()) else {}
