"""Bindings: what the names in an expression stand for when it is evaluated (its environment)."""

from __future__ import annotations

from typing import Any, Protocol


class Bindings(Protocol):
    """What an expression may name: a typed record of a run, or a plain dictionary."""

    def get(self, name: str, /) -> Any:
        """What a name stands for; None for one that is not bound."""


class Layer:
    """Further names over other bindings, such as the row that is looked at; the bindings below stay as they are."""

    __slots__ = ("_below", "_names")

    def __init__(self, below: Bindings, **names: Any) -> None:
        self._below = below
        self._names = names

    def get(self, name: str, /) -> Any:
        """What a name stands for here, else below."""
        return self._names[name] if name in self._names else self._below.get(name)
