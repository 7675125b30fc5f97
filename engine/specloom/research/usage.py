"""How an owner uses the tools, for that owner alone: counts and dates, no arguments and no answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..dates import from_epoch

if TYPE_CHECKING:
    from ..drawer import Drawer

KEY = "usage"
RECENT = 10
"""Tools that were used last and are named in order; the contract's number."""


async def count_call(drawer: Drawer, tool: str, now: float) -> None:
    """Count one call of a tool."""
    seen = from_epoch(now) or ""

    def change(value: Any) -> dict[str, Any]:
        kept = value or {"totalCalls": 0, "toolCounts": {}, "firstSeen": seen, "recentTools": []}
        counts = kept["toolCounts"]
        recent = [tool, *(one for one in kept["recentTools"] if one != tool)]
        return {
            **kept,
            "totalCalls": kept["totalCalls"] + 1,
            "toolCounts": {**counts, tool: counts.get(tool, 0) + 1},
            "lastSeen": seen,
            "recentTools": recent[:RECENT],
        }

    await drawer.update(KEY, change)


async def read_usage(drawer: Drawer, tenant: str, user: str) -> dict[str, Any] | None:
    """What was counted for the owner, or None when nothing was."""
    item = await drawer.get(KEY)
    return None if item is None else {"tenantId": tenant, "userId": user, **item.value}
