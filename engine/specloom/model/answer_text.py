"""How an answer reads as Markdown: lines with values in them, lines for each item of a list, and texts as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from specloom.core import dataclass

from .values import Value


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One line: pieces between separators, each of fixed text and values in order.

    A piece that has values and of them nothing is left out, and so is a line of such pieces.
    """

    pieces: tuple[tuple[str | Value, ...], ...]
    indent: str = ""
    """The blanks that it begins with."""


@dataclass(frozen=True, slots=True)
class AnswerBody:
    """Markdown over several lines, told as it is."""

    value: Value


@dataclass(frozen=True, slots=True)
class AnswerWindow:
    """The beginning of a long text, as much as the budget has room for; its lines see it as `window`."""

    value: Value
    source: Value
    """The address under which a reader has the whole."""
    lines: tuple[AnswerPart, ...]


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """Lines that are told where `when` holds: once, or for each item of a list."""

    lines: tuple[AnswerPart, ...]
    each: Value | None = None
    when: Value | None = None


SEPARATOR = " \u00b7 "
"""What stands between the pieces of a line."""
AnswerPart: TypeAlias = AnswerLine | AnswerBody | AnswerWindow | AnswerGroup


def has_window(parts: Iterable[AnswerPart]) -> bool:
    """Whether a text has a window, which gives way to the rest of it."""
    return any(
        isinstance(part, AnswerWindow) or (isinstance(part, AnswerGroup) and has_window(part.lines)) for part in parts
    )
