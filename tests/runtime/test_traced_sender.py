"""Each request that is sent is a span, and nobody learns its id but whom an operator names."""

from __future__ import annotations

import pytest

from specloom.core import Fault, Policy, Request, find_tracer, replace
from specloom.net import Transport
from specloom.runtime import TracedSender
from tests.support.loopback import Call, Loopback, Reply
from tests.support.traces import Spans, tracing

POLICY = Policy(allow_private=True, timeout=60.0)
SECRET = "Pl4ntedV4lue"


async def send(request: Request, *told: str) -> Spans:
    with tracing() as spans:
        tracer = find_tracer()
        assert tracer is not None
        sender = TracedSender(Transport(allow_private=True), tracer, told)
        try:
            await sender.send(request)
        finally:
            await sender.aclose()
    return spans


def request_to(url: str, provider: str = "demo", policy: Policy = POLICY) -> Request:
    query = (("q", SECRET),)
    return Request("GET", f"{url}/{SECRET}", query, policy=policy, provider=provider, operation="web", step="main")


async def test_a_request_to_a_provider_says_whose_operation_and_step_it_is_and_nothing_of_the_question() -> None:
    with Loopback(lambda _: (200, {}, SECRET)) as server:
        spans = await send(request_to(server.url))

    one = spans.named("provider demo")
    assert one.kind.name == "CLIENT"
    assert dict(one.attributes or {}) == {
        "http.request.method": "GET",
        "specloom.provider": "demo",
        "specloom.operation": "web",
        "specloom.step": "main",
        "server.address": "127.0.0.1",
        "http.response.status_code": 200,
    }
    assert SECRET not in spans.text()
    assert "traceparent" not in server.last.headers


async def test_a_page_is_told_without_its_host() -> None:
    with Loopback(lambda _: (404, {}, "")) as server:
        spans = await send(request_to(server.url, provider=""))

    one = spans.named("GET")
    assert dict(one.attributes or {}) == {
        "http.request.method": "GET",
        "http.response.status_code": 404,
        "error.type": "404",
    }
    assert "127.0.0.1" not in spans.text()


async def test_a_request_that_fails_tells_the_kind_of_its_fault() -> None:
    with tracing() as spans:
        tracer = find_tracer()
        assert tracer is not None
        sender = TracedSender(Transport(), tracer)
        with pytest.raises(Fault):
            await sender.send(request_to("http://127.0.0.1:9", provider=""))

    assert dict(spans.named("GET").attributes or {})["error.type"] == "network"


async def test_a_provider_that_is_named_is_told_of_the_span_and_where_it_leads_to_nobody_is() -> None:
    def lead(call: Call) -> Reply:
        return 302, {"Location": f"http://localhost:{other.port}/"}, ""

    with Loopback(lambda _: (200, {}, "")) as other, Loopback(lead) as server:
        spans = await send(request_to(server.url, policy=replace(POLICY, any_host=True)), "demo")

    one = spans.named("provider demo")
    assert one.context is not None
    named = f"00-{one.context.trace_id:032x}-{one.context.span_id:016x}-"
    assert server.last.headers["traceparent"].startswith(named)
    assert "traceparent" not in other.last.headers
