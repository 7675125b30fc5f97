"""A text of a spec that reads like an expression is told; a text that only looks a little like one is left alone."""

from __future__ import annotations

import pytest

from tests.support.shipped import shipped_specs
from tests.support.spec_library import a_provider, a_tool, weave_texts


def told_of_request(text: str, more: str = "") -> list[str]:
    """What is said of a provider that sends this text."""
    operation = f"""\
input: [query, num_results]
steps:
  - get: /search
    query: {{q: =args.query, n: =args.num_results, since: =values.since, id: =config.SAMPLE_ID, odd: "{text}"}}
    json: {{each: hits, map: {{url: url{more}}}}}
"""
    top = "config:\n  SAMPLE_ID: {description: Who asks.}\nvalues: {since: \"'1990'\"}\n"
    return weave_texts(a_provider(operation, top=top)).sentences


def told_of_answer(text: str) -> list[str]:
    """What is said of a tool that answers with this text."""
    return weave_texts(a_tool(answer=f'urls: =rows[*].url\nodd: "{text}"')).sentences


def as_text(text: str) -> str:
    return f"'{text}' is text here and not worked out (write ={text} for its value)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("args.query", as_text("args.query")),
        ("values.since", as_text("values.since")),
        ("config.SAMPLE_ID", as_text("config.SAMPLE_ID")),
        ("args.num_results || `10`", as_text("args.num_results || `10`")),
        ("{{ args.query }}", "nothing is filled in for '{{ args.query }}' (write =args.query)"),
        ("${args.query}", "nothing is filled in for '${args.query}' (write =args.query)"),
        ("about {args.query}!", "nothing is filled in for '{args.query}' (write =fill('… {it} …', {it: args.query}))"),
    ],
)
def test_a_request_value_that_reads_like_an_expression_is_told(text: str, sentence: str) -> None:
    assert told_of_request(text) == [f"W201: {sentence}"]


@pytest.mark.parametrize("text", ["args.query", "{{args.query}}", "served_by || args.query"])
def test_so_is_a_value_of_an_answer(text: str) -> None:
    assert [one[:4] for one in told_of_answer(text)] == ["W201"]


@pytest.mark.parametrize(
    "text",
    [
        "args",
        "query",
        "args.nothing_of_that_name",
        "https://args.example/config.json",
        "title, args.query",
        "see args.query.",
        "{query}",
        "{ hits { config.SAMPLE } }",
        "$args.query",
        "margs.query",
    ],
)
def test_a_text_that_is_none_is_left_alone(text: str) -> None:
    assert told_of_request(text) == []
    assert told_of_answer(text) == []


def test_a_selector_that_names_an_input_is_told_and_one_that_names_a_part_of_the_item_is_not() -> None:
    assert told_of_request("x", ", title: args.query") == [f"W201: {as_text('args.query')}"]
    assert told_of_request("x", ", title: values.since, snippet: item.text") == []


def test_no_spec_that_is_shipped_is_told_of() -> None:
    report = shipped_specs().report

    assert [one for one in report if one.code == "W201"] == []
