"""Whatever comes in, the core stays up, and every request is answered exactly once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from specloom.server.calls import LiveCall
from specloom.server.connection import Connection
from specloom.server.frames import encode, render_text, success, to_bytes
from tests.support.demo_server import Demo, catalogue
from tests.support.server_process import CAPABILITIES_KEY, VERSION_KEY, initialize

text = st.text(max_size=8) | st.sampled_from(["\ud800", "echo", "demo://one", "brief"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3), max_leaves=8
)
METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/read",
    "resources/list",
    "resources/subscribe",
    "prompts/get",
    "prompts/list",
    "completion/complete",
    "logging/setLevel",
    "server/discover",
    "notifications/cancelled",
    "notifications/initialized",
]
envelopes = st.fixed_dictionaries({VERSION_KEY: st.just("2026-07-28"), CAPABILITIES_KEY: st.just({})})
params = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["echo", "fault", "crash", "brief"]) | values,
        "arguments": st.just({}) | values,
        "uri": st.just("demo://one") | values,
        "cursor": values,
        "level": st.just("info") | values,
        "ref": values,
        "argument": st.just({"name": "a", "value": "b"}) | values,
        "requestId": values,
        "protocolVersion": values,
        "capabilities": values,
        "clientInfo": values,
        "inputResponses": values,
        "requestState": values,
        "_meta": envelopes | values,
    },
)
messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(METHODS) | text},
    optional={"id": st.integers() | text | values, "params": params | values},
)


def answer_all(lines: list[bytes], first: dict[str, Any] | None) -> list[tuple[bytes, list[dict[str, Any]]]]:
    """For each line, the answers with an id that it got; its call runs to the end before the next line."""
    sent: list[dict[str, Any]] = []
    connection = Connection(catalogue(), lambda frame: sent.append(json.loads(frame)))
    if first is not None:
        connection.handle(json.dumps(first).encode())
    heard = []
    for line in lines:
        sent.clear()
        answer = connection.handle(line)
        if isinstance(answer, LiveCall):
            asyncio.run(answer.run(Demo()))
        elif answer is not None:
            assert answer.endswith(b"\n")
            assert answer.count(b"\n") == 1
            sent.append(json.loads(answer))
        heard.append((line, [message for message in sent if "method" not in message]))
    return heard


@given(st.lists(st.binary(max_size=40) | values.map(lambda value: json.dumps(value).encode()), max_size=4))
def test_bytes_of_any_kind_are_survived(lines):
    for _, answers in answer_all(lines, initialize()):
        assert len(answers) <= 1


@given(st.lists(messages, max_size=4), st.none() | st.just(initialize()))
def test_a_request_is_answered_once_and_a_notification_never(batch, first):
    for line, answers in answer_all([json.dumps(message).encode() for message in batch], first):
        message = json.loads(line)
        number = message.get("id")
        valid = isinstance(number, str) or (isinstance(number, int) and not isinstance(number, bool))

        assert len(answers) == (1 if "id" in message else 0)
        assert all(answer["id"] == (number if valid else None) for answer in answers)
        assert all(("result" in answer) != ("error" in answer) for answer in answers)


@given(st.dictionaries(text, values, max_size=4), st.none() | st.dictionaries(text, values, max_size=2))
def test_an_answer_rendered_at_once_is_the_answer_encoded_in_two_steps(data, meta):
    # Half a surrogate pair does not travel in what was text before.
    data, meta = json.loads(json.dumps([data, meta], ensure_ascii=False).encode("utf-8", "replace"))
    body = to_bytes(data)

    assert json.loads(render_text(body.decode(), meta)) == json.loads(encode(success(data, meta)))
    assert b"\n" not in to_bytes(data)
