"""What a function of the expression language is: its name, what it takes, what it gives, and its examples.

A parameter is a kind: `any`, `string`, `number`, `boolean`, `array`, `object`, `expref` or `table` (the literal name of
a declared table); `array of string`; several with `or`; `nullable` in front where null is welcome.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from specloom.core import Secret, dataclass, load_table

from .types import (
    BOOLEAN,
    INTEGER,
    NOTHING,
    NULL,
    NUMBER,
    TEXT,
    Any_,
    Choice,
    ListOf,
    Maybe,
    RecordType,
    Shape,
    may_be_null,
    maybe,
)

ResultOf = Callable[[tuple[Shape, ...]], Shape]


@cache
def read_examples(kind: str) -> dict[str, list[list[Any]]]:
    """The examples of `functions` or of `converters`, by name; for pages and tests."""
    examples: dict[str, list[list[Any]]] = load_table(__file__, "examples.yaml")[kind]
    return examples


@dataclass(frozen=True, slots=True)
class Function:
    """A function: `call` does the work on checked arguments; `result` is a shape, or makes one from theirs."""

    name: str
    parameters: tuple[str, ...]
    result: Shape | ResultOf
    doc: str
    call: Callable[..., Any]
    variadic: bool = False

    @property
    def examples(self) -> list[list[Any]]:
        """Expressions that call it, each with its value."""
        return read_examples("functions").get(self.name, [])

    def result_for(self, arguments: tuple[Shape, ...]) -> Shape:
        """The shape of the result for arguments of these shapes."""
        return self.result(arguments) if callable(self.result) else self.result

    def kind_of(self, position: int) -> str:
        """The kind of the parameter that takes the argument at this position."""
        return self.parameters[min(position, len(self.parameters) - 1)]

    def takes(self, count: int) -> bool:
        """Whether the function can be called with this many arguments."""
        return count >= len(self.parameters) if self.variadic else count == len(self.parameters)


def to_types(kind: str) -> list[str]:
    """The kind as the type names of the `jmespath` package; empty means no check."""
    if kind == "any":
        return []
    if kind == "table":
        return ["string"]
    bare = kind.removeprefix("nullable ")
    types = [word.replace("array of ", "array-") for word in bare.split(" or ")]
    return [*types, "null"] if bare != kind else types


_CLASSES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "string": (str,),
        "number": (int, float),
        "boolean": (bool,),
        "array": (list,),
        "object": (dict,),
        "null": (type(None),),
    }
)


@cache
def to_classes(kind: str) -> tuple[type, ...] | None:
    """The classes that values of the kind have, the same object each time; empty: any; None: a class does not tell."""
    types = to_types(kind)
    if any(word not in _CLASSES for word in types):
        return None
    return tuple(one for word in types for one in _CLASSES[word])


def to_kind(types: list[str]) -> str:
    """The type names of the `jmespath` package as a kind."""
    return " or ".join(word.replace("array-", "array of ") for word in types) or "any"


def admits(kind: str, shape: Shape) -> bool:
    """Whether some value of the shape is welcome at a parameter of this kind; only a certain mismatch is refused."""
    types = to_types(kind)
    if not types or isinstance(shape, Any_) or shape == NOTHING:
        return True
    if isinstance(shape, Maybe):
        return admits(kind, shape.shape)
    if not isinstance(shape, ListOf):
        return _type_of(shape) in types
    items = [word.removeprefix("array-") for word in types if word.startswith("array-")]
    return "array" in types or any(admits(item, shape.item) for item in items)


def _type_of(shape: Shape) -> str:
    if isinstance(shape, RecordType):
        return "object"
    if isinstance(shape, Choice) or shape == TEXT:
        return "string"
    if shape in (INTEGER, NUMBER):
        return "number"
    return "boolean" if shape == BOOLEAN else "null" if shape == NULL else "secret"


# --- How a function enters the registry, and what functions of all kinds share ----------------------------------------


OWN_FUNCTIONS: dict[str, Function] = {}
"""What is no function of JMESPath itself, by name."""


def function(*parameters: str, result: Shape | ResultOf) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function under its own name and with its own docstring."""

    def register(call: Callable[..., Any]) -> Callable[..., Any]:
        name = call.__name__.strip("_")
        doc = " ".join((call.__doc__ or "").split())
        OWN_FUNCTIONS[name] = Function(name, parameters, result, doc, call)
        return call

    return register


def truthy(value: Any) -> bool:
    """Truth as in JMESPath: null, false and the empty text, list, object or secret are false; zero is true."""
    if value is None or value is False or value is True:
        return value is True
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


MAX_MADE = 20_000_000
"""Characters of a text that a function makes; the largest answer that is read has 8 MB."""


def limit_text(length: int) -> None:
    """Refuse a text that would be longer than an expression may make; raises ValueError."""
    if length > MAX_MADE:
        raise ValueError(f"a text of {length:,} characters; {MAX_MADE:,} are allowed")


def null_or(shape: Shape) -> ResultOf:
    """The result of a function that hands null through."""
    return lambda arguments: maybe(shape) if may_be_null(arguments[0]) else shape
