"""Of callers who do not say who they are nothing is kept and nothing kept is found, and none reaches another's call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from specloom.core import Fault
from specloom.http.engine import OwnerEngine
from specloom.http.gate import Caller
from specloom.http.identity import NOBODY, Identity
from specloom.runtime import Presenter
from specloom.server.backend import Backends
from specloom.server.protocol import Call, Looked, NotFound
from specloom.storage import NullCollections
from tests.support.http_server import HttpDemo
from tests.support.research_server import Server, shipped
from tests.support.server_process import call, notification, request

NOBODY_CALLER = Caller(NOBODY.owner, identity=NOBODY)
ANN = Caller("acme:ann", identity=Identity("acme", "ann"))
SOME_ID = "11111111-1111-4111-8111-111111111111"
STEP = {"searchStep": "Read what zoos feed", "stepNumber": 1, "nextStepNeeded": True, "researchGoal": "otter diet"}


class Ends(Call):
    """A call whose notifications go nowhere."""

    def __init__(self) -> None:
        self.request_id, self.looked = 1, None
        self.client_capabilities: dict[str, Any] = {}

    def progress(self, *_: Any) -> None:
        """Nobody waits for it."""

    def notify(self, *_: Any) -> None:
        """Nobody listens."""


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    made = Server(folder=tmp_path)
    yield made
    await made.store.aclose()


def make_engine(server: Server) -> OwnerEngine:
    tools = server.catalogue.tool_names
    return OwnerEngine(Backends(server.executor, prompts={}, tools=tools, presenter=Presenter(server.executor)))


async def ask(engine: OwnerEngine, caller: Caller, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured content of a result, or the error of a refusal."""
    backend = engine.make_backend(caller)
    try:
        found = backend.call_now(tool, arguments)
        if found is None or isinstance(found, Looked):
            found = await backend.call_tool(tool, arguments, Ends())
    except Fault as fault:
        return {"error": fault.message}
    content: dict[str, Any] = json.loads(found)["structuredContent"]
    return content


async def test_a_search_is_answered_and_a_session_is_refused_in_words(server: Server) -> None:
    engine = make_engine(server)

    found = await ask(engine, NOBODY_CALLER, "web_search", query="otters")
    refused = await ask(engine, NOBODY_CALLER, "sequential_search", **STEP)

    assert found["urls"]
    assert "kept for signed-in users only" in refused["error"]
    assert await kept_of(server, NOBODY.owner) == {}


async def test_who_is_signed_in_is_remembered_beside_nobody(server: Server) -> None:
    engine = make_engine(server)
    session = (await ask(engine, ANN, "sequential_search", **STEP))["sessionId"]

    again = await ask(engine, ANN, "get_research_session", sessionId=session)
    as_nobody = await ask(engine, NOBODY_CALLER, "get_research_session", sessionId=session)
    never_was = await ask(engine, NOBODY_CALLER, "get_research_session", sessionId="0" * len(session))

    assert again["researchGoal"] == "otter diet"
    assert as_nobody["error"].replace(session, "") == never_was["error"].replace("0" * len(session), "")


async def test_no_tool_keeps_anything_of_nobody_whatever_it_is_told(server: Server) -> None:
    engine = make_engine(server)
    named = 0
    for tool in shipped().tools.values():
        if tool.name not in server.catalogue.tool_names:
            continue
        said = tool.input_schema["properties"]
        least = {name: _value(name, said[name]) for name in tool.input_schema.get("required", ())}
        ids = {name: SOME_ID for name in said if name.lower().endswith(("sessionid", "session_id"))}
        named += 1
        await ask(engine, NOBODY_CALLER, tool.name, **{**least, **ids})

    assert named > 40
    assert await kept_of(server, NOBODY.owner) == {}


async def test_what_is_kept_in_nothing_is_refused_and_nothing_is_read() -> None:
    drawer = NullCollections({}).drawer("notes", NOBODY.owner)

    assert await drawer.get("a") is None
    assert (await drawer.items(), await drawer.search("a"), await drawer.events("a")) == ([], [], [])
    assert (await drawer.count(), await drawer.delete("a")) == (0, False)
    for writing in (drawer.put("a", {}), drawer.append("a", {}), drawer.update("a", lambda value: value)):
        with pytest.raises(Exception, match="signed-in users only"):
            await writing


async def test_resources_of_nobody_are_as_if_they_had_never_been(server: Server) -> None:
    engine = make_engine(server)
    session = (await ask(engine, ANN, "sequential_search", **STEP))["sessionId"]
    backend = engine.make_backend(NOBODY_CALLER)
    addresses = [
        one.fill({"id": session}) for one in shipped().resources.values() if one.is_template and "{id}" in one.uri
    ]

    for address in addresses:
        with pytest.raises(NotFound):
            await backend.read_resource(address, Ends())
    assert addresses


async def kept_of(server: Server, owner: str) -> dict[str, Any]:
    """Everything in the store of an owner, by collection."""
    return {name: items for name, items in (await server.store.export(owner)).items() if items}


def _value(name: str, said: dict[str, Any]) -> Any:
    if "enum" in said:
        return said["enum"][0]
    if said.get("type") == "array":
        return ["otters"]
    text = "https://o.example/" if name == "url" else "otters"
    return {"integer": 1, "number": 1, "boolean": False, "object": {}}.get(said.get("type", ""), text)


# --- Over a socket ----------------------------------------------------------------------------------------------------


class NamedGate:
    """Callers are who a header says, and nobody without it."""

    is_ready = True

    async def admit(self, headers: Any, query: bytes) -> Caller:
        user = dict(headers).get(b"x-test-owner", b"").decode()
        return Caller(f"acme:{user}", identity=Identity("acme", user)) if user else NOBODY_CALLER

    def check(self, caller: Caller, message: dict[str, Any]) -> None:
        """Everything is allowed."""


def test_nobody_cancels_a_call_of_nobody() -> None:
    with HttpDemo(gate=NamedGate()) as server, server.client() as first, server.client() as second:
        first.open(call("c1", "wait", {"name": "n"}, progressToken=1)).readline()
        second.open(call("c1", "wait", {"name": "a"}, progressToken=1), X_Test_Owner="ann").readline()

        server.post(notification("notifications/cancelled", {"requestId": "c1"}))
        server.post(request(9, "ping"))
        assert server.service.running == 2
        server.post(notification("notifications/cancelled", {"requestId": "c1"}), X_Test_Owner="ann")
        while server.service.running > 1:
            server.post(request(9, "ping"))
        server.post(call(2, "release", {"name": "n"}))
