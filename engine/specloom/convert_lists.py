"""Converters that make lists or read them whole."""

from __future__ import annotations

import json
from typing import Any, Final

from .converter import Converter, Moment, Parameter, register_in, to_text

OF_LISTS: Final[dict[str, Converter]] = {}
converter = register_in(OF_LISTS)


@converter(
    "text", (["a", None, "b"], ", ", "a, b"), ([], ", ", None), takes="list", parameters=(Parameter("by", "text"),)
)
def join(values: list[Any], _: Moment, by: str) -> str | None:
    """One text of all items, with another between them."""
    return by.join(text for value in values if (text := to_text(value))) or None


@converter(
    "list", ("a; b;", ";", ["a", "b"]), (["a,b", "c"], ",", ["a", "b", "c"]), parameters=(Parameter("by", "text"),)
)
def split(value: str, _: Moment, by: str) -> list[str]:
    """The pieces between a separator, trimmed, without empty ones; several texts make one list."""
    return [piece for part in (value.split(by) if by else value.split()) if (piece := part.strip())]


@converter("any", ([None, "a", "b"], None, "a"), ([], None, None), takes="list")
def first(values: list[Any], _: Moment) -> Any:
    """The first item of a list."""
    return values[0] if values else None


@converter("any", (["a", "b"], None, "b"), ("a", None, "a"), takes="list")
def last(values: list[Any], _: Moment) -> Any:
    """The last item of a list."""
    return values[-1] if values else None


@converter("list", (["b", "a", "b"], None, ["b", "a"]), ([{"x": 1}, {"x": 1}], None, [{"x": 1}]), takes="list")
def unique(values: list[Any], _: Moment) -> list[Any]:
    """The items of a list without repetitions, each where it came first."""
    kept: dict[str, Any] = {}
    for value in values:
        kept.setdefault(_key(value), value)
    return list(kept.values())


def _key(value: Any) -> str:
    """What equal values share; unlike Python's equality it tells 1 from true."""
    try:
        return json.dumps(value, sort_keys=True, default=repr)
    except ValueError:  # a number with more digits than Python writes: equal to nothing else
        return f"at {id(value)}"


@converter("integer", (["a", None, "b"], None, 2), ([], None, 0), takes="list")
def count(values: list[Any], _: Moment) -> int:
    """How many items a list has."""
    return len(values)
