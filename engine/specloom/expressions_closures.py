"""The closures that compiled expressions are made of, each with the exact meaning of a node of the package's tree."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from numbers import Number
from typing import TYPE_CHECKING, Any

from .expressions_reference import FAILURES, to_error, unordered
from .functions_registry import is_true

if TYPE_CHECKING:
    from .expressions_reference import SpecFunctions

Run = Callable[[Any], Any]
ORDER = {"lt": operator.lt, "lte": operator.le, "gt": operator.gt, "gte": operator.ge}


def _get(value: Any, name: str) -> Any:
    if value is None:
        return None
    try:
        return value.get(name)
    except AttributeError:
        return None


@lru_cache(maxsize=1024)
def make_field(name: str) -> Run:
    def run(value: Any) -> Any:
        return value.get(name) if type(value) is dict else _get(value, name)

    return run


@lru_cache(maxsize=1024)
def make_path(names: tuple[str, ...]) -> Run:
    if len(names) == 2:
        first, second = names

        def run_two(value: Any) -> Any:
            value = value.get(first) if type(value) is dict else _get(value, first)
            return value.get(second) if type(value) is dict else _get(value, second)

        return run_two

    def run(value: Any) -> Any:
        for name in names:
            value = value.get(name) if type(value) is dict else _get(value, name)
        return value

    return run


def make_index(position: int) -> Run:
    def run(value: Any) -> Any:
        if not isinstance(value, list):
            return None
        try:
            return value[position]
        except IndexError:
            return None

    return run


def make_flatten(base: Run) -> Run:
    def run(value: Any) -> Any:
        items = base(value)
        if not isinstance(items, list):
            return None
        merged: list[Any] = []
        for item in items:
            if isinstance(item, list):
                merged.extend(item)
            else:
                merged.append(item)
        return merged

    return run


def make_projection(base: Run, item: Run) -> Run:
    def run(value: Any) -> Any:
        items = base(value)
        if not isinstance(items, list):
            return None
        return [found for element in items if (found := item(element)) is not None]

    return run


def make_value_projection(base: Run, item: Run) -> Run:
    def run(value: Any) -> Any:
        mapping = base(value)
        try:
            items = mapping.values()
        except AttributeError:
            return None
        return [found for element in items if (found := item(element)) is not None]

    return run


def make_filter(base: Run, item: Run, test: Run) -> Run:
    def run(value: Any) -> Any:
        items = base(value)
        if not isinstance(items, list):
            return None
        return [found for element in items if is_true(test(element)) and (found := item(element)) is not None]

    return run


def make_order(first: Run, second: Run, sign: str) -> Run:
    compare = ORDER[sign]

    def run(value: Any) -> Any:
        left, right = first(value), second(value)
        if not (_is_comparable(left) and _is_comparable(right)):
            return None
        try:
            return compare(left, right)
        except TypeError as error:
            raise unordered(sign) from error

    return run


def _is_comparable(value: Any) -> bool:
    return isinstance(value, (str, Number)) and not isinstance(value, bool)


def make_checked_call(functions: SpecFunctions, name: str, runs: tuple[Run, ...]) -> Run:
    def run(value: Any) -> Any:
        return functions.call_function(name, [argument(value) for argument in runs])

    return run


def make_call(
    name: str,
    call: Callable[..., Any],
    runs: tuple[Run, ...],
    checks: tuple[tuple[int, tuple[type, ...]], ...],
    checked: Run,
) -> Run:
    def run(value: Any) -> Any:
        arguments = [argument(value) for argument in runs]
        for position, types in checks:
            if type(arguments[position]) not in types:
                return checked(value)
        try:
            return call(*arguments)
        except FAILURES as error:
            raise to_error(name, arguments, error) from error

    return run
