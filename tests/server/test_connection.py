"""The protocol core without a transport: one line in, bytes, a call or nothing out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.server.calls import LiveCall
from specloom.server.connection import Connection
from specloom.server.protocol import Backend, Catalogue, MissingCapability, ProtocolError
from tests.support.demo_server import Demo, catalogue
from tests.support.server_process import (
    CAPABILITIES_KEY,
    SERVER_KEY,
    VERSION_KEY,
    call,
    initialize,
    notification,
    request,
)

LOG_KEY = "io.modelcontextprotocol/logLevel"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"


class Talk:
    """A connection whose calls run at once, and everything it has sent."""

    def __init__(self, backend: Backend | None = None, described: Catalogue | None = None, *, modern: bool = False):
        self.backend = backend or Demo()
        self.sent: list[dict[str, Any]] = []
        self.reported: list[BaseException] = []
        self.connection = Connection(
            described or catalogue(), lambda frame: self.sent.append(json.loads(frame)), self.reported.append
        )
        self.modern = modern
        if not modern:
            self.say(initialize(capabilities={"elicitation": {}}))

    def say(self, message: Any) -> Any:
        """The answer to one message: JSON, a call that has not run, or nothing."""
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        answer = self.connection.handle(raw)
        if isinstance(answer, bytes):
            assert answer.endswith(b"\n")
            assert answer.count(b"\n") == 1
            return json.loads(answer)
        return answer

    def ask(self, method: str, params: dict | None = None, number: Any = 1) -> Any:
        """The answer to a request of this era."""
        answer = self.say(request(number, method, params, modern=self.modern))
        if not isinstance(answer, LiveCall):
            return answer
        asyncio.run(answer.run(self.backend))
        return self.sent.pop()

    def call(self, name: str, arguments: dict | None = None, **meta: Any) -> Any:
        """The answer to a call of a tool."""
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}, "_meta": meta})


@pytest.fixture(params=[False, True], ids=["legacy", "modern"])
def talk(request: pytest.FixtureRequest) -> Talk:
    """A conversation, in each era."""
    return Talk(modern=request.param)


def small(**more: Any) -> Catalogue:
    """A catalogue that declares nothing but what is given."""
    return Catalogue(name="small", version="1", tool_names=frozenset({"echo"}), **more)


# Both eras.


def test_the_list_of_tools_is_the_compiled_one(talk):
    result = talk.ask("tools/list")["result"]

    assert result["tools"] == json.loads(catalogue().tools)
    assert ("ttlMs" in result) is talk.modern
    assert ("resultType" in result) is talk.modern


@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list", "prompts/list"])
def test_the_other_lists_answer_when_they_are_declared(talk, method):
    assert "result" in talk.ask(method)


@pytest.mark.parametrize(
    "method", ["resources/list", "resources/read", "prompts/list", "prompts/get", "completion/complete"]
)
@pytest.mark.parametrize("modern", [False, True])
def test_a_family_that_is_not_declared_does_not_exist(method, modern):
    talk = Talk(described=small(), modern=modern)

    assert talk.ask(method, {"uri": "demo://one", "name": "x"})["error"]["code"] == -32601


def test_declared_families_may_be_empty(talk):
    empty = Talk(described=small(resources=b"[]", prompts=b"[]"), modern=talk.modern)

    assert empty.ask("resources/list")["result"]["resources"] == []
    assert empty.ask("resources/templates/list")["result"]["resourceTemplates"] == []
    assert empty.ask("prompts/list")["result"]["prompts"] == []
    assert empty.connection.catalogue.capabilities() == {"tools": {}, "resources": {}, "prompts": {}}


@pytest.mark.parametrize("cursor", ["x", "", 5])
def test_no_cursor_is_valid_where_nothing_is_paged(talk, cursor):
    assert talk.ask("tools/list", {"cursor": cursor})["error"]["code"] == -32602


def test_a_tool_result_carries_the_same_object_twice(talk):
    result = talk.call("echo", {"text": "hällo"})["result"]

    assert result["structuredContent"] == {"text": "hällo"}
    assert json.loads(result["content"][0]["text"]) == {"text": "hällo"}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("eco", 'Unknown tool: eco; did you mean "echo"?'),
        ("x" * 5000, "Unknown tool: " + "x" * 100),
        (5, "Invalid params: name must be text"),
        (None, "Invalid params: name must be text"),
    ],
)
def test_an_unknown_tool_is_a_protocol_error_with_the_nearest_one(talk, name, told):
    error = talk.ask("tools/call", {"name": name})["error"]

    assert error["code"] == -32602
    assert error["message"].partition("; known:")[0] == told


@pytest.mark.parametrize("arguments", ["text", [1], 5])
def test_arguments_must_be_an_object(talk, arguments):
    assert talk.ask("tools/call", {"name": "echo", "arguments": arguments})["error"]["code"] == -32602


def test_absent_arguments_are_an_empty_object(talk):
    assert talk.ask("tools/call", {"name": "echo", "arguments": None})["result"]["structuredContent"] == {"text": ""}


def test_a_fault_becomes_a_sentence_and_a_block(talk):
    result = talk.call("fault", {"kind": "rate_limited"})["result"]
    sentence, block = result["content"][0]["text"].split("\n\n")

    assert result["isError"] is True
    assert "structuredContent" not in result
    assert sentence == "The demo asks to slow down."
    assert json.loads(block)["error"]["retryAfterSeconds"] == 60


def test_an_unexpected_exception_tells_nothing_but_is_reported(talk):
    answer = talk.call("crash")

    assert answer["result"]["isError"] is True
    assert "secret" not in json.dumps(answer)
    assert "secret" in str(talk.reported[0])


@pytest.mark.parametrize(
    "result", [{"structuredContent": {}}, "text", {"content": [], "x": float("nan")}, {"content": {1}}]
)
def test_a_result_that_is_none_is_a_defect(talk, result):
    class Odd(Demo):
        async def call_tool(self, name, arguments, call):
            return result

    talk.backend = Odd()

    assert talk.call("echo")["result"]["isError"] is True
    assert talk.reported


def test_a_resource_is_read_and_an_unknown_one_is_named(talk):
    found = talk.ask("resources/read", {"uri": "demo://one"})["result"]
    missing = talk.ask("resources/read", {"uri": "demo://two"})["error"]

    assert found["contents"][0]["text"] == "One."
    assert ("ttlMs" in found) is talk.modern
    assert (missing["code"], missing["data"]) == (-32602, {"uri": "demo://two"})


@pytest.mark.parametrize(
    ("kind", "code"), [("not_found", -32602), ("validation", -32602), ("network", -32603), ("internal", -32603)]
)
def test_a_fault_outside_of_tools_is_a_protocol_error(talk, kind, code):
    class Broken(Demo):
        async def read_resource(self, uri, call):
            raise Fault(kind, "A sentence.")

    talk.backend = Broken()

    error = talk.ask("resources/read", {"uri": "demo://one"})["error"]
    assert error["code"] == code
    assert error["message"] == ("Resource not found: demo://one" if kind == "not_found" else "A sentence.")


def test_an_exception_outside_of_tools_has_a_fixed_text(talk):
    class Broken(Demo):
        async def get_prompt(self, name, arguments, call):
            raise RuntimeError("secret")

    talk.backend = Broken()

    assert talk.ask("prompts/get", {"name": "brief"})["error"] == {"code": -32603, "message": "Internal error"}


def test_prompts_and_completions_answer(talk):
    prompt = talk.ask("prompts/get", {"name": "brief", "arguments": {"topic": "rain"}})["result"]
    unknown = talk.ask("prompts/get", {"name": "nothing"})["error"]
    asked = {"ref": {"type": "ref/prompt", "name": "brief"}, "argument": {"name": "topic", "value": "al"}}
    completed = talk.ask("completion/complete", asked)["result"]

    assert prompt["messages"][0]["content"]["text"] == "rain"
    assert unknown["code"] == -32602
    assert completed["completion"] == {"values": ["alpha"], "total": 1, "hasMore": False}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resources/read", {}),
        ("resources/read", {"uri": 5}),
        ("prompts/get", {"name": 5}),
        ("prompts/get", {"name": "brief", "arguments": []}),
        ("completion/complete", {"ref": 1, "argument": {"name": "a", "value": "b"}}),
        ("completion/complete", {"ref": {}, "argument": {"name": "a"}}),
        ("completion/complete", {"ref": {}, "argument": {"name": "a", "value": "b"}, "context": 5}),
        ("tools/call", {"name": "echo", "inputResponses": 5}),
        ("tools/call", {"name": "echo", "requestState": 5}),
    ],
)
def test_params_of_the_wrong_shape_are_refused(talk, method, params):
    assert talk.ask(method, params)["error"]["code"] == -32602


def test_no_more_than_a_hundred_values_complete_an_argument(talk):
    class Many(Demo):
        async def complete(self, ref, argument, context):
            return {"values": [str(number) for number in range(500)], "total": 500, "hasMore": True}

    talk.backend = Many()
    asked = {"ref": {"type": "ref/prompt", "name": "brief"}, "argument": {"name": "topic", "value": ""}}

    assert len(talk.ask("completion/complete", asked)["result"]["completion"]["values"]) == 100


@pytest.mark.parametrize("method", ["nothing", "tools/nothing", "rpc.discover", "tasks/get"])
def test_an_unknown_method_is_not_found(talk, method):
    assert talk.ask(method)["error"]["code"] == -32601


def test_notifications_are_never_answered(talk):
    for method in ("notifications/initialized", "notifications/nothing", "notifications/cancelled", "tools/list"):
        assert talk.say(notification(method)) is None
        assert talk.say({"jsonrpc": "2.0", "method": method, "params": [1]}) is None
    assert talk.sent == []


@pytest.mark.parametrize("params", [[1], "x", 5, True])
def test_params_must_be_an_object(talk, params):
    answer = talk.say({"jsonrpc": "2.0", "id": "i", "method": "tools/list", "params": params})

    assert (answer["id"], answer["error"]["code"]) == ("i", -32602)


@pytest.mark.parametrize(
    ("raw", "code", "number"),
    [
        (b"{", -32700, None),
        (b"\xc3\x28", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","x":NaN}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","x":-Infinity}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","x":1e999}', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","x":[-1.5e999]}', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b"null", -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"1.0","id":4,"method":"ping"}', -32600, 4),
        (b'{"id":4,"method":"ping"}', -32600, 4),
        (b'{"jsonrpc":"2.0","id":4,"method":7}', -32600, 4),
        (b'{"jsonrpc":"2.0","id":4}', -32600, 4),
        (b'{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":5}}', -32602, 4),
    ],
)
def test_what_is_no_request_is_refused(talk, raw, code, number):
    answer = talk.say(raw)

    assert (answer["error"]["code"], answer["id"]) == (code, number)


def test_ids_come_back_as_they_were(talk):
    for number in (0, -5, 10**40, "", "ü", '"\\\n', "\ud800"):
        assert talk.ask("tools/list", number=number)["id"] == number


def test_an_id_may_not_be_used_twice_at_a_time(talk):
    first = talk.say(call(1, "echo", modern=talk.modern))
    second = talk.say(call(1, "echo", modern=talk.modern))
    other = talk.say(call("1", "echo", modern=talk.modern))

    assert isinstance(first, LiveCall)
    assert second["error"]["code"] == -32600
    assert isinstance(other, LiveCall)


def test_a_cancelled_call_says_nothing_more(talk):
    stopped = []
    running = talk.say(call(5, "steps", modern=talk.modern, progressToken=1))
    running.on_cancel = lambda: stopped.append(True)

    talk.say(notification("notifications/cancelled", {"requestId": 5}))
    asyncio.run(running.run(talk.backend))

    assert stopped == [True]
    assert talk.sent == []


def test_a_call_that_cancels_itself_is_answered(talk):
    class Odd(Demo):
        async def call_tool(self, name, arguments, call):
            raise asyncio.CancelledError

    running = talk.say(call(5, "echo", modern=talk.modern))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(running.run(Odd()))

    assert talk.sent[0]["result"]["isError"] is True


def test_an_answer_in_memory_is_given_at_once(talk):
    talk.connection.backend = talk.backend

    answer = talk.say(call(5, "instant", {"text": "x"}, modern=talk.modern))

    assert answer["result"]["structuredContent"] == {"text": "x"}
    assert answer["result"]["_meta"]["demo/cached"] is True
    assert (SERVER_KEY in answer["result"]["_meta"]) is talk.modern


def test_a_fast_path_that_fails_leaves_the_call_to_the_slow_one(talk):
    class Odd(Demo):
        def call_now(self, name, arguments, request_id):
            raise RuntimeError

    talk.connection.backend = Odd()

    assert isinstance(talk.say(call(5, "echo", modern=talk.modern)), LiveCall)


@pytest.mark.parametrize(
    "result", [{"content": []}, {"content": [], "_meta": {}}, {"content": [], "_meta": {"a/b": 1}}]
)
def test_meta_of_a_tool_is_kept_whatever_is_added(talk, result):
    class Odd(Demo):
        async def call_tool(self, name, arguments, call):
            return result

    talk.backend = Odd()
    meta = talk.call("echo")["result"].get("_meta", {})

    assert (SERVER_KEY in meta) is talk.modern
    assert meta.get("a/b") == result.get("_meta", {}).get("a/b")


def test_progress_is_silent_without_a_token(talk):
    talk.call("steps")

    assert talk.sent == []


def test_a_missing_capability_is_an_error_with_an_object(talk):
    class Needy(Demo):
        async def call_tool(self, name, arguments, call):
            raise MissingCapability({"sampling": {}})

    talk.backend = Needy()
    error = talk.call("echo")["error"]

    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"sampling": {}}})


def test_nothing_is_sent_for_a_call_that_is_over(talk):
    running = talk.say(call(5, "echo", modern=talk.modern, progressToken=1, **{LOG_KEY: "debug"}))
    asyncio.run(running.run(talk.backend))
    talk.sent.clear()

    running.progress(1)
    running.log("error", "late")
    running.notify("notifications/other")

    assert talk.sent == []


# The handshake era.


@pytest.mark.parametrize(
    ("wanted", "agreed"),
    [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2024-11-05"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ],
)
def test_the_handshake_agrees_on_a_version(wanted, agreed):
    talk = Talk(modern=True)

    assert talk.say(initialize(version=wanted))["result"]["protocolVersion"] == agreed


def test_the_handshake_tells_what_there_is():
    talk = Talk(modern=True)

    result = talk.say(initialize())["result"]

    assert result["capabilities"] == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True},
        "prompts": {},
        "completions": {},
        "logging": {},
    }
    assert result["instructions"] == "Use echo."
    assert "_meta" not in result


def test_a_handshake_without_its_parts_decides_nothing():
    talk = Talk(modern=True)

    refused = talk.say(request(1, "initialize", {"protocolVersion": "2025-11-25"}))

    assert refused["error"]["code"] == -32602
    assert talk.connection.era == ""


def test_a_request_with_an_envelope_does_not_fit_a_handshake():
    talk = Talk()

    assert talk.say(request(1, "tools/list", modern=True))["error"]["code"] == -32600


def test_ping_answers_even_before_the_handshake():
    talk = Talk(modern=True)

    assert talk.say(request(1, "ping"))["result"] == {}
    assert "result" in talk.say(initialize())
    assert talk.say(request(1, "ping"))["result"] == {}


def test_older_clients_get_no_log_before_they_ask():
    talk = Talk()
    talk.call("steps", {"count": 1})
    silent = list(talk.sent)
    refused = talk.ask("logging/setLevel", {"level": "loud"})
    talk.ask("logging/setLevel", {"level": "warning"})
    talk.call("steps", {"count": 1})
    heard = list(talk.sent)
    talk.ask("logging/setLevel", {"level": "error"})
    talk.call("steps", {"count": 1})

    assert silent == []
    assert refused["error"]["code"] == -32602
    assert [message["params"] for message in heard] == [{"level": "warning", "logger": "demo", "data": "step 1"}]
    assert talk.sent == heard


def test_older_clients_hear_of_the_resources_they_watch():
    talk = Talk()
    running = talk.say(call(9, "echo"))
    changed = ("notifications/resources/updated", {"uri": "demo://one"})

    running.notify(*changed)
    talk.ask("resources/subscribe", {"uri": "demo://one"})
    running.notify(*changed)
    talk.ask("resources/unsubscribe", {"uri": "demo://one"})
    running.notify(*changed)
    running.notify("notifications/tools/list_changed")
    running.notify("notifications/prompts/list_changed")

    assert [message["method"] for message in talk.sent] == [changed[0], "notifications/tools/list_changed"]
    assert talk.ask("resources/subscribe", {})["error"]["code"] == -32602
    assert talk.ask("resources/subscribe", {"uri": "silent://one"})["error"]["data"] == {"uri": "silent://one"}


def test_a_server_without_these_features_does_not_know_their_methods():
    talk = Talk(described=small())

    for method in ("logging/setLevel", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen"):
        assert talk.ask(method, {"level": "info", "uri": "demo://one"})["error"]["code"] == -32601


def test_an_older_client_never_gets_a_result_of_another_type():
    class Odd(Demo):
        async def call_tool(self, name, arguments, call):
            return {"resultType": "input_required", "inputRequests": {}}

    assert Talk(Odd()).call("echo")["result"]["isError"] is True


@pytest.mark.parametrize("answer", [{"result": {"action": "accept"}}, {"error": {"code": -1, "message": "no"}}])
def test_a_question_to_the_client_gets_its_answer_or_its_refusal(answer):
    talk = Talk()
    running = talk.say(call(1, "ask"))

    async def converse() -> None:
        work = asyncio.ensure_future(running.run(talk.backend))
        await asyncio.sleep(0)  # one turn of the loop, in which the backend gets as far as its question
        talk.say({"jsonrpc": "2.0", "id": 999, **answer})
        talk.say({"jsonrpc": "2.0", "id": talk.sent[0]["id"], **answer})
        talk.say({"jsonrpc": "2.0", "id": talk.sent[0]["id"], **answer})
        await work

    asyncio.run(converse())
    got = talk.sent[1]["result"]["structuredContent"]["answer"]

    assert got == answer["result"] if "result" in answer else "refused" in got


def test_nobody_is_asked_who_has_not_said_that_they_answer():
    talk = Talk(modern=True)
    talk.say(initialize())
    talk.modern = False

    assert "not declared" in talk.call("ask")["result"]["structuredContent"]["answer"]
    assert talk.sent == []


# The modern era.


@pytest.mark.parametrize("missing", [VERSION_KEY, CAPABILITIES_KEY])
def test_every_modern_request_needs_its_envelope(missing):
    talk = Talk(modern=True)
    message = request(1, "tools/list", modern=True)
    del message["params"]["_meta"][missing]

    error = talk.say(message)["error"]

    assert error["code"] == -32602
    assert missing in error["message"]


@pytest.mark.parametrize("changed", [{VERSION_KEY: 5}, {CAPABILITIES_KEY: []}, {LOG_KEY: "loud"}, {LOG_KEY: {}}])
def test_an_envelope_of_the_wrong_shape_is_refused(changed):
    assert Talk(modern=True).ask("tools/list", {"_meta": changed})["error"]["code"] == -32602


def test_an_unknown_version_is_told_which_are_known_and_may_still_shake_hands():
    talk = Talk(modern=True)

    error = talk.ask("server/discover", {"_meta": {VERSION_KEY: "2099-01-01"}})["error"]

    assert (error["code"], error["data"]) == (-32022, {"supported": ["2026-07-28"], "requested": "2099-01-01"})
    assert "result" in talk.say(initialize())


def test_discovery_tells_what_there_is():
    result = Talk(modern=True).ask("server/discover")["result"]

    assert result["supportedVersions"] == ["2026-07-28"]
    assert (result["ttlMs"], result["cacheScope"]) == (3_600_000, "public")
    assert result["_meta"][SERVER_KEY]["name"] == "demo"
    assert result["resultType"] == "complete"


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "resources/subscribe", "roots/list"])
def test_what_the_modern_era_has_dropped_is_not_found(method):
    talk = Talk(modern=True)
    talk.ask("tools/list")

    assert talk.ask(method, {"level": "info", "uri": "demo://one"})["error"]["code"] == -32601


def test_a_modern_request_asks_for_its_log_itself():
    talk = Talk(modern=True)
    talk.call("steps", {"count": 1})
    silent = list(talk.sent)
    talk.call("steps", {"count": 1}, **{LOG_KEY: "info"})

    assert silent == []
    assert [message["method"] for message in talk.sent] == ["notifications/message"]


def test_a_modern_client_is_asked_by_a_result_and_answers_with_a_new_call():
    talk = Talk(modern=True)

    first = talk.call("ask")["result"]
    params = {"name": "ask", "inputResponses": {"which": {"action": "accept"}}, "requestState": "s"}
    second = talk.ask("tools/call", params)["result"]

    assert first["resultType"] == "input_required"
    assert first["_meta"][SERVER_KEY]
    assert second["structuredContent"] == {"answer": params["inputResponses"], "state": "s"}


def test_a_subscription_is_acknowledged_with_what_will_really_come():
    talk = Talk(modern=True)
    uris = ["demo://one", "silent://one", 7]
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": uris}

    assert talk.ask("subscriptions/listen", {"notifications": wanted}, "s") is None
    acknowledged = talk.sent.pop()["params"]
    running = talk.say(call(9, "echo", modern=True))
    running.notify("notifications/tools/list_changed")
    running.notify("notifications/prompts/list_changed")
    running.notify("notifications/resources/updated", {"uri": "demo://one"})
    running.notify("notifications/resources/updated", {"uri": "demo://two"})

    assert acknowledged["notifications"] == {"toolsListChanged": True, "resourceSubscriptions": ["demo://one"]}
    assert [message["method"] for message in talk.sent] == [
        "notifications/tools/list_changed",
        "notifications/resources/updated",
    ]
    assert {message["params"]["_meta"][SUBSCRIPTION_KEY] for message in talk.sent} == {"s"}


def test_a_subscription_ends_without_a_word_or_with_the_last_one():
    talk = Talk(modern=True)
    for number in (1, 2):
        talk.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, number)
    talk.sent.clear()

    talk.say(notification("notifications/cancelled", {"requestId": 1}))
    talk.connection.hang_up()

    assert [message["id"] for message in talk.sent] == [2]
    assert talk.sent[0]["result"]["_meta"][SUBSCRIPTION_KEY] == 2


def test_a_subscription_needs_a_filter_and_has_a_limit():
    talk = Talk(modern=True)
    refused = talk.ask("subscriptions/listen")
    answers = [talk.ask("subscriptions/listen", {"notifications": {}}, number) for number in range(65)]

    assert refused["error"]["code"] == -32602
    assert answers[:64] == [None] * 64
    assert answers[64]["error"]["code"] == -32600


def test_there_is_nothing_to_subscribe_to_in_a_static_catalogue():
    talk = Talk(described=small(), modern=True)

    assert talk.ask("subscriptions/listen", {"notifications": {}})["error"]["code"] == -32601


def test_protocol_errors_of_a_backend_travel_as_they_are(talk):
    class Strict(Demo):
        async def call_tool(self, name, arguments, call):
            raise ProtocolError(-32602, "The state is not ours.", {"why": "seal"})

    talk.backend = Strict()

    assert talk.call("echo")["error"] == {"code": -32602, "message": "The state is not ours.", "data": {"why": "seal"}}
