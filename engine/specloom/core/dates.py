"""A date as an upstream writes it becomes one RFC 3339 instant in UTC, or nothing: a doubtful date is not guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Final

from .tables import load_table

FORMATS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "date": (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "a date as YYYY-MM-DD"),
        "date_or_year": (r"[0-9]{4}(?:-[0-9]{2}-[0-9]{2})?", "YYYY or YYYY-MM-DD"),
    }
)
"""What a caller may be asked to write a date as: its pattern, and the same in words."""

_LONGEST: Final = 64
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# English only, whatever the locale of the process.
_MONTH_NAMES: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
# The zones RFC 822 defines; every other name means different things to different writers.
_ZONES: Final = {
    "z": 0, "ut": 0, "utc": 0, "gmt": 0,
    "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
}  # fmt: skip
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_COMPACT: Final = {
    "s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year",
}  # fmt: skip
_ABBREVIATED: Final = {"sec": "second", "min": "minute", "hr": "hour", "wk": "week", "yr": "year"}

_DAY = r"(?P<day>[0-9]{1,2})"
_MONTH = r"(?P<month>[A-Za-z]{3,9})\.?"
_YEAR = r"(?P<year>[0-9]{4})"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,][0-9]{1,12})?)?"
_ZONE = r"(?P<zone>[A-Za-z]{1,3}|[+-][0-9]{2}(?::?[0-9]{2})?)"
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}"

_ABSOLUTE: Final = (
    # RFC 3339, the same without a zone, with a blank for the T, and the bare day
    rf"{_YEAR}-(?P<number>[0-9]{{2}})-(?P<day>[0-9]{{2}})(?:[T ]{_TIME}(?: ?{_ZONE})?)?",
    # RFC 1123, its weekday left out or not
    rf"(?:{_WEEKDAY},? )?{_DAY} {_MONTH} {_YEAR}(?: {_TIME}(?: {_ZONE})?)?",
    # Mon Jan 05 10:00:00 +0000 2026
    rf"{_WEEKDAY} {_MONTH} {_DAY} {_TIME} {_ZONE} {_YEAR}",
    rf"{_MONTH} {_DAY},? {_YEAR}",
    rf"{_YEAR} {_MONTH} {_DAY}",
    # Month before day with slashes, day before month with dots: each is the only reading its writers use
    rf"(?P<number>[0-9]{{2}})/(?P<day>[0-9]{{2}})/{_YEAR}",
    rf"(?P<day>[0-9]{{2}})\.(?P<number>[0-9]{{2}})\.{_YEAR}",
    rf"{_YEAR}/(?P<number>[0-9]{{2}})/(?P<day>[0-9]{{2}})(?: {_TIME})?",
    # 20240515 and 20190101001500; other runs of digits are numbers, not dates
    r"(?P<year>[12][0-9]{3})(?P<number>[0-9]{2})(?P<day>[0-9]{2})"
    r"(?:(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})(?P<second>[0-9]{2}))?",
)


@cache
def _absolute() -> tuple[re.Pattern[str], ...]:
    """The forms of dates, compiled when there is the first that is not plain."""
    return tuple(re.compile(pattern, re.ASCII | re.IGNORECASE) for pattern in _ABSOLUTE)


_AGO: Final = re.compile(r"([0-9]{1,9}) ?([a-z]+?)s? ago", re.ASCII | re.IGNORECASE)
_SHORT_AGO: Final = re.compile(r"([0-9]{1,9})(mo|[smhdwy])", re.ASCII)


_PLAIN: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T((?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])Z?)?", re.ASCII
)
"""A day, or an instant as it is given back; what most upstreams write."""


def to_timestamp(text: object, now: float) -> str | None:
    """RFC 3339 in UTC without a fraction (`2026-03-03T07:00:00Z`), or None for what is not one certain instant.

    A date without a zone is read as UTC. `now` (epoch seconds) is what "3 days ago" counts back from.
    """
    try:
        if isinstance(text, str) and (plain := _PLAIN.fullmatch(text)):
            date.fromisoformat(plain[1])
            return f"{plain[1]}T{plain[2] or '00:00:00'}Z"
        written = _to_text(text)
        if not written:
            return None
        instant = _find_absolute(written) or _find_relative(written, now)
        return None if instant is None else instant.astimezone(UTC).isoformat(timespec="seconds")[:19] + "Z"
    except (ValueError, OverflowError, OSError):  # no such day, a year before 1 or after 9999, an unusable clock
        return None


def is_day(text: str) -> bool:
    """Whether the calendar has this day (YYYY-MM-DD), or any day of this year (YYYY)."""
    try:
        date.fromisoformat(text if len(text) > 4 else f"{text}-01-01")
    except ValueError:
        return False
    return True


def from_epoch(seconds: float) -> str | None:
    """The instant that many seconds after 1970 began, in the same form, or None outside the years 1 to 9999."""
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(seconds))).isoformat()[:19] + "Z"
    except (ValueError, OverflowError):
        return None


def _to_text(value: object) -> str:
    """The date with single blanks; empty for what is too long to be one or is neither text nor a whole number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = value if isinstance(value, str) else str(value)
    if len(text) > _LONGEST * 4:
        return ""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else ""


def _find_absolute(text: str) -> datetime | None:
    for pattern in _absolute():
        if match := pattern.fullmatch(text):
            part = {name: value for name, value in match.groupdict().items() if value is not None}
            month = int(part["number"]) if "number" in part else _find_month(part["month"])
            offset = _find_offset(part.get("zone", "Z"))
            second = int(part.get("second", "0"))
            if month is None or offset is None or second > 60:
                return None
            start = datetime(
                int(part["year"]), month, int(part["day"]), int(part.get("hour", "0")), int(part.get("minute", "0")),
                tzinfo=UTC,
            )  # fmt: skip
            # Second 60 is a leap second, and the next instant on every clock that has none.
            return start + timedelta(seconds=second) - offset
    return None


def _find_month(name: str) -> int | None:
    name = name.lower()
    if name in _MONTHS:
        return _MONTHS.index(name) + 1
    if name in _MONTH_NAMES:
        return _MONTH_NAMES.index(name) + 1
    return 9 if name == "sept" else None


def _find_offset(zone: str) -> timedelta | None:
    if zone[0] in "+-":
        hours, minutes = int(zone[1:3]), int(zone[-2:]) if len(zone) > 3 else 0
        if hours > 23 or minutes > 59:
            return None
        return timedelta(hours=hours, minutes=minutes) * (-1 if zone[0] == "-" else 1)
    named = _ZONES.get(zone.lower())
    return None if named is None else timedelta(hours=named)


def _find_relative(text: str, now: float) -> datetime | None:
    if match := _SHORT_AGO.fullmatch(text):
        unit = _COMPACT[match[2]]
    elif match := _AGO.fullmatch(text):
        word = match[2].lower()
        unit = _ABBREVIATED.get(word, word)
    else:
        unit = ""
    if match and unit in (*_SECONDS, "month", "year"):
        return _go_back(now, int(match[1]), unit)
    return _find_foreign(text, now)


def _go_back(now: float, count: int, unit: str) -> datetime:
    start = datetime.fromtimestamp(now, UTC)
    if unit in _SECONDS:
        return start - timedelta(seconds=count * _SECONDS[unit])
    return _months_before(start, count * (12 if unit == "year" else 1))


@cache
def _languages() -> tuple[Mapping[str, int], Sequence[tuple[re.Pattern[str], Mapping[str, str]]]]:
    """The words for whole days back; and of each language the form of "so many units ago", with the units by word."""
    days: dict[str, int] = {}
    forms = []
    for said in load_table(__file__, "relative_dates.yaml").values():
        days |= {str(word): int(count) for word, count in said["days"].items()}
        units = {word: unit for unit, words in said["units"].items() for word in words}
        before, after, number, unit = (
            "|".join(sorted(map(re.escape, words), key=len, reverse=True))
            for words in (said.get("before", [""]), said.get("after", [""]), said.get("one", []), units)
        )
        count = rf"[0-9]{{1,9}}|{number}" if number else "[0-9]{1,9}"
        forms.append((re.compile(rf"(?:{before}) ?(?P<count>{count}) ?(?P<unit>{unit}) ?(?:{after})"), units))
    return days, forms


def _find_foreign(text: str, now: float) -> datetime | None:
    """What a text says of how long ago it was in any of the languages; nothing where it says more than that."""
    days, forms = _languages()
    text = text.lower()
    if text in days:
        return _go_back(now, days[text], "day")
    for form, units in forms:
        if match := form.fullmatch(text):
            count = match["count"]
            return _go_back(now, int(count) if count.isascii() and count.isdigit() else 1, units[match["unit"]])
    return None


def _months_before(start: datetime, months: int) -> datetime:
    """The same day of an earlier month, or the last day of it when it is shorter."""
    year, month = divmod(start.year * 12 + start.month - 1 - months, 12)
    if year < 1:
        raise ValueError("before the first year")
    from calendar import monthrange

    return start.replace(year=year, month=month + 1, day=min(start.day, monthrange(year, month + 1)[1]))
