"""The sources of a research session, where sessions are kept: the one seam between the trust tools and the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specloom.faults import Fault
from specloom.hooks import PROCEDURES

if TYPE_CHECKING:
    from specloom.desk import Desk

PROCEDURE = "session_sources"
"""A procedure of that name takes `sessionId` and gives `sources`: rows with url, title, author, date, site and doi."""


async def find_sources(desk: Desk, session: str) -> list[dict[str, str]]:
    """What a session of the caller has recorded; a `session_not_found` fault where there is no such session."""
    if PROCEDURE not in PROCEDURES:
        raise Fault("session_not_found", f"there is no session {session!r}: this server keeps none")
    given: dict[str, Any] = await desk.run(PROCEDURE, {"sessionId": session})
    return [
        {name: str(value) for name, value in source.items() if value is not None} for source in given.get("sources", [])
    ]
