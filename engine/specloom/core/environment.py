"""The engine's own environment variables, declared in `environment.yaml`; those of a provider or a tool in its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeVar

from .dataclasses import dataclass
from .tables import load_table

Kind = Literal["text", "boolean", "integer", "number", "choice", "duration", "size"]
"""How a text is read: a duration is 5s, 15m or a number of seconds, a size 512KiB, 4MiB or a number of bytes."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable that the engine reads: what it is for, how its text is read, and what holds when it is not set."""

    name: str
    description: str
    kind: Kind = "text"
    default: str | int | float | bool | None = None
    otherwise: str = ""
    """What holds when it is not set, in words, where `default` cannot say it."""
    choices: tuple[str, ...] = ()
    secret: bool = False
    zero: bool = False
    """Whether 0 may be written, which switches off what it limits."""
    least: int = 0
    most: int = 0
    """The bounds of a number, where there are any but that it is above 0."""


MOST_NUMBER = 999_999
"""The highest number of a variable that has no bounds of its own."""
MOST_DIGITS = 12
"""Digits of a number of seconds or bytes; a longer one is a slip."""


class VariableError(ValueError):
    """Variables that cannot be read as their kind, or do not go together: one sentence for each, with what to write."""

    def __str__(self) -> str:
        return "; ".join(map(str, self.args))


T = TypeVar("T")


class VariableProblems:
    """Collects what is wrong with variables, so that all of it is told at once; each sentence stands once."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def attempt(self, read: Callable[[], T], otherwise: T) -> T:
        """What is read, or what takes its place where it cannot be."""
        try:
            return read()
        except VariableError as error:
            self.add(*map(str, error.args))
            return otherwise

    def add(self, *sentences: str) -> None:
        """Add sentences that are not there yet."""
        self.sentences += [one for one in dict.fromkeys(sentences) if one not in self.sentences]


def _load() -> Mapping[str, Variable]:
    return MappingProxyType(
        {
            name: Variable(name, **{**fields, "choices": tuple(fields.get("choices", ()))})
            for name, fields in load_table(__file__, "environment.yaml").items()
        }
    )


VARIABLES = _load()
"""Every variable by name, in the order in which the reference lists them."""


def read_variable(name: str, environ: Mapping[str, str]) -> str | int | float | bool | None:
    """The value of a variable in its kind, or its default when it is not set; a wrong text is a VariableError."""
    variable = VARIABLES[name]
    text = environ.get(name, "").strip()
    if not text and variable.kind in ("duration", "size"):
        text = str(variable.default or "")
    if not text:
        return variable.default
    if variable.kind == "boolean":
        if text.lower() in {"1", "true", "yes", "on"}:
            return True
        if text.lower() in {"0", "false", "no", "off"}:
            return False
        raise VariableError(f"{name} is {text!r}; write true or false")
    if variable.kind == "choice":
        if text.lower() not in variable.choices:
            raise VariableError(f"{name} is {text!r}; write {_or(variable.choices)}")
        return text.lower()
    if variable.kind in ("integer", "number"):
        return _to_number(variable, text)
    if variable.kind in ("duration", "size"):
        return _to_quantity(variable, text)
    return text


def _or(choices: Sequence[str]) -> str:
    return f"one of {', '.join(choices)}" if len(choices) > 1 else f"{choices[0]}, or leave it out"


def _to_number(variable: Variable, text: str) -> int | float:
    try:
        number = int(text) if variable.kind == "integer" else float(text)
    except ValueError:
        number = -1
    least, most = variable.least, variable.most or MOST_NUMBER
    if not (max(least, 0) <= number <= most and number > 0) and not (variable.zero and number == 0):
        wanted = "a whole number" if variable.kind == "integer" else "a number"
        bounds = f"of {least} to {most}" if variable.most else "above 0"
        off = ", or 0 for no limit" if variable.zero else ""
        raise VariableError(f"{variable.name} is {text!r}; write {wanted} {bounds}{off}")
    return number


def _to_quantity(variable: Variable, text: str) -> float:
    from .limits import parse_duration, parse_size  # most that is read here is neither

    parse = parse_duration if variable.kind == "duration" else parse_size
    if text.isascii() and text.isdigit() and len(text) < MOST_DIGITS:
        return int(text)
    try:
        return parse(text)
    except ValueError as error:
        raise VariableError(f"{variable.name}: {error}") from None
