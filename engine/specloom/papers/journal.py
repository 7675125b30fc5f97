"""What one call writes down: its log with the clock of the desk, and the two rows around everything that it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .codes import Refusal
from .log import Log
from .places import log_path
from .refs import Ref, canonical_digest

if TYPE_CHECKING:
    from specloom.desk import Desk

_LOGS: dict[Path, Log] = {}


@dataclass(frozen=True, slots=True)
class Journal:
    """The log as one call sees it."""

    desk: Desk
    log: Log

    def start(self, ref: Ref | None = None) -> None:
        """The first row; LOG_ERROR ends the call before anything is asked."""
        self._row("session_start", ref=ref.value if ref else None)

    def end(self, ref: Ref | None, code: str | None) -> bool:
        """The last row, with the code that the caller is told; whether it could be written."""
        result = "ok" if code is None else "denied" if code == "CAPABILITY_DENIED" else "err"
        try:
            self._row("session_end", ref=ref.value if ref else None, result=result, error_code=code)
        except Refusal:
            return False
        return True

    def asked(
        self,
        ref: Ref,
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
            ref=ref.value,
            source=source,
            capability=capability,
            result="ok" if refusal is None else "err",
            error_code=refusal.logged if refusal else None,
            size_bytes=size,
            license=license_,
            canonical_digest=canonical_digest(ref.kind, ref.value, source),
        )

    def stored(self, ref: Ref, source: str, path: str, own: Mapping[str, Any], capability: str) -> None:
        """Something was written to the store; `path` is below its root."""
        self._row(
            "store_write",
            ref=ref.value,
            source=source,
            capability=capability,
            store_path=path,
            license=own.get("license"),
            size_bytes=own.get("size_bytes"),
            canonical_digest=canonical_digest(ref.kind, ref.value, source),
        )

    def forced(self, ref: Ref) -> None:
        """The caller asked again before its time."""
        self._row("repeat_forced", ref=ref.value)

    def _row(self, event: str, **fields: Any) -> None:
        self.log.append(event, now=self.desk.now(), **fields)


def open_journal(desk: Desk) -> Journal:
    """The journal of a call at this desk; one log for each file in a process."""
    path = log_path(desk.config)
    return Journal(desk, _LOGS.setdefault(path, Log(path)))
