"""Every function does what its examples say, in the compiled expression and in the reference interpreter."""

import json

import pytest

from specloom.expressions import EvaluationError, compile_selector, evaluate_reference
from specloom.functions import FUNCTIONS, is_true, to_text
from specloom.shapes import ANY, INTEGER, NULL, NUMBER, TEXT, ListOf, Maybe, Record, from_schema, shape_of
from specloom.signatures import admits, to_kind, to_types
from specloom.vault import Secret

TABLES = {"demo": {"day": "d", 5: ["five"], "true": {"yes": 1}}}
EXAMPLES = [(text, result) for function in FUNCTIONS.values() for text, result in function.examples]


def evaluate(text, value=None):
    expression, problems = compile_selector(text, tables=TABLES)
    assert problems == []
    return expression.evaluate({} if value is None else value)


@pytest.mark.parametrize(("text", "result"), EXAMPLES)
def test_an_example_gives_what_it_says(text, result):
    assert evaluate(text) == result
    assert evaluate_reference(text, {}, TABLES) == result


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_a_function_is_described_and_shown(function):
    assert function.doc.endswith(".")
    assert function.examples
    assert all(f"{function.name}(" in text for text, _ in function.examples)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("lookup('demo', `5`)", ["five"]),
        ("lookup('demo', `5.0`)", ["five"]),
        ("lookup('demo', `true`)", {"yes": 1}),
        ("lookup('demo', '5')[0]", "five"),
        ("fill('{a}{{b}} {c d}', {a: 'x', b: `true`})", "x{true} {c d}"),
        ("fill('{a} {b}', @)", None),
        ("fill('no names', `{}`)", "no names"),
        ("fill('{a}', missing)", None),
        ("fill('{a}', {a: `[1, \"é\"]`})", '[1,"é"]'),
        ("any_of('site:{}', missing)", None),
        ("any_of('site:{}', 'a')", "site:a"),
        ("any_of('{}', ['', `null`, 'a', `2`])", "(a OR 2)"),
        ("keywords('What is the?')", None),
        ("keywords('')", None),
        ("keywords('Who is \"Ada\"?')", '"Ada"?'),
        ("words_all_in('État-major général', ['GÉNÉRAL', 'état'])", True),
        ("words_all_in('a', '')", True),
        ("truncate('a😀b', `2`)", "a😀"),
        ("host('//Example.org/a')", "example.org"),
        ("host('https://[::1]:80/')", "::1"),
        ("host('https://[bad')", None),
        ("timestamp(`1.9`)", "1970-01-01T00:00:01Z"),
        ("timestamp(`-1`)", "1969-12-31T23:59:59Z"),
        ('unique(`[{"a": 1, "b": 2}, {"b": 2, "a": 1}, 1, true, 1.0, "1"]`)', [{"a": 1, "b": 2}, 1, True, "1"]),
        ("prefix_each('-', '')", None),
        ("prefix_each('-site:', 'a.org \"x y\" intitle:\"p q\"')", '-site:a.org -site:"x y" -site:intitle:"p q"'),
        ("when(`0`, 'yes', 'no')", "yes"),
        ("when(missing, trim(missing), 'no')", "no"),
        ("clamp(`5`, `1`, `3`)", 3),
        ('to_string(`[1, "a"]`)', '[1,"a"]'),
    ],
)
def test_the_odd_cases(text, result):
    assert evaluate(text) == result
    assert evaluate_reference(text, {}, TABLES) == result


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word_count(a)", "word_count() takes string, and got null"),
        ("lower(n)", "lower() takes string or null, and got a number 3"),
        ("join(', ', l)", "join() takes array of string, and got a number 1"),
        ("split(t, '')", "split() cannot take the text 'text', the text '' (empty separator)"),
        (
            "replace(t, '', 'x')",
            "replace() cannot take the text 'text', the text '', the text 'x' (the text to replace",
        ),
        ("truncate(t, `-1`)", "truncate() cannot take the text 'text', a number -1 (a length cannot be negative)"),
        ("timestamp(`1e300`)", "timestamp() cannot take a number 1e+300"),
        ("multiply(`1e300`, `1e300`)", "multiply() cannot take"),
        ("contains(t, n)", "contains() cannot take the text 'text', a number 3"),
        ("sort_by(m, &a)", "sort_by() takes number, and got the text 'x'"),
        ("lookup('demo', l)", "lookup() takes string or number or boolean or null, and got a list of 1"),
        ("upper(long)", "upper() takes string or null, and got a list of 100"),
        ("t < n", "'<' compares two numbers or two texts, and got one of each"),
    ],
)
def test_a_value_that_a_function_cannot_take_is_one_line_that_names_it(text, message):
    value = {"n": 3, "t": "text", "l": [1], "m": [{"a": 1}, {"a": "x"}], "long": [0] * 100}

    with pytest.raises(EvaluationError) as compiled:
        evaluate(text, value)
    with pytest.raises(EvaluationError) as interpreted:
        evaluate_reference(text, value, TABLES)

    assert compiled.value.message.startswith(message)
    assert "\n" not in compiled.value.message
    assert compiled.value.text == text
    assert interpreted.value.message == compiled.value.message


def test_a_secret_that_gets_into_a_function_is_not_printed():
    value = {"key": Secret("s3cret")}

    with pytest.raises(EvaluationError) as caught:
        evaluate("upper(key)", value)

    assert "s3cret" not in str(caught.value)
    assert evaluate("to_string(key)", value) == json.dumps("•••")


def test_truth_is_that_of_jmespath():
    assert [is_true(value) for value in (0, 0.0, " ", [0], {"a": None}, True, Secret("x"))] == [True] * 7
    assert [is_true(value) for value in (None, False, "", [], {}, Secret(""))] == [False] * 6


def test_values_are_written_into_texts_as_urls_want_them():
    assert [to_text(value) for value in ("a", 1, 1.0, 1.5, True, {"a": [1]})] == [
        "a",
        "1",
        "1",
        "1.5",
        "true",
        '{"a":[1]}',
    ]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("clamp(n, `1`, `2`)", Maybe(INTEGER)),
        ("clamp(`1`, `1`, `2.5`)", NUMBER),
        ("when(n, 'a', `null`)", Maybe(TEXT)),
        ("lookup('short', n)", Maybe(TEXT)),
        ("not_null(t, 'x')", TEXT),
        ("not_null(t, `null`)", Maybe(TEXT)),
        ("map(&length(@), l)", ListOf(INTEGER)),
        ("max(l)", Maybe(TEXT)),
        ("sort(l)", ListOf(TEXT)),
        ("to_array(t)", ListOf(Maybe(TEXT))),
        ("to_array(l)", ListOf(TEXT)),
        ("merge({a: `1`}, {b: 'x'})", Record({"a": INTEGER, "b": TEXT}, required=frozenset("ab"))),
        ("merge(@, {b: 'x'}, o)", Record({}, closed=False)),
        ("values({a: `1`, b: `2.5`})", ListOf(NUMBER)),
        ("add(`1`, `2`)", INTEGER),
        ("unique(l)", ListOf(TEXT)),
        ("abs(n)", INTEGER),
        ("max_by(`[]`, &a)", NULL),
        ("to_array(o.x)", ListOf(ANY)),
    ],
)
def test_the_shape_of_a_result_follows_from_the_arguments(text, shape):
    item = Record({"n": INTEGER, "t": TEXT, "l": ListOf(TEXT), "o": Record({}, closed=False)}, required=frozenset("lo"))

    expression, problems = compile_selector(text, item, tables={"short": {"a": "b"}})

    assert problems == []
    assert expression.shape == shape


def test_kinds_are_the_types_of_the_package():
    for kind in ("any", "string", "array or string", "array of number or array of string"):
        assert to_kind(to_types(kind)) == kind
    assert to_types("nullable string or array") == ["string", "array", "null"]


@pytest.mark.parametrize(
    ("kind", "shape", "welcome"),
    [
        ("string", TEXT, True),
        ("string", Maybe(TEXT), True),
        ("string", NULL, False),
        ("nullable string", NULL, True),
        ("number", TEXT, False),
        ("array of string", ListOf(TEXT), True),
        ("array of string", ListOf(INTEGER), False),
        ("array of string", ListOf(ANY), True),
        ("array of number or array of string", shape_of([]), True),
        ("object", from_schema({"type": "object"}), True),
        ("boolean", from_schema({"type": "boolean"}), True),
        ("object", ListOf(ANY), False),
    ],
)
def test_only_a_certain_mismatch_is_refused(kind, shape, welcome):
    assert admits(kind, shape) is welcome
