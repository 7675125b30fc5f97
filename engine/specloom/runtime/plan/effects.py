"""What a plan asks for and what it is told: whom to ask, who can be asked, and what came of it all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specloom.core import Fault
from specloom.model import Row
from specloom.plugins import ProcedureFunction


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask one provider: its answer, or its fault, is wanted."""

    provider: str
    operation: str
    arguments: Mapping[str, Any]
    again: bool = False


@dataclass(frozen=True, slots=True)
class AskAll:
    """Ask several at once; one answer or fault for each is wanted, in order.

    `optional` is what only adds to rows that are there already: who takes long over it is not waited for.
    """

    asks: tuple[Ask, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Run a procedure, or reach into a collection: the record of it, or its fault, is wanted."""

    procedure: str
    parameters: Mapping[str, Any]
    function: ProcedureFunction


@dataclass(frozen=True, slots=True)
class Offer:
    """Who can be asked: per capability the configured providers in order, and the configured ones by name."""

    orders: Mapping[str, tuple[str, ...]]
    configured: frozenset[str]
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each provider that is not configured the variables to set."""
    resting: frozenset[str] = frozenset()
    """Providers whose breaker is open; they are not suggested."""
    unmet: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Per capability those who were put into its route and are not configured."""


@dataclass(slots=True)
class ProviderOutcome:
    """What a plan gave, and how."""

    answer: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    served_by: str = ""
    operation: str = ""
    """The operation of the provider that answered."""
    tried: list[str] = field(default_factory=list)
    failed: list[Fault] = field(default_factory=list)
    """How those failed of whom it was asked in vain, in that order."""
    fallback_reason: str = ""
    explicit: bool = False
    """The caller named the provider, so there was nothing to route."""
    meta: dict[str, Any] = field(default_factory=dict)
    keep: bool = True
    """The spec allows this answer to be cached."""
    notes: list[str] = field(default_factory=list)
    partial: bool = False
    """Something is left out that may be there again soon."""
