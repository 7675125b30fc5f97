"""What one call writes down: its log with the clock of the desk, and the two rows around everything that it does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .codes import Refusal
from .log import Log
from .places import log_path, log_retention
from .refs import Ref, canonical_digest

if TYPE_CHECKING:
    from specloom.desk import Desk

_LOGS: dict[Path, Log] = {}


@dataclass(slots=True)
class Session:
    """How a call ends: `refusal` is what its caller is told is missing, although the call has an answer."""

    refusal: Refusal | None = None
    is_written: bool = True
    """Whether the last row could be written."""


@dataclass(frozen=True, slots=True)
class Journal:
    """The log as one call sees it; without a log, which is so where nobody is really asked, rows go nowhere."""

    desk: Desk
    log: Log | None

    def start(self, ref: Ref | None = None) -> None:
        """The first row; LOG_ERROR ends the call before anything is asked."""
        self._row("session_start", **_about(ref))

    def end(self, ref: Ref | None, code: str | None, *, has_answer: bool = False) -> bool:
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
    def session(self, ref: Ref | None = None) -> Iterator[Session]:
        """The two rows around a call, the last one with the code of what it raises or of the session's refusal."""
        self.start(ref)
        session = Session()
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
        ref: Ref | None,
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

    def stored(self, ref: Ref, source: str, path: str, own: Mapping[str, Any], capability: str) -> None:
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

    def forced(self, ref: Ref) -> None:
        """The caller asked again before its time."""
        self._row("repeat_forced", **_about(ref))

    def _row(self, event: str, **fields: Any) -> None:
        if self.log is not None:
            self.log.append(event, now=self.desk.now(), **fields)


def _about(ref: Ref | None, source: str = "") -> dict[str, Any]:
    """The columns that name a paper: a DOI or an arXiv identifier, and with a source the digest of the two."""
    if ref is None or ref.kind == "pubmed":
        return {}
    digest = {"canonical_digest": canonical_digest(ref.kind, ref.value, source)} if source else {}
    return {"ref": ref.value, **digest}


def open_journal(desk: Desk) -> Journal:
    """The journal of a call at this desk; one log for each file in a process."""
    if not desk.is_live:
        return Journal(desk, None)
    path = log_path(desk.config)
    return Journal(desk, _LOGS.setdefault(path, Log(path, keep_days=log_retention(desk.config))))
