"""The procedures of this package as specs name them: what each takes and gives. The work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import Seen, observer, procedure

if TYPE_CHECKING:
    from specloom.desk import Desk
    from specloom.drawer import Drawers

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_FLAG = {"type": "boolean"}
_NUMBER = {"type": "number"}
_OBJECT = {"type": "object"}


def _texts(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _TEXT)


def _record(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def _closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {**_record(properties, *required), "additionalProperties": False}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


def _switch(description: str) -> dict[str, Any]:
    return {"type": "boolean", "default": False, "description": description}


# --- sessions -------------------------------------------------------------------------------------------------------

_STEP = _closed(
    {
        "stepNumber": _WHOLE,
        **_texts("description", "reasoning", "confidence", "branchId", "timestamp"),
        "rejectedApproaches": _list(_TEXT),
        "isRevision": _FLAG,
        **dict.fromkeys(("revisesStep", "branchFromStep", "supersededBy"), _WHOLE),
    },
    "stepNumber",
    "description",
    "timestamp",
)
_INDEX = _closed(
    {"stepNumber": _WHOLE, **_texts("oneLiner", "branchId", "confidence"), "supersededBy": _WHOLE},
    "stepNumber",
    "oneLiner",
    "branchId",
    "confidence",
)
_GAP = _closed({"description": _TEXT, "foundInStep": _WHOLE, "resolvedInStep": _WHOLE}, "description")
_SOURCE = _closed(
    {**_texts("url", "title", "relevance", "author", "date", "doi"), "foundInStep": _WHOLE}, "url", "title"
)
_AROUND = {"lastSteps": _list(_STEP), "gaps": _list(_GAP), "sources": _list(_SOURCE)}
_HEAD = {
    **_texts("sessionId", "responseMode", "researchGoal", "startedAt", "completedAt", "trust"),
    "totalStepsEstimate": _WHOLE,
    "isComplete": _FLAG,
}
_COVERAGE = _closed(
    {
        "sourceCount": _WHOLE,
        "uniqueDomains": _WHOLE,
        "domainSpread": _NUMBER,
        "dominantDomain": _TEXT,
        "sourceTypes": {"type": "object", "additionalProperties": _WHOLE},
        "gaps": _list(_TEXT),
    },
    "sourceCount",
    "uniqueDomains",
    "domainSpread",
    "sourceTypes",
    "gaps",
)
_REFINEMENT = _closed(
    {
        **_texts("query", "error"),
        "resultCount": _WHOLE,
        "results": _list(_closed(_texts("title", "url", "snippet"), "title", "url", "snippet")),
    },
    "query",
)

PROGRESS = _record(
    {
        **_HEAD,
        "currentStep": _WHOLE,
        **_texts("warning", "summary", "depth", "refinementNote", "refinementWarning"),
        "steps": _list(_INDEX),
        "stepIndex": _list(_INDEX),
        **_AROUND,
        "coverage": _COVERAGE,
        "refinementQueries": _list(_TEXT),
        "refinementResults": _list(_REFINEMENT),
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
    **_texts("searchStep", "sessionId", "researchGoal", "reasoning", "confidence", "sessionSummary", "responseMode"),
    **_texts("branchId", "knowledgeGap", "depth"),
    **dict.fromkeys(("stepNumber", "totalStepsEstimate", "revisesStep", "branchFromStep"), _WHOLE),
    **dict.fromkeys(("nextStepNeeded", "isRevision"), _FLAG),
    **dict.fromkeys(("rejectedApproaches", "resolvedGaps"), _list(_TEXT)),
}


@procedure("take_step", parameters=STEP_INPUTS, gives=PROGRESS, asks=("web",))
async def take_step(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keeps one step of a research, and begins a session with the first.

    With `depth` standard or thorough it tells how widely the session has looked and what could be asked next;
    thorough also asks the first of these questions and keeps what they find.
    """
    from .stepping import tell_step

    return await tell_step(desk, given)


RECOVERED = _record(
    {
        **_HEAD,
        "stepCount": _WHOLE,
        "summary": _TEXT,
        "stepIndex": _list(_INDEX),
        **_AROUND,
        "step": _STEP,
        "resolvedGaps": _list(_GAP),
        "sourcesNotKept": _WHOLE,
        "errorPatterns": _list(
            _closed(
                {"count": _WHOLE, **_texts("kind", "suggestion", "lastSeen"), "affectedUrls": _list(_TEXT)},
                "kind",
                "count",
                "affectedUrls",
                "suggestion",
                "lastSeen",
            )
        ),
        "providerStats": {
            "type": "object",
            "additionalProperties": _closed({"attempts": _WHOLE, "successes": _WHOLE}, "attempts", "successes"),
        },
    },
    "sessionId",
    "responseMode",
    "researchGoal",
    "stepCount",
    "trust",
)
"""A session as it is taken up again, or one of its steps."""


@procedure("recover_session", parameters={"sessionId": _TEXT, "stepId": _WHOLE}, gives=RECOVERED)
async def recover_session(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Tells everything that is needed to go on with a session, or one of its steps whole."""
    from .stepping import recover

    return await recover(desk, given["sessionId"], given.get("stepId") or 0)


@procedure(
    "session_sources",
    parameters={"sessionId": _TEXT},
    gives=_record(
        {"sources": _list(_closed(_texts("url", "title", "author", "date", "doi"), "url", "title"))}, "sources"
    ),
)
async def session_sources(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Lists what a session of the caller has found: address, title, author, date and DOI."""
    from .stepping import list_sources

    return {"sources": await list_sources(desk, given["sessionId"])}


EXPORTED = _record(
    {
        **_texts("sessionId", "format", "researchGoal", "startedAt", "exportedAt", "tenantId", "trust"),
        "stepCount": _WHOLE,
        "sourceCount": _WHOLE,
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
    parameters={"sessionId": _TEXT, "format": _TEXT, "verify_links": _FLAG},
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
_STATUS = _texts("status", "reason")
_TAGS = _list(_TEXT)
_NOTE = {**_texts("note", "topic", "url"), "tags": _TAGS}


@procedure(
    "save_memory",
    parameters=_NOTE,
    gives=_record({**_STATUS, **_texts("id", "createdAt")}, "status"),
    settings=_MEMORY,
)
async def save_memory(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keeps a note of a user who agreed to that; tells its id."""
    from .consenting import save_memory as work

    return await work(desk, given)


@procedure(
    "recall_memories",
    parameters={"topic": _TEXT, "query": _TEXT, "limit": _WHOLE},
    gives=_record(
        {
            **_STATUS,
            "count": _WHOLE,
            "memories": _list(
                _closed(
                    {**_texts("id", "tenantId", "userId", "topic", "note", "url", "createdAt"), "tags": _TAGS},
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
    parameters={"workspace_id": _TEXT, "note": _TEXT, "url": _TEXT, "tags": _TAGS},
    gives=_record({**_STATUS, "id": _TEXT}, "status"),
    settings=_SPACES,
)
async def share_finding(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Puts a copy of a finding into a shared space of which the caller is a member; tells its id."""
    from .consenting import share_finding as work

    return await work(desk, given)


@procedure(
    "read_findings",
    parameters={"workspace_id": _TEXT},
    gives=_record(
        {
            **_STATUS,
            "count": _WHOLE,
            "contributions": _list(
                _closed(
                    {
                        **_texts("id", "workspaceId", "contributorTenant", "contributorUser", "note", "url"),
                        "tags": _TAGS,
                        "createdAt": _TEXT,
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
    gives=_record(
        {
            **_STATUS,
            "analytics": _closed(
                {
                    **_texts("tenantId", "userId", "firstSeen", "lastSeen"),
                    "totalCalls": _WHOLE,
                    "toolCounts": {"type": "object", "additionalProperties": _WHOLE},
                    "recentTools": _list(_TEXT),
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
    parameters={"query": _TEXT, "provider": _TEXT, "ttl_days": _WHOLE},
    gives=_record(
        {**_STATUS, **_texts("query", "provider", "savedAt"), "seenCount": _WHOLE, "ttlDays": _WHOLE}, "status"
    ),
    asks=("web",),
    settings=_WATCHES,
)
async def save_watch(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Asks a question once and keeps what is there now, so that a later look tells only what is new."""
    from .consenting import save_watch as work

    return await work(desk, given)


@procedure(
    "check_watch",
    parameters={"query": _TEXT, "provider": _TEXT},
    gives=_record(
        {**_STATUS, "new_count": _WHOLE, "last_run_at": _TEXT, "rows": _list(_OBJECT)}, "status", "new_count", "rows"
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
