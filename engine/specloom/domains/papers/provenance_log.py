"""The provenance log: a hash chain with a row for everything that was asked and kept.

No row, no fetch: what cannot be written down is not done. Processes that share a file take turns on a lock beside it.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specloom.core import Answer, Fault, dataclass
from specloom.domains.text import PaperId
from specloom.plugins import Context
from specloom.storage import ChainedLog, ChainVerdict, RowFormat

from .config import log_path, log_retention
from .errors import PaperFault, to_paper_fault
from .limits import turn

ROW_VERSION = "v2"
LARGEST = 100 * 1024 * 1024
"""Bytes of a log before it is put away and a new chain begins."""

KEYS = (
    *("ts", "ts_seq", "event", "ref", "source", "result", "license", "size_bytes", "store_path", "capability"),
    *("session_id", "error_code", "schema_version", "canonical_digest", "prev_hash", "this_hash"),
)
FORMAT = RowFormat("ts_seq", "this_hash", (lambda data: hashlib.sha256(data).hexdigest(),), "GENESIS", KEYS)
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class ProvenanceLog:
    """The log at a path; what was put away more than `keep_days` days ago is removed, 0 keeps everything."""

    def __init__(self, path: Path, *, keep_days: int = 0) -> None:
        self.path = path
        self._chain = ChainedLog(path, FORMAT, largest=LARGEST, keep_days=keep_days)

    def append(self, event: str, *, now: float, result: str = "ok", capability: str = "oa", **fields: Any) -> None:
        """Add one row and flush it; LOG_ERROR when that is not possible, and then nothing may be done."""
        row = {**dict.fromkeys(KEYS), "ts": to_timestamp(now), "event": event, "result": result, **fields}
        row |= {"capability": capability, "session_id": SESSION, "schema_version": ROW_VERSION}
        try:
            self._chain.append(row, now)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PaperFault("LOG_ERROR", f"The provenance log {self.path} cannot be written: {error}.") from None


def verify(path: Path) -> ChainVerdict:
    """Look at every row of a log: its keys, its number, that it follows the one before it, and its hash."""
    return ChainedLog(path, FORMAT).verify()


def to_timestamp(seconds: float) -> str:
    """RFC 3339 in UTC with milliseconds, which are left out when there are none."""
    text = datetime.fromtimestamp(round(seconds * 1000) / 1000, UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00").removesuffix(".000") + "Z"


def make_ulid(milliseconds: int, entropy: int) -> str:
    """26 characters that sort by time: 48 bits of milliseconds and 80 of chance."""
    number = (milliseconds << 80) | entropy
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


SESSION = make_ulid(int(time.time() * 1000), secrets.randbits(80))
"""The session of this process in the log."""

LOGS: dict[Path, ProvenanceLog] = {}
"""One log for each file in a process."""


@dataclass(slots=True)
class LogSession:
    """How a call ends: `fault` is what its caller is told is missing, although the call has an answer."""

    fault: PaperFault | None = None
    is_written: bool = True
    """Whether the last row could be written."""


@dataclass(frozen=True, slots=True)
class Journal:
    """The log as one call sees it; without a log, which is so where nobody is really asked, rows go nowhere."""

    context: Context
    log: ProvenanceLog | None

    @contextlib.contextmanager
    def session(self, ref: PaperId | None = None) -> Iterator[LogSession]:
        """The two rows around a call, the last one with the code of what it raises or of the session's fault.

        A call that was not granted is `denied`; one with an answer that lacks something is `err`, whatever denied it.
        LOG_ERROR ends the call before anything is asked.
        """
        self.row("session_start", ref)
        session = LogSession()
        fault: PaperFault | None = PaperFault("INTERNAL_ERROR", "The call did not come to its end.")
        try:
            yield session
            fault = session.fault
        except PaperFault as raised:
            fault = raised
            raise
        finally:
            code = fault.code if fault else None
            denied = code == "CAPABILITY_DENIED" and fault is not session.fault
            result = "ok" if code is None else "denied" if denied else "err"
            try:
                self.row("session_end", ref, result=result, error_code=code)
            except PaperFault:
                session.is_written = False

    async def ask(
        self,
        ref: PaperId | None,
        source: str,
        operation: str,
        arguments: Mapping[str, Any],
        *,
        provider: str = "",
        capability: str = "metadata",
        event: str = "fetch",
        absent: str = "",
        about: Callable[[Mapping[str, Any]], PaperId] | None = None,
        resumes: bool = False,
    ) -> Answer:
        """The answer of a source in its turn, written down; NOT_FOUND with the words `absent` where it has no row.

        `about` tells which paper a row means, or why it means none; `resumes` is as in `Context.ask`.
        """
        fault: PaperFault | None = None
        try:
            async with turn(self.context, source):
                answer = await self.context.ask(operation, arguments, provider=provider or source, resumes=resumes)
            if absent and not answer.rows:
                raise PaperFault("NOT_FOUND", absent)
            ref = about(answer.rows[0]) if about else ref
        except Fault as raised:
            fault = to_paper_fault(raised, absent=absent)
            if absent and not isinstance(raised, PaperFault) and raised.kind in ("bad_request", "validation"):
                # The identifier is well formed: arXiv refuses one that cannot exist, of others it says nothing of it.
                says_absent = source == "arxiv"
                fault = PaperFault(*(("NOT_FOUND", absent) if says_absent else ("NETWORK_ERROR", raised.message)))
        self.asked(ref, source, fault=fault, capability=capability, event=event)
        if fault is not None:
            raise fault
        return answer

    def asked(
        self, ref: PaperId | None, source: str, *, fault: PaperFault | None = None, event: str = "fetch", **fields: Any
    ) -> None:
        """A source was asked: its row, with the digest of paper and resolver."""
        result, code = ("ok", None) if fault is None else ("err", fault.logged)
        self.row(event, ref, source, result=result, error_code=code, **fields)

    def row(self, event: str, ref: PaperId | None = None, source: str = "", **fields: Any) -> None:
        """A row of the log; its paper is a DOI or an arXiv identifier, with a source the digest of the two."""
        if self.log is None:
            return
        if ref is not None and ref.kind != "pubmed":
            fields |= {"ref": ref.value, **({"canonical_digest": ref.digest(source)} if source else {})}
        self.log.append(event, now=self.context.now(), **({"source": source} if source else {}), **fields)


def open_journal(context: Context) -> Journal:
    """The journal of a call at this context."""
    if not context.is_live:
        return Journal(context, None)
    path = log_path(context.config)
    return Journal(context, LOGS.setdefault(path, ProvenanceLog(path, keep_days=log_retention(context.config))))
