"""The provenance log: a line of JSON for everything that was asked and kept, each tied to the one before by its hash.

No row, no fetch: what cannot be written down is not done. Processes that share a file take turns on a lock beside it.
"""

from __future__ import annotations

import contextlib
import glob
import gzip
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .codes import Refusal
from .locks import held_now, sync_folder, write_whole

GENESIS = "GENESIS"
ROW_VERSION = "v2"
LARGEST = 100 * 1024 * 1024
"""Bytes of a log before it is put away and a new chain begins."""

KEYS = (
    "ts",
    "ts_seq",
    "event",
    "ref",
    "source",
    "result",
    "license",
    "size_bytes",
    "store_path",
    "capability",
    "session_id",
    "error_code",
    "schema_version",
    "canonical_digest",
    "prev_hash",
    "this_hash",
)
OLDER_KEYS = frozenset(KEYS) - {"schema_version", "canonical_digest"}
"""The keys of a row of the format before this one."""

CUT_OFF = "was cut off while it was written; remove it, nothing was done under it"
"""What is wrong with a last line that is no row and has no end."""

_TAIL = 64 * 1024
_STAMP = "%Y-%m-%d-%H%M%S"
_STAMPED = re.compile(r"\d{4}-\d\d-\d\d-\d{6}")
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a log holds: how many rows do, and what is wrong with the next one, empty when nothing is."""

    rows: int
    problem: str = ""


class Log:
    """A log at a path; folder and file are made by the first row.

    What was put away more than `keep_days` days ago is removed when the first row is added; 0 keeps everything.
    """

    def __init__(self, path: Path, *, keep_days: int = 0) -> None:
        self.path = path
        self._keep_days = keep_days
        self._checked = self._discarded = False

    def append(self, event: str, *, now: float, result: str = "ok", capability: str = "oa", **fields: Any) -> None:
        """Add one row and flush it; LOG_ERROR when that is not possible, and then nothing may be done."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with held_now(self.path.with_name(self.path.name + ".lock")):
                self._check()
                self._discard(now)
                self._rotate(now)
                last = self._last()
                row = {
                    **dict.fromkeys(KEYS),
                    "ts": to_timestamp(now),
                    "ts_seq": int(last["ts_seq"]) + 1 if last else 1,
                    "event": event,
                    "result": result,
                    "capability": capability,
                    "session_id": SESSION,
                    "schema_version": ROW_VERSION,
                    **fields,
                    "prev_hash": last["this_hash"] if last else GENESIS,
                }
                row["this_hash"] = hash_row(row)
                self._write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refusal("LOG_ERROR", f"The provenance log {self.path} cannot be written: {error}.") from None
        except Refusal as refusal:
            raise Refusal("LOG_ERROR", f"The provenance log {self.path} cannot be written: {refusal.message}") from None

    def _check(self) -> None:
        """Fail at a line that is no row, once for each log of a process."""
        if self._checked or not self.path.exists():
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                row = parse_row(line)
                if row is not None and set(row) == OLDER_KEYS:
                    raise ValueError(f"line {number} is a row of the older format; run `specloom papers migrate`")
                if row is None and not line.endswith(b"\n"):
                    raise ValueError(f"line {number} {CUT_OFF}")
                if row is None or set(row) != set(KEYS):
                    raise ValueError(f"line {number} is not a row")
        self._checked = True

    def _discard(self, now: float) -> None:
        """Remove logs that were put away too long ago, once for each log of a process; one that resists stays."""
        if self._discarded or not self._keep_days:
            return
        self._discarded = True
        oldest = datetime.fromtimestamp(max(0.0, now - self._keep_days * 86_400), UTC).strftime(_STAMP)
        for file in self.path.parent.glob(f"{glob.escape(self.path.name)}.*.gz"):
            stamp = file.name[len(self.path.name) + 1 : -len(".gz")]
            if _STAMPED.fullmatch(stamp) and stamp < oldest:
                with contextlib.suppress(OSError):
                    file.unlink()

    def _last(self) -> dict[str, Any] | None:
        if not self.path.exists():
            return None
        with self.path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            lines = file.read().splitlines()
        last = parse_row(lines[-1]) if lines else None
        if lines and last is None:
            self._checked = False
            self._check()
            raise ValueError("its last line is no row that could be continued")
        return last

    def _write(self, line: str) -> None:
        """Append a line whole or not at all: what a full disk cut off would be in the way of every later row."""
        data = line.encode()
        with self.path.open("a+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(-1, os.SEEK_END)
                data = data if file.read(1) == b"\n" else b"\n" + data
            try:
                while data:
                    data = data[file.write(data) or 0 :]
                os.fsync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(size)
                raise

    def _rotate(self, now: float) -> None:
        if not self.path.exists() or self.path.stat().st_size < LARGEST:
            return
        stamp = datetime.fromtimestamp(now, UTC).strftime(_STAMP)
        # The fastest level: hashes hardly shrink, and other processes wait no longer than five seconds for their turn.
        packed = gzip.compress(self.path.read_bytes(), compresslevel=1)
        write_whole(self.path.with_name(f"{self.path.name}.{stamp}.gz"), packed)
        self.path.unlink()
        sync_folder(self.path.parent)


def parse_row(line: bytes) -> dict[str, Any] | None:
    """The JSON object on a line, whatever its keys; None where the line is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def hash_row(row: Mapping[str, Any]) -> str:
    """SHA-256 of a row without its own hash, as compact JSON with sorted keys."""
    bare = {key: value for key, value in row.items() if key != "this_hash"}
    text = json.dumps(bare, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def verify(path: Path) -> Verdict:
    """Look at every row of a log: its keys, its hash, its number, and that it follows the one before it."""
    before, rows = GENESIS, 0
    if not path.exists():
        return Verdict(0)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            row = parse_row(line)
            if row is None:
                is_whole = line.endswith(b"\n")
                return Verdict(rows, f"row {number} is not JSON" if is_whole else f"row {number} {CUT_OFF}")
            if set(row) != set(KEYS):
                return Verdict(rows, f"row {number} does not have the keys of a row")
            if row["this_hash"] != hash_row(row):
                return Verdict(rows, f"row {number} was changed: its hash is another")
            if row["prev_hash"] != before:
                return Verdict(rows, f"row {number} does not follow row {number - 1}: a row was removed or put between")
            if row["ts_seq"] != number:
                return Verdict(rows, f"row {number} has the number {row['ts_seq']}")
            before, rows = row["this_hash"], number
    return Verdict(rows)


def to_timestamp(seconds: float) -> str:
    """RFC 3339 in UTC with milliseconds, which are left out when there are none."""
    moment = datetime.fromtimestamp(round(seconds * 1000) / 1000, UTC)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}Z" if moment.microsecond == 0 else f"{text}.{moment.microsecond // 1000:03d}Z"


def make_ulid(milliseconds: int, entropy: int) -> str:
    """26 characters that sort by time: 48 bits of milliseconds and 80 of chance."""
    number = (milliseconds << 80) | entropy
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


SESSION = make_ulid(int(time.time() * 1000), secrets.randbits(80))
"""The session of this process in the log."""
