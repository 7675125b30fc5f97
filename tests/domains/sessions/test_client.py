"""The research tools through a real MCP client: every documented field, and nothing of one owner for another."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from specloom.core import count_tokens
from specloom.core.messages import Request, Response
from specloom.server.backend import ExecutorBackend
from specloom.server.protocol import Call
from tests.support.research_server import (
    ADA,
    ENVIRON,
    ERAS,
    GRACE,
    NOW,
    SWITCHES,
    Server,
    ask,
    begin,
    read,
    refused,
    shipped,
)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.mark.parametrize("era", ERAS)
async def test_a_session_tells_every_documented_field(server: Server, era: str) -> None:
    async with server.client(ADA, era) as client:
        session = await begin(
            client,
            knowledgeGap="Which crabs?",
            reasoning="Keepers publish diets",
            confidence="low",
            rejectedApproaches=["asking"],
            totalStepsEstimate=3,
        )
        await ask(client, "web_search", query="otters", sessionId=session)
        before = await ask(client, "get_research_session", sessionId=session)
        for query in ("one", "two", "three"):
            await refused(client, "web_search", query=query, provider="serper", sessionId=session)
        second = await ask(
            client,
            "sequential_search",
            searchStep="Crabs after all",
            stepNumber=2,
            nextStepNeeded=False,
            sessionId=session,
            isRevision=True,
            revisesStep=1,
            branchFromStep=1,
            branchId="crabs",
            depth="thorough",
        )
        short = await ask(
            client,
            "sequential_search",
            searchStep="Again",
            stepNumber=3,
            nextStepNeeded=True,
            sessionId=session,
            responseMode="summary",
            sessionSummary="Fish, then crabs.",
            resolvedGaps=["Which crabs?"],
        )
        found = await ask(client, "get_research_session", sessionId=session)
        one = await ask(client, "get_research_session", sessionId=session, stepId=1)
        resource = await read(client, f"research://session/{session}")

    assert second["responseMode"] == "full"
    assert second["currentStep"] == 2
    assert second["totalStepsEstimate"] == 3
    assert second["isComplete"]
    assert second["completedAt"] == second["startedAt"] == "2026-01-01T00:00:00Z"
    assert second["steps"][0] == {
        "stepNumber": 1,
        "oneLiner": "Read what zoos feed",
        "branchId": "",
        "confidence": "low",
        "supersededBy": 2,
    }
    assert second["depth"] == "thorough"
    assert second["coverage"] == {
        "sourceCount": 2,
        "uniqueDomains": 1,
        "domainSpread": 0.5,
        "dominantDomain": "otters.example",
        "sourceTypes": {"web": 2},
        "gaps": sorted(second["coverage"]["gaps"]),
    }
    assert second["refinementQueries"][0] == "otter diet crabs"
    assert second["refinementResults"][0]["results"][0] == {
        "title": "Sea otters",
        "url": "https://otters.example/sea",
        "snippet": "They hold hands.",
    }
    assert short["responseMode"] == "summary"
    assert short["summary"] == "Fish, then crabs."
    assert len(short["stepIndex"]) == 3
    assert short["lastSteps"][0]["rejectedApproaches"] == ["asking"]
    assert short["lastSteps"][1]["branchFromStep"] == 1
    assert short["gaps"] == []
    assert short["trust"] == "untrusted-external-content"
    assert found["stepCount"] == 3
    assert found["resolvedGaps"] == [{"description": "Which crabs?", "foundInStep": 1, "resolvedInStep": 3}]
    assert [source["url"] for source in found["sources"]] == [
        "https://otters.example/sea",
        "https://otters.example/river",
    ]
    assert found["sources"][0]["relevance"] == "web"
    assert before["sources"][0]["foundInStep"] == 1, "the step that was told last when the call was made"
    assert "foundAgainInSteps" not in before["sources"][0]
    assert (found["sources"][0]["foundInStep"], found["sources"][0]["foundAgainInSteps"]) == (1, [2])
    assert found["errorPatterns"][0]["kind"] == "auth_required"
    assert found["errorPatterns"][0]["count"] == 3
    assert found["providerStats"] == {
        "brave": {"attempts": 4, "successes": 4},
        "serper": {"attempts": 3, "successes": 0},
    }
    assert one["responseMode"] == "step"
    assert one["step"]["reasoning"] == "Keepers publish diets"
    assert one["step"]["supersededBy"] == 2
    assert resource == found


PAGE = (
    b"<html><head><title>Otters</title></head><body><article>"
    + b"<p>Otters eat crabs.</p>" * 60
    + b"</article></body></html>"
)


async def test_a_session_counts_who_was_asked_in_vain_and_pages_that_were_read() -> None:
    server = Server({**ENVIRON, "SEARCH_ROUTING": "serper,brave"})
    search = server.web.send

    async def send(request: Request) -> Response:
        if "page.example" in request.url:
            return Response(200, {"content-type": "text/html"}, PAGE, request.url)
        return await search(request)

    server.web.send = send  # type: ignore[method-assign]
    async with server.client(ADA) as client:
        session = await begin(client)
        await ask(client, "web_search", query="otters", sessionId=session)
        await ask(client, "scrape_page", url="https://page.example/otters", sessionId=session)
        found = await ask(client, "get_research_session", sessionId=session)

    assert found["providerStats"] == {
        "brave": {"attempts": 1, "successes": 1},
        "scrape_page": {"attempts": 1, "successes": 1},
        "serper": {"attempts": 1, "successes": 0},
    }
    assert {one["url"] for one in found["sources"]} >= {"https://page.example/otters"}


async def hang(_: Request) -> Response:
    await asyncio.Event().wait()
    raise AssertionError


async def test_what_takes_too_long_costs_neither_a_step_nor_an_export(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specloom.domains.sessions.steps.SECONDS", 0.01)
    monkeypatch.setattr("specloom.domains.sessions.export.SECONDS", 0.01)
    async with server.client(ADA) as client:
        session = await begin(client)
        await ask(client, "web_search", query="otters", sessionId=session)
        server.web.send = hang  # type: ignore[method-assign]
        told = {"searchStep": "On", "stepNumber": 2, "nextStepNeeded": True, "sessionId": session, "depth": "thorough"}
        step = await ask(client, "sequential_search", knowledgeGap="Which crabs?", **told)
        exported = await ask(client, "research_export", sessionId=session, format="json", verify_links=True)

    assert {one["error"] for one in step["refinementResults"]} == {"The providers took too long to answer this."}
    assert step["refinementWarning"] == "3 of 3 queries found nothing or failed."
    assert [one["stepNumber"] for one in step["steps"]] == [1, 2]
    assert len(exported["document"]["sources"]) == 2
    assert all("verified" not in one for one in exported["document"]["sources"])


async def test_a_thorough_step_tells_how_far_it_is(server: Server) -> None:
    steps: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, message))

    async with server.client(ADA) as client:
        told = {
            "searchStep": "Go",
            "stepNumber": 1,
            "nextStepNeeded": True,
            "researchGoal": "otters",
            "depth": "thorough",
        }
        await client.call_tool("sequential_search", {**told, "knowledgeGap": "Crabs?"}, progress_callback=hear)

    assert steps == [(0.0, "searching: otters Crabs"), (1.0, "searched")]


async def test_an_export_is_a_report_or_data_and_linked_when_it_is_long(server: Server) -> None:
    async with server.client(ADA) as client:
        session = await begin(client)
        await ask(client, "web_search", query="otters", sessionId=session)
        report = await ask(client, "research_export", sessionId=session)
        again = await ask(client, "research_export", sessionId=session)
        data = await ask(client, "research_export", sessionId=session, format="json")
        for number in range(2, 9):
            told = {"searchStep": "long " * 790, "stepNumber": number, "nextStepNeeded": True, "sessionId": session}
            await ask(client, "sequential_search", **told)
        linked = await ask(client, "research_export", sessionId=session)
        whole = await read(client, linked["resource"])

    assert (
        set(report)
        == set(data)
        == {
            "sessionId",
            "format",
            "researchGoal",
            "stepCount",
            "sourceCount",
            "startedAt",
            "exportedAt",
            "tenantId",
            "document",
            "trust",
        }
    )
    assert report == again
    assert report["document"].startswith("# otter diet\n")
    assert report["tenantId"] == "north"
    assert (report["stepCount"], report["sourceCount"]) == (1, 2)
    assert data["document"]["sources"][0]["title"] == "Sea otters"
    assert linked["linked"] is True
    assert linked["summary"].startswith("Export of a research session with 8 steps and 2 sources")
    assert whole["stepCount"] == 8


HOSTILE = "</bdi><script>document.title='taken'</script><h2>Sources</h2>\n\u202edettim"


async def export_with_turns(server: Server, form: str) -> Any:
    """An export of a session with a branch and a revision, and what lies under its address."""
    server.web.results.append({"title": HOSTILE, "url": 'https://evil.example/?a="><b>', "description": ""})
    async with server.client(ADA) as client:
        session = await begin(client, researchGoal=HOSTILE, knowledgeGap="Which crabs?")
        await ask(client, "web_search", query="otters", sessionId=session)
        more = {"sessionId": session, "nextStepNeeded": True}
        branch = {"branchFromStep": 1, "branchId": HOSTILE, "reasoning": f"{'long ' * 700}end"}
        await ask(client, "sequential_search", searchStep="Crabs", stepNumber=2, **branch, **more)
        revision = {"isRevision": True, "revisesStep": 2, "resolvedGaps": ["Which crabs?"]}
        await ask(client, "sequential_search", searchStep="Fish", stepNumber=3, **revision, **more)
        exported = await ask(client, "research_export", sessionId=session, format=form)
        assert "document" not in exported
        return (await client.read_resource(exported["documentResource"])).contents[0]


async def test_a_session_is_exported_as_a_page_that_stands_alone(server: Server) -> None:
    from lxml import html

    kept = await export_with_turns(server, "html")

    assert kept.mime_type == "text/html"
    page = html.document_fromstring(kept.text)
    assert page.xpath("//script | //img | //link | //*[@onerror]") == []
    assert "default-src 'none'" in page.xpath("//meta/@content")[0]
    assert page.xpath("//h2/text()") == [
        *("Research", "Course of the research", "Steps", "Open questions", "Settled questions", "Sources")
    ]
    assert [one.text_content().split(" ·")[0].strip() for one in page.xpath("//main/ul/li//ul/li")] == [
        "branch, step 2",
        "revised by step 3",
    ]
    assert page.xpath("//a/@href")[:2] == ["https://otters.example/sea", "https://otters.example/river"]
    text = page.text_content()
    assert "long end" in text
    assert "\u202e" not in text
    assert "sources 1, 2, 3" in text


async def test_a_session_is_exported_for_word_processors(server: Server) -> None:
    from docx import Document

    kept = await export_with_turns(server, "docx")

    document = Document(io.BytesIO(base64.b64decode(kept.blob)))
    heads = [one.text for one in document.paragraphs if one.style.name.startswith("Heading")]
    assert heads == [
        *("Research", "Course of the research", "Steps", "Step 1", "Step 2", "Step 3", "Open questions"),
        *("Settled questions", "Sources"),
    ]
    text = "\n".join(one.text for one in document.paragraphs)
    assert "branch, step 2 · " in text
    assert "revised by step 3 · Fish" in text
    assert "long end" in text
    assert [row.cells[0].text for row in document.tables[-1].rows] == ["Number", "1", "2", "3"]


async def test_a_session_is_no_word_file_without_the_extra(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specloom.domains.trust.reports.word.find_spec", lambda _: None)
    async with server.client(ADA) as client:
        session = await begin(client)
        told = await client.call_tool("research_export", {"sessionId": session, "format": "docx"})
        page = await ask(client, "research_export", sessionId=session, format="html")

    assert told.is_error
    assert "pip install 'specloom[docx]'" in told.content[0].text
    assert page["documentResource"].startswith("research://artifact/")


async def test_a_session_that_is_not_there_is_told_with_what_is_known(server: Server) -> None:
    async with server.client(ADA) as client:
        told = {"searchStep": "Go on", "stepNumber": 4, "nextStepNeeded": True, "sessionId": "gone"}
        lost = await refused(client, "sequential_search", **told)
        ignored = await ask(client, "web_search", query="otters", sessionId="gone")

    assert lost["kind"] == "session_not_found"
    assert lost["retryable"] is False
    assert ignored["resultCount"] == 2, "a search does not fail for a session that is not there"
    assert ignored["notices"] == [LOST]


LOST = (
    "Nothing of this call was recorded in a session. There is no such session, or it has expired: a session lasts 4 "
    "hours from when it was last used. Check the sessionId (read_more with research://sessions lists the caller's), or "
    "begin anew: sequential_search with stepNumber 1, and what is known so far as sessionSummary, gives a new one."
)


@pytest.mark.parametrize("tool", sorted(name for name, tool in shipped().tools.items() if tool.record))
def test_every_tool_that_records_may_say_that_it_did_not(tool: str) -> None:
    schema = shipped().tools[tool].output_schema

    assert schema["properties"]["notices"] == {"type": "array", "items": {"type": "string"}}
    assert "notices" not in schema["required"]


async def test_a_session_in_which_nothing_was_recorded_is_told_in_the_answer_of_each_call(server: Server) -> None:
    page = {"url": "https://page.example/otters"}
    async with server.client(ADA) as ada, server.client(GRACE) as grace:
        session = await begin(ada)
        own = await ask(ada, "web_search", query="otters", sessionId=session)
        none = await ask(ada, "web_search", query="otters")
        answers = [
            await ask(ada, "web_search", query="otters", sessionId="gone"),
            await ask(ada, "web_search", query="nothing at all", sessionId="gone"),
            await ask(ada, "scrape_page", **page, sessionId="gone"),
            await ask(ada, "search_and_scrape", query="otters", sessionId="x" * 128),
            await ask(grace, "web_search", query="otters", sessionId=session),
        ]
        fault = await refused(ada, "web_search", query="one", provider="serper", sessionId="gone")
        server.now += 5 * 3600.0
        answers.append(await ask(ada, "scrape_page", **page, sessionId=session))

    assert "notices" not in own
    assert "notices" not in none
    assert [answer.get("notices") for answer in answers] == [[LOST]] * len(answers)
    assert fault["notices"] == [LOST]


async def test_a_server_that_keeps_nothing_says_so_to_who_names_a_session(server: Server) -> None:
    executor = server.executor
    executor._watch._drawers = None

    done = await executor.call("web_search", {"query": "otters", "sessionId": "any"}, owner=ADA)

    said = "Nothing of this call was recorded in a session. This server keeps no state."
    assert done.answer["notices"] == [said]


async def test_memories_spaces_and_counts_are_kept_for_those_who_agreed(server: Server) -> None:
    from specloom.storage.consent import add_member

    await server.agree(ADA, "memory", "analytics", "workspace")
    await add_member(server.store.drawer("members", ADA, space="zoo"), ADA, NOW)
    async with server.client(ADA) as client:
        saved = await ask(
            client, "memory_save", note="Otters eat crabs", topic="diet", url="https://otters.example/", tags=["crabs"]
        )
        recalled = await ask(client, "memory_recall", topic="diet")
        shared = await ask(client, "workspace_contribute", workspace_id="zoo", note="Crabs", url="https://o.example/")
        listed = await ask(client, "workspace_read", workspace_id="zoo")
        counted = await ask(client, "get_my_analytics")

    assert saved == {"status": "ok", "id": saved["id"], "createdAt": "2026-01-01T00:00:00Z"}
    memory = {
        "id": saved["id"],
        "tenantId": "north",
        "userId": "ada",
        "topic": "diet",
        "note": "Otters eat crabs",
        "url": "https://otters.example/",
        "tags": ["crabs"],
        "createdAt": "2026-01-01T00:00:00Z",
    }
    assert recalled == {"status": "ok", "count": 1, "memories": [memory], "trust": "user-asserted-content"}
    finding = {
        "id": shared["id"],
        "workspaceId": "zoo",
        "contributorTenant": "north",
        "contributorUser": "ada",
        "note": "Crabs",
        "url": "https://o.example/",
        "createdAt": "2026-01-01T00:00:00Z",
    }
    assert listed == {"status": "ok", "count": 1, "contributions": [finding], "trust": "untrusted-external-content"}
    assert counted["analytics"] == {
        "tenantId": "north",
        "userId": "ada",
        "totalCalls": 4,
        "toolCounts": {"memory_save": 1, "memory_recall": 1, "workspace_contribute": 1, "workspace_read": 1},
        "firstSeen": "2026-01-01T00:00:00Z",
        "lastSeen": "2026-01-01T00:00:00Z",
        "recentTools": ["workspace_read", "workspace_contribute", "memory_recall", "memory_save"],
    }


async def test_a_watch_tells_only_what_is_new(server: Server) -> None:
    await server.agree(ADA, "monitoring")
    async with server.client(ADA) as client:
        saved = await ask(client, "monitor_query_save", query="otters", ttl_days=7)
        server.web.results.append({"title": "New", "url": "https://new.example/", "description": "Fresh."})
        first = await ask(client, "monitor_query_check", query="otters")
        second = await ask(client, "monitor_query_check", query="otters")

    assert saved == {
        "status": "ok",
        "query": "otters",
        "provider": "",
        "seenCount": 2,
        "savedAt": "2026-01-01T00:00:00Z",
        "ttlDays": 7,
    }
    assert first["newCount"] == 1
    assert first["newResults"][0]["url"] == "https://new.example/"
    assert first["newResults"][0]["snippet"] == "Fresh."
    assert first["lastRunAt"] == "2026-01-01T00:00:00Z"
    assert (second["newCount"], second["newResults"]) == (0, [])


async def test_a_watch_is_given_other_words_days_and_provider_and_forgets_nothing(server: Server) -> None:
    await server.agree(ADA, "monitoring")
    await server.agree(GRACE, "monitoring")
    async with server.client(ADA) as client, server.client(GRACE) as grace:
        for at in range(100):
            await ask(client, "monitor_query_save", query=f"otters {at}")
        full = await ask(client, "monitor_query_save", query="one more")
        changed = await ask(
            client, "monitor_query_change", query="OTTERS 7", to_query="Sea otters", to_provider="brave", ttl_days=60
        )
        others = await ask(grace, "monitor_query_change", query="otters 8", ttl_days=60)
        old = await ask(client, "monitor_query_check", query="otters 7")
        server.web.results.append({"title": "New", "url": "https://new.example/", "description": "Fresh."})
        seen = await ask(client, "monitor_query_check", query="sea otters", provider="brave")
        back = await ask(client, "monitor_query_change", query="sea otters", provider="brave", to_provider="any")
        again = await ask(client, "monitor_query_check", query="sea otters")
        listed = await ask(client, "monitor_query_list", max_tokens=100_000)
        taken = await ask(client, "monitor_query_change", query="otters 1", to_query="otters  2")
        unknown = await refused(client, "monitor_query_change", query="otters 1", to_provider="nobody")

    assert (full["status"], others["status"], old["status"]) == ("limit_reached", "not_found", "not_found")
    assert changed == {
        "status": "ok",
        "query": "Sea otters",
        "provider": "brave",
        "seenCount": 2,
        "savedAt": "2026-01-01T00:00:00Z",
        "ttlDays": 60,
        "endsAt": "2026-03-02T00:00:00Z",
    }
    assert [one["url"] for one in seen["newResults"]] == ["https://new.example/"], "what was seen before stays seen"
    assert ("provider" in back, back["seenCount"], again["newCount"]) == (False, 3, 0)
    assert (listed["count"], taken["status"]) == (100, "exists")
    assert (unknown["kind"], unknown["argument"]) == ("validation", "to_provider")


async def test_nothing_crosses_between_owners(server: Server) -> None:
    await server.agree(ADA, "memory", "analytics", "workspace", "monitoring")
    await server.agree(GRACE, "memory", "analytics", "workspace", "monitoring")
    async with server.client(ADA) as ada, server.client(GRACE) as grace:
        session = await begin(ada)
        await ask(ada, "memory_save", note="Otters eat crabs")
        await ask(ada, "monitor_query_save", query="otters")
        stolen = {"searchStep": "Mine", "stepNumber": 2, "nextStepNeeded": True, "sessionId": session}
        lost = [
            await refused(grace, "sequential_search", **stolen),
            await refused(grace, "get_research_session", sessionId=session),
            await refused(grace, "research_export", sessionId=session),
        ]
        await ask(grace, "web_search", query="otters", sessionId=session)
        recalled = await ask(grace, "memory_recall", query="otters")
        watched = await ask(grace, "monitor_query_check", query="otters")
        space = await ask(grace, "workspace_read", workspace_id="zoo")
        counted = await ask(grace, "get_my_analytics")
        counts = await read(grace, "stats://sessions")
        errors = await read(ada, "diagnostics://errors/recent")
        with pytest.raises(MCPError, match="Resource not found"):
            await grace.read_resource(f"research://session/{session}")
        own = await ask(ada, "get_research_session", sessionId=session)

    assert {one["kind"] for one in lost} == {"session_not_found"}
    assert recalled["memories"] == []
    assert watched["status"] == "not_found"
    assert space["status"] == "not_member"
    assert "memory_save" not in counted["analytics"]["toolCounts"]
    assert counts == {"activeSessions": 0, "completedSessions": 0}
    assert errors == {"count": 0, "errors": []}
    assert own["sources"] == []
    assert own["stepCount"] == 1


async def test_nothing_that_is_told_of_the_server_tells_of_another_tenant(server: Server) -> None:
    async with server.client(ADA) as ada, server.client(GRACE) as grace:
        listed = [str(one.uri) for one in (await grace.list_resources()).resources]
        before = {uri: await read(grace, uri) for uri in listed}
        session = await begin(ada)
        await ask(ada, "web_search", query="otters", sessionId=session)
        await refused(ada, "web_search", query="otters", provider="serper")
        after = {uri: await read(grace, uri) for uri in listed}
        own = {uri: await read(ada, uri) for uri in listed}

    assert after == before
    assert {uri for uri in listed if own[uri] != before[uri]} == {
        "diagnostics://errors/recent",
        "research://sessions",
        "stats://rate-limits",
        "stats://sessions",
        "stats://tools",
    }
    assert own["diagnostics://health"]["providers"]
    assert not {"stalls", "problems"} & own["diagnostics://health"].keys()
    assert not any("set" in one or "calls" in one for one in own["stats://providers"]["providers"])


async def test_an_operator_is_told_of_the_failures_of_all_tenants(server: Server) -> None:
    async with server.client(ADA) as ada, server.client(GRACE, is_operator=True) as operator:
        await refused(ada, "web_search", query="otters", provider="serper")
        await refused(operator, "web_search", query="seals", provider="serper")
        errors = (await read(operator, "diagnostics://errors/recent"))["errors"]
        tools = (await read(operator, "stats://tools"))["tools"]

    assert sorted(one["tenantId"] for one in errors) == ["north", "south"]
    assert tools["web_search"]["errorCalls"] == 2


async def test_what_a_fault_quotes_of_a_call_is_told_to_the_caller_alone(server: Server) -> None:
    async with server.client(ADA) as ada, server.client(f"{ADA.partition(':')[0]}:ben") as ben:
        await refused(ada, "web_search", query="otters", provider="serper")
        own = (await read(ada, "diagnostics://errors/recent"))["errors"]
        told = (await read(ben, "diagnostics://errors/recent"))["errors"]

    assert [one["tool"] for one in told] == ["web_search"]
    assert own[0]["cause"]
    assert "cause" not in told[0]


async def test_nobody_in_particular_is_told_why_nothing_is_kept(server: Server) -> None:
    async with server.client("") as client:
        answers = [
            await ask(client, "memory_save", note="x"),
            await ask(client, "memory_recall"),
            await ask(client, "workspace_contribute", workspace_id="zoo", note="x"),
            await ask(client, "workspace_read", workspace_id="zoo"),
            await ask(client, "get_my_analytics"),
            await ask(client, "monitor_query_save", query="x"),
            await ask(client, "monitor_query_check", query="x"),
        ]

    assert {one["status"] for one in answers} == {"unavailable"}
    assert all(one["reason"] for one in answers)


async def test_tools_to_opt_in_do_not_exist_until_they_are_switched_on() -> None:
    off, on = Server({name: text for name, text in ENVIRON.items() if name not in SWITCHES}), Server(ENVIRON)
    opted = {tool.name for tool in shipped().tools.values() if tool.opt_in}

    async with off.client(ADA) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("memory_recall", {})

    assert opted == on.catalogue.tool_names - off.catalogue.tool_names
    assert len(opted) == 14
    assert not listed & opted


async def test_resources_tell_of_calls_errors_and_limits(server: Server) -> None:
    async with server.client(ADA, is_operator=True) as client:
        session = await begin(client)
        await ask(client, "web_search", query="otters")
        await refused(client, "web_search", query="otters", provider="serper")
        tools = (await read(client, "stats://tools"))["tools"]
        errors = await read(client, "diagnostics://errors/recent")
        limits = await read(client, "stats://rate-limits")
        sessions = await read(client, "stats://sessions")
        lenses = await read(client, "lenses://catalog")
        providers = (await read(client, "stats://providers"))["providers"]
        health = await read(client, "diagnostics://health")
        templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
        completed = await client.complete(
            ref={"type": "ref/resource", "uri": "research://session/{id}"}, argument={"name": "id", "value": ""}
        )

    assert tools["web_search"] == {
        "totalCalls": 2,
        "successCalls": 1,
        "errorCalls": 1,
        "cacheHits": 0,
        "avgLatencyMs": tools["web_search"]["avgLatencyMs"],
        "p95LatencyMs": tools["web_search"]["p95LatencyMs"],
        "lastCalled": "2026-01-01T00:00:00Z",
        "kinds": {"auth_required": 1},
    }
    assert errors["count"] == 1
    assert errors["errors"][0]["tool"] == "web_search"
    assert errors["errors"][0]["kind"] == "auth_required"
    assert errors["errors"][0]["provider"] == "serper"
    assert errors["errors"][0]["tenantId"] == "north"
    assert set(limits["config"]) == {"perMinutePerTenant", "globalPerSecond", "dailyPerTenant"}
    assert limits["defaultTenant"]["dailyUsed"] == 3
    assert limits["guidance"]
    assert sessions == {"activeSessions": 1, "completedSessions": 0}
    assert set(lenses["lenses"][0]) == {"name", "description", "domainCount", "hasCX", "hasGoggle"}
    assert next(one["type"] for one in providers if one["name"] == "brave") == "web"
    assert set(health["providers"][0]) >= {"name", "type", "breaker", "available"}
    assert "research://session/{id}" in templates
    assert completed.completion.values == [session]


async def test_every_argument_with_a_vocabulary_is_completed_and_no_other(server: Server) -> None:
    async with server.client(ADA) as client:
        session = await begin(client)
        for number in range(2, 9):
            told = {"searchStep": "long " * 790, "stepNumber": number, "nextStepNeeded": True, "sessionId": session}
            await ask(client, "sequential_search", **told)
        linked = await ask(client, "research_export", sessionId=session)
        found: dict[tuple[str, str], list[str]] = {}
        for prompt in (await client.list_prompts()).prompts:
            for one in prompt.arguments or []:
                ref = {"type": "ref/prompt", "name": prompt.name}
                told = await client.complete(ref=ref, argument={"name": one.name, "value": ""})
                found[prompt.name, one.name] = told.completion.values
        for template in (await client.list_resource_templates()).resource_templates:
            ref = {"type": "ref/resource", "uri": template.uri_template}
            name = template.uri_template.partition("{")[2].rstrip("}")
            told = await client.complete(ref=ref, argument={"name": name, "value": ""})
            found[template.uri_template, name] = told.completion.values

    lenses = sorted(shipped().lenses)
    arguments = [(prompt.name, one) for prompt in server.prompts.values() for one in prompt.arguments]
    closed = {(name, one.name): lenses if one.catalogue else list(one.choices) for name, one in arguments}
    kept = {
        ("research://session/{id}", "id"): [session],
        ("research://artifact/{id}", "id"): [linked["resource"].rpartition("/")[2]],
        ("lenses://{name}", "name"): lenses,
    }
    assert found == closed | kept
    assert sum(map(bool, found.values())) >= 8


async def test_rate_limits_count_what_was_really_refused_for_whom_and_by_whom(server: Server) -> None:
    async with server.client(ADA, is_operator=True) as ada, server.client(GRACE) as grace:
        await ask(ada, "web_search", query="otters")
        server.web.refusing = True
        told = await refused(ada, "web_search", query="more otters", provider="brave")
        await refused(ada, "web_search", query="no key", provider="serper")
        await refused(ada, "get_research_session", sessionId="gone")
        hers = await read(ada, "stats://rate-limits")
        others = await read(grace, "stats://rate-limits")

    assert told["kind"] == "rate_limited"
    assert hers["defaultTenant"] == {
        "tenantId": "north",
        "perMinuteLimit": 0,
        "dailyLimit": 0,
        "dailyUsed": 4,
        "dailyRemaining": 0,
        "dailyRefused": 1,
        "dailyResetsAt": "2026-01-02T00:00:00Z",
    }
    assert others["defaultTenant"]["tenantId"] == "south"
    assert (others["defaultTenant"]["dailyUsed"], others["defaultTenant"]["dailyRefused"]) == (0, 0)
    assert {name: one["refused"] for name, one in hers["providers"].items() if one["refused"]} == {"brave": 1}
    assert not any("refused" in one for one in others["providers"].values())


@pytest.mark.parametrize("era", ERAS)
async def test_prompts_are_listed_filled_and_completed(server: Server, era: str) -> None:
    async with server.client(ADA, era) as client:
        listed = {one.name: one for one in (await client.list_prompts()).prompts}
        got = await client.get_prompt("brand-guidelines", {"company": "Otter\nWorks", "use_case": "email"})
        ref = {"type": "ref/prompt", "name": "brand-guidelines"}
        cases = await client.complete(ref=ref, argument={"name": "use_case", "value": ""})
        depths = await client.complete(ref=ref, argument={"name": "depth", "value": "F"})
        free = await client.complete(ref=ref, argument={"name": "company", "value": "a"})
        lens = await client.complete(
            ref={"type": "ref/prompt", "name": "comprehensive-research"}, argument={"name": "lens", "value": "med"}
        )
        for wrong in ({}, {"company": "  "}, {"company": "x", "use_case": "poem"}, {"company": "x", "colour": "blue"}):
            with pytest.raises(MCPError):
                await client.get_prompt("brand-guidelines", wrong)
        with pytest.raises(MCPError, match="Unknown prompt"):
            await client.get_prompt("no-such-prompt", {})

    assert len(listed) == 10
    assert [(one.name, one.required) for one in listed["brand-guidelines"].arguments or []] == [
        ("company", True),
        ("use_case", False),
        ("depth", False),
    ]
    assert len(got.messages) == 1
    assert got.messages[0].role == "user"
    assert 'company "Otter Works"' in got.messages[0].content.text
    assert "font stack" in got.messages[0].content.text
    assert len(cases.completion.values) == 6
    assert depths.completion.values == ["full"]
    assert free.completion.values == []
    assert lens.completion.values[0] == "medical"


def read_lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in sorted(folder.rglob("*.jsonl")) for line in file.read_text().splitlines()]


async def test_every_call_is_audited_as_it_ended(tmp_path: Path) -> None:
    from specloom.storage.audit_log import AuditTrail

    environ = {**ENVIRON, "SPECLOOM_STATE_DIR": str(tmp_path)}
    server, audit = Server(environ), AuditTrail(environ, print)
    server.executor.audit = audit
    async with server.client(ADA) as client:
        session = await begin(client)
        await refused(client, "get_research_session", sessionId="gone")
        await ask(client, "web_search", query="otters")
        await refused(client, "news_search", query="otters", provider="serper")
        server.web.failing = {"crabs"}
        await refused(client, "web_search", query="crabs")
    await asyncio.to_thread(audit.close)
    called = [one for one in read_lines(tmp_path) if one.get("event_type") == "tool_call"]

    assert [(one["tool_name"], one["success"], one.get("error_code", "")) for one in called] == [
        ("sequential_search", True, ""),
        ("get_research_session", False, "session_not_found"),
        ("web_search", True, ""),
        ("news_search", False, "auth_required"),
        ("web_search", False, "upstream_unavailable"),
    ]
    assert {one["tenant_id"] for one in called} == {"north"}
    assert session
    assert all(one["request_id"] for one in called)
    assert len({one["request_id"] for one in called}) == len(called)
    routings = [one.get("metadata", {}).get("routing", {}) for one in called]
    assert [routing.get("providers_attempted") for routing in routings] == [
        None,
        None,
        ["brave"],
        ["serper"],
        ["brave"],
    ]
    assert (routings[2]["provider_used"], routings[2]["cache_hit"]) == ("brave", False)
    assert audit._log.verify().problem == ""


async def test_who_watches_a_session_hears_of_calls_that_change_it(server: Server) -> None:
    told: list[Any] = []

    class Heard(Call):
        client_capabilities: dict[str, Any] = {}  # noqa: RUF012 - nobody changes it

        def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
            """Not listened to."""

        def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
            told.append((method, params))

    backend, step = ExecutorBackend(server.executor, owner=ADA), {"searchStep": "x", "nextStepNeeded": True}
    first = json.loads(await backend.call_tool("sequential_search", {**step, "stepNumber": 1}, Heard()))
    session = first["structuredContent"]["sessionId"]
    await backend.call_tool("get_research_session", {"sessionId": session}, Heard())
    assert told == []

    await backend.call_tool("sequential_search", {**step, "stepNumber": 2, "sessionId": session}, Heard())
    await backend.call_tool("web_search", {"query": "otters", "sessionId": session}, Heard())

    assert told == [("notifications/resources/updated", {"uri": f"research://session/{session}"})] * 2
    assert server.catalogue.capabilities()["resources"] == {"subscribe": True}


@pytest.mark.process
async def test_a_restart_loses_nothing_and_the_local_user_has_agreed_from_the_first_call(tmp_path: Path) -> None:
    folders = {"SPECLOOM_STATE_DIR": str(tmp_path / "state"), "SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    environ = {**os.environ, **folders, "STDIO_USER_ID": "ada", "MEMORY_ENABLED": "true"}
    process = StdioServerParameters(command=sys.executable, args=["-m", "specloom", "serve"], env=environ)

    async with Client(process) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        saved = await ask(client, "memory_save", note="Otters eat crabs")
        session = await begin(client)
    async with Client(process) as client:
        recalled = await ask(client, "memory_recall", query="otter")
        found = await ask(client, "get_research_session", sessionId=session)

    assert names >= {"memory_save", "memory_recall", "sequential_search"}
    assert not names & {"workspace_read", "get_my_analytics", "monitor_query_save"}
    assert saved["status"] == "ok"
    assert [one["note"] for one in recalled["memories"]] == ["Otters eat crabs"]
    assert found["stepCount"] == 1


@pytest.mark.process
async def test_who_is_erased_is_not_taken_to_agree_by_the_next_start(tmp_path: Path) -> None:
    folders = {"SPECLOOM_STATE_DIR": str(tmp_path / "state"), "SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    environ = {**os.environ, **folders, "STDIO_USER_ID": "ada", "MEMORY_ENABLED": "true"}
    process = StdioServerParameters(command=sys.executable, args=["-m", "specloom", "serve"], env=environ)

    async with Client(process) as client:
        saved = await ask(client, "memory_save", note="Otters eat crabs")
    erase = [sys.executable, "-m", "specloom", "data", "erase", "--user", "ada", "--yes"]
    erased = await anyio.run_process(erase, env=environ)
    async with Client(process) as client:
        again = await ask(client, "memory_save", note="Otters eat clams")
        recalled = await ask(client, "memory_recall")

    assert saved["status"] == "ok"
    assert b"now refuses all of them" in erased.stderr
    assert (again["status"], recalled["status"]) == ("no_consent", "no_consent")


# --- What a caller or an upstream wrote cannot steer a terminal or turn text round ------------------------------------

HARM = "\x07\x1b[31m\x7f\x9b\x9d\u202e\u2066\u200b\ufeff\U000e0041"
CONTROLS = {one for one in HARM if not one.isascii() or not one.isprintable()}


async def test_no_control_comes_out_of_a_session_a_prompt_or_a_resource() -> None:
    server = Server()
    async with server.client(ADA) as client:
        session = await begin(client, researchGoal=f"otter{HARM} diet", searchStep=f"Read{HARM} it")
        exports = [
            await ask(client, "research_export", sessionId=session, format=form) for form in ("markdown", "json")
        ]
        prompt = await client.get_prompt("fact-check", {"claim": f"Otters{HARM} eat crabs"})
        resource = await client.read_resource(f"research://session/{session}")
        with pytest.raises(MCPError) as missing:
            await client.read_resource(f"research://session/none{HARM}")
        with pytest.raises(MCPError) as unknown:
            await client.get_prompt(f"fact{HARM}", {})

    texts = [json.dumps(exports), prompt.messages[0].content.text, resource.contents[0].text]
    for text in [*texts, missing.value.error.message, unknown.value.error.message]:
        assert not CONTROLS & set(text)
        assert not any(f"\\u{ord(one):04x}" in text for one in CONTROLS if ord(one) <= 0xFFFF)
    assert "eat crabs" in texts[1]
    assert "otter[31m diet" in texts[2]


LONG = {
    "short texts": {"title": "", "step": "", "told": {}, "every": 20},
    "long texts": {
        "title": " and what their keepers told of their winter diet in the north",
        "step": " about what is left in the evening, weighed to the gram and written down in a book" * 5,
        "told": {"reasoning": "Keepers weigh what is left. " * 20, "confidence": "medium", "branchId": "winter"},
        "every": 3,
    },
}


@pytest.mark.parametrize("kind", LONG)
async def test_a_long_session_is_taken_up_for_few_tokens_and_read_on_to_its_end(server: Server, kind: str) -> None:
    """120 steps and 300 sources: the first answer has what the next step needs, and nothing is lost behind it."""
    texts: Any = LONG[kind]
    async with server.client(ADA) as client:
        session = await begin(client, researchGoal="What otters eat")
        for number in range(30):
            server.web.results[:] = [
                {
                    "title": f"Otters of river {number}-{at}{texts['title']}",
                    "url": f"https://river{number}.example/{at}",
                    "description": "Fish.",
                }
                for at in range(10)
            ]
            await ask(client, "web_search", query=f"otters of river {number}", num_results=10, sessionId=session)
        for number in range(2, 121):
            told = {"searchStep": f"Read what the keepers of river {number} wrote{texts['step']}", "stepNumber": number}
            question = {"knowledgeGap": f"What of pond {number}?"} if number % texts["every"] == 0 else {}
            settled = {"resolvedGaps": [f"What of pond {number - 4}?"]} if (number - 4) % 60 == 0 else {}
            more = {**texts["told"], **question, **settled, "nextStepNeeded": True, "sessionId": session}
            await ask(client, "sequential_search", **told, **more)
        first = await client.call_tool("get_research_session", {"sessionId": session})
        pages, offset = [], 0
        while offset is not None:
            pages.append(await ask(client, "get_research_session", sessionId=session, offset=offset))
            offset = pages[-1].get("nextOffset")
        steps = [
            await ask(client, "get_research_session", sessionId=session, stepId=number) for number in range(1, 121)
        ]
        text = first.content[0].text
        whole, at = "", json.loads(text.partition("read_more ")[2].partition("}")[0] + "}")
        while at:
            part = await ask(client, "read_more", **at)
            whole += part["content"]
            at = part.get("readOn")

    for size in (count_tokens(text), *(count_tokens(json.dumps(one)) for one in (first.structured_content, *pages))):
        assert size <= 3_000
    newest = [f"What of pond {120 - texts['every'] * ago}?" for ago in range(2)]
    needed = ("What otters eat", *(f"{at}. Read what the keepers of river {at}" for at in (118, 119, 120)), *newest)
    places = [text.index(one) for one in (*needed, "Otters of river 29-9", "Steps before them")]
    assert places[:4] == sorted(places[:4])
    assert max(places[:-1]) < places[-1], "what the next step needs comes first"
    urls = [one["url"] for page in reversed(pages) for one in page["sources"]]
    assert urls == [f"https://river{number}.example/{at}" for number in range(30) for at in range(10)]
    assert [one["step"]["stepNumber"] for one in steps] == list(range(1, 121))
    assert all(f"keepers of river {number} wrote" in whole for number in range(2, 121))
    assert all(f"What of pond {number}?" in whole for number in range(texts["every"], 121, texts["every"]))


async def test_who_has_lost_an_identifier_reads_the_list_and_nobody_elses(server: Server) -> None:
    async with server.client(ADA) as ada, server.client(GRACE) as grace:
        older = await begin(ada, researchGoal="What *otters* eat")
        await begin(grace, researchGoal="How badgers dig")
        await ask(ada, "sequential_search", searchStep="x", stepNumber=2, nextStepNeeded=False, sessionId=older)
        listed = await ask(ada, "read_more", source="research://sessions")
        others = await ask(grace, "read_more", source="research://sessions")

    assert f"sessionId {older}" in listed["content"]
    assert "What \\*otters\\* eat · complete" in listed["content"]
    assert "badgers" not in listed["content"]
    assert "otters" not in others["content"]
