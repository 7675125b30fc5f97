"""What calls leave behind: sources and outcomes in their session, and a count for a user who agreed to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..consents import find_refusal
from . import sessions, usage
from .memories import LONGEST_URL
from .trail import Outcome

if TYPE_CHECKING:
    from ..drawer import Drawers
    from ..hooks import Seen


async def note_in_session(drawers: Drawers, seen: Seen) -> None:
    """Keep the sources and the outcomes of a call in its session; one that does not exist is nobody's loss."""
    drawer = drawers.drawer("sessions", seen.owner)
    if seen.rows and seen.kind:
        await sessions.note_rows(drawer, seen.session, seen.kind, seen.rows)
    if seen.outcomes:
        ended = [
            Outcome(str(one["provider"]), str(one.get("error", "")), str(one.get("url", ""))[:LONGEST_URL], at=seen.at)
            for one in seen.outcomes
        ]
        await sessions.note_outcomes(drawer, seen.session, ended)


async def count_for_user(drawers: Drawers, seen: Seen) -> None:
    """Count a call, if its user agreed to being counted."""
    if await find_refusal(drawers.drawer("consents", seen.owner), seen.owner, "analytics") is None:
        await usage.count_call(drawers.drawer("usage", seen.owner), seen.tool, seen.at)
