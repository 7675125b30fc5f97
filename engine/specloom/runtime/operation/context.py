"""The context of one run of an operation: what its expressions may name, and what only the engine uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from specloom.core import Request, Response, Secret
from specloom.language import Moment
from specloom.language.evaluate import evaluate
from specloom.model import Operation, Row

Note = Callable[[Request, Response], None]
Tokens = MutableMapping[str, tuple[Secret, float]]
"""Tokens by provider, with the moment until which they are good, in seconds since the epoch."""


@dataclass(slots=True)
class OperationContext:
    """The bindings of an operation's expressions, by the names that specs use."""

    args: Mapping[str, Any]
    config: Mapping[str, Any]
    now: float
    moment: Moment
    values: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, list[Row] | None] = field(default_factory=dict)
    """The rows of each step that has run; None for one that was left out or failed."""
    page: Any = None
    """The document of the last response."""
    headers: Mapping[str, str] | None = None
    """The headers of the last response; None before there is one."""
    tokens: Tokens = field(default_factory=dict)
    note: Note | None = None
    """Told of each response that could be read."""

    def get(self, name: str, /) -> Any:
        """What an expression's name stands for; the compiler lets none through that is not there."""
        return getattr(self, name, None)


def make_context(
    operation: Operation,
    arguments: Mapping[str, Any],
    config: Mapping[str, Any],
    now: float,
    tokens: Tokens | None = None,
    note: Note | None = None,
) -> OperationContext:
    """The context at the beginning of a run, with the operation's own values worked out."""
    context = OperationContext(
        arguments, config, now, Moment(now, ""), tokens={} if tokens is None else tokens, note=note
    )
    for name, value in operation.values:
        context.values[name] = evaluate(value, context)
    return context
