"""The functions that bring data into another form: tables to lists of objects, texts to values.

What they make of an answer is bounded, so that a small answer cannot ask for a large amount of memory.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..signatures import null_or, registrar
from ..types import ANY, NUMBER, TEXT, ListOf, RecordType, Shape, join_all, may_be_null, maybe, strip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..signatures import Function


MAX_CELLS: Final = 1_000_000
"""How many cells a table may have once its short rows are filled up."""
MAX_POSITION: Final = 20_000
MAX_TEXT: Final = 100_000
MAX_CAPTURED: Final = 4_000
"""How many characters of a text a pattern is tried on."""
MAX_DEPTH: Final = 200
"""How deep JSON inside a text may be nested; the decoders take no more either."""

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?")

DATA: Final[dict[str, Function]] = {}
"""The functions of this module by name."""
_function = registrar(DATA)
_OBJECTS: Final = ListOf(RecordType({}, closed=False))


def find_pattern_problem(pattern: str) -> str:
    """Why the text is no regular expression that `capture` takes; empty if it is one."""
    with warnings.catch_warnings():
        # What will mean something else one day is refused today.
        warnings.simplefilter("error")
        try:
            to_pattern(pattern)
        except (ValueError, Warning) as error:
            return str(error)
    return ""


@lru_cache(maxsize=256)
def to_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled regular expression; what is none is a ValueError."""
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error


def _entry(arguments: tuple[Shape, ...]) -> Shape:
    given = strip(arguments[0])
    value = join_all(given.fields.values()) if isinstance(given, RecordType) and given.closed else ANY
    entries = ListOf(RecordType({"key": TEXT, "value": value}, required=frozenset(["key", "value"])))
    return maybe(entries) if may_be_null(arguments[0]) else entries


@_function(
    "nullable object",
    result=null_or(_OBJECTS),
    examples=(
        ("records({form: ['x', 'y'], day: ['1']})", [{"form": "x", "day": "1"}, {"form": "y", "day": None}]),
        ("records(`null`)", None),
    ),
)
def _records(columns: dict[str, Any] | None) -> list[dict[str, Any]] | None:
    """One object a place in the lists of an object of lists; a list that is too short gives null, and a field that is
    no list is passed over. Null gives null."""
    if columns is None:
        return None
    lists = {name: column for name, column in columns.items() if isinstance(column, list)}
    count = max(map(len, lists.values()), default=0)
    _limit_cells(count * len(lists))
    return [{name: column[at] if at < len(column) else None for name, column in lists.items()} for at in range(count)]


@_function(
    "nullable array",
    result=null_or(_OBJECTS),
    examples=(
        ("table([['a', 'b'], ['1', '2'], ['3']])", [{"a": "1", "b": "2"}, {"a": "3", "b": None}]),
        ("table(`[]`)", []),
        ("table(`null`)", None),
    ),
)
def _table(rows: list[Any] | None) -> list[dict[str, Any]] | None:
    """One object a row of a list of lists whose first has the names; a row that is too short gives null, and one that
    is empty or no list is passed over. Null gives null."""
    if not rows:
        return None if rows is None else []
    header, *lines = rows
    if not isinstance(header, list) or not all(isinstance(name, str) for name in header):
        raise ValueError("the first row is no list of names")
    filled = [line for line in lines if isinstance(line, list) and line]
    _limit_cells(len(header) * len(filled))
    return [{name: line[at] if at < len(line) else None for at, name in enumerate(header)} for line in filled]


def _limit_cells(count: int) -> None:
    if count > MAX_CELLS:
        raise ValueError(f"a table of {count:,} cells; {MAX_CELLS:,} are allowed")


@_function(
    "nullable object",
    result=_entry,
    examples=(("entries({a: `1`})", [{"key": "a", "value": 1}]), ("entries(`null`)", None)),
)
def _entries(fields: dict[str, Any] | None) -> list[dict[str, Any]] | None:
    """The fields of an object as a list of {key, value}, in their order; null gives null."""
    return None if fields is None else [{"key": key, "value": value} for key, value in fields.items()]


@_function(
    "nullable object",
    result=maybe(TEXT),
    examples=(
        ('inverted_text(`{"sat.": [2, 5], "cat": [1], "a": [0, 3], "dog": [4]}`)', "a cat sat. a dog sat."),
        ("inverted_text(`{}`)", None),
        ("inverted_text(`null`)", None),
    ),
)
def _inverted_text(words: dict[str, Any] | None) -> str | None:
    """The running text of an object that has the positions of each word, counted from 0. Gaps are closed, positions
    above 20,000 passed over, and the text ends at 100,000 characters; null for null or no word."""
    placed = [
        (position, word)
        for word, positions in (words or {}).items()
        if isinstance(positions, list)
        for position in positions
        if type(position) is int and 0 <= position <= MAX_POSITION
    ]
    placed.sort(key=lambda pair: pair[0])
    return " ".join(_within(word for _, word in placed)) or None


def _within(words: Iterable[str]) -> Iterable[str]:
    """The parts of the words, as far as a text may be long."""
    length = 0
    for word in words:
        length += len(word) + 1
        if length > MAX_TEXT + 1:
            return
        yield from word.split()


@_function(
    "nullable string",
    "string",
    result=maybe(TEXT),
    examples=(
        ("capture('no. 17 of 20', '([0-9]+) of')", "17"),
        ("capture('no. 17', '[0-9]+')", "17"),
        ("capture('none', '[0-9]+')", None),
        ("capture(`null`, '[0-9]+')", None),
    ),
)
def _capture(text: str | None, pattern: str) -> str | None:
    """What the first group of a regular expression matches in the first 4,000 characters of the text, or the whole
    match if it has no group; null where nothing matches or the text is null."""
    found = to_pattern(pattern).search(text[:MAX_CAPTURED]) if text is not None else None
    return found[min(1, found.re.groups)] if found else None


@_function(
    "nullable string",
    result=ANY,
    examples=(
        ("parsed(' {\"a\": [1]}; more').a", [1]),
        ("parsed('\"a\"')", "a"),
        ("parsed('no JSON')", None),
        ("parsed(`null`)", None),
    ),
)
def _parsed(text: str | None) -> Any:
    """The JSON value that the text begins with, whatever follows it, as scripts in pages have it; null where it begins
    with none, where that is nested deeper than 200 levels, and for null."""
    if text is None:
        return None
    try:
        value, _ = _JSON.raw_decode(text.lstrip(" \t\r\n"))
        return _sound(value, MAX_DEPTH)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_JSON: Final = json.JSONDecoder(parse_constant=_refuse)


def _sound(value: Any, depth: int) -> Any:
    """The value with half characters (lone surrogates), which cannot be written out again, as U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("too large for a number")
        return value
    if isinstance(value, (list, dict)) and not depth:
        raise ValueError("nested too deep")
    if isinstance(value, list):
        return [_sound(one, depth - 1) for one in value]
    if isinstance(value, dict):
        return {_sound(name, depth - 1): _sound(one, depth - 1) for name, one in value.items()}
    return value


@_function(
    "nullable string or number",
    result=maybe(NUMBER),
    examples=(
        ("number(' 1,234.50 ')", 1234.5),
        ("number('42')", 42),
        ("number(`42`)", 42),
        ("number('1,5')", None),
        ("number('n/a')", None),
        ("number(`null`)", None),
    ),
)
def _number(text: str | float | None) -> float | None:
    """The number that a text spells, in which commas may only part thousands, or a number as it is; null where it
    spells none and for null."""
    if not isinstance(text, str):
        return text
    spelled = text.strip().replace(",", "") if _NUMBER.fullmatch(text.strip()) else ""
    try:
        return int(spelled)
    except ValueError:
        pass
    try:
        number = float(spelled)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
