"""The plain JMESPath interpreter with our functions: the meaning that compiled expressions are held to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jmespath.exceptions import JMESPathTypeError, UnknownFunctionError
from jmespath.functions import Functions
from jmespath.visitor import Options, TreeInterpreter

from ..functions.registry import FUNCTIONS
from ..signatures import Function, is_true, to_text, to_types
from .parser import ExpressionProblem, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_ORDER_SIGNS = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_TYPES = {bool: "a boolean", int: "a number", float: "a number", str: "the text", list: "a list", dict: "an object"}
FAILURES = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)
"""What the functions of the package raise on values that they cannot take; `JMESPathError` is a `ValueError`."""


class EvaluationError(Exception):
    """An expression met a value it cannot take: `message` is one line, `text` the expression."""

    def __init__(self, text: str, message: str) -> None:
        super().__init__(f"{message}, in: {text}" if text else message)
        self.text = text
        self.message = message


def to_entry(function: Function) -> dict[str, Any]:
    """The function as an entry of the package's function table."""
    signature: list[dict[str, Any]] = [{"types": to_types(kind)} for kind in function.parameters]
    if function.variadic:
        signature[-1]["variadic"] = True
    return {"function": lambda _, *arguments: function.call(*arguments), "signature": tuple(signature)}


class SpecFunctions(Functions):
    """The package's function caller over our registry and the declared tables."""

    def __init__(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        self.tables = {name: {to_text(key): value for key, value in table.items()} for name, table in tables.items()}

    def call_function(self, function_name: str, resolved_args: Any) -> Any:
        """The result of the call; every failure is an `EvaluationError`."""
        arguments = list(resolved_args)
        try:
            return super().call_function(function_name, arguments)
        except FAILURES as error:
            raise to_error(function_name, arguments, error) from error

    def find_in_table(self, table: Any, key: Any) -> Any:
        """The entry of the table; `lookup` as the package calls it."""
        if table not in self.tables:
            raise ValueError(f"there is no table {table!r}")
        return FUNCTIONS["lookup"].call(self.tables[table], key)


SpecFunctions.FUNCTION_TABLE = {name: to_entry(function) for name, function in FUNCTIONS.items()}
SpecFunctions.FUNCTION_TABLE["lookup"]["function"] = SpecFunctions.find_in_table


class Interpreter(TreeInterpreter):
    """The package's interpreter, which knows secrets, evaluates only one branch of `when`, and fails in one way."""

    def _is_false(self, value: Any) -> bool:
        return not is_true(value)

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        """The result of a call; `when` evaluates the branch that it takes."""
        if node["value"] == "when" and len(node["children"]) == 3:
            condition, then, otherwise = node["children"]
            return self.visit(then if is_true(self.visit(condition, value)) else otherwise, value)
        return super().visit_function_expression(node, value)

    def visit_comparator(self, node: Any, value: Any) -> Any:
        """The comparison; an order of unlike things is an `EvaluationError`."""
        try:
            return super().visit_comparator(node, value)
        except TypeError as error:
            raise unordered(node["value"]) from error


def make_interpreter(functions: SpecFunctions) -> Interpreter:
    """An interpreter that calls these functions."""
    return Interpreter(Options(custom_functions=functions))


def evaluate_reference(text: str, value: Any, tables: Mapping[str, Mapping[str, Any]]) -> Any:
    """What the expression gives when the package interprets it with our functions, without any static check."""
    node = parse(text)
    if isinstance(node, ExpressionProblem):
        raise EvaluationError(text, node.message)
    return guard(text, lambda item: make_interpreter(SpecFunctions(tables)).visit(node, item))(value)  # type: ignore[arg-type]


def guard(text: str, run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same, with every failure an `EvaluationError` that names the expression."""

    def evaluate(value: Any) -> Any:
        try:
            return run(value)
        except EvaluationError as error:
            raise EvaluationError(text, error.message) from error
        except FAILURES as error:
            raise EvaluationError(text, f"the expression failed ({first_line(error)})") from error
        except RecursionError as error:
            raise EvaluationError(text, "the value or the expression is nested too deeply") from error

    return evaluate


def to_error(name: str, arguments: list[Any], error: Exception) -> EvaluationError:
    """The failure of a function, naming it and what it got."""
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


def first_line(error: Exception) -> str:
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
