"""Formats sources as a bibliography: those that a caller names, or those that a session has recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault
from specloom.trust.bibliography.entry import from_source
from specloom.trust.bibliography.rendering import render

if TYPE_CHECKING:
    from specloom.desk import Desk


async def format_sources(
    desk: Desk, style: str, sources: Sequence[Mapping[str, str]] | None, session: str
) -> dict[str, Any]:
    """The bibliography under the names of the tool contract; named sources come before those of a session.

    Pages that are read (APA, MLA) show today as the day of access where the manuals ask for one; the interchange
    formats have no such day and stay the same from day to day.
    """
    if not sources and not session:
        raise Fault("validation", "nothing to format: give sources or a sessionId")
    given = sources or await _of_session(desk, session)
    entries = [from_source({name: str(value) for name, value in source.items()}) for source in given]
    today = datetime.fromtimestamp(desk.now(), UTC).date().isoformat()
    rendered = render(entries, style, accessed=today if style in ("apa", "mla") else "")
    told: dict[str, Any] = {"style": rendered.style, "entryCount": rendered.count, "bibliography": rendered.text}
    skipped = sum(1 for entry in entries if not entry.url)
    if skipped:
        told["skipped"] = skipped
        told["skippedNote"] = f"{skipped} of the sources have no address and were left out"
    if not sources:
        told["sessionId"] = session
    return told


async def _of_session(desk: Desk, session: str) -> list[dict[str, str]]:
    from specloom.trust.sessions import find_sources

    return await find_sources(desk, session)
