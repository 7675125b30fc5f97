"""One record of every call: who, what, how long and how it ended, never what was asked; kept as long as is said.

Records are handed over in microseconds and written by a thread of their own, those of a tenth of a second together
with one wait for the disk. Several processes may write one log. What a process had not written when it was killed is
lost; nothing else is.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from specloom.core import from_epoch, mask, mask_values, state_folder
from specloom.plugins import CallRecord, split_owner

from .audit_files import LogFiles, verify
from .hash_chain import ChainVerdict
from .keys import load_master_keys

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
        max_bytes=_read_number(environ, "AUDIT_MAX_BYTES", DEFAULT_BYTES) or DEFAULT_BYTES,
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

    def verify(self) -> ChainVerdict:
        """See audit_chain.verify."""
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
    """Hands every call that ended to the audit log, which is opened with the first."""

    def __init__(self, environ: Mapping[str, str], warn: Callable[[str], None]) -> None:
        self._environ = environ
        self._warn = warn
        self._log: AuditLog | None = None
        self._opened = False

    def __call__(self, call: CallRecord) -> None:
        """Record a call: who, what, how long and how it ended; of what was asked only how long it was."""
        if not self._opened:
            self._opened = True
            self._open()
        if self._log is None:
            return
        tenant, user = split_owner(call.owner)
        query = call.arguments.get("query")
        fingerprint = self._environ.get("AUDIT_INCLUDE_REQUEST_BODY", "").strip().lower() in {"1", "true", "yes", "on"}
        self._log.record(
            AuditRecord(
                "tool_call",
                tenant,
                user,
                success=not call.error,
                tool_name=call.tool,
                session_id=call.session,
                duration_ms=round(call.seconds * 1000, 3),
                error_code=call.error,
                metadata=describe_query(query, fingerprint=fingerprint) if isinstance(query, str) else {},
            )
        )

    def _open(self) -> None:
        try:
            folder = Path(state_folder(self._environ))
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._log = open_audit(folder, self._environ, warn=self._warn)
        except (ValueError, OSError) as error:
            self._warn(f"calls are not audited: {error}")

    def close(self) -> None:
        """Write what is waiting, and close the log."""
        if self._log is not None:
            self._log.close()
