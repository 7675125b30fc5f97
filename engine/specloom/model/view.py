"""How a tool fills the slots of a view: each is a value, or rows that are mapped. Only data."""

from __future__ import annotations

from specloom.core import dataclass

from .values import Field, Value


@dataclass(frozen=True, slots=True)
class ViewRows:
    """Rows of a slot: those of a list, each mapped to the fields of the slot, where `when` holds."""

    each: Value
    fields: tuple[Field, ...]
    when: Value | None = None


@dataclass(frozen=True, slots=True)
class View:
    """The template by its name, and what fills each slot: a value, or groups of rows one after the other."""

    template: str
    slots: tuple[tuple[str, Value | tuple[ViewRows, ...]], ...]
