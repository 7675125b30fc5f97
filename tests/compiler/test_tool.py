"""Tool files are compiled whole: names, schemas and shapes are settled before any call."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft7Validator

from specloom.plugins.registry import HOOKS
from tests.support.spec_library import a_provider, a_tool, weave_texts


def problems(**parts: str) -> list[str]:
    return weave_texts(a_tool(**parts)).sentences


ROUTE = "- name: the route\n  first_of: {providers: =route.find, operation: find%s}\n"


@pytest.mark.parametrize(
    ("parts", "start"),
    [
        (
            {"plan": ROUTE.replace("operation: find", "operation: fnd") % ""},
            "E110: no capability is called 'fnd' (did you mean \"find\"?)",
        ),
        (
            {"plan": ROUTE % ", with: {qury: x}"},
            "E110: capability 'find' has no argument 'qury' (did you mean \"query\"?)",
        ),
        ({"plan": ROUTE % ", again: {when: rows, with: {qury: x}}"}, "E110: capability 'find' has no argument 'qury'"),
        ({"plan": ROUTE.replace("route.find", "route.fnd") % ""}, "E202: unknown name 'fnd'"),
        ({"plan": "- name: a hook\n  hook: {name: nothing}\n"}, "E110: no hook is called 'nothing'"),
        ({"more": "after: [{sort: {by: titel}}]\n"}, "E110: a row has no field 'titel' (did you mean \"title\"?)"),
        ({"more": "after: [{dedupe: {by: [url, urll]}}]\n"}, "E110: a row has no field 'urll'"),
        ({"more": "after: [{keep: row.urll}]\n"}, "E202: unknown name 'urll'"),
        ({"more": "hints: {filters: [qury]}\n"}, "E110: the tool has no input 'qury'"),
        ({"more": "record: {session: sesion, as: web}\n"}, "E110: the tool has no input 'sesion'"),
        (
            {"answer": "unread: =rows", "more": "record: {session: query, as: web, failures: unred}\n"},
            "E110: the answer has no key 'unred' (did you mean \"unread\"?)",
        ),
        (
            {"inputs": "kind: {type: string, enum: [day], default: week, description: Kind.}\n"},
            "E104: the default 'week' is not in the enum",
        ),
        (
            {"inputs": "size: {type: integer, default: x, description: Size.}\n"},
            "E104: the default 'x' is not of type integer",
        ),
        (
            {"inputs": "size: {type: integer, format: date, description: Size.}\n"},
            "E104: `format` belongs to an input of type string, or to a list of texts",
        ),
        ({"inputs": "size: {type: string, pattern: '[a', description: Size.}\n"}, "E104: '[a' is not a regular"),
        (
            {"inputs": "whom: {type: string, enum: providers.fnd, description: Whom.}\n"},
            "E110: no capability is called 'fnd'",
        ),
        ({"answer": "urls: =rows[*].urll"}, "E202: unknown name 'urll'"),
        ({"answer": "pages: {each: rows, map: {link: urll}}"}, "E202: unknown name 'urll'"),
        ({"more": "values: {a: values.b, b: args.query}\n"}, "E111: values.b is not known yet here"),
        ({"more": "checks: [{refuse_when: args.qury, message: \"'no'\"}]\n"}, "E202: unknown name 'qury'"),
    ],
)
def test_what_could_go_wrong_is_told(parts: dict[str, str], start: str) -> None:
    found = problems(**parts)

    assert [one for one in found if one.startswith(start)], found


def test_a_check_of_what_is_not_there_before_the_call_is_refused() -> None:
    """Checks run before anyone is asked, so they see arguments and no rows."""
    assert [one[:4] for one in problems(more="checks: [{refuse_when: rows, message: \"'no'\"}]\n")] == ["E202"]


def test_the_input_schema_says_what_is_really_applied() -> None:
    inputs = """\
        size: {type: integer, minimum: 1, maximum: 9, default: 5, clamp: true, description: How many.}
        sites: {type: list, max_items: 2, description: Hosts.}
        lens: {type: string, enum: lenses, description: A lens.}
        code: {type: string, pattern: 'a|b', description: A code.}
        """

    schema = (
        weave_texts(
            a_tool(
                inputs=inputs,
                answer="all: =join('', [args.lens, args.code, to_string(args.size), to_string(args.sites)][?@])",
            )
        )
        .tool()
        .input_schema
    )

    Draft7Validator.check_schema(schema)
    assert schema["required"] == ["query"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["size"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
        "default": 5,
        "description": "How many.",
    }
    assert schema["properties"]["sites"] == {
        "type": "array",
        "items": {"type": "string"},
        "maxItems": 2,
        "description": "Hosts.",
    }
    assert schema["properties"]["lens"]["enum"] == ["nature"]
    assert not Draft7Validator(schema).is_valid({"query": "x", "code": "ab"})


def test_what_a_text_may_be_is_said_of_each_item_of_a_list() -> None:
    """A pattern beside `items` would be heeded by nobody: it is a word about texts, and a list is none."""
    inputs = "codes: {type: list, pattern: '[a-z]+', min_length: 2, max_length: 3, max_items: 2, description: Codes.}\n"

    schema = weave_texts(a_tool(inputs=inputs, answer="all: =args.codes")).tool().input_schema

    codes = {"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[a-z]+$"}
    assert schema["properties"]["codes"] == {
        "type": "array",
        "items": codes,
        "maxItems": 2,
        "description": "Codes.",
    }
    valid = Draft7Validator(schema).is_valid
    assert valid({"query": "x", "codes": ["ab", "abc"]})
    assert not valid({"query": "x", "codes": ["ab", "A1"]})


def test_the_output_schema_is_derived_from_the_answer() -> None:
    answer = (
        "urls: =rows[*].url\nfirst: =rows[0].title\ntrust: untrusted\nn: =length(rows)\npages: {each: rows, map: "
        "{link: url, title: title, text: {at: snippet, else: ''}}}"
    )

    schema = weave_texts(a_tool(answer=answer, more="hints: {filters: [query]}\n")).tool().output_schema

    Draft7Validator.check_schema(schema)
    assert schema["required"] == ["urls", "trust", "n", "pages"]
    assert schema["properties"]["pages"]["items"]["required"] == ["link", "text"]
    assert "hints" in schema["properties"]
    assert Draft7Validator(schema).is_valid(
        {"urls": ["u"], "trust": "untrusted", "n": 1, "pages": [{"link": "u", "text": ""}]}
    )
    assert not Draft7Validator(schema).is_valid({"urls": [5], "trust": "untrusted", "n": 1, "pages": []})


def test_lenses_are_a_table() -> None:
    inputs = "lens: {type: string, enum: lenses, description: A lens.}\n"
    plan = ROUTE % ", with: {sites: \"=lookup('lenses', args.lens).domains\"}"

    assert weave_texts(a_tool(inputs=inputs, plan=plan)).codes == []


@pytest.fixture
def scoring() -> Any:
    @HOOKS.register(
        "scoring", parameters={"factor": {"type": "number"}}, adds={"score": {"type": "number"}}, reads=("url",)
    )
    def score(rows: list[dict[str, Any]], arguments: Any) -> list[dict[str, Any]]:
        """Scores rows."""
        return rows

    yield score
    del HOOKS["scoring"]


@pytest.mark.usefixtures("scoring")
def test_what_a_hook_adds_can_be_used_after_it_and_not_before() -> None:
    answer = "pages: {each: rows, map: {url: url, score: score}}"

    assert problems(more="after: [{enrich: {hook: scoring}}, {sort: {by: score}}]\n", answer=answer) == []
    assert [one[:4] for one in problems(more="after: [{sort: {by: score}}, {enrich: {hook: scoring}}]\n")] == ["E110"]
    assert [one[:4] for one in problems(more="after: [{enrich: {hook: scoring, with: {factr: 2}}}]\n")] == ["E110"]


def test_a_tool_with_a_problem_is_left_out_and_the_others_are_there() -> None:
    assert set(weave_texts(a_tool(answer="urls: =rowz")).model.tools) == {"ask"}


def test_an_input_that_changes_nothing_is_a_warning() -> None:
    woven = weave_texts(a_tool(inputs="extra: {type: string, description: More.}\n"))

    assert woven.codes == ["W307"]
    assert woven.tool().name == "sample"


def test_a_provider_that_comes_later_is_reached_by_its_capability() -> None:
    step = "input: [query, safe]\nsteps: [{get: /s, query: {q: =args.query, s: =args.safe}, json: {map: {url: url}}}]\n"
    tool = a_tool(inputs="safe: {type: string, enum: ['off', high], description: Filter.}\n")

    assert weave_texts(tool).codes == ["W307"]
    assert weave_texts(tool, a_provider(step)).codes == []


def test_weaving_grows_with_the_number_of_specs_and_no_faster() -> None:
    """Cost is counted in calls of functions, which a clock cannot disturb."""
    import sys

    step = "input: [query]\nsteps: [{get: /s, query: {q: =args.query}, json: {map: {url: url}}}]\n"

    def calls(count: int) -> int:
        providers = [a_provider(step).replace("name: sample", f"name: p{at}") for at in range(count)]
        tools = [a_tool().replace("name: sample", f"name: t{at}") for at in range(count // 4)]
        seen = 0

        def count_call(frame: Any, event: str, argument: Any) -> None:
            nonlocal seen
            seen += event == "call"

        before = sys.getprofile()
        sys.setprofile(count_call)
        try:
            weave_texts(*providers, *tools)
        finally:
            sys.setprofile(before)
        return seen

    calls(8)
    small, large = calls(40), calls(160)
    assert large < 4 * small * 1.5


WITH_IDENTITY = """\
spec: capability/1
name: find
title: Finding
description: Pages for a query.
routing: {key: find, order: []}
arguments:
  query: {type: text, description: What is asked.}
row:
  title: {type: text, description: The title.}
  url: {type: url, required: true, description: The address.}
  year: {type: integer, description: The year.}
  open: {type: boolean, description: Whether anyone can read it.}
identity:
  keys: [{is: canonical_url(row.url)}]
"""


@pytest.mark.parametrize(
    ("take", "sentence"),
    [
        ("{title: longest, open: any}", ""),
        ("{year: longest}", "E104: 'year' is a number, which has no length (name providers in their order)"),
        ("{open: longest}", "E104: 'open' is a boolean, which has no length (say \"any\")"),
        ("{title: any}", "E104: 'title' is text, and `any` is for yes or no"),
    ],
)
def test_which_value_of_merged_rows_counts_fits_the_field(take: str, sentence: str) -> None:
    tool = a_tool(more=f"after: [{{merge: {{by: find, take: {take}}}}}]\n")

    sentences = weave_texts(WITH_IDENTITY, tool).sentences

    about_take = [one for one in sentences if one.startswith("E104")]
    assert [one[: len(sentence)] for one in about_take] == ([sentence] if sentence else [])
