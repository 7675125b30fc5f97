"""What changes something at whoever is asked: it is not sent twice, not passed on, and told to hosts."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from specloom.core.faults import MAY_BE_WRITTEN, Fault
from specloom.core.messages import Request, Response
from specloom.core.secrets import Secret
from specloom.plugins.context import Context
from specloom.plugins.registry import PROCEDURES, procedure
from specloom.runtime.circuit_breaker import Breakers
from specloom.runtime.executor import Executor
from specloom.runtime.providers import Upstreams
from specloom.runtime.recordings import Sender
from tests.support.spec_library import Woven, a_provider, a_tool, find, weave_texts

CAPABILITY = """
spec: capability/1
name: find
title: Keep a page
description: A page that is kept from then on.
routing: {key: find, order: [sample]}
writes: true
arguments:
  query: {type: text, description: What is kept.}
row:
  url: {type: text, required: true, description: Where it is kept.}
"""
STEP = """
input: [query]
steps:
  - post: /s
    body: {json: {q: =args.query}}
    json: {map: {url: {at: "not_null(url, 'kept')"}}}
"""
RETRY = "retry: {on: [rate_limited, upstream_unavailable], times: 2, wait: 1s}\n"


def woven(step: str = STEP, *more: str, capability: str = CAPABILITY) -> Woven:
    return weave_texts(capability, a_provider(step, service=RETRY), *more, base=False)


@pytest.mark.parametrize("reply", [Response(503), Response(500), Fault("network", "cut off")])
def test_what_may_have_been_done_is_not_asked_for_again(reply: Response | Fault) -> None:
    run = find(woven(), {"query": "otters"}, reply)

    assert len(run.sent) == 1
    assert run.fault is not None
    assert run.fault.kind == "upstream_unavailable"


def test_what_was_refused_for_coming_too_soon_is_asked_for_again() -> None:
    run = find(woven(), {"query": "otters"}, Response(429), Response(201, {"content-type": "application/json"}, b"{}"))

    assert len(run.sent) == 2
    assert run.rows == [{"url": "kept"}]


def test_a_capability_that_reads_is_asked_again() -> None:
    run = find(woven(capability=CAPABILITY.replace("writes: true\n", "")), {"query": "otters"}, Response(503))

    assert len(run.sent) == 3


def test_a_step_that_only_reads_is_asked_again_also_where_the_next_one_writes() -> None:
    step = STEP.replace("steps:\n", "steps:\n  - {as: first, get: /a, json: {map: {url: url}}}\n")
    run = find(woven(step), {"query": "otters"}, Response(503))

    assert [request.method for request in run.sent] == ["GET"] * 3


@pytest.mark.parametrize("status", [200, 201, 204])
def test_nothing_at_all_may_be_the_answer(status: int) -> None:
    assert find(woven(), {"query": "otters"}, Response(status)).rows == [{"url": "kept"}]


def test_a_question_is_not_answered_by_nothing() -> None:
    run = find(woven(capability=CAPABILITY.replace("writes: true\n", "")), {"query": "otters"}, Response(204))

    assert run.fault is not None


def test_bytes_are_sent_as_what_their_text_stands_for() -> None:
    content = b"%PDF-1\xff\x00"
    step = STEP.replace("json: {q: =args.query}", "base64: =args.query")
    (request,) = find(woven(step), {"query": base64.b64encode(content).decode()}, Response(204)).sent

    assert request.body == content
    assert ("Content-Type", "application/octet-stream") in request.headers


def test_what_is_no_base64_is_not_sent() -> None:
    run = find(woven(STEP.replace("json: {q: =args.query}", "base64: =args.query")), {"query": "ö"}, Response(204))

    assert run.sent == []
    assert run.fault is not None
    assert run.fault.message.endswith("the body is no text in base64")


@pytest.mark.parametrize(
    ("plan", "code", "message"),
    [
        (
            "- {name: it, call: {provider: sample, operation: find}}",
            "E134",
            "'find' writes where it is asked, and `read_only` is true",
        ),
        (
            "- {name: it, gather: {providers: =route.find, operation: find}}",
            "E105",
            "'find' writes, and nobody is to write twice",
        ),
        (
            "- {name: it, first_of: {providers: =route.find, operation: find}, on: {error: next}}",
            "E105",
            "'find' writes, and the next would write what may be written already",
        ),
        (
            "- {name: it, collect: {parts: {a: {operation: find, providers: =route.find, on: {empty: next}}}}}",
            "E105",
            "'find' writes, and the next would write what may be written already",
        ),
    ],
)
def test_a_plan_that_could_write_twice_or_in_secret_is_refused(plan: str, code: str, message: str) -> None:
    found = woven(STEP, a_tool(plan=f"{plan}\n"))

    assert code in found.codes
    assert any(message in sentence for sentence in found.sentences)


def test_the_answer_to_a_write_is_not_used_again() -> None:
    found = woven(STEP.replace("post: /s\n", "post: /s\n    keep_for: 1h\n"))

    assert found.codes[0] == "E105"
    assert "what it was answered says nothing to the next request" in found.sentences[0]


@pytest.mark.parametrize("reply", [Response(503), Fault("network", "cut off"), Response(200, {}, b"no JSON")])
def test_of_what_may_have_been_written_nobody_is_told_to_write_it_again(reply: Response | Fault) -> None:
    run = find(woven(), {"query": "otters"}, reply)

    assert run.fault is not None
    told = run.fault.to_json()["error"]
    assert (told["retryable"], told["suggestedAction"]) == (False, "look_before_retry")
    assert "retryAfterSeconds" not in told
    assert run.fault.message.endswith(MAY_BE_WRITTEN)
    again = run.fault.told_as(message="Other words", kind="network").to_json()["error"]
    assert (again["retryable"], again["suggestedAction"]) == (False, "look_before_retry")


@pytest.mark.parametrize("status", [400, 401, 404, 423, 429])
def test_what_was_refused_is_not_said_to_be_written(status: int) -> None:
    run = find(woven(), {"query": "otters"}, *[Response(status)] * 3)

    assert run.fault is not None
    assert not run.fault.may_have_written
    assert MAY_BE_WRITTEN not in run.fault.message


def test_what_could_not_be_sent_is_not_said_to_be_written() -> None:
    refused = Fault("network", "sample.example could not be reached: the connection was refused.")
    refused.unsent = True
    run = find(woven(), {"query": "otters"}, refused)

    assert run.fault is not None
    assert run.fault.to_json()["error"]["suggestedAction"] == "try_different_provider"


def test_a_question_that_fails_may_be_asked_again() -> None:
    run = find(woven(capability=CAPABILITY.replace("writes: true\n", "")), {"query": "otters"}, *[Response(503)] * 3)

    assert run.fault is not None
    assert run.fault.to_json()["error"]["retryable"] is True


TWO_STEPS = """
input: [query]
steps:
  - as: first
    post: /one
    body: {json: {q: =args.query}}
    json: {map: {url: {at: "'kept'"}}}
  - as: second
    post: /two
    body: {json: {q: =args.query}}
    json: {map: {url: {at: "'kept'"}}}
"""


async def ask_with_keys(*replies: Response) -> tuple[list[tuple[str, str]], Fault | None]:
    """What is sent with two keys, each request as its path and its key, and the fault that there is at the end."""
    setting = "config:\n  SAMPLE_KEY: {secret: true, required: true, rotate: true, description: A key.}\n"
    spec = a_provider(TWO_STEPS, service="headers: {X-Key: =config.SAMPLE_KEY}\n", top=setting)
    model = weave_texts(CAPABILITY, spec, base=False).model
    sent: list[tuple[str, str]] = []
    left = list(replies)

    class Replies:
        async def send(self, request: Request) -> Response:
            (key,) = [value.reveal() for _, value in request.headers if isinstance(value, Secret)]
            sent.append((request.url.rpartition("/")[2], key))
            return left.pop(0)

        async def aclose(self) -> None:
            pass

    upstreams = Upstreams(
        model.providers,
        {"sample": {"SAMPLE_KEY": Secret("k1,k2")}},
        sender=Replies(),
        breakers=Breakers(),
        cache=None,
        clock=lambda: 0.0,
    )
    try:
        await upstreams.ask("sample", "find", {"query": "otters"})
    except Fault as fault:
        return sent, fault
    return sent, None


@pytest.mark.parametrize("status", [429, 401])
async def test_what_was_written_with_one_key_is_not_written_again_with_the_next(status: int) -> None:
    sent, fault = await ask_with_keys(Response(201, {}, b"{}"), Response(status))

    assert sent == [("one", "k1"), ("two", "k1")]
    assert fault is not None
    assert fault.to_json()["error"]["suggestedAction"] == "look_before_retry"


async def test_a_write_that_was_refused_with_one_key_is_sent_with_the_next() -> None:
    sent, fault = await ask_with_keys(Response(429), Response(201, {}, b"{}"), Response(201, {}, b"{}"))

    assert sent == [("one", "k1"), ("one", "k2"), ("two", "k2")]
    assert fault is None


@pytest.fixture
def putting() -> Iterator[None]:
    async def put_demo(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
        """Puts one thing, and reads a page behind it."""
        if given.get("puts"):
            await context.ask("find", {"query": "otters"})
        page = await context.send(Request("GET", "https://page.example/"))
        return {"text": page.body.decode()}

    texts = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    procedure("put_demo", parameters={"puts": {"type": "boolean"}}, gives=texts, asks=("find",))(put_demo)
    yield
    del PROCEDURES["put_demo"]


async def call_putting(sender: Sender, *, puts: bool) -> Fault:
    """The fault of a call that puts something, or does not, and then reads a page."""
    tool = a_tool(
        plan="- {name: put it, procedure: {name: put_demo, with: {puts: =args.puts}}}\n",
        inputs="puts: {type: boolean, description: Whether something is put.}\n",
        answer="text: =result.text",
    ).replace("read_only: true", "read_only: false")
    found = woven(STEP, tool)
    executor = Executor(found.model, environ={}, sender=sender)
    with pytest.raises(Fault) as caught:
        await executor.call("sample", {"query": "otters", "puts": puts})
    return caught.value


@pytest.mark.parametrize("puts", [True, False])
@pytest.mark.usefixtures("putting")
async def test_at_the_end_of_its_time_a_tool_says_whether_it_may_have_written(
    monkeypatch: pytest.MonkeyPatch, *, puts: bool
) -> None:
    class Slow:
        async def send(self, request: Request) -> Response:
            if request.method == "POST":
                return Response(201, {}, b"{}")
            loop = asyncio.get_running_loop()
            now = loop.time
            monkeypatch.setattr(loop, "time", lambda: now() + 3600)
            return await asyncio.Future[Response]()

        async def aclose(self) -> None:
            pass

    fault = await call_putting(Slow(), puts=puts)

    told = fault.to_json()["error"]
    assert fault.message.startswith("sample had no answer after")
    assert told["retryable"] is not puts
    assert (told["suggestedAction"] == "look_before_retry") is puts
    assert fault.message.endswith(MAY_BE_WRITTEN) is puts


@pytest.mark.parametrize("puts", [True, False])
@pytest.mark.usefixtures("putting")
async def test_what_fails_behind_a_write_of_the_same_call_says_that_it_was_written(*, puts: bool) -> None:
    class CutOff:
        async def send(self, request: Request) -> Response:
            if request.method == "POST":
                return Response(201, {}, b"{}")
            raise Fault("network", "page.example was cut off")

        async def aclose(self) -> None:
            pass

    fault = await call_putting(CutOff(), puts=puts)

    told = fault.to_json()["error"]
    assert fault.message.startswith("page.example was cut off")
    assert told["retryable"] is not puts
    assert (told["suggestedAction"] == "look_before_retry") is puts
