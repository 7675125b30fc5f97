"""Parts of an answer: the rows that fit its budget, and a cursor that stands at the first one that does not.

An answer is made and kept whole. A part is cut out of it for each call, and told again from the kept answer where it is
there; the cursor has all that is needed to make it once more where it is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specloom.core import Fault, dataclass, replace
from specloom.model import Model, Tool

from .arguments import Arguments
from .cursor import read_cursor, write_cursor
from .plan import AnswerEnd

END = "\n"
"""What stands between an answer as it is kept and the cursor at its beginning; compact JSON has none."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """A call that goes on within an answer: where that begins, and how many of its rows were told."""

    arguments: Arguments
    """Those by which the whole answer is made, whoever gave it."""
    begin: str
    """The cursor at its beginning."""
    cursor: str
    """That of the call, behind the rows that were told."""
    told: int
    first: Arguments | None = None
    """Where it may be the first answer of a search: those that a search begins with."""

    def is_of(self, begin: str) -> bool:
        """Whether an answer that begins there is the one that is gone on with."""
        return begin == self.begin


def find_continuation(tool: Tool, model: Model, arguments: Arguments) -> Continuation | None:
    """What a call goes on with whose cursor stands within an answer; None for every other call."""
    text = arguments.given.get(tool.cursor.name) if tool.cursor is not None else None
    if tool.cursor is None or not text:
        return None
    cursor = read_cursor(tool, arguments.given, str(text), model)
    if not cursor.told or not tool.cursor.lists:
        return None
    begin = write_cursor(tool, arguments.given, replace(cursor, told=0))
    whole = replace(arguments, given={**arguments.given, tool.cursor.name: begin})
    return Continuation(whole, begin, str(text), cursor.told, _find_first(tool, arguments, cursor))


def _find_first(tool: Tool, arguments: Arguments, cursor: AnswerEnd) -> Arguments | None:
    """The arguments that the search of a cursor began with, where it stands in the first answer of it."""
    assert tool.cursor is not None
    if cursor.offset or cursor.seen or any(at.page or at.skip for _, at in cursor.positions):
        return None
    size, explicit = tool.cursor.size, arguments.explicit - {tool.cursor.name}
    given = {name: value for name, value in arguments.given.items() if name != tool.cursor.name}
    if size and cursor.size is not None and given.get(size) != cursor.size:
        if size in explicit:
            # Who changes the number of rows is told that it stays, which no first answer says.
            return None
        given, explicit = {**given, size: cursor.size}, explicit | {size}
    return replace(arguments, given=given, explicit=explicit)


def join_begin(body: str, begin: str) -> str:
    """An answer as it is kept: with the cursor at its beginning, where it has one."""
    return f"{body}{END}{begin}" if begin else body


def split_begin(kept: str) -> tuple[str, str]:
    """An answer that was kept, and the cursor at its beginning; "" for one without."""
    body, _, begin = kept.partition(END)
    return body, begin


def check_same(tool: Tool, model: Model, call: Continuation, begin: str) -> bool:
    """Whether an answer made anew is the one that is gone on with, and not what follows it.

    Raises `upstream_unavailable` where not all have answered who gave its rows.
    """
    if call.is_of(begin):
        return True
    wanted = read_cursor(tool, call.arguments.given, call.begin, model)
    names = {name for name, _ in wanted.positions}
    answered = {name for name, _ in read_cursor(tool, call.arguments.given, begin, model).positions} if begin else names
    if lacking := sorted(names - answered):
        sentence = f"what is left of this page can only be told where {' and '.join(lacking)} can be asked again"
        raise Fault("upstream_unavailable", f"{sentence}: try again later, or leave the cursor out to begin anew")
    return False


def cut_told(tool: Tool, answer: Mapping[str, Any], told: int) -> dict[str, Any]:
    """The answer without its first rows, which were told before."""
    assert tool.cursor is not None
    return _with_rows(tool, answer, slice(told, None))


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """The rows of an answer from one on, of which as many are told as fit; `begin` is the cursor at that one."""

    tool: Tool
    given: Mapping[str, Any]
    begin: AnswerEnd
    rows: str
    """The key that lists them."""

    @property
    def following(self) -> frozenset[str]:
        """The keys of the answer that follow from how many rows it has."""
        cursor = self.tool.cursor
        assert cursor is not None
        return frozenset({cursor.following, *cursor.more, *cursor.counts, *cursor.columns})

    def restore(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
        """An answer of which lists were cut, with what follows from how many rows it has left."""
        whole = self.take(before, len(after[self.rows]))
        return {**after, **{name: value for name, value in whole.items() if name in self.following}}

    def take(self, answer: Mapping[str, Any], count: int) -> dict[str, Any]:
        """The answer with so many rows, at least one, and the cursor behind them where there are more."""
        cursor = self.tool.cursor
        assert cursor is not None
        count = max(1, count)
        if count >= len(answer[self.rows]):
            return dict(answer)
        end = write_cursor(self.tool, self.given, replace(self.begin, told=self.begin.told + count))
        more = {cursor.following: end, **dict.fromkeys(cursor.more, True)}
        return {**_with_rows(self.tool, answer, slice(count)), **more}


def find_part(
    tool: Tool, model: Model, arguments: Arguments, answer: Mapping[str, Any], begin: str
) -> AnswerPart | None:
    """The part that begins at a cursor; None where its rows cannot be gone on with."""
    rows = find_list(tool, answer)
    if not begin or not rows:
        return None
    return AnswerPart(tool, arguments.given, read_cursor(tool, arguments.given, begin, model), rows)


def find_list(tool: Tool, answer: Mapping[str, Any]) -> str:
    """The key of an answer that lists its rows; "" where none does, several do, or it is empty."""
    names = tool.cursor.lists if tool.cursor is not None else ()
    there = [name for name in names if answer.get(name) is not None]
    return there[0] if len(there) == 1 and answer[there[0]] else ""


def _with_rows(tool: Tool, answer: Mapping[str, Any], which: slice) -> dict[str, Any]:
    """The answer with some of its rows, and with what follows from these."""
    cursor, rows_key = tool.cursor, find_list(tool, answer)
    assert cursor is not None
    if not rows_key:
        return dict(answer)
    rows = answer[rows_key]
    changed: dict[str, Any] = {rows_key: rows[which]}
    for name in cursor.counts:
        # Each list has its count, and of what is not there nothing is counted.
        if name in answer:
            changed[name] = len(rows[which])
    for name in cursor.columns:
        # Where a row lacks the field, which value is whose is not known.
        if len(column := answer.get(name) or ()) == len(rows):
            changed[name] = column[which]
    return {**answer, **changed}
