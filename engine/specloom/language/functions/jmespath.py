"""The functions of JMESPath itself: described here, carried out by the `jmespath` package."""

from __future__ import annotations

from functools import partial
from typing import Any

from jmespath.functions import Functions

from ..signatures import Function, ResultOf, to_kind
from ..types import (
    ANY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    TEXT,
    ListOf,
    RecordType,
    Shape,
    join,
    join_all,
    may_be_null,
    maybe,
    strip,
)

_PACKAGE = Functions()


def _same(arguments: tuple[Shape, ...]) -> Shape:
    return strip(arguments[0])


def _item(arguments: tuple[Shape, ...]) -> Shape:
    array = strip(arguments[0])
    return maybe(array.item if isinstance(array, ListOf) else ANY)


def _mapped(arguments: tuple[Shape, ...]) -> Shape:
    return ListOf(arguments[0])


def _first_present(arguments: tuple[Shape, ...]) -> Shape:
    present = join_all(strip(shape) for shape in arguments)
    return maybe(present) if all(may_be_null(shape) for shape in arguments) else present


def _as_list(arguments: tuple[Shape, ...]) -> Shape:
    (shape,) = arguments
    return shape if isinstance(shape, ListOf) else ListOf(ANY) if isinstance(strip(shape), ListOf) else _wrapped(shape)


def _wrapped(shape: Shape) -> Shape:
    return ListOf(ANY) if shape == ANY else ListOf(shape)


def _merged(arguments: tuple[Shape, ...]) -> Shape:
    fields: dict[str, Shape] = {}
    required: set[str] = set()
    for shape in map(strip, arguments):
        if not isinstance(shape, RecordType) or not shape.closed:
            return RecordType({}, closed=False)
        for name, field in shape.fields.items():
            kept = name in fields and name not in shape.required
            fields[name] = join(fields[name], field) if kept else field
        required |= shape.required
    return RecordType(fields, required=frozenset(required))


def _values(arguments: tuple[Shape, ...]) -> Shape:
    shape = strip(arguments[0])
    return ListOf(join_all(shape.fields.values()) if isinstance(shape, RecordType) and shape.closed else ANY)


_DESCRIBED: dict[str, tuple[Shape | ResultOf, str, tuple[tuple[str, Any], ...]]] = {
    "abs": (_same, "The number without its sign.", (("abs(`-3`)", 3),)),
    "avg": (maybe(NUMBER), "The mean of the numbers; null of none.", (("avg(`[1, 2]`)", 1.5), ("avg(`[]`)", None))),
    "ceil": (INTEGER, "The number rounded up.", (("ceil(`1.2`)", 2),)),
    "contains": (
        BOOLEAN,
        "Whether a list has the item, or a text the part.",
        (("contains('abc', 'b')", True), ("contains(`[1, 2]`, `3`)", False)),
    ),
    "ends_with": (BOOLEAN, "Whether the text ends so.", (("ends_with('abc', 'bc')", True),)),
    "floor": (INTEGER, "The number rounded down.", (("floor(`1.8`)", 1),)),
    "join": (TEXT, "The texts of a list with the first argument between them.", (("join(', ', ['a', 'b'])", "a, b"),)),
    "keys": (ListOf(TEXT), "The names of the fields of an object.", (('keys(`{"a": 1, "b": 2}`)', ["a", "b"]),)),
    "length": (
        INTEGER,
        "How many characters, items or fields.",
        (("length('abc')", 3), ("length(`[]`)", 0)),
    ),
    "map": (
        _mapped,
        "The expression applied to each item; nulls are kept.",
        (('map(&a, `[{"a": 1}, {}]`)', [1, None]),),
    ),
    "max": (_item, "The largest of numbers or texts; null of none.", (("max(`[1, 3, 2]`)", 3), ("max(`[]`)", None))),
    "max_by": (
        _item,
        "The item for which the expression is largest; null of none.",
        (('max_by(`[{"a": 1}, {"a": 2}]`, &a)', {"a": 2}),),
    ),
    "merge": (_merged, "One object of several; later fields win.", (('merge(`{"a": 1}`, `{"a": 2}`)', {"a": 2}),)),
    "min": (_item, "The smallest of numbers or texts; null of none.", (("min(['b', 'a'])", "a"),)),
    "min_by": (
        _item,
        "The item for which the expression is smallest; null of none.",
        (('min_by(`[{"a": 1}, {"a": 2}]`, &a)', {"a": 1}),),
    ),
    "not_null": (_first_present, "The first argument that is not null.", (("not_null(`null`, 'a')", "a"),)),
    "reverse": (_same, "The list or the text backwards.", (("reverse('abc')", "cba"),)),
    "sort": (_same, "The numbers or texts in order.", (("sort(`[3, 1, 2]`)", [1, 2, 3]),)),
    "sort_by": (
        _same,
        "The items in the order of the expression, which gives all numbers or all texts.",
        (('sort_by(`[{"a": 2}, {"a": 1}]`, &a)[0].a', 1),),
    ),
    "starts_with": (BOOLEAN, "Whether the text starts so.", (("starts_with('abc', 'ab')", True),)),
    "sum": (NUMBER, "The sum of the numbers.", (("sum(`[1, 2]`)", 3), ("sum(`[]`)", 0))),
    "to_array": (_as_list, "A list as it is, anything else as a list of one.", (("to_array('a')", ["a"]),)),
    "to_number": (
        maybe(NUMBER),
        "The number that a text spells; null where it spells none.",
        (("to_number('12')", 12), ("to_number('x')", None)),
    ),
    "to_string": (TEXT, "A text as it is, anything else as JSON.", (("to_string(`[1]`)", "[1]"),)),
    "type": (
        TEXT,
        "`string`, `number`, `boolean`, `array`, `object` or `null`.",
        (("type(`1`)", "number"),),
    ),
    "values": (_values, "The values of an object.", (('values(`{"a": 1, "b": 2}`)', [1, 2]),)),
}


def describe_builtins() -> dict[str, Function]:
    """Every function of the package by name, with our description where there is one."""
    found = {}
    for name, entry in sorted(Functions.FUNCTION_TABLE.items()):
        result, doc, examples = _DESCRIBED.get(name, (ANY, "", ()))
        found[name] = Function(
            name=name,
            parameters=tuple(to_kind(parameter["types"]) for parameter in entry["signature"]),
            variadic=any(parameter.get("variadic", False) for parameter in entry["signature"]),
            result=result,
            doc=doc,
            examples=examples,
            call=partial(entry["function"], _PACKAGE),
        )
    return found
