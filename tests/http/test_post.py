"""One POST over a real socket: statuses, headers and forms in both eras, streams, cancelling, and what owners share."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.http_server import HttpDemo
from tests.support.server_process import call, initialize, notification, request

CODE = "io.modelcontextprotocol/"


@pytest.fixture(scope="module")
def server() -> Iterator[HttpDemo]:
    with HttpDemo({"ALLOWED_ORIGINS": "https://app.example"}) as running:
        yield running


def modern(number: Any, method: str, params: dict | None = None) -> dict[str, Any]:
    return request(number, method, params, modern=True)


# --- Answers ----------------------------------------------------------------------------------------------------------


def test_every_post_stands_alone_in_the_era_with_a_handshake(server: HttpDemo) -> None:
    first = server.post(initialize())
    assert (first.status, first.headers["content-type"]) == (200, "application/json")
    assert first.json["result"]["protocolVersion"] == "2025-11-25"
    assert "subscribe" not in first.json["result"]["capabilities"]["resources"]
    assert "mcp-session-id" not in first.headers
    assert server.post(notification("notifications/initialized")).status == 202
    assert server.post(request(1, "ping")).json["result"] == {}
    assert server.post(call(2, "echo", {"text": "ö"})).json["result"]["structuredContent"] == {"text": "ö"}


def test_a_modern_request_is_answered_with_what_its_era_adds(server: HttpDemo) -> None:
    found = server.post(modern(1, "server/discover"))
    assert found.status == 200
    assert found.json["result"]["capabilities"]["resources"] == {"subscribe": True}
    listed = server.post(modern("a", "tools/list")).json
    assert listed["id"] == "a"
    assert listed["result"]["resultType"] == "complete"
    answered = server.post(call(3, "instant", {"text": "x"}, modern=True)).json["result"]
    assert answered["_meta"]["demo/cached"] is True
    assert CODE + "serverInfo" in answered["_meta"]


@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        (modern(1, "nothing/there"), 404, -32601),
        (request(1, "nothing/there"), 200, -32601),
        (modern(1, "initialize"), 404, -32601),
        (modern(1, "ping"), 404, -32601),
        (modern(1, "resources/read", {"uri": "demo://none"}), 200, -32602),
        (request(1, "resources/read", {"uri": "demo://none"}), 200, -32602),
        (call(1, "no_such_tool", modern=True), 200, -32602),
        (modern(1, "tools/list", {"_meta": {CODE + "protocolVersion": "2031-01-01"}}), 400, -32020),
        (request(1, "tools/list", {"_meta": {CODE + "protocolVersion": "2026-07-28"}}), 400, -32602),
        (modern(1, "tools/list", {"_meta": {CODE + "logLevel": "loud"}}), 400, -32602),
        (b"{", 400, -32700),
        (b"[]", 400, -32600),
        (b"3", 400, -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","a":' + b"[" * 80 + b"]" * 80 + b"}", 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","a":[' + b"1," * 100_001 + b"1]}", 400, -32600),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","a":"\xff"}', 400, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","a":1e999}', 400, -32700),
    ],
)
def test_an_error_has_the_status_of_its_era(server: HttpDemo, message: Any, status: int, code: int) -> None:
    answer = server.post(message)

    assert (answer.status, answer.json["error"]["code"]) == (status, code), answer.body


def test_a_faulty_tool_is_no_status_and_tells_nothing_of_its_inside(server: HttpDemo) -> None:
    failed = server.post(call(1, "crash", modern=True))

    assert (failed.status, failed.json["result"]["isError"]) == (200, True)
    assert b"secret-in-an-exception" not in failed.body
    assert server.post(call(2, "leave")).json["result"]["isError"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": ""}, 415),
        ({"Content_Type": "application/json; charset=utf-8"}, 200),
        ({"Content_Encoding": "gzip"}, 415),
        ({"Accept": "application/json"}, 406),
        ({"Accept": "text/html"}, 406),
        ({"Accept": "*/*"}, 200),
        ({"Accept": ""}, 200),
        ({"Accept": "text/event-stream;q=0.5, application/json"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"X_Forwarded_Host": "evil.example"}, 200),
        ({"Origin": "https://app.example"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "https://app.example.evil"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:1"}, 403),
        ({"MCP_Protocol_Version": "2025-06-18"}, 200),
        ({"MCP_Protocol_Version": "1999-01-01"}, 400),
        ({"Mcp_Session_Id": "made-up"}, 200),
    ],
)
def test_headers_decide_before_the_body(server: HttpDemo, headers: dict[str, str], status: int) -> None:
    assert server.post(request(1, "ping"), **headers).status == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Mcp_Name": "=?base64?" + base64.b64encode(b"echo").decode() + "?="}, 200),
        ({"Mcp_Name": "=?base64?" + base64.b64encode(b"crash").decode() + "?="}, 400),
        ({"Mcp_Name": "=?base64?e!?="}, 400),
        ({"Mcp_Name": "Echo"}, 400),
        ({"Mcp_Name": ""}, 400),
        ({"Mcp_Method": "TOOLS/CALL"}, 400),
        ({"Mcp_Method": ""}, 400),
        ({"MCP_Protocol_Version": "2025-11-25"}, 400),
        ({"MCP_Protocol_Version": ""}, 400),
    ],
)
def test_headers_of_a_modern_request_repeat_its_body(server: HttpDemo, headers: dict[str, str], status: int) -> None:
    answer = server.post(call(1, "echo", {"text": "x"}, modern=True), **headers)

    assert answer.status == status
    if status == 400:
        assert answer.json["error"]["code"] == -32020
        assert answer.json["id"] == 1


def test_a_loopback_server_takes_pages_of_this_machine_alone_unless_it_is_told() -> None:
    with HttpDemo() as server:
        assert server.post(request(1, "ping"), Origin="http://localhost:3000").status == 200
        assert server.post(request(1, "ping"), Origin="http://localhost.evil:3000").status == 403
        assert server.post(request(1, "ping"), Host=f"localhost:{server.port}").status == 200


def test_a_page_is_told_what_it_may_send_and_read(server: HttpDemo) -> None:
    with server.client() as client:
        asked = client.get("/mcp", "OPTIONS", Origin="https://app.example")
        assert asked.status == 204
        allowed = asked.headers["access-control-allow-headers"]
        assert {"Authorization", "Mcp-Method", "X-Request-Id"} <= set(allowed.split(", "))
        assert asked.headers["access-control-allow-origin"] == "https://app.example"
        assert client.get("/mcp", "OPTIONS", Origin="https://evil.example").status == 403
        assert client.get("/mcp", "OPTIONS").status == 403
    answer = server.post(request(1, "ping"), Origin="https://app.example")
    assert {"WWW-Authenticate", "X-Request-Id"} <= set(answer.headers["access-control-expose-headers"].split(", "))
    assert answer.headers["vary"] == "Origin"


def test_other_paths_and_methods(server: HttpDemo) -> None:
    with server.client() as client:
        assert (client.get("/health/live").status, client.get("/health/live").body) == (200, b"ok")
        assert client.get("/health/ready").json == {"status": "healthy"}
        assert client.get("/health/ready", Host="10.1.2.3:8080").status == 200
        for method in ("GET", "DELETE", "PUT"):
            refused = client.get("/mcp", method)
            assert (refused.status, refused.headers["allow"]) == (405, "POST, OPTIONS")
        assert client.get("/mcp/../admin").status == 404
        assert client.get("/.well-known/oauth-protected-resource").status == 404
        assert client.get("/health/live", "POST").status == 405


def test_every_answer_carries_an_id_and_what_keeps_it_from_caches(server: HttpDemo) -> None:
    given = server.post(request(1, "ping"), X_Request_Id="abc-1")
    assert given.headers["x-request-id"] == "abc-1"
    assert server.post(request(1, "ping"), X_Request_Id="\x1b[31mred").status == 400
    for odd in ("a" * 200, "a;b", "a b"):
        made = server.post(request(1, "ping"), X_Request_Id=odd).headers["x-request-id"]
        assert len(made) == 32, odd
    assert given.headers["cache-control"] == "no-store"
    assert given.headers["x-content-type-options"] == "nosniff"
    assert "server" not in given.headers


def test_a_long_body_is_refused_before_it_is_read_and_while_it_is() -> None:
    with HttpDemo({"MAX_REQUEST_BODY_BYTES": "10KiB", "HTTP_READ_HEADER_TIMEOUT": "2s"}) as server:
        whole = call(1, "echo", {"text": "x" * 9_000})
        assert server.post(whole).status == 200
        assert server.post(call(1, "echo", {"text": "x" * 20_000})).status == 413
        head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n" % server.port
        said = server.raw(head + b"Content-Length: 999999999999999999\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 413")
        chunks = b"".join(b"400\r\n" + b"x" * 1024 + b"\r\n" for _ in range(11))
        said = server.raw(head + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 413")


# --- Streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_modern", [False, True])
def test_what_is_said_before_the_result_makes_it_a_stream(server: HttpDemo, is_modern: bool) -> None:
    answer = server.post(call(7, "steps", {"count": 2}, modern=is_modern, progressToken="t"))

    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["cache-control"] == "no-cache"
    *said, result = answer.events
    steps = [one["params"]["progress"] for one in said if one["method"] == "notifications/progress"]
    assert steps == [1, 2]
    assert result["id"] == 7
    assert result["result"]["structuredContent"] == {"steps": 2}
    assert b"\nid:" not in answer.body


def test_closing_cancels_a_modern_call_and_lets_another_end(server: HttpDemo) -> None:
    for is_modern, name in ((True, "gone"), (False, "kept")):
        client = server.client()
        client.open(call(1, "wait", {"name": name}, modern=is_modern, progressToken=1)).readline()
        client.close()
    # Who waits for the cancelled one would wait for ever: only the other is still there to be released.
    service, gates = server.service, server.engine.demo.gates
    for _ in range(2000):
        if service.running == 1:
            break
        server.post(request(9, "ping"))
    assert service.running == 1
    assert not gates["kept"].is_set()
    server.post(call(2, "release", {"name": "kept"}))
    while service.running:
        server.post(request(9, "ping"))


def test_a_cancellation_in_a_post_of_its_own_ends_the_call_of_the_same_owner(server: HttpDemo) -> None:
    with server.client() as client:
        response = client.open(call("c1", "wait", {"name": "c"}, progressToken=1), X_Test_Owner="ann")
        response.readline()
        server.post(notification("notifications/cancelled", {"requestId": "c1"}), X_Test_Owner="bob")
        server.post(request(9, "ping"), X_Test_Owner="ann")
        assert server.service.running == 1
        server.post(notification("notifications/cancelled", {"requestId": "c1"}), X_Test_Owner="ann")
        while server.service.running:
            server.post(request(9, "ping"))


def test_a_question_is_answered_by_a_post_of_its_owner_alone(server: HttpDemo) -> None:
    with server.client() as client:
        response = client.open(call(1, "ask"), X_Test_Owner="ann")
        lines = iter(response.readline, b"")
        asked = next(json.loads(line[6:]) for line in lines if line.startswith(b"data: "))
        assert asked["method"] == "elicitation/create"
        assert len(asked["id"]) == 32
        reply = {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"a": "of bob"}}}
        assert server.post(reply, X_Test_Owner="bob").status == 202
        assert server.post({**reply, "id": 1}, X_Test_Owner="ann").status == 202
        reply["result"]["content"]["a"] = "of ann"
        assert server.post(reply, X_Test_Owner="ann").status == 202
        result = next(json.loads(line[6:]) for line in lines if line.startswith(b"data: "))
    assert result["result"]["structuredContent"]["answer"]["content"] == {"a": "of ann"}


# --- Changes ----------------------------------------------------------------------------------------------------------


class Touching(HttpDemo):
    """A server whose `echo` tells of a change."""

    def __init__(self) -> None:
        super().__init__({"HTTP_MAX_CONNECTIONS": "4096"})

        async def touch(name: str, arguments: dict[str, Any], call: Any) -> Any:
            call.notify("notifications/resources/updated", {"uri": arguments["text"]})
            return await type(self.engine.demo).call_tool(self.engine.demo, name, arguments, call)

        self.engine.demo.call_tool = touch  # type: ignore[method-assign]


LISTEN = modern("l", "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["demo://one"]}})


def read_event(response: Any) -> Any:
    return next(json.loads(line[6:]) for line in iter(response.readline, b"") if line.startswith(b"data: "))


def test_a_stream_hears_of_changes_by_other_posts_of_its_owner_until_the_server_leaves() -> None:
    with Touching() as server, server.client() as ann, server.client() as bob:
        streams = {name: one.open(LISTEN, X_Test_Owner=name) for name, one in (("ann", ann), ("bob", bob))}
        for stream in streams.values():
            assert read_event(stream)["method"] == "notifications/subscriptions/acknowledged"
        server.post(call(1, "echo", {"text": "demo://other"}), X_Test_Owner="bob")
        server.post(call(2, "echo", {"text": "demo://one"}), X_Test_Owner="ann")
        changed = read_event(streams["ann"])
        assert (changed["method"], changed["params"]["uri"]) == ("notifications/resources/updated", "demo://one")
        server.stop()
        assert [read_event(one)["id"] for one in streams.values()] == ["l", "l"]
        assert [one.read() for one in streams.values()] == [b"\n", b"\n"]


def test_an_owner_has_so_many_streams_and_no_more() -> None:
    with Touching() as server:
        clients = [server.client() for _ in range(65)]
        with clients[-1] as last:
            for one in clients[:-1]:
                read_event(one.open(LISTEN))
            refused = last.post(LISTEN)
        assert (refused.status, refused.headers["retry-after"]) == (429, "1")
        for one in clients[:-1]:
            one.close()


# --- The end ----------------------------------------------------------------------------------------------------------


def test_a_server_that_leaves_answers_what_runs_and_refuses_what_comes() -> None:
    with HttpDemo() as server, server.client() as waiting, server.client() as other:
        response = waiting.open(call(1, "wait", {"name": "w"}, progressToken=1))
        read_event(response)
        assert other.post(request(1, "ping")).status == 200
        server.service.drain()
        assert other.post(request(2, "ping")).status == 200
        server.service.last_calls = 0.0
        assert other.post(request(2, "ping")).status == 503
        assert other.get("/health/ready").status == 503
        assert other.get("/health/live").status == 200
        assert server.engine.demo.gates
        server.call_soon(server.engine.demo.gates["w"].set)
        assert read_event(response)["result"]["structuredContent"] == {"released": "w"}
    assert server.engine.is_closed


def test_an_engine_that_cannot_be_loaded_is_told_as_a_failure_and_tried_again() -> None:
    server = HttpDemo()
    tries = threading.Semaphore(0)
    load = server.service._load

    def fail_once() -> Any:
        server.service._load = load
        tries.release()
        raise OSError("no such engine")

    server.service._load = fail_once
    with server:
        assert tries.acquire(timeout=60)
        while not server.reported:
            server.post(request(1, "ping"))
        assert server.post(call(1, "echo", {"text": "x"})).json["result"]["structuredContent"] == {"text": "x"}
    assert [type(error) for error in server.reported] == [OSError]
