"""An expression that makes more than there is room for is refused before it runs, or fails in one sentence."""

from __future__ import annotations

import time

import pytest

from specloom.language.expressions.api import compile_expression, compile_selector
from specloom.language.expressions.failures import EvaluationError
from specloom.language.types import TEXT, RecordType

SCOPE = RecordType({"args": RecordType({"query": TEXT}, required=frozenset({"query"}))}, required=frozenset({"args"}))


@pytest.mark.parametrize(
    ("step", "count"),
    [
        (" | {a: @, b: @, c: @}", 30),
        (" | {a: @, b: @}", 34),
        (" | [@, @][]", 34),
        (" | to_string([@])", 40),
        (" | join('', [@, @])", 34),
        (" | [@, @][].[@, @]", 20),
        (" | merge({a: @}, {b: @})", 40),
        (" | map(&[@, @], [@, @])", 20),
    ],
)
def test_steps_that_multiply_what_they_read_are_refused_at_once(step, count):
    started = time.process_time()
    expression, problems = compile_expression("args.query" + step * count, SCOPE)

    assert expression is None
    assert [one.code for one in problems] == ["E212"]
    assert "and 1,000 are allowed" in problems[0].message
    assert time.process_time() - started < 5  # 0.01 s where it was measured


def test_what_does_not_multiply_may_be_long():
    assert compile_expression("args.query" + " | {a: @, b: `1`}" * 30, SCOPE)[1] == []
    assert compile_expression("args.query" + " | {a: @, b: @}" * 9, SCOPE)[1] == []


@pytest.mark.parametrize("text", ["!" * 20_001, "args.query || " * 2_000 + "args.query"])
def test_an_expression_longer_than_any_needs_to_be_is_not_read(text):
    _, problems = compile_expression(text, SCOPE)

    assert problems[0].message.endswith("characters, and 20,000 are allowed")


@pytest.mark.parametrize("text", ["[" * 4_000 + "@" + "]" * 4_000, "(" * 4_000 + "@" + ")" * 4_000, "!" * 19_000 + "@"])
def test_an_expression_that_is_nested_too_deeply_is_told_in_a_sentence(text):
    _, problems = compile_selector(text)

    assert [one.code for one in problems] == ["E201"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("replace(@, 'a', @)", "a" * 10_000),
        ("join(@, [@, @, @, @])", "a" * 9_000_000),
        ("any_of('{}{}{}', [@])", "a" * 9_000_000),
        ("fill('{a}{a}{a}', {a: @})", "a" * 9_000_000),
        ("to_string([@])", "\\" * 15_000_000),
    ],
)
def test_a_text_that_would_be_too_long_is_a_fault_and_not_made(text, value):
    expression, problems = compile_selector(text)

    assert problems == []
    with pytest.raises(EvaluationError, match="20,000,000 are allowed"):
        expression.evaluate(value)
