"""The procedures over what is kept of people as specs name them: what each takes and gives, and its switch.

Work is imported when done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.drawer import CONSENTS, MEMBERS
from specloom.hooks import procedure
from specloom.records import OBJECT, TEXT, WHOLE, closed, listed, record, texts

from .collections import FINDINGS, MEMORIES, USAGE, WATCHES
from .switches import MEMORY, MONITORING, USAGE_COUNTS, WORKSPACES

if TYPE_CHECKING:
    from specloom.desk import Desk

_STATUS = texts("status", "reason")
_TAGS = listed(TEXT)
_NOTE = {**texts("note", "topic", "url"), "tags": _TAGS}


@procedure(
    "save_memory",
    parameters=_NOTE,
    gives=record({**_STATUS, **texts("id", "createdAt")}, "status"),
    settings=MEMORY,
    keeps=(CONSENTS, MEMORIES),
)
async def save_memory(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keeps a note of a user who agreed to that; tells its id."""
    from .consenting import save_memory as work

    return await work(desk, given)


@procedure(
    "recall_memories",
    parameters={"topic": TEXT, "query": TEXT, "limit": WHOLE},
    gives=record(
        {
            **_STATUS,
            "count": WHOLE,
            "memories": listed(
                closed(
                    {**texts("id", "tenantId", "userId", "topic", "note", "url", "createdAt"), "tags": _TAGS},
                    "id",
                    "tenantId",
                    "userId",
                    "note",
                    "createdAt",
                )
            ),
        },
        "status",
        "count",
        "memories",
    ),
    settings=MEMORY,
    keeps=(CONSENTS, MEMORIES),
)
async def recall_memories(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Finds notes of the calling user: about the words of `query`, else on a topic, else the newest."""
    from .consenting import recall_memories as work

    return await work(desk, given)


@procedure(
    "share_finding",
    parameters={"workspace_id": TEXT, "note": TEXT, "url": TEXT, "tags": _TAGS},
    gives=record({**_STATUS, "id": TEXT}, "status"),
    settings=WORKSPACES,
    keeps=(CONSENTS, MEMBERS, FINDINGS),
    needs=("workspace_id",),
)
async def share_finding(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Puts a copy of a finding into a shared space of which the caller is a member; tells its id."""
    from .consenting import share_finding as work

    return await work(desk, given)


@procedure(
    "read_findings",
    parameters={"workspace_id": TEXT},
    gives=record(
        {
            **_STATUS,
            "count": WHOLE,
            "contributions": listed(
                closed(
                    {
                        **texts("id", "workspaceId", "contributorTenant", "contributorUser", "note", "url"),
                        "tags": _TAGS,
                        "createdAt": TEXT,
                    },
                    "id",
                    "workspaceId",
                    "contributorTenant",
                    "contributorUser",
                    "note",
                    "createdAt",
                )
            ),
        },
        "status",
        "count",
        "contributions",
    ),
    settings=WORKSPACES,
    keeps=(CONSENTS, MEMBERS, FINDINGS),
    needs=("workspace_id",),
)
async def read_findings(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Lists the findings of a shared space of which the caller is a member, newest first."""
    from .consenting import read_findings as work

    return await work(desk, given)


@procedure(
    "tell_usage",
    parameters={},
    gives=record(
        {
            **_STATUS,
            "analytics": closed(
                {
                    **texts("tenantId", "userId", "firstSeen", "lastSeen"),
                    "totalCalls": WHOLE,
                    "toolCounts": {"type": "object", "additionalProperties": WHOLE},
                    "recentTools": listed(TEXT),
                },
                "tenantId",
                "userId",
                "totalCalls",
                "toolCounts",
            ),
        },
        "status",
    ),
    settings=USAGE_COUNTS,
    keeps=(CONSENTS, USAGE),
)
async def tell_usage(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - there is nothing to ask
    """Tells the calling user how often they used which tool."""
    from .consenting import tell_usage as work

    return await work(desk)


@procedure(
    "save_watch",
    parameters={"query": TEXT, "provider": TEXT, "ttl_days": WHOLE},
    gives=record({**_STATUS, **texts("query", "provider", "savedAt"), "seenCount": WHOLE, "ttlDays": WHOLE}, "status"),
    asks=("web",),
    settings=MONITORING,
    keeps=(CONSENTS, WATCHES),
)
async def save_watch(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Asks a question once and keeps what is there now, so that a later look tells only what is new."""
    from .consenting import save_watch as work

    return await work(desk, given)


@procedure(
    "check_watch",
    parameters={"query": TEXT, "provider": TEXT},
    gives=record(
        {**_STATUS, "new_count": WHOLE, "last_run_at": TEXT, "rows": listed(OBJECT)}, "status", "new_count", "rows"
    ),
    asks=("web",),
    settings=MONITORING,
    keeps=(CONSENTS, WATCHES),
)
async def check_watch(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Asks a watched question again and gives the rows that were not there before."""
    from .consenting import check_watch as work

    return await work(desk, given)
