"""The functions that choose among the items of a list, or bring data into another form.

What they make of an answer is bounded, so that a small answer cannot ask for a large amount of memory.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, NoReturn

from specloom.core import fold_name

from ..signatures import function, null_or
from ..types import ANY, NUMBER, TEXT, ListOf, RecordType, Shape, join_all, may_be_null, maybe, strip

# --- Of the items of a list -------------------------------------------------------------------------------------------


def identity(item: Any) -> Any:
    """What two values have in common exactly if JSON takes them for equal; 1 and true differ, 1 and 1.0 do not."""
    if isinstance(item, bool):
        return ("boolean", item)
    if isinstance(item, (list, dict)):
        return ("json", json.dumps(item, sort_keys=True, default=str))
    return item


def _item(arguments: tuple[Shape, ...]) -> Shape:
    given = strip(arguments[0])
    return maybe(given.item) if isinstance(given, ListOf) else ANY


@function("nullable array", "string", "nullable string or number", result=lambda arguments: strip(arguments[0]))
def _alike(items: list[Any] | None, field: str, value: str | float | None) -> list[Any]:
    """The objects of a list whose field says the same as the value: equal words in the same order, whatever case,
    punctuation and blanks; none for null."""
    wanted = _words_of(value)
    return [one for one in items or () if wanted and isinstance(one, dict) and _words_of(one.get(field)) == wanted]


@function("nullable array", "string", "nullable string or number", result=lambda arguments: strip(arguments[0]))
def _named(items: list[Any] | None, field: str, value: str | float | None) -> list[Any]:
    """The objects of a list whose field is the same name as the value: every sign counts (C, C++), case, blanks and the
    form of accents do not; none for null."""
    wanted = _name_of(value)
    return [one for one in items or () if wanted and isinstance(one, dict) and _name_of(one.get(field)) == wanted]


def _name_of(value: Any) -> str:
    return fold_name(str(value)) if isinstance(value, (str, int, float)) else ""


def _words_of(value: Any) -> str:
    return " ".join(re.findall(r"\w+", str(value).casefold())) if isinstance(value, (str, int, float)) else ""


@function("array", result=lambda arguments: strip(arguments[0]))
def _unique(items: list[Any]) -> list[Any]:
    """The list without repetitions; the first of each stays where it is."""
    found: dict[Any, Any] = {}
    for item in items:
        found.setdefault(identity(item), item)
    return list(found.values())


@function("nullable array", "nullable array", result=lambda arguments: arguments[0])
def _without(items: list[Any] | None, unwanted: list[Any] | None) -> list[Any] | None:
    """The list without the items that the second one has; null gives null, and a null second one takes nothing away."""
    if items is None:
        return None
    refused = {identity(item) for item in unwanted or ()}
    return [item for item in items if identity(item) not in refused]


@function("nullable array", result=_item)
def _first(items: list[Any] | None) -> Any:
    """The first item of the list; null for null or an empty one."""
    return items[0] if items else None


@function("nullable string or number or boolean", "array", result=lambda arguments: maybe(strip(arguments[0])))
def _one_of(value: str | float | None, known: list[Any]) -> str | float | None:
    """The value if the list has it, else null."""
    return value if any(type(item) is type(value) and item == value for item in known) else None


# --- Tables to lists of objects, texts to values ----------------------------------------------------------------------


MAX_CELLS: Final = 1_000_000
"""How many cells a table may have once its short rows are filled up."""
MAX_POSITION: Final = 20_000
MAX_TEXT: Final = 100_000
MAX_CAPTURED: Final = 4_000
"""How many characters of a text a pattern is tried on."""
MAX_DEPTH: Final = 200
"""How deep JSON inside a text may be nested; the decoders take no more either."""

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?")

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


@function("nullable object", result=null_or(_OBJECTS))
def _records(columns: dict[str, Any] | None) -> list[dict[str, Any]] | None:
    """One object a place in the lists of an object of lists; a list that is too short gives null, and a field that is
    no list is passed over. Null gives null."""
    if columns is None:
        return None
    lists = {name: column for name, column in columns.items() if isinstance(column, list)}
    count = max(map(len, lists.values()), default=0)
    _limit_cells(count * len(lists))
    return [{name: column[at] if at < len(column) else None for name, column in lists.items()} for at in range(count)]


@function("nullable array", result=null_or(_OBJECTS))
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


@function("nullable object", result=_entry)
def _entries(fields: dict[str, Any] | None) -> list[dict[str, Any]] | None:
    """The fields of an object as a list of {key, value}, in their order; null gives null."""
    return None if fields is None else [{"key": key, "value": value} for key, value in fields.items()]


@function("nullable object", result=maybe(TEXT))
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


@function("nullable string", "string", result=maybe(TEXT))
def _capture(text: str | None, pattern: str) -> str | None:
    """What the first group of a regular expression matches in the first 4,000 characters of the text, or the whole
    match if it has no group; null where nothing matches or the text is null."""
    found = to_pattern(pattern).search(text[:MAX_CAPTURED]) if text is not None else None
    return found[min(1, found.re.groups)] if found else None


@function("nullable string", result=ANY)
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


@function("nullable string or number", result=maybe(NUMBER))
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
