"""What calls leave behind: sources and outcomes in their session, and a count for a user who agreed to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specloom.core import from_epoch
from specloom.plugins import CONSENTS, OBSERVERS, ObservedCall, find_refusal

from .store import SESSIONS, USAGE, note_call

if TYPE_CHECKING:
    from specloom.plugins import Collection, Collections

ANALYTICS = "USER_ANALYTICS_ENABLED"
KEY = "usage"
RECENT = 10
"""Tools that were used last and are named in order; the contract's number."""


@OBSERVERS.register(
    "sessions",
    settings={
        ANALYTICS: {
            "type": "boolean",
            "default": False,
            "description": "Whether calls of users who agreed are counted, for themselves to see.",
        }
    },
    every=ANALYTICS,
    keeps=(SESSIONS, CONSENTS, USAGE),
)
async def remember_call(drawers: Collections, seen: ObservedCall) -> None:
    """Put what a call found and met into its session, and count it for a user who agreed to that."""
    if seen.session:
        await note_call(drawers.drawer(SESSIONS.name, seen.owner), seen)
    if seen.config.get(ANALYTICS):
        refusal = await find_refusal(drawers.drawer(CONSENTS.name, seen.owner), seen.owner, "analytics")
        if refusal is None:
            await count_call(drawers.drawer(USAGE.name, seen.owner), seen.tool, seen.at)


async def count_call(usage: Collection, tool: str, now: float) -> None:
    """Count one call of a tool for the owner: counts and dates, no arguments and no answers."""
    at = from_epoch(now) or ""

    def change(value: Any) -> dict[str, Any]:
        counted = value or {"totalCalls": 0, "toolCounts": {}, "firstSeen": at, "recentTools": []}
        counts = counted["toolCounts"]
        return {
            **counted,
            "totalCalls": counted["totalCalls"] + 1,
            "toolCounts": {**counts, tool: counts.get(tool, 0) + 1},
            "lastSeen": at,
            "recentTools": [tool, *(name for name in counted["recentTools"] if name != tool)][:RECENT],
        }

    await usage.update(KEY, change)
