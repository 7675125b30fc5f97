"""Procedures: registered Python that asks and reads as it goes, run by plans, stages, examples and live calls."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from specloom.authoring.examples.run import check_examples
from specloom.authoring.explain import explain
from specloom.core.diagnostics import Report
from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.plugins.context import Context
from specloom.plugins.registry import PROCEDURES, procedure
from specloom.runtime.executor import Executor
from tests.support.spec_library import Woven, a_tool, weave_texts

RECORD = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "urls": {"type": "array", "items": {"type": "string"}},
        "note": {"type": "string"},
    },
    "required": ["text", "urls"],
}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    async def read_demo(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
        """Reads one page, and asks who knows more about it."""
        if given.get("fail"):
            raise Fault("not_found", "there is nothing to read")
        page = await context.send(Request("GET", given["url"], headers=(("Accept", "text/html"),)))
        answers = await asyncio.gather(*[context.ask("find", {"query": word}) for word in ("one", "two")])
        context.tell(1, 1, "read")
        return {
            "text": page.body.decode(),
            "urls": [row["url"] for answer in answers for row in answer.rows],
            "note": context.config.get("DEMO_NOTE"),
        }

    async def count_demo(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
        """Counts the rows that it is given."""
        return {"total": len(given["rows"])}

    procedure(
        "read_demo",
        parameters={"url": {"type": "string"}, "fail": {"type": "boolean"}},
        gives=RECORD,
        asks=("find",),
        settings={"DEMO_NOTE": {"description": "Said beside every page.", "default": "a note"}},
    )(read_demo)

    async def outer_demo(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
        """Runs another procedure."""
        return {"text": (await context.run("read_demo", {"url": given["url"]}))["text"].upper()}

    procedure(
        "outer_demo",
        parameters={"url": {"type": "string"}},
        gives={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        runs=("read_demo",),
    )(outer_demo)
    procedure(
        "count_demo",
        parameters={"rows": {"type": "array"}},
        gives={"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]},
    )(count_demo)
    yield
    for name in ("read_demo", "count_demo", "outer_demo"):
        del PROCEDURES[name]


READ = """\
- name: read it
  procedure: {name: read_demo, with: {url: =args.query, fail: =args.fail}}
"""
ANSWER = "text: =result.text\nurls: =result.urls\nnote: =result.note\n"
FAIL = "fail: {type: boolean, default: false, description: Whether it fails.}\n"
EXAMPLES = """\
examples:
  - name: a page is read, and each question has its own answer
    args: {query: https://page.example/a?b=1}
    providers:
      alpha.find:
        - {sent: {query: one}, rows: [{url: "https://one.example/"}]}
        - {sent: {query: two}, rows: [{url: "https://two.example/"}]}
    pages: {"https://page.example/a?b=1": {text: Hello}}
    expect: {answer: {text: Hello, urls: ["https://one.example/", "https://two.example/"], note: a note}}
  - name: a host that is not there cannot be reached
    args: {query: https://other.example/}
    expect: {error: network}
"""


def weave_reading(plan: str = READ, *, examples: str = EXAMPLES, more: str = "", answer: str = ANSWER) -> Woven:
    return weave_texts(a_tool(plan=plan, more=more + examples, inputs=FAIL, answer=answer))


def run_examples(woven: Woven) -> list[str]:
    report = Report()
    check_examples(woven.library, woven.model, report)
    return [f"{one.code}: {one.message}" for one in report if one.place.file.startswith("memory")]


def test_an_example_answers_what_a_procedure_asks_and_reads() -> None:
    woven = weave_reading()

    assert woven.sentences == []
    assert run_examples(woven) == []


async def test_examples_run_where_a_loop_is_running_already() -> None:
    assert run_examples(weave_reading()) == []


def test_an_example_that_states_something_else_is_told_so() -> None:
    wrong = EXAMPLES.replace("text: Hello, urls", "text: Bye, urls").replace("{query: two}, rows", "{query: ten}, rows")

    found = run_examples(weave_reading(examples=wrong))

    assert any("asks alpha.find with {'query': 'two'}" in one or '"query": "two"' in one for one in found), found


def test_the_record_gives_the_output_schema_its_types_and_says_what_is_always_there() -> None:
    schema = weave_reading().tool().output_schema

    assert schema["properties"]["urls"] == {"type": "array", "items": {"type": "string"}}
    assert schema["required"] == ["text", "urls"]


def test_settings_of_a_procedure_are_settings_of_the_tool() -> None:
    assert weave_reading().tool().settings["DEMO_NOTE"].default == "a note"


def test_a_procedure_runs_another_one_and_its_settings_and_questions_are_those_of_the_tool_too() -> None:
    example = """\
examples:
  - name: the page of the inner one is told by the outer one
    args: {query: https://page.example/}
    providers: {alpha.find: {rows: []}}
    pages: {"https://page.example/": {text: Hello}}
    expect: {answer: {text: HELLO}}
"""
    plan = "- name: run it\n  procedure: {name: outer_demo, with: {url: =args.query}}\n"
    woven = weave_texts(a_tool(plan=plan, more=example, answer="text: =result.text\n"))

    assert woven.sentences == []
    assert run_examples(woven) == []
    assert "DEMO_NOTE" in woven.tool().settings
    assert woven.tool().capabilities == ("find",)


def test_a_fault_leads_to_the_next_strategy_or_stops() -> None:
    after = "- name: the route\n  first_of: {providers: =route.find, operation: find}\n"
    failing = READ.replace("=args.fail", "true")
    example = """\
examples:
  - name: the route answers where reading fails
    args: {query: x}
    providers: {alpha.find: {rows: [{url: "https://one.example/"}]}}
    expect: %s
"""
    goes_on = weave_reading(failing + after, examples=example % "{served_by: alpha, count: 1, answer: {text: null}}")
    stops = weave_reading(
        failing + "  on: {error: stop}\n" + after,
        examples=example % "{error: not_found, message: there is nothing to read}",
    )

    assert run_examples(goes_on) == []
    assert run_examples(stops) == []


def test_a_stage_gives_a_procedure_the_rows() -> None:
    plan = "- name: the route\n  first_of: {providers: =route.find, operation: find}\n"
    stage = "after:\n  - procedure: {name: count_demo, with: {rows: =rows}}\n"
    example = """\
examples:
  - name: rows are counted
    args: {query: x}
    providers: {alpha.find: {rows: [{url: "https://one.example/"}, {url: "https://two.example/"}]}}
    expect: {count: 2, answer: {total: 2}}
"""
    woven = weave_reading(plan, more=stage, examples=example, answer="total: =result.total\n")

    assert run_examples(woven) == []
    assert woven.tool().output_schema["required"] == ["total"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("read_demo", "read_dmo", "no procedure is called 'read_dmo'"),
        ("fail: =args", "fial: =args", "procedure 'read_demo' has no parameter 'fial'"),
    ],
)
def test_what_is_not_registered_is_reported_with_a_suggestion(old: str, new: str, sentence: str) -> None:
    found = weave_reading(READ.replace(old, new)).sentences

    assert any(one.startswith(f"E110: {sentence}") and "did you mean" in one for one in found), found


def test_a_field_that_the_record_does_not_have_is_reported() -> None:
    assert any("'txt'" in one for one in weave_reading(answer="text: =result.txt\n").sentences)


def test_the_cache_may_not_ignore_what_a_procedure_is_given() -> None:
    found = weave_reading(more="cache: {ttl: 1h, shape: 1, ignore: [fail]}\n").sentences

    assert any(one.startswith("E131") and "'fail'" in one for one in found), found


class Page:
    """A way out where every page says the same."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def send(self, request: Request) -> Response:
        self.sent.append(request.url)
        if "alpha" in request.provider:
            body = b'{"items": [{"url": "https://one.example/", "title": "One"}]}'
            return Response(200, {"content-type": "application/json"}, body, request.url)
        return Response(200, {}, b"Hello", request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


async def test_a_live_call_goes_through_the_executor_and_reports_progress() -> None:
    woven, told = weave_reading(), list[str]()
    executor = Executor(woven.model, environ={"DEMO_NOTE": "mine"}, sender=Page())

    done = await executor.call(
        "sample", {"query": "https://page.example/"}, progress=lambda _done, _total, message: told.append(str(message))
    )

    assert done.answer["text"] == "Hello"
    assert done.answer["note"] == "mine"
    assert told == ["read"]
    assert executor.upstreams.counts["alpha.find"].calls == 2


async def test_a_fault_of_a_procedure_is_the_fault_of_the_call() -> None:
    executor = Executor(weave_reading().model, environ={}, sender=Page())

    with pytest.raises(Fault, match="there is nothing to read"):
        await executor.call("sample", {"query": "https://page.example/", "fail": True})


async def test_a_procedure_that_outlasts_the_deadline_is_a_fault_that_says_so() -> None:
    class Silent(Page):
        async def send(self, request: Request) -> Response:
            return await asyncio.Future[Response]()

    executor = Executor(weave_reading(more="deadline: 50ms\n").model, environ={}, sender=Silent())

    with pytest.raises(Fault, match=r"sample had no answer after 0\.05 seconds") as caught:
        await executor.call("sample", {"query": "https://page.example/"})

    assert caught.value.kind == "upstream_unavailable"


def test_a_dry_run_names_the_procedure_and_whom_it_may_ask() -> None:
    sender = Page()
    executor = Executor(weave_reading().model, environ={}, sender=sender)

    found = explain(executor, "sample", {"query": "https://page.example/"})

    assert found.then.startswith("the procedure read_demo runs, which may ask find (")
    assert sender.sent == []
