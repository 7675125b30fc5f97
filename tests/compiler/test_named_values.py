"""What is worked out of the named values of a spec: what something uses, itself or through another."""

from __future__ import annotations

import pytest

from tests.support.spec_library import a_provider, a_tool, weave_texts

VALUES = """
values:
  first: upper(args.query)
  second: join(' ', ['a', values.first])
  third: lower(args.query)
"""


@pytest.mark.parametrize(
    ("used", "worked_out"),
    [
        ("=values.first", ["first"]),
        ("=values.second", ["first", "second"]),
        ("=join(' ', [values.third, values.first])", ["first", "third"]),
        ('=values."third"', ["first", "second", "third"]),
        ("=join(' ', values({a: args.query}))", []),
        ("values of a kind", ["first", "second", "third"]),
        ("=args.query", []),
    ],
)
def test_an_operation_works_out_what_its_request_needs(used: str, worked_out: list[str]) -> None:
    step = f"steps:\n  - get: /list\n    query: {{q: '{used.replace(chr(39), chr(39) * 2)}', w: =args.query}}\n"
    text = a_provider(f"input: [query]{VALUES}{step}    json: {{each: items, map: {{title: title, url: url}}}}\n")

    woven = weave_texts(text)

    assert woven.report.errors == [], woven.sentences
    assert [name for name, _ in woven.model.providers["sample"].operations["find"].values] == worked_out


@pytest.mark.parametrize(
    ("answer", "worked_out"),
    [
        ("urls: =rows[*].url", []),
        ("urls: =rows[*].url\nasked: =values.second", ["first", "second"]),
        ("urls: {each: rows, map: {url: url, asked: =values.third}}", ["third"]),
    ],
)
def test_a_tool_works_out_what_its_answer_needs(answer: str, worked_out: list[str]) -> None:
    woven = weave_texts(a_tool(more=VALUES.lstrip(), answer=answer))

    assert woven.report.errors == [], woven.sentences
    assert [name for name, _ in woven.model.tools["sample"].values] == worked_out


def test_what_is_not_worked_out_is_checked_all_the_same() -> None:
    woven = weave_texts(a_tool(more="values:\n  spare: upper(args.quary)\n"))

    assert [one.code for one in woven.report.errors] == ["E202"]
