"""One record of every call: who, what, how long and how it ended, never what was asked; kept as long as is said.

Records are handed over in microseconds and written by a thread of their own, those of a tenth of a second together
with one wait for the disk. Several processes may write one log. What a process had not written when it was killed is
lost; nothing else is.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from specloom.core import (
    dataclass,
    from_epoch,
    keyed_digest,
    make_folder,
    make_own_folder,
    mask,
    mask_values,
    open_private,
    read_variable,
    state_folder,
)
from specloom.plugins import CallRecord, split_owner

from .files import FileLock, append_whole
from .hash_chain import ChainVerdict, RowFormat, parse_row
from .keys import load_master_keys

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
    return RowFormat("row", "hash", [_macer(key) for key in keys], BEGINNING, is_ascii=True)


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


def read_rows(
    path: Path, *, tenant: str | None = None, since: float = -math.inf, until: float = math.inf, limit: int
) -> list[bytes]:
    """The newest rows of a log as they are written, the oldest first: of a tenant, from `since` and before `until`.

    Lines that are no rows are left out; `verify` tells of them.
    """
    rows: deque[bytes] = deque(maxlen=limit)
    wanted = None if tenant is None else mask(tenant)
    for _, line in _lines(path):
        row = _read_row(line)
        if row and since <= row["at"] < until and wanted in (None, row.get("tenant_id")):
            rows.append(line.rstrip(b"\n"))
    return list(rows)


def _hash(key: bytes, fields: dict[str, Any]) -> str:
    return _mac(key, json.dumps(fields, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode())


def _mac(key: bytes, data: bytes) -> str:
    return _macer(key)(data)


@functools.lru_cache(maxsize=8)
def _macer(key: bytes) -> Callable[[bytes], str]:
    digest = keyed_digest(key)
    return lambda data: digest(b"specloom audit\0" + data).hex()


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
        self.rotations = 0

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Put rows at the end of the chain; all of them are on the disk afterwards, or none after an OSError."""
        make_folder(self.path.parent)
        with FileLock(self.path.with_name(self.path.name + ".lock"), wait=math.inf, poll=0.002):
            seal, size = self._resume()
            seal = self._look_at_ages(seal)
            if size and (size >= self._max_bytes or self._is_old):
                # An older file is called after its first row; one where that cannot be read stays for `verify`.
                first = self._first_row().get("row")
                if isinstance(first, int):
                    self.path.rename(self.path.with_name(f"{self.path.stem}.{first:012d}{self.path.suffix}"))
                    self.rotations += 1
            lines = []
            number, before = seal.last, seal.hash
            for fields in rows:
                number += 1
                line, before = self._format.bind_line(fields, number, before)
                lines.append(line)
            append_whole(self.path, b"".join(lines))
            seal = Seal(seal.first, seal.anchor, number, before)
            self._write_seal(seal)
            self._left = self._look(), seal

    def _write_seal(self, seal: Seal) -> None:
        draft = self.path.with_name(f"{self.path.name}.seal.{os.getpid()}")
        with os.fdopen(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="ascii") as file:
            fields = asdict(seal)
            file.write(json.dumps({**fields, "mac": _hash(self._keys[0], fields)}) + "\n")
        draft.replace(seal_path(self.path))

    def _resume(self) -> tuple[Seal, int]:
        """Where the chain ends, and the size of the current file; what a crash left half-written is cut off."""
        if self._left is not None and self._left[0] == self._look():
            # Nobody has written since this process did.
            return self._left[1], self._left[0][0][1]
        seal: Seal | None = None
        if seal_path(self.path).exists():
            seal = read_seal(self._keys, seal_path(self.path).read_text(encoding="utf-8"))
        elif not log_files(self.path):
            seal = self._begin()
        size = self.path.stat().st_size if self.path.exists() else 0
        if seal is None:
            self._set_aside()
            return self._begin(), 0
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

    def _begin(self) -> Seal:
        """The seal of a log without rows, written before the first: a crash behind that one leaves no log unsealed."""
        self._write_seal(seal := Seal())
        return seal

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


# --- The log ----------------------------------------------------------------------------------------------------------


DEFAULT_BYTES = 100 * 1024 * 1024
DEFAULT_DAYS = 180
"""Days that a record is kept; the contract's number."""
MOST_WAITING = 10_000
"""Records that wait for the disk; more are counted, and the count is written down."""
TOGETHER = 0.1
"""Seconds that a record waits for others: to write one costs as much as to write a hundred."""
MANY = 1_000
"""Records that wait for no more."""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """What is written about one call or one act of an operator. `error_code` is empty for what went well."""

    event_type: str
    tenant_id: str = "default"
    user_id: str = "anonymous"
    success: bool = True
    tool_name: str = ""
    session_id: str = ""
    request_id: str = ""
    source_ip: str = ""
    duration_ms: float = 0.0
    error_code: str = ""
    metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def audit_key(master: bytes) -> bytes:
    """The key that binds the rows, from the one that seals what is kept."""
    return hmac.digest(master, b"specloom audit: rows", "sha256")


def describe_query(text: str, *, fingerprint: bool = False) -> dict[str, Any]:
    """What metadata may say of a question: how long it is, and on request a digest that tells equal ones."""
    described: dict[str, Any] = {"query_length": len(text)}
    if fingerprint:
        # In two halves, because a digest in one piece looks like a key and would be masked.
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        described["query_hash"] = f"{digest[:32]}-{digest[32:]}"
    return described


def audit_path(folder: Path, environ: Mapping[str, str]) -> Path | None:
    """The file that the environment names, `audit.jsonl` in the folder of the state by default; None when it is off."""
    if environ.get("AUDIT_ENABLED", "").strip().lower() in {"0", "false", "no", "off"}:
        return None
    path = environ.get("AUDIT_OUTPUT_PATH", "").strip()
    return Path(path).expanduser() if path else folder / "audit.jsonl"


def open_audit(
    folder: Path, environ: Mapping[str, str], *, pod_id: str = "", warn: Callable[[str], None]
) -> AuditLog | None:
    """The log at `audit_path`; None when it is off.

    A ValueError says what is wrong with a variable or the key.
    """
    path = audit_path(folder, environ)
    if path is None:
        return None
    if path.exists() and not path.is_file():
        raise ValueError(f"AUDIT_OUTPUT_PATH is {str(path)!r}, which is no file: name one, since the log reads it back")
    days = _read_number(environ, "AUDIT_RETENTION_DAYS", DEFAULT_DAYS)
    return AuditLog(
        path,
        keys=[audit_key(key) for key in load_master_keys(folder, environ).all],
        max_bytes=int(read_variable("AUDIT_MAX_BYTES", environ) or DEFAULT_BYTES),
        # Less than half a year is too short to look into an incident, more than ten is no longer proportionate: the
        # contract's bounds. 0 keeps everything.
        retention_days=min(max(days, 180), 3650) if days else 0,
        pod_id=pod_id,
        warn=warn,
    )


def _read_number(environ: Mapping[str, str], name: str, otherwise: int) -> int:
    text = environ.get(name, "").strip()
    if not text:
        return otherwise
    if not text.isdecimal() or len(text) > 15:
        raise ValueError(f"{name} is {text!r}; write a whole number of 0 or more")
    return int(text)


class AuditLog:
    """A log in a file and its older siblings, for any number of processes. Nothing about it ever fails a call."""

    def __init__(
        self,
        path: Path,
        *,
        keys: Sequence[bytes],
        max_bytes: int = DEFAULT_BYTES,
        retention_days: float = DEFAULT_DAYS,
        pod_id: str = "",
        clock: Callable[[], float] = time.time,
        warn: Callable[[str], None],
    ) -> None:
        self.path = path
        self.dropped = 0
        self._keys = list(keys)
        self._files = LogFiles(
            path, keys=keys, max_bytes=max_bytes, retention_days=retention_days, clock=clock, warn=warn
        )
        self._pod_id = pod_id
        self._clock = clock
        self._warn = warn
        self._waiting: deque[tuple[float, AuditRecord]] = deque()
        self._lost = 0
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._writing = self._closed = self._warned = self._hurried = False

    def record(self, record: AuditRecord) -> None:
        """Hand over a record, from any thread, without waiting."""
        with self._wake:
            if self._closed:
                return
            if len(self._waiting) >= MOST_WAITING:
                self.dropped += 1
                self._lost += 1
                return
            self._waiting.append((self._clock(), record))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="specloom-audit", daemon=True)
                self._thread.start()
            # The thread needs to know of the first that waits; the others it finds.
            if len(self._waiting) in {1, MANY}:
                self._wake.notify_all()

    def flush(self) -> None:
        """Wait until everything handed over so far is on the disk, or was given up."""
        with self._wake:
            self._hurried = True
            self._wake.notify_all()
            self._wake.wait_for(lambda: not self._waiting and not self._writing)
            self._hurried = False

    def close(self) -> None:
        """Write what is waiting and end the thread."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join()

    @property
    def rotations(self) -> int:
        """How often this process has closed a file of the log and begun another."""
        return self._files.rotations

    def verify(self) -> ChainVerdict:
        """Whether every row holds; see the function of this name."""
        return verify(self.path, self._keys)

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: bool(self._waiting) or self._closed)
                self._wake.wait_for(lambda: self._closed or self._hurried or len(self._waiting) >= MANY, TOGETHER)
                batch = list(self._waiting)
                self._waiting.clear()
                lost, self._lost = self._lost, 0
                if not batch and not lost:
                    return
                is_last = self._closed
                self._writing = True
            try:
                self._write(batch, lost)
                self._warned = False
            except (OSError, ValueError, TypeError) as error:
                self._give_up(len(batch), lost, error)
            with self._wake:
                self._writing = False
                self._wake.notify_all()
            if is_last:
                return

    def _give_up(self, count: int, lost: int, error: Exception) -> None:
        with self._wake:
            self.dropped += count
            self._lost += count + lost
        if not self._warned:
            self._warned = True
            reason = getattr(error, "strerror", None) or type(error).__name__
            self._warn(f"the audit log {self.path} cannot be written ({reason}); records are counted until it can")

    def _write(self, batch: Sequence[tuple[float, AuditRecord]], lost: int) -> None:
        rows = [self._fields(at, record) for at, record in batch]
        if lost:
            note = AuditRecord("audit.lost", success=False, metadata={"records": lost})
            rows.append(self._fields(self._clock(), note))
        self._files.write(rows)

    def _fields(self, at: float, record: AuditRecord) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "at": round(at, 3),
            "timestamp": from_epoch(at) or "",
            "event_type": record.event_type,
            "tenant_id": mask(record.tenant_id),
            "user_id": mask(record.user_id),
            "session_id": mask(record.session_id),
            "tool_name": mask(record.tool_name),
            "request_id": mask(record.request_id),
            "pod_id": self._pod_id,
            "source_ip": mask(record.source_ip),
            "duration_ms": round(record.duration_ms, 1),
            "success": record.success,
            "error_code": mask(record.error_code),
            "metadata": mask_values(record.metadata),
        }
        always = ("at", "timestamp", "event_type", "tenant_id", "user_id", "request_id", "success")
        return {name: value for name, value in fields.items() if value or name in always}


class AuditTrail:
    """Hands every call that ended, and every act of an operator, to the audit log, which is opened with the first."""

    def __init__(self, environ: Mapping[str, str], warn: Callable[[str], None]) -> None:
        self._environ = environ
        self._warn = warn
        self._log: AuditLog | None = None
        self._opened = False
        included = environ.get("AUDIT_INCLUDE_REQUEST_BODY", "").strip().lower()
        self._fingerprint = included in {"1", "true", "yes", "on"}

    def __call__(self, call: CallRecord) -> None:
        """Record a call: who, what, how long and how it ended; of what was asked only how long it was."""
        log = self.open()
        if log is None:
            return
        tenant, user = split_owner(call.owner)
        query = call.arguments.get("query")
        metadata = describe_query(query, fingerprint=self._fingerprint) if isinstance(query, str) else {}
        if call.routing:
            metadata["routing"] = dict(call.routing)
        if call.cost:
            metadata["cost"] = dict(call.cost)
        log.record(
            AuditRecord(
                "tool_call",
                tenant,
                user,
                success=not call.error,
                tool_name=call.tool,
                session_id=call.session,
                request_id=call.request,
                duration_ms=round(call.seconds * 1000, 3),
                error_code=call.error,
                metadata=metadata,
            )
        )

    def record(self, record: AuditRecord) -> None:
        """Record an act of an operator."""
        log = self.open()
        if log is not None:
            log.record(record)

    @property
    def dropped(self) -> int:
        """Records that could not be written."""
        return self._log.dropped if self._log is not None else 0

    @property
    def rotations(self) -> int:
        """How often this process has closed a file of the log and begun another."""
        return self._log.rotations if self._log is not None else 0

    def open(self) -> AuditLog | None:
        """The log; None where it is off or cannot be opened."""
        if not self._opened:
            self._opened = True
            self._open()
        return self._log

    def _open(self) -> None:
        try:
            folder = Path(state_folder(self._environ))
            make_own_folder(str(folder), self._environ)
            self._log = open_audit(folder, self._environ, warn=self._warn)
        except (ValueError, OSError) as error:
            self._warn(f"calls are not audited: {error}")

    def close(self) -> None:
        """Write what is waiting, and close the log."""
        if self._log is not None:
            self._log.close()
