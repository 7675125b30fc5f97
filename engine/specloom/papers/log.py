"""The provenance log: a line of JSON for everything that was asked and kept, each tied to the one before by its hash.

No row, no fetch: what cannot be written down is not done. Processes that share a file take turns on a lock beside it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
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
_TAIL = 64 * 1024
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a log holds: how many rows do, and what is wrong with the next one, empty when nothing is."""

    rows: int
    problem: str = ""


class Log:
    """A log at a path; folder and file are made by the first row."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checked = False

    def append(self, event: str, *, now: float, result: str = "ok", capability: str = "oa", **fields: Any) -> None:
        """Add one row and flush it; LOG_ERROR when that is not possible, and then nothing may be done."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with held_now(self.path.with_name(self.path.name + ".lock")):
                self._check()
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
                try:
                    row = json.loads(line)
                except ValueError:
                    row = None
                if not isinstance(row, dict) or set(row) != set(KEYS):
                    raise ValueError(f"line {number} is not a row")
        self._checked = True

    def _last(self) -> dict[str, Any] | None:
        if not self.path.exists():
            return None
        with self.path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            lines = file.read().splitlines()
        last: dict[str, Any] | None = json.loads(lines[-1]) if lines else None
        return last

    def _write(self, line: str) -> None:
        with self.path.open("ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def _rotate(self, now: float) -> None:
        if not self.path.exists() or self.path.stat().st_size < LARGEST:
            return
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d-%H%M%S")
        write_whole(self.path.with_name(f"{self.path.name}.{stamp}.gz"), gzip.compress(self.path.read_bytes()))
        self.path.unlink()
        sync_folder(self.path.parent)


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
            try:
                row = json.loads(line)
            except ValueError:
                return Verdict(rows, f"row {number} is not JSON")
            if not isinstance(row, dict) or set(row) != set(KEYS):
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
