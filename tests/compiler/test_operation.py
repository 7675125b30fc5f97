"""Provider files are compiled whole: what could go wrong at a call is told before anything runs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.language import conformer
from specloom.language.types import ANY, BOOLEAN, TEXT, Choice, ListOf, RecordType, maybe
from tests.support.spec_library import a_provider, weave_texts

STEP = "input: [query]\nsteps:\n  - {get: /s, query: {q: =args.query}, json: {map: {url: url}}}\n"


def problems(operation: str, **more: str) -> list[str]:
    return weave_texts(a_provider(operation, **more)).sentences


def test_limits_are_read_and_have_defaults() -> None:
    policy = weave_texts(a_provider(STEP)).provider().service.policy
    assert (policy.timeout, policy.max_bytes) == (30.0, 5 * 1024 * 1024)

    service = (
        weave_texts(
            a_provider(
                STEP,
                service="limits: {rate: 3/s, concurrency: 2, timeout: 1500ms, max_bytes: 2MiB}\nhosts: [cdn.example]\n",
            )
        )
        .provider()
        .service
    )
    assert (service.policy.timeout, service.policy.max_bytes, service.policy.hosts) == (
        1.5,
        2 * 1024 * 1024,
        ("cdn.example",),
    )
    assert service.concurrency == 2
    assert service.rate is not None


@pytest.mark.parametrize(
    ("operation", "start"),
    [
        (STEP.replace("get: /s", "get: s"), "E211: a path starts with `/`"),
        (STEP.replace("get: /s", "get: '/s/{args.query'"), "E211: a brace in a path opens or closes a placeholder"),
        (STEP.replace("get: /s", "get: '/s#x'"), "E211: a path has no `?` and no `#`"),
        (STEP.replace("get: /s", "get: '/s/{args.querry}'"), "E202: unknown name 'querry'"),
        (STEP.replace("get: /s", "get: /s, body: {json: {a: 1}}"), "E105: a GET has no body"),
        (
            STEP + "  - {get: /t, query: {q: =args.query}, json: {map: {url: url}}}\n",
            "E011: two steps are called 'main'",
        ),
        (STEP + "rows: {nearest: {lat: '`1`', lon: args.query}}\n", "E204: `lon` is a number, and this is text"),
        (STEP + "rows: {nearest: {lat: '`1`', lon: '`2`', within: args.query}}\n", "E204: `within` is a number"),
        (STEP + "shard: {over: sites, at_most: 2}\n", "E110: the operation takes no argument 'sites'"),
        (STEP.replace("url: url", "url: {each: url}"), "E102: a field with `each` needs `value`"),
        (STEP.replace("url: url", "url: {at: url, then: [{truncate: many}]}"), "E210: "),
        (STEP.replace("=args.query", "=steps.main"), "E111: steps.main is not known yet here"),
        (STEP.replace("json: {map", "html: {map").replace("url: url", "url: './/a['"), "E201: "),
        (
            STEP + "values: {one: values.two, two: args.query}\n",
            "E111: values.two is not known yet here (a value sees those above it)",
        ),
    ],
)
def test_what_could_go_wrong_is_told(operation: str, start: str) -> None:
    found = problems(operation)

    assert [one for one in found if one.startswith(start)], found


def test_an_argument_that_nothing_uses_is_a_warning_and_the_provider_still_works() -> None:
    woven = weave_texts(a_provider(STEP.replace("[query]", "[query, safe]")))

    assert woven.codes == ["W307"]
    assert woven.provider().name == "sample"


def test_what_an_operation_uses_is_followed_through_values() -> None:
    operation = (
        "input: [query, safe]\nvalues: {a: upper(args.query), b: values.a}\nsteps: [{get: /s, "
        "query: {q: =values.b}, json: {map: {url: url}}}]\n"
    )

    compiled = weave_texts(a_provider(operation)).model.providers["sample"].operations["find"]

    assert compiled.arguments_used == {"query"}


def test_a_provider_with_a_problem_is_left_out_and_the_others_are_there() -> None:
    woven = weave_texts(a_provider(STEP.replace("args.query", "args.querry")))

    assert set(woven.model.providers) == {"alpha"}


def test_all_problems_of_a_provider_are_told_at_once() -> None:
    operation = (
        "input: [query, count]\nsteps:\n  - {get: s, query: {q: =args.q, r: "
        "=upper()}, json: {map: {headline: '!a.b'}}}\n"
    )

    codes = {one[:4] for one in problems(operation)}
    assert {"E120", "E211", "E202", "E204", "E205"} <= codes


@pytest.mark.parametrize(
    ("kind", "value", "fitted"),
    [
        ("text", 5, "5"),
        ("text", True, None),
        ("text", ["a"], None),
        ("text", "ot\u200bters\u202e\U000e0041\x1b", "otters"),
        ("document", "ot\u200bters", "ot\u200bters"),
        ("document", 5, None),
        ("url", "https://a.example/o", "https://a.example/o"),
        ("url", " //a.example/b c ", "https://a.example/b%20c"),
        ("url", "https://a.example/\u200bo", "https://a.example/o"),
        ("url", "javascript:alert(1)", None),
        ("url", "/o", None),
        ("url", 5, None),
        ("integer", "12", 12),
        ("integer", 12.0, 12),
        ("integer", 12.5, None),
        ("integer", True, None),
        ("number", "1.5", 1.5),
        ("number", "nan", None),
        ("number", float("inf"), None),
        ("boolean", 1, None),
        ("timestamp", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("timestamp", "2026-01-01", None),
        ("timestamp", "2026-13-01T00:00:00Z", None),
        ("list", "a", None),
        ("list", ["a", None, 5, {}], ["a", "5"]),
        ("list", ["ot\u200bters"], ["otters"]),
        ("object", {"a": 1}, {"a": 1}),
        ("object", {"a": "ot\u200bters"}, {"a": "ot\u200bters"}),
        ("object", [], None),
    ],
)
def test_a_value_fits_its_type_or_is_none(kind: str, value: object, fitted: object) -> None:
    found = conformer(kind, ListOf(TEXT) if kind == "list" else ANY)(value)

    assert found == fitted
    assert type(found) is type(fitted)


def test_the_objects_of_a_list_have_their_texts_as_they_are_seen() -> None:
    fit = conformer("list", ListOf(ANY))
    deep: Any = "x"
    for _ in range(100_000):
        deep = {"in": deep}

    assert fit([{"a": "ot\u200bters", "b": [{"c": "\u202eo"}, 1, None]}, "a", None]) == [
        {"a": "otters", "b": [{"c": "o"}, 1, None]},
        "a",
    ]
    assert fit([deep, {"a": 1}]) == [{"a": 1}]


def test_a_value_outside_of_its_choices_is_none() -> None:
    fit = conformer("text", Choice(("day", "week")))

    assert fit("day") == "day"
    assert fit("month") is None
    assert fit(["day"]) is None


def test_an_object_with_declared_fields_has_those_that_are_known_and_no_others() -> None:
    fit = conformer("object", RecordType({"retracted": BOOLEAN, "date": maybe(TEXT)}))

    assert fit({"retracted": True, "date": None, "note": "x"}) == {"retracted": True}
    assert fit({"retracted": "yes", "date": 2010}) == {"date": "2010"}
    assert fit({"retracted": None}) is None
    assert fit(["retracted"]) is None


@given(
    st.sampled_from(["text", "document", "url", "integer", "number", "boolean", "timestamp", "list", "object", "any"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
)
def test_no_value_makes_conforming_raise_and_what_fits_fits_again(kind: str, value: Any) -> None:
    fit = conformer(kind, ANY)
    once = fit(value)

    assert once is None or fit(once) == once or once != once
