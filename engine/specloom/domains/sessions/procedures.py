"""The procedures over research sessions as specs name them: what each takes and gives. Work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.plugins import (
    CONSENTS,
    FLAG,
    MEMBERS,
    NUMBER,
    OBJECT,
    TEXT,
    WHOLE,
    closed,
    listed,
    procedure,
    record,
    texts,
)

from .consent import MEMORY, MONITORING, USAGE_COUNTS, WORKSPACES
from .store import FINDINGS, MEMORIES, SESSIONS, USAGE, WATCHES

if TYPE_CHECKING:
    from specloom.plugins import Context


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
_GAP = closed({"description": TEXT, "foundInStep": WHOLE}, "description")
_RESOLVED = closed({"description": TEXT, **dict.fromkeys(("foundInStep", "resolvedInStep"), WHOLE)}, "description")
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


@procedure(
    "take_step",
    parameters=STEP_INPUTS,
    gives=PROGRESS,
    asks=("web",),
    keeps=(SESSIONS,),
    needs=("searchStep", "stepNumber", "nextStepNeeded"),
)
async def take_step(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keeps one step of a research, and begins a session with the first.

    With `depth` standard or thorough it tells how widely the session has looked and what could be asked next;
    thorough also asks the first of these questions and keeps what they find.
    """
    from .steps import tell_step

    return await tell_step(context, given)


RECOVERED = record(
    {
        **_HEAD,
        "stepCount": WHOLE,
        "summary": TEXT,
        "stepIndex": listed(_INDEX),
        **_AROUND,
        "step": _STEP,
        "resolvedGaps": listed(_RESOLVED),
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


@procedure(
    "recover_session",
    parameters={"sessionId": TEXT, "stepId": WHOLE},
    gives=RECOVERED,
    keeps=(SESSIONS,),
    needs=("sessionId",),
)
async def recover_session(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Tells everything that is needed to go on with a session, or one of its steps whole."""
    from .steps import recover

    return await recover(context, given["sessionId"], given.get("stepId") or 0)


@procedure(
    "session_sources",
    parameters={"sessionId": TEXT},
    gives=record(
        {"sources": listed(closed(texts("url", "title", "author", "site", "date", "doi"), "url", "title"))}, "sources"
    ),
    keeps=(SESSIONS,),
    needs=("sessionId",),
)
async def session_sources(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Lists what a session of the caller has found: address, title, author, journal or site, date and DOI."""
    from .steps import list_sources

    return {"sources": await list_sources(context, given["sessionId"])}


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
    keeps=(SESSIONS,),
    needs=("sessionId",),
)
async def export_session(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Makes a session of the caller into a document; the session stays as it is.

    With `verify_links` every source is looked at, and the archived copy of a dead one is named in the document.
    """
    from .export import export

    return await export(context, given["sessionId"], given.get("format", "markdown"), given.get("verify_links", False))


# --- The procedures over what is kept of people as specs name them: what each takes and gives, and its switch ---------
# Work is imported when done.


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
async def save_memory(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keeps a note of a user who agreed to that; tells its id."""
    from .consent import save_memory as work

    return await work(context, given)


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
async def recall_memories(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Finds notes of the calling user: about the words of `query`, else on a topic, else the newest."""
    from .consent import recall_memories as work

    return await work(context, given)


@procedure(
    "share_finding",
    parameters={"workspace_id": TEXT, "note": TEXT, "url": TEXT, "tags": _TAGS},
    gives=record({**_STATUS, "id": TEXT}, "status"),
    settings=WORKSPACES,
    keeps=(CONSENTS, MEMBERS, FINDINGS),
    needs=("workspace_id",),
)
async def share_finding(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Puts a copy of a finding into a shared space of which the caller is a member; tells its id."""
    from .consent import share_finding as work

    return await work(context, given)


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
async def read_findings(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Lists the findings of a shared space of which the caller is a member, newest first."""
    from .consent import read_findings as work

    return await work(context, given)


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
async def tell_usage(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - there is nothing to ask
    """Tells the calling user how often they used which tool."""
    from .consent import tell_usage as work

    return await work(context)


@procedure(
    "save_watch",
    parameters={"query": TEXT, "provider": TEXT, "ttl_days": WHOLE},
    gives=record({**_STATUS, **texts("query", "provider", "savedAt"), "seenCount": WHOLE, "ttlDays": WHOLE}, "status"),
    asks=("web",),
    settings=MONITORING,
    keeps=(CONSENTS, WATCHES),
)
async def save_watch(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Asks a question once and keeps what is there now, so that a later look tells only what is new."""
    from .consent import save_watch as work

    return await work(context, given)


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
async def check_watch(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Asks a watched question again and gives the rows that were not there before."""
    from .consent import check_watch as work

    return await work(context, given)
