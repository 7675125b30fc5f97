"""Who looks at calls for this package. Work is imported when done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specloom.plugins import CONSENTS, ObservedCall, observer
from specloom.storage import find_refusal

from . import memories as usage
from . import store
from .consent import USAGE_COUNTS
from .memories import LONGEST_URL
from .session import CallOutcome
from .store import SESSIONS, USAGE

if TYPE_CHECKING:
    from specloom.plugins import Collections


@observer(settings=USAGE_COUNTS, every="USER_ANALYTICS_ENABLED", keeps=(SESSIONS, CONSENTS, USAGE))
async def remember_call(drawers: Collections, seen: ObservedCall) -> None:
    """Put what a call found and met into its session, and count it for a user who agreed to that."""

    if seen.session:
        await note_in_session(drawers, seen)
    if seen.config.get("USER_ANALYTICS_ENABLED"):
        await count_for_user(drawers, seen)


# --- What calls leave behind: sources and outcomes in their session, and a count for a user who agreed to it ----------


async def note_in_session(drawers: Collections, seen: ObservedCall) -> None:
    """Keep the sources and the outcomes of a call in its session; one that does not exist is nobody's loss."""
    drawer = drawers.drawer("sessions", seen.owner)
    if seen.rows and seen.kind:
        await store.note_rows(drawer, seen.session, seen.kind, seen.rows)
    if seen.outcomes:
        ended = [
            CallOutcome(
                str(one["provider"]), str(one.get("error", "")), str(one.get("url", ""))[:LONGEST_URL], at=seen.at
            )
            for one in seen.outcomes
        ]
        await store.note_outcomes(drawer, seen.session, ended)


async def count_for_user(drawers: Collections, seen: ObservedCall) -> None:
    """Count a call, if its user agreed to being counted."""
    if await find_refusal(drawers.drawer("consents", seen.owner), seen.owner, "analytics") is None:
        await usage.count_call(drawers.drawer("usage", seen.owner), seen.tool, seen.at)
