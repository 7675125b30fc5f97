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
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config import log_path, log_retention
from .errors import Refusal
from .identifiers import PaperId, canonical_digest
from .locks import held_now, sync_folder, write_whole

if TYPE_CHECKING:
    from specloom.plugins import Context


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
class LogVerdict:
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


def verify(path: Path) -> LogVerdict:
    """Look at every row of a log: its keys, its hash, its number, and that it follows the one before it."""
    before, rows = GENESIS, 0
    if not path.exists():
        return LogVerdict(0)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            row = parse_row(line)
            if row is None:
                is_whole = line.endswith(b"\n")
                return LogVerdict(rows, f"row {number} is not JSON" if is_whole else f"row {number} {CUT_OFF}")
            if set(row) != set(KEYS):
                return LogVerdict(rows, f"row {number} does not have the keys of a row")
            if row["this_hash"] != hash_row(row):
                return LogVerdict(rows, f"row {number} was changed: its hash is another")
            if row["prev_hash"] != before:
                return LogVerdict(
                    rows, f"row {number} does not follow row {number - 1}: a row was removed or put between"
                )
            if row["ts_seq"] != number:
                return LogVerdict(rows, f"row {number} has the number {row['ts_seq']}")
            before, rows = row["this_hash"], number
    return LogVerdict(rows)


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


# --- What one call writes down: its log with the clock of the context, and the two rows around everything that it
# does -----------------------------------------------------------------------------------------------------------------


_LOGS: dict[Path, Log] = {}


@dataclass(slots=True)
class LogSession:
    """How a call ends: `refusal` is what its caller is told is missing, although the call has an answer."""

    refusal: Refusal | None = None
    is_written: bool = True
    """Whether the last row could be written."""


@dataclass(frozen=True, slots=True)
class Journal:
    """The log as one call sees it; without a log, which is so where nobody is really asked, rows go nowhere."""

    context: Context
    log: Log | None

    def start(self, ref: PaperId | None = None) -> None:
        """The first row; LOG_ERROR ends the call before anything is asked."""
        self._row("session_start", **_about(ref))

    def end(self, ref: PaperId | None, code: str | None, *, has_answer: bool = False) -> bool:
        """The last row, with the code that the caller is told; whether it could be written.

        A call that was not granted is `denied`; one with an answer that lacks something is `err`, whatever denied it.
        """
        result = "ok" if code is None else "denied" if code == "CAPABILITY_DENIED" and not has_answer else "err"
        try:
            self._row("session_end", **_about(ref), result=result, error_code=code)
        except Refusal:
            return False
        return True

    @contextlib.contextmanager
    def session(self, ref: PaperId | None = None) -> Iterator[LogSession]:
        """The two rows around a call, the last one with the code of what it raises or of the session's refusal."""
        self.start(ref)
        session = LogSession()
        ended: Refusal | None = Refusal("INTERNAL_ERROR", "The call did not come to its end.")
        try:
            yield session
            ended = session.refusal
        except Refusal as refusal:
            ended = refusal
            raise
        finally:
            session.is_written = self.end(ref, ended.code if ended else None, has_answer=ended is session.refusal)

    def asked(
        self,
        ref: PaperId | None,
        source: str,
        *,
        refusal: Refusal | None = None,
        capability: str = "metadata",
        size: int | None = None,
        license_: str | None = None,
        event: str = "fetch",
    ) -> None:
        """A source was asked: its row, with the digest of paper and resolver."""
        self._row(
            event,
            **_about(ref, source),
            source=source,
            capability=capability,
            result="ok" if refusal is None else "err",
            error_code=refusal.logged if refusal else None,
            size_bytes=size,
            license=license_,
        )

    def stored(self, ref: PaperId, source: str, path: str, own: Mapping[str, Any], capability: str) -> None:
        """Something was written to the store; `path` is below its root."""
        self._row(
            "store_write",
            **_about(ref, source),
            source=source,
            capability=capability,
            store_path=path,
            license=own.get("license"),
            size_bytes=own.get("size_bytes"),
        )

    def forced(self, ref: PaperId) -> None:
        """The caller asked again before its time."""
        self._row("repeat_forced", **_about(ref))

    def _row(self, event: str, **fields: Any) -> None:
        if self.log is not None:
            self.log.append(event, now=self.context.now(), **fields)


def _about(ref: PaperId | None, source: str = "") -> dict[str, Any]:
    """The columns that name a paper: a DOI or an arXiv identifier, and with a source the digest of the two."""
    if ref is None or ref.kind == "pubmed":
        return {}
    digest = {"canonical_digest": canonical_digest(ref.kind, ref.value, source)} if source else {}
    return {"ref": ref.value, **digest}


def open_journal(context: Context) -> Journal:
    """The journal of a call at this context; one log for each file in a process."""
    if not context.is_live:
        return Journal(context, None)
    path = log_path(context.config)
    return Journal(context, _LOGS.setdefault(path, Log(path, keep_days=log_retention(context.config))))


# --- Brings a provenance log of the format v1 into the one that is written now: two more columns and a new chain ------
# A row of v1 has neither `schema_version` nor `canonical_digest`. The digest is worked out from reference and source,
# numbers and hashes are made anew, and nothing else of a row is touched. The log as it was stays beside it.


BACKUP = ".v1-backup"
STAGED = ".v2-migrated"


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration did or would do: rows in all, rows of v1 among them, and the first hash before and after."""

    rows: int
    rewritten: int
    anchor_before: str | None
    anchor_after: str | None


async def migrate_provenance(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite the log at `path`, or the configured one, and say what was done."""
    path = Path(given["path"]) if given.get("path") else log_path(context.config)
    return {"path": str(path), **asdict(migrate(path, dry_run=bool(given.get("dry_run"))))}


def migrate(path: Path, *, dry_run: bool = False) -> Migrated:
    """Rewrite a log, unless `dry_run`; a log without rows of v1 is left as it is.

    LOG_ERROR for a line that is a row of neither format and where the log cannot be written: then nothing is changed.
    """
    if dry_run or not path.exists():
        return _rewrite(path)[0]
    try:
        with held_now(path.with_name(path.name + ".lock")):
            done, text = _rewrite(path)
            if not done.rewritten:
                return done
            before, staged = path.with_name(path.name + BACKUP), path.with_name(path.name + STAGED)
            if before.exists():
                raise Refusal("LOG_ERROR", f"{before} is there from an earlier migration; move it away first.")
            write_whole(before, path.read_bytes())
            write_whole(staged, text)
            verdict = verify(staged)
            if verdict.problem:
                raise Refusal("LOG_ERROR", f"The migrated log does not hold: {verdict.problem}.")
            staged.replace(path)
            return done
    except OSError as error:
        raise Refusal("LOG_ERROR", f"The provenance log {path} cannot be migrated: {error.strerror}.") from None


def _rewrite(path: Path) -> tuple[Migrated, bytes]:
    rows: list[dict[str, Any]] = []
    rewritten, before = 0, GENESIS
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
    except OSError as error:
        raise Refusal("LOG_ERROR", f"The provenance log {path} cannot be read: {error.strerror}.") from None
    for number, line in enumerate(lines, 1):
        said = parse_row(line)
        if said is None or set(said) not in (OLDER_KEYS, set(KEYS)):
            raise Refusal("LOG_ERROR", f"Line {number} of {path} is a row of no format that is known.")
        # How v1 hashed a row is not known for sure, but that a row names the one before it is.
        if said["prev_hash"] != before or (set(said) == set(KEYS) and said["this_hash"] != hash_row(said)):
            raise Refusal("LOG_ERROR", f"Row {number} of {path} does not hold, and a new chain would hide that.")
        before = said["this_hash"]
        rewritten += set(said) == OLDER_KEYS
        row = {**said, **_columns(said), "ts_seq": number}
        row["prev_hash"] = rows[-1]["this_hash"] if rows else GENESIS
        rows.append({**row, "this_hash": hash_row(row)})
    text = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    first = parse_row(lines[0]) if lines else None
    anchors = (first["this_hash"] if first else None, rows[0]["this_hash"] if rows else None)
    return Migrated(len(rows), rewritten, *anchors), text.encode("utf-8", "surrogatepass")


def _columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a row of v1 lacks; none for a row that has them."""
    if set(row) == set(KEYS):
        return {}
    ref, source = row["ref"], row["source"]
    kind = "doi" if str(ref).startswith("10.") else "arxiv"
    digest = canonical_digest(kind, str(ref), str(source)) if ref and source else None
    return {"schema_version": ROW_VERSION, "canonical_digest": digest}
