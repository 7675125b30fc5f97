"""What is known of a call that has ended: its answer, or how it failed, and the line that a record has of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .desk import Artifact, CallRecord
from .model_values import Row

MOST_FAILED = 50
"""Failed calls that are remembered (the tool contract's figure)."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that failed: when, whose, of which tool, and how; `kind` is the word that clients know."""

    at: float
    owner: str
    tool: str
    kind: str
    provider: str
    message: str


Auditor = Callable[[CallRecord], None]


@dataclass(frozen=True, slots=True)
class Done:
    """An answered call: the answer as JSON text, and what stands beside it in `_meta`."""

    body: str
    meta: dict[str, Any]
    linked: Artifact | None = None
    """Where the whole answer is, when `body` only stands for it."""

    @property
    def answer(self) -> dict[str, Any]:
        """The answer as an object."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


@dataclass(frozen=True, slots=True)
class Fresh:
    """What a plan gave, ready to be kept and told."""

    body: str
    meta: dict[str, Any]
    outcomes: list[Mapping[str, Any]]
    rows: list[Row]
    """What was found, of which the answer may tell less."""
