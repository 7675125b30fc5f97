"""The rows of an audit log as a chain: each is bound to the one before it by a key, so that no change goes unnoticed.

A seal beside the log says which row is the first that is kept and which the last, so that rows cut off at either end
are missed. Without the key nobody can write a row or a seal that holds. An older copy of log and seal together cannot
be told from the truth; whoever needs that sends the rows elsewhere as well.
"""

from __future__ import annotations

import hmac
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

BEGINNING = ""
"""What the first row ever is bound to."""


@dataclass(frozen=True, slots=True)
class Seal:
    """The ends of a log: number and predecessor of the first row that is kept, number and hash of the last."""

    first: int = 1
    anchor: str = BEGINNING
    last: int = 0
    hash: str = BEGINNING


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a look at a whole log gave: how many rows hold, and the first thing that does not (empty: nothing)."""

    rows: int
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return not self.problem


def write_row(key: bytes, fields: dict[str, Any], number: int, before: str) -> tuple[str, str]:
    """The line of a row and its hash."""
    row = {"row": number, **fields, "prev_hash": before}
    hash_ = _hash(key, row)
    return json.dumps({**row, "hash": hash_}, ensure_ascii=True, separators=(",", ":")) + "\n", hash_


def write_seal(key: bytes, seal: Seal) -> str:
    """A seal as it is kept."""
    fields = asdict(seal)
    return json.dumps({**fields, "mac": _hash(key, fields)}) + "\n"


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


def older_file(path: Path, first: int) -> Path:
    """What a file is called once it is no longer the current one, after the number of its first row."""
    return path.with_name(f"{path.stem}.{first:012d}{path.suffix}")


def verify(path: Path, keys: Sequence[bytes]) -> Verdict:
    """Look at every row of a log with the keys it may have been written under."""
    try:
        seal = read_seal(keys, seal_path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Verdict(0, f"{seal_path(path).name} is missing" if log_files(path) else "")
    if seal is None:
        return Verdict(0, f"{seal_path(path).name} does not hold: it was changed, or written under another key")
    number, before, count = seal.first, seal.anchor, 0
    is_sealed = seal.last < seal.first
    for where, line in _lines(path):
        if number == seal.first and _number(line) < seal.first:
            # Its time is over, and a crash kept the file from being deleted.
            continue
        row, problem = _check_row(keys, line, number, before)
        if row is None:
            # What a crash left of the last row is no change; the next start cuts it off.
            if not line.endswith(b"\n") and number > seal.last and is_sealed:
                break
            return Verdict(count, f"{where}: row {number} {problem}")
        before = row["hash"]
        if number == seal.last:
            if before != seal.hash:
                return Verdict(count, f"{where}: row {number} is not the one that was sealed")
            is_sealed = True
        count, number = count + 1, number + 1
    if not is_sealed:
        return Verdict(count, f"rows {number} to {seal.last} are missing at the end of {path.name}")
    return Verdict(count)


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in log_files(path):
        with file.open("rb") as lines:
            for at, line in enumerate(lines, 1):
                yield f"{file.name}:{at}", line


def _number(line: bytes) -> int:
    try:
        return int(json.loads(line)["row"])
    except (ValueError, KeyError, TypeError):
        return sys.maxsize


def _check_row(keys: Sequence[bytes], line: bytes, number: int, before: str) -> tuple[dict[str, Any] | None, str]:
    """The row, or None and why it does not hold."""
    try:
        row = json.loads(line)
    except ValueError:
        return None, "is not a row"
    if not isinstance(row, dict) or not isinstance(row.get("hash"), str):
        return None, "is not a row"
    fields = {name: value for name, value in row.items() if name != "hash"}
    if row.get("row") != number:
        return None, f"is missing: row {row.get('row')} stands in its place"
    if row.get("prev_hash") != before:
        return None, "does not follow the row before it"
    if not any(hmac.compare_digest(_hash(key, fields), row["hash"]) for key in keys):
        return None, "was changed"
    return row, ""


def _hash(key: bytes, fields: dict[str, Any]) -> str:
    text = json.dumps(fields, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return hmac.digest(key, b"specloom audit\0" + text.encode(), "sha256").hex()
