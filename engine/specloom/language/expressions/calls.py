"""Calls of functions whose arguments the `jmespath` package checks: where their classes leave a doubt, or are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jmespath.functions import Functions

from ..functions.registry import FUNCTIONS
from ..signatures import Function, to_text, to_types
from .failures import FAILURES, to_error


def to_entry(function: Function) -> dict[str, Any]:
    """The function as an entry of the package's function table."""
    signature: list[dict[str, Any]] = [{"types": to_types(kind)} for kind in function.parameters]
    if function.variadic:
        signature[-1]["variadic"] = True
    return {"function": lambda _, *arguments: function.call(*arguments), "signature": tuple(signature)}


def _has_no_number(name: str, arguments: list[Any]) -> bool:
    """Whether a function of the numbers of a list, of which null is null, gets null or a list with null in it."""
    function = FUNCTIONS.get(name)
    if function is None or len(arguments) != 1 or not function.parameters[0].startswith("nullable array of "):
        return False
    return arguments[0] is None or (isinstance(arguments[0], list) and None in arguments[0])


class SpecFunctions(Functions):
    """The package's function caller over our registry and the declared tables."""

    def __init__(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        self.tables = {name: {to_text(key): value for key, value in table.items()} for name, table in tables.items()}

    def call_function(self, function_name: str, resolved_args: Any) -> Any:
        """The result of the call; every failure is an `EvaluationError`."""
        arguments = list(resolved_args)
        if _has_no_number(function_name, arguments):
            return None
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
