"""Shapes join upwards, stay flat about null, and become schemas that answers fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from specloom.language.types import (
    ANY,
    BOOLEAN,
    INTEGER,
    NOTHING,
    NULL,
    NUMBER,
    SECRET,
    TEXT,
    Choice,
    ListOf,
    Maybe,
    RecordType,
    describe,
    from_schema,
    holds_secret,
    join,
    join_all,
    maybe,
    shape_of,
    strip,
    to_schema,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.sampled_from(["", "a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("a", "b", "joined"),
    [
        (TEXT, TEXT, TEXT),
        (INTEGER, NUMBER, NUMBER),
        (TEXT, INTEGER, ANY),
        (TEXT, NULL, Maybe(TEXT)),
        (NULL, NULL, NULL),
        (Maybe(INTEGER), NUMBER, Maybe(NUMBER)),
        (Maybe(TEXT), BOOLEAN, ANY),
        (ANY, NULL, ANY),
        (NOTHING, TEXT, TEXT),
        (Choice(("a",)), Choice(("b", "a")), Choice(("a", "b"))),
        (Choice(("a",)), TEXT, TEXT),
        (ListOf(NOTHING), ListOf(TEXT), ListOf(TEXT)),
        (ListOf(INTEGER), TEXT, ANY),
        (
            RecordType({"a": TEXT, "b": INTEGER}, required=frozenset("ab")),
            RecordType({"a": NULL}, required=frozenset("a")),
            RecordType({"a": Maybe(TEXT), "b": INTEGER}, required=frozenset("a")),
        ),
        (
            RecordType({"a": TEXT}, closed=False),
            RecordType({"b": TEXT}),
            RecordType({"a": TEXT, "b": ANY}, closed=False),
        ),
    ],
)
def test_the_join_has_the_values_of_both(a, b, joined):
    assert join(a, b) == joined
    assert from_schema({}) == ANY


def test_maybe_is_never_nested():
    assert maybe(maybe(TEXT)) == Maybe(TEXT)
    assert maybe(ANY) == ANY
    assert maybe(NULL) == NULL
    assert maybe(NOTHING) == NULL
    assert strip(maybe(TEXT)) == TEXT


@given(JSON, JSON)
def test_join_is_commutative_up_to_order_and_idempotent(a, b):
    first, second = shape_of(a), shape_of(b)

    assert join(first, second) == join(second, first)
    assert join(first, first) == first
    assert join(join(first, second), first) == join(first, second)


def without_nulls(value):
    """The value as an answer leaves null keys out."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value if item is not None]
    return value


@given(st.lists(JSON.filter(lambda value: value is not None), min_size=1, max_size=4))
def test_what_made_a_shape_fits_its_schema(values):
    schema = to_schema(join_all(shape_of(value) for value in values))

    Draft7Validator.check_schema(schema)
    for value in values:
        Draft7Validator(schema).validate(without_nulls(value))


@pytest.mark.parametrize(
    ("shape", "schema"),
    [
        (TEXT, {"type": "string"}),
        (Maybe(INTEGER), {"type": "integer"}),
        (Choice(("a", "b")), {"type": "string", "enum": ["a", "b"]}),
        (ListOf(ANY), {"type": "array"}),
        (ListOf(BOOLEAN), {"type": "array", "items": {"type": "boolean"}}),
        (ANY, {}),
        (
            RecordType({"a": TEXT, "b": Maybe(NUMBER)}, required=frozenset("ab")),
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "number"}},
                "required": ["a"],
                "additionalProperties": False,
            },
        ),
        (RecordType({}, closed=False), {"type": "object", "properties": {}}),
    ],
)
def test_a_schema_is_portable(shape, schema):
    assert to_schema(shape) == schema


@pytest.mark.parametrize(
    "shape",
    [
        TEXT,
        INTEGER,
        NUMBER,
        BOOLEAN,
        NULL,
        Choice(("a", "b")),
        ListOf(ListOf(TEXT)),
        ListOf(ANY),
        RecordType({"a": TEXT, "b": ANY}, required=frozenset("a")),
        RecordType({"a": TEXT}, closed=False),
    ],
)
def test_a_schema_reads_back_as_its_shape(shape):
    assert from_schema(to_schema(shape)) == shape


@pytest.mark.parametrize(
    ("schema", "shape"),
    [
        ({"type": ["string", "null"]}, Maybe(TEXT)),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, Maybe(INTEGER)),
        ({"enum": ["a", None]}, Maybe(Choice(("a",)))),
        ({"const": "a"}, Choice(("a",))),
        ({"enum": [1, 2]}, INTEGER),
        ({"properties": {"a": {}}}, RecordType({"a": ANY}, closed=False)),
        ({"items": {"type": "string"}}, ListOf(TEXT)),
        ({"type": "array"}, ListOf(ANY)),
        ({"type": "strange"}, ANY),
    ],
)
def test_schemas_of_others_are_read(schema, shape):
    assert from_schema(schema) == shape


def test_a_secret_has_no_schema():
    with pytest.raises(ValueError, match="a secret cannot be part of an answer"):
        to_schema(RecordType({"a": Maybe(SECRET)}))


def test_a_secret_is_found_wherever_it_hides():
    assert holds_secret(ListOf(RecordType({"a": Maybe(SECRET)})))
    assert not holds_secret(ListOf(RecordType({"a": TEXT})))


def test_shapes_are_described_in_words():
    assert [describe(shape) for shape in (TEXT, Maybe(INTEGER), ListOf(TEXT), RecordType({}), ANY, SECRET)] == [
        "text",
        "a number or null",
        "a list",
        "an object",
        "anything",
        "a secret",
    ]


def test_what_is_no_shape_is_refused():
    with pytest.raises(TypeError, match="is not a shape"):
        to_schema("text")
