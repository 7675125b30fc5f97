"""The books that are kept while an expression is followed: what was read, what is wrong, and what may not go where."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from .expressions_parse import Problem
from .shapes import ANY, SECRET, Shape, holds_secret, strip

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Path = tuple[str, ...]
Item = TypeVar("Item")

WHOLE_ROOTS = frozenset({"args", "config", "steps", "values", "route", "providers"})
"""Roots that only group named values; one as a whole would hide what an expression depends on."""


@lru_cache(maxsize=4096)
def share(found: frozenset[Item]) -> frozenset[Item]:
    """One set in place of all that are equal to it: each takes 200 bytes, and of the thousands kept most are empty."""
    return found


class Position(Enum):
    """What becomes of a value: it is returned, only tested for truth, used, or handed on to the next part."""

    RESULT = "result"
    TEST = "test"
    USE = "use"
    HANDED_ON = "handed on"


@dataclass(frozen=True, slots=True)
class Value:
    """A shape and, where the value is read and not made, the path it is read from."""

    shape: Shape
    path: Path | None = None


UNKNOWN = Value(ANY)
"""A value of which nothing is known, and that causes no further problems."""


class Walk:
    """The state of one walk over one expression; `problems`, `reads` and `tables` fill up on the way."""

    def __init__(self, context: Shape, tables: Mapping[str, Mapping[str, Any]], *, rooted: bool) -> None:
        self.context = context
        self.declared = tables
        self.rooted = rooted
        self.problems: dict[tuple[str, int, str], Problem] = {}
        self.reads: list[Path] = []
        self.tables: set[str] = set()

    def uses(self) -> frozenset[Path]:
        """The paths read, without those below another one."""
        found = set(self.reads)
        return share(frozenset(path for path in found if not any(path[:end] in found for end in range(len(path)))))

    def report(self, code: str, message: str, hint: str, offset: int) -> Value:
        """Notes a problem, and gives a value that causes no further ones."""
        self.problems.setdefault((code, offset, message), Problem(code, message, hint, offset))
        return UNKNOWN

    def consume(self, value: Value, position: Position, at: int) -> Value:
        """Notes that the value is read here, or why it may not be."""
        if position is Position.HANDED_ON:
            return value
        if self.rooted and value.path is not None:
            if not value.path:
                return self.report("E206", "'@' is the whole context here", "name the value that is meant", at)
            if len(value.path) == 1 and value.path[0] in WHOLE_ROOTS:
                return self.report_root(value.path[0], at)
        refused = strip(value.shape) != SECRET if position is Position.RESULT else position is Position.USE
        if refused and holds_secret(value.shape):
            return self.report_secret(at)
        if value.path is not None:
            self.reads.append(value.path)
        return value

    def report_root(self, root: str, at: int) -> Value:
        """Refuses a root as a whole (E206)."""
        return self.report(
            "E206", f"'{root}' as a whole hides what is used of it", f"name a value, like {root}.name", at
        )

    def report_secret(self, at: int) -> Value:
        """Refuses a secret in another value (E207)."""
        hint = "send it alone, or only test it: when(config.KEY, …, …), !(config.KEY)"
        return self.report("E207", "a secret may not be part of another value", hint, at)

    def within(self, base: Value, inner: Callable[[], Value]) -> Value:
        """What `inner` gives, which sees `base` as `@`; notes the base as read unless something below it was."""
        mark = len(self.reads)
        value = inner()
        path = base.path
        if path is not None and (path or not self.rooted):
            below = self.reads[mark:] if value.path is None else [*self.reads[mark:], value.path]
            if not any(read[: len(path)] == path for read in below):
                self.reads.append(path)
        return value

    def report_name(self, name: str, known: Mapping[str, Any], at: int) -> Value:
        """Refuses an unknown name (E202)."""
        return self.report("E202", f"unknown name '{name}'", suggest(name, known), at)


def suggest(name: str, known: Mapping[str, Any]) -> str:
    """The nearest known name as a question, or the known names."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.6)
    if close:
        return f'did you mean "{close[0]}"?'
    names = sorted(known)
    listed = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"known: {listed}" if names else "none is declared"
