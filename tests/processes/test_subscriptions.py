"""Who watches a session hears of its changes over the wire: both eras, both hosts, through a real client."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPDeprecationWarning, MCPError, StdioServerParameters

from tests.support.research_server import ask, begin

HOSTS = ("own", "sdk")
SOON = 60.0
"""Seconds far above what anything takes; only a hang gets there."""

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def connect(tmp_path: Path) -> Connect:
    folders = {"SPECLOOM_STATE_DIR": str(tmp_path / "state"), "SPECLOOM_CACHE_DIR": str(tmp_path / "cache")}
    environ = {**os.environ, **folders, "STDIO_USER_ID": "ada"}

    @asynccontextmanager
    async def open_client(host: str, era: str, handler: Any = None) -> AsyncIterator[Client]:
        arguments = ["-m", "specloom", "serve", "--host", host, "--tools", "sequential_search,get_research_session"]
        process = StdioServerParameters(command=sys.executable, args=arguments, env=environ)
        async with Client(process, mode=era, message_handler=handler) as client:
            yield client

    return open_client


def step(session: str, number: int) -> dict[str, Any]:
    return {"searchStep": "Go on", "stepNumber": number, "nextStepNeeded": True, "sessionId": session}


@pytest.mark.parametrize("host", HOSTS)
async def test_a_stream_of_the_modern_era_tells_of_the_watched_session_alone(connect: Connect, host: str) -> None:
    async with connect(host, "2026-07-28") as client:
        watched, other = await begin(client), await begin(client)
        uri = f"research://session/{watched}"
        with anyio.fail_after(SOON):
            async with client.listen(resource_subscriptions=[uri, "stats://tools"], tools_list_changed=True) as stream:
                await ask(client, "sequential_search", **step(other, 2))
                await ask(client, "get_research_session", sessionId=watched)
                await ask(client, "sequential_search", **step(watched, 2))
                event = await anext(aiter(stream))
                found = await client.read_resource(uri)

    assert event.uri == uri
    assert '"stepCount":2' in found.contents[0].text
    assert stream.honored.resource_subscriptions == [uri]
    assert not stream.honored.tools_list_changed, "the list never changes while a process lives, and says so"


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_a_client_with_a_handshake_is_told_until_it_no_longer_watches(connect: Connect, host: str) -> None:
    told: list[str] = []
    heard = anyio.Event()

    async def hear(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            told.append(str(message.params.uri))
            heard.set()

    async with connect(host, "legacy", hear) as client:
        watched, other = await begin(client), await begin(client)
        uri = f"research://session/{watched}"
        await client.subscribe_resource(uri)
        with pytest.raises(MCPError, match="does not tell of changes"):
            await client.subscribe_resource("stats://tools")
        await ask(client, "sequential_search", **step(other, 2))
        await ask(client, "sequential_search", **step(watched, 2))
        with anyio.fail_after(SOON):
            await heard.wait()
        await client.unsubscribe_resource(uri)
        await ask(client, "sequential_search", **step(watched, 3))
        await ask(client, "get_research_session", sessionId=watched)

    assert told == [uri]


@pytest.mark.parametrize("host", HOSTS)
async def test_what_is_not_declared_is_not_there(connect: Connect, host: str) -> None:
    """Lists are fixed for the life of a process, so no change of one is announced."""
    async with connect(host, "legacy") as client:
        declared = client.server_capabilities

    assert declared.resources is not None
    assert declared.resources.subscribe is True
    assert not any((declared.resources.list_changed, declared.tools.list_changed, declared.prompts.list_changed))


@pytest.mark.parametrize("host", HOSTS)
async def test_streams_of_the_modern_era_replace_what_the_handshake_era_has(connect: Connect, host: str) -> None:
    async with connect(host, "2026-07-28") as client:
        with pytest.warns(MCPDeprecationWarning), pytest.raises(MCPError, match="Method not found"):
            await client.subscribe_resource("research://session/x")
