"""Converters that give numbers, truth and times."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, Final

from specloom.core import from_epoch, to_timestamp

from .converter import Converter, Moment, Parameter, register_in, to_text

OF_NUMBERS: Final[dict[str, Converter]] = {}
converter = register_in(OF_NUMBERS)


_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?")
_YEAR: Final = re.compile(r"(?<![0-9])[12][0-9]{3}(?![0-9])")
_SIZE: Final = re.compile(r"(?<![0-9.])([0-9]{1,6})\s{0,3}[x×X*]\s{0,3}([0-9]{1,6})(?![0-9.])")


@converter("number", ("1,234.50", None, 1234.5), ("42", None, 42), (".", None, None), ("NaN", None, None), takes="any")
def number(value: Any, _: Moment) -> int | float | None:
    """The number a text spells; commas may only part thousands."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if not isinstance(value, str):
        return value if isinstance(value, int) or isfinite(value) else None
    text = value.strip()
    if not _NUMBER.fullmatch(text) or not re.match(r"[+-]?\.?[0-9]", text):
        return None
    text = text.replace(",", "")
    try:
        return int(text)
    except ValueError:
        made = float(text)
        return made if isfinite(made) else None


@converter("integer", ("1,234", None, 1234), ("42.0", None, 42), ("4.2", None, None), (7, None, 7), takes="any")
def integer(value: Any, moment: Moment) -> int | None:
    """The whole number a text spells or a number is; a fraction makes it None."""
    made = number(value, moment)
    return int(made) if made is not None and made == int(made) else None


@converter("number", (3, None, 3), ("0", None, None), (-1.5, None, None), takes="any")
def positive(value: Any, moment: Moment) -> int | float | None:
    """The number if it is above 0."""
    made = number(value, moment)
    return made if made is not None and made > 0 else None


@converter("boolean", ("Yes", None, True), (0, None, False), ("maybe", None, None))
def boolean(value: str, _: Moment) -> bool | None:
    """True for true, yes, on and 1; False for false, no, off and 0."""
    word = value.strip().lower()
    return True if word in ("true", "yes", "on", "1") else False if word in ("false", "no", "off", "0") else None


@converter("text", (4.0, None, "4"), (True, None, "true"), ({"a": 1}, None, None))
def text(value: str, _: Moment) -> str:
    """A number or a boolean as text."""
    return value


@converter("integer", ("1998 Dec-1999 Jan", None, 1998), ("20240515", None, None), (2021, None, 2021))
def year(value: str, _: Moment) -> int | None:
    """The first year from 1000 to 2999 that stands by itself in a text."""
    match = _YEAR.search(value)
    return int(match[0]) if match else None


@converter(
    "integer",
    ("1920 x 1080", "width", 1920),
    ("1920×1080 px", "height", 1080),
    ("large", "width", None),
    parameters=(Parameter("side", "side"),),
)
def dimension(value: str, _: Moment, side: str) -> int | None:
    """One side of a size written as width x height."""
    match = _SIZE.search(value)
    return int(match[1 if side == "width" else 2]) if match else None


@converter(
    "any",
    ("n/a", ["", "n/a"], None),
    (0, "0", None),
    ("x", "n/a", "x"),
    takes="any",
    parameters=(Parameter("values", "values"),),
)
def null_if(value: Any, _: Moment, values: Any) -> Any:
    """None for the values that mean nothing, whether they come as text or as numbers; everything else unchanged."""
    said = value.strip() if isinstance(value, str) else to_text(value)
    meaningless = [to_text(item) or "" for item in (values if isinstance(values, list) else [values])]
    return None if said in meaningless else value


# Times


@converter("text", ("2 hours ago", None, "2026-03-03T05:00:00Z"), ("soon", None, None))
def timestamp(value: str, moment: Moment) -> str | None:
    """The instant a date or a distance ("3 days ago") means, in RFC 3339 and UTC."""
    return to_timestamp(value, moment.now)


@converter("text", ("Jan 2, 2006", None, "2006-01-02"), ("20240515", None, "2024-05-15"), ("2024", None, None))
def day(value: str, moment: Moment) -> str | None:
    """The day of the instant in UTC, as YYYY-MM-DD."""
    found = to_timestamp(value, moment.now)
    return found[:10] if found else None


@converter(
    "text",
    (1772521200, "seconds", "2026-03-03T07:00:00Z"),
    ("1772521200000", "milliseconds", "2026-03-03T07:00:00Z"),
    takes="any",
    parameters=(Parameter("unit", "unit"),),
)
def epoch(value: Any, moment: Moment, unit: str) -> str | None:
    """The instant that many seconds or milliseconds after 1970 began, in RFC 3339 and UTC."""
    made = number(value, moment)
    if made is None:
        return None
    return from_epoch(made // 1000 if unit == "milliseconds" else made)


# --- Converters that make lists or read them whole --------------------------------------------------------------------


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
