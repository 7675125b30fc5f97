"""Hash chain (tamper-evident log): each row holds the hash of the one before it, so that no change goes unnoticed."""

from __future__ import annotations

import contextlib
import glob
import hmac
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specloom.core import dataclass, make_folder

from .files import FileLock, append_whole, sync_folder, write_whole

BEFORE = "prev_hash"
"""The column with the hash of the row before."""
CUT_OFF = "was cut off while it was written; remove it, nothing was done under it"
"""What is wrong with a last line that is no row and has no end."""

_TAIL = 64 * 1024
_STAMP = "%Y-%m-%d-%H%M%S"
_STAMPED = re.compile(r"\d{4}-\d\d-\d\d-\d{6}")


_ASCII, _UNICODE = (
    json.JSONEncoder(ensure_ascii=is_ascii, separators=(",", ":"), sort_keys=True) for is_ascii in (True, False)
)


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """What a look at a whole log gave: how many rows hold, and the first thing that does not (empty: nothing)."""

    rows: int
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.problem


@dataclass(frozen=True, slots=True)
class RowFormat:
    """How the rows of a log are written: the columns of number and hash, and what makes a hash of a row's bytes."""

    number: str
    hash: str
    digests: Sequence[Callable[[bytes], str]]
    """The first is written; a row holds under any of them."""
    beginning: str = ""
    """What the first row is bound to."""
    columns: tuple[str, ...] = ()
    """Every column of a row; empty where rows may have what they like."""
    is_ascii: bool = False

    def bind(self, fields: Mapping[str, Any], number: int, before: str) -> dict[str, Any]:
        """The row of these fields, bound to the one before it."""
        row = {**fields, self.number: number, BEFORE: before}
        return {**row, self.hash: self.digest(row)}

    def bind_line(self, fields: Mapping[str, Any], number: int, before: str) -> tuple[bytes, str]:
        """The line of such a row, its columns in the order of their names, and its hash; written as JSON only once."""
        bare = self._dump({**fields, self.number: number, BEFORE: before})
        hash_ = self.digests[0](bare)
        # Whether an object is read from its columns in this order or in another makes no difference to it.
        return b'%b,"%b":"%b"}\n' % (bare[:-1], self.hash.encode(), hash_.encode()), hash_

    def digest(self, row: Mapping[str, Any]) -> str:
        """The hash of a row."""
        return self.digests[0](self._to_bytes(row))

    def to_line(self, row: Mapping[str, Any]) -> bytes:
        """A row as it stands in the file."""
        text = json.dumps(row, ensure_ascii=self.is_ascii, separators=(",", ":")) + "\n"
        return text.encode("utf-8", "surrogatepass")

    def check(self, line: bytes, number: int, before: str) -> tuple[dict[str, Any] | None, str]:
        """The row on a line, or None and why it is not row `number` of its chain."""
        row, problem = self.parse(line)
        if row is None:
            return None, problem
        if row.get(self.number) != number:
            return None, f"is missing: row {row.get(self.number)} stands in its place"
        if row.get(BEFORE) != before:
            return None, "does not follow the row before it"
        if not self.holds(row):
            return None, "was changed"
        return row, ""

    def parse(self, line: bytes) -> tuple[dict[str, Any] | None, str]:
        """The row on a line, or None and why it is none."""
        row = parse_row(line)
        if row is None or not isinstance(row.get(self.hash), str) or (self.columns and set(row) != set(self.columns)):
            return None, "is not a row"
        return row, ""

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether the hash of a row is its own."""
        data = self._to_bytes(row)
        return any(hmac.compare_digest(digest(data).encode(), str(row[self.hash]).encode()) for digest in self.digests)

    def _to_bytes(self, row: Mapping[str, Any]) -> bytes:
        """A row without its hash, as compact JSON with sorted keys."""
        return self._dump({key: value for key, value in row.items() if key != self.hash})

    def _dump(self, row: dict[str, Any]) -> bytes:
        text = (_ASCII if self.is_ascii else _UNICODE).encode(row)
        return text.encode("utf-8", "surrogatepass")


def parse_row(line: bytes) -> dict[str, Any] | None:
    """The JSON object on a line, whatever its keys; None where the line is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


class ChainedLog:
    """A chain in one file, written by several processes in turn; folder and file are made by the first row.

    A file of `largest` bytes is packed and put away, and a new chain begins; what was put away more than `keep_days`
    days ago is removed when the first row is added, 0 keeps everything.
    """

    def __init__(self, path: Path, format_: RowFormat, *, largest: int = 0, keep_days: int = 0) -> None:
        self._path, self._format = path, format_
        self._largest, self._keep_days = largest, keep_days
        self._checked = self._discarded = False

    def append(self, fields: Mapping[str, Any], now: float) -> None:
        """Add one row, flushed; OSError or ValueError when that is not possible, and then nothing is written."""
        make_folder(self._path.parent)
        with FileLock(self._path.with_name(self._path.name + ".lock")):
            self._check()
            self._discard(now)
            self._put_away(now)
            last, end = self._last()
            number, before = 1, self._format.beginning
            if last is not None:
                number, before = int(last[self._format.number]) + 1, str(last[self._format.hash])
            append_whole(self._path, end + self._format.to_line(self._format.bind(fields, number, before)))

    def verify(self) -> ChainVerdict:
        """Look at every row: its columns, its number, that it follows the one before it, and its hash."""
        before, rows = self._format.beginning, 0
        if not self._path.exists():
            return ChainVerdict(0)
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                row, problem = self._format.check(line, number, before)
                if row is None:
                    return ChainVerdict(rows, f"row {number} {_flaw(line, problem)}")
                before, rows = row[self._format.hash], number
        return ChainVerdict(rows)

    def _check(self) -> None:
        """ValueError at a line that is no row, once for each log of a process."""
        if self._checked or not self._path.exists():
            return
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                row, problem = self._format.parse(line)
                if row is None:
                    raise ValueError(f"line {number} {_flaw(line, problem)}")
        self._checked = True

    def _last(self) -> tuple[dict[str, Any] | None, bytes]:
        """The row that the next one follows, None where there is none, and the end that its line lacks."""
        if not self._path.exists():
            return None, b""
        with self._path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            tail = file.read()
        if not tail:
            return None, b""
        last = parse_row(tail.splitlines()[-1])
        if last is None:
            self._checked = False
            self._check()
            raise ValueError("its last line is no row that could be continued")
        return last, b"" if tail.endswith(b"\n") else b"\n"

    def _discard(self, now: float) -> None:
        """Remove what was put away too long ago, once for each log of a process; a file that resists stays."""
        if self._discarded or not self._keep_days:
            return
        self._discarded = True
        oldest = datetime.fromtimestamp(max(0.0, now - self._keep_days * 86_400), UTC).strftime(_STAMP)
        for file in self._path.parent.glob(f"{glob.escape(self._path.name)}.*.gz"):
            stamp = file.name[len(self._path.name) + 1 : -len(".gz")]
            if _STAMPED.fullmatch(stamp) and stamp < oldest:
                with contextlib.suppress(OSError):
                    file.unlink()

    def _put_away(self, now: float) -> None:
        if not self._largest or not self._path.exists() or self._path.stat().st_size < self._largest:
            return
        import gzip

        stamp = datetime.fromtimestamp(now, UTC).strftime(_STAMP)
        # The fastest level: hashes hardly shrink, and other processes wait no longer than five seconds for their turn.
        packed = gzip.compress(self._path.read_bytes(), compresslevel=1)
        write_whole(self._path.with_name(f"{self._path.name}.{stamp}.gz"), packed)
        self._path.unlink()
        sync_folder(self._path.parent)


def _flaw(line: bytes, problem: str) -> str:
    return CUT_OFF if parse_row(line) is None and not line.endswith(b"\n") else problem
