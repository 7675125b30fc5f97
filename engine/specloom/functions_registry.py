"""How a function enters the registry, and what functions of all kinds share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .shapes import Shape, may_be_null, maybe
from .signatures import Function, ResultOf
from .vault import Secret

if TYPE_CHECKING:
    from collections.abc import Callable


def registrar(found: dict[str, Function]) -> Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """The decorator that enters a function into `found`, under its own name and with its own docstring."""

    def function(
        *parameters: str, result: Shape | ResultOf, examples: tuple[tuple[str, Any], ...]
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(call: Callable[..., Any]) -> Callable[..., Any]:
            name = call.__name__.strip("_")
            doc = " ".join((call.__doc__ or "").split())
            found[name] = Function(name, parameters, result, doc, examples, call)
            return call

        return register

    return function


def is_true(value: Any) -> bool:
    """Truth as in JMESPath: null, false and the empty text, list, object or secret are false; zero is true."""
    if value is None or value is False:
        return False
    if isinstance(value, (str, list, dict, Secret)):
        return bool(value)
    return value not in ("", [], {})


def to_text(value: Any) -> str:
    """A value as it is written into a text or compared with a table's key; lists and objects as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def null_or(shape: Shape) -> ResultOf:
    """The result of a function that hands null through."""
    return lambda arguments: maybe(shape) if may_be_null(arguments[0]) else shape
