"""Arguments as models send them: what was meant is understood, and what passes fits the published schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from specloom.core.faults import Fault
from specloom.runtime.arguments import parse_arguments
from tests.support.spec_library import a_tool, weave_texts

INPUTS = """\
text: {type: string, min_length: 2, max_length: 8, description: A text.}
code: {type: string, pattern: "[a-z]{2}", says: a two-letter code, description: A code.}
since: {type: string, format: date, description: A day.}
until: {type: string, format: date_or_year, description: A day or a year.}
holidays: {type: list, format: date, description: Days.}
kind: {type: string, enum: [day, week], default: day, description: A kind.}
size: {type: integer, minimum: 1, maximum: 10, default: 5, clamp: true, description: Clamped.}
page: {type: integer, minimum: 0, maximum: 3, description: Not clamped.}
ratio: {type: number, minimum: 0.5, maximum: 2.5, clamp: true, description: A number.}
deep: {type: boolean, description: A flag.}
sites: {type: list, max_items: 3, pattern: "[a-z.]+", says: a host, description: Hosts.}
shape: {type: object, description: What is wanted.}
days: {type: list, enum: [mon, tue], description: Which days.}
parts:
  type: list
  max_items: 2
  description: Which parts.
  items:
    name: {type: string, required: true, max_length: 4, description: Its name.}
    size: {type: integer, minimum: 1, description: Its size.}
    made: {type: string, format: date, description: When it was made.}
    kind: {type: string, enum: [big, small], description: Its kind.}
"""
CHECKS = "checks: [{refuse_when: args.deep && args.page, message: \"'give either deep or page'\"}]\n"
TEXTS = ("text", "code", "since", "until", "kind", "query")
OTHERS = ("size", "page", "ratio", "deep", "sites", "shape", "days", "holidays", "parts")
ALL = [*(f"args.{name}" for name in TEXTS), *(f"to_string(args.{name})" for name in OTHERS)]
ANSWER = f"all: =join('', [{', '.join(ALL)}][?@])"
TOOL = weave_texts(a_tool(inputs=INPUTS, more=CHECKS, answer=ANSWER)).tool()
SCHEMA = Draft7Validator(TOOL.input_schema)


def parse(**given: Any) -> dict[str, Any]:
    return parse_arguments(TOOL, {"query": "x", **given}).given


def refusal(**given: Any) -> str:
    with pytest.raises(Fault) as caught:
        parse(**given)
    assert caught.value.kind == "validation"
    return caught.value.message


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["[]", '["a"]', '[{"name": "a"}]', "5", "5.0", "true", " ab ", "day", "en", "1e2", "nan"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
PARTS = st.lists(
    st.dictionaries(st.sampled_from(["name", "size", "kind", "other"]), JUNK, max_size=3) | JUNK, max_size=3
)


@given(
    st.dictionaries(st.sampled_from([*TOOL.inputs, "other"]), JUNK)
    | st.fixed_dictionaries({"query": st.just("x"), "parts": PARTS})
)
def test_whatever_passes_fits_the_published_schema(raw: dict[str, Any]) -> None:
    try:
        arguments = parse_arguments(TOOL, raw)
    except Fault as fault:
        assert fault.kind == "validation"  # noqa: PT017 - both ways to end are fine
        return

    assert list(SCHEMA.iter_errors(arguments.given)) == []
    assert json.loads(json.dumps(arguments.given, allow_nan=False)) == arguments.given


@given(st.dictionaries(st.sampled_from(["text", "code", "kind", "size", "page", "ratio", "deep", "sites"]), JUNK))
def test_what_fits_the_published_schema_passes_as_it_is(raw: dict[str, Any]) -> None:
    raw = {"query": "x", **raw}
    if not SCHEMA.is_valid(raw) or (raw.get("deep") and raw.get("page")):
        return
    trimmed = [name for name, value in raw.items() if isinstance(value, str) and value.strip() != value]

    if trimmed:
        return
    given = parse_arguments(TOOL, raw).given
    assert {name: given[name] for name in raw if raw[name] != ""} == {
        name: value for name, value in raw.items() if value != ""
    }


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        ({"sites": '["a.b", "c.d"]'}, {"sites": ["a.b", "c.d"]}),
        ({"sites": "a.b"}, {"sites": ["a.b"]}),
        ({"size": "3"}, {"size": 3}),
        ({"size": "3.0"}, {"size": 3}),
        ({"size": 3.0}, {"size": 3}),
        ({"ratio": "1.5"}, {"ratio": 1.5}),
        ({"deep": "true"}, {"deep": True}),
        ({"deep": "FALSE"}, {"deep": False}),
        ({"text": " abc "}, {"text": "abc"}),
        ({"text": 1234}, {"text": "1234"}),
        ({"code": ""}, {}),
        ({"code": None}, {}),
        ({"sites": ""}, {}),
        ({"shape": ' {"a": [1, null]} '}, {"shape": {"a": [1, None]}}),
        ({"shape": {"a": {"b": 1}}}, {"shape": {"a": {"b": 1}}}),
        ({"shape": " "}, {}),
        ({"shape": {}}, {"shape": {}}),
        ({"days": "mon"}, {"days": ["mon"]}),
        ({"parts": '[{"name": " a ", "size": "3"}]'}, {"parts": [{"name": "a", "size": 3}]}),
        ({"parts": {"name": 5, "kind": "", "size": None}}, {"parts": [{"name": "5"}]}),
        ({"parts": '{"name": "a"}'}, {"parts": [{"name": "a"}]}),
        ({"parts": ['{"name": "a"}']}, {"parts": [{"name": "a"}]}),
        ({"parts": " "}, {}),
        ({"parts": []}, {"parts": []}),
    ],
)
def test_what_models_really_send_is_repaired(raw: dict[str, Any], meant: dict[str, Any]) -> None:
    assert parse(**raw) == {"query": "x", "kind": "day", "size": 5, **meant}


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({"txet": "abc"}, "sample has no argument 'txet'; did you mean \"text\"?"),
        ({"text": "a"}, 'text is "a"; it needs at least 2 characters'),
        ({"text": "abcdefghi"}, "text has 9 characters; it may have 8"),
        ({"code": "eng"}, 'code is "eng"; it should be a two-letter code'),
        ({"since": "2020-13-45"}, 'since is "2020-13-45", which no calendar has; it should be a date as YYYY-MM-DD'),
        ({"since": "2021-02-29"}, 'since is "2021-02-29", which no calendar has; it should be a date as YYYY-MM-DD'),
        ({"since": "2020"}, 'since is "2020"; it should be a date as YYYY-MM-DD'),
        ({"until": "0000"}, 'until is "0000", which no calendar has; it should be YYYY or YYYY-MM-DD'),
        ({"until": "2020-00-01"}, 'until is "2020-00-01", which no calendar has; it should be YYYY or YYYY-MM-DD'),
        ({"until": "2020-01"}, 'until is "2020-01"; it should be YYYY or YYYY-MM-DD'),
        (
            {"holidays": ["2020-12-25", "2020-12-32"]},
            'holidays[1] is "2020-12-32", which no calendar has; it should be a date as YYYY-MM-DD',
        ),
        ({"kind": "year"}, 'kind is "year"; it may be day, week'),
        ({"page": 4}, "page is 4; it may be 0 to 3"),
        ({"page": "many"}, 'page is "many"; it should be a whole number'),
        ({"page": True}, "page is true; it should be a whole number"),
        ({"ratio": float("nan")}, "ratio is NaN; it should be a number"),
        ({"sites": ["a", "b", "c", "d"]}, "sites has 4 items; it may have 3"),
        ({"sites": ["a", "B!"]}, 'sites[1] is "B!"; it should be a host'),
        ({"sites": [1]}, "sites is [1]; it should be a list of texts"),
        ({"shape": "[1]"}, 'shape is "[1]"; it should be an object'),
        ({"shape": '{"a": '}, 'shape is "{\\"a\\":"; it should be an object'),
        ({"shape": [{}]}, "shape is [{}]; it should be an object"),
        ({"shape": {"a": "x" * 20_000}}, "shape has 20009 bytes as JSON; it may have 20000"),
        ({"shape": {"a": float("nan")}}, "shape is no JSON object: it holds something that JSON cannot say"),
        ({"shape": {"a": "\ud800"}}, "shape is no JSON object: it holds something that JSON cannot say"),
        ({"days": ["mon", "sun"]}, 'days[1] is "sun"; it may be mon, tue'),
        ({"parts": "many"}, 'parts is "many"; it should be a list of objects'),
        ({"parts": ["many"]}, 'parts[0] is "many"; it should be an object with name, size, made, kind'),
        ({"parts": [{"name": "a"}] * 3}, "parts has 3 items; it may have 2"),
        ({"parts": [{"name": "a"}, {"nmae": "b"}]}, 'parts[1] has no field "nmae"; did you mean "name"?'),
        ({"parts": [{"name": "a", "zzz": 1}]}, 'parts[0] has no field "zzz"; known: kind, made, name, size'),
        ({"parts": [{"size": 1}]}, "parts[0] needs name: Its name."),
        ({"parts": [{"name": "abcde"}]}, "parts[0].name has 5 characters; it may have 4"),
        ({"parts": [{"name": "a", "size": 0}]}, "parts[0].size is 0; it may be at least 1"),
        ({"parts": [{"name": "a", "kind": "huge"}]}, 'parts[0].kind is "huge"; it may be big, small'),
        (
            {"parts": [{"name": "a", "made": "2020-02-30"}]},
            'parts[0].made is "2020-02-30", which no calendar has; it should be a date as YYYY-MM-DD',
        ),
        ({"query": None}, "query is required: What to look for."),
        ({"deep": True, "page": 2}, "give either deep or page"),
    ],
)
def test_a_refusal_says_what_was_given_and_what_is_allowed(raw: dict[str, Any], sentence: str) -> None:
    assert refusal(**raw) == sentence


@pytest.mark.parametrize(
    ("given", "meant"), [("2020-02-29", "2020-02-29"), (" 1999-12-31 ", "1999-12-31"), ("2020", "2020"), (2020, "2020")]
)
def test_a_day_of_the_calendar_and_a_year_are_taken(given: Any, meant: str) -> None:
    assert parse(until=given)["until"] == meant
    if len(meant) > 4:
        assert parse(since=given)["since"] == meant


def test_a_date_is_published_as_a_pattern_that_every_model_api_takes() -> None:
    properties = TOOL.input_schema["properties"]

    assert properties["since"] == {
        "type": "string",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        "description": "A day.",
    }
    assert properties["until"]["pattern"] == "^[0-9]{4}(?:-[0-9]{2}-[0-9]{2})?$"


@pytest.mark.parametrize(
    ("raw", "argument", "near"),
    [
        ({"texts": "ab"}, "texts", "text"),
        ({"zzzzzz": 1}, "zzzzzz", ""),
        ({"kind": "Weeks"}, "kind", "week"),
        ({"kind": "MONTH"}, "kind", ""),
        ({"days": ["mon", "tues"]}, "days[1]", "tue"),
        ({"parts": [{"name": "a", "sise": 1}]}, "parts[0].sise", "size"),
        ({"parts": [{"name": "a", "kind": "bigg"}]}, "parts[0].kind", "big"),
        ({"parts": [{}]}, "parts[0].name", ""),
        ({"page": 9}, "page", ""),
        ({"deep": "maybe"}, "deep", ""),
    ],
)
def test_a_refusal_tells_programs_which_argument_to_mend_and_what_is_near(
    raw: dict[str, Any], argument: str, near: str
) -> None:
    with pytest.raises(Fault) as caught:
        parse_arguments(TOOL, {"query": "x", **raw})

    block = caught.value.to_json()["error"]
    assert (block["kind"], block["retryable"], block["suggestedAction"]) == ("validation", False, "fix_arguments")
    assert (block["argument"], block.get("did_you_mean", "")) == (argument, near)


def test_zero_is_no_number_where_at_least_one_is_wanted() -> None:
    arguments = parse_arguments(TOOL, {"query": "x", "size": 0, "page": 0})

    assert (arguments.given["size"], arguments.given["page"]) == (5, 0)
    assert arguments.requested == {}
    assert "size" not in arguments.explicit


def test_an_unknown_argument_far_from_all_names_those_that_are_known() -> None:
    assert refusal(zzzzzz="x") == (
        "sample has no argument 'zzzzzz'; known: code, days, deep, holidays, kind, page, parts, query, ratio, shape, "
        "since, sites, size, text, until"
    )
    many = "".join(f"n{at:02}: {{type: string, description: A text.}}\n" for at in range(30))
    used = "all: \"=join('', [" + ", ".join(f"args.n{at:02}" for at in range(30)) + '][?@])"'
    tool = weave_texts(a_tool(inputs=many, answer=used)).tool()
    with pytest.raises(Fault, match=r"known: n00, n01, .*n29, query$"):
        parse_arguments(tool, {"zzzzzz": "x"})


def test_a_number_outside_is_moved_to_the_bound_and_the_original_is_kept() -> None:
    arguments = parse_arguments(TOOL, {"query": "x", "size": 50, "ratio": 0.1})

    assert (arguments.given["size"], arguments.given["ratio"]) == (10, 0.5)
    assert arguments.requested == {"size": 50, "ratio": 0.1}


def test_defaults_are_filled_in_but_were_not_set_by_the_caller() -> None:
    arguments = parse_arguments(TOOL, {"query": "x"})

    assert arguments.given == {"query": "x", "kind": "day", "size": 5}
    assert arguments.explicit == {"query"}


def test_what_a_list_may_hold_is_published_with_its_items() -> None:
    published = TOOL.input_schema["properties"]

    assert published["days"] == {
        "type": "array",
        "items": {"type": "string", "enum": ["mon", "tue"]},
        "description": "Which days.",
    }
    assert published["shape"] == {"type": "object", "description": "What is wanted."}
    assert published["parts"] == {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "size": {"type": "integer", "minimum": 1},
                "made": {
                    "type": "string",
                    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
                    "description": "When it was made.",
                },
                "kind": {"type": "string", "enum": ["big", "small"]},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        "maxItems": 2,
        "description": "Which parts.",
    }


def test_fields_of_items_belong_to_lists_without_an_enum() -> None:
    inputs = "parts: {type: string, description: Parts., items: {name: {type: string, description: Its name.}}}\n"
    woven = weave_texts(a_tool(inputs=inputs, answer="p: =args.parts"))

    assert "E104: `items` belongs to an input of type list without an enum" in woven.sentences


def test_a_name_from_an_open_catalogue_is_checked_when_the_plan_runs() -> None:
    inputs = "provider: {type: string, enum: providers.find, open: true, description: Whom.}\n"
    tool = weave_texts(a_tool(inputs=inputs, answer="p: =args.provider")).tool()

    assert parse_arguments(tool, {"query": "x", "provider": "nobody"}).given["provider"] == "nobody"
    assert "enum" not in tool.input_schema["properties"]["provider"]
