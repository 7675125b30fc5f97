"""The procedures over research sessions as specs name them: what each takes and gives. Work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.plugins import (
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    closed,
    listed,
    procedure,
    texts,
)
from specloom.plugins.schemas import record

from .store import SESSIONS

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
