"""Registered Python that a plan may call by name: the only door from specs to hand-written domain code.

A package announces itself under the entry-point group `specloom.hooks`; importing it registers its hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
HookFunction = Callable[[list[Row], Mapping[str, Any]], list[Row]]

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


def load_hooks() -> Mapping[str, Hook]:
    """Every registered hook, after importing each package that announces some."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        entry.load()
    return HOOKS
