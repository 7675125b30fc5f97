"""The tree of a spec: every key and every value knows its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .diagnostics import Place

Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value: text, a number, true, false or null."""

    value: Plain
    place: Place
    verbatim: bool = False
    """The text stands on one line exactly as written, so an offset into it is an offset into the line."""
    shift: int = 0

    def at(self, offset: int, width: int = 1) -> Place:
        """The place of a character inside the text; the start where the text was folded or escaped."""
        if not self.verbatim:
            return self.place
        return Place(self.place.file, self.place.line, self.place.column + self.shift + offset, width)


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of values."""

    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping with its value."""

    key: str
    place: Place
    value: Node


@dataclass(frozen=True, slots=True)
class Map:
    """A mapping, in the order it was written."""

    entries: Mapping[str, Entry]
    place: Place

    def get(self, key: str) -> Node | None:
        """The value of a key, or None."""
        entry = self.entries.get(key)
        return entry.value if entry else None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def __contains__(self, key: str) -> bool:
        return key in self.entries


Node = Scalar | Listing | Map


def to_plain(node: Node | None) -> Any:
    """The value without places, as `json.loads` would give it."""
    if node is None:
        return None
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Listing):
        return [to_plain(item) for item in node.items]
    return {entry.key: to_plain(entry.value) for entry in node}
