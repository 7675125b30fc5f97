"""How expressions fail: one exception with one line, whichever way they are carried out."""

from __future__ import annotations

from typing import Any

FAILURES = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)
"""What functions raise on values that they cannot take; `JMESPathError` is a `ValueError`."""
_ORDER_SIGNS = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_TYPES = {bool: "a boolean", int: "a number", float: "a number", str: "the text", list: "a list", dict: "an object"}


class EvaluationError(Exception):
    """An expression met a value it cannot take: `message` is one line, `text` the expression."""

    def __init__(self, text: str, message: str) -> None:
        super().__init__(f"{message}, in: {text}" if text else message)
        self.text = text
        self.message = message


CAUGHT = (EvaluationError, RecursionError, *FAILURES)
"""What an expression may raise while it is carried out."""


def name_expression(text: str, error: BaseException) -> EvaluationError:
    """The failure of an expression, with its text, of whatever was raised while it was carried out."""
    if isinstance(error, EvaluationError):
        return EvaluationError(text, error.message)
    if isinstance(error, RecursionError):
        return EvaluationError(text, "the value or the expression is nested too deeply")
    return EvaluationError(text, f"the expression failed ({first_line(error)})")


def to_error(name: str, arguments: list[Any], error: Exception) -> EvaluationError:
    """The failure of a function, naming it and what it got."""
    from jmespath.exceptions import JMESPathTypeError, UnknownFunctionError

    if isinstance(error, UnknownFunctionError):
        return EvaluationError("", f"there is no function {name}()")
    if isinstance(error, JMESPathTypeError):
        wanted = " or ".join(word.replace("array-", "array of ") for word in error.expected_types)
        return EvaluationError("", f"{name}() takes {wanted}, and got {show(error.current_value)}")
    got = ", ".join(show(argument) for argument in arguments) or "nothing"
    return EvaluationError("", f"{name}() cannot take {got} ({first_line(error)})")


def unordered(operator: str) -> EvaluationError:
    """The failure to order a text and a number."""
    return EvaluationError("", f"'{_ORDER_SIGNS[operator]}' compares two numbers or two texts, and got one of each")


def first_line(error: BaseException) -> str:
    """The first line of an error's text."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def show(value: Any) -> str:
    """The kind of a value and, where it is short, the value."""
    if value is None:
        return "null"
    name = _TYPES.get(type(value), f"a {type(value).__name__.strip('_').lower()}")
    if isinstance(value, (list, dict)):
        return f"{name} of {len(value)}"
    text = repr(value)
    return f"{name} {text if len(text) <= 60 else text[:57] + '…'}"
