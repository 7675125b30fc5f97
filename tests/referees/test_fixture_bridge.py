"""The bridge and the fixture catalogue work without Node, so that a failing suite means a failing server."""

from __future__ import annotations

import json
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.referees.stdio_bridge import Bridge

FIXTURES = Path(__file__).parent / "fixture_catalogue.py"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture(scope="module")
def bridge():
    """A bridge on a free port of this machine."""
    made = Bridge(0, [sys.executable, str(FIXTURES)])
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()
    made.shut()


def post(bridge, message, **headers):
    """The status, the headers and the messages of one answer."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{bridge.server_address[1]}/mcp",
        data=json.dumps(message).encode(),
        headers={"Content-Type": "application/json", **headers},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            body, status, found = answer.read().decode(), answer.status, answer.headers
    except urllib.error.HTTPError as error:
        with error:
            body, status, found = error.read().decode(), error.code, error.headers
    if found.get("Content-Type") == "text/event-stream":
        return status, found, [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]
    return status, found, [json.loads(body)] if body else []


def modern(bridge, method, params=None, number="n"):
    """The status and the messages that answer a modern request."""
    params = {**(params or {}), "_meta": {**ENVELOPE, **(params or {}).get("_meta", {})}}
    status, _, messages = post(bridge, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    return status, messages


def test_a_handshake_opens_a_session_of_its_own(bridge):
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    _, headers, first = post(bridge, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    session = {"Mcp-Session-Id": headers["Mcp-Session-Id"]}
    call = {"name": "test_tool_with_progress", "_meta": {"progressToken": "p"}}
    _, _, messages = post(bridge, {"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": call}, **session)
    unknown, _, _ = post(bridge, {"jsonrpc": "2.0", "id": 2, "method": "ping"}, **{"Mcp-Session-Id": "none"})

    assert first[0]["result"]["serverInfo"]["name"] == "specloom-fixtures"
    assert [message["params"]["progress"] for message in messages[:-1]] == [0, 50, 100]
    assert messages[-1]["id"] == "x"
    assert unknown == 404


def test_a_modern_error_has_the_status_of_its_code(bridge):
    assert modern(bridge, "nothing")[0] == 404
    assert modern(bridge, "tools/call", {"name": "test_missing_capability"})[0] == 400
    assert modern(bridge, "tools/list")[0] == 200


def test_every_tool_of_the_suite_answers(bridge):
    _, (listed,) = modern(bridge, "tools/list")
    names = [tool["name"] for tool in listed["result"]["tools"]]

    assert len(names) == 28
    for name in names:
        _, messages = modern(bridge, "tools/call", {"name": name, "arguments": {}})
        assert "result" in messages[-1] or messages[-1]["error"]["code"] == -32021, name


def test_a_changed_state_is_refused(bridge):
    name = "test_input_required_result_tampered_state"
    _, (asked,) = modern(bridge, "tools/call", {"name": name})
    state = asked["result"]["requestState"]
    answer = {"confirm": {"action": "accept", "content": {"ok": True}}}
    _, (good,) = modern(bridge, "tools/call", {"name": name, "inputResponses": answer, "requestState": state})
    _, (bad,) = modern(bridge, "tools/call", {"name": name, "inputResponses": answer, "requestState": state + "x"})

    assert good["result"]["content"][0]["text"] == "state-ok"
    assert bad["error"]["code"] == -32602
