"""The types that a capability declares: the shape of each, and what makes a value fit it.

Text comes without characters that nobody sees, which can carry a message past a reader. What stays as it came is a
`document`, which whoever reads it cleans and tells of what was in it, and an object of undeclared fields outside lists.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from specloom.core import clean
from specloom.language import ANY, BOOLEAN, INTEGER, NUMBER, TEXT, Choice, ListOf, Maybe, RecordType, Shape, to_http
from specloom.model import Capability

MOST_BITS = 1023
"""Bits of the longest integer that is a number: a longer one is no double (IEEE 754), and most readers lose it."""

KINDS_OF_VALUE: Mapping[str, Shape] = {
    "text": TEXT,
    "document": TEXT,
    "integer": INTEGER,
    "number": NUMBER,
    "boolean": BOOLEAN,
    "timestamp": TEXT,
    "date": TEXT,
    "url": TEXT,
    "list": ListOf(TEXT),
    "object": ANY,
    "any": ANY,
}


def conformers(capability: Capability) -> tuple[tuple[str, Callable[[Any], Any], bool], ...]:
    """For each field of a row: its name, what makes a value fit its type, and whether it is required."""
    return tuple((one.name, conformer(one.kind, one.shape), one.required) for one in capability.row.values())


def conformer(kind: str, shape: Shape) -> Callable[[Any], Any]:
    """A function that gives the value in its declared type, or None when it cannot be that; nothing is rounded."""
    choices = shape.values if isinstance(shape, Choice) else ()
    if kind == "integer":
        return _to_integer
    if kind == "number":
        return _to_number
    if kind == "boolean":
        return lambda value: value if isinstance(value, bool) else None
    if kind == "timestamp":
        return lambda value: value if isinstance(value, str) and _is_timestamp(value) else None
    if kind == "list":
        of = _kind_of(shape.item if isinstance(shape, ListOf) else TEXT)
        inner = _to_seen if of == "any" else conformer(of, ANY)
        return lambda value: (
            [got for one in value if (got := inner(one)) is not None] if isinstance(value, list) else None
        )
    if kind == "object":
        return _object_conformer(shape)
    if kind == "any":
        return lambda value: value
    if kind == "document":
        return lambda value: value if isinstance(value, str) else None
    if kind == "url":
        return lambda value: to_http(clean(value)[0]) if isinstance(value, str) else None
    if choices:
        return lambda value: value if value in choices else None
    return _to_text


def _object_conformer(shape: Shape) -> Callable[[Any], Any]:
    """For an object with declared fields these alone, without what is unknown or of another type; None of nothing."""
    shape = shape.shape if isinstance(shape, Maybe) else shape
    if not isinstance(shape, RecordType) or not shape.fields:
        return lambda value: value if isinstance(value, dict) else None
    inner = {name: conformer(_kind_of(one), one) for name, one in shape.fields.items()}

    def fit(value: Any) -> Any:
        if not isinstance(value, dict):
            return None
        return {name: got for name, to in inner.items() if (got := to(value.get(name))) is not None} or None

    return fit


def _to_seen(value: Any) -> Any:
    """An item of a list with all its texts as they are seen; None when it is nested too deeply to look into."""
    try:
        return _seen(value)
    except RecursionError:
        return None


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)[0]
    if isinstance(value, dict):
        return {name: _seen(one) for name, one in value.items()}
    return [_seen(one) for one in value] if isinstance(value, list) else value


def _kind_of(shape: Shape) -> str:
    shape = shape.shape if isinstance(shape, Maybe) else shape
    return (
        {INTEGER: "integer", NUMBER: "number", BOOLEAN: "boolean", ANY: "any"}.get(shape, "text")
        if not isinstance(shape, (RecordType, ListOf))
        else "object"
    )


def _to_text(value: Any) -> str | None:
    if isinstance(value, str):
        return clean(value)[0]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return str(value)


def _to_integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value.bit_length() <= MOST_BITS else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and re.fullmatch(r"\s*[-+]?\d{1,18}\s*", value):
        return int(value)
    return None


def _to_number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value.bit_length() <= MOST_BITS else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    return None


def _is_timestamp(text: str) -> bool:
    try:
        return text.endswith("Z") and datetime.fromisoformat(text).tzinfo is UTC
    except ValueError:
        return False
