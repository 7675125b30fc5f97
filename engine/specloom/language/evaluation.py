"""Expressions evaluated: what names stand for, values in a context, and what counts as true, as many and as nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from specloom.core import Fault, Place

from .expressions.failures import EvaluationError

# --- Bindings: what the names in an expression stand for when it is evaluated (its environment) -----------------------


class Bindings(Protocol):
    """What an expression may name: a typed record of a run, or a plain dictionary."""

    def get(self, name: str, /) -> Any:
        """What a name stands for; None for one that is not bound."""


class RunBindings:
    """Bindings that are the fields of a record, by the names that specs use."""

    __slots__ = ()

    def get(self, name: str, /) -> Any:
        """What an expression's name stands for; the compiler lets none through that is not there."""
        return getattr(self, name, None)


class Layer:
    """Further names over other bindings, such as the row that is looked at; the bindings below stay as they are."""

    __slots__ = ("_below", "_names")

    def __init__(self, below: Bindings, **names: Any) -> None:
        self._below = below
        self._names = names

    def get(self, name: str, /) -> Any:
        """What a name stands for here, else below."""
        return self._names[name] if name in self._names else self._below.get(name)


# --- Values and mappings in a context ---------------------------------------------------------------------------------


MISSING: tuple[Any, ...] = (None, "", [], {})
"""What counts as nothing found. Zero and false are values."""


class Evaluable(Protocol):
    """What has a value in a context, and a place in a spec: a compiled constant, expression, or tree of both."""

    @property
    def evaluate(self) -> Callable[[Bindings], Any]:
        """The value in a context; raises EvaluationError."""

    @property
    def place(self) -> Place:
        """Where a spec says it."""


class Unworkable(Fault):
    """A spec cannot be worked out with the values that there are: its defect, unless they came from an upstream."""

    def __init__(self, why: object, place: object) -> None:
        super().__init__("internal", f"a spec cannot be worked out here: {why}", detail=str(place))
        self.why = f"{why} ({place})" if str(place) else str(why)


def evaluate(value: Evaluable, context: Bindings) -> Any:
    """The value in this context; raises Unworkable for an expression that does not take what it is given."""
    try:
        return value.evaluate(context)
    except EvaluationError as error:
        raise Unworkable(error, value.place) from None


def build(pairs: Iterable[tuple[str, Evaluable]], context: Bindings) -> dict[str, Any]:
    """The mapping in this context; a key whose value is null is left out."""
    found = ((key, evaluate(value, context)) for key, value in pairs)
    return {key: value for key, value in found if value is not None}


def how_many(value: Evaluable | None, context: Bindings) -> int | None:
    """The number of a `take`; None where nothing is cut."""
    most = evaluate(value, context) if value is not None else None
    if most is None:
        return None
    if isinstance(most, bool) or not isinstance(most, (int, float)):
        raise Unworkable("rows are cut by something that is no number", value.place if value else "")
    return max(0, int(most))


def as_list(value: Any) -> list[Any]:
    """A list as it is without nulls, nothing as an empty list, anything else as a list of one."""
    if value is None:
        return []
    if isinstance(value, list):
        return [one for one in value if one is not None]
    return [value]
