"""What the values of one operation or tool use, noted while they are compiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .load_tree import Map, Node
from .model_values import Pair, Uses, Value
from .values import Scope, compile_pairs, compile_text, compile_value, expand


class Tracker:
    """Compiles values and remembers what each of them uses, with what it is in words."""

    def __init__(self) -> None:
        self._found: list[tuple[str, Uses]] = []

    def note(self, what: str, uses: Uses) -> None:
        """Remember that this uses that."""
        self._found.append((what, uses))

    def text(self, what: str, key: str, node: Map, scope: Scope) -> Value | None:
        """The expression under a key of a mapping, if it is there."""
        found = node.get(key)
        return self.expression(what, found, scope) if found is not None else None

    def expression(self, what: str, node: Node, scope: Scope) -> Value | None:
        """The value of a key that always holds an expression."""
        value = compile_text(node, scope)
        if value:
            self.note(what, value.uses)
        return value

    def value(self, what: str, node: Node, scope: Scope) -> Value | None:
        """A request value: constant text, an expression after `=`, or a tree of both."""
        value = compile_value(node, scope)
        if value:
            self.note(what, value.uses)
        return value

    def pairs(self, what: str, node: Node | None, scope: Scope) -> tuple[Pair, ...]:
        """The keys of a mapping with their request values."""
        pairs = compile_pairs(node, scope)
        for _, value in pairs:
            self.note(what, value.uses)
        return pairs

    def absorb(self, other: Tracker) -> Uses:
        """Remember all that another one noted; what that uses."""
        self._found += other._found
        return frozenset(path for _, uses in other._found for path in uses)

    def paths(self, definitions: Mapping[str, Value]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What uses which path, once every values.NAME is replaced by what its definition uses."""
        for what, uses in self._found:
            for path in expand(uses, definitions):
                yield what, path
