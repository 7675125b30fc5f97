"""Calls over HTTP are spans: below the caller's, one each, and with nothing of what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from specloom.core import find_tracer
from specloom.http.service import HttpService
from specloom.http.tracing import TracedEngine
from tests.support.demo_server import catalogue
from tests.support.http_server import HttpDemo
from tests.support.server_process import call, request
from tests.support.traces import Spans, tracing

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT, OTHER = f"00-{TRACE}-b7ad6b7169203331-01", f"00-{'1' * 32}-{'2' * 16}-01"
SECRET = "Pl4ntedV4lue"


class Traced(HttpDemo):
    """The demo server as `specloom serve` makes it where a tracer was set up."""

    def __init__(self) -> None:
        super().__init__()
        tracer = find_tracer()
        assert tracer is not None
        engine = TracedEngine(self.engine, tracer)
        self.service = HttpService(catalogue(), lambda: engine, report=self.reported.append)
        self.app._service = self.service


@pytest.fixture
def traced() -> Iterator[tuple[Traced, Spans]]:
    with tracing() as spans, Traced() as server:
        while not server.service.is_ready:
            server.post(request(1, "ping"))
        yield server, spans


def parent_of(spans: Spans, name: str) -> str:
    """The trace that the span of this name belongs to, and its parent's id."""
    one = spans.named(name)
    assert one.context is not None
    return f"00-{one.context.trace_id:032x}-{one.parent.span_id:016x}-01" if one.parent is not None else ""


def test_a_call_is_a_span_with_the_words_of_the_conventions(traced: tuple[Traced, Spans]) -> None:
    server, spans = traced
    assert server.post(call(1, "echo", {"text": SECRET}, modern=True)).status == 200

    one = spans.named("tools/call echo")
    assert (one.kind.name, one.parent) == ("SERVER", None)
    assert dict(one.attributes or {}) == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "mcp.protocol.version": "2026-07-28",
    }
    assert SECRET not in spans.text()


def test_it_is_below_the_span_of_its_meta_else_of_its_header(traced: tuple[Traced, Spans]) -> None:
    server, spans = traced
    for meta, header, wanted in (
        ({}, PARENT, PARENT),
        ({"traceparent": PARENT}, "", PARENT),
        ({"traceparent": PARENT}, OTHER, PARENT),
        ({"traceparent": "made up"}, PARENT, PARENT),
        ({}, "made up", ""),
        ({}, "00-" + "0" * 32 + "-b7ad6b7169203331-01", ""),
    ):
        spans.clear()
        answer = server.post(call(1, "echo", {"text": "x"}, **meta), **({"traceparent": header} if header else {}))
        assert answer.status == 200
        assert parent_of(spans, "tools/call echo") == wanted, (meta, header)


def test_an_answer_that_is_kept_is_a_span_of_the_same_trace(traced: tuple[Traced, Spans]) -> None:
    server, spans = traced
    server.post(call(1, "instant", {"text": "x"}), traceparent=PARENT)

    assert parent_of(spans, "tools/call instant") == PARENT
    assert (spans.named("tools/call instant").attributes or {})["specloom.kept"] is True


def test_what_fails_tells_its_kind_and_none_of_its_words(traced: tuple[Traced, Spans]) -> None:
    server, spans = traced
    server.post(call(1, "crash"))

    assert "error.type" in (spans.named("tools/call crash").attributes or {})
    assert "secret-in-an-exception" not in spans.text()


def test_requests_over_one_connection_share_no_trace(traced: tuple[Traced, Spans]) -> None:
    server, spans = traced
    with server.client() as client:
        client.post(call(1, "echo", {"text": "x"}), traceparent=PARENT)
        client.post(call(2, "echo", {"text": "x"}))

    parents: list[Any] = [one.parent for one in spans.list()]
    assert [one is None for one in parents] == [False, True]


def test_resources_and_prompts_are_spans_without_their_address(traced: tuple[Traced, Spans]) -> None:
    server, spans = traced
    server.post(request(1, "resources/read", {"uri": "demo://one"}))
    server.post(request(2, "prompts/get", {"name": "brief", "arguments": {"topic": SECRET}}))

    assert {one.name for one in spans.list()} == {"resources/read", "prompts/get brief"}
    assert "demo://" not in spans.text()
    assert SECRET not in spans.text()


def test_without_a_tracer_an_application_makes_no_spans() -> None:
    with HttpDemo() as server:
        assert server.post(call(1, "echo", {"text": "x"}), traceparent=PARENT).status == 200
        assert server.app.tracer is None
