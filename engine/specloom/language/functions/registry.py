"""The functions that expressions may call: those of JMESPath and our own, in one registry with examples that are run.

Null into a typed parameter is an error, as in JMESPath, except where the description says what null gives. Arithmetic
on null is null: what is worked out of a number that is not there is not there either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from jmespath.functions import Functions

from ..signatures import OWN_FUNCTIONS, Function, ResultOf, function, limit_text, null_or, to_kind, to_text, truthy
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
from . import codes, data, identity, places, strings  # noqa: F401 - what they register

# --- The functions of JMESPath itself: described here, carried out by the `jmespath` package --------------------------


class _Package(Functions):
    """The package's functions, of which those that make texts keep to what there is room for."""

    def _func_join(self, separator: str, parts: list[str]) -> str:
        limit_text(len(separator) * len(parts) + sum(map(len, parts)))
        return separator.join(parts)

    def _func_to_string(self, value: Any) -> str:
        text: str = super()._func_to_string(value)  # type: ignore[misc]
        limit_text(len(text))
        return text


_PACKAGE = _Package()


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


_DESCRIBED: dict[str, tuple[Shape | ResultOf, str]] = {
    "abs": (_same, "The number without its sign; null gives null."),
    "avg": (maybe(NUMBER), "The mean of the numbers; null of none, for null and where one of them is null."),
    "ceil": (INTEGER, "The number rounded up; null gives null."),
    "contains": (BOOLEAN, "Whether a list has the item, or a text the part."),
    "ends_with": (BOOLEAN, "Whether the text ends so."),
    "floor": (INTEGER, "The number rounded down; null gives null."),
    "join": (TEXT, "The texts of a list with the first argument between them."),
    "keys": (ListOf(TEXT), "The names of the fields of an object."),
    "length": (INTEGER, "How many characters, items or fields."),
    "map": (_mapped, "The expression applied to each item; nulls are kept."),
    "max": (_item, "The largest of numbers or texts; null of none, for null and where one of them is null."),
    "max_by": (_item, "The item for which the expression is largest; null of none."),
    "merge": (_merged, "One object of several; later fields win."),
    "min": (_item, "The smallest of numbers or texts; null of none, for null and where one of them is null."),
    "min_by": (_item, "The item for which the expression is smallest; null of none."),
    "not_null": (_first_present, "The first argument that is not null."),
    "reverse": (_same, "The list or the text backwards."),
    "sort": (_same, "The numbers or texts in order."),
    "sort_by": (_same, "The items in the order of the expression, which gives all numbers or all texts."),
    "starts_with": (BOOLEAN, "Whether the text starts so."),
    "sum": (NUMBER, "The sum of the numbers; null for null and where one of them is null."),
    "to_array": (_as_list, "A list as it is, anything else as a list of one."),
    "to_number": (maybe(NUMBER), "The number that a text spells; null where it spells none."),
    "to_string": (TEXT, "A text as it is, anything else as JSON."),
    "type": (TEXT, "`string`, `number`, `boolean`, `array`, `object` or `null`."),
    "values": (_values, "The values of an object."),
}


_ARITHMETIC = frozenset({"abs", "avg", "ceil", "floor", "max", "min", "sum"})
"""The package's functions of numbers, which give null for null here; with the package it is an error."""


def _null_through(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda value: None if value is None else call(value)


def _null_through_shape(result: Shape | ResultOf) -> ResultOf:
    def shape_of(arguments: tuple[Shape, ...]) -> Shape:
        given = strip(arguments[0])
        is_doubtful = may_be_null(arguments[0]) or (isinstance(given, ListOf) and may_be_null(given.item))
        shape = result(arguments) if callable(result) else result
        return maybe(shape) if is_doubtful else shape

    return shape_of


def describe_builtins() -> dict[str, Function]:
    """Every function of the package by name, with our description where there is one."""
    found = {}
    for name, entry in sorted(Functions.FUNCTION_TABLE.items()):
        result, doc = _DESCRIBED.get(name, (ANY, ""))
        call = getattr(_PACKAGE, f"_func_{name}")
        kinds = [to_kind(parameter["types"]) for parameter in entry["signature"]]
        if name in _ARITHMETIC:
            kinds, call, result = (
                [f"nullable {kind}" for kind in kinds],
                _null_through(call),
                _null_through_shape(result),
            )
        found[name] = Function(
            name=name,
            parameters=tuple(kinds),
            variadic=any(parameter.get("variadic", False) for parameter in entry["signature"]),
            result=result,
            doc=doc,
            call=call,
        )
    return found


# --- Our own functions of numbers, choices and times ------------------------------------------------------------------


def _arithmetic(arguments: tuple[Shape, ...]) -> Shape:
    shape = INTEGER if all(strip(one) == INTEGER for one in arguments) else NUMBER
    return maybe(shape) if any(may_be_null(one) for one in arguments) else shape


def _either(arguments: tuple[Shape, ...]) -> Shape:
    return join(arguments[1], arguments[2])


@function("nullable number", "nullable number", "nullable number", result=_arithmetic)
def _clamp(number: float | None, low: float | None, high: float | None) -> float | None:
    """The number, or the bound that it is beyond; null gives null."""
    return None if number is None or low is None or high is None else max(low, min(number, high))


@function("any", "any", "any", result=_either)
def _when(condition: Any, then: Any, otherwise: Any) -> Any:
    """The second argument if the first is true as JMESPath sees it, else the third; the other one is not evaluated."""
    return then if truthy(condition) else otherwise


@function("table", "nullable string or number or boolean", result=ANY)
def _lookup(table: Mapping[str, Any], key: Any) -> Any:
    """The entry of a declared table, named literally; null where the key is null or not in the table. Keys are compared
    as texts."""
    return None if key is None else table.get(to_text(key))


@function("nullable number", "nullable number", result=_arithmetic)
def _add(first: float | None, second: float | None) -> float | None:
    """The sum of two numbers; null gives null."""
    return None if first is None or second is None else _finite(first + second)


@function("nullable number", "nullable number", result=_arithmetic)
def _subtract(first: float | None, second: float | None) -> float | None:
    """The first number less the second; null gives null."""
    return None if first is None or second is None else _finite(first - second)


@function("nullable number", "nullable number", result=_arithmetic)
def _multiply(first: float | None, second: float | None) -> float | None:
    """The product of two numbers; null gives null."""
    return None if first is None or second is None else _finite(first * second)


@function("nullable number", result=null_or(TEXT))
def _timestamp(seconds: float | None) -> str | None:
    """Seconds since 1970 as RFC 3339 text in UTC, to the second; null gives null."""
    return None if seconds is None else _moment(seconds).replace(tzinfo=None).isoformat() + "Z"


@function("nullable number", result=null_or(TEXT))
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


FUNCTIONS: Mapping[str, Function] = MappingProxyType({**describe_builtins(), **OWN_FUNCTIONS})
"""Every function by name."""
