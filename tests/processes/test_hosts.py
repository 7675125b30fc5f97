"""Our host and the official SDK's: the same conversation has the same answers, and the SDK's client likes ours."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.support.server_process import DEMO, Child, call, initialize, notification, request

BRIEF = {"type": "ref/prompt", "name": "brief"}
CONVERSATION: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("tools/list", {"cursor": "x"}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("prompts/list", {}),
    ("tools/call", {"name": "echo", "arguments": {"text": "grün \U0001f600 \u2028"}}),
    ("tools/call", {"name": "echo"}),
    ("tools/call", {"name": "instant", "arguments": {"text": "x"}}),
    ("tools/call", {"name": "nothing"}),
    ("tools/call", {}),
    ("tools/call", {"name": "echo", "arguments": "text"}),
    ("tools/call", {"name": "steps", "arguments": {"count": 3}, "_meta": {"progressToken": "p"}}),
    ("tools/call", {"name": "fault", "arguments": {"kind": "blocked"}}),
    ("tools/call", {"name": "crash"}),
    ("resources/read", {"uri": "demo://one"}),
    ("resources/read", {"uri": "demo://two"}),
    ("resources/read", {}),
    ("prompts/get", {"name": "brief", "arguments": {"topic": "rain"}}),
    ("prompts/get", {"name": "brief"}),
    ("prompts/get", {"name": "nothing"}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "brief"}, "argument": {"name": "topic", "value": "b"}},
    ),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "brief"}}),
    ("nothing/at/all", {}),
]
LEGACY = [
    ("ping", {}),
    ("logging/setLevel", {"level": "warning"}),
    ("tools/call", {"name": "steps", "arguments": {"count": 2}}),
    ("logging/setLevel", {"level": "loud"}),
    ("resources/subscribe", {"uri": "demo://one"}),
    ("resources/unsubscribe", {"uri": "demo://one"}),
    ("server/discover", {}),
    ("subscriptions/listen", {"notifications": {}}),
]
MODERN = [
    ("server/discover", {}),
    ("ping", {}),
    ("logging/setLevel", {"level": "info"}),
    ("tools/call", {"name": "steps", "arguments": {"count": 2}, "_meta": {"io.modelcontextprotocol/logLevel": "info"}}),
    ("tools/call", {"name": "ask"}),
    ("tools/call", {"name": "ask", "inputResponses": {"which": {"action": "decline"}}, "requestState": "s"}),
    ("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}}),
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
]


def told(message: dict[str, Any]) -> dict[str, Any]:
    """What matters of a message: of an error the code, and the data that programs read."""
    if "error" not in message:
        return message
    code, data = message["error"]["code"], message["error"].get("data")
    return {"id": message["id"], "code": code, "data": data if isinstance(data, dict) else None}


def converse(host: str, *, modern: bool) -> list[list[dict[str, Any]]]:
    """For each request, everything that the host sends up to the answer."""
    with Child("--host", host) as child:
        heard = []
        if not modern:
            child.send(initialize(0), notification("notifications/initialized"))
            heard.append([told(child.receive())])
        steps = [*([MODERN[0]] if modern else []), *CONVERSATION, *(MODERN if modern else LEGACY)]
        for number, (method, params) in enumerate(steps, 1):
            child.send(request(number, method, params, modern=modern))
            messages = [child.receive()]
            while messages[-1].get("id") != number:
                messages.append(child.receive())
            heard.append([told(message) for message in messages])
        assert child.finish() == []
        assert child.stderr() == b""
        return heard


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
def test_both_hosts_answer_alike(modern):
    ours = converse("stdio", modern=modern)
    theirs = converse("sdk", modern=modern)

    steps = [*([MODERN[0]] if modern else [("initialize", {})]), *CONVERSATION, *(MODERN if modern else LEGACY)]
    for step, our, their in zip(steps, ours, theirs, strict=True):
        assert (step, our) == (step, their)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_works_with_our_host(mode):
    steps = []

    async def hear(progress, total, message):
        steps.append(progress)

    server = StdioServerParameters(command=sys.executable, args=[str(DEMO)])
    async with Client(server, mode=mode) as client:
        tools = await client.list_tools()
        answer = await client.call_tool("echo", {"text": "x"})
        await client.call_tool("steps", {"count": 3}, progress_callback=hear)
        fault = await client.call_tool("fault", {})
        page = await client.read_resource("demo://one")
        prompt = await client.get_prompt("brief", {"topic": "rain"})

    assert "echo" in [tool.name for tool in tools.tools]
    assert answer.structured_content == {"text": "x"}
    assert steps == [1, 2, 3]
    assert fault.is_error is True
    assert page.contents[0].text == "One."
    assert prompt.messages[0].content.text == "rain"


async def test_the_official_client_takes_us_for_a_modern_server():
    server = StdioServerParameters(command=sys.executable, args=[str(DEMO)])
    async with Client(server) as client:
        assert client.protocol_version == "2026-07-28"


@pytest.mark.parametrize("host", ["stdio", "sdk"])
def test_a_cancelled_call_is_answered_by_neither_host(host):
    with Child("--host", host) as child:
        child.ask(initialize())
        child.send(notification("notifications/initialized"), call(1, "wait", {"name": "a"}, progressToken=1))
        child.receive()

        child.send(notification("notifications/cancelled", {"requestId": 1}))
        answer = child.ask(call(2, "release", {"name": "a"}))
        rest = child.finish()

        assert answer["id"] == 2
        assert rest == []
