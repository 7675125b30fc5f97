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


_MOST_PLACES = 20


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
    skipped = [at for at, entry in enumerate(entries, 1) if not entry.url]
    if skipped:
        told["skipped"] = len(skipped)
        told["skippedNote"] = _tell_skipped(skipped)
    if not sources:
        told["sessionId"] = session
    return told


def _tell_skipped(places: Sequence[int]) -> str:
    """Which sources were left out, counted from 1; of many the first."""
    shown = ", ".join(map(str, places[:_MOST_PLACES])) + (" …" if len(places) > _MOST_PLACES else "")
    few = len(places) == 1
    said = f"source {shown} has" if few else f"sources {shown} have"
    return f"{said} neither a web address nor a DOI and {'was' if few else 'were'} left out"


async def _of_session(desk: Desk, session: str) -> list[dict[str, str]]:
    from specloom.trust.sessions import find_sources

    return await find_sources(desk, session)
