"""Every function does what its examples say, in the compiled expression and in the reference interpreter."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.secrets import Secret
from specloom.language.expressions.api import compile_selector
from specloom.language.expressions.compile import evaluate_reference
from specloom.language.expressions.failures import EvaluationError
from specloom.language.functions.data import MAX_TEXT, find_pattern_problem
from specloom.language.functions.registry import FUNCTIONS
from specloom.language.signatures import OWN_FUNCTIONS, admits, to_kind, to_text, to_types, truthy
from specloom.language.types import ANY, INTEGER, NULL, NUMBER, TEXT, ListOf, Maybe, RecordType, from_schema, shape_of

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
        ('records(`{"a": [1], "name": "x", "b": [[2], 3]}`)', [{"a": 1, "b": [2]}, {"a": None, "b": 3}]),
        ('records(`{"name": "x"}`)', []),
        ("records(`{}`)", []),
        ('table(`[["a"], [1, 2], [], {}, null, [null]]`)', [{"a": 1}, {"a": None}]),
        ("table([['a']])", []),
        ("entries(`{}`)", []),
        ('entries(`{"b": null, "a": [1]}`)', [{"key": "b", "value": None}, {"key": "a", "value": [1]}]),
        ('inverted_text(`{"a": [0], "c": [2]}`)', "a c"),
        ('inverted_text(`{"b": [1], "a": [1], "c": [0]}`)', "c b a"),
        ('inverted_text(`{" a\\n b ": [1], "": [0]}`)', "a b"),
        ('inverted_text(`{"a": [true, -1, 1.0, 20001, "0", null], "b": 1, "c": {}, "d": [20000]}`)', "d"),
        ("capture('a-b', '(x)?-')", None),
        ("capture('ab', '()b')", ""),
        ("capture('line\nid: 7', '(?im)^ID: (?P<id>.*)$')", "7"),
        ('without(`[1, true, 1.0, "1", {"a": [1]}]`, `[1, {"a": [1]}]`)', [True, "1"]),
        ("without(`[]`, `[1]`)", []),
        ("words_in('État-major', ['ÉTAT', 'état major', ''])", 2),
        ("words_in('network', 'net')", 0),
        ("words_in('a', missing)", 0),
        ("words_in('a 1 null', ['a', `1`, `null`])", 1),
        ("number('-1,234')", -1234),
        ("number('12,34')", None),
        ("number('')", None),
        ("number('.')", None),
        ("number('1e999')", None),
        ("number('NaN')", None),
        ("number('٣')", None),
        ("number('1e3')", 1000.0),
        ("number('5.')", 5.0),
        ("pad('12345', `3`, '0')", "12345"),
        ("pad(`7.0`, `3.9`, ' ')", "  7"),
        ("pad('', `0`, 'x')", ""),
        ("first(`[null, 1]`)", None),
        ("first(missing)", None),
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
        ("timestamp(`1e18`)", "timestamp() cannot take a number 1e+18 (there is no such moment"),
        ("date(`-1000000000000000000`)", "date() cannot take a number -1000000000000000000 (there is no such moment"),
        ("multiply(`1e300`, `1e300`)", "multiply() cannot take"),
        ("table(l)", "table() cannot take a list of 1 (the first row is no list of names)"),
        ("table([l, l])", "table() cannot take a list of 2 (the first row is no list of names)"),
        ("records(t)", "records() takes object or null, and got the text 'text'"),
        ("pad(t, n, '')", "pad() cannot take the text 'text', a number 3, the text '' (the text is filled up with one"),
        ("pad(t, n, 'ab')", "pad() cannot take the text 'text', a number 3, the text 'ab' (the text is filled up with"),
        ("pad(t, `-1`, '0')", "pad() cannot take the text 'text', a number -1, the text '0' (a width is between 0 and"),
        ("pad(t, `1001`, '0')", "pad() cannot take the text 'text', a number 1001, the text '0' (a width is between 0"),
        ("number(l)", "number() takes string or number or null, and got a list of 1"),
        ("first(t)", "first() takes array or null, and got the text 'text'"),
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
    assert [truthy(value) for value in (0, 0.0, " ", [0], {"a": None}, True, Secret("x"))] == [True] * 7
    assert [truthy(value) for value in (None, False, "", [], {}, Secret(""))] == [False] * 6


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
        ("merge({a: `1`}, {b: 'x'})", RecordType({"a": INTEGER, "b": TEXT}, required=frozenset("ab"))),
        ("merge(@, {b: 'x'}, o)", RecordType({}, closed=False)),
        ("values({a: `1`, b: `2.5`})", ListOf(NUMBER)),
        ("add(`1`, `2`)", INTEGER),
        ("unique(l)", ListOf(TEXT)),
        ("abs(n)", Maybe(INTEGER)),
        ("abs(`-1`)", INTEGER),
        ("add(n, `1`)", Maybe(INTEGER)),
        ("clamp(`1`, `1`, n)", Maybe(INTEGER)),
        ("sum(l[].length(@))", NUMBER),
        ("sum([n])", Maybe(NUMBER)),
        ("max_by(`[]`, &a)", NULL),
        ("to_array(o.x)", ListOf(ANY)),
        ("records(o)", ListOf(RecordType({}, closed=False))),
        ("records(o.x)", Maybe(ListOf(RecordType({}, closed=False)))),
        ("table([l])", ListOf(RecordType({}, closed=False))),
        (
            "entries({a: `1`})",
            ListOf(RecordType({"key": TEXT, "value": INTEGER}, required=frozenset(["key", "value"]))),
        ),
        ("entries(o)[0].value", ANY),
        ("inverted_text(o)", Maybe(TEXT)),
        ("capture(t, 'a')", Maybe(TEXT)),
        ("without(l, `[1]`)", ListOf(TEXT)),
        ("without(o.x, l)", ANY),
        ("words_in(t, l)", INTEGER),
        ("number('1')", Maybe(NUMBER)),
        ("pad('1', `2`, ' ')", TEXT),
        ("pad(n, `2`, ' ')", Maybe(TEXT)),
        ("first(l)", Maybe(TEXT)),
        ("first(o.x)", ANY),
    ],
)
def test_the_shape_of_a_result_follows_from_the_arguments(text, shape):
    item = RecordType(
        {"n": INTEGER, "t": TEXT, "l": ListOf(TEXT), "o": RecordType({}, closed=False)}, required=frozenset("lo")
    )

    expression, problems = compile_selector(text, item, tables={"short": {"a": "b"}})

    assert problems == []
    assert expression.shape == shape


def test_an_entry_has_a_key_and_a_value_and_nothing_else():
    _, problems = compile_selector("entries(@)[0].kye")

    assert [problem.hint for problem in problems] == ['did you mean "key"?']


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("records(@)", {"long": [0] * 2000, **{f"c{at}": [] for at in range(1000)}}),
        ("table(@)", [[f"c{at}" for at in range(1000)], *([[0]] * 2000)]),
    ],
)
def test_a_small_answer_cannot_ask_for_a_large_table(text, value):
    with pytest.raises(EvaluationError, match=r"a table of 2,00\d,000 cells; 1,000,000 are allowed"):
        evaluate(text, value)


def test_a_running_text_ends_where_it_is_long_enough():
    value = {"word" * 1000: list(range(20_000))}

    assert MAX_TEXT - 4001 < len(evaluate("inverted_text(@)", value)) <= MAX_TEXT


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, {}]);</script>", [1, {}]),
        ('\n {"a": 1};var b = {"a": 2}', {"a": 1}),
        ('"\\ud800 \\ud83d\\ude00"', "\ufffd \U0001f600"),
        ("{'a': 1}", None),
        ('{"a": 1', None),
        ("NaN", None),
        ("1e999", None),
        ("", None),
        ("[" * 200 + "]" * 200, "deep"),
        ("[" * 201 + "]" * 201, None),
        ("[" * 100_000, None),
    ],
)
def test_json_is_read_from_the_beginning_of_a_text(text, value):
    found = evaluate("parsed(@)", text)

    assert (found if value != "deep" else "deep" if isinstance(found, list) else None) == value


def test_a_pattern_is_tried_on_the_beginning_of_a_text():
    assert evaluate("capture(@, 'b')", "a" * 3999 + "b") == "b"
    assert evaluate("capture(@, 'b')", "a" * 4000 + "b") is None


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("([0-9]+) of", ""),
        ("(a", "'(a' is not a regular expression: missing ), unterminated subpattern at position 0"),
        ("a{99999999999}", "'a{99999999999}' is not a regular expression: the repetition number is too large"),
        ("[[a]", "Possible nested set at position"),
    ],
)
def test_a_text_that_is_no_pattern_is_told_with_the_place(pattern, problem):
    assert find_pattern_problem(pattern).startswith(problem)
    assert bool(find_pattern_problem(pattern)) == bool(problem)


def test_a_pattern_that_cannot_be_read_fails_in_one_line_where_nothing_checked_it_before():
    with pytest.raises(
        EvaluationError, match=r"capture\(\) cannot take the text 'a', the text '\(' \('\(' is not a reg"
    ):
        evaluate_reference("capture('a', '(')", {}, TABLES)


# The generator of expressions in test_expressions.py takes every function, but seldom arguments that fit one; these do.

PLAIN = st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from([0.5, 1.0, "", "a", "b c", "1,000.5", "7"])
TEXTS = st.sampled_from(["", "a", "b c", "a-7, b-8", "1,000.5", " 7 ", "A é"])
LISTS = st.lists(PLAIN, max_size=4)
FITTING = st.fixed_dictionaries(
    {
        "columns": st.dictionaries(TEXTS, LISTS | PLAIN, max_size=3),
        "rows": st.lists(st.lists(TEXTS, max_size=3) | LISTS, max_size=4),
        "inverted": st.dictionaries(TEXTS, st.lists(st.integers(-1, 6) | PLAIN, max_size=4) | PLAIN, max_size=4),
        "list": LISTS | st.lists(LISTS, max_size=2),
        "other": LISTS,
        "text": TEXTS,
        "words": LISTS | st.lists(TEXTS, max_size=3) | TEXTS | st.none(),
        "width": st.integers(-1, 8),
        "null": st.none(),
    }
)
CALLS = [
    "records(columns)",
    "table(rows)",
    "entries(columns)",
    "inverted_text(inverted)",
    "capture(text, '([a-z])-?([0-9])?')",
    "capture(text, '[0-9]')",
    "without(list, other)",
    "first(list)",
    "one_of(text, list)",
    "unique(list)",
    "words_in(text, words)",
    "number(text)",
    "parsed(text)",
    "alike(rows, 'a', text)",
    "alike(list, 'a', width)",
    "named(rows, 'a', text)",
    "named(list, 'a', width)",
    "pad(text, width, '0')",
    "pad(width, width, text)",
]


def test_every_function_over_data_is_called_with_arguments_that_fit():
    of_data = {name for name, one in OWN_FUNCTIONS.items() if one.call.__module__.endswith(".data")}
    assert of_data <= {text.partition("(")[0] for text in CALLS}


@pytest.mark.parametrize("text", CALLS)
@given(value=FITTING)
def test_closures_and_interpreter_agree_on_what_fits(text, value):
    def outcome(run):
        try:
            return repr(run())
        except EvaluationError as error:
            return error.message

    for written in (text, f"[{text}, {text.replace('(', '(null || ', 1)}]", f"map(&{text}, [@, @])"):
        assert outcome(lambda w=written: evaluate(w, value)) == outcome(
            lambda w=written: evaluate_reference(w, value, TABLES)
        )


NUMBERS = st.none() | st.integers(-9, 9) | st.sampled_from([0.5, 1.0, -2.5])
ARITHMETIC = {"abs": 1, "add": 2, "ceil": 1, "clamp": 3, "floor": 1, "multiply": 2, "subtract": 2}
AGGREGATES = ("avg", "max", "min", "sum")


@pytest.mark.parametrize(("name", "count"), ARITHMETIC.items())
@given(numbers=st.lists(NUMBERS, min_size=3, max_size=3))
def test_arithmetic_on_null_is_null_and_on_numbers_a_number(name, count, numbers):
    value = dict(zip("abc", numbers, strict=True))
    text = f"{name}({', '.join('abc'[:count])})"

    result = evaluate(text, value)

    assert (result is None) == (None in numbers[:count])
    assert result == evaluate_reference(text, value, TABLES)


@pytest.mark.parametrize("name", AGGREGATES)
@given(numbers=st.none() | st.lists(NUMBERS, min_size=1, max_size=4))
def test_what_is_worked_out_of_several_numbers_is_null_where_one_is_not_there(name, numbers):
    value = {"numbers": numbers}

    result = evaluate(f"{name}(numbers)", value)

    assert (result is None) == (numbers is None or None in numbers)
    assert result == evaluate_reference(f"{name}(numbers)", value, TABLES)


@given(left=NUMBERS, right=NUMBERS)
@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
def test_a_comparison_with_null_is_null(sign, left, right):
    result = evaluate(f"left {sign} right", {"left": left, "right": right})

    assert (result is None) == (None in (left, right))


@given(value=st.dictionaries(TEXTS, LISTS, min_size=1, max_size=3))
def test_records_and_table_are_two_ways_to_the_same_rows(value):
    count = max(map(len, value.values()))
    padded = {name: column + [None] * (count - len(column)) for name, column in value.items()}
    rows = [list(padded), *(list(row) for row in zip(*padded.values(), strict=True))]

    assert evaluate("records(@)", value) == evaluate("table(@)", rows)


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


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("uk", "GBR"),
        ("EL", "GRC"),
        ("Corée du Sud", "KOR"),
        ("ドイツ", "DEU"),
        ("россия", "RUS"),
        ("Bosnia & Herzegovina", "BIH"),
        ("Cote d'Ivoire", "CIV"),
        ("Burma", "MMR"),
        ("Myanmar", "MMR"),
        ("Island", "ISL"),
        ("world", "WLD"),
        ("European Union", "EU"),
        ("SUN", None),
        ("EU27_2020", None),
        ("", None),
        ("Germany" * 100, None),
    ],
)
def test_a_country_has_many_names_and_a_state_that_is_no_more_none(text, code):
    assert evaluate("country(text).code", {"text": text}) == code


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("Germany's exports", ["DEU", "exports"]),
        ("exports (Germany)", ["DEU", "exports"]),
        ("exports of goods from the United Kingdom, 2020", ["GBR", "exports of goods 2020"]),
        ("GDP of Korea, Dem. People's Rep.", ["PRK", "GDP"]),
        ("exports germany", ["DEU", "exports"]),
        ("Ausfuhren Österreich", ["AUT", "Ausfuhren"]),
        ("Ausfuhren österreich", None),
        ("inflation in the euro area", ["EA", "inflation"]),
        ("EU and European Union budget", ["EU", "and budget"]),
        ("china exports", None),
        ("China exports", ["CHN", "exports"]),
        ("Island economies", None),
        ("it is us", None),
        ("population of the world", None),
        ("Oman and man hours", ["OMN", "and man hours"]),
        ("in Germany", None),
        ("Germany, France: trade", None),
        ("Germany " * 100, None),
    ],
)
def test_a_country_in_words_is_named_once_and_goes_with_the_word_before_it(words, found):
    assert evaluate("country_in(words).[code, rest]", {"words": words}) == found


OTTERS = [
    {"id": "sex", "list": "S"},
    {"id": "age", "label": "Age", "options": ["Y1 One, two", {"code": "T", "label": "t"}, {"code": "X"}, {}, 7, ""]},
    {"list": "S", "label": "Sex", "options": [{"code": f"C{at}", "label": "T"} for at in range(22)]},
    "no row",
]


@pytest.mark.parametrize(
    ("wanted", "chosen", "problem"),
    [
        (None, {}, None),
        ({"age": None}, {}, None),
        ({"age": ""}, {}, None),
        ({"age": "one, two"}, {"age": ["Y1"]}, None),
        ({" AGE ": ["x", "X", "t"]}, {"age": ["X", "T"]}, None),
        ({"sex": "t"}, {"sex": ["C0"]}, None),
        ({"sex": "c3,C2"}, {"sex": ["C3", "C2"]}, None),
        ({"age": "2", "river": 1}, {}, "dimension age has no '2'; it has Y1 (One, two), T (t), X"),
        ({"age": 3}, {}, "dimension age has no '3'; it has Y1 (One, two), T (t), X"),
        ({"river": 1, "age": "T"}, {"age": ["T"]}, "there is no dimension 'river'; there are sex, age"),
    ],
)
def test_codes_are_chosen_by_code_or_label_and_the_first_problem_is_told(wanted, chosen, problem):
    found = evaluate("choose_codes(rows, wanted)", {"rows": OTTERS, "wanted": wanted})

    assert found["chosen"] == chosen
    assert found["problem"] == problem


def test_of_many_codes_the_first_are_told_with_how_many_there_are():
    found = evaluate("choose_codes(rows, wanted)", {"rows": OTTERS, "wanted": {"sex": "X"}})

    assert [(one["id"], one["label"], one["count"], len(one["values"])) for one in found["offered"]] == [
        ("sex", "Sex", 22, 20),
        ("age", "Age", 3, 3),
    ]
    assert found["problem"].endswith("C19 (T) and 2 more")
