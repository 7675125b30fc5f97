"""What the numbers of a spreadsheet show by their formats: dates, shares in per cent, and plain numbers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from lxml import etree

from specloom.scrape.documents.archive import attribute, child, children
from specloom.scrape.documents.docx_styles import to_int

# Formats that a file does not spell out (ECMA-376 part 1, 18.8.30): of days, of times, and of shares with decimals.
_DAYS: Final = frozenset({14, 15, 16, 17, 22, *range(27, 32), *range(34, 37), *range(50, 59)})
_TIMES: Final = frozenset({18, 19, 20, 21, 32, 33, 45, 47})
_SHARES: Final = {9: 0, 10: 2}
# What stands in quotes, brackets or behind a backslash in a format is no sign of it.
_LITERAL: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
# Days are counted from here on; the calendar of old Macintoshes began later (18.17.4.1).
_FIRST_DAY: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - a sheet knows no time zones
_FIRST_DAY_1904: Final = datetime(1904, 1, 1)  # noqa: DTZ001
_MOST_DAYS: Final = 2_958_466
_LONGEST_NUMBER: Final = 30


@dataclass(frozen=True, slots=True)
class Formats:
    """The formats of a workbook by the number that cells name, and the day from which it counts."""

    kinds: tuple[str, ...]
    """`day`, `time` or `both` for dates, `hours` for lengths of time, `%2` for shares with so many decimals."""
    first_day: datetime

    def show(self, said: str, number: int) -> str:
        """What a cell with a number shows; what is no number as it stands."""
        kind = self.kinds[number] if 0 <= number < len(self.kinds) else ""
        try:
            value = float(said)
        except ValueError:
            return " ".join(said.split())
        if not math.isfinite(value) or len(said) > _LONGEST_NUMBER:
            return said[:_LONGEST_NUMBER]
        if kind.startswith("%"):
            return f"{value * 100:.{kind[1:]}f}%"
        if kind == "hours" and abs(value) < _MOST_DAYS:
            hours, minutes = divmod(round(abs(value) * 1440), 60)
            return f"{'-' * (value < 0)}{hours}:{minutes:02}"
        if kind and 0 <= value < _MOST_DAYS:
            return self._show_date(value, kind)
        # Without the digits that only binary arithmetic made.
        return f"{value:.15g}" if abs(value) < 1e15 else said

    def _show_date(self, value: float, kind: str) -> str:
        moment = self.first_day + timedelta(seconds=round(value * 86_400))
        day, clock = moment.date().isoformat(), moment.time().isoformat("seconds").removesuffix(":00")
        if kind == "time" or (kind == "both" and value < 1):
            return clock
        return day if kind == "day" or value == int(value) else f"{day} {clock}"


def read_formats(styles: etree._Element | None, workbook: etree._Element | None) -> Formats:
    """The formats in the styles of a workbook."""
    own = {
        to_int(attribute(each, "numFmtId")): attribute(each, "formatCode")
        for each in children(child(styles, "numFmts"), "numFmt")
    }
    numbers = (to_int(attribute(each, "numFmtId")) for each in children(child(styles, "cellXfs"), "xf"))
    is_1904 = attribute(child(workbook, "workbookPr"), "date1904") in ("1", "true")
    return Formats(tuple(_to_kind(number, own) for number in numbers), _FIRST_DAY_1904 if is_1904 else _FIRST_DAY)


def _to_kind(number: int, own: dict[int, str]) -> str:
    if number in own:
        code = _LITERAL.sub("", own[number]).lower().partition(";")[0]
        if "%" in code:
            return f"%{min(len(code.partition('.')[2].partition('%')[0]), 9)}"
        if "[h" in code:
            return "hours"
        has_day, has_time = any(each in code for each in "yd"), any(each in code for each in "hs")
        # `m` alone is a month, and minutes beside hours or seconds.
        has_day = has_day or ("m" in code and not has_time)
        return "both" if has_day and has_time else "day" if has_day else "time" if has_time else ""
    if number in _SHARES:
        return f"%{_SHARES[number]}"
    if number == 46:
        return "hours"
    return "both" if number == 22 else "day" if number in _DAYS else "time" if number in _TIMES else ""
