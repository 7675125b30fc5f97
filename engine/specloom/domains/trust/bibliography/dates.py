"""Dates of works in EDTF (ISO 8601-2), the one form that all others can be made of, from and to what each format says.

A season, a range, "circa" and antiquity are kept as they came; https://www.loc.gov/standards/datetime/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .entry import Issued, parse_issued, to_iso, to_issued

SEASONS = ("Spring", "Summer", "Autumn", "Winter")
_FIRST_SEASON = 21
_PART = r"-?[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?[~?%]?"
_EDTF = re.compile(rf"{_PART}(?:/(?:{_PART}|\.\.)?)?")
_ABOUT = re.compile(r"(?i:circa|about|ca|c)\.?\s?([12][0-9]{3})")
_POINT = re.compile(r"(-?[0-9]{4})(?:-([0-9]{2}))?(?:-([0-9]{2}))?([~?%]?)")


def read_date(text: str) -> tuple[Issued, str]:
    """The first day that a text names, and the text itself where it is EDTF that says more than that day."""
    text = text.strip()
    if about := _ABOUT.fullmatch(text):
        text = f"{about[1]}~"
    if not _EDTF.fullmatch(text):
        return parse_issued(text), ""
    issued = _to_issued(text.partition("/")[0])
    return issued, "" if text == to_iso(issued) else text


def _to_issued(text: str) -> Issued:
    match = _POINT.fullmatch(text)
    if match is None:
        return ()
    year, month, day = (int(part) if part else 0 for part in match.groups()[:3])
    return to_issued(year, month if month <= 12 else 0, day)


def from_csl(value: object) -> tuple[Issued, str]:
    """The same of a date as CSL has it: date parts, with a season, as a range or about."""
    if isinstance(value, str | int):
        return read_date(str(value))
    if not isinstance(value, Mapping):
        return (), ""
    given = value.get("date-parts")
    points = [_to_point(part) for part in given[:2]] if isinstance(given, list) else []
    points = [point for point in points if point]
    raw = str(value.get("raw") or "")
    if not points or _EDTF.fullmatch(raw):
        return read_date(raw or str(value.get("literal") or value.get("edtf") or ""))
    season = value.get("season")
    number = int(season) if isinstance(season, int | str) and str(season).isdecimal() else 0
    if 1 <= number <= len(SEASONS) and len(points[0]) <= 5:
        points[0] = f"{points[0]}-{_FIRST_SEASON + number - 1}"
    about = "~" if value.get("circa") not in (None, False, "", 0, "0") else ""
    return read_date("/".join(f"{point}{about}" for point in points))


def _to_point(part: object) -> str:
    if not isinstance(part, Sequence) or isinstance(part, str):
        return ""
    numbers = [int(str(each)) for each in part[:3] if re.fullmatch(r"-?[0-9]{1,4}", str(each))]
    if not numbers:
        return ""
    # EDTF counts the year 0, which CSL leaves out: 380 BCE is -0379.
    year = numbers[0] + 1 if numbers[0] < 0 else numbers[0]
    sign, months = "-" if year < 0 else "", "".join(f"-{each:02}" for each in numbers[1:])
    return f"{sign}{abs(year):04}{months}"


def to_csl_date(date: str) -> dict[str, Any] | None:
    """A date in EDTF as CSL has it, None for none."""
    if not date:
        return None
    told: dict[str, Any] = {"date-parts": []}
    for text in date.split("/"):
        match = _POINT.fullmatch(text)
        if match is None:
            continue
        year, month, day = (int(part) if part else 0 for part in match.groups()[:3])
        if month >= _FIRST_SEASON:
            told["season"] = month - _FIRST_SEASON + 1
            month = day = 0
        told["date-parts"].append(
            [year - 1 if year < 1 else year, *([month] if month else []), *([day] if day else [])]
        )
        if match[4]:
            told["circa"] = True
    if not told["date-parts"]:
        return {"raw": date}
    # An end that is open, or a doubt: parts of dates have no place for them.
    issued, dated = from_csl(told)
    return told if (dated or to_iso(issued)) == date else told | {"raw": date}


def find_season(text: str) -> int:
    """The season that a text names, 1 for spring to 4 for winter; 0 for none."""
    lowered = text.lower().replace("fall", "autumn")
    return next((at for at, season in enumerate(SEASONS, 1) if season.lower() in lowered), 0)


def with_season(issued: Issued, season: int) -> str:
    """A year and its season in EDTF, "" where either is not known or the month is."""
    return f"{issued[0]:04}-{_FIRST_SEASON + season - 1}" if len(issued) == 1 and season else ""


def season_of(date: str) -> str:
    """The name of the season of a date in EDTF, "" for none."""
    match = _POINT.fullmatch(date.partition("/")[0])
    number = int(match[2] or 0) if match else 0
    return SEASONS[number - _FIRST_SEASON] if _FIRST_SEASON <= number < _FIRST_SEASON + len(SEASONS) else ""
