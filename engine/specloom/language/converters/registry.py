"""Converters: named steps that turn a selected value into the value a row wants.

None stays None, an empty text counts as None, and a value that cannot be converted becomes None: data never raises.
A list is converted item by item, leaving out what became None, unless the converter is about lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from .converter import Converter, Kind, Moment, Parameter, to_text
from .numbers import OF_LISTS, OF_NUMBERS
from .text import OF_ADDRESSES, OF_TEXTS

Step: TypeAlias = "Callable[[Any, Moment], Any]"

CONVERTERS: Final[Mapping[str, Converter]] = MappingProxyType({**OF_TEXTS, **OF_LISTS, **OF_ADDRESSES, **OF_NUMBERS})
"""Every converter by the name it has in `then`."""


class ConverterProblem(Exception):  # noqa: N818 - it becomes a diagnostic, which is not an error of the program
    """A converter that cannot be used: E209 there is none of that name, E210 its parameters are wrong."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


def compile_converter(name: str, params: Any) -> Step:
    """The conversion with its parameters bound; a problem in either is raised as ConverterProblem."""
    converter = CONVERTERS.get(name)
    if converter is None:
        near = get_close_matches(str(name), CONVERTERS, n=1)
        raise ConverterProblem("E209", f"unknown converter {name!r}", f'did you mean "{near[0]}"?' if near else "")
    function, bound = converter.function, _bind(converter, params)
    if converter.takes == "list":
        return lambda value, moment: None if value is None else function(_to_list(value), moment, *bound)
    flatten = converter.returns == "list"

    def one(value: Any, moment: Moment) -> Any:
        if converter.takes == "text" and (value := to_text(value)) is None:
            return None
        return function(value, moment, *bound)

    def step(value: Any, moment: Moment) -> Any:
        if value is None or value == "":
            return None
        if not isinstance(value, list):
            return one(value, moment)
        found = [made for item in value if (made := step(item, moment)) is not None]
        return [inner for outer in found for inner in outer] if flatten else found

    return step


def _to_list(value: Any) -> list[Any]:
    return [item for item in (value if isinstance(value, list) else [value]) if item is not None and item != ""]


_WANTED: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        "text": "text",
        "size": "a whole number above 0",
        "values": "a value or a list of values",
        "side": "width or height",
        "unit": "seconds or milliseconds",
    }
)


def _fits(kind: Kind, value: Any) -> bool:
    match kind:
        case "text":
            return isinstance(value, str)
        case "size":
            return isinstance(value, int) and not isinstance(value, bool) and value > 0
        case "values":
            values = value if isinstance(value, list) else [value]
            return bool(values) and all(isinstance(item, str | int | float) for item in values)
        case "side":
            return value in ("width", "height")
        case "unit":
            return value in ("seconds", "milliseconds")


def _bind(converter: Converter, params: Any) -> tuple[Any, ...]:
    """The parameters in order, from none, one value, a list or a mapping by name."""
    wanted = converter.parameters
    usage = f"write {converter.name}" if not wanted else f"write {{{converter.name}: {_usage(wanted)}}}"
    if params is None:
        values: list[Any] = []
    elif isinstance(params, Mapping):
        unknown = [name for name in params if name not in {parameter.name for parameter in wanted}]
        if unknown:
            raise ConverterProblem("E210", f"{converter.name} has no parameter {unknown[0]!r}", usage)
        values = [params[parameter.name] for parameter in wanted if parameter.name in params]
    else:
        values = params if isinstance(params, list) and len(wanted) > 1 else [params]
    if len(values) != len(wanted):
        count = {0: "no parameter", 1: "one parameter"}.get(len(wanted), f"{len(wanted)} parameters")
        raise ConverterProblem("E210", f"{converter.name} takes {count}, not {len(values)}", usage)
    for parameter, value in zip(wanted, values, strict=True):
        if not _fits(parameter.kind, value):
            message = f"{converter.name}: {parameter.name} is {_WANTED[parameter.kind]}, not {value!r}"
            raise ConverterProblem("E210", message, usage)
    if converter.name == "replace" and not values[0]:
        raise ConverterProblem("E210", "replace: old is at least one character", usage)
    return tuple(values)


def _usage(wanted: tuple[Parameter, ...]) -> str:
    names = [f"<{parameter.name}: {_WANTED[parameter.kind]}>" for parameter in wanted]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"
