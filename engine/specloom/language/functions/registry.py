"""The functions that expressions may call: those of JMESPath and our own, in one registry with examples that are run.

Null into a typed parameter is an error, as in JMESPath, except where the description says what null gives.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..signatures import is_true, null_or, registrar, to_text
from ..types import ANY, INTEGER, NUMBER, TEXT, Shape, join, may_be_null, maybe, strip
from .data import DATA
from .jmespath import describe_builtins
from .lists import LISTS
from .strings import TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..signatures import Function


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
