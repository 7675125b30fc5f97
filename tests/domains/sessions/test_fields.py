"""Every field that is documented or published is seen in an answer through a client: a table, held both ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from mcp import Client

from tests.support.research_server import ADA, ERAS, NOW, Server, ask, begin, read, refused, shipped

STEP = (
    *("stepNumber", "description", "reasoning", "confidence", "rejectedApproaches", "isRevision", "revisesStep"),
    *("branchId", "timestamp"),
)
INDEX = ("stepNumber", "oneLiner", "branchId", "confidence")
SOURCE = ("url", "title", "relevance", "author", "date", "doi", "foundInStep", "foundAgainInSteps")
OPEN = {"sourceTypes", "toolCounts", "providerStats"}
"""Objects whose keys are data; a key of them is `*` in a path."""


def below(name: str, *fields: str) -> set[str]:
    return {f"{name}.{field}" for field in fields}


DOCUMENTED: Mapping[str, set[str]] = {
    "sequential_search": {
        *("sessionId", "responseMode", "researchGoal", "currentStep", "totalStepsEstimate", "isComplete", "startedAt"),
        *("completedAt", "warning", "trust", "steps", "summary", "stepIndex", "lastSteps", "gaps", "sources", "depth"),
        *("coverage", "refinementQueries", "refinementResults", "refinementNote", "refinementWarning"),
        *below("steps.[]", *INDEX),
        *below("stepIndex.[]", *INDEX),
        *below("lastSteps.[]", *STEP),
        *below("gaps.[]", "description", "foundInStep"),
        *below("sources.[]", *SOURCE),
        *below("coverage", "sourceCount", "uniqueDomains", "domainSpread", "dominantDomain", "sourceTypes", "gaps"),
        *below("refinementResults.[]", "query", "resultCount", "results", "error"),
        *below("refinementResults.[].results.[]", "title", "url", "snippet"),
    },
    "get_research_session": {
        *("sessionId", "responseMode", "researchGoal", "summary", "stepCount", "stepIndex", "lastSteps", "gaps"),
        *("sources", "trust", "step", "errorPatterns", "providerStats", "startedAt"),
        *below("stepIndex.[]", *INDEX),
        *below("lastSteps.[]", *STEP),
        *below("step", *STEP),
        *below("gaps.[]", "description", "foundInStep"),
        *below("sources.[]", *SOURCE),
        *below("errorPatterns.[]", "kind", "count", "affectedUrls", "suggestion", "lastSeen"),
        *below("providerStats.*", "attempts", "successes"),
    },
    "get_my_analytics": {
        *("status", "reason", "analytics"),
        *below("analytics", "tenantId", "userId", "totalCalls", "toolCounts", "firstSeen", "lastSeen", "recentTools"),
    },
    "memory_save": {"status", "reason", "id", "createdAt"},
    "memory_recall": {
        *("status", "reason", "count", "memories", "trust"),
        *below("memories.[]", "id", "tenantId", "userId", "topic", "note", "url", "tags", "createdAt"),
    },
    "workspace_contribute": {"status", "reason", "id"},
    "workspace_read": {
        *("status", "count", "contributions", "trust"),
        *below("contributions.[]", "id", "workspaceId", "contributorTenant", "contributorUser", "note", "url", "tags"),
        "contributions.[].createdAt",
    },
    "research_export": {
        *("sessionId", "format", "researchGoal", "stepCount", "sourceCount", "startedAt", "exportedAt", "tenantId"),
        *("document", "trust", "resource", "bytes", "mimeType", "summary", "expiresAt", "linked"),
        "documentResource",
    },
    "monitor_query_save": {"status", "reason", "query", "provider", "seenCount", "savedAt", "ttlDays"},
    "monitor_query_check": {
        *("status", "reason", "newCount", "lastRunAt", "newResults", "trust"),
        *below("newResults.[]", "title", "url", "snippet"),
    },
    "monitor_query_list": {
        *("status", "reason", "count", "queries", "trust"),
        *below("queries.[]", "query", "provider", "seenCount", "savedAt", "lastRunAt", "endsAt", "stale"),
    },
    "monitor_query_digest": {
        *(
            "status",
            "reason",
            "checked",
            "unchanged",
            "newCount",
            "queries",
            "newResults",
            "failed",
            "waiting",
            "trust",
        ),
        *below("queries.[]", "query", "provider", "newCount"),
        *below("newResults.[]", "query", "title", "url", "snippet"),
    },
    "monitor_query_change": {
        *("status", "reason", "query", "provider", "seenCount", "savedAt", "ttlDays", "requestedTtlDays", "endsAt"),
    },
    "monitor_query_stop": {"status", "reason", "query", "savedAt"},
    "memory_delete": {"status", "reason", "id", "note", "trust"},
    "list_research_sessions": {
        *("count", "total", "sessions", "trust"),
        *below("sessions.[]", "sessionId", "goal", "isComplete", "stepCount", "sourceCount", "openGaps", "startedAt"),
        "sessions.[].lastUsedAt",
    },
    "update_research_session": {
        *("status", "sessionId", "goal", "isComplete", "completedAt", "openGaps", "warning"),
        *below("openGaps.[]", "description", "foundInStep"),
    },
    "delete_research_session": {"deleted", "sessionId", "goal", "stepCount"},
}
"""The contract's fields of each tool; lists are `[]`."""

RESOURCES: Mapping[str, set[str]] = {
    "stats://tools": {
        "tools",
        *below(
            "tools.*",
            *("totalCalls", "successCalls", "errorCalls", "cacheHits", "avgLatencyMs", "p95LatencyMs", "lastCalled"),
        ),
    },
    "stats://sessions": {"activeSessions"},
    "research://sessions": {
        *("count", "sessions", "trust"),
        *below("sessions.[]", "sessionId", "goal", "isComplete", "stepCount", "sourceCount", "openGaps", "startedAt"),
        "sessions.[].lastUsedAt",
    },
    "stats://rate-limits": {
        *("config", "defaultTenant", "guidance"),
        *below("config", "perMinutePerTenant", "globalPerSecond", "dailyPerTenant"),
        *below("defaultTenant", "tenantId", "perMinuteLimit", "dailyLimit", "dailyUsed", "dailyRemaining"),
        "defaultTenant.dailyResetsAt",
    },
    "stats://providers": {"providers", *below("providers.[]", "name", "type")},
    "lenses://catalog": {"lenses", *below("lenses.[]", "name", "description", "domainCount", "hasCX")},
    "diagnostics://errors/recent": {
        *("count", "errors"),
        *below("errors.[]", "timestamp", "tool", "kind", "provider", "tenantId", "cause"),
    },
    "diagnostics://health": {"status", "providers", *below("providers.[]", "name", "type", "breaker", "available")},
}
"""The contract's fields of each resource."""


def published(schema: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """The paths of all fields of an output schema."""
    for one in (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        for name, inner in one.get("properties", {}).items():
            yield at + name
            yield from published(inner, f"{at}{name}.")
        if isinstance(one.get("items"), dict):
            yield from published(one["items"], f"{at}[].")


def walk(value: Any, at: str = "") -> Iterator[str]:
    """The paths of all fields of an answer."""
    if isinstance(value, list):
        for item in value:
            yield from walk(item, f"{at}[].")
    elif isinstance(value, dict):
        is_open = at.rstrip(".").rpartition(".")[2] in OPEN or at == "tools."
        for name, inner in value.items():
            key = "*" if is_open else name
            yield at + key
            yield from walk(inner, f"{at}{key}.")


class Notebook:
    """Asks a client, and notes which fields it has seen of which tool or resource."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.seen: dict[str, set[str]] = {}

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        found = await ask(self.client, tool, **arguments)
        self.seen.setdefault(tool, set()).update(walk(found))
        return found

    async def read(self, uri: str) -> None:
        self.seen.setdefault(uri, set()).update(walk(await read(self.client, uri)))


async def research(server: Server, book: Notebook) -> None:
    """A research with everything in it: steps of all sorts, sources, gaps, failures, a warning, and exports."""
    session = await begin(
        book.client, reasoning="Why", confidence="low", rejectedApproaches=["asking"], knowledgeGap="Which crabs?"
    )
    more = {"sessionId": session, "nextStepNeeded": True}
    await book.ask("academic_search", query="otters", provider="crossref", sessionId=session)
    await book.ask("web_search", query="otters", sessionId=session)
    for query in ("one", "two", "three"):
        await refused(book.client, "web_search", query=query, provider="serper", sessionId=session)
    for number, gap in enumerate(("Which urchins of the north?", "Which mussels of 1999?", "Which seals?"), 2):
        await book.ask("sequential_search", searchStep="Look", stepNumber=number, knowledgeGap=gap, **more)
    await book.ask(
        "sequential_search",
        **(more | {"nextStepNeeded": False}),
        searchStep="Crabs after all",
        stepNumber=5,
        isRevision=True,
        revisesStep=4,
        branchFromStep=1,
        branchId="crabs",
        reasoning="They are eaten",
        confidence="high",
        rejectedApproaches=["fish"],
    )
    await book.ask("get_research_session", sessionId=session)
    await book.ask("get_research_session", sessionId=session, limit=-1)
    await book.ask("get_research_session", sessionId=session, stepId=5)
    await book.ask("get_research_session", sessionId=session, stepId=4)
    server.web.failing = {"urchins"}
    told = {"searchStep": "All of it", "stepNumber": 9, "resolvedGaps": ["Which crabs?"]}
    await book.ask("sequential_search", **told, **more, depth="thorough")
    await book.ask("sequential_search", searchStep="Short", stepNumber=7, **more, responseMode="summary")
    await book.ask("get_research_session", sessionId=session)
    await book.ask("research_export", sessionId=session)
    await book.ask("research_export", sessionId=session, format="html")
    for number in range(8, 15):
        await book.ask("sequential_search", searchStep="long " * 790, stepNumber=number, **more)
    await book.ask("research_export", sessionId=session)


async def keep(server: Server, book: Notebook) -> None:
    """Everything that is kept of people, first without their consent and then with it."""
    from specloom.storage.consent import add_member

    calls: dict[str, dict[str, Any]] = {
        "memory_save": {"note": "Crabs", "topic": "diet", "url": "https://otters.example/", "tags": ["crabs"]},
        "memory_recall": {"limit": 1000},
        "workspace_contribute": {
            "workspace_id": "zoo",
            "note": "Crabs",
            "url": "https://o.example/",
            "tags": ["crabs"],
        },
        "workspace_read": {"workspace_id": "zoo"},
        "monitor_query_save": {"query": "otters", "provider": "brave", "ttl_days": 7},
        "monitor_query_check": {"query": "otters", "provider": "brave"},
        "monitor_query_list": {},
        "monitor_query_digest": {"limit": 200},
        "get_my_analytics": {},
    }
    for tool, arguments in calls.items():
        assert (await book.ask(tool, **arguments))["status"] == "no_consent"
    await server.agree(ADA, "memory", "analytics", "workspace", "monitoring")
    await add_member(server.store.drawer("members", ADA, space="zoo"), ADA, NOW)
    for tool, arguments in calls.items():
        server.web.results.append(
            {
                "title": tool,
                "url": f"https://new.example/{tool}",
                "description": "New.",
                "page_age": "2026-01-01T00:00:00",
                "meta_url": {"hostname": "new.example"},
            }
        )
        await book.ask(tool, **arguments)


async def put_in_order(book: Notebook) -> None:
    """What was kept of people is listed and deleted again."""
    listed = await book.ask("list_research_sessions", limit=100)
    session = listed["sessions"][0]["sessionId"]
    await book.ask("update_research_session", sessionId=session, goal="Crabs", complete=True)
    await book.ask("update_research_session", sessionId=session, resolvedGaps=["Which seals?", "Who asks?"])
    await book.read("research://sessions")
    await book.ask("delete_research_session", sessionId=session)
    await book.ask("monitor_query_change", query="otters", provider="brave", ttl_days=91)
    await book.ask("monitor_query_change", query="otters", to_query="seals")
    await book.ask("monitor_query_stop", query="otters", provider="brave")
    await book.ask("monitor_query_stop", query="otters", provider="brave")
    await book.ask("memory_delete", id="nobody's")
    recalled = await ask(book.client, "memory_recall")
    await book.ask("memory_delete", id=recalled["memories"][0]["id"])


NOT_SEEN_HERE = {
    # More sources than a session keeps; tests of sessions show it.
    "get_research_session": {"sourcesNotKept"},
    # A query that nobody answers, or that somebody else answered before; examples of the tool show them.
    "monitor_query_digest": {"failed.[].query", "failed.[].provider", "failed.[].reason", "queries.[].note"},
    # A number of days that was moved to its bound.
    "monitor_query_save": {"requestedTtlDays"},
}
"""Fields of corner cases that other tests show."""
TOLD_BEFORE = {"notices"}
"""What is told before an answer where something of it is missing; tests of the engine show it for all tools."""


@pytest.mark.parametrize("era", ERAS)
async def test_every_documented_and_every_published_field_is_seen_by_a_client(server: Server, era: str) -> None:
    async with server.client(ADA, era) as client:
        book = Notebook(client)
        await research(server, book)
        await keep(server, book)
        for uri in RESOURCES:
            await book.read(uri)
        await put_in_order(book)

    schemas = {name: set(published(shipped().tools[name].output_schema)) for name in DOCUMENTED}
    unseen = {
        name: sorted(
            (DOCUMENTED[name] | schemas[name]) - book.seen[name] - NOT_SEEN_HERE.get(name, set()) - TOLD_BEFORE
        )
        for name in DOCUMENTED
    }
    unseen |= {uri: sorted(fields - book.seen[uri]) for uri, fields in RESOURCES.items()}

    assert {name: paths for name, paths in unseen.items() if paths} == {}


def test_the_table_has_every_tool_and_every_resource_of_this_room(server: Server) -> None:
    import json

    kept = {one.name for one in shipped().tools.values() if one.opt_in and not one.name.startswith("zotero_")}
    about_sessions = {"sequential_search", "get_research_session", "research_export"}
    in_order = {one.name for one in shipped().tools.values() if "library" in one.toolsets}
    in_order -= {name for name in in_order if name.startswith(("library_", "zotero_"))}  # these are of papers

    assert set(DOCUMENTED) == kept | about_sessions | in_order
    assert set(RESOURCES) == {one["uri"] for one in json.loads(server.catalogue.resources or b"[]")}


@pytest.fixture
def server() -> Server:
    return Server()
