"""P5: what a tool returns fits the output schema that it published."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from specloom.authoring.examples.run import check_examples
from specloom.compiler.build import weave_from
from specloom.core.faults import Fault
from specloom.plugins.registry import HOOKS
from tests.support.demo_specs import TOOL, codes, demo_executor, weave_demo, write_demo
from tests.support.loopback import Loopback
from tests.support.shipped import shipped_examples, shipped_model

PAGE = (200, {"Content-Type": "application/json"}, '{"results": [{"title": "A", "link": "https://example.org/a"}]}')
GRADED = {
    TOOL: [
        ("after:\n", "after:\n  - enrich: {hook: demo_grader}\n"),
        ("url: url, rank: rank}}\nrecord", "url: url, rank: rank, grade: grade}}\nrecord"),
        (', pages: [{title: A, url: "https://example.org/a", rank: 1}]', ""),
    ]
}


@pytest.fixture
def graded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Specs whose tool is graded by a hook that promises an integer and gives what the test says."""
    grade = request.param

    def grader(rows: list[dict[str, Any]], arguments: object) -> list[dict[str, Any]]:
        """Grades."""
        return [{**row, "grade": grade} for row in rows]

    HOOKS.register("demo_grader", parameters={}, adds={"grade": {"type": "integer"}}, reads=())(grader)
    try:
        yield write_demo(tmp_path, GRADED)
    finally:
        del HOOKS["demo_grader"]


def test_the_answer_of_every_shipped_example_fits_what_its_tool_publishes() -> None:
    _, traces = shipped_examples()
    looked_at, wrong = 0, []
    for name, tool in shipped_model().tools.items():
        Draft7Validator.check_schema(tool.output_schema)
        for example, trace in traces["tool", name]:
            if trace.outcome is not None:
                looked_at += 1
                wrong += [
                    f"{name}: {example.node.place}: {one.message}"
                    for one in Draft7Validator(tool.output_schema).iter_errors(trace.outcome.answer)
                ]

    assert looked_at, "no shipped example has an answer, so nothing was looked at"
    assert wrong == []


@pytest.mark.parametrize("graded", [3], indirect=True)
def test_a_hook_that_keeps_its_word_passes(graded: Path) -> None:
    _, _, report = weave_demo(graded)

    assert codes(report) == []


@pytest.mark.parametrize("graded", ["three", 3.5, [3]], indirect=True)
def test_an_example_whose_answer_breaks_the_schema_is_refused(graded: Path) -> None:
    model, library, report = weave_from([graded])
    check_examples(library, model, report)

    assert "E404" in codes(report)


@pytest.mark.parametrize("graded", ["three"], indirect=True)
async def test_a_live_answer_that_breaks_the_schema_is_a_defect_and_not_an_answer(graded: Path) -> None:
    with Loopback(lambda call: PAGE) as upstream:
        executor = demo_executor(graded, upstream.url, validate=True)

        with pytest.raises(Fault, match="does not fit the published schema") as caught:
            await executor.call("demo_find", {"query": "a"})
        await executor.aclose()

    assert caught.value.kind == "internal"


@pytest.mark.parametrize(
    "raw", [{}, {"lens": "demo_field"}, {"num_results": 1}, {"time_range": "week", "session": "s"}]
)
@pytest.mark.parametrize(
    "body", [PAGE[2], '{"results": []}', '{"results": [{"link": "https://example.org", "rank": "x"}]}']
)
async def test_live_answers_fit_the_schema(tmp_path: Path, raw: dict[str, Any], body: str) -> None:
    with Loopback(lambda call: (200, PAGE[1], body)) as upstream:
        executor = demo_executor(write_demo(tmp_path), upstream.url, validate=True)

        done = await executor.call("demo_find", {"query": "a", **raw})
        await executor.aclose()

    Draft7Validator(executor.tool("demo_find").output_schema).validate(done.answer)
