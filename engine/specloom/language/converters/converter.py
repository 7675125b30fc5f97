"""What a converter is, and how a function becomes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, Literal, Protocol, TypeAlias

Returns: TypeAlias = Literal["text", "integer", "number", "boolean", "list", "any"]
Takes: TypeAlias = Literal["text", "any", "list"]
Kind: TypeAlias = Literal["text", "size", "values", "side", "unit"]
Example: TypeAlias = tuple[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Moment:
    """When and where a value is read: epoch seconds, and the URL of the page it was found on."""

    now: float
    url: str


EXAMPLE_MOMENT: Final = Moment(1772521200.0, "https://demo.example/find?q=x")
"""The moment in which the examples are true: 2026-03-03T07:00:00Z."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One value a converter needs from the spec; `kind` says which values will do."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Converter:
    """A named conversion; each example is the value, the parameters as YAML has them, and the result."""

    name: str
    function: Callable[..., Any]
    """Takes the value, the moment, and the parameters in order."""
    parameters: tuple[Parameter, ...]
    returns: Returns
    doc: str
    examples: tuple[Example, ...]
    takes: Takes


class Register(Protocol):
    """Registers a function under its name without the trailing underscore; its docstring is the documentation."""

    def __call__(
        self, returns: Returns, *examples: Example, takes: Takes = "text", parameters: tuple[Parameter, ...] = ()
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...


def register_in(registry: dict[str, Converter]) -> Register:
    """The decorator that makes converters of functions and keeps them in this registry, in the order of the file."""

    def converter(
        returns: Returns, *examples: Example, takes: Takes = "text", parameters: tuple[Parameter, ...] = ()
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            name = function.__name__.rstrip("_")
            doc = (function.__doc__ or "").strip()
            registry[name] = Converter(name, function, parameters, returns, doc, examples, takes)
            return function

        return register

    return converter


def to_text(value: Any) -> str | None:
    """A text as it is, a number or a boolean the way JSON writes it; None for everything else and for empty text."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not isfinite(value):
            return None
        return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)
    try:
        return str(value) if isinstance(value, int) else None
    except ValueError:  # more digits than Python writes
        return None
