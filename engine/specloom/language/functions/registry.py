"""The functions that expressions may call: those of JMESPath and our own, in one registry with examples that are run.

Null into a typed parameter is an error, as in JMESPath, except where the description says what null gives.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from jmespath.functions import Functions

from ..signatures import Function, ResultOf, is_true, null_or, registrar, to_kind, to_text
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
from .data import DATA, LISTS
from .strings import TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping

# --- The functions of JMESPath itself: described here, carried out by the `jmespath` package --------------------------


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


# --- Our own functions of numbers, choices and times ------------------------------------------------------------------


_OWN: dict[str, Function] = {}
_function = registrar(_OWN)


def _clamped(arguments: tuple[Shape, ...]) -> Shape:
    bounded = _arithmetic(arguments)
    return maybe(bounded) if may_be_null(arguments[0]) else bounded


def _arithmetic(arguments: tuple[Shape, ...]) -> Shape:
    return INTEGER if all(strip(shape) == INTEGER for shape in arguments) else NUMBER


def _either(arguments: tuple[Shape, ...]) -> Shape:
    return join(arguments[1], arguments[2])


@_function(
    "nullable number",
    "number",
    "number",
    result=_clamped,
    examples=(("clamp(`50`, `1`, `20`)", 20), ("clamp(`null`, `1`, `20`)", None)),
)
def _clamp(number: float | None, low: float, high: float) -> float | None:
    """The number, or the bound that it is beyond; null gives null."""
    return None if number is None else max(low, min(number, high))


@_function(
    "any",
    "any",
    "any",
    result=_either,
    examples=(("when('x', `1`, `2`)", 1), ("when(`[]`, `1`, `2`)", 2)),
)
def _when(condition: Any, then: Any, otherwise: Any) -> Any:
    """The second argument if the first is true as JMESPath sees it, else the third; the other one is not evaluated."""
    return then if is_true(condition) else otherwise


@_function(
    "table",
    "nullable string or number or boolean",
    result=ANY,
    examples=(("lookup('demo', 'day')", "d"), ("lookup('demo', `null`)", None), ("lookup('demo', 'never')", None)),
)
def _lookup(table: Mapping[str, Any], key: Any) -> Any:
    """The entry of a declared table, named literally; null where the key is null or not in the table. Keys are compared
    as texts."""
    return None if key is None else table.get(to_text(key))


@_function("number", "number", result=_arithmetic, examples=(("add(`1`, `2`)", 3),))
def _add(first: float, second: float) -> float:
    """The sum of two numbers."""
    return _finite(first + second)


@_function("number", "number", result=_arithmetic, examples=(("subtract(`3`, `2`)", 1),))
def _subtract(first: float, second: float) -> float:
    """The first number less the second."""
    return _finite(first - second)


@_function("number", "number", result=_arithmetic, examples=(("multiply(`3`, `2`)", 6),))
def _multiply(first: float, second: float) -> float:
    """The product of two numbers."""
    return _finite(first * second)


@_function(
    "nullable number",
    result=null_or(TEXT),
    examples=(("timestamp(`0`)", "1970-01-01T00:00:00Z"), ("timestamp(`null`)", None)),
)
def _timestamp(seconds: float | None) -> str | None:
    """Seconds since 1970 as RFC 3339 text in UTC, to the second; null gives null."""
    return None if seconds is None else _moment(seconds).replace(tzinfo=None).isoformat() + "Z"


@_function("nullable number", result=null_or(TEXT), examples=(("date(`86400`)", "1970-01-02"), ("date(`null`)", None)))
def _date(seconds: float | None) -> str | None:
    """Seconds since 1970 as the day in UTC; null gives null."""
    return None if seconds is None else _moment(seconds).date().isoformat()


def _moment(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(math.floor(seconds), UTC)
    except (OSError, OverflowError, ValueError):
        # Which of them it is depends on the system.
        raise ValueError("there is no such moment between the years 1 and 9999") from None


def _finite(number: float) -> float:
    # An integer may be too large for isfinite, and is always finite.
    if type(number) is float and not math.isfinite(number):
        raise ValueError("the result is not a finite number")
    return number


FUNCTIONS: Mapping[str, Function] = MappingProxyType({**describe_builtins(), **_OWN, **TEXTS, **LISTS, **DATA})
"""Every function by name."""
