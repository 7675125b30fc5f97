"""Converters: every example is true, lists go item by item, and data never raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.language.converters import CONVERTERS, EXAMPLE_MOMENT, ConverterProblem, Moment, compile_converter

PARAMETERS: dict[str, Any] = {
    "prefix": "a",
    "suffix": "a",
    "replace": ["a", "b"],
    "join": ", ",
    "split": ",",
    "truncate": 5,
    "query_param": "q",
    "dimension": "width",
    "null_if": ["", "x", 0],
    "epoch": "milliseconds",
}
EXAMPLES = [
    pytest.param(name, *example, id=f"{name}-{number}")
    for name, converter in CONVERTERS.items()
    for number, example in enumerate(converter.examples)
]


def convert(name: str, value: Any, params: Any = None, moment: Moment = EXAMPLE_MOMENT) -> Any:
    return compile_converter(name, params)(value, moment)


def problem(name: str, params: Any) -> ConverterProblem:
    with pytest.raises(ConverterProblem) as caught:
        compile_converter(name, params)
    return caught.value


@pytest.mark.parametrize(("name", "value", "params", "result"), EXAMPLES)
def test_every_example_is_true(name: str, value: Any, params: Any, result: Any) -> None:
    found = convert(name, value, params)

    assert found == result
    assert type(found) is type(result)


def test_every_converter_is_documented_by_a_sentence_and_two_examples() -> None:
    for converter in CONVERTERS.values():
        assert converter.doc.endswith(".")
        assert len(converter.examples) >= 2


def test_the_promised_converters_are_there() -> None:
    promised = (
        "trim lower upper collapse abstract strip_tags unescape prefix suffix replace join split first last unique "
        "count truncate host absolute absolute_http query_param year integer number boolean text timestamp day "
        "dimension null_if positive"
    )

    assert set(promised.split()) <= set(CONVERTERS)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
_TEXTS = st.one_of(
    st.text(alphabet="0123456789.,+-eE x×T:Z"),
    st.text(alphabet="<>/!&;#abpscriptlt -"),
    st.text(alphabet="htps:/[]@?#&=%.\t\n a1"),
)
_TYPES: dict[str, type | tuple[type, ...]] = {
    "text": str, "integer": int, "number": (int, float), "boolean": bool, "list": list, "any": object,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CONVERTERS))
@given(value=st.one_of(_JSON, _TEXTS), now=st.floats(), url=_TEXTS)
def test_no_value_makes_a_converter_raise_and_every_result_has_the_declared_type(
    name: str, value: Any, now: float, url: str
) -> None:
    found = convert(name, value, PARAMETERS.get(name), Moment(now, url))

    converter = CONVERTERS[name]
    if found is not None and (converter.takes == "list" or not isinstance(value, list)):
        assert isinstance(found, _TYPES[converter.returns])
    assert found != ""


@pytest.mark.parametrize("name", sorted(CONVERTERS))
def test_none_stays_none(name: str) -> None:
    assert convert(name, None, PARAMETERS.get(name)) is None


def test_a_list_is_converted_item_by_item_without_what_became_none() -> None:
    assert convert("year", ["in 1999", "never", None, ["2001"]]) == [1999, [2001]]
    assert convert("absolute_http", ["https://a.example", "mailto:x"]) == ["https://a.example"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            "<jats:title>Abstract</jats:title><jats:p>Sensitive <jats:italic>probing</jats:italic>.</jats:p>"
            "<jats:p>Second.</jats:p>",
            "Abstract Sensitive probing. Second.",
        ),
        ("<h4>Background</h4>Despite growing interest.", "Background Despite growing interest."),
        ("Battery <b>anode</b> &amp; cathode &hellip;", "Battery anode & cathode …"),
        ("CO<sub>2</sub> uptake", "CO2 uptake"),
        ("p &lt; 0.05", "p < 0.05"),
        ("twice &amp;lt;escaped&amp;gt;", "twice <escaped>"),
        ("a<script>if (x < 1) {}</script>b<!-- c --><style>p {}</style>", "a b"),
        ("a<script>never closed", "a"),
    ],
)
def test_tags_are_stripped_the_way_a_reader_would(html: str, text: str) -> None:
    assert convert("strip_tags", html) == text


def test_hostile_markup_costs_linear_work() -> None:
    assert convert("strip_tags", "<script>" * 200_000) is None
    assert convert("strip_tags", "<!--" * 200_000) is None
    assert convert("abstract", "<p>" * 200_000) is None
    assert convert("strip_tags", "<a" * 200_000) == "<a" * 200_000
    assert convert("unescape", f"&#{'9' * 5000};").startswith("&#9")


def test_empty_text_counts_as_nothing() -> None:
    assert convert("first", ["", "a"]) == "a"
    assert convert("count", ["", "a"]) == 1
    assert convert("prefix", "", "https://demo.example/") is None
    assert convert("null_if", "", "x") is None


def test_what_was_encoded_twice_is_decoded_once() -> None:
    assert convert("query_param", "//demo.example/l/?uddg=https%3A%2F%2Fa.example%2F%252F&rut=1", "uddg") == (
        "https://a.example/%2F"
    )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://a.example/", "HTTP://a.example/"),
        (" https://a.example/x ", "https://a.example/x"),
        ("https://", None),
        ("https://a b/", None),
        ("https://a.example:99999/", None),
        ("https://[::1", None),
        ("ftp://a.example/", None),
        ("data:text/html,x", None),
        ("https://a.example/\x00", None),
        ("www.a.example", None),
    ],
)
def test_only_complete_web_addresses_pass(url: str, expected: str | None) -> None:
    assert convert("absolute_http", url) == expected


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("1,234,567", 1234567), ("12,34", None), (" -3.5 ", -3.5), ("1e3", 1000.0), ("1e999", None), (".5", 0.5),
        ("5.", 5.0), ("", None), ("-", None), ("e5", None), ("1_000", None), ("٣", None), ("inf", None), (True, None),
        ("0x10", None),
    ],
)  # fmt: skip
def test_a_number_is_read_only_where_it_is_certain(spelled: object, value: object) -> None:
    assert convert("number", spelled) == value


def test_unique_tells_true_from_one_and_keeps_the_order() -> None:
    assert json.dumps(convert("unique", [1, True, "1", 1, None, True])) == '[1, true, "1"]'


def test_an_unknown_converter_is_e209_with_a_suggestion() -> None:
    found = problem("stripTags", None)

    assert (found.code, found.message, found.hint) == (
        "E209",
        "unknown converter 'stripTags'",
        'did you mean "strip_tags"?',
    )


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("trim", "x", "trim takes no parameter, not 1"),
        ("prefix", None, "prefix takes one parameter, not 0"),
        ("prefix", 5, "prefix: text is text, not 5"),
        ("replace", ["a"], "replace takes 2 parameters, not 1"),
        ("replace", {"old": "a", "nwe": "b"}, "replace has no parameter 'nwe'"),
        ("replace", ["", "b"], "replace: old is at least one character"),
        ("truncate", 0, "truncate: limit is a whole number above 0, not 0"),
        ("truncate", True, "truncate: limit is a whole number above 0, not True"),
        ("dimension", "depth", "dimension: side is width or height, not 'depth'"),
        ("dimension", ["width"], "dimension: side is width or height, not ['width']"),
        ("null_if", [], "null_if: values is a value or a list of values, not []"),
        ("epoch", "days", "epoch: unit is seconds or milliseconds, not 'days'"),
    ],
)
def test_wrong_parameters_are_e210(name: str, params: Any, message: str) -> None:
    found = problem(name, params)

    assert (found.code, found.message) == ("E210", message)


def test_a_hint_shows_how_a_converter_is_written() -> None:
    assert problem("trim", "x").hint == "write trim"
    assert problem("prefix", None).hint == "write {prefix: <text: text>}"
    assert problem("replace", None).hint == "write {replace: [<old: text>, <new: text>]}"


def test_a_number_too_long_to_write_is_no_text_and_still_a_number() -> None:
    long = 10**5000

    assert convert("text", long) is None
    assert convert("positive", long) is long
    assert len(convert("unique", [long, 1, 1])) == 2
    assert convert("epoch", long, "seconds") is None


@given(st.from_regex(r"(?:https?:)?//[a-zA-Z.-]{0,5}[!-~]{0,20}", fullmatch=True))
def test_the_short_way_for_plain_addresses_gives_what_the_long_one_does(url: str) -> None:
    # Blanks around an address are no part of it, and nothing that has them goes the short way.
    assert convert("absolute_http", url) == convert("absolute_http", f" {url}")


@given(st.text(max_size=20))
def test_text_without_tags_is_stripped_as_text_with_one(text: str) -> None:
    plain = text.replace("<", "").replace("&", "")

    assert convert("strip_tags", plain) == convert("strip_tags", f"{plain}<b></b>")
