"""Converters that give numbers, truth and times."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, Final

from .converter import Converter, Moment, Parameter, register_in, to_text
from .dates import from_epoch, to_timestamp

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
