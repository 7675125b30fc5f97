"""What a server remembers holds on the disk: through a change of keys, without room, and with several servers."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.support.research_server import ADA, ENVIRON, Server, ask, begin

OLD, NEW = "ab" * 32, "cd" * 32


async def test_a_change_of_keys_is_noticed_by_nobody_and_leaves_nothing_under_the_old_one(tmp_path: Path) -> None:
    async def serve(**keys: str) -> Server:
        server = Server({**ENVIRON, **keys}, folder=tmp_path)
        await server.agree(ADA, "memory", "analytics")
        return server

    first = await serve(SPECLOOM_CACHE_KEY=OLD)
    async with first.client(ADA) as client:
        session = await begin(client)
        await ask(client, "memory_save", note="Otters eat crabs", topic="diet")
    await first.store.aclose()

    both = await serve(SPECLOOM_CACHE_KEY=NEW, SPECLOOM_CACHE_KEY_PREVIOUS=OLD)
    async with both.client(ADA) as client:
        found = await ask(client, "get_research_session", sessionId=session)
        told = {"searchStep": "Go on", "stepNumber": 2, "nextStepNeeded": True, "sessionId": session}
        await ask(client, "sequential_search", **told)
        recalled = await ask(client, "memory_recall", query="crab")
    await both.store.expire()
    await both.store.aclose()

    after = await serve(SPECLOOM_CACHE_KEY=NEW)
    async with after.client(ADA) as client:
        again = await ask(client, "get_research_session", sessionId=session)
        by_topic = await ask(client, "memory_recall", topic="diet")
    await after.store.aclose()

    assert (found["stepCount"], again["stepCount"]) == (1, 2)
    assert recalled["memories"] == by_topic["memories"]
    assert [one["note"] for one in by_topic["memories"]] == ["Otters eat crabs"]


async def test_a_full_disk_is_told_in_a_sentence_and_loses_nothing(tmp_path: Path) -> None:
    server = Server({**ENVIRON, "SPECLOOM_STATE_MAX_MB": "1"}, folder=tmp_path)
    await server.agree(ADA, "memory")
    kept: list[str] = []
    async with server.client(ADA) as client:
        while True:
            result = await client.call_tool("memory_save", {"note": f"{len(kept)} " + "crab " * 8000})
            if result.is_error:
                break
            kept.append(result.structured_content["id"])
            assert len(kept) < 100, "a store of a megabyte takes no such amount"
        again = await client.call_tool("memory_save", {"note": "x" * 40_000})
        recalled = await ask(client, "memory_recall", limit=200, max_tokens=20_000)
    await server.store.aclose()

    said = result.content[0].text
    assert len(kept) > 3
    assert said.startswith(
        "The state store is full: nothing of this was written, and nothing that was written is lost."
    )
    assert '"suggestedAction":"inform_user"' in said.replace(" ", "")
    assert again.is_error
    assert [one["id"] for one in recalled["memories"]] == kept[::-1]


@pytest.mark.process
async def test_servers_that_share_a_folder_lose_no_step_of_each_other(tmp_path: Path) -> None:
    folders = {"SPECLOOM_STATE_DIR": str(tmp_path / "state"), "SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    environ = {**os.environ, **folders, "STDIO_USER_ID": "ada"}
    arguments = ["-m", "specloom", "serve", "--tools", "sequential_search,get_research_session"]
    process = StdioServerParameters(command=sys.executable, args=arguments, env=environ)

    async def work(client: Client, session: str, name: str) -> None:
        for number in range(2, 12):
            told: dict[str, Any] = {"searchStep": f"{name} {number}", "stepNumber": number, "nextStepNeeded": True}
            await ask(client, "sequential_search", **told, sessionId=session)

    async with Client(process) as one, Client(process) as other:
        session = await begin(one)
        async with anyio.create_task_group() as group:
            group.start_soon(work, one, session, "one")
            group.start_soon(work, other, session, "other")
        found = await ask(one, "get_research_session", sessionId=session)

    said = [entry["oneLiner"] for entry in found["stepIndex"]]
    assert found["stepCount"] == 21
    assert [line for line in said if line.startswith("one ")] == [f"one {number}" for number in range(2, 12)]
    assert [line for line in said if line.startswith("other ")] == [f"other {number}" for number in range(2, 12)]
