"""The run-time library of generated code: what an expression does that is no single operation of Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cache
from numbers import Number
from typing import Any

from ..signatures import Function, to_classes, truthy
from .failures import FAILURES, to_error, unordered

ORDER = {"lt": operator.lt, "lte": operator.le, "gt": operator.gt, "gte": operator.ge}
Types = tuple[tuple[int, tuple[type, ...]], ...]
"""Which classes the argument at a position has; a position that is not named takes any."""


def get(value: Any, name: str) -> Any:
    """A field of an object, of a record or of bindings; null of anything else."""
    if value is None:
        return None
    try:
        return value.get(name)
    except AttributeError:
        return None


def path(value: Any, *names: str) -> Any:
    """A field of a field; null where one of them is null or has no fields."""
    for name in names:
        value = value.get(name) if type(value) is dict else get(value, name)
    return value


def item_at(value: Any, position: int) -> Any:
    """The item of a list, from its end for a negative position; null where there is none."""
    if not isinstance(value, list):
        return None
    try:
        return value[position]
    except IndexError:
        return None


def slice_of(value: Any, start: int | None, stop: int | None, step: int | None) -> Any:
    """The part of a list; null of anything else."""
    return value[start:stop:step] if isinstance(value, list) else None


def items_of(value: Any) -> list[Any] | None:
    """A list; null of anything else."""
    return value if isinstance(value, list) else None


def values_of(value: Any) -> list[Any] | None:
    """The values of an object; null of anything else."""
    try:
        return list(value.values())
    except AttributeError:
        return None


def flatten(value: Any) -> list[Any] | None:
    """A list with the items of its lists in their place, one level deep; null of anything else."""
    if not isinstance(value, list):
        return None
    merged: list[Any] = []
    for item in value:
        if isinstance(item, list):
            merged.extend(item)
        else:
            merged.append(item)
    return merged


# Whether a value of another class is a number costs many times as much to ask.
_COMPARED = frozenset({str, int, float})
_NO_NUMBER = frozenset({type(None), bool, str, list, dict})


def is_false(value: Any) -> bool:
    """`!value` as JMESPath has it: every number is true, zero included."""
    if type(value) in _NO_NUMBER:
        return not value
    return not truthy(value) if isinstance(value, bool) or not isinstance(value, Number) else False


def equals(left: Any, right: Any) -> bool:
    """Equality as JMESPath has it: neither is true one, nor false zero, which Python takes for equal."""
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)


def order(sign: str, left: Any, right: Any) -> bool | None:
    """The comparison of two numbers or two texts; null where one is neither."""
    for value in (left, right):
        if type(value) not in _COMPARED and not _is_comparable(value):
            return None
    try:
        return bool(ORDER[sign](left, right))
    except TypeError as error:
        raise unordered(sign) from error


def _is_comparable(value: Any) -> bool:
    return isinstance(value, (str, Number)) and not isinstance(value, bool)


class Applied:
    """An expression that a function applies to items, as the functions of the `jmespath` package take it."""

    __slots__ = ("expression",)

    def __init__(self, expression: Callable[[Any], Any]) -> None:
        self.expression = expression

    def visit(self, run: Callable[[Any], Any], value: Any) -> Any:
        """The expression's value for one item."""
        return run(value)


# The package knows an expression by the name of its class.
Applied.__name__ = "_Expression"


def find_types(function: Function, applied: tuple[bool, ...]) -> Types | None:
    """The classes of the arguments of a call in which those that are `applied` are expressions; None if one has more
    to it than its class."""
    found: list[tuple[int, tuple[type, ...]]] = []
    for position, kind in enumerate(function.parameters):
        if kind == "expref" and applied[position]:
            continue
        types = to_classes(kind)
        if types is None:
            return None
        if types:
            found.append((position, types))
    return tuple(found)


@cache
def check_function(name: str, *applied: bool) -> Callable[..., Any]:
    """The function of the registry as expressions call it, which says in one line what it cannot take.

    `applied` says of each argument whether it is an expression. Arguments whose classes leave a doubt are checked by
    the package.
    """
    from ..functions.registry import FUNCTIONS

    function = FUNCTIONS[name]
    types, call = find_types(function, applied), function.call

    def run(*arguments: Any) -> Any:
        if types is None:
            return _call_checked(name, arguments)
        for position, classes in types:
            if type(arguments[position]) not in classes:
                return _call_checked(name, arguments)
        try:
            return call(*arguments)
        except FAILURES as error:
            raise to_error(name, list(arguments), error) from error

    return run


def check_lookup(name: str, table: Mapping[str, Any]) -> Callable[[Any], Any]:
    """`lookup` in one table, whose keys are texts."""
    from ..functions.registry import FUNCTIONS

    call, classes = FUNCTIONS["lookup"].call, to_classes(FUNCTIONS["lookup"].parameters[1]) or ()

    def run(key: Any) -> Any:
        if type(key) not in classes:
            return _call_checked("lookup", (name, key), {name: table})
        try:
            return call(table, key)
        except FAILURES as error:
            raise to_error("lookup", [table, key], error) from error

    return run


def _call_checked(name: str, arguments: tuple[Any, ...], tables: Mapping[str, Mapping[str, Any]] | None = None) -> Any:
    from .calls import SpecFunctions

    return SpecFunctions(tables or {}).call_function(name, list(arguments))
