"""Two servers over HTTP with folders of their own remember together, and say so where they cannot."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from specloom.http.serve import find_left_behind
from specloom.plugins import join_owner
from specloom.storage import add_member
from tests.support.crossing import PURPOSES, SECRET, SPACE
from tests.support.redis_server import RedisServer
from tests.support.research_server import NOW, ask, begin
from tests.support.shared_server import FIRST, OTHERS, TENANT, USER, SharedServer

OWNER = join_owner(TENANT, USER)
SOON = 60.0
"""Seconds within which a server that is back is used again."""


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with RedisServer("--appendonly", "yes", "--appendfsync", "always") as server:
        yield server


@pytest.fixture
def machines(redis: RedisServer, tmp_path: Path) -> Iterator[tuple[SharedServer, SharedServer]]:
    with ExitStack() as stack:
        made = []
        for name in ("one", "two"):
            folder = tmp_path / name
            folder.mkdir()
            machine = SharedServer(folder, "tenant", redis, prefix="specloom:")
            machine.desk = stack.enter_context(machine.running)
            made.append(machine)
        yield made[0], made[1]


async def end_of(client: Client, tool: str, **arguments: Any) -> tuple[str, str]:
    """The kind of a refusal, and its sentence; "" for what was answered."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text  # type: ignore[union-attr]
    if not result.is_error:
        return "", text
    sentence, _, block = text.partition("\n\n")
    return json.loads(block)["error"]["kind"], sentence


async def test_what_was_begun_on_one_machine_goes_on_on_another(machines: tuple[SharedServer, SharedServer]) -> None:
    one, two = machines
    await one.on_loop(one.research.agree(OWNER, *PURPOSES))
    members = one.stores.drawer("members", OWNER, space=SPACE)
    await one.on_loop(add_member(members, OWNER, NOW))
    async with one.client(FIRST) as client:
        session = await begin(client, researchGoal=SECRET)
        note = await ask(client, "memory_save", note=f"{SECRET} otters hold hands", topic="otters")
        await ask(client, "workspace_contribute", workspace_id=SPACE, note=SECRET)
        for number in range(2, 10):
            told = {"searchStep": f"{SECRET} " * 400, "stepNumber": number, "nextStepNeeded": True}
            await ask(client, "sequential_search", **told, sessionId=session)
        linked = await ask(client, "research_export", sessionId=session)

    async with two.client(FIRST) as client:
        step = {"searchStep": "on another machine", "stepNumber": 10, "nextStepNeeded": True, "sessionId": session}
        await ask(client, "sequential_search", **step)
        found = await ask(client, "web_search", query="otters", sessionId=session)
        read = await client.read_resource(linked["resource"])
        recalled = await ask(client, "memory_recall", query="otter hands")
    async with one.client(FIRST) as client:
        seen = await ask(client, "get_research_session", sessionId=session)
    async with two.client(OTHERS["another tenant"]) as client:
        kind, _ = await end_of(client, "get_research_session", sessionId=session)

    assert found["results"]
    assert SECRET in read.contents[0].text  # type: ignore[union-attr]
    assert [one["id"] for one in recalled["memories"]] == [note["id"]]
    assert seen["stepCount"] == 10
    assert [source["url"] for source in seen["sources"]] == [one["url"] for one in found["results"]]
    assert kind == "session_not_found"


async def test_steps_that_two_machines_take_at_once_are_all_there(machines: tuple[SharedServer, SharedServer]) -> None:
    one, two = machines
    async with one.client(FIRST) as first, two.client(FIRST) as second:
        session = await begin(first)

        async def tell(client: Client, number: int) -> str:
            step = {"searchStep": f"step {number}", "stepNumber": number, "nextStepNeeded": True, "sessionId": session}
            return (await end_of(client, "sequential_search", **step))[0]

        kinds = await asyncio.gather(*(tell((first, second)[number % 2], number) for number in range(2, 22)))
        seen = await ask(second, "get_research_session", sessionId=session)

    assert {*kinds} == {""}
    assert seen["stepCount"] == 21


async def test_an_erasure_by_one_machine_reaches_the_other(
    machines: tuple[SharedServer, SharedServer], redis: RedisServer
) -> None:
    one, two = machines
    await one.fill("otters of the north")
    before = await two.export()
    assert SECRET in json.dumps(before)
    async with two.client(FIRST) as client:
        assert (await ask(client, "memory_recall", query=SECRET))["memories"]

    answer = one.desk.ask(f"/admin/data?tenant_id={TENANT}&user_id={USER}", "DELETE")

    assert answer.status == 200
    assert answer.json["deleted"]["memory"] == 1
    after = await two.export()
    assert [name for name, items in after.items() if items] == ["consents"]
    assert {item["value"]["granted"] for item in after["consents"]} == {False}
    async with two.client(FIRST) as client:
        kind, sentence = await end_of(client, "memory_recall", query=SECRET)
    assert "not agreed" in sentence, kind
    # What others keep is as it was.
    assert await two.on_loop(two.stores.store().count("consents")) > len(PURPOSES)


async def test_while_redis_is_away_what_remembers_says_so_and_all_else_goes_on(
    machines: tuple[SharedServer, SharedServer], redis: RedisServer
) -> None:
    one, two = machines
    await one.on_loop(one.research.agree(OWNER, *PURPOSES))
    async with one.client(FIRST) as client:
        session = await begin(client)
        await ask(client, "memory_save", note="otters hold hands")
        redis.kill()

        step = {"searchStep": "more", "stepNumber": 2, "nextStepNeeded": True, "sessionId": session}
        ends = [
            await end_of(client, "sequential_search", **step),
            await end_of(client, "get_research_session", sessionId=session),
            await end_of(client, "memory_recall", query="otters"),
            await end_of(client, "memory_save", note="more"),
        ]
        searched = await ask(client, "web_search", query="otters")
        unrecorded = await client.call_tool("web_search", {"query": "river otters", "sessionId": session})

        assert {kind for kind, _ in ends} == {"upstream_unavailable"}
        assert {"cannot be reached at present" in sentence for _, sentence in ends} == {True}
        assert not any(str(redis.socket) in sentence for _, sentence in ends)
        assert len(searched["results"]) == 2
        assert not unrecorded.is_error
        assert "Nothing of this call was recorded in a session" in unrecorded.content[0].text  # type: ignore[union-attr]
        assert "state.db" not in os.listdir(one.settings["SPECLOOM_STATE_DIR"])
        redis.start()
        async with asyncio.timeout(SOON):
            # Who comes while it is away is answered at once.
            while (await end_of(client, "sequential_search", **step))[0] == "upstream_unavailable":
                pass
    async with two.client(FIRST) as client:
        seen = await ask(client, "get_research_session", sessionId=session)
        recalled = await ask(client, "memory_recall", query="otters")
    assert seen["stepCount"] == 2
    assert [one["note"] for one in recalled["memories"]] == ["otters hold hands"]


def test_a_folder_whose_state_is_seen_by_nobody_any_more_is_told(tmp_path: Path) -> None:
    there = {"SPECLOOM_STATE_DIR": str(tmp_path), "SPECLOOM_STATE": "redis"}

    empty = find_left_behind(there)
    (tmp_path / "state.db").touch()

    assert empty == ""
    assert find_left_behind(there).startswith(f"{tmp_path / 'state.db'} holds what was remembered before")
    assert find_left_behind({**there, "SPECLOOM_STATE": ""}) == ""
