"""Views are offered to who says that they show them, in both eras and over both transports, and to nobody else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.runtime.executor import Executor
from specloom.server.backend import ExecutorBackend
from specloom.server.calls import LiveCall
from specloom.server.catalogue import Selection, load_image, make_catalogue, save_image
from specloom.server.connection import Connection
from specloom.server.protocol import Catalogue
from tests.support.demo_specs import demo_executor
from tests.support.loopback import Loopback
from tests.support.operated import PAGE, operate
from tests.support.server_process import CAPABILITIES_KEY, call, initialize, request
from tests.support.viewed import DECLARED, write_viewed

ADDRESS = "ui://specloom/tiles"
ELSE: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/plain"]}}}
NONE = ({}, ELSE, {"extensions": {}}, {"extensions": 7}, {"extensions": {"io.modelcontextprotocol/ui": {}}})


@pytest.fixture
def executor(tmp_path: Path) -> Iterator[Executor]:
    with Loopback(lambda _: PAGE) as upstream, asyncio.Runner() as Asking.runner:
        made = demo_executor(write_viewed(tmp_path / "specs"), upstream.url)
        yield made
        Asking.runner.run(made.aclose())


class Asking:
    """One client of the protocol core."""

    runner: asyncio.Runner
    """Whose loop all calls of a test share."""

    def __init__(self, executor: Executor, capabilities: dict[str, Any], *, modern: bool) -> None:
        self.catalogue = make_catalogue(executor.model, Selection(["all"]))
        self.modern, self.capabilities = modern, capabilities
        self.sent: list[bytes] = []
        self.backend = ExecutorBackend(executor)
        self.connection = Connection(self.catalogue, self.sent.append)
        self.connection.backend = self.backend
        if not modern:
            self.connection.take(initialize(0, capabilities=capabilities))

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        if self.modern:
            message["params"]["_meta"][CAPABILITIES_KEY] = self.capabilities
        outcome = self.connection.take(message)
        if isinstance(outcome, LiveCall):
            self.runner.run(outcome.run(self.backend))
            outcome = self.sent.pop()
        assert isinstance(outcome, bytes)
        result: dict[str, Any] = json.loads(outcome)["result"]
        return result

    def list(self, what: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask(request(1, f"{what}/list", modern=self.modern))[what]
        return found

    def call(self) -> dict[str, Any]:
        return self.ask(call(2, "demo_find", {"query": "otters"}, modern=self.modern))

    def read(self, uri: str) -> dict[str, Any]:
        return self.ask(request(3, "resources/read", {"uri": uri}, modern=self.modern))


@pytest.mark.parametrize("modern", [False, True])
def test_a_client_that_shows_views_is_offered_one(executor: Executor, modern: bool) -> None:
    client = Asking(executor, DECLARED, modern=modern)

    (tool,) = client.list("tools")
    (view,) = [one for one in client.list("resources") if one["uri"].startswith("ui:")]
    read = client.read(ADDRESS)
    first, again = client.call(), client.call()

    assert tool["_meta"] == {"ui": {"resourceUri": ADDRESS}}
    assert (view["uri"], view["title"]) == (ADDRESS, "Tiles")
    assert view["mimeType"] == read["contents"][0]["mimeType"] == "text/html;profile=mcp-app"
    assert read["contents"][0]["text"].startswith("<!DOCTYPE html>")
    assert "Content-Security-Policy" not in read["contents"][0]["text"]
    for result in (first, again):
        assert result["_meta"]["specloom/view"] == {
            "template": "tiles",
            "title": "Find demo pages",
            "slots": {"title": "otters", "count": 1, "tiles": [{"label": "A", "url": "https://example.org/a"}]},
        }
        assert result["structuredContent"]["count"] == 1


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("capabilities", NONE)
def test_any_other_client_is_told_of_none(executor: Executor, capabilities: dict[str, Any], modern: bool) -> None:
    shown, client = Asking(executor, DECLARED, modern=modern), Asking(executor, capabilities, modern=modern)

    (tool,), (with_view,) = client.list("tools"), shown.list("tools")
    result, with_slots = client.call(), shown.call()

    assert "_meta" not in tool
    assert tool == {key: value for key, value in with_view.items() if key != "_meta"}
    assert not [one for one in client.list("resources") if one["uri"].startswith("ui:")]
    assert "specloom/view" not in result.get("_meta", {})
    assert result["content"] == with_slots["content"]
    assert result["structuredContent"] == with_slots["structuredContent"]


def test_a_view_that_is_not_there_is_not_found(executor: Executor) -> None:
    client = Asking(executor, DECLARED, modern=False)
    outcome = client.connection.take(request(3, "resources/read", {"uri": "ui://specloom/tile"}))
    assert isinstance(outcome, LiveCall)

    client.runner.run(outcome.run(client.backend))

    error = json.loads(client.sent.pop())["error"]
    assert error["data"] == {"uri": "ui://specloom/tile"}
    assert 'did you mean "tiles"?' in error["message"]


def test_a_fault_has_no_view(executor: Executor) -> None:
    client = Asking(executor, DECLARED, modern=True)

    result = client.ask(call(2, "demo_find", {"query": ""}, modern=True))

    assert result["isError"] is True
    assert "specloom/view" not in result["_meta"]


def test_a_kept_catalogue_knows_the_views(executor: Executor, tmp_path: Path) -> None:
    environ = {"SPECLOOM_CACHE_DIR": str(tmp_path / "cache"), "SPECLOOM_PATH": str(tmp_path / "specs")}
    selection = Selection(["all"])
    made = make_catalogue(executor.model, selection)
    assert save_image(made, environ, selection)

    kept = load_image(environ, selection)

    assert isinstance(kept, Catalogue)
    for one in (made, kept):
        assert one.views == {"demo_find": "tiles"}
        assert json.loads(one.with_views("tools"))[0]["_meta"] == {"ui": {"resourceUri": ADDRESS}}
        assert [view["uri"] for view in json.loads(one.with_views("resources"))] == [ADDRESS]


def test_who_may_not_use_a_tool_is_offered_no_view_of_it(executor: Executor) -> None:
    narrowed = make_catalogue(executor.model, Selection(["all"])).narrow(frozenset())

    assert narrowed.views == {}
    assert json.loads(narrowed.with_views("resources")) == []


def post(desk: Any, message: dict[str, Any], **headers: str) -> Any:
    return desk.server.post(message, X_Test_Owner="acme/ann", **headers)


@pytest.mark.parametrize("declared", [True, False])
def test_over_http_the_handshake_gives_who_shows_views_a_session_that_says_so(
    executor: Executor, tmp_path: Path, declared: bool
) -> None:
    with operate(executor, {"SPECLOOM_STATE_DIR": str(tmp_path)}, tmp_path, [], []) as desk:
        hello = post(desk, initialize(0, capabilities=DECLARED if declared else {}))
        session = hello.headers.get("mcp-session-id", "")
        headers = {"Mcp_Session_Id": session} if session else {}
        listed = post(desk, request(1, "tools/list"), **headers).json["result"]["tools"][0]
        called = post(desk, call(2, "demo_find", {"query": "otters"}), **headers).json["result"]
        unnamed = post(desk, request(3, "tools/list")).json["result"]["tools"][0]

    assert session.startswith("views-") is declared
    assert ("_meta" in listed) is declared
    assert ("specloom/view" in called.get("_meta", {})) is declared
    assert "_meta" not in unnamed


@pytest.mark.parametrize("declared", [True, False])
def test_over_http_a_request_that_stands_alone_says_it_itself(
    executor: Executor, tmp_path: Path, declared: bool
) -> None:
    with operate(executor, {"SPECLOOM_STATE_DIR": str(tmp_path)}, tmp_path, [], []) as desk:
        message = request(1, "tools/list", modern=True)
        message["params"]["_meta"][CAPABILITIES_KEY] = DECLARED if declared else {}
        answer = post(desk, message, MCP_Protocol_Version="2026-07-28", Mcp_Method="tools/list")

    assert ("_meta" in answer.json["result"]["tools"][0]) is declared
    assert "mcp-session-id" not in answer.headers
