"""The procedures of this package as specs name them: what each takes and gives. The work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import Seen, observer, procedure
from specloom.records import FLAG, NUMBER, OBJECT, TEXT, WHOLE, closed, listed, record, texts

if TYPE_CHECKING:
    from specloom.desk import Desk
    from specloom.drawer import Drawers


def _switch(description: str) -> dict[str, Any]:
    return {"type": "boolean", "default": False, "description": description}


# --- sessions -------------------------------------------------------------------------------------------------------

_STEP = closed(
    {
        "stepNumber": WHOLE,
        **texts("description", "reasoning", "confidence", "branchId", "timestamp"),
        "rejectedApproaches": listed(TEXT),
        "isRevision": FLAG,
        **dict.fromkeys(("revisesStep", "branchFromStep", "supersededBy"), WHOLE),
    },
    "stepNumber",
    "description",
    "timestamp",
)
_INDEX = closed(
    {"stepNumber": WHOLE, **texts("oneLiner", "branchId", "confidence"), "supersededBy": WHOLE},
    "stepNumber",
    "oneLiner",
    "branchId",
    "confidence",
)
_GAP = closed({"description": TEXT, "foundInStep": WHOLE, "resolvedInStep": WHOLE}, "description")
_SOURCE = closed({**texts("url", "title", "relevance", "author", "date", "doi"), "foundInStep": WHOLE}, "url", "title")
_AROUND = {"lastSteps": listed(_STEP), "gaps": listed(_GAP), "sources": listed(_SOURCE)}
_HEAD = {
    **texts("sessionId", "responseMode", "researchGoal", "startedAt", "completedAt", "trust"),
    "totalStepsEstimate": WHOLE,
    "isComplete": FLAG,
}
_COVERAGE = closed(
    {
        "sourceCount": WHOLE,
        "uniqueDomains": WHOLE,
        "domainSpread": NUMBER,
        "dominantDomain": TEXT,
        "sourceTypes": {"type": "object", "additionalProperties": WHOLE},
        "gaps": listed(TEXT),
    },
    "sourceCount",
    "uniqueDomains",
    "domainSpread",
    "sourceTypes",
    "gaps",
)
_REFINEMENT = closed(
    {
        **texts("query", "error"),
        "resultCount": WHOLE,
        "results": listed(closed(texts("title", "url", "snippet"), "title", "url", "snippet")),
    },
    "query",
)

PROGRESS = record(
    {
        **_HEAD,
        "currentStep": WHOLE,
        **texts("warning", "summary", "depth", "refinementNote", "refinementWarning"),
        "steps": listed(_INDEX),
        "stepIndex": listed(_INDEX),
        **_AROUND,
        "coverage": _COVERAGE,
        "refinementQueries": listed(TEXT),
        "refinementResults": listed(_REFINEMENT),
    },
    "sessionId",
    "responseMode",
    "researchGoal",
    "currentStep",
    "totalStepsEstimate",
    "isComplete",
    "startedAt",
    "trust",
)
"""What a step is answered with; what does not apply is left out."""

STEP_INPUTS: Mapping[str, Mapping[str, Any]] = {
    **texts("searchStep", "sessionId", "researchGoal", "reasoning", "confidence", "sessionSummary", "responseMode"),
    **texts("branchId", "knowledgeGap", "depth"),
    **dict.fromkeys(("stepNumber", "totalStepsEstimate", "revisesStep", "branchFromStep"), WHOLE),
    **dict.fromkeys(("nextStepNeeded", "isRevision"), FLAG),
    **dict.fromkeys(("rejectedApproaches", "resolvedGaps"), listed(TEXT)),
}


@procedure("take_step", parameters=STEP_INPUTS, gives=PROGRESS, asks=("web",))
async def take_step(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keeps one step of a research, and begins a session with the first.

    With `depth` standard or thorough it tells how widely the session has looked and what could be asked next;
    thorough also asks the first of these questions and keeps what they find.
    """
    from .stepping import tell_step

    return await tell_step(desk, given)


RECOVERED = record(
    {
        **_HEAD,
        "stepCount": WHOLE,
        "summary": TEXT,
        "stepIndex": listed(_INDEX),
        **_AROUND,
        "step": _STEP,
        "resolvedGaps": listed(_GAP),
        "sourcesNotKept": WHOLE,
        "errorPatterns": listed(
            closed(
                {"count": WHOLE, **texts("kind", "suggestion", "lastSeen"), "affectedUrls": listed(TEXT)},
                "kind",
                "count",
                "affectedUrls",
                "suggestion",
                "lastSeen",
            )
        ),
        "providerStats": {
            "type": "object",
            "additionalProperties": closed({"attempts": WHOLE, "successes": WHOLE}, "attempts", "successes"),
        },
    },
    "sessionId",
    "responseMode",
    "researchGoal",
    "stepCount",
    "trust",
)
"""A session as it is taken up again, or one of its steps."""


@procedure("recover_session", parameters={"sessionId": TEXT, "stepId": WHOLE}, gives=RECOVERED)
async def recover_session(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Tells everything that is needed to go on with a session, or one of its steps whole."""
    from .stepping import recover

    return await recover(desk, given["sessionId"], given.get("stepId") or 0)


@procedure(
    "session_sources",
    parameters={"sessionId": TEXT},
    gives=record(
        {"sources": listed(closed(texts("url", "title", "author", "date", "doi"), "url", "title"))}, "sources"
    ),
)
async def session_sources(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Lists what a session of the caller has found: address, title, author, date and DOI."""
    from .stepping import list_sources

    return {"sources": await list_sources(desk, given["sessionId"])}


EXPORTED = record(
    {
        **texts("sessionId", "format", "researchGoal", "startedAt", "exportedAt", "tenantId", "trust"),
        "stepCount": WHOLE,
        "sourceCount": WHOLE,
        "document": {},
    },
    "sessionId",
    "format",
    "researchGoal",
    "stepCount",
    "sourceCount",
    "startedAt",
    "exportedAt",
    "tenantId",
    "trust",
    "document",
)
"""A session as a document: a report as text, or the whole of it as data."""


@procedure(
    "export_session",
    parameters={"sessionId": TEXT, "format": TEXT, "verify_links": FLAG},
    gives=EXPORTED,
    asks=("snapshots",),
)
async def export_session(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Makes a session of the caller into a document; the session stays as it is.

    With `verify_links` every source is looked at, and the archived copy of a dead one is named in the document.
    """
    from .exporting import export

    return await export(desk, given["sessionId"], given.get("format", "markdown"), given.get("verify_links", False))


# --- what is kept with consent --------------------------------------------------------------------------------------

_MEMORY = {"MEMORY_ENABLED": _switch("Whether users who agreed can save findings and recall them in later sessions.")}
_SPACES = {"WORKSPACES_ENABLED": _switch("Whether members of a workspace who agreed can share findings.")}
_USAGE = {"USER_ANALYTICS_ENABLED": _switch("Whether calls of users who agreed are counted, for themselves to see.")}
_WATCHES = {"MONITORING_ENABLED": _switch("Whether users who agreed can watch what is new on a question.")}
_STATUS = texts("status", "reason")
_TAGS = listed(TEXT)
_NOTE = {**texts("note", "topic", "url"), "tags": _TAGS}


@procedure(
    "save_memory",
    parameters=_NOTE,
    gives=record({**_STATUS, **texts("id", "createdAt")}, "status"),
    settings=_MEMORY,
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
    settings=_MEMORY,
)
async def recall_memories(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Finds notes of the calling user: about the words of `query`, else on a topic, else the newest."""
    from .consenting import recall_memories as work

    return await work(desk, given)


@procedure(
    "share_finding",
    parameters={"workspace_id": TEXT, "note": TEXT, "url": TEXT, "tags": _TAGS},
    gives=record({**_STATUS, "id": TEXT}, "status"),
    settings=_SPACES,
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
    settings=_SPACES,
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
    settings=_USAGE,
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
    settings=_WATCHES,
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
    settings=_WATCHES,
)
async def check_watch(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Asks a watched question again and gives the rows that were not there before."""
    from .consenting import check_watch as work

    return await work(desk, given)


# --- what calls leave behind ----------------------------------------------------------------------------------------


@observer(settings=_USAGE, every="USER_ANALYTICS_ENABLED")
async def remember_call(drawers: Drawers, seen: Seen) -> None:
    """Put what a call found and met into its session, and count it for a user who agreed to that."""
    from .observing import count_for_user, note_in_session

    if seen.session:
        await note_in_session(drawers, seen)
    if seen.config.get("USER_ANALYTICS_ENABLED"):
        await count_for_user(drawers, seen)
