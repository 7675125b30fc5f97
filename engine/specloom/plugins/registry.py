"""Registered Python that a plan may call by name: the only door from specs to hand-written domain code.

A package announces itself under the entry-point group `specloom.plugins.registry`; importing it registers its hooks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from specloom.core import Fault

    from .collections import CollectionNeed, Collections
    from .context import Context


Row = dict[str, Any]
HookFunction = Callable[[list[Row], Mapping[str, Any]], list[Row]]
ProcedureFunction = Callable[["Context", Mapping[str, Any]], Awaitable[Row]]

GROUP = "specloom.hooks"


@dataclass(frozen=True, slots=True)
class Hook:
    """A named stage over rows: what it takes (`parameters`), what it adds to a row (`adds`), and what it does (`doc`).

    `parameters` and `adds` map a name to a draft-07 JSON Schema; a field in `adds` may be left out of a row.
    """

    name: str
    function: HookFunction
    parameters: Mapping[str, Mapping[str, Any]]
    adds: Mapping[str, Mapping[str, Any]]
    reads: tuple[str, ...]
    doc: str


HOOKS: dict[str, Hook] = {}


def hook(
    name: str,
    *,
    parameters: Mapping[str, Mapping[str, Any]],
    adds: Mapping[str, Mapping[str, Any]],
    reads: tuple[str, ...],
) -> Callable[[HookFunction], HookFunction]:
    """Register a function `(rows, arguments) -> rows` under a name; its docstring is its documentation."""

    def register(function: HookFunction) -> HookFunction:
        if name in HOOKS and HOOKS[name].function is not function:
            raise ValueError(f"a hook named {name!r} is registered already")
        doc = (function.__doc__ or "").strip()
        HOOKS[name] = Hook(name, function, dict(parameters), dict(adds), reads, doc)
        return function

    return register


@dataclass(frozen=True, slots=True)
class Procedure:
    """A named piece of domain work that asks, reads or keeps as it goes along, and gives one record: the `result`.

    `parameters` maps a name to a draft-07 JSON Schema, `gives` is the schema of the record. `asks` names the
    capabilities that it may ask and `runs` the procedures that it may run, so that routing, dry runs and pages know.
    `settings` are declared as under `config` of a tool, and become settings of every tool that runs it. `keeps` says
    which collections it opens, and what it relies on in them. `needs` names the parameters that a plan has to pass.
    """

    name: str
    function: ProcedureFunction
    parameters: Mapping[str, Mapping[str, Any]]
    gives: Mapping[str, Any]
    asks: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    keeps: tuple[CollectionNeed, ...] = ()
    doc: str = ""
    needs: tuple[str, ...] = ()


PROCEDURES: dict[str, Procedure] = {}


def procedure(
    name: str,
    *,
    parameters: Mapping[str, Mapping[str, Any]],
    gives: Mapping[str, Any],
    asks: tuple[str, ...] = (),
    runs: tuple[str, ...] = (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    keeps: tuple[CollectionNeed, ...] = (),
    needs: tuple[str, ...] = (),
) -> Callable[[ProcedureFunction], ProcedureFunction]:
    """Register an async function `(context, parameters) -> record` under a name; its docstring is its documentation."""

    def register(function: ProcedureFunction) -> ProcedureFunction:
        if name in PROCEDURES and PROCEDURES[name].function is not function:
            raise ValueError(f"a procedure named {name!r} is registered already")
        doc = (function.__doc__ or "").strip()
        PROCEDURES[name] = Procedure(
            name, function, dict(parameters), dict(gives), asks, runs, dict(settings or {}), keeps, doc, needs
        )
        return function

    return register


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """A call that was answered or failed: whose, of which tool, in which research session, and what it found."""

    owner: str
    tool: str
    session: str
    kind: str
    """What kind of source the rows are; empty for a tool whose rows are none."""
    rows: list[Row]
    outcomes: list[Mapping[str, Any]]
    """Who was asked and how that ended: `provider`, and `error` and `url` where there are any."""
    at: float
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Observer:
    """Registered Python that remembers calls: those with a session, or with the setting `every` switched on, all."""

    function: Callable[[Collections, ObservedCall], Awaitable[None]]
    settings: Mapping[str, Mapping[str, Any]]
    every: str = ""
    keeps: tuple[CollectionNeed, ...] = ()


OBSERVERS: list[Observer] = []


def observer(
    *, settings: Mapping[str, Mapping[str, Any]] | None = None, every: str = "", keeps: tuple[CollectionNeed, ...] = ()
) -> Callable[
    [Callable[[Collections, ObservedCall], Awaitable[None]]], Callable[[Collections, ObservedCall], Awaitable[None]]
]:
    """Register an async function `(drawers, seen)`; its faults are nobody's, so they are dropped."""

    def register(
        function: Callable[[Collections, ObservedCall], Awaitable[None]],
    ) -> Callable[[Collections, ObservedCall], Awaitable[None]]:
        OBSERVERS.append(Observer(function, dict(settings or {}), every, keeps))
        return function

    return register


EnvelopeFunction = Callable[["Fault", Mapping[str, Any]], Row]


@dataclass(frozen=True, slots=True)
class Envelope:
    """How a fault is told as an ordinary answer: a function of fault and raw arguments, and the keys that it gives."""

    name: str
    function: EnvelopeFunction
    gives: Mapping[str, Mapping[str, Any]]
    doc: str = ""


ENVELOPES: dict[str, Envelope] = {}


def envelope(name: str, *, gives: Mapping[str, Mapping[str, Any]]) -> Callable[[EnvelopeFunction], EnvelopeFunction]:
    """Register a function `(fault, arguments) -> answer` for tools whose failures are answers and no protocol errors.

    `gives` maps each key of such an answer to a draft-07 JSON Schema.
    """

    def register(function: EnvelopeFunction) -> EnvelopeFunction:
        if name in ENVELOPES and ENVELOPES[name].function is not function:
            raise ValueError(f"an envelope named {name!r} is registered already")
        ENVELOPES[name] = Envelope(name, function, dict(gives), (function.__doc__ or "").strip())
        return function

    return register


@dataclass(frozen=True, slots=True)
class StoragePlace:
    """Where a package keeps things on disk: how it is found, what names another, and what holds if it is no use."""

    find: Callable[[Mapping[str, str]], Path]
    variable: str
    otherwise: str
    is_file: bool = False
    verify: Callable[[Path], tuple[int, str]] | None = None
    """For a hash-chained log: how many rows hold, and what is wrong with the next one."""


PLACES: dict[str, StoragePlace] = {}
"""What packages keep on disk, by what it is called; who looks after an installation looks whether it can be written."""

CLOSERS: list[Callable[[], Awaitable[None]]] = []
"""What ends what procedures have started, browsers for one; every executor calls all of it when it is closed."""


def load_hooks() -> Mapping[str, Hook]:
    """Every registered hook, after importing each package that announces some; procedures are registered with them."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        entry.load()
    return HOOKS
